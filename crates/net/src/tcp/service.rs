//! A sender's inputs, outputs and counters: the same for the RFCs' and Linux's.

use super::segment::Segment;
use airbraid_units::{Bytes, Duration, metrics};

/// Everything that the host tells a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderInput {
    Open,
    /// The application writes this many bytes; those that exceed the send buffer wait in the application.
    Write(Bytes),
    /// The application writes whenever the buffer has space, until it closes.
    WriteForever,
    /// The application has no more data: FIN follows the last byte. A `WriteForever` ends with the bytes sent so far.
    Close,
    /// A segment came from the receiver.
    Segment(Segment),
}

/// Everything that a sender tells its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderOutput {
    Segment(Segment),
    /// The handshake is complete.
    Connected,
    /// Every byte and the FIN were acknowledged.
    Finished,
}

/// The reason why a sender does not send more at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum SenderLimit {
    /// The connection is not open yet, or over.
    #[default]
    Idle,
    /// The handshake is not answered.
    Handshake,
    /// Everything that the application has written was sent.
    Application,
    /// The receiver offers no more.
    ReceiveWindow,
    /// The send buffer holds no more.
    SendBuffer,
    /// The congestion window is full, and was never reduced.
    SlowStart,
    /// The congestion window is full, and was reduced before.
    CongestionWindow,
    /// Fast recovery.
    Recovery,
    /// The timer expired, and what was out then is not acknowledged.
    Timeout,
}

impl SenderLimit {
    pub const COUNT: usize = Self::Timeout as usize + 1;
}

metrics! {
    /// The counters of a sender.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SenderStats {
        /// Segments that took sequence numbers (data, SYN, FIN), retransmissions included.
        pub sent_segments: u64,
        /// Segments that TCP sent again; zero-window probes do not count.
        pub retransmits: u64 = sum,
        /// Expiries of TCP's retransmission timer.
        pub timeouts: u64 = sum,
        /// Entries into fast recovery.
        pub fast_retransmits: u64,
        /// Duplicate acknowledgements, as each variant defines them.
        pub dup_acks: u64,
        /// New segments sent on the first two duplicate acknowledgements (RFC 3042).
        pub limited_transmits: u64,
        /// Probes of a closed window.
        pub window_probes: u64,
        /// Round trips that went into the timeout.
        pub rtt_samples: u64,
        /// Sum of these round trips.
        pub rtt_sum: Duration,
        /// Tail loss probes (RFC 8985, section 7.3); profile `linux`.
        pub tail_probes: u64,
        /// Reductions of the window that proved needless and were taken back; profile `linux`.
        pub undone: u64,
    }
}
