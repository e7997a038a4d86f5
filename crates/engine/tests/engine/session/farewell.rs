//! The end of a session that an end wants: it counts at once, once, and for nothing that was begun after it.

use crate::session::world::{Channel, World};
use airbraid_engine::converge::session::{Input, PeerId, Refusal};

fn up() -> World {
    let mut world = World::pair(1, Channel { delay: 20, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    assert!(world.run(1_000).is_up());
    world.text.clear();
    world
}

#[test]
fn a_farewell_ends_the_session_at_the_other_end() {
    for leaver in 0..2 {
        let mut world = up();
        world.input(leaver, Some(Input::Farewell(PeerId(0))));
        world.run(1_030);
        let other = &world.ends[1 - leaver];
        assert!(!other.sessions.is_up(PeerId(0)) && !other.ring.has_key(PeerId(0)));
        assert!(world.text.contains("is left"), "{}", world.text);
        // Nothing is begun again by itself.
        let before = world.sent.len();
        world.run(400_000);
        assert_eq!(world.sent.len(), before, "{}", world.text);
    }
}

#[test]
fn the_one_who_left_comes_back_at_once() {
    let mut world = up();
    world.input(0, Some(Input::Farewell(PeerId(0))));
    world.run(1_030);
    world.restart(0, 2, crate::session::world::config(0, &[1]));
    world.now += airbraid_units::Duration::from_secs(1);
    world.input(0, Some(Input::Connect(PeerId(0))));
    assert!(world.run(2_200).is_up());
}

/// Overheard and given again: to the session that it ended, and to the next one.
#[test]
fn a_farewell_counts_once_and_for_its_session_alone() {
    let mut world = up();
    world.input(0, Some(Input::Farewell(PeerId(0))));
    let farewell = world.sent.last().unwrap().bytes.clone();
    world.run(1_030);
    assert!(!world.ends[1].sessions.is_up(PeerId(0)));
    world.input(0, Some(Input::Connect(PeerId(0))));
    assert!(world.run(2_000).is_up());
    assert_eq!(world.open(1, &farewell), Err(Refusal::UnknownKey));
    assert!(world.is_up() && world.data(0, 0, b"on"));
    // Changed so that it names the key of now.
    let mut turned = farewell.clone();
    turned[2..6].copy_from_slice(&world.ends[1].keys[1].ours.0.to_be_bytes());
    assert_eq!(world.open(1, &turned), Err(Refusal::Forged));
    assert!(world.is_up());
}

/// One that comes late, after the peer has restarted, ends the keys of before and no other.
#[test]
fn a_late_farewell_ends_nothing_newer() {
    let mut world = up();
    world.channel.loss = 1_000;
    world.input(0, Some(Input::Farewell(PeerId(0))));
    let farewell = world.sent.last().unwrap().bytes.clone();
    world.channel.loss = 0;
    world.restart(0, 2, crate::session::world::config(0, &[1]));
    world.input(0, Some(Input::Connect(PeerId(0))));
    assert!(world.run(2_000).is_up());
    world.open(1, &farewell).unwrap();
    assert!(world.is_up() && world.data(1, 0, b"still there"));
    world.run(2_100);
    assert_eq!(world.ends[0].received, [b"still there".to_vec()]);
}

/// While new keys are being made: whichever the other end has already, it is told by it.
#[test]
fn a_farewell_in_the_middle_of_a_rekeying() {
    for leaver in 0..2 {
        for ms in 0..120 {
            let mut world = up();
            world.input(0, Some(Input::Spent(PeerId(0))));
            world.run(1_000 + ms);
            for _ in 0..3 {
                world.input(leaver, Some(Input::Farewell(PeerId(0))));
            }
            // The host of who has left is gone.
            world.restart(leaver, 2, crate::session::world::config(leaver as u8, &[]));
            world.run(2_000);
            assert!(!world.ends[1 - leaver].sessions.is_up(PeerId(0)), "{leaver} after {ms} ms: {}", world.text);
        }
    }
}
