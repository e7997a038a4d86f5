//! The series of a cell, thinned to what a picture can show.
//!
//! A line with more points than its part of the page keeps the smallest and the largest of each group of neighbours, at
//! their own times: a spike stays a spike.

use super::data::number;
use crate::stored::{StoredCell, list, text};
use serde_json::{Map, Value, json};

/// Least number of points of a line: below, its shape is lost.
pub const POINTS_MIN: usize = 60;
/// Largest: a picture on a wide screen shows no more.
pub const POINTS_MAX: usize = 1_200;

/// One line: values by interval.
#[derive(Clone, Debug)]
pub struct Course {
    name: String,
    interval_s: f64,
    /// Part of its interval at which a value stands: the middle of an amount, the end of a level.
    at: f64,
    values: Vec<Option<f64>>,
}

/// Lines of one quantity.
#[derive(Clone, Debug)]
pub struct Chart {
    title: &'static str,
    unit: &'static str,
    /// What the values are of: one run, or the mean of several.
    of: String,
    lines: Vec<Course>,
}

/// The series that runs write: the list in a run, the name in `series`, the chart's title, the unit, where a value
/// stands.
const SERIES: [(&str, &str, &str, &str, f64); 7] = [
    ("flows", "goodput_bps", "Goodput", "bit/s", 0.5),
    ("flows", "sequence_bytes", "Sequence sent", "byte", 1.0),
    ("trunks", "reorder_timer_s", "Reordering timer", "s", 1.0),
    ("members", "rate_bps", "Measured rate of members", "bit/s", 1.0),
    ("members", "control_bytes", "Feedback and probes so far", "byte", 1.0),
    ("macs", "snr_db", "SNR of frames received", "dB", 0.5),
    ("selections", "first", "Share of the first member", "share", 0.5),
];
/// The samples of one run, likewise.
const SAMPLES: [(&str, &str, &str, &str, f64); 4] = [
    ("flows", "delay_s", "One-way delay", "s", 0.5),
    ("queues", "packets", "Queues", "packets", 1.0),
    ("flows", "window_bytes", "Congestion window", "byte", 1.0),
    ("flows", "flight_bytes", "Bytes in flight", "byte", 1.0),
];

/// The charts of a cell, those without a line left out.
pub fn charts(cell: &StoredCell) -> Vec<Chart> {
    let n = cell.runs.len();
    let of_runs = if n > 1 { format!("mean of {n} runs") } else { String::new() };
    let seed = cell.courses.get("seed").and_then(Value::as_u64).map(|seed| format!("seed {seed}"));
    let of_first = seed.filter(|_| n > 1).unwrap_or_default();
    let mut all = Vec::new();
    let goodput = |(place, ..): &(usize, _)| *place == 0;
    let series: Vec<_> = SERIES.into_iter().enumerate().collect();
    let run = |(list_name, key, title, unit, at): (&'static str, &str, &'static str, &'static str, f64)| Chart {
        title,
        unit,
        of: of_runs.clone(),
        lines: of_all(cell, list_name, key, at),
    };
    let sampled = |(list_name, key, title, unit, at): (&str, &str, &'static str, &'static str, f64)| Chart {
        title,
        unit,
        of: of_first.clone(),
        lines: samples(&cell.courses, list_name, key, at),
    };
    all.extend(series.iter().filter(|one| goodput(one)).map(|(_, one)| run(*one)));
    all.extend(SAMPLES.map(sampled));
    all.extend(series.iter().filter(|one| !goodput(one)).map(|(_, one)| run(*one)));
    all.retain(|chart| !chart.lines.is_empty());
    all
}

