//! The numbers of a run: how `[expect]` and summaries call them, and where they are in a result.
//!
//! `[expect]` writes `flow.download.goodput`, the summary `flow.download.goodput_bps`: the unit is in the value there and
//! in the name here. [`table`] has a row for each, [`of`] the values of a run.

pub mod table;
mod unit;
mod value;

pub use unit::Unit;
pub use value::of;

/// What a metric is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// In `[expect]`.
    pub name: &'static str,
    /// In a summary, with the unit.
    pub key: &'static str,
    /// Its unit.
    pub unit: Unit,
}

/// Where a metric is in the result of what it belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Read<T> {
    /// A count; those of several things can be added.
    Count(fn(&T) -> u64),
    /// A number that is always there.
    Number(fn(&T) -> f64),
    /// A number that a result may not have.
    Optional(fn(&T) -> Option<f64>),
}

/// A metric of one kind of thing.
#[derive(Clone, Copy, Debug)]
pub struct Metric<T> {
    /// What it is called.
    pub name: Name,
    /// Where it is.
    pub read: Read<T>,
}

impl<T> Metric<T> {
    /// Its value in `result`, if that has one.
    pub fn value(&self, result: &T) -> Option<f64> {
        match self.read {
            Read::Count(read) => Some(read(result) as f64),
            Read::Number(read) => Some(read(result)),
            Read::Optional(read) => read(result),
        }
    }
}

/// The names in a table.
pub fn names<T>(table: &[Metric<T>]) -> Vec<Name> {
    table.iter().map(|metric| metric.name).collect()
}
