//! A host's settings of its members hold: tiers, backups, quotas, refusals; and marked packets are not dropped.

use crate::world::{Way, World, usual};
use airbraid_engine::TrafficClass;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{BondDropReason, BondInput, BondPolicy, MemberConfig, MemberState};
use airbraid_units::{Bytes, Duration};

const MS: Duration = Duration::from_millis(1);

/// Two links of 8 Mbit/s, the second with its own configuration, and `mbps` of packets for two seconds.
fn load(config: MemberConfig, mbps: u64) -> World {
    let mut world = World::new(usual(), &[Way::new(8, MS * 5, 0); 2], 1);
    world.configure(1, config);
    world.run(MS * 500);
    offer(&mut world, mbps, 2_000);
    world
}

/// One packet of 1000 byte every `8 / mbps` milliseconds.
fn offer(world: &mut World, mbps: u64, ms: u64) {
    for tick in 0..ms {
        let due = |tick: u64| tick * mbps / 8;
        for _ in due(tick)..due(tick + 1) {
            world.give(0, 1_000, 0, TrafficClass::Bulk);
        }
        world.run(MS);
    }
}

/// Bytes of packets that the first end has sent on a member.
fn carried(world: &World, member: usize) -> u64 {
    world.ends[0].status().members[member].data_bytes.as_u64()
}

#[test]
fn a_higher_tier_gets_what_the_lower_leaves() {
    let config = MemberConfig { tier: 1, ..MemberConfig::default() };
    let calm = load(config, 4);
    assert!(carried(&calm, 1) < carried(&calm, 0) / 20, "{} beside {}", carried(&calm, 1), carried(&calm, 0));
    let busy = load(config, 12);
    assert!(carried(&busy, 1) > carried(&busy, 0) / 5, "{} beside {}", carried(&busy, 1), carried(&busy, 0));
}

#[test]
fn a_backup_carries_nothing_until_the_others_are_dead_and_nothing_after() {
    let mut world = load(MemberConfig { is_backup: true, ..MemberConfig::default() }, 12);
    assert_eq!(carried(&world, 1), 0);
    (0..2).for_each(|end| world.ways[end][0].is_up = false);
    offer(&mut world, 4, 1_000);
    let held = carried(&world, 1);
    assert!(held > 400_000, "{held} byte while the main link was dead");
    (0..2).for_each(|end| world.ways[end][0].is_up = true);
    offer(&mut world, 4, 1_000);
    let late = carried(&world, 1);
    offer(&mut world, 4, 1_000);
    assert_eq!(carried(&world, 1), late, "the main link is back");
    world.check_order();
}

#[test]
fn a_quota_ends_it_and_a_new_one_is_used() {
    let quota = Bytes::new(200_000);
    let config = MemberConfig { quota: Some(quota), ..MemberConfig::default() };
    let mut world = load(config, 14);
    let state = |world: &World| world.ends[0].status().members[1];
    assert_eq!(state(&world).state, MemberState::Exhausted);
    assert!(state(&world).sent_bytes < quota + Bytes::new(2_000), "{:?}", state(&world).sent_bytes);
    let used = carried(&world, 1);
    offer(&mut world, 4, 500);
    assert_eq!(carried(&world, 1), used);
    world.configure(1, MemberConfig { quota: Some(Bytes::new(1_000_000)), ..config });
    offer(&mut world, 14, 500);
    assert!(carried(&world, 1) > used + 100_000, "{} and {used}", carried(&world, 1));
}

#[test]
fn a_host_that_is_late_is_no_slow_link() {
    let mut world = World::new(usual(), &[Way::new(100, MS * 5, 0)], 1);
    // It gets the processor for 5 ms in 65, and is stopped when it has just seen what it is to send.
    for cycle in 0..100u64 {
        if cycle >= 3 {
            (0..4 + cycle % 8).for_each(|_| world.give(0, 100, 0, TrafficClass::Bulk));
        }
        world.sleep(0, MS * 60);
        (0..4 + cycle % 5).for_each(|_| world.give(0, 100, 0, TrafficClass::Bulk));
        world.run(MS * 65);
    }
    world.run(MS * 100);
    let member = world.ends[0].status().members[0];
    assert_eq!((member.lost, member.suspicions), (0, 0));
    // Taken for a slow one, it would have most of them still to come.
    assert_eq!(world.delivered[0].len() as u64, world.given[0], "{member:?}");
    world.check_order();
}

