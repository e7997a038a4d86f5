//! Frames: what sealing adds, that both codecs agree, nonces.

use crate::session::world::{Channel, World, frame};
use airbraid_engine::converge::session::{
    Account, Aead, Codec, Descriptor, FRAME_OVERHEAD, FrameHeader, FrameKind, Input, KeyId, Keypair, Keyring, Limits,
    PeerId, Refusal, Role, SealRefusal, Secret, Suite, WINDOW,
};
use airbraid_engine::trunk::Member;
use airbraid_engine::wire::parse_frame_header;
use airbraid_units::{Bytes, Duration, Instant};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The keys of the two ends of one session.
fn pair(suite: Suite, life: Duration) -> [Keypair; 2] {
    let (a, b) = (Secret::new([0x11; 32]), Secret::new([0x22; 32]));
    let expires = Instant::ZERO + life;
    let (version, peer) = (1, PeerId(0));
    let end = |ours, theirs, send: &Secret, receive: &Secret, role| Keypair {
        peer,
        ours: KeyId(ours),
        theirs: KeyId(theirs),
        send: send.clone(),
        receive: receive.clone(),
        suite,
        version,
        role,
        expires,
    };
    [end(1, 2, &a, &b, Role::Initiator), end(2, 1, &b, &a, Role::Responder)]
}

fn rings<C: Codec + Copy>(codec: C, suite: Suite) -> [Keyring<C>; 2] {
    pair(suite, Duration::from_secs(240)).map(|keys| {
        let mut ring = Keyring::new(codec);
        ring.install(&keys);
        ring.use_key(keys.peer, keys.ours);
        ring
    })
}

/// An event of a sealed frame.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Seal {
        member: u8,
        len: u16,
    },
    /// Give the frame so far back to the other end.
    Deliver(usize),
    /// To its own sender.
    Reflect(usize),
    /// With a wrong bit behind the header.
    Damage(usize, u16),
    /// With a wrong bit in member or counter.
    Header(usize, u8),
    /// With a key that there is not.
    Unknown(usize),
    Cut(usize, u16),
    Wait(u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    let back = 0usize..40;
    prop_oneof![
        4 => (0u8..3, 0u16..1_500).prop_map(|(member, len)| Deed::Seal { member, len }),
        6 => back.clone().prop_map(Deed::Deliver),
        1 => back.clone().prop_map(Deed::Reflect),
        1 => (back.clone(), any::<u16>()).prop_map(|(at, bit)| Deed::Damage(at, bit)),
        1 => (back.clone(), 0u8..56).prop_map(|(at, bit)| Deed::Header(at, bit)),
        1 => back.clone().prop_map(Deed::Unknown),
        1 => (back, any::<u16>()).prop_map(|(at, len)| Deed::Cut(at, len)),
        1 => (0u8..30).prop_map(Deed::Wait),
    ]
}

/// The header with one wrong bit in member or counter.
fn bent(header: FrameHeader, bit: u8) -> FrameHeader {
    let mut header = header;
    match bit {
        0..8 => header.member.0 ^= 1 << bit,
        _ => header.counter ^= 1 << (bit - 8),
    }
    header
}

