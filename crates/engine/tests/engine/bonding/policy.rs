//! A host's settings of its members hold: tiers, backups, quotas, refusals; and marked packets are not dropped.

use crate::bonding::world::{Way, World, usual};
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
        let managed = crate::bonding::world::End::Dropped(BondDropReason::Managed);
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

/// Delay of a packet of 100 byte \[ms\] over a narrow near link of 5 Mbit/s beside a far one of 90, after a silence.
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

/// And behind no train that looks after the rates.
#[test]
fn a_short_packet_takes_the_near_link_however_narrow() {
    assert!((4..=6).contains(&narrow_and_wide(false)), "{} ms", narrow_and_wide(false));
    assert!((4..=6).contains(&narrow_and_wide(true)), "{} ms", narrow_and_wide(true));
}

/// A near link that loses much always has retransmissions waiting for it.
#[test]
fn retransmissions_leave_the_far_link_to_others() {
    let mut world = World::new(usual(), &[Way::new(20, MS * 10, 80), Way::new(20, MS * 60, 0)], 1);
    world.run(MS * 1_000);
    offer(&mut world, 45, 2_000);
    let before = carried(&world, 1);
    offer(&mut world, 45, 4_000);
    let far = (carried(&world, 1) - before) * 8 / 4_000;
    assert!(far > 17_000, "{far} kbit/s of 20000");
    world.check_order();
}

/// A link that stands still for a moment and loses nothing.
#[test]
fn what_a_suspected_member_brings_late_is_no_loss() {
    let mut world = World::new(usual(), &[Way::new(20, MS * 10, 0), Way::new(20, MS * 15, 0)], 1);
    (0..2).for_each(|end| world.ways[end][0].queue = 1_000);
    world.run(MS * 500);
    offer(&mut world, 25, 1_000);
    let until = world.now + MS * 200;
    (0..2).for_each(|end| world.ways[end][0].stall(until));
    offer(&mut world, 15, 2_000);
    let member = world.ends[0].status().members[0];
    assert!(member.suspicions > 0, "{member:?}");
    assert_eq!(member.loss.0, 0, "{member:?}");
    world.check_once();
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

#[test]
fn packets_do_not_wait_long_for_trains_whose_ends_are_lost() {
    let ms = Duration::from_millis(1);
    for queue in [32, 64, 100] {
        // A gigabit: its rate is looked for by trains of up to 256 frames, more than its queue takes.
        let mut way = Way::new(1_000, ms * 5, 0);
        way.queue = queue;
        let mut world = World::new(usual(), &[way], 1);
        world.run(ms * 60);
        for _ in 0..10 {
            world.give(0, 1_400, 0, TrafficClass::Bulk);
            world.run(ms * 10);
        }
        world.run(ms * 340);
        assert_eq!(world.delivered[0].len(), 10, "queue of {queue}");
    }
}
