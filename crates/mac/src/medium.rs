//! For tests: a few stations on an ideal medium of several channels. Energy arrives after a delay, frames that overlap
//! are destroyed, radios are half duplex and hear the channel to which they are tuned.

use crate::dcf::{Dcf, DcfConfig};
use crate::frame::{Address, Channel, Frame, FrameKind};
use crate::phy::{Preamble, Standard};
use crate::service::{Access, MacInput, MacOutput, Msdu, Outcome};
use airbraid_engine::{Machine, Packet, Stream, Wake, step};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    pub id: u32,
    pub size: u64,
}

impl Packet for Payload {
    fn len(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn flow_bucket(&self) -> u16 {
        0
    }
}

/// A signal that arrives at a radio.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    Frame(Frame<Payload>),
    /// A frame that no station can decode.
    Garbled,
    /// Energy without a preamble.
    Noise,
}

/// In the order in which the events of one instant happen.
#[derive(Clone, Debug)]
enum Event {
    ArrivalEnd(usize, usize),
    Tell(usize, MacInput<Payload>),
    Start(usize, usize, Duration),
    ArrivalStart(usize, usize),
    Tuned(usize),
}

#[derive(Clone, Debug, Default)]
struct Radio {
    /// Signals that arrive at present, on all channels.
    present: Vec<usize>,
    /// The signal that is being received, and whether it is still intact.
    locked: Option<(usize, bool)>,
    transmitting_until: Instant,
    tuned: Channel,
    deaf_until: Instant,
    /// Whether its MAC knows of energy on the channel.
    is_busy: bool,
}

/// A transmission to which a station has committed.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    pub station: usize,
    pub at: Instant,
    pub airtime: Duration,
    pub frame: Frame<Payload>,
    /// Time of the commitment.
    pub committed: Instant,
    /// Channel of the radio at the commitment.
    pub channel: Channel,
    /// Window and slots drawn.
    pub backoff: Option<(u32, u32)>,
}

pub struct Medium<M> {
    pub stations: Vec<M>,
    /// From station to station; `None`: out of range.
    pub delay: Vec<Vec<Option<Duration>>>,
    /// Frames to destroy at the station that they are for: kind, and which of that kind (from 1).
    pub destroy: Vec<(FrameKind, u32)>,
    /// The same for null frames.
    pub destroy_nulls: Vec<u32>,
    /// Random losses of frames at their receivers: until when, how many of 1000, and the random stream.
    pub loss: Option<(Instant, u32, Stream)>,
    /// Additional addresses of a station.
    pub aliases: BTreeMap<Address, usize>,
    pub now: Instant,
    /// One line for each transmission, delivery and report.
    pub timeline: String,
    pub transmissions: Vec<Transmission>,
    /// Frames received without an error: time, station, frame.
    pub received: Vec<(Instant, usize, Frame<Payload>)>,
    pub delivered: Vec<(usize, u32)>,
    pub outcomes: Vec<(usize, u32, Outcome)>,
    /// Retunings: station, beginning, end.
    pub tunes: Vec<(usize, Instant, Instant)>,
    wakes: Vec<Option<Wake>>,
    radios: Vec<Radio>,
    signals: Vec<(Signal, Channel)>,
    events: BTreeMap<(Instant, u8, usize), Event>,
    scheduled: usize,
    sent: BTreeMap<&'static str, u32>,
}

/// 802.11b with long preamble, data at 11 Mbit/s, control at 1 Mbit/s.
pub fn config() -> DcfConfig {
    DcfConfig::new(Standard::Dot11b, Preamble::Long)
}

/// A stream whose first draws from 0..=31 are these.
pub fn stream_drawing(draws: &[u32]) -> Stream {
    (0..)
        .map(|seed| Stream::new(seed, 0, "test"))
        .find(|s| {
            let mut stream = s.clone();
            draws.iter().all(|&draw| stream.up_to(31) == draw)
        })
        .unwrap()
}

pub fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

fn us(ns: u64) -> String {
    format!("{}.{:03}", ns / 1_000, ns % 1_000)
}