#[test]
fn what_the_host_could_not_send_goes_elsewhere_and_comes_once() {
    let mut world = load(MemberConfig::default(), 4);
    // The one that it would take.
    let busy = usize::from(carried(&world, 1) > carried(&world, 0));
    let before = carried(&world, 1 - busy);
    world.refuses = Some(Member(busy as u8));
    offer(&mut world, 4, 1_000);
    world.refuses = None;
    world.run(MS * 500);
    assert_eq!(world.delivered[0].len() as u64, world.given[0]);
    world.check_once();
    world.check_order();
    let other = carried(&world, 1 - busy) - before;
    assert!(world.refused > 0 && other > 200_000, "{} refused, {other} byte elsewhere", world.refused);
}

#[test]
fn a_cap_holds() {
    let rate_cap = Some(airbraid_units::BitRate::from_bps(1_000_000));
    let world = load(MemberConfig { rate_cap, ..MemberConfig::default() }, 14);
    // Two seconds and a half, and what sounds the rate before.
    assert!(carried(&world, 1) < 320_000, "{}", carried(&world, 1));
}

#[test]
fn a_flow_that_can_be_marked_is_marked_and_loses_nothing() {
    let policy = BondPolicy { target: MS * 5, ..usual() };
    let outcome = |is_markable: bool| {
        let mut world = World::new(policy, &[Way::new(8, MS * 5, 0)], 1);
        world.is_markable = is_markable;
        world.run(MS * 500);
        // A quarter more than the link carries: the queue grows past the target, and not to its limit.
        offer(&mut world, 10, 300);
        world.run(MS * 1_000);
        let managed = crate::world::End::Dropped(BondDropReason::Managed);
        let dropped = world.ended[0].values().filter(|how| **how == managed).count();
        (world.marked, dropped, world.ends[0].status().counts.marked)
    };
    let (marked, dropped, counted) = outcome(true);
    assert!(marked > 0 && dropped == 0 && counted == marked, "{marked} marked, {dropped} dropped, {counted} counted");
    let (marked, dropped, _) = outcome(false);
    assert!(marked == 0 && dropped > 0, "{marked} marked, {dropped} dropped");
}

#[test]
fn a_thin_member_that_has_become_wide_is_found_out() {
    let mut world = World::new(usual(), &[Way::new(10, MS * 2, 0); 2], 1);
    (0..2).for_each(|end| world.ways[end][1].bit_ns = 2_000);
    world.run(MS * 500);
    offer(&mut world, 9, 2_000);
    let spared = carried(&world, 1);
    (0..2).for_each(|end| world.ways[end][1].bit_ns = 100);
    offer(&mut world, 16, 30_000);
    let used = carried(&world, 1) - spared;
    assert!(used > 10_000_000, "{used} byte in half a minute of a link that is as wide as the other");
}

/// A near link of 20 Mbit/s and a far one of 10 Mbit/s, 50 ms behind it, both known.
fn near_and_far() -> World {
    let mut world = World::new(usual(), &[Way::new(20, MS * 10, 0), Way::new(10, MS * 60, 0)], 1);
    world.run(MS * 500);
    world
}

/// A flow paced to `kbps` for `ms`: a quarter more, a quarter less, and then as it is, as BBR has it. Gives how many
/// packets went by the far link and the longest time without one \[ms\].
fn pace(world: &mut World, kbps: u64, ms: u64) -> (u64, u64) {
    let (begin, before) = (world.now, carried(world, 1));
    let (mut last, mut longest) = (begin, Duration::ZERO);
    while world.now - begin < MS * ms {
        let gain = [5, 3, 4, 4, 4, 4, 4, 4][((world.now - begin).as_micros() / 20_000 % 8) as usize];
        let delivered = world.delivered[0].len();
        world.give(0, 1_400, 0, TrafficClass::Bulk);
        world.run(Duration::from_micros(1_400 * 8_000 * 4 / (kbps * gain)));
        if world.delivered[0].len() > delivered {
            last = world.now;
        }
        longest = longest.max(world.now - last);
    }
    world.check_order();
    ((carried(world, 1) - before) / 1_400, longest.as_micros() / 1_000)
}

