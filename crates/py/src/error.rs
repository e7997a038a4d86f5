//! Errors as Python's exceptions: the classes of `airbraid.errors`, with the text that the command prints.

use airbraid_sim::scenario::Errors;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// A class of `airbraid.errors`.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A scenario is wrong.
    Scenario,
    /// A run failed.
    Run,
    /// The run store cannot be used.
    Store,
    /// An argument of a plan or of a reproduction is wrong.
    Argument,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Scenario => "ScenarioError",
            Self::Run => "RunError",
            Self::Store => "StoreError",
            Self::Argument => "ArgumentError",
        }
    }

    fn class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static CLASSES: [PyOnceLock<Py<PyType>>; 4] = [const { PyOnceLock::new() }; 4];
        CLASSES[self as usize].import(py, "airbraid.errors", self.name())
    }

    /// The exception with this text.
    pub fn with(self, message: &str) -> PyErr {
        Python::attach(|py| match self.class(py).and_then(|class| class.call1((message,))) {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        })
    }
}

/// The exception of a wrong scenario, which has each of its errors by its parts.
pub fn scenario(errors: &Errors) -> PyErr {
    let one = |e: &airbraid_sim::scenario::Error| {
        (e.file.clone(), e.line, e.column, e.message.clone(), e.value.clone(), e.remedy.clone())
    };
    let parts: Vec<_> = errors.0.iter().map(one).collect();
    Python::attach(|py| match Kind::Scenario.class(py).and_then(|class| class.call1((errors.to_string(), parts))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    })
}

/// A value as the JSON text that the command prints.
pub fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| Kind::Run.with(&format!("JSON: {e}")))
}
