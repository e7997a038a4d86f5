//! The results of a campaign as the contract of `--json` has them.

use crate::made::Made;
use crate::statistics::{Quantiles, Summary};
use airbraid_sim::RunOutput;
use airbraid_sim::metric;
use airbraid_sim::result::RunResult;
use airbraid_sim::scenario::Plan;
use indexmap::IndexMap;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeStruct, Serializer};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// All results: what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    pub title: String,
    /// Its file, as it was given.
    pub scenario: String,
    /// One for each cell of the sweep; one where nothing is swept.
    pub cells: Vec<CellResult>,
    /// Its origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
}

/// The results of one cell.
#[derive(Clone, Debug)]
pub struct CellResult {
    /// The swept keys and their values here.
    pub set: Vec<(String, serde_json::Value)>,
    /// One for each replication, by seed.
    pub runs: Vec<RunResult>,
    /// The cell as text for a person.
    pub label: String,
    /// Made when somebody asks: of 4,096 nodes it has 60,000 numbers.
    summary: OnceLock<IndexMap<String, Summary>>,
}

impl Serialize for CellResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut cell = serializer.serialize_struct("CellResult", 3)?;
        cell.serialize_field("set", &Pairs(&self.set))?;
        cell.serialize_field("summary", &Summaries(self))?;
        cell.serialize_field("runs", &self.runs)?;
        cell.end()
    }
}

/// Keys and values as a map.
struct Pairs<'p>(&'p [(String, serde_json::Value)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// The summary of a cell as a map; that of one run goes number by number from the run.
struct Summaries<'c>(&'c CellResult);

impl Serialize for Summaries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [only] = &self.0.runs[..] else { return serializer.collect_map(self.0.summary()) };
        let (mut map, mut quantiles) = (serializer.serialize_map(None)?, Quantiles::default());
        let mut written = Ok(());
        metric::each(only, &mut |name, value| {
            if written.is_ok() {
                written = map.serialize_entry(&name, &Summary::of(&[value], &mut quantiles));
            }
        });
        written?;
        map.end()
    }
}

impl Results {
    /// Gathers the runs of `plan`, whose cells `outcomes` has in order: takes their results and leaves recordings.
    pub fn new(plan: &Plan, outcomes: &mut [Vec<RunOutput>]) -> Self {
        let cells = plan.cells.iter().zip(outcomes).map(|(cell, outcomes)| {
            let runs: Vec<RunResult> = outcomes.iter_mut().map(|o| std::mem::take(&mut o.result)).collect();
            CellResult { set: cell.set.clone(), runs, label: cell.label.clone(), summary: OnceLock::new() }
        });
        Self { title: plan.title.clone(), scenario: plan.file.clone(), cells: cells.collect(), made: None }
    }
}

/// The object of `explain --json` for a plan.
pub fn explanation(plan: &Plan) -> serde_json::Value {
    let axes = plan.axes.iter().map(|axis| serde_json::json!({ "key": axis.key, "values": axis.values }));
    serde_json::json!({
        "scenario": plan.file,
        "title": plan.title,
        "question": plan.question,
        "cells": plan.cells.len(),
        "sweep": axes.collect::<Vec<_>>(),
        "values": plan.resolved(),
        "parts": plan.parts(),
        "warnings": plan.warnings,
    })
}

/// Each metric over `runs`, in the order in which it first occurs; a reason for drops that a run does not have is 0.
fn summarise(runs: &[RunResult], quantiles: &mut Quantiles) -> IndexMap<String, Summary> {
    let mut values: IndexMap<String, Vec<f64>> = IndexMap::new();
    for run in runs {
        metric::each(run, &mut |name, value| values.entry(name).or_default().push(value));
    }
    let summary = |(name, mut list): (String, Vec<f64>)| {
        if name.starts_with(DROPS) {
            list.resize(runs.len(), 0.0);
        }
        let summary = Summary::of(&list, quantiles);
        (name, summary)
    };
    values.into_iter().map(summary).collect()
}

/// Metrics of packets that were dropped: a reason that did not occur is not named.
const DROPS: &str = "drops.";

/// The summary of a metric over `runs` runs by its name; drops for a reason that did not occur are 0.
pub fn metric_of(summary: &IndexMap<String, Summary>, runs: usize, key: &str) -> Option<Summary> {
    let none_dropped = || key.starts_with(DROPS).then(|| Summary::of(&vec![0.0; runs], &mut Quantiles::default()));
    summary.get(key).cloned().or_else(none_dropped)
}

impl CellResult {
    /// Each number over the replications, by its name.
    pub fn summary(&self) -> &IndexMap<String, Summary> {
        self.summary.get_or_init(|| summarise(&self.runs, &mut Quantiles::default()))
    }

    /// The values of a metric in each run that has it.
    pub fn values(&self, key: &str) -> Vec<f64> {
        let of = |run: &RunResult| metric::of(run).into_iter().find(|(name, _)| name == key).map(|(_, value)| value);
        self.runs.iter().filter_map(of).collect()
    }

    /// The summary of a metric by its name; drops for a reason that did not occur are 0.
    pub fn metric(&self, key: &str) -> Option<Summary> {
        metric_of(self.summary(), self.runs.len(), key)
    }
}

/// Largest depth of directories that are followed.
const DEPTH_MAX: usize = 16;

/// The scenarios that `paths` name: files as they are, directories for the `.toml` files in and below them, by name.
///
/// # Errors
/// A directory cannot be read, or has no scenario.
pub fn scenario_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        walk(path, DEPTH_MAX, &mut files).map_err(|e| format!("{}: {e}", path.display()))?;
        if files.len() == before {
            return Err(format!("{}: there is no .toml file in or below this directory", path.display()));
        }
    }
    Ok(files)
}

fn walk(dir: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let entries: Result<Vec<PathBuf>, _> = std::fs::read_dir(dir)?.map(|entry| entry.map(|e| e.path())).collect();
    let mut entries = entries?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if depth > 0 && !path.is_symlink() {
                walk(&path, depth - 1, files)?;
            }
        } else if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
