//! The values of a run under the names that summaries use.

use super::{Metrics, Value};
use crate::result::{LinkTrunkResult, MultiLinkTrunkResult, RadioTrunkResult, RunResult, SlotsResult, TrunkResult};

/// Takes a name and a value.
type Take<'t> = dyn FnMut(String, f64) + 't;

/// Returns the metrics of `run`, in a fixed order; a number that the run does not have (the delay of nothing) is left
/// out.
pub fn of(run: &RunResult) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    each(run, &mut |name, value| all.push((name, value)));
    all
}

/// Gives the metrics of `run` one after the other, in the same order.
pub fn each(run: &RunResult, out: &mut Take<'_>) {
    for flow in &run.flows {
        put(&format!("flow.{}", flow.name), flow, out);
    }
    trunks(&run.trunks, out);
    for select in &run.selections {
        put(&format!("select.{}.{}", select.name, select.from), select, out);
    }
    for link in &run.links {
        put(&format!("link.{}.{}", link.name, link.from), link, out);
    }
    for mac in &run.macs {
        put(&format!("mac.{}.{}", mac.node, mac.radio), mac, out);
    }
    sums(&run.link_layers.iter().collect::<Vec<_>>(), |end| format!("link_layer.{}.{}", end.node, end.peer), out);
    run.slots.iter().for_each(|slots| station(slots, out));
    for killer in &run.killers {
        put(&format!("killer.{}", killer.name), killer, out);
    }
    put("packets", &run.packets, out);
    if let Some(routing) = &run.routing {
        put("routing", routing, out);
    }
    put("total", &run.total, out);
    run.drops.iter().for_each(|(reason, n)| out(format!("drops.{reason}"), *n as f64));
}

/// Both directions together, then each under its sender's name; trunks over radios first, those of multi-link devices
/// last.
fn trunks(all: &[TrunkResult], out: &mut Take<'_>) {
    let radios: Vec<&RadioTrunkResult> = all.iter().filter_map(TrunkResult::radios).collect();
    sums(&radios, |trunk| format!("trunk.{}", trunk.name), out);
    for trunk in radios {
        put(&format!("trunk.{}.{}", trunk.name, trunk.from), trunk, out);
    }
    let links: Vec<&LinkTrunkResult> = all.iter().filter_map(TrunkResult::links).collect();
    sums(&links, |trunk| format!("trunk.{}", trunk.name), out);
    for trunk in links {
        let path = format!("trunk.{}.{}", trunk.name, trunk.from);
        put(&path, trunk, out);
        for member in &trunk.members {
            put(&format!("{path}.{}", member.link), member, out);
        }
    }
    let devices: Vec<&MultiLinkTrunkResult> = all.iter().filter_map(TrunkResult::multi_link).collect();
    sums(&devices, |trunk| format!("trunk.{}", trunk.name), out);
    for trunk in devices {
        let path = format!("trunk.{}.{}", trunk.name, trunk.from);
        put(&path, trunk, out);
        for member in &trunk.members {
            put(&format!("{path}.{}", member.link), member, out);
        }
    }
}

/// A radio with virtual stations, and its access points.
fn station(slots: &SlotsResult, out: &mut Take<'_>) {
    let path = format!("slots.{}", slots.name);
    put(&path, slots, out);
    for point in &slots.access_points {
        put(&format!("{path}.{}.{}", point.node, point.radio), point, out);
    }
}

fn put<T: Metrics>(path: &str, result: &T, out: &mut Take<'_>) {
    let mut found = Vec::new();
    result.each(&mut |declared, value| found.extend(value.map(|value| (declared, value.as_f64()))));
    found.sort_by_key(|(declared, _)| declared.place);
    found.into_iter().for_each(|(declared, value)| out(format!("{path}.{}", declared.key), value));
}

/// Adds the sums of all members of each group under the group's path, in the order of their first members.
fn sums<T: Metrics>(all: &[&T], path: impl Fn(&T) -> String, out: &mut Take<'_>) {
    let paths: Vec<String> = all.iter().map(|one| path(one)).collect();
    for (i, path) in paths.iter().enumerate() {
        if paths[..i].contains(path) {
            continue;
        }
        let group = paths.iter().zip(all).filter(|(other, _)| *other == path).map(|(_, result)| *result);
        T::total(group).each(&mut |declared, value| {
            if let Some(Value::Count(sum)) = value.filter(|_| declared.is_sum()) {
                out(format!("{path}.{}", declared.key), sum as f64);
            }
        });
    }
}
