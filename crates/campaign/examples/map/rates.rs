//! `rates`: what the bond knows of a member's rate, when, and what it spends on knowing it.
//!
//! The member is in a bond by itself or beside another, which carries datagrams above all rates, a TCP, or nothing from
//! the bond's first moment on. Its rate counts as known from the time on after which all samples of the bond's estimate
//! are within 20 %.

use crate::bench::{Bench, Halt, Task};
use crate::draw::Draw;
use crate::member::Member;
use crate::options::Common;
use crate::random;
use crate::scene::{Control, Path, Scene, Transfer};
use crate::table::{self, Column};
use airbraid_sim::facts::{Facts, Series};

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub common: Common,
    /// Number of members for each kind of traffic, alone and beside another
    #[arg(long, default_value_t = 20)]
    members: u64,
}

pub const COLUMNS: [Column; 5] = [
    Column::cost("known after [s]", Some(3.0)),
    Column::share("of the samples after 3 s within 20 %", None),
    Column::cost("control until then [kB]", None),
    Column::cost("control until then, of its allowance", Some(1.0)),
    Column::cost("of the capacity for control when idle [%]", Some(0.5)),
];

/// Interval of the samples: a sixtieth of the time that measuring may take.
const SAMPLE_MS: u64 = 50;
/// Largest error of an estimate that is good.
const ERROR: f64 = 0.2;
/// Time that measuring may take, when packets wait \[s\].
const PATIENCE_S: f64 = 3.0;
/// Bytes that measuring may cost, unless 20 ms of the member's capacity are more.
const ALLOWANCE: f64 = 300e3;

/// Sum of the rates above which a run is shorter, for its cost \[kbit/s\].
const WIDE_KBPS: u64 = 200_000;

/// The traffic of the bond.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Load {
    Datagrams,
    Tcp(Control),
    Nothing,
}

const LOADS: [(&str, Load); 4] = [
    ("waiting", Load::Datagrams),
    ("cubic", Load::Tcp(Control::Cubic)),
    ("bbr", Load::Tcp(Control::Bbr)),
    ("idle", Load::Nothing),
];

pub fn tasks(options: &Options) -> Vec<Task<'_>> {
    let mut tasks = Vec::new();
    for index in 0..options.members {
        let mut draw = Draw::new(options.common.draw(), (1 << 40) + index);
        let most = options.common.rate_max_kbps().min(2_000_000) as f64;
        let mut one = |low: f64, high: f64| {
            Member::plain(draw.spread(low.max(50.0), high.min(most)) as u64, draw.spread(1_000.0, 300_000.0) as u64)
        };
        let first = one(50.0, most);
        let second = one(first.rate_kbps as f64 / 20.0, first.rate_kbps as f64 * 20.0);
        for (load_name, load) in LOADS {
            for (name, members) in [("alone", vec![first.clone()]), ("beside", vec![first.clone(), second.clone()])] {
                tasks.push(task(&options.common, format!("{load_name}-{name}-{index}"), load, members));
            }
        }
    }
    tasks
}

fn task(common: &Common, key: String, load: Load, members: Vec<Member>) -> Task<'_> {
    let kbps: u64 = members.iter().map(|member| member.rate_kbps).sum();
    let transfer = match load {
        // Above what all members together carry.
        Load::Datagrams => Some(Transfer::Constant { kbps: kbps * 13 / 10 }),
        Load::Tcp(control) => Some(Transfer::download(control)),
        Load::Nothing => None,
    };
    let about = format!("{key} {}", random::text(&members));
    let group = key.rsplit_once('-').map_or_else(String::new, |(group, _)| group.replace('-', ", "));
    let [seconds, _] = common.seconds_or(if kbps > WIDE_KBPS { 8 } else { 20 });
    let transfers = transfer.into_iter().collect();
    let scene = Scene {
        head_start_ms: 0,
        sample_ms: Some(SAMPLE_MS),
        ..Scene::new(Path::Bond(members), transfers, seconds, 0)
    };
    let seeds = common.seeds();
    let packets = scene.packets() * seeds.len() as f64 * if load == Load::Nothing { 0.05 } else { 1.3 };
    let measure = move |bench: &Bench| {
        let rate_bps = scene.path.members()[0].rate_kbps as f64 * 1e3;
        let mut of_seeds = Vec::new();
        for seed in &seeds {
            of_seeds.push(values(&bench.run(&scene, *seed)?, rate_bps, load)?);
        }
        Ok((0..COLUMNS.len()).map(|index| table::mean(of_seeds.iter().map(|values| values[index]))).collect())
    };
    Task { key, about, groups: vec![group], packets, measure: Box::new(measure) }
}

/// The number of samples before the estimate stays good.
fn samples_until_known(rates: &[f64], rate_bps: f64) -> usize {
    rates.iter().rposition(|rate| !is_good(*rate, rate_bps)).map_or(0, |last| last + 1)
}

fn is_good(estimate: f64, rate_bps: f64) -> bool {
    (estimate / rate_bps - 1.0).abs() <= ERROR
}

/// The values of a run. A rate that is not known in the end was known after the run's length. An idle bond need not
/// know a rate: the time and the bytes until then are no numbers.
fn values(facts: &Facts, rate_bps: f64, load: Load) -> Result<[f64; 5], Halt> {
    let series = |name: &str| {
        let name = format!("trunk.bond.server.l0.{name}");
        facts.series.get(&name).ok_or_else(|| Halt::Failed(format!("no {name}")))
    };
    let Series { interval_s, values: rates } = series("rate_bps")?;
    let control = &series("control_bytes")?.values;
    let known = samples_until_known(rates, rate_bps);
    let later = rates.iter().skip((PATIENCE_S / interval_s) as usize);
    let good = later.clone().filter(|rate| is_good(**rate, rate_bps)).count() as f64 / later.count() as f64;
    let spent = control.get(known).or(control.last()).copied().unwrap_or_default();
    let allowance = ALLOWANCE.max(rate_bps / 8.0 * 0.02);
    if load != Load::Nothing {
        return Ok([known as f64 * interval_s, good, spent / 1e3, spent / allowance, f64::NAN]);
    }
    // In the second half: what measuring costs at first is over.
    let half = control.len() / 2;
    let later = control.last().zip(control.get(half)).map_or(f64::NAN, |(last, first)| last - first);
    let seconds = (control.len() - 1 - half) as f64 * interval_s;
    let idle = later * 8.0 / seconds / rate_bps * 100.0;
    Ok([f64::NAN, good, f64::NAN, f64::NAN, idle])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_known_when_its_estimate_stays_good() {
        assert_eq!(samples_until_known(&[0.0, 9.0, 50.0, 9.0, 11.9], 10.0), 3);
        assert_eq!(samples_until_known(&[9.0, 9.0], 10.0), 0);
        assert_eq!(samples_until_known(&[9.0, 5.0], 10.0), 2);
    }
}
