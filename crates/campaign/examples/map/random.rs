//! `random`: one download over random sets of two to eight members, beside the best member alone and an oracle.

use crate::alone::{best_member_bps, goodput_bps, mean, oracle_bps, sum_bps};
use crate::bench::{Bench, Task};
use crate::draw::Draw;
use crate::member::{Change, Jitter, Losses, Member, Swing};
use crate::options;
use crate::scene::{Control, Path, Scene, Transfer};
use crate::table::Column;

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub base: options::Random,
    /// Congestion controls
    #[arg(long = "cc", value_delimiter = ',', default_values = ["cubic"])]
    controls: Vec<Control>,
    /// Number of sets
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    pub sets: u64,
}

pub const COLUMNS: [Column; 3] = [
    Column::share("of the sum", None),
    Column::share("of the oracle", None),
    Column::share("of the best member", Some(0.97)),
];

/// The set `index` of a draw: two to eight members, or fewer, of 0.5 Mbit/s to the largest rate and 1 to 300 ms, both
/// uniform in their logarithms, or all the same; a third of them, or all, lose 0.1 to 10 % in bursts of one to eight, a
/// quarter swing.
pub fn set(options: &options::Random, index: u64) -> Vec<Member> {
    let common = &options.common;
    let mut draw = Draw::new(common.draw(), index);
    let count = draw.whole(2, options.members_up_to);
    let one = |_| {
        let mut member = Member::plain(
            draw.spread(500.0, common.rate_max_kbps().min(1_000_000) as f64) as u64,
            draw.spread(1_000.0, 300_000.0) as u64,
        );
        // Drawn in any case, so that all else is the same.
        if draw.is_one_in(3) | options.lossy {
            // Rounded to what is printed: to a hundredth of a percent.
            let mean = (draw.spread(0.001, 0.1) * 1e4) as u64 as f64 / 1e4;
            member.losses = Some(Losses { mean, burst: draw.whole(1, 8) as f64 });
        }
        if draw.is_one_in(4) {
            member.change = Change::Swing(Swing::draw(&mut draw));
        }
        member
    };
    let mut members: Vec<Member> = (0..count).map(one).collect();
    if options.unsteady {
        // Numbers of their own, so that all else is the same.
        let mut draw = Draw::new(!common.draw(), index);
        members.iter_mut().for_each(|member| member.jitter = Some(Jitter::draw(&mut draw)));
    }
    if options.equal {
        let Member { rate_kbps, delay_us, .. } = members[0];
        for member in &mut members {
            (member.rate_kbps, member.delay_us) = (rate_kbps, delay_us);
        }
    }
    members
}

/// The members of a set for a table.
pub fn text(members: &[Member]) -> String {
    members.iter().map(Member::text).collect::<Vec<_>>().join("; ")
}

pub fn tasks(options: &Options) -> Vec<Task<'_>> {
    let sets = 0..options.sets;
    sets.flat_map(|index| options.controls.iter().map(move |control| task(options, index, *control))).collect()
}

fn task(options: &Options, index: u64, control: Control) -> Task<'_> {
    let common = &options.base.common;
    let members = set(&options.base, index);
    let about = format!("{} {}", control.name(), text(&members));
    let [seconds, uncounted] = common.seconds();
    let scene = Scene::new(Path::Bond(members), vec![Transfer::download(control)], seconds, uncounted);
    let seeds = common.seeds();
    // The bond, one or two members alone, one or two oracles.
    let packets = 3.0 * scene.packets() * seeds.len() as f64;
    let measure = move |bench: &Bench| {
        let bond = mean(&seeds, |seed| goodput_bps(bench, &scene, seed))?;
        let oracle = oracle_bps(bench, &scene, common.oracle_queue, &seeds)?;
        let best = best_member_bps(bench, &scene, &seeds)?;
        Ok(vec![bond / sum_bps(&scene), bond / oracle, bond / best])
    };
    let (key, group) = (format!("{}-{index}", control.name()), control.name().to_owned());
    Task { key, about, groups: vec![group], packets, measure: Box::new(measure) }
}
