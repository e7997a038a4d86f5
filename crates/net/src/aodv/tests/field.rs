//! A few nodes in a field: a matrix says which hear each other, messages take a while, a link layer reports its
//! failures. Every step is followed by a search for loops in the routing tables.

use crate::aodv::{Aodv, AodvConfig, Datagram, DropReason, Input, Message, Node, Output};
use airbraid_engine::{Stream, Wake, step};
use airbraid_units::{Duration, Instant, SeqNum};
use std::collections::{BTreeMap, BTreeSet};

/// The fate of one transmission to one neighbour in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    Lost,
    /// It arrives, and its acknowledgement does not.
    Unacknowledged,
}

#[derive(Clone, Debug)]
enum Event {
    Input(usize, Input<u32>),
    Link(usize, usize, bool),
}

pub struct Field {
    pub nodes: Vec<Aodv<u32>>,
    pub now: Instant,
    /// One line for each message, packet, delivery and drop.
    pub transcript: String,
    pub delivered: Vec<u32>,
    pub dropped: Vec<(u32, DropReason)>,
    /// Instants at which the tables held a loop.
    pub loops: u32,
    /// Duration and fate of a transmission: drawn in this order, again and again.
    pub delays: Vec<Duration>,
    pub fates: Vec<Fate>,
    drawn: usize,
    in_range: BTreeSet<(usize, usize)>,
    wakes: Vec<Option<Wake>>,
    events: BTreeMap<(Instant, usize), Event>,
    scheduled: usize,
}

pub fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

pub fn node(index: usize) -> Node {
    Node(index as u32)
}

fn name(node: Node) -> char {
    char::from(b'A' + node.0 as u8)
}

fn number(sequence: Option<SeqNum>) -> String {
    sequence.map_or("?".to_owned(), |sequence| sequence.to_string())
}

fn words(message: &Message) -> String {
    match message {
        Message::Rreq(r) => {
            let (who, by) = (name(r.destination), name(r.originator));
            let asked = number(r.destination_sequence);
            format!("RREQ {} for {who}/{asked} by {by}/{}, {} hops", r.id.0, r.originator_sequence, r.hop_count)
        }
        Message::Rrep(r) if r.originator == r.destination => {
            format!("HELLO {}/{}", name(r.destination), r.destination_sequence)
        }
        Message::Rrep(r) => {
            let (who, by) = (name(r.destination), name(r.originator));
            let lifetime = r.lifetime.as_nanos() / 1_000_000;
            format!("RREP {who}/{} for {by}, {} hops, {lifetime} ms", r.destination_sequence, r.hop_count)
        }
        Message::Rerr(r) => {
            let list: Vec<_> =
                r.unreachable.iter().map(|one| format!("{}/{}", name(one.destination), one.sequence)).collect();
            format!("RERR{} {}", if r.keep { " (kept)" } else { "" }, list.join(" "))
        }
    }
}

impl Field {
    /// `n` nodes A, B, ... without links.
    pub fn new(config: AodvConfig, n: usize) -> Self {
        Self {
            nodes: (0..n)
                .map(|i| Aodv::new(config, node(i), Stream::new(1, i as u64, "aodv.jitter")).unwrap())
                .collect(),
            now: Instant::ZERO,
            transcript: String::new(),
            delivered: vec![],
            dropped: vec![],
            loops: 0,
            delays: vec![Duration::from_millis(1)],
            fates: vec![Fate::Arrives],
            drawn: 0,
            in_range: BTreeSet::new(),
            wakes: vec![None; n],
            events: BTreeMap::new(),
            scheduled: 0,
        }
    }

    /// A row in which each node hears the one before and the one after.
    pub fn chain(config: AodvConfig, n: usize) -> Self {
        let mut field = Self::new(config, n);
        for i in 1..n {
            field.set_link(i - 1, i, true);
        }
        field
    }

    pub fn set_link(&mut self, a: usize, b: usize, up: bool) {
        for pair in [(a, b), (b, a)] {
            if up {
                self.in_range.insert(pair);
            } else {
                self.in_range.remove(&pair);
            }
        }
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.scheduled += 1;
        self.events.insert((at, self.scheduled), event);
    }

    pub fn link_at(&mut self, at: Instant, a: usize, b: usize, up: bool) {
        self.schedule(at, Event::Link(a, b, up));
    }
    pub fn reboot_at(&mut self, at: Instant, who: usize) {
        self.schedule(at, Event::Input(who, Input::Reboot));
    }
    pub fn send_at(&mut self, at: Instant, from: usize, to: usize, packet: u32) {
        let (source, destination) = (node(from), node(to));
        let datagram = Datagram { packet, source, destination, ttl: 64, hops: 0 };
        self.schedule(at, Event::Input(from, Input::Originate(datagram)));
    }

