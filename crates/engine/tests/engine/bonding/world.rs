//! Two ends and the links between them, in virtual time; and the host's account of every packet.

use airbraid_engine::trunk::bonding::{
    Bond, BondConfig, BondDropReason, BondInput, BondOutput, BondPolicy, BondResequencer, Coded, FlowSeq, Frame,
    MemberConfig, Moved, ReceivedFrame, Services, Source,
};
use airbraid_engine::trunk::{LateMode, Member};
use airbraid_engine::{Packet, Share, Stream, TrafficClass, step};
use airbraid_units::{Bytes, Duration, Instant};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write;

/// A packet: who sent it (0 or 1), its number there, and what the tunnel may know.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub from: usize,
    pub id: u64,
    pub len: u64,
    pub bucket: u16,
    pub class: TrafficClass,
    pub is_markable: bool,
    pub is_acknowledgement: bool,
    pub service: u8,
}

impl Packet for Token {
    fn len(&self) -> Bytes {
        Bytes::new(self.len)
    }
    fn class(&self) -> TrafficClass {
        self.class
    }
    fn flow_bucket(&self) -> u16 {
        self.bucket
    }
    fn can_be_marked(&self) -> bool {
        self.is_markable
    }
    fn is_acknowledgement(&self) -> bool {
        self.is_acknowledgement
    }
    fn service(&self) -> u8 {
        self.service
    }
}

impl Share for Token {
    fn share(&self) -> Self {
        self.clone()
    }
}

/// The sender of what an end that is not honest makes up.
pub const NOBODY: usize = 2;

/// A symbol: the packets that it is the sum of.
pub type Symbol = Vec<(FlowSeq, Token)>;

impl Coded for Token {
    type Symbol = Symbol;
    /// Its number, so that what is restored can be told from what is kept.
    type Kept = u64;

    fn keep(&self, _: FlowSeq) -> u64 {
        self.id
    }
    fn repair(sources: &[Source<'_, Self>], _: u8) -> Symbol {
        sources.iter().map(|source| (source.place, source.packet.clone())).collect()
    }
    fn symbol_len(symbol: &Symbol) -> Bytes {
        Bytes::new(4 + symbol.iter().map(|(_, token)| token.len).max().unwrap_or(0))
    }
    fn restore(sources: &[Option<&u64>], symbols: &mut [(u8, Symbol)]) -> Vec<(FlowSeq, Self)> {
        let lost: Vec<usize> = (0..sources.len()).filter(|&index| sources[index].is_none()).collect();
        assert_eq!(lost.len(), symbols.len(), "as many symbols as are lost, and no more");
        let all = &symbols[0].1;
        let is_made_up = |one: &Symbol| one.is_empty() || one.iter().any(|(_, token)| token.from == NOBODY);
        if symbols.iter().any(|(_, one)| is_made_up(one)) {
            return Vec::new();
        }
        assert!(symbols.iter().all(|(_, one)| one == all), "symbols of one group");
        for (kept, (_, token)) in sources.iter().zip(all) {
            assert!(kept.is_none_or(|kept| *kept == token.id), "another packet is kept under that number");
        }
        lost.into_iter().filter_map(|index| all.get(index).cloned()).collect()
    }
}

/// Length of a full frame \[byte\].
const FULL: u64 = 1_500;

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub bit_ns: u64,
    pub delay: Duration,
    /// Full frames that may wait.
    pub queue: u64,
    /// Lost \[1/1000\].
    pub loss: u32,
    pub is_up: bool,
    /// Longer frames vanish \[byte\].
    pub mtu: u64,
    free_at: Instant,
}

impl Way {
    pub fn new(mbps: u64, delay: Duration, loss: u32) -> Self {
        Self { bit_ns: 1_000 / mbps, delay, queue: 64, loss, is_up: true, mtu: u64::MAX, free_at: Instant::ZERO }
    }

    /// It stands still until then: what is sent waits.
    pub fn stall(&mut self, until: Instant) {
        self.free_at = self.free_at.max(until);
    }
}

enum Event {
    Wake(usize),
    Arrive(usize, ReceivedFrame<Token>),
    /// The host is awake again, which it was not since then.
    Awake(usize, Instant),
}

