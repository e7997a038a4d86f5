//! Plans for invented hosts: the routes and rules made, and those never made.

use super::conflict::conflicts;
use super::host::{Host, Reach};
use super::plan::{METRIC, Plan, priority};
use super::wanted::{WantedRouting, WantedUplink};
use crate::daemon::site::Prefix;
use crate::netlink::devices::{Address, Device, Setting};
use crate::netlink::routes::{PROTOCOL, Route, Rule, TABLE_MAIN};
use proptest::prelude::*;
use std::net::IpAddr;

const TABLE: u32 = 51_820_016;
const MARK: u32 = 0x40;
/// The index of the daemon's interface.
const OURS: u32 = 9;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn prefix(text: &str) -> Prefix {
    Prefix::parse(text).unwrap()
}

fn device(index: u32, addresses: &[&str], rp_filter: u32) -> Device {
    let address = |text: &&str| {
        let prefix = prefix(text);
        Address { own: prefix.address, network: prefix.address, prefix: prefix.length }
    };
    Device::of(index, &format!("eth{index}"), addresses.iter().map(address).collect(), rp_filter)
}

fn route(network: &str, gateway: Option<&str>, device: u32) -> Route {
    let Prefix { address: network, length: prefix } = prefix(network);
    Route {
        network,
        prefix,
        table: TABLE_MAIN,
        metric: 0,
        gateway: gateway.map(ip),
        device,
        is_throw: false,
        protocol: 3,
    }
}

fn line(device: u32, place: &str) -> WantedUplink {
    let name = format!("eth{device}");
    WantedUplink { name: name.clone(), device: Some(name), is_on: true, gateways: Vec::new(), places: vec![ip(place)] }
}

fn wanted(uplinks: Vec<WantedUplink>, behind: &[&str]) -> WantedRouting {
    WantedRouting {
        interface: "air0".to_owned(),
        index: OURS,
        addresses: vec![prefix("10.77.0.1/24")],
        behind: behind.iter().map(|text| (prefix(text), "hub".to_owned())).collect(),
        except: Vec::new(),
        uplinks,
        table: TABLE,
        mark: MARK,
    }
}

const HUB: &str = "198.51.100.7";

#[test]
fn an_uplink_that_reaches_its_peer_gets_nothing() {
    let wanted = wanted(vec![line(1, HUB)], &["10.77.0.2/32"]);
    let reach = Reach { unreached: None, is_symmetric: true };
    let host =
        Host { devices: vec![device(1, &["10.9.0.2/24"], 1)], reaches: vec![(0, true, reach)], ..Host::default() };
    let plan = Plan::new(&wanted, &host);
    let own = Route { metric: METRIC, protocol: PROTOCOL, ..route("10.77.0.2/32", None, OURS) };
    assert_eq!(plan, Plan { routes: [own].into(), ..Plan::default() });
}

#[test]
fn an_exception_ends_the_search_in_a_table_that_has_the_whole() {
    let wanted = WantedRouting {
        except: vec![prefix("10.5.0.0/16")],
        ..wanted(vec![line(1, HUB)], &["10.0.0.0/8", "10.0.0.0/24", "172.16.0.0/12"])
    };
    let plan = Plan::new(&wanted, &Host { devices: vec![device(1, &["192.0.2.2/24"], 0)], ..Host::default() });
    let found = |network: &str, is_throw: bool| {
        let network = prefix(network);
        let is_it = |route: &&Route| route.network == network.address && route.prefix == network.length;
        plan.routes.iter().find(is_it).map(|route| (route.table, route.is_throw)) == Some((TABLE, is_throw))
    };
    assert!(found("10.0.0.0/8", false) && found("10.5.0.0/16", true), "{plan:?}");
    assert!(!found("10.0.0.0/24", false) && !found("172.16.0.0/12", false), "others stay in main: {plan:?}");
    assert_eq!(plan.rules.len(), 2, "main but its default route, then our own table: {plan:?}");
}

