//! Introductions at work: asks for places, answers, and chooses between the peer and its introducer.

use super::Daemon;
use super::care::is_active;
use crate::daemon::introduce::{Introduction, PLACES_MAX, is_possible};
use crate::daemon::introductions::*;
use crate::daemon::peer::PeerState;
use crate::daemon::site::Endpoint;
use airbraid_engine::converge::session::{self, PublicKey};
use airbraid_engine::trunk::Member;
use airbraid_units::{Duration, Instant};
use std::net::{IpAddr, SocketAddr};

/// Interval of the first two questions for a peer's places; then it doubles, up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(1);
/// Longest interval of questions, and from an answer without success to the next question. Longer than translators keep
/// a mapping of an unanswered datagram (Linux 30 s): an obstructing one is gone by then.
const LONGEST: Duration = Duration::from_secs(60);
/// Time for which an answer is tried: five first messages to each place.
const TRIED: Duration = Duration::from_secs(5);
/// Delay of first messages after an introduction: the other end may get it this much later, and its translator admits
/// only answers. A round trip over a slow mobile uplink.
const AFTER: Duration = Duration::from_millis(200);
/// Interval at which a pair is introduced at most, however often one of the two asks.
const APART: Duration = Duration::from_secs(5);

impl Daemon {
    /// The peer to which packets for a peer are sent: itself, or its introducer.
    pub(super) fn way(&self, peer: usize) -> usize {
        let introduced = &self.peers[peer].introduced;
        introduced.via.filter(|_| !introduced.is_direct).unwrap_or(peer)
    }

    /// Whether a peer may bring packets from an address: it is behind that peer, or behind one that it introduces.
    pub(super) fn may_bring(&self, peer: usize, address: IpAddr) -> bool {
        let owner = self.table.find(address);
        owner.is_some_and(|owner| owner == peer || self.peers[owner].introduced.via == Some(peer))
    }

    fn peer_of(&self, key: &PublicKey) -> Option<usize> {
        self.peers.iter().position(|peer| !peer.is_gone && peer.config.public == *key)
    }

    /// Finds each peer's introducer: at the beginning, and in a new file.
    pub(in crate::daemon) fn find_introducers(&mut self) {
        for peer in 0..self.peers.len() {
            let state = &self.peers[peer];
            let name = state.config.via.as_ref().filter(|_| !state.is_gone);
            let is_it = |name: &String, other: &PeerState| !other.is_gone && other.config.name == *name;
            let via = name.and_then(|name| self.peers.iter().position(|other| is_it(name, other)));
            if state.introduced.via != via {
                self.peers[peer].introduced = Introduced { via, ..Introduced::default() };
            }
        }
    }

    /// Decides, once a second, the way of a peer's packets, and whether to ask for its places.
    pub(super) fn look_for(&mut self, now: Instant, peer: usize) {
        let Some(via) = self.peers[peer].introduced.via else { return };
        if self.choose_way(peer, via) {
            self.peers[peer].introduced.ask = None;
            return;
        }
        let state = &mut self.peers[peer];
        let is_over = state.introduced.until.is_none_or(|until| until <= now);
        if is_over && !state.is_up && !state.config.endpoints.is_empty() {
            state.introduced.until = None;
            self.put_places(peer, &[]);
            // Nothing is sent to these places any more.
            let id = self.peers[peer].id;
            self.drive_sessions(Some(session::Input::Addresses(id, Vec::new())));
        }
        let (at, pause) = self.peers[peer].introduced.ask.unwrap_or((now, FIRST));
        if at <= now && self.peers[via].is_up {
            let state = &mut self.peers[peer];
            state.introduced.ask = Some((now + pause, LONGEST.min(pause.saturating_mul(2))));
            let wanted = Introduction::Wanted(state.config.public);
            self.send_introduction(now, via, &wanted);
        }
    }

    /// Chooses the way of packets for a peer; returns whether any of its own links works.
    fn choose_way(&mut self, peer: usize, via: usize) -> bool {
        let state = &self.peers[peer];
        let is_met = state.is_up && state.paths.keys().any(|member| is_active(state, *member));
        let is_direct = is_met || (state.is_up && !self.peers[via].is_up);
        if is_direct != state.introduced.is_direct {
            let (name, through) = (&state.config.name, &self.peers[via].config.name);
            if is_direct {
                tracing::info!(peer = name, "packets for the peer go to itself");
            } else {
                tracing::info!(peer = name, through, "packets for the peer go through another");
            }
            self.peers[peer].introduced.is_direct = is_direct;
        }
        is_met
    }