/// The fate of a packet at its first end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Released,
    Dropped(BondDropReason),
}

/// Everything.
pub struct World {
    pub now: Instant,
    pub ends: [Bond<Token>; 2],
    /// By end and member: the way to the other end.
    pub ways: [Vec<Way>; 2],
    queue: BinaryHeap<Reverse<(Instant, u64)>>,
    events: BTreeMap<u64, Event>,
    next: u64,
    armed: [Option<Instant>; 2],
    chance: Stream,
    pub given: [u64; 2],
    /// By end that sent: what was delivered at the other, in order.
    pub delivered: [Vec<Token>; 2],
    pub ended: [BTreeMap<u64, End>; 2],
    pub transcript: Option<String>,
    /// The first end's host cannot send on this member; the number of refused frames.
    pub refuses: Option<Member>,
    pub refused: u64,
    /// By end: until when its host is not awake: what it was about to send leaves then, and nothing is done meanwhile.
    pub asleep: [Option<Instant>; 2],
    /// By end: symbols that have come to it, and that it gave back.
    pub symbols: [u64; 2],
    pub spent: [u64; 2],
    /// Whether packets can be marked, and how many of the first end's were.
    pub is_markable: bool,
    /// Whether packets that are given only acknowledge.
    pub gives_acknowledgements: bool,
    pub marked: u64,
    /// The path MTUs reported to the first end.
    pub path_mtus: Vec<(Member, u64)>,
    /// By end: frames with packets or symbols, and probes, that were longer than their way takes.
    pub swallowed: [[u64; 2]; 2],
    /// By end: members whose place was validated, and those whose was not.
    pub validated: [Vec<Member>; 2],
    pub not_validated: [Vec<Member>; 2],
    /// Members whose next frame comes to the first end from another place.
    pub moves: BTreeMap<Member, Moved>,
    /// The service of packets that are given.
    pub service: u8,
    /// The services that members which are added may carry.
    pub services: Vec<Services>,
    /// By member and service: frames with packets or symbols of them, of either end.
    pub carried: BTreeMap<(u8, u8), u64>,
}

/// A policy under which nothing is given up: not after any time, and no hole.
pub fn patient() -> BondPolicy {
    let long = Duration::from_secs(1_000_000);
    BondPolicy {
        queue_limit: 10_000,
        resequencer: BondResequencer { minimum: long, maximum: long, mode: LateMode::Strict, ..Default::default() },
        persistence: long,
        persistence_real_time: long,
        target: long,
        ..BondPolicy::default()
    }
}

pub fn usual() -> BondPolicy {
    BondPolicy { queue_limit: 1_000, ..BondPolicy::default() }
}

impl World {
    pub fn new(policy: BondPolicy, ways: &[Way], seed: u64) -> Self {
        let end = |epoch| Bond::new(BondConfig { policy, epoch });
        let mut world = Self {
            now: Instant::ZERO,
            ends: [end(7), end(9)],
            ways: [ways.to_vec(), ways.to_vec()],
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            next: 0,
            armed: [None; 2],
            chance: Stream::new(seed, 0, "world"),
            given: [0; 2],
            delivered: [vec![], vec![]],
            ended: [BTreeMap::new(), BTreeMap::new()],
            transcript: None,
            refuses: None,
            refused: 0,
            asleep: [None; 2],
            symbols: [0; 2],
            spent: [0; 2],
            is_markable: false,
            gives_acknowledgements: false,
            marked: 0,
            path_mtus: vec![],
            swallowed: [[0; 2]; 2],
            validated: [vec![], vec![]],
            not_validated: [vec![], vec![]],
            moves: BTreeMap::new(),
            service: 0,
            services: vec![Services::ALL; ways.len()],
            carried: BTreeMap::new(),
        };
        for member in 0..ways.len() {
            world.add(member);
        }
        world
    }

    /// Both ends get a member.
    pub fn add(&mut self, member: usize) {
        let config = MemberConfig {
            services: self.services.get(member).copied().unwrap_or_default(),
            ..MemberConfig::default()
        };
        (0..2).for_each(|end| self.add_to(end, member, config));
    }

    pub fn add_to(&mut self, end: usize, member: usize, config: MemberConfig) {
        self.step(end, Some(BondInput::MemberAdded { member: Member(member as u8), config }));
    }

