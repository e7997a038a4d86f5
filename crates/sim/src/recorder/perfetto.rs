//! A trace for Perfetto: frames as slices of radios, packets' hops as arrows, queues and windows as counters.

use super::keys::{kind_name, kind_number, packet_key};
use super::levels::Levels;
use super::stations::Stations;
use crate::record::frames::PacketKey;
use crate::record::perfetto::{PerfettoTrace, Slice, Track, Value};
use crate::record::sink::Sink;
use crate::scenario::spec::Spec;
use crate::world::{Body, DropReason, FrameEvent, Level, Loss, NodeId, Observer, RadioId, Record};
use airbraid_mac::{Access, Address, Outcome};
use airbraid_units::Instant;

/// The tracks of a radio.
#[derive(Debug)]
struct RadioTracks {
    node: Track,
    sends: Track,
    /// Frames that reach it overlap: each track with the end of its last, and as many as it takes.
    hears: Vec<(Track, Instant)>,
    queue: Track,
    queued: u64,
}

/// Writes the trace while the run goes on.
#[derive(Debug)]
pub struct Perfetto<'a> {
    spec: &'a Spec,
    names: Vec<String>,
    trace: Option<PerfettoTrace<Sink>>,
    nodes: Vec<Track>,
    radios: Vec<RadioTracks>,
    /// For each radio the one at which its queue is shown.
    queues: Vec<usize>,
    levels: Levels,
    /// By place in the row of levels.
    counters: Vec<Track>,
}

impl<'a> Perfetto<'a> {
    pub fn new(stations: &Stations<'a>, sink: Sink) -> Self {
        let (spec, mut trace) = (stations.spec, PerfettoTrace::new(sink));
        let names: Vec<_> = spec.nodes.iter().enumerate().map(|(rank, node)| (rank, &node.name)).collect();
        let nodes: Vec<Track> = names.into_iter().map(|(rank, name)| trace.track(name, None, rank)).collect();
        let radios = stations.stations.iter().map(|station| {
            let (radio, node) = (stations.radio(*station), nodes[station.node as usize]);
            let rank = 3 * station.radio as usize;
            let sends = trace.track(&format!("{}, channel {}: sends", radio.name, radio.channel), Some(node), rank);
            let hears = trace.track(&format!("{}: hears", radio.name), Some(node), rank + 1);
            let name = stations.device_queue(*station).unwrap_or_else(|| radio.name.clone());
            let queue = trace.counter(&format!("{name}: queue"), "packets", Some(node), rank + 2);
            RadioTracks { node, sends, hears: vec![(hears, Instant::ZERO)], queue, queued: 0 }
        });
        let radios = radios.collect();
        let (levels, above) = (Levels::new(spec), trace.track("queues and windows", None, nodes.len()));
        let rows = levels.names().into_iter().enumerate();
        let counters = rows.map(|(rank, level)| trace.counter(&level.name, level.unit, Some(above), rank)).collect();
        let (names, queues) = (stations.radio_names(), stations.queues());
        Self { spec, names, trace: Some(trace), nodes, radios, queues, levels, counters }
    }

