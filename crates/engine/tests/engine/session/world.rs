//! Shared parts of the tests: ends that are connected by a channel which loses, duplicates and reorders, and a record
//! of everything on it.

use airbraid_engine::converge::session::{
    Address, Aead, Config, Control, FRAME_HEADER_LEN, FRAME_OVERHEAD, Input, Keypair, Keyring, Opened, Output,
    PeerConfig, PeerId, Refusal, Secret, Sessions, Simulated, Suite, TAG_LEN, Timing, public_key,
};
use airbraid_engine::trunk::Member;
use airbraid_engine::wire::{SessionMessage, parse_session};
use airbraid_engine::{Machine, Stream, step};
use airbraid_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::fmt::Write;

pub fn secret(end: u8) -> Secret {
    Secret::new([end + 1; 32])
}

/// An IPv4 address of its own.
pub fn address(end: usize) -> Address {
    let mut bytes = [0; Address::LEN];
    (bytes[10], bytes[11], bytes[15]) = (255, 255, end as u8);
    bytes[19] = end as u8;
    Address(bytes)
}

/// The configuration of `end`, which knows `peers` and where they are.
pub fn config(end: u8, peers: &[u8]) -> Config {
    let peer = |&peer: &u8| PeerConfig {
        public: public_key(&secret(peer)),
        psk: Secret::new([0; 32]),
        addresses: vec![address(usize::from(peer))],
    };
    Config {
        identity: secret(end),
        peers: peers.iter().map(peer).collect(),
        suites: vec![Suite::Aes256Gcm, Suite::ChaCha20Poly1305],
        epoch_ns: 1_700_000_000_000_000_000,
        timing: Timing::default(),
    }
}

pub struct End {
    pub sessions: Sessions<Simulated>,
    pub ring: Keyring<Aead>,
    pub keys: Vec<Keypair>,
    /// The contents of received frames of data.
    pub received: Vec<Vec<u8>>,
    /// Where its peers are.
    pub places: Vec<usize>,
}

impl End {
    pub fn new(seed: u64, end: usize, config: Config, places: Vec<usize>) -> Self {
        let stream = |purpose| Stream::new(seed, end as u64, purpose);
        let sessions = Sessions::new(config, Simulated(stream("entropy")), stream("jitter"));
        Self { sessions, ring: Keyring::new(Aead), keys: vec![], received: vec![], places }
    }
}

/// The channel's effect on each datagram \[thousandths, ms\].
#[derive(Clone, Copy, Debug, Default)]
pub struct Channel {
    pub loss: u32,
    pub repeat: u32,
    pub delay: u32,
    pub jitter: u32,
}

pub struct Datagram {
    pub from: usize,
    pub to: usize,
    pub bytes: Vec<u8>,
}

pub struct World {
    pub ends: Vec<End>,
    pub now: Instant,
    pub channel: Channel,
    pub text: String,
    /// The first end's ways (byte 18 of an address) below this lose all that it sends on them.
    pub dead_ways: u8,
    /// All that was sent, lost or not.
    pub sent: Vec<Datagram>,
    chance: Stream,
    flying: BTreeMap<(Instant, usize), Datagram>,
    count: usize,
}

impl World {
    /// Two that know each other; only the first knows where the other is.
    pub fn pair(seed: u64, channel: Channel) -> Self {
        let mut second = config(1, &[0]);
        second.peers[0].addresses.clear();
        Self::of(seed, channel, vec![(config(0, &[1]), vec![1]), (second, vec![0])])
    }

    pub fn of(seed: u64, channel: Channel, ends: Vec<(Config, Vec<usize>)>) -> Self {
        let ends = ends.into_iter().enumerate().map(|(at, (config, places))| End::new(seed, at, config, places));
        Self {
            ends: ends.collect(),
            now: Instant::ZERO,
            channel,
            text: String::new(),
            dead_ways: 0,
            sent: vec![],
            chance: Stream::new(seed, 99, "channel"),
            flying: BTreeMap::new(),
            count: 0,
        }
    }

