//! Models of a paper: values that are computed from formulas instead of runs, under names that formulas use like those
//! of runs.
//!
//! A model is named in `figures.toml` with what it is told; it may have a cell for each of several values of one of its
//! parameters. It is cheap, is computed again each time and is never stored.

mod airtime;
mod efficiency;
mod slots;
mod wifi;

use super::library::suggestion;
use airbraid_sim::facts::Facts;
use serde::Deserialize;
use std::collections::BTreeSet;

/// The parameters of a model, by name.
pub type ModelParameters = toml::Table;

/// A model: reads its parameters, and computes metrics by name.
trait Compute: Send + Sync + std::fmt::Debug {
    /// The metrics of `needed`, by the draws of `seed`. It may give more.
    fn facts(&self, needed: &BTreeSet<String>, seed: u64) -> Result<Facts, String>;
}

/// Reads a model's parameters.
type Read = fn(&ModelParameters) -> Result<Box<dyn Compute>, String>;

/// The models by name.
const MODELS: [(&str, Read); 4] =
    [("airtime", airtime::read), ("efficiency", efficiency::read), ("slots", slots::read), ("wifi", wifi::read)];

/// Largest number of cells: more are a mistake.
const CELLS_MAX: usize = 5_000;

/// One set of values that a model computes.
#[derive(Debug)]
pub struct Model {
    /// Its name; `group.cell` for a cell of a group.
    pub name: String,
    /// Number of replications; a model without random draws has 1 and goes with runs of any number.
    pub replications: u64,
    first_seed: u64,
    compute: Box<dyn Compute>,
}

/// A model as `figures.toml` has it: `[[model]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name in formulas.
    pub name: String,
    pub model: String,
    #[serde(default)]
    pub with: ModelParameters,
    /// A cell for each of these.
    pub each: Option<CellAxis>,
    #[serde(default = "once")]
    pub replications: u64,
    /// Seed of its first replication: the paper's, which the reader of the file tells.
    #[serde(skip)]
    first_seed: u64,
}

fn once() -> u64 {
    1
}

/// Cells: a parameter, or a key of a scenario, and its values, either as a list, cells called 1, 2, ...; or from, to
/// and step, cells called by the number; or as a number of seeds from the paper's first on, cells called 1, 2, ...
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellAxis {
    key: String,
    /// Other keys that take the same values.
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    values: Vec<toml::Value>,
    from: Option<f64>,
    to: Option<f64>,
    step: Option<f64>,
    #[serde(default)]
    unit: String,
    seeds: Option<u32>,
}

impl CellAxis {
    /// Names and values of the cells; `first` is the paper's first seed.
    fn cells(&self, first: Option<u64>) -> Result<Vec<(String, toml::Value)>, String> {
        if let Some(count) = self.seeds {
            let first = first.ok_or("`seeds` counts from the paper's `seed`, and there is none")?;
            let first = i64::try_from(first).map_err(|e| format!("seed: {e}"))?;
            return Ok((1..=i64::from(count)).map(|k| (k.to_string(), (first + k - 1).into())).collect());
        }
        match (self.from, self.to, self.step) {
            (None, None, None) if !self.values.is_empty() => {
                Ok(self.values.iter().enumerate().map(|(i, value)| ((i + 1).to_string(), value.clone())).collect())
            }
            (Some(from), Some(to), Some(step)) if self.values.is_empty() && step > 0.0 && to >= from => {
                let count = ((to - from) / step + 1e-9) as usize + 1;
                if count > CELLS_MAX {
                    return Err(format!("{count} cells are more than {CELLS_MAX}"));
                }
                let name = |i: usize| super::reference::short_decimal(from + i as f64 * step);
                let cell = |name: String| {
                    let value = toml::Value::String(format!("{name} {}", self.unit).trim().to_owned());
                    (name, value)
                };
                Ok((0..count).map(name).map(cell).collect())
            }
            _ => Err("`each` takes values, or seeds, or from, to and a step above 0".to_owned()),
        }
    }
    /// For each cell its name and what it sets in a scenario, as `--set` takes it; `first` is the paper's first seed.
    ///
    /// # Errors
    /// The values are wrong.
    pub fn settings(&self, first: Option<u64>) -> Result<Vec<(String, Vec<String>)>, String> {
        let keys = || std::iter::once(&self.key).chain(&self.also);
        let cell = |(name, value): (String, toml::Value)| {
            let set = keys().map(|key| format!("{key}={value}")).collect();
            (name, set)
        };
        Ok(self.cells(first)?.into_iter().map(cell).collect())
    }
    /// Its settings, in words.
    pub fn said(&self) -> String {
        match (self.from, self.to, self.step) {
            (Some(from), Some(to), Some(step)) => {
                format!("{} = {from} to {to} by {step} {}", self.key, self.unit).trim_end().to_owned()
            }
            _ => format!("{}: {} values", self.key, self.values.len()),
        }
    }
}

