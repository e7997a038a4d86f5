//! Pairs of links that disturb each other: a device that sends on one hears nothing on the other (NSTR, nonsimultaneous
//! transmit and receive; 802.11be-2024, 35.3.16).
//!
//! ```text
//!   link 1   |==== data =====|  |BA|        another link of the pair may begin meanwhile,
//!   link 2        |== data ==|  |BA|        if its PPDU ends with that one
//! ```
//!
//! So both answers go, or come, at the same time. Whoever cannot do so waits, the device itself and its peers alike.

use super::link::{LinkId, Links};
use crate::frame::Address;
use airbraid_units::{Duration, Instant};

/// Most links of a device, whose IDs are below 15.
const LINKS_MAX: usize = 15;

/// PPDUs whose ends are as far apart end together (35.3.16.5).
const SAME_END: Duration = Duration::from_micros(8);

/// Whether two ends are one for a third PPDU.
fn are_together(a: Instant, b: Instant) -> bool {
    a.max(b) - a.min(b) <= SAME_END
}
fn between(a: Instant, b: Instant) -> Instant {
    a.min(b) + (a.max(b) - a.min(b)) / 2
}

/// Links whose begins are as far apart begin together: less than a slot, more than a turnaround.
const SAME_TIME: Duration = Duration::from_micros(4);

/// Pairs of links of a device, by link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs([Links; LINKS_MAX]);

impl Pairs {
    pub fn add(&mut self, a: LinkId, b: LinkId) {
        self.0[usize::from(a.0)].insert(b);
        self.0[usize::from(b.0)].insert(a);
    }
    pub fn of(&self, link: LinkId) -> Links {
        self.0[usize::from(link.0)]
    }
    fn has(&self, a: LinkId, b: LinkId) -> bool {
        self.of(a).contains(b)
    }
}

/// An exchange on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnLink {
    pub with: Address,
    /// Whether this device began it, and when.
    pub is_own: bool,
    pub begun: Instant,
    /// Whether its data are still to come, after RTS and CTS.
    pub is_announced: bool,
    /// The end of its data, where this device sends them.
    pub data_end: Option<Instant>,
    /// The end of what is known of it.
    pub until: Instant,
}

/// The room that other links leave on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Everything.
    Free,
    /// A PPDU that ends then.
    EndAt(Instant),
    /// A PPDU that ends then and is announced: both links begin by RTS at the same time.
    Join(Instant),
    /// Nothing before then.
    Wait(Instant),
}

impl Room {
    /// The room that both leave.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Free, room) | (room, Self::Free) => room,
            (Self::Wait(a), Self::Wait(b)) => Self::Wait(a.max(b)),
            (Self::EndAt(a), Self::EndAt(b)) if are_together(a, b) => Self::EndAt(between(a, b)),
            (Self::Join(a), Self::Join(b)) if are_together(a, b) => Self::Join(between(a, b)),
            (
                Self::Wait(at) | Self::EndAt(at) | Self::Join(at),
                Self::Wait(other) | Self::EndAt(other) | Self::Join(other),
            ) => Self::Wait(at.max(other)),
        }
    }
}

/// The links of a device of which some disturb each other, at itself or at a peer.
#[derive(Clone, Debug, Default)]
pub(super) struct Coupling {
    /// Its own pairs.
    pub pairs: Pairs,
    /// Time for which a link that was blind does not trust what it hears.
    pub medium_sync: Duration,
    exchanges: [Option<OnLink>; LINKS_MAX],
    /// The time until which each link does not trust what it hears.
    unsure_until: [Option<Instant>; LINKS_MAX],
    /// When each link would begin a TXOP, if nothing comes between.
    accesses: [Option<Instant>; LINKS_MAX],
    /// Links that are committed to send, those that do, and those that have been told that they are blind.
    committed: Links,
    sending: Links,
    told: Links,
}

impl Coupling {
    /// An exchange is under way on a link, or over.
    pub fn set_exchange(&mut self, link: LinkId, exchange: Option<OnLink>) {
        self.exchanges[usize::from(link.0)] = exchange;
    }
    pub fn exchange_mut(&mut self, link: LinkId) -> Option<&mut OnLink> {
        self.exchanges[usize::from(link.0)].as_mut()
    }
    /// When a link would begin a TXOP.
    pub fn set_access(&mut self, link: LinkId, at: Option<Instant>) {
        self.accesses[usize::from(link.0)] = at;
    }

    /// The time until which a link does not trust what it hears.
    pub fn set_unsure(&mut self, link: LinkId, until: Option<Instant>) {
        self.unsure_until[usize::from(link.0)] = until;
    }
    /// Whether another link of a pair must begin by RTS.
    pub fn has_unsure_partner(&self, link: LinkId, at: Instant) -> bool {
        let mut partners = (0..).zip(&self.unsure_until).filter(|(place, _)| self.pairs.has(link, LinkId(*place)));
        partners.any(|(_, until)| until.is_some_and(|until| at < until))
    }

    /// The room on a link for a PPDU to a device with these pairs.
    pub fn room(&self, link: LinkId, to: Address, pairs: &Pairs, at: Instant) -> Room {
        let of = |(place, exchange): (u8, &Option<OnLink>)| {
            let (other, exchange) = (LinkId(place), exchange.filter(|exchange| exchange.until > at)?);
            let is_coupled = self.pairs.has(link, other) || (exchange.with == to && pairs.has(link, other));
            let apart = at.max(exchange.begun) - at.min(exchange.begun);
            is_coupled.then_some(match exchange.data_end.filter(|end| exchange.is_own && *end > at) {
                Some(end) if !exchange.is_announced => Room::EndAt(end),
                Some(end) if apart <= SAME_TIME => Room::Join(end),
                _ => Room::Wait(exchange.until),
            })
        };
        (0..).zip(&self.exchanges).filter_map(of).fold(Room::Free, Room::and)
    }

