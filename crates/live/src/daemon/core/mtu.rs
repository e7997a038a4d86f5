//! The longest packet: the path MTU that the tunnels find for each member, the MTU by peer that follows from it, and
//! the answers to longer packets.
//!
//! Paths are probed by the engine (`docs/decisions/0010-path-mtu.md`). What ICMP has told the kernel is asked for where
//! a length has been lost, and only chooses the length that is probed next.

use super::Daemon;
use crate::daemon::fragment::{V6_LEAST, fragments};
use crate::daemon::inner::{self, Summary};
use crate::daemon::packet::IpPacket;
use crate::daemon::peer::{Path, PeerState};
use crate::daemon::segment::Cut;
use crate::daemon::service::of_service;
use crate::daemon::socket::{path_mtu, source_of};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{BASE_PLPMTU, BondInput, MemberConfig};
use airbraid_engine::wire::TUNNEL_HEADER_LEN;
use airbraid_units::Bytes;
use std::net::IpAddr;

/// Ethernet's MTU, where no interface has another \[byte\].
const MTU: u32 = 1_500;
/// Least MTU of IPv6 (RFC 8200, section 5), and the length that any IPv4 host can reassemble (RFC 791) \[byte\].
const MTU_LEAST: [u32; 2] = [V6_LEAST as u32, 576];

/// Work that is done after all other outputs of a tunnel's step.
#[derive(Debug)]
pub(in crate::daemon) enum Later {
    /// A peer's tunnel wants the network's report about a member's path.
    Hint(usize, Member),
    /// The place of a member is not validated.
    GoBack(usize, Member),
    /// A packet for a peer was too long for all its paths.
    TooLong(usize, IpPacket),
}

impl Daemon {
    /// Does the work that drives a tunnel again: its frames then leave after those of the step that requested it.
    pub(super) fn do_what_waits(&mut self) {
        for later in std::mem::take(&mut self.later) {
            match later {
                Later::Hint(peer, member) => self.tell_hint(peer, member),
                Later::GoBack(peer, member) => self.go_back(peer, member),
                Later::TooLong(peer, packet) => self.on_dropped_too_long(peer, &packet),
            }
        }
    }

    /// The longest IP packet of our own interface on a path.
    pub(super) fn device_mtu(&self, path: &Path) -> u32 {
        let uplink = &self.uplinks[path.uplink];
        if let Some(mtu) = uplink.mtu() {
            return mtu;
        }
        // Without an interface of its own the kernel chooses one: it has the address that packets leave from.
        let source = path.source.or_else(|| source_of(uplink.binding(), path.remote).ok());
        let has = |source: IpAddr| self.interfaces.iter().find(|found| found.addresses.contains(&source));
        source.and_then(has).map_or(MTU, |found| found.mtu)
    }

    /// The MTUs of interfaces may have changed.
    pub(super) fn renew_device_mtus(&mut self) {
        for peer in 0..self.peers.len() {
            let paths: Vec<(Member, Path)> =
                self.peers[peer].paths.iter().map(|(member, path)| (*member, *path)).collect();
            for (member, path) in paths {
                if self.device_mtu(&path) != path.device_mtu {
                    let said = self.peers[peer].said.get(&member).copied();
                    self.add_member(peer, member, path, said.as_ref());
                }
            }
        }
    }

    /// A member's path has changed.
    pub(super) fn on_moved(&mut self, peer: usize, member: Member) {
        self.drive(peer, Some(BondInput::PathChanged { member }));
    }

    /// A tunnel has found the MTU of a member's path.
    pub(super) fn on_path_mtu(&mut self, peer: usize, member: Member, mtu: Bytes) {
        let state = &mut self.peers[peer];
        let Some(path) = state.paths.get_mut(&member) else { return };
        let (mtu, before) = (mtu.as_u64() as u32, path.mtu.replace(mtu.as_u64() as u32));
        let uplink = &self.uplinks[path.uplink].config.name;
        let before = before.map(|before| format!(", before {before}")).unwrap_or_default();
        tracing::info!(peer = state.config.name, member = member.0, "path MTU of {uplink} {mtu}{before}");
        self.set_peer_mtu(peer);
    }

    /// Computes a peer's longest packet: the narrowest path's, so that all of them carry a connection; but a path below
    /// the least useful MTU is left to short packets.
    pub(super) fn set_peer_mtu(&mut self, peer: usize) {
        let state = &mut self.peers[peer];
        let found = || state.paths.values().filter_map(|path| Some((path.mtu?, path.remote.is_ipv4())));
        let inner = |(mtu, is_v4)| inner_mtu(mtu, is_v4);
        let narrowest = found().filter(|(mtu, _)| *mtu >= BASE_PLPMTU).map(inner).min();
        let mtu = narrowest.or_else(|| found().map(inner).max());
        // Paths that have gone may come back: what they carried is the best guess until more is known.
        if mtu.is_some() && mtu != state.mtu {
            tracing::info!(peer = state.config.name, mtu, "MTU");
            state.mtu = mtu;
        }
        self.adjust_mtu();
    }

    /// The longest packet for a peer.
    pub(super) fn mtu_of(&self, peer: usize) -> u32 {
        self.longest_for(&self.peers[peer])
    }

    /// The longest packet for this peer.
    pub(in crate::daemon) fn longest_for(&self, peer: &PeerState) -> u32 {
        peer.mtu.map_or(self.mtu, |mtu| mtu.min(self.mtu))
    }

