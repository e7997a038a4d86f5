//! The pictures of `--out`: goodput over time of one cell ([`course`]), a metric over the swept values of several
//! ([`sweep`]).

mod course;
mod places;
mod sweep;
mod wish;

pub use wish::Picture;

use crate::drawing::{Area, Chart, SOFT, Svg, shorten};
use crate::report::{CellResult, Results};
use airbraid_sim::metric::Unit;
use airbraid_sim::scenario::Plan;
use serde_json::Value;

/// Largest number of lines in one panel: more cannot be told apart.
const LINES_MAX: usize = 8;
/// Largest number of panels: more cannot be read.
const PANELS_MAX: usize = 12;
const WIDTH: f64 = 900.0;
/// Heights: of the title with the question, of a panel's title, of the caption.
const TITLE: f64 = 74.0;
const PANEL_TITLE: f64 = 24.0;
const CAPTION: f64 = 30.0;

/// The files of the pictures that `asked` wants, or of the one that fits: names and texts.
pub fn files(plan: &Plan, results: &Results, asked: &[Picture]) -> Vec<(String, String)> {
    let name = |place: usize| if place == 0 { "plot.svg".to_owned() } else { format!("plot-{}.svg", place + 1) };
    if asked.is_empty() {
        let is_sweep = results.cells.len() > 1;
        let picture = is_sweep.then(|| Picture::fitting(plan, results)).flatten();
        let drawing = picture.map_or_else(|| course::goodput(plan, results), |p| sweep::draw(plan, results, &p));
        return vec![(name(0), drawing)];
    }
    asked.iter().enumerate().map(|(place, picture)| (name(place), sweep::draw(plan, results, picture))).collect()
}

/// Panels on one scale under a title, above a caption.
struct Sheet<'a> {
    plan: &'a Plan,
    charts: Vec<Chart>,
    caption: String,
}

impl Sheet<'_> {
    fn draw(&self) -> String {
        let Self { plan, charts, caption } = self;
        let columns = if charts.len() > 1 { 2 } else { 1 };
        let rows = charts.len().div_ceil(columns).max(1);
        let legend = charts.iter().max_by_key(|chart| chart.lines.len());
        let head = TITLE + legend.map_or(0.0, |chart| chart.legend_height(WIDTH));
        let (width, height) = (WIDTH / columns as f64, if rows == 1 { 380.0 } else { 260.0 });
        let all = head + height * rows as f64 + CAPTION;
        let mut svg = Svg::alone((WIDTH, all), &plan.title);
        svg.text((24.0, 32.0), "font-size=\"19\"", &shorten(&plan.title, 90));
        svg.text((24.0, 52.0), SOFT, &shorten(&plan.question, 140));
        if let Some(chart) = legend {
            chart.draw_legend(&mut svg, Area { left: 0.0, top: TITLE, width: WIDTH, height: 0.0 });
        }
        for (place, chart) in charts.iter().enumerate() {
            let (left, top) = (width * (place % columns) as f64, head + height * (place / columns) as f64);
            svg.text((left + 62.0, top + 12.0), "font-size=\"13\"", &shorten(&chart.title, 58));
            chart.draw(&mut svg, Area { left, top: top + PANEL_TITLE, width, height: height - PANEL_TITLE });
        }
        svg.text((24.0, all - 10.0), SOFT, &shorten(caption, 130));
        svg.finish()
    }
}

/// Number of replications, seeds, and the scenario's file; `left_out` panels or lines are not shown.
fn caption(results: &Results, intervals: &str, left_out: usize) -> String {
    let runs = results.cells.first().map(|c| &c.runs[..]).unwrap_or_default();
    let seeds = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) if first.seed != last.seed => format!("seeds {} to {}", first.seed, last.seed),
        (Some(first), _) => format!("seed {}", first.seed),
        _ => String::new(),
    };
    let more = if left_out > 0 { format!(", {left_out} more not shown") } else { String::new() };
    format!("{intervals}n = {}, {seeds}{more}, {}", runs.len(), results.scenario)
}

/// Number of replications of a cell.
fn replications(results: &Results) -> usize {
    results.cells.first().map_or(0, |cell| cell.runs.len())
}

/// The factor and the name of the unit in which values up to `most` are short.
fn scale(unit: Unit, most: f64) -> (f64, &'static str) {
    // Twice the unit: 1.5 Mbit/s is 1500 kbit/s, whose ticks have no decimals.
    let largest = |table: &[(f64, &'static str)]| {
        table.iter().find(|(factor, _)| most >= 2.0 * factor).or(table.last()).copied().unwrap_or((1.0, ""))
    };
    match unit {
        Unit::BitPerSecond => largest(&[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")]),
        Unit::Byte => largest(&[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "byte")]),
        Unit::Second => largest(&[(1.0, "s"), (1e-3, "ms"), (1e-6, "us")]),
        Unit::Share => (0.01, "%"),
        Unit::Count => (1.0, ""),
        Unit::Decibel => (1.0, "dB"),
        Unit::DecibelMilliwatt => (1.0, "dBm"),
    }
}

/// The label of an axis with its unit.
fn labelled(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") }
}

/// A swept value as the scenario writes it, without the quotes of texts.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(x) if x != 0.0 && x.abs() < 1e-3 => format!("{x:e}"),
            _ => number.to_string(),
        },
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let pairs: Vec<String> = entries.iter().map(|(key, value)| format!("{key} = {}", show(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// The value of a swept key in a cell, as text.
fn value_of(cell: &CellResult, key: &str) -> String {
    cell.set.iter().find(|(other, _)| other == key).map(|(_, value)| show(value)).unwrap_or_default()
}

/// `key = value` of these keys in a cell.
fn label(cell: &CellResult, keys: &[String]) -> String {
    keys.iter().map(|key| format!("{key} = {}", value_of(cell, key))).collect::<Vec<_>>().join(", ")
}
