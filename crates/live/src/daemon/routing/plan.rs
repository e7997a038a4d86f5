//! The changes that make the wanted routing on a host: routes, rules, settings; and the missing conditions. It reads
//! and changes nothing outside.
//!
//! The rules, in the order in which the kernel asks them:
//!
//! | priority | packets | table |
//! |---|---|---|
//! | first | from an uplink's address (where `rp_filter` is strict) | the uplink's, but its default route |
//! | second | all, if there is a table of our own; else those of an uplink with a table | main, but its default route |
//! | third | of an uplink's sockets, by mark, and from its address | the uplink's |
//! | fourth | all but those of our sockets | our own; an exception ends the search there |

use super::host::{Host, Reach, Router};
use super::network_of;
use super::wanted::{RANGE, WantedRouting, WantedUplink};
use crate::daemon::site::Prefix;
use crate::netlink::devices::{Device, Setting};
use crate::netlink::routes::{PROTOCOL, Route, Rule, TABLE_MAIN};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Metric of our routes: above those of others (NetworkManager 50 to 20,700, dhcpcd 200 to 4,000, the kernel's IPv6 256
/// and 1,024), so that of equal prefixes the host's counts, and a later one, too.
pub const METRIC: u32 = 100_000;
/// Priority of our rules: before those that others add without a priority (32,765 downwards), and behind those that the
/// user has put first.
const PRIORITIES: u32 = 20_000;
/// Number of a daemon's rules with different priority.
pub const STEPS: u32 = 4;
/// The mask that identifies our sockets' packets.
const MASK: u32 = !(RANGE - 1);

/// The changes to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub routes: BTreeSet<Route>,
    pub rules: Vec<Rule>,
    /// Settings of devices, by index.
    pub settings: Vec<(u32, Setting, u32)>,
    /// Uplinks that cannot work, by index, with the reason.
    pub causes: Vec<(usize, String)>,
}

/// The first of a daemon's priorities.
pub const fn priority(table: u32) -> u32 {
    PRIORITIES + STEPS * (table / RANGE % 2_048)
}

impl Plan {
    /// The changes to make on this host.
    pub fn new(wanted: &WantedRouting, host: &Host) -> Self {
        let mut plan = Self::default();
        for prefix in wanted.prefixes() {
            let table = if wanted.is_around_us(&prefix) { wanted.table } else { TABLE_MAIN };
            plan.routes.insert(route(&prefix, table, wanted.index, None));
        }
        // The search goes on in main, where the host's default route is.
        for prefix in &wanted.except {
            plan.routes.insert(Route { is_throw: true, ..route(prefix, wanted.table, 0, None) });
        }
        for is_v4 in [true, false] {
            if wanted.has_own_table(is_v4) {
                plan.send_all_but_ours(wanted, host, is_v4);
            }
        }
        for (place, is_v4, reach) in &host.reaches {
            plan.serve(wanted, host, *place, *is_v4, reach);
        }
        plan.separate(wanted, host);
        plan.rules.sort_unstable();
        plan.rules.dedup();
        plan
    }

    /// Sends everything without a nearer route by our own table, but our sockets' packets.
    fn send_all_but_ours(&mut self, wanted: &WantedRouting, host: &Host, is_v4: bool) {
        let rule = |step| rule(wanted, is_v4, step);
        self.rules.push(Rule { table: TABLE_MAIN, is_specific: true, ..rule(1) });
        let mark = Some((wanted.mark, MASK));
        self.rules.push(Rule { table: wanted.table, mark, is_inverted: true, ..rule(3) });
        // What comes for a socket without a device has no mark: the way back is found by the address that it came for.
        let is_unbound = wanted.uplinks.iter().any(|line| line.device.is_none());
        let others = host.devices.iter().filter(|device| device.index != wanted.index && device.name != "lo");
        let strict = others.filter(|device| is_v4 && is_unbound && host.is_strict(device));
        for address in strict.flat_map(|device| &device.addresses).filter(|address| address.own.is_ipv4()) {
            self.rules.push(Rule { table: TABLE_MAIN, from: Some((address.own, 32)), ..rule(2) });
        }
    }

