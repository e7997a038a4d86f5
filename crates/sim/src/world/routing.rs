//! Static routes: those that the scenario names, and for the rest the path of fewest hops, found once at the start.
//!
//! Ties go to the neighbour with the lower index, and at a hop to the trunk before the radio before the link.

use crate::scenario::spec::{Interface, Routing, Spec, Trunk};
use airbraid_mac::Address;
use std::collections::VecDeque;

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// Over a radio (index among all) to a neighbour.
    Radio {
        /// The radio.
        radio: u32,
        /// The neighbour's radio.
        neighbour: Address,
    },
    /// Into this end of a trunk.
    Trunk(u32),
    /// Into this end of a tunnel.
    Tunnel(u32),
    /// Into this direction of a link.
    Link(u32),
}

impl NextHop {
    /// Whether both leave by one interface.
    pub fn is_same_interface(self, other: Self) -> bool {
        match (self, other) {
            (Self::Radio { radio, .. }, Self::Radio { radio: other, .. }) => radio == other,
            _ => self == other,
        }
    }
}

/// The way into an end of the trunk with this index in the scenario; ends are counted for each kind of trunk apart.
pub fn trunk_hop(spec: &Spec, index: usize, side: usize) -> NextHop {
    let before = spec.trunks.iter().take(index);
    match &spec.trunks[index] {
        Trunk::Radios(_) => NextHop::Trunk((2 * before.filter_map(Trunk::radios).count() + side) as u32),
        Trunk::Links(_) => NextHop::Tunnel((2 * before.filter_map(Trunk::links).count() + side) as u32),
    }
}

/// One way from a node to a neighbour.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The neighbour's index.
    pub to: u32,
    /// The interface, as the scenario names it.
    pub interface: Interface,
    /// How to get there.
    pub hop: NextHop,
}

/// For each node and destination where to go.
#[derive(Debug, Default)]
pub struct Routes {
    nodes: usize,
    table: Vec<Option<NextHop>>,
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
                let best = ways.iter().min_by_key(|edge| (distance[edge.to as usize], edge.to));
                routes.table[node * nodes + to] = best.map(|edge| edge.hop);
            }
            for route in &spec.nodes[node].routes {
                let way = ways.iter().find(|edge| {
                    edge.to == route.via as u32 && route.interface.is_none_or(|interface| interface == edge.interface)
                });
                routes.table[node * nodes + route.to] = way.map(|edge| edge.hop);
            }
        }
        routes
    }

    /// Where a packet for `to` goes from `node`.
    pub fn next_hop(&self, node: u32, to: u32) -> Option<NextHop> {
        self.table[node as usize * self.nodes + to as usize]
    }
}

/// For each node who has a way to it.
fn incoming(edges: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    let mut incoming = vec![Vec::new(); edges.len()];
    for (from, ways) in edges.iter().enumerate() {
        for edge in ways {
            incoming[edge.to as usize].push(from);
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
