//! The sending end of a TCP connection, in either implementation: the RFCs' or Linux's.
//!
//! It has no behaviour of its own. The two share the connection (`connection.rs`) and no more, because they count
//! differently: the RFCs in bytes and ranges, the kernel in segments, each with the time at which it left.

use super::config::{Config, Profile};
use super::linux::Linux;
use super::rfc::Rfc;
use super::service::{SenderInput, SenderLimit, SenderOutput, SenderStats};
use crate::Refusal;
use airbraid_engine::{Machine, Wake};
use airbraid_units::{Bytes, Duration, Instant};

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
    /// If [`Config::check`] refuses the configuration.
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
    /// The reason why nothing more is sent now: Linux calls the time in each the chronographs of a connection.
    pub fn limit(&self) -> SenderLimit {
        either!(&self.0, sender => sender.limit())
    }
    /// The congestion window, inflation in fast recovery included.
    pub const fn cwnd(&self) -> Bytes {
        either!(&self.0, sender => sender.cwnd())
    }
    /// The window that the receiver offers.
    pub const fn offered(&self) -> Bytes {
        either!(&self.0, sender => sender.offered())
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
