//! Packets that are sent again: by which member, and how soon.

use crate::bonding::world::{Way, World, patient, usual};
use airbraid_engine::TrafficClass;
use airbraid_units::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

/// A near and a far link of 8 Mbit/s whose rates are known.
fn near_and_far() -> World {
    let mut world = World::new(usual(), &[Way::new(8, MS * 2, 0), Way::new(8, MS * 6, 0)], 1);
    world.run(MS * 500);
    world
}

/// Runs until this number of packets has come; returns how long that took.
fn wait_for(world: &mut World, packets: usize) -> Duration {
    let begin: Instant = world.now;
    while world.delivered[0].len() < packets {
        world.run(MS);
        assert!(world.now - begin < MS * 2_000, "{} of {packets} came", world.delivered[0].len());
    }
    world.now - begin
}

/// Bytes that the first end has sent again or twice, by member.
fn repeated(world: &World) -> Vec<u64> {
    world.ends[0].status().members.iter().map(|member| member.repeated_bytes.as_u64()).collect()
}

#[test]
fn what_a_silent_member_may_have_lost_is_sent_again_by_another() {
    let mut world = near_and_far();
    world.ways[0][0].is_up = false;
    (0..3).for_each(|_| world.give(0, 1_000, 0, TrafficClass::Bulk));
    // The near member is missed after a round trip and 20 ms of feedback; the far one takes 7 ms. That the near one
    // is dead is known only after four such times.
    let took = wait_for(&mut world, 3);
    assert!(took < MS * 50, "{took}");
    assert_eq!(world.ends[0].status().members[0].suspicions, 0, "it is not known to be dead");
    world.run(MS * 500);
    let [near, far] = [0, 1].map(|member| repeated(&world)[member]);
    assert!(near == 0 && (1_000..6_500).contains(&far), "{near} byte again on the near link, {far} on the far one");
}

#[test]
fn what_the_only_member_may_have_lost_is_not_sent_again_before_it_answers() {
    let mut world = World::new(usual(), &[Way::new(8, MS * 2, 0)], 1);
    world.run(MS * 500);
    world.ways[0][0].is_up = false;
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    world.run(MS * 50);
    assert_eq!(repeated(&world), [0]);
    world.ways[0][0].is_up = true;
    let took = wait_for(&mut world, 1);
    assert!(took < MS * 100, "{took}");
}

#[test]
fn an_answer_in_time_lets_nothing_be_sent_again() {
    let mut world = near_and_far();
    for _ in 0..50 {
        world.give(0, 1_000, 0, TrafficClass::Bulk);
        world.run(MS * 20);
    }
    assert_eq!(repeated(&world), [0, 0]);
}

#[test]
fn a_member_whose_trains_are_not_done_carries_what_they_have_shown() {
    // A train tells the rate of the thin link at once; the wide one takes three, a round trip each.
    let mut world = World::new(usual(), &[Way::new(1, MS * 20, 0), Way::new(200, MS * 40, 0)], 1);
    world.run(MS * 130);
    for _ in 0..30 {
        world.give(0, 1_000, 0, TrafficClass::Bulk);
    }
    // The thin link alone would need 240 ms.
    let took = wait_for(&mut world, 30);
    assert!(took < MS * 120, "{took}");
}

#[test]
fn a_lost_packet_is_sent_again_while_its_copy_is_under_way() {
    // Real-time packets go on both links at once.
    let take = |far: u64| {
        let mut world = World::new(usual(), &[Way::new(8, MS * 2, 0), Way::new(8, MS * far, 0)], 1);
        world.run(MS * 2_000);
        world.ways[0][0].loss = 1_000;
        world.give(0, 200, 0, TrafficClass::RealTime);
        world.run(MS);
        world.ways[0][0].loss = 0;
        world.give(0, 200, 0, TrafficClass::RealTime);
        let took = wait_for(&mut world, 2);
        world.run(MS * 1_000);
        (took, world.ends[0].status().counts.retransmissions)
    };
    let (took, retransmissions) = take(300);
    assert!(took < MS * 60 && retransmissions == 1, "{took} and {retransmissions} retransmissions");
    let (took, _) = take(6);
    assert!(took < MS * 10, "{took}: by the copy");
}

#[test]
fn a_member_carries_packets_while_trains_look_for_the_rate_of_the_only_one() {
    // It is known to work after a round trip, and its rate after two.
    let mut world = World::new(usual(), &[Way::new(8, MS * 100, 0)], 1);
    world.run(MS * 220);
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    let took = wait_for(&mut world, 1);
    assert!(took < MS * 150, "{took}: not a round trip more");
    // The same while the other is dead whose rate is known.
    let mut world = World::new(usual(), &[Way::new(8, MS * 2, 0)], 1);
    world.run(MS * 500);
    (0..2).for_each(|end| world.ways[end][0].is_up = false);
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    world.run(MS * 500);
    (0..2).for_each(|end| world.ways[end].push(Way::new(8, MS * 100, 0)));
    world.add(1);
    world.run(MS * 220);
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    let took = wait_for(&mut world, 2);
    assert!(took < MS * 150, "{took}: not a round trip more");
}

#[test]
fn more_losses_than_a_near_thin_member_repairs_in_time_are_repaired_by_the_far_wide_one() {
    let mut world = World::new(patient(), &[Way::new(4, MS * 2, 0), Way::new(100, MS * 150, 0)], 1);
    // Queues that are never full: nothing is known of losses or reordering.
    (0..2).for_each(|member| world.ways[0][member].queue = 2_000);
    // Both rates become known.
    for _ in 0..1_000 {
        (0..8).for_each(|_| world.give(0, 1_000, 0, TrafficClass::Bulk));
        world.run(MS);
    }
    wait_for(&mut world, 8_000);
    let before = (repeated(&world), world.delivered[0].len());
    world.ways[0][1].loss = 500;
    for _ in 0..100 {
        (0..8).for_each(|_| world.give(0, 1_000, 0, TrafficClass::Bulk));
        world.run(MS);
    }
    world.ways[0][1].loss = 0;
    let took = wait_for(&mut world, before.1 + 800);
    let [near, far] = [0, 1].map(|member| repeated(&world)[member] - before.0[member]);
    // The losses are known after 152 ms, and the far member's repairs take as long. The near one needs 500 ms for all.
    assert!(took < MS * 400 && near > 100_000 && far > near, "{took}, {near} byte again near, {far} far");
}
