//! The standards that a radio may have, by their names.

use airbraid_mac::phy::Standard;
use airbraid_mac::ppdu::Format;

/// A standard as scenarios name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Older(Standard),
    Newer(Format),
}

pub(super) const STANDARDS: [(&str, Named); 8] = [
    ("802.11b", Named::Older(Standard::Dot11b)),
    ("802.11a", Named::Older(Standard::Dot11a)),
    ("802.11g", Named::Older(Standard::Dot11g)),
    ("fhss", Named::Older(Standard::Fhss)),
    ("802.11n", Named::Newer(Format::Ht)),
    ("802.11ac", Named::Newer(Format::Vht)),
    ("802.11ax", Named::Newer(Format::He)),
    ("802.11be", Named::Newer(Format::Eht)),
];
/// The name that scenarios give to `standard`.
pub(crate) fn standard_name(standard: Standard) -> &'static str {
    name_of(Named::Older(standard))
}

pub(super) fn name_of(named: Named) -> &'static str {
    STANDARDS.iter().find(|(_, other)| *other == named).map_or("?", |(name, _)| *name)
}
