//! Clocks that were set back: whatever they say, ends that know each other come together, and what is repeated wins
//! nothing.

use crate::session::world::{Channel, World, config, secret};
use airbraid_engine::converge::session::{Config, Gate, Input, KeyId, PeerId, Refusal, public_key};
use airbraid_engine::wire::{STAMP_REPLY_LEN, SessionMessage, parse_session};
use proptest::prelude::*;
use std::collections::BTreeSet;

const HOUR_NS: u64 = 3_600_000_000_000;

fn at(end: u8, epoch_ns: u64) -> Config {
    Config { epoch_ns, ..config(end, &[1 - end]) }
}

/// Up once, then the first end begins another life with this clock.
fn restarted(epoch_ns: u64) -> World {
    let mut world = World::pair(1, Channel { delay: 20, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    assert!(world.run(10_000).is_up());
    world.restart(0, 2, at(0, epoch_ns));
    world.text.clear();
    world.input(0, Some(Input::Connect(PeerId(0))));
    world
}

#[test]
fn an_end_whose_clock_was_set_back_by_an_hour_connects_in_two_round_trips() {
    let mut world = restarted(config(0, &[1]).epoch_ns - HOUR_NS);
    assert!(world.run(10_090).is_up());
    assert!(world.data(0, 0, b"there"));
    world.run(10_200);
    assert_eq!(world.ends[1].received, [b"there".to_vec()]);
    world.reads(
        "
        10000.000 A sends initiation, 144 byte
        10020.000 B sends stamp reply, 84 byte
        10040.000 A sees a clock set back: Ours, by 3590 s
        10040.000 A sends initiation, 144 byte
        10060.000 B installs key 2 as Responder
        10060.000 B sees a clock set back: Theirs, by 3590 s
        10060.000 B sends response, 80 byte
        10080.000 A installs key 1 as Initiator
        10080.000 A uses key 1
        10080.000 A is up
        10080.000 A tells Confirm with key 1
        10100.000 B uses key 2
        10100.000 B tells Confirmed with key 2
        ",
    );
}

/// Stamps of the past and of the end of time: none is so far that there is none beyond it.
#[test]
fn any_clock_will_do() {
    let epochs = [0, 1, HOUR_NS, 1 << 62, (1 << 63) - 1, 1 << 63, 3 << 62, u64::MAX - 1, u64::MAX];
    for before in epochs {
        for after in epochs {
            let channel = Channel { delay: 20, ..Channel::default() };
            let ends = vec![(at(0, before), vec![1]), (at(1, after), vec![0])];
            let mut world = World::of(1, channel, ends);
            world.input(0, Some(Input::Connect(PeerId(0))));
            assert!(world.run(1_000).is_up(), "{before}");
            for life in 0..3 {
                world.restart(0, 2 + life, at(0, after));
                world.input(0, Some(Input::Connect(PeerId(0))));
                let now = 1_100 + life * 1_000;
                assert!(world.run(now).is_up() && world.data(0, 0, b"x"), "{before}, {after}, life {life}");
                world.run(now + 900);
                assert_eq!(world.ends[1].received.len(), life as usize + 1);
            }
        }
    }
}

/// The answer that was overheard, given again to its receiver and to other attempts; and turned into a response, and
/// back.
#[test]
fn an_answer_is_good_once_and_for_what_it_answers() {
    let mut world = restarted(0);
    world.run(10_045);
    let reply = world.sent_of(6)[0].clone();
    assert_eq!(reply.len(), STAMP_REPLY_LEN);
    let (sent, before) = (world.sent.len(), world.ends[0].sessions.stats().clone());
    world.arrive(1, 0, &reply);
    assert_eq!(world.sent.len(), sent);
    assert_eq!(world.ends[0].sessions.stats().refused(Refusal::UnknownKey), before.refused(Refusal::UnknownKey) + 1);
    // To the attempt that is open now: it is not sealed for it.
    let Ok(SessionMessage::Initiation(open)) = parse_session(world.sent_of(1).last().unwrap()) else { panic!() };
    let KeyId(name) = open.sender;
    for kind in [0x16, 0x12] {
        for len in [STAMP_REPLY_LEN, 80] {
            let mut turned = reply.clone();
            turned[0] = kind;
            turned[4..8].copy_from_slice(&name.to_be_bytes());
            turned.truncate(len);
            world.arrive(1, 0, &turned);
        }
    }
    assert_eq!((world.sent.len(), world.ends[0].sessions.stats().set_back), (sent, 1));
    assert!(world.run(10_200).is_up());
}

/// A late copy of a first message is answered with a stamp that is no news, and the channel repeats the answer: it is
/// old each time, not forged, and nobody is told that an answer cannot be opened.
#[test]
fn a_repeated_answer_without_news_is_not_forged() {
    let mut world = World::pair(1, Channel { delay: 20, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.flush();
    while world.sent_of(2).is_empty() {
        let next = world.now.as_nanos() / 1_000_000 + 1;
        world.run(next);
    }
    let late = world.sent_of(1)[0].clone();
    world.arrive(0, 1, &late);
    let reply = world.sent_of(6)[0].clone();
    for _ in 0..3 {
        world.arrive(1, 0, &reply);
    }
    let stats = world.ends[0].sessions.stats().clone();
    let refused = [Refusal::Replayed, Refusal::UnknownKey, Refusal::Forged].map(|cause| stats.refused(cause));
    assert_eq!(refused, [1, 2, 0]);
    let later = world.now.as_nanos() / 1_000_000 + 100;
    assert!(world.run(later).is_up());
    assert!(!world.text.contains("cannot open"), "{}", world.text);
}

/// The gate lets an answer in to whom it is awaited, and to nobody else.
#[test]
fn the_gate_lets_in_what_is_awaited() {
    let mut world = restarted(0);
    world.run(10_045);
    let (asked, reply) = (world.sent_of(1)[1].clone(), world.sent_of(6)[0].clone());
    let mut gate = Gate::new(&public_key(&secret(0)));
    assert_eq!(gate.check(&reply), Err(Refusal::UnknownKey));
    gate.sent(world.now, &asked);
    assert_eq!(gate.check(&reply), Ok(()));
    let mut forged = reply.clone();
    forged[70] ^= 1;
    assert_eq!(gate.check(&forged), Err(Refusal::Stranger));
}

/// A response cannot be turned into a stamp reply.
#[test]
fn a_response_is_no_answer_of_the_other_kind() {
    let mut world = World::pair(1, Channel { delay: 20, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(30);
    let mut turned = world.sent_of(2)[0].clone();
    turned[0] = 0x16;
    turned.extend([0; 4]);
    world.arrive(1, 0, &turned);
    assert_eq!(world.ends[0].sessions.stats().set_back, 0);
    assert!(world.run(100).is_up());
}

/// A peer that tells ever newer stamps has its own attempts pushed, at the pace of attempts, and nobody else's.
#[test]
fn a_peer_pushes_its_own_stamps_and_no_others() {
    let clients = vec![(config(0, &[1, 2]), vec![1, 2])];
    let mut ends = clients;
    ends.extend((1..3).map(|hub| (config(hub, &[0]), vec![0])));
    let mut world = World::of(1, Channel { delay: 20, ..Channel::default() }, ends);
    // The first hub has seen a stamp of the far future.
    world.ends[0].sessions =
        World::of(9, Channel::default(), vec![(Config { epoch_ns: u64::MAX, ..config(0, &[1, 2]) }, vec![])])
            .ends
            .remove(0)
            .sessions;
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(1_000);
    world.restart(0, 5, config(0, &[1, 2]));
    let before = world.sent.len();
    for peer in 0..2 {
        world.input(0, Some(Input::Connect(PeerId(peer))));
    }
    world.run(2_000);
    assert!(world.ends[0].sessions.is_up(PeerId(0)) && world.ends[0].sessions.is_up(PeerId(1)));
    // The second has been shown what the clock says.
    let later = world.sent[before..].iter().filter(|sent| sent.bytes[0] == 0x16).map(|sent| sent.from);
    assert_eq!(later.collect::<Vec<_>>(), [1]);
}

/// Two hosts with one key: each takes the other's session, and both are told.
#[test]
fn another_host_with_the_same_key_is_seen() {
    let ends = vec![
        (config(0, &[1]), vec![1]),
        (config(1, &[0]), vec![0]),
        (at(0, config(0, &[1]).epoch_ns + HOUR_NS), vec![1]),
    ];
    let mut world = World::of(1, Channel { delay: 20, ..Channel::default() }, ends);
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(1_000);
    world.input(2, Some(Input::Connect(PeerId(0))));
    world.run(2_000);
    world.input(0, Some(Input::Spent(PeerId(0))));
    world.run(3_000);
    assert!(world.text.contains("A sees another with its key"), "{}", world.text);
}

/// A step of an end, or of an eavesdropper.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// The first end restarts, with this clock.
    First(u64),
    /// So does the second.
    Second(u64),
    /// All that was heard so far is given again, to both.
    Replay,
    Connect,
    Wait(u16),
}

fn deed() -> impl Strategy<Value = Deed> {
    let epoch = || prop_oneof![any::<u64>(), 0..HOUR_NS, Just(u64::MAX), Just(1 << 63)];
    prop_oneof![
        1 => epoch().prop_map(Deed::First),
        1 => epoch().prop_map(Deed::Second),
        2 => Just(Deed::Replay),
        2 => Just(Deed::Connect),
        2 => (0u16..2_000).prop_map(Deed::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Lives with any clocks, on a channel that loses, while all that was ever on it is replayed: no replay makes a
    /// key come into use, no answer is longer than its question, and in the end both are up.
    #[test]
    fn sessions_come_up_and_no_repetition_wins(
        seed: u64,
        loss in 0u32..300,
        deeds in prop::collection::vec(deed(), 1..12),
    ) {
        let channel = Channel { delay: 20, loss, ..Channel::default() };
        let mut world = World::of(seed, channel, vec![(at(0, seed), vec![1]), (at(1, !seed), vec![0])]);
        let mut ms = 0;
        for (number, deed) in (2..).zip(deeds) {
            match deed {
                Deed::First(epoch) => world.restart(0, seed ^ number, at(0, epoch)),
                Deed::Second(epoch) => {
                    let mut config = at(1, epoch);
                    config.peers[0].addresses.clear();
                    world.restart(1, seed ^ number, config);
                }
                Deed::Connect => world.input(0, Some(Input::Connect(PeerId(0)))),
                Deed::Wait(more) => {
                    ms += u64::from(more);
                    world.run(ms);
                }
                Deed::Replay => replay(&mut world)?,
            }
        }
        // The rest of time is good; what was heard is repeated all the same.
        world.channel.loss = 0;
        world.input(0, Some(Input::Connect(PeerId(0))));
        for _ in 0..24 {
            ms += 500;
            world.run(ms);
            replay(&mut world)?;
        }
        world.input(0, Some(Input::Connect(PeerId(0))));
        world.run(ms + 20_000);
        prop_assert!(world.is_up(), "{}", world.text);
        let got = world.ends[1].received.len();
        prop_assert!(world.data(0, 0, b"x"));
        world.run(ms + 20_100);
        prop_assert_eq!(world.ends[1].received.len(), got + 1);
    }
}

/// Gives both ends all that was sent by an end that has forgotten it, and lets nothing of what they answer arrive.
fn replay(world: &mut World) -> Result<(), TestCaseError> {
    let up = |world: &World| world.ends.iter().map(|end| end.sessions.is_up(PeerId(0))).collect::<Vec<_>>();
    let all: BTreeSet<(usize, usize, Vec<u8>)> =
        world.sent.iter().map(|sent| (sent.from, sent.to, sent.bytes.clone())).collect();
    let (before, sent) = (up(world), world.sent.len());
    let loss = std::mem::replace(&mut world.channel.loss, 1_000);
    for (from, to, bytes) in all.into_iter().filter(|(_, _, bytes)| matches!(bytes[0], 0x11 | 0x16)) {
        let before = world.sent.len();
        world.arrive(from, to, &bytes);
        let answered: usize = world.sent[before..].iter().map(|sent| sent.bytes.len()).sum();
        // An answer that was lost on its way may still do its work, once: then another attempt goes out.
        prop_assert!(answered <= bytes.len() || bytes[0] == 0x16, "{answered} for {}", bytes.len());
    }
    world.channel.loss = loss;
    world.sent.truncate(sent);
    prop_assert_eq!(up(world), before);
    Ok(())
}