proptest! {
    /// The same deeds on bytes and on descriptors: equal lengths, equal answers, equal counts.
    #[test]
    fn codecs_agree(deeds in prop::collection::vec(deed(), 1..80), is_aes: bool) {
        let suite = if is_aes { Suite::Aes256Gcm } else { Suite::ChaCha20Poly1305 };
        let mut real = rings(Aead, suite);
        let mut counted = rings(Account, suite);
        let mut frames: Vec<(Vec<u8>, Descriptor)> = vec![];
        let mut now = Instant::ZERO;
        for deed in deeds {
            let pick = |back: usize| frames.len().checked_sub(1 + back);
            let (target, (mut bytes, mut descriptor)) = match deed {
                Deed::Seal { member, len } => {
                    let mut bytes = frame(&vec![7; usize::from(len)]);
                    let mut descriptor = Descriptor::new(Bytes::new(bytes.len() as u64), None);
                    let sealed = real[0].seal(now, PeerId(0), Member(member), &mut bytes);
                    prop_assert_eq!(sealed, counted[0].seal(now, PeerId(0), Member(member), &mut descriptor));
                    if sealed.is_ok() {
                        frames.push((bytes, descriptor));
                    }
                    continue;
                }
                Deed::Wait(seconds) => {
                    now += Duration::from_secs(u64::from(seconds));
                    continue;
                }
                Deed::Deliver(back) | Deed::Damage(back, _) | Deed::Header(back, _) | Deed::Unknown(back)
                | Deed::Cut(back, _) => match pick(back) {
                    Some(at) => (1, frames[at].clone()),
                    None => continue,
                },
                Deed::Reflect(back) => match pick(back) {
                    Some(at) => (0, frames[at].clone()),
                    None => continue,
                },
            };
            match deed {
                Deed::Damage(_, bit) => {
                    let bit = usize::from(bit) % ((bytes.len() - 12) * 8);
                    bytes[12 + bit / 8] ^= 1 << (bit % 8);
                    descriptor.is_damaged = true;
                }
                Deed::Header(_, bit) => {
                    // Members are at byte 1, counters at 6 to 12.
                    let at = if bit < 8 { 1 } else { 11 - (bit as usize - 8) / 8 };
                    bytes[at] ^= 1 << (bit % 8);
                    descriptor.header = descriptor.header.map(|header| bent(header, bit));
                }
                Deed::Unknown(_) => {
                    bytes[2..6].copy_from_slice(&9u32.to_be_bytes());
                    descriptor.header = descriptor.header.map(|header| FrameHeader { key: KeyId(9), ..header });
                }
                Deed::Cut(_, len) => {
                    bytes.truncate(usize::from(len) % bytes.len());
                    descriptor.len = Bytes::new(bytes.len() as u64);
                }
                _ => {}
            }
            let is_forged = !matches!(deed, Deed::Deliver(_));
            let opened = real[target].open(now, &mut bytes);
            prop_assert_eq!(opened, counted[target].open(now, &mut descriptor));
            prop_assert_eq!(Bytes::new(bytes.len() as u64), descriptor.len);
            prop_assert!(!(is_forged && opened.is_ok()), "{:?}", deed);
        }
        for (real, counted) in real.iter().zip(&counted) {
            prop_assert_eq!(real.stats(), counted.stats());
        }
    }
}

#[test]
fn nonces_never_repeat() {
    let mut nonces = BTreeSet::new();
    let [mut ring, _] = rings(Aead, Suite::ChaCha20Poly1305);
    for number in 0..3_000u32 {
        let mut bytes = frame(&[0; 8]);
        let member = Member((number * 7 % 5) as u8);
        let header = if number % 11 == 0 {
            ring.seal_control(Instant::ZERO, KeyId(1), member, &mut bytes).unwrap().header
        } else if number % 3 == 0 {
            // A number that is taken now is for a frame that is sealed elsewhere.
            let reserved = ring.reserve(Instant::ZERO, PeerId(0), member, Bytes::new(36)).unwrap();
            Aead.seal(&reserved.key, &reserved.header, &mut bytes);
            reserved.header
        } else {
            ring.seal(Instant::ZERO, PeerId(0), member, &mut bytes).unwrap().header
        };
        assert_eq!(parse_frame_header(&bytes), Ok(header));
        assert!(nonces.insert((header.member, header.counter)), "{header:?}");
    }
}

#[test]
fn an_old_key_seals_and_opens_no_more() {
    let [mut sender, mut receiver] = rings(Aead, Suite::Aes256Gcm);
    let end = Instant::ZERO + Duration::from_secs(240);
    let mut bytes = frame(b"in time");
    sender.seal(end - Duration::from_nanos(1), PeerId(0), Member(0), &mut bytes).unwrap();
    assert_eq!(receiver.open(end, &mut bytes), Err(Refusal::Expired));
    assert_eq!(sender.seal(end, PeerId(0), Member(0), &mut bytes), Err(SealRefusal::Expired));
    sender.forget(KeyId(1));
    assert_eq!(sender.seal(end, PeerId(0), Member(0), &mut bytes), Err(SealRefusal::NoKey));
    assert!(!sender.has_key(PeerId(0)));
}

