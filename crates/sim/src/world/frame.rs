//! The loads of machines and MACs: small descriptors, and the bodies of frames that are no packet.
//!
//! A frame of a trunk, a link layer or a protocol of the network layer stands in the table of packets, with its body
//! beside it; it is in no account of packets.

use super::id::{PacketId, RadioTrunkEnd};
use airbraid_engine::converge::select::{Beacon, Port};
use airbraid_engine::trunk::{Member, bonding, paper};
use airbraid_engine::wire::{BEACON_LEN, WINDOW_HEADER_LEN};
use airbraid_engine::{Packet, Share, TrafficClass, link};
use airbraid_net::aodv::Message;
use airbraid_net::arp;
use airbraid_units::{Bytes, SeqNum};

/// A packet as the machines see it: small, and by value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRef {
    /// Its place in the table.
    pub id: PacketId,
    /// Length of the IP packet.
    pub len: u32,
    /// The flow's bucket.
    pub bucket: u16,
    /// The class of its flow.
    pub class: TrafficClass,
    /// Whether and what it only acknowledges, and its user priority.
    pub marks: Marks,
}

/// Three properties of a packet in one byte: whether it only acknowledges, whether it acknowledges more than the one
/// before and has no gaps, and its user priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u8);

impl Marks {
    const ACKNOWLEDGES: u8 = 8;
    const ADVANCES: u8 = 16;

    /// A packet of this user priority, 0 to 7.
    pub const fn new(priority: u8, is_acknowledgement: bool) -> Self {
        Self(priority & 7 | if is_acknowledgement { Self::ACKNOWLEDGES } else { 0 })
    }
    /// The same of an acknowledgement of more than the one before, without gaps.
    pub const fn advancing(self) -> Self {
        Self(self.0 | Self::ADVANCES)
    }
    pub const fn priority(self) -> u8 {
        self.0 & 7
    }
    pub const fn advances(self) -> bool {
        self.0 & Self::ADVANCES != 0
    }
    pub const fn is_acknowledgement(self) -> bool {
        self.0 & Self::ACKNOWLEDGES != 0
    }
}

impl Packet for PacketRef {
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.len))
    }
    fn class(&self) -> TrafficClass {
        self.class
    }
    fn flow_bucket(&self) -> u16 {
        self.bucket
    }
    fn is_acknowledgement(&self) -> bool {
        self.marks.is_acknowledgement()
    }
    fn supersedes(&self, older: &Self) -> bool {
        self.marks.advances() && older.marks.advances() && self.bucket == older.bucket
    }
    fn priority(&self) -> u8 {
        self.marks.priority()
    }
}

impl Share for PacketRef {
    /// The world counts the references: it is told of each that a machine keeps.
    fn share(&self) -> Self {
        *self
    }
}

impl bonding::Coded for PacketRef {
    /// The packets of which the symbol is the sum: each is referred to by it until it is taken out.
    type Symbol = Box<[(bonding::FlowSeq, Option<PacketRef>)]>;
    /// Nothing: any symbol has them all.
    type Kept = ();

    fn keep(&self, _: bonding::FlowSeq) {}
    fn repair(sources: &[bonding::Source<'_, Self>], _: u8) -> Self::Symbol {
        sources.iter().map(|source| (source.place, Some(*source.packet))).collect()
    }
    fn symbol_len(symbol: &Self::Symbol) -> Bytes {
        let longest = symbol.iter().filter_map(|(_, packet)| packet.map(|packet| packet.len)).max();
        Bytes::new(4 + u64::from(longest.unwrap_or(0)))
    }
    fn restore(sources: &[Option<&()>], symbols: &mut [(u8, Self::Symbol)]) -> Vec<(bonding::FlowSeq, Self)> {
        let lost = sources.iter().enumerate().filter(|(_, kept)| kept.is_none());
        let Some((_, symbol)) = symbols.first_mut() else { return Vec::new() };
        lost.filter_map(|(index, _)| symbol.get_mut(index).and_then(|(place, packet)| Some((*place, packet.take()?))))
            .collect()
    }
}

/// The load of a MAC: a packet, or a frame of a trunk or link layer, which stands in the same table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Msdu {
    /// The packet, or what stands for the frame.
    pub packet: PacketRef,
    /// Length of the headers around a packet, below IP and above the MAC \[byte\].
    pub overhead: u32,
    /// Which port it belongs to, and that port's header.
    pub kind: MsduKind,
}

/// Which port an MSDU belongs to, and that port's header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MsduKind {
    /// A packet of the network layer.
    Plain,
    /// A packet on a way that AODV found. The copies of a packet share its record, but each has hops of its own: one
    /// that a neighbour has acknowledged in vain is farther on than the one that is sent again.
    Routed {
        /// Number of hops that remain.
        ttl: u8,
        /// Number of hops so far.
        hops: u8,
    },
    /// A packet on a way that interface selection chose, with its number there where the metric needs it.
    Selected(Option<SeqNum>),
    /// A packet behind the header of a trunk.
    Trunk(paper::TrunkHeader),
    /// A control frame of a trunk: [`FrameBody::Control`].
    Control,
    /// A frame of stop-and-wait error control: [`FrameBody::Segment`].
    Segment,
    /// A message of AODV or ARP: [`FrameBody::Routing`] or [`FrameBody::Resolution`].
    Routing,
    /// A beacon of interface selection: [`FrameBody::Beacon`].
    Beacon,
}