    pub fn run(&mut self, end: Instant) {
        loop {
            let event = self.events.first_key_value().map(|(&(at, _), _)| at);
            let timer = self.wakes.iter().enumerate().filter_map(|(i, wake)| Some((wake.as_ref()?.at, i))).min();
            let timer_first = timer.is_some_and(|(at, _)| event.is_none_or(|event| at <= event));
            match if timer_first { timer.map(|(at, _)| at) } else { event } {
                Some(at) if at <= end => self.now = at,
                _ => break,
            }
            if let (true, Some((_, who))) = (timer_first, timer) {
                self.drive(who, None);
            } else if let Some((_, event)) = self.events.pop_first() {
                match event {
                    Event::Input(who, input) => self.arrive(who, input),
                    Event::Link(a, b, up) => self.set_link(a, b, up),
                }
            }
            self.loops += u32::from(self.loop_exists());
        }
        self.now = end;
    }

    /// Gives packets for the node itself to the layer above, all others to its routing.
    fn arrive(&mut self, who: usize, input: Input<u32>) {
        if let Input::Forward { from, datagram } = &input
            && datagram.destination == node(who)
        {
            self.delivered.push(datagram.packet);
            self.note(format!("{} has {}", name(node(who)), datagram.packet));
            if self.nodes[who].awaits(self.now, *from) {
                self.drive(who, Some(Input::Heard(*from)));
            }
            return;
        }
        self.drive(who, Some(input));
    }

    fn draw(&mut self) -> (Duration, Fate) {
        self.drawn += 1;
        (self.delays[self.drawn % self.delays.len()], self.fates[self.drawn % self.fates.len()])
    }

    fn drive(&mut self, who: usize, input: Option<Input<u32>>) {
        let mut outputs = vec![];
        self.wakes[who] = step(&mut self.nodes[who], self.now, input, |output| outputs.push(output));
        for output in outputs {
            match output {
                Output::Send { next_hop, datagram, .. } => {
                    self.note(format!("{} sends {} to {}", name(node(who)), datagram.packet, name(next_hop)));
                    self.unicast(who, next_hop, Input::Forward { from: node(who), datagram }, Some(datagram));
                }
                Output::Control { to: Some(to), ttl, message } => {
                    self.note(format!("{} {} to {}", name(node(who)), words(&message), name(to)));
                    self.unicast(who, to, Input::Control { from: node(who), ttl, message }, None);
                }
                Output::Control { to: None, ttl, message } => {
                    self.note(format!("{} {} to all, ttl {ttl}", name(node(who)), words(&message)));
                    for other in 0..self.nodes.len() {
                        let (delay, fate) = self.draw();
                        if self.in_range.contains(&(who, other)) && fate != Fate::Lost {
                            let input = Input::Control { from: node(who), ttl, message: message.clone() };
                            self.schedule(self.now + delay, Event::Input(other, input));
                        }
                    }
                }
                Output::Drop { datagram, reason } => {
                    self.dropped.push((datagram.packet, reason));
                    self.note(format!("{} drops {}: {reason:?}", name(node(who)), datagram.packet));
                }
                Output::LinkBroken(next_hop) => {
                    self.note(format!("{} has lost {}", name(node(who)), name(next_hop)));
                }
            }
        }
    }

    fn unicast(&mut self, who: usize, to: Node, input: Input<u32>, datagram: Option<Datagram<u32>>) {
        let (delay, fate) = self.draw();
        let other = to.0 as usize;
        let fate = if self.in_range.contains(&(who, other)) { fate } else { Fate::Lost };
        if fate != Fate::Lost {
            self.schedule(self.now + delay, Event::Input(other, input));
        }
        if fate != Fate::Arrives {
            let failure = Input::LinkFailed { next_hop: to, datagram };
            self.schedule(self.now + delay * 2, Event::Input(who, failure));
        } else if datagram.is_some() {
            self.schedule(self.now + delay * 2, Event::Input(who, Input::Acknowledged(to)));
        }
    }

    fn note(&mut self, line: String) {
        let us = self.now.as_nanos() / 1_000;
        self.transcript += &format!("{}.{:03} {line}\n", us / 1_000, us % 1_000);
    }

    /// Whether the valid routes to any destination form a loop now.
    pub fn loop_exists(&self) -> bool {
        let n = self.nodes.len();
        (0..n).any(|destination| {
            (0..n).any(|start| {
                let mut at = start;
                for _ in 0..=n {
                    match self.nodes[at].route(self.now, node(destination)) {
                        Some(route) if at != destination => at = route.next_hop.0 as usize,
                        _ => return false,
                    }
                }
                true
            })
        })
    }

    /// Compares the transcript with one whose indentation does not count.
    #[track_caller]
    pub fn reads(&self, expected: &str) {
        let trim =
            |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let (ours, expected) = (trim(&self.transcript), trim(expected));
        assert!(ours == expected, "reads\n{ours}\n\nand not\n{expected}");
    }
}
