//! The machine of the handshakes: attempts, answers, and the keys in use with their lifetimes.
//!
//! A call costs a few look-ups, however many peers there are, and those whose timers are due; the operations of a
//! handshake are done only behind the checks of [`super::cookie`] and [`super::admission`].

mod renewal;

use super::address::Address;
use super::admission::{Admission, Bucket, Source};
use super::callers::{Caller, Callers};
use super::config::{Config, Timing};
use super::cookie::{Baker, Door, cookie_mac};
use super::keyring::refusal;
use super::material::{Entropy, PublicKey, Secret};
use super::message::{Control, CookieReply, Initiation, KeyId, Response, Suite};
use super::noise::{self, Split};
use super::peer::{ATTEMPTS, Attempt, Key, Peer, Repeating, Timer};
use super::roster::Roster;
use super::service::{Input, Keypair, Output, PeerId, Role, Whose};
use super::stats::{Refusal, Stats};
use crate::machine::{Machine, Wake};
use crate::random::Stream;
use crate::wire::{SessionMessage, emit_cookie_reply, emit_initiation, emit_response, parse_session};
use airbraid_units::{Duration, Instant};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

mod farewell;
mod stamps;

/// The oldest and the newest version of the protocol that this code speaks.
const VERSIONS: (u8, u8) = (1, 1);
/// Time for which the initiator asks whether the responder has the key before it makes another, in units of the first
/// interval: five questions, each twice as long after the one before.
const ASKING: u64 = 31;
/// Offset of the check, which covers the bytes before it.
const MAC_AT: usize = 112;
const COOKIE_MAC_AT: usize = 128;

/// The sessions of one end with all its peers.
#[derive(Debug)]
pub struct Sessions<E> {
    identity: Secret,
    public: PublicKey,
    /// The keys of our own public key.
    door: Door,
    suites: Vec<Suite>,
    timing: Timing,
    epoch_ns: u64,
    peers: Roster,
    by_public: BTreeMap<PublicKey, PeerId>,
    /// Our names of keys that exist, or may come to be.
    names: BTreeMap<KeyId, PeerId>,
    /// Number of keys made so far.
    keys: u64,
    entropy: E,
    jitter: Stream,
    baker: Baker,
    load: Bucket,
    admission: Admission,
    stats: Stats,
    callers: Callers,
    outputs: VecDeque<Output>,
}

/// Binds the bytes in the clear to the handshake: a changed offer breaks it.
fn prologue(message: &[u8]) -> Vec<u8> {
    [b"airbraid session", &message[..8]].concat()
}

impl<E: Entropy> Sessions<E> {
    /// One end; `jitter` spreads retransmissions, `entropy` makes keys.
    pub fn new(config: Config, entropy: E, jitter: Stream) -> Self {
        let public = noise::public_key(&config.identity);
        let peers = Roster::new(config.peers.into_iter().map(Peer::new));
        let by_public = peers.iter().enumerate().map(|(at, peer)| (peer.public, PeerId::at(at))).collect();
        Self {
            identity: config.identity,
            public,
            door: Door::new(&public),
            suites: config.suites,
            timing: config.timing,
            epoch_ns: config.epoch_ns,
            peers,
            by_public,
            names: BTreeMap::new(),
            keys: 0,
            entropy,
            jitter,
            baker: Baker::new(config.timing.cookie),
            load: Bucket::new(config.timing.load),
            admission: Admission::new(config.timing.load_most, config.timing.load_home),
            stats: Stats::default(),
            callers: Callers::default(),
            outputs: VecDeque::new(),
        }
    }

    /// The public key of this end.
    pub fn public(&self) -> PublicKey {
        self.public
    }
    /// Handshake messages: accepted, sent and refused.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    /// The last refused callers, with the reason: at most sixteen. Calls to another key than ours are refused before.
    pub fn callers(&self) -> impl Iterator<Item = &Caller> {
        self.callers.iter()
    }
    /// Whether there is a session with this peer.
    pub fn is_up(&self, peer: PeerId) -> bool {
        self.peers.get(peer.index()).is_some_and(Peer::is_up)
    }

    fn peer(&mut self, peer: PeerId) -> Option<&mut Peer> {
        self.peers.get_mut(peer.index())
    }

    fn transmit(&mut self, to: Address, bytes: &[u8]) {
        self.stats.sent += 1;
        self.outputs.push_back(Output::Transmit { to, bytes: bytes.to_vec() });
    }

