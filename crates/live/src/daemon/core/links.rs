//! Members that come and go: with sessions, with the interfaces that uplinks are bound to, and by hand.

use super::Daemon;
use crate::daemon::cause::Cause;
use crate::daemon::follow::Trust;
use crate::daemon::introduce::Introduction;
use crate::daemon::memory::longest;
use crate::daemon::notice::{LinkName, Notice};
use crate::daemon::peer::Path;
use crate::daemon::places::Reached;
use crate::daemon::service::carried_by;
use crate::daemon::tag::Tag;
use crate::netlink::FoundInterface;
use airbraid_engine::converge::session;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{BondInput, MemberConfig};
use airbraid_units::{Bytes, Duration, Instant};
use std::net::{IpAddr, SocketAddr};

/// Time after which a list of interfaces that failed is requested again.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// Number of times that a member's farewell is sent: it gets no acknowledgement.
const FAREWELLS: usize = 3;

impl Daemon {
    /// Requests a session with a peer, if we go to it and can.
    pub(super) fn connect(&mut self, peer: usize) {
        if !self.peers[peer].is_up {
            self.reconnect(peer);
        }
    }

    /// Makes a new key with a peer, if we go to it and can; the old one goes on meanwhile.
    pub(super) fn reconnect(&mut self, peer: usize) {
        // One that does not answer may be elsewhere by now.
        self.want_names(peer);
        if self.tell_places(peer) {
            let state = &mut self.peers[peer];
            state.calls.called(self.time);
            let id = state.id;
            self.drive_sessions(Some(session::Input::Connect(id)));
        }
    }

    /// There is a session with a peer.
    pub(super) fn on_up(&mut self, now: Instant, peer: usize) {
        let state = &mut self.peers[peer];
        state.is_up = true;
        state.again = None;
        (state.presence.left, state.presence.heard) = (None, Some(now));
        state.calls.is_up();
        match state.calls.answer {
            Some((over, took)) => {
                let over = self.uplinks.get(over).map_or("", |uplink| uplink.config.name.as_str());
                tracing::info!(peer = state.config.name, over, after_ms = took.as_micros() / 1_000, "session up");
            }
            None => tracing::info!(peer = state.config.name, "session up"),
        }
        self.offer_members(now, peer);
    }

    /// The session has ended. The tunnel keeps its state: members come back, and so may the session.
    pub(super) fn on_down(&mut self, now: Instant, peer: usize) {
        let state = &mut self.peers[peer];
        state.is_up = false;
        state.again = Some(now);
        tracing::warn!(peer = state.config.name, "session down");
    }

    /// Makes members of all uplinks over which a peer can be reached and is not yet.
    pub(super) fn offer_members(&mut self, now: Instant, peer: usize) {
        if !self.peers[peer].is_up || self.peers[peer].gives_way() {
            return;
        }
        for uplink in 0..self.uplinks.len() {
            let member = self.peers[peer].member_of(uplink);
            let Some(remote) = self.endpoint(peer, uplink) else { continue };
            if self.peers[peer].paths.contains_key(&member) {
                continue;
            }
            let trust = Trust::of(uplink, remote);
            let path = Path { notice: Some((now, 0)), trust, ..Path::new(uplink, remote, None) };
            self.add_member(peer, member, path, None);
        }
        self.send_notices(now, peer);
    }

