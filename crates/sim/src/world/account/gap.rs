//! The gap between a source and a destination that no way joins.

use super::super::World;
use super::super::id::{FlowId, NodeId, RadioId};
use std::collections::VecDeque;

impl World<'_> {
    /// The reason why no way leads from a flow's source to its destination, in words; none if one does.
    ///
    /// It looks at the neighbours of nodes, not at routes.
    pub(super) fn gap(&self, flow: FlowId, neighbours: &[Vec<NodeId>]) -> Option<String> {
        let spec = &self.spec.flows[flow.index()];
        let near = reached(neighbours, spec.from, spec.to)?;
        let name = |node: usize| self.spec.nodes[node].name.as_str();
        let no_path = format!("no path from {} to {}", name(spec.from), name(spec.to));
        let Some((here, there)) = self.nearest(&near) else {
            return Some(format!("{no_path}: they have neither a link nor a channel in common"));
        };
        let [near_node, far_node] = [here, there].map(|radio| name(self.ports.radios[radio].node().index()));
        let span = self.host.medium.distance(here, there).0;
        let range = self.host.medium.range(here, there).0;
        Some(format!("{no_path}: nearest node {far_node}, {span:.0} m from {near_node}, range {range:.0} m"))
    }

    /// The nearest two radios on one channel, one at a node that is reached and one at a node that is not.
    fn nearest(&self, reached: &[bool]) -> Option<(RadioId, RadioId)> {
        let channels = self.spec.nodes.iter().flat_map(|node| node.radios.iter().map(|radio| radio.channel));
        let radios: Vec<(RadioId, u32, bool)> = self
            .ports
            .radios
            .pairs()
            .zip(channels)
            .map(|((id, port), channel)| (id, channel, reached[port.node().index()]))
            .collect();
        let here = radios.iter().filter(|(.., is_reached)| *is_reached);
        let pairs = here.flat_map(|(here, channel, _)| {
            let there = radios.iter().filter(move |(_, other, is_reached)| other == channel && !is_reached);
            there.map(move |(there, ..)| (*here, *there))
        });
        let span = |(here, there): &(RadioId, RadioId)| self.host.medium.distance(*here, *there).0;
        pairs.min_by(|a, b| span(a).total_cmp(&span(b)))
    }
}

/// For each node whether packets from `from` can come there; `None` if they can come to `to`.
fn reached(neighbours: &[Vec<NodeId>], from: usize, to: usize) -> Option<Vec<bool>> {
    let mut reached = vec![false; neighbours.len()];
    reached[from] = true;
    let mut next = VecDeque::from([from]);
    while let Some(node) = next.pop_front() {
        for neighbour in &neighbours[node] {
            if !std::mem::replace(&mut reached[neighbour.index()], true) {
                next.push_back(neighbour.index());
            }
        }
        if reached[to] {
            return None;
        }
    }
    Some(reached)
}
