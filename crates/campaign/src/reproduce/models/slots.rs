//! The model `slots`: period, slots and arrangements of one radio with several access points, and TCP's throughput over
//! them.
//!
//! | parameter | is |
//! |---|---|
//! | `duty` | duty cycles, text or a list of texts |
//! | `slot`, `period` | one of them, or both |
//! | `delay`, `offset` | a wired round trip, and what each path has more |
//! | `loss`, `flows` | one for all or one each |
//! | `switch`, `theta` | lost air time a switch; mean start time in a block |
//!
//! Metrics: `period_s`, `idle_s`, `slots`, `arrangements`, `runs.search`, `runs.line`; `ap1.duty`, `.slots`, `.slot_s`;
//! `equal.period_s`, `equal.ap1.slots`; for each policy (`no_policy`, `random`, `min_max`, `blind`, `worst_case`,
//! `measured`) `min_max.aggregate_bps`, `blind.runs`, and for each access point `min_max.ap1.disconnection_s`,
//! `.block_s`, `.connected`, `.rtt_s`, `.throughput_bps`, `.sample_mean_s`, `.sample_std_s`, `.sample_min_s`,
//! `.sample_max_s`.

use super::{Compute, ModelParameters};
use crate::reproduce::library::suggestion;
use crate::slots::{Policy, RANDOM_PERIODS, SAMPLES};
use airbraid_sim::facts::Facts;
use airbraid_sim::models::Stream;
use airbraid_sim::models::measured::measured;
use airbraid_sim::models::rtt::Connection;
use airbraid_sim::models::slots::{
    Arrangement, Fraction, Layout, Length, Objective, Path, Runs, Timetable, enumerate, min_max, no_policy, random,
};
use airbraid_sim::models::tcp::{Route, Tcp, got};
use airbraid_units::{Duration, Quantity};
use std::collections::{BTreeMap, BTreeSet};

const PARAMETERS: [&str; 9] = ["duty", "slot", "period", "delay", "offset", "loss", "flows", "switch", "theta"];
/// Largest number of arrangements that are enumerated; the papers' cases have fewer than 2000.
const ENUMERATE: u128 = 200_000;

#[derive(Debug)]
struct Slots {
    duties: Vec<Fraction>,
    length: Length,
    layout: Layout,
    routes: Vec<Route>,
    tcp: Tcp,
}

pub fn read(told: &ModelParameters) -> Result<Box<dyn Compute>, String> {
    if let Some(unknown) = told.keys().find(|key| !PARAMETERS.contains(&key.as_str())) {
        return Err(format!("no parameter `{unknown}`; {}", suggestion(unknown, &PARAMETERS)));
    }
    let duties = list(told, "duty", |text| Fraction::parse(text).map_err(|e| e.to_string()))?;
    if duties.is_empty() {
        return Err("`duty` is missing".to_owned());
    }
    let length = match (duration(told, "slot")?, duration(told, "period")?) {
        (Some(slot), None) => Length::Slot(slot),
        (None, Some(period)) => Length::Period(period),
        (Some(slot), Some(period)) => Length::Both { slot, period },
        (None, None) => return Err("`slot` or `period` is missing".to_owned()),
    };
    let layout = Layout::new(&duties, length).map_err(|refused| refused.to_string())?;
    let theta = list(told, "theta", |text| text.parse::<f64>().map_err(|e| e.to_string()))?;
    let mut tcp = Tcp { switch: duration(told, "switch")?.unwrap_or(Duration::ZERO), ..Tcp::default() };
    tcp.theta = theta.first().copied().unwrap_or(tcp.theta);
    if !(0.01..=100.0).contains(&tcp.theta) {
        return Err("`theta` is to be from 0.01 to 100".to_owned());
    }
    let routes = routes(told, duties.len())?;
    Ok(Box::new(Slots { duties, length, layout, routes, tcp }))
}

