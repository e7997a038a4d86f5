//! The `linux` profile in conversations that a person can read, kept in `transcripts/linux_*.txt`, and its differences
//! from the RFC profile. Segments of 1000 byte, 50 ms each way, no rate.

mod common;

use airbraid_engine::{Machine, step};
use airbraid_net::tcp::{Config, Flags, SackBlocks, Segment, Sender, SenderInput, SenderLimit, SenderOutput, Variant};
use airbraid_units::{Bytes, Duration, Instant};
use common::{Fate, Way, World};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

fn config(variant: Variant) -> Config {
    Config { mss: Bytes::new(1_000), ..Config::linux(variant) }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A network that treats the n-th data segment (from 1; SYN and pure acknowledgements are not counted) as `fate` says:
/// its delay beyond 50 ms, or `None`: it is lost.
fn network(fate: impl Fn(u32) -> Option<u64>) -> impl FnMut(Instant, Way, &Segment) -> Fate {
    let mut number = 0;
    move |_, way, segment| {
        if way == Way::Ack || segment.len == 0 {
            return vec![ms(50)];
        }
        number += 1;
        fate(number).map(|late| ms(50 + late)).into_iter().collect()
    }
}

/// A file of `size` byte over that network.
fn transfer(config: Config, size: u64, fate: impl Fn(u32) -> Option<u64>) -> (String, Sender) {
    let mut world = World::new(config, network(fate));
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::Write(Bytes::new(size))));
    world.tell_sender(Some(SenderInput::Close));
    assert!(!world.sender.is_finished(), "before it has begun");
    world.run_until(Instant::ZERO + Duration::from_secs(60));
    assert!(world.sender.is_finished() && world.delivered == size && world.sender_finished && world.receiver_finished);
    (world.transcript.join("\n"), world.sender)
}

/// Compares with the file, and shows both where they differ.
fn assert_transcript(actual: &str, expected: &str) {
    assert_eq!(actual.trim(), expected.trim(), "\n--- actual ---\n{actual}\n");
}

#[test]
fn rack_repairs_one_loss_in_a_window_without_a_timeout() {
    let (transcript, sender) = transfer(config(Variant::Cubic), 16_000, |n| (n != 3).then_some(0));
    assert_transcript(&transcript, include_str!("transcripts/linux_one_loss.txt"));
    let stats = sender.stats();
    assert_eq!((stats.fast_retransmits, stats.timeouts, stats.retransmits, stats.tail_probes), (1, 0, 1, 0));
    assert_eq!(stats.undone, 0);
}

#[test]
fn a_lost_tail_is_probed_before_the_timeout() {
    let (transcript, sender) = transfer(config(Variant::Reno), 6_000, |n| (n != 5 && n != 6).then_some(0));
    assert_transcript(&transcript, include_str!("transcripts/linux_tail_loss.txt"));
    let stats = sender.stats();
    assert_eq!((stats.tail_probes, stats.timeouts, stats.fast_retransmits), (1, 0, 1));
}

#[test]
fn a_tail_of_one_that_a_probe_repaired_reduces_the_window() {
    let (_, sender) = transfer(config(Variant::Reno), 6_000, |n| (n != 6).then_some(0));
    let stats = sender.stats();
    assert_eq!((stats.tail_probes, stats.timeouts, stats.retransmits), (1, 0, 1));
}

#[test]
fn a_spurious_recovery_is_undone() {
    // The third is 60 ms late: taken for lost, repeated, and then reported twice.
    let (transcript, sender) = transfer(config(Variant::Cubic), 16_000, |n| Some(if n == 3 { 60 } else { 0 }));
    assert_transcript(&transcript, include_str!("transcripts/linux_spurious.txt"));
    let stats = sender.stats();
    assert_eq!((stats.fast_retransmits, stats.undone, stats.timeouts), (1, 1, 0));
    assert_eq!(sender.ssthresh(), None, "as before");
}

