//! The bodies of frames on the air: packets with the headers of trunks and selection before them, and the frames of
//! trunks and of the network layer's protocols.

use super::packet::PacketWriter;
use crate::record::dot11::{BROADCAST, EtherType};
use crate::record::ip::{INITIAL_TTL, IP_BROADCAST, IpHeader, Ipv4, append_datagram, append_header, arp};
use crate::record::ip_address;
use crate::recorder::stations::Stations;
use crate::world::{FrameBody, Msdu, MsduKind, Packets};
use airbraid_engine::converge::session::{FRAME_HEADER_LEN, FRAME_OVERHEAD, FrameHeader, FrameKind, KeyId};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::paper::TrunkHeader;
use airbraid_engine::wire;
use airbraid_mac::Address;
use airbraid_net::aodv::{self, Message, Node};
use airbraid_net::arp::Operation;
use airbraid_units::SeqNum;

/// The key's name in the header of a frame that would be sealed: a capture has it in the clear, and zeros as its tag.
pub const NO_KEY: KeyId = KeyId(0);
/// Length of the tag of a sealed frame \[byte\].
const TAG: usize = FRAME_OVERHEAD - FRAME_HEADER_LEN;

/// A body that has been appended.
#[derive(Clone, Copy, Debug)]
pub struct Appended {
    pub ether_type: EtherType,
    /// Zeros behind it.
    pub zeros: usize,
}

/// Writes bodies.
#[derive(Debug)]
pub struct BodyWriter<'a> {
    pub packets: PacketWriter<'a>,
    /// By node: the address of its first radio.
    hardware: Vec<[u8; 6]>,
}

impl<'a> BodyWriter<'a> {
    pub fn new(packets: PacketWriter<'a>, stations: &Stations<'_>) -> Self {
        let first = |node: usize| stations.stations.iter().find(|station| station.node as usize == node);
        let nodes = 0..stations.spec.nodes.len();
        let hardware = nodes.map(|node| first(node).map_or(BROADCAST, |station| station.mac_address())).collect();
        Self { packets, hardware }
    }

    /// Appends an MSDU between two radios to `out`.
    pub fn append(
        &self,
        out: &mut Vec<u8>,
        msdu: &Msdu,
        table: &Packets,
        (from, to): (Address, Address),
        stations: &Stations<'_>,
    ) -> Appended {
        let ip = |address: Address| match address {
            Address::BROADCAST => IP_BROADCAST,
            address => ip_address(stations.of(address).node),
        };
        match msdu.kind {
            MsduKind::Plain => self.packet(out, msdu, table, None),
            MsduKind::Routed { ttl, .. } => self.packet(out, msdu, table, Some(ttl)),
            MsduKind::Selected(number) => self.selected(out, msdu, table, number),
            MsduKind::Trunk(header) => {
                trunk_header(out, &header, msdu.overhead as usize);
                let plain = self.packet(out, msdu, table, None);
                if msdu.overhead == 0 { plain } else { Appended { ether_type: EtherType::LocalExperiment, ..plain } }
            }
            MsduKind::Control | MsduKind::Routing | MsduKind::Beacon | MsduKind::Segment => {
                let body = table.frame(msdu.packet);
                body.map_or(NOTHING, |body| self.frame(out, body, msdu.overhead, (ip(from), ip(to))))
            }
        }
    }

    fn packet(&self, out: &mut Vec<u8>, msdu: &Msdu, table: &Packets, ttl: Option<u8>) -> Appended {
        let zeros = self.packets.append(out, table.get(msdu.packet), ttl);
        Appended { ether_type: EtherType::Ipv4, zeros }
    }

    /// A packet on a member that selection chose: in a sealed frame, behind its number, or as it is.
    fn selected(&self, out: &mut Vec<u8>, msdu: &Msdu, table: &Packets, number: Option<SeqNum>) -> Appended {
        let tag = match msdu.overhead as usize {
            0 => return self.packet(out, msdu, table, None),
            FRAME_OVERHEAD.. => {
                out.extend(frame_header(FrameKind::Data, Member(0), number));
                TAG
            }
            _ => {
                out.extend(number.unwrap_or_default().0.to_be_bytes());
                0
            }
        };
        let Appended { zeros, .. } = self.packet(out, msdu, table, None);
        Appended { ether_type: EtherType::LocalExperiment, zeros: zeros + tag }
    }

