//! Reads the file again, and changes only the differences: the rest does not notice.

use super::Daemon;
use super::history::time_of_day;
use super::presence::FAREWELLS;
use crate::daemon::budget::Budget;
use crate::daemon::history::event::Event;
use crate::daemon::peer::PeerState;
use crate::daemon::routing::{METRIC, WantedRouting, mark_of, numbers};
use crate::daemon::site::{self, Peer, Site, UPLINKS_MAX};
use crate::daemon::table::Table;
use crate::daemon::uplink::UplinkState;
use airbraid_engine::converge::session::{self, PeerConfig, PeerId};
use jiff::Timestamp;

impl Daemon {
    /// Reads the file again; returns the changes.
    ///
    /// # Errors
    /// The file is wrong, or changes what cannot be changed: everything is as before.
    pub fn reload(&mut self) -> Result<String, String> {
        let mut new = site::read(&self.site.file).map_err(|errors| errors.to_string())?;
        self.check(&new)?;
        new.peers.retain(|peer| !is_over(peer));
        self.names.fill(&mut new.peers);
        let mut said = Vec::new();
        self.change_interface(&new, &mut said)?;
        let (routes, place) = (self.wanted().prefixes(), said.len());
        self.change_uplinks(&new, &mut said);
        self.change_peers(&new, &mut said);
        self.find_introducers();
        self.table = Table::new(self.peers.iter().enumerate().filter(|(_, peer)| !peer.is_gone).map(behind));
        let has_other_services = self.site.services != new.services;
        self.site = new;
        if has_other_services {
            said.push("services".to_owned());
            (0..self.uplinks.len()).for_each(|uplink| self.renew_members(uplink));
        }
        said.splice(place..place, self.change_routes(&routes));
        self.look_at_budgets(Some(self.time));
        self.on_interfaces();
        self.renew_names();
        for peer in 0..self.peers.len() {
            self.offer_members(self.time, peer);
            self.connect(peer);
        }
        self.adjust_mtu();
        self.history.keep_peers(&self.site.peers.iter().map(|peer| peer.name.as_str()).collect());
        let said = if said.is_empty() { "nothing has changed".to_owned() } else { said.join(", ") };
        self.history.tell(Event::new(time_of_day(), "reloaded", format!("the file was read again: {said}")));
        Ok(said)
    }

    /// Refuses changes that are impossible while the daemon runs.
    fn check(&self, new: &Site) -> Result<(), String> {
        let (before, now) = (&self.site.interface, &new.interface);
        let fixed = [
            ("interface.name", before.name == now.name),
            ("interface.private_key", before.identity == now.identity),
            ("interface.listen", before.listen == now.listen),
            ("interface.offload", before.offload == now.offload),
            ("interface.threads", before.threads == now.threads),
            ("interface.metrics", before.metrics == now.metrics),
            ("interface.page", before.page == now.page),
            ("interface.dns", before.dns == now.dns),
            ("interface.table", before.table == now.table),
            ("interface.mark", before.mark == now.mark),
            ("interface.post_up", before.post_up == now.post_up),
            ("interface.pre_down", before.pre_down == now.pre_down),
            ("policy", self.site.policy == new.policy),
            ("gateway", self.site.gateway == new.gateway),
        ];
        let different: Vec<&str> = fixed.iter().filter(|(_, is_same)| !is_same).map(|(key, _)| *key).collect();
        if !different.is_empty() {
            return Err(format!("{} can be changed by `down` and `up` only", different.join(", ")));
        }
        let added = new.uplinks.iter().filter(|uplink| self.uplink_called(&uplink.name).is_none()).count();
        let free = UPLINKS_MAX - self.uplinks.len();
        if added > free {
            return Err(format!("{added} more uplinks: there is room for {free} before the next `down` and `up`"));
        }
        Ok(())
    }

    fn uplink_called(&self, name: &str) -> Option<usize> {
        self.uplinks.iter().position(|uplink| uplink.config.name == name)
    }

