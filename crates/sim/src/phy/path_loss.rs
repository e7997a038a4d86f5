//! Path loss: the power with which a transmission arrives, and the distance at which it arrives with a power.
//!
//! Deterministic large-scale models only: never fading or obstacles, and shadowing apart ([`super::shadowing`]). Friis
//! 1946 for free space; two-ray ground reflection beyond its crossover distance, and the log-distance model, as in
//! Rappaport, *Wireless Communications*, 2nd ed., sections 4.6 and 4.9. The path never amplifies: where a formula
//! leaves the far field that it is made for (distance zero), its gain is cut at 1.

use super::{Curve, PathLoss, RadioConfig, Threshold};
use airbraid_units::{Db, Duration, Metres, Milliwatt};
use core::f64::consts::PI;

/// Speed of light in vacuum \[m/s\], exact by definition of the metre.
pub const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Relative margin by which a threshold given as a range lies below the power at that range, so that a node which
/// stands exactly there is inside whatever the rounding of its position. A double carries 1e-16; 1e-9 of the power is
/// 25 nm of 100 m at worst.
pub const RANGE_TOLERANCE: f64 = 1e-9;

/// Relative margin by which [`Transmitter::range`] rounds up, so that every node in range is among the candidates.
const RANGE_MARGIN: f64 = 1e-6;

/// The properties of a receiver's antenna that decide the received power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Antenna {
    /// Gain as a factor, not in decibels.
    pub gain: f64,
    /// Height above the ground (two-ray model).
    pub height: Metres,
}

impl Antenna {
    /// The antenna of `radio`.
    pub fn of(radio: &RadioConfig) -> Self {
        Self { gain: radio.gain.to_linear(), height: radio.height }
    }
}

/// A path-loss model with its constants worked out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    Friis,
    TwoRay,
    LogDistance { exponent: f64, reference: f64, gain: f64 },
    Measured(Curve),
}

/// A radio as the transmitter of a path, with everything that does not depend on the receiver worked out once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmitter {
    /// Transmit power times antenna gain \[mW\].
    eirp: f64,
    /// Antenna height \[m\].
    height: f64,
    /// Wavelength \[m\].
    wavelength: f64,
    model: Model,
}

impl Transmitter {
    /// `radio` as a transmitter.
    pub fn new(radio: &RadioConfig) -> Self {
        let model = match radio.path_loss {
            PathLoss::Friis => Model::Friis,
            PathLoss::TwoRay => Model::TwoRay,
            PathLoss::LogDistance { exponent, reference, loss } => {
                let gain = Db(-loss.0).to_linear().min(1.0);
                Model::LogDistance { exponent, reference: reference.0, gain }
            }
            PathLoss::Measured(losses) => Model::Measured(losses),
        };
        Self {
            eirp: (radio.power + radio.gain).to_milliwatt().0,
            height: radio.height.0,
            wavelength: SPEED_OF_LIGHT / radio.frequency_hz,
            model,
        }
    }

    /// The power that arrives at an antenna at `distance`.
    ///
    /// It never rises with the distance, and never above transmit power times both antenna gains.
    pub fn received(&self, antenna: Antenna, distance: Metres) -> Milliwatt {
        let d = distance.0;
        let gain = match self.model {
            Model::Friis => self.free_space(d),
            Model::TwoRay if d <= self.crossover(antenna.height).0 => self.free_space(d),
            Model::TwoRay => {
                let heights = self.height * antenna.height.0;
                (heights * heights) / (d * d * d * d)
            }
            // Within the reference distance nothing was measured: the loss is the reference's.
            Model::LogDistance { reference, gain, .. } if d <= reference => gain,
            Model::LogDistance { exponent, reference, gain } => gain * libm::pow(d / reference, -exponent),
            Model::Measured(losses) => Db(-losses.at(distance)).to_linear(),
        };
        Milliwatt(self.eirp * antenna.gain * gain.min(1.0))
    }

