//! Captures of radios: a pcapng file for each, with every frame that it sends or receives.

use super::stations::Stations;
use crate::record::sink::Sink;
use crate::record::{Capture, CapturedFrame, CapturedKind, CapturedPacket, CapturedTransport, Interface};
use crate::scenario::spec::Transport;
use crate::world::{Body, FlowId, FrameEvent, Loss, Msdu, Observer, Record};
use airbraid_engine::wire;
use airbraid_mac::{Access, Address, FrameKind};
use airbraid_net::tcp::Segment;
use airbraid_units::Instant;
use arrayvec::ArrayVec;
use std::cell::RefCell;
use std::io::Write;

/// Bytes of each frame that a capture keeps: all headers, and some of the zeros that stand for payload.
const SNAP_LENGTH: usize = 256;
/// TCP and UDP ports: a flow's receiver listens on the port of iperf 2, plus the flow's number; its sender takes the
/// first dynamic port (RFC 6335), plus the flow's number.
const LISTENING_PORT: u16 = 5001;
const DYNAMIC_PORT: u16 = 49_152;
/// The TTL with which most hosts begin.
const INITIAL_TTL: u8 = 64;

/// The bytes of packets from outside, by handle.
pub type Payloads = RefCell<Vec<Vec<u8>>>;

/// The captures of radios, each in a file of its own.
pub struct Captures<'a> {
    stations: Stations<'a>,
    /// By radio; `None`: not captured.
    captures: Vec<Option<Capture<Sink>>>,
    /// The bytes of packets from outside, by handle.
    payloads: Option<&'a Payloads>,
}

impl std::fmt::Debug for Captures<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Captures").finish_non_exhaustive()
    }
}

impl<'a> Captures<'a> {
    /// Captures of the radios that the scenario names, or of all; each in the sink that `create` makes of a file name.
    pub fn new(
        stations: Stations<'a>,
        all: bool,
        payloads: Option<&'a Payloads>,
        create: &mut dyn FnMut(&str) -> Sink,
    ) -> Self {
        let node_names: Vec<&str> = stations.spec.nodes.iter().map(|node| node.name.as_str()).collect();
        let names = stations.radio_names();
        let captures = stations.stations.iter().zip(&names).map(|(station, name)| {
            let (node, radio) = (station.node as usize, station.radio as usize);
            if !all && !stations.spec.record.pcap.contains(&(node, radio)) {
                return None;
            }
            // What is not 802.11 has no place in a capture of it.
            let config = stations.radio(*station).mac.dcf()?;
            let interface = Interface {
                name: name.clone(),
                station: *station,
                standard: config.phy.standard,
                preamble: config.phy.preamble,
            };
            let sink = create(&format!("{}.pcapng", name.replace('/', "_")));
            // A sink does not fail.
            Capture::new(sink, &node_names, vec![interface], Some(SNAP_LENGTH)).ok()
        });
        let captures = captures.collect();
        Self { stations, captures, payloads }
    }

    fn capture(&mut self, event: &FrameEvent<'_>, signal_dbm: Option<f64>, fcs_ok: bool) {
        if let Some(Some(mut capture)) = self.captures.get_mut(event.radio.index()).map(Option::take) {
            self.write(&mut capture, event, signal_dbm, fcs_ok);
            self.captures[event.radio.index()] = Some(capture);
        }
    }

    fn write(&self, capture: &mut Capture<Sink>, event: &FrameEvent<'_>, signal_dbm: Option<f64>, fcs_ok: bool) {
        let frame = event.frame;
        let stations = &self.stations;
        let trunk_header = frame.payload.and_then(trunk_header);
        let options = event.packet.map(|packet| self.tcp_options(packet)).unwrap_or_default();
        let payloads = self.payloads.map(RefCell::borrow);
        let bytes = |packet: &Record| match packet.body {
            Body::External { handle, .. } => {
                payloads.as_ref().and_then(|all| all.get(handle.index())).map(Vec::as_slice)
            }
            _ => None,
        };
        let packet = event.packet.map(|packet| CapturedPacket {
            trunk_header: trunk_header.as_deref(),
            ..self.packet(packet, bytes(packet).unwrap_or(&options))
        });
        let kind = match frame.kind {
            FrameKind::Rts => CapturedKind::Rts,
            // A CRN says to all what a CTS says: a capture has no other word for it.
            FrameKind::Cts | FrameKind::Crn => CapturedKind::Cts,
            FrameKind::Ack => CapturedKind::Ack,
            FrameKind::Data => CapturedKind::Data {
                bss: stations.bss(frame),
                power_management: frame.power_management,
                seq: frame.sequence,
                retry: frame.retry,
                packet,
            },
            FrameKind::PollData | FrameKind::DataAck { .. } | FrameKind::Invite | FrameKind::Join => return,
        };
        let captured = CapturedFrame {
            time: event.start,
            channel: stations.channel(frame, event.radio),
            rate: frame.rate,
            signal_dbm,
            fcs_ok,
            src: stations.of(frame.from),
            dst: (frame.to != Address::BROADCAST).then(|| stations.of(frame.to)),
            duration_us: u16::try_from(frame.nav.as_micros()).unwrap_or(u16::MAX),
            kind,
        };
        // A sink does not fail.
        let _ = capture.write(0, &captured);
    }

