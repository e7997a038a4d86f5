//! Time stamps: each first message carries one that is greater than all before, so that an overheard one makes no key.
//!
//! A clock may have been set back between two lives of an end: a router without a clock chip begins in 1970. Its first
//! message is then no newer than what the peer has seen, and the peer, which cannot tell it from a replay, answers
//! with the newest stamp: sealed by the keys of that very handshake, so that only who has made the message can read it,
//! and nobody can have made the answer but the peer. No key comes of either. The initiator goes on from there, for that
//! peer alone: a peer can push what it is told itself, and no more (`docs/decisions/0011-stamps-and-farewells.md`).

use super::message::KeyId;
use super::stats::Refusal;
use airbraid_units::{Duration, Instant};

/// Largest value of a clock \[ns since 1970\]: the year 2262, as far as Linux's go. There is as much space beyond it
/// for stamps that are counted up.
const CLOCK_MOST: u64 = 1 << 63;
/// Largest stamp: no clock and no count comes so far, and a larger one would leave no space.
const STAMP_MOST: u64 = 3 << 62;
/// Distance within which a stamp was counted up from an answer, not read from a clock \[ns\]: one more for each
/// attempt.
const NEAR: u64 = 1_000;
/// Time for which an answer counts: an attempt comes every five seconds at least.
const ANSWER: Duration = Duration::from_secs(30);

/// The stamps that the two ends have shown each other.
#[derive(Debug, Default)]
pub struct Stamps {
    /// The newest that we have shown it, or that it has reported to us.
    sent: u64,
    /// It has accepted one of this life's.
    pub is_answered: bool,
    /// The last time at which we continued from its report at once.
    pub pushed: Option<Instant>,
    /// The newest that it has shown us, and its name for the key of that message.
    pub newest: Option<(u64, KeyId)>,
    /// The stamp that was answered with the newest last, and the time.
    pub refused: Option<(u64, Instant)>,
}

impl Stamps {
    /// Returns the stamp of a first message that is made now.
    pub fn next(&mut self, clock_ns: u64) -> u64 {
        self.sent = clock_ns.min(CLOCK_MOST).max(self.sent + 1);
        self.sent
    }

    /// Returns the newest, if this one is not newer.
    pub fn newest_before(&self, stamp: u64) -> Option<u64> {
        self.newest.map(|(newest, _)| newest).filter(|newest| stamp <= *newest)
    }

    /// Accepts a newer one; returns the difference by which the clock was set back, if the stamp was counted up from
    /// our answer.
    pub fn accept(&mut self, now: Instant, stamp: u64, sender: KeyId) -> Option<Duration> {
        let (before, _) = self.newest.replace((stamp, sender))?;
        let (refused, at) = self.refused.take()?;
        let is_counted = stamp - before < NEAR && now.saturating_since(at) < ANSWER;
        is_counted.then(|| Duration::from_nanos(before.saturating_sub(refused)))
    }

    /// The peer has seen stamp `newest`, as its answer to an attempt with `stamp` says. Fails if that is not news.
    pub fn learn(&mut self, newest: u64, stamp: u64) -> Result<(), Refusal> {
        if newest > STAMP_MOST {
            return Err(Refusal::Malformed);
        }
        // Another attempt of this life has shown as much, by a shorter way, or an answer has told it. An equal stamp
        // was shown by a life before, whose clock stood where this one's does.
        if newest < self.sent.max(stamp) || (newest == self.sent && newest != stamp) {
            return Err(Refusal::Replayed);
        }
        self.sent = newest;
        Ok(())
    }
}
