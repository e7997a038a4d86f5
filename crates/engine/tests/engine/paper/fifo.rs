//! The method `fifo`: neither waits for what is known to be lost nor gives up what may still come.

use crate::paper::network::{Load, Network, Transition, transition};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::paper::{Fifo, Method, PaperPolicy, Resequencer};
use airbraid_units::Duration;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Longer than any test lasts.
const NEVER: Duration = Duration::from_secs(10_000);

fn policy(maximum: Duration, fifo: Fifo) -> PaperPolicy {
    let resequencer = Resequencer { method: Method::Fifo(fifo), maximum, ..Resequencer::fifo() };
    PaperPolicy { resequencer, queue_limit: 20, ..PaperPolicy::default() }
}

/// The naive reference of the receiver: sets, and the three rules as they are told.
struct Reference {
    members: usize,
    came: BTreeMap<u32, u64>,
    named: BTreeSet<u32>,
    /// For each member the number before which it delivers nothing more.
    told: Vec<u32>,
    settled: u32,
    next: u32,
    delivered: Vec<u64>,
}

impl Reference {
    fn new(members: usize) -> Self {
        Self {
            members,
            came: BTreeMap::new(),
            named: BTreeSet::new(),
            told: vec![1; members],
            settled: 1,
            next: 1,
            delivered: vec![],
        }
    }

    fn arrives(&mut self, carrier: usize, load: &Load) {
        let (member, previous, number, unsettled, packet) = match load {
            Load::Data(header, packet) => {
                let Member(member) = header.member;
                (member, header.member_previous.0, header.number.0, header.unsettled, Some(packet.id))
            }
            Load::Control(airbraid_engine::trunk::paper::Control::Marker {
                member,
                previous,
                number,
                unsettled,
                ..
            }) => (member.0, previous.0, number.0, *unsettled, None),
            Load::Control(other) => panic!("{other:?}"),
        };
        if unsettled != u16::MAX {
            self.settled = self.settled.max(number - u32::from(unsettled));
        }
        if usize::from(member) == carrier {
            let after = number + u32::from(packet.is_some());
            self.told[carrier] = self.told[carrier].max(after);
            if previous != number {
                self.named.insert(previous);
            }
        }
        if let Some(packet) = packet {
            self.came.insert(number, packet);
        }
        loop {
            let is_lost = self.named.contains(&self.next)
                || self.next < self.settled
                || (0..self.members).all(|member| self.next < self.told[member]);
            if let Some(&packet) = self.came.get(&self.next) {
                self.delivered.push(packet);
            } else if !is_lost {
                return;
            }
            self.next += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn it_does_what_its_reference_does(
        members in 1usize..5,
        told: bool,
        dead_after in 0u32..4,
        transitions in prop::collection::vec(transition(), 1..300),
    ) {
        let mut network = Network::new(policy(NEVER, Fifo { dead_after, ..Fifo::default() }), members, told);
        let mut reference = Reference::new(members);
        for transition in transitions {
            if let Transition::Arrive { end: 0, member } = transition
                && let Some(load) = network.pipes[0][member % members].front()
            {
                reference.arrives(member % members, load);
            }
            network.apply(transition);
            prop_assert_eq!(&network.delivered, &reference.delivered, "{}", network.text);
            // No packet ever leaves order, none comes twice, and none that comes is not delivered: nothing is given up
            // that still comes, however slow its member.
            prop_assert!(network.delivered.is_sorted());
            prop_assert_eq!(network.ends[1].receiver_counts().late, 0);
            prop_assert!(network.dropped.is_empty());
        }
    }

    #[test]
    fn where_members_tell_nothing_settled_is_waited_for(
        members in 1usize..5,
        transitions in prop::collection::vec(transition(), 1..300),
    ) {
        let mut network = Network::new(policy(NEVER, Fifo { dead_after: 0, ..Fifo::default() }), members, true);
        let mut lost_markers = 0;
        for transition in transitions {
            if let Transition::Lose { end: 0, member } = transition {
                let front = network.pipes[0][member % members].front();
                lost_markers += usize::from(matches!(front, Some(Load::Control(_))));
            }
            network.apply(transition);
        }
        // Healing: what is out comes. Nothing is then out, so nothing waits; where markers were given up after three
        // attempts, not once a packet has come on any member.
        let come = |network: &mut Network| {
            while network.pipes[0].iter().any(|pipe| !pipe.is_empty()) {
                for member in 0..members {
                    network.arrive(0, member);
                }
            }
        };
        come(&mut network);
        if lost_markers >= 3 {
            network.packet(1_500);
            come(&mut network);
        }
        prop_assert_eq!(network.ends[1].held_len(), 0, "{}", network.text);
    }

    #[test]
    fn where_members_do_not_tell_nothing_is_held_longer_than_the_longest_hold(
        members in 1usize..5,
        told: bool,
        transitions in prop::collection::vec(transition(), 1..300),
    ) {
        let maximum = Duration::from_millis(40);
        let mut network = Network::new(policy(maximum, Fifo::default()), members, told);
        for transition in transitions {
            network.apply(transition);
        }
        for member in 0..members {
            while !network.pipes[0][member].is_empty() {
                network.arrive(0, member);
            }
        }
        network.wait(maximum);
        prop_assert_eq!(network.ends[1].held_len(), 0, "{}", network.text);
        let mut once = network.delivered.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), network.delivered.len(), "twice");
        let late = network.ends[1].receiver_counts().late;
        let disorder = network.delivered.windows(2).filter(|pair| pair[0] > pair[1]).count() as u64;
        prop_assert!(disorder <= late, "out of order without being late");
    }

