//! TOML files beside scenarios, read as scenarios are: each value knows its place, unknown keys are refused, every
//! error of a file is found in one reading and gives line, column and remedy.
//!
//! It knows no keys but those of the `policy` table, which a scenario and the daemon's file share.

use super::error::Errors;
use super::schema;
use super::source::Source;
use super::tree;
use airbraid_engine::trunk::bonding::BondPolicy;
use std::path::Path;

pub use super::error::Complaint;
pub use super::reader::{Context, FoundValue, View, integer, list, name, quantity, text};
pub use super::source::Span;
pub use super::tree::{Data, Entry, Table, Value, Via};

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Document {
    sources: [Source; 1],
    root: Table,
}

impl Document {
    /// Reads a file; `what` is its kind in messages ("site").
    ///
    /// # Errors
    /// There is no such file, it is too large, not UTF-8, or not TOML.
    pub fn read(path: &Path, what: &str) -> Result<Self, Errors> {
        let text = super::read_text(path, what, "name one TOML file")?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads a text; `name` is its name in messages.
    ///
    /// # Errors
    /// It is not TOML.
    pub fn parse(name: &str, text: &str) -> Result<Self, Errors> {
        let sources = [Source { name: name.to_owned(), text: text.into() }];
        match tree::parse(text, 0, Via::File) {
            Ok(root) => Ok(Self { sources, root }),
            Err(problem) => Err(Errors::from(problem.into_error(&sources))),
        }
    }

    /// The whole as a table.
    pub fn top<'a>(&'a self, cx: &'a Context) -> View<'a> {
        View::new(cx, "", Span { source: 0, start: 0, end: 0 }, Some(&self.root))
    }

    /// Returns all errors that the reading found.
    ///
    /// # Errors
    /// Anything was.
    pub fn finish(&self, cx: Context) -> Result<(), Errors> {
        cx.finish(&self.sources).map(|_| ())
    }
}

/// Reads the `policy` table of a trunk over links.
pub fn policy(view: View<'_>) -> BondPolicy {
    schema::policy::bond::read(view)
}
