//! A chart: lines over one pair of axes, each with its confidence intervals and with values to compare it with.

use super::scale::{decades, label, ticks, ticks_within};
use super::svg::{GRID, MIDDLE, PALE, PAPER, SOFT, Svg, line_colour, shorten};

/// Space for the labels of the axes: left, right, bottom.
const MARGIN: [f64; 3] = [62.0, 18.0, 46.0];
/// Height of a row of the legend.
const LEGEND: f64 = 20.0;
/// Width of a letter of the legend.
const LETTER: f64 = 6.6;
/// Width of an entry of the legend without its name: the line before it, and the gap after it.
const ENTRY: [f64; 2] = [27.0, 22.0];
/// Intervals of joined lines stand so far beside each other.
const BESIDE: f64 = 4.0;
/// Lines over names stand so far beside each other.
const ASIDE: f64 = 16.0;
/// Width of a bar over a name: bars of neighbouring lines touch.
const BAR: f64 = ASIDE;

/// A value with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub x: f64,
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// One line of a chart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Its name in the legend; without one it has no entry there.
    pub label: String,
    pub points: Vec<Point>,
    /// A line through the points; without marks in the band of their intervals.
    pub is_joined: bool,
    /// A mark at each point, with its interval as a bar.
    pub has_marks: bool,
    /// Values to compare it with: a dashed line of the same colour.
    pub reference: Vec<[f64; 2]>,
    /// A mark at each of those.
    pub has_reference_marks: bool,
    /// Single runs: small rings.
    pub runs: Vec<[f64; 2]>,
}

impl Line {
    /// The same with all values divided by `factor`.
    pub(crate) fn over(mut self, factor: f64) -> Self {
        for Point { mean, low, high, .. } in &mut self.points {
            [mean, low, high].into_iter().for_each(|y| *y /= factor);
        }
        self.runs.iter_mut().for_each(|run| run[1] /= factor);
        self
    }
}

/// The scale from numbers to positions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scale {
    Linear,
    /// Powers of ten.
    Log,
    /// Names instead of the numbers 0, 1, ...
    Names(Vec<String>),
}

#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// The quantity and its unit.
    pub label: String,
    pub range: [f64; 2],
    pub scale: Scale,
}

/// Lines over one pair of axes.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
    /// The name of the values to compare with.
    pub reference: &'static str,
}

/// Where a chart stands, labels of its axes included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    const fn right(&self) -> f64 {
        self.left + self.width
    }
}

impl Axis {
    /// Where `value` stands, as a share of the axis.
    fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.scale == Scale::Log { libm::log10(value.max(self.range[0])) } else { value };
        let [low, high] = self.range.map(place);
        (place(value) - low) / (high - low)
    }
}

impl Chart {
    /// The height of the legend of a chart of this width.
    pub(crate) fn legend_height(&self, width: f64) -> f64 {
        let rows = self.legend(Area { left: 0.0, top: 0.0, width, height: 0.0 });
        LEGEND * rows.last().map_or(0, |(_, _, row)| row + 1) as f64
    }

    /// The entries of the legend, the reference last: the name, the place from the left and the row.
    fn legend(&self, area: Area) -> Vec<(String, f64, usize)> {
        let reference = self.lines.iter().any(|line| !line.reference.is_empty()).then_some(self.reference);
        let labels = self.lines.iter().map(|line| line.label.as_str()).chain(reference);
        let first = area.left + MARGIN[0];
        let (mut x, mut row) = (first, 0);
        let mut entries = Vec::new();
        for label in labels.filter(|label| !label.is_empty()) {
            let label = shorten(label, ((area.right() - first - ENTRY[0]) / LETTER) as usize);
            let wide = ENTRY[0] + LETTER * label.chars().count() as f64 + ENTRY[1];
            if x > first && x + wide > area.right() {
                (x, row) = (first, row + 1);
            }
            entries.push((label, x, row));
            x += wide;
        }
        entries
    }

