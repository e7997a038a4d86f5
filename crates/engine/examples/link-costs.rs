//! Costs of the parts of local error control: the Reed-Solomon code by t and damage, one decision of each policy. `make
//! bench` prints them. Medians of five; timing on shared machines is noise.

use airbraid_engine::Stream;
use airbraid_engine::link::Cost;
use airbraid_engine::link::fec::{BlockCodec, Codec, ReedSolomon, crc32};
use airbraid_engine::link::policy::Observation;
use airbraid_engine::link::{Adaptation, Fate, Policy, Segment};
use airbraid_engine::packet::TrafficClass;
use airbraid_units::SeqNum;
use std::hint::black_box;
use std::time::Instant;

/// Time of one call \[ns\]: the median of five times `calls`.
#[allow(clippy::disallowed_methods, reason = "it measures what the machine takes, outside every run")]
fn measure(calls: u32, mut call: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            start.elapsed().as_nanos() as f64 / f64::from(calls)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[2]
}

/// Megabytes of user data a second.
fn rate(bytes: usize, nanos: f64) -> f64 {
    bytes as f64 * 1e3 / nanos
}

fn codes() {
    println!(
        "{:<26} {:>12} {:>12} {:>14} {:>14}",
        "Reed-Solomon, MB/s", "encode", "decode clean", "decode 1 wrong", "decode t wrong"
    );
    for parity in [12u8, 84] {
        let code = ReedSolomon::new(parity).expect("even parity");
        let data = 255 - usize::from(parity);
        let mut stream = Stream::new(1, 0, "bench");
        let mut block: Vec<u8> = (0..255).map(|_| stream.next_u64() as u8).collect();
        let encode = measure(20_000, || code.encode(black_box(&mut block)));
        let mut decode = |wrong: u8| {
            measure(20_000, || {
                (0..usize::from(wrong)).for_each(|i| block[i * 6] ^= 0x55);
                black_box(code.decode(black_box(&mut block))).expect("within its strength");
            })
        };
        let [clean, one, most] = [0, 1, parity / 2].map(|wrong| rate(data, decode(wrong)));
        println!(
            "{:<26} {:>12.0} {clean:>12.0} {one:>14.0} {most:>14.1}",
            format!("t = {}", parity / 2),
            rate(data, encode)
        );
    }
}

fn segments() {
    let (class, seq) = (TrafficClass::Bulk, SeqNum(1));
    let segment = Segment { class, seq, offset: 0, count: 5 * 243 - 4, is_last: true, parity: 12 };
    let data = vec![7; usize::from(segment.count)];
    let (mut codec, mut coded) = (BlockCodec::default(), vec![]);
    let encode = measure(5_000, || codec.encode(&segment, black_box(&data), &mut coded));
    let mut scratch = coded.clone();
    let decode = measure(5_000, || {
        scratch.copy_from_slice(&coded);
        black_box(codec.decode(&segment, &mut scratch));
    });
    println!("{:<26} {:>12.0} {:>12.0}", "segment of five blocks", rate(data.len(), encode), rate(data.len(), decode));
    let check = measure(20_000, || {
        black_box(crc32(black_box(&data)));
    });
    println!("{:<26} {:>12.0}", "CRC-32", rate(data.len(), check));
}

fn policies() {
    println!("{:<26} {:>12}", "policy, ns a decision", "");
    for (name, adaptation) in [
        ("BIMODAL", Adaptation::BIMODAL),
        ("FLEX", Adaptation::FLEX),
        ("goodput", Adaptation::GOODPUT),
        ("oracle", Adaptation::ORACLE),
    ] {
        let mut policy = adaptation.build(Cost::default());
        let mut stream = Stream::new(1, 0, "bench.policy");
        let decision = measure(100_000, || {
            let shape = policy.shape();
            let fate = match stream.up_to(9) {
                0 => Fate::Lost,
                1 => Fate::Truncated { at: 300 },
                2 => Fate::Undecodable,
                3 => Fate::Delivered { worst: shape.strength() },
                _ => Fate::Delivered { worst: 0 },
            };
            policy.foretell(fate);
            policy.observe(Observation { coded_len: shape.bytes(), parity: shape.parity(), fate });
        });
        println!("{name:<26} {decision:>12.0}");
    }
}

fn main() {
    codes();
    segments();
    policies();
}
