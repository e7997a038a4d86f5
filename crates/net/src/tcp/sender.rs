//! The sending end of a TCP connection, in either implementation: the RFCs' or Linux's.
//!
//! It has no behaviour of its own. The two share the connection (`connection.rs`) and no more, because they count
//! differently: the RFCs in bytes and ranges, the kernel in segments, each with the time at which it left.

use super::config::{Config, Profile};
use super::linux::Linux;
use super::rfc::Rfc;
use super::segment::Segment;
use crate::Refusal;
use airbraid_engine::{Machine, Wake};
use airbraid_units::{Bytes, Duration, Instant};

/// Everything that the host tells a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderInput {
    /// The application connects.
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
    /// Send this segment.
    Segment(Segment),
    /// The handshake is complete.
    Connected,
    /// Every byte and the FIN were acknowledged.
    Finished,
}

/// The counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments that took sequence numbers (data, SYN, FIN), retransmissions included.
    pub sent_segments: u64,
    /// Retransmissions among them; zero-window probes do not count.
    pub retransmits: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
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

/// The sending end.
#[derive(Clone, Debug)]
pub struct Sender(Kind);

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "the RFCs' sender stays where it was, without another indirection")]
enum Kind {
    Rfc(Rfc),
    Linux(Box<Linux>),
}

/// Calls a method of either implementation.
macro_rules! either {
    ($this:expr, $sender:ident => $call:expr) => {
        match $this {
            Kind::Rfc($sender) => $call,
            Kind::Linux($sender) => $call,
        }
    };
}

impl Sender {
    /// The sending end of a connection that is not open yet.
    ///
    /// # Errors
    /// What [`Config::check`] refuses.
    pub fn new(config: Config) -> Result<Self, Refusal> {
        config.check()?;
        Ok(Self(match config.profile {
            Profile::Rfc | Profile::Bsd => Kind::Rfc(Rfc::new(config)),
            Profile::Linux => Kind::Linux(Box::new(Linux::new(config))),
        }))
    }

    pub const fn stats(&self) -> &SenderStats {
        either!(&self.0, sender => sender.stats())
    }
    /// The congestion window, inflation in fast recovery included.
    pub const fn cwnd(&self) -> Bytes {
        either!(&self.0, sender => sender.cwnd())
    }
    /// The slow start threshold; `None` before the first loss.
    pub fn ssthresh(&self) -> Option<Bytes> {
        either!(&self.0, sender => sender.ssthresh())
    }
    /// The smoothed round trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        either!(&self.0, sender => sender.srtt())
    }
    /// The retransmission timeout, backoff included.
    pub fn rto(&self) -> Duration {
        either!(&self.0, sender => sender.rto())
    }
    /// Sent and not acknowledged (RFC 5681's FlightSize).
    pub const fn flight_size(&self) -> Bytes {
        either!(&self.0, sender => sender.flight_size())
    }
    /// Payload acknowledged so far.
    pub const fn acknowledged(&self) -> Bytes {
        either!(&self.0, sender => sender.acknowledged())
    }
    /// Whether everything and the FIN were acknowledged.
    pub fn is_finished(&self) -> bool {
        either!(&self.0, sender => sender.is_finished())
    }
}

impl Machine for Sender {
    type Input = SenderInput;
    type Output = SenderOutput;

    fn handle_input(&mut self, now: Instant, input: SenderInput) {
        either!(&mut self.0, sender => sender.handle_input(now, input));
    }
    fn handle_timeout(&mut self, now: Instant) {
        either!(&mut self.0, sender => sender.handle_timeout(now));
    }
    fn poll_output(&mut self) -> Option<SenderOutput> {
        either!(&mut self.0, sender => sender.poll_output())
    }
    fn poll_timeout(&self) -> Option<Wake> {
        either!(&self.0, sender => sender.poll_timeout())
    }
}
