//! Strangers who know a public key and send as many first messages as they can: whoever is a peer connects all the
//! same, and sessions get their new keys. And what becomes of keys when a host has slept, or is a copy.

use crate::session::world::{Channel, World, address, config, secret};
use airbraid_engine::converge::session::{
    Address, Config, Gate, Input, Output, PeerConfig, PeerId, Refusal, Secret, Sessions, Simulated, public_key,
};
use airbraid_engine::{Machine, Stream, step};
use airbraid_units::{Duration, Instant};

/// The end that is flooded.
const HUB: usize = 1;
/// First messages in a millisecond.
const FLOOD: usize = 50;
/// When the flood begins: two seconds before the first session needs another key \[ms\].
const BEGIN: u64 = 118_000;
/// Duration \[ms\]: a minute where the code is optimised.
const LASTS: u64 = if cfg!(debug_assertions) { 5_000 } else { 60_000 };
/// After this another client comes for the first time \[ms\].
const CLIENT_EVERY: u64 = LASTS / 5;
const CLIENTS: u8 = 4;

/// A stranger at 10.x.
fn stranger(number: u32) -> (Sessions<Simulated>, Address) {
    let mut from = address(0);
    from.0[12..16].copy_from_slice(&(0x0a00_0000 + number).to_be_bytes());
    let mut config = config(99, &[HUB as u8]);
    config.identity = Secret::new([200; 32]);
    let stream = |purpose| Stream::new(7, u64::from(number), purpose);
    (Sessions::new(config, Simulated(stream("entropy")), stream("jitter")), from)
}

fn transmitted(end: &mut Sessions<Simulated>, now: Instant, input: Input) -> Option<Vec<u8>> {
    let mut sent = None;
    step(end, now, Some(input), |output| {
        if let Output::Transmit { bytes, .. } = output {
            sent = Some(bytes);
        }
    });
    sent
}

/// The messages that strangers send again and again: with a requested cookie, or without.
fn ammunition(world: &mut World, sources: u32, has_cookie: bool) -> Vec<Input> {
    let now = world.now;
    let hub = &mut world.ends[HUB].sessions;
    let mut made = vec![];
    // As long as there is no load, none is asked for a cookie.
    for number in 0..sources + 200 {
        let (mut stranger, from) = stranger(number);
        let mut bytes = transmitted(&mut stranger, now, Input::Connect(PeerId(0))).unwrap();
        if has_cookie {
            let reply = transmitted(hub, now, Input::Datagram { from, bytes: bytes.clone() });
            let Some(reply) = reply else { continue };
            bytes = transmitted(&mut stranger, now, Input::Datagram { from: address(HUB), bytes: reply }).unwrap();
        }
        made.push(Input::Datagram { from, bytes });
    }
    made.truncate(sources as usize);
    made
}

/// A hub and its clients; the first has a session when the flood begins.
fn world() -> World {
    let clients: Vec<u8> = (2..2 + CLIENTS).collect();
    let peers: Vec<u8> = [&[0], &clients[..]].concat();
    let mut hub = config(HUB as u8, &peers);
    hub.peers.iter_mut().for_each(|peer| peer.addresses.clear());
    let client = |end: u8| (config(end, &[HUB as u8]), vec![HUB]);
    let places = peers.iter().map(|peer| usize::from(*peer)).collect();
    let mut ends = vec![client(0), (hub, places)];
    ends.extend(clients.into_iter().map(client));
    let mut world = World::of(1, Channel { delay: 10, ..Channel::default() }, ends);
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(BEGIN);
    world
}

