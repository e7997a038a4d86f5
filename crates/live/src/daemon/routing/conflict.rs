//! Conflicts of the wanted routing with the host's: the host's routes and addresses stay, and the conflict is reported.

use super::host::Host;
use super::plan::priority;
use super::wanted::{RANGE, WantedRouting};
use crate::daemon::site::Prefix;
use crate::netlink::routes::{PROTOCOL, Route, Rule};
use std::collections::BTreeSet;

/// Largest number of conflicts that are listed one by one.
const LISTED: usize = 8;
/// Prefixes shorter than this are meant for everything without a route of its own: other routes are no conflict.
const EVERYTHING: u8 = 1;

/// The conflicts, a line each.
pub fn conflicts(wanted: &WantedRouting, host: &Host) -> Vec<String> {
    let mut said = BTreeSet::new();
    said.extend(addresses(wanted, host));
    // Once: of a hub's thousands of routes nearly all are its own.
    let others: Vec<&Route> = host.routes_of_others(wanted).filter(|route| route.protocol != PROTOCOL).collect();
    let networks = wanted.addresses.iter().map(|prefix| (prefix.network(), "[interface] address".to_owned()));
    let behind = wanted.behind.iter().map(|(prefix, peer)| (*prefix, format!("peer {peer}")));
    for (prefix, whose) in networks.chain(behind) {
        said.extend(meets(wanted, host, &others, &prefix, &whose));
    }
    said.extend(tables(wanted, host));
    said.extend(marks(wanted, host));
    let more = said.len().saturating_sub(LISTED);
    let mut listed: Vec<String> = said.into_iter().take(LISTED).collect();
    if more > 0 {
        listed.push(format!("and {more} more such conflicts of routes"));
    }
    listed
}

/// Addresses that another device has.
fn addresses(wanted: &WantedRouting, host: &Host) -> Vec<String> {
    let others = host.devices.iter().filter(|device| device.name != wanted.interface);
    let has = others.flat_map(|device| device.addresses.iter().map(move |address| (device, address.own)));
    let same = has.filter(|(_, own)| wanted.addresses.iter().any(|prefix| prefix.address == *own));
    same.map(|(device, own)| {
        format!("[interface] address {own} is an address of {} already: give this end another one", device.name)
    })
    .collect()
}

/// The host's own routes that equal one of ours, lie in it, or contain it.
fn meets(wanted: &WantedRouting, host: &Host, others: &[&Route], prefix: &Prefix, whose: &str) -> Vec<String> {
    let mut said = Vec::new();
    for route in others {
        let theirs = Prefix { address: route.network, length: route.prefix };
        let of_family = theirs.address.is_ipv4() == prefix.address.is_ipv4();
        if !of_family || theirs.length == 0 || prefix.length <= EVERYTHING || is_of_link(&theirs) {
            continue;
        }
        let by = by(host, route);
        if theirs == *prefix {
            said.push(format!(
                "{whose}: {prefix} is the host's already ({by}): the host's route stays, and nothing goes there through {}: \
                 use another prefix at one of the two sites, translate one (nftables: `snat prefix`, `dnat prefix`), or list \
                 longer prefixes in `allowed`",
                wanted.interface
            ));
        } else if theirs.length > prefix.length && prefix.contains(theirs.address) {
            said.push(format!("{whose}: {theirs}, in {prefix}, stays the host's own ({by})"));
        } else if theirs.length < prefix.length && route.gateway.is_none() && theirs.contains(prefix.address) {
            said.push(format!(
                "{whose}: {prefix} is a part of the host's network {theirs} ({by}): what goes to this part goes through {}; \
                 if that is not meant, take it out of `allowed`",
                wanted.interface
            ));
        }
    }
    said
}

/// Every device has a network of this prefix.
fn is_of_link(prefix: &Prefix) -> bool {
    Prefix { address: [0xfe80, 0, 0, 0, 0, 0, 0, 0].into(), length: 10 }.contains(prefix.address)
}

fn by(host: &Host, route: &Route) -> String {
    match (route.device, route.gateway) {
        (0, _) => "refused by a route".to_owned(),
        (device, None) => format!("on {}", host.name_of(device)),
        (device, Some(gateway)) => format!("by {gateway} on {}", host.name_of(device)),
    }
}

/// Tables of ours that others use.
fn tables(wanted: &WantedRouting, host: &Host) -> Option<String> {
    let ours = wanted.table..wanted.table + RANGE;
    let is_theirs = |route: &&Route| ours.contains(&route.table) && route.protocol != PROTOCOL;
    let theirs = host.routes.iter().find(is_theirs)?;
    let prefix = Prefix { address: theirs.network, length: theirs.prefix };
    Some(format!(
        "the routing table {} has a route of somebody else's ({prefix} {}): give [interface] another `table`",
        theirs.table,
        by(host, theirs)
    ))
}

/// Rules of others that catch our sockets' packets.
fn marks(wanted: &WantedRouting, host: &Host) -> Option<String> {
    let own = priority(wanted.table);
    let takes = |(mark, mask): (u32, u32)| mark != 0 && (0..RANGE).any(|own| (wanted.mark | own) & mask == mark);
    let is_theirs = |rule: &&Rule| rule.protocol != PROTOCOL && !rule.is_inverted && rule.mark.is_some_and(takes);
    let theirs = host.rules.iter().find(is_theirs)?;
    let (mark, mask) = theirs.mark?;
    let order = if theirs.priority < own { "before" } else { "behind" };
    Some(format!(
        "the rule of priority {} is for packets with the mark {mark:#x}/{mask:#x}, which this daemon's sockets have, too \
         ({order} its own rules): give [interface] another `mark`",
        theirs.priority
    ))
}
