//! The state of one peer: its keys, first messages without an answer, and its timers.

use super::address::Address;
use super::config::PeerConfig;
use super::cookie::{Door, Mac};
use super::material::{PublicKey, Secret};
use super::message::{Initiation, KeyId};
use super::noise::Sent;
use super::service::Role;
use super::stamps::Stamps;
use crate::machine::Wake;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Largest number of first messages that may still be answered: a path may be longer than the first retransmission, and
/// all that leave within a second and a half for different addresses are open at once.
pub(super) const ATTEMPTS: usize = 16;
/// Largest number of keys that the initiator has not confirmed; it may have any of the answers under way.
pub(super) const UNCONFIRMED: usize = ATTEMPTS;
/// Number of keys that are, or were, in use: frames sealed with the old one are still under way.
pub(super) const USED: usize = 2;
/// Largest number of a peer's addresses: eight uplinks, and four addresses over each.
const ADDRESSES: usize = 32;
/// Shortest interval between attempts at two addresses (RFC 8305, section 5: 100 ms is the least, 250 ms would make of
/// eight dead uplinks two seconds).
const STAGGER: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// A first message has no answer.
    Retry,
    /// The responder has not confirmed the key.
    Confirm,
    /// The key in use is old.
    Rekey,
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

/// A message that is retransmitted at growing intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeating {
    pub since: Instant,
    pub at: Instant,
    pub interval: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub ours: KeyId,
    /// Its number, counted over all peers.
    pub number: u64,
    pub role: Role,
    pub expires: Instant,
    /// Whether frames were sealed with it.
    pub is_used: bool,
    /// Whether the other end has shown that it has it.
    pub is_confirmed: bool,
    /// Source of the first message. Anyone can replay an old one: the peer is there when the key is confirmed.
    pub place: Option<Address>,
}

#[derive(Debug)]
pub(super) struct Peer {
    pub public: PublicKey,
    pub psk: Secret,
    pub door: Door,
    pub addresses: VecDeque<Address>,
    /// The time stamps that both have shown each other.
    pub stamps: Stamps,
    /// The time at which its last first message was answered.
    pub answered: Option<Instant>,
    /// The address where its last confirmed key was made.
    pub met: Option<Address>,
    /// The cookie that it has given us, for messages to this address.
    pub cookie: Option<(Address, Instant, Mac)>,
    pub attempts: VecDeque<Attempt>,
    pub attempting: Option<Repeating>,
    /// Number of addresses tried in this round.
    asked: usize,
    /// Keys in use behind the others, the newest last.
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

    /// Notes an address where it was met: the first to try for it.
    pub fn met_at(&mut self, place: Address) {
        self.met = Some(place);
        self.addresses.retain(|known| *known != place);
        self.addresses.push_front(place);
        self.addresses.truncate(ADDRESSES);
    }

    /// Notes an address where it answered: the first to try the next time.
    pub fn has_answered(&mut self, place: Address) {
        self.met = Some(place);
        if self.addresses.contains(&place) {
            self.met_at(place);
        }
    }

    /// Sets its possible addresses, the likeliest first. The round goes on if they have not changed.
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

    /// Returns the time until the next address is tried. Each is tried as often as it would be alone, and less often
    /// from round to round.
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

    /// Returns the next address to try.
    pub fn next_address(&mut self) -> Option<Address> {
        self.addresses.rotate_left(usize::from(!self.addresses.is_empty()));
        self.addresses.back().copied()
    }

    pub fn is_up(&self) -> bool {
        self.keys.iter().any(|key| key.is_used)
    }

    /// Returns the address where it was met last, if there is a session.
    pub fn home(&self) -> Option<&Address> {
        self.met.as_ref().filter(|_| self.is_up())
    }

    pub fn key(&mut self, name: KeyId) -> Option<&mut Key> {
        self.keys.iter_mut().find(|key| key.ours == name)
    }

    /// Takes a key into use; returns the one that is too old to keep.
    pub fn take_into_use(&mut self, name: KeyId) -> Option<KeyId> {
        let at = self.keys.iter().position(|key| key.ours == name)?;
        let mut key = self.keys.remove(at);
        key.is_used = true;
        self.keys.push(key);
        self.surplus(true, USED)
    }

    /// Adds a key that is not in use; returns the one that is too old to keep.
    pub fn keep(&mut self, key: Key) -> Option<KeyId> {
        self.keys.push(key);
        self.surplus(false, UNCONFIRMED)
    }

    /// The newest key in use, and all newer ones: the peer seals with one of these now.
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