fn name(address: Address) -> String {
    if address == Address::BROADCAST { "all".to_owned() } else { char::from(b'A' + address.0 as u8).to_string() }
}

const fn word(frame: &Frame<Payload>) -> &'static str {
    match frame.kind {
        FrameKind::Data if frame.payload.is_some() => "DATA",
        FrameKind::Data => "NULL",
        FrameKind::Ack => "ACK",
        FrameKind::Rts => "RTS",
        FrameKind::Cts => "CTS",
        FrameKind::Crn => "CRN",
        FrameKind::PollData | FrameKind::DataAck { .. } | FrameKind::Invite | FrameKind::Join => "poll",
        FrameKind::BlockAck | FrameKind::BlockAckRequest | FrameKind::MuRts => "of EDCA",
        FrameKind::Beacon => "BEACON",
        FrameKind::AddbaRequest => "ADDBA-REQ",
        FrameKind::AddbaResponse => "ADDBA-RESP",
    }
}

impl Medium<Dcf<Payload>> {
    /// Stations A, B, ... which all hear each other after `delay`; each draws as its list says first.
    pub fn new(config: DcfConfig, delay: Duration, draws: &[&[u32]]) -> Self {
        let station = |(i, draws): (usize, &&[u32])| Dcf::new(config, Address(i as u32), stream_drawing(draws));
        Self::of(draws.iter().enumerate().map(station).collect(), delay)
    }
}

impl<M: Machine<Input = MacInput<Payload>, Output = MacOutput<Payload>>> Medium<M> {
    /// Stations A, B, ... which all hear each other after `delay`.
    pub fn of(stations: Vec<M>, delay: Duration) -> Self {
        let n = stations.len();
        let wakes = stations.iter().map(M::poll_timeout).collect();
        Self {
            stations,
            delay: (0..n).map(|i| (0..n).map(|j| (i != j).then_some(delay)).collect()).collect(),
            destroy: vec![],
            destroy_nulls: vec![],
            loss: None,
            aliases: BTreeMap::new(),
            now: Instant::ZERO,
            timeline: String::new(),
            transmissions: vec![],
            received: vec![],
            delivered: vec![],
            outcomes: vec![],
            tunes: vec![],
            wakes,
            radios: vec![Radio::default(); n],
            signals: vec![],
            events: BTreeMap::new(),
            scheduled: 0,
            sent: BTreeMap::new(),
        }
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        let phase = match event {
            Event::ArrivalEnd(..) => 0,
            Event::Tell(..) => 1,
            Event::Start(..) => 2,
            Event::ArrivalStart(..) | Event::Tuned(_) => 3,
        };
        self.scheduled += 1;
        self.events.insert((at, phase, self.scheduled), event);
    }

    /// The radio of a station is on this channel.
    pub fn tune(&mut self, station: usize, channel: Channel) {
        self.radios[station].tuned = channel;
    }

    /// A packet for the MAC of `from`.
    pub fn send(&mut self, at: Instant, from: usize, to: Address, id: u32, size: u64) {
        self.tell(at, from, MacInput::Enqueue(Msdu { to, packet: Payload { id, size } }));
    }

    /// Anything that comes from above for the MAC of `station`.
    pub fn tell(&mut self, at: Instant, station: usize, input: MacInput<Payload>) {
        self.schedule(at, Event::Tell(station, input));
    }

    /// Something from outside that only `station` hears.
    pub fn hear(&mut self, station: usize, at: Instant, airtime: Duration, signal: Signal) {
        self.signals.push((signal, Channel::CONTROL));
        let signal = self.signals.len() - 1;
        self.schedule(at, Event::ArrivalStart(station, signal));
        self.schedule(at + airtime, Event::ArrivalEnd(station, signal));
    }

    /// Energy that all stations hear from and to the same instants.
    pub fn noise(&mut self, from: Instant, to: Instant) {
        for station in 0..self.stations.len() {
            self.hear(station, from, to - from, Signal::Noise);
        }
    }

