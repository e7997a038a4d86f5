//! A sender alone, fed by hand: handshake, windows, timers, refusals.

use airbraid_engine::{Machine, step};
use airbraid_net::tcp::{Config, Flags, Receiver, Segment, Sender, SenderInput, SenderOutput, Variant};
use airbraid_units::{Bytes, Duration, Instant};

const MSS: u64 = 1_000;

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn config() -> Config {
    Config { mss: Bytes::new(MSS), initial_window: Some(4), ..Config::default() }
}

fn sender(config: Config) -> Sender {
    Sender::new(config).unwrap()
}

/// Takes one step; returns the segments that it sent.
fn tell(sender: &mut Sender, at: u64, input: impl Into<Option<SenderInput>>) -> Vec<Segment> {
    let mut sent = Vec::new();
    step(sender, ms(at), input.into(), |output| {
        if let SenderOutput::Segment(segment) = output {
            sent.push(segment);
        }
    });
    sent
}

fn ack(ack: u64, window: u32) -> SenderInput {
    let flags = Flags { ack: true, ..Flags::default() };
    SenderInput::Segment(Segment { seq: 1, ack, window, flags, ..Segment::default() })
}

fn syn_ack() -> SenderInput {
    let flags = Flags { ack: true, syn: true, ..Flags::default() };
    SenderInput::Segment(Segment { ack: 1, window: 65_535, flags, ..Segment::default() })
}

/// A connection that was opened at 0 and accepted at 100 ms.
fn connected(config: Config) -> Sender {
    let mut sender = sender(config);
    tell(&mut sender, 0, SenderInput::Open);
    tell(&mut sender, 100, syn_ack());
    sender
}

fn starts(segments: &[Segment]) -> Vec<u64> {
    segments.iter().map(|segment| segment.seq).collect()
}

#[test]
fn a_lost_syn_is_repeated_ever_later_and_costs_the_initial_window() {
    let mut sender = sender(config());
    assert!(tell(&mut sender, 0, SenderInput::Open)[0].flags.syn);
    tell(&mut sender, 0, SenderInput::WriteForever);
    let mut waits = Vec::new();
    let mut last = Instant::ZERO;
    for _ in 0..3 {
        let at = sender.poll_timeout().unwrap().at;
        waits.push(at.saturating_since(last));
        last = at;
        assert!(tell(&mut sender, at.as_nanos() / 1_000_000, None)[0].flags.syn);
    }
    assert_eq!(waits, [1, 2, 4].map(Duration::from_secs));
    let sent = tell(&mut sender, 7_100, syn_ack());
    assert_eq!(sent.iter().filter(|segment| segment.len > 0).count(), 1, "RFC 5681: one segment");
    assert_eq!(sender.rto(), Duration::from_secs(3), "RFC 6298, rule 5.7");
    assert_eq!(sender.stats().rtt_samples, 0, "Karn");
}

#[test]
fn an_early_wake_up_and_nonsense_change_nothing() {
    let mut sender = connected(config());
    tell(&mut sender, 100, SenderInput::WriteForever);
    let before = format!("{sender:?}");
    assert!(tell(&mut sender, 200, None).is_empty());
    assert!(tell(&mut sender, 200, ack(99_999, 65_535)).is_empty(), "what was never sent");
    assert!(tell(&mut sender, 200, ack(0, 0)).is_empty(), "what is old");
    assert_eq!(format!("{sender:?}"), before);
}

#[test]
fn the_window_grows_only_when_it_is_the_limit() {
    // The application: a segment at a time.
    let mut slow = connected(config());
    for i in 0..20u64 {
        tell(&mut slow, 200 + 200 * i, SenderInput::Write(Bytes::new(MSS)));
        tell(&mut slow, 300 + 200 * i, ack(1 + (i + 1) * MSS, 65_535));
    }
    assert_eq!(slow.cwnd(), Bytes::new(4 * MSS));
    // The receiver: eight segments.
    let mut limited = connected(config());
    let mut acked = 1;
    tell(&mut limited, 100, SenderInput::WriteForever);
    for i in 0..100u64 {
        acked += MSS;
        tell(&mut limited, 200 + i, ack(acked, 8_000));
    }
    assert!((8 * MSS..=9 * MSS).contains(&limited.cwnd().as_u64()), "{}", limited.cwnd());
    assert_eq!(limited.flight_size(), Bytes::new(8 * MSS));
}

