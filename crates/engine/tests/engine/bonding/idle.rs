//! Members of an end that has nothing to send.

use crate::bonding::world::{Way, World, usual};
use airbraid_engine::trunk::bonding::MemberState;
use airbraid_units::Duration;

/// States of the first end's members.
fn states(world: &World) -> Vec<MemberState> {
    world.ends[0].status().members.iter().map(|member| member.state).collect()
}

/// Feedback on the other member may say that the question is lost: it is asked again all the same.
#[test]
fn a_member_that_dies_idle_is_suspected_soon_after_the_next_question() {
    let mut failed = vec![];
    let way = Way::new(500, Duration::from_micros(70), 0);
    for later_ms in [0, 1, 2, 3, 5, 8, 13, 21, 34] {
        let mut world = World::new(usual(), &[way], 7);
        world.run(Duration::from_millis(later_ms));
        world.ways.iter_mut().for_each(|ways| ways.push(way));
        world.add(1);
        world.run(Duration::from_secs(5));
        assert_eq!(states(&world), [MemberState::Active; 2]);
        world.ways.iter_mut().for_each(|ways| ways[0].is_up = false);
        world.run(Duration::from_secs(10));
        if states(&world) != [MemberState::Suspected, MemberState::Active] {
            failed.push(later_ms);
        }
        world.ways.iter_mut().for_each(|ways| ways[0].is_up = true);
        world.run(Duration::from_secs(2));
        assert_eq!(states(&world), [MemberState::Active; 2]);
    }
    assert_eq!(failed, [0; 0], "the second member begins so much later [ms]");
}

/// Frames that were declared lost, and came, would count as out of order: losses would be seen a round trip later.
#[test]
fn the_first_frames_over_a_far_path_are_not_declared_lost() {
    for one_way_ms in [100, 150, 300, 700, 1_400] {
        let ways = [5, one_way_ms].map(|delay| Way::new(100, Duration::from_millis(delay), 0));
        let mut world = World::new(usual(), &ways, 7);
        world.run(Duration::from_secs(10));
        let far = &world.ends[0].status().members[1];
        assert_eq!((far.state, far.lost, far.spurious), (MemberState::Active, 0, 0), "{one_way_ms} ms");
    }
}
