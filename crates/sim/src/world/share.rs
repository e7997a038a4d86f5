//! The share of a scenario that a world plays, and what is in it.

use super::id::NodeId;

/// The nodes that a world plays: all of them, or some parts of the scenario.
#[derive(Clone, Debug, Default)]
pub struct Share(Option<Vec<bool>>);

impl Share {
    /// All nodes.
    pub const ALL: Self = Self(None);

    /// Whether a node is among them.
    pub fn has(&self, node: NodeId) -> bool {
        self.0.as_ref().is_none_or(|nodes| nodes[node.index()])
    }

    /// The nodes that are marked.
    pub const fn of(nodes: Vec<bool>) -> Self {
        Self(Some(nodes))
    }
}

/// The things of a share: for each kind whether each is in it.
#[derive(Debug)]
pub struct Things {
    pub nodes: Share,
    pub flows: Vec<bool>,
    pub radios: Vec<bool>,
    pub radio_trunks: Vec<bool>,
    pub link_trunks: Vec<bool>,
    pub links: Vec<bool>,
    pub devices: Vec<bool>,
}
