//! The distribution of a delay in constant memory: count, mean, standard deviation, extremes, median, 99th percentile.
//!
//! Sums are integers, so the moments are exact whatever the order and number of values; percentiles come from a
//! histogram with logarithmic buckets (`buckets.rs`) and are good to 1 % above 13 us.

use super::buckets::Buckets;
use crate::result::DelayResult;
use airbraid_units::Duration;

/// An accumulator of delays: 2 byte for each of the first 255, then some 3 kB.
#[derive(Clone, Debug)]
pub struct DelayStats {
    count: u64,
    /// Sum \[ns\].
    sum: u128,
    /// Sum of squares \[ns^2\].
    squares: u128,
    min: Duration,
    max: Duration,
    buckets: Buckets,
}

impl Default for DelayStats {
    fn default() -> Self {
        Self::new()
    }
}

impl DelayStats {
    pub const fn new() -> Self {
        Self { count: 0, sum: 0, squares: 0, min: Duration::MAX, max: Duration::ZERO, buckets: Buckets::new() }
    }

    /// Takes one delay.
    #[inline]
    pub fn record(&mut self, delay: Duration) {
        let ns = delay.as_nanos();
        self.count += 1;
        self.sum += u128::from(ns);
        self.squares += u128::from(ns) * u128::from(ns);
        self.min = self.min.min(delay);
        self.max = self.max.max(delay);
        self.buckets.record(ns);
    }

    /// Number of recorded delays.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Mean of the delays recorded since `before`, a state of earlier, was taken \[s\]; `None` if there are none.
    pub fn mean_since_s(&self, before: (u64, u128)) -> Option<f64> {
        let (count, sum) = (self.count.checked_sub(before.0)?, self.sum.checked_sub(before.1)?);
        (count > 0).then(|| sum as f64 / count as f64 * 1e-9)
    }

    /// Number and sum \[ns\] of the recorded delays.
    pub const fn state(&self) -> (u64, u128) {
        (self.count, self.sum)
    }

    /// Mean \[s\]; zero without a value.
    pub fn mean_s(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 * 1e-9 }
    }

    /// The distribution in seconds, with the standard deviation of a sample (divided by n - 1; zero for one value);
    /// `None` without a value.
    pub fn result(&self) -> Option<DelayResult> {
        let histogram = self.buckets.histogram()?;
        let seconds = |d: Duration| d.as_secs_f64();
        // The histogram answers with the upper end of a bucket, which may lie beyond what was ever seen.
        let quantile = |q| {
            let ns = histogram.value_at_quantile(q);
            seconds(Duration::from_nanos(ns).clamp(self.min, self.max))
        };
        Some(DelayResult {
            min: seconds(self.min),
            mean: self.mean_s(),
            std: self.deviation_s(),
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: seconds(self.max),
        })
    }

    /// Standard deviation of the sample \[s\].
    fn deviation_s(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        // n sum(x^2) - (sum x)^2 in integers, where nothing cancels; in floating point only if a product would not fit.
        let n = u128::from(self.count);
        let spread = match (n.checked_mul(self.squares), self.sum.checked_mul(self.sum)) {
            (Some(a), Some(b)) => (a - b) as f64,
            _ => (n as f64 * self.squares as f64 - self.sum as f64 * self.sum as f64).max(0.0),
        };
        libm::sqrt(spread / (n as f64 * (n - 1) as f64)) * 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_recorded_is_no_result() {
        assert!(DelayStats::new().result().is_none());
    }

    #[test]
    fn one_delay_is_its_own_distribution() {
        let mut stats = DelayStats::new();
        stats.record(Duration::from_micros(1_025));
        let result = stats.result().unwrap();
        assert_eq!((result.min, result.mean, result.std), (0.001_025, 0.001_025, 0.0));
        assert_eq!((result.p50, result.p99, result.max), (0.001_025, 0.001_025, 0.001_025));
    }

    #[test]
    fn a_day_and_a_nanosecond_are_taken() {
        let mut stats = DelayStats::new();
        stats.record(Duration::from_nanos(1));
        stats.record(Duration::from_secs(86_400));
        let result = stats.result().unwrap();
        assert_eq!((result.min, result.max), (1e-9, 86_400.0));
        assert!(result.p99 <= result.max && result.p99 >= 3_599.0);
    }

    proptest! {
        #[test]
        fn the_result_is_that_of_the_sorted_list(
            delays in prop::collection::vec(20_000u64..20_000_000_000, 1..400)
        ) {
            let mut stats = DelayStats::new();
            delays.iter().for_each(|ns| stats.record(Duration::from_nanos(*ns)));
            let result = stats.result().unwrap();
            let mut sorted: Vec<f64> = delays.iter().map(|ns| *ns as f64 * 1e-9).collect();
            sorted.sort_by(f64::total_cmp);
            let n = sorted.len() as f64;
            let mean = sorted.iter().sum::<f64>() / n;
            let variance = sorted.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0).max(1.0);
            let close = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * b.abs() + 1e-12;
            prop_assert!(close(result.mean, mean, 1e-12));
            prop_assert!(close(result.std, libm::sqrt(variance), 1e-6));
            let rank = |q: f64| sorted[(libm::ceil(q * n) as usize).saturating_sub(1)];
            prop_assert!(close(result.p50, rank(0.5), 0.01));
            prop_assert!(close(result.p99, rank(0.99), 0.01));
        }
    }
}
