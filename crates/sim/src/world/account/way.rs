//! The devices on a flow's way, there and back, and how busy each is.

use super::super::World;
use super::super::frame::PacketRef;
use super::super::id::{HostAddress, NodeId, PortId, RadioId};
use super::super::network::Forwarding;
use super::super::port::mac::RadioMac;
use super::Device;
use airbraid_net::link::Link;
use airbraid_units::Duration;

/// The number of hops after which a way is a circle.
const HOPS_MAX: usize = 64;

/// Time up to now in which a device was busy, by two measures of which the higher counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Something waited in it.
    pub backlog: Duration,
    /// Of a radio: the frames of all radios on the way that it senses, with the gaps before them. Of a trunk over
    /// links: the mean of its links, by rate. A trunk over radios has in both that of the least busy member. One
    /// of multi-link devices has in the former that of the link that contends, holds the medium or stands still least.
    pub medium: Duration,
}

impl Reading {
    /// Busy time since `before`, at most `span`.
    pub fn since(self, before: Self, span: Duration) -> Duration {
        let longer = self.backlog.saturating_sub(before.backlog).max(self.medium.saturating_sub(before.medium));
        longer.min(span)
    }
}

impl World<'_> {
    /// The devices that a flow's packets pass now, there and back; none twice.
    pub(super) fn way(&self, from: NodeId, to: NodeId, [here, there]: [HostAddress; 2]) -> Vec<Device> {
        let mut devices = Vec::new();
        self.walk([from, to], [here, there], &mut devices);
        self.walk([to, from], [there, here], &mut devices);
        let mut seen = Vec::with_capacity(devices.len());
        devices.retain(|device| {
            let is_new = !seen.contains(device);
            seen.push(*device);
            is_new
        });
        devices
    }

    /// Adds the devices of one direction; tells whether it leads to its end.
    pub(super) fn walk(
        &self,
        [from, to]: [NodeId; 2],
        [source, destination]: [HostAddress; 2],
        devices: &mut Vec<Device>,
    ) -> bool {
        let mut node = from;
        for _ in 0..HOPS_MAX {
            if node == to {
                return true;
            }
            let Some(port) = self.port_towards(node, source, destination) else { return false };
            node = match port {
                PortId::Radio { radio, neighbour } => {
                    match self.ports.radios[radio].peer(neighbour, &self.host) {
                        None => devices.push(Device::Radio(radio)),
                        Some((device, peer)) => {
                            devices.push(Device::MultiLink(peer.end));
                            devices.extend(device.links_to(peer).map(Device::Radio));
                        }
                    }
                    self.ports.radios[RadioId::of(neighbour)].node()
                }
                PortId::RadioTrunk(end) => {
                    devices.push(Device::RadioTrunk(end));
                    devices.extend(self.ports.radio_trunks[end].radios().map(Device::Radio));
                    self.ports.radio_trunks[end.peer()].node()
                }
                PortId::LinkTrunk(end) => {
                    devices.push(Device::LinkTrunk(end));
                    self.ports.link_trunks[end.peer()].node()
                }
                PortId::Link(direction) => {
                    devices.push(Device::Link(direction));
                    self.ports.links[direction].to()
                }
            };
        }
        false
    }

    /// The port by which a packet leaves a node now, routes on demand included.
    fn port_towards(&self, node: NodeId, source: HostAddress, destination: HostAddress) -> Option<PortId> {
        self.network.next_hop(node, source, destination).or_else(|| match &self.network.forwarding {
            Forwarding::OnDemand(routers) => routers.port_towards(self.host.now, node, destination),
            Forwarding::Static | Forwarding::Multihomed(_) => None,
        })
    }

    /// Reads a device of a way.
    pub(super) fn reading(&self, device: Device, way: &[Device]) -> Reading {
        let now = self.host.now;
        let Some(account) = &self.host.account else { return Reading::default() };
        match device {
            Device::Radio(radio) => {
                let counted = || account.radios.get(radio).map_or(Duration::ZERO, |load| load.busy(now));
                let of_link = || self.host.devices.iter().find_map(|device| device.busy(radio, now));
                let backlog = match self.ports.radios[radio].mac() {
                    RadioMac::Dcf(mac) => mac.busy(now),
                    _ => of_link().unwrap_or_else(counted),
                };
                Reading { backlog, medium: self.medium_load(radio, way) }
            }
            Device::Link(direction) => {
                Reading { backlog: self.ports.links[direction].link().busy(now), medium: Duration::ZERO }
            }
            Device::LinkTrunk(end) => {
                let links = self.ports.link_trunks[end].links().map(|link| self.ports.links[link].link());
                let weigh = |(all, busy): (f64, f64), link: &Link<PacketRef>| {
                    let rate = link.rate().map_or(0.0, |rate| rate.as_bps() as f64);
                    (all + rate, busy + rate * link.busy(now).as_secs_f64())
                };
                let (all, busy) = links.fold((0.0, 0.0), weigh);
                Reading { backlog: Duration::ZERO, medium: Duration::from_nanos((busy / all.max(1.0) * 1e9) as u64) }
            }
            Device::RadioTrunk(end) => {
                let members =
                    self.ports.radio_trunks[end].radios().map(|radio| self.reading(Device::Radio(radio), way));
                let all = members
                    .reduce(|a, b| Reading { backlog: a.backlog.min(b.backlog), medium: a.medium.min(b.medium) });
                all.unwrap_or_default()
            }
            Device::MultiLink(end) => {
                let Some((device, peer)) = self.multi_link_peer(end) else { return Reading::default() };
                let links = device.links_to(peer).zip(&peer.ways);
                let taken = links.filter_map(|(link, way)| Some(device.busy(link, now)? + way.count.stalled(now)));
                Reading { backlog: taken.min().unwrap_or_default(), medium: Duration::ZERO }
            }
            Device::Node(_) => Reading::default(),
        }
    }

    /// Time that the radios of a way take on the medium of one of them, as far as that one senses them: their frames,
    /// and the gaps before each.
    fn medium_load(&self, radio: RadioId, way: &[Device]) -> Duration {
        let (RadioMac::Dcf(_) | RadioMac::Edca(_)) = self.ports.radios[radio].mac() else { return Duration::ZERO };
        let load = |radio: RadioId| match self.ports.radios[radio].mac() {
            RadioMac::Dcf(mac) => {
                let stats = mac.stats();
                stats.airtime + mac.access_gap() * stats.data_frames.max(stats.rts_frames)
            }
            RadioMac::Edca(mac) => {
                let stats = mac.stats();
                stats.airtime + mac.access_gap() * stats.data_frames.max(stats.rts_frames)
            }
            _ => Duration::ZERO,
        };
        let sensed = self.host.medium.sensed_by(radio).filter(|other| way.contains(&Device::Radio(*other)));
        sensed.map(load).fold(load(radio), |sum, load| sum + load)
    }
}
