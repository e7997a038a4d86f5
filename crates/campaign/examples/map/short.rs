//! `short`: completion of short transfers over random sets, alone and beside a download, beside the best member alone.

use crate::alone::{mean, metric};
use crate::bench::{Bench, Halt, Task};
use crate::draw::Draw;
use crate::member::Member;
use crate::options;
use crate::random;
use crate::scene::{Control, FRAME, Path, SEGMENT, Scene, Transfer};
use crate::table::Column;

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub base: options::Random,
    /// Congestion controls
    #[arg(long = "cc", value_delimiter = ',', default_values = ["cubic"])]
    controls: Vec<Control>,
    /// Number of random sets, and as many again of either kind of sets whose members are within 3 to 1
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    sets: u64,
    /// Largest transfer, in kB
    #[arg(long, default_value_t = 10_000)]
    size_up_to: u64,
}

pub const COLUMNS: [Column; 2] =
    [Column::cost("of the best member's time", Some(1.15)), Column::cost("completion [s]", None)];

/// Sizes with their names.
const SIZES: [(u64, &str); 4] = [(15_000, "15 kB"), (100_000, "100 kB"), (1_000_000, "1 MB"), (10_000_000, "10 MB")];
/// Time from the start of a download to that of the transfer beside it \[ms\]: it is in its stride.
const BESIDE_AFTER_MS: u64 = 5_000;

/// The kinds of sets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Random,
    /// Rates within 3 to 1.
    Rates,
    /// Rates and delays within 3 to 1.
    Alike,
}

/// A transfer over a set.
#[derive(Clone, Copy, Debug)]
struct Case {
    kind: Kind,
    index: u64,
    size: (u64, &'static str),
    is_beside: bool,
    control: Control,
}

/// The set of a case. Those within 3 to 1 have the number of members, losses and swings of the random ones.
fn set(options: &options::Random, kind: Kind, index: u64) -> Vec<Member> {
    let common = &options.common;
    let mut members = random::set(options, index);
    // Beyond the indices of random sets.
    let mut draw = Draw::new(common.draw(), (1 << 32) + index);
    let rate = draw.spread(500.0, common.rate_max_kbps().min(1_000_000) as f64 / 3.0);
    let delay = draw.spread(1_000.0, 100_000.0);
    for member in &mut members {
        let [rate, delay] = [rate, delay].map(|least| (least * draw.spread(1.0, 3.0)) as u64);
        if kind != Kind::Random {
            member.rate_kbps = rate;
        }
        if kind == Kind::Alike {
            member.delay_us = delay;
        }
    }
    members
}

pub fn tasks(options: &Options) -> Vec<Task<'_>> {
    let mut cases = Vec::new();
    for index in 0..options.sets {
        for control in options.controls.iter().copied() {
            for size in SIZES {
                for is_beside in [false, true] {
                    cases.push(Case { kind: Kind::Random, index, size, is_beside, control });
                }
            }
            for kind in [Kind::Rates, Kind::Alike] {
                cases.push(Case { kind, index, size: SIZES[3], is_beside: false, control });
            }
        }
    }
    cases.retain(|case| case.size.0 <= options.size_up_to.saturating_mul(1_000));
    cases.into_iter().map(|case| task(&options.base, case)).collect()
}

/// The least time that a member needs for a transfer \[s\]: its highest rate, and its delay once.
fn least_s(member: &Member, bytes: u64, until_ms: u64) -> f64 {
    let kbps = member.course(until_ms).iter().map(|(_, kbps)| *kbps).max().unwrap_or_default().max(1);
    bytes as f64 * 8.0 * FRAME as f64 / SEGMENT as f64 / (kbps as f64 * 1e3) + member.delay_us as f64 / 1e6
}

/// The mean completion \[s\]; one that the run did not see counts as the run's length.
fn completion_s(bench: &Bench, scene: &Scene, seeds: &[u64]) -> Result<f64, Halt> {
    let longest = scene.seconds as f64;
    mean(seeds, |seed| Ok(metric(bench, scene, seed, 0, "completion_s")?.unwrap_or(longest)))
}

fn task(options: &options::Random, case: Case) -> Task<'_> {
    let common = &options.common;
    let Case { kind, index, size: (bytes, size), is_beside, control } = case;
    let members = set(options, kind, index);
    // Five times what the best member needs on the mean, and some round trips; beside a download twice that.
    let needs = |member: &Member| {
        let kbps = member.carried_kbps(0, 60_000);
        bytes as f64 * 8.0 / (kbps * 1e3) + member.delay_us as f64 / 1e6 * 20.0
    };
    let needs_s = members.iter().map(needs).fold(f64::INFINITY, f64::min);
    let start_ms = if is_beside { BESIDE_AFTER_MS } else { 0 };
    let seconds = start_ms / 1_000 + (needs_s * if is_beside { 10.0 } else { 5.0 }) as u64 + 3;
    let mut transfers = vec![Transfer::File { control, bytes, start_ms }];
    if is_beside {
        transfers.push(Transfer::download(control));
    }
    let about = format!("{size}, {} {}", control.name(), random::text(&members));
    let scene = Scene::new(Path::Bond(members), transfers, seconds, 0);
    let seeds = common.seeds();
    let carried = if is_beside { scene.packets() } else { bytes as f64 / SEGMENT as f64 + 1e3 * seconds as f64 };
    let packets = 3.0 * carried * seeds.len() as f64;
    let measure = move |bench: &Bench| {
        let bond = completion_s(bench, &scene, &seeds)?;
        let mut members: Vec<(f64, &Member)> =
            scene.path.members().iter().map(|member| (least_s(member, bytes, scene.counted_ms().1), member)).collect();
        members.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = f64::INFINITY;
        for (least, member) in members {
            if best <= least || !bench.has_standards {
                break;
            }
            let scene = Scene { path: Path::Bond(vec![member.clone()]), ..scene.clone() };
            best = best.min(completion_s(bench, &scene, &seeds)?);
        }
        let of_best = if bench.has_standards { bond / best } else { f64::NAN };
        Ok(vec![of_best, bond])
    };
    let (kind, name) = match kind {
        Kind::Random => ("", ""),
        Kind::Rates => (", rates within 3 to 1", "-rates"),
        Kind::Alike => (", rates and delays within 3 to 1", "-alike"),
    };
    let (beside, with) = if is_beside { (" beside a download", "-beside") } else { (" alone", "") };
    Task {
        key: format!("{}-{}kB{with}{name}-{index}", control.name(), bytes / 1_000),
        about,
        groups: vec![format!("{}, {size}{beside}{kind}", control.name())],
        packets,
        measure: Box::new(measure),
    }
}
