//! A link's values over time: least, mean and largest of each step of four spans, in rings of fixed length.

use airbraid_units::named_enum;
use std::collections::BTreeMap;

named_enum! {
    /// A span of the recent past, with a step of its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Span {
        Minute = "minute",
        Hour = "hour",
        Day = "day",
        Month = "month",
    }
}

impl Span {
    /// The span of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|span| span.name() == name)
    }

    /// Length of a step \[s\]. A chart 390 pixels wide shows some 300 of them.
    pub const fn step(self) -> u32 {
        match self {
            Self::Minute => 1,
            Self::Hour => 15,
            Self::Day => 300,
            Self::Month => 10_800,
        }
    }

    /// Number of steps: a minute, an hour, a day, 31 days.
    pub const fn steps(self) -> usize {
        match self {
            Self::Minute => 60,
            Self::Hour => 240,
            Self::Day => 288,
            Self::Month => 248,
        }
    }
}

/// Number of values of a link.
pub const VALUES: usize = 5;

/// The values of a link in one second: sent and received \[bit/s\], smoothed round trip \[us\], lost share of the sent
/// frames \[1e-6\], delay of its own queue \[us\]. One that is not known is no number.
pub type Sample = [f32; VALUES];

/// Least, mean and largest value of a step, in 16 bits each: the upper half of a single-precision number without its
/// sign, which is off by less than 0.2 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub least: u16,
    pub mean: u16,
    pub most: u16,
}

impl Range {
    /// A range of numbers, each zero or more, or none.
    pub fn of(least: f32, mean: f32, most: f32) -> Self {
        Self { least: code(least), mean: code(mean), most: code(most) }
    }

    fn numbers(self) -> [f32; 3] {
        [self.least, self.mean, self.most].map(number)
    }

    /// Least, mean, largest, as whole numbers; `None` where there is none.
    pub fn whole(self) -> [Option<u64>; 3] {
        self.numbers().map(|value| value.is_finite().then_some(value.round() as u64))
    }

    /// The range of both, `a` and `b` seconds long.
    fn join(self, a: u16, other: Self, b: u16) -> Self {
        let ([least, mean, most], [other_least, other_mean, other_most]) = (self.numbers(), other.numbers());
        let mean = match (mean.is_nan(), other_mean.is_nan()) {
            (true, _) => other_mean,
            (_, true) => mean,
            (false, false) => (mean * f32::from(a) + other_mean * f32::from(b)) / (f32::from(a) + f32::from(b)),
        };
        Self::of(least.min(other_least), mean, most.max(other_most))
    }
}

/// A number of zero or more in 16 bits, rounded; no number stays none.
fn code(value: f32) -> u16 {
    if value.is_nan() {
        return u16::MAX;
    }
    // Half a unit of the last bit that is kept.
    let bits = value.clamp(0.0, f32::MAX).to_bits() + (1 << 14);
    (bits >> 15) as u16
}

fn number(code: u16) -> f32 {
    f32::from_bits(u32::from(code) << 15)
}

/// A step of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Number of samples, at least one.
    pub seconds: u16,
    pub values: [Range; VALUES],
}

impl Point {
    /// The point of both; one of them was cut by the end of a daemon.
    fn join(self, other: Self) -> Self {
        let mut values = self.values;
        for (value, other_value) in values.iter_mut().zip(other.values) {
            *value = value.join(self.seconds, other_value, other.seconds);
        }
        Self { seconds: self.seconds.saturating_add(other.seconds), values }
    }
}

/// The samples of a step that is not over.
#[derive(Clone, Copy, Debug)]
struct Open {
    time: u32,
    seconds: u16,
    least: Sample,
    sum: [f64; VALUES],
    most: Sample,
    known: [u16; VALUES],
}

impl Open {
    const fn new(time: u32) -> Self {
        let none = [f32::NAN; VALUES];
        Self { time, seconds: 0, least: none, sum: [0.0; VALUES], most: none, known: [0; VALUES] }
    }

    fn add(&mut self, sample: &Sample) {
        self.seconds = self.seconds.saturating_add(1);
        for (at, value) in sample.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            self.least[at] = self.least[at].min(*value);
            self.most[at] = self.most[at].max(*value);
            self.sum[at] += f64::from(*value);
            self.known[at] = self.known[at].saturating_add(1);
        }
    }

    fn point(&self) -> Point {
        let range = |at: usize| {
            let mean = self.sum[at] / f64::from(self.known[at]);
            Range::of(self.least[at], mean as f32, self.most[at])
        };
        Point { seconds: self.seconds, values: std::array::from_fn(range) }
    }
}

/// The steps of one span.
#[derive(Debug, Default)]
struct Level {
    points: BTreeMap<u32, Point>,
    open: Option<Open>,
}

/// The values of a link in all spans.
#[derive(Debug, Default)]
pub struct Series {
    levels: [Level; Span::COUNT],
}

/// A step that is over, for the disk.
pub type Closed = (Span, u32, Point);

