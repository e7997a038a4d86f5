//! Scenarios: read, changed, explained, run.

use crate::error::{Kind, json, scenario as wrong};
use crate::run::Run;
use airbraid_campaign::store::Key;
use airbraid_campaign::{Made, Recorded, Results, map, output, plot, report};
use airbraid_sim::RunOutput;
use airbraid_sim::scenario::{self, Cell, Errors, Plan};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A scenario whose every cell is resolved; its errors were reported when it was made.
#[pyclass(frozen, module = "airbraid._core")]
#[derive(Debug)]
pub struct Scenario {
    name: String,
    text: String,
    said: Vec<String>,
    plan: Plan,
    made: Made,
}

impl Scenario {
    fn new(read: Result<scenario::Scenario, Errors>, said: Vec<String>) -> PyResult<Self> {
        let made = read.and_then(|mut scenario| {
            for argument in &said {
                scenario.set("--set", argument)?;
            }
            let plan = scenario.plan()?;
            Ok((scenario, plan))
        });
        let (scenario, plan) = made.map_err(|errors| wrong(&errors))?;
        let (name, text) = (scenario.name().to_owned(), scenario.text().to_owned());
        let made = Made::of("airbraid run", &scenario, &plan);
        Ok(Self { name, text, said, plan, made })
    }

    fn cell(&self, index: usize) -> PyResult<&Cell> {
        let count = self.plan.cells.len();
        self.plan.cells.get(index).ok_or_else(|| PyIndexError::new_err(format!("there are {count} cells")))
    }

    /// Every cell with every replication, one after the other; the first of a cell records what `first` says.
    fn results(&self, py: Python<'_>, first: Recorded<'_>) -> PyResult<(Results, Vec<Vec<RunOutput>>)> {
        let mut outcomes: Vec<Vec<RunOutput>> = Vec::with_capacity(self.plan.cells.len());
        for cell in &self.plan.cells {
            let one = |k: u32| {
                let recorded = if k == 0 { first } else { Recorded::LIMITS };
                Run::new(py, &cell.spec, cell.spec.seed.wrapping_add(u64::from(k)), recorded).map(Run::into_output)
            };
            outcomes.push((0..cell.spec.replications).map(one).collect::<PyResult<_>>()?);
        }
        let mut results = Results::new(&self.plan, &mut outcomes);
        results.made = Some(self.made.clone());
        Ok((results, outcomes))
    }
}

/// A cell as Python has it: swept keys and values as JSON, label, hash of what is simulated, seed of the first
/// replication, replications.
type CellParts = (String, String, Vec<u8>, u64, u32);

#[pymethods]
impl Scenario {
    /// Reads a file and overrides it by `said`, a list of `key=value`.
    #[staticmethod]
    #[pyo3(signature = (path, said=vec![]))]
    fn load(py: Python<'_>, path: PathBuf, said: Vec<String>) -> PyResult<Self> {
        py.detach(|| Self::new(scenario::Scenario::read(&path), said))
    }

    /// Reads a text; `name` is its name in messages.
    #[staticmethod]
    #[pyo3(signature = (text, name, said=vec![]))]
    fn loads(py: Python<'_>, text: &str, name: &str, said: Vec<String>) -> PyResult<Self> {
        py.detach(|| Self::new(scenario::Scenario::parse(name, text), said))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn said(&self) -> Vec<String> {
        self.said.clone()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.plan.title
    }

    #[getter]
    fn question(&self) -> &str {
        &self.plan.question
    }

    /// Every cell.
    fn cells(&self, py: Python<'_>) -> PyResult<Vec<CellParts>> {
        let one = |cell: &Cell| {
            let set: serde_json::Map<_, _> = cell.set.iter().cloned().collect();
            let hash = Key::new(&cell.spec, 0).scenario.to_vec();
            Ok((json(&set)?, cell.label.clone(), hash, cell.spec.seed, cell.spec.replications))
        };
        py.detach(|| self.plan.cells.iter().map(one).collect())
    }

    /// The text of `airbraid explain`.
    fn explain(&self) -> String {
        self.plan.explain()
    }

    /// The object of `airbraid explain --json`.
    fn explain_json(&self) -> PyResult<String> {
        json(&report::explanation(&self.plan))
    }

    /// The nodes of a cell with their connections.
    fn map_json(&self, cell: usize) -> PyResult<String> {
        json(&map::Map::of(&self.cell(cell)?.spec))
    }

    /// Runs a cell once.
    #[pyo3(signature = (cell, seed, pcap=false, timeline=false))]
    fn run(&self, py: Python<'_>, cell: usize, seed: u64, pcap: bool, timeline: bool) -> PyResult<Run> {
        Run::new(py, &self.cell(cell)?.spec, seed, Recorded { pcap, timeline, ..Recorded::LIMITS })
    }

    /// Runs every cell with every replication, one after the other: the object of `airbraid run --json`.
    fn results_json(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.results(py, Recorded::LIMITS)?.0)
    }

    /// Does the same and writes what `airbraid run --out` writes; gives the path of its page.
    fn report(&self, py: Python<'_>, dir: PathBuf) -> PyResult<PathBuf> {
        let failed = |e: std::io::Error| Kind::Argument.with(&format!("{}: {e}", dir.display()));
        output::check_target(&dir).map_err(failed)?;
        let (results, outcomes) = self.results(py, Recorded { courses: true, ..Recorded::LIMITS })?;
        let pictures = plot::files(&self.plan, &results, &[]);
        output::write(&dir, &results, &outcomes, &pictures).map_err(failed)?;
        Ok(dir.join(output::REPORT))
    }
}

/// Writes the page of the result in `dir` again, as `airbraid report`; gives its path.
///
/// # Errors
/// There is no result that can be shown, or it cannot be written.
#[pyfunction]
pub fn report_of(dir: PathBuf) -> PyResult<PathBuf> {
    output::report(&dir).map_err(|e| Kind::Argument.with(&format!("{}: {e}", dir.display())))
}
