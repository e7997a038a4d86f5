//! The header of each frame. The bytes are in [`crate::wire`].

use super::fate::Fate;
use super::shape::{Shape, blocks, coded_len};
use crate::packet::TrafficClass;
use airbraid_units::SeqNum;

/// A run of bytes of one packet, and its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Each class counts and keeps the order of its own packets.
    pub class: TrafficClass,
    /// Number of the packet in its class, from 1.
    pub seq: SeqNum,
    /// Offset of its first byte in the packet \[byte\].
    pub offset: u16,
    /// Number of bytes of the packet that it holds.
    pub count: u16,
    /// Whether it is the end of the packet.
    pub is_last: bool,
    /// Parity of each block \[byte\].
    pub parity: u8,
}

impl Segment {
    /// Offset of its end in the packet \[byte\].
    pub const fn end(&self) -> u32 {
        self.offset as u32 + self.count as u32
    }
    /// Blocks on the air.
    pub const fn blocks(&self) -> u32 {
        blocks(self.count, self.parity)
    }
    /// Length on the air without the header: data, check and parity \[byte\].
    pub const fn coded_len(&self) -> u32 {
        coded_len(self.count, self.parity)
    }
}

/// The receive state of a class: the packet that is being reassembled and its cumulative good length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Number of the packet that is expected; all before it are settled.
    pub next: SeqNum,
    /// Number of its first bytes that have arrived.
    pub good: u16,
}

impl Default for Ack {
    fn default() -> Self {
        Self { next: SeqNum(1), good: 0 }
    }
}

/// The fate of a segment, as its receiver reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// There was no segment.
    #[default]
    None,
    /// It arrived, after at most `worst` bytes of a block were repaired.
    Intact {
        /// Wrong bytes of the worst block.
        worst: u8,
    },
    /// Only its first coded bytes arrived.
    Truncated {
        /// Number of these bytes.
        at: u16,
    },
    /// A block could not be decoded, or the check failed.
    Undecodable,
}

impl Report {
    /// The reported fate of the segment; `None` if there was none.
    pub(super) fn fate(self) -> Option<Fate> {
        match self {
            Self::None => None,
            Self::Intact { worst } => Some(Fate::Delivered { worst }),
            Self::Truncated { at } => Some(Fate::Truncated { at }),
            Self::Undecodable => Some(Fate::Undecodable),
        }
    }
}

/// The header of a frame of [`super::StopAndWait`], in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The data that it carries.
    pub segment: Option<Segment>,
    /// The receive state of bulk and of real-time packets (by [`TrafficClass`] as index).
    pub acks: [Ack; 2],
    /// In an answer: the fate of the poll's segment.
    pub report: Report,
    /// In a poll: the slave may send a segment of at most this size, with this code.
    pub invite: Option<Shape>,
}

/// The received frames, for [`super::SelectiveRepeat`]; initially number 0, which no frame has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The newest that arrived.
    pub newest: SeqNum,
    /// Bit i: the frame i + 1 before it arrived, too.
    pub before: u64,
}

/// The header of a frame of [`super::SelectiveRepeat`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowHeader {
    /// Number of the frame, new for each transmission; of the last one with a segment where it carries none.
    pub number: SeqNum,
    /// The data that it carries.
    pub segment: Option<Segment>,
    /// Whether an answer is wanted; a segment always has one.
    pub asks: bool,
    /// By class: packets before this one are settled or given up; the receiver need not wait for them.
    pub floors: [SeqNum; 2],
    /// By class: the packet that is expected.
    pub nexts: [SeqNum; 2],
    /// The frames that have arrived.
    pub received: Received,
    /// The fate of the newest frame that arrived damaged or was repaired, and its number.
    pub report: (SeqNum, Report),
}