impl Series {
    /// Adds the sample of a second; `time` is that of day \[s since 1970\]. Returns the steps that are over with it.
    pub fn add(&mut self, time: u32, sample: &Sample) -> Vec<Closed> {
        let mut closed = Vec::new();
        for span in Span::ALL {
            let begin = time - time % span.step();
            if let Some(open) = self.levels[span as usize].open.filter(|open| open.time != begin) {
                closed.push((span, open.time, open.point()));
            }
        }
        for (span, begin, point) in &closed {
            self.levels[*span as usize].open = None;
            self.insert(*span, *begin, *point);
        }
        for span in Span::ALL {
            let begin = time - time % span.step();
            self.levels[span as usize].open.get_or_insert(Open::new(begin)).add(sample);
        }
        closed
    }

    /// Adds a step. Of too many the oldest goes, by the time of day: a host that has no clock at first has its old
    /// points when the clock is set.
    pub fn insert(&mut self, span: Span, time: u32, point: Point) {
        let points = &mut self.levels[span as usize].points;
        let joined = points.get(&time).map_or(point, |known| known.join(point));
        points.insert(time, joined);
        while points.len() > span.steps() {
            points.pop_first();
        }
    }

    /// The steps of a span, oldest first, and the one that is not over.
    pub fn points(&self, span: Span) -> Vec<(u32, Point)> {
        let level = &self.levels[span as usize];
        let mut points: BTreeMap<u32, Point> = level.points.clone();
        if let Some(open) = &level.open {
            let point = open.point();
            points.entry(open.time).and_modify(|known| *known = known.join(point)).or_insert(point);
        }
        points.into_iter().collect()
    }

    /// The time of the newest step; `None` where nothing was recorded.
    pub fn newest(&self) -> Option<u32> {
        let of_level = |level: &Level| {
            let last = level.points.last_key_value().map(|(time, _)| *time);
            last.max(level.open.map(|open| open.time))
        };
        self.levels.iter().filter_map(of_level).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONE: f32 = f32::NAN;

    #[test]
    fn a_step_has_the_least_the_mean_and_the_largest_of_its_seconds() {
        let mut series = Series::default();
        for (second, rate) in [4.0, 8.0, 0.0].into_iter().enumerate() {
            series.add(30_000 + second as u32, &[rate, rate, NONE, 0.0, 20.0]);
        }
        let points = series.points(Span::Hour);
        let (time, point) = points[0];
        assert_eq!((points.len(), time, point.seconds), (1, 30_000, 3));
        assert_eq!(point.values[0].whole(), [Some(0), Some(4), Some(8)]);
        assert_eq!(point.values[2].whole(), [None; 3], "a round trip that is not known stays so");
        assert_eq!(series.points(Span::Minute).len(), 3);
    }

    #[test]
    fn a_ring_holds_its_span_and_no_more() {
        let mut series = Series::default();
        let mut closed = [0; Span::COUNT];
        for second in 0..90_000 {
            for (span, ..) in series.add(1_000_000_000 + second, &[1.0; VALUES]) {
                closed[span as usize] += 1;
            }
        }
        let lengths = Span::ALL.map(|span| series.points(span).len());
        // The present step comes to those that are over.
        assert_eq!(lengths, [61, 241, 289, 9]);
        assert_eq!(closed, [89_999, 6_000, 300, 8]);
        for span in Span::ALL.into_iter().take(3) {
            assert!(span.step() as usize * span.steps() >= [60, 3_600, 86_400][span as usize]);
        }
    }

    #[test]
    fn a_step_that_an_end_has_cut_goes_on_after_it() {
        let (mut before, mut after) = (Series::default(), Series::default());
        for second in 0..100 {
            before.add(10_800 + second, &[10.0, 0.0, NONE, 0.0, 0.0]);
        }
        for (time, point) in before.points(Span::Month) {
            after.insert(Span::Month, time, point);
        }
        for second in 200..500 {
            after.add(10_800 + second, &[30.0, 0.0, 5.0, 0.0, 0.0]);
        }
        let points = after.points(Span::Month);
        assert_eq!((points.len(), points[0].1.seconds), (1, 400));
        assert_eq!(points[0].1.values[0].whole(), [Some(10), Some(25), Some(30)]);
        assert_eq!(points[0].1.values[2].whole(), [Some(5); 3]);
    }

    #[test]
    fn a_clock_that_was_not_set_yet_takes_nothing_away() {
        let mut series = Series::default();
        let point = Point { seconds: 1, values: [Range::of(1.0, 1.0, 1.0); VALUES] };
        for step in 0..Span::Day.steps() as u32 {
            series.insert(Span::Day, 1_700_000_100 + 300 * step, point);
        }
        for second in 0..1_000 {
            series.add(second, &[2.0; VALUES]);
        }
        let (first, _) = series.points(Span::Day)[1];
        assert_eq!(first, 1_700_000_100, "the old points are there when the clock is set");
    }

    proptest! {
        #[test]
        fn a_number_in_16_bits_is_off_by_less_than_two_in_a_thousand(value in 1.0e-3f32..1.0e12) {
            let read = number(code(value));
            prop_assert!((read - value).abs() <= 0.002 * value, "{value} is read as {read}");
        }
    }

    #[test]
    fn zero_and_no_number_stay_what_they_are() {
        assert_eq!(number(code(0.0)), 0.0);
        assert!(number(code(NONE)).is_nan());
    }
}
