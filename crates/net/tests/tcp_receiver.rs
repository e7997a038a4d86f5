//! A receiver alone, fed by hand.

use airbraid_engine::step;
use airbraid_net::tcp::{Config, Flags, Receiver, ReceiverInput, ReceiverOutput, Segment};
use airbraid_units::{Bytes, Duration, Instant};

/// A receiver that knows its sender, with a buffer of ten segments of 1000 byte.
fn connected() -> Receiver {
    let config = Config { mss: Bytes::new(1_000), receive_buffer: Bytes::new(10_000), ..Config::default() };
    let mut receiver = Receiver::new(config).unwrap();
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