    /// A member begins, or its use changes.
    pub(super) fn add_member(&mut self, peer: usize, member: Member, mut path: Path, said: Option<&Notice>) {
        let Some(uplink) = self.uplinks.get(path.uplink) else { return };
        path.device_mtu = self.device_mtu(&path);
        let state = &mut self.peers[peer];
        let own = &uplink.config;
        // Both ends have a say: the stricter word counts.
        let rates = own.rate.into_iter().chain(said.and_then(|said| said.rate));
        let counted = state.carried_by(member);
        // Of one peer; that of all together is looked at once a second.
        let left = |quota: Bytes| Bytes::new(quota.as_u64().saturating_sub(uplink.budget.used()) + counted);
        let is_metered = own.is_metered || said.is_some_and(|said| said.is_metered);
        let names = [Some(own.name.as_str()), said.and_then(|said| said.name.text())];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        let config = MemberConfig {
            tier: own.tier.max(said.map_or(0, |said| said.tier)),
            is_backup: own.is_backup || said.is_some_and(|said| said.is_backup),
            quota: own.quota.map(left),
            rate_cap: rates.min(),
            services: carried_by(&self.site.services, &names, is_metered),
            overhead: path.overhead(),
            mtu: Some(Bytes::new(path.device_mtu.into())),
        };
        if !state.reached.get(&path.uplink).is_some_and(Reached::is_lost) {
            tracing::info!(peer = state.config.name, member = member.0, uplink = own.name, remote = %path.remote, "member");
        }
        state.paths.insert(member, path);
        self.drive(peer, Some(BondInput::MemberAdded { member, config }));
        if state_gives_way(self, peer) {
            self.leave_ours(peer);
        }
    }

    /// A member is gone.
    pub(super) fn remove_member(&mut self, peer: usize, member: Member) {
        if self.peers[peer].paths.remove(&member).is_some() {
            tracing::info!(peer = self.peers[peer].config.name, member = member.0, "member gone");
            self.drive(peer, Some(BondInput::MemberRemoved { member }));
            self.set_peer_mtu(peer);
        }
    }

    fn leave_ours(&mut self, peer: usize) {
        let ours: Vec<Member> = self.peers[peer].paths.keys().copied().collect();
        for member in ours {
            if self.peers[peer].is_ours(member) {
                self.remove_member(peer, member);
                self.say_farewell(self.time, peer, member);
            }
        }
    }

    /// Removes the peer's own members where this end prevails: the peer has left them, and its farewells may be lost.
    pub(super) fn leave_theirs(&mut self, now: Instant, peer: usize) {
        let state = &self.peers[peer];
        if !state.prevails(now) {
            return;
        }
        let theirs: Vec<Member> = state.paths.keys().copied().filter(|member| state.is_theirs(*member)).collect();
        for member in theirs {
            self.remove_member(peer, member);
        }
    }

    /// Handles a frame that is not the tunnel's; returns whether it is one. It counts for its member all the same.
    pub(super) fn on_said(
        &mut self,
        now: Instant,
        peer: usize,
        member: Member,
        way: (usize, SocketAddr, Option<IpAddr>),
        plain: &[u8],
    ) -> bool {
        if let Some(notice) = Notice::parse(plain) {
            self.on_notice(now, peer, &notice, way);
        } else if let Some(said) = Introduction::parse(plain) {
            self.on_introduction(now, peer, &said);
        } else {
            return false;
        }
        self.credit(peer, member, (way.0, way.1), Bytes::new(plain.len() as u64));
        true
    }

    /// Sends a peer a frame that is not the tunnel's.
    pub(super) fn send_said(&mut self, now: Instant, peer: usize, over: Member, said: &[u8]) {
        if self.peers[peer].tunnel.charge(over, Bytes::new(said.len() as u64)) {
            let tag = Tag { peer, frame: None, is_probe: false };
            self.send(now, peer, over, 0, tag, |out| out.extend(said));
        }
    }

    /// A peer announces the use of one of its members.
    pub(super) fn on_notice(
        &mut self,
        now: Instant,
        peer: usize,
        notice: &Notice,
        (uplink, remote, source): (usize, SocketAddr, Option<IpAddr>),
    ) {
        let state = &mut self.peers[peer];
        if !state.is_theirs(notice.member) {
            return;
        }
        if notice.is_gone {
            self.remove_member(peer, notice.member);
            return;
        }
        if state.prevails(now) {
            return;
        }
        let is_as_before = state.said.insert(notice.member, *notice) == Some(*notice);
        let path = state.paths.get(&notice.member).copied();
        if is_as_before && path.is_some() {
            return;
        }
        let first = Path { heard: Some(now), ..Path::new(uplink, remote, source) };
        self.add_member(peer, notice.member, path.unwrap_or(first), Some(notice));
        if path.is_none() {
            self.doubt(now, peer, notice.member);
        }
    }

