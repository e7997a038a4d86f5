//! Hosts with several access points on one radio: an address at each, which access point takes a flow, and the reverse
//! network address translation between these addresses and the one that the host's applications know.
//!
//! A node's address is its index; those of virtual stations are numbered behind the nodes. Which connection a flow has
//! been given is decided when it begins and stays; routes lead to a virtual station's address over its access point.
//! Giustiniano et al. 2013, section 3.2; `airbraid_net::multihoming` does the choosing.

use super::id::{FlowId, HostAddress, NodeId, PortId, RadioId};
use super::radio_map::RadioMap;
use super::routing::Routes;
use crate::scenario::spec::{Slots, Spec};
use airbraid_mac::Address;
use airbraid_net::multihoming::ReverseNat;
use airbraid_net::refusal::Refusal;

/// A host with virtual stations.
#[derive(Debug)]
struct MultihomedHost {
    node: NodeId,
    /// Its radio, as a neighbour of its access points.
    radio: RadioId,
    /// For each connection the node and the radio of its access point.
    access_points: Vec<(NodeId, RadioId)>,
    /// The address at the first of them; the others follow.
    first: HostAddress,
    nat: ReverseNat<HostAddress, FlowId>,
}

/// All hosts with virtual stations.
#[derive(Debug)]
pub struct Multihomed {
    hosts: Vec<MultihomedHost>,
}

impl Multihomed {
    /// The hosts of a scenario.
    pub fn new(spec: &Spec, radios: &RadioMap) -> Result<Self, Refusal> {
        let mut next = spec.nodes.len();
        let host = |slots: &Slots| {
            let addresses = (next..).map(HostAddress::new);
            let connections: Vec<(HostAddress, u64)> = addresses.zip(slots.shares_ns.iter().copied()).collect();
            let node = NodeId::new(slots.radio.0);
            let nat = ReverseNat::new(node.address(), &connections)
                .ok_or(Refusal { parameter: "slots", must: "give at least one access point a part of the period" })?;
            let host = MultihomedHost {
                node,
                radio: radios.id(slots.radio),
                access_points: slots.access_points.iter().map(|at| (NodeId::new(at.0), radios.id(*at))).collect(),
                first: HostAddress::new(next),
                nat,
            };
            next += connections.len();
            Ok(host)
        };
        Ok(Self { hosts: spec.slots.iter().map(host).collect::<Result<_, Refusal>>()? })
    }

    /// The address of `node` for a flow that begins: at the access point to which it is bound, or at the one that lacks
    /// most of its share. That of a node without virtual stations is its own.
    pub fn open(&mut self, node: NodeId, flow: FlowId, via: Option<RadioId>) -> HostAddress {
        let Some(host) = self.hosts.iter_mut().find(|host| host.node == node) else {
            return node.address();
        };
        let bound = host.access_points.iter().position(|(_, radio)| Some(*radio) == via);
        if let Some(connection) = bound {
            host.nat.bind(flow, connection);
        }
        host.nat.outward(flow).1
    }

    /// A flow has ended: it counts no longer where others are placed.
    pub fn close(&mut self, flow: FlowId) {
        self.hosts.iter_mut().for_each(|host| host.nat.end(flow));
    }

    /// The host and the connection that an address belongs to.
    fn connection_of(&self, address: HostAddress) -> Option<(&MultihomedHost, usize)> {
        let at = |host: &MultihomedHost| address.index().checked_sub(host.first.index());
        self.hosts.iter().find_map(|host| {
            let connection = at(host).filter(|k| *k < host.access_points.len())?;
            Some((host, connection))
        })
    }

    /// The next hop of a packet from `node`: one with the address of a virtual station leaves by its access point, one
    /// for such an address goes to that access point first.
    pub fn next_hop(&self, routes: &Routes, node: NodeId, from: HostAddress, to: HostAddress) -> Option<PortId> {
        if let Some((host, connection)) = self.connection_of(from).filter(|(host, _)| host.node == node) {
            let neighbour = host.access_points[connection].1.address();
            return Some(PortId::Radio { radio: host.radio, neighbour });
        }
        let Some((host, connection)) = self.connection_of(to) else { return routes.next_hop(node, to) };
        let (access_point, radio) = host.access_points[connection];
        if access_point == node {
            return Some(PortId::Radio { radio, neighbour: host.radio.address() });
        }
        routes.next_hop(node, access_point.address())
    }

    /// The host's own address for the address on a packet from `access_point`: `None` if it is for another host,
    /// `Some(Err)` if it came over the wrong connection.
    pub fn inward(
        &self,
        node: NodeId,
        access_point: Option<Address>,
        to: HostAddress,
    ) -> Option<Result<HostAddress, ()>> {
        let (host, connection) = self.connection_of(to).filter(|(host, _)| host.node == node)?;
        let came = access_point == Some(host.access_points[connection].1.address());
        Some(host.nat.inward(connection, to).filter(|_| came).ok_or(()))
    }

    /// Number of flows of each access point of a host.
    pub fn flows(&self, host: usize) -> impl Iterator<Item = u64> {
        self.hosts[host].nat.flows()
    }
}
