//! JKM: whatever is lost comes again; nothing leaves order, nothing is lost, nothing comes twice.

use crate::paper::model::Packet;
use crate::paper::network::{Network, transition};
use airbraid_engine::step;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::paper::{
    Distributor, FrameFate, Jkm, PaperDropReason, PaperInput, PaperOutput, PaperPolicy, PaperTrunk, TrunkHeader,
};
use airbraid_units::{Duration, Instant, SeqNum};
use proptest::prelude::*;

fn policy(window: u32) -> PaperPolicy {
    PaperPolicy {
        distributor: Distributor::Jkm(Jkm { window, ..Jkm::default() }),
        queue_limit: 20,
        ..PaperPolicy::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn it_delivers_everything_once_and_in_order(
        members in 1usize..5,
        window in prop_oneof![Just(256u32), 1u32..6],
        ack_every in prop_oneof![Just(1u32), 2u32..20],
        told: bool,
        transitions in prop::collection::vec(transition(), 1..300),
    ) {
        let jkm = Jkm { window, ack_every, ..Jkm::default() };
        let policy = PaperPolicy { distributor: Distributor::Jkm(jkm), ..policy(window) };
        let mut network = Network::new(policy, members, told);
        for transition in transitions {
            network.apply(transition);
            // The naive reference: what is delivered is, at any time, the beginning of what was accepted.
            prop_assert!(network.accepted.starts_with(&network.delivered), "{}", network.text);
            prop_assert!(network.dropped.iter().all(|drop| drop.1 == PaperDropReason::Duplicate), "{}", network.text);
            prop_assert!(network.kept.len() <= network.accepted.len());
        }
        // Healing: two timeouts without anything new are silence.
        network.heal(Duration::from_millis(500));
        prop_assert_eq!(&network.delivered, &network.accepted, "{}", network.text);
        prop_assert!(network.kept.is_empty(), "kept for ever: {:?}", network.kept);
        prop_assert_eq!(network.ends[1].held_len(), 0);
        prop_assert_eq!(network.ends[0].queue_len(), 0);
    }
}

#[test]
fn a_hole_is_asked_for_until_it_is_filled() {
    let mut network = Network::new(policy(256), 2, true);
    for _ in 0..3 {
        network.packet(1_500);
    }
    network.lose(0, 0);
    network.arrive(0, 1);
    network.wait(Duration::from_millis(1));
    // The acknowledgement that asks for the hole is lost; it asks again, by the other member.
    network.lose(1, 1);
    network.wait(Duration::from_millis(21));
    network.arrive(1, 0);
    network.arrive(0, 0);
    network.arrive(0, 1);
    network.arrive(1, 0);
    network.arrive(1, 1);
    network.reads(
        "
        0.000 sender: packet 1: member 0 takes 1
        0.000 sender: packet 2: member 1 takes 2
        0.000 sender: packet 3: -
        0.000 sender: 1 is lost on member 0: member 0 takes 3  [trunk.resend at 200.000]
        0.000 receiver: 2 comes by member 1: member 1 takes ack(1, wants 1)  [trunk.nak at 20.000]
        0.000 sender: member 1 has delivered: -  [trunk.resend at 200.000]
        1.000 receiver: ack(1, wants 1) is lost on member 1: -  [trunk.nak at 20.000]
        20.000 receiver: trunk.nak: member 0 takes ack(1, wants 1)  [trunk.nak at 40.000]
        22.000 sender: ack(1, wants 1) comes by member 0: member 1 takes 1
        22.000 receiver: member 0 has delivered: -  [trunk.nak at 40.000]
        22.000 receiver: 3 comes by member 0: member 0 takes ack(1)  [trunk.nak at 40.000]
        22.000 sender: member 0 has delivered: -
        22.000 receiver: 1 comes by member 1: deliver 1, deliver 2, deliver 3, member 1 takes ack(4)
        22.000 sender: member 1 has delivered: -  [trunk.resend at 222.000]
        22.000 sender: ack(1) comes by member 0: -  [trunk.resend at 222.000]
        22.000 receiver: member 0 has delivered: -
        22.000 sender: ack(4) comes by member 1: release 1, release 2, release 3
        22.000 receiver: member 1 has delivered: -
        ",
    );
    let counts = network.ends[1].receiver_counts();
    assert_eq!((counts.acks, counts.naks, counts.delivered), (4, 2, 3), "two of the answers ask for packet 1");
}

/// An end that sends and receives is woken by whichever is due first.
#[test]
fn the_request_for_a_gap_does_not_wait_for_the_senders_own_timeout() {
    let mut end = PaperTrunk::<Packet>::new(policy(256), 2, 1);
    let packet = |id| Packet { id, len: 1_500, segments: 1, bucket: 0 };
    let mut tell = |input| step(&mut end, Instant::ZERO, Some(input), |_| {}).map(|wake| wake.at);
    tell(PaperInput::Packet(packet(1)));
    let resend = tell(PaperInput::Finished(Member(0), FrameFate::Lost)).unwrap();
    let header = TrunkHeader { epoch: 5, number: SeqNum(2), ..TrunkHeader::default() };
    let again = tell(PaperInput::Frame { header, packet: packet(2) }).unwrap();
    assert!(again < resend, "asks at {again:?}, sends again at {resend:?}");
}

#[test]
fn a_new_life_of_the_sender_is_counted_once_and_its_old_one_is_over() {
    let mut end = PaperTrunk::<Packet>::new(policy(256), 2, 1);
    let mut delivered = vec![];
    let resyncs: Vec<_> = [(5, 1), (5, 2), (6, 1), (5, 3), (6, 2), (9, 1)]
        .into_iter()
        .enumerate()
        .map(|(id, (epoch, number))| {
            let packet = Packet { id: id as u64, len: 1_500, segments: 1, bucket: 0 };
            let header = TrunkHeader { epoch, number: SeqNum(number), ..TrunkHeader::default() };
            step(&mut end, Instant::ZERO, Some(PaperInput::Frame { header, packet }), |output| {
                if let PaperOutput::Deliver(packet) = output {
                    delivered.push(packet.id);
                }
            });
            end.receiver_counts().resyncs
        })
        .collect();
    assert_eq!(resyncs, [0, 0, 1, 1, 1, 2]);
    assert_eq!(delivered, [0, 1, 2, 4, 5], "the fourth is of a life that is over");
}
