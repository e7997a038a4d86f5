//! A segment on its way, and the state of delivery when it left.

use airbraid_units::Instant;

/// The state of the delivery when a segment left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    /// Segments known to be delivered, and the time of the last delivery.
    pub delivered: u64,
    pub delivered_at: Instant,
    /// Sending time of the segment whose arrival was known last.
    pub first_at: Instant,
    /// The application had nothing more to send.
    pub is_limited: bool,
}

/// A segment that was sent and is not cumulatively acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub start: u64,
    /// The offset after its last, FIN included.
    pub end: u64,
    /// The time of its last transmission.
    pub at: Instant,
    /// The number of that transmission among all of the connection.
    pub order: u64,
    /// The state of the delivery at its last transmission.
    pub stamp: Stamp,
    /// Selectively acknowledged.
    pub sacked: bool,
    /// Believed to be lost.
    pub lost: bool,
    /// Believed to be lost, and retransmitted.
    pub again: bool,
    /// Sent more than once.
    pub repeated: bool,
}
