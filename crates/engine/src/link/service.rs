//! The interface between an end of the link and its host.

use super::fate::Fate;
use super::header::{Header, Report, WindowHeader};
use crate::packet::TrafficClass;
use airbraid_units::SeqNum;

/// A frame: a header and, if it has a segment, the packet of which this is a run of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<H, P> {
    pub header: H,
    /// The packet; the host cuts, checks and codes the bytes that the header's segment names.
    pub packet: Option<P>,
}

/// The received part of a frame from the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reception<H, P> {
    /// The header, if its own check holds.
    pub header: Option<H>,
    /// The part behind it.
    pub payload: Payload<P>,
}

/// The part of a frame behind its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload<P> {
    /// There was none.
    None,
    /// It was decoded and its check holds.
    Intact {
        /// The segment's bytes, or the packet's handle.
        packet: P,
        /// Bytes that were repaired in the worst block.
        worst: u8,
    },
    /// It was truncated.
    Truncated {
        /// Coded bytes that arrived behind the header.
        at: u16,
    },
    /// A block could not be decoded, or the check failed.
    Undecodable,
}

impl<P> Payload<P> {
    /// The report to send about it.
    pub(super) fn report(&self) -> Report {
        match *self {
            Self::None => Report::None,
            Self::Intact { worst, .. } => Report::Intact { worst },
            Self::Truncated { at } => Report::Truncated { at },
            Self::Undecodable => Report::Undecodable,
        }
    }
}

/// Everything that the host tells an end of [`super::StopAndWait`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<P> {
    /// A packet to carry to the other side; it waits for its turn.
    Packet(P),
    /// To the master: its MAC has a transaction. Answered by exactly one [`Output::Transmit`].
    Poll {
        /// Whether the slave may answer with data.
        invite: bool,
    },
    /// To the master: the answer. To the slave: a poll, answered by exactly one [`Output::Transmit`].
    Received(Reception<Header, P>),
    /// To the master: no answer came in time.
    Timeout,
    /// To a master with [`super::Adaptation::Oracle`], before the poll: the fate of the next segment each way.
    Foretold {
        /// The segment from the master.
        down: Fate,
        /// The segment from the slave.
        up: Fate,
    },
}

/// Everything that the host tells an end of [`super::SelectiveRepeat`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowInput<P> {
    /// A packet to carry to the other side.
    Packet(P),
    /// A frame from the other side.
    Received(Reception<WindowHeader, P>),
}

/// Everything that an end tells its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<H, P> {
    /// Send this frame. The machine keeps a handle of its packet.
    Transmit(Frame<H, P>),
    /// A segment that is new, and does not complete its packet.
    Piece {
        class: TrafficClass,
        /// Number of its packet.
        seq: SeqNum,
        /// Its offset in the packet \[byte\]; it may repeat bytes of earlier pieces.
        offset: u16,
        /// As received.
        packet: P,
    },
    /// A packet for the layer above, in the order of its class: this segment and the pieces of this number are the
    /// whole.
    Deliver {
        class: TrafficClass,
        seq: SeqNum,
        /// Offset of the segment that completed it \[byte\].
        offset: u16,
        /// That segment, as received.
        packet: P,
    },
    /// The other side has given up this packet: its pieces can be forgotten.
    Abandon { class: TrafficClass, seq: SeqNum },
    /// A packet that goes no further.
    Drop(P, DropReason),
    /// A handle that is no longer needed: of a packet that is settled, or of a segment that was received again.
    Release(P),
}

/// The reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// Its class's queue was full.
    QueueFull,
    /// It was queued longer than its lifetime ago.
    Expired,
    /// It was sent as often as its class allows. The last transmission may have arrived without the sender's knowledge.
    Retransmissions,
    /// It is longer than 65,535 byte.
    TooLong,
}
