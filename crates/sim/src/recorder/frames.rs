//! The frames of a run for a page that draws them: compact blocks, with a header that has all names.

use super::keys::{FlightMap, KINDS, kind_name, kind_number, packet_key};
use super::levels::{LevelName, Levels};
use super::stations::Stations;
use crate::record::frames::{FrameAccess, FrameLog, Known, PacketKey, Reception, SentFrame, Shape};
use crate::record::sink::Sink;
use crate::world::{DropReason, FrameEvent, Level, Loss, NodeId, Observer, RadioId, Record};
use airbraid_mac::{Access, Address, Outcome};
use airbraid_units::Instant;
use serde::Serialize;

/// Frames that a page holds: more would not open in a browser with 8 GB. What comes after them is counted.
const FRAMES: u64 = 2_000_000;

/// Writes frames while the run goes on.
#[derive(Debug)]
pub struct Frames<'a> {
    stations: Stations<'a>,
    log: Option<FrameLog<Sink>>,
    levels: Levels,
    flight: FlightMap<u64>,
    /// For each radio the one at which its queue is shown.
    queues: Vec<usize>,
    /// The packet that each radio sent last, and that each node received last.
    sent: Vec<Option<PacketKey>>,
    received: Vec<Option<PacketKey>>,
    total: u64,
    /// When the page was full.
    full: Option<Instant>,
}

/// The names behind all numbers.
#[derive(Serialize)]
struct Header<'a> {
    title: &'a str,
    seed: u64,
    duration_ns: u64,
    nodes: Vec<&'a str>,
    radios: Vec<RadioHeader>,
    flows: Vec<FlowHeader<'a>>,
    levels: Vec<LevelName>,
    kinds: [&'static str; KINDS],
    reasons: Vec<&'static str>,
    outcomes: [&'static str; 7],
}

#[derive(Serialize)]
struct RadioHeader {
    name: String,
    node: u32,
    channel: u32,
    /// The trunk that it serves.
    trunk: Option<String>,
    /// The queue that it shares with the other links of its device.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    slot_ns: u64,
    sifs_ns: u64,
}

#[derive(Serialize)]
struct FlowHeader<'a> {
    name: &'a str,
    from: usize,
    to: usize,
}

#[derive(Serialize)]
struct End {
    frames: u64,
    /// Time of the last record \[ns\], where frames are missing behind it.
    full_ns: Option<u64>,
}

/// The outcomes of a MAC in words.
const OUTCOMES: [&str; 7] =
    ["acknowledged", "broadcast", "retry limit", "queue full", "taken back", "damaged", "not reported"];

impl<'a> Frames<'a> {
    pub fn new(stations: Stations<'a>, seed: u64, sink: Sink) -> Self {
        let levels = Levels::new(stations.spec);
        let header = serde_json::to_vec(&header(&stations, seed, &levels)).unwrap_or_default();
        let (radios, nodes) = (stations.stations.len(), stations.spec.nodes.len());
        Self {
            log: Some(FrameLog::new(sink, &header)),
            levels,
            flight: FlightMap::new(radios),
            queues: stations.queues(),
            sent: vec![None; radios],
            received: vec![None; nodes],
            total: 0,
            full: None,
            stations,
        }
    }

    /// The log, as long as the page is not full.
    fn log(&mut self) -> Option<&mut FrameLog<Sink>> {
        self.log.as_mut().filter(|_| self.full.is_none())
    }
}

fn header<'a>(stations: &Stations<'a>, seed: u64, levels: &Levels) -> Header<'a> {
    let spec = stations.spec;
    let names = stations.radio_names();
    let radios = stations.stations.iter().zip(names).map(|(station, name)| {
        let radio = stations.radio(*station);
        let (node, index) = (station.node as usize, station.radio as usize);
        let trunk = spec.trunks.iter().find(|trunk| trunk.has_radio(node, index)).map(|trunk| trunk.name().to_owned());
        let phy = radio.mac.phy();
        RadioHeader {
            name,
            node: station.node,
            channel: radio.channel,
            trunk,
            queue: stations.device_queue(*station),
            slot_ns: phy.map_or(0, |phy| phy.slot.as_nanos()),
            sifs_ns: phy.map_or(0, |phy| phy.sifs.as_nanos()),
        }
    });
    Header {
        title: &spec.title,
        seed,
        duration_ns: spec.duration.as_nanos(),
        nodes: spec.nodes.iter().map(|node| node.name.as_str()).collect(),
        radios: radios.collect(),
        flows: spec.flows.iter().map(|flow| FlowHeader { name: &flow.name, from: flow.from, to: flow.to }).collect(),
        levels: levels.names(),
        kinds: std::array::from_fn(|kind| kind_name(kind as u8)),
        reasons: DropReason::ALL.map(DropReason::name).to_vec(),
        outcomes: OUTCOMES,
    }
}

