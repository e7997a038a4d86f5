//! Answers to first messages with old time stamps ([`crate::converge::session::stamps`]).

use super::Sessions;
use crate::converge::session::address::Address;
use crate::converge::session::material::Entropy;
use crate::converge::session::message::{KeyId, StampReply};
use crate::converge::session::noise::ReadInitiation;
use crate::converge::session::service::{Output, PeerId, Whose};
use crate::converge::session::stats::Refusal;
use crate::wire::emit_stamp_reply;
use airbraid_units::{Duration, Instant};

impl<E: Entropy> Sessions<E> {
    /// Answers a first message with an old stamp. A message with exactly the newest stamp was accepted before: its copy
    /// gets no answer.
    pub(super) fn tell_stamp(
        &mut self,
        now: Instant,
        id: PeerId,
        to: Address,
        receiver: KeyId,
        heard: ReadInitiation,
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
        let open = peer.attempts.iter().position(|attempt| attempt.message.sender == reply.receiver);
        let open = open.ok_or(Refusal::Replayed)?;
        let attempt = &mut peer.attempts[open];
        let newest = u64::from_be_bytes(attempt.noise.told(&reply.noise).map_err(|_| Refusal::Forged)?);
        let (stamp, to) = (attempt.stamp, attempt.to);
        // Its handshake is over: a copy of this answer could not be read, and would look forged.
        peer.attempts.remove(open);
        self.names.remove(&reply.receiver);
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
