//! `[[service]]`: kinds of traffic that only some uplinks carry.

use super::{Prefix, Uplink};
use airbraid_engine::trunk::bonding::SERVICES_MAX;
use airbraid_sim::scenario::document::{self, Complaint, Data, Value, View, list, text};
use airbraid_sim::scenario::mark::code_point;
use std::ops::RangeInclusive;

/// Largest code point: six bits (RFC 2474).
const CODE_POINT_MAX: u128 = 63;

/// A kind of traffic, and the uplinks that may carry it. A packet is of it where all that is given holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub name: String,
    pub protocol: Protocol,
    /// Ports of either end; none for all.
    pub ports: Vec<RangeInclusive<u16>>,
    /// Code points; none for all.
    pub dscp: Vec<u8>,
    /// Networks of either end; none for all.
    pub networks: Vec<Prefix>,
    /// The peer to which it goes; `None` for all.
    pub peer: Option<String>,
    /// The links that may carry it, by the name that they have at either end; none for all.
    pub only: Vec<String>,
    /// Whether metered uplinks may carry it.
    pub may_be_metered: bool,
}

/// The protocol of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Any,
    Tcp,
    Udp,
}

/// Reads the tables. Where nobody comes to this end, links have the names of its own uplinks.
pub fn read(top: &View<'_>, uplinks: &[Uplink], is_come_to: bool) -> Vec<Service> {
    let mut services: Vec<Service> = Vec::new();
    for view in top.tables("service") {
        let service = service(&view);
        let is_new = services.iter().all(|other| other.name != service.name);
        view.require(is_new, "name", || format!("there are two services called `{}`", service.name), "names differ");
        let names: Vec<&str> = uplinks.iter().map(|uplink| uplink.name.as_str()).collect();
        for name in &service.only {
            let is_known = is_come_to || names.contains(&name.as_str());
            let message = || format!("there is no uplink `{name}`");
            view.require(is_known, "only", message, &format!("allowed: {}", names.join(", ")));
        }
        services.push(service);
    }
    let is_few = services.len() <= usize::from(SERVICES_MAX);
    top.require(is_few, "service", || format!("{} services are too many", services.len()), "at most 15");
    services
}

/// Refuses services of peers that are not there.
pub fn check_peers<'a>(top: &View<'_>, services: &[Service], peers: impl Iterator<Item = &'a str>) {
    let peers: Vec<&str> = peers.collect();
    for (view, service) in top.tables("service").iter().zip(services) {
        let is_known = service.peer.as_ref().is_none_or(|name| peers.contains(&name.as_str()));
        let message = || format!("there is no peer `{}`", service.peer.as_deref().unwrap_or_default());
        view.require(is_known, "peer", message, &format!("allowed: {}", peers.join(", ")));
    }
}

fn service(view: &View<'_>) -> Service {
    let protocols = [("any", Protocol::Any), ("tcp", Protocol::Tcp), ("udp", Protocol::Udp)];
    let service = Service {
        name: view.name(),
        protocol: view.choice("protocol", &protocols, Protocol::Any, ""),
        ports: view.optional("port", "all", |value| each(value, ports)).unwrap_or_default(),
        dscp: view.optional("dscp", "all", |value| each(value, dscp)).unwrap_or_default(),
        networks: view.optional("network", "all", |value| each(value, network)).unwrap_or_default(),
        peer: view.optional("peer", "all", text),
        only: view.optional("only", "all", |value| each(value, document::name)).unwrap_or_default(),
        may_be_metered: view.flag("metered", true, ""),
    };
    let is_told = ["protocol", "port", "dscp", "network", "peer"].iter().any(|key| view.find(key).is_some());
    let message = || "this is all traffic".to_owned();
    view.require(is_told, "name", message, "say of which port, dscp, network, protocol or peer its packets are");
    let is_of_use = !service.only.is_empty() || !service.may_be_metered;
    let message = || "every uplink may carry it".to_owned();
    view.require(is_of_use, "name", message, "name those that may by `only`, or write metered = false");
    view.check_keys();
    service
}

/// One value, or several.
fn each<T>(value: &Value, one: impl Fn(&Value) -> Result<T, Complaint>) -> Result<Vec<T>, Complaint> {
    let Data::List(_) = value.data else { return Ok(vec![one(value)?]) };
    let items = list(value)?;
    let refused = || Complaint::new("an empty list says nothing", "leave the key out, or write what is meant");
    if items.is_empty() { Err(refused()) } else { items.iter().map(one).collect() }
}

/// A port, or the first and the last of several.
fn ports(value: &Value) -> Result<RangeInclusive<u16>, Complaint> {
    let help = "such as 5060, or \"10000-20000\"";
    let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
    let range = match &value.data {
        Data::Text(text) => {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            port(first).zip(port(last)).filter(|(first, last)| first <= last)
        }
        _ => {
            let number = document::integer(value, u128::from(u16::MAX))? as u16;
            (number > 0).then_some((number, number))
        }
    };
    range.map(|(first, last)| first..=last).ok_or_else(|| Complaint::new("these are no ports", help))
}

/// A code point by number or name.
fn dscp(value: &Value) -> Result<u8, Complaint> {
    let Data::Text(name) = &value.data else {
        return document::integer(value, CODE_POINT_MAX).map(|number| number as u8);
    };
    let help = "a number from 0 to 63, or a name such as \"EF\", \"AF41\", \"CS1\", \"LE\"";
    let found = code_point(&name.to_ascii_lowercase());
    found.ok_or_else(|| Complaint::new(format!("`{name}` is no code point"), help))
}

fn network(value: &Value) -> Result<Prefix, Complaint> {
    let read = Prefix::parse(&text(value)?).map(|prefix| prefix.network());
    read.map_err(|why| Complaint::new(why, "such as \"198.51.100.0/24\""))
}
