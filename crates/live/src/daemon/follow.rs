//! The places of the peers' members. An authentic frame that is newer than all before it names a place, which is
//! trusted only as far as the engine's path validation allows
//! ([`airbraid_engine::trunk::bonding::Input::MemberMoved`]).
//!
//! A place is an uplink of this end and an address of the other. The file's endpoints, and the places that have
//! answered a path challenge, are known to be the peer's.

use super::core::Daemon;
use super::keys::Random;
use super::peer::Path;
use airbraid_engine::converge::session::Entropy;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{Input, Moved, PathToken};
use airbraid_units::{Bytes, Duration, Instant};
use std::net::{IpAddr, SocketAddr};

/// Time for which the place before the present one stays trusted: address translators forget a mapping after two
/// minutes or less (RFC 4787, REQ-5), and give it to another host.
const BELIEVED: Duration = Duration::from_secs(60);
/// Interval at which a member's move is logged for each peer: anyone on its path can make it move with each frame.
const LOGGED: Duration = Duration::from_secs(1);

/// An uplink, and an address that is reached over it.
pub(super) type UplinkAddress = (usize, SocketAddr);

/// The places of a member that are known to be the peer's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The place that was validated last.
    home: Option<UplinkAddress>,
    /// The one before it, and the time at which it was left.
    before: Option<(UplinkAddress, Instant)>,
    /// The place under validation, and the expected token. It keeps its token while the member moves to and fro.
    trial: Option<(UplinkAddress, PathToken)>,
}

impl Trust {
    /// No known place.
    pub const NONE: Self = Self { home: None, before: None, trial: None };

    /// A place that the file names.
    pub const fn of(uplink: usize, remote: SocketAddr) -> Self {
        Self { home: Some((uplink, remote)), before: None, trial: None }
    }

    /// Whether this place was validated last.
    pub fn is_home(&self, place: UplinkAddress) -> bool {
        self.home == Some(place)
    }

    fn is_known(&self, now: Instant, place: UplinkAddress) -> bool {
        let is_recent =
            |(other, left): (UplinkAddress, Instant)| other == place && now.saturating_since(left) < BELIEVED;
        self.home == Some(place) || self.before.is_some_and(is_recent)
    }

    fn token(&mut self, place: UplinkAddress) -> PathToken {
        if let Some((of, token)) = self.trial
            && of == place
        {
            return token;
        }
        let mut token = PathToken::default();
        Random::new().fill(&mut token);
        self.trial = Some((place, token));
        token
    }

    fn on_validated(&mut self, now: Instant, place: UplinkAddress) {
        if self.home != Some(place) {
            self.before = self.home.map(|home| (home, now));
            self.home = Some(place);
        }
        self.trial = None;
    }
}

impl Daemon {
    /// Handles the place of a member's frame: the newest frame's source is the peer's place. Returns whether that is
    /// another place than the member's present one; `None` if there is no such member.
    pub(super) fn follow(
        &mut self,
        now: Instant,
        peer: usize,
        member: Member,
        (uplink, remote, source): (usize, SocketAddr, Option<IpAddr>),
        is_newest: bool,
    ) -> Option<bool> {
        let state = &mut self.peers[peer];
        let is_theirs = !state.is_ours(member);
        let Some(path) = state.paths.get_mut(&member) else {
            if !state.is_theirs(member) || state.prevails(now) {
                return None;
            }
            let path = Path { heard: Some(now), ..Path::new(uplink, remote, source) };
            self.add_member(peer, member, path, None);
            self.doubt(now, peer, member);
            return Some(false);
        };
        path.heard = Some(now);
        if is_newest && is_theirs {
            path.source = source;
        }
        let is_elsewhere = (path.uplink, path.remote) != (uplink, remote);
        if !is_newest || !is_elsewhere {
            return Some(is_elsewhere);
        }
        self.move_member(now, peer, member, (uplink, remote));
        Some(false)
    }

    /// The newest frame of a member came from another place.
    fn move_member(&mut self, now: Instant, peer: usize, member: Member, place: UplinkAddress) {
        let state = &mut self.peers[peer];
        // What came before it came from where the member was.
        let frames = std::mem::take(&mut state.frames);
        if !frames.is_empty() {
            self.drive(peer, Some(Input::Frames(frames)));
        }
        let state = &mut self.peers[peer];
        let Some(path) = state.paths.get_mut(&member) else { return };
        let is_rebinding = path.uplink == place.0 && path.remote.ip() == place.1.ip();
        (path.uplink, path.remote) = place;
        state.counts.moved += 1;
        if state.logged.is_none_or(|last| now.saturating_since(last) >= LOGGED) {
            state.logged = Some(now);
            let moves = state.counts.moved;
            tracing::info!(peer = state.config.name, member = member.0, remote = %place.1, moves, "a member has moved");
        }
        let moved = if path.trust.is_known(now, place) {
            path.trust.on_validated(now, place);
            Moved::Known
        } else {
            Moved::Unknown { token: path.trust.token(place), is_rebinding }
        };
        self.drive(peer, Some(Input::MemberMoved { member, moved }));
        if !is_rebinding {
            self.on_moved(peer, member);
        }
    }

    /// Counts a notice of this length, which the tunnel does not see, for its member if it came from the member's
    /// place.
    pub(super) fn credit(&mut self, peer: usize, member: Member, from: UplinkAddress, length: Bytes) {
        let state = &mut self.peers[peer];
        if state.paths.get(&member).is_some_and(|path| (path.uplink, path.remote) == from) {
            state.tunnel.credit(member, length);
        }
    }

    /// A member of the peer's has begun at an unconfirmed place.
    pub(super) fn doubt(&mut self, now: Instant, peer: usize, member: Member) {
        let Some(path) = self.peers[peer].paths.get_mut(&member) else { return };
        let place = (path.uplink, path.remote);
        if path.trust.is_known(now, place) {
            return;
        }
        // Nothing is known of the path: there is nothing to measure again.
        let moved = Moved::Unknown { token: path.trust.token(place), is_rebinding: true };
        self.drive(peer, Some(Input::MemberMoved { member, moved }));
    }

    /// The place of a member has answered.
    pub(super) fn on_validated(&mut self, now: Instant, peer: usize, member: Member) {
        if let Some(path) = self.peers[peer].paths.get_mut(&member) {
            path.trust.on_validated(now, (path.uplink, path.remote));
        }
    }

    /// The place of a member has not answered: the member goes back to the place that was validated last, if that is
    /// known.
    pub(super) fn go_back(&mut self, peer: usize, member: Member) {
        let state = &mut self.peers[peer];
        let Some(path) = state.paths.get_mut(&member) else { return };
        state.counts.not_validated += 1;
        let is_open =
            |place: &UplinkAddress| self.uplinks.get(place.0).is_some_and(super::uplink::UplinkState::is_open);
        let home = path.trust.home.filter(is_open);
        let back = home.map(|(_, remote)| remote.to_string()).unwrap_or_default();
        tracing::warn!(peer = state.config.name, member = member.0, remote = %path.remote, back, "a path is not validated");
        path.trust.trial = None;
        let Some(home) = home else { return };
        (path.uplink, path.remote) = home;
        self.drive(peer, Some(Input::MemberMoved { member, moved: Moved::Known }));
        self.on_moved(peer, member);
    }
}