const fn outcome_number(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Acknowledged => 0,
        Outcome::Broadcast => 1,
        Outcome::RetryLimit => 2,
        Outcome::QueueFull => 3,
        Outcome::Purged => 4,
        Outcome::Damaged => 5,
        Outcome::Unknown => 6,
    }
}

fn peer(address: Address) -> Option<usize> {
    (address != Address::BROADCAST).then(|| RadioId::of(address).index())
}

/// A packet of a record: short where it is the one before.
fn known<'p>(before: Option<&PacketKey>, packet: Option<&'p PacketKey>) -> Known<'p> {
    match packet {
        None => Known::Nothing,
        Some(packet) if before == Some(packet) => Known::Before,
        Some(packet) => Known::Packet(packet),
    }
}

impl Observer for Frames<'_> {
    fn on_transmission(&mut self, now: Instant, event: &FrameEvent<'_>, access: Access) {
        self.total += 1;
        if self.total > FRAMES {
            self.full.get_or_insert(now);
            return;
        }
        let (frame, radio) = (event.frame, event.radio.index());
        let packet = event.packet.map(packet_key);
        if packet.is_some() {
            self.sent[radio] = packet;
        }
        let shape = Shape {
            kind: kind_number(event),
            channel: self.stations.channel(frame, event.radio),
            size: frame.size.as_u64(),
            rate: frame.rate.bit_rate.as_bps() / 100_000,
            airtime: event.end - event.start,
            nav: frame.nav,
            dozes: frame.power_management,
            mpdus: event.mpdus().filter(|mpdus| *mpdus > 1).unwrap_or(0) as u32,
        };
        let access = match access {
            Access::Response => FrameAccess::Response,
            Access::Immediate => FrameAccess::Immediate,
            Access::Backoff { window, drawn } => FrameAccess::Backoff(window, drawn),
        };
        let seq = frame.kind.has_sequence().then_some(frame.sequence);
        let sent = SentFrame { radio, peer: peer(frame.to), shape, seq, retry: frame.retry, access, packet };
        if let Some(log) = &mut self.log {
            let number = log.transmission(now, event.start, &sent);
            *self.flight.begin(event.radio, event.start) = number;
        }
    }

    fn on_reception(&mut self, now: Instant, event: &FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {
        let frame = event.frame;
        let Some(&number) = self.flight.find(RadioId::of(frame.from), event.start) else { return };
        let radio = event.radio.index();
        let is_addressee = frame.to == event.radio.address();
        if is_addressee
            && result.is_ok()
            && let Some(packet) = event.packet
        {
            self.received[self.stations.stations[radio].node as usize] = Some(packet_key(packet));
        }
        let Some(log) = self.log() else { return };
        let result = match result {
            Ok(()) => Reception::Ok,
            Err(Loss::Collision) => Reception::Collision,
            Err(Loss::Channel) => Reception::Channel,
        };
        if is_addressee {
            log.reception(now, number, radio, signal_dbm, result);
        } else {
            log.overheard(now, number, radio, result);
        }
    }

    fn on_drop(&mut self, now: Instant, node: NodeId, packet: &Record, reason: DropReason) {
        if let Some(log) = self.log() {
            log.drop(now, node.index(), reason as usize, &packet_key(packet));
        }
    }

    fn on_delivery(&mut self, now: Instant, node: NodeId, packet: &Record) {
        let before = self.received[node.index()];
        if let Some(log) = self.log() {
            log.delivery(now, node.index(), known(before.as_ref(), Some(&packet_key(packet))));
        }
    }

    fn on_queued(&mut self, now: Instant, radio: RadioId, to: Address, packet: Option<&Record>) {
        let queue = self.queues[radio.index()];
        if let Some(log) = self.log() {
            log.queued(now, queue, peer(to), packet.map(packet_key).as_ref());
        }
    }

    fn on_finished(&mut self, now: Instant, radio: RadioId, packet: Option<&Record>, outcome: Outcome, attempts: u32) {
        let queue = self.queues[radio.index()];
        let before = self.sent[queue];
        if let Some(log) = self.log() {
            let packet = packet.map(packet_key);
            let outcome = (outcome_number(outcome), attempts);
            log.finished(now, queue, outcome, known(before.as_ref(), packet.as_ref()));
        }
    }

    fn on_level(&mut self, now: Instant, level: Level, value: u64) {
        let changed = self.levels.change(level, value);
        if let (Some(index), Some(log)) = (changed, self.log()) {
            log.level(now, index, value);
        }
    }

    fn on_end(&mut self, _: Instant) {
        let end = End { frames: self.total, full_ns: self.full.map(Instant::as_nanos) };
        if let Some(log) = self.log.take() {
            log.finish(&serde_json::to_vec(&end).unwrap_or_default());
        }
    }
}