    /// Appends what is no packet.
    fn frame(
        &self,
        out: &mut Vec<u8>,
        body: &FrameBody,
        overhead: u32,
        (source, destination): (Ipv4, Ipv4),
    ) -> Appended {
        let ip = IpHeader { source, destination, ident: 0, ttl: 1 };
        match body {
            FrameBody::Control(frame) => {
                let mut content = Vec::new();
                let (protocol, ident) = wire::emit_control(&frame.control, &mut content);
                append_header(out, &IpHeader { ident, ..ip }, protocol, content.len());
                out.extend(content);
                Appended { ether_type: EtherType::Ipv4, zeros: 0 }
            }
            FrameBody::Routing(sent) => {
                let message = aodv::wire::emit(&with_addresses(&sent.message));
                append_datagram(out, &IpHeader { ttl: sent.ttl, ..ip }, aodv::message::PORT, &message);
                Appended { ether_type: EtherType::Ipv4, zeros: 0 }
            }
            FrameBody::Resolution(message) => {
                out.extend(self.resolution(message));
                Appended { ether_type: EtherType::Arp, zeros: 0 }
            }
            FrameBody::Beacon(frame) => {
                let is_sealed = overhead as usize >= FRAME_OVERHEAD;
                if is_sealed {
                    out.extend(frame_header(FrameKind::Control, Member(frame.port.0), Some(frame.beacon.number)));
                }
                out.extend(wire::emit_beacon(&frame.beacon));
                Appended { ether_type: EtherType::LocalExperiment, zeros: if is_sealed { TAG } else { 0 } }
            }
            FrameBody::Segment(_) | FrameBody::Window(_) | FrameBody::Bond(_) => NOTHING,
        }
    }

    fn resolution(&self, message: &airbraid_net::arp::Message) -> [u8; 28] {
        let ends = |node: Node| (self.hardware[node.0 as usize], ip_address(node.0));
        let (operation, target) = match message.operation {
            // The address that is asked for is not known.
            Operation::Request => (1, ([0; 6], ip_address(message.target.0))),
            Operation::Reply => (2, ends(message.target)),
        };
        arp(operation, ends(message.sender), target)
    }
}

/// Appends the longest header of a trunk that has space in what the scenario charges for it, and zeros up to that.
fn trunk_header(out: &mut Vec<u8>, header: &TrunkHeader, charged: usize) {
    let end = out.len() + charged;
    if charged >= wire::TRUNK_HEADER_LEN {
        out.extend_from_slice(&wire::emit_trunk_header(header));
    } else {
        let short = wire::emit_short_trunk_header(header);
        out.extend_from_slice(&short[..short.len().min(charged & !3)]);
    }
    out.resize(end, 0);
}

const NOTHING: Appended = Appended { ether_type: EtherType::LocalExperiment, zeros: 0 };

/// The header of a frame that would be sealed.
pub fn frame_header(kind: FrameKind, member: Member, number: Option<SeqNum>) -> [u8; FRAME_HEADER_LEN] {
    let counter = u64::from(number.unwrap_or_default().0);
    wire::emit_frame_header(&FrameHeader { kind, member, key: NO_KEY, counter })
}

/// A message of AODV with IP addresses in the place of indices.
fn with_addresses(message: &Message) -> Message {
    let address = |node: &mut Node| node.0 = u32::from_be_bytes(ip_address(node.0));
    let mut message = message.clone();
    match &mut message {
        Message::Rreq(rreq) => [&mut rreq.destination, &mut rreq.originator].into_iter().for_each(address),
        Message::Rrep(rrep) => [&mut rrep.destination, &mut rrep.originator].into_iter().for_each(address),
        Message::Rerr(rerr) => rerr.unreachable.iter_mut().for_each(|one| address(&mut one.destination)),
    }
    message
}

/// The TTL of a packet between the ends of a tunnel.
pub const TUNNEL_TTL: u8 = INITIAL_TTL;
