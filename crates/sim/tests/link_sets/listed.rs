//! The sets of `benches/link-sets.csv`, and what one TCP gets over them.

use super::link_sets::{Link, scenario};
use airbraid_sim::{RunOptions, run};

const SETS: &str = include_str!("../../../../benches/link-sets.csv");

/// The set of this number.
pub fn set(number: u64) -> Vec<Link> {
    let values = SETS.lines().skip(1).map(|line| {
        let mut values = line.split(',').map(|value| value.parse::<u64>().unwrap());
        [(); 6].map(|()| values.next().unwrap())
    });
    let of_set = values.filter(|[set, ..]| *set == number);
    of_set.map(|[_, _, rate_kbps, delay_us, loss, burst]| Link { rate_kbps, delay_us, loss, burst }).collect()
}

/// Mean goodput over `seconds` from the first byte, over the seeds from 1 on \[bit/s\].
pub fn goodput_bps(links: &[Link], seconds: u32, seeds: u64) -> f64 {
    let plan = scenario(links, seconds).plan().unwrap();
    let of = |seed| run(&plan.cells[0].spec, seed, RunOptions::default()).unwrap().result.flows[0].goodput_bps;
    (1..=seeds).map(of).sum::<f64>() / seeds as f64
}

/// The most that a link alone can carry \[bit/s\]: of 1500 byte on it 1383 are payload, and by chance it loses a little
/// less than on the mean.
fn bound_bps(link: &Link) -> f64 {
    link.rate_kbps as f64 * 1e3 * (1.0 - link.loss as f64 / 1e4) * 1383.0 / 1500.0 * 1.02
}

/// Goodput over the best single link of a set. A link that cannot be better is not tried.
pub fn best_bps(links: &[Link], seconds: u32, seeds: u64) -> f64 {
    let mut links = links.to_vec();
    links.sort_by(|a, b| bound_bps(b).total_cmp(&bound_bps(a)));
    let better = |best: f64, link: &Link| {
        if bound_bps(link) <= best { best } else { best.max(goodput_bps(&[*link], seconds, seeds)) }
    };
    links.iter().fold(0.0, better)
}
