//! Listens to a run and writes what was asked for: the frame timeline and captures of radios.
//!
//! It translates what the world knows into what [`crate::record`] formats, and collects it in memory; whoever started
//! the run puts it into files.

use crate::record::timeline::{Cause, Event, FrameLine, PacketLine};
use crate::record::{
    Bss, Capture, CapturedFrame, CapturedKind, CapturedPacket, CapturedTransport, Interface, Station, Timeline,
};
use crate::scenario::spec::{Mac, Radio, Spec, Transport};
use crate::world::{Body, DropReason, FlowId, FrameEvent, Loss, Msdu, NodeId, Observer, RadioId, Record};
use airbraid_engine::wire;
use airbraid_mac::{Access, Address, Frame, FrameKind};
use airbraid_net::tcp::Segment;
use airbraid_units::Instant;
use arrayvec::ArrayVec;
use std::cell::RefCell;

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

/// The recordings of a run.
#[derive(Default)]
pub struct Recording {
    pub timeline: Option<String>,
    /// Lines about what has been committed to and has not begun yet, by time.
    upcoming: Vec<(Instant, String)>,
    captures: Vec<Option<Capture<Vec<u8>>>>,
}

impl Recording {
    /// Writes the lines that are due by `now`.
    fn catch_up(&mut self, now: Instant) {
        let Some(text) = &mut self.timeline else { return };
        let due = self.upcoming.partition_point(|(at, _)| *at <= now);
        for (_, line) in self.upcoming.drain(..due) {
            text.push_str(&line);
        }
    }

    /// The captures, by file name.
    pub fn into_captures(self, spec: &Spec) -> Vec<(String, Vec<u8>)> {
        self.into_parts(spec).1
    }

    /// The timeline, and the captures by file name.
    pub(crate) fn into_parts(mut self, spec: &Spec) -> (Option<String>, Vec<(String, Vec<u8>)>) {
        self.catch_up(Instant::MAX);
        let names = radio_names(spec).into_iter().map(|name| format!("{}.pcapng", name.replace('/', "_")));
        let pcaps = names.zip(self.captures).filter_map(|(name, capture)| Some((name, capture?.into_inner())));
        (self.timeline, pcaps.collect())
    }
}

/// Writes a [`Recording`] while the run goes on.
pub struct Recorder<'a> {
    spec: &'a Spec,
    stations: Vec<Station>,
    lines: Timeline,
    recording: &'a RefCell<Recording>,
    /// The bytes of packets from outside, by handle.
    payloads: Option<&'a Payloads>,
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

fn radio_names(spec: &Spec) -> Vec<String> {
    let of_node = |node: &crate::scenario::spec::Node| {
        node.radios.iter().map(|radio| format!("{}/{}", node.name, radio.name)).collect::<Vec<_>>()
    };
    spec.nodes.iter().flat_map(of_node).collect()
}

impl<'a> Recorder<'a> {
    /// A recorder of what `spec` asks for, and of everything for which `all_radios` and `timeline` ask.
    pub fn new(spec: &'a Spec, all_radios: bool, timeline: bool, recording: &'a RefCell<Recording>) -> Self {
        let mut stations = Vec::new();
        for (node, state) in spec.nodes.iter().enumerate() {
            stations.extend((0..state.radios.len()).map(|radio| Station { node: node as u32, radio: radio as u32 }));
        }
        let mut names = radio_names(spec);
        let node_names: Vec<&str> = spec.nodes.iter().map(|node| node.name.as_str()).collect();
        let captures = stations.iter().zip(&names).map(|(station, name)| {
            let (node, radio) = (station.node as usize, station.radio as usize);
            if !all_radios && !spec.record.pcap.contains(&(node, radio)) {
                return None;
            }
            // What is not 802.11 has no place in a capture of it.
            let config = spec.nodes[node].radios[radio].mac.dcf()?;
            let interface = Interface {
                name: name.clone(),
                station: *station,
                standard: config.phy.standard,
                preamble: config.phy.preamble,
            };
            // Writing to memory does not fail.
            Capture::new(Vec::new(), &node_names, vec![interface], Some(SNAP_LENGTH)).ok()
        });
        *recording.borrow_mut() = Recording {
            timeline: (timeline || spec.record.timeline).then(String::new),
            upcoming: Vec::new(),
            captures: captures.collect(),
        };
        names.extend(spec.nodes.iter().map(|node| node.name.clone()));
        Self { spec, stations, lines: Timeline::new(names), recording, payloads: None }
    }

