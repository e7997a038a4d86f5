//! A scenario with every cell resolved, for `run`, `check` and `explain`.

use super::cell::Cell;
use super::error::{Complaint, Error, Errors, Problem};
use super::expect::{self, Expectation};
use super::metric;
use super::overrides::{self, Override};
use super::plan_tables::{self, PlanTables};
use super::reader::{self, Context, From, ResolvedValue, errors};
use super::schema;
use super::source::{Source, Span};
use super::spec::Spec;
use super::sweep::{self, SweepAxis};
use super::tree::{Data, NAMED_LISTS, Table, Value, Via};
use super::warnings;
use super::{Scenario, error};
use crate::metric::Unit;
use airbraid_units::Duration;
use std::borrow::Cow;

/// Largest size of the trees of all cells together, as text \[byte\].
const CELL_TEXT_MAX: usize = 64_000_000;

/// Largest product of cells and replications: the results of all are kept until the end.
const RUNS_MAX: u64 = 100_000;

/// A scenario, ready to run: one cell where nothing is swept.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The file, as it was given.
    pub file: String,
    pub title: String,
    /// The question that it answers.
    pub question: String,
    /// The swept keys, in the order of the file.
    pub axes: Vec<Axis>,
    /// Every combination of the axes' values, the last axis fastest.
    pub cells: Vec<Cell>,
    /// The expectations of the results.
    pub expectations: Vec<Expectation>,
    /// The reason why the expectations do not hold for these runs: an option gave them another duration or warm-up than
    /// the expectations are written for.
    pub unjudged: Option<String>,
    /// Notes on allowed settings that are probably not meant.
    pub warnings: Vec<String>,
    scenario: Scenario,
}

#[derive(Clone, Debug)]
pub struct Axis {
    pub key: String,
    pub values: Vec<serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Resolved {
    /// Its dotted path, as `--set` takes it.
    pub key: String,
    pub value: String,
    /// The origin: `trunk.toml:12:12`, `--set`, `default: ns-2`.
    pub from: String,
}

impl Plan {
    /// The same plan without the cells that have no expectation; all of them where none has one.
    ///
    /// Its cells are no longer every combination of the axes' values.
    #[must_use]
    pub fn of_expected_cells(mut self) -> Self {
        let mut expected: Vec<usize> = self.expectations.iter().flat_map(|e| e.cells.iter().copied()).collect();
        expected.sort_unstable();
        expected.dedup();
        if expected.is_empty() {
            return self;
        }
        for cell in self.expectations.iter_mut().flat_map(|e| &mut e.cells) {
            *cell = expected.partition_point(|before| before < cell);
        }
        let mut index = 0..;
        self.cells.retain(|_| index.next().is_some_and(|index| expected.binary_search(&index).is_ok()));
        self
    }

    /// Every resolved value of the first cell, with its origin: the scenario is read again for it.
    pub fn resolved(&self) -> Vec<Resolved> {
        let sources = &self.scenario.sources;
        let lines: Vec<_> = sources.iter().map(|source| error::Lines::of(&source.text)).collect();
        let noted = noted(&self.scenario).unwrap_or_default();
        noted.into_iter().map(|note| resolved(note, sources, &lines)).collect()
    }

