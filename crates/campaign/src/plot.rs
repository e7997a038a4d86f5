//! Goodput over time as SVG: the mean over the replications of each cell, with its 99 % confidence band.
//!
//! One flow in up to eight cells: the cells are lines of one panel. Otherwise each cell has a panel and the flows are
//! its lines, all panels on one scale.

use crate::report::{CellResult, Results};
use crate::statistics::{Quantiles, Summary};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Largest number of lines in one panel: more cannot be told apart.
const LINES_MAX: usize = 8;
/// Largest number of panels: more cannot be read.
const PANELS_MAX: usize = 12;
/// Largest number of points of a line: beyond, neighbours are averaged.
const POINTS_MAX: usize = 1_000;
/// The palette of Okabe and Ito, which the colour-blind can tell apart too; yellow, too pale for a line, left out.
const PALETTE: [RGBColor; LINES_MAX] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
    RGBColor(0, 0, 0),
];
const INK: RGBColor = RGBColor(40, 40, 40);
const PALE: RGBColor = RGBColor(110, 110, 110);
const GRID: RGBColor = RGBColor(228, 228, 228);
const FONT: &str = "DejaVu Sans, Helvetica, Arial, sans-serif";

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// One line with its band.
struct Line {
    label: String,
    /// (time \[s\], mean, lower, upper); goodput in bit/s.
    points: Vec<(f64, f64, f64, f64)>,
}

struct Panel {
    title: String,
    lines: Vec<Line>,
}

/// The goodput of every flow of `results`.
///
/// # Errors
/// The drawing library's message.
pub fn goodput(results: &Results) -> Result<String, String> {
    let (panels, left_out) = panels(results);
    let columns = if panels.len() > 1 { 2 } else { 1 };
    let rows = panels.len().div_ceil(columns).max(1);
    let labels: Vec<&str> = panels.iter().max_by_key(|p| p.lines.len()).map(legend_of).unwrap_or_default();
    let width = 900_u32;
    let legend_rows = legend_rows(&labels, width);
    let head = 52 + 22 * legend_rows as u32;
    let panel_height = if rows == 1 { 380 } else { 260 };
    let height = head + panel_height * rows as u32 + 34;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        draw(&root, results, &panels, &labels, (head, columns, rows), left_out).map_err(|e| e.to_string())?;
        root.present().map_err(|e| e.to_string())?;
    }
    Ok(svg)
}

fn legend_of(panel: &Panel) -> Vec<&str> {
    let labels: Vec<&str> = panel.lines.iter().map(|l| l.label.as_str()).collect();
    // One line needs no legend: the title of its panel or of the plot says what it is.
    if labels.len() == 1 && labels[0].is_empty() { Vec::new() } else { labels }
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(
    root: &Area<'_>,
    results: &Results,
    panels: &[Panel],
    labels: &[&str],
    (head, columns, rows): (u32, usize, usize),
    left_out: usize,
) -> Drawn {
    root.fill(&WHITE)?;
    let text = |size: f64, colour: RGBColor| (FONT, size).into_font().color(&colour);
    root.draw(&Text::new(shorten(&results.title, 90), (24, 16), text(19.0, INK)))?;
    legend(root, labels)?;
    let (_, height) = root.dim_in_pixel();
    let caption = caption(results, left_out);
    let right = text(11.5, PALE).pos(Pos::new(HPos::Left, VPos::Bottom));
    root.draw(&Text::new(shorten(&caption, 130), (24, height as i32 - 10), right))?;
    let body = root.margin(head as i32, 34, 0, 0);
    let (x_max, y_max) = limits(panels);
    let (factor, unit) = scale(y_max);
    for (area, panel) in body.split_evenly((rows, columns)).iter().zip(panels) {
        self::panel(area, panel, x_max, y_max / factor, factor, unit)?;
    }
    Ok(())
}

fn panel(area: &Area<'_>, panel: &Panel, x_max: f64, y_max: f64, factor: f64, unit: &str) -> Drawn {
    let text = |size: f64, colour: RGBColor| (FONT, size).into_font().color(&colour);
    let mut builder = ChartBuilder::on(area);
    builder.margin_left(10).margin_right(24).margin_top(6).margin_bottom(4).x_label_area_size(40).y_label_area_size(62);
    if !panel.title.is_empty() {
        builder.caption(shorten(&panel.title, 58), text(13.0, INK));
    }
    let mut chart = builder.build_cartesian_2d(0.0..x_max, 0.0..y_max)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE.mix(0.0))
        .bold_line_style(GRID)
        .axis_style(PALE)
        .x_labels(9)
        .y_labels(7)
        .x_label_formatter(&|x| tick(*x))
        .y_label_formatter(&|y| tick(*y))
        .label_style(text(12.0, INK))
        .axis_desc_style(text(12.5, INK))
        .x_desc("time [s]")
        .y_desc(format!("goodput [{unit}]"))
        .draw()?;
    // Every band below every line; where there are many, paler.
    let shade = if panel.lines.len() > 3 { 0.10 } else { 0.20 };
    for (line, colour) in panel.lines.iter().zip(PALETTE) {
        if let Some(outline) = band(line, factor) {
            chart.draw_series(std::iter::once(Polygon::new(outline, colour.mix(shade))))?;
        }
    }
    for (line, colour) in panel.lines.iter().zip(PALETTE) {
        let mean = line.points.iter().map(|(t, mean, _, _)| (*t, mean / factor));
        chart.draw_series(LineSeries::new(mean, colour.stroke_width(2)))?;
    }
    Ok(())
}

