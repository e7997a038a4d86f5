//! Two ends of a trunk and members between them that keep order, and lose: for the policies that talk to each other.
//!
//! End 0 sends the packets, end 1 delivers them. What is on its way on a member waits in a FIFO until the test lets the
//! oldest arrive or be lost; the timers of both ends are served when they are due.

use crate::paper::model::Packet;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::paper::{
    Control, FrameFate, PaperDropReason, PaperInput, PaperOutput, PaperPolicy, PaperTrunk, TrunkHeader,
};
use airbraid_engine::{Machine, step};
use airbraid_units::{Duration, Instant};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

/// The load of a member.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    Data(TrunkHeader, Packet),
    Control(Control),
}

/// One thing that happens. `end` is the one that sends, `member` is taken modulo their number.
#[derive(Clone, Copy, Debug)]
pub enum Transition {
    Packet(u64),
    Arrive { end: usize, member: usize },
    Lose { end: usize, member: usize },
    Wait(u64),
}

pub fn transition() -> impl Strategy<Value = Transition> {
    let at = (prop_oneof![3 => Just(0usize), 1 => Just(1)], 0usize..4);
    prop_oneof![
        10 => prop_oneof![Just(1_500u64), 40u64..1_500].prop_map(Transition::Packet),
        14 => at.clone().prop_map(|(end, member)| Transition::Arrive { end, member }),
        3 => at.prop_map(|(end, member)| Transition::Lose { end, member }),
        5 => (0u64..30_000_000).prop_map(Transition::Wait),
    ]
}

pub struct Network {
    pub now: Instant,
    pub ends: [PaperTrunk<Packet>; 2],
    members: usize,
    /// Whether the members tell what became of each frame.
    told: bool,
    /// By sending end and member.
    pub pipes: [Vec<VecDeque<Load>>; 2],
    pub next_id: u64,
    /// Packets that the sender took, and did not refuse.
    pub accepted: Vec<u64>,
    pub delivered: Vec<u64>,
    pub dropped: Vec<(u64, PaperDropReason)>,
    /// Handles that the trunk keeps, by packet.
    pub kept: BTreeMap<u64, u32>,
    /// Frames lost on the way, retransmissions and control frames among them.
    pub lost: u64,
    pub text: String,
}

impl Network {
    pub fn new(policy: PaperPolicy, members: usize, told: bool) -> Self {
        let end = || PaperTrunk::new(policy, members as u8, 1);
        let pipes = || vec![VecDeque::new(); members];
        Self {
            now: Instant::ZERO,
            ends: [end(), end()],
            members,
            told,
            pipes: [pipes(), pipes()],
            next_id: 1,
            accepted: vec![],
            delivered: vec![],
            dropped: vec![],
            kept: BTreeMap::new(),
            lost: 0,
            text: String::new(),
        }
    }

    pub fn apply(&mut self, transition: Transition) {
        match transition {
            Transition::Packet(len) => self.packet(len),
            Transition::Arrive { end, member } => self.arrive(end, member % self.members),
            Transition::Lose { end, member } => self.lose(end, member % self.members),
            Transition::Wait(ns) => self.wait(Duration::from_nanos(ns)),
        }
    }

    pub fn packet(&mut self, len: u64) {
        let packet = Packet { id: self.next_id, len, segments: 1, bucket: 0 };
        self.next_id += 1;
        self.accepted.push(packet.id);
        self.drive(0, &format!("packet {}", packet.id), Some(PaperInput::Packet(packet)));
    }

    /// The oldest on a member arrives.
    pub fn arrive(&mut self, end: usize, member: usize) {
        let Some(load) = self.pipes[end][member].pop_front() else { return };
        let index = Member(member as u8);
        let (what, input, finished) = match load {
            Load::Data(header, packet) => (
                format!("{} comes by member {member}", packet.id),
                PaperInput::Frame { header, packet },
                PaperInput::Finished(index, FrameFate::Delivered),
            ),
            Load::Control(control) => (
                format!("{} comes by member {member}", show(&control)),
                PaperInput::Control { member: index, control },
                PaperInput::ControlFinished(index, FrameFate::Delivered),
            ),
        };
        self.drive(1 - end, &what, Some(input));
        if self.told {
            self.drive(end, &format!("member {member} has delivered"), Some(finished));
        }
    }

    /// The oldest on a member is lost.
    pub fn lose(&mut self, end: usize, member: usize) {
        let Some(load) = self.pipes[end][member].pop_front() else { return };
        self.lost += 1;
        let index = Member(member as u8);
        let (what, finished) = match load {
            Load::Data(_, packet) => (packet.id.to_string(), PaperInput::Finished(index, FrameFate::Lost)),
            Load::Control(control) => (show(&control), PaperInput::ControlFinished(index, FrameFate::Lost)),
        };
        let what = format!("{what} is lost on member {member}");
        if self.told {
            self.drive(end, &what, Some(finished));
        } else {
            self.line(end, &what, "-", "");
        }
    }

