//! The numbers of a run by name.
//!
//! `[expect]` writes `flow.download.goodput`, the summary `flow.download.goodput_bps`: the unit is in the value there
//! and in the name here. What there is says [`FAMILIES`], a run's values gives [`of`].

mod family;
mod flat;
mod reference;
mod renamed;
mod value;

pub use airbraid_units::metric::{Declared, Kind, Metrics, Unit, Value};
pub use family::{FAMILIES, Family, Step, unit_of};
pub use flat::Flat;
pub use reference::{BEGIN, END, renew, rows, table};
pub use renamed::renamed;
pub use value::{each, of};