#[test]
fn a_router_is_found_where_the_host_knows_one() {
    let unreached = Reach { unreached: Some(ip(HUB)), is_symmetric: true };
    let gateway = |devices: Vec<Device>, routes: Vec<Route>, line: WantedUplink| {
        let wanted = wanted(vec![line], &[]);
        let plan =
            Plan::new(&wanted, &Host { devices, routes, reaches: vec![(0, true, unreached)], ..Host::default() });
        let default = plan.routes.iter().find(|route| route.is_default());
        let found = default.map(|route| (route.table, route.device, route.gateway.map(|gateway| gateway.to_string())));
        assert_eq!(found.is_none(), !plan.causes.is_empty(), "it is told when none is known");
        found
    };
    let two = || vec![device(1, &["192.168.8.10/24"], 0), device(2, &["192.168.8.11/24"], 0)];
    let at = |gateway: &str| Some((TABLE + 1, 2, Some(gateway.to_owned())));
    // Another device's, in the same network; not one that is elsewhere.
    assert_eq!(gateway(two(), vec![route("0.0.0.0/0", Some("192.168.8.1"), 1)], line(2, HUB)), at("192.168.8.1"));
    assert_eq!(gateway(two(), vec![route("0.0.0.0/0", Some("192.168.9.1"), 1)], line(2, HUB)), None);
    // Its own, in whatever table; one of ours is nobody's knowledge.
    let own = Route { table: 100, metric: 700, ..route("0.0.0.0/0", Some("192.168.8.254"), 2) };
    let both = vec![route("0.0.0.0/0", Some("192.168.8.1"), 1), own];
    assert_eq!(gateway(two(), both.clone(), line(2, HUB)), at("192.168.8.254"));
    let made = Route { protocol: PROTOCOL, ..own };
    assert_eq!(gateway(two(), vec![made], line(2, HUB)), None);
    // What the file says comes first.
    let said = WantedUplink { gateways: vec![ip("192.168.8.2")], ..line(2, HUB) };
    assert_eq!(gateway(two(), both, said), at("192.168.8.2"));
    // A link with one other end needs none.
    let mut ppp = device(2, &["100.64.0.7/32"], 0);
    ppp.is_point_to_point = true;
    assert_eq!(gateway(vec![ppp], vec![], line(2, HUB)), Some((TABLE + 1, 2, None)));
}

#[test]
fn a_default_route_is_passed_over_by_our_own_sockets_only() {
    let mut unbound = line(1, HUB);
    unbound.device = None;
    let wanted = wanted(vec![unbound], &["0.0.0.0/0", "::/0"]);
    let host = Host { devices: vec![device(1, &["10.9.0.2/24"], 1)], ..Host::default() };
    let plan = Plan::new(&wanted, &host);
    assert!(plan.routes.iter().all(|route| route.table == TABLE && route.is_default()), "{plan:?}");
    for is_v4 in [true, false] {
        let rules: Vec<&Rule> = plan.rules.iter().filter(|rule| rule.is_v4 == is_v4).collect();
        let last = rules.last().unwrap();
        assert_eq!((last.table, last.mark, last.is_inverted), (TABLE, Some((MARK, 0xffff_fff0)), true));
        assert!(rules.iter().any(|rule| rule.table == TABLE_MAIN && rule.is_specific && rule.mark.is_none()));
        // IPv6 has no such filter.
        assert_eq!(rules.iter().any(|rule| rule.from == Some((ip("10.9.0.2"), 32))), is_v4);
    }
}

#[test]
fn a_prefix_around_the_endpoint_is_no_trap_either() {
    let mut unbound = line(1, HUB);
    unbound.device = None;
    let around = wanted(vec![unbound], &["198.51.100.0/24", "10.1.0.0/16"]);
    let plan = Plan::new(&around, &Host::default());
    let table_of = |text: &str| plan.routes.iter().find(|route| route.network == ip(text)).unwrap().table;
    assert_eq!((table_of("198.51.100.0"), table_of("10.1.0.0")), (TABLE, TABLE_MAIN));
    // A socket that is bound leaves by its device whatever that route says.
    let bound = Plan::new(&wanted(vec![line(1, HUB)], &["198.51.100.0/24"]), &Host::default());
    assert!(bound.rules.is_empty() && bound.routes.iter().all(|route| route.table == TABLE_MAIN));
}

