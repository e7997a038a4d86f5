//! Packets that a member gives back go by another: beside the naive statement that all that was accepted arrives once
//! and in order, whatever members give back.

use crate::paper::model::Packet;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::paper::{
    Control, Fifo, FrameFate, Method, PaperDropReason, PaperInput, PaperOutput, PaperPolicy, PaperTrunk, Resequencer,
    TrunkHeader,
};
use airbraid_engine::{Machine, step};
use airbraid_units::{Duration, Instant, SeqNum};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Longer than any test lasts.
const NEVER: Duration = Duration::from_secs(10_000);

/// Two ends, and members that settle what they hold in any order; end 0 sends.
struct Scene {
    now: Instant,
    ends: [PaperTrunk<Packet>; 2],
    held: Vec<VecDeque<(TrunkHeader, Packet)>>,
    markers: VecDeque<(Member, Control)>,
    next_id: u64,
    delivered: Vec<u64>,
    dropped: Vec<(u64, PaperDropReason)>,
}

impl Scene {
    fn new(members: usize, member_limit: u32, resends: u32, dead_after: u32) -> Self {
        let fifo = Fifo { resends, dead_after, ..Fifo::default() };
        let resequencer = Resequencer { method: Method::Fifo(fifo), maximum: NEVER, ..Resequencer::fifo() };
        let policy = PaperPolicy { resequencer, member_limit, queue_limit: 1_000, ..PaperPolicy::default() };
        let end = || PaperTrunk::new(policy, members as u8, 1);
        Self {
            now: Instant::ZERO,
            ends: [end(), end()],
            held: vec![VecDeque::new(); members],
            markers: VecDeque::new(),
            next_id: 0,
            delivered: vec![],
            dropped: vec![],
        }
    }

    fn input(&mut self, end: usize, input: Option<PaperInput<Packet>>) {
        let mut outputs = vec![];
        step(&mut self.ends[end], self.now, input, |output| outputs.push(output));
        for output in outputs {
            match output {
                PaperOutput::Transmit { header, packet, kept: false } => {
                    self.held[usize::from(header.member.0)].push_back((header, packet));
                }
                PaperOutput::Deliver(packet) => self.delivered.push(packet.id),
                PaperOutput::Drop(packet, reason) => self.dropped.push((packet.id, reason)),
                PaperOutput::Control { member, control, .. } => self.markers.push_back((member, control)),
                other => panic!("{other:?}"),
            }
        }
    }

    fn send(&mut self) {
        let packet = Packet { id: self.next_id, len: 1_500, segments: 1, bucket: 0 };
        self.next_id += 1;
        self.input(0, Some(PaperInput::Packet(packet)));
    }

    /// A packet that the member holds arrives.
    fn arrive(&mut self, member: usize, place: usize) {
        let len = self.held[member].len();
        let Some((header, packet)) = (len > 0).then(|| self.held[member].remove(place % len)).flatten() else { return };
        self.input(1, Some(PaperInput::Frame { header, packet }));
        let (member, fate) = (Member(member as u8), FrameFate::Delivered);
        self.input(0, Some(PaperInput::Settled { member, number: header.number, fate }));
    }

    /// The member gives it back; it may have arrived all the same.
    fn give_back(&mut self, member: usize, place: usize, has_come: bool) {
        let len = self.held[member].len();
        let Some((header, packet)) = (len > 0).then(|| self.held[member].remove(place % len)).flatten() else { return };
        if has_come {
            self.input(1, Some(PaperInput::Frame { header, packet }));
        }
        self.input(0, Some(PaperInput::Returned { header, packet }));
    }

    fn marker(&mut self, arrives: bool) {
        let Some((member, control)) = self.markers.pop_front() else { return };
        let fate = if arrives { FrameFate::Delivered } else { FrameFate::Lost };
        if arrives {
            self.input(1, Some(PaperInput::Control { member, control }));
        }
        self.input(0, Some(PaperInput::ControlFinished(member, fate)));
    }

    fn wait(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        for side in [0, 1] {
            while let Some(wake) = self.ends[side].poll_timeout().filter(|wake| wake.at <= end) {
                self.now = self.now.max(wake.at);
                self.input(side, None);
            }
        }
        self.now = end;
    }

    /// Everything that is out arrives.
    fn heal(&mut self) {
        for _ in 0..10_000 {
            let Some(member) = (0..self.held.len()).find(|&member| !self.held[member].is_empty()) else {
                if self.markers.is_empty() {
                    return;
                }
                self.marker(true);
                continue;
            };
            self.arrive(member, 0);
        }
        panic!("it never ends");
    }
}