impl Entry {
    /// The same, drawing from this seed on.
    pub fn from_seed(self, first: Option<u64>) -> Self {
        Self { first_seed: first.unwrap_or(0), ..self }
    }

    /// The names of its cells; none if it has none, or if they are wrong, which [`expand`](Self::expand) tells.
    pub fn cells(&self) -> Vec<String> {
        let cells = self.each.as_ref().and_then(|each| each.cells(None).ok()).unwrap_or_default();
        cells.into_iter().map(|(cell, _)| format!("{}.{cell}", self.name)).collect()
    }

    /// The models of this entry, one a cell.
    ///
    /// # Errors
    /// There is no such model or parameter, with the nearest name; or a value is wrong.
    pub fn expand(&self) -> Result<Vec<Model>, String> {
        let wrong = |e: String| format!("model `{}`: {e}", self.name);
        let Some((_, read)) = MODELS.iter().find(|(name, _)| *name == self.model) else {
            let names: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
            return Err(wrong(format!("there is no model `{}`; {}", self.model, suggestion(&self.model, &names))));
        };
        if self.replications == 0 {
            return Err(wrong("it needs one replication at least".to_owned()));
        }
        let model = |name: String, told: &ModelParameters| -> Result<Model, String> {
            let (replications, first_seed) = (self.replications, self.first_seed);
            Ok(Model { name, replications, first_seed, compute: read(told).map_err(wrong)? })
        };
        let Some(each) = &self.each else { return Ok(vec![model(self.name.clone(), &self.with)?]) };
        let cells = each.cells(None).map_err(wrong)?;
        let cell = |(name, value): (String, toml::Value)| {
            let mut told = self.with.clone();
            for key in std::iter::once(&each.key).chain(&each.also) {
                told.insert(key.clone(), value.clone());
            }
            model(format!("{}.{name}", self.name), &told)
        };
        cells.into_iter().map(cell).collect()
    }
}

