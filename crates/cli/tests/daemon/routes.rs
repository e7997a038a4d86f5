//! The host's routing: its own routes stay, the uplinks' routes are made, and all is restored when the daemon has gone,
//! however it went.

use crate::net::{Keys, Net, active, airbraid, text};
use crate::turns::can_run;
use airbraid_live::namespace;
use serde_json::Value;
use std::net::UdpSocket;
use std::time::Duration;

/// Everything of a host's routing and settings that a daemon may change.
fn state(net: &Net, host: &str) -> String {
    let look = [
        "ip -d route show table all",
        "ip -d -6 route show table all",
        "ip -d rule show",
        "ip -d -6 rule show",
        "sysctl -a --pattern net.ipv4.conf.*(rp_filter|arp_|src_valid_mark|forwarding)",
    ];
    let said = look.map(|words| {
        let words: Vec<&str> = words.split_whitespace().collect();
        let said = text(&net.exec(host, &words).stdout);
        // Not the daemon's interface, and no addresses of links, which come by themselves a second after these.
        let lines = said.lines().filter(|line| !line.contains("air0") && !line.contains("fe80:"));
        let mut lines: Vec<String> = lines.map(ToOwned::to_owned).collect();
        lines.sort_unstable();
        lines.join("\n")
    });
    said.join("\n\n")
}

/// Asserts that a host's routing is unchanged.
fn same(net: &Net, host: &str, before: &str, when: &str) {
    let now = state(net, host);
    let other = |these: &str, those: &str| -> Vec<String> {
        these.lines().filter(|line| !those.lines().any(|other| other == *line)).map(ToOwned::to_owned).collect()
    };
    assert!(now == before, "{when}: missing {:#?}, new {:#?}", other(before, &now), other(&now, before));
}

fn set(net: &Net, host: &str, settings: &[&str]) {
    for setting in settings {
        let done = net.exec(host, &["sysctl", "-qw", setting]);
        assert!(done.status.success(), "{setting}: {}", text(&done.stderr));
    }
}

/// Hosts near and hub, with a router between them that near's links lead to; the hub has one address, 198.51.100.7, and
/// a network behind it stands for the internet.
fn routed(test: &str, links: usize) -> Net {
    let net = Net::new(test, &["near", "router", "hub"]);
    for link in 0..links {
        let addresses = [format!("10.9.{link}.2/24"), format!("10.9.{link}.1/24")];
        net.link(&format!("l{link}"), ["near", "router"], [&addresses[0], &addresses[1]]);
    }
    beyond(&net);
    net
}

/// The hub, at its router.
fn beyond(net: &Net) {
    net.link("wan", ["hub", "router"], ["198.51.100.7/24", "198.51.100.1/24"]);
    for (host, address) in [("hub", "2001:db8:7::7/64"), ("router", "2001:db8:7::1/64")] {
        net.ip(host, &format!("addr add {address} dev wan nodad"));
    }
    set(net, "router", &["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"]);
    net.ip("hub", "route add default via 198.51.100.1");
    net.ip("hub", "route add default via 2001:db8:7::1");
    net.ip("hub", "addr add 203.0.113.1/32 dev lo");
    net.ip("hub", "addr add 2001:db8:113::1/128 dev lo nodad");
}

/// Packets that come another way than answers would go are dropped.
fn strict(net: &Net) {
    set(net, "near", &["net.ipv4.conf.all.rp_filter=1"]);
}

/// The files of near, with these uplinks and prefixes, and of the hub.
fn files(net: &Net, more: &str, uplinks: &str, endpoint: &str, allowed: &str) {
    let (near, hub) = (Keys::new(), Keys::new());
    let text = format!(
        "[interface]\naddress = [\"10.77.0.1/24\", \"fd77::1/64\"]\nprivate_key = \"{{key}}\"\n{more}{uplinks}\
         [[peer]]\nname = \"hub\"\npublic_key = \"{}\"\nendpoint = \"{endpoint}\"\nallowed = [{allowed}]\n",
        hub.public
    );
    net.site("near", &near, &text);
    let text = format!(
        "[interface]\naddress = [\"10.77.0.2/24\", \"fd77::2/64\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n\
         [[peer]]\nname = \"near\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.1/32\", \"fd77::1/128\"]\n",
        near.public
    );
    net.site("hub", &hub, &text);
}

