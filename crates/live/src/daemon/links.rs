//! Members that come and go: with sessions, with the interfaces that uplinks are bound to, and by hand.

use super::address::place;
use super::core::Daemon;
use super::follow::Trust;
use super::memory::longest;
use super::notice::Notice;
use super::peer::Path;
use super::socket::path_mtu;
use airbraid_engine::converge::session;
use airbraid_engine::trunk::Member;
use airbraid_engine::tunnel::{Input, MemberConfig};
use airbraid_engine::wire::TUNNEL_HEADER_LEN;
use airbraid_units::{Duration, Instant};
use std::net::{IpAddr, SocketAddr};

/// Ethernet's, where no interface says another \[byte\].
const MTU: u32 = 1_500;
/// IPv6 needs this much (RFC 8200, section 5), and IPv4 this much for reassembly to be certain (RFC 791) \[byte\].
const MTU_LEAST: [u32; 2] = [1_280, 576];
/// A list of interfaces that could not be had is asked for again after this.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// That a member is gone is said so often: nobody answers.
const FAREWELLS: usize = 3;

impl Daemon {
    /// Where a peer is on an uplink, if it can be reached from there.
    pub(super) fn endpoint(&self, peer: usize, uplink: usize) -> Option<SocketAddr> {
        let mut endpoints = self.peers[peer].config.endpoints.iter();
        let (_, endpoint) = endpoints.find(|(of, _)| *of == uplink)?;
        endpoint.addresses.iter().copied().find(|address| self.uplinks[uplink].reaches(*address))
    }

    /// Wants a session with a peer, if we go to it and can.
    pub(super) fn connect(&mut self, peer: usize) {
        if !self.peers[peer].is_up {
            self.reconnect(peer);
        }
    }

    /// Makes a new key with a peer, if we go to it and can; the old one goes on meanwhile.
    pub(super) fn reconnect(&mut self, peer: usize) {
        // One that does not answer may be elsewhere by now.
        self.want_names(peer);
        let reachable = (0..self.uplinks.len()).filter_map(|uplink| Some((uplink, self.endpoint(peer, uplink)?)));
        let places: Vec<_> = reachable.map(|(uplink, at)| place(uplink, at, None)).collect();
        if places.is_empty() {
            return;
        }
        let id = self.peers[peer].id;
        self.drive_sessions(Some(session::Input::Addresses(id, places)));
        self.drive_sessions(Some(session::Input::Connect(id)));
    }

    /// There is a session with a peer.
    pub(super) fn on_up(&mut self, now: Instant, peer: usize) {
        let state = &mut self.peers[peer];
        state.is_up = true;
        state.again = None;
        (state.presence.left, state.presence.heard) = (None, Some(now));
        tracing::info!(peer = state.config.name, "session up");
        self.offer_members(now, peer);
    }