impl Model {
    /// The facts of each replication.
    ///
    /// # Errors
    /// Says why there are none.
    pub fn facts(&self, needed: &BTreeSet<String>) -> Result<Vec<Facts>, String> {
        (0..self.replications).map(|k| self.compute.facts(needed, self.first_seed + k)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Entry {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn cells_are_called_by_their_numbers() {
        let text = "name='a'\nmodel='slots'\nwith={duty='0.5', slot='50 ms'}\neach={key='delay', from=5, to=15, step=2.5, unit='ms'}";
        let models = entry(text).expand().unwrap();
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["a.5", "a.7.5", "a.10", "a.12.5", "a.15"]);
        let lists = "name='n'\nmodel='slots'\nwith={slot='15 ms'}\neach={key='duty', values=[['0.5', '0.5'], '1/2']}";
        let names: Vec<String> = entry(lists).expand().unwrap().into_iter().map(|model| model.name).collect();
        assert_eq!(names, ["n.1", "n.2"]);
    }

    #[test]
    fn cells_of_runs_set_each_key() {
        let each = |text: &str| toml::from_str::<CellAxis>(text).unwrap().settings(None);
        let delays =
            each("key='link.wan.delay'\nalso=['slots.laptop.delay']\nfrom=5\nto=15\nstep=10\nunit='ms'").unwrap();
        let set = |ms: u32| vec![format!("link.wan.delay=\"{ms} ms\""), format!("slots.laptop.delay=\"{ms} ms\"")];
        assert_eq!(delays, [("5".to_owned(), set(5)), ("15".to_owned(), set(15))]);
        let lists = each("key='slots.laptop.duty'\nvalues=[['1/2', '1/2']]").unwrap();
        assert_eq!(lists, [("1".to_owned(), vec!["slots.laptop.duty=[\"1/2\", \"1/2\"]".to_owned()])]);
        assert!(each("key='radio.queue'\nfrom=1\nto=0\nstep=1").is_err());
        assert!(each("key='run.seed'\nseeds=2").is_err());
        let seeds = toml::from_str::<CellAxis>("key='run.seed'\nseeds=2").unwrap().settings(Some(700)).unwrap();
        let seed = |name: &str, seed: u32| (name.to_owned(), vec![format!("run.seed={seed}")]);
        assert_eq!(seeds, [seed("1", 700), seed("2", 701)]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("model='slot'", "there is no model `slot`; did you mean `slots`?"),
            ("model='slots'\nwith={duty='0.5', slots='15 ms'}", "no parameter `slots`; did you mean `slot`?"),
            ("model='slots'\nwith={duty='1.5', slot='15 ms'}", "add up to 1.5"),
            ("model='slots'\nwith={duty='0.5', slot='15 m'}", "`m` is not a unit of a duration"),
            ("model='slots'\nwith={slot='15 ms'}", "`duty` is missing"),
            ("model='slots'\nwith={duty=0.5, slot='15 ms'}", "is to be text"),
            ("model='slots'\nwith={duty='0.5'}\neach={key='delay', from=1, to=0, step=1}", "`each` takes"),
            ("model='slots'\nwith={duty='0.5'}\neach={key='delay', from=0, to=1e9, step=1}", "more than 5000"),
            ("model='slots'\nwith={duty='0.5', slot='1 ms'}\nreplications=0", "one replication"),
            ("model='efficiency'\nwith={packets='1024 byte'}", "unknown field `packets`"),
            ("model='efficiency'\nwith={rate='3 Mbit/s'}", "802.11b has"),
            (
                "model='airtime'\nwith={rules='ns-3', frames={a={standard='802.11n', bytes=9}}}",
                "frame `a`: --mcs is missing",
            ),
            ("model='airtime'\nwith={rules='ns-3', frames={a={standards='802.11n'}}}", "unknown field `standards`"),
            ("model='wifi'\nwith={radio={standard='802.11n', mcs=8}}", "MCS 8"),
            (
                "model='wifi'\nwith={radio={standard='802.11n', mcs=7}, access={categories=['xx']}}",
                "allowed are vo, vi",
            ),
        ];
        for (text, said) in cases {
            let wrong = entry(&format!("name='a'\n{text}")).expand().unwrap_err();
            assert!(wrong.contains(said), "{text}: {wrong}");
        }
    }

    #[test]
    fn efficiency_is_that_of_the_command() {
        let text = "name='a'\nmodel='efficiency'\nwith={packets_per_ack=1, rate='1 Mbit/s'}";
        let facts = entry(text).expand().unwrap()[0].facts(&BTreeSet::new()).unwrap();
        let metric = |name: &str| facts[0].metrics[name];
        let options = crate::efficiency::EfficiencyOptions { packets_per_ack: 1, ..Default::default() };
        let report = crate::efficiency::estimate(&options.request().unwrap()).unwrap();
        for row in report.macs {
            assert_eq!(metric(&format!("{}.efficiency", row.mac)), row.efficiency);
            assert_eq!(metric(&format!("{}.packet_cycle_s", row.mac)), row.packet_cycle_ns as f64 / 1e9);
        }
        assert_eq!((metric("dcf.rts_s"), metric("mcmac.rts_s")), (352e-6, 360e-6));
        assert!(!facts[0].metrics.contains_key("dcf.joint_cycle_s"));
    }

    #[test]
    fn a_saturated_cell_is_that_of_the_command() {
        let text = "name='a'\nmodel='wifi'\nwith={radio={standard='802.11ax', mcs=7}, access={categories=['vo', 'be'], time='1 s'}}";
        let facts = entry(text).expand().unwrap()[0].facts(&BTreeSet::new()).unwrap();
        let metric = |name: &str| facts[0].metrics[name];
        let both = metric("draws.vo.goodput_bps") + metric("draws.be.goodput_bps");
        assert_eq!((metric("draws_bps"), metric("mpdus")), (both, 37.0));
        assert!(!facts[0].metrics.contains_key("bianchi_bps"), "Bianchi has one category");
    }

    #[test]
    fn a_model_gives_what_its_formulas_ask_for() {
        let text = "name='a'\nmodel='slots'\nwith={duty=['0.5', '0.125', '0.375'], slot='12.5 ms', delay='25 ms'}";
        let needed = ["min_max.ap1.disconnection_s", "blind.runs", "period_s"].map(str::to_owned).into();
        let facts = entry(text).expand().unwrap()[0].facts(&needed).unwrap();
        assert_eq!(facts[0].metrics["min_max.ap1.disconnection_s"], 0.0125);
        assert_eq!((facts[0].metrics["blind.runs"], facts[0].metrics["period_s"]), (280.0, 0.1));
    }
}