    /// When a link that could begin now had better begin: with another one of a pair, whose backoff ends within `span`.
    pub fn partner(&self, link: LinkId, now: Instant, span: Duration) -> Option<Instant> {
        let partners = (0..).zip(&self.accesses).filter(|(place, _)| self.pairs.has(link, LinkId(*place)));
        partners.filter_map(|(_, access)| *access).filter(|at| *at > now && *at - now <= span).min()
    }

    /// A link is committed to send.
    pub fn commit(&mut self, link: LinkId) {
        self.committed.insert(link);
    }
    /// It sends.
    pub fn begin(&mut self, link: LinkId) {
        self.sending.insert(link);
    }
    /// It has sent.
    pub fn end(&mut self, link: LinkId) {
        self.committed.remove(link);
        self.sending.remove(link);
    }

    /// Whether a link is blind: another one sends, and it does not.
    pub fn blinds(&self, link: LinkId) -> bool {
        !self.committed.contains(link) && self.pairs.of(link).and(self.sending) != Links::default()
    }
    /// Whether a link does not know yet that it has become blind, or can hear again.
    pub fn must_tell(&self, link: LinkId) -> bool {
        self.blinds(link) != self.told.contains(link)
    }
    /// A link knows.
    pub fn tell(&mut self, link: LinkId) {
        if self.blinds(link) { self.told.insert(link) } else { self.told.remove(link) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: [LinkId; 3] = [LinkId(0), LinkId(1), LinkId(2)];

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn a_link_may_end_with_the_other_or_wait() {
        let [a, b, c] = LINKS;
        let mut coupling = Coupling::default();
        coupling.pairs.add(a, b);
        let (peer, pairs) = (Address(9), Pairs::default());
        let room = |coupling: &Coupling, link, at| coupling.room(link, peer, &pairs, us(at));
        let (begun, is_announced) = (us(10), false);
        let sends = OnLink { with: peer, is_own: true, begun, is_announced, data_end: Some(us(100)), until: us(150) };
        coupling.set_exchange(a, Some(sends));
        assert_eq!(room(&coupling, b, 50), Room::EndAt(us(100)));
        assert_eq!(room(&coupling, c, 50), Room::Free, "no pair");
        assert_eq!(room(&coupling, b, 100), Room::Wait(us(150)), "the answer comes");
        assert_eq!(room(&coupling, b, 150), Room::Free);
        coupling.set_exchange(a, Some(OnLink { is_announced: true, ..sends }));
        assert_eq!(room(&coupling, b, 12), Room::Join(us(100)));
        assert_eq!(room(&coupling, b, 50), Room::Wait(us(150)), "too late to join");
        coupling.set_exchange(a, Some(OnLink { is_own: false, data_end: None, ..sends }));
        assert_eq!(room(&coupling, b, 50), Room::Wait(us(150)), "it receives");
    }

    #[test]
    fn a_third_link_ends_with_two_that_end_together() {
        let room = |a, b| Room::EndAt(us(a)).and(Room::EndAt(us(b)));
        assert_eq!(room(100, 106), Room::EndAt(us(103)));
        assert_eq!(room(100, 109), Room::Wait(us(109)));
        assert_eq!(Room::EndAt(us(100)).and(Room::Join(us(100))), Room::Wait(us(100)));
    }

    #[test]
    fn the_pairs_of_a_peer_count_towards_that_peer() {
        let [a, b, _] = LINKS;
        let (mut coupling, mut pairs) = (Coupling::default(), Pairs::default());
        pairs.add(a, b);
        let (with, begun, is_announced) = (Address(9), us(10), false);
        let sends = OnLink { with, is_own: true, begun, is_announced, data_end: Some(us(100)), until: us(150) };
        coupling.set_exchange(a, Some(sends));
        assert_eq!(coupling.room(b, Address(9), &pairs, us(50)), Room::EndAt(us(100)));
        assert_eq!(coupling.room(b, Address(8), &pairs, us(50)), Room::Free);
    }

    #[test]
    fn who_sends_is_not_blind() {
        let [a, b, _] = LINKS;
        let mut coupling = Coupling::default();
        coupling.pairs.add(a, b);
        coupling.commit(a);
        assert!(!coupling.blinds(b), "not yet");
        coupling.begin(a);
        assert!(coupling.blinds(b) && coupling.must_tell(b) && !coupling.blinds(a));
        coupling.tell(b);
        coupling.commit(b);
        assert!(!coupling.blinds(b) && coupling.must_tell(b));
        coupling.end(a);
        assert!(!coupling.blinds(b) && coupling.must_tell(b));
    }

    #[test]
    fn two_links_begin_together() {
        let [a, b, c] = LINKS;
        let mut coupling = Coupling::default();
        coupling.pairs.add(a, b);
        coupling.set_access(b, Some(us(70)));
        coupling.set_access(c, Some(us(60)));
        let span = Duration::from_micros(50);
        assert_eq!(coupling.partner(a, us(50), span), Some(us(70)));
        assert_eq!(coupling.partner(a, us(70), span), None, "that is now");
        assert_eq!(coupling.partner(a, us(10), span), None, "too late");
    }
}
