//! Reads values out of the tree by key, with a default and its reason, and remembers every key that was read.
//!
//! A key that was not read is unknown; `explain` prints those that were. A wrong value is noted and the
//! default used in its place, so that one reading finds every error of a file.

use super::error::{Complaint, ERRORS_MAX, Error, Errors, Problem};
use super::nearest::suggestion;
use super::source::{Source, Span};
use super::tables::Tables;
use super::tree::{Data, Table, Value, Via, show_float};
use airbraid_units::{ParseError, Probability, Quantity};
use std::cell::{Cell, RefCell};
use std::fmt::Display;

/// A resolved value: its path, its text, and its origin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResolvedValue {
    pub path: String,
    pub value: String,
    pub from: From,
}

/// The origin of a resolved value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum From {
    /// Written at a place; the label names the table if it is not the value's own (`[radio]`).
    Written { place: Span, via: Via, label: Option<&'static str> },
    /// A default, for a reason.
    Default(String),
}

/// The state of one reading of a scenario.
pub struct Context {
    problems: RefCell<Vec<Problem>>,
    noted: RefCell<Vec<ResolvedValue>>,
    tables: Tables,
    /// Whether resolved values are kept for `explain`.
    recording: bool,
}

impl Context {
    /// An empty state; `recording`: whether resolved values are kept for `explain`.
    pub fn new(recording: bool) -> Self {
        Self { problems: RefCell::default(), noted: RefCell::default(), tables: Tables::default(), recording }
    }
    /// A state that lists the keys of all tables.
    pub(crate) fn listing() -> Self {
        Self { tables: Tables::listing(), ..Self::new(false) }
    }
    /// The dotted paths of the keys that the tables have, with [`Context::listing`].
    pub(crate) fn into_keys(self) -> Vec<String> {
        self.tables.into_paths()
    }
    /// Whether nothing is asked of the reading but the resolved scenario: no values with their origins, no keys.
    pub(crate) const fn only_resolves(&self) -> bool {
        !self.recording && !self.tables.are_listed()
    }
    /// Notes an error at `place`.
    pub fn complain(&self, place: Span, complaint: Complaint) {
        self.problems.borrow_mut().push(Problem::at(place, complaint));
    }
    /// Whether there is an error so far.
    pub fn has_problems(&self) -> bool {
        !self.problems.borrow().is_empty() || self.tables.has_unknown()
    }
    fn note(&self, path: String, value: impl Display, from: From) {
        if self.recording {
            self.noted.borrow_mut().push(ResolvedValue { path, value: value.to_string(), from });
        }
    }
    /// Notes what became of a key of `table` when all tables were read, in place of its default.
    pub(crate) fn settle(&self, table: &str, key: &str, value: impl Display, why: &str) {
        if !self.recording {
            return;
        }
        let mut noted = self.noted.borrow_mut();
        let path = format!("{table}.{key}");
        let settled = ResolvedValue { path, value: value.to_string(), from: From::Default(why.to_owned()) };
        if let Some(before) = noted.iter_mut().find(|other| other.path == settled.path) {
            *before = settled;
            return;
        }
        // Behind what is said of the same table, or of the one that it is in.
        let within = |table: &str| noted.iter().rposition(|other| other.path.starts_with(&format!("{table}.")));
        let outer = table.split('.').take(2).collect::<Vec<_>>().join(".");
        let place = within(table).or_else(|| within(&outer)).map_or(noted.len(), |place| place + 1);
        noted.insert(place, settled);
    }
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let unknown = self.tables.complaints();
        self.problems.into_inner().into_iter().chain(unknown).collect()
    }
    /// The resolved values, or the errors, in the order of the file.
    pub(crate) fn finish(self, sources: &[Source]) -> Result<Vec<ResolvedValue>, Errors> {
        if self.has_problems() {
            return Err(errors(self.into_problems(), sources));
        }
        Ok(self.noted.into_inner())
    }
}

/// The first [`ERRORS_MAX`] problems by place, as errors; no place has the same message twice.
pub(crate) fn errors(mut problems: Vec<Problem>, sources: &[Source]) -> Errors {
    problems.sort_by(|a, b| {
        let key = |p: &Problem| (p.place.source, p.place.start);
        key(a).cmp(&key(b)).then_with(|| a.complaint.message.cmp(&b.complaint.message))
    });
    problems.dedup_by(|a, b| a.place == b.place && a.complaint.message == b.complaint.message);
    problems.truncate(ERRORS_MAX);
    Errors(problems.into_iter().map(|p| p.into_error(sources)).collect::<Vec<Error>>())
}