    fn change_interface(&mut self, new: &Site, said: &mut Vec<String>) -> Result<(), String> {
        let (before, now) = (self.site.interface.clone(), &new.interface);
        let failed = |what: String| move |error: nix::Error| format!("{what}: {}", error.desc());
        for prefix in now.addresses.iter().filter(|prefix| !before.addresses.contains(prefix)) {
            let added = self.netlink.put_address(self.tun_index, prefix.address, prefix.length, METRIC);
            added.map_err(failed(prefix.to_string()))?;
            said.push(format!("address {prefix}"));
        }
        for prefix in before.addresses.iter().filter(|prefix| !now.addresses.contains(prefix)) {
            let removed = self.netlink.remove_address(self.tun_index, prefix.address, prefix.length);
            removed.map_err(failed(prefix.to_string()))?;
            said.push(format!("no address {prefix}"));
        }
        if let Some(mtu) = now.mtu.filter(|mtu| *mtu != self.mtu) {
            self.netlink.configure(self.tun_index, mtu, crate::daemon::QUEUE).map_err(failed("MTU".to_owned()))?;
            self.mtu = mtu;
            said.push(format!("MTU {mtu}"));
        }
        Ok(())
    }

    /// The wanted routing of the host.
    pub(super) fn wanted(&self) -> WantedRouting {
        let uplinks = self.uplinks.iter().map(|uplink| (&uplink.config, uplink.is_on));
        let peers = self.peers.iter().filter(|peer| !peer.is_gone).map(|peer| &peer.config);
        WantedRouting::new(&self.site.interface, self.tun_index, uplinks, peers)
    }

    /// Makes the routes that are wanted now; returns the changes.
    fn change_routes(&mut self, before: &[site::Prefix]) -> Vec<String> {
        let wanted = self.wanted();
        self.names.need_outside(wanted.hides_name_servers(&self.site.interface.dns));
        let now = wanted.prefixes();
        let more = now.iter().filter(|route| !before.contains(route)).map(|route| format!("route {route}"));
        let fewer = before.iter().filter(|route| !now.contains(route)).map(|route| format!("no route {route}"));
        let changed: Vec<String> = more.chain(fewer).collect();
        let failed = self.routing.want_now(wanted).err().map(|error| error.to_string());
        changed.into_iter().chain(failed).collect()
    }

    /// An uplink keeps its index, and so its member number, for as long as the daemon runs.
    fn change_uplinks(&mut self, new: &Site, said: &mut Vec<String>) {
        for place in 0..self.uplinks.len() {
            let name = self.uplinks[place].config.name.clone();
            let before = &self.uplinks[place].config;
            match new.uplinks.iter().find(|uplink| uplink.name == name) {
                Some(uplink) if uplink == before => {}
                Some(uplink) => {
                    let is_other = uplink.device != before.device;
                    let uplink = uplink.clone();
                    said.push(format!("uplink {name}"));
                    let state = &mut self.uplinks[place];
                    if state.config.is_on != uplink.is_on {
                        state.is_on = uplink.is_on;
                    }
                    state.config = uplink;
                    if is_other || !state.is_on {
                        self.close(place);
                    } else {
                        self.renew_members(place);
                    }
                }
                None if self.uplinks[place].is_on => {
                    said.push(format!("no uplink {name}"));
                    self.uplinks[place].is_on = false;
                    self.close(place);
                }
                None => {}
            }
        }
        for uplink in &new.uplinks {
            if self.uplink_called(&uplink.name).is_none() {
                said.push(format!("uplink {}", uplink.name));
                let mark = mark_of(numbers(&self.site.interface).1, self.uplinks.len());
                let mut state = UplinkState::new(uplink.clone(), mark);
                state.budget = Budget::of(self.care.months.of(&uplink.name));
                self.uplinks.push(state);
            }
        }
    }

    /// The use of an uplink's members has changed.
    pub(super) fn renew_members(&mut self, uplink: usize) {
        let now = self.time;
        for peer in 0..self.peers.len() {
            let paths = self.peers[peer].paths.iter().filter(|(_, path)| path.uplink == uplink);
            let paths: Vec<_> = paths.map(|(member, path)| (*member, *path)).collect();
            for (member, mut path) in paths {
                path.notice = path.notice.map(|_| (now, 0));
                let said = self.peers[peer].said.get(&member).copied();
                self.add_member(peer, member, path, said.as_ref());
            }
            self.send_notices(now, peer);
        }
    }

