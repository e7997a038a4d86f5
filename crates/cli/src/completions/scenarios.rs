//! Words of the simulator's commands: keys and nodes of the scenario on the line, papers.

use super::words;
use airbraid_campaign::Earlier;
use airbraid_campaign::reproduce::{Library, Paper};
use airbraid_sim::scenario::Scenario;
use clap_complete::engine::CompletionCandidate;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

/// Where the line names no scenario: the keys that every scenario has.
const TEMPLATE: &str = include_str!("../new/templates/trunk.toml");

/// The scenario on the line: a file, or the directory of a result.
fn scenario() -> Option<Scenario> {
    words().find_map(|word| {
        let path = Path::new(&word);
        if path.is_dir() {
            return Earlier::read(path).ok().flatten()?.again().ok();
        }
        let is_file = path.extension().is_some_and(|end| end == "toml") && path.is_file();
        is_file.then(|| Scenario::read(path).ok()).flatten()
    })
}

/// Keys for `--set`, a part between points at a time: tables end with a point, keys with `=` and have the present value
/// beside them.
pub fn settings(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let (keys, values) = match scenario() {
        Some(scenario) => (scenario.keys(), values(&scenario)),
        None => (keys_of_all(), BTreeMap::new()),
    };
    let whole = current.rfind('.').map_or(0, |point| point + 1);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for key in keys.iter().filter(|key| key.starts_with(&*current)) {
        let is_table = key[whole..].contains('.');
        let part = key[whole..].split('.').next().unwrap_or_default();
        let end = if is_table { '.' } else { '=' };
        let word = format!("{}{part}{end}", &key[..whole]);
        if seen.insert(word.clone()) {
            let value = values.get(key).filter(|_| !is_table).cloned();
            found.push(CompletionCandidate::new(word).help(value.map(Into::into)));
        }
    }
    found
}

/// The resolved values by key, if the scenario is right.
fn values(scenario: &Scenario) -> BTreeMap<String, String> {
    let resolved = scenario.plan().map(|plan| plan.resolved()).unwrap_or_default();
    resolved.into_iter().map(|line| (line.key, line.value)).collect()
}

/// The keys of the tables without a name.
fn keys_of_all() -> Vec<String> {
    let keys = Scenario::parse("trunk.toml", TEMPLATE).map(|scenario| scenario.keys()).unwrap_or_default();
    keys.into_iter().filter(|key| ["radio.", "run."].iter().any(|table| key.starts_with(table))).collect()
}

/// Names of the nodes of the scenario on the line.
#[cfg(feature = "live")]
pub fn nodes(current: &OsStr) -> Vec<CompletionCandidate> {
    let keys = scenario().map(|scenario| scenario.keys()).unwrap_or_default();
    let names = keys.iter().filter_map(|key| key.strip_prefix("node.")?.split('.').next());
    let fitting: BTreeSet<&str> = names.filter(|name| name.starts_with(&*current.to_string_lossy())).collect();
    fitting.into_iter().map(CompletionCandidate::new).collect()
}

/// The papers, with their titles.
pub fn papers() -> Vec<CompletionCandidate> {
    let library = Library::embedded();
    let candidate = |name: String| {
        let title = Paper::read(&library, &name).ok().map(|paper| paper.about.title.into());
        CompletionCandidate::new(name).help(title)
    };
    library.papers().into_iter().map(candidate).collect()
}
