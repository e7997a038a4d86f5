//! A few EDCA stations on an ideal medium: energy arrives at once, frames that overlap are destroyed, radios are half
//! duplex, and a test decides which frames and MPDUs are lost. Or a few devices with several links, each link on a
//! medium of its own: then the stations of a device stand side by side, and the first gives it its address.

use super::super::{
    AccessCategory, AgreementFrame, AgreementSetup, Allocation, Content, Edca, EdcaConfig, Emlsr, Kinds, MpduSet,
    MultiLink, PeerTraits, Ppdu, RequestLink,
};
use super::tally::Tally;
use crate::frame::{Address, Frame, FrameKind};
use crate::service::{MacInput, MacOutput, Msdu, Outcome};
use airbraid_engine::{Machine, Packet, Stream, Wake, step};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    pub id: u32,
    pub size: u64,
    pub priority: u8,
}

impl Packet for Payload {
    fn len(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn flow_bucket(&self) -> u16 {
        0
    }
    fn priority(&self) -> u8 {
        self.priority
    }
}

/// The MSDUs of consecutive MPDUs.
pub fn msdus_of_run(ppdu: &Ppdu<Payload>, mpdus: Range<u32>) -> Vec<Payload> {
    let data = ppdu.data().unwrap();
    mpdus.flat_map(|place| data.msdus_of(&data.mpdus()[place as usize])).copied().collect()
}

#[derive(Clone, Debug)]
enum Signal {
    Frame(Frame<Payload>),
    Ppdu(Arc<Ppdu<Payload>>),
}

#[derive(Clone, Debug)]
enum Event {
    End(usize),
    /// An MPDU ends, of a PPDU of which more is to come.
    MpduEnds(usize, u32),
    Tell(usize, Msdu<Payload>),
    Start(usize),
}

#[derive(Clone, Debug)]
struct Sent {
    from: usize,
    signal: Signal,
    airtime: Duration,
    is_garbled: bool,
    /// Number of MPDUs that have ended, and which of them are intact.
    ended: u32,
    intact: MpduSet,
    /// When its sender committed itself to it.
    committed: Instant,
}

impl Signal {
    fn header(&self) -> Frame<()> {
        match self {
            Self::Frame(frame) => frame.header(),
            Self::Ppdu(ppdu) => ppdu.header,
        }
    }
}

/// A decision about what is lost: of a kind of frame, its number among those of its kind, and the place of an MPDU.
pub type Fate = Box<dyn FnMut(Instant, FrameKind, u32, usize) -> bool>;

/// A frame ends this much later than its sender thinks, as it does at a distance.
const LATE: Duration = Duration::from_nanos(3);

/// The mode of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Str,
    Emlsr(Emlsr),
    /// One link awake at a time, with the time that a move takes.
    Single(Duration),
}

