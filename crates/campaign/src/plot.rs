//! Goodput over time as SVG: the mean over the replications of each cell, with its 99 % confidence band.
//!
//! One flow in up to eight cells: the cells are lines of one panel. Otherwise each cell has a panel and the flows are
//! its lines, all panels on one scale.

use crate::drawing::{Area, Axis, Chart, Line, Point, SOFT, Scale, Svg, shorten};
use crate::report::{CellResult, Results};
use crate::statistics::{Quantiles, Summary};

/// Largest number of lines in one panel: more cannot be told apart.
const LINES_MAX: usize = 8;
/// Largest number of panels: more cannot be read.
const PANELS_MAX: usize = 12;
/// Largest number of points of a line: beyond, neighbours are averaged.
const POINTS_MAX: usize = 1_000;
const WIDTH: f64 = 900.0;
/// Heights: of the title, of a panel's title, of the caption.
const TITLE: f64 = 56.0;
const PANEL_TITLE: f64 = 24.0;
const CAPTION: f64 = 30.0;

struct Panel {
    title: String,
    lines: Vec<Line>,
}

/// The goodput of every flow of `results`.
pub fn goodput(results: &Results) -> String {
    let (panels, left_out) = panels(results);
    let (x_max, y_max) = limits(&panels);
    let (factor, unit) = scale(y_max);
    let charts: Vec<Chart> =
        panels.into_iter().map(|panel| chart(panel, [x_max, y_max / factor], factor, unit)).collect();
    let columns = if charts.len() > 1 { 2 } else { 1 };
    let rows = charts.len().div_ceil(columns).max(1);
    let legend = charts.iter().max_by_key(|chart| chart.lines.len());
    let head = TITLE + legend.map_or(0.0, |chart| chart.legend_height(WIDTH));
    let (width, height) = (WIDTH / columns as f64, if rows == 1 { 380.0 } else { 260.0 });
    let all = head + height * rows as f64 + CAPTION;
    let mut svg = Svg::alone((WIDTH, all), &results.title);
    svg.text((24.0, 32.0), "font-size=\"19\"", &shorten(&results.title, 90));
    if let Some(chart) = legend {
        chart.draw_legend(&mut svg, Area { left: 0.0, top: TITLE, width: WIDTH, height: 0.0 });
    }
    for (place, chart) in charts.iter().enumerate() {
        let (left, top) = (width * (place % columns) as f64, head + height * (place / columns) as f64);
        svg.text((left + 62.0, top + 12.0), "font-size=\"13\"", &shorten(&chart.title, 58));
        chart.draw(&mut svg, Area { left, top: top + PANEL_TITLE, width, height: height - PANEL_TITLE });
    }
    svg.text((24.0, all - 10.0), SOFT, &shorten(&caption(results, left_out), 130));
    svg.finish()
}

fn chart(panel: Panel, [x_max, y_max]: [f64; 2], factor: f64, unit: &str) -> Chart {
    let mut lines = panel.lines;
    for point in lines.iter_mut().flat_map(|line| &mut line.points) {
        let Point { x, mean, low, high } = *point;
        *point = Point { x, mean: mean / factor, low: low / factor, high: high / factor };
    }
    Chart {
        title: panel.title,
        x: Axis { label: "time [s]".to_owned(), range: [0.0, x_max], scale: Scale::Linear },
        y: Axis { label: format!("goodput [{unit}]"), range: [0.0, y_max], scale: Scale::Linear },
        lines,
        reference: "",
    }
}

/// The panels, and the number of cells or flows that did not fit.
fn panels(results: &Results) -> (Vec<Panel>, usize) {
    let mut quantiles = Quantiles::default();
    let flows = results.cells.iter().map(flow_count).max().unwrap_or(0);
    if flows == 1 && (2..=LINES_MAX).contains(&results.cells.len()) {
        let lines = results.cells.iter().filter_map(|cell| {
            let line = lines(cell, &mut quantiles).into_iter().next()?;
            Some(Line { label: short_label(cell), ..line })
        });
        return (vec![Panel { title: String::new(), lines: lines.collect() }], 0);
    }
    let left_out = results.cells.len().saturating_sub(PANELS_MAX) + flows.saturating_sub(LINES_MAX);
    let panel = |cell: &CellResult| {
        let mut lines = lines(cell, &mut quantiles);
        if lines.len() == 1 && results.cells.len() > 1 {
            lines[0].label.clear();
        }
        Panel { title: short_label(cell), lines }
    };
    (results.cells.iter().take(PANELS_MAX).map(panel).collect(), left_out)
}

/// The swept values, each key by its last part where that is no other's: `loss = 1 %, tcp = cubic`.
fn short_label(cell: &CellResult) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let one = |(key, value): &(String, serde_json::Value)| {
        let short = last(key);
        let alone = cell.set.iter().filter(|(other, _)| last(other) == short).count() == 1;
        let text = value.to_string().replace('"', "").replace(',', ", ").replace(':', " = ");
        format!("{} = {text}", if alone { &short } else { key })
    };
    cell.set.iter().map(one).collect::<Vec<_>>().join(", ")
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
                let [low, high] = summary.ci99.unwrap_or([mean, mean]);
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
fn limits(panels: &[Panel]) -> (f64, f64) {
    let points = || panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points);
    let last = points().fold(0.0_f64, |m, p| m.max(p.x));
    let first = points().fold(f64::INFINITY, |m, p| m.min(p.x));
    let top = points().fold(0.0_f64, |m, p| m.max(p.mean));
    let x_max = if last > 0.0 { last + first.min(last) } else { 1.0 };
    (x_max, if top > 0.0 { top * 1.2 } else { 1.0 })
}

fn scale(y_max: f64) -> (f64, &'static str) {
    match y_max {
        y if y >= 2e9 => (1e9, "Gbit/s"),
        y if y >= 2e6 => (1e6, "Mbit/s"),
        y if y >= 2e3 => (1e3, "kbit/s"),
        _ => (1.0, "bit/s"),
    }
}

fn caption(results: &Results, left_out: usize) -> String {
    let runs = results.cells.first().map(|c| &c.runs[..]).unwrap_or_default();
    let seeds = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) if first.seed != last.seed => format!("seeds {} to {}", first.seed, last.seed),
        (Some(first), _) => format!("seed {}", first.seed),
        _ => String::new(),
    };
    let band = if runs.len() > 1 { "mean and 99 % confidence band, " } else { "" };
    let more = if left_out > 0 { format!(", {left_out} more not shown") } else { String::new() };
    format!("{band}n = {}, {seeds}{more}, {}", runs.len(), results.scenario)
}
