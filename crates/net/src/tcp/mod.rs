//! TCP.
mod config;
pub use config::{Config, Variant};
