//! The messages of AODV (RFC 3561, section 5) as descriptors with exact lengths. Their bytes are in [`super::wire`].

use super::Node;
use crate::header::{IPV4_HEADER, UDP_HEADER};
use airbraid_units::{Bytes, Duration, SeqNum};

/// The UDP port of AODV (section 10).
pub const PORT: u16 = 654;
/// A RREQ \[byte\] (section 5.1).
pub const RREQ_LEN: usize = 24;
/// A RREP \[byte\] (section 5.2).
pub const RREP_LEN: usize = 20;
/// A RERR without destinations \[byte\] (section 5.3).
pub const RERR_HEADER_LEN: usize = 4;
/// Each destination of a RERR \[byte\].
pub const UNREACHABLE_LEN: usize = 8;
/// Largest number of destinations of one RERR: its count has 8 bits.
pub const UNREACHABLE_MAX: usize = 255;

/// The RREQ ID: numbers the requests of one originator (section 5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RreqId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rreq {
    /// Hops that it has travelled, the one under way not counted.
    pub hop_count: u8,
    /// Number among the requests of its originator.
    pub id: RreqId,
    /// The node looked for.
    pub destination: Node,
    /// The last known number of the destination; `None`: unknown (flag U).
    pub destination_sequence: Option<SeqNum>,
    /// The node that looks for it.
    pub originator: Node,
    /// The originator's own number.
    pub originator_sequence: SeqNum,
    /// Whether an intermediate node that answers tells the destination too (flag G).
    pub gratuitous: bool,
    /// Whether only the destination may answer (flag D).
    pub destination_only: bool,
}

/// A route reply; an unsolicited one whose destination is its sender is a hello message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rrep {
    /// Hops from the sender of the reply to the destination.
    pub hop_count: u8,
    /// The destination of the route.
    pub destination: Node,
    pub destination_sequence: SeqNum,
    /// The node that sent the request.
    pub originator: Node,
    /// Lifetime of the route; captures show whole milliseconds.
    pub lifetime: Duration,
}

/// A destination that cannot be reached, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    pub destination: Node,
    /// Routes with an older number are void.
    pub sequence: SeqNum,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerr {
    /// Whether the route has been repaired meanwhile and must be kept (flag N).
    pub keep: bool,
    /// The destinations that are unreachable through its sender; at most [`UNREACHABLE_MAX`].
    pub unreachable: Vec<Unreachable>,
}

/// A message of AODV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A node looks for a route.
    Rreq(Rreq),
    /// A node has a route.
    Rrep(Rrep),
    /// A node has lost a route.
    Rerr(Rerr),
}

impl Message {
    /// Length of the IPv4 packet that carries it.
    pub fn packet_len(&self) -> Bytes {
        let len = match self {
            Self::Rreq(_) => RREQ_LEN,
            Self::Rrep(_) => RREP_LEN,
            Self::Rerr(rerr) => RERR_HEADER_LEN + UNREACHABLE_LEN * rerr.unreachable.len(),
        };
        Bytes::new(len as u64) + UDP_HEADER + IPV4_HEADER
    }
}
