//! The daemon.
mod inner;
pub mod keys;
pub mod site;
mod socket;