fn uplinks(names: &[&str]) -> String {
    names.iter().map(|name| format!("[[uplink]]\nname = \"{name}\"\n")).collect()
}

fn down(net: &mut Net, host: &str) {
    let done = net.exec(host, &[env!("CARGO_BIN_EXE_airbraid"), "down", &net.daemon(host)]);
    assert!(done.status.success(), "{}\n{}", text(&done.stderr), net.logs());
    net.ended(host);
}

fn check(net: &Net, host: &str) -> String {
    let file = net.file(host).display().to_string();
    let done = net.exec(host, &[env!("CARGO_BIN_EXE_airbraid"), "up", "--check", &file]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    text(&done.stderr)
}

/// Starts near's daemon once more, when a second has begun: the other end distinguishes lives by the second of their
/// start.
fn up_again(net: &mut Net) {
    std::thread::sleep(Duration::from_millis(1_100));
    net.up("near");
}

/// After a killed daemon, `down` restores everything; and so does the next `up`, and its end.
fn leaves_nothing(net: &mut Net, before: &str) {
    net.signal("near", "-KILL");
    net.ended("near");
    let name = net.daemon("near");
    let done = net.exec("near", &[env!("CARGO_BIN_EXE_airbraid"), "down", &name]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    same(net, "near", before, "after a crash and `down`");
    net.up("near");
    net.signal("near", "-KILL");
    net.ended("near");
    net.up("near");
    down(net, "near");
    same(net, "near", before, "after a crash, `up` and `down`");
}

/// Waits until two uplinks work, both ways: an active member proves only the direction out.
fn both_work(net: &Net) -> Value {
    net.wait("near", "both uplinks send and receive", |status| {
        let uplinks = status["uplinks"].as_array().unwrap();
        active(status) == 2 && uplinks.iter().all(|uplink| uplink["received_datagrams"].as_u64() > Some(4))
    })
}

fn conflicts(status: &Value) -> String {
    status["route_conflicts"].to_string()
}

#[test]
fn the_networks_of_the_host_stay_its_own() {
    if !can_run("the_networks_of_the_host_stay_its_own") {
        return;
    }
    let mut net = Net::new("lans", &["near", "hub", "printer"]);
    net.link("l0", ["near", "hub"], ["10.9.0.1/24", "10.9.0.2/24"]);
    net.link("lan", ["near", "printer"], ["192.168.1.1/24", "192.168.1.9/24"]);
    net.link("lan2", ["near", "printer"], ["10.200.0.1/24", "192.168.2.9/24"]);
    for network in ["fd01::1/64", "fd01:1::1/64"] {
        net.ip("near", &format!("addr add {network} dev lan nodad"));
    }
    // By hand, and behind what the daemon would add without thinking.
    net.ip("near", "route add 172.20.0.0/16 via 192.168.1.9 metric 700");
    let allowed =
        "\"10.77.0.2/32\", \"192.168.1.0/24\", \"192.168.2.0/24\", \"172.20.0.0/16\", \"10.0.0.0/8\", \"fd01::/64\"";
    files(&net, "", &uplinks(&["l0"]), "10.9.0.2:5182", allowed);
    let before = state(&net, "near");
    let said = check(&net, "near");
    for conflict in ["192.168.1.0/24 is the host's already (on lan)", "fd01::/64 is the host's already (on lan)"] {
        assert!(said.contains(conflict), "{said}");
    }
    assert!(said.contains("172.20.0.0/16 is the host's already (by 192.168.1.9 on lan)"), "{said}");
    assert!(said.contains("10.9.0.0/24, in 10.0.0.0/8, stays the host's own"), "{said}");
    same(&net, "near", &before, "after a check");
    net.up("hub");
    net.up("near");
    let status = net.wait_members("near", 1);
    assert!(conflicts(&status).contains("192.168.1.0/24 is the host's already"), "{status}");
    assert!(net.logs().contains("WARN"), "{}", net.logs());
    same(&net, "near", &before, "while it is up");
    assert_eq!(net.ping("near", "192.168.1.9", 2, &[]), 2);
    assert_eq!(net.ping("near", "10.77.0.2", 2, &[]), 2);
    let way = net.ip("near", "route get 172.20.1.1");
    assert!(way.contains("dev lan"), "{way}");
    // A network that comes while the daemon is up is the host's as well, and nobody else's again when it goes.
    assert!(net.ip("near", "route get 192.168.2.9").contains("dev air0"));
    net.ip("near", "addr add 192.168.2.1/24 dev lan2");
    assert_eq!(net.ping("near", "192.168.2.9", 2, &[]), 2);
    net.wait("near", "it tells of it", |status| conflicts(status).contains("192.168.2.0/24 is the host's already"));
    net.ip("near", "addr del 192.168.2.1/24 dev lan2");
    net.wait("near", "it is over", |status| !conflicts(status).contains("192.168.2.0/24"));
    assert!(net.ip("near", "route get 192.168.2.9").contains("dev air0"));
    down(&mut net, "near");
    same(&net, "near", &before, "after `down`");
    net.up("near");
    leaves_nothing(&mut net, &before);
}

#[test]
fn everything_goes_through_the_tunnel_but_what_carries_it() {
    if !can_run("everything_goes_through_the_tunnel_but_what_carries_it") {
        return;
    }
    for is_v4 in [true, false] {
        let mut net = routed(if is_v4 { "whole4" } else { "whole6" }, 1);
        strict(&net);
        net.ip("near", "addr add 2001:db8:9::2/64 dev l0 nodad");
        net.ip("router", "addr add 2001:db8:9::1/64 dev l0 nodad");
        net.ip("near", "route add default via 10.9.0.1");
        net.ip("near", "route add default via 2001:db8:9::1");
        let endpoint = if is_v4 { "198.51.100.7:5182" } else { "[2001:db8:7::7]:5182" };
        // No uplinks: a socket for all that there is.
        files(&net, "", "", endpoint, "\"0.0.0.0/0\", \"::/0\"");
        let before = state(&net, "near");
        net.up("hub");
        net.up("near");
        let status = net.wait_members("near", 1);
        assert_eq!(conflicts(&status), "[]");
        for (internet, family) in [("203.0.113.1", "-4"), ("2001:db8:113::1", "-6")] {
            assert_eq!(net.ping("near", internet, 3, &[family]), 3, "{internet}: {}", net.logs());
            let way = net.ip("near", &format!("route get {internet}"));
            assert!(way.contains("dev air0"), "{way}");
        }
        // What is nearer than the default route goes there still, and comes back.
        assert_eq!(net.ping("near", "10.9.0.1", 2, &[]), 2);
        assert_eq!(net.status("near").unwrap()["peers"][0]["up"], true);
        // Another file without it, and the first one again.
        let whole = std::fs::read_to_string(net.file("near")).unwrap();
        std::fs::write(net.file("near"), whole.replace("\"0.0.0.0/0\", \"::/0\"", "\"10.77.0.2/32\"")).unwrap();
        let done = airbraid(&["reload", &net.daemon("near")]);
        assert!(text(&done.stdout).contains("no route 0.0.0.0/0, no route ::/0"), "{}", text(&done.stdout));
        same(&net, "near", &before, "after a reload");
        std::fs::write(net.file("near"), whole).unwrap();
        airbraid(&["reload", &net.daemon("near")]);
        assert_eq!(net.ping("near", "203.0.113.1", 3, &[]), 3, "{}", net.logs());
        down(&mut net, "near");
        same(&net, "near", &before, "after `down`");
        up_again(&mut net);
        net.wait_members("near", 1);
        leaves_nothing(&mut net, &before);
    }
}

/// Answers every question for an IPv4 address with one, from an address of a host, as long as the test takes.
fn name_server(net: &Net, host: &str, at: &str, address: [u8; 4]) -> std::thread::JoinHandle<()> {
    let socket = namespace::inside(&net.namespace(host), || UdpSocket::bind(at)).unwrap().unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let life = move || {
        let mut room = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut room) {
            let question = &room[..length];
            // An answer, without error; one answer to a question for an address of IPv4 (type 1), none to others.
            let is_v4 = question[length - 3] == 1;
            let head = [&question[..2], &[0x81, 0x80, 0, 1, 0, u8::from(is_v4), 0, 0, 0, 0], &question[12..]].concat();
            let record = [&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4], &address[..]].concat();
            let answer = if is_v4 { [head, record].concat() } else { head };
            socket.send_to(&answer, from).unwrap();
        }
    };
    std::thread::Builder::new().spawn(life).unwrap()
}

