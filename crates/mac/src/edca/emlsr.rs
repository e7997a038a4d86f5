//! Enhanced multi-link single radio: a device that listens on all of its links, and exchanges frames on one at a time
//! (802.11be-2024, 35.3.17).
//!
//! ```text
//!                initial control frame, or a TXOP of its own
//!   listening ------------------------------------------------> at one link: the others are blind
//!       ^                                                          |  the exchange is over
//!       |              transition delay                            v
//!       +------------------------------------------------------ away: all are blind
//! ```
//!
//! Its peers begin each TXOP with an initial control frame, an MU-RTS that lasts long enough for the radio to be moved,
//! and send it nothing on any link before it listens again.

use super::link::{LinkId, Links};
use airbraid_units::{Duration, Instant};

/// The delays of a device in EMLSR mode: those that it tells its peers (9.4.2.312.2.3), and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emlsr {
    /// Time by which an initial control frame is longer, so that the radio is there when it ends.
    pub padding: Duration,
    /// Time from the end of an exchange until it listens on all links again.
    pub transition: Duration,
    /// Time for which a link that was blind does not trust what it hears (MediumSyncDelay, 35.3.16.8).
    pub medium_sync: Duration,
}

/// The place of the one radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Listening,
    At(LinkId),
    Away,
}

/// The one radio of a device, which its links share.
#[derive(Clone, Debug)]
pub(super) struct OneRadio {
    pub delays: Emlsr,
    place: Place,
    /// The links that have been told that they are blind.
    told: Links,
    /// A link on which an initial control frame for the device arrives, and the end of that.
    called: Option<(LinkId, Instant)>,
}

impl OneRadio {
    pub fn new(delays: Emlsr) -> Self {
        Self { delays, place: Place::Listening, told: Links::default(), called: None }
    }

    /// An initial control frame for the device begins to arrive on a link, and ends then.
    pub fn call(&mut self, link: LinkId, end: Instant) {
        self.called = Some((link, end));
    }
    /// The end of an initial control frame that arrives on another link: until then this one begins no TXOP, or the
    /// radio would not be there to answer.
    pub fn called_until(&self, link: LinkId, now: Instant) -> Option<Instant> {
        self.called.filter(|(other, end)| *other != link && now < *end).map(|(_, end)| end)
    }

    /// It goes to a link for an exchange.
    pub fn go_to(&mut self, link: LinkId) {
        self.place = Place::At(link);
    }
    /// The exchange is over.
    pub fn leave(&mut self) {
        self.place = Place::Away;
    }
    /// It listens on all links.
    pub fn listen(&mut self) {
        self.place = Place::Listening;
    }

    /// Whether it is at a link.
    pub fn is_at(&self, link: LinkId) -> bool {
        self.place == Place::At(link)
    }
    /// Whether a link is blind.
    pub fn blinds(&self, link: LinkId) -> bool {
        self.place != Place::Listening && !self.is_at(link)
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

/// Blindness after which a link has lost medium synchronisation (aMediumSyncThreshold, 35.3.16.8).
const BLINDNESS_THAT_COUNTS: Duration = Duration::from_micros(72);
/// TXOPs that a link may begin before it has synchronised again (the default of Medium Synchronization Maximum Number
/// Of TXOPs, 9.4.2.312.2.3).
const TXOPS_WITHOUT_SYNC: u32 = 1;

/// Medium synchronisation of a link that is blind at times (35.3.16.8).
#[derive(Clone, Debug, Default)]
pub(super) struct MediumSync {
    blind_since: Option<Instant>,
    /// MediumSyncDelay timer: until then each TXOP begins with RTS, and there are few of them.
    unsure_until: Option<Instant>,
    txops: u32,
}

impl MediumSync {
    /// The link hears nothing from now on.
    pub fn lose(&mut self, now: Instant) {
        self.blind_since = Some(now);
    }
    /// It hears again.
    pub fn recover(&mut self, now: Instant, delay: Duration) {
        let Some(since) = self.blind_since.take() else { return };
        if now - since > BLINDNESS_THAT_COUNTS && !delay.is_zero() {
            (self.unsure_until, self.txops) = (Some(now + delay), 0);
        }
    }

    /// A frame was decoded: the NAV is right again.
    pub fn synchronise(&mut self) {
        self.unsure_until = None;
    }
    /// Whether a TXOP must begin with RTS.
    pub fn is_unsure(&self, now: Instant) -> bool {
        self.unsure_until.is_some_and(|until| now < until)
    }
    /// Until when, if it is so.
    pub fn unsure_until(&self) -> Option<Instant> {
        self.unsure_until
    }
    /// The time before which no TXOP may begin.
    pub fn barred_until(&self, now: Instant) -> Option<Instant> {
        self.unsure_until.filter(|until| now < *until && self.txops >= TXOPS_WITHOUT_SYNC)
    }
    /// A TXOP begins.
    pub fn begin_txop(&mut self) {
        self.txops += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAYS: Emlsr = Emlsr {
        padding: Duration::from_micros(32),
        transition: Duration::from_micros(128),
        medium_sync: Duration::from_micros(5_484),
    };

    #[test]
    fn one_link_at_a_time_sees() {
        let mut radio = OneRadio::new(DELAYS);
        let [a, b] = [LinkId(0), LinkId(1)];
        assert!(!radio.must_tell(a) && !radio.must_tell(b));
        radio.go_to(a);
        assert!(radio.is_at(a) && !radio.must_tell(a) && radio.must_tell(b));
        radio.tell(b);
        assert!(radio.blinds(b) && !radio.must_tell(b));
        radio.leave();
        assert!(radio.must_tell(a) && radio.blinds(b) && !radio.must_tell(b));
        radio.tell(a);
        radio.listen();
        assert!(radio.must_tell(a) && radio.must_tell(b) && !radio.blinds(a));
    }

    #[test]
    fn while_a_link_is_called_the_others_begin_nothing() {
        let mut radio = OneRadio::new(DELAYS);
        let [a, b] = [LinkId(0), LinkId(1)];
        let us = |n| Instant::ZERO + Duration::from_micros(n);
        assert_eq!(radio.called_until(b, us(0)), None);
        radio.call(a, us(64));
        assert_eq!([a, b].map(|link| radio.called_until(link, us(63))), [None, Some(us(64))]);
        assert_eq!(radio.called_until(b, us(64)), None, "it has come, or it is lost");
    }

    #[test]
    fn after_a_long_blindness_one_txop_is_left() {
        let us = |n| Instant::ZERO + Duration::from_micros(n);
        let mut sync = MediumSync::default();
        sync.lose(us(100));
        sync.recover(us(172), DELAYS.medium_sync);
        assert!(!sync.is_unsure(us(172)), "72 us do not count");
        sync.lose(us(200));
        sync.recover(us(273), DELAYS.medium_sync);
        assert!(sync.is_unsure(us(273)) && sync.barred_until(us(273)).is_none());
        assert_eq!(sync.unsure_until(), Some(us(5_757)));
        sync.begin_txop();
        assert_eq!(sync.barred_until(us(300)), Some(us(5_757)));
        assert!(sync.barred_until(us(5_757)).is_none() && !sync.is_unsure(us(5_757)));
        sync.synchronise();
        assert!(!sync.is_unsure(us(300)) && sync.barred_until(us(300)).is_none());
    }
}
