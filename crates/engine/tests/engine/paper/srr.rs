//! Surplus round robin: without loss it is FIFO, with loss it blocks and leaves order until a marker comes.

use crate::paper::model::Packet;
use crate::paper::network::{Load, Network, Transition, transition};
use airbraid_engine::step;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::paper::{
    Control, Distributor, Jkm, PaperDropReason, PaperInput, PaperPolicy, PaperTrunk, Srr, TrunkHeader,
};
use airbraid_units::{Duration, Instant};
use proptest::prelude::*;

fn policy(quantum: u32, member_limit: u32, fifo_limit: u32) -> PaperPolicy {
    let distributor = Distributor::Srr(Srr { quantum, fifo_limit, ..Srr::default() });
    PaperPolicy { distributor, member_limit, queue_limit: 20, ..PaperPolicy::default() }
}

/// The naive reference: the members in the order in which surplus round robin takes them for packets of these lengths.
fn turns(quantum: i64, members: usize, lens: &[u64]) -> Vec<usize> {
    let mut counters = vec![0i64; members];
    let mut member = 0;
    counters[0] = quantum;
    let mut order = vec![];
    for &len in lens {
        while counters[member] < 0 {
            member = (member + 1) % members;
            counters[member] += quantum;
        }
        order.push(member);
        counters[member] -= len as i64;
    }
    order
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn without_loss_it_is_fifo_however_slow_the_members(
        members in 1usize..5,
        quantum in prop_oneof![Just(3_000u32), 1u32..5_000],
        member_limit in 1u32..9,
        transitions in prop::collection::vec(transition(), 1..300),
    ) {
        let mut network = Network::new(policy(quantum, member_limit, 1_024), members, true);
        for transition in transitions {
            if !matches!(transition, Transition::Lose { .. }) {
                network.apply(transition);
                prop_assert!(network.accepted.starts_with(&network.delivered), "{}", network.text);
            }
        }
        network.heal(Duration::from_millis(1));
        prop_assert_eq!(&network.delivered, &network.accepted);
    }

    #[test]
    fn members_are_taken_in_the_order_of_the_reference(
        members in 1usize..5,
        quantum in 1u32..5_000,
        lens in prop::collection::vec(40u64..1_500, 1..60),
    ) {
        let mut network = Network::new(PaperPolicy { queue_limit: 0, ..policy(quantum, 1_000, 1_024) }, members, true);
        let mut taken = vec![];
        for &len in &lens {
            let before: Vec<u64> = network.ends[0].sender_counts().sent_by_member.clone();
            network.packet(len);
            let after = &network.ends[0].sender_counts().sent_by_member;
            taken.extend((0..members).filter(|&member| before[member] != after[member]));
        }
        prop_assert_eq!(taken, turns(i64::from(quantum), members, &lens));
    }

    /// Markers that come end each turn where the sender ended it, whatever of the turn was lost.
    #[test]
    fn as_long_as_markers_come_order_holds(
        members in 1usize..5,
        transitions in prop::collection::vec(transition(), 1..300),
    ) {
        let mut network = Network::new(policy(3_000, 8, 1_024), members, true);
        for transition in transitions {
            if let Transition::Lose { end, member } = transition
                && matches!(network.pipes[end][member % members].front(), Some(Load::Control(_)))
            {
                continue;
            }
            network.apply(transition);
            prop_assert!(network.delivered.is_sorted(), "{}", network.text);
        }
    }

    #[test]
    fn with_loss_nothing_comes_twice_and_the_fifos_are_limited(
        members in 1usize..5,
        fifo_limit in prop_oneof![1u32..20, Just(1_024)],
        transitions in prop::collection::vec(transition(), 1..300),
    ) {
        let mut network = Network::new(policy(3_000, 8, fifo_limit), members, true);
        for transition in transitions {
            network.apply(transition);
            prop_assert!(network.ends[1].held_len() <= members * fifo_limit as usize);
        }
        let mut once = network.delivered.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), network.delivered.len());
        prop_assert!(network.dropped.iter().all(|drop| drop.1 == PaperDropReason::FifoFull));
        if fifo_limit < 1_024 {
            return Ok(());
        }
        // Healing: after some rounds of full packets without loss, each with its markers, what comes is in order again.
        network.heal(Duration::from_millis(1));
        for _ in 0..members * 6 {
            network.packet(1_500);
            network.heal(Duration::from_millis(1));
        }
        let settled = network.next_id;
        for _ in 0..members * 6 {
            network.packet(1_500);
            network.heal(Duration::from_millis(1));
        }
        let tail: Vec<u64> = network.delivered.iter().copied().filter(|&id| id >= settled).collect();
        prop_assert!(tail.windows(2).all(|pair| pair[0] < pair[1]), "{:?}\n{}", tail, network.text);
    }
}

