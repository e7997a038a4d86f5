//! Hosts with several access points on one radio: an address at each, which access point takes a flow, and the reverse
//! network address translation between these addresses and the one that the host's applications know.
//!
//! A node's address is its index; those of virtual stations are numbered behind the nodes. Which connection a flow has
//! been given is decided when it begins and stays; routes lead to a virtual station's address over its access point.
//! Giustiniano et al. 2013, section 3.2; `airbraid_net::multihoming` does the choosing.

use super::World;
use super::flow::Transport;
use super::packet::{DropReason, PacketRef};
use super::routing::{NextHop, Routes};
use super::slotted::address;
use crate::scenario::spec::{Slots, Spec};
use airbraid_mac::Address;
use airbraid_net::multihoming::ReverseNat;
use airbraid_net::refusal::Refusal;

/// A host with virtual stations.
#[derive(Debug)]
struct Host {
    node: u32,
    /// Its radio, as a neighbour of its access points.
    radio: Address,
    /// For each connection the node and the radio of its access point.
    access_points: Vec<(u32, Address)>,
    /// The address at the first of them; the others follow.
    first: u32,
    nat: ReverseNat<u32, u32>,
}

/// All hosts with virtual stations.
#[derive(Debug)]
pub(super) struct Multihomed {
    hosts: Vec<Host>,
}

impl Multihomed {
    /// The hosts of a scenario.
    pub fn new(spec: &Spec, first: &[u32]) -> Result<Self, Refusal> {
        let mut next = spec.nodes.len() as u32;
        let host = |slots: &Slots| {
            let connections: Vec<(u32, u64)> = (next..).zip(slots.shares_ns.iter().copied()).collect();
            let node = slots.radio.0 as u32;
            let nat = ReverseNat::new(node, &connections)
                .ok_or(Refusal { parameter: "slots", must: "give at least one access point a part of the period" })?;
            let host = Host {
                node,
                radio: address(first, slots.radio),
                access_points: slots.access_points.iter().map(|at| (at.0 as u32, address(first, *at))).collect(),
                first: next,
                nat,
            };
            next += connections.len() as u32;
            Ok(host)
        };
        Ok(Self { hosts: spec.slots.iter().map(host).collect::<Result<_, Refusal>>()? })
    }

    /// The address of `node` for a flow that begins: at the access point to which it is bound, or at the one that lacks
    /// most of its share. That of a node without virtual stations is its own.
    fn open(&mut self, node: u32, flow: u32, via: Option<Address>) -> u32 {
        let Some(host) = self.hosts.iter_mut().find(|host| host.node == node) else { return node };
        let bound = host.access_points.iter().position(|(_, radio)| Some(*radio) == via);
        if let Some(connection) = bound {
            host.nat.bind(flow, connection);
        }
        host.nat.outward(flow).1
    }

    /// A flow has ended: it counts no longer where others are placed.
    fn close(&mut self, flow: u32) {
        self.hosts.iter_mut().for_each(|host| host.nat.end(flow));
    }

    /// The host and the connection that an address belongs to.
    fn connection_of(&self, address: u32) -> Option<(&Host, usize)> {
        let at = |host: &Host| address.checked_sub(host.first).map(|k| k as usize);
        self.hosts.iter().find_map(|host| {
            let connection = at(host).filter(|k| *k < host.access_points.len())?;
            Some((host, connection))
        })
    }

    /// Where a packet goes from `node`: what bears the address of a virtual station leaves by its access point, what is for
    /// one goes to that access point first.
    pub fn next_hop(&self, routes: &Routes, node: u32, from: u32, to: u32) -> Option<NextHop> {
        if let Some((host, connection)) = self.connection_of(from).filter(|(host, _)| host.node == node) {
            let neighbour = host.access_points[connection].1;
            return Some(NextHop::Radio { radio: host.radio.0, neighbour });
        }
        let Some((host, connection)) = self.connection_of(to) else { return routes.next_hop(node, to) };
        let (access_point, radio) = host.access_points[connection];
        if access_point == node {
            return Some(NextHop::Radio { radio: radio.0, neighbour: host.radio });
        }
        routes.next_hop(node, access_point)
    }

    /// The address that the host at `node` knows for one that a packet bears which came from `access_point`: `None` if it
    /// is for somebody else, `Some(Err)` if it came over another connection than it should.
    fn inward(&self, node: u32, access_point: Option<Address>, to: u32) -> Option<Result<u32, ()>> {
        let (host, connection) = self.connection_of(to).filter(|(host, _)| host.node == node)?;
        let came = access_point == Some(host.access_points[connection].1);
        Some(host.nat.inward(connection, to).filter(|_| came).ok_or(()))
    }

    /// How many flows each access point of a host has.
    pub fn flows(&self, host: usize) -> impl Iterator<Item = u64> {
        self.hosts[host].nat.flows()
    }
}

impl World<'_> {
    /// A flow begins: a host with several access points gives it to one.
    pub(super) fn place_flow(&mut self, flow: u32) {
        let Some(multihomed) = &mut self.multihomed else { return };
        for (other, state) in self.flows.iter().enumerate().filter(|(_, state)| state.counts.completed.is_some()) {
            if state.addresses != [state.from, state.to] {
                multihomed.close(other as u32);
            }
        }
        let spec = &self.spec.flows[flow as usize];
        let first = super::build::first_radios(self.spec);
        let via = spec.via.map(|at| address(&first, at));
        let state = &mut self.flows[flow as usize];
        state.addresses = [state.from, state.to].map(|node| multihomed.open(node, flow, via));
        let [source, destination] = state.addresses;
        if let Transport::Udp { hop, .. } = &mut state.transport {
            *hop = multihomed.next_hop(&self.routes, state.from, source, destination);
        }
    }

    /// A packet that is not for the node's own address has come: if it is for one of its virtual stations, for the host.
    pub(super) fn translate_inward(&mut self, node: u32, from: Option<Address>, packet: PacketRef) -> bool {
        let Some(multihomed) = &self.multihomed else { return false };
        let to = self.packets.get(packet).to;
        match multihomed.inward(node, from, to) {
            None => false,
            Some(Ok(host)) => {
                self.packets.get_mut(packet).to = host;
                self.deliver(node, packet);
                true
            }
            Some(Err(())) => {
                self.drop_packet(node, packet, DropReason::NoRoute);
                true
            }
        }
    }
}
