//! Plans of slots and the efficiency of MACs, as `airbraid plan` has them.

use crate::error::{Kind, json};
use airbraid_campaign::slots;
use airbraid_units::{Duration, Quantity};
use pyo3::prelude::*;

/// A plan of slots beside those of the other policies.
#[pyclass(frozen, module = "airbraid._core")]
#[derive(Debug)]
pub struct SlotPlan {
    report: slots::Report,
    theta: f64,
    switch: Duration,
}

fn wrong(message: impl AsRef<str>) -> PyErr {
    Kind::Argument.with(message.as_ref())
}

/// Parses `options`, a JSON object by the names of the command's options.
fn asked<'a, T: serde::Deserialize<'a>>(options: &'a str) -> PyResult<T> {
    serde_json::from_str(options).map_err(|e| wrong(format!("the options: {e}")))
}

/// Plans slots; `options` is a JSON object by the names of the options of `airbraid plan`.
///
/// The second value has the access points that are not worth their switch.
#[pyfunction]
pub fn plan(py: Python<'_>, options: &str) -> PyResult<(SlotPlan, Vec<String>)> {
    let (request, unused) = asked::<slots::PlanOptions>(options)?.request().map_err(wrong)?;
    let (theta, switch) = (request.tcp.theta, request.tcp.switch);
    let report = py.detach(|| slots::plan(&request)).map_err(|e| wrong(e.to_string()))?;
    Ok((SlotPlan { report, theta, switch }, unused))
}

/// Compares periods: the object of `airbraid plan --periods ... --json`.
#[pyfunction]
pub fn periods(py: Python<'_>, options: &str, periods: &str) -> PyResult<String> {
    let asked: slots::PlanOptions = asked(options)?;
    let rows = py.detach(|| asked.periods(periods)).map_err(wrong)?;
    json(&serde_json::json!({ "periods": rows }))
}

/// The object of `airbraid plan efficiency --json`; `options` likewise.
#[pyfunction]
pub fn efficiency(options: &str) -> PyResult<String> {
    let asked: airbraid_campaign::efficiency::EfficiencyOptions = asked(options)?;
    let report =
        asked.request().and_then(|request| airbraid_campaign::efficiency::estimate(&request)).map_err(wrong)?;
    json(&report)
}

impl SlotPlan {
    fn of(&self, policy: &str) -> PyResult<&slots::Plan> {
        let found = self.report.plans.iter().find(|plan| plan.policy.name() == policy);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.report.plans.iter().map(|plan| plan.policy.name()).collect();
            wrong(format!("no plan is by `{policy}`; there are {}", names.join(", ")))
        })
    }
}

#[pymethods]
impl SlotPlan {
    /// The object of `airbraid plan --json`.
    fn report_json(&self) -> PyResult<String> {
        json(&self.report)
    }

    /// The text of `airbraid plan`.
    fn text(&self) -> String {
        slots::text(&self.report)
    }

    /// Map and round-trip times as SVG.
    fn svg(&self) -> String {
        slots::svg(&self.report)
    }

    /// Round-trip times \[s\] that a policy gives, sorted: a list for each access point, empty without connection.
    fn rtt_samples_s(&self, policy: &str) -> PyResult<Vec<Vec<f64>>> {
        let samples = self.of(policy)?.samples.iter();
        Ok(samples.map(|sample| sample.as_ref().map(|s| s.rtts_s.clone()).unwrap_or_default()).collect())
    }

    /// Mean round-trip time \[s\] of a policy's access point (counted from 0) with a wired delay: the closed form.
    fn rtt_mean_s(&self, policy: &str, access_point: usize, delay: &str) -> PyResult<f64> {
        let delay = Duration::parse(delay).map_err(|e| wrong(format!("delay {delay}: {e}")))?;
        let plan = self.of(policy)?;
        if access_point >= plan.access_points.len() {
            return Err(wrong(format!("there are {} access points", plan.access_points.len())));
        }
        let connection = slots::Connection::new(&plan.timetable, access_point, self.switch);
        Ok(connection.mean_s(delay, self.theta))
    }
}
