//! One TCP over a trunk of links, beside the best link alone: the two sets of `benches/link-sets.csv` that are cheap
//! enough without optimisation. `tests/tests/validation.rs` has them all, `make map` any other.

// An example has the same scenario.
#[path = "link_sets/mod.rs"]
mod link_sets;
#[path = "link_sets/listed.rs"]
mod listed;

use link_sets::Link;
use listed::{best_bps, goodput_bps, set};

#[test]
fn even_links_add_up() {
    let link = Link { rate_kbps: 5_000, delay_us: 2_000, loss: 0, burst: 1 };
    let sum = goodput_bps(&[link; 3], 8, 1);
    assert!(sum > 0.86 * 15e6, "{sum} of 15 Mbit/s");
}

#[test]
fn a_set_costs_nothing_of_its_best_link() {
    for number in [2, 4] {
        let links = set(number);
        let sum: u64 = links.iter().map(|link| link.rate_kbps * 1_000).sum();
        let (trunk, best) = (goodput_bps(&links, 5, 1), best_bps(&links, 5, 1));
        assert!(
            trunk >= 0.97 * best && trunk < sum as f64,
            "set {number}: {trunk} bit/s, {best} over the best of {links:?}"
        );
    }
}
