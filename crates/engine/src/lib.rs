//! The protocols of airbraid as pure state machines: no clock, no I/O, no floating point, no randomness of their own.
//!
//! A host drives a [`Machine`] through [`step`]: the simulator in virtual time, the daemon and the lab against the
//! monotonic clock. What was simulated is what ships, because it is the same code.

pub mod converge;
pub mod link;
pub mod machine;
pub mod packet;
pub mod random;
pub mod slots;
pub mod trunk;
pub mod wire;

pub use machine::{Machine, Spin, Wake, step, try_step};
pub use packet::{Packet, Share, TrafficClass};
pub use random::Stream;