    /// A name that no key of ours has.
    fn new_name(&mut self, peer: PeerId) -> KeyId {
        loop {
            let mut bytes = [0; 4];
            self.entropy.fill(&mut bytes);
            let name = KeyId(u32::from_be_bytes(bytes));
            if let Entry::Vacant(place) = self.names.entry(name) {
                place.insert(peer);
                return name;
            }
        }
    }

    fn repeating(&mut self, now: Instant) -> Repeating {
        Repeating { since: now, at: now, interval: self.timing.retry }
    }

    /// Sets the next time, and the one after that twice as far, both with up to a third more.
    fn later(&mut self, now: Instant, repeating: &mut Repeating) {
        repeating.at = now + self.with_jitter(repeating.interval);
        repeating.interval = self.timing.retry_most.min(repeating.interval * 2);
    }

    /// `pause` with up to a third more.
    fn with_jitter(&mut self, pause: Duration) -> Duration {
        let third = u32::try_from(pause.as_nanos() / 3).unwrap_or(u32::MAX);
        pause + Duration::from_nanos(u64::from(self.jitter.up_to(third)))
    }

    // The initiator.

    /// Begins to attempt, or attempts for longer: at its own pace, however often it is called.
    fn connect(&mut self, now: Instant, id: PeerId) {
        let repeating = self.repeating(now);
        let Some(peer) = self.peer(id) else { return };
        if let Some(attempting) = &mut peer.attempting {
            attempting.since = now;
        } else if !peer.addresses.is_empty() {
            peer.attempting = Some(repeating);
            self.attempt(now, id);
        }
    }

    /// Sends a first message, or gives up.
    fn attempt(&mut self, now: Instant, id: PeerId) {
        let (give_up, longest) = (self.timing.give_up, self.timing.retry_most);
        let Some(peer) = self.peer(id) else { return };
        let Some(mut attempting) = peer.attempting else { return };
        let to = peer.next_address().filter(|_| now.saturating_since(attempting.since) < give_up);
        let Some(to) = to else {
            self.stop_attempting(id, None);
            self.outputs.push_back(Output::Failed(id));
            return;
        };
        let pause = peer.pause(&mut attempting, longest);
        attempting.at = now + self.with_jitter(pause);
        self.initiate(now, id, to);
        if let Some(peer) = self.peer(id) {
            peer.attempting = Some(attempting);
        }
    }

    fn initiate(&mut self, now: Instant, id: PeerId, to: Address) {
        let clock = self.epoch_ns.saturating_add(now.as_nanos());
        let suites = self.suites.iter().fold(0, |bits, suite| bits | suite.bit());
        let (sender, ephemeral) = (self.new_name(id), Secret::draw(&mut self.entropy));
        let mut message =
            Initiation { versions: VERSIONS, suites, sender, noise: [0; 104], mac: [0; 16], cookie_mac: [0; 16] };
        let prologue = prologue(&emit_initiation(&message));
        let peer = &mut self.peers[id.index()];
        let stamp = peer.stamps.next(clock);
        let made = noise::initiate(&self.identity, &peer.public, &peer.psk, &prologue, ephemeral, stamp.to_be_bytes());
        let Ok((noise, first)) = made else {
            self.names.remove(&sender);
            return;
        };
        message.noise = first;
        message.mac = peer.door.mac(&emit_initiation(&message)[..MAC_AT]);
        if let Some((_, since, cookie)) = peer.cookie.filter(|(place, _, _)| *place == to)
            && now.saturating_since(since) < self.timing.cookie
        {
            message.cookie_mac = cookie_mac(&cookie, &emit_initiation(&message)[..COOKIE_MAC_AT]);
        }
        let bytes = emit_initiation(&message);
        peer.attempts.push_back(Attempt { message, noise, to, stamp });
        if peer.attempts.len() > ATTEMPTS
            && let Some(old) = peer.attempts.pop_front()
        {
            self.names.remove(&old.message.sender);
        }
        self.transmit(to, &bytes);
    }

    /// Forgets the first messages without an answer; `but` has become a key.
    fn stop_attempting(&mut self, id: PeerId, but: Option<KeyId>) {
        let Some(peer) = self.peer(id) else { return };
        peer.attempting = None;
        let names: Vec<KeyId> = peer.attempts.drain(..).map(|attempt| attempt.message.sender).collect();
        for name in names.into_iter().filter(|name| Some(*name) != but) {
            self.names.remove(&name);
        }
    }

