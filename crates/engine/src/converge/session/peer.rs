//! What is known of one peer: its keys, first messages that have no answer yet, and when something is to be done.

use super::config::PeerConfig;
use super::cookie::{Door, Mac};
use super::material::{PublicKey, Secret};
use super::message::{Initiation, KeyId};
use super::noise::Sent;
use super::service::{Address, Role};
use super::sessions::Stamps;
use crate::machine::Wake;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// First messages that may still be answered: a path may be longer than the first repetition, and all that leave within a second
/// and a half for different places are open at once.
pub(super) const ATTEMPTS: usize = 16;
/// Keys of which the initiator has shown nothing yet; it may have any of the answers that are on their way.
pub(super) const UNCONFIRMED: usize = ATTEMPTS;
/// Keys that are, or were, in use: what was sealed with the old one is still on its way.
pub(super) const USED: usize = 2;
/// Places where a peer may be: eight uplinks, and four addresses over each.
const ADDRESSES: usize = 32;
/// One place is asked so long after another at the least (RFC 8305, section 5: 100 ms is the least, 250 ms would make of eight dead
/// uplinks two seconds).
const STAGGER: Duration = Duration::from_millis(100);

/// What asks to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// A first message has no answer.
    Retry,
    /// The responder has not shown that it has the key.
    Confirm,
    /// The key is old.
    Rekey,
    /// A key's time is over.
    Expire,
}

impl Timer {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retry => "session.retry",
            Self::Confirm => "session.confirm",
            Self::Rekey => "session.rekey",
            Self::Expire => "session.expire",
        }
    }
}

/// A first message that was sent.
#[derive(Debug)]
pub(super) struct Attempt {
    pub message: Initiation,
    pub noise: Sent,
    pub to: Address,
    pub stamp: u64,
}

/// Something that is repeated, less and less often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeating {
    pub since: Instant,
    pub at: Instant,
    pub interval: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub ours: KeyId,
    /// How many there were before it, of all peers.
    pub number: u64,
    pub role: Role,
    pub expires: Instant,
    /// Whether frames were sealed with it.
    pub is_used: bool,
    /// Whether the other end has shown that it has it.
    pub is_confirmed: bool,
    /// Where the first message came from. Anybody can repeat an old one: the peer is there when the key is confirmed.
    pub place: Option<Address>,
}

#[derive(Debug)]
pub(super) struct Peer {
    pub public: PublicKey,
    pub psk: Secret,
    pub door: Door,
    pub addresses: VecDeque<Address>,
    /// What it and we have shown each other of our clocks.
    pub stamps: Stamps,
    /// When its last first message was answered.
    pub answered: Option<Instant>,
    /// Where a key that it has shown to have was made with it last.
    pub met: Option<Address>,
    /// The cookie that it has given us, for what we send to this address.
    pub cookie: Option<(Address, Instant, Mac)>,
    pub attempts: VecDeque<Attempt>,
    pub attempting: Option<Repeating>,
    /// Places that were asked in this round.
    asked: usize,
    /// Those in use behind the others, the newest last.
    pub keys: Vec<Key>,
    pub confirming: Option<(KeyId, Repeating)>,
    pub rekey: Option<Instant>,
}

impl Peer {
    pub fn new(config: PeerConfig) -> Self {
        Self {
            public: config.public,
            psk: config.psk,
            door: Door::new(&config.public),
            addresses: config.addresses.into(),
            stamps: Stamps::default(),
            answered: None,
            met: None,
            cookie: None,
            attempts: VecDeque::new(),
            attempting: None,
            asked: 0,
            keys: vec![],
            confirming: None,
            rekey: None,
        }
    }

    /// It has been here: the first place to look for it.
    pub fn met_at(&mut self, place: Address) {
        self.met = Some(place);
        self.addresses.retain(|known| *known != place);
        self.addresses.push_front(place);
        self.addresses.truncate(ADDRESSES);
    }

