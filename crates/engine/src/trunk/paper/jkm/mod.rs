//! Selective-reject ARQ between the ends of a trunk (Wang 2005, section 5, after Jacquet, Kauffmann and Misson 2000).
//!
//! Each frame has a number; each is acknowledged; the receiver asks for what is missing until it comes; nothing behind a
//! hole is delivered before the hole is filled. What the paper says is an outline: the constants are in
//! `docs/models/trunk.md`. Nothing is ever given up, so nothing is lost and nothing leaves order while both ends live.
//!
//! Numbers count frames: a run of segments has one.

mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;
