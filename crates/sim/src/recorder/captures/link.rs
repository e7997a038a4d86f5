//! The frames on links and polled radios that are no packets: of a tunnel as sealed datagrams, of a link layer with its
//! header, of a polled MAC with one of ours.

use super::body::{BodyWriter, NO_KEY, TUNNEL_TTL};
use super::packet::PacketWriter;
use crate::record::Station;
use crate::record::dot11::BROADCAST;
use crate::record::ip::{IpHeader, UDP_HEADER, append_datagram_headers, link_address};
use crate::recorder::stations::Stations;
use crate::world::{FrameBody, LinkDirection, LinkFrame, Msdu, PacketRef, Packets};
use airbraid_engine::converge::session::{FRAME_HEADER_LEN, FRAME_OVERHEAD, FrameHeader, FrameKind as SealedKind};
use airbraid_engine::link::Segment;
use airbraid_engine::trunk::bonding::Frame as BondFrame;
use airbraid_engine::{Packet, wire};
use airbraid_mac::{Address, Frame, FrameKind};

/// The UDP port of the daemon's tunnels, of which one end has it at least.
const TUNNEL_PORT: u16 = 5182;
/// The first byte of a polled MAC's frame, with its kind in the low half.
const POLLED: u8 = 0xb0;
/// Flags of a polled MAC's frame: sent again; an answer to a damaged poll; a header of stop-and-wait follows.
const RETRY: u8 = 1;
const DAMAGED: u8 = 2;
const HAS_LINK_HEADER: u8 = 4;
/// Length of its header without padding \[byte\].
const POLLED_LEN: usize = 18;

/// Appends what a direction of a link carries to `out`; returns the number of zeros behind it.
pub fn append(
    out: &mut Vec<u8>,
    direction: LinkDirection,
    packet: PacketRef,
    table: &Packets,
    writer: &PacketWriter<'_>,
) -> usize {
    match table.frame(packet) {
        None => writer.append(out, table.get(packet), None),
        Some(FrameBody::Bond(sent)) => {
            let length = UDP_HEADER + FRAME_OVERHEAD + sent.frame.len().as_u64() as usize;
            let ends = [direction, direction.peer()].map(|end| link_address(end.index() as u32));
            let ip = IpHeader { source: ends[0], destination: ends[1], ident: 0, ttl: TUNNEL_TTL };
            append_datagram_headers(out, &ip, TUNNEL_PORT, length);
            let counter = u64::from(number(&sent.frame));
            let header = FrameHeader { kind: SealedKind::Data, member: sent.member, key: NO_KEY, counter };
            out.extend(wire::emit_frame_header(&header));
            let tag = FRAME_OVERHEAD - FRAME_HEADER_LEN;
            tunnel_frame(out, &sent.frame, table, writer) + tag
        }
        Some(FrameBody::Window(sent)) => {
            out.extend(wire::emit_window_header(&sent.header));
            segment(out, sent.header.segment, |bytes| {
                sent.packet.map_or(0, |packet| writer.append(bytes, table.get(packet), None))
            })
        }
        Some(_) => 0,
    }
}

/// The number of a tunnel's frame on its member, where it has one.
fn number(frame: &BondFrame<PacketRef>) -> u32 {
    match frame {
        BondFrame::Data { header, .. } => header.number.0,
        BondFrame::Repair { header, .. } => header.number.0,
        BondFrame::Probe(probe) => probe.number.0,
        BondFrame::Feedback(_) | BondFrame::PathChallenge(_) | BondFrame::PathResponse(_) => 0,
    }
}

