//! The presence of a peer: its farewell, its silence, its clock, and whether another host uses its key.

use airbraid_engine::converge::session::{KeyId, Whose};
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Silence after which a session is not called up any more. An idle member is asked every 10 s
/// (`engine::trunk::bonding`), so three questions were not answered; the keys are kept, and an arrival brings it up
/// again.
pub(super) const SILENT: Duration = Duration::from_secs(30);
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
    pub(super) told: Option<Instant>,
    /// The clock that was set back, by how much, and when that was seen.
    pub(super) set_back: Option<(Whose, Duration, Instant)>,
    /// The time at which another host with its key was seen last, or with ours.
    pub(super) theirs: Option<Instant>,
    pub(super) ours: Option<Instant>,
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
pub(super) fn note(place: &mut Option<Instant>, now: Instant) -> bool {
    let before = place.replace(now);
    before.is_none_or(|before| now.saturating_since(before) >= LOGGED)
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
        assert_eq!(told(&[1, 1, 2, 2, 3, 3, 4]), [false; 7], "one host that begins again");
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