    fn on_response(&mut self, now: Instant, message: &Response, bytes: &[u8]) -> Result<(), Refusal> {
        self.door.check_response(bytes, message)?;
        let &id = self.names.get(&message.receiver).ok_or(Refusal::UnknownKey)?;
        let peer = self.peers.get_mut(id.index()).ok_or(Refusal::UnknownKey)?;
        // It is the name of a key already: this answer has come.
        let mut attempts = peer.attempts.iter_mut();
        let attempt = attempts.find(|attempt| attempt.message.sender == message.receiver).ok_or(Refusal::Replayed)?;
        let place = attempt.to;
        let Ok((chosen, split)) = attempt.noise.finish(&message.noise) else {
            self.outputs.push_back(Output::Unopened(id));
            return Err(Refusal::Forged);
        };
        let [version, suite, 0, 0, a, b, c, d] = chosen else { return Err(Refusal::Malformed) };
        let suite = self.suites.iter().copied().find(|ours| ours.bit() == suite);
        let suite = suite.filter(|_| (VERSIONS.0..=VERSIONS.1).contains(&version)).ok_or(Refusal::Version)?;
        let keys = Keypair {
            peer: id,
            ours: message.receiver,
            theirs: KeyId(u32::from_be_bytes([a, b, c, d])),
            send: split.from_initiator,
            receive: split.from_responder,
            suite,
            version,
            role: Role::Initiator,
            expires: now + self.timing.expire,
        };
        peer.stamps.is_answered = true;
        peer.has_answered(place);
        self.stop_attempting(id, Some(keys.ours));
        self.outputs.push_back(Output::Answered(id, place));
        let name = self.install(keys, None);
        self.take_into_use(now, id, name);
        let mut asking = self.repeating(now);
        self.outputs.push_back(Output::Control(id, name, Control::Confirm));
        self.later(now, &mut asking);
        self.peers[id.index()].confirming = Some((name, asking));
        Ok(())
    }

    fn on_cookie_reply(&mut self, now: Instant, reply: &CookieReply) -> Result<(), Refusal> {
        let &id = self.names.get(&reply.receiver).ok_or(Refusal::UnknownKey)?;
        let peer = self.peers.get_mut(id.index()).ok_or(Refusal::UnknownKey)?;
        let mut attempts = peer.attempts.iter_mut();
        let attempt = attempts.find(|attempt| attempt.message.sender == reply.receiver).ok_or(Refusal::Replayed)?;
        let cookie = peer.door.open(reply, &attempt.message.mac).ok_or(Refusal::Forged)?;
        let shown = cookie_mac(&cookie, &emit_initiation(&attempt.message)[..COOKIE_MAC_AT]);
        if shown == attempt.message.cookie_mac {
            return Err(Refusal::Replayed);
        }
        // The same message, shown to be from here: once for each cookie.
        attempt.message.cookie_mac = shown;
        peer.cookie = Some((attempt.to, now, cookie));
        let (to, bytes) = (attempt.to, emit_initiation(&attempt.message));
        self.transmit(to, &bytes);
        Ok(())
    }

    /// The question whether the responder has the key got no answer.
    fn ask_again(&mut self, now: Instant, id: PeerId) {
        let Some((key, mut asking)) = self.peer(id).and_then(|peer| peer.confirming.take()) else { return };
        self.later(now, &mut asking);
        if now.saturating_since(asking.since) >= self.timing.retry * ASKING {
            self.connect(now, id);
            return;
        }
        self.outputs.push_back(Output::Control(id, key, Control::Confirm));
        if let Some(peer) = self.peer(id) {
            peer.confirming = Some((key, asking));
        }
    }

    // The responder.

