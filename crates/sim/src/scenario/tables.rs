//! The keys of each table that was read, so that an unknown key is told as that of the table that has it.

use super::error::{Complaint, Problem};
use super::nearest::suggestion;
use super::slips;
use super::source::Span;
use super::tree::NAMED_LISTS;
use std::cell::RefCell;

/// Largest number of tables that are named as owners of a key.
const OWNERS_MAX: usize = 3;

/// The tables of one reading.
#[derive(Default)]
pub(super) struct Tables {
    /// Keys by table, tables by kind: all [[node]] tables are one.
    known: RefCell<Vec<(String, Vec<&'static str>)>>,
    unknown: RefCell<Vec<Unknown>>,
    /// Dotted paths of all keys, where they are listed.
    paths: Option<RefCell<Vec<String>>>,
}

/// A key that its table does not have.
struct Unknown {
    table: String,
    key: String,
    place: Span,
    allowed: Vec<&'static str>,
}

impl Tables {
    /// Tables that also list the dotted path of each key.
    pub(super) fn listing() -> Self {
        Self { paths: Some(RefCell::default()), ..Self::default() }
    }

    /// Whether dotted paths are listed.
    pub(super) const fn are_listed(&self) -> bool {
        self.paths.is_some()
    }

    /// The dotted paths of all keys of the tables that were read, in the order of reading; nothing if they are not
    /// listed.
    pub(super) fn into_paths(self) -> Vec<String> {
        self.paths.map(RefCell::into_inner).unwrap_or_default()
    }

    /// Notes the keys that the table at `path` has.
    pub(super) fn know(&self, path: &str, keys: &[&'static str]) {
        if let Some(paths) = &self.paths {
            let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
            paths.borrow_mut().extend(keys.iter().map(|key| format!("{prefix}{key}")));
        }
        let kind = kind(path);
        let mut known = self.known.borrow_mut();
        match known.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, all)) => all.extend(keys.iter().filter(|key| !all.contains(key)).copied().collect::<Vec<_>>()),
            None => known.push((kind, keys.to_vec())),
        }
    }

    /// Notes a key that the table at `path`, which has `allowed`, does not have.
    pub(super) fn unknown(&self, path: &str, key: &str, place: Span, allowed: &[&'static str]) {
        let (table, key, allowed) = (path.to_owned(), key.to_owned(), allowed.to_vec());
        self.unknown.borrow_mut().push(Unknown { table, key, place, allowed });
    }

    pub(super) fn has_unknown(&self) -> bool {
        !self.unknown.borrow().is_empty()
    }

    /// The unknown keys as problems: with the table that has such a key, or else the nearest key.
    pub(super) fn complaints(&self) -> Vec<Problem> {
        let known = self.known.borrow();
        let complaint = |Unknown { table, key, place, allowed }: &Unknown| {
            let inside = if table.is_empty() { String::new() } else { format!(" in `{table}`") };
            let message = format!("unknown key `{key}`{inside}");
            let has = |(other, keys): &&(String, Vec<&str>)| *other != kind(table) && keys.contains(&key.as_str());
            let owners: Vec<&str> = known.iter().filter(has).map(|(kind, _)| kind.as_str()).collect();
            let here = format!("allowed here: {}", allowed.join(", "));
            let help = match owners[..] {
                _ if let Some(remedy) = slips::remedy(&kind(table), key) => format!("{remedy}; {here}"),
                [] => suggestion(key, allowed),
                _ if owners.contains(&HEAD) => {
                    format!("`{key}` is a key of the head of the file: write it above the first [table]; {here}")
                }
                _ => format!("`{key}` is a key of {}; {here}", owners[..owners.len().min(OWNERS_MAX)].join(", ")),
            };
            Problem::at(*place, Complaint::new(message, help))
        };
        self.unknown.borrow().iter().map(complaint).collect()
    }
}

/// The kind of the keys above the first table.
const HEAD: &str = "the head";

/// The table at `path` as the file writes it: `[run]`, `[[link]]`, `policy` of a `[[trunk]]`.
fn kind(path: &str) -> String {
    let parts: Vec<&str> = path.split('.').collect();
    match parts[..] {
        [""] => HEAD.to_owned(),
        ["node", _, "radios", _] | ["node", _, "radio"] => "[radio]".to_owned(),
        [list @ ("at" | "exec" | "slots"), _] => format!("[[{list}]]"),
        [list, _] if NAMED_LISTS.contains(&list) => format!("[[{list}]]"),
        [list, _, ..] if NAMED_LISTS.contains(&list) => format!("`{}` of a [[{list}]]", parts[2..].join(".")),
        _ => format!("[{path}]"),
    }
}