pub struct Air {
    pub stations: Vec<Edca<Payload>>,
    /// The upper part of each device, and the number of its links; none and 1 for plain stations.
    pub devices: Vec<MultiLink<Payload>>,
    links: usize,
    /// A medium on which nothing is received, and from when until when.
    pub outage: Option<(usize, Range<Instant>)>,
    pub fate: Fate,
    /// Whether MPDUs go up as they end.
    pub is_early: bool,
    /// Whether stations are driven for each packet, even where nothing follows from it.
    pub drives_always: bool,
    pub now: Instant,
    /// The sequence number of the last frame to all.
    pub last_to_all: Option<u16>,
    /// Whether each null frame was sent before.
    pub nulls: Vec<bool>,
    /// The doings of each station.
    pub tallies: Vec<Tally>,
    /// One line for each transmission, delivery and report.
    pub timeline: String,
    /// Deliveries: station or device, sender, packet.
    pub delivered: Vec<(usize, u32, u32)>,
    /// Reports: station or device, packet, outcome.
    pub outcomes: Vec<(usize, u32, Outcome)>,
    /// Packets that a station or device was given a reference to and has not given back.
    pub references: Vec<BTreeMap<u32, u32>>,
    /// Packets that were sent and whose fate is not known to their sender, with receiver, TID and sequence number.
    outstanding: Vec<BTreeMap<u32, (u32, u8, u16)>>,
    /// Packets whose sender was told of their fate.
    told: BTreeSet<u32>,
    window: u16,
    /// Whether agreements are set up by frames; those of which a response has come: originator, recipient, TID.
    is_by_frames: bool,
    agreed: BTreeSet<(usize, usize, u8)>,
    wakes: Vec<Option<Wake>>,
    sent: Vec<Sent>,
    on_air: BTreeSet<usize>,
    busy: Vec<bool>,
    /// Devices whose links disturb each other.
    coupled: BTreeSet<usize>,
    /// Devices with one radio.
    one_radio: BTreeSet<usize>,
    /// Those of which one link is awake at a time; their links that sleep, and since when their access point knows.
    singles: BTreeSet<usize>,
    asleep: BTreeMap<usize, Instant>,
    /// Stations that hear nothing, and for each what it has missed the beginning of.
    deaf: BTreeSet<usize>,
    missed: Vec<BTreeSet<usize>>,
    events: BTreeMap<(Instant, u8, usize), Event>,
    scheduled: usize,
    counts: BTreeMap<&'static str, u32>,
}

pub fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

const fn word(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Data => "DATA",
        FrameKind::Ack => "ACK",
        FrameKind::Rts => "RTS",
        FrameKind::MuRts => "MU-RTS",
        FrameKind::Cts => "CTS",
        FrameKind::BlockAck => "BA",
        FrameKind::BlockAckRequest => "BAR",
        FrameKind::Beacon => "BEACON",
        FrameKind::AddbaRequest => "ADDBA-REQ",
        FrameKind::AddbaResponse => "ADDBA-RESP",
        _ => "other",
    }
}

/// Numbers as "0..=3, 5".
fn runs(numbers: &[u16]) -> String {
    let mut out: Vec<(u16, u16)> = Vec::new();
    for &number in numbers {
        match out.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => out.push((number, number)),
        }
    }
    let show = |(a, b): &(u16, u16)| if a == b { a.to_string() } else { format!("{a}..={b}") };
    out.iter().map(show).collect::<Vec<_>>().join(", ")
}

impl Air {
    pub fn new(config: EdcaConfig, count: u32, seed: u64) -> Self {
        let station = |index: u32| {
            let stream = |purpose| Stream::new(seed, u64::from(index), purpose);
            Edca::new(config, Address(index), ["bk", "be", "vi", "vo"].map(stream))
        };
        let n = count as usize;
        Self {
            stations: (0..count).map(station).collect(),
            devices: vec![],
            links: 1,
            outage: None,
            fate: Box::new(|_, _, _, _| false),
            is_early: false,
            drives_always: false,
            now: Instant::ZERO,
            last_to_all: None,
            nulls: vec![],
            tallies: vec![Tally::default(); n],
            timeline: String::new(),
            delivered: vec![],
            outcomes: vec![],
            references: vec![BTreeMap::new(); n],
            outstanding: vec![BTreeMap::new(); n],
            told: BTreeSet::new(),
            window: config.aggregation.window,
            is_by_frames: config.aggregation.setup == AgreementSetup::Frames,
            agreed: BTreeSet::new(),
            wakes: vec![None; n],
            sent: vec![],
            on_air: BTreeSet::new(),
            busy: vec![false; n],
            one_radio: BTreeSet::new(),
            coupled: BTreeSet::new(),
            singles: BTreeSet::new(),
            asleep: BTreeMap::new(),
            deaf: BTreeSet::new(),
            missed: vec![BTreeSet::new(); n],
            events: BTreeMap::new(),
            scheduled: 0,
            counts: BTreeMap::new(),
        }
    }

    /// Devices that are all peers of each other, and the number of their links.
    pub fn of_devices(config: EdcaConfig, count: u32, links: u32, requests: RequestLink, seed: u64) -> Self {
        Self::of_modes(config, &vec![None; count as usize], links, (requests, Allocation::Shared), seed)
    }

