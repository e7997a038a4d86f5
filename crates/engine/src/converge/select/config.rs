//! Configuration of a [`super::Selector`]: the rule of choice, and the properties of its ports.

use super::metric::Measure;
use crate::packet::TrafficClass;
use airbraid_units::{BitRate, Duration};

/// A ratio of powers, in thousandths of a decibel: the engine computes in integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MilliDb(pub i32);

/// The number of ports that the packets for a neighbour use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Over the best one (the paper).
    Choose,
    /// Over all ports whose cost is close to the best one's.
    Stripe {
        /// Largest cost of another port, in thousandths of the best one's cost; `u32::MAX` for every usable port.
        within: u32,
    },
}

/// The rule of choice. The default is the paper's, as read in `docs/models/convergence.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The cost of a packet on a way.
    pub measure: Measure,
    /// One port or several.
    pub spread: Spread,
    /// Weight of a new SNR in the smoothed one \[thousandths\]; 1000 does not smooth.
    pub weight: u32,
    /// Hysteresis around the threshold: half of it above, a way becomes good; half of it below, it is no longer.
    pub hysteresis: MilliDb,
    /// Advantage that another way needs over the present one \[thousandths\]; not for thresholds.
    pub margin: u32,
    /// Retransmission timeout of a transport after a loss that it cannot repair at once; for [`Measure::Goodput`].
    pub rto: Duration,
    /// Silence after which a way is gone.
    pub silence: Duration,
    /// Interval of beacons on one way.
    pub beacon: Duration,
    /// Undelivered frames in a row after which a way is gone, until it is heard again.
    pub failures: u32,
    /// Largest number of packets for one neighbour that wait for a way.
    pub queue: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            measure: Measure::SnrThreshold,
            spread: Spread::Choose,
            // Without smoothing an SNR with the paper's deviation of 1.46 dB, 1.75 dB above the threshold, is below it
            // for 12 % of the time.
            weight: 100,
            // The paper describes none.
            hysteresis: MilliDb(0),
            margin: 100,
            // The least retransmission timeout of Linux.
            rto: Duration::from_millis(200),
            silence: Duration::from_secs(1),
            beacon: Duration::from_millis(100),
            // As a trunk's member (decision 5).
            failures: 3,
            queue: 50,
        }
    }
}

/// The rate that a port reaches from an SNR on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStep {
    /// The least SNR.
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
