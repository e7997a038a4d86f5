//! The results of a campaign as the contract of `--json` has them.

use crate::made::Made;
use crate::statistics::{Quantiles, Summary};
use airbraid_sim::RunOutput;
use airbraid_sim::metric;
use airbraid_sim::result::RunResult;
use airbraid_sim::scenario::Plan;
use indexmap::IndexMap;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::path::{Path, PathBuf};

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
#[derive(Clone, Debug, Serialize)]
pub struct CellResult {
    /// The swept keys and their values here.
    #[serde(serialize_with = "as_map")]
    pub set: Vec<(String, serde_json::Value)>,
    /// Each number over the replications, by its name.
    pub summary: IndexMap<String, Summary>,
    /// One for each replication, by seed.
    pub runs: Vec<RunResult>,
    /// The cell as text for a person.
    #[serde(skip)]
    pub label: String,
}

fn as_map<V: Serialize, S: Serializer>(pairs: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(pairs.len()))?;
    for (key, value) in pairs {
        map.serialize_entry(key, value)?;
    }
    map.end()
}

impl Results {
    /// Gathers the runs of `plan`, whose cells `outcomes` has in order: takes their results and leaves recordings.
    pub fn new(plan: &Plan, outcomes: &mut [Vec<RunOutput>]) -> Self {
        let mut quantiles = Quantiles::default();
        let cells = plan.cells.iter().zip(outcomes).map(|(cell, outcomes)| {
            let runs: Vec<RunResult> = outcomes.iter_mut().map(|o| std::mem::take(&mut o.result)).collect();
            let summary = summarise(&runs, &mut quantiles);
            CellResult { set: cell.set.clone(), summary, runs, label: cell.label.clone() }
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
pub fn summarise(runs: &[RunResult], quantiles: &mut Quantiles) -> IndexMap<String, Summary> {
    if let [only] = runs {
        // Counted first: a map that grows is twice as large as it must be.
        let mut count = 0;
        metric::each(only, &mut |_, _| count += 1);
        let mut summary = IndexMap::with_capacity(count);
        metric::each(only, &mut |name, value| {
            summary.insert(name, Summary::of(&[value], quantiles));
        });
        return summary;
    }
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
    /// The values of a metric in each run that has it.
    pub fn values(&self, key: &str) -> Vec<f64> {
        let of = |run: &RunResult| metric::of(run).into_iter().find(|(name, _)| name == key).map(|(_, value)| value);
        self.runs.iter().filter_map(of).collect()
    }

    /// The summary of a metric by its name; drops for a reason that did not occur are 0.
    pub fn metric(&self, key: &str) -> Option<Summary> {
        metric_of(&self.summary, self.runs.len(), key)
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