    pub fn send(&mut self, from: usize, to: usize, bytes: &[u8]) {
        self.sent.push(Datagram { from, to, bytes: bytes.to_vec() });
        let mut happens = |share| self.chance.up_to(999) < share;
        let is_repeated = happens(self.channel.repeat);
        for _ in 0..=u32::from(is_repeated) {
            if self.chance.up_to(999) < self.channel.loss {
                continue;
            }
            let delay = self.channel.delay + self.chance.up_to(self.channel.jitter);
            self.count += 1;
            let key = (self.now + Duration::from_millis(u64::from(delay)), self.count);
            self.flying.insert(key, Datagram { from, to, bytes: bytes.to_vec() });
        }
    }

    pub fn input(&mut self, end: usize, input: Option<Input>) {
        let mut outputs = vec![];
        step(&mut self.ends[end].sessions, self.now, input, |output| outputs.push(output));
        for output in outputs {
            self.carry_out(end, output);
        }
    }

    fn note(&mut self, end: usize, what: &str) {
        let us = self.now.as_nanos() / 1_000;
        writeln!(self.text, "{:>6}.{:03} {} {what}", us / 1_000, us % 1_000, char::from(b'A' + end as u8)).unwrap();
    }

    /// Keys by the order in which they were installed here.
    fn key_name(&self, end: usize, key: airbraid_engine::converge::session::KeyId) -> usize {
        self.ends[end].keys.iter().position(|keys| keys.ours == key).map_or(0, |at| at + 1)
    }

    fn carry_out(&mut self, end: usize, output: Output) {
        match output {
            Output::Transmit { to, bytes } => {
                let kind = match parse_session(&bytes) {
                    Ok(SessionMessage::Initiation(message)) if message.cookie_mac == [0; 16] => "initiation",
                    Ok(SessionMessage::Initiation(_)) => "initiation with cookie",
                    Ok(SessionMessage::Response(_)) => "response",
                    Ok(SessionMessage::CookieReply(_)) => "cookie reply",
                    Ok(SessionMessage::StampReply(_)) => "stamp reply",
                    _ => "?",
                };
                self.note(end, &format!("sends {kind}, {} byte", bytes.len()));
                if end == 0 && to.0[18] < self.dead_ways {
                    self.sent.push(Datagram { from: end, to: usize::from(to.0[19]), bytes });
                } else {
                    self.send(end, usize::from(to.0[19]), &bytes);
                }
            }
            Output::Install(keys) => {
                self.ends[end].ring.install(&keys);
                let what = format!("installs key {} as {:?}", self.ends[end].keys.len() + 1, keys.role);
                self.note(end, &what);
                self.ends[end].keys.push(*keys);
            }
            Output::Use(peer, key) => {
                self.ends[end].ring.use_key(peer, key);
                self.note(end, &format!("uses key {}", self.key_name(end, key)));
            }
            Output::Forget(_, key) => {
                self.ends[end].ring.forget(key);
                self.note(end, &format!("forgets key {}", self.key_name(end, key)));
            }
            Output::Control(peer, key, control) => {
                self.note(end, &format!("tells {control:?} with key {}", self.key_name(end, key)));
                self.control(end, peer, key, control);
            }
            Output::Answered(..) => {}
            Output::Unopened(_) => self.note(end, "cannot open an answer"),
            Output::Up(_) => self.note(end, "is up"),
            Output::Down(_) => self.note(end, "is down"),
            Output::Failed(_) => self.note(end, "has failed"),
            Output::Left(_) => self.note(end, "is left"),
            Output::SetBack { whose, by, .. } => {
                self.note(end, &format!("sees a clock set back: {whose:?}, by {} s", by.as_nanos() / 1_000_000_000));
            }
            Output::Shared(_) => self.note(end, "sees another with its key"),
        }
    }