    /// The same, with the bytes of packets from outside by their handles.
    pub fn with_payloads(self, payloads: &'a Payloads) -> Self {
        Self { payloads: Some(payloads), ..self }
    }

    /// Whether anything was asked for.
    pub fn is_needed(spec: &Spec, all_radios: bool, timeline: bool) -> bool {
        all_radios || timeline || spec.record.timeline || !spec.record.pcap.is_empty()
    }

    fn line(&self, now: Instant, who: usize, event: &Event<'_>) {
        let mut recording = self.recording.borrow_mut();
        recording.catch_up(now);
        if let Some(text) = &mut recording.timeline {
            self.lines.line(text, now, who, event);
        }
    }

    /// The line of something that begins at `at`, a turnaround or a SIFS from now.
    fn line_at(&self, now: Instant, at: Instant, who: usize, event: &Event<'_>) {
        let mut recording = self.recording.borrow_mut();
        recording.catch_up(now);
        if recording.timeline.is_some() {
            let mut line = String::new();
            self.lines.line(&mut line, at, who, event);
            let place = recording.upcoming.partition_point(|(other, _)| *other <= at);
            recording.upcoming.insert(place, (at, line));
        }
    }

    fn packet_line(&self, packet: &Record) -> PacketLine<'a> {
        let number = match packet.body {
            Body::Data(segment) => segment.seq,
            Body::Ack(segment) => segment.ack,
            Body::Datagram { number, .. } => number,
            Body::External { handle, .. } => handle.index() as u64,
        };
        let size = airbraid_units::Bytes::new(u64::from(packet.len));
        let flow = match packet.body {
            Body::External { .. } => "external",
            _ => &self.spec.flows[packet.flow.index()].name,
        };
        PacketLine { flow, number, size }
    }

    fn node_line(&self, node: NodeId) -> usize {
        self.stations.len() + node.index()
    }

    fn capture(&self, event: &FrameEvent<'_>, signal_dbm: Option<f64>, fcs_ok: bool) {
        let mut recording = self.recording.borrow_mut();
        let Some(Some(capture)) = recording.captures.get_mut(event.radio.index()) else { return };
        let frame = event.frame;
        let station = &self.stations[event.radio.index()];
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
                bss: self.bss(frame),
                power_management: frame.power_management,
                seq: frame.sequence,
                retry: frame.retry,
                packet,
            },
            FrameKind::PollData | FrameKind::DataAck { .. } | FrameKind::Invite | FrameKind::Join => return,
        };
        let captured = CapturedFrame {
            time: event.start,
            channel: self.channel(frame, *station),
            rate: frame.rate,
            signal_dbm,
            fcs_ok,
            src: self.stations[RadioId::of(frame.from).index()],
            dst: (frame.to != Address::BROADCAST).then(|| self.stations[RadioId::of(frame.to).index()]),
            duration_us: u16::try_from(frame.nav.as_micros()).unwrap_or(u16::MAX),
            kind,
        };
        // Writing to memory does not fail.
        let _ = capture.write(0, &captured);
    }

    fn radio(&self, station: Station) -> &Radio {
        &self.spec.nodes[station.node as usize].radios[station.radio as usize]
    }

    fn is_access_point(&self, address: Address) -> bool {
        let station = self.stations.get(RadioId::of(address).index());
        station.is_some_and(|station| matches!(self.radio(*station).mac, Mac::AccessPoint(_)))
    }

    fn bss(&self, frame: &Frame<Msdu>) -> Bss {
        match (self.is_access_point(frame.from), self.is_access_point(frame.to)) {
            (true, _) => Bss::FromAccessPoint,
            (_, true) => Bss::ToAccessPoint,
            _ => Bss::Independent,
        }
    }

    /// The channel that a frame is on: a station with slots has none but its access points'.
    fn channel(&self, frame: &Frame<Msdu>, station: Station) -> u32 {
        let own = self.radio(station);
        let ends = [frame.from, frame.to].into_iter().filter(|end| self.is_access_point(*end));
        match own.mac {
            Mac::Slotted(_) => ends.map(|end| self.radio(self.stations[RadioId::of(end).index()]).channel).next(),
            _ => None,
        }
        .unwrap_or(own.channel)
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
        let Transport::Tcp(config) = self.spec.flows[flow.index()].transport else { return false };
        let full = config.mss.as_u64().max(1);
        segment.len > 0 && (segment.flags.fin || !u64::from(segment.len).is_multiple_of(full))
    }

    /// The smallest shift with which the flow's receive buffer can be offered.
    fn window_shift(&self, flow: FlowId) -> u8 {
        let Transport::Tcp(config) = self.spec.flows[flow.index()].transport else { return 0 };
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
            if let Transport::Tcp(config) = self.spec.flows[packet.flow.index()].transport {
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

fn frame_line(frame: &Frame<Msdu>, peer: Address) -> FrameLine {
    let kind = match frame.kind {
        FrameKind::Data if frame.payload.is_none() => "NULL",
        FrameKind::Data => "DATA",
        FrameKind::Ack => "ACK",
        FrameKind::Rts => "RTS",
        FrameKind::Cts => "CTS",
        FrameKind::PollData => "POLL",
        FrameKind::DataAck { .. } => "ANSWER",
        FrameKind::Invite => "INVITE",
        FrameKind::Join => "JOIN",
        FrameKind::Crn => "CRN",
    };
    FrameLine {
        kind,
        peer: (peer != Address::BROADCAST).then_some(RadioId::of(peer).index()),
        size: frame.size,
        rate: frame.rate.bit_rate,
        seq: matches!(frame.kind, FrameKind::Data | FrameKind::PollData | FrameKind::DataAck { .. })
            .then_some(frame.sequence),
        retry: frame.retry,
        dozes: frame.power_management,
        duration: frame.nav,
    }
}

impl Observer for Recorder<'_> {
    fn on_transmission(&mut self, now: Instant, event: FrameEvent<'_>, access: Access) {
        let frame = frame_line(event.frame, event.frame.to);
        let backoff = match access {
            Access::Backoff { window, drawn } => Some((window, drawn)),
            Access::Immediate | Access::Response => None,
        };
        self.line_at(now, event.start, event.radio.index(), &Event::Transmit { frame, backoff });
        self.capture(&event, None, true);
    }

    fn on_reception(&mut self, now: Instant, event: FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {
        let frame = frame_line(event.frame, event.frame.from);
        let line = match result {
            Ok(()) => Event::Receive { frame, signal_dbm },
            Err(Loss::Collision) => Event::ReceiveError { frame, cause: Cause::Collision },
            Err(Loss::Channel) => Event::ReceiveError { frame, cause: Cause::Channel },
        };
        self.line(now, event.radio.index(), &line);
        self.capture(&event, Some(signal_dbm), result.is_ok());
    }

    fn on_drop(&mut self, now: Instant, node: NodeId, packet: &Record, reason: DropReason) {
        let drop = Event::Drop { packet: self.packet_line(packet), reason: reason.name() };
        self.line(now, self.node_line(node), &drop);
    }

    fn on_delivery(&mut self, now: Instant, node: NodeId, packet: &Record) {
        let delay = now - packet.created;
        self.line(now, self.node_line(node), &Event::Deliver { packet: self.packet_line(packet), delay });
    }
}
