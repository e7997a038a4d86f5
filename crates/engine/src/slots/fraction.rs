//! Duty cycles as fractions of two integers: `0.125`, `1/8` and `12.5 %` are exact.
//!
//! It never rounds: what does not fit into 64 bits is refused.

use std::cmp::Ordering;
use std::fmt;

/// A non-negative fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: u64,
    denominator: u64,
}

/// The reason why a text is no fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FractionError {
    /// It is not written as a decimal, a quotient or a percentage.
    Form,
    /// It has a minus sign.
    Negative,
    /// The denominator is 0.
    ByZero,
    /// More digits than 64 bits hold.
    TooFine,
}

impl Fraction {
    /// Nothing.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// `numerator / denominator`; `None` where the denominator is 0.
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        let divisor = gcd(numerator, denominator);
        (denominator > 0).then(|| Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }
    /// The upper number, in lowest terms.
    pub const fn numerator(self) -> u64 {
        self.numerator
    }
    /// The lower number, in lowest terms; never 0.
    pub const fn denominator(self) -> u64 {
        self.denominator
    }
    /// Whether it is 0.
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }
    /// The part of `whole`, rounded down, and the remainder, in units of one over the denominator.
    pub fn part_of(self, whole: u64) -> (u64, u64) {
        let product = u128::from(self.numerator) * u128::from(whole);
        let denominator = u128::from(self.denominator);
        // Parts of what is no larger than 1 fit; of anything else the caller gets the largest number there is.
        (u64::try_from(product / denominator).unwrap_or(u64::MAX), (product % denominator) as u64)
    }
    /// Number of times that `other`, which must not be 0, goes into it.
    pub fn times(self, other: Self) -> u64 {
        let upper = u128::from(self.numerator) * u128::from(other.denominator);
        let lower = u128::from(self.denominator) * u128::from(other.numerator);
        u64::try_from(upper / lower.max(1)).unwrap_or(u64::MAX)
    }
    /// `self + other`; `None` where that does not fit.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let (a, b) = (u128::from(self.denominator), u128::from(other.denominator));
        let common = a / u128::from(gcd(self.denominator, other.denominator)) * b;
        let upper = (u128::from(self.numerator).checked_mul(common / a)?)
            .checked_add(u128::from(other.numerator).checked_mul(common / b)?)?;
        let (mut x, mut y) = (upper, common);
        while y > 0 {
            (x, y) = (y, x % y);
        }
        let divisor = x.max(1);
        Some(Self {
            numerator: u64::try_from(upper / divisor).ok()?,
            denominator: u64::try_from(common / divisor).ok()?,
        })
    }
    /// The sum of all; `None` where that does not fit.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().try_fold(Self::ZERO, Self::checked_add)
    }

    /// Reads `0.125`, `1/8` or `12.5 %`.
    ///
    /// # Errors
    /// It is none of them, negative, over 0, or longer than 64 bits hold.
    pub fn parse(text: &str) -> Result<Self, FractionError> {
        let text = text.trim();
        if text.starts_with('-') {
            return Err(FractionError::Negative);
        }
        if let Some((upper, lower)) = text.split_once('/') {
            let whole = |text: &str| {
                let text = text.trim();
                let digits = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
                if digits { text.parse().map_err(|_| FractionError::TooFine) } else { Err(FractionError::Form) }
            };
            return Self::new(whole(upper)?, whole(lower)?).ok_or(FractionError::ByZero);
        }
        let (number, hundred) = match text.strip_suffix('%') {
            Some(number) => (number.trim_end(), 100),
            None => (text, 1),
        };
        decimal(number, hundred)
    }
}

/// Reads digits with at most one point, over `divisor`.
fn decimal(text: &str, divisor: u64) -> Result<Fraction, FractionError> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) {
        return Err(FractionError::Form);
    }
    let part = part.trim_end_matches('0');
    let upper = format!("0{whole}{part}").parse().map_err(|_| FractionError::TooFine)?;
    let power = u32::try_from(part.len()).ok().and_then(|n| 10_u64.checked_pow(n));
    let lower = power.and_then(|power| power.checked_mul(divisor)).ok_or(FractionError::TooFine)?;
    Fraction::new(upper, lower).ok_or(FractionError::ByZero)
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = u128::from(self.numerator) * u128::from(other.denominator);
        left.cmp(&(u128::from(other.numerator) * u128::from(self.denominator)))
    }
}

impl fmt::Display for Fraction {
    /// As a decimal where six places are enough, otherwise as a quotient: `0.125`, `1/3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millionths = u128::from(self.numerator) * 1_000_000;
        let denominator = u128::from(self.denominator);
        if millionths % denominator > 0 {
            return write!(f, "{}/{}", self.numerator, self.denominator);
        }
        let (whole, part) = (millionths / denominator / 1_000_000, millionths / denominator % 1_000_000);
        let part = format!("{part:06}");
        match part.trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            part => write!(f, "{whole}.{part}"),
        }
    }
}

impl fmt::Display for FractionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "write it as 0.125, 1/8 or 12.5 %",
            Self::Negative => "it cannot be negative",
            Self::ByZero => "nothing can be divided by 0",
            Self::TooFine => "it has more digits than 64 bits hold",
        })
    }
}

impl std::error::Error for FractionError {}

/// The greatest common divisor; 1 where both are 0.
pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_is_what_is_meant() {
        let all = [
            ("0.125", 1, 8),
            (" 1/8 ", 1, 8),
            ("12.5 %", 1, 8),
            (".5", 1, 2),
            ("1", 1, 1),
            ("0.300000", 3, 10),
            ("100%", 1, 1),
            ("0", 0, 1),
        ];
        for (text, upper, lower) in all {
            assert_eq!(Fraction::parse(text), Ok(Fraction::new(upper, lower).unwrap()), "{text}");
        }
    }

    #[test]
    fn what_is_no_fraction_is_refused() {
        let all = [
            ("", FractionError::Form),
            (".", FractionError::Form),
            ("half", FractionError::Form),
            ("1e-3", FractionError::Form),
            ("+1/2", FractionError::Form),
            ("1/", FractionError::Form),
            ("-0.5", FractionError::Negative),
            ("1/0", FractionError::ByZero),
            ("0.12345678901234567890123", FractionError::TooFine),
            ("99999999999999999999/1", FractionError::TooFine),
        ];
        for (text, error) in all {
            assert_eq!(Fraction::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn it_is_shown_as_short_as_it_can_be() {
        let shown = |upper, lower| Fraction::new(upper, lower).unwrap().to_string();
        assert_eq!([shown(1, 8), shown(1, 3), shown(6, 5), shown(0, 7)], ["0.125", "1/3", "1.2", "0"]);
    }

    proptest! {
        #[test]
        fn sums_and_orders_are_those_of_rationals(a in 0u64..1000, b in 1u64..1000, c in 0u64..1000, d in 1u64..1000) {
            let (x, y) = (Fraction::new(a, b).unwrap(), Fraction::new(c, d).unwrap());
            prop_assert_eq!(x.checked_add(y), Fraction::new(a * d + c * b, b * d));
            prop_assert_eq!(x.cmp(&y), (a * d).cmp(&(c * b)));
            prop_assert_eq!(x.part_of(1_000_000).0, a * 1_000_000 / b);
        }
        #[test]
        fn any_text_is_answered(text in ".{0,40}") {
            let _ = Fraction::parse(&text);
        }
    }
}
