//! Errors of a scenario: the place, the value, and the remedy.
//!
//! An error never says only that something is wrong: it names the place, quotes the value, and offers a remedy.

use super::source::{Source, Span};
use std::fmt;
use std::sync::Arc;

/// Largest number of errors reported at once.
pub const ERRORS_MAX: usize = 10;

/// One error of a scenario.
#[derive(Clone, Debug)]
pub struct Error {
    pub message: String,
    /// The file or option that contains it.
    pub file: String,
    /// The line, from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    /// The column in characters, from 1.
    pub column: Option<usize>,
    pub value: Option<String>,
    pub remedy: Option<String>,
    /// The bytes of the text that it is about.
    span: std::ops::Range<usize>,
    /// The text, to show the place in.
    text: Option<miette::NamedSource<Arc<str>>>,
}

/// All errors of a scenario, up to ten.
#[derive(Clone, Debug)]
pub struct Errors(pub Vec<Error>);

/// An error and its remedy, before its place is known.
#[derive(Clone, Debug)]
pub struct Complaint {
    pub message: String,
    pub help: Option<String>,
}

/// A complaint with its place.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub place: Span,
    pub complaint: Complaint,
}

impl Complaint {
    /// A complaint with a remedy.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()) }
    }
    /// A complaint without one.
    pub fn bare(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }
}

impl Problem {
    pub fn at(place: Span, complaint: Complaint) -> Self {
        Self { place, complaint }
    }
    /// The error, with line and column looked up in the text.
    pub fn into_error(self, sources: &[Source]) -> Error {
        let Self { place, complaint } = self;
        let Some(source) = sources.get(place.source) else {
            return Error::of_file("scenario", complaint.message, complaint.help.unwrap_or_default());
        };
        let (line, column) = line_and_column(&source.text, place.start);
        let value = source.text.get(place.start..place.end).map(shorten).filter(|v| !v.is_empty());
        Error {
            message: complaint.message,
            file: source.name.clone(),
            line: Some(line),
            column: Some(column),
            value,
            remedy: complaint.help,
            span: place.start..place.end.max(place.start),
            text: Some(miette::NamedSource::new(&source.name, Arc::clone(&source.text))),
        }
    }
}

impl Error {
    /// An error about a file as a whole: it does not exist, it is a directory, it is too large.
    pub(crate) fn of_file(file: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into()).filter(|r| !r.is_empty());
        Self {
            message: message.into(),
            file: file.to_owned(),
            line: None,
            column: None,
            value: None,
            remedy,
            span: 0..0,
            text: None,
        }
    }
    /// The same error with line, column and value of a place in bytes that are no text.
    pub(crate) fn placed(mut self, line: usize, column: usize, value: String) -> Self {
        (self.line, self.column, self.value) = (Some(line), Some(column), Some(value).filter(|v| !v.is_empty()));
        self
    }
}

/// Line and column, both from 1, of a byte; the column counts characters.
pub(crate) fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    (line, before[start..].chars().count() + 1)
}

/// The lines of a text, for many places in it.
pub(crate) struct Lines<'t> {
    text: &'t str,
    /// Beginnings of the lines.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Looks through the text once.
    pub(crate) fn of(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The result of [`line_and_column`].
    pub(crate) fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= byte.min(self.text.len()));
        let start = self.starts[line - 1];
        let (_, column) = line_and_column(&self.text[start..], byte.saturating_sub(start));
        (line, column)
    }
}

/// The first line of a value, at most 60 characters.
fn shorten(text: &str) -> String {
    let first = text.lines().next().unwrap_or("").trim_end();
    let mut short: String = first.chars().take(60).collect();
    if short.len() < text.trim_end().len() {
        short.push_str(" ...");
    }
    short
}

/// One line: ``trunk.toml:12:8: the unit is missing at `"11"`: write "11 Mbit/s"``.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(value) = &self.value {
            write!(f, " at `{value}`")?;
        }
        self.remedy.as_ref().map_or(Ok(()), |remedy| write!(f, ": {remedy}"))
    }
}
impl std::error::Error for Error {}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}
impl std::error::Error for Errors {}

impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Self(vec![error])
    }
}

/// The form for the terminal: the message as title, the place with its line, the remedy below.
#[derive(Debug)]
pub struct Report(Error);

impl From<Error> for Report {
    fn from(error: Error) -> Self {
        Self(error)
    }
}
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.line {
            Some(_) => write!(f, "{}", self.0.message),
            None => write!(f, "{}: {}", self.0.file, self.0.message),
        }
    }
}
impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.remedy.as_ref().map(|remedy| Box::new(remedy) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.0.text.as_ref().map(|text| text as &dyn miette::SourceCode)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        self.0.text.as_ref()?;
        let label = miette::LabeledSpan::new_primary_with_span(Some("here".to_owned()), self.0.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_looked_through_once_are_those_counted_each_time() {
        for text in ["", "\n", "a", "schema = 1\n\ntitle  = \"Zwölf\"\n[run]\r\nseed = 1", "ends with a line\n"] {
            let lines = Lines::of(text);
            for byte in (0..text.len() + 3).filter(|&byte| byte > text.len() || text.is_char_boundary(byte)) {
                assert_eq!(lines.line_and_column(byte), line_and_column(text, byte), "byte {byte} of {text:?}");
            }
        }
    }
}
