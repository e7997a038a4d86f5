//! The reason why a model refuses its parameters. It refuses what cannot work, not what is unusual.

use std::fmt;

/// A parameter with which a model cannot work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The parameter's name in its configuration.
    pub parameter: &'static str,
    /// The requirement that it breaks.
    pub must: &'static str,
}

impl Refusal {
    /// `Ok` if `holds`; otherwise the refusal of `parameter`, which `must`.
    pub(crate) const fn unless(holds: bool, parameter: &'static str, must: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { parameter, must }) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` must {}", self.parameter, self.must)
    }
}

impl std::error::Error for Refusal {}
