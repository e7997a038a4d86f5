//! The values of a run under the names that summaries use.

use super::table::{
    ACCESS_POINT, FLOW, KILLER, LINK, LINK_LAYER, MAC, PACKETS, ROUTING, SELECT, SLOTS, TOTAL, TRUNK, TRUNK_DIRECTION,
    TUNNEL, TUNNEL_END, TUNNEL_MEMBER,
};
use super::{Metric, Read};
use crate::result::{RunResult, SlotsResult, TrunkResult, TunnelResult};

/// The metrics of `run`, in a fixed order; a number that the run does not have (the delay of nothing) is left out.
pub fn of(run: &RunResult) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    for flow in &run.flows {
        put(&FLOW, &format!("flow.{}", flow.name), flow, &mut out);
    }
    sums(&TRUNK, &run.trunks, |trunk| format!("trunk.{}", trunk.name), &mut out);
    run.trunks.iter().for_each(|trunk| direction(trunk, &mut out));
    sums(&TUNNEL, &run.tunnels, |end| format!("tunnel.{}", end.name), &mut out);
    run.tunnels.iter().for_each(|end| tunnel_end(end, &mut out));
    for select in &run.selections {
        put(&SELECT, &format!("select.{}.{}", select.name, select.from), select, &mut out);
    }
    for link in &run.links {
        put(&LINK, &format!("link.{}.{}", link.name, link.from), link, &mut out);
    }
    for mac in &run.macs {
        put(&MAC, &format!("mac.{}.{}", mac.node, mac.radio), mac, &mut out);
    }
    sums(&LINK_LAYER, &run.link_layers, |end| format!("link_layer.{}.{}", end.node, end.peer), &mut out);
    run.slots.iter().for_each(|slots| station(slots, &mut out));
    for killer in &run.killers {
        put(&KILLER, &format!("killer.{}", killer.name), killer, &mut out);
    }
    put(&PACKETS, "packets", &run.packets, &mut out);
    if let Some(routing) = &run.routing {
        put(&ROUTING, "routing", routing, &mut out);
    }
    put(&TOTAL, "total", &run.total, &mut out);
    out.extend(run.drops.iter().map(|(reason, n)| (format!("drops.{reason}"), *n as f64)));
    out
}

/// What each direction has alone, under its sender's name.
fn direction(trunk: &TrunkResult, out: &mut Vec<(String, f64)>) {
    let path = format!("trunk.{}.{}", trunk.name, trunk.from);
    put(&TRUNK, &path, trunk, out);
    put(&TRUNK_DIRECTION, &path, trunk, out);
}

/// What one end of a trunk over links has alone, and what it sent on each member.
fn tunnel_end(end: &TunnelResult, out: &mut Vec<(String, f64)>) {
    let path = format!("tunnel.{}.{}", end.name, end.from);
    put(&TUNNEL, &path, end, out);
    put(&TUNNEL_END, &path, end, out);
    for member in &end.members {
        put(&TUNNEL_MEMBER, &format!("{path}.{}", member.link), member, out);
    }
}

/// What a radio with virtual stations did, and its access points.
fn station(slots: &SlotsResult, out: &mut Vec<(String, f64)>) {
    let path = format!("slots.{}", slots.name);
    put(&SLOTS, &path, slots, out);
    for point in &slots.access_points {
        put(&ACCESS_POINT, &format!("{path}.{}.{}", point.node, point.radio), point, out);
    }
}

fn put<T>(table: &[Metric<T>], path: &str, result: &T, out: &mut Vec<(String, f64)>) {
    let present = table.iter().filter_map(|metric| Some((metric.name.key, metric.value(result)?)));
    out.extend(present.map(|(key, value)| (format!("{path}.{key}"), value)));
}

/// Sums of the counts of `table` over all members of each group, under the group's path, in the order of their first
/// members.
fn sums<T>(table: &[Metric<T>], all: &[T], path: impl Fn(&T) -> String, out: &mut Vec<(String, f64)>) {
    let paths: Vec<String> = all.iter().map(path).collect();
    for (i, path) in paths.iter().enumerate() {
        if paths[..i].contains(path) {
            continue;
        }
        let group = || paths.iter().zip(all).filter(|(other, _)| *other == path).map(|(_, result)| result);
        for metric in table {
            if let Read::Count(read) = metric.read {
                let sum: u64 = group().map(read).sum();
                out.push((format!("{path}.{}", metric.name.key), sum as f64));
            }
        }
    }
}
