//! Quantities as types: what has a unit has a type, so that a rate is never taken for a size nor microseconds for
//! seconds.
//!
//! Integers wherever the protocols compute (time, rate, size, sequence numbers); floating point only for what the
//! radio models compute (decibels, metres, probabilities), which the pure engine never names.
//! Every quantity parses from and prints as text with its unit (`"6 Mbit/s"`, `"-82 dBm"`): see [`parse`].

pub mod length;
pub mod metric;
mod named;
pub mod parse;
pub mod power;
pub mod probability;
pub mod rate;
pub mod seq;
pub mod size;
pub mod time;

pub use length::{Metres, Speed};
pub use parse::{ParseError, Quantity};
pub use power::{Db, Dbm, Milliwatt};
pub use probability::Probability;
pub use rate::BitRate;
pub use seq::SeqNum;
pub use size::Bytes;
pub use time::{Duration, Instant};
