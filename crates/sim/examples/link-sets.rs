//! Random sets of links: one TCP over a trunk of them, beside the best link alone and the sum.
//!
//! `cargo run --release -p airbraid-sim --example link-sets -- 50 20` tries sets 1 to 50 for 20 s each, the worst
//! first; a third number is the first set, a fourth how many seeds each number is the mean of. `... -- list 8` prints
//! what sets 1 to 8 are, as `benches/link-sets.csv` has them.

#[path = "../tests/link_sets/mod.rs"]
mod link_sets;

use link_sets::try_set;

/// Prints the sets 1 to `last`, one link a line.
fn list(last: u64) {
    println!("set,link,rate [kbit/s],delay [us],loss [1/10000],burst [packets]");
    for set in 1..=last {
        for (index, link) in link_sets::draw(set).iter().enumerate() {
            println!("{set},{index},{},{},{},{}", link.rate_kbps, link.delay_us, link.loss, link.burst);
        }
    }
}

fn main() {
    if let (Some("list"), Some(last)) = (std::env::args().nth(1).as_deref(), std::env::args().nth(2)) {
        return list(last.parse().expect("a number of sets"));
    }
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let sets = arguments.next().unwrap_or(50);
    let seconds = arguments.next().unwrap_or(20) as u32;
    let first = arguments.next().unwrap_or(1);
    let seeds = arguments.next().unwrap_or(1).max(1);
    let mut outcomes: Vec<_> = (first..first + sets).map(|number| (number, try_set(number, seconds, seeds))).collect();
    outcomes.sort_by(|a, b| a.1.of_best().total_cmp(&b.1.of_best()));
    println!("  set  of best  of sum   Mbit/s  links: Mbit/s, ms, loss %, burst");
    for (number, outcome) in &outcomes {
        let link = |link: &link_sets::Link| {
            let (rate, delay) = (link.rate_kbps as f64 / 1e3, link.delay_us as f64 / 1e3);
            format!("{rate:.1} {delay:.0} {:.1} {}", f64::from(link.loss) / 100.0, link.burst)
        };
        let links: Vec<String> = outcome.links.iter().map(link).collect();
        let (best, sum, rate) = (outcome.of_best(), outcome.of_sum(), outcome.trunk_bps / 1e6);
        println!("{number:5} {best:8.3} {sum:7.3} {rate:8.2}  {}", links.join("; "));
    }
    let fine = outcomes.iter().filter(|(_, outcome)| outcome.of_best() >= 0.97).count();
    let mean = outcomes.iter().map(|(_, outcome)| outcome.of_sum()).sum::<f64>() / outcomes.len().max(1) as f64;
    println!("{fine} of {sets} at 0.97 of the best link or above; of the sum {mean:.3} on average");
}
