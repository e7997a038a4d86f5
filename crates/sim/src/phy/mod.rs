//! The radio channel as pure functions: received power, survival of bits, neighbours, positions.
//!
//! Nothing here keeps state between calls or knows of events, frames or nodes by name: the medium asks, and keeps what
//! it wants to keep. Equations, sources and what is left out: `docs/models/radio.md`.

mod cck;
pub mod coded;
mod config;
pub mod curve;
pub mod error_rate;
pub mod geometry;
pub mod mobility;
mod ofdm;
pub mod path_loss;
pub mod shadowing;
pub mod spectrum;
mod table;
pub mod wear;

pub use coded::{CodedRate, CodedRates};
pub use config::{ErrorModel, PathLoss, RadioConfig, Receiver, Threshold};
pub use curve::Curve;
pub use error_rate::{ErrorRates, PlainBer};
pub use geometry::{Grid, distance};
pub use path_loss::{Antenna, Transmitter};
pub use shadowing::Shadowing;
pub use wear::Wear;