    /// Time passes, and timers are served when they are due.
    pub fn wait(&mut self, span: Duration) {
        let until = self.now + span;
        loop {
            let wakes = [0, 1].map(|end| self.ends[end].poll_timeout());
            let next = wakes.iter().enumerate().filter_map(|(end, wake)| Some((wake.as_ref()?.at, end))).min();
            let Some((at, end)) = next.filter(|&(at, _)| at <= until) else { break };
            self.now = at.max(self.now);
            let why = wakes[end].map_or("", |wake| wake.why);
            self.drive(end, why, None);
        }
        self.now = until;
    }

    /// Everything on its way arrives, time passes, until nothing more happens for `quiet`.
    pub fn heal(&mut self, quiet: Duration) {
        for _ in 0..10_000 {
            let mut idle = true;
            for end in [0, 1] {
                for member in 0..self.members {
                    while !self.pipes[end][member].is_empty() {
                        idle = false;
                        self.arrive(end, member);
                    }
                }
            }
            if idle {
                let before = (self.delivered.len(), self.now);
                self.wait(quiet);
                let is_quiet = self.pipes.iter().flatten().all(VecDeque::is_empty);
                if is_quiet && self.delivered.len() == before.0 {
                    return;
                }
            }
        }
        panic!("it never ends");
    }

    fn drive(&mut self, end: usize, what: &str, input: Option<PaperInput<Packet>>) {
        let mut done = vec![];
        let mut finished = vec![];
        let Self { ends, pipes, accepted, delivered, dropped, kept, told, .. } = self;
        let wake = step(&mut ends[end], self.now, input, |output| match output {
            PaperOutput::Transmit { header, packet, kept: keeps } => {
                let member = usize::from(header.member.0);
                done.push(format!("member {member} takes {}", packet.id));
                pipes[end][member].push_back(Load::Data(header, packet));
                *kept.entry(packet.id).or_insert(0) += u32::from(keeps);
                if !*told {
                    finished.push(PaperInput::Finished(header.member, FrameFate::Unknown));
                }
            }
            PaperOutput::Control { member, control, .. } => {
                done.push(format!("member {} takes {}", member.0, show(&control)));
                pipes[end][usize::from(member.0)].push_back(Load::Control(control));
                if !*told {
                    finished.push(PaperInput::ControlFinished(member, FrameFate::Unknown));
                }
            }
            PaperOutput::Deliver(packet) => {
                done.push(format!("deliver {}", packet.id));
                delivered.push(packet.id);
            }
            PaperOutput::Drop(packet, reason) => {
                done.push(format!("drop {} ({reason:?})", packet.id));
                if reason == PaperDropReason::QueueFull {
                    accepted.retain(|&id| id != packet.id);
                } else {
                    dropped.push((packet.id, reason));
                }
            }
            PaperOutput::Release(packet) => {
                done.push(format!("release {}", packet.id));
                kept.remove(&packet.id);
            }
        });
        let done = if done.is_empty() { "-".to_owned() } else { done.join(", ") };
        let wake = wake.map_or(String::new(), |wake| format!("  [{} at {}]", wake.why, ms(wake.at)));
        self.line(end, what, &done, &wake);
        for input in finished {
            self.drive(end, "sent", Some(input));
        }
    }

    fn line(&mut self, end: usize, what: &str, done: &str, wake: &str) {
        let who = ["sender", "receiver"][end];
        writeln!(self.text, "{:>8} {who}: {what}: {done}{wake}", ms(self.now)).unwrap();
    }

    /// Compares with a transcript whose indentation does not count.
    #[track_caller]
    pub fn reads(&self, expected: &str) {
        let trim =
            |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let (ours, expected) = (trim(&self.text), trim(expected));
        assert!(ours == expected, "reads\n{ours}\n\nand not\n{expected}");
    }
}

fn ms(at: Instant) -> String {
    format!("{}.{:03}", at.as_nanos() / 1_000_000, at.as_nanos() / 1_000 % 1_000)
}

fn show(control: &Control) -> String {
    match control {
        Control::Surplus { round, counter } => format!("marker(round {round}, {counter})"),
        Control::Acknowledgement { next, missing, .. } => {
            let missing: Vec<String> = missing.iter().map(|number| number.to_string()).collect();
            if missing.is_empty() {
                format!("ack({next})")
            } else {
                format!("ack({next}, wants {})", missing.join(" "))
            }
        }
        Control::Marker { member, previous, number, unsettled, padding, .. } => {
            let unsettled = if *unsettled == u16::MAX { "?".to_owned() } else { unsettled.to_string() };
            let kind = if *padding > 0 { "probe" } else { "marker" };
            format!("{kind}(member {} had {previous}, next {number}, unsettled {unsettled})", member.0)
        }
    }
}
