//! Measures a hub that strangers flood: `make bench-strangers` (root, a minute and a half).
//!
//! `AIRBRAID_BINARY=...` measures another version of the command at the hub.

#[path = "../tests/daemon/flood.rs"]
mod flood;
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/daemon/net.rs"]
mod net;
#[path = "../tests/root/mod.rs"]
mod root;

use flood::{EVENLY, Kind, connects, cpu_ns, flood, garbage_costs, hub, messages, now, received, start_hub, status};
use root::can_run;
use std::time::Duration;

fn main() {
    // Tests of all targets run this file, too: it measures only as a benchmark.
    if std::env::args().any(|argument| argument == "--bench") && can_run("strangers") {
        floods();
        garbage();
    }
}

/// The time that a client needs to connect, and the processor time of the hub, in floods of several kinds and rates.
fn floods() {
    let kinds = [Kind::Both, Kind::WithCookies, Kind::WithoutCookies];
    for (count, kind) in kinds.into_iter().flat_map(|kind| [1, 1_000].map(|count| (count, kind))) {
        for rate in [4_000, 20_000, 50_000] {
            let (mut net, far) = hub("measure", 0);
            start_hub(&mut net);
            let pid = status(&net, "far")["pid"].as_u64().unwrap() as u32;
            let shots = messages(&net, &far, count, kind);
            let (cpu, seen, begin) = (cpu_ns(pid), received(&status(&net, "far")), now());
            let flood = flood(shots, rate, EVENLY);
            std::thread::sleep(Duration::from_secs(1));
            let took: Vec<Option<f64>> =
                (0..3).map(|_| connects(&mut net, Duration::from_secs(15)).map(|took| took.as_secs_f64())).collect();
            let (seconds, sent) = (begin.elapsed().as_secs_f64(), flood.rate());
            let seen = (received(&status(&net, "far")) - seen) as f64 / seconds;
            let cpu = (cpu_ns(pid) - cpu) as f64 / seconds / 1e9;
            println!(
                "{count:>5} sources, {kind:?}: {sent:>6.0}/s sent, {seen:>6.0}/s seen, {cpu:.2} of a core: {took:?} s"
            );
        }
    }
}

/// The processor time that a datagram of garbage costs a hub of few and many peers.
fn garbage() {
    for peers in [0, 499, 4_095] {
        for (what, garbage) in [("one byte", vec![0]), ("wrong MAC", [&[0x11, 1, 1, 3][..], &[9; 140]].concat())] {
            let ns = garbage_costs("measure", peers, &garbage);
            println!("{:>5} peers, {what}: {ns:.0} ns a datagram, the system's part included", peers + 1);
        }
    }
}
