//! A receiver alone, fed by hand.

use airbraid_engine::step;
use airbraid_net::tcp::{Config, Flags, Receiver, ReceiverInput, ReceiverOutput, Segment, Variant};
use airbraid_units::{Bytes, Duration, Instant};

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
