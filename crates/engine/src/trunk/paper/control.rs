//! Frames that the two ends of a trunk send each other beside the packets: markers and acknowledgements.
//!
//! They cost as much as the paper's: small IP packets of their own, a header of 20 byte before each. The bytes
//! are in [`crate::wire`].

use super::Member;
use super::header::TrunkHeader;
use airbraid_units::{Bytes, SeqNum};

/// A frame from one end of a trunk to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Surplus round robin: the next packet on this member belongs to `round`, and the member's counter is then
    /// `counter`.
    Surplus {
        /// The round, from 1.
        round: u32,
        /// Rest that the member may send in it \[byte\].
        counter: i32,
    },
    /// JKM: acknowledged and requested numbers.
    Acknowledgement {
        /// The life of the data's sender.
        epoch: u16,
        /// Everything before it has come.
        next: SeqNum,
        /// Numbers that are to be retransmitted.
        missing: Missing,
    },
    /// Method `fifo`: the content of the next header, where no packet carries it.
    Marker {
        epoch: u16,
        /// The member that this is about: the one that carries it, unless everything on it is settled.
        member: Member,
        /// The number of the last frame that was given to the member.
        previous: SeqNum,
        /// The number that will be given out next, on whatever member.
        number: SeqNum,
        /// As in the header: distance from `number` back to the oldest that may be under way.
        unsettled: u16,
        /// Zeros behind it \[byte\]: a probe is as long as the packets that it probes for.
        padding: u16,
    },
}

/// A header as IP's without options \[byte\].
const HEADER: u64 = 20;

impl Control {
    /// Its length \[byte\].
    ///
    /// A surplus marker has 4 + 4 byte behind its header; an acknowledgement 4 byte for the number and space for four
    /// missing ones; a marker of the method `fifo` the member, two numbers, a distance and its padding.
    pub fn len(&self) -> Bytes {
        Bytes::new(match self {
            Self::Surplus { .. } => HEADER + 4 + 4,
            Self::Acknowledgement { .. } => HEADER + 4 + 4 * Missing::CAPACITY as u64,
            Self::Marker { padding, .. } => HEADER + 2 + 4 + 4 + 2 + u64::from(*padding),
        })
    }
    /// The content of a marker as a packet's header.
    pub fn as_header(&self) -> Option<TrunkHeader> {
        let &Self::Marker { epoch, member, previous, number, unsettled, .. } = self else { return None };
        Some(TrunkHeader { epoch, member, number, member_previous: previous, unsettled, ..TrunkHeader::default() })
    }
    /// Never: each has a header.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// A short list of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    numbers: [SeqNum; Self::CAPACITY],
    len: u8,
}

impl Missing {
    /// Numbers that fit into the 40 byte of an acknowledgement.
    pub const CAPACITY: usize = 4;

    /// Adds a number; returns whether there was space.
    pub fn push(&mut self, number: SeqNum) -> bool {
        let place = self.numbers.get_mut(usize::from(self.len));
        let has_room = place.is_some();
        if let Some(place) = place {
            *place = number;
            self.len += 1;
        }
        has_room
    }
    /// The numbers, in order of their addition.
    pub fn iter(&self) -> impl Iterator<Item = SeqNum> + '_ {
        self.numbers.iter().take(usize::from(self.len)).copied()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_frames_are_as_long_as_their_fields_behind_a_header_of_twenty_bytes() {
        let marker = |padding| Control::Marker {
            epoch: 0,
            member: Member(0),
            previous: SeqNum(0),
            number: SeqNum(0),
            unsettled: 0,
            padding,
        };
        let missing = Missing::default();
        let acknowledgement = Control::Acknowledgement { epoch: 0, next: SeqNum(0), missing };
        let frames = [Control::Surplus { round: 1, counter: 0 }, acknowledgement, marker(0), marker(1_468)];
        assert_eq!(frames.map(|frame| frame.len().as_u64()), [28, 40, 32, 1_500]);
    }

    #[test]
    fn a_list_of_missing_numbers_has_space_for_four() {
        let mut missing = Missing::default();
        assert!(missing.is_empty());
        let has_room = [5, 6, 7, 8, 9].map(|number| missing.push(SeqNum(number)));
        assert_eq!(has_room, [true, true, true, true, false]);
        assert!(!missing.is_empty() && missing.len() == 4);
        assert_eq!(missing.iter().collect::<Vec<_>>(), [5, 6, 7, 8].map(SeqNum));
    }
}