    #[test]
    fn one_lost_frame_is_not_waited_for_once_its_member_delivers_another(
        members in 2usize..5,
        told: bool,
        before in 0usize..8,
    ) {
        let mut network = Network::new(policy(NEVER, Fifo::default()), members, told);
        for _ in 0..before {
            network.packet(1_500);
            for member in 0..members {
                network.arrive(0, member);
            }
        }
        for _ in 0..2 * members {
            network.packet(1_500);
        }
        let unlucky = before % members;
        network.lose(0, unlucky);
        for member in (0..members).filter(|&member| member != unlucky) {
            network.arrive(0, member);
        }
        prop_assert!(network.ends[1].held_len() > 0);
        network.arrive(0, unlucky);
        // The lost one is no longer waited for; what is still out may be.
        for member in 0..members {
            while !network.pipes[0][member].is_empty() {
                network.arrive(0, member);
            }
        }
        prop_assert_eq!(network.ends[1].held_len(), 0, "{}", network.text);
        prop_assert_eq!(network.delivered.len() + 1, network.accepted.len());
    }
}

fn two_members(told: bool) -> Network {
    Network::new(policy(Duration::from_millis(200), Fifo::default()), 2, told)
}

#[test]
fn the_next_frame_of_a_member_tells_what_was_lost_on_it() {
    let mut network = two_members(true);
    for _ in 0..4 {
        network.packet(1_500);
    }
    network.arrive(0, 1);
    network.wait(Duration::from_millis(9));
    network.lose(0, 0);
    network.arrive(0, 0);
    network.reads(
        "
        0.000 sender: packet 1: member 0 takes 1
        0.000 sender: packet 2: member 1 takes 2
        0.000 sender: packet 3: -
        0.000 sender: packet 4: -
        0.000 receiver: 2 comes by member 1: -  [trunk.hold at 200.000]
        0.000 sender: member 1 has delivered: member 1 takes 3
        9.000 sender: 1 is lost on member 0: member 0 takes 4
        9.000 receiver: 4 comes by member 0: deliver 2  [trunk.hold at 209.000]
        9.000 sender: member 0 has delivered: -
        ",
    );
}

