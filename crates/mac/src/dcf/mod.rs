//! The distributed coordination function.
mod config;
pub use config::{ACK_SIZE, CTS_SIZE, DcfConfig, RTS_SIZE};