#[test]
fn a_spurious_timeout_is_undone() {
    // For 800 ms the path holds everything back, and then lets it go in order.
    let stall = |now: Instant, _: Way, _: &Segment| {
        let (from, to) = (Instant::ZERO + ms(150), Instant::ZERO + ms(950));
        vec![ms(50) + if now > from && now < to { to.saturating_since(now) } else { Duration::ZERO }]
    };
    let mut world = World::new(config(Variant::Cubic), stall);
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::Write(Bytes::new(200_000))));
    world.run_until(Instant::ZERO + Duration::from_secs(10));
    let stats = world.sender.stats();
    assert_eq!(world.delivered, 200_000);
    assert!(stats.timeouts >= 1 && stats.undone >= 1 && stats.fast_retransmits == 0, "{stats:?}");
    assert!(stats.retransmits <= 4, "only what the timer sent: {stats:?}");
    assert_eq!(world.sender.ssthresh(), None, "as before: {stats:?}");
}

/// Two of a window are lost, and then the retransmission of the first: RACK sees that by what was sent after it.
#[test]
fn a_retransmission_that_is_lost_goes_again() {
    let (transcript, sender) = transfer(config(Variant::Reno), 30_000, |n| (![3, 6, 17].contains(&n)).then_some(0));
    assert_transcript(&transcript, include_str!("transcripts/linux_lost_repetition.txt"));
    let stats = sender.stats();
    assert_eq!((stats.fast_retransmits, stats.timeouts, stats.retransmits), (1, 0, 3));
}

/// All but the first two of a window are lost, and the probe behind them: the timer repeats the first, and slow start
/// the others.
#[test]
fn what_nobody_answers_is_repeated_by_the_timer() {
    let (transcript, sender) = transfer(config(Variant::Reno), 12_000, |n| (!(3..=13).contains(&n)).then_some(0));
    assert_transcript(&transcript, include_str!("transcripts/linux_timeout.txt"));
    assert!(sender.stats().timeouts >= 1);
}

/// Two that are late by 20 ms are taken for lost, as three younger ones have come; both retransmissions are reported as
/// needless, and the reduction is taken back.
#[test]
fn two_that_were_late_cost_two_retransmissions_and_no_window() {
    let late = |n| Some(if n == 3 || n == 7 { 20 } else { 0 });
    let (transcript, sender) = transfer(config(Variant::Reno), 14_000, late);
    assert_transcript(&transcript, include_str!("transcripts/linux_late.txt"));
    let stats = sender.stats();
    assert_eq!((stats.timeouts, stats.retransmits, stats.undone, sender.ssthresh()), (0, 2, 1, None));
}

/// One that was late teaches the sender that the path reorders: from then on it waits before it takes a missing one for
/// lost, for two quarters of the round trip (50 ms, and 2 of its timer), as a retransmission was needless.
#[test]
fn where_something_was_late_losses_are_waited_for() {
    let fate = |n| match n {
        3 => Some(20),
        22 | 23 | 30 => None,
        _ => Some(0),
    };
    let (transcript, sender) = transfer(config(Variant::Reno), 36_000, fate);
    assert_transcript(&transcript, include_str!("transcripts/linux_reordering.txt"));
    assert_eq!((sender.stats().timeouts, sender.stats().undone), (0, 1));
}

/// The last segment carries the FIN. It is lost with the one before it; the probe repeats it, and what its report tells
/// repeats the other.
#[test]
fn a_lost_end_of_the_stream_is_probed() {
    let (transcript, sender) = transfer(config(Variant::Cubic), 7_500, |n| (n != 7 && n != 8).then_some(0));
    assert_transcript(&transcript, include_str!("transcripts/linux_lost_end.txt"));
    assert_eq!((sender.stats().timeouts, sender.stats().tail_probes, sender.stats().retransmits), (0, 1, 2));
}

