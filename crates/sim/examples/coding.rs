//! Erasure coding for one TCP over one lossy link: retransmission alone, the code, and the same link without losses and
//! its rate less by 10 % (15 % where losses come in bursts), which is the bound for a perfect code.
//!
//! `cargo run --release -p airbraid-sim --example coding -- 15 4` runs each for 15 s with four seeds.

#[path = "../tests/link_sets/mod.rs"]
mod link_sets;

use airbraid_engine::trunk::bonding::Coding;
use airbraid_sim::result::TrunkResult;
use airbraid_sim::scenario::spec::Trunk;
use airbraid_sim::{RunOptions, run};
use link_sets::{Link, scenario};

/// Mbit/s, median and 99 % of the one-way delay \[ms\], the share of repair symbols in the sent frames, and TCP's
/// retransmissions; means over the seeds.
fn measure(link: Link, coding: Coding, seconds: u32, seeds: u64) -> [f64; 5] {
    let plan = scenario(&[link], seconds).plan().expect("a scenario");
    let mut spec = plan.cells[0].spec.clone();
    for trunk in &mut spec.trunks {
        if let Trunk::Links(trunk) = trunk {
            trunk.policy.coding = coding;
        }
    }
    let mut sums = [0.0; 5];
    for seed in 1..=seeds {
        let result = run(&spec, seed, RunOptions::default()).expect("it runs").result;
        let trunk = result.trunks.iter().find_map(TrunkResult::links).expect("it is over links");
        let (flow, member) = (&result.flows[0], &trunk.members[0].counts);
        let repairs = 100.0 * member.repair_bytes.as_u64() as f64 / member.sent_bytes.as_u64().max(1) as f64;
        let (p50, p99) = flow.delay_s.as_ref().map_or((0.0, 0.0), |delay| (delay.p50 * 1e3, delay.p99 * 1e3));
        let values = [flow.goodput_bps / 1e6, p50, p99, repairs, flow.tcp.retransmits as f64];
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / seeds as f64);
    }
    sums
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let seconds = arguments.next().unwrap_or(15) as u32;
    let seeds = arguments.next().unwrap_or(4);
    println!("| link | repetition: Mbit/s, median and 99 % of the one-way delay | coded | symbols | a perfect code |");
    println!("|---|---|---|---|---|");
    let table = [(100, 1), (100, 4), (30, 1), (5, 1)];
    for (delay_ms, burst) in table {
        let lossy = Link { rate_kbps: 10_000, delay_us: delay_ms * 1_000, loss: 500, burst };
        let perfect = Link { rate_kbps: if burst > 1 { 8_500 } else { 9_000 }, loss: 0, ..lossy };
        let [off, on] = [Coding::Off, Coding::Adaptive].map(|coding| measure(lossy, coding, seconds, seeds));
        let best = measure(perfect, Coding::Off, seconds, seeds);
        let cell = |[rate, p50, p99, _, again]: [f64; 5]| format!("{rate:.2}; {p50:.0}, {p99:.0} ms ({again:.0})");
        let bursts = if burst > 1 { format!(" in bursts of {burst}") } else { String::new() };
        println!(
            "| 10 Mbit/s, {delay_ms} ms, 5 %{bursts} | {} | {} | {:.1} % | {} |",
            cell(off),
            cell(on),
            on[3],
            cell(best)
        );
    }
}
