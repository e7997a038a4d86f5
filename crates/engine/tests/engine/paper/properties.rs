//! The trunk and its naive reference under the same random course of events.
//!
//! Frames may come in any order, twice or never; members finish when they like; the sender restarts, the receiver
//! restarts, timers are served late; numbers wrap. After each event both must have asked for the same.

use crate::paper::model::{self, Event, Frame, Packet};
use airbraid_engine::trunk::paper::{
    Distributor, FrameFate, Method, Numbering, PaperDropReason, PaperInput, PaperOutput, PaperPolicy, PaperTrunk,
    Resequencer, TrunkHeader, UNSETTLED,
};
use airbraid_engine::trunk::{LateMode, Member};
use airbraid_engine::{Machine, step};
use airbraid_units::{Duration, Instant, SeqNum};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One thing that happens. Frames on their way are picked by their place among them.
#[derive(Clone, Copy, Debug)]
enum Transition {
    Packet {
        segments: u32,
        bucket: u16,
    },
    Finish(usize),
    Arrive(usize),
    ArriveOldest,
    Duplicate(usize),
    Lose(usize),
    /// Time passes, and timers are served when they are due.
    Wait(u64),
    /// The receiver is woken exactly when it asks, and at the same instant the oldest frame comes.
    ArriveAtWake,
    /// Time passes, and nobody serves the timers before the next input.
    Stall(u64),
    RestartSender,
    RestartReceiver,
}

fn transition() -> impl Strategy<Value = Transition> {
    let segments = prop_oneof![12 => Just(1u32), 4 => 2u32..5, 1 => 40u32..50, 1 => 700u32..1000];
    prop_oneof![
        20 => (segments, 0u16..3).prop_map(|(segments, bucket)| Transition::Packet { segments, bucket }),
        16 => (0usize..5).prop_map(Transition::Finish),
        8 => (0usize..8).prop_map(Transition::Arrive),
        8 => Just(Transition::ArriveOldest),
        3 => (0usize..8).prop_map(Transition::Duplicate),
        2 => (0usize..8).prop_map(Transition::Lose),
        6 => (0u64..8_000_000).prop_map(Transition::Wait),
        2 => Just(Transition::ArriveAtWake),
        1 => (0u64..30_000_000).prop_map(Transition::Stall),
        1 => Just(Transition::RestartSender),
        1 => Just(Transition::RestartReceiver),
    ]
}

fn policy() -> impl Strategy<Value = PaperPolicy> {
    let times = (0u64..12_000_000, 0u64..2_000_000, 0u64..3_000_000, 1u64..20_000_000);
    let limits = (0u32..6, 1u32..3, prop_oneof![Just(1u32), 2u32..10, Just(64), Just(16_384), Just(100_000)]);
    let numbering = prop_oneof![Just(Numbering::Dispatch), Just(Numbering::Arrival)];
    let choices = (any::<bool>(), any::<bool>(), numbering);
    (times, limits, choices).prop_map(|(times, limits, (strict, repeat_halving, numbering))| {
        let (initial, minimum, increment, decay) = times;
        let ns = Duration::from_nanos;
        PaperPolicy {
            distributor: Distributor::RoundRobin,
            resequencer: Resequencer {
                method: Method::Adaptive,
                mode: if strict { LateMode::Strict } else { LateMode::Tcp },
                initial: ns(initial.max(minimum)),
                minimum: ns(minimum),
                maximum: ns(15_000_000),
                increment: ns(increment),
                decay: ns(decay),
                repeat_halving,
                buffer_limit: limits.2,
            },
            queue_limit: limits.0,
            numbering,
            member_limit: limits.1,
            member_time: None,
        }
    })
}

/// Both ends, their references, and the frames between them.
struct World {
    policy: PaperPolicy,
    members: usize,
    now: Instant,
    sender: PaperTrunk<Packet>,
    sender_model: model::Sender,
    receiver: PaperTrunk<Packet>,
    model: model::Receiver,
    epoch: u64,
    next_id: u64,
    on_the_way: Vec<Frame>,
    /// By packet: accepted by the sender, times delivered in the present life of the receiver, numbers.
    numbers: BTreeMap<u64, (u64, u64)>,
    delivered: BTreeMap<u64, u32>,
    last_in_order: (u64, u64),
    /// Packets put in, sent, refused; frames that came, and what became of them.
    offered: usize,
    sent: usize,
    refused: usize,
    came: usize,
    out: usize,
}

