//! A paper to reproduce, as its folder has it: the reference rows, the runs, the figures, and the formula of each row.
//! All of it is data; errors are reported with their place.

mod calibration;
mod constant;

use super::formula::{Expression, Formula, Needs};
use super::library::{Library, suggestion};
use super::models::{CellAxis, Entry as ModelEntry};
use super::reference::{Acceptance, Reference, Row};
use airbraid_units::named_enum;
use calibration::Calibration;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// A paper, read and checked.
#[derive(Clone, Debug)]
pub struct Paper {
    /// The name of its folder.
    pub name: String,
    /// The page's texts about it.
    pub about: About,
    /// The first seed of every run, as a setting; a run's own settings come after it. Empty: the scenario's.
    pub seed: Vec<String>,
    /// Settings of every run without `--quick`: the number of replications.
    pub full: Vec<String>,
    /// Settings of every run with `--quick`, unless the run is whole.
    pub quick: Vec<String>,
    /// Settings of every whole run with `--quick`.
    pub quick_whole: Vec<String>,
    /// Its runs, by the order of the file.
    pub runs: Vec<Run>,
    /// Its models, by the order of the file.
    pub models: Vec<ModelEntry>,
    pub calibrations: Vec<Calibration>,
    /// Its figures, by the order of the file.
    pub figures: Vec<Figure>,
    /// Its outputs, in the order of the table.
    pub rows: Vec<Output>,
}

/// The page's texts about a paper.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The code of its rows.
    pub code: String,
    pub title: String,
    pub authors: String,
    /// Publication.
    pub source: String,
    /// Its subject and its set-up here, paragraphs.
    #[serde(default)]
    pub text: Vec<String>,
    /// Rows that are off for one reason, with the reason, paragraphs.
    #[serde(default)]
    pub off: Vec<String>,
}

/// A run with its replications.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name; `group.cell` for a cell of a group.
    pub name: String,
    pub scenario: String,
    /// Its overrides of the scenario, as for `--set`.
    pub set: Vec<String>,
    /// Whether `--quick` keeps its duration.
    pub whole: bool,
}

/// An output row, with its formula.
#[derive(Clone, Debug)]
pub struct Output {
    pub row: Row,
    /// The formula; `None`: it is not computed.
    pub formula: Option<Formula>,
    /// Other formulas that the paper's words allow.
    pub readings: Vec<Reading>,
    /// The reason why no formula can be the paper's.
    pub open: Option<String>,
    /// Fits to it, or to values that it is computed from, in words.
    pub calibrated: Vec<String>,
    /// Whether it is a sum of numbers that are written down.
    pub is_arithmetic: bool,
    pub note: String,
    /// Index of its figure, if it has one.
    pub figure: Option<usize>,
}

/// Another reading of a row.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The difference, in words.
    pub is: String,
    pub formula: Formula,
}

named_enum! {
    /// The origin of a row's value, in the order of a summary.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Origin {
        /// A run or model of ours gave it, and nothing was fitted to it.
        Predicted = "predicted",
        /// A parameter was fitted to it, or to a value that it is computed from.
        Calibrated = "calibrated",
        /// No run and no model of ours is asked.
        Arithmetic = "arithmetic",
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Output {
    fn new(row: Row) -> Self {
        let (readings, calibrated) = (Vec::new(), Vec::new());
        let (formula, open, is_arithmetic, note, figure) = (None, None, false, String::new(), None);
        Self { row, formula, readings, open, calibrated, is_arithmetic, note, figure }
    }
    pub fn origin(&self) -> Origin {
        match (self.is_arithmetic, self.calibrated.is_empty()) {
            (true, _) => Origin::Arithmetic,
            (false, false) => Origin::Calibrated,
            (false, true) => Origin::Predicted,
        }
    }
    /// Its formula and those of its other readings.
    pub fn formulas(&self) -> impl Iterator<Item = &Formula> {
        self.formula.iter().chain(self.readings.iter().map(|reading| &reading.formula))
    }
}

/// A figure or table.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name, as `--only` takes it.
    pub id: String,
    /// The figures of the paper.
    pub place: String,
    pub title: String,
    pub text: String,
    pub plot: Plot,
}

