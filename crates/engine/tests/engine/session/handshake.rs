//! Handshakes over a channel that loses, repeats and reorders; rekeying under traffic.

use crate::session::world::{Channel, World, address, config};
use airbraid_engine::converge::session::{Input, PeerConfig, PeerId, PublicKey, Refusal, Secret, Suite};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// 20 % loss each way, 20 % repeated, reordered: both are up, and what is sent then arrives.
#[test]
fn completes_under_loss_and_repetition() {
    let channel = Channel { loss: 200, repeat: 200, delay: 20, jitter: 60 };
    let mut slowest = 0;
    for seed in 0..200 {
        let mut world = World::pair(seed, channel);
        world.input(0, Some(Input::Connect(PeerId(0))));
        let up = (1..=100).map(|tenth| tenth * 100).find(|ms| world.run(*ms).is_up());
        slowest = slowest.max(up.unwrap_or(u64::MAX));
        world.channel = Channel::default();
        let after = up.unwrap_or(0) + 10_000;
        world.run(after);
        assert!(world.data(0, 3, b"there") && world.data(1, 4, b"back"), "seed {seed}");
        world.run(after + 100);
        assert_eq!(world.ends[1].received, [b"there".to_vec()], "seed {seed}");
        assert_eq!(world.ends[0].received, [b"back".to_vec()], "seed {seed}");
    }
    assert!(slowest <= 10_000, "the slowest of 200 took {slowest} ms");
}

