//! One combination of the values that a scenario sweeps.

use super::spec::Spec;
use super::tree::Value;

/// One combination of swept values.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The swept keys with their values, in the order of the file.
    pub set: Vec<(String, serde_json::Value)>,
    /// The same as text for a person: `radio.rate = 11 Mbit/s`; empty where nothing is swept.
    pub label: String,
    pub spec: Spec,
    /// The same as they are written.
    pub(super) values: Vec<(String, Value)>,
}

impl Cell {
    pub(crate) fn has(&self, path: &str, value: &Value) -> bool {
        self.values.iter().any(|(p, v)| p == path && v == value)
    }
}