fn routes(told: &ModelParameters, count: usize) -> Result<Vec<Route>, String> {
    let each = |key: &str, given: usize| match given {
        n if n <= 1 || n == count => Ok(()),
        n => Err(format!("`{key}`: {n} values for {count} access points")),
    };
    let time = |text: &str| Duration::parse(text).map_err(|e| e.to_string());
    let (delay, offset) = (list(told, "delay", time)?, list(told, "offset", time)?);
    let loss = list(told, "loss", |text| Fraction::parse(text).map_err(|e| e.to_string()))?;
    let flows = list(told, "flows", |text| text.parse::<u32>().map_err(|e| e.to_string()))?;
    each("delay", delay.len())?;
    each("offset", offset.len())?;
    each("loss", loss.len())?;
    each("flows", flows.len())?;
    // 0.32 %: what the paper's simulations of slots take. One flow an access point.
    let loss_of = |i: usize| pick(&loss, i).or_else(|| Fraction::new(32, 10_000)).unwrap_or(Fraction::ONE);
    let route = |i: usize| {
        let delay = pick(&delay, i).unwrap_or(Duration::ZERO) + pick(&offset, i).unwrap_or(Duration::ZERO);
        Route { path: Path { delay, loss: loss_of(i), flows: pick(&flows, i).unwrap_or(1) }, limit: None }
    };
    Ok((0..count).map(route).collect())
}

/// The value of access point `i`: its own, or the one for all.
fn pick<T: Copy>(values: &[T], i: usize) -> Option<T> {
    values.get(if values.len() == 1 { 0 } else { i }).copied()
}

fn duration(told: &ModelParameters, key: &str) -> Result<Option<Duration>, String> {
    Ok(list(told, key, |text| Duration::parse(text).map_err(|e| e.to_string()))?.first().copied())
}

/// The texts of a parameter, read; empty without it.
fn list<T>(told: &ModelParameters, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    let items: Vec<&toml::Value> = match told.get(key) {
        None => Vec::new(),
        Some(toml::Value::Array(items)) => items.iter().collect(),
        Some(one) => vec![one],
    };
    let item = |value: &toml::Value| match value.as_str() {
        Some(text) => read(text).map_err(|why| format!("`{key}`: `{text}`: {why}")),
        None => Err(format!("`{key}` is to be text, or a list of texts")),
    };
    items.into_iter().map(item).collect()
}

impl Compute for Slots {
    fn facts(&self, needed: &BTreeSet<String>, seed: u64) -> Result<Facts, String> {
        let mut metrics = self.of_layout();
        let asked = |prefix: &str| needed.iter().any(|name| name.starts_with(prefix));
        if asked("equal.") {
            self.equal(&mut metrics)?;
        }
        for policy in Policy::ALL {
            let name = policy.name().replace('-', "_");
            let prefix = format!("{name}.");
            if asked(&prefix) {
                let is_sampled = needed.iter().any(|n| n.starts_with(&prefix) && n.contains(".sample_"));
                self.of_policy(policy, &name, (seed, is_sampled), &mut metrics)?;
            }
        }
        metrics.retain(|_, x| x.is_finite());
        Ok(Facts { metrics, series: BTreeMap::new() })
    }
}

impl Slots {
    fn of_layout(&self) -> BTreeMap<String, f64> {
        let runs = Runs::new(&self.layout);
        let count = |n: Option<u128>| n.map_or(f64::NAN, |n| n as f64);
        let mut metrics: BTreeMap<String, f64> = [
            ("period_s", self.layout.period().as_secs_f64()),
            ("idle_s", self.layout.idle().as_secs_f64()),
            ("slots", self.layout.slots() as f64),
            ("arrangements", count(self.layout.arrangements())),
            ("runs.search", count(runs.search)),
            ("runs.line", runs.line as f64),
        ]
        .map(|(name, x)| (name.to_owned(), x))
        .into();
        for (i, station) in self.layout.stations().iter().enumerate() {
            let mut put = |name: &str, x: f64| metrics.insert(format!("ap{}.{name}", i + 1), x);
            put("duty", station.share_ns as f64 / self.layout.period().as_nanos() as f64);
            put("slots", f64::from(station.count));
            put("slot_s", station.size_ns as f64 / 1e9);
        }
        metrics
    }