    /// Announces members to a peer, if it is time.
    pub(super) fn send_notices(&mut self, now: Instant, peer: usize) {
        let is_due = |path: &&Path| path.notice.is_some_and(|(at, _)| at <= now);
        if !self.peers[peer].paths.values().any(|path| is_due(&path)) {
            return;
        }
        let due: Vec<(Member, usize)> = {
            let paths = self.peers[peer].paths.iter().filter(|(_, path)| is_due(path));
            paths.map(|(member, path)| (*member, path.uplink)).collect()
        };
        for (member, uplink) in due {
            let own = &self.uplinks[uplink].config;
            let (tier, is_backup, is_metered) = (own.tier, own.is_backup, own.is_metered);
            let (rate, keepalive) = (own.rate, own.keepalive);
            if let Some(path) = self.peers[peer].paths.get_mut(&member) {
                path.noticed(now, keepalive);
            }
            let name = LinkName::new(&own.name);
            let notice = Notice { member, is_gone: false, is_backup, is_metered, tier, rate, name };
            self.send_said(now, peer, member, &notice.emit());
        }
    }

    /// Interfaces or their addresses have changed.
    pub(in crate::daemon) fn on_interfaces(&mut self) {
        self.interfaces_at = None;
        let found = match self.netlink.interfaces() {
            Ok(found) => found,
            Err(error) => {
                tracing::error!(%error, "the list of interfaces cannot be had; it is asked for again");
                self.interfaces_at = Some(self.time + ASK_AGAIN);
                return;
            }
        };
        let has_v4 =
            |found: &FoundInterface| found.is_up && found.addresses.iter().any(|a| a.is_ipv4() && !a.is_loopback());
        let system_lacks_v4 = !found.iter().any(|found| found.index != self.tun_index && has_v4(found));
        self.longest = longest(&found);
        for uplink in 0..self.uplinks.len() {
            let Some(device) = self.uplinks[uplink].config.device.clone() else {
                self.uplinks[uplink].lacks_v4 = system_lacks_v4;
                self.refresh(uplink, self.uplinks[uplink].is_on && !self.uplinks[uplink].is_open());
                continue;
            };
            let there = found.iter().find(|found| found.name == device);
            let rest = self.uplinks[uplink].budget.cause();
            let now = there.filter(|found| found.is_up && !found.addresses.is_empty() && rest.is_none());
            self.note_absence(uplink, rest.or_else(|| absence(&device, there)));
            let before = std::mem::replace(&mut self.uplinks[uplink].found, now.cloned());
            self.uplinks[uplink].lacks_v4 = now.is_some_and(|now| !has_v4(now));
            let has_changed = before.as_ref() != now;
            let is_other = before.as_ref().map(|before| before.index) != now.map(|now| now.index);
            let state = &self.uplinks[uplink];
            let wanted = state.is_on && now.is_some();
            if state.is_open() && (!wanted || is_other) {
                self.close(uplink);
            }
            self.refresh(uplink, wanted && (has_changed || !self.uplinks[uplink].is_open()));
        }
        self.interfaces = found;
        self.renew_device_mtus();
    }

    /// Notes the reason why an uplink is absent; logs it when it has changed.
    fn note_absence(&mut self, uplink: usize, absence: Option<Cause>) {
        let state = &mut self.uplinks[uplink];
        let is_other = absence.as_ref().map(|cause| cause.word) != state.absence.as_ref().map(|cause| cause.word);
        if let Some(cause) = absence.as_ref().filter(|_| is_other && state.is_on) {
            tracing::info!(uplink = state.config.name, cause = cause.word, "the uplink is away: {}", cause.remedy);
        }
        state.absence = absence;
    }