/// The packets that the receiver delivers, its members' packets and markers coming one after the other.
fn come(network: &mut Network, member: usize, count: usize) {
    for _ in 0..count {
        network.arrive(0, member);
    }
}

/// The paper's figure 3 (a) and (c): packet 2 is lost. The receiver blocks on its member although the other's packets
/// have come; the marker tells that the next on this member belongs to the second round, and they come out in order.
#[test]
fn it_blocks_on_the_member_whose_packet_was_lost_until_the_marker() {
    let mut network = Network::new(policy(1_500, 8, 1_024), 2, true);
    for _ in 0..6 {
        network.packet(1_500);
    }
    network.text.clear();
    come(&mut network, 0, 1);
    network.lose(0, 0);
    come(&mut network, 1, 3);
    assert_eq!(network.ends[1].expects(), Some((Member(0), 1, 0)));
    network.wait(Duration::from_millis(30));
    come(&mut network, 0, 2);
    come(&mut network, 1, 1);
    assert_eq!(network.ends[1].blocked(network.now), (Duration::from_millis(30), Duration::from_millis(30)));
    network.reads(
        "
        0.000 receiver: 1 comes by member 0: deliver 1
        0.000 sender: member 0 has delivered: -
        0.000 sender: 2 is lost on member 0: -
        0.000 receiver: 3 comes by member 1: -
        0.000 sender: member 1 has delivered: -
        0.000 receiver: 4 comes by member 1: -
        0.000 sender: member 1 has delivered: -
        0.000 receiver: marker(round 2, 0) comes by member 1: -
        0.000 sender: member 1 has delivered: -
        30.000 receiver: marker(round 2, 0) comes by member 0: deliver 3, deliver 4
        30.000 sender: member 0 has delivered: -
        30.000 receiver: 5 comes by member 0: deliver 5
        30.000 sender: member 0 has delivered: -
        30.000 receiver: 6 comes by member 1: -
        30.000 sender: member 1 has delivered: -
        ",
    );
}

