//! Quantities as text: a number, a space if you like, and a unit. `"6 Mbit/s"`, `"20us"`, `"-82 dBm"`, `"1e-5"`.
//!
//! A unit is always asked for, save for pure numbers (probabilities), so that a scenario cannot mean milliseconds
//! where seconds were meant. Prefixes are decimal (k = 1000) as in the standards; `KiB` and `MiB` are binary.

use crate::{BitRate, Bytes, Db, Dbm, Duration, Metres, Probability, Speed};

/// The reason why a text is not the quantity that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// There is no number at the front.
    #[error("a number must come first")]
    NoNumber,
    /// The number stands alone.
    #[error("the unit is missing")]
    NoUnit,
    /// The unit belongs to something else, or to nothing.
    #[error("`{0}` is not a unit of {1}")]
    WrongUnit(String, &'static str),
    /// The quantity cannot be negative.
    #[error("{0} cannot be negative")]
    Negative(&'static str),
    /// The number is finer than the type counts, or too large for it.
    #[error("{0}")]
    Range(&'static str),
}

/// A quantity that is written as text with its unit.
pub trait Quantity: Sized {
    /// Name in an error: "a duration".
    const WHAT: &'static str;
    /// The units it takes, in the order in which to offer them.
    const UNITS: &'static [&'static str];
    const EXAMPLE: &'static str;
    /// Reads the text.
    ///
    /// # Errors
    /// [`ParseError`] says what is wrong: no number, no unit, a unit of something else, a sign or size out of range.
    fn parse(text: &str) -> Result<Self, ParseError>;
}

/// Splits `"6 Mbit/s"` into `6.0` and `"Mbit/s"`.
fn split(text: &str) -> Result<(f64, &str), ParseError> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let c = bytes[end];
        let exponent = matches!(c, b'e' | b'E')
            && end > 0
            && bytes.get(end + 1).is_some_and(|n| n.is_ascii_digit() || matches!(n, b'+' | b'-'));
        let sign = matches!(c, b'+' | b'-') && (end == 0 || matches!(bytes[end - 1], b'e' | b'E'));
        if !(c.is_ascii_digit() || c == b'.' || exponent || sign) {
            break;
        }
        end += 1;
    }
    let number: f64 = text[..end].parse().map_err(|_| ParseError::NoNumber)?;
    if !number.is_finite() {
        return Err(ParseError::Range("the number is too large"));
    }
    Ok((number, text[end..].trim()))
}

/// Reads a number in one of the units of `table` (name, factor), as `number * factor`.
fn scaled(text: &str, what: &'static str, table: &[(&str, f64)]) -> Result<f64, ParseError> {
    let (number, unit) = split(text)?;
    if unit.is_empty() {
        return Err(ParseError::NoUnit);
    }
    let factor = table.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    factor.map(|f| number * f).ok_or_else(|| ParseError::WrongUnit(unit.to_owned(), what))
}

/// A scaled number that must be a whole, non-negative count.
fn whole(value: f64, what: &'static str, too_fine: &'static str) -> Result<u64, ParseError> {
    if value < 0.0 {
        return Err(ParseError::Negative(what));
    }
    // Beyond 2^53 a double no longer counts by one.
    if value > 9_007_199_254_740_992.0 {
        return Err(ParseError::Range("the number is too large"));
    }
    let rounded = libm::round(value);
    if (value - rounded).abs() > 1e-6 * rounded.max(1.0) {
        return Err(ParseError::Range(too_fine));
    }
    Ok(rounded as u64)
}

