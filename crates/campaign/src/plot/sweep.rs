//! A metric over the values of a swept key: the mean of each cell with its interval.
//!
//! Values of one unit stand where their numbers are, others one beside the other. Few replications have no interval
//! ([`Summary::interval`]): each of their runs is a point.

use super::places::{Places, places};
use super::{PANELS_MAX, Picture, Sheet, caption, label, labelled, replications, scale, show, value_of};
use crate::drawing::{Axis, Chart, Line, Point, Scale};
use crate::report::{CellResult, Results};
use crate::statistics::INTERVAL_RUNS_MIN;
use airbraid_sim::metric;
use airbraid_sim::scenario::Plan;

/// The drawing of a picture.
pub(super) fn draw(plan: &Plan, results: &Results, picture: &Picture) -> String {
    let Some(axis) = plan.axes.iter().find(|axis| axis.key == picture.x) else { return String::new() };
    let texts: Vec<String> = axis.values.iter().map(show).collect();
    let places = places(&picture.x, &axis.values);
    let groups = groups(&results.cells, &picture.panels);
    let panels: Vec<(usize, String, &[&CellResult])> = picture
        .metrics
        .iter()
        .enumerate()
        .flat_map(|(metric, _)| groups.iter().map(move |(label, cells)| (metric, label.clone(), &cells[..])))
        .collect();
    let left_out = panels.len().saturating_sub(PANELS_MAX);
    let shown = &panels[..panels.len().min(PANELS_MAX)];
    let drawn: Vec<Vec<Line>> = shown
        .iter()
        .map(|(metric, _, cells)| lines(cells, picture, &picture.metrics[*metric].1, &texts, &places))
        .collect();
    let unit = picture.metrics.first().map_or(metric::Unit::Count, |(_, _, unit)| *unit);
    let (factor, unit) = scale(unit, most(&drawn));
    let [low, high] = range(&drawn).map(|y| y / factor);
    let charts = shown.iter().zip(drawn).map(|((metric, label, _), lines)| Chart {
        title: if picture.metrics.len() > 1 { joined(&picture.metrics[*metric].0, label) } else { label.clone() },
        x: places.axis.clone(),
        y: Axis {
            label: labelled(if picture.metrics.len() > 1 { "goodput" } else { &picture.metrics[*metric].0 }, unit),
            range: [low, high],
            scale: Scale::Linear,
        },
        lines: lines.into_iter().map(|line| line.over(factor)).collect(),
        reference: "",
    });
    let intervals = match replications(results) {
        0 | 1 => "",
        n if n < INTERVAL_RUNS_MIN => "mean and each run, ",
        _ => "mean and 99 % confidence interval, ",
    };
    Sheet { plan, charts: charts.collect(), caption: caption(results, intervals, left_out) }.draw()
}

fn joined(metric: &str, label: &str) -> String {
    if label.is_empty() { metric.to_owned() } else { format!("{metric}, {label}") }
}

/// The cells by the values of `keys`, in their order.
fn groups<'a>(cells: impl IntoIterator<Item = &'a CellResult>, keys: &[String]) -> Vec<(String, Vec<&'a CellResult>)> {
    let mut groups: Vec<(String, Vec<&CellResult>)> = Vec::new();
    for cell in cells {
        let label = label(cell, keys);
        match groups.iter_mut().find(|(other, _)| *other == label) {
            Some((_, cells)) => cells.push(cell),
            None => groups.push((label, vec![cell])),
        }
    }
    groups
}

/// A line for each combination of the keys that have lines.
fn lines(cells: &[&CellResult], picture: &Picture, key: &str, texts: &[String], places: &Places) -> Vec<Line> {
    let one = |(label, cells): (String, Vec<&CellResult>)| {
        let mut line = Line {
            label,
            is_joined: !matches!(places.axis.scale, Scale::Names(_)),
            has_marks: true,
            ..Line::default()
        };
        for cell in cells {
            let text = value_of(cell, &picture.x);
            let Some(x) = texts.iter().position(|other| *other == text).map(|i| places.at[i]) else { continue };
            let Some(summary) = cell.metric(key) else { continue };
            let Some(mean) = summary.mean else { continue };
            let [low, high] = summary.interval().unwrap_or([mean, mean]);
            line.points.push(Point { x, mean, low, high });
            if summary.interval().is_none() && summary.n > 1 {
                line.runs.extend(cell.values(key).into_iter().map(|y| [x, y]));
            }
        }
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        line
    };
    groups(cells.iter().copied(), &picture.lines).into_iter().map(one).collect()
}

/// Largest number that is drawn, by its size.
fn most(panels: &[Vec<Line>]) -> f64 {
    panels.iter().flatten().flat_map(|line| &line.points).map(|p| p.mean.abs()).fold(0.0, f64::max)
}

/// The ends of the vertical axis: zero, and the largest mean or run with some space; of negative numbers the smallest.
fn range(panels: &[Vec<Line>]) -> [f64; 2] {
    let lines = || panels.iter().flatten();
    let means = lines().flat_map(|line| line.points.iter().map(|p| p.mean));
    let runs = lines().flat_map(|line| line.runs.iter().map(|run| run[1]));
    let ends = lines().flat_map(|line| line.points.iter().flat_map(|p| [p.low, p.high]));
    let (mut low, mut high) = means.chain(runs).fold((0.0_f64, 0.0_f64), |(low, high), y| (low.min(y), high.max(y)));
    // Intervals have space, but a very wide one must not press the means together.
    let reach = 1.5 * (high - low);
    for y in ends {
        low = low.min(y.max(low - reach).min(0.0));
        high = high.max(y.min(reach + low));
    }
    if low < 0.0 && most(panels) > 0.0 && lines().flat_map(|l| &l.points).all(|p| p.mean >= 0.0) {
        low = 0.0;
    }
    if high - low > 0.0 { [low * 1.08, high * 1.08] } else { [0.0, 1.0] }
}