/// For 800 ms nothing passes. What comes then was sent before the timeout: it is taken back, and the window with it.
#[test]
fn a_stall_costs_one_retransmission_and_no_window() {
    let stall = |now: Instant, _: Way, _: &Segment| {
        let (from, to) = (Instant::ZERO + ms(150), Instant::ZERO + ms(950));
        vec![ms(50) + if now > from && now < to { to.saturating_since(now) } else { Duration::ZERO }]
    };
    let mut world = World::new(config(Variant::Reno), stall);
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::Write(Bytes::new(32_000))));
    world.run_until(Instant::ZERO + Duration::from_secs(10));
    assert_transcript(&world.transcript.join("\n"), include_str!("transcripts/linux_stall.txt"));
    assert_eq!((world.sender.stats().undone, world.sender.ssthresh()), (1, None));
}

/// A path of 10 Mbit/s (1.2 ms a packet) and 20 ms each way, on which every `every`-th data segment is `behind` places
/// late. Returns the goodput \[Mbit/s\] and the number of needless retransmissions.
fn reordered(config: Config, behind: u64, every: u64) -> (f64, u64) {
    let service = Duration::from_micros(1_200);
    let (mut free_at, mut number) = (Instant::ZERO, 0u64);
    let dropped = Rc::new(Cell::new(0));
    let count = Rc::clone(&dropped);
    let mut world = World::new(config, move |now, way, segment: &Segment| {
        if way == Way::Ack || segment.len == 0 {
            return vec![ms(20)];
        }
        number += 1;
        let start = free_at.max(now);
        if start.saturating_since(now) > service * 60 {
            count.set(count.get() + 1);
            return Vec::new();
        }
        free_at = start + service;
        let late = if number.is_multiple_of(every) { service * behind } else { Duration::ZERO };
        vec![free_at.saturating_since(now) + ms(20) + late]
    });
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::WriteForever));
    let span = Duration::from_secs(20);
    world.run_until(Instant::ZERO + span);
    let needless = world.sender.stats().retransmits.saturating_sub(dropped.get());
    (world.delivered as f64 * 8.0 / span.as_secs_f64() / 1e6, needless)
}

/// A path of 10 Mbit/s and 20 ms each way that loses every `every`-th data segment (0: none) and holds 60. Returns the
/// goodput \[Mbit/s\] and the mean round trip \[ms\].
fn lossy(variant: Variant, every: u64) -> (f64, f64) {
    let service = Duration::from_micros(1_200);
    let (mut free_at, mut number) = (Instant::ZERO, 0u64);
    let mut world =
        World::new(Config { mss: Bytes::new(1_448), ..Config::linux(variant) }, move |now, way, segment: &Segment| {
            if way == Way::Ack || segment.len == 0 {
                return vec![ms(20)];
            }
            number += 1;
            let start = free_at.max(now);
            if start.saturating_since(now) > service * 60 {
                return Vec::new();
            }
            free_at = start + service;
            let is_lost = every > 0 && number.is_multiple_of(every);
            if is_lost { Vec::new() } else { vec![free_at.saturating_since(now) + ms(20)] }
        });
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::WriteForever));
    let span = Duration::from_secs(20);
    world.run_until(Instant::ZERO + span);
    let stats = world.sender.stats();
    let rtt = stats.rtt_sum.as_secs_f64() * 1e3 / stats.rtt_samples as f64;
    (world.delivered as f64 * 8.0 / span.as_secs_f64() / 1e6, rtt)
}

