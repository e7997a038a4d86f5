//! Time stamps: each first message carries one that is greater than all before, so that an overheard one makes no key.
//!
//! A clock may have been set back between two lives of an end: a router without a clock chip begins in 1970. Its first
//! message is then no newer than what the peer has seen, and the peer, which cannot tell it from a repetition, answers
//! with the newest stamp: sealed by the keys of that very handshake, so that only who has made the message can read it,
//! and nobody can have made the answer but the peer. No key comes of either. The initiator goes on from there, for that
//! peer alone: a peer can push what it is told itself, and no more (`docs/decisions/0011-stamps-and-farewells.md`).

use super::Sessions;
use crate::converge::session::material::Entropy;
use crate::converge::session::message::{KeyId, StampReply};
use crate::converge::session::noise::Heard;
use crate::converge::session::service::{Address, Output, PeerId, Whose};
use crate::converge::session::stats::Refusal;
use crate::wire::emit_stamp_reply;
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
pub(in crate::converge::session) struct Stamps {
    /// The newest that we have shown it, or that it has reported to us.
    sent: u64,
    /// It has accepted one of this life's.
    pub is_answered: bool,
    /// The last time at which we continued from its report at once.
    pushed: Option<Instant>,
    /// The newest that it has shown us, and its name for the key of that message.
    newest: Option<(u64, KeyId)>,
    /// The stamp that was answered with the newest last, and the time.
    refused: Option<(u64, Instant)>,
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
    fn learn(&mut self, newest: u64, stamp: u64) -> Result<(), Refusal> {
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

impl<E: Entropy> Sessions<E> {
    /// Answers a first message with an old stamp. A message with exactly the newest stamp was accepted before: its copy
    /// gets no answer.
    pub(super) fn tell_stamp(
        &mut self,
        now: Instant,
        id: PeerId,
        to: Address,
        receiver: KeyId,
        heard: Heard,
        newest: u64,
    ) {
        let peer = &mut self.peers[id.index()];
        let stamp = u64::from_be_bytes(heard.stamp);
        if peer.stamps.newest == Some((stamp, receiver)) {
            return;
        }
        let Ok(noise) = heard.refuse(&peer.psk, newest.to_be_bytes()) else { return };
        peer.stamps.refused = Some((stamp, now));
        let mut reply = StampReply { receiver, noise, mac: [0; 16] };
        let emitted = emit_stamp_reply(&reply);
        reply.mac = peer.door.mac(&emitted[..emitted.len() - 16]);
        self.stats.stamp_replies += 1;
        self.transmit(to, &emit_stamp_reply(&reply));
    }

    /// The peer has seen newer stamps than ours: continues from there, at once, but no more often than attempts are
    /// retransmitted.
    pub(super) fn on_stamp_reply(&mut self, now: Instant, reply: &StampReply, bytes: &[u8]) -> Result<(), Refusal> {
        self.door.check_stamp_reply(bytes, reply)?;
        let &id = self.names.get(&reply.receiver).ok_or(Refusal::UnknownKey)?;
        let peer = self.peers.get_mut(id.index()).ok_or(Refusal::UnknownKey)?;
        let mut attempts = peer.attempts.iter_mut();
        let attempt = attempts.find(|attempt| attempt.message.sender == reply.receiver).ok_or(Refusal::Replayed)?;
        let newest = u64::from_be_bytes(attempt.noise.told(&reply.noise).map_err(|_| Refusal::Forged)?);
        let (stamp, to) = (attempt.stamp, attempt.to);
        peer.stamps.learn(newest, stamp)?;
        let by = Duration::from_nanos(newest - stamp);
        self.stats.set_back += 1;
        self.outputs.push_back(if peer.stamps.is_answered {
            Output::Shared(id)
        } else {
            Output::SetBack { peer: id, whose: Whose::Ours, by }
        });
        let is_soon = peer.stamps.pushed.is_some_and(|at| now.saturating_since(at) < self.timing.retry);
        if let (Some(_), false) = (peer.attempting, is_soon) {
            peer.stamps.pushed = Some(now);
            let mut attempting = self.repeating(now);
            self.later(now, &mut attempting);
            // What is open shows stamps that are as old.
            self.stop_attempting(id, None);
            self.peers[id.index()].attempting = Some(attempting);
            self.initiate(now, id, to);
        }
        Ok(())
    }
}
