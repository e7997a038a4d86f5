//! The rows of a reproduction as the contract of `reproduce --json` has them.

use super::evaluate::Source;
use super::formula::Needs;
use super::judge::{Judged, Ours, judge};
use super::paper::{Origin, Output, Paper};
use super::reference::Standing;
use crate::statistics::Summary;
use serde::Serialize;

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
    pub origin: Origin,
    pub verdict: Standing,
    /// The scenarios and models that it was computed from.
    pub scenario: String,
    /// Findings and their explanation.
    pub note: String,
    /// The findings alone.
    #[serde(skip)]
    pub found: String,
    /// The sides of a relation, in base units.
    #[serde(skip)]
    pub sides: Vec<Summary>,
    /// Index of its figure.
    #[serde(skip)]
    pub figure: Option<usize>,
    /// Index of its output in the paper.
    #[serde(skip)]
    pub output: usize,
}

impl Rows {
    /// The rows of `paper` that `only` selects, from `source`.
    pub fn of(paper: &Paper, only: &[String], source: &dyn Source) -> Self {
        let selected = (0..paper.rows.len()).filter(|i| paper.selects(only, *i));
        let rows = selected.map(|i| row(paper, i, source)).collect();
        Self { paper: paper.name.clone(), rows }
    }
    /// Number of rows with each origin and verdict, without empty ones. Rows that are only shown have no origin.
    pub fn counts(&self) -> Vec<(Option<Origin>, Standing, usize)> {
        let kind = |row: &Row| (row.verdict != Standing::Context).then_some(row.origin);
        let count = |(origin, verdict)| {
            let alike = |row: &&Row| row.verdict == verdict && kind(row) == origin;
            (origin, verdict, self.rows.iter().filter(alike).count())
        };
        let origins = Origin::ALL.into_iter().map(Some).chain([None]);
        let all = origins.flat_map(|origin| Standing::ALL.map(|verdict| (origin, verdict)));
        all.map(count).filter(|(_, _, n)| *n > 0).collect()
    }
}

fn row(paper: &Paper, index: usize, source: &dyn Source) -> Row {
    let output = &paper.rows[index];
    let Judged { ours, verdict, sides, found } = judge(output, source);
    let calibrated = output.calibrated.iter().map(|what| format!("Calibrated: {what}"));
    let parts: Vec<String> = [found.clone(), output.note.clone()].into_iter().chain(calibrated).collect();
    let note: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Row {
        id: output.row.id.clone(),
        unit: output.row.unit.clone(),
        paper: output.row.value.as_ref().and_then(|v| serde_json::to_value(v).ok()).unwrap_or_default(),
        accept: output.row.accept(),
        ours,
        kind: output.row.kind.clone(),
        origin: output.origin(),
        verdict,
        found,
        sides,
        scenario: scenarios(paper, output),
        note: note.join(". "),
        figure: output.figure,
        output: index,
    }
}

fn scenarios(paper: &Paper, output: &Output) -> String {
    if output.formula.is_none() {
        return output.row.scenario.clone();
    }
    let mut needs = Needs::default();
    output.formulas().for_each(|formula| needs.extend(formula.needs()));
    let mut names: Vec<String> = Vec::new();
    for run in needs.runs() {
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