    /// The first end's member is otherwise configured.
    pub fn configure(&mut self, member: usize, config: MemberConfig) {
        self.add_to(0, member, config);
    }

    fn push(&mut self, at: Instant, event: Event) {
        self.next += 1;
        self.queue.push(Reverse((at, self.next)));
        self.events.insert(self.next, event);
    }

    pub fn step(&mut self, end: usize, input: Option<BondInput<Token>>) {
        let mut outputs = vec![];
        let wake = step(&mut self.ends[end], self.now, input, |output| outputs.push(output));
        if let Some(wake) = wake
            && self.armed[end].is_none_or(|at| wake.at < at || at <= self.now)
        {
            self.armed[end] = Some(wake.at);
            self.push(wake.at, Event::Wake(end));
        }
        for output in outputs {
            self.carry_out(end, output);
        }
    }

    fn carry_out(&mut self, end: usize, output: BondOutput<Token>) {
        match output {
            BondOutput::Transmit { member, frame: Frame::Data { header, .. }, .. }
                if end == 0 && self.refuses == Some(member) =>
            {
                self.refused += 1;
                self.step(0, Some(BondInput::Refused { member, number: header.number }));
            }
            BondOutput::Transmit { member, frame, mark } => {
                self.marked += u64::from(end == 0 && mark);
                self.count_services(member, &frame);
                self.transmit(end, member, frame);
            }
            BondOutput::Deliver(token) => {
                assert_eq!(token.from, 1 - end, "a packet came back to its sender");
                self.delivered[token.from].push(token);
            }
            BondOutput::Release(token) => self.end(end, token, End::Released),
            BondOutput::Spent(_) => self.spent[end] += 1,
            BondOutput::HintWanted { .. } => {}
            BondOutput::PathMtu { member, mtu } if end == 0 => self.path_mtus.push((member, mtu.as_u64())),
            BondOutput::PathMtu { .. } => {}
            BondOutput::Validated(member) => self.validated[end].push(member),
            BondOutput::NotValidated(member) => self.not_validated[end].push(member),
            // What the other end sent is dropped here as a duplicate, or late.
            BondOutput::Dropped { packet, .. } if packet.from != end => {}
            BondOutput::Dropped { packet, reason } => self.end(end, packet, End::Dropped(reason)),
        }
    }

    fn count_services(&mut self, member: Member, frame: &Frame<Token>) {
        let services: Vec<u8> = match frame {
            Frame::Data { packet, .. } => vec![packet.service],
            Frame::Repair { symbol, .. } => symbol.iter().map(|(_, token)| token.service).collect(),
            _ => vec![],
        };
        services.into_iter().for_each(|service| *self.carried.entry((member.0, service)).or_default() += 1);
    }

    fn end(&mut self, end: usize, token: Token, how: End) {
        let before = self.ended[end].insert(token.id, how);
        assert_eq!(before, None, "packet {} ended twice", token.id);
    }

    fn transmit(&mut self, end: usize, member: Member, frame: Frame<Token>) {
        let len = (frame.len() + MemberConfig::OVERHEAD_IPV4).as_u64();
        let left = self.asleep[end].unwrap_or(self.now);
        let way = &mut self.ways[end][usize::from(member.0)];
        let serial = Duration::from_nanos(len * 8 * way.bit_ns);
        let waiting = way.free_at.saturating_since(left).as_nanos() / (FULL * 8 * way.bit_ns);
        let fits = waiting <= way.queue;
        let is_short = len <= way.mtu;
        if !is_short {
            self.swallowed[end][usize::from(matches!(frame, Frame::Probe(_)))] += 1;
        }
        let passes = way.is_up && fits && self.chance.up_to(999) >= way.loss && is_short;
        if way.is_up && fits && is_short {
            way.free_at = way.free_at.max(left) + serial;
        }
        let at = way.free_at + way.delay;
        self.note(end, member, &frame, if passes { "" } else { "  lost" });
        if passes {
            self.push(
                at,
                Event::Arrive(
                    1 - end,
                    ReceivedFrame { member, frame, length: Bytes::new(len), at, is_elsewhere: false },
                ),
            );
        }
    }

