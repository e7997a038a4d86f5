//! Overrides of `[sweep]` and `[expect]`: the tables of a plan, which the schema of a run does not read.
//!
//! `sweep.radio.rate=[...]` sweeps one more key or gives a swept one other values; `sweep={}` sweeps nothing.
//! `expect.METRIC={...}` expects something of a metric, `expect.METRIC.min=...` sets one bound, `expect={}` expects
//! nothing.

use super::error::{Complaint, Problem};
use super::expect;
use super::overrides::Override;
use super::sweep::flatten;
use super::tree::{Data, Entry, Table, Value};

/// A scenario after the overrides of its plan.
pub(crate) struct PlanTables {
    /// The file with `[sweep]` and `[expect]` as they count.
    pub root: Table,
    /// The overrides that remain for the runs, in their order.
    pub overrides: Vec<Override>,
}

/// Applies the overrides of `[sweep]` and `[expect]`. A key that is set before it is swept is swept: the last one
/// counts.
pub(crate) fn apply(root: Table, overrides: &[Override]) -> Result<PlanTables, Vec<Problem>> {
    let mut out = PlanTables { root, overrides: Vec::new() };
    let mut problems = Vec::new();
    for said in overrides {
        let (word, rest) = said.path.split_once('.').unwrap_or((&said.path, ""));
        // A shell user may write the key as the file does: sweep."radio.rate".
        let rest = rest.replace(['"', '\''], "");
        let applied = match word {
            "sweep" => sweep(&mut out, &rest, said),
            "expect" => expectation(&mut out.root, &rest, said),
            _ => {
                out.overrides.push(said.clone());
                Ok(())
            }
        };
        problems.extend(applied.err());
    }
    if problems.is_empty() { Ok(out) } else { Err(problems) }
}

fn sweep(out: &mut PlanTables, rest: &str, said: &Override) -> Result<(), Problem> {
    let new = leaves(rest, said, &|_| false);
    out.overrides.retain(|before| new.iter().all(|entry| entry.key != before.path));
    merge(&mut out.root, "sweep", rest, said, new, &|_| false)
}

fn expectation(root: &mut Table, rest: &str, said: &Override) -> Result<(), Problem> {
    let bound = rest.rsplit_once('.').filter(|(_, key)| expect::KEYS.contains(key));
    let Some((metric, key)) = bound else {
        return merge(root, "expect", rest, said, leaves(rest, said, &expect::is_leaf), &expect::is_leaf);
    };
    let before = flat(root, "expect", &expect::is_leaf).and_then(|table| table.get(metric).cloned());
    let mut table = match before.map(|value| value.data) {
        Some(Data::Table(table)) => table,
        None => Table::default(),
        Some(_) => {
            let message = format!("there are several expectations of `{metric}`");
            let help = format!("set them together: expect.{metric}=[{{ ... }}, {{ ... }}]");
            return Err(Problem::at(said.path_place, Complaint::new(message, help)));
        }
    };
    table.set(key, said.path_place, said.value.clone());
    let value = Value { data: Data::Table(table), ..said.value };
    let entry = Entry { key: metric.to_owned(), key_place: said.path_place, value };
    merge(root, "expect", rest, said, vec![entry], &expect::is_leaf)
}

/// The entries that an override gives, each under its dotted path within the table.
fn leaves(rest: &str, said: &Override, is_leaf: &dyn Fn(&Table) -> bool) -> Vec<Entry> {
    let whole = Entry { key: rest.to_owned(), key_place: said.path_place, value: said.value.clone() };
    match &said.value.data {
        Data::Table(table) if rest.is_empty() || !is_leaf(table) => {
            let mut found = Vec::new();
            flatten(table, rest, is_leaf, &mut found);
            found.into_iter().map(|(path, entry)| Entry { key: path, ..entry.clone() }).collect()
        }
        _ => vec![whole],
    }
}

/// Puts entries into the table `word` of `root`, in place of those of their names; the whole table if `rest` is empty.
fn merge(
    root: &mut Table,
    word: &str,
    rest: &str,
    said: &Override,
    new: Vec<Entry>,
    is_leaf: &dyn Fn(&Table) -> bool,
) -> Result<(), Problem> {
    if rest.is_empty() && !matches!(said.value.data, Data::Table(_)) {
        let message = format!("`{word}` is a table, this is {}", said.value.kind());
        let help = format!("write {word}.KEY=..., or {word}={{ \"KEY\" = ... }}");
        return Err(Problem::at(said.value.place, Complaint::new(message, help)));
    }
    let mut table = if rest.is_empty() { Table::default() } else { flat(root, word, is_leaf).unwrap_or_default() };
    for Entry { key, key_place, value } in new {
        table.set(&key, key_place, value);
    }
    root.set(word, said.path_place, Value { data: Data::Table(table), ..said.value });
    Ok(())
}

/// The table `word` of `root` with its tables flattened to dotted paths; nothing if it is no table.
fn flat(root: &Table, word: &str, is_leaf: &dyn Fn(&Table) -> bool) -> Option<Table> {
    let Data::Table(table) = &root.get(word)?.data else { return None };
    let mut found = Vec::new();
    flatten(table, "", is_leaf, &mut found);
    let entries = found.into_iter().map(|(path, entry)| Entry { key: path, ..entry.clone() });
    Some(Table { entries: entries.collect() })
}
