//! The least or the greatest of recent measurements, in two generations: constant memory, no floating point.
//!
//! A value counts for at least one and at most two spans. The windowed filters of BBR (Cardwell et al. 2016) keep three
//! samples to the same end; here a sample may live up to twice as long, which is what it is for: a minimum that is too
//! young is worse.

use airbraid_units::{Duration, Instant};

/// The least recent value.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    span: Duration,
    turn_at: Instant,
    previous: Option<i64>,
    present: Option<i64>,
}

impl Least {
    /// Nothing has been measured.
    pub const fn new(span: Duration) -> Self {
        Self { span, turn_at: Instant::ZERO, previous: None, present: None }
    }

    /// Adds a value; returns the least recent one.
    pub fn learn(&mut self, now: Instant, value: i64) -> i64 {
        if now >= self.turn_at {
            self.previous = self.present.take();
            self.turn_at = now.saturating_add(self.span);
        }
        let present = self.present.map_or(value, |least| least.min(value));
        self.present = Some(present);
        self.previous.map_or(present, |least| least.min(present))
    }

    /// The least recent value, if anything was measured.
    pub fn get(&self) -> Option<i64> {
        match (self.previous, self.present) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        }
    }

    /// Forgets all but `value`.
    pub fn restart(&mut self, now: Instant, value: i64) {
        *self = Self { turn_at: now.saturating_add(self.span), present: Some(value), ..Self::new(self.span) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_lives_one_span_at_least_and_two_at_most() {
        let at = |s: u64| Instant::from_nanos(s * 1_000_000_000);
        let mut least = Least::new(Duration::from_secs(10));
        assert_eq!(least.get(), None);
        assert_eq!(least.learn(at(0), 5), 5);
        assert_eq!(least.learn(at(9), 7), 5);
        assert_eq!(least.learn(at(11), 8), 5);
        assert_eq!(least.learn(at(19), 9), 5);
        assert_eq!(least.learn(at(22), 9), 8);
        least.restart(at(23), 20);
        assert_eq!(least.get(), Some(20));
    }
}
