//! The native module of the Python package `airbraid`: scenarios, runs, the run store, plans and reproductions as the
//! command has them.
//!
//! Bindings, no logic: what is computed is computed in `airbraid-campaign` and below, and what Python makes of it is in
//! `python/airbraid`. A run releases the interpreter's lock and starts no thread. Results cross as JSON, the same text
//! that the command prints.

mod error;
mod plan;
mod reproduce;
mod run;
mod scenario;
mod store;

use pyo3::prelude::*;

/// The two-sided quantile of Student's t: the t for which a value lies within (-t, t) with probability `level`.
///
/// `degrees`: degrees of freedom, at least 1.
#[pyfunction]
fn student_t(level: f64, degrees: usize) -> PyResult<f64> {
    airbraid_campaign::statistics::student_t(level, degrees).map_err(pyo3::exceptions::PyValueError::new_err)
}

/// The Rust core of `airbraid`.
#[pymodule]
#[pyo3(name = "_core")]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let build = airbraid_campaign::store::Build::this();
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("COMMIT", build.commit())?;
    module.add("BUILD", build.short())?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<store::Store>()?;
    module.add_class::<plan::SlotPlan>()?;
    module.add_function(wrap_pyfunction!(student_t, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan, module)?)?;
    module.add_function(wrap_pyfunction!(plan::periods, module)?)?;
    module.add_function(wrap_pyfunction!(plan::efficiency, module)?)?;
    module.add_function(wrap_pyfunction!(reproduce::reproduce, module)?)?;
    module.add_function(wrap_pyfunction!(reproduce::papers, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::report_of, module)?)
}