/// A table as it is read: its own keys first, then those of the tables that give its defaults.
pub struct View<'a> {
    pub cx: &'a Context,
    /// Dotted path, as `--set` writes it.
    pub path: String,
    /// Beginning of the table.
    pub place: Span,
    layers: Vec<Layer<'a>>,
    /// Keys that only the first layers may give, and the number of these.
    bound: Option<(&'static [&'static str], usize)>,
    asked: RefCell<Vec<&'static str>>,
    foreign: Cell<Option<&'static Foreign>>,
    /// Whether what is read now has an effect: `explain` shows no default that has none.
    applies: Cell<bool>,
    /// Whether only what the own table says is shown, the rest being that of another table.
    own_only: Cell<bool>,
}

/// Keys that a table of another kind has.
pub(crate) struct Foreign {
    pub keys: &'static [&'static str],
    /// The table that has them, in words.
    pub owner: &'static str,
    /// The table that is read, in words.
    pub own: &'static str,
}

#[derive(Clone, Copy)]
struct Layer<'a> {
    table: &'a Table,
    label: Option<&'static str>,
}

/// A value that was found.
#[derive(Clone, Copy)]
pub struct FoundValue<'a> {
    pub value: &'a Value,
    /// The table that gave it, 0 for its own.
    pub layer: usize,
    label: Option<&'static str>,
}