#[test]
fn bbr_fills_a_link_without_filling_its_queue_and_does_not_mind_losses() {
    // 1448 byte in 1.2 ms.
    let full = 1_448.0 * 8.0 / 1_200.0;
    let (bbr, bbr_rtt) = lossy(Variant::Bbr, 0);
    assert!(bbr > 0.95 * full && bbr < full, "{bbr} of {full}");
    let (cubic, cubic_rtt) = lossy(Variant::Cubic, 0);
    assert!(cubic > 0.95 * full, "{cubic}");
    // 41 ms without a queue; a window of two of them at most, where CUBIC's fills what there is.
    assert!(bbr_rtt < 65.0 && cubic_rtt > 80.0, "{bbr_rtt} and {cubic_rtt} ms");
    let (bbr, _) = lossy(Variant::Bbr, 20);
    assert!(bbr > 0.85 * full, "{bbr} at 5 % of losses");
    let (cubic, _) = lossy(Variant::Cubic, 20);
    assert!(cubic < 0.3 * full, "{cubic}");
}

#[test]
fn bbr_looks_for_the_round_trip_every_ten_seconds() {
    let mut world = World::new(config(Variant::Bbr), network(|_| Some(0)));
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::WriteForever));
    let mut low = vec![];
    for tick in 1..=250u64 {
        world.run_until(Instant::ZERO + ms(100 * tick));
        if tick > 20 && world.sender.cwnd() <= Bytes::new(4_000) {
            low.push(tick * 100);
        }
    }
    let seconds: BTreeSet<u64> = low.iter().map(|ms| ms / 1_000).collect();
    assert_eq!(seconds, BTreeSet::from([10, 20]), "{low:?}");
    assert!(low.len() <= 2 * 4, "for 200 ms and a round trip: {low:?}");
}

#[test]
fn reordering_of_three_to_eight_packets_is_tolerated() {
    let (straight, _) = reordered(config(Variant::Cubic), 0, 40);
    for behind in 3..=8 {
        let (goodput, needless) = reordered(config(Variant::Cubic), behind, 40);
        let rfc = Config {
            variant: Variant::Cubic,
            receive_buffer: Bytes::new(1 << 20),
            mss: Bytes::new(1_000),
            min_rto: ms(200),
            ..Config::default()
        };
        let (other, taken_for_lost) = reordered(rfc, behind, 40);
        println!(
            "{behind}: {goodput:.3}, {needless} needless; RFC {other:.3}, {taken_for_lost}; straight {straight:.3}"
        );
        assert!(goodput > 0.95 * straight, "{behind}: {goodput} of {straight}");
        // The first late packets teach the sender how far reordering goes: after that none is taken for lost.
        assert!(needless <= 3, "{behind}: {needless} needless");
        assert!(behind == 3 || taken_for_lost > 10 * needless, "{behind}: {taken_for_lost} needless by the RFCs");
    }
}

/// A sender of endless data whose window is ten segments, and whose handshake took 100 ms.
fn ten_out(variant: Variant) -> (Sender, Vec<Segment>) {
    let mut sender = Sender::new(Config { timestamps: false, ..config(variant) }).unwrap();
    tell(&mut sender, 0, Some(SenderInput::Open));
    let flags = Flags { ack: true, syn: true, sack_permitted: true, ..Flags::default() };
    tell(&mut sender, 100, Some(SenderInput::Segment(Segment { ack: 1, window: 65_535, flags, ..Segment::default() })));
    let sent = tell(&mut sender, 100, Some(SenderInput::WriteForever));
    assert_eq!(sent.len(), 10);
    (sender, sent)
}

/// Takes one step at a time \[ms\]; returns the segments that it sent.
fn tell(sender: &mut Sender, at: u64, input: Option<SenderInput>) -> Vec<Segment> {
    let mut sent = Vec::new();
    step(sender, Instant::ZERO + ms(at), input, |output| {
        if let SenderOutput::Segment(segment) = output {
            sent.push(segment);
        }
    });
    sent
}

