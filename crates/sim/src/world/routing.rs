//! Static routes: those that the scenario names, and for the rest the path of fewest hops, found once at the start.
//!
//! Ties go to the neighbour with the lower index, and at a hop to the trunk before the radio before the link.

use super::id::{HostAddress, LinkTrunkEnd, NodeId, PortId, RadioTrunkEnd};
use super::radio_map::RadioMap;
use crate::scenario::spec::{Interface, Routing, Spec, Trunk};
use std::collections::VecDeque;

/// The port at one side of the trunk with this index in the scenario; ends are counted for each kind of trunk apart.
pub fn trunk_port(spec: &Spec, radio_map: &RadioMap, index: usize, side: usize) -> PortId {
    let before = spec.trunks.iter().take(index);
    match &spec.trunks[index] {
        Trunk::Radios(_) => PortId::RadioTrunk(RadioTrunkEnd::of(before.filter_map(Trunk::radios).count(), side)),
        Trunk::Links(_) => PortId::LinkTrunk(LinkTrunkEnd::of(before.filter_map(Trunk::links).count(), side)),
        // The device takes packets at its first link, whichever link sends them.
        Trunk::MultiLink(trunk) => {
            let radio = |side: usize| radio_map.id((trunk.between[side], trunk.members[0][side]));
            PortId::Radio { radio: radio(side), neighbour: radio(1 - side).address() }
        }
    }
}

/// One way from a node to a neighbour.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The neighbour.
    pub to: NodeId,
    /// The interface, as the scenario names it.
    pub interface: Interface,
    /// The port that leads there.
    pub port: PortId,
}

/// For each node and destination where to go.
#[derive(Debug, Default)]
pub struct Routes {
    nodes: usize,
    table: Vec<Option<PortId>>,
}

impl Routes {
    /// Routes over `edges` (for each node its ways to neighbours, the preferred first).
    pub fn new(spec: &Spec, edges: &[Vec<Edge>]) -> Self {
        let nodes = spec.nodes.len();
        let mut routes = Self { nodes, table: vec![None; nodes * nodes] };
        let incoming = incoming(edges);
        let sought = if spec.routing == Routing::Static { nodes } else { 0 };
        let distances: Vec<Vec<u32>> = (0..sought).map(|to| hops_to(to, &incoming)).collect();
        for (node, ways) in edges.iter().enumerate() {
            for (to, distance) in distances.iter().enumerate() {
                if node == to || distance[node] == u32::MAX {
                    continue;
                }
                // min_by_key keeps the first of equals: the lower neighbour, the preferred interface.
                let best = ways.iter().min_by_key(|edge| (distance[edge.to.index()], edge.to));
                routes.table[node * nodes + to] = best.map(|edge| edge.port);
            }
            for route in &spec.nodes[node].routes {
                let way = ways.iter().find(|edge| {
                    edge.to.index() == route.via && route.interface.is_none_or(|interface| interface == edge.interface)
                });
                routes.table[node * nodes + route.to] = way.map(|edge| edge.port);
            }
        }
        routes
    }

    /// Where a packet for `to` goes from `node`.
    #[inline]
    pub fn next_hop(&self, node: NodeId, to: HostAddress) -> Option<PortId> {
        self.table[node.index() * self.nodes + to.index()]
    }
}

/// For each node who has a way to it.
fn incoming(edges: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    let mut incoming = vec![Vec::new(); edges.len()];
    for (from, ways) in edges.iter().enumerate() {
        for edge in ways {
            incoming[edge.to.index()].push(from);
        }
    }
    incoming
}

/// The number of hops from every node to `to`, by breadth-first search; `u32::MAX` where there is no way.
fn hops_to(to: usize, incoming: &[Vec<usize>]) -> Vec<u32> {
    let mut hops = vec![u32::MAX; incoming.len()];
    hops[to] = 0;
    let mut next = VecDeque::from([to]);
    while let Some(node) = next.pop_front() {
        for &from in &incoming[node] {
            if hops[from] == u32::MAX {
                hops[from] = hops[node] + 1;
                next.push_back(from);
            }
        }
    }
    hops
}
