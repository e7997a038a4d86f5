//! A carrier frequency: the one quantity that occurs in scenarios alone.

use airbraid_units::{ParseError, Quantity};
use std::fmt;

/// A frequency \[Hz\].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Frequency(pub f64);

impl Quantity for Frequency {
    const WHAT: &'static str = "a frequency";
    const UNITS: &'static [&'static str] = &["GHz", "MHz", "kHz", "Hz"];
    const EXAMPLE: &'static str = "2.4 GHz";

    fn parse(text: &str) -> Result<Self, ParseError> {
        let text = text.trim();
        let number = text.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.').trim_end();
        let unit = text[number.len()..].trim();
        let value: f64 = number.parse().map_err(|_| ParseError::NoNumber)?;
        let factor = match unit {
            "Hz" => 1.0,
            "kHz" => 1e3,
            "MHz" => 1e6,
            "GHz" => 1e9,
            "" => return Err(ParseError::NoUnit),
            other => return Err(ParseError::WrongUnit(other.to_owned(), Self::WHAT)),
        };
        let hertz = value * factor;
        if hertz <= 0.0 {
            return Err(ParseError::Negative(Self::WHAT));
        }
        if hertz.is_finite() { Ok(Self(hertz)) } else { Err(ParseError::Range("the number is too large")) }
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >= 1e9 { write!(f, "{} GHz", self.0 / 1e9) } else { write!(f, "{} MHz", self.0 / 1e6) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_hertz_with_their_prefixes() {
        assert_eq!(Frequency::parse("914 MHz"), Ok(Frequency(914e6)));
        assert_eq!(Frequency::parse("2.4GHz"), Ok(Frequency(2.4e9)));
        assert_eq!(Frequency::parse("2.4"), Err(ParseError::NoUnit));
        assert_eq!(Frequency::parse("-1 GHz"), Err(ParseError::Negative("a frequency")));
        assert!(Frequency::parse("5 dB").is_err() && Frequency::parse("").is_err());
    }
}