/// An acknowledgement of everything before segment `next`, and of the segments `from..to` behind it.
fn ack(next: u64, (from, to): (u64, u64)) -> Option<SenderInput> {
    let flags = Flags { ack: true, ..Flags::default() };
    let mut segment = Segment { seq: 1, ack: 1 + 1_000 * next, window: 65_535, flags, ..Segment::default() };
    assert!(from == to || segment.sack.push(segment.ack, (1 + 1_000 * from, 1 + 1_000 * to)));
    Some(SenderInput::Segment(segment))
}

/// Six of ten are lost: below the threshold a recovery sends as many as arrive, and one more if the acknowledgement
/// moves on without news of a loss (RFC 6937, slow start reduction bound).
#[test]
fn a_recovery_below_the_threshold_grows_by_one_where_it_is_safe() {
    let (mut sender, _) = ten_out(Variant::Reno);
    let mut sent = vec![];
    for to in 7..=10 {
        sent.extend(tell(&mut sender, 200 + to, ack(0, (6, to))));
    }
    assert_eq!(sender.stats().fast_retransmits, 1);
    // Two new ones for the first two duplicates, then one retransmission for each arrival.
    assert_eq!(sent.iter().map(|segment| segment.seq / 1_000).collect::<Vec<_>>(), [10, 11, 0, 1]);
    // The first retransmission and both new ones arrive; one is in the network, and the threshold is five.
    assert_eq!(tell(&mut sender, 310, ack(1, (6, 12))).len(), 4, "three arrived");
}

#[test]
fn a_timeout_for_the_same_data_keeps_the_threshold() {
    for variant in [Variant::Reno, Variant::Cubic] {
        let (mut sender, _) = ten_out(variant);
        let mut seen = vec![];
        while seen.len() < 4 {
            let at = sender.poll_timeout().unwrap().at.as_nanos() / 1_000_000;
            let before = sender.stats().timeouts;
            tell(&mut sender, at + 1, None);
            if sender.stats().timeouts > before {
                seen.push(sender.ssthresh().unwrap().as_u64() / 1_000);
            }
        }
        let least = if variant == Variant::Reno { 5 } else { 7 };
        assert_eq!(seen, [least; 4], "{variant:?}: half of ten, or seven tenths, however often the timer expires");
    }
}

/// One SYN too many may be a late answer; two are a loss, and cost the first window (RFC 5681, section 3.1).
#[test]
fn a_syn_that_was_lost_twice_costs_the_first_window() {
    for (expiries, window) in [(0, 10), (1, 10), (2, 1)] {
        let mut sender = Sender::new(config(Variant::Reno)).unwrap();
        tell(&mut sender, 0, Some(SenderInput::Open));
        let mut now = 0;
        for _ in 0..expiries {
            now = sender.poll_timeout().unwrap().at.as_nanos() / 1_000_000;
            assert!(tell(&mut sender, now, None)[0].flags.syn);
        }
        let flags = Flags { ack: true, syn: true, sack_permitted: true, ..Flags::default() };
        let syn_ack = Segment { ack: 1, window: 65_535, flags, ..Segment::default() };
        tell(&mut sender, now + 100, Some(SenderInput::Segment(syn_ack)));
        let sent = tell(&mut sender, now + 100, Some(SenderInput::WriteForever));
        assert_eq!(sent.len(), window, "{expiries} expiries");
    }
}

/// RFC 5682: the first acknowledgement after a timeout that moves on lets new data go instead of retransmissions; if
/// the next one is for what was sent before the timeout, nothing was lost.
#[test]
fn segments_that_were_late_are_told_from_lost_ones_without_timestamps() {
    let (mut sender, _) = ten_out(Variant::Reno);
    let mut now = 100;
    while sender.stats().timeouts == 0 {
        now = sender.poll_timeout().unwrap().at.as_nanos().div_ceil(1_000_000);
        tell(&mut sender, now, None);
    }
    assert_eq!(sender.ssthresh(), Some(Bytes::new(5_000)));
    // The second segment comes late; the one that the timer sent was the first.
    let sent = tell(&mut sender, now + 10, ack(1, (0, 0)));
    assert!(!sent.is_empty() && sent.iter().all(|segment| segment.seq > 10_000), "{sent:?}");
    tell(&mut sender, now + 11, ack(2, (0, 0)));
    assert_eq!((sender.stats().undone, sender.ssthresh()), (1, None));
}

