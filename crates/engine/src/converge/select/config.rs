//! What a host tells a [`super::Selector`]: how it chooses, and what its ports are like.

use super::metric::Measure;
use crate::packet::TrafficClass;
use airbraid_units::{BitRate, Duration};

/// A ratio of powers, in thousandths of a decibel: the engine reckons in integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MilliDb(pub i32);

/// Over how many ports the packets for a neighbour go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Over the best one (the paper).
    Choose,
    /// Over all that cost at most so much more than the best.
    Stripe {
        /// What another may cost, in thousandths of the best one's cost; `u32::MAX` for whatever can be used.
        within: u32,
    },
}

/// How a selector chooses. The default is the paper's, as read in `docs/models/convergence.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What a packet costs on a way.
    pub measure: Measure,
    /// One port or several.
    pub spread: Spread,
    /// Weight of a new SNR in the smoothed one \[thousandths\]; 1000 does not smooth.
    pub weight: u32,
    /// Half of it above the threshold a way becomes good, half of it below it is no longer.
    pub hysteresis: MilliDb,
    /// How much cheaper another way must be than the present one \[thousandths\]; not for thresholds.
    pub margin: u32,
    /// How long a transport is silent that has lost what it cannot repair at once; for [`Measure::Goodput`].
    pub rto: Duration,
    /// A way is gone when nothing was heard on it for so long.
    pub silence: Duration,
    /// Between two beacons on one way.
    pub beacon: Duration,
    /// A way is gone, until it is heard again, when so many frames in a row were not delivered.
    pub failures: u32,
    /// Packets for one neighbour that wait for a way, at most.
    pub queue: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            measure: Measure::SnrThreshold,
            spread: Spread::Choose,
            // Without smoothing an SNR with the paper's deviation of 1.46 dB, 1.75 dB above the threshold, is below it for
            // 12 % of the time.
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

/// From this SNR on a port reaches this rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStep {
    /// The least SNR.
    pub from: MilliDb,
    /// The rate.
    pub rate: BitRate,
}

/// What a port is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// The port with the lowest is preferred among those that are good.
    pub rank: u8,
    /// It is good from this SNR on, for bulk and real-time traffic; without one whenever something is heard.
    pub thresholds: Option<[MilliDb; 2]>,
    /// The rates that it has, with what they need, the slowest first. What is heard weaker than that has the slowest.
    pub rates: Vec<RateStep>,
    /// What each transmission costs beside its bits: contention, preamble, acknowledgement.
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
