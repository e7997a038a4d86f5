//! The readable timeline.

use super::keys::{FlightMap, KINDS, kind_name, kind_number};
use super::stations::Stations;
use crate::record::sink::Sink;
use crate::record::timeline::{Cause, ColumnsText, Event, FrameColumns, FrameText, PacketLine, Timeline};
use crate::scenario::spec::Spec;
use crate::world::{Body, DropReason, FrameEvent, Loss, NodeId, Observer, RadioId, Record};
use airbraid_mac::{Access, Address};
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;
use std::io::Write;

/// Bytes that are gathered before they are written.
const CHUNK: usize = 64 << 10;
/// The flow of packets from outside the simulation.
const EXTERNAL: &str = "external";

/// Writes the timeline's lines while the run goes on.
#[derive(Debug)]
pub struct Lines<'a> {
    spec: &'a Spec,
    /// Number of radios, behind which nodes are among the names.
    radios: usize,
    format: Timeline,
    /// The columns of frames on the air.
    flight: FlightMap<ColumnsText>,
    /// The same of an aggregate at one of its hearers.
    heard: ColumnsText,
    /// Transmissions that have not begun yet, by time.
    upcoming: VecDeque<Upcoming>,
    /// Room for lines that are gathered before they are written, and for one more; and their length.
    text: Box<[u8]>,
    length: usize,
    sink: Sink,
}

/// A transmission that has not begun yet.
#[derive(Debug)]
struct Upcoming {
    start: Instant,
    radio: RadioId,
    /// Number of the frame's kind.
    kind: u8,
    peer: Option<usize>,
    /// The duration field.
    duration: Duration,
    backoff: Option<(u32, u32)>,
}

impl<'a> Lines<'a> {
    pub fn new(stations: &Stations<'a>, sink: Sink) -> Self {
        let (spec, mut names) = (stations.spec, stations.radio_names());
        let radios = names.len();
        names.extend(spec.nodes.iter().map(|node| node.name.clone()));
        let kinds: [&str; KINDS] = std::array::from_fn(|kind| kind_name(kind as u8));
        let format = Timeline::new(&names, &kinds);
        let longest = |names: &mut dyn Iterator<Item = &str>| names.map(str::len).max().unwrap_or(0);
        let flows = &mut spec.flows.iter().map(|flow| &flow.name[..]).chain([EXTERNAL]);
        let reasons = &mut DropReason::ALL.into_iter().map(DropReason::name);
        let text = vec![0; CHUNK + format.room() + longest(flows) + longest(reasons)].into();
        let (flight, heard, upcoming) = (FlightMap::new(radios), ColumnsText::default(), VecDeque::new());
        Self { spec, radios, format, flight, heard, upcoming, text, length: 0, sink }
    }

    /// Puts the lines that are due by `now` behind the others.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        while let Some(next) = self.upcoming.pop_front_if(|next| next.start <= now) {
            self.begin(&next);
        }
    }

    /// Puts the line of a transmission that begins.
    fn begin(&mut self, sent: &Upcoming) {
        let Upcoming { start, radio, kind, peer, duration, backoff } = *sent;
        let Some(columns) = self.flight.find(radio, start) else { return };
        let frame = FrameText { kind, peer, columns };
        let line = Event::Transmit { frame, duration, backoff };
        self.length += self.format.line(&mut self.text[self.length..], start, radio.index(), &line);
        self.write_full();
    }

    #[inline]
    fn write_full(&mut self) {
        if self.length >= CHUNK {
            self.write();
        }
    }

    fn write(&mut self) {
        // A sink does not fail.
        let _ = self.sink.write_all(&self.text[..self.length]);
        self.length = 0;
    }

    fn line(&mut self, now: Instant, who: usize, event: &Event<'_>) {
        self.catch_up(now);
        self.length += self.format.line(&mut self.text[self.length..], now, who, event);
        self.write_full();
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
            Body::External { .. } => EXTERNAL,
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
    fn on_transmission(&mut self, now: Instant, event: &FrameEvent<'_>, access: Access) {
        let backoff = match access {
            Access::Backoff { window, drawn } => Some((window, drawn)),
            Access::Immediate | Access::Response => None,
        };
        self.catch_up(now);
        let (start, radio, to) = (event.start, event.radio, event.frame.to);
        self.format.columns(self.flight.begin(radio, start), &columns(event));
        let peer = (to != Address::BROADCAST).then_some(RadioId::of(to).index());
        // It begins a turnaround or a SIFS from now.
        let place = self.upcoming.iter().rposition(|other| other.start <= start).map_or(0, |last| last + 1);
        let (kind, duration) = (kind_number(event), event.frame.nav);
        self.upcoming.insert(place, Upcoming { start, radio, kind, peer, duration, backoff });
    }

    fn on_reception(&mut self, now: Instant, event: &FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {
        self.catch_up(now);
        let from = RadioId::of(event.frame.from);
        let known = self.flight.find(from, event.start).filter(|_| event.mpdus().is_none_or(|mpdus| mpdus <= 1));
        if known.is_none() {
            self.format.columns(&mut self.heard, &columns(event));
        }
        let (kind, peer) = (kind_number(event), Some(from.index()));
        let frame = FrameText { kind, peer, columns: known.unwrap_or(&self.heard) };
        let line = match result {
            Ok(()) => Event::Receive { frame, signal_dbm },
            Err(Loss::Collision) => Event::ReceiveError { frame, cause: Cause::Collision },
            Err(Loss::Channel) => Event::ReceiveError { frame, cause: Cause::Channel },
        };
        self.length += self.format.line(&mut self.text[self.length..], now, event.radio.index(), &line);
        self.write_full();
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
        self.write();
        // A sink does not fail.
        let _ = self.sink.flush();
    }
}