#[test]
fn a_loss_behind_which_nothing_is_sent_is_told_by_a_marker() {
    let mut network = two_members(true);
    for _ in 0..2 {
        network.packet(1_500);
    }
    network.arrive(0, 1);
    network.wait(Duration::from_millis(9));
    network.lose(0, 0);
    network.lose(0, 1);
    network.arrive(0, 1);
    network.reads(
        "
        0.000 sender: packet 1: member 0 takes 1
        0.000 sender: packet 2: member 1 takes 2
        0.000 receiver: 2 comes by member 1: -  [trunk.hold at 200.000]
        0.000 sender: member 1 has delivered: -
        9.000 sender: 1 is lost on member 0: member 1 takes marker(member 1 had 2, next 3, unsettled 0)
        9.000 sender: marker(member 1 had 2, next 3, unsettled 0) is lost on member 1: member 1 takes marker(member 1 had 2, next 3, unsettled 0)
        9.000 receiver: marker(member 1 had 2, next 3, unsettled 0) comes by member 1: deliver 2
        9.000 sender: member 1 has delivered: -
        ",
    );
}

#[test]
fn a_member_that_falls_silent_gets_a_marker_where_nobody_knows_what_came() {
    let mut network = two_members(false);
    for _ in 0..2 {
        network.packet(1_500);
    }
    network.lose(0, 0);
    network.arrive(0, 1);
    network.wait(Duration::from_millis(12));
    network.arrive(0, 0);
    network.reads(
        "
        0.000 sender: packet 1: member 0 takes 1
        0.000 sender: sent: -
        0.000 sender: packet 2: member 1 takes 2  [trunk.marker at 10.000]
        0.000 sender: sent: -  [trunk.marker at 10.000]
        0.000 sender: 1 is lost on member 0: -
        0.000 receiver: 2 comes by member 1: -  [trunk.hold at 200.000]
        10.000 sender: trunk.marker: member 0 takes marker(member 0 had 1, next 3, unsettled ?)  [trunk.marker at 30.000]
        10.000 sender: sent: -  [trunk.marker at 30.000]
        12.000 receiver: marker(member 0 had 1, next 3, unsettled ?) comes by member 0: deliver 2
        ",
    );
}

#[test]
fn a_member_that_loses_all_is_given_up_and_probed_until_it_answers() {
    let mut network = two_members(true);
    for _ in 0..8 {
        network.packet(1_500);
    }
    for _ in 0..3 {
        network.lose(0, 0);
    }
    for _ in 0..4 {
        network.arrive(0, 1);
    }
    network.wait(Duration::from_millis(150));
    network.lose(0, 0);
    network.wait(Duration::from_millis(100));
    network.arrive(0, 0);
    network.packet(1_500);
    network.packet(1_500);
    network.reads(
        "
        0.000 sender: packet 1: member 0 takes 1
        0.000 sender: packet 2: member 1 takes 2
        0.000 sender: packet 3: -
        0.000 sender: packet 4: -
        0.000 sender: packet 5: -
        0.000 sender: packet 6: -
        0.000 sender: packet 7: -
        0.000 sender: packet 8: -
        0.000 sender: 1 is lost on member 0: member 0 takes 3
        0.000 sender: 3 is lost on member 0: member 0 takes 4
        0.000 sender: 4 is lost on member 0: -  [trunk.marker at 100.000]
        0.000 receiver: 2 comes by member 1: -  [trunk.hold at 200.000]
        0.000 sender: member 1 has delivered: member 1 takes 5  [trunk.marker at 100.000]
        0.000 receiver: 5 comes by member 1: deliver 2, deliver 5
        0.000 sender: member 1 has delivered: member 1 takes 6  [trunk.marker at 100.000]
        0.000 receiver: 6 comes by member 1: deliver 6
        0.000 sender: member 1 has delivered: member 1 takes 7  [trunk.marker at 100.000]
        0.000 receiver: 7 comes by member 1: deliver 7
        0.000 sender: member 1 has delivered: member 1 takes 8  [trunk.marker at 100.000]
        100.000 sender: trunk.marker: member 0 takes probe(member 0 had 4, next 9, unsettled 1)
        150.000 sender: probe(member 0 had 4, next 9, unsettled 1) is lost on member 0: -  [trunk.marker at 250.000]
        250.000 sender: trunk.marker: member 0 takes probe(member 0 had 4, next 9, unsettled 1)
        250.000 receiver: probe(member 0 had 4, next 9, unsettled 1) comes by member 0: -
        250.000 sender: member 0 has delivered: -
        250.000 sender: packet 9: member 0 takes 9
        250.000 sender: packet 10: -
        ",
    );
}