    /// The metric that `path` names as the scenario writes it: its key in the summary, and its unit.
    ///
    /// # Errors
    /// No cell has it: with the nearest name.
    pub fn metric(&self, path: &str) -> Result<(String, Unit), String> {
        let mut refused = None;
        for cell in &self.cells {
            match metric::resolve(path, &cell.spec) {
                Ok(found) => return Ok(found),
                Err(complaint) => refused = refused.or(Some(complaint)),
            }
        }
        let Complaint { message, help } = refused.unwrap_or_else(|| Complaint::bare("there is no cell"));
        Err(help.map_or_else(|| message.clone(), |help| format!("{message}: {help}")))
    }
}

/// Resolves every cell of `scenario`.
pub(crate) fn make(scenario: &Scenario) -> Result<Plan, Errors> {
    let sources = &scenario.sources;
    let fail = |problems: Vec<Problem>| errors(problems, sources);
    let root = scenario.root();
    let of_file = sweep::axes(&root).map_err(fail)?;
    let tables = plan_tables::apply(root, &scenario.overrides).map_err(fail)?;
    let PlanTables { root, overrides } = &tables;
    let axes = axes(&tables).map_err(fail)?;
    let all = sweep::known(&of_file, &sweep::axes(root).map_err(fail)?);
    let cells = cells(sources, &tables, &axes)?;
    let expectations = expect::read(root, &all, &cells, sources).map_err(fail)?;
    let Some(first) = cells.first() else {
        return Err(Errors::from(Error::of_file("scenario", "there is no cell", "")));
    };
    let axes = axes
        .iter()
        .map(|axis| Axis { key: axis.path.clone(), values: axis.values.iter().map(Value::to_json).collect() });
    let mut warnings = of_cells(&cells);
    if root.get(schema::QUESTION_BEFORE).is_some() {
        warnings.insert(0, format!("`{}` is now called `question`", schema::QUESTION_BEFORE));
    }
    let unjudged = unjudged(root, overrides, &first.spec, &expectations);
    Ok(Plan {
        file: sources.first().map(|s| s.name.clone()).unwrap_or_default(),
        title: first.spec.title.clone(),
        question: first.spec.question.clone(),
        axes: axes.collect(),
        expectations,
        unjudged,
        warnings,
        cells,
        scenario: scenario.clone(),
    })
}

/// The axes of the runs: those of the file, as options have changed them.
fn axes(PlanTables { root, overrides }: &PlanTables) -> Result<Vec<SweepAxis>, Vec<Problem>> {
    let mut axes = sweep::axes(root)?;
    sweep::check_tables(&axes, overrides)?;
    sweep::pin(&mut axes, overrides);
    Ok(axes)
}

/// Every resolved value of the first cell of a scenario that has a plan.
fn noted(scenario: &Scenario) -> Option<Vec<ResolvedValue>> {
    let tables = plan_tables::apply(scenario.root(), &scenario.overrides).ok()?;
    let axes = axes(&tables).ok()?;
    let cx = Context::new(true);
    cell(&cx, &tables, &axes, &vec![0; axes.len()]).ok()?;
    cx.finish(&scenario.sources).ok()
}

/// The reason why expectations of the file do not hold for runs that options made longer or shorter.
fn unjudged(root: &Table, overrides: &[Override], spec: &Spec, expectations: &[Expectation]) -> Option<String> {
    let is_of_file = expectations.iter().any(|expectation| expectation.line > 0);
    let is_said = overrides.iter().any(|said| said.path == "run" || said.path.starts_with("run."));
    if !is_of_file || !is_said {
        return None;
    }
    let Some(Data::Table(run)) = root.get("run").map(|value| &value.data) else { return None };
    let written = |key: &str| run.get(key).and_then(|value| reader::quantity::<Duration>(value).ok());
    let duration = written("duration")?;
    let warm_up = written("warm_up").unwrap_or_default();
    let same = duration == spec.duration && warm_up == spec.warm_up;
    (!same).then(|| {
        let after = if warm_up.is_zero() { String::new() } else { format!(" after {warm_up} of warm-up") };
        format!("written for a run of {duration}{after}")
    })
}

/// Every cell.
fn cells(sources: &[Source], tables: &PlanTables, axes: &[SweepAxis]) -> Result<Vec<Cell>, Errors> {
    let fail = |problems: Vec<Problem>| errors(problems, sources);
    let place = tables.root.get("sweep").map_or(TOP, |v| v.place);
    let combinations = sweep::cells(axes);
    let text = sources.first().map_or(0, |s| s.text.len());
    if combinations.len().saturating_mul(text) > CELL_TEXT_MAX {
        let message = format!("{} cells of a file of {text} byte are too much", combinations.len());
        return Err(fail(vec![Problem::at(place, Complaint::new(message, "sweep fewer values"))]));
    }
    let mut cells: Vec<Cell> = Vec::with_capacity(combinations.len());
    for combination in &combinations {
        let cx = Context::new(false);
        let (cell, mut problems) = match cell(&cx, tables, axes, combination) {
            Ok(cell) => (Some(cell), Vec::new()),
            Err(problems) => (None, problems),
        };
        problems.extend(cx.into_problems());
        match cell.filter(|_| problems.is_empty()) {
            Some(cell) => cells.push(cell),
            None => return Err(fail(problems)),
        }
    }
    let runs: u64 = cells.iter().map(|cell| u64::from(cell.spec.replications)).sum();
    if runs > RUNS_MAX {
        let complaint = Complaint::new(
            format!("{runs} runs are too many"),
            format!("at most {RUNS_MAX}: fewer cells or replications"),
        );
        return Err(fail(vec![Problem::at(place, complaint)]));
    }
    Ok(cells)
}

/// Largest number of cells beside the first that are looked at for notes.
const NOTED_CELLS_MAX: usize = 32;

/// The warnings of the first cell, and those of others with the cell that they are about.
fn of_cells(cells: &[Cell]) -> Vec<String> {
    let mut all = cells.first().map(|cell| warnings::of(&cell.spec)).unwrap_or_default();
    let mut bare = all.clone();
    for cell in cells.iter().skip(1).take(NOTED_CELLS_MAX) {
        for warning in warnings::of(&cell.spec) {
            if !bare.contains(&warning) {
                all.push(format!("where {}: {warning}", cell.label));
                bare.push(warning);
            }
        }
    }
    all
}

/// The keys of `scenario`, as `--set` names them: values, not whole tables or lists of tables.
pub(crate) fn keys(scenario: &Scenario) -> Vec<String> {
    let cx = Context::listing();
    schema::read(&cx, &scenario.root(), TOP);
    let all = cx.into_keys();
    let is_table = |key: &String| {
        let inside = format!("{key}.");
        NAMED_LISTS.contains(&key.as_str()) || all.iter().any(|other| other.starts_with(&inside))
    };
    let mut keys: Vec<String> = all.iter().filter(|key| !is_table(key)).cloned().collect();
    keys.sort();
    keys.dedup();
    keys
}

/// The place of an error about the file as a whole.
const TOP: Span = Span { source: 0, start: 0, end: 0 };

/// Reads one cell, with the errors of its overrides. Those of its values are noted in `cx`.
fn cell(
    cx: &Context,
    PlanTables { root, overrides }: &PlanTables,
    axes: &[SweepAxis],
    combination: &[usize],
) -> Result<Cell, Vec<Problem>> {
    let mut tree = Cow::Borrowed(root);
    let mut problems = Vec::new();
    let mut values = Vec::with_capacity(axes.len());
    for (axis, index) in axes.iter().zip(combination) {
        let value = &axis.values[*index];
        problems.extend(overrides::apply(tree.to_mut(), &axis.path, axis.path_place, value).err());
        values.push((axis.path.clone(), value.clone()));
    }
    for said in overrides {
        problems.extend(overrides::apply(tree.to_mut(), &said.path, said.path_place, &said.value).err());
    }
    let spec = schema::read(cx, &tree, TOP);
    if !problems.is_empty() {
        return Err(problems);
    }
    let set = values.iter().map(|(path, value)| (path.clone(), value.to_json())).collect();
    let label: Vec<String> = values.iter().map(|(path, value)| format!("{path} = {}", bare(value))).collect();
    Ok(Cell { set, label: label.join(", "), spec, values })
}

/// A value without the quotes of a text.
fn bare(value: &Value) -> String {
    value.show().replace('"', "")
}

fn resolved(note: ResolvedValue, sources: &[Source], lines: &[error::Lines<'_>]) -> Resolved {
    let from = match note.from {
        From::Default(why) if why.is_empty() => "default".to_owned(),
        From::Default(why) => format!("default: {why}"),
        From::Written { place, via, label } => {
            let place = written(place, via, sources, lines);
            label.map_or_else(|| place.clone(), |label| format!("{label} at {place}"))
        }
    };
    Resolved { key: note.path, value: note.value, from }
}

fn written(place: Span, via: Via, sources: &[Source], lines: &[error::Lines<'_>]) -> String {
    let Some((source, lines)) = sources.get(place.source).zip(lines.get(place.source)) else {
        return "nowhere".to_owned();
    };
    let (line, column) = lines.line_and_column(place.start);
    match via {
        Via::File => format!("{}:{line}:{column}", source.name),
        Via::Sweep if place.source == 0 => format!("[sweep] at {}:{line}:{column}", source.name),
        Via::Sweep | Via::Option => format!("{} {}", source.name, source.text),
    }
}