    /// Makes the interface's MTU as large as the widest peer allows, and not larger: packets too long for another peer
    /// are answered one by one.
    pub(super) fn adjust_mtu(&mut self) {
        if self.site.interface.mtu.is_some() {
            return;
        }
        let widest = self.peers.iter().filter(|peer| !peer.is_gone).filter_map(|peer| peer.mtu).max();
        let of_device = |uplink: &crate::daemon::uplink::UplinkState| inner_mtu(uplink.mtu().unwrap_or(MTU), false);
        let Some(mtu) = widest.or_else(|| self.uplinks.iter().map(of_device).min()) else { return };
        let has_v6 = self.site.interface.addresses.iter().any(|prefix| prefix.address.is_ipv6());
        let mtu = mtu.max(MTU_LEAST[usize::from(!has_v6)]);
        if mtu == self.mtu {
            return;
        }
        match self.netlink.configure(self.tun_index, mtu, crate::daemon::QUEUE) {
            Ok(()) => {
                tracing::info!(mtu, before = self.mtu, "the interface's MTU");
                self.mtu = mtu;
            }
            Err(error) => tracing::error!(%error, mtu, "the MTU cannot be set"),
        }
    }

    /// A tunnel searches for a length: the kernel's path MTU from ICMP may be it.
    fn tell_hint(&mut self, peer: usize, member: Member) {
        let Some(path) = self.peers[peer].paths.get(&member) else { return };
        if let Ok(mtu) = path_mtu(self.uplinks[path.uplink].binding(), path.remote) {
            self.drive(peer, Some(BondInput::MtuHint { member, mtu: Bytes::new(mtu.into()) }));
        }
    }

    /// A packet, or a run, is too long for its peer: it goes as fragments, or its sender is told. Returns whether it is
    /// done with.
    pub(super) fn on_too_long(&mut self, peer: usize, packet: &[u8], cut: Option<&Cut>, summary: &Summary) -> bool {
        let Some(cut) = cut else { return self.shorten(peer, packet, summary) };
        let mut segment = Vec::new();
        cut.write(packet, 0, &mut segment);
        if fragments(&segment, self.mtu_of(peer) as usize, 0).is_none() {
            // What is true of the first is true of all: its sender is told once.
            return self.refuse(peer, &segment, summary);
        }
        for index in 0..cut.count() {
            segment.clear();
            cut.write(packet, index, &mut segment);
            if !self.shorten(peer, &segment, summary) {
                self.offer(peer, &segment, summary.service);
            }
        }
        true
    }

    /// A tunnel drops a packet that is longer than any path carries.
    fn on_dropped_too_long(&mut self, peer: usize, packet: &IpPacket) {
        let Some(summary) = packet.summary().copied() else { return };
        let mut bytes = Vec::new();
        packet.write(&mut bytes);
        if bytes.len() > self.mtu_of(peer) as usize {
            self.shorten(peer, &bytes, &summary);
        }
    }

    /// Sends a packet as fragments, or tells its sender; returns whether either was done.
    fn shorten(&mut self, peer: usize, packet: &[u8], summary: &Summary) -> bool {
        self.fragment_number = self.fragment_number.wrapping_add(1);
        let Some(cut) = fragments(packet, self.mtu_of(peer) as usize, self.fragment_number) else {
            return self.refuse(peer, packet, summary);
        };
        for fragment in &cut {
            self.offer(peer, fragment, summary.service);
        }
        self.counts.fragmented_packets += 1;
        true
    }

    /// Gives a peer's tunnel a part of a packet of a service.
    fn offer(&mut self, peer: usize, packet: &[u8], service: u8) {
        let has_services = !self.site.services.is_empty();
        let look = |bytes: &mut [u8]| inner::summary(bytes).map(|found| of_service(found, service, has_services));
        if let Some(packet) = self.pool.packet(packet, look) {
            self.drive(peer, Some(BondInput::Packet(packet)));
        }
    }

    /// Tells the sender of a packet that it is too long, if such packets get an answer.
    fn refuse(&mut self, peer: usize, packet: &[u8], summary: &Summary) -> bool {
        let own = || self.site.interface.addresses.iter().map(|prefix| prefix.address);
        // No host takes a message from outside that comes from itself: its own programs hear it from whom they sent to.
        let is_own = own().any(|own| own == summary.source);
        let router = own().find(|own| own.is_ipv4() == summary.source.is_ipv4() && !is_own);
        let from = router.unwrap_or(summary.destination);
        let mtu = self.mtu_of(peer);
        let mtu = if from.is_ipv4() { mtu } else { mtu.max(V6_LEAST as u32) };
        let Some(answer) = inner::too_big(packet, mtu, from) else { return false };
        self.counts.too_big_packets += 1;
        if let Some(answer) = self.pool.packet(&answer, |answer| inner::summary(answer)) {
            self.write_to_tun(answer);
        }
        true
    }
}

/// The longest inner packet on a path with this MTU.
const fn inner_mtu(mtu: u32, is_v4: bool) -> u32 {
    let around = if is_v4 { MemberConfig::OVERHEAD_IPV4 } else { MemberConfig::OVERHEAD_IPV6 };
    mtu.saturating_sub(around.as_u64() as u32 + TUNNEL_HEADER_LEN as u32)
}