    fn control(&mut self, end: usize, peer: PeerId, key: airbraid_engine::converge::session::KeyId, control: Control) {
        let mut frame = frame(&[control.byte()]);
        let sealed = self.ends[end].ring.seal_control(self.now, key, Member(0), &mut frame);
        if sealed.is_ok() {
            let to = self.ends[end].places[peer.index()];
            self.send(end, to, &frame);
        }
    }

    /// Seals and sends data to the first peer; whether there was a key.
    pub fn data(&mut self, end: usize, member: u8, data: &[u8]) -> bool {
        let mut frame = frame(data);
        let sealed = self.ends[end].ring.seal(self.now, PeerId(0), Member(member), &mut frame);
        if sealed.is_ok() {
            let to = self.ends[end].places[0];
            self.send(end, to, &frame);
        }
        sealed.is_ok()
    }

    /// Gives an end a datagram.
    pub fn arrive(&mut self, from: usize, to: usize, bytes: &[u8]) {
        if matches!(parse_session(bytes), Ok(SessionMessage::Frame(_))) {
            let _ = self.open(to, bytes);
        } else {
            self.input(to, Some(Input::Datagram { from: address(from), bytes: bytes.to_vec() }));
        }
    }

    pub fn open(&mut self, end: usize, bytes: &[u8]) -> Result<Opened, Refusal> {
        let mut bytes = bytes.to_vec();
        let opened = self.ends[end].ring.open(self.now, &mut bytes)?;
        if opened.is_first {
            self.input(end, Some(Input::Confirmed(opened.peer, opened.header.key)));
        }
        match opened.control {
            Some(control) => self.input(end, Some(Input::Control(opened.peer, opened.header.key, control))),
            None => self.ends[end].received.push(bytes[FRAME_HEADER_LEN..bytes.len() - TAG_LEN].to_vec()),
        }
        Ok(opened)
    }

    /// Loses everything under way.
    pub fn flush(&mut self) {
        self.flying.clear();
    }

    fn next(&self) -> Option<(Instant, Option<usize>)> {
        let timers = self.ends.iter().enumerate();
        let timer = timers.filter_map(|(at, end)| Some((end.sessions.poll_timeout()?.at, Some(at)))).min();
        let arrival = self.flying.keys().next().map(|(at, _)| (*at, None));
        timer.into_iter().chain(arrival).min()
    }

    /// Time passes until `ms`.
    pub fn run(&mut self, ms: u64) -> &mut Self {
        let end = Instant::ZERO + Duration::from_millis(ms);
        while let Some((at, what)) = self.next().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            match what {
                Some(end) => self.input(end, None),
                None => {
                    let Some((_, datagram)) = self.flying.pop_first() else { continue };
                    self.arrive(datagram.from, datagram.to, &datagram.bytes);
                }
            }
        }
        self.now = end;
        self
    }

    /// An end begins another life: it has forgotten everything, and its clock says something else.
    pub fn restart(&mut self, end: usize, seed: u64, config: Config) {
        let places = std::mem::take(&mut self.ends[end].places);
        self.ends[end] = End::new(seed, end, config, places);
    }

    /// The sent messages of this kind (1 to 6).
    pub fn sent_of(&self, kind: u8) -> Vec<Vec<u8>> {
        self.sent.iter().filter(|datagram| datagram.bytes[0] & 15 == kind).map(|sent| sent.bytes.clone()).collect()
    }

    pub fn is_up(&self) -> bool {
        self.ends.iter().all(|end| end.sessions.is_up(PeerId(0)))
    }

    #[track_caller]
    pub fn reads(&self, expected: &str) {
        let trim =
            |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let (ours, expected) = (trim(&self.text), trim(expected));
        assert!(ours == expected, "reads\n{ours}\n\nand not\n{expected}");
    }
}

/// Room for header and tag around `data`.
pub fn frame(data: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; data.len() + FRAME_OVERHEAD];
    frame[FRAME_HEADER_LEN..FRAME_HEADER_LEN + data.len()].copy_from_slice(data);
    frame
}
