//! A TOML document as a small tree in which each value knows where it was written: in the file, in a `--set`, in a
//! sweep.
//!
//! It keeps the order of the file, which decides the order of sweep axes and of `explain`. It knows nothing of keys
//! and their meaning: that is the business of `schema`.

use super::error::{Complaint, Problem};
use super::source::Span;
use toml::de::{DeTable, DeValue};

/// Lists of tables whose elements have names.
pub(super) const NAMED_LISTS: [&str; 5] = ["node", "trunk", "link", "killer", "flow"];

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// It is written at its place in the file.
    File,
    /// An option of the command line gives it.
    Option,
    /// A cell of `[sweep]` gives it.
    Sweep,
}

/// The contents of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// In quotes.
    Text(String),
    Integer(i128),
    /// A number with a point or an exponent.
    Float(f64),
    /// True or false.
    Flag(bool),
    Date(String),
    /// In brackets.
    List(Vec<Value>),
    /// In braces, or under a header.
    Table(Table),
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Value {
    /// Contents.
    pub data: Data,
    pub place: Span,
    /// Origin.
    pub via: Via,
}

/// Two values are equal wherever they were written.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (&self.data, &other.data) {
            (Data::Integer(a), Data::Float(b)) | (Data::Float(b), Data::Integer(a)) => *a as f64 == *b,
            (a, b) => a == b,
        }
    }
}

/// A key, where it was written, and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    /// Where the key is written.
    pub key_place: Span,
    pub value: Value,
}

/// A table, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub entries: Vec<Entry>,
}

impl Table {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.value)
    }
    /// Sets `key`, in its old position if it has one.
    pub fn set(&mut self, key: &str, key_place: Span, value: Value) {
        match self.entries.iter_mut().find(|e| e.key == key) {
            Some(entry) => (entry.key_place, entry.value) = (key_place, value),
            None => self.entries.push(Entry { key: key.to_owned(), key_place, value }),
        }
    }
}

impl Value {
    /// The kind of the value, for a message.
    pub fn kind(&self) -> &'static str {
        match self.data {
            Data::Text(_) => "a text",
            Data::Integer(_) => "a whole number",
            Data::Float(_) => "a number",
            Data::Flag(_) => "true or false",
            Data::Date(_) => "a date",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
        }
    }
    /// The value as TOML on one line.
    pub fn show(&self) -> String {
        match &self.data {
            Data::Text(text) => format!("{text:?}"),
            Data::Integer(n) => n.to_string(),
            Data::Float(x) => show_float(*x),
            Data::Flag(b) => b.to_string(),
            Data::Date(text) => text.clone(),
            Data::List(items) => {
                let items: Vec<String> = items.iter().map(Self::show).collect();
                format!("[{}]", items.join(", "))
            }
            Data::Table(table) => {
                let pairs: Vec<String> =
                    table.entries.iter().map(|e| format!("{} = {}", e.key, e.value.show())).collect();
                format!("{{ {} }}", pairs.join(", "))
            }
        }
    }
    /// The value as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.data {
            Data::Text(text) | Data::Date(text) => Json::from(text.as_str()),
            Data::Integer(n) => i64::try_from(*n).map_or_else(|_| Json::from(n.to_string()), Json::from),
            Data::Float(x) => Json::from(*x),
            Data::Flag(b) => Json::from(*b),
            Data::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Data::Table(table) => {
                Json::Object(table.entries.iter().map(|e| (e.key.clone(), e.value.to_json())).collect())
            }
        }
    }
    /// Marks this value and all within it as given by `via`.
    pub fn mark(&mut self, via: Via) {
        self.via = via;
        match &mut self.data {
            Data::List(items) => items.iter_mut().for_each(|v| v.mark(via)),
            Data::Table(table) => table.entries.iter_mut().for_each(|e| e.value.mark(via)),
            _ => {}
        }
    }
}

/// A number as short as it can be written without loss: small ones in exponent form.
pub(crate) fn show_float(x: f64) -> String {
    if x != 0.0 && x.abs() < 1e-3 { format!("{x:e}") } else { x.to_string() }
}