    /// The distance beyond which less than `power` arrives at an antenna, rounded up by a millionth; infinite if the
    /// model never falls below it. For searching candidates: whether a node is inside is decided by power.
    pub fn range(&self, antenna: Antenna, power: Milliwatt) -> Metres {
        if power.0 <= 0.0 {
            return Metres(f64::INFINITY);
        }
        let factor = self.eirp * antenna.gain / power.0;
        let free_space = self.wavelength / (4.0 * PI) * libm::sqrt(factor);
        let metres = match self.model {
            Model::Friis => free_space,
            Model::TwoRay if free_space <= self.crossover(antenna.height).0 => free_space,
            Model::TwoRay => {
                // The power steps nowhere at the crossover but by rounding, so the range is at least that far.
                let two_ray = libm::sqrt(self.height * antenna.height.0 * libm::sqrt(factor));
                two_ray.max(self.crossover(antenna.height).0)
            }
            Model::LogDistance { exponent, reference, gain } => {
                reference * libm::pow((factor * gain).max(1.0), 1.0 / exponent)
            }
            Model::Measured(losses) => losses.first_at(10.0 * libm::log10(factor)).0,
        };
        Metres(metres * (1.0 + RANGE_MARGIN))
    }

    /// The distance at which free space and two-ray ground reflection give the same power: 4 pi ht hr / lambda.
    pub fn crossover(&self, height: Metres) -> Metres {
        Metres(4.0 * PI * self.height * height.0 / self.wavelength)
    }

    /// Gain of free space (Friis), as a factor; infinite at distance zero.
    fn free_space(&self, d: f64) -> f64 {
        let amplitude = self.wavelength / (4.0 * PI * d);
        amplitude * amplitude
    }
}

/// A threshold of `radio` as a power: a range becomes the power received over that distance between two radios as this
/// one, less [`RANGE_TOLERANCE`]. A frame with at least this power is above the threshold.
pub fn threshold_power(radio: &RadioConfig, threshold: Threshold) -> Milliwatt {
    match threshold {
        Threshold::Power(level) => level.to_milliwatt(),
        Threshold::Range(range) => {
            let power = Transmitter::new(radio).received(Antenna::of(radio), range);
            Milliwatt(power.0 * (1.0 - RANGE_TOLERANCE))
        }
    }
}