#[test]
fn slow_start_sends_two_for_one() {
    let mut sender = connected(config());
    assert_eq!(starts(&tell(&mut sender, 100, SenderInput::WriteForever)), [1, 1_001, 2_001, 3_001]);
    assert_eq!(starts(&tell(&mut sender, 200, ack(1_001, 65_535))), [4_001, 5_001]);
    // A delayed acknowledgement of two opens the window by one all the same.
    assert_eq!(starts(&tell(&mut sender, 200, ack(3_001, 65_535))), [6_001, 7_001, 8_001]);
}

#[test]
fn after_idling_for_a_timeout_it_starts_with_the_initial_window() {
    let mut sender = connected(config());
    let mut sent = tell(&mut sender, 100, SenderInput::Write(Bytes::new(40 * MSS))).len() as u64;
    let mut acked = 0;
    while acked < 40 {
        acked += 1;
        sent += tell(&mut sender, 200 + acked, ack(1 + acked * MSS, 65_535)).len() as u64;
    }
    assert_eq!(sent, 40);
    assert!(sender.cwnd() > Bytes::new(20 * MSS));
    assert_eq!(tell(&mut sender, 5_000, SenderInput::Write(Bytes::new(40 * MSS))).len(), 4);
}

#[test]
fn small_writes_go_at_once_and_silly_windows_are_not_filled() {
    let mut sender = connected(config());
    assert_eq!(tell(&mut sender, 100, SenderInput::Write(Bytes::new(10)))[0].len, 10);
    assert_eq!(tell(&mut sender, 101, SenderInput::Write(Bytes::new(20)))[0].len, 20);
    tell(&mut sender, 200, ack(31, 65_535));
    assert!(tell(&mut sender, 201, ack(31, 300)).is_empty());
    assert!(tell(&mut sender, 202, SenderInput::Write(Bytes::new(MSS))).is_empty(), "300 of 65535 byte");
    assert_eq!(sender.poll_timeout().unwrap().why, "tcp.persist");
    let at = sender.poll_timeout().unwrap().at.as_nanos() / 1_000_000;
    assert_eq!(tell(&mut sender, at, None)[0].len, 300, "until the override timer");
}

#[test]
fn the_send_buffer_bounds_what_is_out() {
    let mut sender = connected(Config { send_buffer: Bytes::new(2_500), ..config() });
    assert_eq!(tell(&mut sender, 100, SenderInput::WriteForever).len(), 2, "whole segments");
    assert_eq!(sender.flight_size(), Bytes::new(2_000));
}

#[test]
fn the_second_timeout_for_the_same_data_keeps_the_threshold() {
    let mut sender = connected(config());
    tell(&mut sender, 100, SenderInput::WriteForever);
    for expected in [1_100, 3_100, 7_100] {
        assert_eq!(sender.poll_timeout().unwrap().at, ms(expected));
        assert_eq!(starts(&tell(&mut sender, expected, None)), [1]);
        assert_eq!((sender.cwnd(), sender.ssthresh()), (Bytes::new(MSS), Some(Bytes::new(2 * MSS))));
    }
    assert_eq!(sender.stats().timeouts, 3);
}

#[test]
fn limited_transmit_sends_one_new_segment_for_each_of_two_duplicates() {
    for variant in [Variant::Reno, Variant::NewReno] {
        let mut sender = connected(Config { variant, ..config() });
        tell(&mut sender, 100, SenderInput::WriteForever);
        assert_eq!(starts(&tell(&mut sender, 200, ack(1, 65_535))), [4_001]);
        assert_eq!(starts(&tell(&mut sender, 200, ack(1, 65_535))), [5_001]);
        assert_eq!(starts(&tell(&mut sender, 200, ack(1, 65_535))), [1]);
        assert_eq!(sender.ssthresh(), Some(Bytes::new(2 * MSS)), "half of four, not of six");
        assert_eq!(sender.cwnd(), Bytes::new(5 * MSS));
    }
}

#[test]
fn a_changed_window_is_no_duplicate() {
    let mut sender = connected(config());
    tell(&mut sender, 100, SenderInput::WriteForever);
    for window in [60_000, 50_000, 40_000, 30_000] {
        tell(&mut sender, 200, ack(1, window));
    }
    assert_eq!((sender.stats().dup_acks, sender.stats().fast_retransmits), (0, 0));
}

