//! The meaning of a metric's path in `[expect]`, and the form of its values.

use super::error::Complaint;
use super::nearest::suggestion;
use super::reader::{self, quantity};
use super::spec::Spec;
use super::tree::{Data, Value};
use crate::metric::table::{
    ACCESS_POINT, FLOW, KILLER, LINK, LINK_LAYER, MAC, PACKETS, ROUTING, SELECT, SLOTS, TOTAL, TRUNK, TRUNK_DIRECTION,
    TUNNEL, TUNNEL_END, TUNNEL_MEMBER,
};
use crate::metric::{Name, Unit, names};
use airbraid_units::{BitRate, Bytes, Db, Duration};

/// The metric that `path` names in a scenario, as its key in the summary and its unit.
pub(crate) fn resolve(path: &str, spec: &Spec) -> Result<(String, Unit), Complaint> {
    let segments: Vec<&str> = path.split('.').collect();
    let flows = || spec.flows.iter().map(|f| f.name.as_str());
    let trunks = || spec.radio_trunks().map(|t| t.name.as_str());
    let links = || spec.links.iter().map(|l| l.name.as_str());
    let node = |i: usize| spec.nodes.get(i).map_or("", |n| n.name.as_str());
    let tunnels = || spec.link_trunks().map(|t| t.name.as_str());
    let ends = |name: &str| {
        let nodes = spec.link_trunks().find(|t| t.name == name).map_or([usize::MAX; 2], |t| t.between);
        nodes.into_iter().map(node)
    };
    match segments[..] {
        ["flow", name, metric] => {
            named("flow", name, flows())?;
            find(path, metric, [names(&FLOW)])
        }
        ["trunk", name, metric] => {
            named("trunk", name, trunks())?;
            find(path, metric, [names(&TRUNK)])
        }
        ["trunk", name, from, metric] => {
            named("trunk", name, trunks())?;
            let ends = spec.radio_trunks().filter(|t| t.name == name).flat_map(|t| t.between);
            named("end", from, ends.map(node))?;
            find(path, metric, [names(&TRUNK), names(&TRUNK_DIRECTION)])
        }
        ["tunnel", name, metric] => {
            named("trunk over links", name, tunnels())?;
            find(path, metric, [names(&TUNNEL)])
        }
        ["tunnel", name, from, metric] => {
            named("trunk over links", name, tunnels())?;
            named("end", from, ends(name))?;
            find(path, metric, [names(&TUNNEL), names(&TUNNEL_END)])
        }
        ["tunnel", name, from, link, metric] => {
            named("trunk over links", name, tunnels())?;
            named("end", from, ends(name))?;
            let members = spec.link_trunks().filter(|t| t.name == name).flat_map(|t| &t.members);
            named("member", link, members.map(|m| spec.links.get(m.link).map_or("", |l| l.name.as_str())))?;
            find(path, metric, [names(&TUNNEL_MEMBER)])
        }
        ["select", name, from, metric] => {
            let chosen = || spec.radio_trunks().filter(|t| t.select.is_some());
            named("trunk with `select`", name, chosen().map(|t| t.name.as_str()))?;
            let ends = chosen().filter(|t| t.name == name).flat_map(|t| t.between);
            named("end", from, ends.map(node))?;
            find(path, metric, [names(&SELECT)])
        }
        ["link", name, from, metric] => {
            named("link", name, links())?;
            let ends = spec.links.iter().filter(|l| l.name == name).flat_map(|l| l.between);
            named("end", from, ends.map(node))?;
            find(path, metric, [names(&LINK)])
        }
        ["mac", host, radio, metric] => {
            named("node", host, spec.nodes.iter().map(|n| n.name.as_str()))?;
            let of_host = spec.nodes.iter().filter(|n| n.name == host);
            named("radio", radio, of_host.flat_map(|n| n.radios.iter().map(|r| r.name.as_str())))?;
            find(path, metric, [names(&MAC)])
        }
        ["link_layer", node, peer, metric] => {
            for name in [node, peer] {
                named("node", name, spec.nodes.iter().map(|n| n.name.as_str()))?;
            }
            find(path, metric, [names(&LINK_LAYER)])
        }
        ["slots", name, metric] => {
            named("slots", name, spec.slots.iter().map(|s| s.name.as_str()))?;
            find(path, metric, [names(&SLOTS)])
        }
        ["slots", name, host, radio, metric] => {
            named("slots", name, spec.slots.iter().map(|s| s.name.as_str()))?;
            let of_name = spec.slots.iter().filter(|s| s.name == name).flat_map(|s| &s.access_points);
            let points = || of_name.clone().map(|(n, r)| (node(*n), spec.nodes[*n].radios[*r].name.as_str()));
            named("access point", host, points().map(|(node, _)| node))?;
            named("radio", radio, points().filter(|(node, _)| *node == host).map(|(_, radio)| radio))?;
            find(path, metric, [names(&ACCESS_POINT)])
        }
        ["killer", name, metric] => {
            named("killer", name, spec.killers.iter().map(|k| k.name.as_str()))?;
            find(path, metric, [names(&KILLER)])
        }
        ["packets", metric] => find(path, metric, [names(&PACKETS)]),
        ["routing", metric] => find(path, metric, [names(&ROUTING)]),
        ["total", metric] => find(path, metric, [names(&TOTAL)]),
        // Which reasons there are is for the run to say; one that did not occur counts 0.
        ["drops", reason] if !reason.is_empty() => Ok((path.to_owned(), Unit::Count)),
        _ => {
            let help = "flow.NAME.METRIC, trunk.NAME.METRIC, trunk.NAME.FROM.METRIC, tunnel.NAME.METRIC, tunnel.NAME.FROM.METRIC, \
                        tunnel.NAME.FROM.LINK.METRIC, select.NAME.FROM.METRIC, link.NAME.FROM.METRIC, \
                        mac.NODE.RADIO.METRIC, link_layer.NODE.PEER.METRIC, slots.NAME.METRIC, slots.NAME.NODE.RADIO.METRIC, killer.NAME.METRIC, packets.METRIC, routing.METRIC, total.METRIC, \
                        drops.REASON";
            Err(Complaint::new(format!("`{path}` is no metric"), format!("metrics are {help}")))
        }
    }
}

