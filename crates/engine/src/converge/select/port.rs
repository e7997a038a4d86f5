//! The properties of a port.

use crate::packet::TrafficClass;
use airbraid_units::{BitRate, Duration};

/// A ratio of powers, in thousandths of a decibel: the engine computes in integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MilliDb(pub i32);

/// The rate that a port reaches from an SNR on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStep {
    pub from: MilliDb,
    pub rate: BitRate,
}

/// The properties of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// The port with the lowest is preferred among those that are good.
    pub rank: u8,
    /// SNR above which it is good, for bulk and real-time traffic; `None`: whenever something is heard.
    pub thresholds: Option<[MilliDb; 2]>,
    /// Its rates with the SNR that each needs, the slowest first. Below the lowest SNR it has the slowest.
    pub rates: Vec<RateStep>,
    /// Cost of each transmission beside its bits: contention, preamble, acknowledgement.
    pub overhead: Duration,
}

impl PortConfig {
    /// The paper's threshold for a class.
    pub(super) fn threshold(&self, class: TrafficClass) -> Option<MilliDb> {
        self.thresholds.map(|thresholds| thresholds[class as usize])
    }

    /// The rate that it reaches at this SNR.
    pub(super) fn rate_at(&self, snr: MilliDb) -> Option<BitRate> {
        let reached = self.rates.iter().rev().find(|step| step.from <= snr);
        reached.or_else(|| self.rates.first()).map(|step| step.rate)
    }
}
