//! Static routes: those that the scenario names, and for the rest the path of fewest hops, found once at the start for
//! those who will send to each other.
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

/// The way of packets from a node to a destination.
#[derive(Clone, Copy, Debug)]
struct Way {
    to: NodeId,
    /// `None`: the scenario names a way that is not there.
    port: Option<PortId>,
}

/// For each node where packets go that pass it: by destination, in their order.
#[derive(Debug, Default)]
pub struct Routes {
    ways: Vec<Vec<Way>>,
}

impl Routes {
    /// The routes that the scenario names, and those on the paths of `journeys` (source and destination) over `edges`
    /// (for each node its ways to neighbours, the preferred first).
    ///
    /// A path is kept for those who travel it, and not for all nodes: in a cell of n stations with a flow each that is
    /// n entries in place of n^2.
    pub fn new(spec: &Spec, edges: &[Vec<Edge>], journeys: &[[NodeId; 2]]) -> Self {
        let mut routes = Self { ways: vec![Vec::new(); spec.nodes.len()] };
        if spec.routing == Routing::Static {
            routes.add_paths(spec, edges, journeys);
        }
        for (node, own) in spec.nodes.iter().enumerate() {
            for route in &own.routes {
                let (node, to) = (NodeId::new(node), NodeId::new(route.to));
                let named = named_edge(spec, edges, node, to).flatten();
                routes.set(node, to, named.map(|edge| edge.port));
            }
        }
        routes
    }

    fn add_paths(&mut self, spec: &Spec, edges: &[Vec<Edge>], journeys: &[[NodeId; 2]]) {
        let mut journeys: Vec<[NodeId; 2]> = journeys.iter().map(|[from, to]| [*to, *from]).collect();
        journeys.sort_unstable();
        journeys.dedup();
        let incoming = incoming(edges);
        for together in journeys.chunk_by(|a, b| a[0] == b[0]) {
            let to = together[0][0];
            let hops = hops_to(to, &incoming);
            for [_, from] in together {
                self.add_path(spec, edges, &hops, [*from, to]);
            }
        }
    }

    /// Adds the path of a journey up to where another one goes on; `hops` are those to its destination.
    fn add_path(&mut self, spec: &Spec, edges: &[Vec<Edge>], hops: &[u32], [from, to]: [NodeId; 2]) {
        let mut node = from;
        while node != to && self.place(node, to).is_err() {
            let edge = named_edge(spec, edges, node, to).unwrap_or_else(|| {
                // min_by_key keeps the first of equals: the lower neighbour, the preferred interface.
                let nearest = edges[node.index()].iter().min_by_key(|edge| (hops[edge.to.index()], edge.to));
                nearest.filter(|_| hops[node.index()] != u32::MAX)
            });
            self.set(node, to, edge.map(|edge| edge.port));
            let Some(edge) = edge else { return };
            node = edge.to;
        }
    }

    /// The place of a destination among those of a node: where it is, or where it belongs.
    #[inline]
    fn place(&self, node: NodeId, to: NodeId) -> Result<usize, usize> {
        self.ways[node.index()].binary_search_by_key(&to, |way| way.to)
    }

    fn set(&mut self, node: NodeId, to: NodeId, port: Option<PortId>) {
        let way = Way { to, port };
        match self.place(node, to) {
            Ok(place) => self.ways[node.index()][place] = way,
            Err(place) => self.ways[node.index()].insert(place, way),
        }
    }

    /// Where a packet for `to` goes from `node`.
    #[inline]
    pub fn next_hop(&self, node: NodeId, to: HostAddress) -> Option<PortId> {
        let place = self.place(node, NodeId::new(to.index())).ok()?;
        self.ways[node.index()][place].port
    }
}

/// The way that the scenario names from a node to a destination, if it names one: `Some(None)` if that is not there.
/// Of several the last counts.
fn named_edge<'a>(spec: &Spec, edges: &'a [Vec<Edge>], node: NodeId, to: NodeId) -> Option<Option<&'a Edge>> {
    let route = spec.nodes[node.index()].routes.iter().rfind(|route| route.to == to.index())?;
    Some(edges[node.index()].iter().find(|edge| {
        edge.to.index() == route.via && route.interface.is_none_or(|interface| interface == edge.interface)
    }))
}

/// For each node who has a way to it.
fn incoming(edges: &[Vec<Edge>]) -> Vec<Vec<u32>> {
    let mut incoming = vec![Vec::new(); edges.len()];
    for (from, ways) in edges.iter().enumerate() {
        for edge in ways {
            incoming[edge.to.index()].push(from as u32);
        }
    }
    incoming
}

/// The number of hops from every node to `to`, by breadth-first search; `u32::MAX` where there is no way.
fn hops_to(to: NodeId, incoming: &[Vec<u32>]) -> Vec<u32> {
    let mut hops = vec![u32::MAX; incoming.len()];
    hops[to.index()] = 0;
    let mut unreached = incoming.len() - 1;
    let mut next = VecDeque::from([to.index()]);
    while let Some(node) = next.pop_front().filter(|_| unreached > 0) {
        for from in incoming[node].iter().map(|from| *from as usize) {
            if hops[from] == u32::MAX {
                hops[from] = hops[node] + 1;
                unreached -= 1;
                next.push_back(from);
            }
        }
    }
    hops
}
