//! Selective-reject ARQ between the ends of a trunk (Wang 2005, section 5, after Jacquet, Kauffmann and Misson 2000).
//!
//! Each frame has a number and is acknowledged. The receiver requests missing frames until they come; nothing behind a
//! hole is delivered before the hole is filled. The paper gives an outline; the constants are in
//! `docs/models/trunk.md`. Nothing is ever given up, so nothing is lost and nothing leaves order while both ends live.
//!
//! Numbers count frames: a run of segments has one.

mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;
