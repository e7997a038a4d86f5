//! The naive reference of both ends of a trunk: numbers that never wrap, a map for what is held, a set for what has
//! come.
//!
//! Written from the description of the protocol alone, with no thought of speed.

use airbraid_engine::trunk::LateMode;
use airbraid_engine::trunk::paper::{Numbering, PaperDropReason, PaperPolicy};
use airbraid_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A packet of both ends: an identity, the number of segments in its run, and a flow bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub id: u64,
    /// Of each segment \[byte\].
    pub len: u64,
    pub segments: u32,
    pub bucket: u16,
}

/// A frame as the sender's model numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub epoch: u64,
    pub member: usize,
    pub number: u64,
    pub member_number: u64,
    pub member_previous: u64,
    pub bucket_number: u64,
    pub packet: Packet,
}

/// An output of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Transmit(Frame),
    Deliver(u64),
    Drop(u64, PaperDropReason),
}

pub struct Sender {
    policy: PaperPolicy,
    epoch: u64,
    held: Vec<u32>,
    turn: usize,
    number: u64,
    member_numbers: Vec<u64>,
    previous: Vec<Option<u64>>,
    bucket_numbers: BTreeMap<u16, u64>,
    /// Packets that wait, with number and number within their bucket where they have them already.
    pub queue: VecDeque<(Option<(u64, u64)>, Packet)>,
}

impl Sender {
    pub fn new(policy: PaperPolicy, members: usize, epoch: u64) -> Self {
        Self {
            policy,
            epoch,
            held: vec![0; members],
            turn: 0,
            number: 1,
            member_numbers: vec![0; members],
            previous: vec![None; members],
            bucket_numbers: BTreeMap::new(),
            queue: VecDeque::new(),
        }
    }

    pub fn packet(&mut self, packet: Packet) -> Vec<Event> {
        let numbers = (self.policy.numbering == Numbering::Arrival).then(|| self.numbers(&packet));
        if let Some(frame) = self.dispatch(numbers, packet, self.turn) {
            return vec![Event::Transmit(frame)];
        }
        if self.queue.len() < self.policy.queue_limit as usize {
            self.queue.push_back((numbers, packet));
            return vec![];
        }
        vec![Event::Drop(packet.id, PaperDropReason::QueueFull)]
    }

    pub fn finished(&mut self, member: usize) -> Vec<Event> {
        self.held[member] = self.held[member].saturating_sub(1);
        let mut events = vec![];
        while let Some(&(numbers, head)) = self.queue.front() {
            let Some(frame) = self.dispatch(numbers, head, member) else { break };
            self.queue.pop_front();
            events.push(Event::Transmit(frame));
        }
        events
    }

    fn numbers(&mut self, packet: &Packet) -> (u64, u64) {
        let number = self.number;
        self.number += u64::from(packet.segments);
        let of_bucket = self.bucket_numbers.entry(packet.bucket % 1024).or_insert(0);
        let bucket_number = *of_bucket;
        *of_bucket += u64::from(packet.segments);
        (number, bucket_number)
    }

    fn dispatch(&mut self, numbers: Option<(u64, u64)>, packet: Packet, start: usize) -> Option<Frame> {
        let members = self.held.len();
        for k in 0..members {
            let member = (start + k) % members;
            if self.held[member] < self.policy.member_limit {
                self.held[member] += 1;
                self.turn = (member + 1) % members;
                let (number, bucket_number) = numbers.unwrap_or_else(|| self.numbers(&packet));
                let member_number = self.member_numbers[member];
                self.member_numbers[member] += 1;
                let member_previous = self.previous[member].replace(number).unwrap_or(number);
                let epoch = self.epoch;
                return Some(Frame { epoch, member, number, member_number, member_previous, bucket_number, packet });
            }
        }
        None
    }
}

/// Distance over which duplicates are distinguished from late packets.
const MEMORY: u64 = 32_768;

pub struct Receiver {
    policy: PaperPolicy,
    limit: u64,
    epoch: Option<u64>,
    /// The lowest number that this life of the sender can have, as far as the receiver can know.
    first: u64,
    /// S == next is in order.
    next: u64,
    newest: u64,
    seen: BTreeSet<u64>,
    /// The paper's R: number to packet and time of arrival.
    pub held: BTreeMap<u64, (Packet, Instant)>,
    pub tau: Duration,
    /// The paper's T: when it started.
    timer_start: Option<Instant>,
    /// The paper's A: when it expires.
    adjust_at: Option<Instant>,
    pub delivered: u64,
    pub resyncs: u64,
}

