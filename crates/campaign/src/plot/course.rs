//! Goodput over time of every flow: the mean over the replications with its 99 % confidence band.

use super::{LINES_MAX, Sheet, caption, replications, scale};
use crate::drawing::{Axis, Chart, Line, Point, Scale};
use crate::report::{CellResult, Results};
use crate::statistics::{INTERVAL_RUNS_MIN, Quantiles, Summary};
use airbraid_sim::metric::Unit;
use airbraid_sim::scenario::Plan;

/// Largest number of points of a line: beyond, neighbours are averaged.
const POINTS_MAX: usize = 1_000;

/// The goodput of every flow of the first cell.
pub(super) fn goodput(plan: &Plan, results: &Results) -> String {
    let mut quantiles = Quantiles::default();
    let lines = results.cells.first().map(|cell| lines(cell, &mut quantiles)).unwrap_or_default();
    let left_out = results.cells.first().map_or(0, flow_count).saturating_sub(LINES_MAX);
    let (x_max, y_max) = limits(&lines);
    let (factor, unit) = scale(Unit::BitPerSecond, y_max);
    let chart = Chart {
        title: String::new(),
        x: Axis { label: "time [s]".to_owned(), range: [0.0, x_max], scale: Scale::Linear },
        y: Axis { label: format!("goodput [{unit}]"), range: [0.0, y_max / factor], scale: Scale::Linear },
        lines: lines.into_iter().map(|line| line.over(factor)).collect(),
        reference: "",
    };
    let band = match replications(results) {
        0 | 1 => "",
        n if n < INTERVAL_RUNS_MIN => "mean, ",
        _ => "mean and 99 % confidence band, ",
    };
    Sheet { plan, charts: vec![chart], caption: caption(results, band, left_out) }.draw()
}

fn flow_count(cell: &CellResult) -> usize {
    cell.runs.first().map_or(0, |run| run.flows.len())
}

/// A line for each flow of a cell.
fn lines(cell: &CellResult, quantiles: &mut Quantiles) -> Vec<Line> {
    let Some(first) = cell.runs.first() else { return Vec::new() };
    let flows = first.flows.iter().enumerate().take(LINES_MAX);
    flows
        .map(|(f, flow)| {
            let length = flow.series.goodput_bps.len();
            let group = length.div_ceil(POINTS_MAX).max(1);
            let series = |run: &airbraid_sim::result::RunResult, i: usize| -> Option<f64> {
                let values = &run.flows.get(f)?.series.goodput_bps;
                let part = values.get(i * group..values.len().min((i + 1) * group))?;
                (!part.is_empty()).then(|| part.iter().sum::<f64>() / part.len() as f64)
            };
            let points = (0..length.div_ceil(group)).filter_map(|i| {
                let values: Vec<f64> = cell.runs.iter().filter_map(|run| series(run, i)).collect();
                let summary = Summary::of(&values, quantiles);
                let mean = summary.mean?;
                let [low, high] = summary.interval().unwrap_or([mean, mean]);
                // A value stands at the middle of its interval.
                let time = (i as f64 + 0.5) * group as f64 * flow.series.interval_s;
                Some(Point { x: time, mean, low, high })
            });
            let label = format!("{}: {} to {}", flow.name, flow.from, flow.to);
            Line { label, points: points.collect(), is_joined: true, ..Line::default() }
        })
        .collect()
}

/// The ends of both axes: the duration, and a fifth above the highest mean, where bands are cut.
fn limits(lines: &[Line]) -> (f64, f64) {
    let points = || lines.iter().flat_map(|line| &line.points);
    let last = points().fold(0.0_f64, |m, p| m.max(p.x));
    let first = points().fold(f64::INFINITY, |m, p| m.min(p.x));
    let top = points().fold(0.0_f64, |m, p| m.max(p.mean));
    let x_max = if last > 0.0 { last + first.min(last) } else { 1.0 };
    (x_max, if top > 0.0 { top * 1.2 } else { 1.0 })
}
