//! Plots as SVG within a page: lines with 99 % confidence bands, points with error bars, and the paper's values.
//!
//! Colours are the page's, so that one drawing serves light, dark and print.

use crate::reproduce::evaluate::{self, Outcome, Source};
use crate::reproduce::formula::Expression;
use crate::reproduce::paper::{Figure, Line, Plot};
use crate::reproduce::reference::factor;
use crate::statistics::Summary;
use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 330.0;
/// Margins for labels: left, right, top (without the legend), bottom.
const MARGIN: [f64; 4] = [62.0, 18.0, 12.0, 46.0];
/// Height of a row of the legend.
const LEGEND: f64 = 20.0;
/// Colours of the page: `--c1` to `--c8`.
const COLOURS: usize = 8;
/// Largest number of points of a line: beyond, neighbours are averaged.
const POINTS_MAX: usize = 500;

/// A point: position, mean, lower and upper end.
type Point = (f64, f64, f64, f64);

struct Drawn<'a> {
    line: &'a Line,
    points: Vec<Point>,
    joined: bool,
}

/// The plot of a figure, `None` without lines, and messages about lines that could not be drawn.
pub fn figure(figure: &Figure, source: &dyn Source) -> Option<(String, Vec<String>)> {
    let plot = &figure.plot;
    if plot.lines.is_empty() {
        return None;
    }
    let (mut drawn, mut wrong) = (Vec::new(), Vec::new());
    for line in &plot.lines {
        let joined = !line.marks && plot.names.is_empty();
        match points(plot, line, source) {
            Ok(points) => drawn.push(Drawn { line, points, joined }),
            Err(why) => {
                wrong.push(format!("{}: {why}", line.label));
                drawn.push(Drawn { line, points: Vec::new(), joined });
            }
        }
    }
    let canvas = Canvas::new(plot, &drawn);
    Some((canvas.draw(plot, &drawn, &figure.title), wrong))
}

/// The points of a line, in the unit of the plot.
fn points(plot: &Plot, line: &Line, source: &dyn Source) -> Result<Vec<Point>, String> {
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
        let [low, high] = summary.ci99.unwrap_or([mean, mean]);
        Some((*x, mean, low, high))
    };
    let all: Vec<Point> = places.iter().zip(&summaries).filter_map(point).collect();
    let mean = |part: &[Point]| {
        let of = |f: fn(&Point) -> f64| part.iter().map(f).sum::<f64>() / part.len() as f64;
        (of(|p| p.0), of(|p| p.1), of(|p| p.2), of(|p| p.3))
    };
    Ok(all.chunks(group).map(mean).collect())
}

/// The coordinates on the page.
struct Canvas {
    x: [f64; 2],
    y: [f64; 2],
    top: f64,
    log: bool,
    rows: Vec<(f64, usize)>,
}