    /// Draws the legend at the top of `area`.
    pub(crate) fn draw_legend(&self, svg: &mut Svg, area: Area) {
        let named: Vec<usize> = (0..self.lines.len()).filter(|i| !self.lines[*i].label.is_empty()).collect();
        for (place, (label, x, row)) in self.legend(area).into_iter().enumerate() {
            let y = area.top + LEGEND * row as f64;
            match named.get(place) {
                Some(index) => svg.line([(x, y), (x + 20.0, y)], line_colour(*index), WIDE),
                None => {
                    svg.line([(x, y), (x + 20.0, y)], PALE, DASHED);
                    if self.lines.iter().any(|line| line.has_reference_marks) {
                        diamond((x + 10.0, y), PALE, svg);
                    }
                }
            }
            svg.text((x + 27.0, y + 4.0), "", &label);
        }
    }

    /// Draws the axes and all lines, without the legend.
    pub(crate) fn draw(&self, svg: &mut Svg, area: Area) {
        let plot = Plot { chart: self, area };
        plot.axes(svg);
        for (index, line) in self.lines.iter().enumerate() {
            plot.band(line, line_colour(index), svg);
        }
        for (index, line) in self.lines.iter().enumerate() {
            plot.reference(line, index, svg);
        }
        for (index, line) in self.lines.iter().enumerate() {
            plot.line(line, index, svg);
        }
    }
}

const WIDE: &str = "stroke-width=\"1.8\" stroke-linejoin=\"round\"";
const DASHED: &str = "stroke-width=\"1.3\" stroke-dasharray=\"6 4\" stroke-opacity=\"0.9\"";

/// A chart at its place.
struct Plot<'a> {
    chart: &'a Chart,
    area: Area,
}

