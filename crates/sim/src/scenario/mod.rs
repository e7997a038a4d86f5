//! Scenario files.
pub mod spec;
