//! Power on the logarithmic scale of radio engineers and on the linear one that interference adds up on.
//!
//! Levels ([`Dbm`]) and ratios ([`Db`]) are different types: adding two levels does not compile.

use std::fmt;
use std::ops::{Add, Neg, Sub};

/// A ratio of two powers \[dB\].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Db(pub f64);

/// A power level \[dB above 1 mW\].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Dbm(pub f64);

/// A power \[mW\].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Milliwatt(pub f64);

impl Db {
    /// The ratio as a factor.
    pub fn to_linear(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }
}
impl Dbm {
    /// The same power on the linear scale.
    pub fn to_milliwatt(self) -> Milliwatt {
        Milliwatt(libm::pow(10.0, self.0 / 10.0))
    }
}
impl Milliwatt {
    /// The same power as a level; no power is minus infinity.
    pub fn to_dbm(self) -> Dbm {
        Dbm(10.0 * libm::log10(self.0))
    }
}

impl Add<Db> for Dbm {
    type Output = Self;
    fn add(self, gain: Db) -> Self {
        Self(self.0 + gain.0)
    }
}
impl Sub<Db> for Dbm {
    type Output = Self;
    fn sub(self, loss: Db) -> Self {
        Self(self.0 - loss.0)
    }
}
impl Sub for Dbm {
    type Output = Db;
    fn sub(self, other: Self) -> Db {
        Db(self.0 - other.0)
    }
}
impl Add for Db {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl Sub for Db {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl Neg for Db {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}
impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}
impl fmt::Display for Dbm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dBm", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_convert_both_ways() {
        assert!((Dbm(20.0).to_milliwatt().0 - 100.0).abs() < 1e-9);
        assert!((Milliwatt(0.5).to_dbm().0 + 3.010_299_956_639_812).abs() < 1e-12);
        assert!((Db(7.0).to_linear() - 5.011_872_336_272_722).abs() < 1e-12);
    }
}
