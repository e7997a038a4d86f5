//! The facts of one run, for the store and for reproductions: every number by its name in a summary, every series by
//! the name of its metric. Nothing of the run's duration on the machine.

use crate::metric;
use crate::result::{RunResult, TrunkResult};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The numbers and series of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Each number by its name: `flow.download.goodput_bps`. One that a run does not have is left out.
    pub metrics: BTreeMap<String, f64>,
    /// Values by interval, by the name of the metric that they are the course of.
    pub series: BTreeMap<String, Series>,
}

/// Values by interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    pub interval_s: f64,
    /// A value for each; where there was none, that of the interval before.
    pub values: Vec<f64>,
}

impl Facts {
    /// The facts of `run`.
    pub fn of(run: &RunResult) -> Self {
        // JSON has no infinities; a number that is none is one that the run does not have.
        let metrics = metric::of(run).into_iter().filter(|(_, x)| x.is_finite()).collect();
        let mut series = BTreeMap::new();
        for flow in &run.flows {
            let name = format!("flow.{}.goodput_bps", flow.name);
            series.insert(name, Series::new(flow.series.interval_s, &flow.series.goodput_bps));
            if !flow.series.sequence_bytes.is_empty() {
                let name = format!("flow.{}.sequence_bytes", flow.name);
                series.insert(name, Series::new(flow.series.interval_s, &flow.series.sequence_bytes));
            }
        }
        for trunk in run.trunks.iter().filter_map(TrunkResult::radios) {
            let name = format!("trunk.{}.{}.reorder_timer_s", trunk.name, trunk.from);
            series.insert(name, Series::new(trunk.series.interval_s, &trunk.series.reorder_timer_s));
        }
        for trunk in run.trunks.iter().filter_map(TrunkResult::links) {
            for member in trunk.members.iter().filter(|member| !member.series.rate_bps.is_empty()) {
                let own = &member.series;
                for (metric, values) in [("rate_bps", &own.rate_bps), ("control_bytes", &own.control_bytes)] {
                    let name = format!("trunk.{}.{}.{}.{metric}", trunk.name, trunk.from, member.link);
                    series.insert(name, Series::new(own.interval_s, values));
                }
            }
        }
        for mac in run.macs.iter().filter(|mac| !mac.series.snr_db.is_empty()) {
            let name = format!("mac.{}.{}.snr_mean_db", mac.node, mac.radio);
            series.insert(name, Series::new(mac.series.interval_s, &mac.series.snr_db));
        }
        for selection in &run.selections {
            let name = format!("select.{}.{}.first", selection.name, selection.from);
            series.insert(name, Series::new(selection.series.interval_s, &selection.series.first));
        }
        Self { metrics, series }
    }

    /// Only what is in `metrics` and `series`: thousands of runs are held at a time.
    #[must_use]
    pub fn only(mut self, metrics: &BTreeSet<String>, series: &BTreeSet<String>) -> Self {
        self.metrics.retain(|name, _| metrics.contains(name));
        self.series.retain(|name, _| series.contains(name));
        self
    }
}

impl Series {
    fn new(interval_s: f64, values: &[f64]) -> Self {
        let mut last = 0.0;
        let finite = |x: &f64| {
            last = if x.is_finite() { *x } else { last };
            last
        };
        Self { interval_s, values: values.iter().map(finite).collect() }
    }
}
