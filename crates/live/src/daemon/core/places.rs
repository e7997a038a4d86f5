//! The possible places of a peer, and its members' way from one to the next.

use super::Daemon;
use crate::daemon::address::place;
use crate::daemon::follow::Trust;
use crate::daemon::nat64::WELL_KNOWN;
use crate::daemon::peer::Path;
use crate::daemon::peer::SILENCE;
use crate::daemon::places::*;
use airbraid_engine::converge::session;
use airbraid_engine::trunk::bonding::{BondInput, MemberState, Moved};
use airbraid_units::Instant;
use std::net::{IpAddr, SocketAddr};

/// Number of doublings of the time that a member without an answer stays at one address, from [`SILENCE`] on: a link
/// that comes back while a dead address has its turn waits 8 s at most.
const DOUBLINGS: u32 = 2;

impl Daemon {
    /// The reachable addresses of a peer on an uplink, in an order that does not change.
    fn addresses(&self, peer: usize, uplink: usize) -> Vec<SocketAddr> {
        let mut endpoints = self.peers[peer].config.endpoints.iter();
        let Some((_, endpoint)) = endpoints.find(|(of, _)| *of == uplink) else { return Vec::new() };
        let state = &self.uplinks[uplink];
        let mut found = Vec::with_capacity(endpoint.addresses.len());
        for at in &endpoint.addresses {
            match at.ip() {
                IpAddr::V4(host) if state.lacks_v4 && !host.is_loopback() => {
                    let behind = |prefix: crate::daemon::nat64::Prefix64| {
                        SocketAddr::new(prefix.address(host).into(), at.port())
                    };
                    found.extend(self.names.prefixes().into_iter().map(behind));
                }
                _ => found.push(*at),
            }
        }
        found.retain(|at| state.reaches(*at));
        // A network's resolver may have made the same address.
        let mut known = Vec::with_capacity(found.len());
        for at in found {
            if !known.contains(&at) {
                known.push(at);
            }
        }
        known
    }

    /// The same, with the one that answered last in front.
    pub(super) fn places(&self, peer: usize, uplink: usize) -> Vec<SocketAddr> {
        let mut found = self.addresses(peer, uplink);
        let worked = self.peers[peer].reached.get(&uplink).and_then(|reached| reached.worked);
        if let Some(at) = found.iter().position(|at| Some(*at) == worked) {
            found[..=at].rotate_right(1);
        }
        found
    }

    /// The likeliest place of a peer on an uplink, if it can be reached from there.
    pub(in crate::daemon) fn endpoint(&self, peer: usize, uplink: usize) -> Option<SocketAddr> {
        self.places(peer, uplink).first().copied()
    }

    /// All places of a peer: the first address over each uplink, then the second.
    pub(super) fn everywhere(&self, peer: usize) -> Vec<(usize, SocketAddr)> {
        let by_uplink: Vec<Vec<SocketAddr>> = (0..self.uplinks.len()).map(|uplink| self.places(peer, uplink)).collect();
        let most = by_uplink.iter().map(Vec::len).max().unwrap_or(0);
        let nth =
            |at: usize| by_uplink.iter().enumerate().filter_map(move |(uplink, all)| Some((uplink, *all.get(at)?)));
        (0..most).flat_map(nth).collect()
    }

    /// Whether IPv4 addresses of a peer are to be reached over an uplink with IPv6 alone.
    pub(super) fn needs_translator(&self, peer: usize) -> bool {
        let is_four = |(uplink, endpoint): &(usize, crate::daemon::site::Endpoint)| {
            let lacks = self.uplinks.get(*uplink).is_some_and(|uplink| uplink.is_open() && uplink.lacks_v4);
            lacks && endpoint.addresses.iter().any(SocketAddr::is_ipv4)
        };
        self.peers[peer].config.endpoints.iter().any(is_four)
    }

