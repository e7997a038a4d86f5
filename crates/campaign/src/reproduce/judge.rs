//! The verdict on a row: by its formula, and by whether something else than the paper decides it.
//!
//! A verdict is `open` where a reading that the paper leaves free changes it: another formula of the row, or a free
//! number halved or doubled. A value that is accepted has to be so without any one of its runs, too; a miss stays one.

use super::evaluate::{self, Outcome, Relation, Side, Source};
use super::formula::Formula;
use super::paper::Output;
use super::reference::{Row, Standing, factor, short};
use crate::statistics::Summary;
use airbraid_sim::facts::Facts;
use serde::Serialize;
use serde::ser::Serializer;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Our value over the replications.
#[derive(Clone, Debug, PartialEq)]
pub enum Ours {
    /// There is no number: an ordering, or nothing was computed.
    None {
        n: usize,
    },
    Number(Summary),
    List(Vec<Summary>),
}

impl Serialize for Ours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// One for each element of a list.
        #[derive(Serialize)]
        struct Lists {
            mean: Vec<Option<f64>>,
            std: Vec<Option<f64>>,
            ci99: Vec<Option<[f64; 2]>>,
            n: usize,
        }
        match self {
            Self::None { n } => Summary { mean: None, std: None, ci99: None, n: *n }.serialize(serializer),
            Self::Number(summary) => summary.serialize(serializer),
            Self::List(all) => Lists {
                mean: all.iter().map(|s| s.mean).collect(),
                std: all.iter().map(|s| s.std).collect(),
                ci99: all.iter().map(|s| s.ci99).collect(),
                n: all.first().map_or(0, |s| s.n),
            }
            .serialize(serializer),
        }
    }
}

/// Our value of a row, and the verdict on it.
#[derive(Clone, Debug)]
pub struct Judged {
    pub ours: Ours,
    pub verdict: Standing,
    /// The sides of a relation, all chains in a row; empty for values.
    pub sides: Vec<Summary>,
    /// Findings in words.
    pub found: String,
}

/// Judges a row by its formula and by its other readings.
pub fn judge(output: &Output, source: &dyn Source) -> Judged {
    let Some(formula) = &output.formula else { return missing("nothing computes this row".to_owned()) };
    let mut judged = by_formula(&output.row, formula, source);
    if matches!(judged.verdict, Standing::Missing | Standing::Context) {
        return judged;
    }
    let mut reasons: Vec<String> = output.open.iter().cloned().collect();
    for (is, formula) in readings(output, formula) {
        let other = by_formula(&output.row, &formula, source);
        if other.verdict == Standing::Missing {
            return missing(format!("by another reading ({is}): {}", other.found));
        }
        if other.verdict != judged.verdict {
            reasons.push(format!("by another reading ({is}) it {}", other.words()));
        }
    }
    reasons.extend(decided_by_one_run(&output.row, formula, source, &judged));
    if !reasons.is_empty() {
        let found = format!("open: it {}; {}", judged.words(), reasons.join("; "));
        (judged.verdict, judged.found) = (Standing::Open, found);
    }
    judged
}

/// A digest of all formulas of a row, and of what is said to be free in it: eight hexadecimal digits.
pub fn formula_digest(output: &Output) -> String {
    let text = format!("{:?} {:?}", output.formulas().collect::<Vec<_>>(), output.open);
    // FNV-1a of 64 bit, the upper half: nobody attacks it.
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{:08x}", hash >> 32)
}

/// The other readings of a row, with their names: its own, then its free numbers halved and doubled.
fn readings(output: &Output, formula: &Formula) -> Vec<(String, Formula)> {
    let own = output.readings.iter().map(|reading| (reading.is.clone(), reading.formula.clone()));
    let scaled = [("half of our own bounds", 0.5), ("twice our own bounds", 2.0)];
    let scaled = scaled.into_iter().filter_map(|(is, by)| Some((is.to_owned(), formula.with_free(by)?)));
    own.chain(scaled).collect()
}

/// The reason, if a row that is accepted is not so without one of its runs.
fn decided_by_one_run(row: &Row, formula: &Formula, source: &dyn Source, judged: &Judged) -> Option<String> {
    if !matches!(judged.verdict, Standing::Within | Standing::Holds) {
        return None;
    }
    let runs: Vec<String> = formula.needs().runs().map(str::to_owned).collect();
    let count = replications(&runs, source)?;
    (0..count).find_map(|left_out| {
        let without = Without::new(&runs, source, left_out)?;
        let other = by_formula(row, formula, &without);
        (other.verdict != judged.verdict && other.verdict != Standing::Missing)
            .then(|| format!("without run {} of {count} it {}", left_out + 1, other.words()))
    })
}