impl Quantity for Duration {
    const WHAT: &'static str = "a duration";
    const UNITS: &'static [&'static str] = &["s", "ms", "us", "ns", "min", "h"];
    const EXAMPLE: &'static str = "20 us";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let table = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("µs", 1e3), ("ns", 1.0), ("min", 60e9), ("h", 3600e9)];
        let ns = scaled(text, Self::WHAT, &table)?;
        whole(ns, Self::WHAT, "time is counted in whole nanoseconds").map(Self::from_nanos)
    }
}
impl Quantity for BitRate {
    const WHAT: &'static str = "a bit rate";
    const UNITS: &'static [&'static str] = &["bit/s", "kbit/s", "Mbit/s", "Gbit/s"];
    const EXAMPLE: &'static str = "11 Mbit/s";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let table = [("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];
        let bps = scaled(text, Self::WHAT, &table)?;
        whole(bps, Self::WHAT, "rates are counted in whole bits a second").map(Self::from_bps)
    }
}
impl Quantity for Bytes {
    const WHAT: &'static str = "a size";
    const UNITS: &'static [&'static str] = &["byte", "kB", "MB", "GB", "KiB", "MiB"];
    const EXAMPLE: &'static str = "1500 byte";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let table = [
            ("byte", 1.0),
            ("bytes", 1.0),
            ("B", 1.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
        ];
        let bytes = scaled(text, Self::WHAT, &table)?;
        whole(bytes, Self::WHAT, "sizes are counted in whole bytes").map(Self::new)
    }
}
impl Quantity for Metres {
    const WHAT: &'static str = "a length";
    const UNITS: &'static [&'static str] = &["m", "km", "cm"];
    const EXAMPLE: &'static str = "100 m";
    fn parse(text: &str) -> Result<Self, ParseError> {
        scaled(text, Self::WHAT, &[("m", 1.0), ("km", 1e3), ("cm", 1e-2)]).map(Self)
    }
}
impl Quantity for Speed {
    const WHAT: &'static str = "a speed";
    const UNITS: &'static [&'static str] = &["m/s", "km/h"];
    const EXAMPLE: &'static str = "0.7 m/s";
    fn parse(text: &str) -> Result<Self, ParseError> {
        scaled(text, Self::WHAT, &[("m/s", 1.0), ("km/h", 1.0 / 3.6)]).map(Self)
    }
}
impl Quantity for Db {
    const WHAT: &'static str = "a ratio";
    const UNITS: &'static [&'static str] = &["dB"];
    const EXAMPLE: &'static str = "10 dB";
    fn parse(text: &str) -> Result<Self, ParseError> {
        scaled(text, Self::WHAT, &[("dB", 1.0), ("dBi", 1.0)]).map(Self)
    }
}
impl Quantity for Dbm {
    const WHAT: &'static str = "a power";
    const UNITS: &'static [&'static str] = &["dBm", "W", "mW"];
    const EXAMPLE: &'static str = "16 dBm";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let (number, unit) = split(text)?;
        let milliwatt = match unit {
            "dBm" => return Ok(Self(number)),
            "" => return Err(ParseError::NoUnit),
            "W" => number * 1e3,
            "mW" => number,
            other => return Err(ParseError::WrongUnit(other.to_owned(), Self::WHAT)),
        };
        if milliwatt <= 0.0 {
            return Err(ParseError::Negative(Self::WHAT));
        }
        Ok(crate::Milliwatt(milliwatt).to_dbm())
    }
}
impl Quantity for Probability {
    const WHAT: &'static str = "a probability";
    const UNITS: &'static [&'static str] = &["%"];
    const EXAMPLE: &'static str = "1 %";
    fn parse(text: &str) -> Result<Self, ParseError> {
        let (number, unit) = split(text)?;
        let p = match unit {
            "" => number,
            "%" => number / 100.0,
            other => return Err(ParseError::WrongUnit(other.to_owned(), Self::WHAT)),
        };
        Self::new(p).ok_or(ParseError::Range("a probability lies between 0 and 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_numbers_with_units() {
        assert_eq!(BitRate::parse("5.5 Mbit/s"), Ok(BitRate::from_kbps(5_500)));
        assert_eq!(Duration::parse("20us"), Ok(Duration::from_micros(20)));
        assert_eq!(Duration::parse("1.5e-3 s"), Ok(Duration::from_micros(1_500)));
        assert_eq!(Bytes::parse("256 KiB"), Ok(Bytes::new(262_144)));
        assert_eq!(Dbm::parse("100 mW"), Ok(Dbm(20.0)));
        assert_eq!(Probability::parse("1e-5"), Ok(Probability::new(1e-5).unwrap()));
        assert_eq!(Probability::parse("2 %"), Ok(Probability::new(0.02).unwrap()));
    }

    #[test]
    fn refuses_what_is_not_the_quantity() {
        assert_eq!(Duration::parse("20"), Err(ParseError::NoUnit));
        assert_eq!(Duration::parse("fast"), Err(ParseError::NoNumber));
        assert_eq!(Duration::parse("20 m"), Err(ParseError::WrongUnit("m".into(), "a duration")));
        assert_eq!(BitRate::parse("-6 Mbit/s"), Err(ParseError::Negative("a bit rate")));
        assert_eq!(BitRate::parse("0.1 bit/s"), Err(ParseError::Range("rates are counted in whole bits a second")));
        assert!(matches!(BitRate::parse("1e300 Gbit/s"), Err(ParseError::Range(_))));
        assert!(matches!(BitRate::parse("1e999 bit/s"), Err(ParseError::Range(_))));
        assert!(matches!(Probability::parse("1.5"), Err(ParseError::Range(_))));
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(ns in 0u64..(1 << 52)) {
            let span = Duration::from_nanos(ns);
            let back = Duration::parse(&span.to_string()).unwrap();
            // A double carries 53 bits: beyond some days a printed nanosecond may be rounded away.
            prop_assert!(back.as_nanos().abs_diff(ns) <= 1);
        }
        #[test]
        fn any_text_is_answered_without_a_panic(text in ".{0,40}") {
            let _ = Duration::parse(&text);
            let _ = BitRate::parse(&text);
            let _ = Dbm::parse(&text);
            let _ = Probability::parse(&text);
        }
    }
}
