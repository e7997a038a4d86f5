//! The readable timeline.

use super::keys::{kind_name, kind_number};
use super::stations::Stations;
use crate::record::sink::Sink;
use crate::record::timeline::{Cause, Event, FrameLine, PacketLine, Timeline};
use crate::scenario::spec::Spec;
use crate::world::{Body, DropReason, FrameEvent, Loss, NodeId, Observer, RadioId, Record};
use airbraid_mac::{Access, Address};
use airbraid_units::Instant;
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
    /// Lines about what has been committed to and has not begun yet, by time.
    upcoming: Vec<(Instant, Vec<u8>)>,
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
        let (upcoming, spare, text) = (Vec::new(), Vec::new(), Vec::new());
        Self { spec: stations.spec, radios, format, upcoming, spare, text, sink }
    }

    /// Puts the lines that are due by `now` behind the others.
    fn catch_up(&mut self, now: Instant) {
        let due = self.upcoming.partition_point(|(at, _)| *at <= now);
        for (_, mut line) in self.upcoming.drain(..due) {
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

    /// The line of something that begins at `at`, a turnaround or a SIFS from now.
    fn line_at(&mut self, now: Instant, at: Instant, who: usize, event: &Event<'_>) {
        self.catch_up(now);
        let mut line = self.spare.pop().unwrap_or_default();
        self.format.line(&mut line, at, who, event);
        let place = self.upcoming.partition_point(|(other, _)| *other <= at);
        self.upcoming.insert(place, (at, line));
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

fn frame_line(event: &FrameEvent<'_>, peer: Address) -> FrameLine {
    let frame = event.frame;
    let count = |count: Option<usize>| count.map_or(0, |count| count as u32);
    FrameLine {
        kind: kind_name(kind_number(event)),
        mpdus: count(event.mpdus()),
        intact: count(event.intact_mpdus()),
        peer: (peer != Address::BROADCAST).then_some(RadioId::of(peer).index()),
        size: frame.size,
        rate: frame.rate.bit_rate,
        seq: frame.kind.has_sequence().then_some(frame.sequence),
        retry: frame.retry,
        dozes: frame.power_management,
        duration: frame.nav,
    }
}

impl Observer for Lines<'_> {
    fn on_transmission(&mut self, now: Instant, event: FrameEvent<'_>, access: Access) {
        let frame = frame_line(&event, event.frame.to);
        let backoff = match access {
            Access::Backoff { window, drawn } => Some((window, drawn)),
            Access::Immediate | Access::Response => None,
        };
        self.line_at(now, event.start, event.radio.index(), &Event::Transmit { frame, backoff });
    }

    fn on_reception(&mut self, now: Instant, event: FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {
        let frame = frame_line(&event, event.frame.from);
        let line = match result {
            Ok(()) => Event::Receive { frame, signal_dbm },
            Err(Loss::Collision) => Event::ReceiveError { frame, cause: Cause::Collision },
            Err(Loss::Channel) => Event::ReceiveError { frame, cause: Cause::Channel },
        };
        self.line(now, event.radio.index(), &line);
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