#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// Label of the horizontal axis.
    pub x: String,
    /// Label of the vertical axis.
    pub y: String,
    /// The unit of the vertical axis, as rows have units.
    pub unit: String,
    /// Whether the vertical axis is logarithmic.
    pub log: bool,
    /// For courses: the value at second 0 and the growth a second, if the axis is not of time.
    pub per_second: Option<[f64; 2]>,
    /// Names at the horizontal axis instead of numbers, at 0, 1, ...
    pub names: Vec<String>,
    pub lines: Vec<Line>,
}

/// A line of a plot.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in the legend.
    pub label: String,
    /// A course, drawn over its intervals; or a list, over `x`.
    pub of: Expression,
    /// Positions of the list's elements.
    pub x: Vec<f64>,
    pub paper: Vec<[f64; 2]>,
    /// Not joined: separate marks.
    pub marks: bool,
}

// --- the file -----------------------------------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    /// The drawn number from which seeds are counted (`scripts/draw.py`).
    seed: Option<u64>,
    paper: About,
    #[serde(default)]
    full: Full,
    #[serde(default)]
    quick: Quick,
    #[serde(default, rename = "run")]
    runs: Vec<RunEntry>,
    #[serde(default, rename = "model")]
    models: Vec<ModelEntry>,
    #[serde(default, rename = "calibration")]
    calibrations: Vec<Calibration>,
    #[serde(default, rename = "figure")]
    figures: Vec<FigureEntry>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Full {
    #[serde(default)]
    set: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quick {
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    whole: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunEntry {
    name: String,
    scenario: String,
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    whole: bool,
    /// Each: the cell's name, then its settings.
    #[serde(default)]
    cells: Vec<Vec<String>>,
    /// A cell for each of these values, which are set in the scenario.
    each: Option<CellAxis>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureEntry {
    id: String,
    #[serde(rename = "where")]
    place: String,
    title: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    x: String,
    #[serde(default)]
    y: String,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    log: bool,
    per_second: Option<[f64; 2]>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default, rename = "line")]
    lines: Vec<LineEntry>,
    #[serde(default, rename = "row")]
    rows: Vec<RowEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineEntry {
    label: String,
    of: String,
    #[serde(default)]
    x: Vec<f64>,
    #[serde(default)]
    paper: Vec<[f64; 2]>,
    #[serde(default)]
    marks: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowEntry {
    id: String,
    /// Absent: not computed yet, and the note gives the reason.
    of: Option<String>,
    /// Whether it is meant to need neither a run nor a model.
    #[serde(default)]
    arithmetic: bool,
    #[serde(default)]
    readings: Vec<ReadingEntry>,
    /// The reason why the verdict is open whatever the formula gives.
    open: Option<String>,
    #[serde(default)]
    note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadingEntry {
    is: String,
    of: String,
}

/// The layout of `figures.toml`.
const SCHEMA: u32 = 1;

impl Paper {
    /// Reads the paper of this name.
    ///
    /// # Errors
    /// There is none, with the nearest name; or its files are wrong, with their places.
    pub fn read(library: &Library, name: &str) -> Result<Self, String> {
        let papers = library.papers();
        if !papers.iter().any(|paper| paper == name) {
            let names: Vec<&str> = papers.iter().map(String::as_str).collect();
            return Err(format!("there is no paper `{name}`; {}", suggestion(name, &names)));
        }
        let (text, file) = library.read(name, "figures.toml")?;
        let read: File = toml::from_str(&text).map_err(|e| format!("{file}: {e}"))?;
        let (text, table) = library.read(name, "reference.toml")?;
        let reference: Reference = toml::from_str(&text).map_err(|e| format!("{table}: {e}"))?;
        if read.schema != SCHEMA {
            return Err(format!("{file}: schema {} is not known; this airbraid reads {SCHEMA}", read.schema));
        }
        let mut paper = Self::join(name, read, reference).map_err(|e| format!("{file}: {e}"))?;
        paper.check().map_err(|e| format!("{file}: {e}"))?;
        paper.trace_calibrations();
        Ok(paper)
    }

    fn join(name: &str, file: File, reference: Reference) -> Result<Self, String> {
        let outputs = reference.rows.into_iter().filter(Row::is_output);
        let mut rows: Vec<Output> = outputs.map(Output::new).collect();
        let ids: Vec<String> = rows.iter().map(|output| output.row.id.clone()).collect();
        let index: BTreeMap<&str, usize> = ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
        let mut figures = Vec::new();
        for (number, figure) in file.figures.into_iter().enumerate() {
            for entry in &figure.rows {
                let Some(at) = index.get(entry.id.as_str()) else {
                    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                    return Err(format!("no output row is called `{}`; {}", entry.id, suggestion(&entry.id, &ids)));
                };
                fill(&mut rows[*at], entry, number).map_err(|e| format!("row {}: {e}", entry.id))?;
            }
            figures.push(self::figure(figure)?);
        }
        let first = file.seed;
        let runs: Vec<Vec<Run>> = file.runs.into_iter().map(|run| expand(run, first)).collect::<Result<_, _>>()?;
        let runs = runs.into_iter().flatten().collect();
        let seed = first.iter().map(|seed| format!("run.seed={seed}")).collect();
        let Quick { set: quick, whole: quick_whole } = file.quick;
        let full = file.full.set;
        let (name, about, calibrations) = (name.to_owned(), file.paper, file.calibrations);
        let models = file.models.into_iter().map(|model| model.from_seed(first)).collect();
        Ok(Self { name, about, seed, full, quick, quick_whole, runs, models, calibrations, figures, rows })
    }

    /// Marks each row that follows from what was fitted.
    fn trace_calibrations(&mut self) {
        let all: Vec<Vec<String>> = self.rows.iter().map(|output| self.fitted_to(output)).collect();
        for (output, calibrated) in self.rows.iter_mut().zip(all) {
            output.calibrated = calibrated;
        }
    }

    fn fitted_to(&self, output: &Output) -> Vec<String> {
        let Some(formula) = &output.formula else { return Vec::new() };
        let needs = formula.needs();
        let concerned = self.calibrations.iter().filter(|calibration| calibration.concerns(self, &needs));
        concerned.map(|calibration| calibration.what.clone()).collect()
    }

    /// Names that are used are there, and there once.
    fn check(&self) -> Result<(), String> {
        let runs = self.runs.iter().map(|run| run.name.as_str());
        let names: Vec<&str> = runs.chain(self.models.iter().map(|model| model.name.as_str())).collect();
        for (i, name) in names.iter().enumerate() {
            if names[..i].contains(name) {
                return Err(format!("two runs are called `{name}`"));
            }
        }
        for (i, figure) in self.figures.iter().enumerate() {
            if self.figures[..i].iter().any(|other| other.id == figure.id) {
                return Err(format!("two figures are called `{}`", figure.id));
            }
        }
        let of_row = |output: &Output| {
            let id = output.row.id.clone();
            output.formulas().map(move |formula| (id.clone(), formula.needs())).collect::<Vec<_>>()
        };
        let rows = self.rows.iter().flat_map(of_row);
        let figures = self.figures.iter().map(|figure| (figure.id.clone(), figure.plot.needs()));
        for (what, needs) in rows.chain(figures) {
            for run in needs.runs() {
                if self.expand(run).is_empty() && self.model(run).is_none() {
                    return Err(format!("{what}: no run is called `{run}`; {}", suggestion(run, &names)));
                }
            }
        }
        constant::refuse(self)?;
        self.calibrations.iter().try_for_each(|calibration| calibration.check(self))
    }

    /// The names of all cells of a group of runs or of a model.
    pub fn cells(&self, group: &str) -> Vec<String> {
        let runs = self.expand(&format!("{group}.*")).into_iter().map(|index| self.runs[index].name.clone());
        let model = self.models.iter().find(|model| model.name == group);
        runs.chain(model.into_iter().flat_map(ModelEntry::cells)).collect()
    }

    /// The runs that a formula names: one, or all cells of a group.
    pub fn expand(&self, name: &str) -> Vec<usize> {
        let fits = |run: &Run| match name.strip_suffix(".*") {
            Some(group) => run.name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.')),
            None => run.name == name,
        };
        self.runs.iter().enumerate().filter(|(_, run)| fits(run)).map(|(i, _)| i).collect()
    }

    /// The model that a formula names, itself, one of its cells or all of them.
    pub fn model(&self, name: &str) -> Option<&ModelEntry> {
        self.models.iter().find(|model| match (&model.each, name.strip_prefix(&model.name)) {
            (None, Some(rest)) => rest.is_empty(),
            (Some(_), Some(rest)) => rest.starts_with('.'),
            (_, None) => false,
        })
    }

    /// Whether row number `index` is selected by one of `only`: a row (with or without the paper's code, or the first
    /// parts of it) or a figure. Without any, every row is.
    pub fn selects(&self, only: &[String], index: usize) -> bool {
        let output = &self.rows[index];
        let figure = output.figure.map(|f| self.figures[f].id.as_str());
        only.is_empty() || only.iter().any(|id| figure == Some(id) || self.is_row(id, &output.row.id))
    }

    fn is_row(&self, given: &str, id: &str) -> bool {
        let starts = |id: &str| id.strip_prefix(given).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let bare = id.strip_prefix(&self.about.code).and_then(|rest| rest.strip_prefix('.'));
        starts(id) || bare.is_some_and(starts)
    }

    /// Refuses an ID that selects nothing.
    ///
    /// # Errors
    /// Names the nearest.
    pub fn check_only(&self, only: &[String]) -> Result<(), String> {
        for id in only {
            let found = (0..self.rows.len()).any(|i| self.selects(std::slice::from_ref(id), i));
            if !found && !self.figures.iter().any(|figure| figure.id == *id) {
                let figures = self.figures.iter().map(|figure| figure.id.as_str());
                let rows = self.rows.iter().map(|output| output.row.id.as_str());
                let names: Vec<&str> = figures.chain(rows).collect();
                return Err(format!(
                    "--only {id}: neither a figure nor a row of {}; {}",
                    self.name,
                    suggestion(id, &names)
                ));
            }
        }
        Ok(())
    }
}

impl Plot {
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        self.lines.iter().for_each(|line| line.of.needs(&mut needs));
        needs
    }
}

/// Gives a row what the file has about it. One without a formula must say why.
fn fill(output: &mut Output, entry: &RowEntry, figure: usize) -> Result<(), String> {
    if output.figure.is_some() {
        return Err("it is computed twice".to_owned());
    }
    if entry.of.is_none() && entry.note.is_empty() {
        return Err("neither a formula nor a note that says why not".to_owned());
    }
    let read = |of: &String| Formula::read(of);
    let reading = |reading: &ReadingEntry| Ok(Reading { is: reading.is.clone(), formula: read(&reading.of)? });
    output.formula = entry.of.as_ref().map(read).transpose()?;
    output.readings = entry.readings.iter().map(reading).collect::<Result<_, String>>()?;
    (output.figure, output.is_arithmetic) = (Some(figure), entry.arithmetic);
    (output.open, output.note) = (entry.open.clone(), entry.note.clone());
    let is_ordering = output.row.acceptance() == Acceptance::Ordering;
    if output.formulas().any(|formula| matches!(formula, Formula::Relation(_)) != is_ordering) {
        return Err("an ordering takes a relation, a value takes a value".to_owned());
    }
    if entry.arithmetic && output.formulas().any(|formula| formula.needs().runs().next().is_some()) {
        return Err("`arithmetic` is for formulas that need no run and no model; this one does".to_owned());
    }
    Ok(())
}

fn figure(entry: FigureEntry) -> Result<Figure, String> {
    let mut lines = Vec::new();
    for line in entry.lines {
        let wrong = |e: String| format!("figure {}, line `{}`: {e}", entry.id, line.label);
        let Formula::Value(of) = Formula::read(&line.of).map_err(wrong)? else {
            return Err(wrong("a line takes a value".to_owned()));
        };
        lines.push(Line { label: line.label, of, x: line.x, paper: line.paper, marks: line.marks });
    }
    let plot = Plot {
        x: entry.x,
        y: entry.y,
        unit: entry.unit,
        log: entry.log,
        per_second: entry.per_second,
        names: entry.names,
        lines,
    };
    Ok(Figure { id: entry.id, place: entry.place, title: entry.title, text: entry.text, plot })
}

/// A run, or one for each of its cells.
fn expand(entry: RunEntry, first_seed: Option<u64>) -> Result<Vec<Run>, String> {
    let RunEntry { name, scenario, set, whole, cells, each } = entry;
    let each = each.map(|each| each.settings(first_seed)).transpose().map_err(|e| format!("run `{name}`: {e}"))?;
    if cells.is_empty() && each.is_none() {
        return Ok(vec![Run { name, scenario, set, whole }]);
    }
    let cell = |(label, own): (String, Vec<String>)| {
        let set = set.iter().cloned().chain(own).collect();
        Run { name: format!("{name}.{label}"), scenario: scenario.clone(), set, whole }
    };
    let listed = |mut cell: Vec<String>| {
        let label = if cell.is_empty() { String::new() } else { cell.remove(0) };
        (label, cell)
    };
    Ok(cells.into_iter().map(listed).chain(each.into_iter().flatten()).map(cell).collect())
}
