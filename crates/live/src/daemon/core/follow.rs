//! Follows the members of peers to their places, as far as these are trusted.

use super::Daemon;
use crate::daemon::follow::*;
use crate::daemon::peer::Path;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{BondInput, Moved};
use airbraid_units::{Bytes, Duration, Instant};
use std::net::{IpAddr, SocketAddr};

/// Interval at which a member's move is logged for each peer: anyone on its path can make it move with each frame.
const LOGGED: Duration = Duration::from_secs(1);

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
            // A member that comes back is used as before until its end says otherwise: its notice may say the same.
            let said = state.said.get(&member).copied();
            self.add_member(peer, member, path, said.as_ref());
            self.doubt(now, peer, member);
            return Some(false);
        };
        path.hear(now);
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
            self.drive(peer, Some(BondInput::Frames(frames)));
        }
        let state = &mut self.peers[peer];
        let Some(path) = state.paths.get_mut(&member) else { return };
        let is_rebinding = path.uplink == place.0 && path.remote.ip() == place.1.ip();
        (path.uplink, path.remote) = place;
        state.counts.moves += 1;
        if state.logged.is_none_or(|last| now.saturating_since(last) >= LOGGED) {
            state.logged = Some(now);
            let moves = state.counts.moves;
            tracing::info!(peer = state.config.name, member = member.0, remote = %place.1, moves, "a member has moved");
        }
        let moved = if path.trust.is_known(now, place) {
            path.trust.on_validated(now, place);
            Moved::Known
        } else {
            Moved::Unknown { token: path.trust.token(place), is_rebinding }
        };
        self.drive(peer, Some(BondInput::MemberMoved { member, moved }));
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
        self.drive(peer, Some(BondInput::MemberMoved { member, moved }));
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
        state.counts.unvalidated += 1;
        let is_open =
            |place: &UplinkAddress| self.uplinks.get(place.0).is_some_and(crate::daemon::uplink::UplinkState::is_open);
        let home = path.trust.home.filter(is_open);
        let back = home.map(|(_, remote)| remote.to_string()).unwrap_or_default();
        tracing::warn!(peer = state.config.name, member = member.0, remote = %path.remote, back, "a path is not validated");
        path.trust.trial = None;
        let Some(home) = home else { return };
        (path.uplink, path.remote) = home;
        self.drive(peer, Some(BondInput::MemberMoved { member, moved: Moved::Known }));
        self.on_moved(peer, member);
    }
}
