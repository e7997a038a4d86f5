//! A world that has played its share, and another one that takes over what has become of it.

use super::World;
use super::account::Account;
use super::device::MultiLinkDevice;
use super::flow::Flow;
use super::id::{DeviceId, FlowId, Table};
use super::medium::Medium;
use super::network::Network;
use super::packet::Packets;
use super::port::Ports;
use super::share::{Share, Things};

/// A world that has played its share, without those who watched it.
#[derive(Debug)]
pub struct Played {
    share: Share,
    ports: Ports,
    network: Network,
    flows: Table<FlowId, Flow>,
    medium: Medium,
    devices: Table<DeviceId, MultiLinkDevice>,
    packets: Packets,
    account: Option<Box<Account>>,
    /// Events that are of this share alone.
    events: u64,
}

impl World<'_> {
    /// The world at its end.
    pub fn into_played(self) -> Played {
        let Self { share, ports, network, flows, host, events, events_of_all, .. } = self;
        let (medium, devices, packets, account) = (host.medium, host.devices, host.packets, host.account);
        let events = events - events_of_all;
        Played { share, ports, network, flows: flows.table, medium, devices, packets, account, events }
    }

    /// Takes over the end of another share of the same scenario.
    pub fn take_over(&mut self, played: Played) {
        let things = played.things();
        let Played { ports, network, flows, medium, devices, packets, account, events, .. } = played;
        if let (Some(own), Some(other)) = (&mut self.host.account, account) {
            own.take_over(*other, &things);
        }
        self.host.medium.take_over(medium, &things);
        self.ports.take_over(ports, &things);
        self.network.take_over(network, &things);
        self.flows.table.take_over(flows, |flow| things.flows[flow]);
        self.host.devices.take_over(devices, |device| things.devices[device]);
        self.host.packets.take_over(packets);
        self.events += events;
    }
}

impl Played {
    fn things(&self) -> Things {
        let nodes = self.share.clone();
        let radios: Vec<bool> = self.ports.radios.iter().map(|radio| nodes.has(radio.node())).collect();
        let is_own = |device: &MultiLinkDevice| device.links.iter().any(|link| radios[link.index()]);
        Things {
            flows: self.flows.iter().map(|flow| nodes.has(flow.from)).collect(),
            radio_trunks: self.ports.radio_trunks.iter().map(|end| nodes.has(end.node())).collect(),
            link_trunks: self.ports.link_trunks.iter().map(|end| nodes.has(end.node())).collect(),
            links: self.ports.links.iter().map(|link| nodes.has(link.to())).collect(),
            devices: self.devices.iter().map(is_own).collect(),
            radios,
            nodes,
        }
    }
}