    fn change_peers(&mut self, new: &Site, said: &mut Vec<String>) {
        // Uplinks keep their places here, and have new numbers in the file.
        let places: Vec<usize> = new.uplinks.iter().filter_map(|uplink| self.uplink_called(&uplink.name)).collect();
        let placed = |peer: &Peer| {
            let mut peer = peer.clone();
            for (uplink, _) in &mut peer.endpoints {
                *uplink = places[*uplink];
            }
            peer
        };
        for index in 0..self.peers.len() {
            let before = &self.peers[index];
            if before.is_gone {
                continue;
            }
            let same =
                new.peers.iter().find(|peer| peer.public == before.config.public && peer.psk == before.config.psk);
            match same.map(placed) {
                Some(mut peer) => {
                    let before = &before.config;
                    if peer.via.is_some() && peer.via == before.via {
                        // Where it was introduced at, over uplinks that are new as well.
                        let known = before.endpoints.first().map_or(&[][..], |(_, endpoint)| &endpoint.addresses);
                        peer.endpoints = self.over_all_uplinks(known);
                    }
                    let is_same = peer.endpoints == before.endpoints
                        && peer.allowed == before.allowed
                        && peer.except == before.except;
                    if !is_same || peer.via != before.via || peer.introduces != before.introduces {
                        said.push(format!("peer {}", peer.name));
                    }
                    self.peers[index].config = peer;
                }
                None => {
                    said.push(format!("no peer {}", before.config.name));
                    self.forget_peer(index);
                }
            }
        }
        for peer in &new.peers {
            if !self.peers.iter().any(|known| !known.is_gone && known.config.public == peer.public) {
                said.push(format!("peer {}", peer.name));
                let peer = placed(peer);
                let config = PeerConfig { public: peer.public, psk: peer.psk.clone(), addresses: Vec::new() };
                let id = PeerId::at(self.peers.len());
                let own = self.sessions.public();
                self.peers.push(PeerState::new(peer, id, &own, self.tunnel));
                self.drive_sessions(Some(session::Input::PeerAdded(config)));
            }
        }
        // Nothing is carried out for a peer that is another now.
        self.settle_sessions();
    }

    /// Forgets peers whose time is over.
    pub(super) fn end_guests(&mut self) {
        let over: Vec<usize> = {
            let guests = self.peers.iter().enumerate().filter(|(_, peer)| !peer.is_gone && is_over(&peer.config));
            guests.map(|(index, _)| index).collect()
        };
        if over.is_empty() {
            return;
        }
        for index in over {
            tracing::info!(peer = self.peers[index].config.name, "its time is over: it is no peer any more");
            self.forget_peer(index);
        }
        self.settle_sessions();
        self.table = Table::new(self.peers.iter().enumerate().filter(|(_, peer)| !peer.is_gone).map(behind));
        self.routing.want(self.wanted());
    }

    fn forget_peer(&mut self, index: usize) {
        let id = self.peers[index].id;
        for _ in 0..FAREWELLS {
            self.drive_sessions(Some(session::Input::Farewell(id)));
        }
        // It is told by the ways that are forgotten next.
        self.settle_sessions();
        self.drive_sessions(Some(session::Input::PeerRemoved(id)));
        let (peer, own) = (self.peers[index].config.clone(), self.sessions.public());
        self.occupied = self.occupied.saturating_sub(self.peers[index].occupied);
        self.peers[index] = PeerState::new(peer, id, &own, self.tunnel);
        self.peers[index].config.endpoints.clear();
        self.peers[index].is_gone = true;
    }
}

/// Whether the time of a peer is over.
fn is_over(peer: &Peer) -> bool {
    peer.until.is_some_and(|until| until <= Timestamp::now())
}

/// A peer's index and the prefixes behind it.
pub(in crate::daemon) fn behind((index, peer): (usize, &PeerState)) -> (usize, &[site::Prefix]) {
    (index, &peer.config.allowed)
}