    pub fn wake(&self) -> Option<Wake> {
        self.timers().min_by_key(|(at, _)| *at).map(|(at, timer)| Wake { at, why: timer.name() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn place(number: u8) -> Address {
        Address([number; Address::LEN])
    }

    fn peer(places: impl IntoIterator<Item = u8>) -> Peer {
        let addresses = places.into_iter().map(place).collect();
        Peer::new(PeerConfig { public: PublicKey([7; 32]), psk: Secret::new([0; 32]), addresses })
    }

    fn key(number: u32) -> Key {
        Key {
            ours: KeyId(number),
            number: u64::from(number),
            role: Role::Initiator,
            expires: Instant::MAX,
            is_used: false,
            is_confirmed: false,
            place: None,
        }
    }

    fn names(peer: &Peer) -> Vec<u32> {
        peer.keys.iter().map(|key| key.ours.0).collect()
    }

    #[test]
    fn a_home_is_where_it_was_met_while_there_is_a_session() {
        let mut peer = peer([1, 2]);
        peer.met_at(place(2));
        assert_eq!((peer.home(), peer.is_up()), (None, false));
        peer.keep(key(1));
        peer.take_into_use(KeyId(1));
        assert_eq!((peer.home(), peer.is_up()), (Some(&place(2)), true));
    }

    #[test]
    fn of_keys_in_use_two_are_kept_and_of_the_others_sixteen_the_newest() {
        let mut peer = peer([1]);
        for number in 1..=3 {
            assert_eq!(peer.keep(key(number)), None);
        }
        assert_eq!([1, 2, 3].map(|number| peer.take_into_use(KeyId(number))), [None, None, Some(KeyId(1))]);
        assert_eq!((names(&peer), peer.take_into_use(KeyId(9))), (vec![2, 3], None));
        for number in 4..20 {
            assert_eq!(peer.keep(key(number)), None, "{number}");
        }
        assert_eq!(peer.keep(key(20)), Some(KeyId(4)));
        assert_eq!(names(&peer), [2, 3].into_iter().chain(5..=20).collect::<Vec<_>>());
    }

    #[test]
    fn the_newest_key_in_use_and_newer_ones_are_those_that_the_peer_seals_with() {
        let mut peer = peer([1]);
        (1..=4).for_each(|number| assert_eq!(peer.keep(key(number)), None));
        let newest = |peer: &Peer| peer.newest().map(|key| key.number).collect::<Vec<_>>();
        assert_eq!(newest(&peer), [1, 2, 3, 4]);
        peer.take_into_use(KeyId(3));
        assert_eq!(newest(&peer), [4, 3]);
    }

    #[test]
    fn a_round_of_addresses_takes_the_interval_and_the_next_twice_that() {
        let ms = Duration::from_millis;
        let mut attempting = Repeating { since: Instant::ZERO, at: Instant::ZERO, interval: ms(1_000) };
        let mut peer = peer([1, 2]);
        let pauses = [(); 8].map(|()| peer.pause(&mut attempting, ms(3_000)));
        assert_eq!(pauses, [500, 500, 1_000, 1_000, 1_500, 1_500, 1_500, 1_500].map(ms));
        assert_eq!([(); 3].map(|()| peer.next_address()), [1, 2, 1].map(|number| Some(place(number))));
        // Eighty would be asked every 12.5 ms.
        let mut attempting = Repeating { interval: ms(1_000), ..attempting };
        assert_eq!(self::peer(0..80).pause(&mut attempting, ms(3_000)), ms(100));
        let mut attempting = Repeating { interval: ms(60), ..attempting };
        assert_eq!(self::peer(0..80).pause(&mut attempting, ms(3_000)), ms(60));
    }

    #[test]
    fn addresses_are_32_at_most_and_where_it_answered_comes_first() {
        let mut peer = peer([]);
        assert_eq!(peer.next_address(), None);
        peer.may_be_at((0..40).map(place).collect());
        assert_eq!(peer.addresses.len(), 32);
        peer.has_answered(place(5));
        assert_eq!((peer.addresses.front(), peer.addresses.len()), (Some(&place(5)), 32));
        peer.has_answered(place(200));
        assert_eq!((peer.addresses.front(), peer.met), (Some(&place(5)), Some(place(200))), "it is none of them");
        peer.met_at(place(201));
        assert_eq!((peer.addresses.front(), peer.addresses.len()), (Some(&place(201)), 32));
        peer.may_be_at([1, 201].map(place).to_vec());
        assert_eq!(peer.addresses, [201, 1].map(place));
    }
}
