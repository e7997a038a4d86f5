//! The presence of a peer: its farewell, its silence, its clock, and whether another host uses its key.

use super::core::{AGAIN, Daemon};
use super::peer::PeerState;
use airbraid_engine::converge::session::{self, KeyId, PeerId, Whose};
use airbraid_engine::trunk::Member;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Silence after which a session is not called up any more. An idle member is asked every 10 s
/// (`engine::trunk::bonding`), so three questions were not answered; the keys are kept, and an arrival brings it up
/// again.
const SILENT: Duration = Duration::from_secs(30);
/// Number of times that this end's farewell is sent, by all ways.
pub(super) const FAREWELLS: usize = 3;
/// Interval of these: a burst of losses is seldom longer.
pub(super) const FAREWELL_PAUSE: Duration = Duration::from_millis(20);
/// Number of keys whose life is remembered.
const KEYS: usize = 8;
/// Returns of an old life that prove two hosts: a key under way may cause one, two hosts cause more.
const RETURNS: u32 = 2;
/// Time for which a sighting of another host, or of a clock, is shown.
const SHOWN: Duration = Duration::from_secs(600);
/// Shortest interval of its log lines.
const LOGGED: Duration = Duration::from_secs(60);

/// The presence of a peer.
#[derive(Debug, Default)]
pub struct Presence {
    /// Time of its last authentic arrival, or of the session's beginning.
    pub heard: Option<Instant>,
    /// Time of its farewell.
    pub left: Option<Instant>,
    /// The last arrival before a silence that was logged.
    told: Option<Instant>,
    /// The clock that was set back, by how much, and when that was seen.
    set_back: Option<(Whose, Duration, Instant)>,
    /// The time at which another host with its key was seen last, or with ours.
    theirs: Option<Instant>,
    ours: Option<Instant>,
    /// The newest keys, in the order in which they came into use, and the life named by each.
    lives: VecDeque<(KeyId, Option<u32>)>,
    returns: u32,
}

impl Presence {
    /// The duration of its silence, if that is long.
    pub fn silent(&self, now: Instant) -> Option<Duration> {
        self.heard.map(|heard| now.saturating_since(heard)).filter(|silent| *silent >= SILENT)
    }

    /// The time at which [`Daemon::watch_silence`] has something to log, of a peer with a session, or without one.
    pub fn due(&self, is_up: bool) -> Option<Instant> {
        match self.told {
            None => self.heard.filter(|_| is_up).map(|heard| heard + SILENT),
            Some(told) => (!is_up || self.heard != Some(told)).then_some(told),
        }
    }

    /// The clock that was set back recently, and by how much.
    pub fn set_back(&self, now: Instant) -> Option<(Whose, Duration)> {
        self.set_back.filter(|(_, _, at)| now.saturating_since(*at) < SHOWN).map(|(whose, by, _)| (whose, by))
    }

    /// The key that another host used recently, too.
    pub fn shared(&self, now: Instant) -> Option<Whose> {
        let is_new = |at: &Instant| now.saturating_since(*at) < SHOWN;
        let ours = self.ours.filter(is_new).map(|_| Whose::Ours);
        ours.or(self.theirs.filter(is_new).map(|_| Whose::Theirs))
    }

    /// A key has come into use.
    pub fn on_key(&mut self, key: KeyId) {
        self.lives.push_back((key, None));
        if self.lives.len() > KEYS {
            self.lives.pop_front();
        }
    }

    /// The peer has named its life by this key. Returns whether another host has the peer's key: an old life goes on
    /// though another had begun. A key is made by one life, so that late frames are not mistaken for it.
    pub fn on_life(&mut self, key: KeyId, life: u32) -> bool {
        let Some(place) = self.lives.iter().position(|(known, _)| *known == key) else { return false };
        if self.lives[place].1.replace(life).is_some() {
            return false;
        }
        let before = || self.lives.iter().take(place).filter_map(|(_, life)| *life);
        let is_back = before().any(|other| other == life) && before().next_back().is_some_and(|last| last != life);
        self.returns += u32::from(is_back);
        is_back && self.returns >= RETURNS
    }
}

/// Notes a sighting; returns whether it is to be logged.
fn note(place: &mut Option<Instant>, now: Instant) -> bool {
    let before = place.replace(now);
    before.is_none_or(|before| now.saturating_since(before) >= LOGGED)
}

impl PeerState {
    /// The peer has named its life, by this key.
    pub(super) fn on_life(&mut self, now: Instant, key: KeyId, life: u32) {
        if self.presence.on_life(key, life) && note(&mut self.presence.theirs, now) {
            let (name, remote) = (&self.config.name, self.heard.map(|(_, remote, _)| remote));
            tracing::warn!(
                peer = name,
                ?remote,
                "two hosts use the key of this peer, and take the session from each other"
            );
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lives: &[u32]) -> Vec<bool> {
        let mut presence = Presence::default();
        let tell = |(key, life): (u32, &u32)| {
            presence.on_key(KeyId(key));
            let first = presence.on_life(KeyId(key), *life);
            // What is said again, or by an old key, says nothing new.
            first | presence.on_life(KeyId(key), *life) | presence.on_life(KeyId(0), lives[0])
        };
        (0..).zip(lives).map(tell).collect()
    }

    #[test]
    fn a_life_that_goes_on_after_another_is_another_host() {
        assert_eq!(told(&[1, 1, 2, 2, 3, 3, 4]), [false; 7], "one host that begins anew");
        assert_eq!(told(&[1, 2, 1, 2]), [false, false, false, true]);
        assert_eq!(told(&[1, 1, 2, 1, 1, 1, 2]), [false, false, false, false, false, false, true]);
    }

    #[test]
    fn silence_is_told_after_a_while() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let presence = Presence { heard: Some(at(5)), ..Presence::default() };
        assert_eq!(presence.silent(at(34)), None);
        assert_eq!(presence.silent(at(35)), Some(SILENT));
        assert_eq!(Presence::default().silent(at(99)), None);
        assert_eq!((presence.due(true), presence.due(false)), (Some(at(35)), None));
        let told = Presence { told: Some(at(5)), ..presence };
        assert_eq!(told.due(true), None, "nothing more is said while it is silent");
        let again = Presence { heard: Some(at(50)), ..told };
        assert!(again.due(true).is_some_and(|due| due <= at(50)), "it is heard again");
    }
}
