//! The origin of a result: version, scenario, settings.

use crate::store::{Build, Key, hex};
use airbraid_sim::scenario::{Plan, Scenario};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The origin of a result: version, text, settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// `airbraid run`, `airbraid lab`.
    pub by: String,
    /// Version of airbraid.
    pub version: String,
    /// The commit that it was built from; `+`: with changes.
    pub commit: String,
    /// First digits of the digest of the simulator's sources.
    pub sources: String,
    /// Whether the frames of all radios were captured.
    pub pcap: bool,
    /// Whether a timeline was written.
    pub timeline: bool,
    /// Whether a trace for Perfetto was written.
    #[serde(default)]
    pub perfetto: bool,
    /// Pictures that were asked for, as `--plot` takes them.
    #[serde(default)]
    pub plots: Vec<String>,
    /// Number of runs that a stop left undone.
    #[serde(default)]
    pub left: usize,
    /// Settings over the scenario in their order, as `--set` takes them.
    pub settings: Vec<String>,
    /// SHA-256 of what each cell simulates: text, settings, defaults and trace files together.
    pub cells: Vec<String>,
    /// SHA-256 of the scenario's text.
    pub sha256: String,
    /// The scenario's text.
    pub text: String,
}

impl Made {
    /// The origin of results of `plan`, which `scenario` resolves to.
    pub fn of(by: &str, scenario: &Scenario, plan: &Plan) -> Self {
        let build = Build::this();
        Self {
            by: by.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: build.commit().to_owned(),
            sources: build.short(),
            pcap: false,
            timeline: false,
            perfetto: false,
            plots: Vec::new(),
            left: 0,
            settings: scenario.settings().map(str::to_owned).collect(),
            cells: plan.cells.iter().map(|cell| hex(&Key::new(&cell.spec, 0).scenario)).collect(),
            sha256: hex(&Sha256::digest(scenario.text().as_bytes())),
            text: scenario.text().to_owned(),
        }
    }
}