/// Connection time of each client \[ms\], while `sources` flood.
fn flooded(sources: u32, has_cookie: bool) -> Vec<u64> {
    let mut world = world();
    let shots = ammunition(&mut world, sources, has_cookie);
    let mut shots = shots.iter().cycle();
    let (mut asked, mut took) = (vec![], vec![]);
    for ms in 0..LASTS {
        world.run(BEGIN + ms);
        for shot in shots.by_ref().take(FLOOD) {
            let now = world.now;
            step(&mut world.ends[HUB].sessions, now, Some(shot.clone()), |_| {});
        }
        // Not when the budget of those without a cookie has just got one more.
        if ms % CLIENT_EVERY == CLIENT_EVERY / 2 + 3 && asked.len() < usize::from(CLIENTS) {
            world.input(2 + asked.len(), Some(Input::Connect(PeerId(0))));
            asked.push(ms);
        }
        if took.len() < asked.len() && world.ends[1 + asked.len()].sessions.is_up(PeerId(0)) {
            took.push(ms - asked[took.len()]);
        }
    }
    assert_eq!(world.ends[0].keys.len(), 2, "the session that was up has its new key");
    let is_up = |end: &usize| world.ends[*end].sessions.is_up(PeerId(0));
    assert_eq!((2..2 + usize::from(CLIENTS)).filter(is_up).count(), usize::from(CLIENTS));
    took
}

#[track_caller]
fn all_connect(sources: u32, has_cookie: bool) {
    let took = flooded(sources, has_cookie);
    println!("{sources} sources, cookie {has_cookie}: {took:?} ms");
    assert!(took.len() == usize::from(CLIENTS) && took.iter().all(|ms| *ms < 500), "{took:?} ms");
}

#[test]
fn one_source_without_a_cookie() {
    all_connect(1, false);
}

#[test]
fn one_source_with_a_cookie() {
    all_connect(1, true);
}

#[test]
fn a_thousand_sources_without_cookies() {
    all_connect(1_000, false);
}

#[test]
fn a_thousand_sources_with_cookies() {
    all_connect(1_000, true);
}

/// A peer that has gone wild has one key made in 20 ms, and others are served.
#[test]
fn a_peer_is_answered_so_often() {
    let mut world = World::pair(1, Channel::default());
    world.input(0, Some(Input::Connect(PeerId(0))));
    let first = world.sent_of(1)[0].clone();
    let mut again =
        Sessions::new(config(0, &[1]), Simulated(Stream::new(3, 0, "entropy")), Stream::new(3, 0, "jitter"));
    let mut input = |ms: u64| {
        let now = Instant::ZERO + Duration::from_millis(ms);
        let mut other = transmitted(&mut again, now, Input::PeerAdded(config(9, &[1]).peers.remove(0)));
        other = other.or_else(|| transmitted(&mut again, now, Input::Connect(PeerId(ms as u32))));
        other.unwrap()
    };
    world.arrive(0, 1, &first);
    // A new message by the same key is later, and no replay.
    let early = input(1);
    world.run(1);
    world.arrive(0, 1, &early);
    assert_eq!(world.ends[1].sessions.stats().refused(Refusal::Overload), 1);
}

/// Garbage is refused by the gate as the machine would refuse it, and the true answer is let through.
#[test]
fn the_gate_lets_in_what_the_machine_would() {
    let mut world = World::pair(1, Channel { delay: 10, ..Channel::default() });
    let mut gates = [0, 1].map(|end| Gate::new(&public_key(&secret(end))));
    world.input(0, Some(Input::Connect(PeerId(0))));
    let initiation = world.sent_of(1)[0].clone();
    world.run(20);
    let response = world.sent_of(2)[0].clone();
    assert_eq!(gates[1].check(&initiation), Ok(()));
    assert_eq!(gates[0].check(&initiation), Err(Refusal::Stranger));
    assert_eq!(gates[0].check(&response), Err(Refusal::UnknownKey), "nothing was asked");
    gates[0].sent(world.now, &initiation);
    assert_eq!(gates[0].check(&response), Ok(()));
    let mut forged = response.clone();
    forged[70] ^= 1;
    assert_eq!(gates[0].check(&forged), Err(Refusal::Stranger));
    assert_eq!(gates[0].check(&[]), Err(Refusal::Truncated));
    assert_eq!(gates[0].check(&[0x1f; 60]), Err(Refusal::Malformed));
    // An answer is waited for as long as three attempts are open, and not for ever.
    let other = |name: u8| [&initiation[..4], &[name; 4], &initiation[8..]].concat();
    gates[0].sent(world.now + Duration::from_secs(31), &other(1));
    assert_eq!(gates[0].check(&response), Ok(()));
    gates[0].sent(world.now + Duration::from_secs(62), &other(2));
    assert_eq!(gates[0].check(&response), Err(Refusal::UnknownKey));
    assert_eq!(gates[0].stats().refused_total(), 6);
}