/// A path whose round trip is longer than the first two retransmissions.
#[test]
fn completes_over_a_long_path() {
    let mut world = World::pair(1, Channel { delay: 400, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    assert!(world.run(2_000).is_up());
    assert!(world.data(0, 0, b"x") && world.data(1, 0, b"y"));
    world.run(3_000);
    assert_eq!((world.ends[0].received.len(), world.ends[1].received.len()), (1, 1));
}

#[test]
fn both_begin_at_once() {
    for seed in 0..50 {
        let channel = Channel { loss: 100, repeat: 100, delay: 10, jitter: 30 };
        let ends = vec![(config(0, &[1]), vec![1]), (config(1, &[0]), vec![0])];
        let mut world = World::of(seed, channel, ends);
        world.input(0, Some(Input::Connect(PeerId(0))));
        world.input(1, Some(Input::Connect(PeerId(0))));
        world.run(20_000);
        world.channel = Channel::default();
        world.run(40_000);
        assert!(world.data(0, 0, b"x") && world.data(1, 0, b"y"), "seed {seed}");
        world.run(41_000);
        assert_eq!((world.ends[0].received.len(), world.ends[1].received.len()), (1, 1), "seed {seed}");
    }
}

/// Ten minutes of traffic both ways, five rekeyings: on a channel that loses nothing, nothing is lost.
#[test]
fn rekeying_loses_nothing() {
    for seed in 0..5 {
        let mut world = World::pair(seed, Channel { delay: 20, jitter: 80, ..Channel::default() });
        world.input(0, Some(Input::Connect(PeerId(0))));
        world.run(1_000);
        for number in 0u32..60_000 {
            let data = number.to_be_bytes();
            assert!(world.data(0, (number % 3) as u8, &data) && world.data(1, (number % 2) as u8, &data));
            world.run(1_000 + u64::from(number + 1) * 10);
        }
        world.run(602_000);
        for end in &world.ends {
            let received: BTreeSet<&[u8]> = end.received.iter().map(Vec::as_slice).collect();
            assert_eq!((received.len(), end.received.len()), (60_000, 60_000), "seed {seed}");
            assert_eq!(end.keys.len(), 6);
            assert_eq!(end.ring.stats().refused_total(), 0);
        }
    }
}

/// The same over a channel that loses the handshakes too: what was lost is what the channel has lost.
#[test]
fn rekeying_under_loss_refuses_nothing_that_was_not_repeated() {
    for seed in 0..5 {
        let mut world = World::pair(seed, Channel { loss: 300, delay: 20, jitter: 80, repeat: 0 });
        world.input(0, Some(Input::Connect(PeerId(0))));
        world.run(20_000);
        assert!(world.is_up());
        for number in 0u32..6_000 {
            let data = number.to_be_bytes();
            assert!(world.data(0, 0, &data) && world.data(1, 0, &data), "at {number} of seed {seed}");
            world.run(20_000 + u64::from(number + 1) * 100);
        }
        for end in &world.ends {
            assert!(end.keys.len() >= 5, "{} keys", end.keys.len());
            assert_eq!(end.ring.stats().refused_total(), 0, "seed {seed}: {:?}", end.ring.stats());
        }
    }
}

#[test]
fn the_responder_chooses_the_suite() {
    let (aes, chacha) = (Suite::Aes256Gcm, Suite::ChaCha20Poly1305);
    for (ours, theirs, chosen) in [
        (vec![aes, chacha], vec![aes, chacha], Some(aes)),
        (vec![aes, chacha], vec![chacha, aes], Some(chacha)),
        (vec![aes], vec![chacha, aes], Some(aes)),
        (vec![aes], vec![chacha], None),
    ] {
        let (mut first, mut second) = (config(0, &[1]), config(1, &[0]));
        (first.suites, second.suites) = (ours, theirs);
        let mut world = World::of(3, Channel::default(), vec![(first, vec![1]), (second, vec![0])]);
        world.input(0, Some(Input::Connect(PeerId(0))));
        world.run(1_000);
        let suites = |end: usize| world.ends[end].keys.first().map(|keys| keys.suite);
        assert_eq!((suites(0), suites(1)), (chosen, chosen));
        assert_eq!(world.ends[1].sessions.stats().refused(Refusal::Version) > 0, chosen.is_none());
    }
}

/// Two clients and one end that knows both, on one port.
#[test]
fn many_peers_of_one_end() {
    let mut ends = vec![(config(0, &[1, 2]), vec![1, 2])];
    ends.extend((1..3).map(|client| (config(client, &[0]), vec![0])));
    let mut world = World::of(1, Channel { delay: 5, ..Channel::default() }, ends);
    for client in 1..3 {
        world.input(client, Some(Input::Connect(PeerId(0))));
    }
    world.run(500);
    assert!(world.data(1, 0, b"of one") && world.data(2, 0, b"of two"));
    world.run(600);
    assert_eq!(world.ends[0].received.len(), 2);
    assert!((0..2).all(|peer| world.ends[0].sessions.is_up(PeerId(peer))));
}

/// An end learns of one more peer, then forgets it again: its keys are gone, and it is a stranger from then on.
#[test]
fn peers_come_and_go() {
    let stranger = (config(2, &[0]), vec![0]);
    let ends = vec![(config(0, &[1]), vec![1, 2]), (config(1, &[0]), vec![0]), stranger];
    let mut world = World::of(1, Channel { delay: 5, ..Channel::default() }, ends);
    for client in 1..3 {
        world.input(client, Some(Input::Connect(PeerId(0))));
    }
    world.run(500);
    assert!(world.ends[0].sessions.is_up(PeerId(0)));
    assert!(world.ends[0].sessions.stats().refused(Refusal::UnknownPeer) > 0);
    let mut known = config(0, &[2]).peers;
    known[0].addresses.clear();
    world.input(0, known.pop().map(Input::PeerAdded));
    world.run(7_000);
    assert!(world.ends[0].sessions.is_up(PeerId(1)) && world.ends[2].sessions.is_up(PeerId(0)));
    assert!(world.data(2, 0, b"one more"));
    world.run(7_100);
    world.input(0, Some(Input::PeerRemoved(PeerId(1))));
    assert!(!world.ends[0].sessions.is_up(PeerId(1)) && !world.ends[0].ring.has_key(PeerId(1)));
    assert!(world.ends[0].sessions.is_up(PeerId(0)));
    let refused = world.ends[0].sessions.stats().refused(Refusal::UnknownPeer);
    world.data(2, 0, b"too late");
    world.input(2, Some(Input::Spent(PeerId(0))));
    world.run(8_000);
    assert!(world.ends[0].sessions.stats().refused(Refusal::UnknownPeer) > refused);
    assert_eq!(world.ends[0].received, [b"one more"]);
}

/// Nobody is there, then somewhere else.
#[test]
fn gives_up_and_tries_all_addresses() {
    let mut world = World::pair(1, Channel { loss: 1_000, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(200_000);
    assert!(world.text.trim_end().ends_with("has failed"));
    let tries = world.sent_of(1).len();
    // Five in the first 8 to 10 s, then one every 5 to 6.7 s.
    assert!((16..=22).contains(&tries), "{tries} in 90 s");
    world.channel = Channel::default();
    world.input(0, Some(Input::Addresses(PeerId(0), vec![address(0), address(1)])));
    world.input(0, Some(Input::Connect(PeerId(0))));
    assert!(world.run(201_000).is_up());
}

/// Asked for again when it was about to give up: it goes on, and no quicker than before.
#[test]
fn goes_on_when_asked_again() {
    let mut world = World::pair(1, Channel { loss: 1_000, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    for second in 85..90 {
        world.run(second * 1_000).input(0, Some(Input::Connect(PeerId(0))));
    }
    let tries = world.sent_of(1).len();
    assert!((16..=22).contains(&tries), "{tries} in 90 s");
    world.channel = Channel::default();
    assert!(world.run(100_000).is_up());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Faults first, healing after: whatever happened, both are up in bounded time and talk.
    #[test]
    fn heals(
        seed: u64,
        loss in 0u32..1_000,
        repeat in 0u32..500,
        delay in 0u32..300,
        jitter in 0u32..500,
        fault in 0u64..400,
    ) {
        let mut world = World::pair(seed, Channel { loss, repeat, delay, jitter });
        world.input(0, Some(Input::Connect(PeerId(0))));
        for second in 1..=fault {
            world.data(0, 1, b"x");
            world.data(1, 1, b"y");
            world.run(second * 1_000);
        }
        world.channel = Channel::default();
        world.input(0, Some(Input::Connect(PeerId(0))));
        world.run(fault * 1_000 + 10_000);
        let before = [0, 1].map(|end: usize| world.ends[end].received.len());
        prop_assert!(world.data(0, 0, b"x") && world.data(1, 0, b"y"));
        world.run(fault * 1_000 + 10_000 + 1_000);
        for (end, before) in world.ends.iter().zip(before) {
            prop_assert_eq!(end.received.len(), before + 1);
        }
        prop_assert!(world.ends.iter().all(|end| end.sessions.stats().refused(Refusal::Forged) == 0));
    }
}

/// More peers than 16 bits can number, as when many came and went in one life: none is taken for another.
#[test]
fn peers_are_never_numbered_twice() {
    const PEERS: u32 = 65_540;
    let mut hub = config(0, &[]);
    let known = |number: u32| {
        let mut public = [0; 32];
        public[..4].copy_from_slice(&number.to_be_bytes());
        let public = PublicKey(public);
        PeerConfig { public, psk: Secret::new([0; 32]), addresses: vec![] }
    };
    hub.peers = (0..PEERS).map(known).chain(config(0, &[1]).peers).collect();
    let mut client = config(1, &[0]);
    client.peers[0].addresses = vec![address(0)];
    let mut world = World::of(1, Channel::default(), vec![(hub, vec![1; PEERS as usize + 1]), (client, vec![0])]);
    world.input(1, Some(Input::Connect(PeerId(0))));
    world.run(1);
    assert_eq!(world.ends[0].keys[0].peer, PeerId(PEERS));
    assert!(world.ends[0].sessions.is_up(PeerId(PEERS)) && !world.ends[0].sessions.is_up(PeerId(PEERS % 65_536)));
}

/// The responder has the key when it confirms it: the initiator asks five times, at twice the interval each, and then
/// makes another.
#[test]
fn a_key_that_is_not_confirmed_is_asked_for_five_times_and_then_replaced() {
    let mut world = World::pair(3, Channel { delay: 20, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    // The answer is under way; nothing comes any more behind it.
    world.run(39);
    world.channel.loss = 1_000;
    // A quarter of a second, four doublings, and up to a third more: 7.75 to 10.33 s.
    world.run(7_700);
    let asked = |world: &World| world.text.lines().filter(|line| line.contains("A tells Confirm")).count();
    let begun = |world: &World| world.text.lines().filter(|line| line.contains("A sends initiation")).count();
    assert_eq!((asked(&world), begun(&world)), (5, 1), "{}", world.text);
    world.run(10_400);
    assert!(asked(&world) == 5 && begun(&world) > 1, "{}", world.text);
    assert_eq!(world.ends[1].sessions.stats().accepted, 1);
}