    /// There is none any more. The tunnel keeps what it has: members come back, and so may the session.
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
            let path = Path { uplink, remote, source: None, heard: None, notice: Some((now, 0)), trust };
            self.add_member(peer, member, path, None);
        }
        self.send_notices(now, peer);
    }

    /// A member begins, or is used otherwise from now on.
    pub(super) fn add_member(&mut self, peer: usize, member: Member, path: Path, said: Option<&Notice>) {
        let state = &mut self.peers[peer];
        let Some(uplink) = self.uplinks.get(path.uplink) else { return };
        let own = &uplink.config;
        // Both ends have a say: the stricter word counts.
        let rates = own.rate.into_iter().chain(said.and_then(|said| said.rate));
        let config = MemberConfig {
            tier: own.tier.max(said.map_or(0, |said| said.tier)),
            is_backup: own.is_backup || said.is_some_and(|said| said.is_backup),
            quota: own.quota,
            rate_cap: rates.min(),
            overhead: path.overhead(),
        };
        tracing::info!(peer = state.config.name, member = member.0, uplink = own.name, remote = %path.remote, "member");
        state.paths.insert(member, path);
        self.drive(peer, Some(Input::MemberAdded { member, config }));
        if state_gives_way(self, peer) {
            self.leave_ours(peer);
        }
        if self.inner_mtu_of(&path) != Some(self.mtu) {
            self.adjust_mtu();
        }
    }

    /// A member is gone.
    pub(super) fn remove_member(&mut self, peer: usize, member: Member) {
        if self.peers[peer].paths.remove(&member).is_some() {
            tracing::info!(peer = self.peers[peer].config.name, member = member.0, "member gone");
            self.drive(peer, Some(Input::MemberRemoved { member }));
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

    /// A peer says how one of its members is to be used.
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
        if state.has_its_way(now) {
            return;
        }
        let is_as_before = state.said.insert(notice.member, *notice) == Some(*notice);
        let path = state.paths.get(&notice.member).copied();
        if is_as_before && path.is_some() {
            return;
        }
        let trust = Trust::default();
        let first = Path { uplink, remote, source, heard: Some(now), notice: None, trust };
        self.add_member(peer, notice.member, path.unwrap_or(first), Some(notice));
        if path.is_none() {
            self.doubt(now, peer, notice.member);
        }
    }

    /// Tells a peer of members, if it is time.
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
            let (tier, is_backup, rate, keepalive) = (own.tier, own.is_backup, own.rate, own.keepalive);
            if let Some(path) = self.peers[peer].paths.get_mut(&member) {
                path.noticed(now, keepalive);
            }
            let notice = Notice { member, is_gone: false, is_backup, tier, rate };
            self.send_notice(now, peer, member, &notice);
        }
    }

    /// Interfaces or their addresses have changed.
    pub(super) fn on_interfaces(&mut self) {
        self.interfaces_at = None;
        let found = match self.netlink.interfaces() {
            Ok(found) => found,
            Err(error) => {
                tracing::error!(%error, "the list of interfaces cannot be had; it is asked for again");
                self.interfaces_at = Some(self.time + ASK_AGAIN);
                return;
            }
        };
        self.longest = longest(&found);
        for uplink in 0..self.uplinks.len() {
            let Some(device) = self.uplinks[uplink].config.device.clone() else {
                self.refresh(uplink, self.uplinks[uplink].is_on && !self.uplinks[uplink].is_open());
                continue;
            };
            let now = found.iter().find(|found| found.name == device && found.is_up && !found.addresses.is_empty());
            let before = std::mem::replace(&mut self.uplinks[uplink].found, now.cloned());
            let has_changed = before.as_ref() != now;
            let is_other = before.as_ref().map(|before| before.index) != now.map(|now| now.index);
            let state = &self.uplinks[uplink];
            let wanted = state.is_on && now.is_some();
            if state.is_open() && (!wanted || is_other) {
                self.close(uplink);
            }
            self.refresh(uplink, wanted && (has_changed || !self.uplinks[uplink].is_open()));
        }
    }

    /// Opens an uplink anew if its addresses are others, or it is closed; and offers it to the peers.
    fn refresh(&mut self, uplink: usize, is_wanted: bool) {
        if !is_wanted {
            return;
        }
        let now = self.time;
        let port = self.site.interface.listen;
        let state = &mut self.uplinks[uplink];
        let families = |state: &super::uplink::UplinkState, is_v4: bool| {
            state.found.as_ref().is_none_or(|found| found.addresses.iter().any(|address| address.is_ipv4() == is_v4))
        };
        let is_complete = state.is_open()
            && [true, false].into_iter().all(|is_v4| {
                let is_open = state.ports.iter().any(|port| port.socket.is_v4() == is_v4);
                is_open == families(state, is_v4)
            });
        if !is_complete {
            let threads = self.site.interface.threads.then_some(self.clock);
            if let Err(error) = state.open(port, self.site.interface.offload, threads) {
                tracing::warn!(uplink = state.config.name, %error, "the uplink cannot be opened");
                return;
            }
            let addresses = state.found.as_ref().map(|found| format!("{:?}", found.addresses)).unwrap_or_default();
            tracing::info!(uplink = state.config.name, addresses, "uplink open");
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

    /// Closes an uplink: its members are gone, and what was on its way there goes elsewhere.
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

    /// Tells a peer that a member of ours is gone, over all that there are.
    fn say_farewell(&mut self, now: Instant, peer: usize, member: Member) {
        if !self.peers[peer].is_ours(member) {
            return;
        }
        let left: Vec<Member> = self.peers[peer].paths.keys().copied().collect();
        let notice = Notice { member, is_gone: true, is_backup: false, tier: 0, rate: None };
        for _ in 0..FAREWELLS {
            for over in &left {
                self.send_notice(now, peer, *over, &notice);
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

    /// The longest packet inside that a path takes whole, as far as the kernel knows.
    fn inner_mtu_of(&self, path: &Path) -> Option<u32> {
        let uplink = &self.uplinks[path.uplink];
        let mtu = path_mtu(uplink.binding(), path.remote).ok().or(uplink.mtu())?;
        Some(inner_mtu(mtu, path.remote.is_ipv4()))
    }

    /// Makes the interface's MTU as large as the narrowest path allows, and not larger.
    pub(super) fn adjust_mtu(&mut self) {
        if self.site.interface.mtu.is_some() {
            return;
        }
        let paths = self.peers.iter().flat_map(|peer| peer.paths.values());
        let narrowest = paths.filter_map(|path| self.inner_mtu_of(path)).min();
        let of_device = |uplink: &super::uplink::UplinkState| inner_mtu(uplink.mtu().unwrap_or(MTU), false);
        let Some(mtu) = narrowest.or_else(|| self.uplinks.iter().map(of_device).min()) else { return };
        let has_v6 = self.site.interface.addresses.iter().any(|prefix| prefix.address.is_ipv6());
        let mtu = mtu.max(MTU_LEAST[usize::from(!has_v6)]);
        if mtu == self.mtu {
            return;
        }
        match self.netlink.configure(self.tun_index, mtu, super::QUEUE) {
            Ok(()) => {
                tracing::info!(mtu, before = self.mtu, "MTU");
                self.mtu = mtu;
            }
            Err(error) => tracing::error!(%error, mtu, "the MTU cannot be set"),
        }
    }
}

/// What is left of a path's longest packet for one inside.
const fn inner_mtu(mtu: u32, is_v4: bool) -> u32 {
    let around = if is_v4 { MemberConfig::OVERHEAD_IPV4 } else { MemberConfig::OVERHEAD_IPV6 };
    mtu.saturating_sub(around.as_u64() as u32 + TUNNEL_HEADER_LEN as u32)
}

fn state_gives_way(daemon: &Daemon, peer: usize) -> bool {
    let state = &daemon.peers[peer];
    state.gives_way() && state.paths.keys().any(|member| state.is_ours(*member))
}
