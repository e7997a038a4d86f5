//! The figures of a paper as charts: our values with their 99 % confidence intervals, the paper's beside them.

use crate::drawing::{Area, Axis, Chart, Line, Point, Scale, Svg};
use crate::reproduce::evaluate::{self, Outcome, Source};
use crate::reproduce::formula::Expression;
use crate::reproduce::paper::{self, Figure, Plot};
use crate::reproduce::reference::factor;
use crate::statistics::Summary;

const WIDTH: f64 = 900.0;
/// Of a chart, without its legend.
const HEIGHT: f64 = 318.0;
/// Above the legend.
const TOP: f64 = 12.0;
/// Largest number of points of a line: beyond, neighbours are averaged.
const POINTS_MAX: usize = 500;
/// Largest number of points of a course that have marks.
const MARKS_MAX: usize = 40;

/// The drawing of a figure, `None` without lines, and messages about lines that could not be drawn.
pub fn draw(figure: &Figure, source: &dyn Source) -> Option<(String, Vec<String>)> {
    let plot = &figure.plot;
    if plot.lines.is_empty() {
        return None;
    }
    let mut wrong = Vec::new();
    let mut line = |of: &paper::Line| {
        let (points, runs) = points(plot, of, source).unwrap_or_else(|why| {
            wrong.push(format!("{}: {why}", of.label));
            (Vec::new(), Vec::new())
        });
        let is_course = matches!(of.of, Expression::Course { .. });
        Line {
            label: of.label.clone(),
            is_joined: !of.marks && plot.names.is_empty(),
            has_marks: !is_course || points.len() <= MARKS_MAX,
            points,
            runs,
            has_reference_marks: !is_course || of.paper.len() == 1,
            reference: of.paper.clone(),
        }
    };
    let lines: Vec<Line> = plot.lines.iter().map(&mut line).collect();
    let (x, y) = axes(plot, &lines);
    let chart = Chart { title: figure.title.clone(), x, y, lines, reference: "paper" };
    let head = TOP + chart.legend_height(WIDTH);
    let mut svg = Svg::within_page((WIDTH, head + HEIGHT), &chart.title);
    chart.draw_legend(&mut svg, Area { left: 0.0, top: TOP, width: WIDTH, height: 0.0 });
    chart.draw(&mut svg, Area { left: 0.0, top: head, width: WIDTH, height: HEIGHT });
    Some((svg.finish(), wrong))
}

/// The points of a line in the unit of the plot, and the single runs of points that two runs give.
fn points(plot: &Plot, line: &paper::Line, source: &dyn Source) -> Result<(Vec<Point>, Vec<[f64; 2]>), String> {
    let factor = factor(&plot.unit);
    let summaries = match evaluate::value(&line.of, factor, source)? {
        Outcome::Number(summary) => vec![summary],
        Outcome::List(all) => all,
    };
    let (places, group) = match &line.of {
        Expression::Course { run, name, from, .. } => {
            let facts = source.facts(run)?;
            let interval = facts.first().and_then(|f| f.series.get(name)).map_or(1.0, |s| s.interval_s);
            let [origin, rate] = plot.per_second.unwrap_or([0.0, 1.0]);
            // A value stands at the middle of its interval.
            let place = |i: usize| origin + rate * (from.unwrap_or(0.0) + (i as f64 + 0.5) * interval);
            ((0..summaries.len()).map(place).collect(), summaries.len().div_ceil(POINTS_MAX).max(1))
        }
        _ if line.x.is_empty() => ((0..summaries.len()).map(|i| i as f64).collect::<Vec<f64>>(), 1),
        _ => (line.x.clone(), 1),
    };
    if places.len() != summaries.len() {
        return Err(format!("{} values at {} places", summaries.len(), places.len()));
    }
    let point = |(x, summary): (&f64, &Summary)| {
        let mean = summary.mean?;
        let [low, high] = summary.interval().unwrap_or([mean, mean]);
        Some(Point { x: *x, mean, low, high })
    };
    let all: Vec<Point> = places.iter().zip(&summaries).filter_map(point).collect();
    let is_course = matches!(line.of, Expression::Course { .. });
    let pairs = places.iter().zip(&summaries).filter(|_| !is_course).filter_map(|(x, summary)| {
        let [low, high] = summary.pair()?;
        Some([[*x, low], [*x, high]])
    });
    let mean = |part: &[Point]| {
        let of = |f: fn(&Point) -> f64| part.iter().map(f).sum::<f64>() / part.len() as f64;
        Point { x: of(|p| p.x), mean: of(|p| p.mean), low: of(|p| p.low), high: of(|p| p.high) }
    };
    Ok((all.chunks(group).map(mean).collect(), pairs.flatten().collect()))
}

/// Axes that have room for every value, ours and the paper's.
fn axes(plot: &Plot, lines: &[Line]) -> (Axis, Axis) {
    let ours = lines.iter().flat_map(|line| line.points.iter().map(|p| (p.x, p.mean)));
    let all: Vec<(f64, f64)> =
        ours.chain(lines.iter().flat_map(|line| line.reference.iter().map(|p| (p[0], p[1])))).collect();
    let least = |f: fn(&(f64, f64)) -> f64| all.iter().map(f).fold(f64::INFINITY, f64::min);
    let most = |f: fn(&(f64, f64)) -> f64| all.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
    let (mut x, mut y) = ([least(|p| p.0), most(|p| p.0)], [least(|p| p.1), most(|p| p.1)]);
    if all.is_empty() {
        (x, y) = ([0.0, 1.0], [0.0, 1.0]);
    }
    let has_courses = plot.lines.iter().any(|line| matches!(line.of, Expression::Course { .. }));
    if !plot.names.is_empty() {
        x = [-0.5, plot.names.len() as f64 - 0.5];
    } else if !has_courses {
        let edge = ((x[1] - x[0]) * 0.04).max(1e-9);
        x = [x[0] - edge, x[1] + edge];
    } else if plot.per_second.is_none() {
        x = [x[0].min(0.0), x[1] + x[0].clamp(0.0, 1.0)];
    }
    if plot.log {
        let floor = all.iter().map(|p| p.1).filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
        let floor = if floor.is_finite() { floor } else { 1e-3 };
        let power = |exponent: f64| libm::pow(10.0, exponent);
        y = [power(libm::floor(libm::log10(floor))), power(libm::ceil(libm::log10(y[1].max(floor * 1.01))))];
    } else {
        y = [y[0].min(0.0), if y[1] > 0.0 { y[1] * 1.12 } else { 1.0 }];
    }
    let unit =
        if plot.unit.is_empty() || plot.unit == "-" { String::new() } else { format!(" [{}]", unit(&plot.unit)) };
    let names = if plot.names.is_empty() { Scale::Linear } else { Scale::Names(plot.names.clone()) };
    (
        Axis { label: plot.x.clone(), range: x, scale: names },
        Axis { label: plot.y.clone() + &unit, range: y, scale: if plot.log { Scale::Log } else { Scale::Linear } },
    )
}

/// A unit of the table in print.
pub fn unit(name: &str) -> &str {
    match name {
        "Mbps" => "Mbit/s",
        "kbps" => "kbit/s",
        "KB/s" => "kB/s",
        "percent" => "%",
        other => other,
    }
}
