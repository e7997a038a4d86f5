//! The `policy` table of a trunk, which has other keys over radios ([`paper`]) than over links ([`bond`]).

pub(crate) mod bond;
pub(super) mod paper;

use crate::scenario::reader::View;
use airbraid_engine::trunk::LateMode;
use airbraid_units::Duration;

/// Keys that only a trunk over radios has.
const PAPER_KEYS: &[&str] = &["numbering", "member_queue", "member_time", "srr", "jkm"];
/// Keys that only the resequencer of a trunk over radios has.
const PAPER_RESEQUENCER_KEYS: &[&str] =
    &["method", "timer", "initial", "increment", "decay", "repeat_halving", "silence", "dead_after", "probe"];
/// Keys that only a trunk over links has.
const BOND_KEYS: &[&str] = &["tunnel"];

/// The treatments of late packets.
const MODES: [(&str, LateMode); 2] = [("tcp", LateMode::Tcp), ("strict", LateMode::Strict)];
/// A resequencer holds `most` packets at most, because of `why`.
fn buffer(view: &View<'_>, limit: u32, most: u32, why: &str) {
    let held = (1..=most).contains(&limit);
    let message = || format!("a buffer of {limit} packets cannot be had");
    view.require(held, "buffer", message, &format!("1 to {most}: {why}"));
}

fn above_zero(view: &View<'_>, spans: &[(&'static str, Duration)]) {
    for (key, span) in spans {
        view.require(!span.is_zero(), key, || format!("`{key}` must be above zero"), "leave it out for the default");
    }
}