impl Canvas {
    fn new(plot: &Plot, drawn: &[Drawn<'_>]) -> Self {
        let ours = || drawn.iter().flat_map(|d| d.points.iter().map(|p| (p.0, p.1)));
        let theirs = || drawn.iter().flat_map(|d| d.line.paper.iter().map(|p| (p[0], p[1])));
        let all: Vec<(f64, f64)> = ours().chain(theirs()).collect();
        let least = |f: fn(&(f64, f64)) -> f64| all.iter().map(f).fold(f64::INFINITY, f64::min);
        let most = |f: fn(&(f64, f64)) -> f64| all.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
        let (mut x, mut y) = ([least(|p| p.0), most(|p| p.0)], [least(|p| p.1), most(|p| p.1)]);
        if all.is_empty() {
            (x, y) = ([0.0, 1.0], [0.0, 1.0]);
        }
        let courses = drawn.iter().any(|d| matches!(d.line.of, Expression::Course { .. }));
        if !plot.names.is_empty() {
            x = [-0.5, plot.names.len() as f64 - 0.5];
        } else if !courses {
            let edge = ((x[1] - x[0]) * 0.04).max(1e-9);
            x = [x[0] - edge, x[1] + edge];
        } else if plot.per_second.is_none() {
            x[0] = x[0].min(0.0);
            x[1] = most(|p| p.0) + least(|p| p.0).clamp(0.0, 1.0);
        }
        if plot.log {
            let floor = all.iter().map(|p| p.1).filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
            let floor = if floor.is_finite() { floor } else { 1e-3 };
            y = [
                libm::pow(10.0, libm::floor(libm::log10(floor))),
                libm::pow(10.0, libm::ceil(libm::log10(y[1].max(floor * 1.01)))),
            ];
        } else {
            y = [y[0].min(0.0), if y[1] > 0.0 { y[1] * 1.12 } else { 1.0 }];
        }
        let rows = legend_places(plot, drawn);
        let top = MARGIN[2] + LEGEND * (rows.last().map_or(0, |r| r.1) + 1) as f64;
        Self { x, y, top, log: plot.log, rows }
    }

    fn height(&self) -> f64 {
        HEIGHT + self.top - MARGIN[2]
    }
    fn at_x(&self, x: f64) -> f64 {
        MARGIN[0] + (x - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - MARGIN[0] - MARGIN[1])
    }
    fn at_y(&self, y: f64) -> f64 {
        let share = if self.log {
            let [low, high] = self.y.map(libm::log10);
            (libm::log10(y.max(self.y[0])) - low) / (high - low)
        } else {
            (y - self.y[0]) / (self.y[1] - self.y[0])
        };
        let room = self.height() - self.top - MARGIN[3];
        self.top + (1.0 - share.clamp(0.0, 1.0)) * room
    }

    fn draw(&self, plot: &Plot, drawn: &[Drawn<'_>], title: &str) -> String {
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\">\n",
            self.height(),
            super::escape(title)
        );
        self.axes(plot, &mut svg);
        for (i, one) in drawn.iter().enumerate() {
            self.bands(one, i, &mut svg);
        }
        for (i, one) in drawn.iter().enumerate() {
            self.theirs(one, i, plot, drawn.len(), &mut svg);
        }
        for (i, one) in drawn.iter().enumerate() {
            self.ours(one, i, plot, drawn.len(), &mut svg);
        }
        self.legend(drawn, &mut svg);
        svg.push_str("</svg>");
        svg
    }

    fn axes(&self, plot: &Plot, svg: &mut String) {
        let (left, right, bottom) = (MARGIN[0], WIDTH - MARGIN[1], self.height() - MARGIN[3]);
        let ticks = if self.log { decades(self.y) } else { ticks(self.y, 6) };
        for tick in ticks {
            let y = self.at_y(tick);
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>");
            let _ = writeln!(
                svg,
                "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                y + 4.0,
                label(tick)
            );
        }
        let _ = writeln!(svg, "<path class=\"axis\" d=\"M{left} {:.1}V{bottom:.1}H{right}\"/>", self.top);
        let names: Vec<(f64, String)> = if plot.names.is_empty() {
            ticks_within(self.x, 10).into_iter().map(|x| (x, label(x))).collect()
        } else {
            plot.names.iter().enumerate().map(|(i, name)| (i as f64, super::escape(name))).collect()
        };
        for (x, name) in names {
            let x = self.at_x(x);
            let _ = writeln!(svg, "<path class=\"axis\" d=\"M{x:.1} {bottom:.1}v4\"/>");
            let _ = writeln!(
                svg,
                "<text class=\"soft\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
                bottom + 18.0
            );
        }
        let unit =
            if plot.unit.is_empty() || plot.unit == "-" { String::new() } else { format!(" [{}]", unit(&plot.unit)) };
        let middle = (left + right) / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 38.0,
            super::escape(&plot.x)
        );
        let (x, y) = (14.0, (self.top + bottom) / 2.0);
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 {x} {y:.1})\">{}{}</text>",
            super::escape(&plot.y),
            super::escape(&unit)
        );
    }

    /// The confidence band of a joined line.
    fn bands(&self, one: &Drawn<'_>, index: usize, svg: &mut String) {
        let wide = one.points.iter().any(|p| p.3 > p.2);
        if !one.joined || !wide || one.points.len() < 2 {
            return;
        }
        let upper = one.points.iter().map(|p| (p.0, p.3));
        let lower = one.points.iter().rev().map(|p| (p.0, p.2));
        let outline: String =
            upper.chain(lower).map(|(x, y)| format!("{:.1},{:.1} ", self.at_x(x), self.at_y(y))).collect();
        let _ = writeln!(svg, "<polygon class=\"band\" fill=\"{}\" points=\"{}\"/>", colour(index), outline.trim_end());
    }

    /// The paper's values: a dashed line through diamonds; for a course the level alone.
    fn theirs(&self, one: &Drawn<'_>, index: usize, plot: &Plot, count: usize, svg: &mut String) {
        let at: Vec<(f64, f64)> = one
            .line
            .paper
            .iter()
            .map(|p| (self.at_x(p[0]) + self.aside(plot, index, count), self.at_y(p[1])))
            .collect();
        if one.joined && at.len() > 1 {
            let path: Vec<String> = at.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            let _ = writeln!(svg, "<path class=\"theirs\" stroke=\"{}\" d=\"M{}\"/>", colour(index), path.join("L"));
        }
        let course = matches!(one.line.of, Expression::Course { .. });
        if !course || at.len() == 1 {
            at.iter().for_each(|(x, y)| diamond(*x, *y, index, svg));
        }
    }

    fn ours(&self, one: &Drawn<'_>, index: usize, plot: &Plot, count: usize, svg: &mut String) {
        let colour = colour(index);
        if one.joined && one.points.len() > 1 {
            let path: Vec<String> =
                one.points.iter().map(|p| format!("{:.1} {:.1}", self.at_x(p.0), self.at_y(p.1))).collect();
            let _ = writeln!(svg, "<path class=\"curve\" stroke=\"{colour}\" d=\"M{}\"/>", path.join("L"));
        }
        if matches!(one.line.of, Expression::Course { .. }) && one.points.len() > 40 {
            return;
        }
        for (x, mean, low, high) in &one.points {
            let x = self.at_x(*x) + self.aside(plot, index, count);
            if high > low {
                let _ = writeln!(
                    svg,
                    "<path class=\"error\" stroke=\"{colour}\" d=\"M{x:.1} {:.1}V{:.1}\"/>",
                    self.at_y(*low),
                    self.at_y(*high)
                );
            }
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3.6\" fill=\"{colour}\"/>", self.at_y(*mean));
        }
    }

    /// Lines over names stand beside each other.
    fn aside(&self, plot: &Plot, index: usize, count: usize) -> f64 {
        if plot.names.is_empty() { 0.0 } else { (index as f64 - (count as f64 - 1.0) / 2.0) * 16.0 }
    }

    fn legend(&self, drawn: &[Drawn<'_>], svg: &mut String) {
        for ((i, one), (x, row)) in drawn.iter().enumerate().zip(&self.rows) {
            let y = MARGIN[2] + LEGEND * *row as f64;
            let colour = colour(i);
            let _ = writeln!(svg, "<path class=\"curve\" stroke=\"{colour}\" d=\"M{x:.1} {y:.1}h20\"/>");
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 27.0,
                y + 4.0,
                super::escape(&one.line.label)
            );
        }
        if let (Some((x, row)), true) = (self.rows.get(drawn.len()), drawn.iter().any(|d| !d.line.paper.is_empty())) {
            let y = MARGIN[2] + LEGEND * *row as f64;
            let _ = writeln!(svg, "<path class=\"theirs\" stroke=\"var(--soft)\" d=\"M{x:.1} {y:.1}h20\"/>");
            let _ = writeln!(
                svg,
                "<rect class=\"mark\" stroke=\"var(--soft)\" x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\" transform=\"rotate(45 {:.1} {y:.1})\"/>",
                x + 6.5,
                y - 3.5,
                x + 10.0
            );
            let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">paper</text>", x + 27.0, y + 4.0);
        }
    }
}