    fn flow(&self, packet: &Record) -> &'a str {
        match packet.body {
            Body::External { .. } => "external",
            _ => &self.spec.flows[packet.flow.index()].name,
        }
    }

    /// Writes a frame on a track; `more` says what only a transmission or only a reception has.
    fn frame(&mut self, track: Track, event: &FrameEvent<'_>, end: &'static str, more: &[(&'static str, Value<'_>)]) {
        let (frame, flow) = (event.frame, event.packet.map(|packet| self.flow(packet)));
        let other = if end == "to" { frame.to } else { frame.from };
        let mut annotations = arrayvec::ArrayVec::<(&'static str, Value<'_>), 13>::new();
        let peer = if other == Address::BROADCAST { "everybody" } else { &self.names[RadioId::of(other).index()] };
        annotations.push((end, Value::Name(peer)));
        annotations.push(("size_bytes", Value::Number(frame.size.as_u64())));
        annotations.push(("rate_bps", Value::Number(frame.rate.bit_rate.as_bps())));
        annotations.push(("duration_us", Value::Number(frame.nav.as_micros())));
        if frame.kind.has_sequence() {
            annotations.push(("seq", Value::Number(u64::from(frame.sequence))));
            annotations.push(("retry", Value::Flag(frame.retry)));
        }
        if let Some(mpdus) = event.mpdus() {
            annotations.push(("mpdus", Value::Number(mpdus as u64)));
        }
        let key = event.packet.map(packet_key);
        if let (Some(flow), Some(key)) = (flow, &key) {
            annotations.push(("flow", Value::Name(flow)));
            annotations.push(("number", Value::Number(key.number)));
        }
        annotations.extend(more.iter().copied());
        // Others than the addressee take no part in a packet's way.
        let takes_part = end == "to" || frame.to == event.radio.address();
        let slice = Slice {
            track,
            start: event.start,
            end: event.end,
            name: kind_name(kind_number(event)),
            category: if end == "to" { "sent" } else { "heard" },
            arrow: key.filter(|_| takes_part).map(|key| arrow(&key)),
            annotations: &annotations,
        };
        if let Some(trace) = &mut self.trace {
            trace.slice(&slice);
        }
    }

    /// The track of a frame that a radio hears: the first that is free.
    fn hears(&mut self, radio: RadioId, event: &FrameEvent<'_>) -> Option<Track> {
        let RadioTracks { hears, node, .. } = &mut self.radios[radio.index()];
        if let Some((track, end)) = hears.iter_mut().find(|(_, end)| *end <= event.start) {
            *end = event.end;
            return Some(*track);
        }
        let name = self.names[radio.index()].rsplit('/').next().unwrap_or_default();
        let rank = 3 * self.spec.nodes.iter().map(|node| node.radios.len()).max().unwrap_or(0) + hears.len();
        let name = format!("{name}: hears at the same time ({})", hears.len() + 1);
        let track = self.trace.as_mut()?.track(&name, Some(*node), rank);
        hears.push((track, event.end));
        Some(track)
    }

    /// A radio's queue gets one more or one fewer.
    fn queue(&mut self, now: Instant, radio: RadioId, is_more: bool) {
        let tracks = &mut self.radios[self.queues[radio.index()]];
        tracks.queued = if is_more { tracks.queued + 1 } else { tracks.queued.saturating_sub(1) };
        if let Some(trace) = &mut self.trace {
            trace.count(tracks.queue, now, tracks.queued);
        }
    }

    fn mark(&mut self, now: Instant, node: NodeId, name: &str, packet: &Record) {
        let flow = self.flow(packet);
        if let Some(trace) = &mut self.trace {
            trace.mark(self.nodes[node.index()], now, name, "packet", ("flow", flow));
        }
    }
}

/// The number of a packet's arrows: FNV-1a over its identity.
fn arrow(key: &PacketKey) -> u64 {
    let words = [key.flow as u64, key.role as u64, key.number, key.created.as_nanos()];
    words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Observer for Perfetto<'_> {
    fn on_transmission(&mut self, _: Instant, event: &FrameEvent<'_>, access: Access) {
        let track = self.radios[event.radio.index()].sends;
        let contention = match access {
            Access::Backoff { window, drawn } => [u64::from(window), u64::from(drawn)].map(Value::Number),
            Access::Immediate | Access::Response => return self.frame(track, event, "to", &[]),
        };
        self.frame(track, event, "to", &[("contention_window", contention[0]), ("backoff_slots", contention[1])]);
    }

    fn on_reception(&mut self, _: Instant, event: &FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {
        let Some(track) = self.hears(event.radio, event) else { return };
        let result = match result {
            Ok(()) => "received",
            Err(Loss::Collision) => "collision",
            Err(Loss::Channel) => "channel",
        };
        self.frame(track, event, "from", &[("signal_dbm", Value::Real(signal_dbm)), ("result", Value::Name(result))]);
    }

    fn on_drop(&mut self, now: Instant, node: NodeId, packet: &Record, reason: DropReason) {
        self.mark(now, node, reason.name(), packet);
    }

    fn on_delivery(&mut self, now: Instant, node: NodeId, packet: &Record) {
        self.mark(now, node, "delivered", packet);
    }

    fn on_queued(&mut self, now: Instant, radio: RadioId, _: Address, _: Option<&Record>) {
        self.queue(now, radio, true);
    }

    fn on_finished(&mut self, now: Instant, radio: RadioId, _: Option<&Record>, _: Outcome, _: u32) {
        self.queue(now, radio, false);
    }

    fn on_level(&mut self, now: Instant, level: Level, value: u64) {
        if let (Some(place), Some(trace)) = (self.levels.change(level, value), &mut self.trace) {
            trace.count(self.counters[place], now, value);
        }
    }

    fn on_end(&mut self, _: Instant) {
        if let Some(trace) = self.trace.take() {
            trace.finish();
        }
    }
}
