//! Machines under real time, on Linux: the daemon, which makes one encrypted link out of several interfaces, and the
//! lab, whose hosts are network namespaces.
//!
//! The only crate with sockets, threads and unsafe code. It never decides what a protocol does: it reads clocks and
//! devices, and drives the same machines that the simulator drives.

mod clock;
pub mod daemon;
mod error;
pub mod lab;

pub mod namespace;
pub mod netlink;
mod state;
pub mod tun;
pub mod vnet;

pub use clock::Clock;
pub use error::LabError;
