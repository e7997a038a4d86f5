//! `[expect]`: what makes a scenario a test. A bound on the mean of a metric, in the cells that `at` selects.

use super::cell::Cell;
use super::error::{Complaint, Problem};
use super::metric;
use super::nearest::suggestion;
use super::reader::{self, Context, View};
use super::source::{Source, Span};
use super::sweep::{SweepAxis, flatten};
use super::tree::{Data, Table, Value};
use crate::metric::Unit;

/// An expectation of the mean of a metric over the replications of each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The metric as the scenario writes it: `flow.download.goodput`.
    pub metric: String,
    /// Its key in the summary: `flow.download.goodput_bps`.
    pub key: String,
    pub unit: Unit,
    /// Indices of the cells; empty if an option took all of them out of the sweep.
    pub cells: Vec<usize>,
    /// Smallest mean that is accepted.
    pub min: Option<f64>,
    /// Largest mean that is accepted.
    pub max: Option<f64>,
    /// The line of the file; 0 if an option gives it.
    pub line: usize,
}

impl Expectation {
    /// Whether `mean` is accepted; no number is not.
    pub fn holds(&self, mean: Option<f64>) -> bool {
        mean.is_some_and(|x| self.min.is_none_or(|min| x >= min) && self.max.is_none_or(|max| x <= max))
    }
    /// `>= 14 Mbit/s`, `4.75 to 5.25 Mbit/s`, `800 kbit/s to 1.2 Mbit/s`.
    pub fn bounds(&self) -> String {
        let show = |x: f64| self.unit.show(x);
        match (self.min, self.max) {
            (Some(min), Some(max)) => match (show(min), show(max)) {
                (low, high) if low == high => low,
                (low, high) => match (low.split_once(' '), high.split_once(' ')) {
                    (Some((number, one)), Some((_, other))) if one == other => format!("{number} to {high}"),
                    _ => format!("{low} to {high}"),
                },
            },
            (Some(min), None) => format!(">= {}", show(min)),
            (None, Some(max)) => format!("<= {}", show(max)),
            (None, None) => "anything".to_owned(),
        }
    }
}

/// The keys of an expectation.
pub(super) const KEYS: [&str; 5] = ["at", "min", "max", "value", "tolerance"];

/// Reads all expectations. `all` are the axes that the file or options sweep, `cells` what options leave of them.
pub(crate) fn read(
    root: &Table,
    all: &[SweepAxis],
    cells: &[Cell],
    sources: &[Source],
) -> Result<Vec<Expectation>, Vec<Problem>> {
    let Some(value) = root.get("expect") else { return Ok(Vec::new()) };
    let mut problems = Vec::new();
    let mut expectations = Vec::new();
    let Data::Table(table) = &value.data else {
        return Err(vec![Problem::at(value.place, Complaint::new("`expect` must be a table", "write [expect]"))]);
    };
    let mut leaves = Vec::new();
    flatten(table, "", &is_leaf, &mut leaves);
    for (path, entry) in leaves {
        let items = match &entry.value.data {
            // Several expectations of one metric: a list of tables.
            Data::List(items) => items.iter().collect(),
            _ => vec![&entry.value],
        };
        for item in items {
            match one(&path, entry.key_place, item, all, cells) {
                Ok(mut expectation) => {
                    let text = sources.first().filter(|_| item.place.source == 0).map(|s| &s.text);
                    expectation.line = text.map_or(0, |text| super::error::line_and_column(text, item.place.start).0);
                    expectations.push(expectation);
                }
                Err(mut found) => problems.append(&mut found),
            }
        }
    }
    if problems.is_empty() { Ok(expectations) } else { Err(problems) }
}

/// Whether a table is an expectation, not a part of a metric's path.
pub(super) fn is_leaf(table: &Table) -> bool {
    table.entries.is_empty() || table.entries.iter().any(|e| KEYS.contains(&e.key.as_str()))
}

