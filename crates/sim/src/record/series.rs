//! Values by interval of simulated time: amounts that add up within each, and levels that are read at the end of each.
//!
//! Time must not run backwards. The hot path is one comparison and one addition; an interval in which nothing happens
//! costs nothing until something happens after it. Never interpolates.

use airbraid_units::{Duration, Instant};

/// Amounts added up by interval: bytes delivered, frames sent.
#[derive(Clone, Debug)]
pub struct Series {
    interval: Duration,
    /// End of the interval that is being filled; an event exactly then belongs to the next.
    until: Instant,
    /// The sum of this interval.
    current: u64,
    /// The sums of those before.
    done: Vec<u64>,
}

impl Series {
    /// Intervals of `interval` from the origin of time on; no interval at all counts as one nanosecond.
    pub fn new(interval: Duration) -> Self {
        let interval = interval.max(Duration::from_nanos(1));
        Self { interval, until: Instant::ZERO + interval, current: 0, done: Vec::new() }
    }

    /// Adds `amount` to the interval of `now`.
    #[inline]
    pub fn add(&mut self, now: Instant, amount: u64) {
        if now >= self.until {
            self.roll(now);
        }
        self.current += amount;
    }

    /// Closes the intervals that ended up to `now`.
    #[cold]
    fn roll(&mut self, now: Instant) {
        while now >= self.until {
            self.done.push(self.current);
            self.current = 0;
            self.until = self.until.saturating_add(self.interval);
        }
    }

    /// The sum of each interval until `end`, zeros for empty intervals; one more value for a part of an interval at the
    /// end. An event exactly at the end counts in the last interval.
    pub fn totals(&self, end: Instant) -> Vec<f64> {
        let wanted = interval_count(self.interval, end);
        let mut totals: Vec<f64> = self.done.iter().map(|sum| *sum as f64).collect();
        totals.push(self.current as f64);
        let beyond: f64 = totals.iter().skip(wanted).sum();
        totals.resize(wanted, 0.0);
        if let Some(last) = totals.last_mut() {
            *last += beyond;
        }
        totals
    }

    /// The rate in each interval until `end`, in amounts a second times `factor` (8 makes bits of bytes); a part of an
    /// interval at the end is divided by its own length.
    pub fn rates(&self, end: Instant, factor: f64) -> Vec<f64> {
        let mut rates = self.totals(end);
        let whole = self.interval.as_secs_f64();
        let rest = Duration::from_nanos(end.as_nanos() % self.interval.as_nanos());
        let count = rates.len();
        for (i, rate) in rates.iter_mut().enumerate() {
            let length = if i + 1 == count && !rest.is_zero() { rest.as_secs_f64() } else { whole };
            *rate = *rate * factor / length;
        }
        rates
    }
}

/// A level that changes at times, read at the end of each interval: a timer's value, a queue's length.
#[derive(Clone, Debug)]
pub struct Gauge {
    interval: Duration,
    until: Instant,
    level: f64,
    done: Vec<f64>,
}

impl Gauge {
    /// A level of `initial`, read at the end of every `interval` from the origin of time on.
    pub fn new(interval: Duration, initial: f64) -> Self {
        let interval = interval.max(Duration::from_nanos(1));
        Self { interval, until: Instant::ZERO + interval, level: initial, done: Vec::new() }
    }

    /// The level is `level` from `now` on. A change exactly at the end of an interval counts in the next.
    #[inline]
    pub fn set(&mut self, now: Instant, level: f64) {
        while now >= self.until {
            self.done.push(self.level);
            self.until = self.until.saturating_add(self.interval);
        }
        self.level = level;
    }

    /// The level at the end of each interval until `end`.
    pub fn levels(&self, end: Instant) -> Vec<f64> {
        let mut levels = self.done.clone();
        levels.resize(interval_count(self.interval, end), self.level);
        levels
    }
}

/// Number of intervals until `end`, a part at the end counted as one.
fn interval_count(interval: Duration, end: Instant) -> usize {
    end.as_nanos().div_ceil(interval.as_nanos()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn amounts_fall_into_their_interval() {
        let mut series = Series::new(Duration::from_secs(1));
        for (at, amount) in [(0, 1), (999, 2), (1_000, 4), (3_500, 8)] {
            series.add(ms(at), amount);
        }
        assert_eq!(series.totals(ms(6_000)), [3.0, 4.0, 0.0, 8.0, 0.0, 0.0]);
        assert_eq!(series.rates(ms(6_000), 8.0)[..2], [24.0, 32.0]);
        // The last half second holds 8 bytes: 128 bit/s.
        assert_eq!(series.rates(ms(3_500), 8.0), [24.0, 32.0, 0.0, 128.0]);
    }

    #[test]
    fn what_happens_at_the_very_end_is_not_lost() {
        let mut series = Series::new(Duration::from_secs(1));
        series.add(ms(500), 1);
        series.add(ms(2_000), 5);
        assert_eq!(series.totals(ms(2_000)), [1.0, 5.0]);
        assert!(Series::new(Duration::from_secs(1)).totals(Instant::ZERO).is_empty());
    }

    #[test]
    fn levels_hold_until_they_change() {
        let mut gauge = Gauge::new(Duration::from_secs(1), 0.010);
        gauge.set(ms(2_500), 0.005);
        assert_eq!(gauge.levels(ms(4_000)), [0.010, 0.010, 0.005, 0.005]);
        gauge.set(ms(4_000), 1.0);
        assert_eq!(gauge.levels(ms(4_000)), [0.010, 0.010, 0.005, 0.005]);
    }
}
