//! Conversations that a person can read, kept in `transcripts/`: milliseconds, `>` from the sender, `<` from the
//! receiver, offsets in the stream (SYN is 0, data begin at 1). Segments of 1000 byte, 50 ms each way, no rate.

mod common;

use airbraid_net::tcp::{Config, ReceiverInput, Segment, Sender, SenderInput, Variant};
use airbraid_units::{Bytes, Duration, Instant};
use common::{Fate, Way, World};

fn config(variant: Variant) -> Config {
    Config { variant, mss: Bytes::new(1_000), initial_window: Some(8), ack_every: 1, ..Config::default() }
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A network that loses the n-th data segment (from 1; SYN and pure acknowledgements are not counted) for n in `lost`.
fn losing(lost: &'static [u32]) -> impl FnMut(Instant, Way, &Segment) -> Fate {
    let mut number = 0;
    move |_, way, segment| {
        let data = way == Way::Data && segment.len > 0;
        number += u32::from(data);
        if data && lost.contains(&number) { Vec::new() } else { vec![Duration::from_millis(50)] }
    }
}

/// A file of `size` byte over that network.
fn transfer(config: Config, size: u64, lost: &'static [u32]) -> (String, Sender) {
    let mut world = World::new(config, losing(lost));
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::Write(Bytes::new(size))));
    world.tell_sender(Some(SenderInput::Close));
    world.run_until(ms(60_000));
    assert_eq!(world.delivered, size);
    (world.transcript.join("\n"), world.sender)
}

/// Compares with the file, and shows both where they differ.
fn assert_transcript(actual: &str, expected: &str) {
    assert_eq!(actual.trim(), expected.trim(), "\n--- actual ---\n{actual}\n");
}

#[test]
fn reno_needs_a_timeout_for_the_second_loss_in_a_window() {
    let (transcript, sender) = transfer(config(Variant::Reno), 14_000, &[2, 4]);
    assert_transcript(&transcript, include_str!("transcripts/reno_two_losses.txt"));
    assert_eq!((sender.stats().fast_retransmits, sender.stats().timeouts), (1, 1));
}

#[test]
fn newreno_repairs_one_loss_a_round_trip() {
    let (transcript, sender) = transfer(config(Variant::NewReno), 14_000, &[2, 4]);
    assert_transcript(&transcript, include_str!("transcripts/newreno_two_losses.txt"));
    assert_eq!((sender.stats().fast_retransmits, sender.stats().timeouts, sender.stats().retransmits), (1, 0, 2));
    // Eleven segments were out, of which two by limited transmit: half of nine.
    assert_eq!(sender.ssthresh(), Some(Bytes::new(4_500)));
}

#[test]
fn sack_fills_two_holes_in_one_round_trip() {
    let config = Config { initial_window: Some(20), ..config(Variant::Sack) };
    let (transcript, sender) = transfer(config, 30_000, &[2, 4]);
    assert_transcript(&transcript, include_str!("transcripts/sack_two_losses.txt"));
    assert_eq!((sender.stats().fast_retransmits, sender.stats().timeouts, sender.stats().retransmits), (1, 0, 2));
}

#[test]
fn the_timeout_doubles_and_what_was_repeated_is_not_measured() {
    let (transcript, sender) = transfer(config(Variant::NewReno), 2_000, &[2, 3, 4]);
    assert_transcript(&transcript, include_str!("transcripts/backoff.txt"));
    // The SYN and the first segment; the last, acknowledged 6.15 s after it was first sent, does not count.
    assert_eq!((sender.stats().rtt_samples, sender.srtt()), (2, Some(Duration::from_millis(100))));
    assert_eq!(sender.rto(), Duration::from_secs(8), "until the next measurement");
}

#[test]
fn after_a_timeout_newreno_goes_back_and_sack_skips_what_arrived() {
    // The first, the third and whatever fast recovery repeats: only a timeout helps, and the rest has arrived.
    let lost: [(Variant, &[u32], &str); 2] = [
        (Variant::NewReno, &[1, 3, 9], include_str!("transcripts/newreno_timeout.txt")),
        (Variant::Sack, &[1, 3, 9, 10], include_str!("transcripts/sack_timeout.txt")),
    ];
    for (variant, lost, file) in lost {
        let (transcript, sender) = transfer(config(variant), 8_000, lost);
        assert_transcript(&transcript, file);
        assert_eq!(sender.stats().timeouts, 1);
    }
}

#[test]
fn an_odd_segment_is_acknowledged_when_the_delay_is_over() {
    let mut world = World::new(Config { ack_every: 2, ..config(Variant::NewReno) }, losing(&[]));
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::Write(Bytes::new(5_000))));
    world.run_until(ms(10_000));
    assert_transcript(&world.transcript.join("\n"), include_str!("transcripts/delayed_ack.txt"));
    assert_eq!(world.receiver.stats().delayed_acks, 1);
}

#[test]
fn a_coarse_clock_times_out_on_its_ticks() {
    let config = Config { tick: Duration::from_millis(500), ..config(Variant::NewReno) };
    let (transcript, sender) = transfer(config, 2_000, &[2, 3]);
    assert_transcript(&transcript, include_str!("transcripts/coarse_clock.txt"));
    assert_eq!(sender.stats().timeouts, 2);
}

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let config = Config { receive_buffer: Bytes::new(4_000), ..config(Variant::NewReno) };
    let mut world = World::new(config, losing(&[]));
    world.tell_receiver(Some(ReceiverInput::Pause));
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::Write(Bytes::new(8_000))));
    world.run_until(ms(4_000));
    assert_eq!((world.delivered, world.sender.stats().timeouts), (0, 0));
    world.tell_receiver(Some(ReceiverInput::Resume));
    world.run_until(ms(10_000));
    assert_transcript(&world.transcript.join("\n"), include_str!("transcripts/zero_window.txt"));
    assert_eq!((world.delivered, world.sender.stats().window_probes), (8_000, 2));
}