#[test]
fn the_name_of_the_hub_is_looked_up_beside_the_tunnel() {
    if !can_run("the_name_of_the_hub_is_looked_up_beside_the_tunnel") {
        return;
    }
    let mut net = routed("beside", 1);
    net.ip("near", "route add default via 10.9.0.1");
    net.ip("router", "addr add 198.51.100.53/32 dev lo");
    name_server(&net, "router", "198.51.100.53:53", [198, 51, 100, 7]);
    let own = std::path::Path::new("/etc/netns").join(net.namespace("near"));
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("resolv.conf"), "nameserver 198.51.100.53\n").unwrap();
    // Everything goes through the tunnel, and its own name server is behind it; neither is there before the hub is
    // found.
    files(&net, "dns = [\"10.77.0.53\"]\n", "", "hub.example:5182", "\"0.0.0.0/0\"");
    net.up("near");
    net.up("hub");
    net.wait_members("near", 1);
    assert_eq!(net.ping("near", "203.0.113.1", 3, &[]), 3, "{}", net.logs());
}

#[test]
fn a_default_route_goes_with_uplinks_too() {
    if !can_run("a_default_route_goes_with_uplinks_too") {
        return;
    }
    let mut net = routed("wholeup", 2);
    strict(&net);
    net.ip("near", "route add default via 10.9.0.1 metric 100");
    net.ip("near", "route add default via 10.9.1.1 metric 600");
    files(&net, "", &uplinks(&["l0", "l1"]), "198.51.100.7:5182", "\"0.0.0.0/0\"");
    let before = state(&net, "near");
    net.up("hub");
    net.up("near");
    both_work(&net);
    assert_eq!(net.ping("near", "203.0.113.1", 3, &[]), 3, "{}", net.logs());
    down(&mut net, "near");
    same(&net, "near", &before, "after `down`");
}