/// The paper's figure 3 (b): the marker behind the lost packet is lost as well. The receiver takes the member's next
/// packet, 5, for the lost one, and is out of step until a marker comes.
#[test]
fn with_the_marker_lost_as_well_it_leaves_order_until_the_next() {
    let mut network = Network::new(policy(1_500, 8, 1_024), 2, true);
    for _ in 0..10 {
        network.packet(1_500);
    }
    network.text.clear();
    come(&mut network, 0, 1);
    network.lose(0, 0);
    network.lose(0, 0);
    for _ in 0..4 {
        come(&mut network, 0, 2);
        come(&mut network, 1, 3);
    }
    network.reads(
        "
        0.000 receiver: 1 comes by member 0: deliver 1
        0.000 sender: member 0 has delivered: -
        0.000 sender: 2 is lost on member 0: -
        0.000 sender: marker(round 2, 0) is lost on member 0: -
        0.000 receiver: 5 comes by member 0: deliver 5
        0.000 sender: member 0 has delivered: -
        0.000 receiver: marker(round 3, 0) comes by member 0: -
        0.000 sender: member 0 has delivered: -
        0.000 receiver: 3 comes by member 1: deliver 3
        0.000 sender: member 1 has delivered: -
        0.000 receiver: 4 comes by member 1: deliver 4
        0.000 sender: member 1 has delivered: -
        0.000 receiver: marker(round 2, 0) comes by member 1: -
        0.000 sender: member 1 has delivered: -
        0.000 receiver: 7 comes by member 0: -
        0.000 sender: member 0 has delivered: -
        0.000 receiver: marker(round 4, 0) comes by member 0: -
        0.000 sender: member 0 has delivered: -
        0.000 receiver: 6 comes by member 1: deliver 6, deliver 7
        0.000 sender: member 1 has delivered: -
        0.000 receiver: marker(round 3, 0) comes by member 1: -
        0.000 sender: member 1 has delivered: -
        0.000 receiver: 8 comes by member 1: deliver 8
        0.000 sender: member 1 has delivered: -
        0.000 receiver: 9 comes by member 0: deliver 9
        0.000 sender: member 0 has delivered: -
        0.000 receiver: marker(round 5, 0) comes by member 0: -
        0.000 sender: member 0 has delivered: -
        0.000 receiver: marker(round 4, 0) comes by member 1: -
        0.000 sender: member 1 has delivered: -
        0.000 receiver: 10 comes by member 1: deliver 10
        0.000 sender: member 1 has delivered: -
        0.000 receiver: marker(round 5, 0) comes by member 1: -
        0.000 sender: member 1 has delivered: -
        ",
    );
}

#[test]
fn what_no_member_takes_waits_in_the_queue() {
    let distributors =
        [PaperPolicy::default().distributor, policy(2_900, 1, 9).distributor, Distributor::Jkm(Jkm::default())];
    for distributor in distributors {
        let policy = PaperPolicy { distributor, member_limit: 1, queue_limit: 20, ..PaperPolicy::default() };
        let mut network = Network::new(policy, 2, true);
        let waiting: Vec<_> = (0..7)
            .map(|_| {
                network.packet(3_000);
                network.ends[0].queue_len()
            })
            .collect();
        assert_eq!(waiting, [0, 0, 1, 2, 3, 4, 5], "{distributor:?}");
    }
}

/// Each member's FIFO holds four entries here, markers among them; what finds no space is counted.
#[test]
fn markers_take_space_in_the_fifo_of_their_member() {
    let marker = |round| PaperInput::Control { member: Member(1), control: Control::Surplus { round, counter: 1 } };
    let mut end = PaperTrunk::<Packet>::new(policy(3_000, 9, 4), 2, 1);
    // Member 0 is expected, so nothing of member 1 is taken.
    let dropped: Vec<_> = (1..=6)
        .map(|round| {
            step(&mut end, Instant::ZERO, Some(marker(round)), |_| {});
            end.receiver_counts().fifo_drops
        })
        .collect();
    assert_eq!(dropped, [0, 0, 0, 0, 1, 2]);
}

/// The time for which packets of other members wait for one is counted while it goes on, and after.
#[test]
fn time_spent_blocked_adds_up() {
    let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
    let mut end = PaperTrunk::<Packet>::new(policy(3_000, 9, 1_024), 2, 1);
    let mut id = 0;
    let mut come = |end: &mut PaperTrunk<Packet>, at, member| {
        id += 1;
        let packet = Packet { id, len: 3_001, segments: 1, bucket: 0 };
        let header = TrunkHeader { member: Member(member), ..TrunkHeader::default() };
        step(end, ms(at), Some(PaperInput::Frame { header, packet }), |_| {});
    };
    let span = Duration::from_millis;
    come(&mut end, 0, 1);
    assert_eq!(end.blocked(ms(5)), (span(5), span(5)));
    come(&mut end, 20, 0);
    assert_eq!(end.blocked(ms(30)), (span(20), span(20)), "it is over");
    come(&mut end, 40, 1);
    assert_eq!(end.blocked(ms(47)), (span(27), span(20)), "the longest and the present one");
}
