//! What travels with each packet of a trunk. The bytes are in [`crate::wire`].

use super::Member;
use airbraid_units::SeqNum;

/// The header of a frame on a trunk.
///
/// The paper needs the trunk number alone. The rest lets a receiver know whose hole it is waiting for: a member keeps
/// order, so what a member delivers next, and the number of what it was given before, tell what was lost on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Which life of the sender this is: numbers begin anew with each.
    pub epoch: u16,
    /// The member that carries the frame.
    pub member: Member,
    /// Number of the packet (of the first segment of a run) on the trunk.
    pub number: SeqNum,
    /// Number of the frame on its member.
    pub member_number: SeqNum,
    /// Trunk number of the member's previous frame; the frame's own where it is the first.
    pub member_previous: SeqNum,
    /// The packet's flow bucket.
    pub bucket: u16,
    /// Number of the packet within its flow bucket.
    pub bucket_number: SeqNum,
    /// How many numbers before this one the oldest packet lies that may still be on its way, as far as the sender knows;
    /// [`UNSETTLED`] if it does not.
    pub unsettled: u16,
}

/// The sender does not know what is still on its way.
pub const UNSETTLED: u16 = u16::MAX;
