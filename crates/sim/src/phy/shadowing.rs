//! Shadowing: slow random changes of the path loss between two radios, in decibels, the same both ways.
//!
//! A Gauss-Markov process (Gudmundson 1991, in time instead of distance): normal with a standard deviation that may
//! depend on the distance, correlated over a time, x(t + dt) = r x(t) + sqrt(1 - r^2) n with r = exp(-dt / time). It is
//! drawn on a grid of time, so that what the channel does depends on nothing that anybody sends. Never fast fading.

use super::curve::Curve;
use airbraid_engine::Stream;
use airbraid_units::{Duration, Metres};

/// Variation of the loss between radios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadowing {
    /// Standard deviation by distance \[dB\].
    pub deviation: Curve,
    /// The time after which the correlation is 1/e.
    pub time: Duration,
}

/// Largest deviation, in standard deviations: the medium searches for hearers only up to there.
pub const CUT: f64 = 4.0;

/// The process between two radios.
#[derive(Clone, Debug)]
pub struct Shadow {
    random: Stream,
    correlation: f64,
    step: u64,
    /// The value, with deviation 1.
    value: f64,
    spare: Option<f64>,
}

impl Shadow {
    /// A process on steps of `step`, in its stationary distribution from the beginning.
    pub fn new(shadowing: &Shadowing, step: Duration, random: Stream) -> Self {
        let time = shadowing.time.as_secs_f64();
        let correlation = if time > 0.0 { libm::exp(-step.as_secs_f64() / time) } else { 0.0 };
        let mut shadow = Self { random, correlation, step: 0, value: 0.0, spare: None };
        shadow.value = shadow.normal();
        shadow
    }

    /// The value at a step, with deviation 1. Steps do not go back.
    pub fn at(&mut self, step: u64) -> f64 {
        let innovation = libm::sqrt(1.0 - self.correlation * self.correlation);
        while self.step < step {
            self.value = self.correlation * self.value + innovation * self.normal();
            self.step += 1;
        }
        self.value.clamp(-CUT, CUT)
    }

    /// The polar method of Marsaglia, two at a time.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let [u, v] = [self.uniform(), self.uniform()];
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let factor = libm::sqrt(-2.0 * libm::log(s) / s);
                self.spare = Some(v * factor);
                return u * factor;
            }
        }
    }

    /// Uniform in \[-1, 1).
    fn uniform(&mut self) -> f64 {
        // 53 random bits, as many as a double holds.
        (self.random.next_u64() >> 11) as f64 / 4_503_599_627_370_496.0 - 1.0
    }
}

impl Shadowing {
    /// The factor on the power at a distance, for a value of deviation 1.
    pub fn factor(&self, distance: Metres, value: f64) -> f64 {
        airbraid_units::Db(self.deviation.at(distance) * value).to_linear()
    }

    /// The largest factor that there can be.
    pub fn largest(&self) -> f64 {
        airbraid_units::Db(self.deviation.largest() * CUT).to_linear()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shadow(seed: u64) -> Shadow {
        let shadowing = Shadowing { deviation: Curve::flat(1.0), time: Duration::from_millis(500) };
        Shadow::new(&shadowing, Duration::from_millis(10), Stream::new(seed, 0, "test"))
    }

    #[test]
    fn deviation_and_correlation_are_what_was_asked_for() {
        let mut shadow = shadow(1);
        let values: Vec<f64> = (0..2_000_000).map(|step| shadow.at(step)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let product = |lag: usize| {
            let pairs = values.iter().zip(&values[lag..]);
            pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / (values.len() - lag) as f64
        };
        // 20,000 independent stretches of a second: five standard errors of mean and variance are 0.04 and 0.05.
        assert!(mean.abs() < 0.04, "{mean}");
        assert!((product(0) - 1.0).abs() < 0.05, "{}", product(0));
        assert!((product(50) - libm::exp(-1.0)).abs() < 0.05, "{}", product(50));
    }

    #[test]
    fn the_channel_does_not_depend_on_who_looks_when() {
        let (mut often, mut once) = (shadow(7), shadow(7));
        (0..1_000).for_each(|step| {
            often.at(step);
        });
        assert_eq!(often.at(1_000), once.at(1_000));
        assert_ne!(once.at(1_000), shadow(8).at(1_000));
    }

    #[test]
    fn the_factor_is_the_deviation_in_decibels() {
        let deviation = Curve::new(&[[0.0, 2.0], [10.0, 4.0]]).unwrap();
        let shadowing = Shadowing { deviation, time: Duration::ZERO };
        assert!((shadowing.factor(Metres(5.0), -1.0) - 0.501_187).abs() < 1e-5);
        assert!((shadowing.largest() - 39.81).abs() < 0.01);
    }
}
