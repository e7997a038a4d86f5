//! Calibration: which values of which runs a parameter was fitted to, and so which rows are no predictions.
//!
//! A paper names the runs and metrics that were fitted, once. Every row that is computed from one of them is
//! calibrated, ratios and orderings too, and so is every row of a run with the same settings. No row is marked by hand.

use super::{Output, Paper, Run};
use crate::reproduce::formula::Needs;
use crate::reproduce::library::suggestion;
use serde::Deserialize;

/// A fit, as `figures.toml` has it: `[[calibration]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The parameter, and to what it was fitted.
    pub what: String,
    /// Names of runs, models or scenarios, with `*` for any text.
    #[serde(default)]
    runs: Vec<String>,
    /// Alternatively, settings: every run that has all of one of these lists.
    #[serde(default)]
    settings: Vec<Vec<String>>,
    /// Names of metrics, with `*` for any text.
    #[serde(default = "every_metric")]
    metrics: Vec<String>,
}

fn every_metric() -> Vec<String> {
    vec!["*".to_owned()]
}

impl Calibration {
    /// Whether the run itself is named, or one of its settings.
    fn names(&self, run: &Run) -> bool {
        let has = |list: &Vec<String>| list.iter().all(|setting| run.set.contains(setting));
        self.runs.iter().any(|p| fits(p, &run.name) || fits(p, &run.scenario)) || self.settings.iter().any(has)
    }

    /// Whether run number `index` of `paper` was fitted, or another with the same scenario and settings.
    fn covers(&self, paper: &Paper, index: usize) -> bool {
        let run = &paper.runs[index];
        let same = |other: &Run| other.scenario == run.scenario && sorted(other) == sorted(run);
        paper.runs.iter().any(|other| same(other) && self.names(other))
    }

    /// Whether a formula with `needs` follows from what was fitted.
    pub fn concerns(&self, paper: &Paper, needs: &Needs) -> bool {
        let pairs = needs.metrics.iter().chain(&needs.series);
        let named = pairs.filter(|(_, metric)| self.metrics.iter().any(|pattern| fits(pattern, metric)));
        named.into_iter().any(|(run, _)| {
            let model = paper.model(run).is_some_and(|model| self.runs.iter().any(|p| fits(p, &model.name)));
            model || paper.expand(run).into_iter().any(|index| self.covers(paper, index))
        })
    }

    /// Refuses a name that fits nothing.
    ///
    /// # Errors
    /// Names the nearest.
    pub fn check(&self, paper: &Paper) -> Result<(), String> {
        let wrong = |e: String| Err(format!("calibration `{}`: {e}", self.what));
        let runs = paper.runs.iter().flat_map(|run| [run.name.as_str(), run.scenario.as_str()]);
        let names: Vec<&str> = runs.chain(paper.models.iter().map(|model| model.name.as_str())).collect();
        if let Some(pattern) = self.runs.iter().find(|pattern| !names.iter().any(|name| fits(pattern, name))) {
            return wrong(format!("no run is called `{pattern}`; {}", suggestion(pattern, &names)));
        }
        let has = |list: &Vec<String>| paper.runs.iter().any(|run| list.iter().all(|set| run.set.contains(set)));
        if let Some(list) = self.settings.iter().find(|list| list.is_empty() || !has(list)) {
            return wrong(format!("no run has the settings [{}]", list.join(", ")));
        }
        let concerned =
            |output: &Output| output.formula.as_ref().is_some_and(|formula| self.concerns(paper, &formula.needs()));
        if !paper.rows.iter().any(concerned) {
            return wrong("no row follows from it".to_owned());
        }
        Ok(())
    }
}

fn sorted(run: &Run) -> Vec<&String> {
    let mut all: Vec<&String> = run.set.iter().collect();
    all.sort();
    all
}

/// Whether `name` is `pattern`, where each `*` is any text.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| fits(after, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, name) in [("a", "a"), ("*", ""), ("a.*", "a.1"), ("*_x.*", "tcp_x.y"), ("a*b*c", "a-b-b-c")] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "ab"), ("a.*", "a"), ("*_x.*", "tcp_xy"), ("a*b", "a-b-c")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
