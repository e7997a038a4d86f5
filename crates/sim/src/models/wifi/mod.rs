//! Saturated 802.11 cells without a run: one sender with A-MPDUs and block acknowledgements, n stations by Bianchi's
//! fixed point, stations of several access categories slot by slot, and delays by load.
//!
//! Written apart from the MAC, from the same clauses of IEEE 802.11-2020, so that either can be held against the other:
//! 10.3.2.11 (timeouts), 10.12 (A-MPDU), 10.23.2 (EDCA), 10.24 (block acknowledgement). Equations, validity and what
//! is left out: `docs/models/wifi-saturation.md`.

mod bianchi;
mod exchange;
mod load;
mod monte_carlo;
#[cfg(test)]
mod tests;

pub use bianchi::{FixedPoint, fixed_point, throughput_bps};
pub use exchange::{Access, Aggregation, Exchange, Sender, Sending};
pub use load::{LoadedCell, LoadedDelay};
pub use monte_carlo::{Cell, Countdown, Repair, Station, StationResult, simulate};
