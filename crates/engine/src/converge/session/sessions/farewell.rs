//! The end of a session at the wish of one end: the message is sealed by the session's keys, and counts at once.
//!
//! A farewell ends the key that has sealed it and those before it, and no newer one: one that comes late, or is
//! repeated, ends nothing that was begun after it. One that is lost is missed: the host finds out that nothing comes
//! any more.

use super::Sessions;
use crate::converge::session::material::Entropy;
use crate::converge::session::message::{Control, KeyId};
use crate::converge::session::service::{Output, PeerId};

impl<E: Entropy> Sessions<E> {
    /// Tells a peer that this end leaves, by each key with which it may be listening, and begins nothing more by
    /// itself.
    pub(super) fn say_farewell(&mut self, id: PeerId) {
        let Some(peer) = self.peer(id) else { return };
        (peer.rekey, peer.confirming) = (None, None);
        let keys: Vec<KeyId> = peer.newest().map(|key| key.ours).collect();
        self.stop_attempting(id, None);
        self.outputs.extend(keys.into_iter().map(|key| Output::Control(id, key, Control::Farewell)));
    }

    /// The peer has left.
    pub(super) fn on_farewell(&mut self, id: PeerId, name: KeyId) {
        let Some(peer) = self.peer(id) else { return };
        let Some(last) = peer.key(name).map(|key| key.number) else { return };
        let was_up = peer.is_up();
        let ended: Vec<KeyId> = peer.keys.iter().filter(|key| key.number <= last).map(|key| key.ours).collect();
        peer.keys.retain(|key| key.number > last);
        peer.confirming.take_if(|(key, _)| ended.contains(key));
        let has_left = was_up && !peer.is_up();
        if has_left {
            peer.rekey = None;
            // Nobody is there to answer.
            self.stop_attempting(id, None);
        }
        for key in ended {
            self.forget(id, Some(key));
        }
        if has_left {
            self.outputs.push_back(Output::Left(id));
        }
    }
}
