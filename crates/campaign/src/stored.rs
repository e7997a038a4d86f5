//! A result as the files of `--out DIR` have it: what a report is made from, at once or later.
//!
//! A report that is written with the result reads these files, too, so that both are the same to the byte. Nothing is
//! computed again but the plan, from the scenario's text and settings.

use crate::earlier::Earlier;
use crate::files::{COURSES, SUMMARY};
use crate::made::Made;
use crate::report::metric_of;
use crate::statistics::Summary;
use crate::verdict::{Verdict, judge_by};
use airbraid_sim::limits::{Cause, FlowLimits, Limit, OnTheWay};
use airbraid_sim::scenario::Plan;
use indexmap::IndexMap;
use serde_json::Value;
use std::path::Path;

/// A result with its plan.
#[derive(Clone, Debug)]
pub struct Stored {
    pub plan: Plan,
    pub made: Made,
    /// The scenario's file, as it was given.
    pub scenario: String,
    /// In the order of the plan.
    pub cells: Vec<StoredCell>,
    /// The pictures, as SVG.
    pub pictures: Vec<String>,
}

/// One cell.
#[derive(Clone, Debug)]
pub struct StoredCell {
    /// Each number over the replications, by its name, in the order of the summary.
    pub summary: IndexMap<String, Summary>,
    /// One for each replication, as `--json` has it.
    pub runs: Vec<Value>,
    /// The samples of the first replication, as `airbraid_sim::record::Courses`; null where there are none.
    pub courses: Value,
}

impl Stored {
    /// Reads the result in `dir`.
    ///
    /// # Errors
    /// There is none, or it cannot be shown: what there is, and what to do.
    pub fn read(dir: &Path) -> Result<Self, String> {
        if !dir.is_dir() {
            let found = if dir.exists() { "this is no directory" } else { "there is no such directory" };
            return Err(format!("{found}: name one that `airbraid run FILE --out DIR` has written"));
        }
        let Some(earlier) = Earlier::read(dir)? else {
            return Err(format!("there is no {SUMMARY} in it: `airbraid run FILE --out DIR` writes a result"));
        };
        if earlier.made.by != "airbraid run" {
            return Err(format!("this is a result of `{}`; a report is made of `airbraid run`", earlier.made.by));
        }
        let plan = earlier.again().and_then(|scenario| scenario.plan()).map_err(|errors| {
            let why = errors.0.first().map(ToString::to_string).unwrap_or_default();
            format!("its scenario cannot be read again: {why}; `airbraid run FILE --out DIR` makes a new result")
        })?;
        let courses = match std::fs::read_to_string(dir.join(COURSES)) {
            Ok(text) => serde_json::from_str(&text).map_err(|e| format!("{COURSES} cannot be read: {e}"))?,
            // A result of before there was such a file.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Value::Null,
            Err(e) => return Err(format!("{COURSES} cannot be read: {e}")),
        };
        let Earlier { made, scenario, cells, .. } = earlier;
        Self::new(plan, made, (scenario, cells, courses), pictures(dir)?)
    }

    fn new(
        mut plan: Plan,
        made: Made,
        (scenario, cells, mut courses): (String, Value, Value),
        pictures: Vec<String>,
    ) -> Result<Self, String> {
        let Value::Array(all) = cells else { return Err(format!("{SUMMARY} has no list of cells")) };
        if all.len() != plan.cells.len() {
            return Err(format!(
                "{SUMMARY} has {} cells, and its scenario {}: `airbraid run` its file again",
                all.len(),
                plan.cells.len()
            ));
        }
        let mut cells = Vec::with_capacity(all.len());
        for (index, mut cell) in all.into_iter().enumerate() {
            let entries = cell.get_mut("summary").and_then(Value::as_object_mut).map(std::mem::take);
            let Some(Value::Array(runs)) = cell.get_mut("runs").map(Value::take) else {
                return Err(format!("{SUMMARY}: cell {index} has no list of runs"));
            };
            let summary = entries.unwrap_or_default().into_iter().map(|(name, value)| {
                let read = serde_json::from_value(value).map_err(|e| format!("{SUMMARY}: cell {index}: {name}: {e}"));
                Ok((name, read?))
            });
            let courses = courses.get_mut(index).map(Value::take).unwrap_or_default();
            cells.push(StoredCell { summary: summary.collect::<Result<_, String>>()?, runs, courses });
        }
        if made.left > 0 {
            let total = made.left + cells.iter().map(|cell| cell.runs.len()).sum::<usize>();
            plan.unjudged = Some(format!("{} of {total} runs are missing", made.left));
        }
        Ok(Self { plan, made, scenario, cells, pictures })
    }

    /// The verdicts of `[expect]`.
    pub fn verdicts(&self) -> Vec<Verdict> {
        judge_by(&self.plan, &|cell, key| self.cells.get(cell)?.metric(key))
    }

    /// Number of runs.
    pub fn run_count(&self) -> usize {
        self.cells.iter().map(|cell| cell.runs.len()).sum()
    }
}

/// The pictures that `--out` wrote, in their order.
fn pictures(dir: &Path) -> Result<Vec<String>, String> {
    let names = std::iter::once("plot.svg".to_owned()).chain((2..).map(|place| format!("plot-{place}.svg")));
    let mut all = Vec::new();
    for name in names {
        match std::fs::read_to_string(dir.join(&name)) {
            Ok(text) => all.push(text),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(all),
            Err(e) => return Err(format!("{name} cannot be read: {e}")),
        }
    }
    Ok(all)
}

impl StoredCell {
    /// The summary of a metric by its name; drops for a reason that did not occur are 0.
    pub fn metric(&self, key: &str) -> Option<Summary> {
        metric_of(&self.summary, self.runs.len(), key)
    }

    /// The flows of the first replication: those of all.
    pub fn flows(&self) -> &[Value] {
        list(self.runs.first(), "flows")
    }

    /// The limits of a flow in all runs.
    pub fn limits(&self, flow: usize) -> Vec<FlowLimits> {
        self.runs.iter().filter_map(|run| limits(list(Some(run), "flows").get(flow)?.get("limits")?)).collect()
    }
}

/// The list of this name, empty where there is none.
pub fn list<'a>(value: Option<&'a Value>, name: &str) -> &'a [Value] {
    value.and_then(|value| value.get(name)?.as_array()).map_or(&[], Vec::as_slice)
}

/// The text of this name, empty where there is none.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn limits(value: &Value) -> Option<FlowLimits> {
    let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_f64).unwrap_or_default();
    let limit = |value: &Value| {
        Some(Limit {
            cause: Cause::of_name(text(value, "cause"))?.name(),
            place: text(value, "place").to_owned(),
            share: number(value, "share"),
            idle: number(value, "idle"),
            detail: text(value, "detail").to_owned(),
        })
    };
    let device = |value: &Value| OnTheWay { place: text(value, "place").to_owned(), busy: number(value, "busy") };
    Some(FlowLimits {
        text: text(value, "text").to_owned(),
        causes: list(Some(value), "causes").iter().filter_map(limit).collect(),
        way: list(Some(value), "way").iter().map(device).collect(),
    })
}
