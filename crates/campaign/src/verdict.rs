//! Whether results are what the scenario expects.

use crate::report::Results;
use crate::statistics::Summary;
use airbraid_sim::scenario::{Expectation, Plan};
use serde::Serialize;

/// One expectation in one cell.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The metric as the scenario writes it.
    pub metric: String,
    /// The cell as text, empty where nothing is swept.
    pub cell: String,
    /// The expectation, as text.
    pub expected: String,
    /// The result, as text.
    pub found: String,
    /// The number over the replications.
    pub summary: Option<Summary>,
    /// Whether the mean is as expected.
    pub holds: bool,
    /// The line of the scenario.
    pub line: usize,
}

/// Judges `results` by the expectations of `plan`, on the mean over the replications of each cell; none where they are
/// written for other runs.
pub fn judge(plan: &Plan, results: &Results) -> Vec<Verdict> {
    judge_by(plan, &|cell, key| results.cells.get(cell)?.metric(key))
}

/// The same, of results whose `metric` has the summary of a metric in a cell.
pub fn judge_by(plan: &Plan, metric: &dyn Fn(usize, &str) -> Option<Summary>) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    // What an option expects is meant for these runs.
    let judged = |expectation: &&Expectation| plan.unjudged.is_none() || expectation.line == 0;
    for expectation in plan.expectations.iter().filter(judged) {
        for (index, cell) in expectation.cells.iter().filter_map(|i| Some((*i, plan.cells.get(*i)?))) {
            let summary = metric(index, &expectation.key);
            let mean = summary.as_ref().and_then(|s| s.mean);
            verdicts.push(Verdict {
                metric: expectation.metric.clone(),
                cell: cell.label.clone(),
                expected: expectation.bounds(),
                found: mean.map_or_else(|| "none".to_owned(), |x| expectation.unit.show(x)),
                summary,
                holds: expectation.holds(mean),
                line: expectation.line,
            });
        }
    }
    verdicts
}