    /// The links of a device disturb each other, all pairs of them; its peers know.
    pub fn couple(&mut self, device: usize) {
        self.coupled.insert(device);
        let links = self.links as u8;
        let address = Address((device * self.links) as u32);
        for (other, shared) in self.devices.iter_mut().enumerate() {
            for pair in (0..links).flat_map(|a| (0..a).map(move |b| [a, b])) {
                if other == device {
                    shared.couple(pair, Duration::from_micros(5_484));
                } else {
                    shared.couple_peer(address, pair);
                }
            }
        }
    }

    /// The same, of which some are in EMLSR mode.
    pub fn of_modes(
        config: EdcaConfig,
        modes: &[Option<Emlsr>],
        links: u32,
        ways: (RequestLink, Allocation),
        seed: u64,
    ) -> Self {
        let modes: Vec<Kind> = modes.iter().map(|emlsr| emlsr.map_or(Kind::Str, Kind::Emlsr)).collect();
        Self::of_devices_in(config, &modes, links, ways, seed)
    }

    /// The same in any modes.
    pub fn of_devices_in(
        config: EdcaConfig,
        modes: &[Kind],
        links: u32,
        (requests, allocation): (RequestLink, Allocation),
        seed: u64,
    ) -> Self {
        let count = modes.len() as u32;
        let mut air = Self { links: links as usize, ..Self::new(config, count * links, seed) };
        for device in 0..count {
            let mut shared = MultiLink::new(&config, &Kinds::default());
            match modes[device as usize] {
                Kind::Str => {}
                Kind::Emlsr(delays) => shared.share_radio(delays),
                Kind::Single(switch_delay) => shared.keep_one_awake(switch_delay),
            }
            if let Kind::Single(_) = modes[device as usize] {
                air.singles.insert(device as usize);
            }
            if modes[device as usize] != Kind::Str {
                air.one_radio.insert(device as usize);
            }
            for link in 0..links {
                let station = &mut air.stations[(device * links + link) as usize];
                shared.join(station, link as u8);
                for peer in (0..count).filter(|peer| *peer != device) {
                    let (emlsr, is_single) = match modes[peer as usize] {
                        Kind::Str => (None, false),
                        Kind::Emlsr(delays) => (Some(delays), false),
                        Kind::Single(_) => (None, true),
                    };
                    let traits = PeerTraits { requests, emlsr, allocation, is_single };
                    let addresses = [Address(peer * links + link), Address(peer * links)];
                    shared.add_way(station, addresses, u8::MAX, traits);
                }
            }
            let first = (device * links) as usize;
            if let Kind::Single(_) = modes[device as usize] {
                shared.begin(&mut air.stations[first]);
                air.wakes[first] = air.stations[first].poll_timeout();
            }
            air.devices.push(shared);
        }
        air
    }

    /// The device of a station, which is itself where there are no devices.
    fn device(&self, station: usize) -> usize {
        station / self.links
    }
    fn is_one_medium(&self, one: usize, other: usize) -> bool {
        one % self.links == other % self.links
    }
    /// The others that hear a station.
    fn hearers(&self, from: usize) -> Vec<usize> {
        (0..self.stations.len()).filter(|other| *other != from && self.is_one_medium(from, *other)).collect()
    }

    fn transmits(&self, station: usize) -> bool {
        self.on_air.iter().any(|number| self.sent[*number].from == station)
    }

    fn name(&self, station: usize) -> String {
        let letter = char::from(b'A' + self.device(station) as u8);
        if self.links == 1 { letter.to_string() } else { format!("{letter}{}", station % self.links + 1) }
    }
    fn names(&self, address: Address) -> String {
        if address == Address::BROADCAST { "all".to_owned() } else { self.name(address.0 as usize) }
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        let phase = match event {
            Event::End(_) | Event::MpduEnds(..) => 0,
            Event::Tell(..) => 1,
            Event::Start(_) => 2,
        };
        self.scheduled += 1;
        self.events.insert((at, phase, self.scheduled), event);
    }

