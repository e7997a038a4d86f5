//! The numbers of a run that a scenario can expect something of, and their names in a summary.
//!
//! `[expect]` writes `flow.download.goodput`, the summary `flow.download.goodput_bps`: the unit is in the value there and
//! in the name here.

use super::error::Complaint;
use super::nearest::suggestion;
use super::reader::{self, quantity};
use super::spec::Spec;
use super::tree::{Data, Value};
use airbraid_units::{BitRate, Bytes, Db, Duration};

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits a second.
    BitPerSecond,
    /// Bytes.
    Byte,
    /// Seconds.
    Second,
    /// A number of packets, frames or events.
    Count,
    /// A share between 0 and 1.
    Share,
    /// A ratio of powers.
    Decibel,
}

/// A metric of one kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name in `[expect]`.
    pub name: &'static str,
    /// Its name in the summary, with the unit.
    pub key: &'static str,
    /// Its unit.
    pub unit: Unit,
}

const fn metric(name: &'static str, key: &'static str, unit: Unit) -> Metric {
    Metric { name, key, unit }
}
const fn count(name: &'static str) -> Metric {
    metric(name, name, Unit::Count)
}

/// Metrics of a flow: `flow.NAME.METRIC`.
pub const FLOW: [Metric; 22] = [
    metric("goodput", "goodput_bps", Unit::BitPerSecond),
    metric("ip_throughput", "ip_throughput_bps", Unit::BitPerSecond),
    metric("delivered", "delivered_bytes", Unit::Byte),
    count("sent_packets"),
    count("received_packets"),
    count("retransmits"),
    count("timeouts"),
    metric("rtt_mean", "rtt_mean_s", Unit::Second),
    count("retransmits_most"),
    count("out_of_order"),
    metric("idle_longest", "idle_longest_s", Unit::Second),
    metric("completion", "completion_s", Unit::Second),
    metric("on_time", "on_time", Unit::Share),
    metric("gap_longest", "gap_longest_s", Unit::Second),
    count("reordered"),
    count("reordering_extent"),
    metric("delay_min", "delay_min_s", Unit::Second),
    metric("delay_mean", "delay_mean_s", Unit::Second),
    metric("delay_std", "delay_std_s", Unit::Second),
    metric("delay_p50", "delay_p50_s", Unit::Second),
    metric("delay_p99", "delay_p99_s", Unit::Second),
    metric("delay_max", "delay_max_s", Unit::Second),
];
/// Metrics of a trunk, both directions together: `trunk.NAME.METRIC`.
pub const TRUNK: [Metric; 13] = [
    count("sent"),
    count("delivered"),
    count("late"),
    count("duplicates"),
    count("timer_expiries"),
    count("resyncs"),
    count("known_lost"),
    count("markers"),
    count("acks"),
    count("naks"),
    count("resends"),
    count("deaths"),
    count("fifo_drops"),
];
/// More metrics of one direction of a trunk: `trunk.NAME.FROM.METRIC`, FROM the sending node, and those of [`TRUNK`].
pub const TRUNK_DIRECTION: [Metric; 4] = [
    metric("blocked", "blocked_s", Unit::Second),
    metric("blocked_longest", "blocked_longest_s", Unit::Second),
    metric("resequencing_delay_mean", "resequencing_delay_mean_s", Unit::Second),
    metric("reorder_timer", "reorder_timer_s", Unit::Second),
];
/// Metrics of a trunk over links, both ends together: `tunnel.NAME.METRIC`.
pub const TUNNEL: [Metric; 9] = [
    count("offered"),
    count("delivered"),
    count("late"),
    count("duplicates"),
    count("holes"),
    count("retransmissions"),
    count("duplicated"),
    count("restored"),
    count("managed"),
];
/// More metrics of one end of it: `tunnel.NAME.FROM.METRIC`, FROM its node, and those of [`TUNNEL`].
pub const TUNNEL_END: [Metric; 1] = [metric("hold_time", "hold_time_s", Unit::Second)];
/// Metrics of what one end sends on a member: `tunnel.NAME.FROM.LINK.METRIC`, LINK the member.
pub const TUNNEL_MEMBER: [Metric; 7] = [
    metric("share", "share", Unit::Share),
    count("sent"),
    count("lost"),
    count("spurious"),
    count("suspicions"),
    metric("rate", "rate_bps", Unit::BitPerSecond),
    metric("rtt_min", "rtt_min_s", Unit::Second),
];
/// Metrics of a radio: `mac.NODE.RADIO.METRIC`.
pub const MAC: [Metric; 15] = [
    count("data_frames"),
    count("rts_frames"),
    count("retries"),
    count("retry_limit_drops"),
    count("queue_drops"),
    count("collisions"),
    count("channel_errors"),
    count("duplicates"),
    count("unanswered"),
    count("handshakes"),
    count("reverse_frames"),
    count("void_grants"),
    metric("airtime", "airtime", Unit::Share),
    metric("snr_mean", "snr_mean_db", Unit::Decibel),
    metric("snr_std", "snr_std_db", Unit::Decibel),
];
/// Metrics of what chooses among the members of one end of a trunk: `select.NAME.FROM.METRIC`, FROM its node.
pub const SELECT: [Metric; 6] = [
    count("sent"),
    count("resent"),
    count("switches"),
    count("beacons"),
    count("dropped"),
    metric("first", "first", Unit::Share),
];
/// Metrics of AODV on all nodes: `routing.METRIC`.
pub const ROUTING: [Metric; 9] = [
    count("searches"),
    count("searches_failed"),
    count("repairs"),
    count("rreq_sent"),
    count("rrep_sent"),
    count("rerr_sent"),
    count("links_broken"),
    count("messages_lost"),
    count("loops"),
];
/// Metrics of all flows and radios together: `total.METRIC`.
pub const TOTAL: [Metric; 9] = [
    metric("goodput", "goodput_bps", Unit::BitPerSecond),
    metric("ip_throughput", "ip_throughput_bps", Unit::BitPerSecond),
    metric("jain", "jain", Unit::Share),
    count("starved"),
    count("completed"),
    metric("completion_mean", "completion_mean_s", Unit::Second),
    count("data_frames"),
    count("retry_limit_drops"),
    count("collisions"),
];
/// Metrics of one direction of a link: `link.NAME.FROM.METRIC`, FROM the sending node.
pub const LINK: [Metric; 3] = [count("delivered"), count("queue_drops"), count("lost")];
/// Metrics of one end of a link with local error control: `link_layer.NODE.PEER.METRIC`; of several radios together.
pub const LINK_LAYER: [Metric; 15] = [
    count("accepted"),
    count("settled"),
    count("queue_drops"),
    count("expired"),
    count("given_up"),
    count("segments"),
    count("repetitions"),
    metric("data", "data_bytes", Unit::Byte),
    metric("coded", "coded_bytes", Unit::Byte),
    count("delivered"),
    count("duplicates"),
    count("truncated"),
    count("undecodable"),
    count("repaired"),
    count("lost"),
];
/// Metrics of a radio with virtual stations: `slots.NAME.METRIC`.
pub const SLOTS: [Metric; 7] = [
    count("switches"),
    metric("switch_mean", "switch_mean_s", Unit::Second),
    count("null_frames"),
    count("failed_nulls"),
    count("unannounced"),
    count("returned"),
    count("missed_slots"),
];
/// Metrics of one of its access points: `slots.NAME.NODE.RADIO.METRIC`.
pub const ACCESS_POINT: [Metric; 4] = [count("flows"), count("held"), count("returned"), count("buffer_drops")];
/// Metrics of a packet killer: `killer.NAME.METRIC`.
pub const KILLER: [Metric; 11] = [
    count("frames"),
    count("lost"),
    count("truncated"),
    count("corrupted"),
    count("list_packets"),
    count("list_bits"),
    metric("list_loss", "list_loss", Unit::Share),
    metric("list_truncation", "list_truncation", Unit::Share),
    metric("list_corruption", "list_corruption", Unit::Share),
    metric("list_ber", "list_ber", Unit::Share),
    count("list_wrong_bits"),
];
/// Metrics of all packets: `packets.METRIC`.
pub const PACKETS: [Metric; 4] = [count("offered"), count("delivered"), count("dropped"), count("in_flight")];