    /// The layout of equal slots.
    fn equal(&self, metrics: &mut BTreeMap<String, f64>) -> Result<(), String> {
        let Length::Slot(slot) = self.length else { return Err("equal slots need `slot`".to_owned()) };
        let equal = Layout::equal(&self.duties, slot).map_err(|refused| refused.to_string())?;
        metrics.insert("equal.period_s".to_owned(), equal.period().as_secs_f64());
        for (i, station) in equal.stations().iter().enumerate() {
            metrics.insert(format!("equal.ap{}.slots", i + 1), f64::from(station.count));
        }
        Ok(())
    }

    /// The timetable of a policy, and the number of arrangements tried.
    fn timetable(&self, policy: Policy, seed: u64) -> Result<(Timetable, Option<u128>), String> {
        let paths: Vec<Path> = self.routes.iter().map(|route| route.path).collect();
        let all = |objective: Objective| {
            let found = enumerate(&self.layout, &objective, ENUMERATE).map_err(|e| e.to_string())?;
            Ok::<(Arrangement, Option<u128>), String>((found.arrangement, Some(found.runs)))
        };
        let (arrangement, runs) = match policy {
            Policy::Random => {
                let owners = random(&self.layout, RANDOM_PERIODS, &mut Stream::new(seed + 1, 0, "slots.random"));
                return Ok((Timetable::of_owners(&self.layout, &owners), None));
            }
            Policy::NoPolicy => (no_policy(&self.layout), None),
            Policy::MinMax => (min_max(&self.layout), Runs::new(&self.layout).search),
            Policy::Blind => all(Objective::blind(paths.len()))?,
            Policy::WorstCase => all(Objective::with_delays(&paths))?,
            Policy::Measured => {
                let found = measured(&self.layout, &self.routes, &self.tcp, &[]);
                if !found.all {
                    return Err("not all arrangements can be tried: this is no upper bound".to_owned());
                }
                (found.arrangement, Some(u128::from(found.runs)))
            }
        };
        Ok((Timetable::new(&self.layout, &arrangement), runs))
    }

    fn of_policy(
        &self,
        policy: Policy,
        name: &str,
        (seed, is_sampled): (u64, bool),
        metrics: &mut BTreeMap<String, f64>,
    ) -> Result<(), String> {
        let (timetable, runs) = self.timetable(policy, seed)?;
        let got = got(&timetable, &self.routes, &self.tcp);
        let mut put = |key: String, x: f64| metrics.insert(format!("{name}.{key}"), x);
        put("aggregate_bps".to_owned(), got.iter().map(|got| got.throughput_bps).sum());
        if let Some(runs) = runs {
            put("runs".to_owned(), runs as f64);
        }
        for (i, got) in got.iter().enumerate() {
            let connection = Connection::new(&timetable, i, self.tcp.switch);
            let mut put = |key: &str, x: f64| put(format!("ap{}.{key}", i + 1), x);
            put("disconnection_s", timetable.worst_ns(i) as f64 / 1e9);
            put("block_s", connection.longest_s());
            put("connected", connection.share());
            put("rtt_s", got.rtt_s);
            put("throughput_bps", got.throughput_bps);
            if !is_sampled {
                continue;
            }
            let mut stream = Stream::new(seed + 1, i as u64, "slots.rtt");
            let delay = self.routes[i].path.delay;
            let Some(sample) = connection.sample(delay, self.tcp.theta, SAMPLES, &mut stream) else { continue };
            put("sample_mean_s", sample.mean_s());
            put("sample_std_s", sample.std_s());
            put("sample_min_s", sample.quantile_s(0.0));
            put("sample_max_s", sample.quantile_s(1.0));
        }
        Ok(())
    }
}
