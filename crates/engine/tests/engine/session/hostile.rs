//! Those who listen, repeat, change and make up: nothing is accepted, and no answer is longer than what it answers.

use crate::session::world::{Channel, Datagram, World, config};
use airbraid_engine::Stream;
use airbraid_engine::converge::session::{Input, PeerId, Refusal, Secret};
use proptest::prelude::*;

/// A session that is up, and all that was on the air.
fn up(seed: u64) -> World {
    let mut world = World::pair(seed, Channel { delay: 5, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(1_000);
    assert!(world.is_up() && world.data(0, 0, b"one") && world.data(1, 0, b"two"));
    world.run(2_000);
    world
}

/// The state that an attacker would change.
fn state(world: &World) -> impl PartialEq + std::fmt::Debug + use<> {
    world
        .ends
        .iter()
        .map(|end| (end.keys.clone(), end.received.clone(), end.sessions.stats().accepted))
        .collect::<Vec<_>>()
}

/// Gives `bytes` to `to` as if from `from`; how many bytes come back.
fn provoke(world: &mut World, from: usize, to: usize, bytes: &[u8]) -> usize {
    let before = world.sent.len();
    world.arrive(from, to, bytes);
    world.sent[before..].iter().map(|answer| answer.bytes.len()).sum()
}

/// Every bit of every message, and of a frame: none is accepted with it changed.
#[test]
fn no_bit_can_be_changed() {
    let mut world = World::pair(1, Channel::default());
    world.input(0, Some(Input::Connect(PeerId(0))));
    let initiation = world.sent_of(1)[0].clone();
    let flips = |bytes: &[u8]| {
        let bytes = bytes.to_vec();
        (0..bytes.len() * 8).map(move |bit| {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        })
    };
    for bytes in flips(&initiation) {
        let before = state(&world);
        assert!(provoke(&mut world, 0, 1, &bytes) <= bytes.len());
        assert_eq!(state(&world), before);
    }
    world.arrive(0, 1, &initiation);
    let response = world.sent_of(2)[0].clone();
    for bytes in flips(&response) {
        let before = state(&world);
        assert_eq!(provoke(&mut world, 1, 0, &bytes), 0);
        assert_eq!(state(&world), before);
    }
    // After all that the right answer is still taken.
    world.arrive(1, 0, &response);
    world.run(100);
    assert!(world.is_up() && world.data(0, 2, b"frame"));
    let frame = world.sent_of(4)[0].clone();
    for bytes in flips(&frame) {
        let before = state(&world);
        assert_eq!(provoke(&mut world, 0, 1, &bytes), 0);
        assert_eq!(state(&world), before);
    }
    assert!(world.open(1, &frame).is_ok());
}

#[test]
fn what_was_on_the_air_is_worth_nothing_again() {
    let mut world = up(1);
    let all: Vec<Datagram> = std::mem::take(&mut world.sent);
    let before = state(&world);
    let refused = |world: &World| {
        world
            .ends
            .iter()
            .map(|end| end.sessions.stats().refused_total() + end.ring.stats().refused_total())
            .sum::<u64>()
    };
    let counted = refused(&world);
    for datagram in &all {
        assert_eq!(provoke(&mut world, datagram.from, datagram.to, &datagram.bytes), 0);
        // And back to where it came from.
        assert_eq!(provoke(&mut world, datagram.to, datagram.from, &datagram.bytes), 0);
    }
    assert_eq!(state(&world), before);
    assert_eq!(refused(&world), counted + 2 * all.len() as u64);
    let [first, second] = &world.ends[..] else { panic!("two ends") };
    assert_eq!(second.sessions.stats().refused(Refusal::Replayed), 1, "the first message");
    assert_eq!(first.sessions.stats().refused(Refusal::Replayed), 1, "the second");
    assert_eq!(second.ring.stats().refused(Refusal::Replayed), 2, "confirmation and data");
    assert_eq!(first.ring.stats().refused(Refusal::Reflected), 2);
    assert_eq!(first.sessions.stats().refused(Refusal::Stranger), 1, "its own first message");
}

/// A first message from before the responder's restart: it is answered, shorter, and no key comes into use.
#[test]
fn a_first_message_is_replayed_to_an_end_that_has_forgotten() {
    let old = up(1).sent_of(1)[0].clone();
    let mut world = World::pair(2, Channel::default());
    let answer = provoke(&mut world, 0, 1, &old);
    assert!(answer > 0 && answer <= old.len());
    world.run(1_000);
    assert!(!world.ends[1].sessions.is_up(PeerId(0)));
    assert!(!world.data(1, 0, b"nobody is there"));
    // Nor is it believed where it came from.
    world.input(1, Some(Input::Connect(PeerId(0))));
    assert!(world.sent_of(1).is_empty());
    // The true one is let in all the same.
    world.now += airbraid_units::Duration::from_secs(10);
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(20_000);
    assert!(world.is_up());
}

#[test]
fn whoever_has_the_wrong_key_stays_outside() {
    let attempt = |change: &dyn Fn(&mut airbraid_engine::converge::session::Config)| {
        let mut first = config(0, &[1]);
        change(&mut first);
        let mut second = config(1, &[0]);
        second.peers[0].addresses.clear();
        let mut world = World::of(1, Channel::default(), vec![(first, vec![1]), (second, vec![0])]);
        world.input(0, Some(Input::Connect(PeerId(0))));
        world.run(10_000);
        assert!(world.ends.iter().all(|end| !end.sessions.is_up(PeerId(0))));
        world
    };
    let stranger = attempt(&|first| first.identity = Secret::new([77; 32]));
    assert!(stranger.ends[1].sessions.stats().refused(Refusal::UnknownPeer) > 0);
    assert!(stranger.sent_of(2).is_empty());
    let mistaken = attempt(&|first| first.peers[0].public.0[0] ^= 1);
    assert!(mistaken.ends[1].sessions.stats().refused(Refusal::Stranger) > 0);
    assert!(mistaken.sent_of(2).is_empty());
    let secretless = attempt(&|first| first.peers[0].psk = Secret::new([1; 32]));
    assert!(secretless.ends[0].sessions.stats().refused(Refusal::Forged) > 0);
}

/// Whoever floods is answered with cookies, not with work; whoever shows one comes in.
#[test]
fn under_load_a_cookie_is_asked_for() {
    let mut second = config(1, &[0]);
    second.timing.load = 0;
    let ends = vec![(config(0, &[1]), vec![1]), (second, vec![0])];
    let mut world = World::of(1, Channel { delay: 5, ..Channel::default() }, ends);
    world.input(0, Some(Input::Connect(PeerId(0))));
    assert!(world.run(1_000).is_up());
    world.reads(
        "
        0.000 A sends initiation, 144 byte
        5.000 B sends cookie reply, 52 byte
        10.000 A sends initiation with cookie, 144 byte
        15.000 B installs key 1 as Responder
        15.000 B sends response, 80 byte
        20.000 A installs key 1 as Initiator
        20.000 A uses key 1
        20.000 A is up
        20.000 A tells Confirm with key 1
        25.000 B uses key 1
        25.000 B is up
        25.000 B tells Confirmed with key 1
        ",
    );
    // The cookie is good for one address.
    let shown = world.sent_of(1)[1].clone();
    let other = provoke(&mut world, 2, 1, &shown);
    assert_eq!((other, world.ends[1].sessions.stats().refused(Refusal::NoCookie)), (52, 2));
    // A reply to nothing, and one that comes again.
    let reply = world.sent_of(3)[0].clone();
    assert_eq!(provoke(&mut world, 1, 0, &reply), 0);
}

/// A flood from one address that has a cookie: the emptier the budget, the less it gets of it.
#[test]
fn a_cookie_is_no_pass_for_a_flood() {
    let mut second = config(1, &[0]);
    (second.timing.load, second.timing.load_most, second.timing.load_home) = (0, 5, 0);
    let ends = vec![(config(0, &[1]), vec![1]), (second, vec![0])];
    let mut world = World::of(1, Channel::default(), ends);
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(100);
    let shown = world.sent_of(1)[1].clone();
    for _ in 0..20 {
        assert_eq!(provoke(&mut world, 0, 1, &shown), 0);
    }
    let stats = world.ends[1].sessions.stats();
    assert_eq!((stats.refused(Refusal::Replayed), stats.refused(Refusal::Overload)), (3, 17));
}

/// A third party in between, who answers before the true one does.
#[test]
fn an_impostor_is_quicker() {
    let mut world = World::pair(1, Channel { delay: 50, ..Channel::default() });
    let mut thief = config(2, &[0]);
    thief.peers[0].addresses.clear();
    world.input(0, Some(Input::Connect(PeerId(0))));
    let initiation = world.sent_of(1)[0].clone();
    let mut other = World::of(9, Channel::default(), vec![(thief, vec![0])]);
    assert_eq!(provoke(&mut other, 0, 0, &initiation), 0, "it was not meant for the thief");
    let name = initiation[4..8].to_vec();
    let mut stream = Stream::new(1, 0, "thief");
    for _ in 0..100 {
        let mut made: Vec<u8> = (0..80).map(|_| stream.next_u64() as u8).collect();
        made[..4].copy_from_slice(&[0x12, 0, 0, 0]);
        made[4..8].copy_from_slice(&name);
        assert_eq!(provoke(&mut world, 1, 0, &made), 0);
    }
    assert!(world.run(1_000).is_up());
    assert_eq!(world.ends[0].sessions.stats().refused_total(), 100);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Made up or put together from what was on the air: nothing changes, nothing long comes back.
    #[test]
    fn mutations_are_refused(
        picks in prop::collection::vec(
            (any::<prop::sample::Index>(), 0u8..3, any::<u16>(), any::<u8>(), any::<bool>()),
            1..60,
        ),
    ) {
        let mut world = up(1);
        let air: Vec<Vec<u8>> = world.sent.iter().map(|datagram| datagram.bytes.clone()).collect();
        let before = state(&world);
        for (pick, deed, at, value, to_first) in picks {
            let mut bytes = pick.get(&air).clone();
            let at = usize::from(at) % bytes.len();
            match deed {
                0 => bytes[at] ^= value.max(1),
                1 => bytes.truncate(at),
                _ => bytes.extend(vec![value; at + 1]),
            }
            let to = usize::from(!to_first);
            prop_assert!(provoke(&mut world, 1 - to, to, &bytes) <= bytes.len());
        }
        prop_assert!(state(&world) == before);
    }
}
