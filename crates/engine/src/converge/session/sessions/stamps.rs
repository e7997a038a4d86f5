//! Time stamps: each first message shows one that is greater than all before, so that none that was overheard makes a key.
//!
//! A clock may have been set back between two lives of an end: a router without a clock chip begins in 1970. Its first message is then no
//! newer than what the peer has seen, and the peer, which cannot tell it from a repetition, answers with the newest stamp: sealed
//! by the keys of that very handshake, so that only who has made the message can read it, and nobody can have made the answer but the peer.
//! No key comes of either. The initiator goes on from there, for that peer alone: a peer can push what it is told itself, and
//! no more (`docs/decisions/0011-stamps-and-farewells.md`).

use super::Sessions;
use crate::converge::session::material::Entropy;
use crate::converge::session::message::{KeyId, StampReply};
use crate::converge::session::noise::Heard;
use crate::converge::session::service::{Address, Output, PeerId, Whose};
use crate::converge::session::stats::Refusal;
use crate::wire::emit_stamp_reply;
use airbraid_units::{Duration, Instant};

/// What a clock says at most \[ns since 1970\]: the year 2262, as far as Linux's go. There is as much room beyond it for stamps that are
/// counted up.
const CLOCK_MOST: u64 = 1 << 63;
/// Nobody's clock, and nobody's count, comes so far: what says so would leave no room.
const STAMP_MOST: u64 = 3 << 62;
/// A stamp is counted up from an answer, and not read from a clock, if it is so near \[ns\]: one more for each attempt.
const NEAR: u64 = 1_000;
/// An answer counts for so long: an attempt comes every five seconds at least.
const ANSWER: Duration = Duration::from_secs(30);

/// What the two ends have shown each other.
#[derive(Debug, Default)]
pub(in crate::converge::session) struct Stamps {
    /// The newest that we have shown it, or that it has told us.
    sent: u64,
    /// It has accepted one of this life's.
    pub is_answered: bool,
    /// When we went on from what it told at once, the last time.
    pushed: Option<Instant>,
    /// The newest that it has shown us, and what it called the key of that message.
    newest: Option<(u64, KeyId)>,
    /// The one that was answered with the newest last, and when.
    refused: Option<(u64, Instant)>,
}

impl Stamps {
    /// The stamp of a first message that is made now.
    pub fn next(&mut self, clock_ns: u64) -> u64 {
        self.sent = clock_ns.min(CLOCK_MOST).max(self.sent + 1);
        self.sent
    }

    /// The newest, if this one is not newer.
    pub fn newest_before(&self, stamp: u64) -> Option<u64> {
        self.newest.map(|(newest, _)| newest).filter(|newest| stamp <= *newest)
    }

    /// A newer one has come; gives by how much the clock was set back, if it was counted up from our answer.
    pub fn accept(&mut self, now: Instant, stamp: u64, sender: KeyId) -> Option<Duration> {
        let (before, _) = self.newest.replace((stamp, sender))?;
        let (refused, at) = self.refused.take()?;
        let is_counted = stamp - before < NEAR && now.saturating_since(at) < ANSWER;
        is_counted.then(|| Duration::from_nanos(before.saturating_sub(refused)))
    }

    /// The peer has seen this one, by an attempt that showed `stamp`. Gives whether the stamp is news.
    fn learn(&mut self, newest: u64, stamp: u64) -> Result<(), Refusal> {
        if newest > STAMP_MOST {
            return Err(Refusal::Malformed);
        }
        // Another attempt of this life has shown as much, by a shorter way, or an answer has told it. An equal stamp was shown by a
        // life before, whose clock stood where this one's does.
        if newest < self.sent.max(stamp) || (newest == self.sent && newest != stamp) {
            return Err(Refusal::Replayed);
        }
        self.sent = newest;
        Ok(())
    }
}

impl<E: Entropy> Sessions<E> {
    /// Answers a first message whose stamp is old. The one that has shown the newest itself was accepted: again, it gets nothing.
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

    /// The peer has seen newer stamps than ours: goes on from there, at once, but no more often than attempts are repeated.
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