/// The first number of each segment that was sent, in segments.
fn starts(sent: &[Segment]) -> Vec<u64> {
    sent.iter().map(|segment| segment.seq / 1_000).collect()
}

#[test]
fn what_is_out_acknowledged_and_offered_is_told() {
    let (mut sender, _) = ten_out(Variant::Reno);
    let told = |sender: &Sender| [sender.flight_size(), sender.acknowledged(), sender.offered()].map(Bytes::as_u64);
    assert_eq!(told(&sender), [10_000, 0, 65_535]);
    // Slow start: two for each that came.
    assert_eq!(starts(&tell(&mut sender, 200, ack(3, (0, 0)))), [10, 11, 12, 13, 14, 15]);
    assert_eq!(told(&sender), [13_000, 3_000, 65_535]);
}

#[test]
fn three_younger_segments_repeat_a_missing_one_at_once() {
    let (mut sender, _) = ten_out(Variant::Reno);
    let sent = [(1, 2), (1, 3), (1, 4)].map(|blocks| starts(&tell(&mut sender, 200, ack(0, blocks))));
    assert_eq!(sent, [vec![10], vec![11], vec![0]]);
    assert_eq!(sender.ssthresh(), Some(Bytes::new(5_000)));
}

/// RFC 8985, section 6.2, step 4: once a segment was late, a gap has a quarter of the shortest round trip.
#[test]
fn where_segments_were_late_a_missing_one_is_repeated_after_a_quarter_of_the_round_trip() {
    let (mut sender, _) = ten_out(Variant::Reno);
    assert_eq!(starts(&tell(&mut sender, 200, ack(0, (2, 3)))), [10]);
    let due = sender.poll_timeout().unwrap();
    assert!(due.at <= Instant::ZERO + ms(230), "the timer for doubtful segments, not that of the tail: {due:?}");
    // The second comes after the third.
    assert_eq!(starts(&tell(&mut sender, 201, ack(0, (1, 3)))), [11]);
    assert_eq!(starts(&tell(&mut sender, 202, ack(0, (1, 5)))), [12, 13], "more than three have come");
    assert_eq!(sender.stats().retransmits, 0);
    let due = sender.poll_timeout().unwrap().at;
    assert!((Instant::ZERO + ms(220)..=Instant::ZERO + ms(240)).contains(&due), "{due:?}");
    // One frame has left the network: one goes into it.
    assert_eq!(starts(&tell(&mut sender, 240, None)), [0]);
    assert_eq!((sender.stats().retransmits, sender.stats().fast_retransmits), (1, 1));
}

/// RFC 2883, RFC 3522: the only retransmission of a recovery was reported to have come twice.
#[test]
fn a_recovery_whose_retransmission_came_twice_is_undone_without_timestamps() {
    let (mut sender, _) = ten_out(Variant::Reno);
    for blocks in [(1, 2), (1, 3), (1, 4)] {
        tell(&mut sender, 200, ack(0, blocks));
    }
    assert_eq!((sender.stats().fast_retransmits, sender.stats().retransmits), (1, 1));
    // The first came late, then its retransmission.
    tell(&mut sender, 210, ack(4, (0, 0)));
    assert_eq!((sender.stats().undone, sender.ssthresh()), (0, Some(Bytes::new(5_000))));
    let flags = Flags { ack: true, ..Flags::default() };
    let sack = SackBlocks::of_duplicate(4_001, (1, 1_001));
    let twice = Segment { seq: 1, ack: 4_001, window: 65_535, flags, sack, ..Segment::default() };
    tell(&mut sender, 300, Some(SenderInput::Segment(twice)));
    assert_eq!((sender.stats().undone, sender.ssthresh()), (1, None));
}