#[test]
fn each_member_has_a_window_of_its_own() {
    let [mut sender, mut receiver] = rings(Account, Suite::Aes256Gcm);
    let mut seal = |member: u8| {
        let mut frame = Descriptor::new(Bytes::new(FRAME_OVERHEAD as u64 + 10), None);
        sender.seal(Instant::ZERO, PeerId(0), Member(member), &mut frame).unwrap();
        frame
    };
    let (mut slow, mut old) = (seal(1), seal(0));
    for _ in 0..WINDOW {
        assert!(receiver.open(Instant::ZERO, &mut seal(0)).is_ok());
    }
    assert_eq!(receiver.open(Instant::ZERO, &mut old), Err(Refusal::Stale));
    let opened = receiver.open(Instant::ZERO, &mut slow).unwrap();
    assert!(opened.is_newest && !opened.is_first);
    assert_eq!(receiver.open(Instant::ZERO, &mut slow), Err(Refusal::Replayed));
}

/// A frame that never arrived is not counted as received: a forged counter far ahead moves no window.
#[test]
fn only_authentic_frames_move_the_window() {
    let [mut sender, mut receiver] = rings(Aead, Suite::Aes256Gcm);
    let mut bytes = frame(b"first");
    sender.seal(Instant::ZERO, PeerId(0), Member(0), &mut bytes).unwrap();
    let mut forged = bytes.clone();
    forged[6..12].fill(0xff);
    assert_eq!(receiver.open(Instant::ZERO, &mut forged), Err(Refusal::Forged));
    assert!(receiver.open(Instant::ZERO, &mut bytes).is_ok());
}

/// A control frame that says nothing known is counted, and nothing else happens.
#[test]
fn an_unknown_control_frame() {
    let [mut sender, mut receiver] = rings(Aead, Suite::Aes256Gcm);
    for said in [&[][..], &[9], &[4]] {
        let mut bytes = frame(said);
        sender.seal_control(Instant::ZERO, KeyId(1), Member(0), &mut bytes).unwrap();
        assert_eq!(parse_frame_header(&bytes).map(|header| header.kind), Ok(FrameKind::Control));
        assert_eq!(receiver.open(Instant::ZERO, &mut bytes), Err(Refusal::Malformed));
    }
    // An empty one means nothing, whatever byte its tag begins with.
    for _ in 0..1_000 {
        let mut bytes = frame(&[]);
        sender.seal_control(Instant::ZERO, KeyId(1), Member(0), &mut bytes).unwrap();
        assert_eq!(receiver.open(Instant::ZERO, &mut bytes), Err(Refusal::Malformed));
    }
}

/// A key tells once that it has sealed enough, goes on for a while, and then no more.
#[test]
fn a_key_seals_a_number_of_frames() {
    let limits = Limits { spent: 3, exhausted: 5 };
    let mut ring = Keyring::with_limits(Account, limits);
    let [keys, _] = pair(Suite::Aes256Gcm, Duration::from_secs(1));
    ring.install(&keys);
    ring.use_key(keys.peer, keys.ours);
    let told: Vec<_> = (0..6u8)
        .map(|number| {
            let mut frame = Descriptor::new(Bytes::new(FRAME_OVERHEAD as u64), None);
            if number % 2 == 0 {
                return ring
                    .reserve(Instant::ZERO, PeerId(0), Member(0), Bytes::new(28))
                    .map(|reserved| reserved.is_spent);
            }
            ring.seal(Instant::ZERO, PeerId(0), Member(1), &mut frame).map(|sealed| sealed.is_spent)
        })
        .collect();
    let (no, spent) = (Ok(false), Ok(true));
    assert_eq!(told, [no, no, spent, no, no, Err(SealRefusal::Exhausted)]);
}

