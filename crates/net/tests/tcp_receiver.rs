//! A receiver alone, fed by hand.

use airbraid_engine::{Machine, step};
use airbraid_net::tcp::{Config, Flags, Receiver, ReceiverInput, ReceiverOutput, Segment, Variant};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::BTreeSet;

/// A receiver that knows its sender, with a buffer of ten segments of 1000 byte.
fn connected() -> Receiver {
    connected_with(Config { receive_buffer: Bytes::new(10_000), ..Config::default() })
}

/// The same with another configuration, and segments of 1000 byte.
fn connected_with(config: Config) -> Receiver {
    let mut receiver = Receiver::new(Config { mss: Bytes::new(1_000), ..config }).unwrap();
    let syn = Segment { flags: Flags { syn: true, ..Flags::default() }, ..Segment::default() };
    step(&mut receiver, Instant::ZERO, Some(ReceiverInput::Segment(syn)), |_| {});
    receiver
}

/// Gives it the segment from `seq` on; returns the bytes that it hands over, and the acknowledgements.
fn give(receiver: &mut Receiver, seq: u64, len: u32) -> (u64, Vec<u64>) {
    let now = Instant::ZERO + Duration::from_millis(10);
    let flags = Flags { ack: true, ..Flags::default() };
    let segment = Segment { seq, len, ack: 1, flags, ..Segment::default() };
    let (mut delivered, mut acks) = (0, vec![]);
    step(receiver, now, Some(ReceiverInput::Segment(segment)), |output| match output {
        ReceiverOutput::Delivered(bytes) => delivered += bytes.as_u64(),
        ReceiverOutput::Segment(segment) => acks.push(segment.ack),
        ReceiverOutput::Finished => panic!("nothing has ended"),
    });
    (delivered, acks)
}

/// Its answer tells the sender where the window is (RFC 9293, section 3.10.7.4).
#[test]
fn what_begins_beyond_the_window_is_refused_answered_and_counted() {
    let mut receiver = connected();
    assert_eq!(give(&mut receiver, 10_001, 1_000), (0, vec![1]), "the first byte beyond");
    assert_eq!(receiver.stats().outside_window, 1);
    assert_eq!(give(&mut receiver, 9_001, 1_000), (0, vec![1]), "the last segment within");
    assert_eq!(receiver.stats().outside_window, 1);
    assert_eq!(give(&mut receiver, 30_001, 1), (0, vec![1]));
    assert_eq!(receiver.stats().outside_window, 2);
}

/// The kernel's receiver, once its quick acknowledgements are spent and its window does not grow any more: every second
/// full segment is acknowledged, and a short one, which ends what was written, at once.
#[test]
fn the_kernels_receiver_waits_for_a_second_full_segment_and_not_behind_a_short_one() {
    let mut receiver = connected_with(Config { receive_buffer: Bytes::new(65_535), ..Config::linux(Variant::Reno) });
    let mut seq = 1;
    let mut next = |receiver: &mut Receiver, len: u32| {
        let (delivered, acks) = give(receiver, seq, len);
        assert_eq!(delivered, u64::from(len));
        seq += u64::from(len);
        acks.len()
    };
    let first: usize = (0..100).map(|_| next(&mut receiver, 1_000)).sum();
    assert!(first > 50, "{first} of the first hundred, sixteen of them one by one");
    let pairs: Vec<_> = (0..6).map(|_| next(&mut receiver, 1_000) + next(&mut receiver, 1_000)).collect();
    assert_eq!(pairs, [1; 6]);
    assert_eq!((next(&mut receiver, 500), next(&mut receiver, 500)), (1, 1));
}

/// A third of three full segments; everything where nothing is delayed; what does not fit whole; and the end.
#[test]
fn an_acknowledgement_goes_at_once_for_each_reason_alone() {
    let config = Config { receive_buffer: Bytes::new(10_000), ..Config::default() };
    let mut thirds = connected_with(Config { ack_every: 3, ..config });
    let acks: Vec<_> = (0..6).map(|n| give(&mut thirds, 1 + 1_000 * n, 1_000).1).collect();
    assert_eq!(acks, [vec![], vec![], vec![3_001], vec![], vec![], vec![6_001]]);
    assert_eq!(give(&mut connected(), 1, 1_999).1, [], "a byte less than two segments");
    assert_eq!(give(&mut connected(), 1, 2_000).1, [2_001]);
    let mut prompt = connected_with(Config { ack_delay: Duration::ZERO, ..config });
    assert_eq!((give(&mut prompt, 1, 1).1, give(&mut prompt, 2, 1).1), (vec![2], vec![3]));
    // While nobody reads 1500 byte fit.
    let mut full = connected_with(Config { receive_buffer: Bytes::new(1_500), ..config });
    step(&mut full, Instant::ZERO, Some(ReceiverInput::Pause), |_| {});
    assert_eq!((give(&mut full, 1, 1_000), give(&mut full, 1_001, 1_000)), ((0, vec![]), (0, vec![1_501])));
    assert_eq!(full.received(), Bytes::new(1_500));
    let mut ended = connected();
    let flags = Flags { ack: true, fin: true, ..Flags::default() };
    let last = Segment { seq: 1, len: 10, ack: 1, flags, ..Segment::default() };
    let mut acks = vec![];
    step(&mut ended, Instant::ZERO, Some(ReceiverInput::Segment(last)), |output| {
        if let ReceiverOutput::Segment(segment) = output {
            acks.push(segment.ack);
        }
    });
    assert!(acks == [12] && ended.is_finished() && ended.received() == Bytes::new(10));
}