    /// Opens the missing sockets of an uplink if its addresses have changed, or something could not be opened; and
    /// offers it to the peers.
    pub(super) fn refresh(&mut self, uplink: usize, is_wanted: bool) {
        if !is_wanted {
            return;
        }
        let now = self.time;
        let port = self.site.interface.listen;
        let state = &mut self.uplinks[uplink];
        if !state.is_complete() {
            let threads = self.site.interface.threads.then_some(self.clock);
            let before = state.failed.map(|failed| failed.error);
            let is_any = state.open(now, port, self.site.interface.offload, threads);
            if let Some(error) = state.failed.map(|failed| failed.error).filter(|error| Some(*error) != before) {
                let cause = Cause::socket(error, port);
                tracing::warn!(uplink = state.config.name, %error, cause = cause.word, "the uplink cannot be opened: {}", cause.remedy);
            }
            if is_any {
                let addresses = state.found.as_ref().map(|found| format!("{:?}", found.addresses)).unwrap_or_default();
                tracing::info!(uplink = state.config.name, addresses, "uplink open");
            } else if state.failed.is_some() {
                return;
            }
        }
        self.renew_names();
        for peer in 0..self.peers.len() {
            // A peer learns a new address by the next authentic frame: it gets one now.
            let ours = self.peers[peer].member_of(uplink);
            if let Some(path) = self.peers[peer].paths.get_mut(&ours) {
                path.notice = Some((now, 0));
            }
            self.offer_members(now, peer);
            self.connect(peer);
            self.send_notices(now, peer);
        }
        self.adjust_mtu();
    }

    /// Closes an uplink: its members are gone, and their queued packets go elsewhere.
    pub(super) fn close(&mut self, uplink: usize) {
        let name = self.uplinks[uplink].config.name.clone();
        tracing::info!(uplink = name, "uplink closed");
        let now = self.time;
        // Over the closing one, too, which may still work: it may be the last.
        for peer in 0..self.peers.len() {
            let paths = self.peers[peer].paths.iter();
            let here: Vec<Member> =
                paths.filter(|(_, path)| path.uplink == uplink).map(|(member, _)| *member).collect();
            here.into_iter().for_each(|member| self.say_farewell(now, peer, member));
        }
        self.flush();
        self.uplinks[uplink].close();
        for peer in 0..self.peers.len() {
            let here: Vec<Member> = {
                let paths = self.peers[peer].paths.iter();
                paths.filter(|(_, path)| path.uplink == uplink).map(|(member, _)| *member).collect()
            };
            here.into_iter().for_each(|member| self.remove_member(peer, member));
        }
        self.adjust_mtu();
    }

    /// Tells a peer that a member of ours is gone, over all members.
    fn say_farewell(&mut self, now: Instant, peer: usize, member: Member) {
        if !self.peers[peer].is_ours(member) {
            return;
        }
        let left: Vec<Member> = self.peers[peer].paths.keys().copied().collect();
        let (name, rate) = (LinkName::default(), None);
        let notice = Notice { member, is_gone: true, is_backup: false, is_metered: false, tier: 0, rate, name };
        for _ in 0..FAREWELLS {
            for over in &left {
                self.send_said(now, peer, *over, &notice.emit());
            }
        }
    }

    /// Switches an uplink on or off.
    ///
    /// # Errors
    /// There is no such uplink.
    pub fn switch(&mut self, name: &str, is_on: bool) -> Result<(), String> {
        let Some(uplink) = self.uplinks.iter().position(|uplink| uplink.config.name == name) else {
            let names: Vec<&str> = self.uplinks.iter().map(|uplink| uplink.config.name.as_str()).collect();
            return Err(format!("there is no uplink `{name}`; allowed: {}", names.join(", ")));
        };
        self.uplinks[uplink].is_on = is_on;
        if !is_on && self.uplinks[uplink].is_open() {
            self.close(uplink);
        }
        self.routing.want(self.wanted());
        self.on_interfaces();
        Ok(())
    }
}

/// The reason why an interface is of no use, if there is one.
fn absence(device: &str, found: Option<&FoundInterface>) -> Option<Cause> {
    match found {
        None => Some(Cause::no_device(device)),
        Some(found) if !found.is_up => Some(Cause::device_down(device)),
        Some(found) if found.addresses.is_empty() => Some(Cause::no_address(device)),
        Some(_) => None,
    }
}

fn state_gives_way(daemon: &Daemon, peer: usize) -> bool {
    let state = &daemon.peers[peer];
    state.gives_way() && state.paths.keys().any(|member| state.is_ours(*member))
}