fn named<'a>(what: &str, given: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Complaint> {
    let names: Vec<&str> = names.collect();
    if names.contains(&given) {
        return Ok(());
    }
    let shown = &names[..names.len().min(50)];
    Err(Complaint::new(format!("no {what} is called `{given}`"), suggestion(given, shown)))
}

fn find<const N: usize>(path: &str, given: &str, tables: [Vec<Name>; N]) -> Result<(String, Unit), Complaint> {
    let all = tables.concat();
    if let Some(metric) = all.iter().find(|m| m.name == given || m.key == given) {
        let stem = &path[..path.len() - given.len()];
        return Ok((format!("{stem}{}", metric.key), metric.unit));
    }
    let names: Vec<&str> = all.iter().map(|m| m.name).collect();
    Err(Complaint::new(format!("`{given}` is no metric here"), suggestion(given, &names)))
}

impl Unit {
    /// Reads a value of this unit: a quantity with its unit, or a bare number for counts and shares.
    pub(crate) fn read(self, value: &Value) -> Result<f64, Complaint> {
        match self {
            Self::BitPerSecond => quantity::<BitRate>(value).map(|rate| rate.as_bps() as f64),
            Self::Byte => quantity::<Bytes>(value).map(|size| size.as_u64() as f64),
            Self::Second => quantity::<Duration>(value).map(Duration::as_secs_f64),
            Self::Count => reader::number(value),
            Self::Share if matches!(value.data, Data::Text(_)) => reader::probability(value).map(|p| p.get()),
            Self::Share => reader::number(value),
            Self::Decibel => quantity::<Db>(value).map(|ratio| ratio.0),
        }
    }
}
