//! The header of each packet on a trunk. The bytes are in [`crate::wire`].

use super::Member;
use airbraid_units::SeqNum;

/// The header of a frame on a trunk.
///
/// The paper needs the trunk number alone. The rest lets a receiver find the member of each hole: a member keeps order,
/// so its next delivery, and the number of the frame before that, reveal its losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrunkHeader {
    /// The sender's life: numbers begin again with each.
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
    /// Distance from this number back to the oldest that may be under way, as far as the sender knows; [`UNSETTLED`] if
    /// it does not.
    pub unsettled: u16,
}

/// The sender does not know the oldest number under way.
pub const UNSETTLED: u16 = u16::MAX;
