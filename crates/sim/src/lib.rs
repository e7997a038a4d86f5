//! The discrete-event wireless simulator.
pub mod phy;
pub mod result;
pub mod scenario;