#[test]
fn arp_is_set_where_two_uplinks_share_a_network_and_nowhere_else() {
    let settings = |second: &str| {
        let devices =
            vec![device(1, &["192.168.8.10/24"], 0), device(2, &[second], 0), device(3, &["192.168.8.12/24"], 0)];
        Plan::new(&wanted(vec![line(1, HUB), line(2, HUB)], &[]), &Host { devices, ..Host::default() }).settings
    };
    assert_eq!(settings("192.168.9.11/24"), []);
    let each = |index| [(index, Setting::ArpIgnore, 1), (index, Setting::ArpAnnounce, 2)];
    assert_eq!(settings("192.168.8.11/24"), [each(1), each(2)].concat());
}

#[test]
fn what_meets_the_hosts_own_is_told_and_what_does_not_is_not() {
    let told = |behind: &[&str], routes: Vec<Route>| {
        conflicts(
            &wanted(vec![line(1, HUB)], behind),
            &Host { routes, devices: vec![device(1, &[], 0)], ..Host::default() },
        )
    };
    let lan = || vec![route("192.168.1.0/24", None, 1), route("0.0.0.0/0", Some("192.168.1.254"), 1)];
    assert!(told(&["192.168.1.0/24"], lan())[0].contains("192.168.1.0/24 is the host's already (on eth1)"));
    assert!(told(&["192.168.0.0/16"], lan())[0].contains("192.168.1.0/24, in 192.168.0.0/16, stays the host's own"));
    assert!(told(&["192.168.1.128/25"], lan())[0].contains("is a part of the host's network 192.168.1.0/24"));
    for fine in ["0.0.0.0/0", "0.0.0.0/1", "10.0.0.0/8", "192.168.2.0/24", "fd00::/8"] {
        assert_eq!(told(&[fine], lan()), Vec::<String>::new(), "{fine}");
    }
    // Wherever it is that the host sends a larger network, a part of it may be behind the tunnel.
    assert!(told(&["10.1.0.0/16"], vec![route("10.0.0.0/8", Some("192.168.1.254"), 1)]).is_empty());
    let many: Vec<Route> = (0..20).map(|n| route(&format!("10.{n}.0.0/16"), None, 1)).collect();
    let listed = told(&["10.0.0.0/8"], many);
    assert_eq!((listed.len(), listed[8].as_str()), (9, "and 12 more such conflicts of routes"));
}

proptest! {
    /// Whatever is on the host: our routes and rules have our number, are behind the host's, in main by our interface
    /// only, and each is there once.
    #[test]
    fn nothing_is_made_that_could_be_taken_for_the_hosts(
        strict in 0u32..3,
        shared: bool,
        everything: bool,
        unreached: bool,
        is_symmetric: bool,
        gateway: bool,
    ) {
        let second = if shared { "192.168.8.11/24" } else { "192.168.9.11/24" };
        let devices = vec![device(1, &["192.168.8.10/24"], strict), device(2, &[second, "fd00::2/64"], strict)];
        let routes = if gateway { vec![route("0.0.0.0/0", Some("192.168.8.1"), 1)] } else { Vec::new() };
        let reach = Reach { unreached: unreached.then(|| ip(HUB)), is_symmetric };
        let reaches = vec![(0, true, reach), (1, true, reach), (1, false, reach)];
        let behind = if everything { vec!["0.0.0.0/0", "10.1.0.0/16"] } else { vec!["10.1.0.0/16"] };
        let wanted = wanted(vec![line(1, HUB), line(2, HUB)], &behind);
        let plan = Plan::new(&wanted, &Host { devices, routes, reaches, ..Host::default() });
        let (tables, first) = (TABLE..TABLE + 16, priority(TABLE));
        for route in &plan.routes {
            prop_assert_eq!((route.protocol, route.metric), (PROTOCOL, METRIC));
            prop_assert!(tables.contains(&route.table) || route.table == TABLE_MAIN && route.device == OURS);
        }
        for rule in &plan.rules {
            prop_assert!(rule.protocol == PROTOCOL && (first..first + 4).contains(&rule.priority));
            // Nobody else's packets go elsewhere, but by the route that the file asks for.
            let is_narrow = rule.mark.is_some() || rule.from.is_some();
            prop_assert!(is_narrow || rule.is_specific && rule.table == TABLE_MAIN && everything, "{:?}", rule);
        }
        let mut rules = plan.rules.clone();
        rules.dedup();
        prop_assert_eq!(rules.len(), plan.rules.len());
    }
}
