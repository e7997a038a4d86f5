//! `many`: several downloads at once over random sets, one way or each way: what they carry together, and how evenly.

use crate::alone::{best_member_bps, goodput_bps, mean, sum_bps};
use crate::bench::{Bench, Halt, Task};
use crate::draw::Draw;
use crate::member::Member;
use crate::options::Controlled;
use crate::random;
use crate::scene::{Control, Path, Scene, Transfer};
use crate::table::Column;

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub base: Controlled,
    /// Number of sets
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    sets: u64,
    /// Largest number of flows of a set
    #[arg(long, default_value_t = 200)]
    flows_up_to: u64,
}

pub const COLUMNS: [Column; 4] = [
    Column::share("of the sum", Some(0.85)),
    Column::share("Jain's index", Some(0.95)),
    Column::share("of the best member", Some(0.98)),
    Column::cost("longest gap of a flow [s]", None),
];

/// Members and flows of the set `index` of a draw.
struct Set {
    members: Vec<Member>,
    /// Flows from the server to the client.
    down: u64,
    /// Flows from the client to the server.
    up: u64,
}

impl Set {
    /// Two to eight members of 2 to 200 Mbit/s and 2 to 150 ms, two flows to `most`, all uniform in their logarithms.
    /// Half of the sets have half of their flows each way.
    fn draw(options: &Options, index: u64) -> Self {
        let mut draw = Draw::new(options.base.common.draw(), (1 << 40) + index);
        let rate_max_kbps = options.base.common.rate_max_kbps().clamp(2_000, 200_000) as f64;
        let count = draw.whole(2, 8);
        let one = |_| Member::plain(draw.spread(2_000.0, rate_max_kbps) as u64, draw.spread(2_000.0, 150_000.0) as u64);
        let members = (0..count).map(one).collect();
        let flows = draw.spread(2.0, options.flows_up_to.max(2) as f64 + 1.0) as u64;
        let up = if draw.is_one_in(2) { flows / 2 } else { 0 };
        Self { members, down: flows - up, up }
    }

    fn transfers(&self, control: Control) -> Vec<Transfer> {
        let down = Transfer::Bulk { control, count: self.down, is_upload: false };
        let up = (self.up > 0).then_some(Transfer::Bulk { control, count: self.up, is_upload: true });
        [down].into_iter().chain(up).collect()
    }

    /// One line for a table.
    fn text(&self) -> String {
        let members = random::text(&self.members);
        if self.up > 0 {
            format!("{} down, {} up: {members}", self.down, self.up)
        } else {
            format!("{} down: {members}", self.down)
        }
    }
}

pub fn tasks(options: &Options) -> Vec<Task<'_>> {
    let sets = 0..options.sets;
    sets.flat_map(|index| options.base.controls.iter().map(move |control| task(options, index, *control))).collect()
}

/// The longest time without a byte of any flow \[s\].
fn longest_gap_s(bench: &Bench, scene: &Scene, seed: u64) -> Result<f64, Halt> {
    let facts = bench.run(scene, seed)?;
    let gaps = facts.metrics.iter().filter(|(name, _)| name.ends_with(".gap_longest_s")).map(|(_, gap)| *gap);
    Ok(gaps.fold(0.0, f64::max))
}

/// Jain's index over the goodputs of all flows of a direction, the lesser one.
fn least_jain(bench: &Bench, scene: &Scene, seed: u64) -> Result<f64, Halt> {
    let facts = bench.run(scene, seed)?;
    let of_direction = |transfer| {
        let flow = format!("flow.{}", scene.name(transfer));
        let is_its = |name: &str| name.starts_with(&flow) && name.ends_with(".goodput_bps");
        let goodputs = facts.metrics.iter().filter(|(name, _)| is_its(name)).map(|(_, bps)| *bps);
        let (count, sum, squares) =
            goodputs.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
        sum * sum / (count * squares)
    };
    Ok((0..scene.transfers.len()).map(of_direction).fold(1.0, f64::min))
}

fn task(options: &Options, index: u64, control: Control) -> Task<'_> {
    let common = &options.base.common;
    let set = Set::draw(options, index);
    let about = format!("{} {}", control.name(), set.text());
    let transfers = set.transfers(control);
    let [seconds, uncounted] = common.seconds();
    let scene = Scene::new(Path::Bond(set.members), transfers, seconds, uncounted);
    let seeds = common.seeds();
    let packets = 2.0 * scene.packets() * seeds.len() as f64;
    let measure = move |bench: &Bench| {
        let bond = mean(&seeds, |seed| goodput_bps(bench, &scene, seed))?;
        let jain = mean(&seeds, |seed| least_jain(bench, &scene, seed))?;
        let gap = mean(&seeds, |seed| longest_gap_s(bench, &scene, seed))?;
        let best = best_member_bps(bench, &scene, &seeds)?;
        Ok(vec![bond / sum_bps(&scene), jain, bond / best, gap])
    };
    let (key, group) = (format!("{}-{index}", control.name()), control.name().to_owned());
    Task { key, about, groups: vec![group], packets, measure: Box::new(measure) }
}
