//! The nodes of a scenario at the start, with their connections: the data of a picture.

use airbraid_sim::scenario::spec::{Mobility, Spec};
use serde::Serialize;

/// A scenario's nodes and their connections, by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Map {
    /// In the scenario's order. Nodes that a run places by its seed have no position.
    pub nodes: Vec<MapNode>,
    /// Trunks over radios.
    pub trunks: Vec<MapEdge>,
    /// Trunks over links.
    pub tunnels: Vec<MapEdge>,
    pub links: Vec<MapEdge>,
    /// Flows, from sender to receiver.
    pub flows: Vec<MapEdge>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapNode {
    pub name: String,
    /// East of the origin \[m\].
    pub x_m: Option<f64>,
    /// North of the origin \[m\].
    pub y_m: Option<f64>,
    /// Whether it moves.
    pub moves: bool,
    /// The channels of its radios.
    pub channels: Vec<u32>,
}

/// A connection between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapEdge {
    pub name: String,
    /// One end, or the sender.
    pub from: String,
    /// The other end, or the receiver.
    pub to: String,
}

impl Map {
    /// The map of `spec`.
    pub fn of(spec: &Spec) -> Self {
        let scattered = spec.scattered.map_or(0, |scattered| scattered.count);
        let name = |node: usize| spec.nodes.get(node).map(|node| node.name.clone()).unwrap_or_default();
        let between = |called: &str, ends: [usize; 2]| MapEdge {
            name: called.to_owned(),
            from: name(ends[0]),
            to: name(ends[1]),
        };
        let node = |(index, node): (usize, &airbraid_sim::scenario::spec::Node)| {
            let is_drawn = index < scattered;
            MapNode {
                name: node.name.clone(),
                x_m: (!is_drawn).then_some(node.position.x.0),
                y_m: (!is_drawn).then_some(node.position.y.0),
                moves: node.mobility != Mobility::Static
                    || (is_drawn && spec.scattered.is_some_and(|s| s.wander.is_some())),
                channels: node.radios.iter().map(|radio| radio.channel).collect(),
            }
        };
        Self {
            nodes: spec.nodes.iter().enumerate().map(node).collect(),
            trunks: spec
                .trunks
                .iter()
                .filter(|trunk| trunk.links().is_none())
                .map(|trunk| between(trunk.name(), trunk.between()))
                .collect(),
            tunnels: spec.link_trunks().map(|tunnel| between(&tunnel.name, tunnel.between)).collect(),
            links: spec.links.iter().map(|link| between(&link.name, link.between)).collect(),
            flows: spec.flows.iter().map(|flow| between(&flow.name, [flow.from, flow.to])).collect(),
        }
    }
}