#[test]
fn two_uplinks_at_one_router_with_one_default_route() {
    if !can_run("two_uplinks_at_one_router_with_one_default_route") {
        return;
    }
    let mut net = routed("router", 2);
    strict(&net);
    net.ip("near", "route add default via 10.9.0.1");
    files(&net, "", &uplinks(&["l0", "l1"]), "198.51.100.7:5182", "\"10.77.0.2/32\"");
    let before = state(&net, "near");
    let said = check(&net, "near");
    assert!(said.contains("uplink l1: no route to 198.51.100.7 by l1, and no router is known there"), "{said}");
    net.up("hub");
    net.up("near");
    // Nothing says where the router of the second is: that is told, with what to do.
    let status = net.wait_members("near", 1);
    assert_eq!(status["uplinks"][1]["cause"], "no-route");
    let remedy = status["uplinks"][1]["remedy"].as_str().unwrap();
    assert!(remedy.contains("give [[uplink]] l1 its `gateway"), "{status}");
    assert_eq!(status["uplinks"][0]["cause"], Value::Null);
    let shown = text(&airbraid(&["status", &net.daemon("near")]).stdout);
    assert!(shown.contains("l1: no-route: no route to 198.51.100.7"), "{shown}");
    // The file says it.
    let file = net.file("near");
    let read = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, read.replace("name = \"l1\"\n", "name = \"l1\"\ngateway = \"10.9.1.1\"\n")).unwrap();
    let done = airbraid(&["reload", &net.daemon("near")]);
    assert!(text(&done.stdout).contains("uplink l1"), "{}", text(&done.stderr));
    let status = both_work(&net);
    assert_eq!(status["uplinks"][1]["cause"], Value::Null);
    // Another address: what was made for the old one goes.
    net.ip("near", "addr add 10.9.1.77/25 dev l1");
    net.ip("near", "addr del 10.9.1.2/24 dev l1");
    net.wait("hub", "the new address is known", |status| status.to_string().contains("10.9.1.77:"));
    both_work(&net);
    let rules = |net: &Net| net.ip("near", "rule show");
    net.wait("near", "the rules are for it", |_| {
        rules(&net).contains("from 10.9.1.77 ") && !rules(&net).contains("from 10.9.1.2 ")
    });
    net.ip("near", "addr add 10.9.1.2/24 dev l1");
    net.ip("near", "addr del 10.9.1.77/25 dev l1");
    down(&mut net, "near");
    same(&net, "near", &before, "after `down`");
    up_again(&mut net);
    both_work(&net);
    leaves_nothing(&mut net, &before);
}