    /// Time passes until `end`, and everything that it brings.
    pub fn run(&mut self, end: Instant) {
        loop {
            let event = self.events.first_key_value().map(|(&(at, phase, _), _)| (at, phase));
            let timers = self.wakes.iter().enumerate();
            let timer = timers.filter_map(|(i, wake)| Some((wake.as_ref()?.at, i))).min();
            let timer_first = timer.is_some_and(|(at, _)| event.is_none_or(|event| (at, 1) < event));
            let next = if timer_first { timer.map(|(at, _)| at) } else { event.map(|(at, _)| at) };
            match next {
                Some(at) if at <= end => self.now = at,
                _ => break,
            }
            if let (true, Some((_, station))) = (timer_first, timer) {
                self.drive(station, None);
            } else if let Some((_, event)) = self.events.pop_first() {
                self.happen(event);
            }
        }
        self.now = end;
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Tell(station, input) => self.drive(station, Some(input)),
            Event::Start(station, signal, airtime) => {
                self.radios[station].transmitting_until = self.now + airtime;
                self.radios[station].locked = None;
                for other in 0..self.stations.len() {
                    if let Some(delay) = self.delay[station][other] {
                        self.schedule(self.now + delay, Event::ArrivalStart(other, signal));
                        self.schedule(self.now + delay + airtime, Event::ArrivalEnd(other, signal));
                    }
                }
            }
            Event::ArrivalStart(station, signal) => self.begin_arrival(station, signal),
            Event::ArrivalEnd(station, signal) => self.end_arrival(station, signal),
            Event::Tuned(station) => {
                if !self.radios[station].is_busy && self.energies(station) > 0 {
                    self.radios[station].is_busy = true;
                    self.drive(station, Some(MacInput::Busy));
                }
            }
        }
    }

    /// Number of signals on the channel to which a station is tuned; none while it retunes.
    fn energies(&self, station: usize) -> usize {
        let radio = &self.radios[station];
        if radio.deaf_until > self.now {
            return 0;
        }
        radio.present.iter().filter(|&&signal| self.signals[signal].1 == radio.tuned).count()
    }

    fn begin_arrival(&mut self, station: usize, signal: usize) {
        let before = self.energies(station);
        self.radios[station].present.push(signal);
        if self.energies(station) == before {
            return;
        }
        let (now, kind) = (self.now, self.signals[signal].0);
        let radio = &mut self.radios[station];
        if let Some((_, intact)) = radio.locked.as_mut() {
            *intact = false;
        }
        if before == 0 {
            if radio.transmitting_until <= now && !matches!(kind, Signal::Noise) {
                radio.locked = Some((signal, true));
            }
            radio.is_busy = true;
            self.drive(station, Some(MacInput::Busy));
        }
    }

    fn end_arrival(&mut self, station: usize, signal: usize) {
        let before = self.energies(station);
        self.radios[station].present.retain(|&other| other != signal);
        let after = self.energies(station);
        if after == before || !self.radios[station].is_busy {
            return;
        }
        let idle = after == 0;
        self.radios[station].is_busy = !idle;
        match self.radios[station].locked.take_if(|(locked, _)| *locked == signal) {
            Some((_, intact)) => {
                let signal = self.signals[signal].0;
                let frame = match signal {
                    Signal::Frame(frame) if intact && !self.is_destroyed(station, &frame) => Some(frame),
                    _ => None,
                };
                let input = match frame {
                    None => MacInput::ReceptionError { idle },
                    Some(frame) if self.is_for(station, &frame) || frame.to == Address::BROADCAST => {
                        self.received.push((self.now, station, frame));
                        MacInput::Received { frame, idle }
                    }
                    Some(frame) => MacInput::Overheard { frame: frame.header(), idle },
                };
                self.drive(station, Some(input));
            }
            None if idle => self.drive(station, Some(MacInput::Idle)),
            None => {}
        }
    }

    fn is_for(&self, station: usize, frame: &Frame<Payload>) -> bool {
        frame.to == Address(station as u32) || self.aliases.get(&frame.to) == Some(&station)
    }

    fn is_destroyed(&mut self, station: usize, frame: &Frame<Payload>) -> bool {
        if !self.is_for(station, frame) {
            return false;
        }
        let nth = self.sent.get(word(frame)).copied().unwrap_or(0);
        let is_null = frame.kind == FrameKind::Data && frame.payload.is_none();
        let is_listed =
            if is_null { self.destroy_nulls.contains(&nth) } else { self.destroy.contains(&(frame.kind, nth)) };
        let now = self.now;
        let is_unlucky =
            |(until, permille, chance): &mut (Instant, u32, Stream)| *until > now && chance.up_to(999) < *permille;
        is_listed || self.loss.as_mut().is_some_and(is_unlucky)
    }

    fn drive(&mut self, station: usize, input: Option<MacInput<Payload>>) {
        let mut outputs = vec![];
        self.wakes[station] = step(&mut self.stations[station], self.now, input, |output| outputs.push(output));
        let me = name(Address(station as u32));
        for output in outputs {
            match output {
                MacOutput::DeliverDamaged { .. } | MacOutput::Pull(_) => unreachable!("none of them does either"),
                MacOutput::TransmitPpdu { .. }
                | MacOutput::DeliverRun { .. }
                | MacOutput::AcknowledgedRun { .. }
                | MacOutput::Listen(_)
                | MacOutput::Announce(_)
                | MacOutput::Discard { .. } => unreachable!("none of them sends PPDUs of several MPDUs"),
                MacOutput::Transmit { frame, at, airtime, access } => {
                    let backoff = match access {
                        Access::Backoff { window, drawn } => Some((window, drawn)),
                        Access::Immediate | Access::Response => None,
                    };
                    *self.sent.entry(word(&frame)).or_insert(0) += 1;
                    let channel = self.radios[station].tuned;
                    self.signals.push((Signal::Frame(frame), channel));
                    self.schedule(at, Event::Start(station, self.signals.len() - 1, airtime));
                    self.transmissions.push(Transmission {
                        station,
                        at,
                        airtime,
                        frame,
                        committed: self.now,
                        channel,
                        backoff,
                    });
                    let retry = if frame.retry { " again" } else { "" };
                    let null = if frame.power_management { " PS=1" } else { " PS=0" };
                    let id = match (frame.kind, frame.payload) {
                        (_, Some(payload)) => format!(" {}{retry}", payload.id),
                        (FrameKind::Data, None) => format!("{null}{retry}"),
                        _ => String::new(),
                    };
                    let channels: String =
                        frame.reservation.channels.iter().map(|channel| format!(", channel {}", channel.0)).collect();
                    let drawn = backoff.map_or(String::new(), |(cw, drawn)| format!(", {drawn} of {cw}"));
                    self.note(
                        at,
                        &format!(
                            "{me} {}{id} to {} for {}, nav {}{channels}{drawn}",
                            word(&frame),
                            name(frame.to),
                            us(airtime.as_nanos()),
                            frame.nav.as_micros(),
                        ),
                    );
                }
                MacOutput::Tune { channel, ready } => {
                    let radio = &mut self.radios[station];
                    (radio.tuned, radio.deaf_until, radio.locked, radio.is_busy) = (channel, ready, None, false);
                    self.tunes.push((station, self.now, ready));
                    self.schedule(ready, Event::Tuned(station));
                    self.note(self.now, &format!("{me} goes to channel {}", channel.0));
                }
                MacOutput::Deliver { from, packet } => {
                    self.delivered.push((station, packet.id));
                    self.note(self.now, &format!("{me} has {} from {}", packet.id, name(from)));
                }
                MacOutput::Status { msdu, outcome, attempts } => {
                    self.outcomes.push((station, msdu.packet.id, outcome));
                    self.note(self.now, &format!("{me} is done with {}: {outcome:?}, {attempts} sent", msdu.packet.id));
                }
            }
        }
    }

    fn note(&mut self, at: Instant, line: &str) {
        self.timeline += &format!("{:>12} {line}\n", us(at.as_nanos()));
    }

    /// Compares the timeline with a transcript whose indentation does not count.
    #[track_caller]
    pub fn reads(&self, expected: &str) {
        let trim =
            |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let (ours, expected) = (trim(&self.timeline), trim(expected));
        assert!(ours == expected, "reads\n{ours}\n\nand not\n{expected}");
    }
}
