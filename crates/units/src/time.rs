//! Time: points and spans on one monotonic clock, in whole nanoseconds.
//!
//! 64 bits of nanoseconds last 584 years, and no 802.11 constant is finer than 1 ns, so nothing is ever rounded but
//! the time that a frame takes at a rate that does not divide it ([`crate::BitRate::time_for`], rounded up).

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A span of time \[ns\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A point on one host's monotonic clock \[ns\]; the origin is the host's choice (the simulator starts at zero).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Duration {
    pub const ZERO: Self = Self(0);
    /// Longer than anything that happens.
    pub const MAX: Self = Self(u64::MAX);

    /// `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }
    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000)
    }
    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }
    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }
    /// `s` seconds, rounded to the nanosecond; negative and not-a-number become zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9 + 0.5) as u64)
    }
    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// Seconds, for statistics and for people.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Whether this is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// `self * factor`, or [`Duration::MAX`].
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
    /// Number of whole `step`s that fit; `step` must not be zero.
    pub const fn div_floor(self, step: Self) -> u64 {
        self.0 / step.0
    }
}

impl Instant {
    /// The origin of the clock.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const MAX: Self = Self(u64::MAX);

    /// `ns` nanoseconds after the origin.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }
    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds since the origin, for statistics and for people.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The time since `earlier`, or zero if that is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, or [`Instant::MAX`].
    pub const fn saturating_add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
    /// `self - span`, or the origin.
    pub const fn saturating_sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
}
impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}
impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0 - span.0)
    }
}
impl Sub for Instant {
    type Output = Duration;
    /// The time since `earlier`, which must not be later.
    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(earlier <= self, "time runs backwards");
        Duration(self.0 - earlier.0)
    }
}
impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}
impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Display for Duration {
    /// The largest unit in which the value is a short number: `1.5 ms`, `250 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, ns) = match self.0 {
            0 => ("s", 1_000_000_000),
            ns if ns >= 1_000_000_000 => ("s", 1_000_000_000),
            ns if ns >= 1_000_000 => ("ms", 1_000_000),
            ns if ns >= 1_000 => ("us", 1_000),
            _ => ("ns", 1),
        };
        let (whole, rest) = (self.0 / ns, self.0 % ns);
        if rest == 0 {
            return write!(f, "{whole} {unit}");
        }
        let digits = ns.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        write!(f, "{whole}.{} {unit}", fraction.trim_end_matches('0'))
    }
}
impl fmt::Display for Instant {
    /// Seconds with nine decimals, grouped by three after the point: `12.345 678 900`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 % 1_000_000_000;
        write!(f, "{}.{:03} {:03} {:03}", self.0 / 1_000_000_000, ns / 1_000_000, ns / 1_000 % 1_000, ns % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_the_largest_unit_that_is_short() {
        let shown = |ns| Duration::from_nanos(ns).to_string();
        assert_eq!(shown(250_000_000_000), "250 s");
        assert_eq!(shown(1_500_000), "1.5 ms");
        assert_eq!(shown(20_001), "20.001 us");
        assert_eq!(shown(7), "7 ns");
        assert_eq!(shown(0), "0 s");
        assert_eq!(Instant::from_nanos(12_345_678_900).to_string(), "12.345 678 900");
    }

    #[test]
    fn rounds_seconds_to_the_nanosecond() {
        assert_eq!(Duration::from_secs_f64(0.001), Duration::from_millis(1));
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
    }
}