impl<'a> View<'a> {
    /// A view of a table that may not be there, under its path.
    pub fn new(cx: &'a Context, path: impl Into<String>, place: Span, table: Option<&'a Table>) -> Self {
        let layers = table.map(|table| Layer { table, label: None }).into_iter().collect();
        Self {
            cx,
            path: path.into(),
            place,
            layers,
            bound: None,
            asked: RefCell::default(),
            foreign: Cell::new(None),
            applies: Cell::new(true),
            own_only: Cell::new(false),
        }
    }
    /// The same view with one more table to take defaults from.
    pub fn over(mut self, defaults: Option<&'a Table>, label: &'static str) -> Self {
        if self.layers.is_empty() {
            // The own table must stay the first, even where it is absent.
            self.layers.push(Layer { table: &EMPTY, label: None });
        }
        self.layers.extend(defaults.map(|table| Layer { table, label: Some(label) }));
        self
    }
    /// From now on, takes `keys` from the first `layers` layers only.
    pub fn bind(&mut self, keys: &'static [&'static str], layers: usize) {
        self.bound = Some((keys, layers));
    }
    /// From now on, what is read has an effect or has none.
    pub(crate) fn apply(&self, applies: bool) {
        self.applies.set(applies);
    }
    /// Whether what is read now has an effect.
    pub(crate) fn applies(&self) -> bool {
        self.applies.get()
    }
    /// The same view, which shows only what its own table says.
    pub(crate) fn own_only(self) -> Self {
        self.own_only.set(true);
        self
    }
    /// From now on keys of a table of another kind are told as that table's.
    pub(crate) fn beside(&self, other: &'static Foreign) {
        self.foreign.set(Some(other));
    }
    /// The table itself, without those behind it.
    pub fn own_table(&self) -> Option<&'a Table> {
        self.layers.first().map(|l| l.table)
    }
    /// The value of `key` in the tables behind layer `layer`.
    pub fn behind(&self, layer: usize, key: &str) -> Option<&'a Value> {
        self.layers.iter().skip(layer + 1).find_map(|l| l.table.get(key))
    }
    /// Whether the table is there at all.
    pub fn is_present(&self) -> bool {
        self.layers.iter().any(|l| !l.table.entries.is_empty())
    }
    /// The dotted path of a key of this table.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The value of `key`; from here on the key is a known one.
    pub fn find(&self, key: &'static str) -> Option<FoundValue<'a>> {
        self.know(key);
        self.peek(key)
    }
    /// Makes `key` a known one.
    pub fn know(&self, key: &'static str) {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
    }
    fn peek(&self, key: &str) -> Option<FoundValue<'a>> {
        let layers = match self.bound {
            Some((keys, n)) if keys.contains(&key) => &self.layers[..n.min(self.layers.len())],
            _ => &self.layers[..],
        };
        let mut found = layers.iter().enumerate();
        found.find_map(|(layer, l)| l.table.get(key).map(|value| FoundValue { value, layer, label: l.label }))
    }
    /// The place of the value of `key`, or of the table.
    pub fn place_of(&self, key: &str) -> Span {
        self.peek(key).map_or(self.place, |found| found.value.place)
    }
    /// Notes that the value of `key` is wrong.
    pub fn complain(&self, key: &str, complaint: Complaint) {
        self.cx.complain(self.place_of(key), complaint);
    }
    /// Notes an error at `key` unless `holds`.
    pub fn require(&self, holds: bool, key: &str, message: impl FnOnce() -> String, help: &str) {
        if !holds {
            self.complain(key, Complaint::new(message(), help));
        }
    }
    /// Notes the resolved value of `key`.
    pub fn note(&self, key: &str, value: impl Display, found: Option<FoundValue<'_>>, why: &str) {
        let shown = match found {
            // The keys of a table are shown one by one.
            Some(f) if matches!(f.value.data, Data::Table(_)) => false,
            Some(f) => f.layer == 0 || !self.own_only.get(),
            None => self.applies.get() && !self.own_only.get(),
        };
        if !self.cx.recording || !shown {
            return;
        }
        let from = match found {
            Some(f) => From::Written { place: f.value.place, via: f.value.via, label: f.label },
            None => From::Default(why.to_owned()),
        };
        let unused = if self.applies.get() { "" } else { " (not used)" };
        self.cx.note(self.path_of(key), tidy(&value.to_string()) + unused, from);
    }

    /// The value of `key` read by `parse`, or nothing: absent or wrong.
    pub fn optional<T>(
        &self,
        key: &'static str,
        why: &str,
        parse: impl FnOnce(&'a Value) -> Result<T, Complaint>,
    ) -> Option<T> {
        let Some(found) = self.find(key) else {
            self.note(key, "-", None, why);
            return None;
        };
        match parse(found.value) {
            Ok(value) => {
                self.note(key, show(found.value), Some(found), "");
                Some(value)
            }
            Err(complaint) => {
                self.cx.complain(found.value.place, complaint);
                None
            }
        }
    }
    /// The value of `key` read by `parse`, or the default.
    pub fn read<T: Display>(
        &self,
        key: &'static str,
        default: T,
        why: &str,
        parse: impl FnOnce(&'a Value) -> Result<T, Complaint>,
    ) -> T {
        let Some(found) = self.find(key) else {
            self.note(key, &default, None, why);
            return default;
        };
        match parse(found.value) {
            Ok(value) => {
                self.note(key, &value, Some(found), "");
                value
            }
            Err(complaint) => {
                self.cx.complain(found.value.place, complaint);
                default
            }
        }
    }
    /// The value of `key`, which must be there.
    pub fn required<T>(
        &self,
        key: &'static str,
        example: &str,
        parse: impl FnOnce(&'a Value) -> Result<T, Complaint>,
    ) -> Option<T> {
        if self.peek(key).is_none() {
            self.know(key);
            let message = format!("`{}` is missing", self.path_of(key));
            self.cx.complain(self.place, Complaint::new(message, format!("add {key} = {example}")));
            return None;
        }
        self.optional(key, "", parse)
    }

    /// A quantity with its unit.
    ///
    /// # Errors
    /// It is something else: what, and what to write.
    pub fn quantity<Q: Quantity + Display>(&self, key: &'static str, default: Q, why: &str) -> Q {
        self.read(key, default, why, quantity)
    }
    pub fn count(&self, key: &'static str, default: u32, why: &str) -> u32 {
        self.read(key, default, why, count)
    }
    /// A number without a unit.
    pub fn number(&self, key: &'static str, default: f64, why: &str) -> f64 {
        self.read(key, default, why, number)
    }
    /// True or false.
    pub fn flag(&self, key: &'static str, default: bool, why: &str) -> bool {
        self.read(key, default, why, |value| match value.data {
            Data::Flag(b) => Ok(b),
            _ => {
                Err(Complaint::new(format!("true or false is needed, this is {}", value.kind()), "write true or false"))
            }
        })
    }
    /// One word out of several.
    pub fn choice<T: Copy + PartialEq>(
        &self,
        key: &'static str,
        words: &[(&'static str, T)],
        default: T,
        why: &str,
    ) -> T {
        let name = |t: T| words.iter().find(|(_, v)| *v == t).map_or("?", |(word, _)| *word);
        let word =
            self.read(key, name(default).to_owned(), why, |value| choose(value, words).map(|t| name(t).to_owned()));
        words.iter().find(|(w, _)| *w == word).map_or(default, |(_, t)| *t)
    }
    /// The table at `key`; where there is none, one without keys.
    pub fn sub(&self, key: &'static str) -> View<'a> {
        let path = self.path_of(key);
        let view = match self.find(key) {
            Some(FoundValue { value: Value { data: Data::Table(table), place, .. }, .. }) => {
                View::new(self.cx, path, *place, Some(table))
            }
            Some(found) => {
                let message = format!("`{path}` must be a table, this is {}", found.value.kind());
                let is_list = self.path.is_empty() && matches!(found.value.data, Data::List(_));
                let help = if is_list { format!("write [{key}], once") } else { format!("write {key} = {{ ... }}") };
                self.cx.complain(found.value.place, Complaint::new(message, help));
                View::new(self.cx, path, self.place, None)
            }
            None => View::new(self.cx, path, self.place, None),
        };
        view.apply(self.applies.get());
        view
    }
    /// The tables of `[[key]]`, each under the path of its name.
    pub fn tables(&self, key: &'static str) -> Vec<View<'a>> {
        let Some(found) = self.find(key) else { return Vec::new() };
        let Data::List(items) = &found.value.data else {
            let message = format!("`{key}` is a list of tables, this is {}", found.value.kind());
            self.cx.complain(found.value.place, Complaint::new(message, format!("write [[{key}]] for each of them")));
            return Vec::new();
        };
        let mut views = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let Data::Table(table) = &item.data else {
                let message = format!("an element of `{key}` is a table, this is {}", item.kind());
                self.cx.complain(item.place, Complaint::new(message, format!("write [[{key}]]")));
                continue;
            };
            let name = match table.get("name").map(|v| &v.data) {
                Some(Data::Text(name)) => name.clone(),
                _ => i.to_string(),
            };
            views.push(View::new(self.cx, format!("{key}.{name}"), item.place, Some(table)));
        }
        views
    }
    /// The name of this table: letters, digits, `_` and `-`.
    ///
    /// # Errors
    /// It is something else: what, and what to write.
    pub fn name(&self) -> String {
        self.required("name", "\"a-name\"", name).unwrap_or_default()
    }
    /// Notes each key that was not read.
    pub fn finish(self) {
        self.check_keys();
    }
    /// The same for a view that is kept.
    pub fn check_keys(&self) {
        let Some(own) = self.layers.first() else { return };
        let mut asked = self.asked.borrow().clone();
        asked.sort_unstable();
        self.cx.tables.know(&self.path, &asked);
        for entry in own.table.entries.iter().filter(|e| !asked.contains(&e.key.as_str())) {
            match self.foreign.get().filter(|other| other.keys.contains(&entry.key.as_str())) {
                Some(other) => {
                    let message = format!("`{}` belongs to {}", entry.key, other.owner);
                    let help = format!("{} has {}", other.own, asked.join(", "));
                    self.cx.complain(entry.key_place, Complaint::new(message, help));
                }
                None => self.cx.tables.unknown(&self.path, &entry.key, entry.key_place, &asked),
            }
        }
    }
}

static EMPTY: Table = Table { entries: Vec::new() };

/// The text with a number of more than six decimals at its front rounded to six, against residues of conversions.
fn tidy(text: &str) -> String {
    let number = text.split(' ').next().unwrap_or(text);
    let long = number.split_once('.').is_some_and(|(_, d)| d.len() > 6 && d.bytes().all(|b| b.is_ascii_digit()));
    match number.parse::<f64>() {
        Ok(x) if long && x.abs() >= 1e-3 => {
            let short = format!("{x:.6}");
            format!("{}{}", short.trim_end_matches('0').trim_end_matches('.'), &text[number.len()..])
        }
        _ => text.to_owned(),
    }
}

/// A value as it is shown: texts without quotes.
fn show(value: &Value) -> String {
    match &value.data {
        Data::Text(text) => text.clone(),
        Data::Float(x) => show_float(*x),
        _ => value.show(),
    }
}

/// A text.
///
/// # Errors
/// It is something else: what, and what to write.
pub fn text(value: &Value) -> Result<String, Complaint> {
    match &value.data {
        Data::Text(text) => Ok(text.clone()),
        _ => Err(Complaint::new(format!("a text is needed, this is {}", value.kind()), "write it in quotes")),
    }
}

/// A name that paths, file names and tables can carry.
pub fn name(value: &Value) -> Result<String, Complaint> {
    let name = text(value)?;
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(fine) {
        return Err(Complaint::new("this cannot be a name", "1 to 64 of A-Z, a-z, 0-9, _ and -"));
    }
    Ok(name)
}

/// A quantity with its unit; a probability may be a bare number.
pub fn quantity<Q: Quantity>(value: &Value) -> Result<Q, Complaint> {
    let units = Q::UNITS.join(", ");
    let bare = |number: String| match Q::parse(&number) {
        Err(ParseError::NoUnit) => {
            let help = format!("write it in quotes with its unit: \"{number} {}\" (units: {units})", Q::UNITS[0]);
            Complaint::new("the unit is missing", help)
        }
        Err(error) => Complaint::new(error.to_string(), format!("write for example \"{}\"", Q::EXAMPLE)),
        Ok(_) => Complaint::bare(""),
    };
    match &value.data {
        Data::Text(text) => Q::parse(text).map_err(|error| {
            let help = match &error {
                ParseError::NoUnit => format!("write \"{} {}\" (units: {units})", text.trim(), Q::UNITS[0]),
                ParseError::WrongUnit(..) => format!("units: {units}; for example \"{}\"", Q::EXAMPLE),
                _ => format!("write {} such as \"{}\"", Q::WHAT, Q::EXAMPLE),
            };
            Complaint::new(error.to_string(), help)
        }),
        Data::Integer(n) => Q::parse(&n.to_string()).map_err(|_| bare(n.to_string())),
        Data::Float(x) => Q::parse(&x.to_string()).map_err(|_| bare(show_float(*x))),
        _ => {
            let help = format!("write {} such as \"{}\"", Q::WHAT, Q::EXAMPLE);
            Err(Complaint::new(format!("{} is needed, this is {}", Q::WHAT, value.kind()), help))
        }
    }
}

/// A probability that is written as a number or in percent.
pub(crate) fn probability(value: &Value) -> Result<Probability, Complaint> {
    quantity(value)
}

/// A whole number within 32 bits.
pub(crate) fn count(value: &Value) -> Result<u32, Complaint> {
    integer(value, u128::from(u32::MAX)).map(|n| n as u32)
}

/// A whole number from 0 to `largest`.
///
/// # Errors
/// It is something else: what, and what to write.
pub fn integer(value: &Value, largest: u128) -> Result<u128, Complaint> {
    let Data::Integer(n) = value.data else {
        let message = format!("a whole number is needed, this is {}", value.kind());
        return Err(Complaint::new(message, "write it without quotes, unit and point"));
    };
    match u128::try_from(n) {
        Ok(n) if n <= largest => Ok(n),
        Ok(_) => Err(Complaint::new("the number is beyond its type", format!("write a number from 0 to {largest}"))),
        Err(_) => Err(Complaint::new("the number cannot be negative", format!("write a number from 0 to {largest}"))),
    }
}

/// A number without a unit.
pub(crate) fn number(value: &Value) -> Result<f64, Complaint> {
    match value.data {
        Data::Integer(n) => Ok(n as f64),
        Data::Float(x) => Ok(x),
        _ => {
            let message = format!("a number is needed, this is {}", value.kind());
            Err(Complaint::new(message, "write it without quotes and unit"))
        }
    }
}

pub(crate) fn choose<T: Copy>(value: &Value, words: &[(&'static str, T)]) -> Result<T, Complaint> {
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let Data::Text(given) = &value.data else {
        let message = format!("a word is needed, this is {}", value.kind());
        return Err(Complaint::new(message, suggestion("", &names)));
    };
    let found = words.iter().find(|(word, _)| word == given);
    found
        .map(|(_, t)| *t)
        .ok_or_else(|| Complaint::new(format!("`{given}` is not known here"), suggestion(given, &names)))
}

/// The elements of a list.
///
/// # Errors
/// It is something else: what, and what to write.
pub fn list(value: &Value) -> Result<&[Value], Complaint> {
    match &value.data {
        Data::List(items) => Ok(items),
        _ => Err(Complaint::new(format!("a list is needed, this is {}", value.kind()), "write [ ... ]")),
    }
}