    /// `options`: of TCP, or all bytes of a packet from outside.
    fn packet<'b>(&self, packet: &Record, options: &'b [u8]) -> CapturedPacket<'b> {
        let flow = packet.flow.index() as u16;
        let (client, server) = (DYNAMIC_PORT.wrapping_add(flow), LISTENING_PORT.wrapping_add(flow));
        let (source_port, destination_port, transport, payload) = match packet.body {
            Body::Data(segment) => (client, server, self.tcp_header(packet, &segment, options), segment.len),
            Body::Ack(segment) => (server, client, self.tcp_header(packet, &segment, options), segment.len),
            Body::Datagram { payload, .. } => (client, server, CapturedTransport::Udp, payload),
            Body::External { .. } => (0, 0, CapturedTransport::Whole(options), 0),
        };
        CapturedPacket {
            trunk_header: None,
            source: packet.from.index() as u32,
            destination: packet.to.index() as u32,
            // RFC 6864: an atomic datagram's identification means nothing.
            ident: 0,
            ttl: INITIAL_TTL.saturating_sub(packet.hops),
            source_port,
            destination_port,
            transport,
            payload,
        }
    }

    fn tcp_header<'b>(&self, packet: &Record, segment: &Segment, options: &'b [u8]) -> CapturedTransport<'b> {
        let flags = segment.flags;
        let push = self.ends_a_write(packet.flow, segment);
        let bits = u8::from(flags.fin) | u8::from(flags.syn) << 1 | u8::from(push) << 3 | u8::from(flags.ack) << 4;
        // The window of a SYN is never scaled (RFC 7323, 2.2).
        let shift = if flags.syn { 0 } else { self.window_shift(packet.flow) };
        CapturedTransport::Tcp {
            seq: segment.seq as u32,
            ack: segment.ack as u32,
            flags: bits,
            window: u16::try_from(segment.window >> shift).unwrap_or(u16::MAX),
            options,
        }
    }

    /// Whether a segment is the last of what its application wrote, and has PSH (RFC 9293, 3.9.1.2): one with FIN, or
    /// one that is not full. A greedy source writes without end.
    fn ends_a_write(&self, flow: FlowId, segment: &Segment) -> bool {
        let Transport::Tcp(config) = self.stations.spec.flows[flow.index()].transport else { return false };
        let full = config.mss.as_u64().max(1);
        segment.len > 0 && (segment.flags.fin || !u64::from(segment.len).is_multiple_of(full))
    }

    /// The smallest shift with which the flow's receive buffer can be offered.
    fn window_shift(&self, flow: FlowId) -> u8 {
        let Transport::Tcp(config) = self.stations.spec.flows[flow.index()].transport else { return 0 };
        if !config.window_scaling {
            return 0;
        }
        (0..14).find(|shift| config.receive_buffer.as_u64() >> shift <= u64::from(u16::MAX)).unwrap_or(14)
    }

    fn tcp_options(&self, packet: &Record) -> ArrayVec<u8, 60> {
        let mut bytes = ArrayVec::new();
        let (Body::Data(segment) | Body::Ack(segment)) = packet.body else { return bytes };
        let mut put = |option: &[u8]| bytes.extend(option.iter().copied());
        if segment.flags.syn {
            if let Transport::Tcp(config) = self.stations.spec.flows[packet.flow.index()].transport {
                let mss = (config.mss.as_u64() as u16).to_be_bytes();
                put(&[2, 4, mss[0], mss[1]]);
            }
            if segment.flags.window_scale {
                put(&[1, 3, 3, self.window_shift(packet.flow)]);
            }
            if segment.flags.sack_permitted && segment.timestamp.is_none() {
                put(&[1, 1, 4, 2]);
            }
        }
        if let Some((value, echo)) = segment.timestamp {
            let with_sack = segment.flags.syn && segment.flags.sack_permitted;
            put(if with_sack { &[4, 2, 8, 10] } else { &[1, 1, 8, 10] });
            // The timestamp clock of most hosts ticks in milliseconds.
            for at in [value, echo] {
                put(&((at.as_nanos() / 1_000_000) as u32).to_be_bytes());
            }
        }
        if !segment.sack.is_empty() {
            put(&[1, 1, 5, 2 + 8 * segment.sack.len() as u8]);
            for (start, end) in segment.sack_blocks() {
                put(&(start as u32).to_be_bytes());
                put(&(end as u32).to_be_bytes());
            }
        }
        bytes
    }
}

/// The bytes of a trunk's header: cut, or filled up, to what the scenario charges for it.
fn trunk_header(msdu: Msdu) -> Option<Vec<u8>> {
    let mut bytes = wire::emit_trunk_header(&msdu.trunk()?).to_vec();
    bytes.resize(msdu.overhead as usize, 0);
    Some(bytes)
}

impl Observer for Captures<'_> {
    fn on_transmission(&mut self, _: Instant, event: FrameEvent<'_>, _: Access) {
        self.capture(&event, None, true);
    }

    fn on_reception(&mut self, _: Instant, event: FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {
        self.capture(&event, Some(signal_dbm), result.is_ok());
    }

    fn on_end(&mut self, _: Instant) {
        for capture in self.captures.drain(..).flatten() {
            // A sink does not fail.
            let _ = capture.into_inner().flush();
        }
    }
}