/// Travel time of the radio wave, to the nanosecond.
pub fn propagation_delay(distance: Metres) -> Duration {
    Duration::from_secs_f64(distance.0 / SPEED_OF_LIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{ErrorModel, Receiver};
    use airbraid_units::Dbm;
    use proptest::prelude::*;

    fn radio(path_loss: PathLoss) -> RadioConfig {
        RadioConfig {
            power: Milliwatt(281.838_15).to_dbm(),
            gain: Db(0.0),
            height: Metres(1.5),
            frequency_hz: 914e6,
            path_loss,
            shadowing: None,
            reception: Threshold::Range(Metres(250.0)),
            carrier_sense: Threshold::Range(Metres(550.0)),
            interference: Threshold::Power(Dbm(-110.0)),
            noise: Dbm(-101.0),
            implementation_loss: Db(0.0),
            capture: Some(Db(10.0)),
            preamble_detection: None,
            receiver: Receiver::Standard { recapture: false },
            error: ErrorModel::None,
        }
    }
    fn received(radio: &RadioConfig, metres: f64) -> f64 {
        Transmitter::new(radio).received(Antenna::of(radio), Metres(metres)).0
    }
    fn log_distance() -> PathLoss {
        PathLoss::LogDistance { exponent: 3.0, reference: Metres(1.0), loss: Db(46.67) }
    }
    fn relative(value: f64, expected: f64) -> f64 {
        (value / expected - 1.0).abs()
    }

    #[test]
    fn the_ns2_set_meets_its_published_thresholds() {
        let radio = radio(PathLoss::TwoRay);
        // 4 digits are published [W]: half a unit of the last is 1.4e-4 and 3.3e-4.
        assert!(relative(received(&radio, 250.0) / 1e3, 3.652e-10) < 2e-4);
        assert!(relative(received(&radio, 550.0) / 1e3, 1.559e-11) < 4e-4);
        let crossover = Transmitter::new(&radio).crossover(Metres(1.5)).0;
        assert!((crossover - 86.2).abs() < 0.1, "{crossover}");
    }

    #[test]
    fn free_space_is_the_textbooks() {
        let radio = radio(PathLoss::Friis);
        // 20 lg(d) + 20 lg(f) - 147.55 dB: 71.67 dB at 100 m and 914 MHz.
        let loss = 10.0 * libm::log10(281.838_15 / received(&radio, 100.0));
        assert!((loss - 71.666).abs() < 0.002, "{loss}");
        assert!(relative(received(&radio, 100.0) / received(&radio, 200.0), 4.0) < 1e-12);
    }

    #[test]
    fn log_distance_loses_ten_n_a_decade() {
        let radio = radio(log_distance());
        assert!(relative(received(&radio, 10.0) / received(&radio, 100.0), 1e3) < 1e-12);
        assert_eq!(received(&radio, 0.3), received(&radio, 1.0));
    }

    #[test]
    fn a_measured_loss_is_met_where_it_was_measured() {
        let losses = Curve::new(&[[10.0, 70.0], [20.0, 90.0]]).unwrap();
        let radio = radio(PathLoss::Measured(losses));
        let loss = |metres| 10.0 * libm::log10(281.838_15 / received(&radio, metres));
        for (metres, decibels) in [(0.0, 70.0), (10.0, 70.0), (15.0, 80.0), (20.0, 90.0), (500.0, 90.0)] {
            assert!((loss(metres) - decibels).abs() < 1e-6, "{metres}");
        }
        let range = |metres| Transmitter::new(&radio).range(Antenna::of(&radio), Milliwatt(received(&radio, metres))).0;
        assert!((range(15.0) - 15.0).abs() < 1e-3 && range(20.0).is_infinite());
    }

    #[test]
    fn two_ray_is_continuous_at_the_crossover() {
        let radio = radio(PathLoss::TwoRay);
        let crossover = Transmitter::new(&radio).crossover(Metres(1.5)).0;
        assert!(relative(received(&radio, crossover * (1.0 + 1e-12)), received(&radio, crossover)) < 1e-11);
    }

    #[test]
    fn nothing_is_gained_at_distance_zero() {
        for model in [PathLoss::Friis, PathLoss::TwoRay, log_distance()] {
            let power = received(&radio(model), 0.0);
            assert!(power > 0.0 && power <= 281.838_16, "{model:?}: {power}");
        }
        let mut buried = radio(PathLoss::TwoRay);
        buried.height = Metres(0.0);
        assert!(received(&buried, 0.0).is_finite());
    }

    #[test]
    fn a_wave_takes_a_third_of_a_microsecond_for_100_m() {
        assert_eq!(propagation_delay(Metres(100.0)), Duration::from_nanos(334));
    }

    proptest! {
        #[test]
        fn power_never_rises_with_distance(a in 0.0f64..2e4, b in 0.0f64..2e4) {
            for model in [PathLoss::Friis, PathLoss::TwoRay, log_distance()] {
                let radio = radio(model);
                let (near, far) = (received(&radio, a.min(b)), received(&radio, a.max(b)));
                prop_assert!(near * (1.0 + 1e-12) >= far);
            }
        }

        #[test]
        fn a_node_exactly_at_the_range_is_inside_and_one_beyond_is_not(range in 2.0f64..5e3, angle in 0.0f64..6.3) {
            for model in [PathLoss::Friis, PathLoss::TwoRay, log_distance()] {
                let radio = radio(model);
                let threshold = threshold_power(&radio, Threshold::Range(Metres(range))).0;
                let (x, y) = (range * libm::cos(angle), range * libm::sin(angle));
                let rounded = libm::sqrt(x * x + y * y);
                prop_assert!(received(&radio, rounded) >= threshold);
                prop_assert!(received(&radio, range * (1.0 + 1e-8)) < threshold);
                // And the search radius finds it, without finding much more.
                let search = Transmitter::new(&radio).range(Antenna::of(&radio), Milliwatt(threshold)).0;
                prop_assert!(search >= range && search < range * (1.0 + 1e-5));
            }
        }
    }
}
