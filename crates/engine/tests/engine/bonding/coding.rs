//! Repair symbols: what they restore is not sent again, what they cannot is, and where they cost more than losses there
//! are none.

use crate::bonding::world::{Way, World, usual};
use airbraid_engine::TrafficClass;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{BondInput, BondPolicy, Coding};
use airbraid_units::Duration;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// 11 Mbit/s for this time over one link of 10 Mbit/s.
fn fill(world: &mut World, span_ms: u64) {
    for _ in 0..span_ms {
        world.give(0, 1_400, 0, TrafficClass::Bulk);
        world.run(ms(1));
    }
}

fn one_link(policy: BondPolicy, delay: Duration, loss: u32) -> World {
    World::new(policy, &[Way::new(10, delay, loss)], 1)
}

fn off() -> BondPolicy {
    let mut policy = usual();
    policy.coding = Coding::Off;
    policy
}

#[test]
fn what_a_long_link_loses_is_restored_and_not_sent_again() {
    let run = |policy| {
        let mut world = one_link(policy, ms(100), 50);
        world.run(ms(500));
        fill(&mut world, 8_000);
        world.run(ms(2_000));
        world.check_once();
        world.check_order();
        (world.ends[0].status(), world.ends[1].status(), world)
    };
    let (coded, far, world) = run(usual());
    let lost = coded.members[0].lost;
    // Among these are symbols, and what startup made the link's queue overflow by.
    assert!(far.counts.restored * 2 > lost, "{} restored of {lost} frames", far.counts.restored);
    let (uncoded, _, _) = run(off());
    assert!(
        coded.counts.retransmissions * 3 < uncoded.counts.retransmissions,
        "{:?} {:?}",
        coded.counts,
        uncoded.counts
    );
    assert_eq!((uncoded.members[0].repair_bytes.as_u64(), coded.outstanding), (0, 0));
    let share = coded.members[0].repair_bytes.as_u64() * 100 / coded.members[0].sent_bytes.as_u64();
    assert!((5..25).contains(&share), "{share} % are symbols");
    // All symbols that came are given back, but those that wait.
    assert!(
        world.symbols[1] > 100 && world.symbols[1] - world.spent[1] <= 256,
        "{:?} {:?}",
        world.symbols,
        world.spent
    );
}

#[test]
fn short_links_and_those_without_losses_carry_no_symbols() {
    for (delay, loss) in [(2, 50), (100, 0)] {
        let mut world = one_link(usual(), ms(delay), loss);
        world.run(ms(500));
        fill(&mut world, 3_000);
        assert_eq!(world.symbols, [0, 0], "{delay} ms, {loss} of 1000");
    }
}

#[test]
fn what_waits_on_a_member_that_dies_or_goes_is_sent_elsewhere_at_once() {
    for is_removed in [false, true] {
        let ways = [Way::new(10, ms(100), 50), Way::new(10, ms(90), 0)];
        let mut world = World::new(usual(), &ways, 1);
        world.run(ms(500));
        fill(&mut world, 4_000);
        assert!(world.symbols[1] > 0, "it is coded");
        if is_removed {
            world.step(0, Some(BondInput::MemberRemoved { member: Member(0) }));
        }
        (0..2).for_each(|end| world.ways[end][0].is_up = false);
        let given = world.given[0];
        fill(&mut world, 200);
        world.run(ms(1_500));
        world.check_once();
        let last = world.delivered[0].last().map(|token| token.id);
        assert!(last.is_some_and(|last| last + 50 >= given), "{last:?} of {given}");
        assert_eq!(world.ends[0].status().outstanding, 0);
    }
}

#[test]
fn a_lost_packet_of_a_group_comes_back_by_its_symbols() {
    let mut world = one_link(usual(), ms(100), 50);
    world.run(ms(500));
    fill(&mut world, 4_000);
    world.ways[0][0].loss = 0;
    // Shorter than the estimates live.
    world.run(ms(2_000));
    let before = world.ends[1].status().counts.restored;
    let again = world.ends[0].status().counts.retransmissions;
    world.transcript = Some(String::new());
    for packet in 0..4 {
        world.ways[0][0].loss = if packet == 1 { 1_000 } else { 0 };
        world.give(0, 1_000, 0, TrafficClass::Bulk);
        // It leaves when those before it have left.
        world.run(ms(2));
    }
    world.ways[0][0].loss = 0;
    world.run(ms(400));
    let transcript = world.transcript.take().unwrap_or_default();
    assert_eq!(world.ends[1].status().counts.restored, before + 1, "{transcript}");
    assert_eq!(world.ends[0].status().counts.retransmissions, again, "{transcript}");
    let sent: Vec<&str> = transcript.lines().filter(|line| line.contains("west")).collect();
    let from =
        |line: &str| line.split("m0  ").nth(1).unwrap_or_default().split(" as ").next().unwrap_or_default().to_owned();
    let words: Vec<String> = sent.iter().map(|line| from(line)).collect();
    // Four packets, of which the second is lost, and the symbols of their group; nothing is sent again.
    assert!(sent[1].ends_with("lost"), "{transcript}");
    assert!(words[..4].iter().all(|word| word.starts_with("packet")), "{transcript}");
    assert_eq!(words[4], "symbol 0 of 4", "{transcript}");
    assert!(words[4..].iter().all(|word| !word.starts_with("packet")), "{transcript}");
}