impl Plot<'_> {
    fn x(&self, x: f64) -> f64 {
        self.area.left + MARGIN[0] + self.chart.x.share(x) * (self.area.width - MARGIN[0] - MARGIN[1])
    }
    fn y(&self, y: f64) -> f64 {
        self.area.top + (1.0 - self.chart.y.share(y).clamp(0.0, 1.0)) * (self.area.height - MARGIN[2])
    }
    fn bottom(&self) -> f64 {
        self.area.top + self.area.height - MARGIN[2]
    }

    fn axes(&self, svg: &mut Svg) {
        let (x, y) = (&self.chart.x, &self.chart.y);
        let (left, right, bottom) = (self.area.left + MARGIN[0], self.area.right() - MARGIN[1], self.bottom());
        let steps = if self.area.height < 200.0 { 4 } else { 6 };
        for tick in if y.scale == Scale::Log { decades(y.range) } else { ticks(y.range, steps) } {
            let place = self.y(tick);
            svg.line([(left, place), (right, place)], GRID, "");
            svg.text((left - 8.0, place + 4.0), &format!("{SOFT} text-anchor=\"end\""), &label(tick));
        }
        svg.line([(left, self.area.top), (left, bottom), (right, bottom)], PALE, "");
        let count = if self.area.width < 600.0 { 6 } else { 10 };
        let names: Vec<(f64, String)> = match &x.scale {
            Scale::Names(names) => names.iter().enumerate().map(|(i, name)| (i as f64, name.clone())).collect(),
            Scale::Log => decades(x.range).into_iter().map(|x| (x, label(x))).collect(),
            Scale::Linear => ticks_within(x.range, count).into_iter().map(|x| (x, label(x))).collect(),
        };
        for (at, name) in names {
            let at = self.x(at);
            svg.line([(at, bottom), (at, bottom + 4.0)], PALE, "");
            svg.text((at, bottom + 18.0), &format!("{SOFT} {MIDDLE}"), &name);
        }
        svg.text(((left + right) / 2.0, bottom + 38.0), MIDDLE, &x.label);
        let (at, middle) = (self.area.left + 14.0, (self.area.top + bottom) / 2.0);
        svg.text((at, middle), &format!("{MIDDLE} transform=\"rotate(-90 {at:.1} {middle:.1})\""), &y.label);
    }

    /// The confidence band of a joined line without marks, which have bars; paler where there are many.
    fn band(&self, line: &Line, colour: &str, svg: &mut Svg) {
        if !line.is_joined || line.has_marks || line.points.len() < 2 || !line.points.iter().any(|p| p.high > p.low) {
            return;
        }
        let upper = line.points.iter().map(|p| (p.x, p.high));
        let lower = line.points.iter().rev().map(|p| (p.x, p.low));
        let outline: Vec<String> =
            upper.chain(lower).map(|(x, y)| format!("{:.1},{:.1}", self.x(x), self.y(y))).collect();
        let shade = if self.chart.lines.len() > 3 { 0.12 } else { 0.22 };
        svg.add(format_args!("polygon fill=\"{colour}\" fill-opacity=\"{shade}\" points=\"{}\"", outline.join(" ")));
    }

    /// Where a point of the line with this index stands.
    fn place(&self, index: usize, x: f64, y: f64) -> (f64, f64) {
        let beside = index as f64 - (self.chart.lines.len() as f64 - 1.0) / 2.0;
        let lines = &self.chart.lines;
        let aside = match self.chart.x.scale {
            Scale::Names(_) => beside * ASIDE,
            // Intervals at one place hide each other; what is compared with values of others stands exactly.
            _ if lines.iter().all(|line| line.has_marks && line.reference.is_empty()) => beside * BESIDE,
            _ => 0.0,
        };
        (self.x(x) + aside, self.y(y))
    }

    fn reference(&self, line: &Line, index: usize, svg: &mut Svg) {
        let colour = line_colour(index);
        let places: Vec<(f64, f64)> = line.reference.iter().map(|[x, y]| self.place(index, *x, *y)).collect();
        if line.is_joined && places.len() > 1 {
            svg.line(places.iter().copied(), colour, DASHED);
        }
        if line.has_reference_marks {
            places.into_iter().for_each(|place| diamond(place, colour, svg));
        }
    }

    /// A bar from zero to a value over a name: nothing joins it to its neighbours.
    fn bar(&self, (x, y): (f64, f64), colour: &str, svg: &mut Svg) {
        let (from, is_named) = (self.chart.y.range[0], matches!(self.chart.x.scale, Scale::Names(_)));
        if !is_named || self.chart.y.scale != Scale::Linear || from > 0.0 {
            return;
        }
        let (zero, left) = (self.y(0.0), x - BAR / 2.0);
        svg.add(format_args!(
            "rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{BAR}\" height=\"{:.1}\" fill=\"{colour}\" fill-opacity=\"0.25\"",
            y.min(zero),
            (y - zero).abs()
        ));
    }

    fn line(&self, line: &Line, index: usize, svg: &mut Svg) {
        let colour = line_colour(index);
        if line.is_joined && line.points.len() > 1 {
            svg.line(line.points.iter().map(|p| self.place(index, p.x, p.mean)), colour, WIDE);
        }
        for [x, y] in &line.runs {
            let (x, y) = self.place(index, *x, *y);
            svg.add(format_args!(
                "circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.2\""
            ));
        }
        for point in line.points.iter().filter(|_| line.has_marks) {
            let (x, y) = self.place(index, point.x, point.mean);
            self.bar((x, y), colour, svg);
            if point.high > point.low {
                svg.line([(x, self.y(point.low)), (x, self.y(point.high))], colour, "stroke-width=\"1.4\"");
            }
            svg.add(format_args!("circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.6\" fill=\"{colour}\""));
        }
    }
}

fn diamond((x, y): (f64, f64), colour: &str, svg: &mut Svg) {
    svg.add(format_args!(
        "path d=\"M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\" fill=\"{PAPER}\" stroke=\"{colour}\" stroke-width=\"1.6\"",
        y - 5.5
    ));
}
