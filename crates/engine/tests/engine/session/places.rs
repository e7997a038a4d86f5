//! A peer that may be at several places: over eight uplinks, most of which lead nowhere, say.

use crate::session::world::{Channel, World, address, config};
use airbraid_engine::converge::session::{Address, Input, PeerId, Refusal, Secret};

/// The same end by several ways.
fn ways(count: u8) -> Vec<Address> {
    let way = |number| {
        let Address(mut bytes) = address(1);
        bytes[18] = number;
        Address(bytes)
    };
    (0..count).map(way).collect()
}

/// Two ends, the first of which goes to the other by several ways, the first of which are dead.
fn pair(seed: u64, count: u8, dead: u8, channel: Channel) -> World {
    let mut world = World::pair(seed, channel);
    world.dead_ways = dead;
    world.input(0, Some(Input::Addresses(PeerId(0), ways(count))));
    world.input(0, Some(Input::Connect(PeerId(0))));
    world
}

#[test]
fn seven_dead_ways_of_eight_cost_a_second() {
    let mut slowest = 0;
    for seed in 0..50 {
        let mut world = pair(seed, 8, 7, Channel { delay: 20, ..Channel::default() });
        let up = (1..=400).map(|fiftieth| fiftieth * 50).find(|ms| world.run(*ms).is_up());
        slowest = slowest.max(up.unwrap_or(u64::MAX));
    }
    assert!(slowest <= 1_050, "the slowest of 50 took {slowest} ms");
}

/// A question sent a tenth of a second later is answered later: the first answer is taken, and its key is still known.
#[test]
fn many_ways_that_are_slow_are_no_hindrance() {
    for (seed, delay) in [(1, 100), (2, 300), (3, 500), (4, 700)] {
        let mut world = pair(seed, 8, 0, Channel { delay, jitter: 40, ..Channel::default() });
        assert!(world.run(4_000).is_up(), "{delay} ms");
        assert!(world.data(0, 0, b"x") && world.data(1, 0, b"y"));
        world.run(6_000);
        assert_eq!((world.ends[0].received.len(), world.ends[1].received.len()), (1, 1), "{delay} ms");
        assert_eq!(world.ends[1].ring.stats().refused_total(), 0, "{delay} ms");
    }
}

/// Each place is asked as often as the only one would be, and not more.
#[test]
fn many_places_are_asked_no_more_often_than_one_each() {
    let tries = |count: u8| {
        let mut world = pair(5, count, 0, Channel { loss: 1_000, ..Channel::default() });
        world.run(90_000).sent_of(1).len()
    };
    let alone = tries(1);
    assert!((16..=22).contains(&alone), "{alone} in 90 s");
    let eight = tries(8);
    assert!(eight <= 8 * (alone + 1), "{eight} in 90 s, {alone} alone");
}

/// Being told the same again and again starts no new round: the last place has its turn.
#[test]
fn the_same_places_again_change_nothing() {
    let mut world = pair(7, 8, 8, Channel { delay: 20, ..Channel::default() });
    world.run(20_000);
    world.dead_ways = 7;
    let mut now = 20_000;
    while !world.is_up() && now < 40_000 {
        now += 500;
        world.run(now);
        world.input(0, Some(Input::Addresses(PeerId(0), ways(8))));
        world.input(0, Some(Input::Connect(PeerId(0))));
    }
    assert!(now <= 28_000, "{now} ms");
}

/// A new key is asked for where the last answer came from.
#[test]
fn where_it_has_answered_is_asked_first() {
    let mut world = pair(9, 8, 7, Channel { delay: 20, ..Channel::default() });
    assert!(world.run(2_000).is_up());
    let before = world.sent_of(1).len();
    world.input(0, Some(Input::Addresses(PeerId(0), ways(8))));
    world.input(0, Some(Input::Spent(PeerId(0))));
    world.run(4_000);
    assert_eq!(world.sent_of(1).len(), before + 1);
    assert_eq!(world.ends[0].keys.len(), 2);
}

/// The two ends have different secrets beside: the one that asks can tell, the other sees that nobody comes back.
#[test]
fn another_secret_beside_is_told() {
    let (mut first, second) = (config(0, &[1]), config(1, &[0]));
    first.peers[0].psk = Secret::new([9; 32]);
    let mut world =
        World::of(3, Channel { delay: 20, ..Channel::default() }, vec![(first, vec![1]), (second, vec![0])]);
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(1_000);
    assert!(!world.ends[0].sessions.is_up(PeerId(0)));
    assert!(world.text.contains("A cannot open an answer"), "{}", world.text);
    assert!(world.ends[0].sessions.stats().refused(Refusal::Forged) > 0);
}

/// A refused caller is remembered with its key.
#[test]
fn callers_that_are_refused_are_remembered() {
    let stranger = (config(2, &[0]), vec![0]);
    let key = World::of(1, Channel::default(), vec![stranger.clone()]).ends[0].sessions.public();
    let ends = vec![(config(0, &[]), vec![]), (config(1, &[0]), vec![0]), stranger];
    let mut world = World::of(1, Channel { delay: 5, ..Channel::default() }, ends);
    world.input(2, Some(Input::Connect(PeerId(0))));
    world.run(100);
    let callers: Vec<_> = world.ends[0].sessions.callers().map(|c| (c.refusal, c.from, c.key, c.times)).collect();
    assert_eq!(callers, [(Refusal::UnknownPeer, address(2), Some(key), 1)]);
}

/// Sixteen first messages may be under way: the answer to the first of them is taken, and with one more it is not.
#[test]
fn the_last_sixteen_first_messages_may_be_answered() {
    for (messages, is_taken) in [(16, true), (17, false)] {
        let mut world = pair(5, 32, 32, Channel::default());
        let mut ms = 0;
        while world.sent.len() < messages {
            ms += 1;
            world.run(ms);
        }
        assert_eq!(world.sent.len(), messages);
        let first = world.sent[0].bytes.clone();
        world.dead_ways = 0;
        world.arrive(0, 1, &first);
        world.run(ms + 1);
        assert_eq!(world.is_up(), is_taken, "{messages} messages");
    }
}