/// It is as wide as the near link, and next to nothing waits. One packet in two round trips goes the long way, and what
/// comes behind comes at once. A flow that leaves room is not touched.
#[test]
fn a_flow_that_fills_the_near_link_is_bunched() {
    let mut world = near_and_far();
    pace(&mut world, 19_000, 1_000);
    let (far, longest) = pace(&mut world, 19_000, 2_000);
    assert!((8..=15).contains(&far), "{far} in two seconds");
    assert!((45..=55).contains(&longest), "{longest} ms: the far link is 50 ms longer");
    let mut world = near_and_far();
    pace(&mut world, 16_000, 1_000);
    assert_eq!(pace(&mut world, 16_000, 2_000).0, 0);
}

/// Delays \[ms\] of packets that come one by one after a flow of `kbps`, first of 19 Mbit/s, has been silent for
/// `silence` ms.
fn delays_after(kbps: u64, silence: u64) -> Vec<u64> {
    let mut world = near_and_far();
    pace(&mut world, 19_000, 1_500);
    pace(&mut world, kbps, 1_000);
    world.run(MS * silence);
    let mut delay = || {
        let (begin, delivered) = (world.now, world.delivered[0].len());
        world.give(0, 1_400, 0, TrafficClass::Bulk);
        while world.delivered[0].len() == delivered {
            world.run(MS);
        }
        (world.now - begin).as_micros() / 1_000
    };
    (0..4).map(|_| delay()).collect()
}

/// So a sender that looks for the shortest round trip finds the one that it has when it uses both.
#[test]
fn a_flow_that_was_bunched_and_falls_silent_has_the_far_links_delay_from_then_on() {
    let after = delays_after(27_000, 150);
    assert!(after.iter().all(|delay| (60..=64).contains(delay)), "{after:?}");
    let never = delays_after(19_000, 150);
    assert!(
        never[1..].iter().all(|delay| (10..=12).contains(delay)),
        "{never:?}: bunched once, it has never used the far link"
    );
    let long = delays_after(27_000, 2_600);
    assert!(long.iter().all(|delay| (10..=12).contains(delay)), "{long:?}: it has ended");
}

/// Delay of a packet of 100 byte \[ms\] over a narrow near link of 5 Mbit/s beside a far one of 90.
fn narrow_and_wide(gives_acknowledgements: bool) -> u64 {
    let mut world = World::new(usual(), &[Way::new(5, MS * 4, 0), Way::new(90, MS * 56, 0)], 1);
    world.run(MS * 1_500);
    world.gives_acknowledgements = gives_acknowledgements;
    let begin = world.now;
    world.give(0, 100, 0, TrafficClass::Bulk);
    while world.delivered[0].is_empty() {
        world.run(MS);
    }
    (world.now - begin).as_micros() / 1_000
}

/// A sender whose acknowledgements come by the narrow link until there are too many for it takes that for a queue, and
/// leaves slow start.
#[test]
fn what_acknowledges_does_not_overtake_the_widest_link_on_a_narrow_one() {
    assert!((4..=6).contains(&narrow_and_wide(false)), "{} ms", narrow_and_wide(false));
    assert!((56..=58).contains(&narrow_and_wide(true)), "{} ms", narrow_and_wide(true));
}

/// Bytes of copies on a far link that nothing has measured yet, beside a near one that loses 5 %, in a second of short
/// packets that now and then wait for a moment.
fn copies_to_find_out(gives_acknowledgements: bool) -> u64 {
    let mut world = World::new(usual(), &[Way::new(20, MS * 6, 50), Way::new(10, MS * 140, 0)], 1);
    world.run(MS * 1_500);
    world.gives_acknowledgements = gives_acknowledgements;
    for _ in 0..200 {
        (0..30).for_each(|_| world.give(0, 100, 0, TrafficClass::Bulk));
        world.run(MS * 5);
    }
    world.ends[0].status().members[1].repeated_bytes.as_u64()
}

#[test]
fn what_acknowledges_is_not_copied_to_find_out_what_a_far_link_carries() {
    assert!(copies_to_find_out(false) > 10_000, "{}", copies_to_find_out(false));
    assert_eq!(copies_to_find_out(true), 0);
}

#[test]
fn an_input_that_names_no_member_changes_nothing() {
    let mut world = World::new(usual(), &[Way::new(8, MS * 5, 0)], 1);
    world.run(MS * 500);
    let before = world.ends[0].status().members;
    let number = airbraid_units::SeqNum(1);
    world.step(0, Some(BondInput::Refused { member: Member(9), number }));
    world.step(0, Some(BondInput::MemberRemoved { member: Member(9) }));
    assert_eq!(world.ends[0].status().members, before);
}
