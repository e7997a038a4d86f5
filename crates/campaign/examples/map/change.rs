//! `change`: a download and a ping over two members of which one or both change, or queue for two seconds.

use crate::alone::{best_member_bps, ideal_link_of_all, mean, metric, sum_bps};
use crate::bench::{Bench, Halt, Task};
use crate::draw::Draw;
use crate::member::{Change, Member, Swing};
use crate::options::{Common, Controlled};
use crate::random;
use crate::scene::{Control, Path, Scene, Transfer};
use crate::table::Column;

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub base: Controlled,
    /// Number of pairs of members for each kind of change
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
}

pub const COLUMNS: [Column; 6] = [
    Column::share("of the sum", Some(0.85)),
    Column::share("of the best member", Some(0.98)),
    Column::cost("longest gap [s]", Some(0.3)),
    Column::cost("longest gap of an ideal link [s]", None),
    Column::cost("ping above idle, median [ms]", Some(10.0)),
    Column::cost("ping above idle, 99 % [ms]", None),
];

/// The kinds of changes, with their names and what happens.
const KINDS: [(&str, Kind); 8] = [
    ("swing", Kind::Swing),
    ("fourfold", Kind::Fourfold),
    ("fall", Kind::Fall),
    ("added", Kind::Added),
    ("removed", Kind::Removed),
    ("slowed", Kind::Slowed),
    ("queue", Kind::Queue),
    ("hole", Kind::Hole),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// The rates swing by 4 and 5 to 1 in 6 and 9 s.
    Swing,
    /// One member, whose rate changes fourfold in 3 s, up and down.
    Fourfold,
    /// The second falls to a tenth for 5 s.
    Fall,
    /// The second is down at first.
    Added,
    /// The second goes down.
    Removed,
    /// The second falls to a fifth.
    Slowed,
    /// Both are as they were, with queues of 2 s.
    Queue,
    /// The second is down for 5 s.
    Hole,
}

/// Time of a change \[ms\]: the bond has had twenty seconds of traffic.
const CHANGES_MS: u64 = 23_000;

/// Two members of 5 to 100 Mbit/s, within 3 to 1, and 5 to 80 ms.
fn pair(draw: &mut Draw, rate_max_kbps: u64) -> Vec<Member> {
    let most = rate_max_kbps.clamp(15_000, 100_000) as f64;
    let rate = draw.spread(5_000.0, most / 3.0);
    let one = |_| Member::plain((rate * draw.spread(1.0, 3.0)) as u64, draw.spread(5_000.0, 80_000.0) as u64);
    (0..2).map(one).collect()
}

fn members(draw: &mut Draw, kind: Kind, rate_max_kbps: u64) -> Vec<Member> {
    let mut members = pair(draw, rate_max_kbps);
    let mut swing = |member: &mut Member, ratio, period_ms| {
        member.change = Change::Swing(Swing { ratio, period_ms, phase_ms: draw.whole(0, period_ms - 1) });
    };
    let rate = members[1].rate_kbps;
    let dated = match kind {
        Kind::Swing => {
            swing(&mut members[0], 4.0, 6_000);
            swing(&mut members[1], 5.0, 9_000);
            return members;
        }
        Kind::Fourfold => {
            swing(&mut members[0], 4.0, 6_000);
            members.truncate(1);
            return members;
        }
        Kind::Queue => return members,
        Kind::Fall => vec![(0, rate), (CHANGES_MS, rate / 10), (CHANGES_MS + 5_000, rate)],
        Kind::Hole => vec![(0, rate), (CHANGES_MS, 0), (CHANGES_MS + 5_000, rate)],
        Kind::Added => vec![(0, 0), (CHANGES_MS, rate)],
        Kind::Removed => vec![(0, rate), (CHANGES_MS, 0)],
        Kind::Slowed => vec![(0, rate), (CHANGES_MS, rate / 5)],
    };
    members[1].change = Change::Dated(dated);
    members
}

pub fn tasks(options: &Options) -> Vec<Task<'_>> {
    let mut tasks = Vec::new();
    for (number, (name, kind)) in KINDS.into_iter().enumerate() {
        for index in 0..options.pairs {
            for control in &options.base.controls {
                let mut draw = Draw::new(options.base.common.draw(), ((number as u64 + 2) << 32) + index);
                let members = members(&mut draw, kind, options.base.common.rate_max_kbps());
                let key = format!("{}-{name}-{index}", control.name());
                tasks.push(task(&options.base.common, key, kind, members, *control));
            }
        }
    }
    tasks
}

/// A value of a ping's way there \[ms\].
fn ping_ms(bench: &Bench, scene: &Scene, seed: u64, transfer: usize, what: &str) -> Result<f64, Halt> {
    Ok(metric(bench, scene, seed, transfer, what)?.unwrap_or(f64::NAN) * 1e3)
}

fn task(common: &Common, key: String, kind: Kind, members: Vec<Member>, control: Control) -> Task<'_> {
    let [seconds, uncounted] = common.seconds();
    let about = format!("{key} {}", random::text(&members));
    let (group, _) = key.rsplit_once('-').unwrap_or_default();
    let group = group.replacen('-', ", ", 1);
    let mut scene =
        Scene::new(Path::Bond(members), vec![Transfer::download(control), Transfer::Ping], seconds, uncounted);
    if kind == Kind::Queue {
        scene.queue_ms = 2_000;
    }
    let idle = Scene { transfers: vec![Transfer::Ping], ..scene.clone() };
    let ideal = Scene { path: Path::Plain(ideal_link_of_all(&scene)), ..scene.clone() };
    let seeds = common.seeds();
    let packets = 3.0 * scene.packets() * seeds.len() as f64;
    let measure = move |bench: &Bench| {
        let of_bulk = |scene, what| mean(&seeds, |seed| Ok(metric(bench, scene, seed, 0, what)?.unwrap_or_default()));
        let bond = of_bulk(&scene, "goodput_bps")?;
        let best = best_member_bps(bench, &scene, &seeds)?;
        let above = |what| {
            mean(&seeds, |seed| {
                Ok(ping_ms(bench, &scene, seed, 1, what)? - ping_ms(bench, &idle, seed, 0, "delay_p50_s")?)
            })
        };
        Ok(vec![
            bond / sum_bps(&scene),
            bond / best,
            of_bulk(&scene, "gap_longest_s")?,
            if bench.has_standards { of_bulk(&ideal, "gap_longest_s")? } else { f64::NAN },
            above("delay_p50_s")?,
            above("delay_p99_s")?,
        ])
    };
    Task { key, about, groups: vec![group], packets, measure: Box::new(measure) }
}