/// The host tells that a key is spent.
#[test]
fn a_spent_key_is_replaced() {
    let mut world = World::pair(1, Channel { delay: 5, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(1_000);
    assert!(world.data(0, 0, b"old"));
    world.input(0, Some(Input::Spent(PeerId(0))));
    assert!(world.data(0, 0, b"old too"));
    world.run(2_000);
    assert!(world.data(0, 0, b"new") && world.data(1, 0, b"new"));
    world.run(3_000);
    assert_eq!((world.ends[0].keys.len(), world.ends[1].received.len(), world.ends[0].received.len()), (2, 3, 1));
}

/// Long frames wear a key out sooner: it counts what it has sealed by 2 KiB, as RFC 9001 does.
#[test]
fn a_key_seals_so_much_whatever_the_frames() {
    for (len, units) in [(28u64, 1u64), (2_048, 1), (2_049, 2), (9_028, 5), (65_535, 32)] {
        let limits = Limits { spent: 60, exhausted: 128 };
        let mut ring = Keyring::with_limits(Account, limits);
        let [keys, _] = pair(Suite::Aes256Gcm, Duration::from_secs(1));
        ring.install(&keys);
        ring.use_key(keys.peer, keys.ours);
        let (mut sealed, mut spent) = (0, Vec::new());
        while let Ok(done) = ring.seal(Instant::ZERO, PeerId(0), Member(0), &mut Descriptor::new(Bytes::new(len), None))
        {
            sealed += 1;
            if done.is_spent {
                spent.push(sealed);
            }
        }
        assert_eq!((sealed, spent), (128u64.div_ceil(units), vec![60u64.div_ceil(units)]), "{len} byte");
        assert!(ring.reserve(Instant::ZERO, PeerId(0), Member(0), Bytes::new(len)).is_err());
    }
}

/// Whoever forgets all keys seals and opens nothing more, and new keys work as the first ones did.
#[test]
fn a_ring_that_has_forgotten_all_is_as_a_new_one() {
    let [mut sender, mut receiver] = rings(Aead, Suite::Aes256Gcm);
    let seal = |sender: &mut Keyring<Aead>| {
        let mut bytes = frame(b"secret");
        sender.seal(Instant::ZERO, PeerId(0), Member(0), &mut bytes).map(|_| bytes)
    };
    let mut first = seal(&mut sender).unwrap();
    sender.forget_all();
    receiver.forget_all();
    assert!(!sender.has_key(PeerId(0)));
    assert_eq!(seal(&mut sender), Err(SealRefusal::NoKey));
    assert_eq!(receiver.open(Instant::ZERO, &mut first), Err(Refusal::UnknownKey));
    for (ring, keys) in [&mut sender, &mut receiver].into_iter().zip(pair(Suite::Aes256Gcm, Duration::from_secs(9))) {
        ring.install(&keys);
        ring.use_key(keys.peer, keys.ours);
    }
    assert!(receiver.open(Instant::ZERO, &mut seal(&mut sender).unwrap()).is_ok());
}

/// The responder changes to a key when the other end has shown that it has it. A late first frame of an older key
/// changes nothing back, and the initiator changes by its own handshake alone.
#[test]
fn the_other_ends_first_frame_moves_the_responder_and_nobody_back() {
    let pairs = [[1, 2], [3, 4]].map(|[ours, theirs]| {
        let [one, other] = pair(Suite::Aes256Gcm, Duration::from_secs(240));
        let named = |keys, ours, theirs| Keypair { ours: KeyId(ours), theirs: KeyId(theirs), ..keys };
        [named(one, ours, theirs), named(other, theirs, ours)]
    });
    let mut rings = [0, 1].map(|end| {
        let mut ring = Keyring::new(Account);
        pairs.iter().for_each(|pair| ring.install(&pair[end]));
        ring
    });
    let [initiator, responder] = &mut rings;
    let seals_with = |ring: &mut Keyring<Account>| {
        let mut frame = Descriptor::new(Bytes::new(FRAME_OVERHEAD as u64), None);
        ring.seal(Instant::ZERO, PeerId(0), Member(0), &mut frame).map(|sealed| sealed.header.key)
    };
    responder.use_shown(PeerId(0), KeyId(2));
    assert_eq!(seals_with(responder), Ok(KeyId(1)), "frames bear the other end's name of the key");
    responder.use_shown(PeerId(0), KeyId(4));
    assert_eq!(seals_with(responder), Ok(KeyId(3)));
    responder.use_shown(PeerId(0), KeyId(2));
    assert_eq!(seals_with(responder), Ok(KeyId(3)), "the older key has sealed before");
    initiator.use_shown(PeerId(0), KeyId(1));
    assert_eq!(seals_with(initiator), Err(SealRefusal::NoKey));
}