impl Receiver {
    pub fn new(policy: PaperPolicy) -> Self {
        Self {
            policy,
            limit: u64::from(policy.resequencer.buffer_limit.clamp(1, 16_384)),
            epoch: None,
            first: 1,
            next: 1,
            newest: 0,
            seen: BTreeSet::new(),
            held: BTreeMap::new(),
            tau: policy.resequencer.initial,
            timer_start: None,
            adjust_at: None,
            delivered: 0,
            resyncs: 0,
        }
    }

    pub fn frame(&mut self, now: Instant, frame: &Frame) -> Vec<Event> {
        let mut events = vec![];
        let (id, number, after) = (frame.packet.id, frame.number, frame.number + u64::from(frame.packet.segments));
        if self.epoch.is_some_and(|epoch| frame.epoch < epoch) {
            return vec![Event::Drop(id, PaperDropReason::Stale)];
        }
        if self.epoch != Some(frame.epoch) {
            if self.epoch.is_some() {
                self.resyncs += 1;
                self.flush(&mut events);
            }
            self.epoch = Some(frame.epoch);
            // A 32-bit header does not tell how often the numbers have wrapped before.
            self.first = (number - 1) / (1 << 32) * (1 << 32) + 1;
            self.next = self.first;
            self.newest = self.first - 1;
            self.seen.clear();
        }
        if self.newest >= number + MEMORY {
            events.push(Event::Drop(id, PaperDropReason::Stale));
            return events;
        }
        if number >= self.next + self.limit {
            self.resyncs += 1;
            self.flush(&mut events);
            self.next = number;
        }
        self.newest = self.newest.max(after - 1);
        if number < self.first || !self.seen.insert(number) {
            events.push(Event::Drop(id, PaperDropReason::Duplicate));
        } else if number == self.next {
            self.next = after;
            self.deliver(id, &mut events);
            while let Some((packet, _)) = self.held.remove(&self.next) {
                self.next += u64::from(packet.segments);
                self.deliver(packet.id, &mut events);
            }
            self.timer_start = if self.held.is_empty() { None } else { Some(now) };
        } else if number > self.next {
            self.held.insert(number, (frame.packet, now));
            self.timer_start = self.timer_start.or(Some(now));
        } else {
            let config = self.policy.resequencer;
            match config.mode {
                LateMode::Tcp => self.deliver(id, &mut events),
                LateMode::Strict => events.push(Event::Drop(id, PaperDropReason::Late)),
            }
            self.tau = (self.tau + config.increment).min(config.maximum);
            self.adjust_at = Some(now + config.decay);
        }
        events
    }

    /// Returns the events due at `now`.
    pub fn fire(&mut self, now: Instant) -> Vec<Event> {
        let mut events = vec![];
        let config = self.policy.resequencer;
        if self.adjust_at.is_some_and(|at| at <= now) {
            self.tau = (self.tau / 2).max(config.minimum);
            let again = config.repeat_halving && self.tau > config.minimum;
            self.adjust_at = again.then(|| now + config.decay);
        }
        if self.timer_start.is_some_and(|start| start + self.tau <= now) {
            self.flush(&mut events);
        }
        events
    }

    pub fn wake(&self) -> Option<(Instant, &'static str)> {
        let reorder = self.timer_start.map(|start| (start + self.tau, "trunk.reorder"));
        let decay = self.adjust_at.map(|at| (at, "trunk.decay"));
        // At one instant the reordering timer is named.
        [reorder, decay].into_iter().flatten().min_by_key(|&(at, _)| at)
    }

    fn deliver(&mut self, id: u64, events: &mut Vec<Event>) {
        self.delivered += 1;
        events.push(Event::Deliver(id));
    }

    fn flush(&mut self, events: &mut Vec<Event>) {
        while let Some((number, (packet, _))) = self.held.pop_first() {
            self.next = number + u64::from(packet.segments);
            self.deliver(packet.id, events);
        }
        self.timer_start = None;
    }
}
