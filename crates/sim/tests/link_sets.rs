//! A trunk over random links: a bounded version of the example `link-sets`.

// The example tries whole sets.
#[path = "link_sets/mod.rs"]
mod sets;

use sets::{Link, goodput_bps, try_set};

#[test]
fn even_links_add_up() {
    let link = Link { rate_kbps: 5_000, delay_us: 2_000, loss: 0, burst: 1 };
    let sum = goodput_bps(&[link; 3], 8, 1);
    assert!(sum > 0.86 * 15e6, "{sum} of 15 Mbit/s");
}

#[test]
fn a_set_gets_more_than_half_of_what_its_best_link_gets() {
    // What the worst of fifty get is told in docs/models/tunnel.md; these are the first four.
    for number in 1..=4 {
        let outcome = try_set(number, 5, 1);
        assert!(outcome.of_best() > 0.5 && outcome.of_sum() < 1.0, "{outcome:?}");
    }
}
