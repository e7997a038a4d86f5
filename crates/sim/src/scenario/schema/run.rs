//! `[run]` and `[record]`: duration, replications, and recordings.

use super::node::find_radio;
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, quantity};
use crate::scenario::spec::{Node, Pcap, Record};
use crate::scenario::tree::{Data, Value};
use airbraid_units::Duration;

/// Longest run: series and timers are sized by it.
const DURATION_MAX: Duration = Duration::from_secs(30 * 86_400);
/// Largest number of replications.
const REPLICATIONS_MAX: u32 = 10_000;
/// Largest number of values in a series.
const INTERVALS_MAX: u64 = 1_000_000;

pub(super) struct RunTable {
    pub duration: Duration,
    pub warm_up: Duration,
    pub seed: u64,
    pub replications: u32,
}

pub(super) fn read(view: View<'_>) -> RunTable {
    let duration = view.required("duration", "\"100 s\"", quantity::<Duration>);
    let run = RunTable {
        duration: duration.unwrap_or(Duration::from_secs(1)),
        warm_up: view.quantity("warm_up", Duration::ZERO, "everything is counted"),
        seed: view.read("seed", 1, "the first", seed),
        replications: view.count("replications", 1, "one run tells of itself only"),
    };
    let fits = !run.duration.is_zero() && run.duration <= DURATION_MAX;
    view.require(
        fits,
        "duration",
        || format!("a run cannot last {}", run.duration),
        "more than nothing, at most 720 h",
    );
    let counted = run.warm_up < run.duration || duration.is_none();
    view.require(
        counted,
        "warm_up",
        || "nothing is left after the warm-up".to_owned(),
        "make it shorter than the duration",
    );
    let some = (1..=REPLICATIONS_MAX).contains(&run.replications);
    view.require(some, "replications", || format!("{} replications cannot be run", run.replications), "1 to 10000");
    view.finish();
    run
}

/// TOML's integers end at 2^63 - 1, which leaves room for the seeds of the replications.
fn seed(value: &Value) -> Result<u64, Complaint> {
    reader::integer(value, (1 << 63) - 1).map(|n| n as u64)
}

/// Reads `[record]`.
pub(super) fn record(view: View<'_>, nodes: &[Node], duration: Duration) -> Record {
    let interval = view.quantity("interval", Duration::from_secs(1), "a value a second");
    view.require(
        !interval.is_zero(),
        "interval",
        || "an interval lasts longer than nothing".to_owned(),
        "write \"1 s\"",
    );
    if !interval.is_zero() {
        let n = duration.div_floor(interval);
        let help = format!("at most {INTERVALS_MAX}: make the interval longer");
        view.require(n <= INTERVALS_MAX, "interval", || format!("{n} intervals are too many"), &help);
    }
    let mut pcap = Pcap::default();
    view.optional("pcap", "none; --pcap captures all", |value| {
        match &value.data {
            Data::Text(word) if word == "all" => pcap = Pcap::All,
            Data::List(items) => {
                pcap = Pcap::Radios(items.iter().filter_map(|item| find_radio(view.cx, item, nodes)).collect());
            }
            _ => return Err(Complaint::new("radios are needed", "write [\"node/ch1\"] or \"all\"")),
        }
        Ok(())
    });
    let timeline = view.flag("timeline", false, "--timeline writes it");
    let perfetto = view.flag("perfetto", false, "--perfetto writes it");
    let sequence = view.flag("sequence", false, "TCP's sequence numbers are not sampled");
    let snr = view.flag("snr", false, "SNR is not sampled");
    let members = view.flag("members", false, "members of trunks over links are not sampled");
    view.finish();
    Record { interval, pcap, timeline, perfetto, sequence, snr, members }
}
