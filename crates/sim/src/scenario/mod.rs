//! Scenario files: from TOML text to resolved runs, or to errors with place, value and remedy.
//!
//! Text becomes a tree in which each value knows its place ([`Scenario`]); each cell of `[sweep]` and each `--set` is
//! applied to a copy; the schema reads the copy into a [`spec::Spec`]. Nothing here runs or writes anything, and no
//! input makes it panic.
//!
//! ```text
//! text --tree--> Scenario --overrides--> one tree a cell --schema--> Plan { cells: [Spec], expectations, explain }
//! ```
//!
//! [`document`] has the same reading for other files: the daemon's is one.

mod cell;
pub mod document;
mod error;
mod expect;
mod explain;
mod frequency;
pub mod mark;
mod metric;
mod nearest;
mod overrides;
mod plan;
mod plan_tables;
mod reader;
mod schema;
mod slips;
mod source;
pub mod spec;
mod sweep;
mod tables;
mod tree;
mod warnings;

pub use cell::Cell;
pub use error::{Error, Errors, Report};
pub use expect::Expectation;
pub use plan::{Axis, Plan, Resolved};

use overrides::Override;
use source::Source;
use std::io::Read;
use std::path::Path;
use tree::{Table, Via};

/// Largest scenario file \[byte\]: 60 lines are 3 kB.
pub const FILE_BYTES_MAX: u64 = 1_000_000;

/// A scenario that was read: text and overrides. Its tree is made again where it is asked for: a run, which needs none,
/// keeps none.
#[derive(Clone, Debug)]
pub struct Scenario {
    sources: Vec<Source>,
    overrides: Vec<Override>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// There is no such file, it is a directory, larger than [`FILE_BYTES_MAX`], not UTF-8, empty, or not TOML.
    pub fn read(path: &Path) -> Result<Self, Errors> {
        let one = "name one TOML file; `airbraid check` takes directories";
        read_text(path, "scenario", one).and_then(|text| Self::parse(&path.display().to_string(), &text))
    }

    /// Reads a text; `name` is its name in messages.
    ///
    /// # Errors
    /// It is empty or not TOML.
    pub fn parse(name: &str, text: &str) -> Result<Self, Errors> {
        let help = "begin with schema = 1, title and question; docs/reference/scenario.md has all keys";
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Err(Errors::from(Error::of_file(name, "the file is empty", help).placed(1, 1, String::new())));
        }
        let sources = vec![Source { name: name.to_owned(), text: text.into() }];
        match tree::parse(text, 0, Via::File) {
            Ok(_) => Ok(Self { sources, overrides: Vec::new() }),
            Err(problem) => Err(Errors::from(problem.into_error(&sources))),
        }
    }

    /// The name in messages: the file, as it was given.
    pub fn name(&self) -> &str {
        self.sources.first().map_or("", |source| &source.name)
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        self.sources.first().map_or("", |source| &source.text)
    }

    /// The overrides so far, each `key=value`, in their order.
    pub fn settings(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().skip(1).map(|source| &*source.text)
    }

    /// Overrides the file, its sweep and its expectations with `key=value`; `option` is its name in messages (`--set`).
    /// The last override counts.
    ///
    /// # Errors
    /// There is no `=`, or the value is neither TOML nor a bare word. Whether the key exists is found out by
    /// [`Scenario::plan`].
    pub fn set(&mut self, option: &str, argument: &str) -> Result<(), Errors> {
        let (source, result) = overrides::read(option, argument, self.sources.len());
        self.sources.push(source);
        let said = result.map_err(|problem| Errors::from(problem.into_error(&self.sources)))?;
        self.overrides.push(said);
        Ok(())
    }

    /// The tree of the text.
    fn root(&self) -> Table {
        // It was read before.
        tree::parse(self.text(), 0, Via::File).unwrap_or_default()
    }

    /// The dotted paths that `--set` takes: every key of every table that the file has or could have, sorted. A file
    /// with errors has keys, too.
    pub fn keys(&self) -> Vec<String> {
        plan::keys(self)
    }

    /// Resolves every cell.
    ///
    /// # Errors
    /// All that is wrong with the file, its sweep, its expectations and what was said over them, up to ten errors.
    pub fn plan(&self) -> Result<Plan, Errors> {
        plan::make(self)
    }
}

/// Reads the text of a file; `what` is its kind, `one` what to name instead of a directory.
fn read_text(path: &Path, what: &str, one: &str) -> Result<String, Errors> {
    let name = path.display().to_string();
    let refuse = |message: &str, help: &str| Errors::from(Error::of_file(&name, message, help));
    let opened = std::fs::File::open(path).and_then(|f| f.metadata().map(|m| (f, m)));
    let (file, metadata) = opened.map_err(|e| {
        let is_denied = e.kind() == std::io::ErrorKind::PermissionDenied;
        let help = if is_denied { "another user may read it: run it by sudo, or change its mode" } else { one };
        refuse(&format!("the file cannot be read: {}", plain(&e)), help)
    })?;
    if metadata.is_dir() {
        return Err(refuse(&format!("this is a directory, not a {what}"), one));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| refuse(&format!("the file cannot be read: {}", plain(&e)), one))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let size = if metadata.len() > FILE_BYTES_MAX { format!(": {} byte", metadata.len()) } else { String::new() };
        let help = format!("a {what} has at most 1 MB; most have 3 kB");
        return Err(refuse(&format!("the file is too large for a {what}{size}"), &help));
    }
    String::from_utf8(bytes).map_err(|error| Errors::from(not_utf8(&name, &error)))
}

/// The message of the operating system without its error number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn not_utf8(name: &str, error: &std::string::FromUtf8Error) -> Error {
    let valid = error.utf8_error().valid_up_to();
    let bytes = error.as_bytes();
    let before = String::from_utf8_lossy(&bytes[..valid]);
    let (line, column) = error::line_and_column(&before, before.len());
    let wrong = bytes.get(valid).map_or_else(String::new, |b| format!("byte 0x{b:02x}"));
    Error::of_file(name, "the file is not UTF-8 text", "save it as UTF-8").placed(line, column, wrong)
}

#[cfg(test)]
mod tests;