impl MsduKind {
    /// Whether the MSDU is a packet, and not a frame that only stands in the table of packets.
    pub const fn is_packet(self) -> bool {
        matches!(self, Self::Plain | Self::Routed { .. } | Self::Selected(_) | Self::Trunk(_))
    }
}

impl Msdu {
    /// A packet of the network layer, with no header of ours around it.
    pub const fn plain(packet: PacketRef) -> Self {
        Self { packet, overhead: 0, kind: MsduKind::Plain }
    }
    /// A frame that stands in the table of packets.
    pub const fn frame(packet: PacketRef, kind: MsduKind) -> Self {
        Self { packet, overhead: 0, kind }
    }
    /// The packet, if it is one.
    pub fn packet(&self) -> Option<PacketRef> {
        self.kind.is_packet().then_some(self.packet)
    }
    /// The trunk's header, if there is one.
    pub fn trunk(&self) -> Option<paper::TrunkHeader> {
        match self.kind {
            MsduKind::Trunk(header) => Some(header),
            _ => None,
        }
    }
}

/// A packet or message that AODV has for a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsent {
    pub msdu: Msdu,
    /// Whether it goes to the head of the interface queue.
    pub overtakes: bool,
}

impl Packet for Msdu {
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.packet.len + self.overhead))
    }
    fn class(&self) -> TrafficClass {
        self.packet.class
    }
    fn flow_bucket(&self) -> u16 {
        self.packet.bucket
    }
    fn priority(&self) -> u8 {
        self.packet.marks.priority()
    }
}

impl Share for Msdu {
    /// As with [`PacketRef`].
    fn share(&self) -> Self {
        *self
    }
}

/// A control frame of a trunk, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlFrame {
    /// The trunk end that sends it.
    pub end: RadioTrunkEnd,
    /// The member that carries it.
    pub member: Member,
    pub control: paper::Control,
}

/// A frame of a link layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkFrame {
    /// Its header.
    pub header: link::Header,
    /// The packet of which it carries a segment; the frame refers to it.
    pub packet: Option<Msdu>,
    /// Parity of each of its blocks \[byte\].
    pub parity: u8,
}

/// A frame of selective repeat on a plain link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowFrame {
    /// Its header.
    pub header: link::WindowHeader,
    /// The packet of which it carries a segment; the frame refers to it.
    pub packet: Option<PacketRef>,
}

/// A message of AODV on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutingMessage {
    /// The TTL of its IP header.
    pub ttl: u8,
    pub message: Message,
}

/// A beacon of interface selection, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeaconFrame {
    /// The trunk end that sends it.
    pub end: RadioTrunkEnd,
    /// The member that carries it.
    pub port: Port,
    pub beacon: Beacon,
}

/// A frame of a trunk over links on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct BondFrame {
    /// The member that carries it.
    pub member: Member,
    /// The frame, with a reference to its packet.
    pub frame: bonding::Frame<PacketRef>,
    /// Its length, with what is around it \[byte\].
    pub len: u32,
}

/// The body of a frame in the table that is no packet.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameBody {
    /// A control frame of a trunk.
    Control(ControlFrame),
    /// A frame of a link layer.
    Segment(LinkFrame),
    /// A frame of selective repeat.
    Window(WindowFrame),
    /// A message of AODV.
    Routing(RoutingMessage),
    /// A message of ARP.
    Resolution(arp::Message),
    /// A beacon of interface selection.
    Beacon(BeaconFrame),
    /// A frame of a trunk over links.
    Bond(BondFrame),
}

impl FrameBody {
    /// The packet that a frame of a trunk over links carries.
    pub fn packet(&self) -> Option<PacketRef> {
        match self {
            Self::Bond(BondFrame { frame: bonding::Frame::Data { packet, .. }, .. }) => Some(*packet),
            _ => None,
        }
    }

    /// Length as the MAC's payload \[byte\]; the header of stop-and-wait counts as the MAC's, a plain link has none.
    pub fn len(&self) -> u32 {
        match self {
            Self::Control(frame) => frame.control.len().as_u64() as u32,
            Self::Segment(frame) => frame.header.segment.map_or(0, |segment| segment.coded_len()),
            Self::Window(frame) => {
                WINDOW_HEADER_LEN as u32 + frame.header.segment.map_or(0, |segment| segment.coded_len())
            }
            Self::Routing(sent) => sent.message.packet_len().as_u64() as u32,
            Self::Resolution(_) => arp::MESSAGE_LEN.as_u64() as u32,
            Self::Beacon(_) => BEACON_LEN as u32,
            Self::Bond(sent) => sent.len,
        }
    }
}