#[test]
fn a_window_after_a_recovery_is_the_threshold() {
    let (mut sender, _) = ten_out(Variant::Reno);
    for blocks in [(1, 2), (1, 3), (1, 4)] {
        tell(&mut sender, 200, ack(0, blocks));
    }
    // All twelve at once: five, and one more for eight segments of the round trip.
    tell(&mut sender, 310, ack(12, (0, 0)));
    assert_eq!((sender.ssthresh(), sender.stats().undone), (Some(Bytes::new(5_000)), 0));
    assert!((5_000..=6_000).contains(&sender.cwnd().as_u64()), "{:?}", sender.cwnd());
}

#[test]
fn when_all_is_acknowledged_no_timer_runs() {
    let mut sender = Sender::new(config(Variant::Reno)).unwrap();
    tell(&mut sender, 0, Some(SenderInput::Open));
    let flags = Flags { ack: true, syn: true, sack_permitted: true, ..Flags::default() };
    tell(&mut sender, 100, Some(SenderInput::Segment(Segment { ack: 1, window: 65_535, flags, ..Segment::default() })));
    assert_eq!(tell(&mut sender, 100, Some(SenderInput::Write(Bytes::new(2_000)))).len(), 2);
    assert!(sender.poll_timeout().is_some());
    tell(&mut sender, 200, ack(2, (0, 0)));
    assert_eq!(sender.poll_timeout(), None);
    // A window that is closed meanwhile is probed once something waits, and not before.
    let flags = Flags { ack: true, ..Flags::default() };
    let closed = Segment { seq: 1, ack: 2_001, window: 0, flags, ..Segment::default() };
    tell(&mut sender, 300, Some(SenderInput::Segment(closed)));
    assert_eq!(sender.poll_timeout(), None);
    assert!(tell(&mut sender, 300, Some(SenderInput::Write(Bytes::new(1_000)))).is_empty());
    assert!(sender.poll_timeout().is_some());
    let at = sender.poll_timeout().unwrap().at.as_nanos().div_ceil(1_000_000);
    let probe = tell(&mut sender, at, None);
    assert_eq!((probe.len(), probe[0].len, probe[0].seq), (1, 0, 2_000), "from before the window");
    assert_eq!(starts(&tell(&mut sender, at + 1, ack(2, (0, 0)))), [2]);
}

#[test]
fn what_holds_a_sender_back_is_told() {
    let mut sender = Sender::new(Config { timestamps: false, ..config(Variant::Reno) }).unwrap();
    assert_eq!(sender.limit(), SenderLimit::Idle);
    tell(&mut sender, 0, Some(SenderInput::Open));
    assert_eq!(sender.limit(), SenderLimit::Handshake);
    let flags = Flags { ack: true, syn: true, sack_permitted: true, ..Flags::default() };
    tell(&mut sender, 100, Some(SenderInput::Segment(Segment { ack: 1, window: 65_535, flags, ..Segment::default() })));
    assert_eq!(sender.limit(), SenderLimit::Application);
    tell(&mut sender, 100, Some(SenderInput::WriteForever));
    assert_eq!(sender.limit(), SenderLimit::SlowStart);
    for blocks in [(1, 2), (1, 3), (1, 4)] {
        tell(&mut sender, 200, ack(0, blocks));
    }
    assert_eq!(sender.limit(), SenderLimit::Recovery);
    tell(&mut sender, 310, ack(12, (0, 0)));
    assert_eq!(sender.limit(), SenderLimit::CongestionWindow);
    while sender.stats().timeouts == 0 {
        let at = sender.poll_timeout().unwrap().at.as_nanos().div_ceil(1_000_000);
        tell(&mut sender, at, None);
    }
    assert_eq!(sender.limit(), SenderLimit::Timeout);
}

