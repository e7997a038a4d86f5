//! Services: only members that may carry one carry it, whatever happens; and those that wait hold up nobody else's.

use crate::bonding::properties::{MEMBERS, Step, check_everything_came, heal, play, play_coded, play_on, steps};
use crate::bonding::world::{End, Way, World, patient, usual};
use airbraid_engine::TrafficClass;
use airbraid_engine::trunk::bonding::{BondDropReason, Services};
use airbraid_units::Duration;
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

/// Two links of 8 Mbit/s, of which the second carries no packets of service 1.
fn restricted() -> World {
    let mut world = World::new(usual(), &[Way::new(8, MS * 5, 0), Way::new(8, MS * 5, 0)], 1);
    world.services[1] = Services::ALL.without(1);
    world.add(1);
    world.run(MS * 500);
    world
}

/// Packets of 1000 byte of either service, by flow of its own, for a time: kilobit/s of each.
fn offer(world: &mut World, kbps: [u64; 2], ms: u64) {
    for tick in 0..ms {
        for (service, kbps) in (0..).zip(kbps) {
            let due = |tick: u64| tick * kbps / 8_000;
            world.service = service;
            (due(tick)..due(tick + 1)).for_each(|_| world.give(0, 1_000, u16::from(service), TrafficClass::Bulk));
        }
        world.run(MS);
    }
}

/// Frames with packets of a service on a member.
fn carried(world: &World, member: u8, service: u8) -> u64 {
    world.carried.get(&(member, service)).copied().unwrap_or(0)
}

/// Packets of a service that came.
fn came(world: &World, service: u8) -> u64 {
    world.delivered[0].iter().filter(|token| token.service == service).count() as u64
}

#[test]
fn a_service_has_its_member_and_the_rest_has_what_that_leaves() {
    let mut world = restricted();
    offer(&mut world, [9_000, 5_000], 3_000);
    world.run(MS * 500);
    assert_eq!(carried(&world, 1, 1), 0);
    let (service, rest) = (came(&world, 1), came(&world, 0));
    // 5 and 9 of 16 Mbit/s: nothing of either is too much.
    assert!(service > 1_800 && rest > 3_250, "{service} of 1875, {rest} of 3375");
    assert!(carried(&world, 1, 0) > 2_000, "{:?}", world.carried);
    world.check_order();
}

#[test]
fn an_overloaded_member_is_shared_by_its_service_and_the_rest() {
    let mut world = restricted();
    offer(&mut world, [16_000, 16_000], 4_000);
    assert_eq!(carried(&world, 1, 1), 0);
    // The member of both has 4000 packets in this time; each has a third of them at least.
    let (service, rest) = (carried(&world, 0, 1), carried(&world, 0, 0));
    assert!(service > 1_300 && rest > 1_300, "{service} and {rest}");
}

#[test]
fn a_service_without_its_member_waits_expires_and_holds_up_nobody() {
    let mut world = restricted();
    (0..2).for_each(|end| world.ways[end][0].is_up = false);
    offer(&mut world, [4_000, 4_000], 2_000);
    world.run(MS * 200);
    // What was under way on the dead member when it died goes by the other.
    assert_eq!((came(&world, 0), came(&world, 1), carried(&world, 1, 1)), (1_000, 0, 0));
    world.run(MS * 5_500);
    offer(&mut world, [1_000, 0], 100);
    let dropped = |reason| world.ended[0].values().filter(|how| **how == End::Dropped(reason)).count();
    let (expired, full) = (dropped(BondDropReason::Expired), dropped(BondDropReason::QueueFull));
    assert!(expired > 500 && expired + full == 1_000, "{expired} were given up after 5 s, {full} found no space");
    (0..2).for_each(|end| world.ways[end][0].is_up = true);
    world.run(MS * 1_000);
    offer(&mut world, [0, 4_000], 500);
    world.run(MS * 500);
    assert!(came(&world, 1) >= 250, "{} after its member came back", came(&world, 1));
    world.check_once();
}

#[test]
fn what_waits_for_a_member_that_comes_back_in_time_comes() {
    let mut world = restricted();
    offer(&mut world, [0, 4_000], 100);
    (0..2).for_each(|end| world.ways[end][0].is_up = false);
    offer(&mut world, [4_000, 4_000], 1_000);
    (0..2).for_each(|end| world.ways[end][0].is_up = true);
    world.run(MS * 2_000);
    assert_eq!((came(&world, 1), carried(&world, 1, 1)), (550, 0));
    world.check_once();
}

/// Sets of services, by member.
fn sets() -> impl Strategy<Value = Vec<Services>> {
    let set = prop::collection::vec(any::<bool>(), 4).prop_map(|out| {
        (0..).zip(out).filter(|(_, is_out)| *is_out).fold(Services::ALL, |set, (service, _)| set.without(service))
    });
    prop::collection::vec(set, MEMBERS)
}

/// The steps, with packets of four services in turn and in flows that these share.
fn play_services(world: &mut World, sets: &[Services], steps: &[Step]) {
    world.services = sets.to_vec();
    (0..MEMBERS).for_each(|member| world.add(member));
    // What was on its way before.
    world.carried.clear();
    for (at, step) in steps.iter().enumerate() {
        world.service = (at % 4) as u8;
        play_on(world, std::slice::from_ref(step));
    }
}

/// Plays the steps: no member carries a service that it may not, and all comes once each may.
fn check_services(world: &mut World, sets: &[Services], steps: &[Step]) -> Result<(), TestCaseError> {
    play_services(world, sets, steps);
    world.run(MS * 2_000);
    for (member, service) in world.carried.keys() {
        prop_assert!(sets[usize::from(*member)].has(*service), "{} has carried {}", member, service);
    }
    world.services = vec![Services::ALL; MEMBERS];
    heal(world);
    check_everything_came(world)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_member_carries_what_it_may_not_and_all_comes_once_it_may(sets in sets(), steps in steps(), seed: u64) {
        let mut world = play(patient(), &[], seed);
        check_services(&mut world, &sets, &steps)?;
    }

    #[test]
    fn nor_does_it_carry_copies_and_symbols_of_them(sets in sets(), steps in steps(), seed: u64) {
        let mut world = play_coded(patient(), &[], seed);
        world.run(MS * 3_000);
        check_services(&mut world, &sets, &steps)?;
    }
}
