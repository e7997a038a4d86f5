//! `stream`: datagrams at a steady rate over random sets, half of what the members carry: their delay and their loss.

use crate::alone::{mean, metric, sum_bps};
use crate::bench::{Bench, Task};
use crate::options;
use crate::random;
use crate::scene::{Path, Scene, Transfer};
use crate::table::Column;

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub base: options::Random,
    /// Number of sets
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    sets: u64,
}

pub const COLUMNS: [Column; 3] =
    [Column::cost("delay, median [ms]", None), Column::cost("delay, 99 % [ms]", None), Column::cost("lost", None)];

pub fn tasks(options: &Options) -> Vec<Task<'_>> {
    (0..options.sets).map(|index| task(&options.base, index)).collect()
}

fn task(options: &options::Random, index: u64) -> Task<'_> {
    let common = &options.common;
    let members = random::set(options, index);
    let about = random::text(&members);
    let [seconds, uncounted] = common.seconds_or(30);
    let mut scene = Scene::new(Path::Bond(members), Vec::new(), seconds, uncounted);
    // All links carry it at half of their rates: what is late is late by losses.
    scene.transfers = vec![Transfer::Constant { kbps: (sum_bps(&scene) / 2e3) as u64 }];
    let seeds = common.seeds();
    let packets = scene.packets() / 2.0 * seeds.len() as f64;
    let measure = move |bench: &Bench| {
        let of = |what| mean(&seeds, |seed| Ok(metric(bench, &scene, seed, 0, what)?.unwrap_or(f64::NAN)));
        let (sent, received) = (of("sent_packets")?, of("received_packets")?);
        Ok(vec![of("delay_p50_s")? * 1e3, of("delay_p99_s")? * 1e3, (1.0 - received / sent).max(0.0)])
    };
    Task {
        key: format!("stream-{index}"),
        about,
        groups: vec!["stream".to_owned()],
        packets,
        measure: Box::new(measure),
    }
}
