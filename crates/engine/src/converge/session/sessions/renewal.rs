//! Keys after the host has slept, or when it may be a copy of another.
//!
//! A key counts what it has sealed, in memory. Where memory is copied or put back, as virtual machines are, the count
//! is, too, and a number would be used twice: then no key may be used that was there before. What sleeps keeps its
//! count, but its keys age.

use super::Sessions;
use crate::converge::session::cookie::Baker;
use crate::converge::session::material::Entropy;
use crate::converge::session::message::KeyId;
use crate::converge::session::service::{Output, PeerId};
use airbraid_units::{Duration, Instant};

impl<E: Entropy> Sessions<E> {
    /// Keys are older by `span`; the remaining ones are replaced now.
    pub(super) fn on_stood_still(&mut self, now: Instant, span: Duration) {
        self.epoch_ns = self.epoch_ns.saturating_add(span.as_nanos());
        for place in 0..self.peers.len() {
            let peer = &mut self.peers[place];
            peer.keys.iter_mut().for_each(|key| key.expires = key.expires.saturating_sub(span));
            peer.cookie = None;
            if peer.is_up() {
                peer.rekey = Some(now);
            }
        }
    }

    /// Forgets keys and the secrets of handshakes under way; each peer that had a session is asked for another.
    pub(super) fn on_renew(&mut self, now: Instant) {
        self.baker = Baker::new(self.timing.cookie);
        for id in (0..self.peers.len()).map(PeerId::at) {
            let peer = &mut self.peers[id.index()];
            let (was_up, is_wanted) = (peer.is_up(), peer.is_up() || peer.attempting.is_some());
            (peer.cookie, peer.confirming, peer.rekey) = (None, None, None);
            let keys: Vec<KeyId> = peer.keys.drain(..).map(|key| key.ours).collect();
            self.stop_attempting(id, None);
            for key in keys {
                self.forget(id, Some(key));
            }
            if was_up {
                self.outputs.push_back(Output::Down(id));
            }
            if is_wanted {
                self.connect(now, id);
            }
        }
    }
}
