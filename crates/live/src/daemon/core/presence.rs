//! The events of a peer's presence: its farewell, its silence, its clock, another host with its key.

use super::Daemon;
use crate::daemon::peer::AGAIN;
use crate::daemon::presence::{SILENT, note};
use airbraid_engine::converge::session::{self, PeerId, Whose};
use airbraid_engine::trunk::Member;
use airbraid_units::{Duration, Instant};

/// Number of times that this end's farewell is sent, by all ways.
pub(super) const FAREWELLS: usize = 3;
/// Interval of these: a burst of losses is seldom longer.
pub(super) const FAREWELL_PAUSE: Duration = Duration::from_millis(20);

impl Daemon {
    /// A peer has said farewell. Nothing is sent to it any more; if we go to it, it is tried again.
    pub(super) fn on_left(&mut self, now: Instant, peer: usize) {
        let state = &mut self.peers[peer];
        tracing::info!(peer = state.config.name, "the peer has left");
        state.is_up = false;
        state.presence.left = Some(now);
        state.unanswered = None;
        state.again = Some(now + AGAIN);
        state.said.clear();
        let members: Vec<Member> = state.paths.keys().copied().collect();
        for member in members {
            self.remove_member(peer, member);
        }
    }

    /// Logs once that a peer is silent, or that it is heard again.
    pub(super) fn watch_silence(&mut self, now: Instant, peer: usize) {
        let state = &mut self.peers[peer];
        let is_silent = state.is_up && state.presence.silent(now).is_some();
        if is_silent == state.presence.told.is_some() {
            return;
        }
        state.presence.told = state.presence.heard.filter(|_| is_silent);
        if is_silent {
            tracing::warn!(peer = state.config.name, "nothing has come from the peer for {SILENT}");
        } else if state.is_up {
            tracing::info!(peer = state.config.name, "the peer is heard again");
        }
    }

    /// A clock was set back between two lives: the handshake goes on all the same.
    pub(super) fn on_set_back(&mut self, now: Instant, peer: PeerId, whose: Whose, by: Duration) {
        let Some(state) = self.peers.get_mut(peer.index()) else { return };
        let (name, by_s) = (&state.config.name, by.as_nanos() / 1_000_000_000);
        match whose {
            Whose::Ours => tracing::warn!(
                peer = name,
                "the clock of this host was set back, by {by_s} s since the peer saw it: it is trusted by its key all the same"
            ),
            Whose::Theirs => {
                tracing::info!(
                    peer = name,
                    "the clock of the peer was set back, by {by_s} s since it was seen: let in"
                );
            }
        }
        state.presence.set_back = Some((whose, by, now));
    }

    /// Our key was used by another host: the peer has seen stamps of it that we have not made.
    pub(super) fn on_shared(&mut self, now: Instant, peer: PeerId) {
        let Some(state) = self.peers.get_mut(peer.index()) else { return };
        if note(&mut state.presence.ours, now) {
            tracing::warn!(
                peer = state.config.name,
                "another host uses our private key, and takes the session with the peer"
            );
        }
    }

    /// Says farewell to all peers, by all ways, so that they need not find out.
    pub(super) fn say_farewells(&mut self) {
        for round in 0..FAREWELLS {
            if round > 0 {
                std::thread::sleep(std::time::Duration::from_nanos(FAREWELL_PAUSE.as_nanos()));
            }
            for peer in 0..self.peers.len() {
                self.drive_sessions(Some(session::Input::Farewell(self.peers[peer].id)));
            }
            self.settle_sessions();
            self.flush();
        }
    }
}
