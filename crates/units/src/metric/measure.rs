//! Types of which a metric can be.

use super::Unit;
use crate::{BitRate, Bytes, Duration};

/// A number as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// Any number.
    Number(f64),
}

impl Value {
    /// Returns it as a floating number.
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Number(number) => number,
        }
    }
    const fn as_u64(self) -> u64 {
        match self {
            Self::Count(count) => count,
            Self::Number(number) => number as u64,
        }
    }
}

/// A type of which a metric can be.
pub trait Measure: Sized {
    /// The unit of a metric whose key does not end with one.
    const UNIT: Unit;

    /// Returns the number that is shown, if there is one.
    fn value(&self) -> Option<Value>;

    /// Returns what is shown as `value`.
    fn of(value: Value) -> Option<Self>;
}

/// A share in millionths, for machines that compute without floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millionths(pub u32);

macro_rules! measure {
    ($type:ty, $unit:ident, |$of:ident| $shown:expr, |$value:ident| $read:expr) => {
        impl Measure for $type {
            const UNIT: Unit = Unit::$unit;
            fn value(&self) -> Option<Value> {
                let $of = *self;
                Some($shown)
            }
            fn of($value: Value) -> Option<Self> {
                $read
            }
        }
    };
}

measure!(u64, Count, |of| Value::Count(of), |value| Some(value.as_u64()));
measure!(u32, Count, |of| Value::Count(of.into()), |value| value.as_u64().try_into().ok());
measure!(usize, Count, |of| Value::Count(of as u64), |value| value.as_u64().try_into().ok());
measure!(bool, Count, |of| Value::Count(of.into()), |value| Some(value.as_u64() > 0));
measure!(f64, Share, |of| Value::Number(of), |value| Some(value.as_f64()));
measure!(i8, Count, |of| Value::Number(of.into()), |value| Some(value.as_f64() as i8));
measure!(Bytes, Byte, |of| Value::Count(of.as_u64()), |value| Some(Self::new(value.as_u64())));
measure!(BitRate, BitPerSecond, |of| Value::Count(of.as_bps()), |value| Some(Self::from_bps(value.as_u64())));
measure!(Duration, Second, |of| Value::Number(of.as_secs_f64()), |value| Some(Self::from_nanos(libm::round(
    value.as_f64() * 1e9
) as u64)));
measure!(Millionths, Share, |of| Value::Number(f64::from(of.0) / 1e6), |value| Some(Self(libm::round(
    value.as_f64() * 1e6
) as u32)));
// Counted by class, shown together.
measure!([u64; 2], Count, |of| Value::Count(of[0] + of[1]), |value| Some([value.as_u64(), 0]));

impl<T: Measure> Measure for Option<T> {
    const UNIT: Unit = T::UNIT;
    fn value(&self) -> Option<Value> {
        self.as_ref().and_then(T::value)
    }
    fn of(value: Value) -> Option<Self> {
        T::of(value).map(Some)
    }
}
