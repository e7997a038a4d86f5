//! The levels of a run in a row: queues, windows, resequencers.

use crate::scenario::spec::{Spec, Transport, Trunk};
use crate::world::Level;
use serde::Serialize;

/// A level as a reader meets it.
#[derive(Clone, Debug, Serialize)]
pub struct LevelName {
    pub name: String,
    /// `packets` or `byte`.
    pub unit: &'static str,
}

/// The place of each level in the row, and its value.
#[derive(Debug)]
pub struct Levels {
    names: Vec<LevelName>,
    values: Vec<Option<u64>>,
    /// Where each kind begins.
    starts: [usize; 4],
}

impl Levels {
    pub fn new(spec: &Spec) -> Self {
        let mut levels = Self { names: Vec::new(), values: Vec::new(), starts: [0; 4] };
        let node = |index: usize| &spec.nodes[index].name;
        for trunk in &spec.trunks {
            if let Trunk::Radios(trunk) = trunk {
                for end in trunk.between {
                    levels.add(format!("queue of trunk {} at {}", trunk.name, node(end)), "packets");
                    levels.add(format!("resequencer of trunk {} at {}", trunk.name, node(end)), "packets");
                }
            }
        }
        levels.starts[1] = levels.names.len();
        for trunk in &spec.trunks {
            if let Trunk::Links(trunk) = trunk {
                for end in trunk.between {
                    levels.add(format!("queue of trunk {} at {}", trunk.name, node(end)), "packets");
                }
            }
        }
        levels.starts[2] = levels.names.len();
        for link in &spec.links {
            for end in link.between {
                levels.add(format!("queue of link {} at {}", link.name, node(end)), "packets");
            }
        }
        levels.starts[3] = levels.names.len();
        for flow in &spec.flows {
            // Datagrams have no windows, but keep their places.
            let unit = if matches!(flow.transport, Transport::Tcp(_)) { "byte" } else { "" };
            for window in ["congestion window", "flight size", "receive window"] {
                levels.add(format!("{window} of {}", flow.name), unit);
            }
        }
        levels
    }

    fn add(&mut self, name: String, unit: &'static str) {
        self.names.push(LevelName { name, unit });
        self.values.push(None);
    }

    pub fn names(&self) -> Vec<LevelName> {
        self.names.clone()
    }

    fn place(&self, level: Level) -> usize {
        let [radios, links, plain, flows] = self.starts;
        match level {
            Level::TrunkQueue(end) => radios + 2 * end.index(),
            Level::Resequencer(end) => radios + 2 * end.index() + 1,
            Level::TunnelQueue(end) => links + end.index(),
            Level::LinkQueue(direction) => plain + direction.index(),
            Level::CongestionWindow(flow) => flows + 3 * flow.index(),
            Level::FlightSize(flow) => flows + 3 * flow.index() + 1,
            Level::ReceiveWindow(flow) => flows + 3 * flow.index() + 2,
        }
    }

    /// Takes a level's value; gives its place if it has changed.
    pub fn change(&mut self, level: Level, value: u64) -> Option<usize> {
        let place = self.place(level);
        let before = self.values.get_mut(place)?;
        (before.replace(value) != Some(value)).then_some(place)
    }
}
