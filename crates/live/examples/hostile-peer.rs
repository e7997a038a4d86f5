//! A peer that holds a key and means harm: it fills every queue that a daemon keeps for it. `VmHWM` in
//! `/proc/PID/status` of the daemon shows the cost.
//!
//! ```text
//! hostile-peer PRIVATE_KEY DAEMONS_PUBLIC_KEY 10.9.0.2:5182 OWN_ADDRESS_INSIDE LENGTH SECONDS
//! ```
//! It must be in the daemon's file, without an endpoint, with its address inside as `allowed`. `LENGTH` is that of its
//! packets \[byte\].

#![allow(clippy::disallowed_methods, reason = "it plays a host, outside every run")]

use airbraid_engine::converge::session::{
    Address, Aead, Config, FRAME_HEADER_LEN, Input, Keyring, Output, PeerConfig, PeerId, Secret, Sessions, Suite,
    TAG_LEN, Timing,
};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{BondHeader, FlowSeq, Probe, RepairHeader};
use airbraid_engine::wire::{emit_tunnel_header, emit_tunnel_probe, emit_tunnel_repair};
use airbraid_engine::{Stream, step};
use airbraid_live::daemon::keys::{self, Random};
use airbraid_units::{Duration, Instant, SeqNum};
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration as Span, Instant as Clock, SystemTime, UNIX_EPOCH};

/// Members of both ends: the daemon listens to those that can be this end's.
const MEMBERS: u8 = 16;

struct Peer {
    socket: UdpSocket,
    sessions: Sessions<Random>,
    ring: Keyring<Aead>,
    begun: Clock,
    is_up: bool,
}

impl Peer {
    fn now(&self) -> Instant {
        Instant::ZERO + Duration::from_nanos(self.begun.elapsed().as_nanos() as u64 + 1)
    }

    fn drive(&mut self, input: Option<Input>) {
        let (now, mut outputs) = (self.now(), vec![]);
        step(&mut self.sessions, now, input, |output| outputs.push(output));
        for output in outputs {
            match output {
                Output::Transmit { bytes, .. } => drop(self.socket.send(&bytes)),
                Output::Install(keys) => self.ring.install(&keys),
                Output::Use(peer, key) => self.ring.use_key(peer, key),
                Output::Up(_) => self.is_up = true,
                _ => {}
            }
        }
    }

    fn listen(&mut self) {
        let mut room = [0; 2_048];
        while let Ok(length) = self.socket.recv(&mut room) {
            if !self.is_up {
                self.drive(Some(Input::Datagram { from: Address::default(), bytes: room[..length].to_vec() }));
            }
        }
    }

    fn send(&mut self, member: u8, plain: &[u8]) {
        let mut frame = vec![0; FRAME_HEADER_LEN];
        frame.extend(plain);
        frame.extend([0; TAG_LEN]);
        if self.ring.seal(self.now(), PeerId(0), Member(member), frame.as_mut_slice()).is_ok() {
            let _ = self.socket.send(&frame);
        }
    }
}

/// An IPv4 packet of UDP.
fn packet(own: Ipv4Addr, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    bytes[..12].copy_from_slice(&[0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0]);
    bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    bytes[12..16].copy_from_slice(&own.octets());
    bytes
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, private, public, to, own, length, seconds] = &arguments[..] else { panic!("six arguments") };
    let private = keys::secret(private).expect("a private key");
    let public = keys::public(public).expect("a public key");
    let (own, length): (Ipv4Addr, usize) = (own.parse().expect("an address"), length.parse().expect("a length"));
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    socket.connect(to).expect("an address");
    socket.set_read_timeout(Some(Span::from_micros(50))).expect("a time-out");
    let epoch_ns = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
    let peer = PeerConfig { public, psk: Secret::new([0; 32]), addresses: vec![Address::default()] };
    let config = Config {
        identity: private,
        peers: vec![peer],
        suites: vec![Suite::Aes256Gcm, Suite::ChaCha20Poly1305],
        epoch_ns,
        timing: Timing::default(),
    };
    let sessions = Sessions::new(config, Random::new(), Stream::new(1, 0, "hostile"));
    let mut peer = Peer { socket, sessions, ring: Keyring::new(Aead), begun: Clock::now(), is_up: false };
    peer.drive(Some(Input::Connect(PeerId(0))));
    while !peer.is_up {
        peer.listen();
        peer.drive(None);
    }
    for member in 0..MEMBERS {
        let mut probe = vec![];
        emit_tunnel_probe(&Probe { number: SeqNum(1), epoch: 1, padding: 0 }, &mut probe);
        peer.send(member, &probe);
    }
    let inner = packet(own, length);
    let until = Clock::now() + Span::from_secs(seconds.parse().expect("seconds"));
    let mut round = 0u32;
    while Clock::now() < until {
        round += 1;
        for member in 0..MEMBERS {
            // The first packet of a flow never comes; symbols stand for groups of which too much is missing.
            let place = FlowSeq { bucket: (round % 512) as u16, number: 1 + 16 * (round / 512) + u32::from(member) };
            let header = emit_tunnel_header(&BondHeader { number: SeqNum(2 * round), place });
            peer.send(member, &[&header[..], &inner].concat());
            if round.is_multiple_of(4) {
                let header = RepairHeader { number: SeqNum(2 * round + 1), sources: 250, index: 0 };
                peer.send(member, &[&emit_tunnel_repair(&header)[..], &[0; 4], &inner].concat());
            }
        }
        if round.is_multiple_of(8) {
            peer.listen();
        }
    }
    println!("{round} rounds");
}
