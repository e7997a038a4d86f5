//! What link security costs: sealing and opening a frame beside the raw AEAD, the account of the simulator, a handshake.
//! `make bench` prints it. Medians of five; timing on shared machines is noise.

use airbraid_engine::converge::session::{
    Account, Address, Aead, Codec, Config, Descriptor, FRAME_HEADER_LEN, FRAME_OVERHEAD, Input, KeyId, Keypair,
    Keyring, Output, PeerConfig, PeerId, Role, Secret, Sessions, Simulated, Suite, Timing, public_key,
};
use airbraid_engine::trunk::Member;
use airbraid_engine::{Stream, step};
use airbraid_units::{Bytes, Duration, Instant};
use ring::aead::{AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use std::hint::black_box;

/// What is sealed \[byte\]: an IP packet of 1400 bytes.
const PLAIN: usize = 1_400;

/// Nanoseconds that one call takes: the median of five times `calls`.
#[allow(clippy::disallowed_methods, reason = "it measures what the machine takes, outside every run")]
fn measure(calls: u32, mut call: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let start = std::time::Instant::now();
            (0..calls).for_each(|_| call());
            start.elapsed().as_nanos() as f64 / f64::from(calls)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[2]
}

/// Two ends that share a key.
fn rings<C: Codec + Copy>(codec: C, suite: Suite) -> [Keyring<C>; 2] {
    let secrets = [Secret::new([1; 32]), Secret::new([2; 32])];
    [0, 1].map(|end: usize| {
        let mut ring = Keyring::new(codec);
        ring.install(&Keypair {
            peer: PeerId(0),
            ours: KeyId(end as u32 + 1),
            theirs: KeyId(2 - end as u32),
            send: secrets[end].clone(),
            receive: secrets[1 - end].clone(),
            suite,
            version: 1,
            role: Role::Initiator,
            expires: Instant::ZERO + Duration::from_secs(1),
        });
        ring.use_key(PeerId(0), KeyId(end as u32 + 1));
        ring
    })
}

/// Seals and opens as many frames as there are calls; what is opened was sealed before, outside the measurement.
fn frames(suite: Suite) -> [f64; 2] {
    let calls = 20_000;
    let [mut sender, mut receiver] = rings(Aead, suite);
    let mut frame = vec![7; PLAIN + FRAME_OVERHEAD];
    let mut seal = |frame: &mut [u8]| {
        sender.seal(Instant::ZERO, PeerId(0), Member(0), frame).expect("a key that is good");
    };
    let sealing = measure(calls, || seal(black_box(&mut frame)));
    let mut all: Vec<Vec<u8>> = (0..5 * calls).map(|_| frame.clone()).collect();
    all.iter_mut().for_each(|frame| seal(frame));
    let mut each = all.iter_mut();
    let opening = measure(calls, || {
        let frame = each.next().expect("as many as calls");
        black_box(receiver.open(Instant::ZERO, frame)).expect("what was sealed");
    });
    [sealing, opening]
}

/// The AEAD alone, on frames of the same length; a new nonce each time.
fn raw(suite: Suite) -> [f64; 2] {
    let algorithm = match suite {
        Suite::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        Suite::Aes256Gcm => &AES_256_GCM,
    };
    let calls = 20_000;
    let key = LessSafeKey::new(UnboundKey::new(algorithm, &[1; 32]).expect("32 bytes"));
    let header = [0; FRAME_HEADER_LEN];
    let nonce = |number: u64| {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        Nonce::assume_unique_for_key(nonce)
    };
    let (mut plain, mut number) = (vec![7; PLAIN], 0);
    let sealing = measure(calls, || {
        number += 1;
        let tag = key.seal_in_place_separate_tag(nonce(number), Aad::from(header), black_box(&mut plain));
        let _ = black_box(tag.expect("short enough"));
    });
    let sealed = |number: u64| {
        let mut sealed = vec![7; PLAIN];
        let tag = key.seal_in_place_separate_tag(nonce(number), Aad::from(header), &mut sealed).expect("short enough");
        sealed.extend(tag.as_ref());
        sealed
    };
    let mut all: Vec<_> = (1..=5 * u64::from(calls)).map(|number| (number, sealed(number))).collect();
    let mut each = all.iter_mut();
    let opening = measure(calls, || {
        let (number, sealed) = each.next().expect("as many as calls");
        black_box(key.open_in_place(nonce(*number), Aad::from(header), sealed)).expect("what was sealed");
    });
    [sealing, opening]
}

fn sealing() {
    println!(
        "{:<26} {:>12} {:>12} {:>14} {:>14}",
        "GB/s on one core", "seal", "open", "raw AEAD seal", "raw AEAD open"
    );
    for (name, suite) in [("AES-256-GCM", Suite::Aes256Gcm), ("ChaCha20-Poly1305", Suite::ChaCha20Poly1305)] {
        let [seal, open, raw_seal, raw_open] =
            [frames(suite), raw(suite)].concat()[..].try_into().expect("two and two");
        let rate = |nanos: f64| PLAIN as f64 / nanos;
        let [seal, open, raw_seal, raw_open] = [seal, open, raw_seal, raw_open].map(rate);
        println!("{name:<26} {seal:>12.2} {open:>12.2} {raw_seal:>14.2} {raw_open:>14.2}");
    }
}

fn account() {
    let [mut sender, mut receiver] = rings(Account, Suite::Aes256Gcm);
    let both = measure(20_000, || {
        let mut frame = Descriptor::new(Bytes::new((PLAIN + FRAME_OVERHEAD) as u64), None);
        sender.seal(Instant::ZERO, PeerId(0), Member(0), &mut frame).expect("a key that is good");
        black_box(receiver.open(Instant::ZERO, &mut frame)).expect("what was sealed");
    });
    println!("{:<26} {both:>12.0}", "descriptor, both ways, ns");
}

fn end(number: u8, other: u8) -> Sessions<Simulated> {
    let peer = PeerConfig {
        public: public_key(&Secret::new([other; 32])),
        psk: Secret::new([0; 32]),
        addresses: vec![Address([other; 20])],
    };
    let timing = Timing { load: u32::MAX, ..Timing::default() };
    let identity = Secret::new([number; 32]);
    let config = Config { identity, peers: vec![peer], suites: Suite::ALL.to_vec(), epoch_ns: 0, timing };
    let stream = |purpose| Stream::new(1, u64::from(number), purpose);
    Sessions::new(config, Simulated(stream("entropy")), stream("jitter"))
}

/// A first message that is made, one that is answered, an answer that is read.
fn handshake() {
    let (mut first, mut second) = (end(1, 2), end(2, 1));
    let drive = |end: &mut Sessions<Simulated>, now, input| {
        let mut sent = None;
        step(end, now, Some(input), |output| {
            if let Output::Transmit { bytes, .. } = output {
                sent = Some(bytes);
            }
        });
        sent
    };
    let mut seconds = 0;
    let all = measure(200, || {
        seconds += 1;
        let now = Instant::ZERO + Duration::from_secs(seconds);
        let initiation = drive(&mut first, now, Input::Connect(PeerId(0))).expect("a first message");
        let heard = Input::Datagram { from: Address([1; 20]), bytes: initiation };
        let response = drive(&mut second, now, heard).expect("an answer");
        drive(&mut first, now, Input::Datagram { from: Address([2; 20]), bytes: response });
    });
    println!("{:<26} {:>12.0}", "handshake, both ends, us", all / 1e3);
}

fn main() {
    sealing();
    account();
    handshake();
}