    fn on_initiation(
        &mut self,
        now: Instant,
        from: Address,
        message: &Initiation,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        self.door.check_initiation(bytes, message)?;
        self.admit(now, from, message, bytes)?;
        let version = message.versions.1.min(VERSIONS.1);
        let suite = self.suites.iter().copied().find(|suite| suite.bit() & message.suites != 0);
        let suite = suite.filter(|_| version >= message.versions.0.max(VERSIONS.0)).ok_or(Refusal::Version)?;
        let ephemeral = Secret::draw(&mut self.entropy);
        let heard = noise::hear(&self.identity, &prologue(bytes), ephemeral, &message.noise);
        let heard = heard.map_err(|_| Refusal::Forged)?;
        let Some(&id) = self.by_public.get(&heard.peer) else {
            self.callers.note(now, from, Refusal::UnknownPeer, Some(heard.peer));
            return Err(Refusal::UnknownPeer);
        };
        let stamp = u64::from_be_bytes(heard.stamp);
        if let Some(newest) = self.peers[id.index()].stamps.newest_before(stamp) {
            self.tell_stamp(now, id, from, message.sender, heard, newest);
            return Err(Refusal::Replayed);
        }
        let answered = self.peers[id.index()].answered;
        if answered.is_some_and(|at| now.saturating_since(at) < self.timing.apart) {
            return Err(Refusal::Overload);
        }
        let ours = self.new_name(id);
        let [a, b, c, d] = ours.0.to_be_bytes();
        let peer = &mut self.peers[id.index()];
        let answer = heard.answer(&peer.psk, [version, suite.bit(), 0, 0, a, b, c, d]);
        let Ok((noise, Split { from_initiator, from_responder })) = answer else {
            self.names.remove(&ours);
            return Err(Refusal::Forged);
        };
        let behind = peer.stamps.accept(now, stamp, message.sender);
        peer.answered = Some(now);
        let keys = Keypair {
            peer: id,
            ours,
            theirs: message.sender,
            send: from_responder,
            receive: from_initiator,
            suite,
            version,
            role: Role::Responder,
            expires: now + self.timing.expire,
        };
        self.install(keys, Some(from));
        if let Some(by) = behind {
            self.outputs.push_back(Output::SetBack { peer: id, whose: Whose::Theirs, by });
        }
        let mut response = Response { receiver: message.sender, noise, mac: [0; 16] };
        let emitted = emit_response(&response);
        response.mac = self.peers[id.index()].door.mac(&emitted[..emitted.len() - 16]);
        self.transmit(from, &emit_response(&response));
        Ok(())
    }

    /// Returns whether there is time for it; if not, the error names the reason.
    fn admit(&mut self, now: Instant, from: Address, message: &Initiation, bytes: &[u8]) -> Result<(), Refusal> {
        let is_shown = message.cookie_mac != [0; 16];
        let said = &bytes[..COOKIE_MAC_AT];
        let entropy = &mut self.entropy;
        if is_shown && self.baker.is_good(now, &from, said, &message.cookie_mac, entropy) {
            let source = Source::of(&from);
            let is_home = self.peers.is_home(source);
            let is_taken = self.admission.take(now, source, is_home, entropy);
            return if is_taken { Ok(()) } else { Err(Refusal::Overload) };
        }
        // A cookie that is wrong is worth no more than none, and never less than a new one.
        if !is_shown && self.load.take(now) {
            return Ok(());
        }
        let cookie = self.baker.bake(now, &from, entropy);
        let mut nonce = [0; 12];
        entropy.fill(&mut nonce);
        let reply = self.door.seal(message.sender, nonce, &cookie, &message.mac);
        self.transmit(from, &emit_cookie_reply(&reply));
        Err(Refusal::NoCookie)
    }

    // Both.

    fn install(&mut self, keys: Keypair, place: Option<Address>) -> KeyId {
        let (id, ours, role, expires) = (keys.peer, keys.ours, keys.role, keys.expires);
        self.keys += 1;
        let key = Key { ours, number: self.keys, role, expires, is_used: false, is_confirmed: false, place };
        self.outputs.push_back(Output::Install(Box::new(keys)));
        let surplus = self.peer(id).and_then(|peer| peer.keep(key));
        self.forget(id, surplus);
        ours
    }

    fn forget(&mut self, id: PeerId, key: Option<KeyId>) {
        if let Some(key) = key {
            self.names.remove(&key);
            self.outputs.push_back(Output::Forget(id, key));
        }
    }

    fn take_into_use(&mut self, now: Instant, id: PeerId, name: KeyId) {
        let rekey = self.timing.rekey;
        let Some(peer) = self.peer(id) else { return };
        let was_up = peer.is_up();
        let surplus = peer.take_into_use(name);
        let role = peer.key(name).map(|key| key.role);
        peer.confirming = None;
        peer.rekey = Some(now + if role == Some(Role::Initiator) { rekey } else { rekey + rekey / 2 });
        self.outputs.push_back(Output::Use(id, name));
        self.forget(id, surplus);
        if !was_up {
            self.outputs.push_back(Output::Up(id));
        }
    }

