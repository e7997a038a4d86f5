//! A plan as text: every resolved value with its origin, swept keys, expectations, warnings.

use super::plan::{Plan, Resolved};
use super::tree::NAMED_LISTS;
use crate::world::{drawn, parts};
use std::collections::BTreeMap;
use std::fmt::Write as _;

impl Plan {
    /// The text of `airbraid explain`. A radio is shown by its differences from `[radio]`, or from the first radio
    /// where there is no `[radio]`.
    pub fn explain(&self) -> String {
        let mut out = format!("{}\n{}\n\n", self.title, self.question);
        for (place, (table, lines)) in by_table(folded(&self.resolved())).iter().enumerate() {
            let gap = if place == 0 { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{}", heading(table));
            let key_width = lines.iter().map(|r| r.key.len()).max().unwrap_or(0).min(60);
            let value_width = lines.iter().map(|r| r.value.chars().count()).max().unwrap_or(0).min(40);
            for line in lines {
                let from = self.nearby(&line.from);
                let _ = writeln!(out, "{:key_width$}  {:value_width$}  {from}", line.key, line.value);
            }
        }
        if !self.axes.is_empty() {
            let _ = writeln!(out, "\nswept, {} cells (the values above are those of the first):", self.cells.len());
            for axis in &self.axes {
                let values: Vec<String> = axis.values.iter().map(|v| v.to_string().replace('"', "")).collect();
                let _ = writeln!(out, "  {} = {}", axis.key, values.join(" | "));
            }
        }
        if !self.expectations.is_empty() {
            out.push_str("\nexpected of the mean:\n");
        }
        for expectation in &self.expectations {
            let cells = match expectation.cells.len() {
                n if n == self.cells.len() => String::new(),
                1 => format!(" where {}", self.cells[expectation.cells[0]].label),
                n => format!(" in {n} of {} cells", self.cells.len()),
            };
            let _ = writeln!(out, "  {} {}{cells}", expectation.metric, expectation.bounds());
        }
        let parts = self.parts();
        if parts.len() > 1 {
            let _ =
                writeln!(out, "\n{} parts that have nothing to do with each other, for as many cores:", parts.len());
            for part in parts.iter().take(PARTS_SHOWN) {
                let _ = writeln!(out, "  {}", first_of(part));
            }
            if parts.len() > PARTS_SHOWN {
                let _ = writeln!(out, "  and {} more", parts.len() - PARTS_SHOWN);
            }
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "\nwarning: {warning}");
        }
        out
    }

    /// The nodes of each part of the first cell that has nothing to do with the others.
    pub fn parts(&self) -> Vec<Vec<&str>> {
        let Some(spec) = self.cells.first().map(|cell| &cell.spec) else { return Vec::new() };
        let spec_of_seed = drawn(spec, spec.seed);
        let numbers = parts(&spec_of_seed, spec.seed);
        let mut named = vec![Vec::new(); numbers.iter().max().map_or(0, |last| last + 1)];
        for (number, node) in numbers.into_iter().zip(&spec.nodes) {
            named[number].push(node.name.as_str());
        }
        named
    }

    /// An origin with the name of the scenario's file alone, without its directories.
    fn nearby(&self, from: &str) -> String {
        match self.file.rsplit_once('/') {
            Some((directory, _)) if !directory.is_empty() => from.replacen(&format!("{directory}/"), "", 1),
            _ => from.to_owned(),
        }
    }
}

/// Parts that are listed one by one.
const PARTS_SHOWN: usize = 12;
/// Nodes of a part that are named one by one.
const NODES_SHOWN: usize = 6;

/// The first nodes of a part, and how many more there are.
fn first_of(part: &[&str]) -> String {
    let first = part.iter().take(NODES_SHOWN).copied().collect::<Vec<_>>().join(", ");
    match part.len().saturating_sub(NODES_SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// The lines of each table together, tables in the order in which they first occur.
fn by_table(lines: Vec<Resolved>) -> Vec<(String, Vec<Resolved>)> {
    let mut tables: Vec<(String, Vec<Resolved>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines {
        let table = line.key.rsplit_once('.').map_or("", |(table, _)| table);
        match places.get(table) {
            Some(place) => tables[*place].1.push(line),
            None => {
                places.insert(table.to_owned(), tables.len());
                tables.push((table.to_owned(), vec![line]));
            }
        }
    }
    tables
}

/// A table as the file writes it: `[run]`, `[[trunk]] air: policy`.
fn heading(table: &str) -> String {
    let mut parts = table.splitn(3, '.');
    match (parts.next().unwrap_or_default(), parts.next(), parts.next()) {
        ("", ..) => "head of the file".to_owned(),
        (list, Some(name), None) if NAMED_LISTS.contains(&list) => format!("[[{list}]] {name}"),
        (list, Some(name), Some(rest)) if NAMED_LISTS.contains(&list) => format!("[[{list}]] {name}: {rest}"),
        _ => format!("[{table}]"),
    }
}

/// The table of a radio's key, if it is one: `node.sender.radios.ch1.rate` is of `node.sender.radios.ch1`.
fn radio_of(key: &str) -> Option<(&str, &str)> {
    let (table, last) = key.rsplit_once('.')?;
    let mut parts = table.split('.');
    let is_radio = parts.next() == Some("node") && parts.nth(1) == Some("radios") && parts.count() == 1;
    is_radio.then_some((table, last))
}

/// The lines without those of radios that repeat the reference; one line stands in their place.
fn folded(resolved: &[Resolved]) -> Vec<Resolved> {
    let of_table = resolved.iter().filter_map(|r| Some((r.key.strip_prefix("radio.")?, r.value.as_str())));
    let of_table: BTreeMap<&str, &str> = of_table.collect();
    let first = resolved.iter().find_map(|r| radio_of(&r.key)).map(|(table, _)| table);
    let of_first = resolved.iter().filter_map(|r| {
        let (table, key) = radio_of(&r.key)?;
        (Some(table) == first).then_some((key, r.value.as_str()))
    });
    let (reference, name) = if of_table.is_empty() {
        (of_first.collect::<BTreeMap<_, _>>(), first.unwrap_or_default())
    } else {
        (of_table, "radio")
    };
    let mut out: Vec<Resolved> = Vec::new();
    let mut same: Option<(&str, usize)> = None;
    for line in resolved {
        let radio = radio_of(&line.key).filter(|(table, _)| *table != name);
        let repeats = radio.filter(|(_, key)| reference.get(key) == Some(&line.value.as_str()));
        let table = radio.map(|(table, _)| table);
        if let Some((at, n)) = same
            && table != Some(at)
        {
            out.push(rest(at, n, name));
            same = None;
        }
        match repeats {
            Some((table, _)) => same = Some((table, same.map_or(0, |(_, n)| n) + 1)),
            None => out.push(line.clone()),
        }
    }
    out.extend(same.map(|(at, n)| rest(at, n, name)));
    out
}

fn rest(table: &str, n: usize, reference: &str) -> Resolved {
    Resolved { key: format!("{table}.*"), value: format!("({n} more)"), from: format!("the same as {reference}.*") }
}