#[test]
fn newreno_does_not_take_the_echo_of_a_timeout_for_a_loss() {
    let mut sender = connected(config());
    tell(&mut sender, 100, SenderInput::WriteForever);
    tell(&mut sender, 1_100, None);
    tell(&mut sender, 1_200, ack(4_001, 65_535));
    // Everything up to `recover` is acknowledged; duplicates of that come from needless retransmissions.
    for _ in 0..4 {
        tell(&mut sender, 1_201, ack(4_001, 65_535));
    }
    assert_eq!(sender.stats().fast_retransmits, 0);
}

#[test]
fn timestamps_measure_repeated_segments_too() {
    let mut sender = connected(Config { timestamps: true, ..config() });
    tell(&mut sender, 100, SenderInput::Write(Bytes::new(MSS)));
    let again = tell(&mut sender, 1_100, None)[0];
    assert_eq!(again.timestamp.map(|(value, _)| value), Some(ms(1_100)));
    let SenderInput::Segment(mut reply) = ack(1_001, 65_535) else { unreachable!("ack() makes a segment") };
    reply.timestamp = Some((ms(1_150), ms(1_100)));
    tell(&mut sender, 1_180, SenderInput::Segment(reply));
    // 100 ms of the handshake, then 80: 7/8 * 100 + 1/8 * 80.
    assert_eq!((sender.stats().rtt_samples, sender.srtt()), (2, Some(Duration::from_micros(97_500))));
}

#[test]
fn an_endless_write_can_be_closed() {
    let mut sender = connected(config());
    tell(&mut sender, 100, SenderInput::WriteForever);
    let fin = tell(&mut sender, 150, SenderInput::Close);
    assert_eq!(fin.len(), 1);
    assert!(fin[0].flags.fin && fin[0].len == 0 && fin[0].seq == 4_001);
    tell(&mut sender, 200, ack(4_002, 65_535));
    assert!(sender.is_finished() && sender.poll_timeout().is_none());
    assert_eq!(sender.acknowledged(), Bytes::new(4_000));
}

#[test]
fn what_no_connection_can_work_with_is_refused() {
    let good = config();
    let refused = |config: Config| Sender::new(config).unwrap_err().parameter;
    assert_eq!(refused(Config { mss: Bytes::ZERO, ..good }), "mss");
    assert_eq!(refused(Config { mss: Bytes::new(70_000), ..good }), "mss");
    assert_eq!(refused(Config { initial_window: Some(0), ..good }), "initial_window");
    assert_eq!(refused(Config { tick: Duration::ZERO, ..good }), "tick");
    assert_eq!(refused(Config { initial_rto: Duration::ZERO, ..good }), "initial_rto");
    assert_eq!(refused(Config { min_rto: Duration::from_secs(61), ..good }), "min_rto");
    assert_eq!(refused(Config { initial_rto: Duration::from_secs(61), ..good }), "initial_rto");
    assert_eq!(refused(Config { ack_every: 0, ..good }), "ack_every");
    assert_eq!(refused(Config { receive_buffer: Bytes::new(999), ..good }), "receive_buffer");
    assert_eq!(refused(Config { send_buffer: Bytes::new(1 << 31), ..good }), "send_buffer");
    let message = Receiver::new(Config { ack_every: 0, ..good }).unwrap_err().to_string();
    assert_eq!(message, "`ack_every` must be at least 1");
}

/// A receiver whose largest window is less than a segment is not starved: half of that window is worth a segment.
#[test]
fn a_window_that_never_holds_a_segment_is_filled_all_the_same() {
    let mut sender = sender(config());
    tell(&mut sender, 0, SenderInput::Open);
    let SenderInput::Segment(mut syn_ack) = syn_ack() else { unreachable!("syn_ack() makes a segment") };
    syn_ack.window = 600;
    tell(&mut sender, 100, SenderInput::Segment(syn_ack));
    let sent = tell(&mut sender, 100, SenderInput::WriteForever);
    assert_eq!(sent.iter().map(|segment| (segment.seq, segment.len)).collect::<Vec<_>>(), [(1, 600)]);
    assert!(tell(&mut sender, 200, ack(601, 299)).is_empty(), "less than half: silly");
    let sent = tell(&mut sender, 210, ack(601, 300));
    assert_eq!(sent.iter().map(|segment| (segment.seq, segment.len)).collect::<Vec<_>>(), [(601, 300)]);
}