/// RFC 8985, section 7.2: two round trips of 100 ms and two ticks after the last segment.
#[test]
fn a_tail_is_probed_with_new_data_or_with_its_last_segment() {
    for (is_endless, probe) in [(true, 10), (false, 9)] {
        let mut sender = Sender::new(Config { timestamps: false, ..config(Variant::Reno) }).unwrap();
        tell(&mut sender, 0, Some(SenderInput::Open));
        let flags = Flags { ack: true, syn: true, sack_permitted: true, ..Flags::default() };
        let syn_ack = Segment { ack: 1, window: 65_535, flags, ..Segment::default() };
        tell(&mut sender, 100, Some(SenderInput::Segment(syn_ack)));
        let write = if is_endless { SenderInput::WriteForever } else { SenderInput::Write(Bytes::new(10_000)) };
        assert_eq!(tell(&mut sender, 100, Some(write)).len(), 10);
        let wake = sender.poll_timeout().unwrap();
        assert_eq!((wake.at, wake.why), (Instant::ZERO + ms(302), "tcp.probe"));
        assert_eq!(starts(&tell(&mut sender, 302, None)), [probe]);
        let stats = sender.stats();
        assert_eq!((stats.tail_probes, stats.retransmits), (1, u64::from(!is_endless)));
        // The timeout of 300 ms begins again with it.
        let wake = sender.poll_timeout().unwrap();
        assert_eq!((wake.at, wake.why), (Instant::ZERO + ms(602), "tcp.retransmit"));
        assert_eq!(starts(&tell(&mut sender, 602, None))[0], 0);
        assert_eq!((sender.stats().timeouts, sender.rto()), (1, ms(600)));
    }
}

#[test]
fn a_closed_window_is_probed_ever_more_seldom() {
    let mut sender = Sender::new(config(Variant::Reno)).unwrap();
    tell(&mut sender, 0, Some(SenderInput::Open));
    let flags = Flags { ack: true, syn: true, sack_permitted: true, ..Flags::default() };
    tell(&mut sender, 100, Some(SenderInput::Segment(Segment { ack: 1, window: 0, flags, ..Segment::default() })));
    tell(&mut sender, 100, Some(SenderInput::Write(Bytes::new(5_000))));
    assert_eq!(sender.limit(), SenderLimit::ReceiveWindow);
    let (mut now, mut waits) = (100, vec![]);
    for probes in 1..=4 {
        let wake = sender.poll_timeout().unwrap();
        let at = wake.at.as_nanos() / 1_000_000;
        waits.push((at - now, wake.why));
        now = at;
        let sent = tell(&mut sender, now, None);
        assert_eq!((sent.len(), sent[0].len, sent[0].seq, sender.stats().window_probes), (1, 0, 0, probes));
    }
    let rto = waits[0].0;
    assert_eq!(waits, [1, 2, 4, 8].map(|times| (rto * times, "tcp.persist")));
    assert_eq!(sender.stats().timeouts, 0);
    assert_eq!(starts(&tell(&mut sender, now + 1, ack(0, (0, 0)))), [0, 1, 2, 3, 4]);
}

/// RFC 6298, section 5.5: each timeout for the same data takes twice as long.
#[test]
fn a_timeout_without_an_answer_doubles_the_next() {
    let (mut sender, _) = ten_out(Variant::Reno);
    let mut seen = vec![];
    while seen.len() < 4 {
        let at = sender.poll_timeout().unwrap().at.as_nanos().div_ceil(1_000_000);
        let before = sender.stats().timeouts;
        let sent = starts(&tell(&mut sender, at, None));
        if sender.stats().timeouts > before {
            assert_eq!(sent, [0], "one segment");
            seen.push(sender.rto());
        }
    }
    assert_eq!(seen, [2, 4, 8, 16].map(|times| ms(300 * times)));
    assert_eq!(sender.cwnd(), Bytes::new(1_000));
}