fn one(
    path: &str,
    key_place: Span,
    item: &Value,
    all: &[SweepAxis],
    cells: &[Cell],
) -> Result<Expectation, Vec<Problem>> {
    let fail = |place, complaint| Err(vec![Problem::at(place, complaint)]);
    let Some(first) = cells.first() else { return fail(key_place, Complaint::bare("there is no cell")) };
    let (key, unit) = match metric::resolve(path, &first.spec) {
        Ok(found) => found,
        Err(complaint) => return fail(key_place, complaint),
    };
    let Data::Table(table) = &item.data else {
        let help = "write { min = ... }, { max = ... } or { value = ..., tolerance = \"5 %\" }";
        return fail(item.place, Complaint::new(format!("an expectation is a table, this is {}", item.kind()), help));
    };
    let cx = Context::new(false);
    let view = View::new(&cx, format!("expect.{path}"), item.place, Some(table));
    let mut min = view.optional("min", "", |v| metric::read(unit, v));
    let mut max = view.optional("max", "", |v| metric::read(unit, v));
    if let Some(value) = view.optional("value", "", |v| metric::read(unit, v)) {
        let slack = view.required("tolerance", "\"5 %\"", |v| tolerance(v, value, unit)).unwrap_or(0.0);
        let twice = min.is_some() || max.is_some();
        view.require(!twice, "value", || "`value` and `min` or `max` contradict each other".to_owned(), "keep one");
        (min, max) = (Some(value - slack), Some(value + slack));
    }
    if min.is_none() && max.is_none() && !cx.has_problems() {
        let help = "add min, max, or value with tolerance";
        cx.complain(item.place, Complaint::new("nothing is expected here", help));
    }
    if let (Some(min), Some(max)) = (min, max) {
        view.require(min <= max, "min", || "min is above max".to_owned(), "lower the one or raise the other");
    }
    let selected = select(&view, all, cells);
    view.finish();
    let expectation = Expectation { metric: path.to_owned(), key, unit, cells: selected, min, max, line: 0 };
    let problems = cx.into_problems();
    if problems.is_empty() { Ok(expectation) } else { Err(problems) }
}

/// A share of the value (`"5 %"`), or a distance in the unit of the metric.
fn tolerance(value: &Value, of: f64, unit: Unit) -> Result<f64, Complaint> {
    let share = matches!(&value.data, Data::Text(text) if text.trim_end().ends_with('%'));
    let slack = if share { reader::probability(value)?.get() * of.abs() } else { metric::read(unit, value)? };
    if slack >= 0.0 { Ok(slack) } else { Err(Complaint::new("a tolerance is not negative", "write \"5 %\"")) }
}

/// The cells whose swept keys have the values that `at` gives.
fn select(view: &View<'_>, all: &[SweepAxis], cells: &[Cell]) -> Vec<usize> {
    let mut wanted: Vec<(&str, &Value)> = Vec::new();
    let mut leaves = Vec::new();
    if let Some(found) = view.find("at") {
        let Data::Table(table) = &found.value.data else {
            let help = "write at = { \"swept.key\" = value }";
            view.complain("at", Complaint::new(format!("a table is needed, this is {}", found.value.kind()), help));
            return Vec::new();
        };
        flatten(table, "", &|_| false, &mut leaves);
    }
    for (path, entry) in &leaves {
        let Some(axis) = all.iter().find(|axis| axis.path == *path) else {
            let swept: Vec<&str> = all.iter().map(|axis| axis.path.as_str()).collect();
            let complaint = Complaint::new(format!("`{path}` is not swept"), suggestion(path, &swept));
            view.cx.complain(entry.key_place, complaint);
            continue;
        };
        if axis.values.contains(&entry.value) {
            wanted.push((axis.path.as_str(), &entry.value));
        } else {
            let values: Vec<String> = axis.values.iter().map(Value::show).collect();
            let complaint = Complaint::new("no cell has this value", format!("allowed: {}", values.join(", ")));
            view.cx.complain(entry.value.place, complaint);
        }
    }
    let matches = |cell: &Cell| wanted.iter().all(|(path, value)| cell.has(path, value));
    cells.iter().enumerate().filter(|(_, cell)| matches(cell)).map(|(i, _)| i).collect()
}