    /// A packet of 1500 byte for the MAC of `from`.
    pub fn send(&mut self, at: Instant, from: usize, to: u32, id: u32, category: AccessCategory) {
        let packet = Payload { id, size: 1_500, priority: category.priority() };
        let to = Address(to * self.links as u32);
        self.schedule(at, Event::Tell(from * self.links, Msdu { to, packet }));
    }

    /// A packet for all.
    pub fn send_to_all(&mut self, at: Instant, from: usize, id: u32, category: AccessCategory) {
        let packet = Payload { id, size: 1_500, priority: category.priority() };
        self.schedule(at, Event::Tell(from * self.links, Msdu { to: Address::BROADCAST, packet }));
    }

    pub fn run(&mut self, end: Instant) {
        loop {
            let event = self.events.first_key_value().map(|(&(at, phase, _), _)| (at, phase));
            let timers = self.wakes.iter().enumerate();
            let timer = timers.filter_map(|(i, wake)| Some((wake.as_ref()?.at, i))).min();
            let timer_first = timer.is_some_and(|(at, _)| event.is_none_or(|event| (at, 1) < event));
            match if timer_first { timer.map(|(at, _)| at) } else { event.map(|(at, _)| at) } {
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
            Event::Tell(station, msdu) => self.tell(station, msdu),
            Event::Start(number) => {
                let from = self.sent[number].from;
                let is_own = |other: &usize| self.device(self.sent[*other].from) == self.device(from);
                let has_two = self.one_radio.contains(&self.device(from)) && self.on_air.iter().any(is_own);
                assert!(!has_two && !self.deaf.contains(&from), "one radio sends on two links\n{}", self.timeline);
                let is_near = |other: &usize| self.is_one_medium(from, self.sent[*other].from);
                let others: Vec<usize> = self.on_air.iter().copied().filter(is_near).collect();
                self.sent[number].is_garbled = !others.is_empty();
                others.into_iter().for_each(|other| self.sent[other].is_garbled = true);
                self.check_sleep(number);
                self.on_air.insert(number);
                for station in self.hearers(from) {
                    if self.deaf.contains(&station) {
                        self.missed[station].insert(number);
                    } else if !std::mem::replace(&mut self.busy[station], true) {
                        self.drive(station, Some(MacInput::Busy));
                        self.announce(number, station);
                    }
                }
                let end = self.now + self.sent[number].airtime + LATE;
                self.schedule(end, Event::End(number));
                if let Signal::Ppdu(ppdu) = self.sent[number].signal.clone() {
                    self.schedule_mpdus(number, &ppdu, end);
                }
            }
            Event::MpduEnds(number, place) => self.end_mpdu(number, place),
            Event::End(number) => self.end(number),
        }
    }

    /// Nothing is sent to a link that sleeps, but for what was under way when its access point learned of it, and
    /// answers.
    fn check_sleep(&self, number: usize) {
        let Sent { signal, committed, .. } = &self.sent[number];
        let header = signal.header();
        let is_answer = matches!(header.kind, FrameKind::Ack | FrameKind::Cts | FrameKind::BlockAck);
        let since = self.asleep.get(&(header.to.0 as usize)).filter(|_| !is_answer);
        assert!(since.is_none_or(|since| committed <= since), "a link is called that sleeps\n{}", self.timeline);
    }

    /// A link of a device of which one is awake at a time has told its access point something.
    fn note_sleep(&mut self, header: &Frame<()>) {
        let (from, links) = (header.from.0 as usize, self.links);
        if !self.singles.contains(&self.device(from)) || header.kind != FrameKind::Data {
            return;
        }
        let now = self.now;
        if header.power_management {
            self.asleep.entry(from).or_insert(now);
        } else {
            let first = self.device(from) * links;
            (first..first + links).for_each(|link| {
                self.asleep.entry(link).or_insert(now);
            });
            self.asleep.remove(&from);
        }
    }

    /// A link of a device whose links disturb each other, or of a peer of one, reads for whom a frame is.
    fn announce(&mut self, number: usize, station: usize) {
        let (from, end) = (self.sent[number].from, self.now + self.sent[number].airtime);
        let (to, kind) = match &self.sent[number].signal {
            Signal::Frame(frame) => (frame.to, frame.kind),
            Signal::Ppdu(ppdu) => (ppdu.header.to, ppdu.header.kind),
        };
        if !self.coupled.is_empty() && to == Address(station as u32) && !self.sent[number].is_garbled {
            self.lend(station);
            self.stations[station].on_incoming(Address(from as u32), kind, end);
            self.lend(station);
        }
    }

    /// Of two links that disturb each other one hears nothing while the other sends.
    fn check_pairs(&self, station: usize) {
        let device = self.device(station);
        let is_sibling = |number: &usize| {
            let from = self.sent[*number].from;
            self.device(from) == device && from != station
        };
        assert!(
            !self.coupled.contains(&device) || !self.on_air.iter().any(is_sibling),
            "a link hears while another one sends\n{}",
            self.timeline
        );
    }

    /// When the MPDUs end that go up before their PPDU has ended.
    fn schedule_mpdus(&mut self, number: usize, ppdu: &Ppdu<Payload>, end: Instant) {
        let mpdus = ppdu.data().filter(|_| self.is_early).map_or(&[][..], |data| data.mpdus());
        for (place, mpdu) in (0..).zip(mpdus).filter(|_| mpdus.len() > 1) {
            let behind = mpdu.behind;
            if !behind.is_zero() {
                self.schedule(end - behind, Event::MpduEnds(number, place));
            }
        }
    }

    /// An MPDU ends, and more of its PPDU is to come: it goes up if nothing has come over it so far.
    fn end_mpdu(&mut self, number: usize, place: u32) {
        let Sent { signal: Signal::Ppdu(ppdu), is_garbled, .. } = self.sent[number].clone() else { return };
        let station = ppdu.header.to.0 as usize;
        let is_out = self.is_out(number) || self.deaf.contains(&station) || self.missed[station].contains(&number);
        if is_garbled || is_out || self.transmits(station) {
            return;
        }
        self.sent[number].ended = place + 1;
        let nth = *self.counts.get(word(ppdu.header.kind)).unwrap_or(&0);
        if !(self.fate)(self.now, ppdu.header.kind, nth, place as usize) {
            self.sent[number].intact.insert(place as usize);
            let mut alone = MpduSet::default();
            alone.insert(place as usize);
            self.refer(station, &ppdu, &alone, 0);
            let left = ppdu.data().unwrap().mpdus()[place as usize].behind;
            self.drive(station, Some(MacInput::MpdusEnd { ppdu, places: place..place + 1, left }));
        }
    }

    /// Whether nothing is received on the medium of a transmission.
    fn is_out(&self, number: usize) -> bool {
        let medium = self.sent[number].from % self.links;
        self.outage.as_ref().is_some_and(|(out, times)| *out == medium && times.contains(&self.now))
    }

    fn end(&mut self, number: usize) {
        self.on_air.remove(&number);
        let Sent { from, signal, is_garbled, ended, intact: early, .. } = self.sent[number].clone();
        let header = signal.header();
        let nth = *self.counts.get(word(header.kind)).unwrap_or(&0);
        let is_garbled = is_garbled || self.is_out(number);
        for station in self.hearers(from) {
            let is_other = |other: usize| other != station && self.is_one_medium(other, station);
            let others = self.on_air.iter().any(|other| is_other(self.sent[*other].from));
            if self.deaf.contains(&station) {
                continue;
            }
            self.busy[station] = others;
            let idle = !others;
            let is_heard = !self.missed[station].contains(&number) && header.to == Address(station as u32);
            if is_heard && !is_garbled && !self.transmits(station) {
                self.check_pairs(station);
            }
            if self.missed[station].remove(&number) {
                if idle {
                    self.drive(station, Some(MacInput::Idle));
                }
                continue;
            }
            let is_own = header.to == Address(station as u32);
            let is_for = is_own || header.to == Address::BROADCAST;
            let now = self.now;
            let mut loses = |place| is_own && (self.fate)(now, header.kind, nth, place);
            let input = match &signal {
                _ if is_garbled => MacInput::ReceptionError { idle },
                Signal::Frame(frame) if is_for && loses(0) => {
                    let _ = frame;
                    MacInput::ReceptionError { idle }
                }
                Signal::Frame(frame) if is_for => MacInput::Received { frame: *frame, idle },
                Signal::Ppdu(ppdu) if is_own => {
                    let mut intact = early;
                    let count = ppdu.data().map_or(1, |data| data.mpdus().len());
                    (ended as usize..count).filter(|place| !loses(*place)).for_each(|place| intact.insert(place));
                    if intact.is_empty() {
                        MacInput::ReceptionError { idle }
                    } else {
                        self.refer(station, ppdu, &intact, ended);
                        MacInput::ReceivedPpdu { ppdu: ppdu.clone(), intact: Some(Box::new(intact)), ended, idle }
                    }
                }
                _ => MacInput::Overheard { frame: header, idle },
            };
            if matches!(input, MacInput::Received { .. } | MacInput::ReceivedPpdu { .. }) && !self.transmits(station) {
                self.note_sleep(&header);
                self.note_response(&signal);
            }
            self.drive(station, Some(input));
        }
    }

    /// A response has come.
    fn note_response(&mut self, signal: &Signal) {
        let Signal::Ppdu(ppdu) = signal else { return };
        if let Content::Agreement(AgreementFrame::Response { is_accepted: true, .. }) = ppdu.content {
            let [from, to] = [ppdu.header.from, ppdu.header.to].map(|address| self.device(address.0 as usize));
            self.agreed.insert((to, from, ppdu.tid));
        }
    }

    fn refer(&mut self, station: usize, ppdu: &Ppdu<Payload>, intact: &MpduSet, ended: u32) {
        let device = self.device(station);
        let Some(data) = ppdu.data() else { return };
        let places = data.mpdus().iter().enumerate().skip(ended as usize);
        for (_, mpdu) in places.filter(|(place, _)| intact.contains(*place)) {
            for packet in data.msdus_of(mpdu) {
                *self.references[device].entry(packet.id).or_default() += 1;
            }
        }
    }

    fn give_back(&mut self, station: usize, id: u32) {
        let device = self.device(station);
        let count = self.references[device].get_mut(&id).expect("a packet that was not given");
        *count -= 1;
        if *count == 0 {
            self.references[device].remove(&id);
        }
    }

    fn tell(&mut self, station: usize, msdu: Msdu<Payload>) {
        let (now, device) = (self.now, self.device(station));
        let left = match self.devices.get_mut(device) {
            _ if self.drives_always => Err(msdu),
            Some(shared) => shared.push_at_work(&self.stations[station], now, msdu),
            None => self.stations[station].push_at_work(now, msdu),
        };
        if let Err(msdu) = left {
            self.drive(station, Some(MacInput::Enqueue(msdu)));
        }
    }

    fn drive(&mut self, station: usize, input: Option<MacInput<Payload>>) {
        let (mut outputs, device) = (vec![], self.device(station));
        input.iter().for_each(|input| self.tallies[station].on_input(input));
        self.lend(station);
        self.wakes[station] = step(&mut self.stations[station], self.now, input, |output| outputs.push(output));
        self.lend(station);
        outputs.into_iter().for_each(|output| self.carry_out(station, output));
        for other in (device * self.links..(device + 1) * self.links).filter(|other| *other != station) {
            if self.devices.get(device).is_some_and(|shared| shared.wakes((other % self.links) as u8)) {
                self.drive(other, Some(MacInput::Renew));
            }
        }
    }

    fn lend(&mut self, station: usize) {
        let device = self.device(station);
        if let Some(shared) = self.devices.get_mut(device) {
            shared.exchange(&mut self.stations[station]);
        }
    }

    fn carry_out(&mut self, station: usize, output: MacOutput<Payload>) {
        let me = self.name(station);
        self.tallies[station].on_output(&output);
        match output {
            MacOutput::Transmit { frame, at, airtime, .. } => {
                *self.counts.entry(word(frame.kind)).or_default() += 1;
                if frame.to == Address::BROADCAST {
                    self.last_to_all = Some(frame.sequence);
                }
                let id = frame.payload.map_or(String::new(), |payload| format!(" {}", payload.id));
                let is_null = frame.kind == FrameKind::Data && frame.payload.is_none();
                if is_null {
                    self.nulls.push(frame.retry);
                }
                let null = if frame.power_management { " null PM=1" } else { " null PM=0" };
                let id = if is_null { null.to_owned() } else { id };
                let nav = frame.nav.as_micros();
                let line =
                    format!("{me} {}{id} to {} for {airtime}, nav {nav}", word(frame.kind), self.names(frame.to));
                self.note(at, &line);
                self.put(station, Signal::Frame(frame), at, airtime);
            }
            MacOutput::TransmitPpdu { ppdu, at, airtime, .. } => {
                *self.counts.entry(word(ppdu.header.kind)).or_default() += 1;
                let again = if ppdu.header.retry { " again" } else { "" };
                let what = match &ppdu.content {
                    Content::Data(data) => {
                        let numbers: Vec<u16> = data.mpdus().iter().map(|mpdu| mpdu.sequence).collect();
                        self.check_window(station, &ppdu);
                        let is_told = |packet: &Payload| self.told.contains(&packet.id);
                        assert!(
                            !ppdu.msdus().iter().any(is_told),
                            "{me} sends what it is done with\n{}",
                            self.timeline
                        );
                        let again = if data.mpdus().iter().any(|mpdu| mpdu.attempts > 1) { " again" } else { "" };
                        format!("{}{again}", runs(&numbers))
                    }
                    Content::BlockAck(answer) => {
                        let all = 0..answer.window;
                        let numbers: Vec<u16> = all.map(|k| (answer.start + k) % 4_096).collect();
                        let came: Vec<u16> = numbers.into_iter().filter(|n| answer.acknowledges(*n)).collect();
                        format!(
                            "from {}: {}",
                            answer.start,
                            if came.is_empty() { "none".to_owned() } else { runs(&came) }
                        )
                    }
                    Content::BlockAckRequest { start } => format!("from {start}"),
                    Content::Agreement(AgreementFrame::Request { token, start, window }) => {
                        format!("{token}: TID {}, {window} from {start}{again}", ppdu.tid)
                    }
                    Content::Agreement(AgreementFrame::Response { token, is_accepted: true, window }) => {
                        format!("{token}: {window}{again}")
                    }
                    Content::Agreement(AgreementFrame::Response { token, .. }) => format!("{token}: declined{again}"),
                };
                let (kind, to, nav) = (ppdu.header.kind, ppdu.header.to, ppdu.header.nav.as_micros());
                self.note(at, &format!("{me} {} {what} to {} for {airtime}, nav {nav}", word(kind), self.names(to)));
                self.put(station, Signal::Ppdu(ppdu), at, airtime);
            }
            MacOutput::DeliverRun { ppdu, mpdus, .. } => {
                let from = ppdu.header.from.0;
                let packets = msdus_of_run(&ppdu, mpdus);
                for packet in &packets {
                    self.delivered.push((self.device(station), self.device(from as usize) as u32, packet.id));
                    self.give_back(station, packet.id);
                }
                let ids: Vec<u16> = packets.iter().map(|packet| packet.id as u16).collect();
                self.note(self.now, &format!("{me} has {} from {}", runs(&ids), self.name(from as usize)));
            }
            MacOutput::Discard { packet, .. } => {
                self.give_back(station, packet.id);
                self.note(self.now, &format!("{me} has {} already", packet.id));
            }
            MacOutput::AcknowledgedRun { ppdu, mpdus } => {
                let packets = msdus_of_run(&ppdu, mpdus);
                for packet in &packets {
                    let device = self.device(station);
                    self.outcomes.push((device, packet.id, Outcome::Acknowledged));
                    self.outstanding[device].remove(&packet.id);
                    self.told.insert(packet.id);
                }
                let ids: Vec<u16> = packets.iter().map(|packet| packet.id as u16).collect();
                self.note(self.now, &format!("{me} is done with {}", runs(&ids)));
            }
            MacOutput::Status { msdu, outcome, attempts } => {
                let device = self.device(station);
                self.outcomes.push((device, msdu.packet.id, outcome));
                self.outstanding[device].remove(&msdu.packet.id);
                self.told.insert(msdu.packet.id);
                self.note(self.now, &format!("{me} is done with {}: {outcome:?}, {attempts} sent", msdu.packet.id));
            }
            MacOutput::Deliver { from, packet } => {
                self.delivered.push((station, from.0, packet.id));
                self.note(self.now, &format!("{me} has {} from {}", packet.id, self.names(from)));
            }
            MacOutput::Announce(_) => {}
            MacOutput::Listen(true) => {
                self.deaf.remove(&station);
                let is_near = |number: &usize| {
                    let from = self.sent[*number].from;
                    from != station && self.is_one_medium(from, station)
                };
                let near: BTreeSet<usize> = self.on_air.iter().copied().filter(is_near).collect();
                self.busy[station] = !near.is_empty();
                self.missed[station].extend(near);
                if self.busy[station] {
                    self.drive(station, Some(MacInput::Busy));
                }
            }
            MacOutput::Listen(false) => {
                self.deaf.insert(station);
                self.busy[station] = false;
                self.missed[station].extend(self.on_air.iter());
            }
            MacOutput::Tune { .. } | MacOutput::DeliverDamaged { .. } | MacOutput::Pull(_) => {
                unreachable!("it does none of these")
            }
        }
    }

    /// No number lies a window or more beyond one that is neither acknowledged nor given up, and there is no A-MPDU
    /// without an agreement.
    fn check_window(&mut self, station: usize, ppdu: &Ppdu<Payload>) {
        let (data, station) = (ppdu.data().unwrap(), self.device(station));
        let peer = self.device(ppdu.header.to.0 as usize) as u32;
        let is_agreed = !self.is_by_frames || self.agreed.contains(&(station, peer as usize, ppdu.tid));
        assert!(is_agreed || data.mpdus().len() == 1, "an A-MPDU without an agreement\n{}", self.timeline);
        for mpdu in data.mpdus() {
            for packet in data.msdus_of(mpdu) {
                // Told of while its PPDU waited for a CTS: it goes in vain.
                if !self.told.contains(&packet.id) {
                    self.outstanding[station].insert(packet.id, (peer, ppdu.tid, mpdu.sequence));
                }
            }
        }
        for number in data.mpdus().iter().map(|mpdu| mpdu.sequence) {
            for (to, tid, other) in self.outstanding[station].values() {
                if (*to, *tid) != (peer, ppdu.tid) {
                    continue;
                }
                let ahead = number.wrapping_sub(*other) % 4_096;
                assert!(ahead < self.window || ahead > 2_048, "{number} while {other} is under way");
            }
        }
    }

    fn put(&mut self, from: usize, signal: Signal, at: Instant, airtime: Duration) {
        self.sent.push(Sent {
            from,
            signal,
            airtime,
            is_garbled: false,
            ended: 0,
            intact: MpduSet::default(),
            committed: self.now,
        });
        self.schedule(at, Event::Start(self.sent.len() - 1));
    }

    fn note(&mut self, at: Instant, line: &str) {
        let ns = at.as_nanos();
        self.timeline += &format!("{:>9}.{} {line}\n", ns / 1_000, ns % 1_000 / 100);
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
