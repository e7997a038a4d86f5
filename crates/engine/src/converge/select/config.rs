//! Configuration of a [`super::Selector`]: the rule of choice.

use super::port::MilliDb;
use airbraid_units::Duration;

/// A metric by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// [`super::metric::SnrThreshold`]
    SnrThreshold,
    /// [`super::metric::ExpectedTransmissions`]
    ExpectedTransmissions,
    /// [`super::metric::ExpectedTime`]
    ExpectedTime,
    Load,
    Goodput,
}

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
