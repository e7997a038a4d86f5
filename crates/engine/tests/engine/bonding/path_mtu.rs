//! Paths that swallow what is too long for them: nothing longer than was confirmed goes on a member, and every packet
//! ends somewhere.

use crate::bonding::world::{End, Way, World, patient, usual};
use airbraid_engine::TrafficClass::Bulk;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{BondDropReason, BondInput, BondPolicy, MemberConfig};
use airbraid_units::{Bytes, Duration};
use proptest::prelude::*;

/// Length of all headers around a packet on the wire \[byte\].
const AROUND: u64 = 65;

fn second(count: u64) -> Duration {
    Duration::from_millis(1_000 * count)
}

/// A world whose ends can send 1500 byte over ways of 20 Mbit/s that take so much.
fn narrow(mtus: &[u64], loss: u32, is_patient: bool, seed: u64) -> World {
    let way = |&mtu: &u64| {
        let mut way = Way::new(20, Duration::from_millis(5), loss);
        way.mtu = mtu;
        way
    };
    let ways: Vec<Way> = mtus.iter().map(way).collect();
    // Nothing expires, but a hole that a packet leaves that is too long is given up.
    let lasting = BondPolicy { resequencer: usual().resequencer, ..patient() };
    let mut world = World::new(if is_patient { lasting } else { usual() }, &ways, seed);
    let config = MemberConfig { mtu: Some(Bytes::new(1_500)), ..MemberConfig::default() };
    for member in 0..mtus.len() {
        (0..2).for_each(|end| world.add_to(end, member, config));
    }
    world
}

fn dropped(world: &World, end: usize, reason: BondDropReason) -> usize {
    world.ended[end].values().filter(|how| **how == End::Dropped(reason)).count()
}

#[test]
fn what_no_path_carries_is_given_back_soon_and_the_rest_arrives() {
    let mut world = narrow(&[1_300], 0, false, 1);
    for number in 0..20 {
        world.give(0, if number % 2 == 0 { 1_400 } else { 1_200 }, 1, Bulk);
    }
    world.run(second(1));
    assert_eq!(dropped(&world, 0, BondDropReason::TooLong), 10);
    assert_eq!(world.delivered[0].len(), 10);
    assert!(world.delivered[0].iter().all(|token| token.len == 1_200));
    assert_eq!(world.path_mtus, [(Member(0), 1_300)]);
    // Not one of them went out to be lost.
    assert_eq!(world.swallowed[0][0], 0);
    assert!(world.swallowed[0][1] <= 16, "{:?}", world.swallowed);
    // What is known is used at once.
    world.give(0, 1_300 - AROUND, 1, Bulk);
    world.give(0, 1_301 - AROUND, 1, Bulk);
    world.run(Duration::from_millis(100));
    assert_eq!((world.delivered[0].len(), dropped(&world, 0, BondDropReason::TooLong)), (11, 11));
}