#[derive(Clone, Copy, Debug)]
enum Deed {
    Send,
    Arrive(usize, usize),
    GiveBack(usize, usize, bool),
    Marker(bool),
    Wait(u64),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        10 => Just(Deed::Send),
        8 => (0usize..4, 0usize..8).prop_map(|(member, place)| Deed::Arrive(member, place)),
        5 => (0usize..4, 0usize..8, prop::bool::weighted(0.2)).prop_map(|(m, place, c)| Deed::GiveBack(m, place, c)),
        2 => any::<bool>().prop_map(Deed::Marker),
        2 => (0u64..200).prop_map(Deed::Wait),
    ]
}

fn play(scene: &mut Scene, deeds: &[Deed]) {
    let members = scene.held.len();
    for deed in deeds {
        match *deed {
            Deed::Send => scene.send(),
            Deed::Arrive(member, place) => scene.arrive(member % members, place),
            Deed::GiveBack(member, place, has_come) => scene.give_back(member % members, place, has_come),
            Deed::Marker(arrives) => scene.marker(arrives),
            Deed::Wait(ms) => scene.wait(ms),
        }
    }
    scene.heal();
}

proptest! {
    #[test]
    fn what_members_give_back_arrives_once_and_in_order(
        members in 1usize..5,
        limit in 1u32..9,
        dead_after in 0u32..4,
        deeds in prop::collection::vec(deed(), 1..250),
    ) {
        let mut scene = Scene::new(members, limit, u32::MAX, dead_after);
        play(&mut scene, &deeds);
        let all: Vec<u64> = (0..scene.next_id).collect();
        prop_assert_eq!(&scene.delivered, &all);
        let duplicates = scene.dropped.iter().all(|(_, reason)| *reason == PaperDropReason::Duplicate);
        prop_assert!(duplicates, "{:?}", scene.dropped);
        prop_assert_eq!(scene.ends[1].held_len(), 0);
    }

    #[test]
    fn what_is_given_up_for_good_has_a_reason_and_blocks_nothing(
        members in 1usize..5,
        limit in 1u32..9,
        resends in 1u32..3,
        deeds in prop::collection::vec(deed(), 1..250),
    ) {
        let mut scene = Scene::new(members, limit, resends, 0);
        play(&mut scene, &deeds);
        // A last packet carries the news of what is lost.
        scene.send();
        scene.heal();
        let mut seen = scene.delivered.clone();
        prop_assert!(seen.is_sorted(), "{:?}", seen);
        let given_up = scene.dropped.iter().filter(|(_, reason)| *reason == PaperDropReason::Undelivered);
        seen.extend(given_up.map(|(id, _)| *id));
        seen.sort_unstable();
        // One that arrived although its member gave it up is delivered, and reported as undelivered.
        seen.dedup();
        prop_assert_eq!(seen, (0..scene.next_id).collect::<Vec<u64>>());
        prop_assert_eq!(scene.ends[1].held_len(), 0);
    }
}

#[test]
fn a_packet_goes_by_another_member_before_all_that_wait() {
    let mut scene = Scene::new(2, 1, 1, 0);
    (0..4).for_each(|_| scene.send());
    scene.give_back(0, 0, false);
    // The member that gave it back stays empty: the packet is first in the queue, and not for that member.
    assert_eq!((scene.held[0].len(), scene.held[1].len()), (0, 1));
    scene.arrive(1, 0);
    let by = |scene: &Scene, member: usize| scene.held[member].front().map(|(header, _)| header.number);
    assert_eq!((by(&scene, 1), by(&scene, 0)), (Some(SeqNum(1)), Some(SeqNum(3))), "number 1 by the other, 3 follows");
    assert_eq!(scene.delivered, [0u64; 0], "the first is missing");
    scene.heal();
    assert_eq!(scene.delivered, [0, 1, 2, 3]);
    assert_eq!(scene.ends[0].sender_counts().resends, 1);
}

#[test]
fn the_limit_of_resends_ends_in_a_drop() {
    let mut scene = Scene::new(2, 1, 1, 0);
    scene.send();
    scene.give_back(0, 0, false);
    scene.give_back(1, 0, false);
    assert_eq!(scene.dropped, [(0, PaperDropReason::Undelivered)]);
    scene.send();
    scene.heal();
    assert_eq!(scene.delivered, [1]);
}

#[test]
fn a_member_that_gives_back_one_after_another_gets_no_more() {
    let mut scene = Scene::new(2, 1, u32::MAX, 3);
    for _ in 0..3 {
        scene.send();
        let (from, _) = scene.held.iter().enumerate().find(|(_, held)| !held.is_empty()).unwrap();
        if from == 1 {
            scene.arrive(1, 0);
            scene.send();
        }
        scene.give_back(0, 0, false);
        scene.arrive(1, 0);
    }
    assert_eq!(scene.ends[0].sender_counts().deaths, 1);
    let before = scene.ends[0].sender_counts().sent_by_member[0];
    for _ in 0..6 {
        scene.send();
        scene.arrive(1, 0);
    }
    assert_eq!(scene.ends[0].sender_counts().sent_by_member[0], before);
}