fn diamond(x: f64, y: f64, index: usize, svg: &mut String) {
    let _ = writeln!(
        svg,
        "<path class=\"mark\" stroke=\"{}\" d=\"M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\"/>",
        colour(index),
        y - 5.5
    );
}

fn colour(index: usize) -> String {
    format!("var(--c{})", index % COLOURS + 1)
}

/// Position of each entry of the legend, the paper's last.
fn legend_places(plot: &Plot, drawn: &[Drawn<'_>]) -> Vec<(f64, usize)> {
    let theirs = plot.lines.iter().any(|l| !l.paper.is_empty()).then_some("paper");
    let labels = drawn.iter().map(|d| d.line.label.as_str()).chain(theirs);
    let (mut x, mut row) = (MARGIN[0], 0);
    let mut places = Vec::new();
    for label in labels {
        let wide = 27.0 + 6.6 * label.chars().count() as f64 + 22.0;
        if x > MARGIN[0] && x + wide > WIDTH {
            (x, row) = (MARGIN[0], row + 1);
        }
        places.push((x, row));
        x += wide;
    }
    places
}

/// Round numbers from the lower to the upper end, about `count`.
pub(crate) fn ticks([low, high]: [f64; 2], count: usize) -> Vec<f64> {
    let raw = (high - low) / count as f64;
    let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.999).unwrap_or(raw);
    let first = libm::ceil(low / step - 1e-9);
    let last = libm::floor(high / step + 1e-9);
    (0..=(last - first).max(0.0) as usize).map(|i| (first + i as f64) * step).collect()
}

/// The same, whole numbers where there are few.
fn ticks_within(range: [f64; 2], count: usize) -> Vec<f64> {
    let span = range[1] - range[0];
    let count = if span < count as f64 && span > 2.0 { span as usize + 1 } else { count };
    ticks(range, count)
}

fn decades([low, high]: [f64; 2]) -> Vec<f64> {
    let (first, last) = (libm::round(libm::log10(low)) as i32, libm::round(libm::log10(high)) as i32);
    (first..=last).map(|e| libm::pow(10.0, f64::from(e))).collect()
}

/// A tick without the dust of binary fractions.
fn label(x: f64) -> String {
    let text = format!("{x:.6}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short.is_empty() || short == "-0" { "0".to_owned() } else { short.to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks([0.0, 16.8], 6), [0.0, 5.0, 10.0, 15.0]);
        assert_eq!(ticks([0.0, 1.12], 6), [0.0, 0.2, 0.4, 0.600_000_000_000_000_1, 0.8, 1.0]);
        assert_eq!(decades([0.001, 1.0]), [0.001, 0.01, 0.1, 1.0]);
        assert_eq!([0.1 + 0.2, -0.0, 250.0].map(label), ["0.3", "0", "250"]);
    }
}