#[test]
fn keys_age_while_a_clock_stands_still_and_are_replaced() {
    let mut world = World::pair(1, Channel { delay: 10, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(1_000);
    assert!(world.is_up());
    let slept = Duration::from_secs(30);
    world.input(0, Some(Input::StoodStill(slept)));
    world.ends[0].ring.age(slept);
    world.run(1_100);
    assert_eq!(world.ends[0].keys.len(), 2, "another key at once");
    // For longer than a key lives: what is left of it opens nothing and seals nothing.
    let slept = Duration::from_secs(3_600);
    world.channel.loss = 1_000;
    world.ends[0].ring.age(slept);
    assert!(!world.data(0, 0, b"old key"));
    world.input(0, Some(Input::StoodStill(slept)));
    assert!(!world.ends[0].sessions.is_up(PeerId(0)) && !world.ends[0].ring.has_key(PeerId(0)));
}

/// A copy of a host has the host's keys: neither seals with them any more, and each gets a key of its own.
#[test]
fn a_copy_seals_with_no_key_that_was_there_before() {
    let mut world = World::pair(1, Channel { delay: 10, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(1_000);
    let (before, count) = (world.ends[0].keys[0].clone(), world.ends[0].keys.len());
    // First messages that wait for an answer are forgotten, too: a copy would make the same key of it.
    world.channel.loss = 1_000;
    world.input(0, Some(Input::Spent(PeerId(0))));
    world.channel.loss = 0;
    let waiting = world.sent_of(1).pop().unwrap();
    world.arrive(0, HUB, &waiting);
    let answer = world.sent_of(2).pop().unwrap();
    world.flush();
    world.ends[0].ring.forget_all();
    world.input(0, Some(Input::Renew));
    assert!(!world.data(0, 0, b"a number that was used"), "no key that was there before");
    world.arrive(HUB, 0, &answer);
    assert!(!world.ends[0].sessions.is_up(PeerId(0)));
    world.run(2_000);
    assert!(world.is_up() && world.data(0, 0, b"another key"));
    let after = world.ends[0].keys.last().unwrap();
    assert!(world.ends[0].keys.len() > count && after.send != before.send && after.ours != before.ours);
}

/// However many peers there are: who is next is known without a look at each, and those that are due at one time go by
/// their number.
#[test]
fn timers_of_many_peers_go_in_order() {
    let peer = |number: u8| PeerConfig {
        public: public_key(&Secret::new([number; 32])),
        psk: Secret::new([0; 32]),
        addresses: vec![address(usize::from(number))],
    };
    let peers: Vec<PeerConfig> = (10..250).map(peer).collect();
    let mut sessions = Sessions::new(
        Config { peers, ..config(0, &[]) },
        Simulated(Stream::new(1, 0, "entropy")),
        Stream::new(1, 0, "jitter"),
    );
    for id in (0..240).rev() {
        step(&mut sessions, Instant::ZERO, Some(Input::Connect(PeerId(id))), |_| {});
    }
    let wake = sessions.poll_timeout().unwrap();
    assert_eq!(wake.why, "session.retry");
    let late = Instant::ZERO + Duration::from_millis(340);
    let mut asked = vec![];
    step(&mut sessions, late, None, |output| {
        if let Output::Transmit { to, .. } = output {
            asked.push(to.0[19]);
        }
    });
    assert_eq!(asked, (10..250).collect::<Vec<u8>>());
    assert!(sessions.poll_timeout().unwrap().at > late);
}