/// The outline of the confidence band, if there is one.
fn band(line: &Line, factor: f64) -> Option<Vec<(f64, f64)>> {
    line.points.iter().any(|(_, _, low, high)| high > low).then(|| {
        let upper = line.points.iter().map(|(t, _, _, high)| (*t, high / factor));
        let lower = line.points.iter().rev().map(|(t, _, low, _)| (*t, low.max(0.0) / factor));
        upper.chain(lower).collect()
    })
}

// --- what is drawn -------------------------------------------------------------------------------------------------

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
                Some((time, mean, low, high))
            });
            Line { label: format!("{}: {} to {}", flow.name, flow.from, flow.to), points: points.collect() }
        })
        .collect()
}

/// The ends of both axes: the duration, and a fifth above the highest mean, where bands are cut.
fn limits(panels: &[Panel]) -> (f64, f64) {
    let points = || panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points);
    let last = points().fold(0.0_f64, |m, p| m.max(p.0));
    let first = points().fold(f64::INFINITY, |m, p| m.min(p.0));
    let top = points().fold(0.0_f64, |m, p| m.max(p.1));
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

/// A tick without the dust of binary fractions.
fn tick(x: f64) -> String {
    let text = format!("{x:.6}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short.is_empty() || short == "-0" { "0".to_owned() } else { short.to_owned() }
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

fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect()
}

// --- the legend, in rows under the title ---------------------------------------------------------------------------

/// Width of an entry: a swatch, the text, a gap.
fn entry_width(label: &str) -> i32 {
    34 + (label.chars().count().min(60) as i32) * 7 + 22
}

fn legend_rows(labels: &[&str], width: u32) -> usize {
    place(labels, width).last().map_or(0, |(_, row)| row + 1)
}

/// Column in pixels and row of each entry.
fn place(labels: &[&str], width: u32) -> Vec<(i32, usize)> {
    let (mut x, mut row) = (24, 0);
    let mut places = Vec::with_capacity(labels.len());
    for label in labels {
        let wide = entry_width(label);
        if x > 24 && x + wide > width as i32 - 24 {
            (x, row) = (24, row + 1);
        }
        places.push((x, row));
        x += wide;
    }
    places
}

fn legend(root: &Area<'_>, labels: &[&str]) -> Drawn {
    let (width, _) = root.dim_in_pixel();
    for (((x, row), label), colour) in place(labels, width).into_iter().zip(labels).zip(PALETTE) {
        let y = 56 + 22 * row as i32;
        root.draw(&Rectangle::new([(x, y - 5), (x + 24, y + 5)], colour.mix(0.20).filled()))?;
        root.draw(&PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2)))?;
        let style = (FONT, 13.0).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        root.draw(&Text::new(shorten(label, 60), (x + 32, y), style))?;
    }
    Ok(())
}
