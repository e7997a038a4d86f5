//! Costs of link security: sealing and opening a frame beside the raw AEAD, the account of the simulator, a handshake.
//! `make bench` prints them. Medians; timing on shared machines is noise.

use airbraid_engine::converge::session::{
    Account, Address, Aead, Codec, Config, Descriptor, FRAME_HEADER_LEN, FRAME_OVERHEAD, Gate, Input, KeyId, Keypair,
    Keyring, Output, PeerConfig, PeerId, Role, Secret, Sessions, Simulated, Suite, TAG_LEN, Timing, public_key,
};
use airbraid_engine::trunk::Member;
use airbraid_engine::{Stream, step};
use airbraid_units::{Bytes, Duration, Instant};
use ring::aead::{AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use std::cell::RefCell;
use std::hint::black_box;

/// Length of the sealed data: an IP packet \[byte\].
const PLAIN: usize = 1_400;

/// Time of one call \[ns\]: the median of five times `calls`.
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

/// Frames that are sealed, then opened, while they are in the cache.
const BATCH: usize = 64;

/// Time of each for one frame \[ns\], in turn: medians of many batches, so that other load on the machine affects all
/// of them alike.
#[allow(clippy::disallowed_methods, reason = "it measures what the machine takes, outside every run")]
fn in_turn(work: &mut [&mut dyn FnMut(usize)]) -> Vec<f64> {
    let mut times = vec![vec![]; work.len()];
    for _ in 0..3_000 {
        for (work, times) in work.iter_mut().zip(&mut times) {
            let start = std::time::Instant::now();
            (0..BATCH).for_each(&mut **work);
            times.push(start.elapsed().as_nanos());
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    times.iter().map(|times| times[times.len() / 2] as f64 / BATCH as f64).collect()
}

/// Sealing and opening by the rings, and by the AEAD alone, with a new nonce each time.
fn frames(suite: Suite) -> Vec<f64> {
    let algorithm = match suite {
        Suite::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        Suite::Aes256Gcm => &AES_256_GCM,
    };
    let key = LessSafeKey::new(UnboundKey::new(algorithm, &[1; 32]).expect("32 bytes"));
    let header = [0; FRAME_HEADER_LEN];
    let nonce = |number: u64| {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        Nonce::assume_unique_for_key(nonce)
    };
    let [mut sender, mut receiver] = rings(Aead, suite);
    let ours = RefCell::new(vec![vec![7; PLAIN + FRAME_OVERHEAD]; BATCH]);
    let raw = RefCell::new(vec![vec![7; PLAIN + TAG_LEN]; BATCH]);
    let (mut sealed, mut opened) = (0, 0);
    in_turn(&mut [
        &mut |at| {
            let frame = &mut ours.borrow_mut()[at];
            sender.seal(Instant::ZERO, PeerId(0), Member(0), frame).expect("a key that is good");
        },
        &mut |at| {
            let frame = &mut ours.borrow_mut()[at];
            black_box(receiver.open(Instant::ZERO, frame)).expect("what was sealed");
        },
        &mut |at| {
            sealed += 1;
            let frame = &mut raw.borrow_mut()[at];
            let (plain, tag) = frame.split_at_mut(PLAIN);
            let made = key.seal_in_place_separate_tag(nonce(sealed), Aad::from(header), plain).expect("short enough");
            tag.copy_from_slice(made.as_ref());
        },
        &mut |at| {
            opened += 1;
            let frame = &mut raw.borrow_mut()[at];
            black_box(key.open_in_place(nonce(opened), Aad::from(header), frame)).expect("what was sealed");
        },
    ])
}

fn sealing() {
    println!(
        "{:<26} {:>12} {:>12} {:>14} {:>14}",
        "GB/s on one core", "seal", "open", "raw AEAD seal", "raw AEAD open"
    );
    for (name, suite) in [("AES-256-GCM", Suite::Aes256Gcm), ("ChaCha20-Poly1305", Suite::ChaCha20Poly1305)] {
        let rates: Vec<f64> = frames(suite).iter().map(|nanos| PLAIN as f64 / nanos).collect();
        println!("{name:<26} {:>12.2} {:>12.2} {:>14.2} {:>14.2}", rates[0], rates[1], rates[2], rates[3]);
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
        addresses: vec![Address([other; Address::LEN])],
    };
    let timing = Timing { load: u32::MAX, ..Timing::default() };
    let identity = Secret::new([number; 32]);
    let config = Config { identity, peers: vec![peer], suites: Suite::ALL.to_vec(), epoch_ns: 0, timing };
    let stream = |purpose| Stream::new(1, u64::from(number), purpose);
    Sessions::new(config, Simulated(stream("entropy")), stream("jitter"))
}

/// A first message made, a first message answered, an answer read.
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
        let heard = Input::Datagram { from: Address([1; Address::LEN]), bytes: initiation };
        let response = drive(&mut second, now, heard).expect("an answer");
        drive(&mut first, now, Input::Datagram { from: Address([2; Address::LEN]), bytes: response });
    });
    println!("{:<26} {:>12.0}", "handshake, both ends, us", all / 1e3);
}

/// Cost of a stranger's datagram: at the gate, where all but a true first message ends, and in the machine of an end
/// with `peers` peers.
fn strangers(peers: usize) {
    let peer = |number: usize| {
        let mut public = public_key(&Secret::new([3; 32]));
        public.0[..8].copy_from_slice(&(number as u64).to_be_bytes());
        PeerConfig { public, psk: Secret::new([0; 32]), addresses: vec![Address([1; Address::LEN])] }
    };
    let timing = Timing { load: 0, ..Timing::default() };
    let identity = Secret::new([2; 32]);
    let peers: Vec<PeerConfig> = (0..peers).map(peer).collect();
    let count = peers.len();
    let config = Config { identity, peers, suites: Suite::ALL.to_vec(), epoch_ns: 0, timing };
    let stream = |purpose| Stream::new(1, 9, purpose);
    let mut hub = Sessions::new(config, Simulated(stream("entropy")), stream("jitter"));
    let mut gate = Gate::new(&hub.public());
    let mut true_message = vec![];
    step(&mut end(1, 2), Instant::ZERO, Some(Input::Connect(PeerId(0))), |output| {
        if let Output::Transmit { bytes, .. } = output {
            true_message = bytes;
        }
    });
    let wrong = [&true_message[..112], &[0; 32]].concat();
    let unasked = [&[0x12, 0, 0, 0][..], &[7; 76]].concat();
    for (what, bytes) in
        [("one byte", &[0][..]), ("wrong check", &wrong), ("unasked answer", &unasked), ("true", &true_message)]
    {
        let at_gate = measure(20_000, || {
            let _ = black_box(gate.check(black_box(bytes)));
        });
        let in_machine = measure(20_000, || {
            let input = Input::Datagram { from: Address([1; Address::LEN]), bytes: bytes.to_vec() };
            step(&mut hub, Instant::ZERO, Some(input), |output| drop(black_box(output)));
        });
        println!("{count:>5} peers, {what:<14} {at_gate:>8.0} {in_machine:>12.0}");
    }
}

fn main() {
    sealing();
    account();
    handshake();
    println!("{:<27} {:>8} {:>12}", "a stranger's datagram, ns", "gate", "machine");
    [1, 500, 4_096].into_iter().for_each(strangers);
}
