//! The owner of a datagram, which comes back with it where it is refused.

use super::socket::{Outgoing, Refused};
use airbraid_engine::trunk::Member;
use airbraid_units::SeqNum;

/// The owner of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    pub peer: usize,
    /// The member and the number of the frame, if it is a tunnel's.
    pub frame: Option<(Member, SeqNum)>,
    /// Whether it probes a length.
    pub is_probe: bool,
}

/// A datagram that an uplink has refused, with the reason.
pub type Refusal = (Outgoing<Tag>, Refused);
