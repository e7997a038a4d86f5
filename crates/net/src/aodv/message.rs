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
/// As many destinations as one RERR names: its count has 8 bits.
pub const UNREACHABLE_MAX: usize = 255;

/// A route request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rreq {
    /// Hops that it has travelled, the one under way not counted.
    pub hop_count: u8,
    /// Its number among those of its originator.
    pub id: u32,
    /// Who is looked for.
    pub destination: Node,
    /// The last known number of the destination; `None`: unknown (flag U).
    pub destination_sequence: Option<SeqNum>,
    /// Who looks.
    pub originator: Node,
    /// The originator's own number.
    pub originator_sequence: SeqNum,
    /// Whether an intermediate node that answers tells the destination too (flag G).
    pub gratuitous: bool,
    /// Whether only the destination may answer (flag D).
    pub destination_only: bool,
}

/// A route reply; one whose destination is its sender and that nobody asked for is a hello message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rrep {
    /// Hops to the destination from who sends it.
    pub hop_count: u8,
    /// To whom this is a route.
    pub destination: Node,
    /// The destination's number.
    pub destination_sequence: SeqNum,
    /// Who has asked.
    pub originator: Node,
    /// For how long the route is valid; captures show whole milliseconds.
    pub lifetime: Duration,
}

/// A destination that cannot be reached, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// The destination.
    pub destination: Node,
    /// Routes with an older number are void.
    pub sequence: SeqNum,
}

/// A route error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerr {
    /// Whether the route has been repaired meanwhile and must be kept (flag N).
    pub keep: bool,
    /// Who is unreachable through its sender; at most [`UNREACHABLE_MAX`].
    pub unreachable: Vec<Unreachable>,
}

/// A message of AODV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Who knows the way?
    Rreq(Rreq),
    /// I do.
    Rrep(Rrep),
    /// I do not any more.
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