    /// Makes the routes that an uplink lacks to reach its peers.
    fn serve(&mut self, wanted: &WantedRouting, host: &Host, place: usize, is_v4: bool, reach: &Reach) {
        let line = &wanted.uplinks[place];
        let Some(device) = host.device_of(line) else { return };
        let needs_way_back = is_v4 && host.is_strict(device) && (wanted.has_own_table(is_v4) || !reach.is_symmetric);
        if reach.unreached.is_none() && !needs_way_back {
            return;
        }
        let router = host.router(line, device, is_v4);
        if let (Some(place_of_peer), None) = (reach.unreached, router) {
            self.causes.push((place, no_router(line, device, place_of_peer)));
            return;
        }
        self.routes_of(wanted.table_of(place), device, router, is_v4);
        let rule = |step| rule(wanted, is_v4, step);
        if !wanted.has_own_table(is_v4) {
            self.rules.push(Rule { table: TABLE_MAIN, mark: Some((wanted.mark, MASK)), is_specific: true, ..rule(1) });
        }
        let table = wanted.table_of(place);
        self.rules.push(Rule { table, mark: Some((wanted.mark_of(place), u32::MAX)), ..rule(2) });
        let own = device.addresses.iter().filter(|address| needs_way_back && address.own.is_ipv4());
        for from in own.map(|address| Some((address.own, 32))) {
            self.rules.push(Rule { table, from, is_specific: true, ..rule(0) });
            if !wanted.has_own_table(is_v4) {
                self.rules.push(Rule { table: TABLE_MAIN, from, is_specific: true, ..rule(1) });
            }
            self.rules.push(Rule { table, from, ..rule(2) });
        }
    }

    /// The routes in an uplink's table: its networks, and its router for everything else.
    fn routes_of(&mut self, table: u32, device: &Device, router: Option<Router>, is_v4: bool) {
        let of_family = device.addresses.iter().filter(|address| address.own.is_ipv4() == is_v4);
        for network in of_family.map(network_of) {
            self.routes.insert(route(&network, table, device.index, None));
        }
        let any: IpAddr = if is_v4 { [0; 4].into() } else { [0; 16].into() };
        if let Some(router) = router {
            let everywhere = Prefix { address: any, length: 0 };
            self.routes.insert(route(&everywhere, table, device.index, router.address()));
        }
    }

    /// Two uplinks in one network: each answers ARP for its own addresses only, so that packets for one do not arrive
    /// on the other, whose sockets would not get them.
    fn separate(&mut self, wanted: &WantedRouting, host: &Host) {
        let devices: Vec<&Device> = wanted.uplinks.iter().filter_map(|line| host.device_of(line)).collect();
        for device in &devices {
            if devices.iter().any(|other| host.shares_network(device, other.index, true)) {
                self.settings.push((device.index, Setting::ArpIgnore, 1));
                self.settings.push((device.index, Setting::ArpAnnounce, 2));
            }
        }
    }
}

fn route(prefix: &Prefix, table: u32, device: u32, gateway: Option<IpAddr>) -> Route {
    let Prefix { address: network, length: prefix } = prefix.network();
    Route { network, prefix, table, metric: METRIC, gateway, device, is_throw: false, protocol: PROTOCOL }
}

const fn rule(wanted: &WantedRouting, is_v4: bool, step: u32) -> Rule {
    Rule {
        is_v4,
        priority: priority(wanted.table) + step,
        table: 0,
        mark: None,
        is_inverted: false,
        from: None,
        is_specific: false,
        protocol: PROTOCOL,
        is_narrower: false,
    }
}

fn no_router(line: &WantedUplink, device: &Device, to: IpAddr) -> String {
    let (name, device) = (&line.name, &device.name);
    let any = if to.is_ipv4() { "" } else { "-6 " };
    let anywhere = super::wanted::ANYWHERE.contains(&to);
    let to = if anywhere { "anywhere".to_owned() } else { to.to_string() };
    format!(
        "no route to {to} by {device}, and no router is known there: give [[uplink]] {name} its `gateway = \"...\"`, or \
         the host a route: ip {any}route add default via ROUTER dev {device} metric 1000"
    )
}