#[test]
fn a_default_route_further_behind_is_enough() {
    if !can_run("a_default_route_further_behind_is_enough") {
        return;
    }
    let mut net = routed("behind", 2);
    strict(&net);
    net.ip("near", "route add default via 10.9.0.1");
    files(&net, "", &uplinks(&["l0", "l1"]), "198.51.100.7:5182", "\"10.77.0.2/32\"");
    net.up("hub");
    net.up("near");
    net.wait_members("near", 1);
    // It comes later, as by DHCP. Without a strict filter it alone would do; what comes in by it needs a way back.
    net.ip("near", "route add default via 10.9.1.1 dev l1 metric 700");
    both_work(&net);
    net.wait("near", "nothing is missing", |status| status["uplinks"][1]["cause"] == Value::Null);
    set(&net, "near", &["net.ipv4.conf.l1.rp_filter=2"]);
    net.ip("near", "route del default via 10.9.1.1 dev l1 metric 700");
    net.wait("near", "it is missing again", |status| status["uplinks"][1]["cause"] != Value::Null);
}

#[test]
fn who_has_routing_of_his_own_keeps_it_as_it_is() {
    if !can_run("who_has_routing_of_his_own_keeps_it_as_it_is") {
        return;
    }
    let mut net = routed("policy", 2);
    strict(&net);
    net.ip("near", "route add default via 10.9.0.1");
    net.ip("near", "route add default via 10.9.1.1 dev l1 table 100");
    net.ip("near", "route add 10.9.1.0/24 dev l1 table 100");
    net.ip("near", "rule add oif l1 lookup 100");
    net.ip("near", "rule add from 10.9.1.2 lookup 100");
    files(&net, "", &uplinks(&["l0", "l1"]), "198.51.100.7:5182", "\"10.77.0.2/32\"");
    let before = state(&net, "near");
    net.up("hub");
    net.up("near");
    both_work(&net);
    same(&net, "near", &before, "while it is up");
    down(&mut net, "near");
    same(&net, "near", &before, "after `down`");
}

