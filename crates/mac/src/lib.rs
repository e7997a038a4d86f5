//! Medium access control as pure state machines.
pub mod dcf;
pub mod phy;
