//! TCP as two pure state machines: a [`Sender`] that has all the data and a [`Receiver`] that acknowledges it.
//!
//! Data flow one way, as in every simulation of bulk transfer; the payload is a length, never bytes. Stream offsets are
//! 64 bits and never wrap: SYN takes offset 0, data begin at 1, FIN takes one. RFC 9293, 5681, 6298, 6582, 6675, 7323,
//! 9438; the profile `linux` also 2883, 5682, 6937, 8985. Equations and what is left out: `docs/models/tcp.md`.

mod config;
mod congestion;
mod connection;
mod cubic;
mod linux;
mod ranges;
mod receiver;
mod rfc;
mod rto;
mod scoreboard;
mod segment;
mod sender;
mod service;

pub use config::{Config, Profile, Variant};
pub use receiver::{Receiver, ReceiverInput, ReceiverOutput, ReceiverStats};
pub use rto::Rto;
pub use segment::{Flags, SackBlocks, Segment};
pub use sender::Sender;
pub use service::{SenderInput, SenderLimit, SenderOutput, SenderStats};
