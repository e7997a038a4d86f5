//! Random sets of two to four links, and one TCP over a trunk of them: never less than over the best alone.
//!
//! Rates from 1 to 100 Mbit/s and delays from 1 to 150 ms, both uniform in their logarithms; half of the links lose
//! nothing, the others up to 10 %, at random or in bursts; queues of 100 ms of full packets, at least 20. The test
//! draws a few, the example `link-sets` as many as it is told.

use airbraid_engine::Stream;
use airbraid_sim::scenario::Scenario;
use airbraid_sim::{RunOptions, run};
use std::fmt::Write;

#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub rate_kbps: u64,
    pub delay_us: u64,
    /// Mean loss \[1/10 000\].
    pub loss: u32,
    /// Mean length of a burst of losses.
    pub burst: u32,
}

/// The result of a set.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub links: Vec<Link>,
    /// Goodput of the trunk \[bit/s\].
    pub trunk_bps: f64,
    /// Of the same engine over the best link alone \[bit/s\].
    pub best_bps: f64,
}

impl Outcome {
    /// The trunk's part of the best link alone.
    pub fn of_best(&self) -> f64 {
        self.trunk_bps / self.best_bps.max(1.0)
    }
    /// The trunk's part of the sum of the rates.
    pub fn of_sum(&self) -> f64 {
        self.trunk_bps / self.links.iter().map(|link| link.rate_kbps as f64 * 1e3).sum::<f64>()
    }
}

/// Uniform in the logarithm between `low` and `high`.
fn spread(stream: &mut Stream, low: f64, high: f64) -> f64 {
    let u = f64::from(stream.up_to(1 << 20)) / f64::from(1 << 20);
    libm::exp(libm::log(low) + u * (libm::log(high) - libm::log(low)))
}

/// The set of this number.
pub fn draw(number: u64) -> Vec<Link> {
    let mut stream = Stream::new(number, 0, "link_sets");
    let count = 2 + stream.up_to(2);
    let one = |_| Link {
        rate_kbps: spread(&mut stream, 1_000.0, 100_000.0) as u64,
        delay_us: spread(&mut stream, 1_000.0, 150_000.0) as u64,
        loss: if stream.up_to(1) == 0 { 0 } else { stream.up_to(1_000) },
        burst: if stream.up_to(1) == 0 { 1 } else { 2 + stream.up_to(4) },
    };
    (0..count).map(one).collect()
}

/// Time from the start of the trunk to that of TCP \[s\]: users have a tunnel that is up, and the lab waits too.
const HEAD_START: u32 = 3;

/// The scenario of one TCP for `seconds` over a trunk of `links`.
pub fn scenario(links: &[Link], seconds: u32) -> Scenario {
    let mut text = format!(
        "schema = 1\ntitle = \"a set of links\"\nquestion = \"what does one TCP get?\"\n[run]\nduration = \"{} s\"\n\
         [[node]]\nname = \"server\"\n[[node]]\nname = \"client\"\n\
         [[trunk]]\nname = \"bond\"\nover = \"links\"\nbetween = [\"server\", \"client\"]\n\
         [[flow]]\nname = \"download\"\nfrom = \"server\"\nto = \"client\"\n\
         transport = {{ tcp = \"cubic\", profile = \"linux\", mss = \"1383 byte\" }}\n\
         start = \"{HEAD_START} s\"\n",
        HEAD_START + seconds
    );
    for (index, link) in links.iter().enumerate() {
        let Link { rate_kbps, delay_us, loss, burst } = link;
        let queue = (rate_kbps * 100 / 12_000).max(20);
        let _ = writeln!(text, "[[link]]\nname = \"l{index}\"\nbetween = [\"server\", \"client\"]");
        let _ = writeln!(text, "rate = \"{rate_kbps} kbit/s\"\ndelay = \"{delay_us} us\"\nqueue = {queue}");
        if *loss > 0 {
            let mean = f64::from(*loss) / 1e4;
            let _ = writeln!(text, "loss = {{ mean_loss = {mean}, mean_burst = {burst}.0 }}");
        }
    }
    Scenario::parse("set", &text).expect("the set is a scenario")
}

/// Goodput \[bit/s\] of one TCP for `seconds` over a trunk of `links`, the mean of seeds from 1 on.
pub fn goodput_bps(links: &[Link], seconds: u32, seeds: u64) -> f64 {
    let plan = scenario(links, seconds).plan().expect("the set is a scenario");
    let spec = &plan.cells[0].spec;
    let of_seed = |seed| run(spec, seed, RunOptions::default()).expect("it runs").result.flows[0].goodput_bps;
    (1..=seeds).map(of_seed).sum::<f64>() / seeds as f64
}

pub fn try_set(number: u64, seconds: u32, seeds: u64) -> Outcome {
    let links = draw(number);
    let trunk_bps = goodput_bps(&links, seconds, seeds);
    let best_bps = links.iter().map(|link| goodput_bps(&[*link], seconds, seeds)).fold(0.0, f64::max);
    Outcome { links, trunk_bps, best_bps }
}
