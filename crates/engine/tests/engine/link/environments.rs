//! The policies in the five environments of the paper, and in two that nobody has tuned to.
//!
//! Each transmission takes the next event of a list, whatever its size, as the paper's packet killer does: a segment
//! that is not longer than the length of truncation is unharmed. The environments have about the rates of the paper's
//! Table 1, by one or two states of the channel each; floating point is for the test alone.

use airbraid_engine::Stream;
use airbraid_engine::link::Cost;
use airbraid_engine::link::policy::Observation;
use airbraid_engine::link::{Adaptation, Fate, Policy};
use airbraid_units::Duration;
use std::fmt::Write;

/// The rates of events in one state of the channel.
#[derive(Clone, Copy)]
struct Rates {
    lost: f64,
    truncated: f64,
    corrupted: f64,
    /// Wrong bytes of the worst block of a corrupted segment: 1 + a number with this mean, geometric.
    worst: f64,
}

/// Two states of the channel, and how many events each lasts on average.
struct Environment {
    name: &'static str,
    good: Rates,
    poor: Rates,
    /// Mean length of the good and of the poor state \[events\]; no poor one if that is zero.
    lengths: (f64, f64),
    /// Whether the states are as long as their mean, or geometric.
    is_regular: bool,
}

const CLEAR: Rates = Rates { lost: 0.0, truncated: 0.0, corrupted: 0.0, worst: 0.0 };

/// A telephone that transmits, in the environment "adjacent".
const ADJACENT: Rates = Rates { lost: 0.62, truncated: 0.6, corrupted: 0.007, worst: 20.0 };

fn environments() -> [Environment; 7] {
    let steady = |name, good| Environment { name, good, poor: CLEAR, lengths: (1.0, 0.0), is_regular: true };
    let office = Rates { corrupted: 3.4e-4, worst: 0.0, ..CLEAR };
    let walking = Rates { lost: 0.009, truncated: 0.011, corrupted: 0.66, worst: 8.0 };
    let table = Rates { lost: 0.054, truncated: 0.019, corrupted: 0.94, worst: 30.0 };
    let walls = Rates { lost: 0.006, truncated: 0.017, corrupted: 0.27, worst: 5.0 };
    let attic = Rates { lost: 0.04, truncated: 0.08, corrupted: 0.6, worst: 14.0 };
    let yard = Rates { lost: 0.02, truncated: 0.02, corrupted: 0.05, worst: 6.0 };
    let gate = Rates { lost: 0.4, truncated: 0.2, corrupted: 0.5, worst: 10.0 };
    [
        steady("office", office),
        Environment { name: "walking", good: CLEAR, poor: walking, lengths: (900.0, 80.0), is_regular: false },
        Environment { name: "adjacent", good: CLEAR, poor: ADJACENT, lengths: (48.0, 48.0), is_regular: true },
        steady("table", table),
        steady("walls", walls),
        steady("attic", attic),
        Environment { name: "yard", good: yard, poor: gate, lengths: (120.0, 60.0), is_regular: false },
    ]
}

/// Uniform in [0, 1).
fn uniform(stream: &mut Stream) -> f64 {
    stream.up_to(u32::MAX) as f64 / 4_294_967_296.0
}

fn geometric(stream: &mut Stream, mean: f64) -> u32 {
    let mut count = 0;
    while uniform(stream) < mean / (mean + 1.0) {
        count += 1;
    }
    count
}

fn event(stream: &mut Stream, rates: &Rates) -> Fate {
    let [lost, truncated, corrupted] = std::array::from_fn(|_| uniform(stream));
    let at = 64 + stream.up_to(1_211) as u16;
    let worst = (1 + geometric(stream, rates.worst)).min(255) as u8;
    if lost < rates.lost {
        Fate::Lost
    } else if truncated < rates.truncated {
        Fate::Truncated { at }
    } else {
        Fate::Delivered { worst: if corrupted < rates.corrupted { worst } else { 0 } }
    }
}