/// The lines of a series, each the mean over the runs that have a value.
fn of_all(cell: &StoredCell, list_name: &str, key: &str, at: f64) -> Vec<Course> {
    let owners: Vec<Vec<(String, &Value)>> = cell.runs.iter().map(|run| owners(run, list_name)).collect();
    let Some(first) = owners.first() else { return Vec::new() };
    let lines = first.iter().enumerate().filter_map(|(place, (name, owner))| {
        let interval_s = owner.get("series")?.get("interval_s")?.as_f64()?;
        let all: Vec<&[Value]> =
            owners.iter().filter_map(|run| Some(list(run.get(place)?.1.get("series"), key))).collect();
        let count = all.iter().map(|values| values.len()).max().filter(|count| *count > 0)?;
        let mean = |i: usize| {
            let values: Vec<f64> = all.iter().filter_map(|values| values.get(i)?.as_f64()).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        Some(Course { name: name.clone(), interval_s, at, values: (0..count).map(mean).collect() })
    });
    lines.collect()
}

/// The things of a run that have series, with their names.
fn owners<'a>(run: &'a Value, list_name: &str) -> Vec<(String, &'a Value)> {
    let ends = |thing: &Value| format!("{} {}", text(thing, "name"), text(thing, "from"));
    match list_name {
        "members" => {
            let of_trunk = |trunk: &'a Value| {
                let name = ends(trunk);
                list(Some(trunk), "members").iter().map(move |m| (format!("{name} {}", text(m, "link")), m))
            };
            list(Some(run), "trunks").iter().flat_map(of_trunk).collect()
        }
        "macs" => {
            let name = |mac: &Value| format!("{} {}", text(mac, "node"), text(mac, "radio"));
            list(Some(run), list_name).iter().map(|mac| (name(mac), mac)).collect()
        }
        "flows" => list(Some(run), list_name).iter().map(|flow| (text(flow, "name").to_owned(), flow)).collect(),
        _ => list(Some(run), list_name).iter().map(|thing| (ends(thing), thing)).collect(),
    }
}

fn samples(courses: &Value, list_name: &str, key: &str, at: f64) -> Vec<Course> {
    let Some(interval_s) = courses.get("interval_s").and_then(Value::as_f64) else { return Vec::new() };
    let of = list(Some(courses), list_name).iter().filter_map(|owner| {
        let values: Vec<Option<f64>> = list(Some(owner), key).iter().map(Value::as_f64).collect();
        values.iter().any(Option::is_some).then(|| Course {
            name: text(owner, "name").to_owned(),
            interval_s,
            at,
            values,
        })
    });
    of.collect()
}

/// Number of lines of charts.
pub fn line_count(charts: &[Chart]) -> usize {
    charts.iter().map(|chart| chart.lines.len()).sum()
}

impl Chart {
    /// The data of the chart, with at most `points` points a line.
    pub fn data(&self, points: usize) -> Value {
        let lines: Vec<Value> = self.lines.iter().map(|line| line.data(points)).collect();
        json!({ "title": self.title, "unit": self.unit, "of": self.of, "lines": lines })
    }
}

impl Course {
    fn data(&self, points: usize) -> Value {
        let mut data = Map::new();
        data.insert("name".to_owned(), self.name.clone().into());
        data.insert("interval".to_owned(), self.interval_s.into());
        data.insert("at".to_owned(), number(self.at));
        let value = |x: Option<f64>| x.map_or(Value::Null, number);
        if self.values.len() <= points {
            data.insert("y".to_owned(), self.values.iter().map(|x| value(*x)).collect());
        } else {
            let places = thinned(&self.values, points);
            data.insert("y".to_owned(), places.iter().map(|i| value(self.values[*i])).collect());
            data.insert("x".to_owned(), places.into_iter().map(Value::from).collect());
            data.insert("thinned".to_owned(), self.values.len().into());
        }
        Value::Object(data)
    }
}

/// The places of the values that stay: of each group the smallest and the largest, in their order.
fn thinned(values: &[Option<f64>], points: usize) -> Vec<usize> {
    let groups = (points / 2).max(1);
    let mut places = Vec::with_capacity(2 * groups);
    for group in 0..groups {
        let (from, until) = (group * values.len() / groups, (group + 1) * values.len() / groups);
        let known = || (from..until).filter_map(|i| Some((i, values[i]?)));
        let smallest = known().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i);
        let largest = known().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i);
        match (smallest, largest) {
            (Some(a), Some(b)) if a != b => places.extend([a.min(b), a.max(b)]),
            (Some(a), _) => places.push(a),
            // A gap stays a gap.
            (None, _) if from < until => places.push(from),
            (None, _) => {}
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_line_keeps_every_groups_extremes_and_its_gaps() {
        let mut values: Vec<Option<f64>> = (0..1_000).map(|i| Some(f64::from(i % 7))).collect();
        values[503] = Some(900.0);
        values[504] = Some(-900.0);
        values[600..700].fill(None);
        let places = thinned(&values, 100);
        assert!(places.len() <= 100 && places.is_sorted());
        assert!(places.contains(&503) && places.contains(&504), "a spike stays");
        assert!(places.iter().any(|i| values[*i].is_none()), "a gap stays");
        assert_eq!(thinned(&[Some(1.0), Some(2.0)], 1), [0, 1]);
    }
}
