//! Whatever the network does, every byte is delivered once and in order, and once losses stop the transfer ends in
//! bounded virtual time.

mod common;

use airbraid_engine::{Machine, Stream, step};
use airbraid_net::tcp::{
    Config, Flags, Profile, Receiver, ReceiverInput, ReceiverOutput, Segment, SenderInput, Variant,
};
use airbraid_units::{Bytes, Duration, Instant};
use common::World;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The variants of the RFCs, and those of the kernel.
fn any_base() -> impl Strategy<Value = Config> {
    let linux = prop_oneof![Just(Variant::Reno), Just(Variant::Cubic), Just(Variant::Bbr)].prop_map(Config::linux);
    prop_oneof![2 => any_variant().prop_map(|variant| Config { variant, ..Config::default() }), 1 => linux]
}

fn any_variant() -> impl Strategy<Value = Variant> {
    prop_oneof![Just(Variant::Reno), Just(Variant::NewReno), Just(Variant::Sack), Just(Variant::Cubic)]
}

/// Loses, duplicates and reorders with the given chances in a thousand, until losses stop.
fn hostile(seed: u64, loss: u32, duplicate: u32, reorder: u32, heals: Instant) -> impl FnMut(Instant) -> Vec<Duration> {
    let mut stream = Stream::new(seed, 0, "test.network");
    move |now| {
        let hostile = now < heals;
        if hostile && stream.up_to(999) < loss {
            return Vec::new();
        }
        let copies = 1 + usize::from(hostile && stream.up_to(999) < duplicate);
        let mut delay = || {
            let late = hostile && stream.up_to(999) < reorder;
            Duration::from_millis(if late { 20 + u64::from(stream.up_to(60)) } else { 20 })
        };
        (0..copies).map(|_| delay()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once(
        base in any_base(),
        seed: u64,
        (loss, duplicate, reorder) in (0u32..400, 0u32..200, 0u32..300),
        writes in prop::collection::vec((1u64..9_000, 0u32..10), 1..40),
        (buffer, ack_every, timestamps, coarse) in (1_000u64..40_000, 1u32..4, any::<bool>(), any::<bool>()),
    ) {
        let coarse = coarse && base.profile == Profile::Rfc;
        let config = Config {
            mss: Bytes::new(1_000),
            receive_buffer: Bytes::new(buffer),
            send_buffer: Bytes::new(16_000),
            max_rto: Duration::from_secs(60),
            ack_every,
            timestamps,
            tick: if coarse { Duration::from_millis(500) } else { Duration::from_nanos(1) },
            ..base
        };
        let heals = Instant::ZERO + Duration::from_secs(60);
        let mut network = hostile(seed, loss, duplicate, reorder, heals);
        let mut world = World::new(config, |now, _, _: &Segment| network(now));
        world.tell_sender(Some(SenderInput::Open));
        let total: u64 = writes.iter().map(|write| write.0).sum();
        for (i, (write, reading)) in writes.into_iter().enumerate() {
            world.run_until(Instant::ZERO + Duration::from_millis(50 * i as u64));
            world.tell_sender(Some(SenderInput::Write(Bytes::new(write))));
            match reading {
                0 | 1 => world.tell_receiver(Some(ReceiverInput::Pause)),
                2..=4 => world.tell_receiver(Some(ReceiverInput::Resume)),
                _ => {}
            }
        }
        world.tell_sender(Some(SenderInput::Close));
        world.tell_receiver(Some(ReceiverInput::Resume));
        // The longest timer, twice, and then 360 kB in windows of a segment at worst: 360 round trips of 40 ms and
        // as many delayed acknowledgements.
        world.run_until(heals + Duration::from_secs(120 + 60));
        prop_assert_eq!(world.delivered, total);
        prop_assert!(world.sender_finished && world.receiver_finished);
        prop_assert_eq!(world.sender.acknowledged(), Bytes::new(total));
        prop_assert_eq!(world.sender.flight_size(), Bytes::ZERO);
        prop_assert!(world.sender.poll_timeout().is_none(), "nothing is left to wait for");
    }

    #[test]
    fn the_receiver_equals_a_set_of_bytes(
        segments in prop::collection::vec((0u64..40, 1u32..6, any::<bool>()), 1..80),
    ) {
        let config = Config {
            variant: Variant::Sack,
            mss: Bytes::new(5),
            receive_buffer: Bytes::new(30),
            ..Config::default()
        };
        let mut receiver = Receiver::new(config).unwrap();
        let syn = Segment { flags: Flags { syn: true, ..Flags::default() }, ..Segment::default() };
        step(&mut receiver, Instant::ZERO, Some(ReceiverInput::Segment(syn)), |_| {});
        let (mut naive, mut next, mut delivered) = (BTreeSet::new(), 1u64, 0u64);
        let mut now = Instant::ZERO;
        for (at, len, pause) in segments {
            now += Duration::from_millis(if pause { 300 } else { 1 });
            // A late timer first, as a host would.
            step(&mut receiver, now, None, |_| {});
            let segment =
                Segment { seq: 1 + at, len, flags: Flags { ack: true, ..Flags::default() }, ..Segment::default() };
            let before = next;
            naive.extend((segment.seq..segment.end()).filter(|&x| x >= next && x < before + 30));
            while naive.contains(&next) {
                naive.remove(&next);
                next += 1;
            }
            let mut acks = Vec::new();
            step(&mut receiver, now, Some(ReceiverInput::Segment(segment)), |output| match output {
                ReceiverOutput::Delivered(bytes) => delivered += bytes.as_u64(),
                ReceiverOutput::Segment(ack) => acks.push(ack),
                ReceiverOutput::Finished => {}
            });
            prop_assert_eq!(delivered, next - 1);
            prop_assert!(acks.len() <= 1);
            let out_of_order = segment.seq > before;
            prop_assert!(!out_of_order || acks.len() == 1, "out of order is acknowledged at once");
            if let Some(ack) = acks.first() {
                prop_assert_eq!(ack.ack, next);
                let held: Vec<_> = ack.sack_blocks().collect();
                for &(start, end) in &held {
                    prop_assert!((start..end).all(|x| naive.contains(&x)));
                    prop_assert!(!naive.contains(&end) && !naive.contains(&(start - 1)), "whole blocks");
                }
                if out_of_order && segment.seq < before + 30 {
                    prop_assert!(held[0].0 <= segment.seq && segment.seq < held[0].1, "the latest first");
                }
                prop_assert_eq!(held.is_empty(), naive.is_empty());
            }
        }
    }
}