    /// A peer asks for another, or answers with its places.
    pub(super) fn on_introduction(&mut self, now: Instant, from: usize, said: &Introduction) {
        match said {
            Introduction::Wanted(key) => self.introduce(now, from, key),
            Introduction::Seen(key, places) => self.on_introduced(now, from, key, places),
        }
    }

    /// Introduces two peers to each other, if the file allows it, both are there, and it was not done only just.
    fn introduce(&mut self, now: Instant, from: usize, key: &PublicKey) {
        let Some(other) = self.peer_of(key).filter(|other| *other != from) else { return };
        let names = |of: usize, who: usize| self.peers[of].config.introduces.contains(&self.peers[who].config.name);
        if !names(from, other) && !names(other, from) {
            return;
        }
        let pair = (from.min(other), from.max(other));
        self.introduced.retain(|_, at| now.saturating_since(*at) < APART);
        let (ours, theirs) = (self.seen_at(from), self.seen_at(other));
        if self.introduced.contains_key(&pair) || ours.is_empty() || theirs.is_empty() {
            return;
        }
        self.introduced.insert(pair, now);
        let [first, second] = [from, other].map(|peer| self.peers[peer].config.public);
        tracing::debug!(one = self.peers[from].config.name, other = self.peers[other].config.name, "introduced");
        self.send_introduction(now, from, &Introduction::Seen(second, theirs));
        self.send_introduction(now, other, &Introduction::Seen(first, ours));
    }

    /// The validated places of a peer, the most recent first. So a peer can direct no other at a third party.
    fn seen_at(&self, peer: usize) -> Vec<SocketAddr> {
        let state = &self.peers[peer];
        let paths = state.paths.values().filter(|path| state.is_up && path.trust.is_home((path.uplink, path.remote)));
        let mut seen: Vec<(Instant, SocketAddr)> =
            paths.filter_map(|path| Some((path.heard?, path.remote))).filter(|(_, at)| is_possible(at)).collect();
        seen.sort_unstable_by(|one, other| other.cmp(one));
        let mut places = Vec::with_capacity(PLACES_MAX);
        for (_, at) in seen {
            if places.len() < PLACES_MAX && !places.contains(&at) {
                places.push(at);
            }
        }
        places
    }

    /// Handles an answer with a peer's places: only its introducer is believed, and only while the peer is not met.
    fn on_introduced(&mut self, now: Instant, from: usize, key: &PublicKey, places: &[SocketAddr]) {
        let Some(peer) = self.peer_of(key) else { return };
        let introduced = self.peers[peer].introduced;
        let is_tried = introduced.until.is_some_and(|until| now < until);
        if introduced.via != Some(from) || is_tried || (introduced.is_direct && self.peers[from].is_up) {
            return;
        }
        let introduced = &mut self.peers[peer].introduced;
        introduced.ask = Some((now + LONGEST, LONGEST));
        introduced.until = Some(now + TRIED);
        tracing::debug!(peer = self.peers[peer].config.name, ?places, "introduced");
        self.put_places(peer, places);
        self.offer_members(now, peer);
        if self.peers[peer].is_up {
            self.reconnect(peer);
            return;
        }
        self.everywhere(peer).into_iter().for_each(|(uplink, at)| self.uplinks[uplink].open_translator(at));
        self.peers[peer].again = Some(now + AFTER);
    }

    /// Sets the possible places of a peer, over any uplink.
    fn put_places(&mut self, peer: usize, places: &[SocketAddr]) {
        let endpoints = self.over_all_uplinks(places);
        let state = &mut self.peers[peer];
        if state.config.endpoints != endpoints {
            state.config.endpoints = endpoints;
            state.reached.clear();
            self.routing.want(self.wanted());
        }
    }

    /// Places as endpoints over all uplinks that there are.
    pub(super) fn over_all_uplinks(&self, places: &[SocketAddr]) -> Vec<(usize, Endpoint)> {
        let Some(first) = places.first() else { return Vec::new() };
        let endpoint = Endpoint { text: first.to_string(), addresses: places.to_vec() };
        (0..self.uplinks.len()).map(|uplink| (uplink, endpoint.clone())).collect()
    }

    /// Sends an introduction by all ways, as it gets no acknowledgement.
    fn send_introduction(&mut self, now: Instant, to: usize, said: &Introduction) {
        let bytes = said.emit();
        let members: Vec<Member> = self.peers[to].paths.keys().copied().collect();
        members.into_iter().for_each(|over| self.send_said(now, to, over, &bytes));
    }
}
