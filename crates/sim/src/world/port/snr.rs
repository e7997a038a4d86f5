//! The signal strength of frames that a radio receives: the last, and samples where the scenario records them.

use airbraid_units::{Db, Duration, Instant};

/// Levels of the frames that a radio received without an error, whoever they were for.
#[derive(Debug, Default)]
pub struct Levels {
    /// With how much power the last came \[mW\].
    pub heard: f64,
    pub samples: Option<SnrSamples>,
}

impl Levels {
    /// A frame has come with this power \[mW\].
    pub fn note(&mut self, now: Instant, power: f64, signal_to_noise: impl FnOnce(f64) -> Db) {
        self.heard = power;
        if let Some(samples) = &mut self.samples {
            samples.add(now, signal_to_noise(power).0);
        }
    }
}

/// Samples of their signal-to-noise ratios.
#[derive(Debug)]
pub struct SnrSamples {
    interval: Duration,
    until: Instant,
    count: u64,
    /// Sum and sum of squares \[dB\].
    sums: [f64; 2],
    /// Count and sum of this interval, and the means of those before.
    current: (u32, f64),
    means: Vec<f64>,
}

impl SnrSamples {
    pub fn new(interval: Duration) -> Self {
        let until = Instant::ZERO + interval;
        Self { interval, until, count: 0, sums: [0.0; 2], current: (0, 0.0), means: Vec::new() }
    }

    fn add(&mut self, now: Instant, level: f64) {
        while now >= self.until {
            let (count, sum) = std::mem::take(&mut self.current);
            self.means.push(if count > 0 { sum / f64::from(count) } else { f64::NAN });
            self.until += self.interval;
        }
        self.count += 1;
        self.sums = [self.sums[0] + level, self.sums[1] + level * level];
        self.current = (self.current.0 + 1, self.current.1 + level);
    }

    /// Mean and standard deviation, and the mean of each interval that is over; none if nothing came.
    pub fn result(&self) -> Option<(f64, f64, &[f64])> {
        let (n, [sum, squares]) = (self.count as f64, self.sums);
        let mean = sum / n;
        let variance = (squares / n - mean * mean).max(0.0);
        (self.count > 0).then(|| (mean, libm::sqrt(variance), &self.means[..]))
    }
}
