//! The readable timeline.

use super::keys::{FlightMap, kind_name, kind_number};
use super::stations::Stations;
use crate::record::sink::Sink;
use crate::record::timeline::{Cause, Event, FrameColumns, FrameText, PacketLine, Timeline};
use crate::scenario::spec::Spec;
use crate::world::{Body, DropReason, FrameEvent, Loss, NodeId, Observer, RadioId, Record};
use airbraid_mac::{Access, Address};
use airbraid_units::Instant;
use std::collections::VecDeque;
use std::io::Write;

/// Bytes that are gathered before they are written.
const CHUNK: usize = 64 << 10;

/// Writes the timeline's lines while the run goes on.
#[derive(Debug)]
pub struct Lines<'a> {
    spec: &'a Spec,
    /// Number of radios, behind which nodes are among the names.
    radios: usize,
    format: Timeline,
    /// Frames on the air as their hearers' lines have them.
    flight: FlightMap<Vec<u8>>,
    /// The same of an aggregate at one of them.
    heard: Vec<u8>,
    /// Lines about what has been committed to and has not begun yet, by time.
    upcoming: VecDeque<(Instant, Vec<u8>)>,
    /// Buffers for such lines.
    spare: Vec<Vec<u8>>,
    /// Lines that are gathered before they are written.
    text: Vec<u8>,
    sink: Sink,
}

impl<'a> Lines<'a> {
    pub fn new(stations: &Stations<'a>, sink: Sink) -> Self {
        let mut names = stations.radio_names();
        let radios = names.len();
        names.extend(stations.spec.nodes.iter().map(|node| node.name.clone()));
        let format = Timeline::new(names);
        let (flight, heard) = (FlightMap::new(radios), Vec::new());
        let (upcoming, spare, text) = (VecDeque::new(), Vec::new(), Vec::new());
        Self { spec: stations.spec, radios, format, flight, heard, upcoming, spare, text, sink }
    }

    /// Puts the lines that are due by `now` behind the others.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        while let Some((_, mut line)) = self.upcoming.pop_front_if(|(at, _)| *at <= now) {
            self.text.extend_from_slice(&line);
            line.clear();
            self.spare.push(line);
        }
        if self.text.len() >= CHUNK {
            self.put();
        }
    }

    fn put(&mut self) {
        // A sink does not fail.
        let _ = self.sink.write_all(&self.text);
        self.text.clear();
    }

    fn line(&mut self, now: Instant, who: usize, event: &Event<'_>) {
        self.catch_up(now);
        self.format.line(&mut self.text, now, who, event);
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
        self.radios + node.index()
    }
}

fn columns(event: &FrameEvent<'_>) -> FrameColumns {
    let frame = event.frame;
    let count = |count: Option<usize>| count.map_or(0, |count| count as u32);
    FrameColumns {
        mpdus: count(event.mpdus()),
        intact: count(event.intact_mpdus()),
        size: frame.size,
        rate: frame.rate.bit_rate,
        seq: frame.kind.has_sequence().then_some(frame.sequence),
        retry: frame.retry,
        dozes: frame.power_management,
    }
}

impl Observer for Lines<'_> {
    fn on_transmission(&mut self, now: Instant, event: FrameEvent<'_>, access: Access) {
        let backoff = match access {
            Access::Backoff { window, drawn } => Some((window, drawn)),
            Access::Immediate | Access::Response => None,
        };
        self.catch_up(now);
        let known = self.flight.begin(event.radio, event.start);
        known.clear();
        let (kind, to) = (kind_name(kind_number(&event)), event.frame.to);
        let place = self.format.heard(known, kind, event.radio.index(), &columns(&event));
        let peer = (to != Address::BROADCAST).then_some(RadioId::of(to).index());
        let frame = FrameText { kind, peer, columns: &known[place..] };
        let line = Event::Transmit { frame, duration: event.frame.nav, backoff };
        // It begins a turnaround or a SIFS from now.
        let mut later = self.spare.pop().unwrap_or_default();
        self.format.line(&mut later, event.start, event.radio.index(), &line);
        let place = self.upcoming.iter().rposition(|(other, _)| *other <= event.start).map_or(0, |last| last + 1);
        self.upcoming.insert(place, (event.start, later));
    }

    fn on_reception(&mut self, now: Instant, event: FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {
        self.catch_up(now);
        let from = RadioId::of(event.frame.from);
        let known = self.flight.find(from, event.start).filter(|_| event.mpdus().is_none_or(|mpdus| mpdus <= 1));
        if known.is_none() {
            self.heard.clear();
            let kind = kind_name(kind_number(&event));
            self.format.heard(&mut self.heard, kind, from.index(), &columns(&event));
        }
        let frame = known.unwrap_or(&self.heard);
        let line = match result {
            Ok(()) => Event::Receive { frame, signal_dbm },
            Err(Loss::Collision) => Event::ReceiveError { frame, cause: Cause::Collision },
            Err(Loss::Channel) => Event::ReceiveError { frame, cause: Cause::Channel },
        };
        self.format.line(&mut self.text, now, event.radio.index(), &line);
    }

    fn on_drop(&mut self, now: Instant, node: NodeId, packet: &Record, reason: DropReason) {
        let drop = Event::Drop { packet: self.packet_line(packet), reason: reason.name() };
        self.line(now, self.node_line(node), &drop);
    }

    fn on_delivery(&mut self, now: Instant, node: NodeId, packet: &Record) {
        let delay = now - packet.created;
        self.line(now, self.node_line(node), &Event::Deliver { packet: self.packet_line(packet), delay });
    }

    fn on_end(&mut self, _: Instant) {
        self.catch_up(Instant::MAX);
        self.put();
        // A sink does not fail.
        let _ = self.sink.flush();
    }
}