fn events(environment: &Environment, seed: u64, count: usize) -> Vec<Fate> {
    let mut stream = Stream::new(seed, 0, environment.name);
    let (mut is_poor, mut left) = (false, 0);
    (0..count)
        .map(|_| {
            if left == 0 && environment.lengths.1 > 0.0 {
                is_poor = !is_poor;
                let mean = if is_poor { environment.lengths.1 } else { environment.lengths.0 };
                left = if environment.is_regular { mean as u32 } else { 1 + geometric(&mut stream, mean - 1.0) };
            }
            left = left.saturating_sub(1);
            event(&mut stream, if is_poor { &environment.poor } else { &environment.good })
        })
        .collect()
}

/// Goodput of endless data in one direction \[kB/s\]; what happens to the segment that begins after so much time.
fn goodput(adaptation: Adaptation, count: usize, mut event: impl FnMut(usize, Duration) -> Fate) -> f64 {
    let cost = Cost::default();
    let mut policy = adaptation.build(cost);
    let (mut bytes, mut time) = (0.0, Duration::ZERO);
    for number in 0..count {
        let event = event(number, time);
        policy.foretell(event);
        let shape = policy.shape();
        let fate = match event {
            Fate::Truncated { at } if at >= shape.bytes() => Fate::Delivered { worst: 0 },
            Fate::Delivered { worst } if worst > shape.strength() => Fate::Undecodable,
            fate => fate,
        };
        if let Fate::Delivered { .. } = fate {
            bytes += f64::from(shape.capacity());
        }
        time = time + cost.overhead + cost.per_byte * u64::from(shape.bytes());
        policy.observe(Observation { coded_len: shape.bytes(), parity: shape.parity(), fate });
    }
    bytes / time.as_secs_f64() / 1e3
}

const POLICIES: [(&str, Adaptation); 9] = [
    ("BOLD", Adaptation::BOLD),
    ("LIGHT", Adaptation::LIGHT),
    ("ROBUST", Adaptation::ROBUST),
    ("BIMODAL", Adaptation::BIMODAL),
    ("BI-CODE", Adaptation::BI_CODE),
    ("BI-SIZE", Adaptation::BI_SIZE),
    ("FLEX", Adaptation::FLEX),
    ("GOODPUT", Adaptation::GOODPUT),
    ("ORACLE", Adaptation::ORACLE),
];

/// Ours is nearer to the limit than FLEX everywhere; where nothing happens both are at it.
#[test]
fn ours_is_nearer_to_the_oracle_than_flex() {
    const COUNT: usize = 20_000;
    let mut text = format!("{:10}", "kB/s");
    POLICIES.iter().for_each(|(name, _)| write!(text, "{name:>9}").unwrap());
    let mut misses = vec![];
    for environment in environments() {
        write!(text, "\n{:10}", environment.name).unwrap();
        let list: Vec<Vec<Fate>> = (1..=3).map(|seed| events(&environment, seed, COUNT)).collect();
        let mean = |adaptation| {
            list.iter().map(|events| goodput(adaptation, COUNT, |number, _| events[number])).sum::<f64>() / 3.0
        };
        let all: Vec<f64> = POLICIES.iter().map(|&(_, adaptation)| mean(adaptation)).collect();
        all.iter().for_each(|value| write!(text, "{value:9.1}").unwrap());
        // Two of three thousand segments: nothing to adapt to, and both are at the limit but for these.
        let is_nearer = if environment.name == "office" { all[7] >= all[6] } else { all[7] > all[6] + 0.2 };
        if !is_nearer || all[7] > all[8] {
            misses.push(environment.name);
        }
    }
    println!("{text}");
    assert!(misses.is_empty(), "{misses:?}");
}

/// A channel that changes with time, 250 ms of each state, whatever is sent: short segments do not make the poor one
/// shorter, so that asking with them gains less.
#[test]
fn ours_is_nearer_also_where_damage_goes_by_time() {
    let by_time = |adaptation| {
        let mut stream = Stream::new(1, 0, "adjacent by time");
        goodput(adaptation, 40_000, |_, time| {
            let is_poor = time.as_micros() / 250_000 % 2 == 1;
            event(&mut stream, if is_poor { &ADJACENT } else { &CLEAR })
        })
    };
    let [flex, ours, oracle] = [Adaptation::FLEX, Adaptation::GOODPUT, Adaptation::ORACLE].map(by_time);
    assert!(flex < ours && ours < oracle, "{flex:.1} {ours:.1} {oracle:.1}");
}