    fn note(&mut self, end: usize, member: Member, frame: &Frame<Token>, fate: &str) {
        let Some(transcript) = &mut self.transcript else { return };
        let what = match frame {
            Frame::Data { header, packet } => {
                format!("packet {:<3} as {} place {}", packet.id, header.number, header.place.number)
            }
            Frame::Repair { header, symbol } => {
                format!("symbol {} of {} as {}", header.index, symbol.len(), header.number)
            }
            Frame::PathChallenge(token) => format!("path challenge {token:?}"),
            Frame::PathResponse(token) => format!("path response {token:?}"),
            Frame::Probe(probe) => format!("probe as {} of life {}", probe.number, probe.epoch),
            Frame::Feedback(feedback) => {
                let report = |report: &airbraid_engine::trunk::bonding::Report| {
                    let runs: Vec<String> = report.runs.iter().map(|run| format!("{}:{}", run.gap, run.len)).collect();
                    format!("m{} to {} {}", report.member.0, report.newest, runs.join(" "))
                };
                let reports: Vec<String> = feedback.reports.iter().map(report).collect();
                format!("feedback {}", reports.join(", "))
            }
        };
        let side = ["west", "east"][end];
        let _ = writeln!(transcript, "{}  {side}  m{}  {what}{fate}", self.now, member.0);
    }

    /// A packet for the other end.
    pub fn give(&mut self, end: usize, len: u64, bucket: u16, class: TrafficClass) {
        let (id, is_markable, is_acknowledgement) = (self.given[end], self.is_markable, self.gives_acknowledgements);
        self.given[end] += 1;
        let service = self.service;
        let token = Token { from: end, id, len, bucket, class, is_markable, is_acknowledgement, service };
        self.step(end, Some(BondInput::Packet(token)));
    }

    /// An end's host falls asleep for this time, if it is awake.
    pub fn sleep(&mut self, end: usize, span: Duration) {
        if self.asleep[end].is_some() {
            return;
        }
        let awake = self.now + span;
        self.asleep[end] = Some(awake);
        self.push(awake, Event::Awake(end, self.now));
    }

    /// Lets so much time pass.
    pub fn run(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(&Reverse((at, key))) = self.queue.peek()
            && at <= until
        {
            self.queue.pop();
            self.now = at;
            let event = self.events.remove(&key);
            if let Some(Event::Wake(end) | Event::Arrive(end, _)) = event
                && let Some(awake) = self.asleep[end].filter(|awake| *awake > at)
            {
                self.queue.push(Reverse((awake, key)));
                self.events.extend(event.map(|event| (key, event)));
                continue;
            }
            match event {
                Some(Event::Awake(end, since)) => {
                    self.asleep[end] = None;
                    self.step(end, Some(BondInput::Late { since, until: at }));
                }
                Some(Event::Wake(end)) => {
                    self.armed[end] = self.armed[end].filter(|armed| *armed > at);
                    self.step(end, None);
                }
                Some(Event::Arrive(end, came)) => {
                    self.symbols[end] += u64::from(matches!(came.frame, Frame::Repair { .. }));
                    if end == 0
                        && let Some(moved) = self.moves.remove(&came.member)
                    {
                        self.step(end, Some(BondInput::MemberMoved { member: came.member, moved }));
                    }
                    self.step(end, Some(BondInput::Frames(vec![came])));
                }
                None => {}
            }
        }
        self.now = until;
    }

    /// Nothing was delivered twice, and nothing that was not given.
    pub fn check_once(&self) {
        for from in [0, 1] {
            let mut ids: Vec<u64> = self.delivered[from].iter().map(|token| token.id).collect();
            let count = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), count, "a packet was delivered twice");
            assert!(ids.last().is_none_or(|last| *last < self.given[from]));
        }
    }

    /// The packets of each flow came in the order in which they were given.
    pub fn check_order(&self) {
        for from in [0, 1] {
            let mut last = BTreeMap::new();
            for token in self.delivered[from].iter().filter(|token| token.class == TrafficClass::Bulk) {
                let before = last.insert(token.bucket, token.id);
                assert!(before.is_none_or(|before| before < token.id), "flow {} out of order", token.bucket);
            }
        }
    }
}
