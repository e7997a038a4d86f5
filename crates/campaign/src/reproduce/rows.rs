//! The rows of a reproduction as the contract of `reproduce --json` has them.

use super::evaluate::{self, Outcome, Relation, Source};
use super::formula::Formula;
use super::paper::{Output, Paper};
use super::reference::{Standing, factor, short};
use crate::statistics::Summary;
use serde::Serialize;
use serde::ser::Serializer;

/// A reproduction: what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Rows {
    pub paper: String,
    /// Its rows, in the order of the reference table.
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name in the table.
    pub id: String,
    pub unit: String,
    /// The paper's value; null for orderings.
    pub paper: serde_json::Value,
    pub accept: String,
    /// Our value.
    pub ours: Ours,
    /// `exact`, `approx`, `ordering` or `ratio`.
    pub kind: String,
    /// `calibrated` or `predicted`.
    pub origin: &'static str,
    pub verdict: Standing,
    /// The scenarios and models that it was computed from.
    pub scenario: String,
    /// Findings and their explanation.
    pub note: String,
    /// Index of its figure.
    #[serde(skip)]
    pub figure: Option<usize>,
    /// Index of its output in the paper.
    #[serde(skip)]
    pub output: usize,
}

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

impl Rows {
    /// The rows of `paper` that `only` selects, from `source`.
    pub fn of(paper: &Paper, only: &[String], source: &dyn Source) -> Self {
        let selected = (0..paper.rows.len()).filter(|i| paper.selects(only, *i));
        let rows = selected.map(|i| row(paper, i, source)).collect();
        Self { paper: paper.name.clone(), rows }
    }
    /// Number of rows with each verdict, without empty ones.
    pub fn counts(&self) -> Vec<(Standing, usize)> {
        let count = |verdict| (verdict, self.rows.iter().filter(|row| row.verdict == verdict).count());
        Standing::ALL.into_iter().map(count).filter(|(_, n)| *n > 0).collect()
    }
}

fn row(paper: &Paper, index: usize, source: &dyn Source) -> Row {
    let output = &paper.rows[index];
    let (ours, verdict, found) = judge(output, source);
    let parts = [found, output.note.clone()];
    let note: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Row {
        id: output.row.id.clone(),
        unit: output.row.unit.clone(),
        paper: output.row.value.as_ref().and_then(|v| serde_json::to_value(v).ok()).unwrap_or_default(),
        accept: output.row.accept(),
        ours,
        kind: output.row.kind.clone(),
        origin: if output.calibrated { "calibrated" } else { "predicted" },
        verdict,
        scenario: scenarios(paper, output),
        note: note.join(". "),
        figure: output.figure,
        output: index,
    }
}

/// Our value, the verdict, and the findings in words.
fn judge(output: &Output, source: &dyn Source) -> (Ours, Standing, String) {
    let factor = factor(&output.row.unit);
    let missing = |why: String| (Ours::None { n: 0 }, Standing::Missing, why);
    match &output.formula {
        None => missing("nothing computes this row".to_owned()),
        Some(Formula::Value(expression)) => match evaluate::value(expression, factor, source) {
            Err(why) => missing(why),
            Ok(outcome) => {
                let verdict = output.row.judge_value(&outcome);
                let ours = match outcome {
                    Outcome::Number(summary) => Ours::Number(summary),
                    Outcome::List(all) => Ours::List(all),
                };
                (ours, verdict, String::new())
            }
        },
        Some(Formula::Relation(chains)) => match evaluate::relation(chains, 1.0, source) {
            Err(why) => missing(why),
            Ok(relation) => {
                let found = found(&relation);
                (Ours::None { n: relation.n }, output.row.judge_relation(&relation), found)
            }
        },
    }
}

/// The sides of a relation with their means: `found 14.9 > 13.4`.
fn found(relation: &Relation) -> String {
    let number = |x: Option<f64>| {
        x.map_or_else(|| "none".to_owned(), |x| if x.abs() >= 1e4 { short(x / 1e6) + "e6" } else { short(x) })
    };
    let chain = |sides: &Vec<evaluate::Side>| {
        let side = |side: &evaluate::Side| match side.comparison {
            None => number(side.summary.mean),
            Some(comparison) => format!(" {} {}", comparison.sign(), number(side.summary.mean)),
        };
        sides.iter().map(side).collect::<String>()
    };
    let all: Vec<String> = relation.sides.iter().map(chain).collect();
    format!("{} {}", if relation.holds { "found" } else { "not so:" }, all.join(" and "))
}

fn scenarios(paper: &Paper, output: &Output) -> String {
    let Some(formula) = &output.formula else { return output.row.scenario.clone() };
    let mut names: Vec<String> = Vec::new();
    for run in formula.needs().runs() {
        let scenarios = paper.expand(run).into_iter().map(|index| paper.runs[index].scenario.clone());
        let model = paper.model(run).map(|entry| format!("model {}", entry.model));
        for name in scenarios.chain(model) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.join(", ")
}
