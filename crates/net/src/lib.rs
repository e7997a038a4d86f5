//! Models around the protocols: TCP, UDP, traffic sources and plain links.
//!
//! Pure state machines: no clock, no I/O, no payload. They are the load and the surroundings in a simulation and never
//! part of the daemon, which carries the real thing.

pub mod aodv;
pub mod arp;
pub mod header;
pub mod link;
pub mod loss;
pub mod multihoming;
pub mod refusal;
pub mod source;
pub mod tcp;
pub mod udp;

pub use refusal::Refusal;
