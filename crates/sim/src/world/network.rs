//! The network layer's knowledge: static routes, and what finds or chooses ways where a scenario has that.

use super::aodv::AodvRouters;
use super::frame::PacketRef;
use super::host::Host;
use super::id::{HostAddress, NodeId, PortId};
use super::multihomed::Multihomed;
use super::port::Ports;
use super::routing::Routes;
use super::share::Things;
use airbraid_net::aodv;

/// The routing of packets.
#[derive(Debug)]
pub struct Network {
    pub routes: Routes,
    pub forwarding: Forwarding,
}

/// The routing beside the static routes.
#[derive(Debug)]
pub enum Forwarding {
    /// Nothing.
    Static,
    /// AODV on each node, for destinations without a route.
    OnDemand(Box<AodvRouters>),
    /// Hosts with several access points.
    Multihomed(Box<Multihomed>),
}

impl Network {
    /// The port by which a packet with these addresses leaves a node.
    #[inline]
    pub fn next_hop(&self, node: NodeId, from: HostAddress, to: HostAddress) -> Option<PortId> {
        match &self.forwarding {
            Forwarding::Multihomed(hosts) => hosts.next_hop(&self.routes, node, from, to),
            Forwarding::Static | Forwarding::OnDemand(_) => self.routes.next_hop(node, to),
        }
    }

    /// The port whose queue a packet meets first that leaves a node: without a route, the radio that AODV uses.
    pub fn first_port(&self, node: NodeId, from: HostAddress, to: HostAddress) -> Option<PortId> {
        self.next_hop(node, from, to).or_else(|| match &self.forwarding {
            Forwarding::OnDemand(routers) => Some(routers.port(node)),
            Forwarding::Static | Forwarding::Multihomed(_) => None,
        })
    }

    pub fn routers(&self) -> Option<&AodvRouters> {
        match &self.forwarding {
            Forwarding::OnDemand(routers) => Some(routers),
            Forwarding::Static | Forwarding::Multihomed(_) => None,
        }
    }

    pub fn routers_mut(&mut self) -> Option<&mut AodvRouters> {
        match &mut self.forwarding {
            Forwarding::OnDemand(routers) => Some(routers),
            Forwarding::Static | Forwarding::Multihomed(_) => None,
        }
    }

    pub fn multihomed(&self) -> Option<&Multihomed> {
        match &self.forwarding {
            Forwarding::Multihomed(hosts) => Some(hosts),
            Forwarding::Static | Forwarding::OnDemand(_) => None,
        }
    }

    /// Takes over what other nodes know.
    pub fn take_over(&mut self, other: Self, things: &Things) {
        if let (Forwarding::OnDemand(own), Forwarding::OnDemand(other)) = (&mut self.forwarding, other.forwarding) {
            own.take_over(*other, things);
        }
    }

    /// The timer of a node's AODV.
    pub fn on_router_timer(&mut self, node: NodeId, host: &mut Host<'_>) {
        if let Some(routers) = self.routers_mut() {
            routers.step(node, None, host);
        }
    }

    /// Carries out what a node's AODV says.
    pub fn on_router_output(
        &mut self,
        node: NodeId,
        output: aodv::Output<PacketRef>,
        ports: &mut Ports,
        host: &mut Host<'_>,
    ) {
        if let Some(routers) = self.routers_mut() {
            routers.on_output(node, output, &mut ports.radios, host);
        }
    }
}
