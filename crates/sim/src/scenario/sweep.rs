//! `[sweep]`: the axes of a scenario, and their cartesian product in the order of the file, the last axis fastest.

use super::error::{Complaint, Problem};
use super::overrides::Override;
use super::source::Span;
use super::tree::{Data, Entry, Table, Value, Via};

/// Largest number of cells.
pub(crate) const CELLS_MAX: usize = 4_096;

/// One swept key and its values.
#[derive(Clone, Debug)]
pub(crate) struct SweepAxis {
    pub path: String,
    pub path_place: Span,
    pub values: Vec<Value>,
}

pub(crate) fn axes(root: &Table) -> Result<Vec<SweepAxis>, Vec<Problem>> {
    let Some(value) = root.get("sweep") else { return Ok(Vec::new()) };
    let Data::Table(table) = &value.data else {
        return Err(vec![Problem::at(value.place, Complaint::new("`sweep` must be a table", "write [sweep]"))]);
    };
    let mut problems = Vec::new();
    let mut axes: Vec<SweepAxis> = Vec::new();
    let mut leaves = Vec::new();
    flatten(table, "", &|_| false, &mut leaves);
    for (path, entry) in leaves {
        match axis(path, entry) {
            Ok(axis) => axes.push(axis),
            Err(problem) => problems.push(problem),
        }
    }
    let cells = axes.iter().try_fold(1_usize, |n, axis| n.checked_mul(axis.values.len()));
    if cells.is_none_or(|n| n > CELLS_MAX) {
        let message = format!("{} cells are too many", cells.map_or_else(|| "countless".to_owned(), |n| n.to_string()));
        problems.push(Problem::at(
            value.place,
            Complaint::new(message, format!("at most {CELLS_MAX}: sweep fewer values")),
        ));
    }
    if problems.is_empty() { Ok(axes) } else { Err(problems) }
}

/// The entries of a table and of the tables in it, each under its dotted path; a table that `is_leaf` is an entry.
pub(crate) fn flatten<'a>(
    table: &'a Table,
    prefix: &str,
    is_leaf: &dyn Fn(&Table) -> bool,
    out: &mut Vec<(String, &'a Entry)>,
) {
    for entry in &table.entries {
        let path = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
        match &entry.value.data {
            Data::Table(inner) if !is_leaf(inner) => flatten(inner, &path, is_leaf, out),
            _ => out.push((path, entry)),
        }
    }
}

fn axis(path: String, entry: &Entry) -> Result<SweepAxis, Problem> {
    let Data::List(values) = &entry.value.data else {
        let message = format!("a list of values is swept, this is {}", entry.value.kind());
        return Err(Problem::at(entry.value.place, Complaint::new(message, "write [value, value, ...]")));
    };
    if values.is_empty() {
        let complaint = Complaint::new("there is nothing to sweep", "give at least one value, or leave the key out");
        return Err(Problem::at(entry.value.place, complaint));
    }
    for (i, value) in values.iter().enumerate() {
        if values[..i].contains(value) {
            let complaint = Complaint::new("this value is swept twice", "leave one of them out");
            return Err(Problem::at(value.place, complaint));
        }
    }
    if path == "schema"
        || path == "sweep"
        || path == "expect"
        || path.starts_with("run.seed")
        || path == "run.replications"
    {
        let complaint = Complaint::new(format!("`{path}` cannot be swept"), "every cell gets the same seeds");
        return Err(Problem::at(entry.key_place, complaint));
    }
    let mut values = values.clone();
    values.iter_mut().for_each(|value| value.mark(Via::Sweep));
    Ok(SweepAxis { path, path_place: entry.key_place, values })
}

/// The axes of the file with the values that options gave them, and those that options added: all that an expectation
/// may name.
pub(crate) fn known(file: &[SweepAxis], now: &[SweepAxis]) -> Vec<SweepAxis> {
    let mut known = file.to_vec();
    for axis in now {
        match known.iter_mut().find(|other| other.path == axis.path) {
            Some(other) => {
                let new: Vec<Value> = axis.values.iter().filter(|v| !other.values.contains(v)).cloned().collect();
                other.values.extend(new);
            }
            None => known.push(axis.clone()),
        }
    }
    known
}

/// An option that sets a table would undo what is swept within it in every cell, and the cells would be one.
pub(crate) fn check_tables(axes: &[SweepAxis], overrides: &[Override]) -> Result<(), Vec<Problem>> {
    let within = |axis: &&SweepAxis, said: &Override| {
        axis.path.strip_prefix(said.path.as_str()).is_some_and(|rest| rest.starts_with('.'))
    };
    let problem = |said: &Override| {
        let axis = axes.iter().find(|axis| within(axis, said))?;
        let message = format!("`{}` is swept, and `{}` would undo that", axis.path, said.path);
        let help = format!("set the keys beside it one by one; sweep={{}} sweeps nothing, {}=VALUE ends it", axis.path);
        Some(Problem::at(said.path_place, Complaint::new(message, help)))
    };
    let problems: Vec<Problem> = overrides.iter().filter_map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Reduces an axis whose key an option overrides to that value.
pub(crate) fn pin(axes: &mut [SweepAxis], overrides: &[Override]) {
    for said in overrides {
        for axis in axes.iter_mut().filter(|axis| axis.path == said.path) {
            axis.values = vec![said.value.clone()];
        }
    }
}

/// For each cell the index of the value on each axis.
pub(crate) fn cells(axes: &[SweepAxis]) -> Vec<Vec<usize>> {
    let mut cells = vec![Vec::new()];
    for axis in axes {
        let extend = |cell: &Vec<usize>| {
            let cell = cell.clone();
            (0..axis.values.len()).map(move |i| cell.iter().copied().chain([i]).collect())
        };
        cells = cells.iter().flat_map(extend).collect();
    }
    cells
}
