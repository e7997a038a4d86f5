//! The interface between an end of the link and its host.

use super::header::{Header, Report, WindowHeader};
use super::policy::Fate;
use crate::packet::TrafficClass;
use airbraid_units::SeqNum;

/// A frame: a header and, if it has a segment, the packet of which this is a run of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<H, P> {
    /// What it says.
    pub header: H,
    /// The packet; the host cuts, checks and codes the bytes that the header's segment names.
    pub packet: Option<P>,
}

/// What has come of a frame from the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reception<H, P> {
    /// The header, if its own check holds.
    pub header: Option<H>,
    /// What follows it.
    pub payload: Payload<P>,
}

/// The part of a frame behind its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload<P> {
    /// There was none.
    None,
    /// It was decoded and its check holds.
    Intact {
        /// The segment's bytes, or whatever stands for the packet.
        packet: P,
        /// Bytes that were repaired in the worst block.
        worst: u8,
    },
    /// It broke off.
    Truncated {
        /// Coded bytes that came behind the header.
        at: u16,
    },
    /// A block could not be decoded, or the check failed.
    Undecodable,
}

impl<P> Payload<P> {
    /// What to tell of it.
    pub(super) fn report(&self) -> Report {
        match *self {
            Self::None => Report::None,
            Self::Intact { worst, .. } => Report::Intact { worst },
            Self::Truncated { at } => Report::Truncated { at },
            Self::Undecodable => Report::Undecodable,
        }
    }
}

/// Everything the world tells an end of [`super::StopAndWait`].
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
    /// To the master: nothing came back in time.
    Timeout,
    /// To a master with [`super::Adaptation::Oracle`], before the poll: what will happen to the next segment each way.
    Foretold {
        /// To the one from the master.
        down: Fate,
        /// To the one from the slave.
        up: Fate,
    },
}

/// Everything the world tells an end of [`super::SelectiveRepeat`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowInput<P> {
    /// A packet to carry to the other side.
    Packet(P),
    /// A frame from the other side.
    Received(Reception<WindowHeader, P>),
}

/// Everything an end asks of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<H, P> {
    /// Send this. The machine keeps a handle of its packet.
    Transmit(Frame<H, P>),
    /// A segment that is new, and does not make its packet complete.
    Piece {
        /// Its class.
        class: TrafficClass,
        /// Number of its packet.
        seq: SeqNum,
        /// Where in the packet it begins; it may repeat bytes that came before \[byte\].
        offset: u16,
        /// As received.
        packet: P,
    },
    /// A packet for the layer above, in the order of its class: this segment and the pieces of this number are the whole.
    Deliver {
        /// Its class.
        class: TrafficClass,
        /// Its number.
        seq: SeqNum,
        /// Where the segment that made it complete begins \[byte\].
        offset: u16,
        /// That segment, as received.
        packet: P,
    },
    /// The other side has given up this packet: its pieces can be forgotten.
    Abandon {
        /// Its class.
        class: TrafficClass,
        /// Its number.
        seq: SeqNum,
    },
    /// A packet that goes no further.
    Drop(P, DropReason),
    /// A handle that is no longer needed: of a packet that is settled, or of a segment that came again.
    Release(P),
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// Its class's queue was full.
    QueueFull,
    /// It was queued longer than its lifetime ago.
    Expired,
    /// It was sent as often as its class allows. The last time may have been successful without the sender's knowing.
    Retransmissions,
    /// It is longer than 65,535 byte.
    TooLong,
}
