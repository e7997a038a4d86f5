//! One TCP over a trunk of the first sets of `benches/link-sets.csv`, beside the best link alone: a short version of
//! what `make map` measures.

// An example has the same scenario.
#[path = "link_sets/mod.rs"]
mod sets;

use airbraid_sim::{RunOptions, run};
use sets::{Link, scenario};

const SETS: &str = include_str!("../../../benches/link-sets.csv");

/// The set of this number.
fn set(number: u64) -> Vec<Link> {
    let values = SETS.lines().skip(1).map(|line| {
        let mut values = line.split(',').map(|value| value.parse::<u64>().unwrap());
        [(); 6].map(|()| values.next().unwrap())
    });
    let of_set = values.filter(|[set, ..]| *set == number);
    of_set.map(|[_, _, rate_kbps, delay_us, loss, burst]| Link { rate_kbps, delay_us, loss, burst }).collect()
}

fn goodput_bps(links: &[Link], seconds: u32) -> f64 {
    let plan = scenario(links, seconds).plan().unwrap();
    run(&plan.cells[0].spec, 1, RunOptions::default()).unwrap().result.flows[0].goodput_bps
}

#[test]
fn even_links_add_up() {
    let link = Link { rate_kbps: 5_000, delay_us: 2_000, loss: 0, burst: 1 };
    let sum = goodput_bps(&[link; 3], 8);
    assert!(sum > 0.86 * 15e6, "{sum} of 15 Mbit/s");
}

#[test]
fn a_set_gets_more_than_half_of_what_its_best_link_gets() {
    for number in 1..=4 {
        let links = set(number);
        let sum: u64 = links.iter().map(|link| link.rate_kbps * 1_000).sum();
        let trunk = goodput_bps(&links, 5);
        let best = links.iter().map(|link| goodput_bps(&[*link], 5)).fold(0.0, f64::max);
        assert!(
            trunk > 0.5 * best && trunk < sum as f64,
            "set {number}: {trunk} bit/s, {best} over the best of {links:?}"
        );
    }
}