/// RFC 5681, section 4.2: what fills a gap is acknowledged at once, however little it is.
#[test]
fn what_fills_a_gap_is_acknowledged_at_once_and_early_segments_are_counted() {
    let mut receiver = connected();
    assert_eq!(give(&mut receiver, 501, 500), (0, vec![1]), "a duplicate acknowledgement");
    assert_eq!(receiver.stats().out_of_order, 1);
    assert_eq!(give(&mut receiver, 1, 500), (1_000, vec![1_001]));
    assert_eq!(give(&mut receiver, 1_001, 500), (500, vec![]), "the next in order may wait");
    assert_eq!(receiver.stats().out_of_order, 1);
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Takes one step; returns the bytes that it hands over, and its answers.
fn tell(receiver: &mut Receiver, ms: u64, input: impl Into<Option<ReceiverInput>>) -> (u64, Vec<Segment>) {
    let (mut delivered, mut answers) = (0, vec![]);
    step(receiver, at(ms), input.into(), |output| match output {
        ReceiverOutput::Delivered(bytes) => delivered += bytes.as_u64(),
        ReceiverOutput::Segment(segment) => answers.push(segment),
        ReceiverOutput::Finished => {}
    });
    (delivered, answers)
}

/// A segment of 1000 byte, the first of which has this number.
fn segment(seq: u64) -> Segment {
    Segment { seq, len: 1_000, ack: 1, flags: Flags { ack: true, ..Flags::default() }, ..Segment::default() }
}

fn data(seq: u64) -> ReceiverInput {
    ReceiverInput::Segment(segment(seq))
}

/// RFC 5681, section 4.2: at least every second full segment, and no later than after the delay.
#[test]
fn one_segment_is_acknowledged_after_the_delay_and_the_second_at_once() {
    let mut receiver = connected();
    let ack = |answers: &[Segment]| answers.iter().map(|answer| answer.ack).collect::<Vec<_>>();
    assert_eq!(tell(&mut receiver, 10, data(1)), (1_000, vec![]));
    assert_eq!(receiver.poll_timeout().map(|wake| wake.at), Some(at(110)));
    assert_eq!(ack(&tell(&mut receiver, 50, data(1_001)).1), [2_001]);
    assert_eq!((receiver.poll_timeout(), receiver.stats().delayed_acks), (None, 0));
    assert_eq!(tell(&mut receiver, 60, data(2_001)).1, []);
    assert_eq!((tell(&mut receiver, 159, None).1, ack(&tell(&mut receiver, 160, None).1)), (vec![], vec![3_001]));
    let stats = receiver.stats();
    assert_eq!((stats.delayed_acks, stats.segments, stats.duplicates, receiver.received().as_u64()), (1, 3, 0, 3_000));
    // What has come before is acknowledged at once, and nothing is handed over.
    let (delivered, answers) = tell(&mut receiver, 170, data(1_001));
    assert_eq!((delivered, ack(&answers), receiver.stats().duplicates), (0, vec![3_001], 1));
}

#[test]
fn a_window_closes_while_nobody_reads_and_opens_at_once_when_somebody_does() {
    let mut receiver = connected();
    tell(&mut receiver, 10, ReceiverInput::Pause);
    let mut windows = vec![];
    for seq in (1..=10_000).step_by(1_000) {
        let (delivered, answers) = tell(&mut receiver, 10, data(seq));
        assert_eq!(delivered, 0);
        windows.extend(answers.iter().map(|answer| answer.window));
    }
    assert_eq!(windows, [8_000, 6_000, 4_000, 2_000, 0]);
    assert_eq!(tell(&mut receiver, 20, data(10_001)).1[0].window, 0, "there is no space");
    let (delivered, answers) = tell(&mut receiver, 30, ReceiverInput::Resume);
    assert_eq!((delivered, answers.len(), answers[0].ack, answers[0].window), (10_000, 1, 10_001, 10_000));
    assert_eq!(tell(&mut receiver, 31, ReceiverInput::Resume), (0, vec![]), "nothing waits");
}

/// RFC 2018, section 4: the block of the segment that came last, then those before it.
#[test]
fn blocks_are_reported_the_latest_first_and_as_many_as_fit() {
    let config = Config { variant: Variant::Sack, receive_buffer: Bytes::new(40_000), ..Config::default() };
    let blocks = |timestamps: bool| {
        let mut receiver = connected_with(Config { timestamps, ..config });
        let mut last = vec![];
        for seq in [2_001, 4_001, 6_001, 8_001, 10_001, 5_001] {
            let (_, answers) = tell(&mut receiver, 10, data(seq));
            last = answers[0].sack_blocks().collect();
        }
        last
    };
    // The last one joins two blocks.
    assert_eq!(blocks(false), [(4_001, 7_001), (10_001, 11_001), (8_001, 9_001), (2_001, 3_001)]);
    assert_eq!(blocks(true), [(4_001, 7_001), (10_001, 11_001), (8_001, 9_001)], "timestamps take the space of one");
}

/// Segments of an A-MPDU come at one time, and reports are held back: none of their blocks is lost.
#[test]
fn what_came_at_once_behind_several_gaps_is_reported_as_a_whole() {
    let config = Config { timestamps: true, receive_buffer: Bytes::new(200_000), ..Config::linux(Variant::Cubic) };
    let mut receiver = connected_with(config);
    // A round trip of 100 ms, of which a report waits for a hundredth.
    let stamped =
        |seq: u64, ms: u64| ReceiverInput::Segment(Segment { timestamp: Some((at(ms), at(ms - 100))), ..segment(seq) });
    let mut now = 100;
    for seq in (1..3_000_001).step_by(1_000) {
        now += 1;
        tell(&mut receiver, now, stamped(seq, now));
    }
    let (mut reported, mut came, mut answered) = (BTreeSet::new(), BTreeSet::new(), 0);
    for burst in 0..4 {
        // A burst is four runs of nine segments, each behind a gap of one.
        let runs = (0..4).flat_map(|run| (1..10).map(move |n| 3_000_001 + 10_000 * (4 * burst + run) + 1_000 * n));
        let mut answers: Vec<Segment> = runs
            .inspect(|seq| {
                came.insert(*seq);
            })
            .flat_map(|seq| tell(&mut receiver, now, stamped(seq, now)).1)
            .collect();
        now += 10;
        answers.extend(tell(&mut receiver, now, None).1);
        answered += answers.len();
        let blocks = answers.iter().flat_map(|answer| answer.sack_blocks().collect::<Vec<_>>());
        reported.extend(blocks.flat_map(|(start, end)| (start..end).step_by(1_000)));
    }
    assert_eq!(reported, came);
    assert!(answered < 40, "{answered} answers to 144 segments: most reports are joined");
}

/// RFC 7323, section 4.3: the clock of the earliest segment that is not acknowledged.
#[test]
fn a_delayed_acknowledgement_echoes_the_clock_of_the_earlier_segment() {
    let mut receiver = connected_with(Config { timestamps: true, ..Config::default() });
    let stamped = |seq: u64, ms: u64| {
        ReceiverInput::Segment(Segment { timestamp: Some((at(ms), Instant::ZERO)), ..segment(seq) })
    };
    let echo = |answers: &[Segment]| answers.iter().map(|answer| answer.timestamp).collect::<Vec<_>>();
    assert_eq!(tell(&mut receiver, 10, stamped(1, 3)).1, []);
    assert_eq!(echo(&tell(&mut receiver, 20, stamped(1_001, 13)).1), [Some((at(20), at(3)))]);
    // Behind a gap the last one in order counts.
    assert_eq!(echo(&tell(&mut receiver, 30, stamped(3_001, 23)).1), [Some((at(30), at(3)))]);
    assert_eq!(echo(&tell(&mut receiver, 40, stamped(2_001, 33)).1), [Some((at(40), at(33)))]);
}

#[test]
fn a_stream_ends_with_the_fin_and_all_before_it() {
    let mut receiver = connected();
    let fin = |seq: u64| {
        let flags = Flags { ack: true, fin: true, ..Flags::default() };
        ReceiverInput::Segment(Segment { flags, ..segment(seq) })
    };
    let (delivered, answers) = tell(&mut receiver, 10, fin(1_001));
    assert_eq!((delivered, answers[0].ack, receiver.is_finished()), (0, 1, false));
    let (delivered, answers) = tell(&mut receiver, 20, data(1));
    // The FIN takes a number, and the answer ends the other direction, too.
    assert_eq!((delivered, answers[0].ack, answers[0].flags.fin), (2_000, 2_002, true));
    assert_eq!((receiver.is_finished(), receiver.received().as_u64()), (true, 2_000));
}