    /// It has answered here: the first place to ask the next time.
    pub fn has_answered(&mut self, place: Address) {
        self.met = Some(place);
        if self.addresses.contains(&place) {
            self.met_at(place);
        }
    }

    /// It may be at these places, the likeliest first. The round goes on if they are the ones that are known.
    pub fn may_be_at(&mut self, places: Vec<Address>) {
        if places.len() == self.addresses.len() && places.iter().all(|place| self.addresses.contains(place)) {
            return;
        }
        (self.addresses, self.asked) = (places.into(), 0);
        self.addresses.truncate(ADDRESSES);
        if let Some(place) = self.met {
            self.has_answered(place);
        }
    }

    /// A place was asked: how long until the next one is. Each is asked as often as it would be alone, and less often from round
    /// to round.
    pub fn pause(&mut self, attempting: &mut Repeating, longest: Duration) -> Duration {
        let places = self.addresses.len().max(1);
        let interval = attempting.interval;
        self.asked += 1;
        if self.asked >= places {
            self.asked = 0;
            attempting.interval = longest.min(interval * 2);
        }
        (interval / places as u64).max(STAGGER.min(interval))
    }

    /// The next place to look for it.
    pub fn next_address(&mut self) -> Option<Address> {
        self.addresses.rotate_left(usize::from(!self.addresses.is_empty()));
        self.addresses.back().copied()
    }

    pub fn is_up(&self) -> bool {
        self.keys.iter().any(|key| key.is_used)
    }

    /// Where it was met last, if there is a session.
    pub fn home(&self) -> Option<&Address> {
        self.met.as_ref().filter(|_| self.is_up())
    }

    pub fn key(&mut self, name: KeyId) -> Option<&mut Key> {
        self.keys.iter_mut().find(|key| key.ours == name)
    }

    /// From now on this is the one in use; gives the one that is too old to be kept.
    pub fn take_into_use(&mut self, name: KeyId) -> Option<KeyId> {
        let at = self.keys.iter().position(|key| key.ours == name)?;
        let mut key = self.keys.remove(at);
        key.is_used = true;
        self.keys.push(key);
        self.surplus(true, USED)
    }

    /// Adds one that is not in use; gives the one that is too old to be kept.
    pub fn keep(&mut self, key: Key) -> Option<KeyId> {
        self.keys.push(key);
        self.surplus(false, UNCONFIRMED)
    }

    /// The newest key that is in use, and all that are newer: with one of these the peer seals now.
    pub fn newest(&self) -> impl Iterator<Item = &Key> {
        let used = self.keys.iter().filter(|key| key.is_used).map(|key| key.number).max();
        self.keys.iter().filter(move |key| used.is_none_or(|used| key.number >= used))
    }

    fn surplus(&mut self, is_used: bool, most: usize) -> Option<KeyId> {
        let mut these = self.keys.iter().filter(|key| key.is_used == is_used);
        let oldest = these.next().map(|key| key.ours)?;
        let is_surplus = these.count() + 1 > most;
        is_surplus.then(|| {
            self.keys.retain(|key| key.ours != oldest);
            oldest
        })
    }

    /// The timers that run.
    fn timers(&self) -> impl Iterator<Item = (Instant, Timer)> {
        let expiries = self.keys.iter().map(|key| (key.expires, Timer::Expire));
        let retry = self.attempting.map(|attempting| (attempting.at, Timer::Retry));
        let confirm = self.confirming.map(|(_, repeating)| (repeating.at, Timer::Confirm));
        let rekey = self.rekey.map(|at| (at, Timer::Rekey));
        expiries.chain(retry).chain(confirm).chain(rekey)
    }

    /// One that is due.
    pub fn due(&self, now: Instant) -> Option<Timer> {
        self.timers().find(|(at, _)| *at <= now).map(|(_, timer)| timer)
    }

    /// The earliest.
    pub fn wake(&self) -> Option<Wake> {
        self.timers().min_by_key(|(at, _)| *at).map(|(at, timer)| Wake { at, why: timer.name() })
    }
}