    /// A peer has answered a handshake at an address. A member without an answer elsewhere goes there, too.
    pub(super) fn on_answered(&mut self, now: Instant, peer: usize, uplink: usize, at: SocketAddr) {
        let Some(state) = self.peers.get_mut(peer) else { return };
        state.calls.answered(now, uplink);
        state.reached.insert(uplink, Reached { worked: Some(at), ..Reached::default() });
        let member = state.member_of(uplink);
        let Some(path) = state.paths.get(&member) else { return };
        let is_silent = path.heard.is_none_or(|heard| now.saturating_since(heard) >= SILENCE);
        if path.remote != at && is_silent {
            self.send_member_to(now, peer, uplink, at);
        }
    }

    /// Moves a member of ours to another address of the peer.
    pub(super) fn send_member_to(&mut self, now: Instant, peer: usize, uplink: usize, remote: SocketAddr) {
        let member = self.peers[peer].member_of(uplink);
        let Some(before) = self.peers[peer].paths.get(&member).copied() else { return };
        let trust = Trust::of(before.uplink, remote);
        let path = Path { remote, source: None, heard: None, notice: Some((now, 0)), trust, ..before };
        let said = self.peers[peer].said.get(&member).copied();
        self.add_member(peer, member, path, said.as_ref());
        self.drive(peer, Some(BondInput::MemberMoved { member, moved: Moved::Known }));
        self.on_moved(peer, member);
        self.send_notices(now, peer);
    }

    /// Moves members of ours without an answer to the next address, if the peer has another.
    pub(super) fn try_elsewhere(&mut self, now: Instant, peer: usize) {
        let state = &self.peers[peer];
        if !state.is_up || state.is_gone || state.config.endpoints.is_empty() {
            return;
        }
        let ours: Vec<Path> = {
            let paths = state.paths.iter().filter(|(member, path)| state.member_of(path.uplink) == **member);
            paths.map(|(_, path)| *path).collect()
        };
        for path in ours {
            let places = self.addresses(peer, path.uplink);
            if places.len() > 1 || places.first().is_some_and(|only| *only != path.remote) {
                self.look_after(now, peer, &path, &places);
            }
        }
    }

    fn look_after(&mut self, now: Instant, peer: usize, path: &Path, places: &[SocketAddr]) {
        let state = &mut self.peers[peer];
        let member = state.member_of(path.uplink);
        let is_active = state.state_of(member) == Some(MemberState::Active);
        let reached = state.reached.entry(path.uplink).or_default();
        if is_active && path.heard.is_some() {
            *reached = Reached { worked: Some(path.remote), trial: None, tries: 0 };
            return;
        }
        let since = reached.trial.filter(|(at, _)| *at == path.remote).map_or(now, |(_, since)| since);
        reached.trial = Some((path.remote, since));
        let rounds = reached.tries / places.len() as u32;
        let patience = SILENCE * (1u64 << rounds.min(DOUBLINGS));
        let last = path.heard.map_or(since, |heard| heard.max(since));
        if now.saturating_since(last) < patience {
            return;
        }
        let at = places.iter().position(|at| *at == path.remote).map_or(0, |at| (at + 1) % places.len());
        reached.trial = Some((places[at], now));
        reached.tries += 1;
        let (uplink, from, to) = (&self.uplinks[path.uplink].config.name, path.remote, places[at]);
        if !reached.is_lost() {
            tracing::info!(peer = state.config.name, uplink, %from, %to, "no answer: another address");
        }
        self.send_member_to(now, peer, path.uplink, places[at]);
    }

    /// Tells link security the places of a peer; returns whether there are any.
    pub(super) fn tell_places(&mut self, peer: usize) -> bool {
        let places = self.everywhere(peer).into_iter().map(|(uplink, at)| place(uplink, at, None)).collect::<Vec<_>>();
        if places.is_empty() {
            return false;
        }
        let id = self.peers[peer].id;
        self.drive_sessions(Some(session::Input::Addresses(id, places)));
        true
    }

    /// Looks up the prefix of a translator, if a peer is reached through one.
    pub(super) fn want_translator(&mut self, peer: usize) {
        if self.needs_translator(peer) {
            self.names.want(self.time, WELL_KNOWN);
        }
    }
}