#[test]
fn a_packet_that_is_too_long_for_one_path_takes_another() {
    let mut world = narrow(&[1_300, 1_500, 900], 0, true, 1);
    world.run(second(2));
    let mut found = world.path_mtus.clone();
    found.sort_unstable();
    assert_eq!(found.iter().map(|(member, _)| member.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(found[0].1 == 1_300 && found[1].1 == 1_500 && (897..=900).contains(&found[2].1), "{found:?}");
    for number in 0..3_000u64 {
        world.give(0, [1_435, 1_200, 700, 60][(number % 4) as usize], (number % 7) as u16, Bulk);
        world.run(Duration::from_micros(130));
    }
    world.run(second(5));
    assert_eq!(world.delivered[0].len(), 3_000);
    assert_eq!(world.swallowed[0][0], 0);
    world.check_once();
    world.check_order();
    let sent: Vec<u64> = world.ends[0].status().members.iter().map(|member| member.sent).collect();
    assert!(sent.iter().all(|sent| *sent > 100), "each carries what it can: {sent:?}");
}

#[test]
fn a_size_that_dies_under_load_is_found_and_what_was_lost_goes_elsewhere() {
    let mut world = narrow(&[1_500, 1_500], 0, true, 1);
    world.run(second(1));
    for step in 0..6_000u64 {
        if step == 2_000 {
            (0..2).for_each(|end| world.ways[end][0].mtu = 1_300);
        }
        if step == 5_000 {
            // Two and a half seconds later none goes there any more.
            assert_eq!(world.path_mtus.last(), Some(&(Member(0), 1_300)));
            world.swallowed = [[0; 2]; 2];
        }
        world.give(0, 1_435, 1, Bulk);
        world.run(Duration::from_micros(833));
    }
    world.run(second(5));
    assert_eq!(world.delivered[0].len(), 6_000);
    assert_eq!(world.swallowed[0][0], 0);
    world.check_once();
    world.check_order();
    let status = world.ends[0].status();
    assert_eq!((status.members[0].black_holes, status.members[1].black_holes), (1, 0));
}

#[test]
fn an_idle_path_that_has_become_narrower_costs_a_few_frames_and_the_sender_is_told() {
    let mut world = narrow(&[1_500], 0, false, 1);
    world.run(second(1));
    (0..2).for_each(|end| world.ways[end][0].mtu = 1_300);
    for _ in 0..10 {
        world.give(0, 1_408, 1, Bulk);
    }
    world.run(second(3));
    assert_eq!(dropped(&world, 0, BondDropReason::TooLong), 10);
    assert_eq!(world.path_mtus.last(), Some(&(Member(0), 1_300)));
    let sent = world.ends[0].status().members[0].sent_bytes;
    assert!(sent < Bytes::new(250_000), "{sent}");
}

#[test]
fn a_hint_is_tried_and_a_forged_one_changes_nothing() {
    for hint in [68, 576, 1_280, 1_499, 9_000] {
        let mut world = narrow(&[1_500], 0, true, 1);
        world.run(second(1));
        let mtu = Bytes::new(hint);
        world.step(0, Some(BondInput::MtuHint { member: Member(0), mtu }));
        for _ in 0..500 {
            world.give(0, 1_435, 1, Bulk);
            world.run(Duration::from_millis(1));
        }
        world.run(second(1));
        assert_eq!(world.delivered[0].len(), 500, "{hint}");
        assert_eq!(world.path_mtus, [(Member(0), 1_500)], "{hint}");
    }
}

#[test]
fn what_the_own_link_refuses_is_known_at_once() {
    let mut world = narrow(&[1_500, 1_500], 0, true, 1);
    world.run(second(1));
    let config = MemberConfig { mtu: Some(Bytes::new(1_400)), ..MemberConfig::default() };
    world.configure(0, config);
    (0..2).for_each(|end| world.ways[end][0].mtu = 1_400);
    for _ in 0..500 {
        world.give(0, 1_435, 1, Bulk);
        world.run(Duration::from_micros(500));
    }
    world.run(second(1));
    assert_eq!((world.delivered[0].len(), world.swallowed[0][0]), (500, 0));
    assert_eq!(world.path_mtus.last(), Some(&(Member(0), 1_400)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_packet_arrives_or_is_too_long(
        mtus in prop::collection::vec(576u64..=1_600, 1..4), loss in 0u32..80, seed: u64,
        lengths in prop::collection::vec(60u64..1_435, 50..200)
    ) {
        let mut world = narrow(&mtus, loss, true, seed);
        for (index, len) in lengths.iter().enumerate() {
            world.give(0, *len, (index % 5) as u16, Bulk);
            world.run(Duration::from_millis(3));
        }
        world.run(second(20));
        let widest = *mtus.iter().max().unwrap_or(&0).min(&1_500) - AROUND;
        let too_long = dropped(&world, 0, BondDropReason::TooLong);
        prop_assert_eq!(world.ended[0].len(), lengths.len(), "each ends once");
        prop_assert_eq!(world.delivered[0].len() + too_long, lengths.len());
        // What is left out at the end of the search, and what chance hides from it for a while.
        let slack = if loss == 0 { 4 } else { 2_000 };
        for (id, how) in &world.ended[0] {
            let len = lengths[*id as usize];
            prop_assert!(*how == End::Released || len + slack > widest, "{len} byte fit into {widest}");
            prop_assert!(*how != End::Released || len <= widest);
        }
        prop_assert_eq!(world.swallowed[0][0], 0, "packets that went where they do not fit");
        world.check_once();
    }
}
