//! The wish for a picture: `flow.download.goodput ~ radio.rate | trunk.air.policy.distributor`.

use super::LINES_MAX;
use super::places::has_numbers;
use crate::report::Results;
use crate::reproduce::library::suggestion;
use airbraid_sim::metric::Unit;
use airbraid_sim::scenario::Plan;

/// Metrics over a swept key, with a line for each combination of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// For each panel the metric as the scenario writes it, its key in the summary and its unit.
    pub(super) metrics: Vec<(String, String, Unit)>,
    /// The key along the axis.
    pub(super) x: String,
    /// The keys whose values have a line each.
    pub(super) lines: Vec<String>,
    /// The keys whose values have a panel each.
    pub(super) panels: Vec<String>,
}

impl Picture {
    /// Reads `METRIC ~ KEY | KEY, ...`; without `|` all other swept keys have lines, without `~` the key is chosen.
    ///
    /// # Errors
    /// The metric does not exist, or a key is not swept: with the nearest.
    pub fn read(text: &str, plan: &Plan) -> Result<Self, String> {
        let (metric, keys) = text.split_once('~').unwrap_or((text, ""));
        let metric = metric.trim();
        let (key, unit) = plan.metric(metric)?;
        let swept: Vec<&str> = plan.axes.iter().map(|axis| axis.key.as_str()).collect();
        if swept.is_empty() {
            return Err("nothing is swept: --set 'sweep.KEY=[value, value]' sweeps a key".to_owned());
        }
        let named = |key: &str| match swept.iter().find(|other| **other == key) {
            Some(found) => Ok((*found).to_owned()),
            None => Err(format!("`{key}` is not swept: {}", suggestion(key, &swept))),
        };
        let (x, lines) = keys.split_once('|').unwrap_or((keys, ""));
        let x = if x.trim().is_empty() { best_axis(plan) } else { named(x.trim())? };
        let given: Vec<&str> = lines.split(',').map(str::trim).filter(|key| !key.is_empty()).collect();
        let lines: Vec<String> = given.iter().map(|key| named(key)).collect::<Result<_, _>>()?;
        let metrics = vec![(metric.to_owned(), key, unit)];
        if lines.is_empty() {
            return Ok(Self::over(plan, metrics, x));
        }
        let rest = swept.iter().filter(|key| **key != x && !lines.iter().any(|line| line == *key));
        let panels = rest.map(|key| (*key).to_owned()).collect();
        Ok(Self { metrics, x, lines, panels })
    }

    /// The goodput of each flow over the key that is best along an axis; nothing without flows.
    pub(super) fn fitting(plan: &Plan, results: &Results) -> Option<Self> {
        let run = results.cells.iter().find_map(|cell| cell.runs.first())?;
        let goodput = |name: &str| {
            let metric = format!("flow.{name}.goodput");
            let key = format!("{metric}{}", Unit::BitPerSecond.suffix());
            (metric, key, Unit::BitPerSecond)
        };
        let metrics: Vec<_> = run.flows.iter().map(|flow| goodput(&flow.name)).collect();
        (!metrics.is_empty()).then(|| Self::over(plan, metrics, best_axis(plan)))
    }

    /// The other keys have lines as long as these can be told apart, then panels.
    fn over(plan: &Plan, metrics: Vec<(String, String, Unit)>, x: String) -> Self {
        let (mut lines, mut panels, mut count) = (Vec::new(), Vec::new(), 1);
        for axis in plan.axes.iter().rev().filter(|axis| axis.key != x) {
            let fits = count * axis.values.len() <= LINES_MAX && panels.is_empty();
            if fits {
                count *= axis.values.len();
                lines.insert(0, axis.key.clone());
            } else {
                panels.insert(0, axis.key.clone());
            }
        }
        Self { metrics, x, lines, panels }
    }
}

/// The swept key that is best along an axis: of those with numbers the one with most values, or else the last.
fn best_axis(plan: &Plan) -> String {
    let numeric = plan.axes.iter().filter(|axis| has_numbers(&axis.values));
    let most = numeric.rev().max_by_key(|axis| axis.values.len());
    most.or(plan.axes.last()).map(|axis| axis.key.clone()).unwrap_or_default()
}
