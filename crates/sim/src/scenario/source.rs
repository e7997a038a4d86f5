//! The texts that a scenario comes from, and places in them.

use std::sync::Arc;

/// A text that values come from: the scenario file, or one `--set`.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Name in a message: the path, `--set`.
    pub name: String,
    pub text: Arc<str>,
}

/// A piece of a source, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index of the source.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}
