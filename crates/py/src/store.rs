//! The run store, which the command has too.

use crate::error::{Kind, json};
use airbraid_campaign::store::{self, Build, Found, Key, StoreError};
use airbraid_sim::facts::Facts;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An open run store. One process writes at a time.
#[pyclass(frozen, module = "airbraid._core")]
#[derive(Debug)]
pub struct Store {
    inner: Mutex<store::Store>,
}

impl Store {
    fn lock(&self) -> MutexGuard<'_, store::Store> {
        // A store whose writer panicked has written a transaction or none of it.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(error: &StoreError) -> PyErr {
    Kind::Store.with(&error.to_string())
}

fn key(scenario: [u8; 32], seed: u64) -> Key {
    Key { scenario, seed }
}

#[pymethods]
impl Store {
    /// Opens or makes the store in `dir`; the second value is a message for the user.
    #[staticmethod]
    fn open(py: Python<'_>, dir: PathBuf) -> PyResult<(Self, Option<String>)> {
        let opened = py.detach(|| store::Store::open(&dir, Build::this()));
        let (inner, said) = opened.map_err(|e| refused(&e))?;
        Ok((Self { inner: Mutex::new(inner) }, said))
    }

    /// The database.
    #[getter]
    fn path(&self) -> PathBuf {
        self.lock().path().to_owned()
    }

    /// The facts of a run as JSON, and whether a damaged row was removed; `None` for a run that was not done.
    fn get(&self, py: Python<'_>, scenario: [u8; 32], seed: u64) -> PyResult<(Option<String>, bool)> {
        let found = py.detach(|| self.lock().get(&key(scenario, seed)));
        Ok(match found.map_err(|e| refused(&e))? {
            Found::Facts(facts) => (Some(json(&facts)?), false),
            Found::Nothing => (None, false),
            Found::Damaged => (None, true),
        })
    }

    /// Keeps the facts of several runs, all of them or none.
    fn put(&self, py: Python<'_>, runs: Vec<([u8; 32], u64, String)>) -> PyResult<()> {
        py.detach(|| {
            let read = |(scenario, seed, text): ([u8; 32], u64, String)| {
                let facts: Facts = serde_json::from_str(&text).map_err(|e| Kind::Store.with(&format!("facts: {e}")))?;
                Ok((key(scenario, seed), facts))
            };
            let rows = runs.into_iter().map(read).collect::<PyResult<Vec<_>>>()?;
            self.lock().put(&rows).map_err(|e| refused(&e))
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        self.lock().len().map(|n| n as usize).map_err(|e| refused(&e))
    }
}
