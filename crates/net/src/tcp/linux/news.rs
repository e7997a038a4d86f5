//! The facts that one acknowledgement brings, and the sending that follows.

use airbraid_units::{Duration, Instant};

/// The changes that one acknowledgement brought.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckNews {
    /// The cumulative acknowledgement before it.
    pub una: u64,
    /// Delivered segments before it.
    pub delivered: u64,
    /// The cumulative acknowledgement moved.
    pub advanced: bool,
    /// Segments were selectively acknowledged.
    pub sacked: bool,
    /// A needless retransmission was reported, and whether of a probe.
    pub duplicate: bool,
    pub duplicate_probe: bool,
    /// A segment from before this recovery arrived that was never retransmitted.
    pub original: bool,
    /// A retransmission was cumulatively acknowledged.
    pub repetition: bool,
    /// A retransmission was found lost.
    pub repetition_lost: bool,
    /// Segments were found lost.
    pub lost: bool,
    pub restart: bool,
    /// Number of segments found lost.
    pub losses: u64,
    /// The round trip of the latest segment that it acknowledges.
    pub rtt: Option<Duration>,
    /// Segments in the network before it.
    pub prior_pipe: u64,
    /// The sender's time that the peer's clock echoes.
    pub echo: Option<Instant>,
    /// Sending times of the earliest and the latest segment cumulatively acknowledged, and selectively acknowledged.
    pub acked: Option<(Instant, Instant)>,
    pub held: Option<(Instant, Instant)>,
    /// The lowest segment that arrived after a higher one, without having been retransmitted.
    pub reordered: Option<u64>,
    /// Delivered segments when the latest of the arrived ones left.
    pub sent_at: Option<u64>,
}

/// The segments to send after an acknowledgement, once the window has followed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowUp {
    /// Only those that the window allows anyway.
    Nothing,
    /// Retransmissions of lost segments.
    Repeat,
    /// New data, to see whether a timeout was spurious.
    SendNew,
}