/// The largest number of replications of `runs`; `None` if each has only one.
fn replications(runs: &[String], source: &dyn Source) -> Option<usize> {
    let names = runs.iter().filter_map(|run| evaluate::names(run, source).ok()).flatten();
    let drawn = names.filter(|name| !source.is_constant(name));
    drawn.filter_map(|name| Some(source.facts(&name).ok()?.len())).max().filter(|count| *count > 1)
}

/// All replications but one.
struct Without<'a> {
    source: &'a dyn Source,
    kept: BTreeMap<String, Vec<Arc<Facts>>>,
}

impl<'a> Without<'a> {
    /// Leaves replication `left_out` of each of `runs` out, where there are several.
    fn new(runs: &[String], source: &'a dyn Source, left_out: usize) -> Option<Self> {
        let mut kept = BTreeMap::new();
        for run in runs {
            for name in evaluate::names(run, source).ok()? {
                let all = source.facts(&name).ok()?;
                let several = all.len() > 1 && !source.is_constant(&name);
                let stays = |(k, _): &(usize, &Arc<Facts>)| !several || *k != left_out;
                let facts = all.iter().enumerate().filter(stays).map(|(_, facts)| Arc::clone(facts)).collect();
                kept.insert(name, facts);
            }
        }
        Some(Self { source, kept })
    }
}

impl Source for Without<'_> {
    fn facts(&self, run: &str) -> Result<&[Arc<Facts>], String> {
        self.kept.get(run).map_or_else(|| self.source.facts(run), |facts| Ok(facts))
    }
    fn cells(&self, group: &str) -> Result<Vec<String>, String> {
        self.source.cells(group)
    }
    fn is_constant(&self, run: &str) -> bool {
        self.source.is_constant(run)
    }
}

fn missing(why: String) -> Judged {
    Judged { ours: Ours::None { n: 0 }, verdict: Standing::Missing, sides: Vec::new(), found: why }
}

/// The verdict of one formula.
fn by_formula(row: &Row, formula: &Formula, source: &dyn Source) -> Judged {
    match formula {
        Formula::Value(expression) => match evaluate::value(expression, factor(&row.unit), source) {
            Err(why) => missing(why),
            Ok(outcome) => {
                let verdict = row.judge_value(&outcome);
                let ours = match outcome {
                    Outcome::Number(summary) => Ours::Number(summary),
                    Outcome::List(all) => Ours::List(all),
                };
                Judged { ours, verdict, sides: Vec::new(), found: String::new() }
            }
        },
        Formula::Relation(chains) => match evaluate::relation(chains, 1.0, source) {
            Err(why) => missing(why),
            Ok(relation) => {
                let (found, verdict) = (found(&relation), row.judge_relation(&relation));
                let sides = relation.sides.into_iter().flatten().map(|side| side.summary).collect();
                Judged { ours: Ours::None { n: relation.n }, verdict, sides, found }
            }
        },
    }
}

impl Judged {
    /// Verdict and value in words: `is within: 0.49`.
    fn words(&self) -> String {
        let verb = if self.verdict == Standing::Holds { "" } else { "is " };
        format!("{verb}{}: {}", self.verdict.name(), self.said())
    }

    /// Our value in words: a number, a list, or what a relation has found.
    fn said(&self) -> String {
        let number = |summary: &Summary| summary.mean.map_or_else(|| "none".to_owned(), short);
        match &self.ours {
            Ours::None { .. } => self.found.clone(),
            Ours::Number(summary) => number(summary),
            Ours::List(all) => all.iter().map(number).collect::<Vec<_>>().join(", "),
        }
    }
}

/// The sides of a relation with their means: `found 14.9 > 13.4`.
fn found(relation: &Relation) -> String {
    let number = |x: Option<f64>| {
        x.map_or_else(|| "none".to_owned(), |x| if x.abs() >= 1e4 { short(x / 1e6) + "e6" } else { short(x) })
    };
    let chain = |sides: &Vec<Side>| {
        let side = |side: &Side| match side.comparison {
            None => number(side.summary.mean),
            Some(comparison) => format!(" {} {}", comparison.sign(), number(side.summary.mean)),
        };
        sides.iter().map(side).collect::<String>()
    };
    let all: Vec<String> = relation.sides.iter().map(chain).collect();
    format!("{} {}", if relation.holds { "found" } else { "not so:" }, all.join(" and "))
}