impl World {
    fn new(policy: PaperPolicy, members: usize, first_run: u32) -> Self {
        // Epochs wrap, too.
        let epoch = 65_534;
        let mut world = Self {
            policy,
            members,
            now: Instant::ZERO,
            sender: PaperTrunk::new(policy, members as u8, epoch as u16),
            sender_model: model::Sender::new(policy, members, epoch),
            receiver: PaperTrunk::new(policy, 1, 0),
            model: model::Receiver::new(policy),
            epoch,
            next_id: 0,
            on_the_way: vec![],
            numbers: BTreeMap::new(),
            delivered: BTreeMap::new(),
            last_in_order: (0, 0),
            offered: 0,
            sent: 0,
            refused: 0,
            came: 0,
            out: 0,
        };
        if first_run > 0 {
            // One run with this number of segments, lost on its way, takes the numbers to where the test wants them.
            world.packet(first_run, 0);
            world.on_the_way.clear();
            world.finish(0);
        }
        world
    }

    fn apply(&mut self, transition: Transition) {
        match transition {
            Transition::Packet { segments, bucket } => self.packet(segments, bucket),
            Transition::Finish(member) => self.finish(member % self.members),
            Transition::Arrive(place) if place < self.on_the_way.len() => {
                let frame = self.on_the_way.remove(place);
                self.arrive(frame);
            }
            Transition::ArriveOldest if !self.on_the_way.is_empty() => {
                let frame = self.on_the_way.remove(0);
                self.arrive(frame);
            }
            Transition::Duplicate(place) if place < self.on_the_way.len() => self.arrive(self.on_the_way[place]),
            Transition::Lose(place) if place < self.on_the_way.len() => {
                self.on_the_way.remove(place);
            }
            Transition::Wait(ns) => self.wait_until(self.now + Duration::from_nanos(ns)),
            Transition::ArriveAtWake => {
                if let (Some(wake), false) = (self.receiver.poll_timeout(), self.on_the_way.is_empty()) {
                    self.now = self.now.max(wake.at);
                    let frame = self.on_the_way.remove(0);
                    self.arrive(frame);
                }
            }
            Transition::Stall(ns) => self.now += Duration::from_nanos(ns),
            Transition::RestartSender => {
                self.offered -= self.sender_model.queue.len();
                self.epoch += 1;
                self.sender = PaperTrunk::new(self.policy, self.members as u8, self.epoch as u16);
                self.sender_model = model::Sender::new(self.policy, self.members, self.epoch);
            }
            Transition::RestartReceiver => {
                self.out += self.model.held.len();
                self.receiver = PaperTrunk::new(self.policy, 1, 0);
                self.model = model::Receiver::new(self.policy);
                self.delivered.clear();
                self.last_in_order = (0, 0);
            }
            Transition::Arrive(_) | Transition::ArriveOldest | Transition::Duplicate(_) | Transition::Lose(_) => {}
        }
    }

    fn packet(&mut self, segments: u32, bucket: u16) {
        let packet = Packet { id: self.next_id, len: 1_500, segments, bucket };
        self.next_id += 1;
        self.offered += 1;
        let expected = self.sender_model.packet(packet);
        self.drive_sender(PaperInput::Packet(packet), expected);
    }

    fn finish(&mut self, member: usize) {
        let expected = self.sender_model.finished(member);
        self.drive_sender(PaperInput::Finished(Member(member as u8), FrameFate::Unknown), expected);
    }