#[test]
fn two_uplinks_in_one_network() {
    if !can_run("two_uplinks_in_one_network") {
        return;
    }
    let mut net = Net::new("shared", &["near", "router", "hub"]);
    net.ip("router", "link add home type bridge");
    net.ip("router", "addr add 192.168.8.1/24 dev home");
    net.ip("router", "link set home up");
    let devices = ["l0", "l1"];
    for (link, device) in devices.into_iter().enumerate() {
        let namespaces = [net.namespace("near"), net.namespace("router")];
        let make =
            format!("link add {device} netns {} type veth peer name {device} netns {}", namespaces[0], namespaces[1]);
        net.ip("near", &make);
        net.ip("router", &format!("link set {device} master home up"));
        net.ip("near", &format!("addr add 192.168.8.1{link}/24 dev {device}"));
        net.ip("near", &format!("link set {device} up"));
    }
    beyond(&net);
    strict(&net);
    net.ip("near", "route add default via 192.168.8.1 dev l0");
    files(&net, "", &uplinks(&devices), "198.51.100.7:5182", "\"10.77.0.2/32\"");
    // The neighbours are known from before, by whichever answered first.
    net.exec("router", &["ping", "-c", "1", "-W", "1", "192.168.8.11"]);
    let before = state(&net, "near");
    net.up("hub");
    net.up("near");
    both_work(&net);
    net.ip("router", "neigh flush dev home");
    assert_eq!(net.ping("near", "10.77.0.2", 10, &[]), 10);
    let status = both_work(&net);
    assert!(status["uplinks"].as_array().unwrap().iter().all(|uplink| uplink["cause"] == Value::Null), "{status}");
    // Each address is found where it is, again and again.
    for (device, address) in devices.into_iter().zip(["192.168.8.10", "192.168.8.11"]) {
        let mac = net.ip("near", &format!("-br link show {device}"));
        let mac = mac.split_whitespace().nth(2).unwrap().to_owned();
        for _ in 0..5 {
            net.ip("router", "neigh flush dev home");
            net.exec("router", &["ping", "-c", "1", "-W", "1", address]);
            let known = net.ip("router", &format!("neigh show {address}"));
            assert!(known.contains(&mac), "{known} {mac}");
        }
    }
    down(&mut net, "near");
    same(&net, "near", &before, "after `down`");
    up_again(&mut net);
    both_work(&net);
    leaves_nothing(&mut net, &before);
}

#[test]
fn rules_and_tables_of_others_are_not_mixed_up() {
    if !can_run("rules_and_tables_of_others_are_not_mixed_up") {
        return;
    }
    let mut net = routed("others", 1);
    net.ip("near", "route add default via 10.9.0.1");
    // As wg-quick leaves it; and somebody who has taken the number that the file gives.
    net.ip("near", "link add other type veth peer name rehto");
    net.ip("near", "link set other up");
    net.ip("near", "route add default dev other table 51820");
    net.ip("near", "rule add not fwmark 51820 lookup 51820");
    net.ip("near", "rule add lookup main suppress_prefixlength 0");
    net.ip("near", "rule add fwmark 0x4000/0xff00 lookup 77");
    net.ip("near", "route add 10.66.0.0/16 dev other table 7000");
    let more = "table = 7000\nmark = 0x4000\n";
    files(&net, more, "", "198.51.100.7:5182", "\"0.0.0.0/0\"");
    let before = state(&net, "near");
    let said = check(&net, "near");
    assert!(said.contains("the routing table 7000 has a route of somebody else's (10.66.0.0/16 on other)"), "{said}");
    assert!(said.contains("mark 0x4000/0xff00"), "{said}");
    let file = net.file("near");
    let read = std::fs::read_to_string(&file).unwrap().replace(more, "");
    std::fs::write(&file, read).unwrap();
    assert_eq!(check(&net, "near"), "");
    net.ip("near", "rule add priority 100 lookup 51820");
    net.up("hub");
    net.up("near");
    net.wait("near", "it tells that another comes first", |status| {
        conflicts(status).contains("is not the one that counts: what goes to 192.0.2.1 goes by other")
    });
    net.ip("near", "rule del priority 100");
    net.wait("near", "it is over", |status| conflicts(status) == "[]");
    down(&mut net, "near");
    same(&net, "near", &before, "after `down`");
}