/// The metric that `path` names in a scenario, as its key in the summary and its unit.
pub(crate) fn resolve(path: &str, spec: &Spec) -> Result<(String, Unit), Complaint> {
    let segments: Vec<&str> = path.split('.').collect();
    let flows = || spec.flows.iter().map(|f| f.name.as_str());
    let trunks = || spec.trunks.iter().map(|t| t.name.as_str());
    let links = || spec.links.iter().map(|l| l.name.as_str());
    let node = |i: usize| spec.nodes.get(i).map_or("", |n| n.name.as_str());
    let tunnels = || spec.tunnels.iter().map(|t| t.name.as_str());
    let ends = |name: &str| {
        let nodes = spec.tunnels.iter().find(|t| t.name == name).map_or([usize::MAX; 2], |t| t.between);
        nodes.into_iter().map(node)
    };
    match segments[..] {
        ["flow", name, metric] => {
            named("flow", name, flows())?;
            find(path, metric, &[&FLOW])
        }
        ["trunk", name, metric] => {
            named("trunk", name, trunks())?;
            find(path, metric, &[&TRUNK])
        }
        ["trunk", name, from, metric] => {
            named("trunk", name, trunks())?;
            let ends = spec.trunks.iter().filter(|t| t.name == name).flat_map(|t| t.between);
            named("end", from, ends.map(node))?;
            find(path, metric, &[&TRUNK, &TRUNK_DIRECTION])
        }
        ["tunnel", name, metric] => {
            named("trunk over links", name, tunnels())?;
            find(path, metric, &[&TUNNEL])
        }
        ["tunnel", name, from, metric] => {
            named("trunk over links", name, tunnels())?;
            named("end", from, ends(name))?;
            find(path, metric, &[&TUNNEL, &TUNNEL_END])
        }
        ["tunnel", name, from, link, metric] => {
            named("trunk over links", name, tunnels())?;
            named("end", from, ends(name))?;
            let members = spec.tunnels.iter().filter(|t| t.name == name).flat_map(|t| &t.members);
            named("member", link, members.map(|m| spec.links.get(m.link).map_or("", |l| l.name.as_str())))?;
            find(path, metric, &[&TUNNEL_MEMBER])
        }
        ["select", name, from, metric] => {
            let chosen = || spec.trunks.iter().filter(|t| t.select.is_some());
            named("trunk with `select`", name, chosen().map(|t| t.name.as_str()))?;
            let ends = chosen().filter(|t| t.name == name).flat_map(|t| t.between);
            named("end", from, ends.map(node))?;
            find(path, metric, &[&SELECT])
        }
        ["link", name, from, metric] => {
            named("link", name, links())?;
            let ends = spec.links.iter().filter(|l| l.name == name).flat_map(|l| l.between);
            named("end", from, ends.map(node))?;
            find(path, metric, &[&LINK])
        }
        ["mac", host, radio, metric] => {
            named("node", host, spec.nodes.iter().map(|n| n.name.as_str()))?;
            let of_host = spec.nodes.iter().filter(|n| n.name == host);
            named("radio", radio, of_host.flat_map(|n| n.radios.iter().map(|r| r.name.as_str())))?;
            find(path, metric, &[&MAC])
        }
        ["link_layer", node, peer, metric] => {
            for name in [node, peer] {
                named("node", name, spec.nodes.iter().map(|n| n.name.as_str()))?;
            }
            find(path, metric, &[&LINK_LAYER])
        }
        ["slots", name, metric] => {
            named("slots", name, spec.slots.iter().map(|s| s.name.as_str()))?;
            find(path, metric, &[&SLOTS])
        }
        ["slots", name, host, radio, metric] => {
            named("slots", name, spec.slots.iter().map(|s| s.name.as_str()))?;
            let of_name = spec.slots.iter().filter(|s| s.name == name).flat_map(|s| &s.access_points);
            let points = || of_name.clone().map(|(n, r)| (node(*n), spec.nodes[*n].radios[*r].name.as_str()));
            named("access point", host, points().map(|(node, _)| node))?;
            named("radio", radio, points().filter(|(node, _)| *node == host).map(|(_, radio)| radio))?;
            find(path, metric, &[&ACCESS_POINT])
        }
        ["killer", name, metric] => {
            named("killer", name, spec.killers.iter().map(|k| k.name.as_str()))?;
            find(path, metric, &[&KILLER])
        }
        ["packets", metric] => find(path, metric, &[&PACKETS]),
        ["routing", metric] => find(path, metric, &[&ROUTING]),
        ["total", metric] => find(path, metric, &[&TOTAL]),
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

fn find(path: &str, given: &str, tables: &[&[Metric]]) -> Result<(String, Unit), Complaint> {
    let mut all = tables.iter().flat_map(|table| table.iter());
    if let Some(metric) = all.clone().find(|m| m.name == given || m.key == given) {
        let stem = &path[..path.len() - given.len()];
        return Ok((format!("{stem}{}", metric.key), metric.unit));
    }
    let names: Vec<&str> = all.by_ref().map(|m| m.name).collect();
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
    /// `x` of this unit for a person, four significant digits: `5.021 Mbit/s`.
    pub fn show(self, x: f64) -> String {
        let scaled = |table: &[(f64, &str)]| {
            let fits = table.iter().find(|(factor, _)| x.abs() >= *factor).or(table.last());
            fits.map_or_else(String::new, |(factor, unit)| format!("{} {unit}", four(x / factor)))
        };
        match self {
            Self::BitPerSecond => scaled(&[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")]),
            Self::Byte => scaled(&[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "byte")]),
            Self::Second => scaled(&[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]),
            Self::Count if x.abs() < 1e3 && x != libm::trunc(x) => format!("{x:.1}"),
            Self::Count => four(x),
            Self::Share => format!("{} %", four(x * 100.0)),
            Self::Decibel => format!("{} dB", four(x)),
        }
    }
}

/// Four significant digits, whole numbers in full.
fn four(x: f64) -> String {
    let whole = x == libm::trunc(x);
    match x.abs() {
        a if whole && a < 1e15 => format!("{x:.0}"),
        a if a >= 1e3 => format!("{x:.0}"),
        a if a >= 1e2 => format!("{x:.1}"),
        a if a >= 1e1 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}