/// Blocks that cover much of the window let as much new data go at once (RFC 6675, section 5, step C).
#[test]
fn a_report_of_many_arrivals_lets_many_segments_go() {
    let mut sender = connected(Config { variant: Variant::Sack, initial_window: Some(10), ..config() });
    assert_eq!(tell(&mut sender, 100, SenderInput::WriteForever).len(), 10);
    let mut report = |at, end| {
        let SenderInput::Segment(mut segment) = ack(1, 65_535) else { unreachable!("ack() makes a segment") };
        assert!(segment.sack.push(1, (1_001, end)));
        starts(&tell(&mut sender, at, SenderInput::Segment(segment)))
    };
    let first: Vec<_> = (2..=4).flat_map(|n| report(200 + n, 1_000 * n + 1)).collect();
    assert_eq!(first.last(), Some(&1), "the first is lost, and sent again");
    // All ten but the first have come; it is in the network, and the window is five.
    let new = report(210, 10_001);
    assert!(new.len() >= 2 && new.windows(2).all(|two| two[1] == two[0] + 1_000), "{new:?} after {first:?}");
}

/// An acknowledgement of everything before `next` with a block.
fn selective(next: u64, block: (u64, u64)) -> SenderInput {
    let flags = Flags { ack: true, ..Flags::default() };
    let mut segment = Segment { seq: 1, ack: next, window: 65_535, flags, ..Segment::default() };
    assert!(segment.sack.push(next, block));
    SenderInput::Segment(segment)
}

/// RFC 6675, section 2: a duplicate acknowledgement is one with news of another segment.
#[test]
fn a_block_that_is_no_news_is_no_duplicate() {
    let mut sender = sender(Config { variant: Variant::Sack, ..config() });
    tell(&mut sender, 0, SenderInput::Open);
    let flags = Flags { ack: true, syn: true, sack_permitted: true, ..Flags::default() };
    tell(&mut sender, 100, SenderInput::Segment(Segment { ack: 1, window: 65_535, flags, ..Segment::default() }));
    assert_eq!(tell(&mut sender, 100, SenderInput::WriteForever).len(), 4);
    for (at, block, duplicates) in [(200, (1_001, 2_001), 1), (201, (1_001, 2_001), 1), (202, (1_001, 3_001), 2)] {
        tell(&mut sender, at, selective(1, block));
        assert_eq!(sender.stats().dup_acks, duplicates, "{at} ms");
    }
}

#[test]
fn what_is_out_acknowledged_and_offered_is_told() {
    let mut sender = connected(config());
    tell(&mut sender, 100, SenderInput::Write(Bytes::new(3_000)));
    let told = |sender: &Sender| [sender.flight_size(), sender.acknowledged(), sender.offered()].map(Bytes::as_u64);
    assert_eq!(told(&sender), [3_000, 0, 65_535]);
    tell(&mut sender, 200, ack(2_001, 30_000));
    assert_eq!(told(&sender), [1_000, 2_000, 30_000]);
    assert!(sender.poll_timeout().is_some());
    tell(&mut sender, 201, ack(3_001, 30_000));
    assert_eq!((told(&sender), sender.poll_timeout()), ([0, 3_000, 30_000], None), "nothing is out: no timer runs");
    assert!(!sender.is_finished());
}

/// RFC 6675, section 4, NextSeg, rule 4: where nothing else may be sent, the tail goes once more, once a recovery.
#[test]
fn a_lost_tail_is_rescued_once_a_recovery() {
    let mut sender = sender(Config { variant: Variant::Sack, initial_window: Some(10), ..config() });
    tell(&mut sender, 0, SenderInput::Open);
    let flags = Flags { ack: true, syn: true, sack_permitted: true, ..Flags::default() };
    tell(&mut sender, 100, SenderInput::Segment(Segment { ack: 1, window: 65_535, flags, ..Segment::default() }));
    assert_eq!(tell(&mut sender, 100, SenderInput::Write(Bytes::new(10_000))).len(), 10);
    // The first and the last are lost.
    let sent: Vec<u64> =
        (2..=9).flat_map(|to| starts(&tell(&mut sender, 200 + to, selective(1, (1_001, 1 + 1_000 * to))))).collect();
    assert_eq!(sent, [1, 9_001]);
    assert_eq!((sender.stats().retransmits, sender.stats().timeouts), (2, 0));
}
