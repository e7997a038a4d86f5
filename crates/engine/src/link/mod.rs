//! Local error control: a lossy link repairs its own losses, so that the layers above see a good one (Eckhardt and
//! Steenkiste 1998, sections 3 and 6).
//!
//! Three means against three kinds of damage. A frame that is **lost** is sent again ([`StopAndWait`],
//! [`SelectiveRepeat`]); so that fewer are **truncated** packets are cut into segments, of any size from one
//! transmission to the next; what is **corrupted** is repaired by a Reed-Solomon code ([`fec`]). How long a segment is
//! and how much parity it gets is decided for each frame by a [`policy`], from what became of those before.
//!
//! Use by a host:
//!
//! 1. It makes one end for each neighbour, at both sides, when an association begins: both count from 1.
//! 2. [`StopAndWait`] is pulled. The master's host, when its MAC has a transaction, gives [`Input::Poll`], gets exactly
//!    one [`Output::Transmit`], and tells what came back: [`Input::Received`] or [`Input::Timeout`]. The slave's host
//!    gives `Received` for each poll, damaged ones too, and gets exactly one `Transmit`: the answer.
//!    [`SelectiveRepeat`] pushes: it transmits when its window has room, and has timers.
//! 3. A frame is its header and, if [`Header::segment`] says so, bytes `offset..offset + count` of a packet, coded into
//!    [`Segment::coded_len`] bytes by the host's codec ([`fec::Codec`]). A descriptor of the whole packet does as well.
//! 4. Received data come up as [`Output::Piece`] (a segment; bytes go into a buffer for this class and number, a
//!    descriptor is released) and [`Output::Deliver`] (the segment that makes its packet complete).
//! 5. Handles: the machine keeps one of each packet until it is settled and shares another with each `Transmit`; its
//!    own comes back as [`Output::Release`] or [`Output::Drop`]. The shared one travels with the frame and is the
//!    host's to release if the frame does not arrive; handed in with `Received` it comes back by exactly one output.
//!
//! Real-time packets have a queue and numbers of their own, go before bulk, and may expire; order is kept within each
//! class. It never looks at bytes, never delivers twice, out of order within a class, or what a check refused.

mod config;
mod cost;
mod fate;
pub mod fec;
pub mod header;
mod outgoing;
pub mod policy;
mod reassembly;
mod refusal;
mod selective_repeat;
mod service;
mod shape;
mod stats;
mod stop_and_wait;

pub use config::{ClassConfig, Config, Persistence, WindowConfig};
pub use cost::Cost;
pub use fate::Fate;
pub use header::{Ack, Header, Received, Report, Segment, WindowHeader};
pub use policy::{Adaptation, Policy};
pub use refusal::Refusal;
pub use selective_repeat::SelectiveRepeat;
pub use service::{DropReason, Frame, Input, Output, Payload, Reception, WindowInput};
pub use shape::{BLOCK_LEN, CHECK_LEN, Shape};
pub use stats::Stats;
pub use stop_and_wait::StopAndWait;