fn tunnel_frame(out: &mut Vec<u8>, frame: &BondFrame<PacketRef>, table: &Packets, writer: &PacketWriter<'_>) -> usize {
    match frame {
        BondFrame::Data { header, packet } => {
            out.extend(wire::emit_tunnel_header(header));
            writer.append(out, table.get(*packet), None)
        }
        BondFrame::Repair { header, .. } => {
            out.extend(wire::emit_tunnel_repair(header));
            frame.len().as_u64() as usize - wire::TUNNEL_REPAIR_LEN
        }
        BondFrame::Feedback(feedback) => {
            wire::emit_tunnel_feedback(feedback, out);
            0
        }
        BondFrame::Probe(probe) => {
            wire::emit_tunnel_probe(probe, out);
            0
        }
        BondFrame::PathChallenge(token) | BondFrame::PathResponse(token) => {
            wire::emit_tunnel_path(*token, matches!(frame, BondFrame::PathResponse(_)), out);
            0
        }
    }
}

/// Appends the bytes of a packet that a segment holds, as far as they are no zeros; returns the number of zeros behind
/// them: payload, check and parity.
fn segment(out: &mut Vec<u8>, segment: Option<Segment>, append: impl FnOnce(&mut Vec<u8>) -> usize) -> usize {
    let Some(segment) = segment else { return 0 };
    let mut packet = Vec::new();
    append(&mut packet);
    let (start, end) = (usize::from(segment.offset), segment.end() as usize);
    let bytes = &packet[start.min(packet.len())..end.min(packet.len())];
    out.extend_from_slice(bytes);
    segment.coded_len() as usize - bytes.len()
}

/// Appends a frame of a polled MAC to `out`; returns the number of zeros behind it.
///
/// Its header is as long as the scenario charges, but never shorter than what it has to say.
pub fn append_polled(
    out: &mut Vec<u8>,
    frame: &Frame<Msdu>,
    table: &Packets,
    writer: &BodyWriter<'_>,
    stations: &Stations<'_>,
) -> usize {
    let sent = frame.payload.as_ref().and_then(|msdu| match table.frame(msdu.packet) {
        Some(FrameBody::Segment(sent)) => Some(sent),
        _ => None,
    });
    let header = if sent.is_some() { POLLED_LEN + wire::LINK_HEADER_LEN } else { POLLED_LEN };
    let body = frame.payload.as_ref().map_or(0, |msdu| msdu.len().as_u64());
    let charged = (frame.size.as_u64().saturating_sub(body) as usize).max(header);
    let start = out.len();
    polled_header(out, frame, sent, charged, stations);
    out.resize(start + charged, 0);
    let ends = (frame.from, frame.to);
    match (sent, &frame.payload) {
        (Some(sent), _) => segment(out, sent.header.segment, |bytes| {
            sent.packet.as_ref().map_or(0, |msdu| writer.append(bytes, msdu, table, ends, stations).zeros)
        }),
        (None, Some(msdu)) => writer.append(out, msdu, table, ends, stations).zeros,
        (None, None) => 0,
    }
}

fn polled_header(
    out: &mut Vec<u8>,
    frame: &Frame<Msdu>,
    sent: Option<&LinkFrame>,
    charged: usize,
    stations: &Stations<'_>,
) {
    let (kind, is_damaged) = match frame.kind {
        FrameKind::PollData => (0, false),
        FrameKind::DataAck { intact } => (1, !intact),
        FrameKind::Invite => (2, false),
        FrameKind::Join => (3, false),
        FrameKind::Data
        | FrameKind::Ack
        | FrameKind::Rts
        | FrameKind::MuRts
        | FrameKind::Cts
        | FrameKind::Crn
        | FrameKind::BlockAck
        | FrameKind::BlockAckRequest
        | FrameKind::AddbaRequest
        | FrameKind::AddbaResponse
        | FrameKind::Beacon => (15, false),
    };
    let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let flags = flag(frame.retry, RETRY) | flag(is_damaged, DAMAGED) | flag(sent.is_some(), HAS_LINK_HEADER);
    out.extend([POLLED | kind, flags]);
    out.extend(frame.sequence.to_be_bytes());
    for address in [frame.to, frame.from] {
        out.extend(if address == Address::BROADCAST { BROADCAST } else { Station::mac_address(stations.of(address)) });
    }
    out.extend((charged as u16).to_be_bytes());
    if let Some(sent) = sent {
        out.extend(wire::emit_link_header(&sent.header));
    }
}
