//! One run: its result, its facts and its recordings.

use crate::error::{Kind, json};
use airbraid_campaign::execute::{once, simulate};
use airbraid_campaign::{Job, Recorded};
use airbraid_sim::facts::Facts;
use airbraid_sim::scenario::spec::Spec;
use airbraid_sim::{RunOutput, TIMELINE};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// The result of one run.
#[pyclass(frozen, module = "airbraid._core")]
#[derive(Debug)]
pub struct Run {
    output: RunOutput,
}

impl Run {
    /// Runs `spec` on this thread without the interpreter's lock. Where Python's signals are heard (on its main
    /// thread), one of them stops the run.
    ///
    /// # Errors
    /// The run's message, or the signal's exception: `KeyboardInterrupt`.
    pub fn new(py: Python<'_>, spec: &Spec, seed: u64, recorded: Recorded<'_>) -> PyResult<Self> {
        let output = py.detach(|| play(spec, seed, recorded))?;
        Ok(Self { output })
    }

    /// The result of the run alone.
    pub fn into_output(self) -> RunOutput {
        self.output
    }
}

fn play(spec: &Spec, seed: u64, recorded: Recorded<'_>) -> PyResult<RunOutput> {
    let mut signal = None;
    let mut go_on = |_| {
        signal = Python::attach(|py| py.check_signals()).err();
        signal.is_none()
    };
    let outcome = once(&Job { spec, seed, recorded, threads: 1 }, &simulate, &mut go_on);
    match (signal, outcome) {
        (Some(signal), _) => Err(signal),
        (None, outcome) => outcome.map_err(|message| Kind::Run.with(&message)),
    }
}

#[pymethods]
impl Run {
    /// The result as the command's `--json` has it: one element of `runs`.
    fn result_json(&self) -> PyResult<String> {
        json(&self.output.result)
    }

    /// Every number by its name in a summary, and every series, as the run store keeps them.
    fn facts_json(&self) -> PyResult<String> {
        json(&Facts::of(&self.output.result))
    }

    /// The frame timeline, if it was asked for.
    #[getter]
    fn timeline(&self) -> Option<&str> {
        self.output.file(TIMELINE).and_then(|text| str::from_utf8(text).ok())
    }

    /// Captures (pcapng) by file name, if they were asked for.
    #[getter]
    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let captures = PyDict::new(py);
        for file in &self.output.files {
            if let Some(bytes) = file.bytes.as_deref().filter(|_| file.is_capture()) {
                captures.set_item(&file.name, PyBytes::new(py, bytes))?;
            }
        }
        Ok(captures)
    }
}
