//! Link security: any datagram is answered, and none that the other end has not sealed is accepted.
//!
//! `BOLERO_RANDOM_ITERATIONS=10000000 cargo test --release -p airbraid-fuzz session::` tries ten million inputs
//! each (half a minute of two cores); without it a thousand are tried.

use airbraid_engine::converge::session::{
    Address, Aead, Config, FRAME_HEADER_LEN, FRAME_OVERHEAD, Input, KeyId, Keypair, Keyring, Output, PeerConfig,
    PeerId, Role, Secret, Sessions, Simulated, Suite, Timing, public_key,
};
use airbraid_engine::trunk::Member;
use airbraid_engine::wire::{
    SessionMessage, emit_cookie_reply, emit_frame_header, emit_initiation, emit_response, emit_stamp_reply,
    parse_session,
};
use airbraid_engine::{Stream, step};
use airbraid_units::{Duration, Instant};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

#[test]
fn any_message() {
    bolero::check!().with_type::<(u8, Vec<u8>)>().for_each(|(kind, bytes)| {
        // Lengths and first bytes that exist are not found by chance.
        let mut bytes = bytes.clone();
        if kind & 8 != 0 {
            let place = usize::from(kind % 5);
            bytes.resize([144, 80, 52, 28 + usize::from(*kind), 84][place], *kind);
            bytes[0] = [0x11, 0x12, 0x13, 0x14, 0x16][place];
        }
        let emitted = match parse_session(&bytes) {
            Ok(SessionMessage::Initiation(message)) => emit_initiation(&message).to_vec(),
            Ok(SessionMessage::Response(message)) => emit_response(&message).to_vec(),
            Ok(SessionMessage::CookieReply(message)) => emit_cookie_reply(&message).to_vec(),
            Ok(SessionMessage::StampReply(message)) => emit_stamp_reply(&message).to_vec(),
            Ok(SessionMessage::Frame(header)) => [&emit_frame_header(&header)[..], &bytes[FRAME_HEADER_LEN..]].concat(),
            Err(_) => return,
        };
        assert!(emitted == bytes);
    });
}

/// Two keys of one peer, one for each suite.
fn rings() -> [Keyring<Aead>; 2] {
    let mut rings = [Keyring::new(Aead), Keyring::new(Aead)];
    for (at, suite) in [Suite::ChaCha20Poly1305, Suite::Aes256Gcm].into_iter().enumerate() {
        let (names, secrets) = ([KeyId(2 * at as u32 + 1), KeyId(2 * at as u32 + 2)], [at as u8 + 3, at as u8 + 5]);
        for (end, ring) in rings.iter_mut().enumerate() {
            let secret = |of: usize| Secret::new([secrets[of]; 32]);
            let keys = Keypair {
                peer: PeerId(0),
                ours: names[end],
                theirs: names[1 - end],
                send: secret(end),
                receive: secret(1 - end),
                suite,
                version: 1,
                role: Role::Initiator,
                expires: Instant::ZERO + Duration::from_secs(1),
            };
            ring.install(&keys);
            ring.use_key(PeerId(0), keys.ours);
        }
    }
    rings
}

