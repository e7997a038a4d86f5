//! What a packet costs on a way: four answers behind one trait.

use super::config::{Policy, PortConfig};
use super::table::Way;
use crate::packet::TrafficClass;
use airbraid_units::{BitRate, Bytes, Instant};

/// All that a metric may look at.
#[derive(Clone, Copy, Debug)]
pub struct Cost<'a> {
    /// Now.
    pub now: Instant,
    /// What the port is like.
    pub port: &'a PortConfig,
    /// What is known of the neighbour there.
    pub way: &'a Way,
    /// What waits in the port's own queue.
    pub backlog: Bytes,
    /// How it is chosen.
    pub policy: &'a Policy,
}

/// What a packet costs on a way that can be used.
pub trait Metric {
    /// The cost, the less the better; none if the way should not be used as long as there is another.
    fn cost(&self, of: &Cost<'_>, class: TrafficClass, len: Bytes) -> Option<u64>;
    /// Whether the present choice should stay unless another is better by the policy's margin.
    fn has_margin(&self) -> bool {
        true
    }
}

/// The preferred one of those whose SNR is above their threshold (the paper).
#[derive(Clone, Copy, Debug)]
pub struct SnrThreshold;

/// Transmissions until a frame is acknowledged (ETX; De Couto, Aguayo, Bicket and Morris 2003) \[thousandths\].
#[derive(Clone, Copy, Debug)]
pub struct ExpectedTransmissions;

/// Time on the air until a frame is acknowledged (ETT; Draves, Padhye and Zill 2004) \[ns\]. It knows rates and needs no
/// threshold.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedTime;

/// Time until a frame is acknowledged, with those that wait before it \[ns\].
#[derive(Clone, Copy, Debug)]
pub struct Load;

impl Cost<'_> {
    /// What the port has told, or what the SNR allows.
    fn rate(&self) -> Option<BitRate> {
        let by_snr = || self.way.snr().and_then(|snr| self.port.rate_at(snr));
        let slowest = || self.port.rates.first().map(|step| step.rate);
        self.way.rate(self.now, self.policy).or_else(by_snr).or_else(slowest)
    }

    /// Time on the air of `len`, repetitions included \[ns\].
    fn time(&self, len: Bytes) -> Option<u64> {
        let transmissions = self.way.expected_transmissions(self.now, self.policy)?;
        let once = self.port.overhead + self.rate()?.time_for(len);
        Some(once.as_nanos().saturating_mul(transmissions) / 1_000)
    }
}

impl Metric for SnrThreshold {
    fn cost(&self, of: &Cost<'_>, class: TrafficClass, _: Bytes) -> Option<u64> {
        let is_good = of.port.threshold(class).is_none() || of.way.is_good(class);
        is_good.then_some(u64::from(of.port.rank))
    }
    // The hysteresis is in the way's being good.
    fn has_margin(&self) -> bool {
        false
    }
}

impl Metric for ExpectedTransmissions {
    fn cost(&self, of: &Cost<'_>, _: TrafficClass, _: Bytes) -> Option<u64> {
        of.way.expected_transmissions(of.now, of.policy)
    }
}

impl Metric for ExpectedTime {
    fn cost(&self, of: &Cost<'_>, _: TrafficClass, len: Bytes) -> Option<u64> {
        of.time(len)
    }
}

impl Metric for Load {
    fn cost(&self, of: &Cost<'_>, _: TrafficClass, len: Bytes) -> Option<u64> {
        // What waits are packets of about this length, each with its overhead.
        let ahead = of.backlog.as_u64().div_ceil(len.as_u64().max(1));
        Some(of.time(len)?.saturating_mul(ahead + 1))
    }
}

/// A metric by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// [`SnrThreshold`]
    SnrThreshold,
    /// [`ExpectedTransmissions`]
    ExpectedTransmissions,
    /// [`ExpectedTime`]
    ExpectedTime,
    /// [`Load`]
    Load,
}

impl Measure {
    /// The metric.
    pub const fn metric(self) -> &'static dyn Metric {
        match self {
            Self::SnrThreshold => &SnrThreshold,
            Self::ExpectedTransmissions => &ExpectedTransmissions,
            Self::ExpectedTime => &ExpectedTime,
            Self::Load => &Load,
        }
    }
}
