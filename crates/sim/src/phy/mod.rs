//! The radio channel as pure functions.
mod config;
pub use config::{ErrorModel, PathLoss, RadioConfig, Threshold};