/// Mutated frames: one that was sealed, with bytes changed, inserted, cut off or put at its end.
#[test]
fn any_frame() {
    let rings = Mutex::new(rings());
    let (refused, accepted) = (AtomicU64::new(0), AtomicU64::new(0));
    type Change = (u8, u16, u8);
    bolero::check!().with_type::<(bool, u8, Vec<u8>, Vec<Change>)>().for_each(|(is_aes, member, plain, changes)| {
        let mut rings = rings.lock().unwrap_or_else(PoisonError::into_inner);
        let [sender, receiver] = &mut *rings;
        sender.use_key(PeerId(0), KeyId(if *is_aes { 3 } else { 1 }));
        let mut sealed = vec![0; plain.len() + FRAME_OVERHEAD];
        sealed[FRAME_HEADER_LEN..FRAME_HEADER_LEN + plain.len()].copy_from_slice(plain);
        if sender.seal(Instant::ZERO, PeerId(0), Member(*member), &mut sealed).is_err() {
            // The key has sealed 2^27 frames.
            return;
        }
        let mut frame = sealed.clone();
        for &(deed, at, value) in changes {
            let at = usize::from(at) % frame.len().max(1);
            match deed % 6 {
                0 => frame.truncate(at),
                1 => frame.insert(at, value),
                2 => frame.push(value),
                3 if !frame.is_empty() => {
                    let head = FRAME_HEADER_LEN.min(frame.len());
                    frame[at % head] = value;
                }
                4 if !frame.is_empty() => frame[at] ^= 1 << (value % 8),
                _ if !frame.is_empty() => frame[at] = value,
                _ => {}
            }
        }
        let is_changed = frame != sealed;
        let opened = receiver.open(Instant::ZERO, &mut frame);
        assert!(!(is_changed && opened.is_ok()), "a frame that nobody has sealed was accepted");
        // Back to its sender, and as random bytes that name a key.
        assert!(sender.open(Instant::ZERO, &mut sealed).is_err());
        let mut random = [&[0x14, *member, 0, 0, 0, 2 + 2 * u8::from(*is_aes)][..], plain].concat();
        assert!(receiver.open(Instant::ZERO, &mut random).is_err());
        refused.fetch_add(2 + u64::from(is_changed), Ordering::Relaxed);
        accepted.fetch_add(opened.is_ok().into(), Ordering::Relaxed);
    });
    println!("{refused:?} frames refused; {accepted:?} that were as sealed accepted");
}

fn end(end: u8) -> Sessions<Simulated> {
    let peer = PeerConfig {
        public: public_key(&Secret::new([2 - end; 32])),
        psk: Secret::new([7; 32]),
        addresses: vec![Address([1 - end; Address::LEN])],
    };
    let config = Config {
        identity: Secret::new([end + 1; 32]),
        peers: vec![peer],
        suites: Suite::ALL.to_vec(),
        epoch_ns: 1,
        timing: Timing::default(),
    };
    let stream = |purpose| Stream::new(1, u64::from(end), purpose);
    Sessions::new(config, Simulated(stream("entropy")), stream("jitter"))
}

/// Datagrams of a handshake that are changed: no key comes of them, and no answer is longer than they are.
#[test]
fn any_handshake() {
    let (mut first, mut second) = (end(0), end(1));
    let drive = |end: &mut Sessions<Simulated>, input| {
        let mut sent = vec![];
        step(end, Instant::ZERO, Some(input), |output| {
            if let Output::Transmit { bytes, .. } = output {
                sent = bytes;
            }
        });
        sent
    };
    let initiation = drive(&mut first, Input::Connect(PeerId(0)));
    let response = drive(&mut second, Input::Datagram { from: Address([0; Address::LEN]), bytes: initiation.clone() });
    let first = Mutex::new(first);
    // It has heard nothing: a true first message would be answered.
    let second = Mutex::new(end(1));
    bolero::check!().with_type::<(bool, Vec<(u8, u8)>, u8)>().for_each(|(is_first, changes, cut)| {
        let original = if *is_first { &initiation } else { &response };
        let mut bytes = original.clone();
        for &(at, value) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        if cut % 4 == 0 {
            bytes.truncate(usize::from(*cut));
        }
        if bytes == *original {
            return;
        }
        let end = if *is_first { &second } else { &first };
        let mut end = end.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut answered, len) = (0, bytes.len());
        let input = Input::Datagram { from: Address([0; Address::LEN]), bytes };
        step(&mut *end, Instant::ZERO, Some(input), |output| match output {
            Output::Transmit { bytes, .. } => answered += bytes.len(),
            other => panic!("{other:?}"),
        });
        assert!(answered <= len);
    });
}
