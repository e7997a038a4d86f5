//! Which number a radio has among those of all nodes: they are numbered node by node.

use super::id::{NodeId, RadioId};
use crate::scenario::spec::{Node, Spec};

/// The number of each node's first radio.
#[derive(Clone, Debug)]
pub struct RadioMap(Vec<usize>);

impl RadioMap {
    /// The radios of a scenario.
    pub fn new(spec: &Spec) -> Self {
        let mut next = 0;
        let place = |node: &Node| {
            let first = next;
            next += node.radios.len();
            first
        };
        Self(spec.nodes.iter().map(place).collect())
    }

    /// The radio at (node, radio).
    pub fn id(&self, (node, radio): (usize, usize)) -> RadioId {
        RadioId::new(self.0[node] + radio)
    }

    /// The first radio of a node, if it has one.
    pub fn first(&self, node: NodeId) -> RadioId {
        RadioId::new(self.0[node.index()])
    }

    /// Which of its node's radios a radio is.
    pub fn place(&self, node: NodeId, radio: RadioId) -> usize {
        radio.index() - self.0[node.index()]
    }
}