/// Reads the text of source number `source` as TOML.
pub(crate) fn parse(text: &str, source: usize, via: Via) -> Result<Table, Problem> {
    let parsed = DeTable::parse(text).map_err(|e| {
        let span = e.span().unwrap_or(0..0);
        let place = widen(text, source, span.start, span.end);
        let help = twice(text, place, e.message()).unwrap_or_else(|| syntax_help(text, place));
        Problem::at(place, Complaint::new(format!("this is not TOML: {}", e.message()), help))
    })?;
    table(parsed.get_ref(), source, via)
}

/// Makes an empty span cover the word at it, so that a message can quote something.
fn widen(text: &str, source: usize, start: usize, end: usize) -> Span {
    let clamp = |i: usize| (0..=i.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    let (start, mut end) = (clamp(start), clamp(end));
    if start >= end {
        let word = text[start..].find(|c: char| c.is_whitespace()).unwrap_or(text.len() - start);
        end = start + word.min(40);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
    }
    Span { source, start, end: end.max(start) }
}

/// The remedy for a key that stands twice: most often a table of which there are several, in single brackets.
fn twice(text: &str, place: Span, message: &str) -> Option<String> {
    let key = text.get(place.start..place.end).filter(|_| message.starts_with("duplicate key"))?;
    let is_header = text[..place.start].ends_with('[');
    let is_list = is_header && (NAMED_LISTS.contains(&key) || ["at", "exec", "slots"].contains(&key));
    Some(if is_list {
        format!("write [[{key}]] for each of them")
    } else if is_header {
        format!("write [{key}] once, with all its keys below it")
    } else {
        format!("write `{key}` once in a table")
    })
}

/// The most frequent slips deserve remedies of their own: a quantity without quotes, quotes of a word processor.
fn syntax_help(text: &str, place: Span) -> String {
    let line_start = text[..place.start].rfind('\n').map_or(0, |i| i + 1);
    let line = text[line_start..].lines().next().unwrap_or("");
    if line.contains(['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}']) {
        return "these quotes are a word processor's: write straight ones, \"...\"".to_owned();
    }
    if let Some((key, value)) = line.split_once('=') {
        let value = value.split('#').next().unwrap_or("").trim();
        let digit = value.chars().next().is_some_and(|c| c.is_ascii_digit() || c == '-');
        if digit && value.chars().any(|c| c.is_ascii_alphabetic()) && value.len() < 40 && !value.contains('"') {
            return format!("a quantity is a text in quotes: {} = \"{value}\"", key.trim());
        }
    }
    "a file is TOML: `key = value` lines under `[table]` headers, texts in quotes".to_owned()
}

fn table(map: &DeTable<'_>, source: usize, via: Via) -> Result<Table, Problem> {
    let mut entries = Vec::with_capacity(map.len());
    for (key, value) in map {
        let span = key.span();
        entries.push(Entry {
            key: key.get_ref().to_string(),
            key_place: Span { source, start: span.start, end: span.end },
            value: self::value(value.get_ref(), value.span(), source, via)?,
        });
    }
    entries.sort_by_key(|e| e.key_place.start);
    Ok(Table { entries })
}

fn value(given: &DeValue<'_>, span: std::ops::Range<usize>, source: usize, via: Via) -> Result<Value, Problem> {
    let place = Span { source, start: span.start, end: span.end };
    let data = match given {
        DeValue::String(text) => Data::Text(text.to_string()),
        DeValue::Boolean(b) => Data::Flag(*b),
        DeValue::Datetime(date) => Data::Date(date.to_string()),
        DeValue::Integer(n) => match i128::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Data::Integer(n),
            Err(_) => return Err(out_of_range(place)),
        },
        DeValue::Float(x) => match x.as_str().parse::<f64>() {
            Ok(x) if x.is_finite() => Data::Float(x),
            _ => return Err(out_of_range(place)),
        },
        DeValue::Array(items) => {
            let items = items.iter().map(|v| value(v.get_ref(), v.span(), source, via));
            Data::List(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(map) => Data::Table(table(map, source, via)?),
    };
    Ok(Value { data, place, via })
}

fn out_of_range(place: Span) -> Problem {
    Problem::at(place, Complaint::new("the number is beyond its type", "write a finite number that fits into 64 bits"))
}