    fn on_confirmed(&mut self, now: Instant, id: PeerId, name: KeyId) {
        let Some(peer) = self.peer(id) else { return };
        peer.confirming.take_if(|(key, _)| *key == name);
        let Some(key) = peer.key(name).filter(|key| !key.is_confirmed) else { return };
        key.is_confirmed = true;
        let (is_used, place) = (key.is_used, key.place);
        if let Some(place) = place {
            peer.met_at(place);
        }
        if !is_used {
            self.stop_attempting(id, None);
            self.take_into_use(now, id, name);
        }
    }

    fn on_control(&mut self, now: Instant, id: PeerId, name: KeyId, control: Control) {
        self.on_confirmed(now, id, name);
        let role = self.peer(id).and_then(|peer| peer.key(name)).map(|key| key.role);
        match control {
            Control::Confirm if role == Some(Role::Responder) => {
                self.outputs.push_back(Output::Control(id, name, Control::Confirmed));
            }
            Control::Farewell => self.on_farewell(id, name),
            Control::Confirm | Control::Confirmed => {}
        }
    }

    fn expire(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peer(id) else { return };
        let was_up = peer.is_up();
        let expired: Vec<KeyId> = peer.keys.iter().filter(|key| key.expires <= now).map(|key| key.ours).collect();
        peer.keys.retain(|key| key.expires > now);
        peer.confirming.take_if(|(key, _)| expired.contains(key));
        let is_down = was_up && !peer.is_up();
        if is_down {
            peer.rekey = None;
        }
        for key in expired {
            self.forget(id, Some(key));
        }
        if is_down {
            self.outputs.push_back(Output::Down(id));
        }
    }

    fn remove(&mut self, id: PeerId) {
        let Some(peer) = self.peer(id) else { return };
        let (public, was_up) = (peer.public, peer.is_up());
        let keys: Vec<KeyId> = peer.keys.drain(..).map(|key| key.ours).collect();
        peer.addresses.clear();
        peer.confirming = None;
        peer.rekey = None;
        if self.by_public.get(&public) == Some(&id) {
            self.by_public.remove(&public);
        }
        self.stop_attempting(id, None);
        for key in keys {
            self.forget(id, Some(key));
        }
        if was_up {
            self.outputs.push_back(Output::Down(id));
        }
    }

    fn on_datagram(&mut self, now: Instant, from: Address, bytes: &[u8]) {
        let done = match parse_session(bytes) {
            Ok(SessionMessage::Initiation(message)) => self.on_initiation(now, from, &message, bytes),
            Ok(SessionMessage::Response(message)) => self.on_response(now, &message, bytes),
            Ok(SessionMessage::CookieReply(message)) => self.on_cookie_reply(now, &message),
            Ok(SessionMessage::StampReply(message)) => self.on_stamp_reply(now, &message, bytes),
            // Frames are the ring's.
            Ok(SessionMessage::Frame(_)) => Err(Refusal::Malformed),
            Err(error) => Err(refusal(error)),
        };
        match done {
            Ok(()) => self.stats.accepted += 1,
            Err(refusal) => self.stats.refuse(refusal),
        }
    }
}

impl<E: Entropy> Machine for Sessions<E> {
    type Input = Input;
    type Output = Output;

    fn handle_input(&mut self, now: Instant, input: Input) {
        match input {
            Input::Connect(peer) | Input::Spent(peer) => self.connect(now, peer),
            Input::Addresses(id, addresses) => {
                if let Some(peer) = self.peer(id) {
                    peer.may_be_at(addresses);
                }
            }
            Input::PeerAdded(config) => {
                let id = PeerId::at(self.peers.len());
                self.by_public.insert(config.public, id);
                self.peers.push(Peer::new(config));
            }
            Input::Farewell(id) => self.say_farewell(id),
            Input::PeerRemoved(id) => self.remove(id),
            Input::Datagram { from, bytes } => self.on_datagram(now, from, &bytes),
            Input::Confirmed(peer, key) => self.on_confirmed(now, peer, key),
            Input::Control(peer, key, control) => self.on_control(now, peer, key, control),
            Input::StoodStill(span) => self.on_stood_still(now, span),
            Input::Renew => self.on_renew(now),
        }
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        for id in self.peers.due(now) {
            while let Some(timer) = self.peers[id.index()].due(now) {
                match timer {
                    Timer::Expire => self.expire(now, id),
                    Timer::Retry => self.attempt(now, id),
                    Timer::Confirm => self.ask_again(now, id),
                    Timer::Rekey => {
                        self.peers[id.index()].rekey = None;
                        self.connect(now, id);
                    }
                }
            }
        }
        self.peers.settle();
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        self.peers.wake()
    }
}