    fn drive_sender(&mut self, input: PaperInput<Packet>, expected: Vec<Event>) {
        let mut outputs = vec![];
        let wake = step(&mut self.sender, self.now, Some(input), |output| outputs.push(output));
        assert_eq!(wake, None, "the sending side has no timer");
        assert_eq!(outputs.len(), expected.len());
        for (output, event) in outputs.iter().zip(&expected) {
            match (output, *event) {
                (PaperOutput::Transmit { header, packet, .. }, Event::Transmit(frame)) => {
                    assert_eq!(*header, on_the_wire(&frame));
                    assert_eq!(*packet, frame.packet);
                    self.numbers.insert(packet.id, (frame.epoch, frame.number));
                    self.on_the_way.push(frame);
                    self.sent += 1;
                }
                (PaperOutput::Drop(packet, reason), Event::Drop(id, PaperDropReason::QueueFull)) => {
                    assert_eq!((packet.id, *reason), (id, PaperDropReason::QueueFull));
                    self.refused += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(self.sender.queue_len(), self.sender_model.queue.len());
        assert_eq!(self.offered, self.sent + self.refused + self.sender.queue_len());
    }

    fn arrive(&mut self, frame: Frame) {
        self.came += 1;
        let mut expected = self.model.frame(self.now, &frame);
        expected.extend(self.model.fire(self.now));
        let input = PaperInput::Frame { header: on_the_wire(&frame), packet: frame.packet };
        self.drive_receiver(Some(input), expected);
    }

    fn wait_until(&mut self, end: Instant) {
        while let Some(wake) = self.receiver.poll_timeout().filter(|wake| wake.at <= end) {
            self.now = self.now.max(wake.at);
            let expected = self.model.fire(self.now);
            self.drive_receiver(None, expected);
        }
        self.now = self.now.max(end);
    }

    fn drive_receiver(&mut self, input: Option<PaperInput<Packet>>, expected: Vec<Event>) {
        let mut events = vec![];
        let wake = step(&mut self.receiver, self.now, input, |output| {
            events.push(match output {
                PaperOutput::Deliver(packet) => Event::Deliver(packet.id),
                PaperOutput::Drop(packet, reason) => Event::Drop(packet.id, reason),
                other => panic!("a receiver does not ask for {other:?}"),
            });
        });
        assert_eq!(events, expected);
        let (stats, receiver) = (self.receiver.receiver_counts(), &self.receiver);
        assert_eq!(wake.map(|wake| (wake.at, wake.why)), self.model.wake());
        assert_eq!(receiver.hold_time(), self.model.tau);
        assert_eq!(receiver.held_len(), self.model.held.len());
        assert_eq!((stats.delivered, stats.resyncs), (self.model.delivered, self.model.resyncs));
        self.out += events.len();
        assert_eq!(self.came, self.out + self.model.held.len(), "a frame is delivered, dropped or held");
        for event in events {
            if let Event::Deliver(id) = event {
                let times = self.delivered.entry(id).or_insert(0);
                *times += 1;
                assert_eq!(*times, 1, "packet {id} is delivered twice");
                if self.policy.resequencer.mode == LateMode::Strict {
                    assert!(self.numbers[&id] > self.last_in_order, "packet {id} is delivered out of order");
                    self.last_in_order = self.numbers[&id];
                }
            }
        }
    }
}

/// The wire's part of the numbers that never wrap.
fn on_the_wire(frame: &Frame) -> TrunkHeader {
    TrunkHeader {
        epoch: frame.epoch as u16,
        member: Member(frame.member as u8),
        number: SeqNum(frame.number as u32),
        member_number: SeqNum(frame.member_number as u32),
        member_previous: SeqNum(frame.member_previous as u32),
        bucket: frame.packet.bucket,
        unsettled: UNSETTLED,
        bucket_number: SeqNum(frame.bucket_number as u32),
    }
}

/// Where the numbers start: at one, at the middle of the circle, or shortly before the wrap.
fn first_run() -> impl Strategy<Value = u32> {
    prop_oneof![
        2 => Just(0u32),
        1 => 0u32..5_000,
        1 => (i32::MAX as u32 - 200)..(i32::MAX as u32 + 200),
        3 => (u32::MAX - 300)..=u32::MAX,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_trunk_does_what_its_reference_does(
        policy in policy(),
        members in 1usize..5,
        first_run in first_run(),
        transitions in prop::collection::vec(transition(), 1..250),
    ) {
        let mut world = World::new(policy, members, first_run);
        for transition in transitions {
            world.apply(transition);
        }
    }

    #[test]
    fn once_the_faults_stop_everything_held_is_delivered_within_the_hold_time(
        policy in policy(),
        members in 1usize..5,
        first_run in first_run(),
        transitions in prop::collection::vec(transition(), 1..150),
        after in prop::collection::vec(1u32..4, 0..20),
    ) {
        let mut world = World::new(policy, members, first_run);
        for transition in transitions {
            world.apply(transition);
        }
        // Healing: what is on its way comes, in order.
        world.on_the_way.sort_by_key(|frame| (frame.epoch, frame.number));
        while !world.on_the_way.is_empty() {
            world.apply(Transition::ArriveOldest);
        }
        let hold_time = world.receiver.hold_time();
        world.wait_until(world.now + hold_time);
        prop_assert_eq!(world.receiver.held_len(), 0);
        // From then on a new packet is delivered as it comes, as far as the sender's own past lets it.
        while !world.sender_model.queue.is_empty() {
            for member in 0..members {
                world.finish(member);
            }
            world.on_the_way.sort_by_key(|frame| frame.number);
            while !world.on_the_way.is_empty() {
                world.apply(Transition::ArriveOldest);
            }
        }
        world.wait_until(world.now + hold_time);
        for segments in after {
            for member in 0..members {
                world.finish(member);
            }
            let before = world.model.delivered;
            world.packet(segments, 0);
            world.apply(Transition::ArriveOldest);
            world.wait_until(world.now + world.receiver.hold_time());
            prop_assert_eq!(world.model.delivered, before + 1);
        }
    }

    /// Members keep order. Then the number that a member was given before, and the count of what it was given, tell
    /// what was lost on it, and when nothing was.
    #[test]
    fn the_headers_name_the_member_of_each_hole(
        members in 1usize..5,
        runs in prop::collection::vec((1u32..4, 0u16..3, any::<bool>(), 0usize..4), 1..120),
    ) {
        let policy = PaperPolicy { queue_limit: 1_000, ..PaperPolicy::default() };
        let mut sender = PaperTrunk::new(policy, members as u8, 1);
        let mut last: Vec<Option<TrunkHeader>> = vec![None; members];
        let mut lost: Vec<Vec<u32>> = vec![vec![]; members];
        let mut busy = vec![0; members];
        let (mut numbers_lost, mut numbers_named) = (0, 0);
        for (id, (segments, bucket, is_lost, done)) in runs.into_iter().enumerate() {
            let mut headers = vec![];
            let packet = Packet { id: id as u64, len: 1_500, segments, bucket };
            let finished = PaperInput::Finished(Member((done % members) as u8), FrameFate::Unknown);
            for input in [PaperInput::Packet(packet), finished] {
                step(&mut sender, Instant::ZERO, Some(input), |output| {
                    if let PaperOutput::Transmit { header, .. } = output {
                        headers.push(header);
                    }
                });
            }
            for header in headers {
                let member = usize::from(header.member.0);
                busy[member] += 1;
                if is_lost {
                    lost[member].push(header.number.0);
                    continue;
                }
                let gap = match last[member] {
                    Some(last) => header.member_number.distance_from(last.member_number) - 1,
                    None => header.member_number.0 as i32,
                };
                prop_assert_eq!(gap as usize, lost[member].len(), "how many were lost on the member");
                match (lost[member].last(), last[member]) {
                    (Some(&number), _) => prop_assert_eq!(header.member_previous, SeqNum(number)),
                    (None, Some(last)) => prop_assert_eq!(header.member_previous, last.number),
                    (None, None) => prop_assert_eq!(header.member_previous, header.number),
                }
                numbers_lost += lost[member].len();
                numbers_named += gap as usize;
                lost[member].clear();
                last[member] = Some(header);
            }
        }
        prop_assert_eq!(numbers_lost, numbers_named);
    }
}
