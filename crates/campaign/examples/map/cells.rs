//! `map`: one download over two members, over all rates and delays.

use crate::alone::{best_member_bps, goodput_bps, mean, oracle_bps, sum_bps};
use crate::bench::Task;
use crate::draw::Draw;
use crate::member::{Losses, Member};
use crate::options::Controlled;
use crate::scene::{Control, Path, Scene, Transfer};
use crate::table::Column;

/// Rates of the first member \[kbit/s\].
const RATES: [u64; 6] = [1_000, 5_000, 20_000, 100_000, 300_000, 1_000_000];
/// Rates of the second over that of the first, as fractions.
const RATIOS: [(u64, u64); 4] = [(1, 20), (1, 5), (1, 1), (5, 1)];
/// Delays of either, one way \[ms\].
const DELAYS: [u64; 5] = [2, 10, 30, 100, 300];
/// The larger delay up to which cells are summed up apart, too \[ms\].
const NEAR: u64 = 100;

/// Losses of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Lossy {
    None,
    #[value(name = "0.1%")]
    Tenth,
    #[value(name = "1%")]
    One,
    /// 5 % in bursts of 4.
    #[value(name = "burst5%")]
    Bursts,
}

impl Lossy {
    const fn losses(self) -> Option<Losses> {
        match self {
            Self::None => None,
            Self::Tenth => Some(Losses { mean: 0.001, burst: 1.0 }),
            Self::One => Some(Losses { mean: 0.01, burst: 1.0 }),
            Self::Bursts => Some(Losses { mean: 0.05, burst: 4.0 }),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Tenth => "0.1%",
            Self::One => "1%",
            Self::Bursts => "burst5%",
        }
    }
}

/// The member that loses packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LossyMember {
    First,
    Second,
    /// Either, by the draw.
    Drawn,
}

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub base: Controlled,
    /// Number of cells, drawn from all; default: all
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub cells: Option<u64>,
    /// Losses of one member
    #[arg(long = "loss", value_delimiter = ',', default_values = ["none"])]
    losses: Vec<Lossy>,
    /// The member that has them
    #[arg(long, default_value = "second")]
    lossy_member: LossyMember,
    /// Measure the oracle as well
    #[arg(long)]
    oracle: bool,
}

pub const COLUMNS: [Column; 3] = [
    Column::share("of the sum", None),
    Column::share("of the oracle", None),
    Column::share("of the best member", Some(0.98)),
];

/// Two members: rates \[kbit/s\] and delays \[ms\].
type Cell = ([u64; 2], [u64; 2]);

/// All cells: 6 rates, 4 ratios, 25 pairs of delays.
fn all() -> Vec<Cell> {
    let pairs = || DELAYS.into_iter().flat_map(|first| DELAYS.map(|second| [first, second]));
    let rates = RATES.into_iter().flat_map(|rate| RATIOS.map(|(part, whole)| [rate, rate * part / whole]));
    rates.flat_map(|rates| pairs().map(move |delays| (rates, delays))).collect()
}

/// The rows: the cells that are wanted, for each congestion control and loss.
pub fn tasks(options: &Options) -> Vec<Task<'_>> {
    let common = &options.base.common;
    let mut draw = Draw::new(common.draw(), 0);
    let fits = |cell: &Cell| cell.0.iter().all(|kbps| *kbps <= common.rate_max_kbps());
    let cells: Vec<Cell> = all().into_iter().filter(fits).collect();
    let count = options.cells.map_or(cells.len(), |cells| cells as usize);
    let cells = draw.some(cells, count);
    let mut tasks = Vec::new();
    for (cell, first) in cells.into_iter().map(|cell| (cell, draw.is_one_in(2))) {
        for lossy in &options.losses {
            for control in &options.base.controls {
                tasks.push(task(options, cell, first, *lossy, *control));
            }
        }
    }
    tasks
}

/// A row; `first`: the draw makes its first member the lossy one.
fn task(options: &Options, (rates, delays): Cell, first: bool, lossy: Lossy, control: Control) -> Task<'_> {
    let common = &options.base.common;
    let mut members = [0, 1].map(|index| Member::plain(rates[index], delays[index] * 1_000));
    let index = match options.lossy_member {
        LossyMember::First => 0,
        LossyMember::Second => 1,
        LossyMember::Drawn => usize::from(!first),
    };
    members[index].losses = lossy.losses();
    let name = |index: usize| format!("{}@{}", rates[index] as f64 / 1e3, delays[index]);
    let loss = if lossy == Lossy::None { String::new() } else { format!("-{index}:{}", lossy.name()) };
    let key = format!("{}-{}+{}{loss}", control.name(), name(0), name(1));
    let about = format!("{} {}", control.name(), members.each_ref().map(Member::text).join(" + "));
    let [seconds, uncounted] = common.seconds();
    let scene = Scene::new(Path::Bond(members.to_vec()), vec![Transfer::download(control)], seconds, uncounted);
    let seeds = common.seeds();
    let packets = if options.oracle { 3.0 } else { 2.0 } * scene.packets() * seeds.len() as f64;
    let measure = move |bench: &crate::bench::Bench| {
        let bond = mean(&seeds, |seed| goodput_bps(bench, &scene, seed))?;
        let best = best_member_bps(bench, &scene, &seeds)?;
        let oracle = if options.oracle { oracle_bps(bench, &scene, common.oracle_queue, &seeds)? } else { f64::NAN };
        Ok(vec![bond / sum_bps(&scene), bond / oracle, bond / best])
    };
    let group = format!("{}, {}", control.name(), if lossy == Lossy::None { "no loss" } else { lossy.name() });
    let near = delays.iter().all(|delay| *delay <= NEAR).then(|| format!("{group}, up to {NEAR} ms"));
    let groups = [group].into_iter().chain(near).collect();
    Task { key, about, groups, packets, measure: Box::new(measure) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_has_600_cells() {
        assert_eq!(all().len(), 600);
        assert!(all().contains(&([1_000, 50], [2, 300])));
    }
}
