//! Two ends behind address translators that cannot reach each other directly: the help of a hub that both reach.

use crate::net::{Keys, Net, text};
use crate::turns::can_run;
use serde_json::Value;
use std::time::Duration;

/// A translator that takes the client's own port where it is free, and one that takes another for each destination.
const KEEPS: &str = "masquerade";
const CHANGES: &str = "masquerade random,fully-random";
/// One of the first kind that silently drops uninvited packets, as most do; the others report a closed port.
const GUARDS: &str = "masquerade; }; chain i { type filter hook input priority 0; iifname \"out*\" ct state new drop";

/// Runs `nft` with a file in a host.
fn nft(net: &Net, host: &str, rules: &str) {
    let file = net.folder.join(format!("{host}.nft"));
    std::fs::write(&file, rules).unwrap();
    let done = net.exec(host, &["nft", "-f", &file.display().to_string()]);
    assert!(done.status.success(), "{}", text(&done.stderr));
}

/// A client behind a translator, and its file; `more` of it are other peers than the hub.
fn client(net: &mut Net, number: u8, translates: &str, own: &Keys, hub: &Keys, (allowed, more): (&str, &str)) {
    let (host, router) = (format!("c{number}"), format!("r{number}"));
    let address = |net: u8, last: u8| format!("10.{net}.{number}.{last}/24");
    net.link(&format!("in{number}"), [&host, &router], [&address(1, 1), &address(1, 2)]);
    net.link(&format!("out{number}"), [&router, "hub"], [&address(2, 1), &address(2, 2)]);
    net.ip(&host, &format!("route add default via 10.1.{number}.2"));
    net.ip(&router, &format!("route add default via 10.2.{number}.2"));
    assert!(net.exec(&router, &["sysctl", "-qw", "net.ipv4.ip_forward=1"]).status.success());
    let rules = format!(
        "table ip t {{\nchain o {{ type nat hook postrouting priority 100; oifname \"out{number}\" {translates}; }};\n}}"
    );
    nft(net, &router, &rules);
    let site = format!(
        "[interface]\naddress = [\"10.77.0.{number}/24\"]\nprivate_key = \"{{key}}\"\n[[uplink]]\nname = \"in{number}\"\n\
         [[peer]]\nname = \"hub\"\npublic_key = \"{}\"\nendpoint = \"10.2.{number}.2:5182\"\nallowed = [\"{allowed}\"]\n{more}",
        hub.public
    );
    net.site(&host, own, &site);
}

/// Two clients and a hub, up; the hub's file has `more` of its first peer, and each client's has `peers`, in which
/// `{key}` and `{number}` are the other's.
fn network(test: &str, translates: &str, allowed: &str, peers: &str, more: &str) -> Net {
    let mut net = Net::new(test, &["hub", "r1", "r2", "c1", "c2"]);
    let (hub, one, two) = (Keys::new(), Keys::new(), Keys::new());
    for (number, own, other, key) in [(1, &one, "2", &two), (2, &two, "1", &one)] {
        let peers = peers.replace("{number}", other).replace("{public}", &key.public);
        client(&mut net, number, translates, own, &hub, (allowed, &peers));
    }
    let peer = |number: u8, keys: &Keys, more: &str| {
        format!(
            "[[peer]]\nname = \"c{number}\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.{number}/32\"]\n{more}",
            keys.public
        )
    };
    let site = format!(
        "[interface]\naddress = [\"10.77.0.254/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n{}{}",
        peer(1, &one, more),
        peer(2, &two, "")
    );
    net.site("hub", &hub, &site);
    assert!(net.exec("hub", &["sysctl", "-qw", "net.ipv4.ip_forward=1"]).status.success());
    ["hub", "c1", "c2"].into_iter().for_each(|host| net.up(host));
    net.wait("hub", "both are there", |status| crate::net::active(status) == 2);
    net
}

/// The other client, introduced by the hub.
const INTRODUCED: &str =
    "[[peer]]\nname = \"c{number}\"\npublic_key = \"{public}\"\nallowed = [\"10.77.0.{number}/32\"]\nvia = \"hub\"\n";

/// Whether a client has met the other, and sends to it directly.
fn has_met(status: &Value) -> bool {
    let other = &status["peers"][1];
    other["up"] == true
        && other["through"].is_null()
        && other["members"].as_array().unwrap().iter().any(|m| m["state"] == "active")
}

fn wait_met(net: &Net) {
    for host in ["c1", "c2"] {
        net.wait(host, "it has met the other", has_met);
    }
}

/// Bytes that have gone through the hub's interface, either way.
fn through_hub(net: &Net) -> u64 {
    let read = |what: &str| text(&net.exec("hub", &["cat", &format!("/sys/class/net/air0/statistics/{what}")]).stdout);
    ["rx_bytes", "tx_bytes"].iter().map(|what| read(what).trim().parse::<u64>().unwrap()).sum()
}

#[test]
fn two_ends_behind_translators_are_introduced_and_need_the_hub_no_more() {
    if !can_run("two_ends_behind_translators_are_introduced_and_need_the_hub_no_more") {
        return;
    }
    let mut net = network("meet", KEEPS, "10.77.0.254/32", INTRODUCED, "introduces = [\"c2\"]\n");
    wait_met(&net);
    let before = through_hub(&net);
    assert_eq!(net.ping("c1", "10.77.0.2", 10, &["-s", "1000"]), 10, "{}", net.logs());
    assert_eq!(net.ping("c2", "10.77.0.1", 10, &["-s", "1000"]), 10, "{}", net.logs());
    let passed = through_hub(&net) - before;
    assert!(passed < 2_000, "{passed} byte\n{}", net.logs());
    net.signal("hub", "-TERM");
    net.ended("hub");
    net.wait("c1", "the hub has left", |status| status["peers"][0]["up"] == false);
    assert_eq!(net.ping("c1", "10.77.0.2", 5, &[]), 5, "{}", net.logs());
    assert_eq!(net.ping("c2", "10.77.0.1", 5, &[]), 5, "{}", net.logs());
}

/// A client that requests more often is not answered more often.
#[test]
fn a_pair_is_introduced_once_in_five_seconds() {
    if !can_run("a_pair_is_introduced_once_in_five_seconds") {
        return;
    }
    let mut net = network("often", CHANGES, "10.77.0.254/32", INTRODUCED, "introduces = [\"c2\"]\n");
    let told = |net: &Net| net.logs().lines().filter(|line| line.contains("introduced one=")).count();
    // Each new life asks at once, and after a second.
    for _ in 0..4 {
        net.signal("c2", "-TERM");
        net.ended("c2");
        net.wait("hub", "one has left", |status| crate::net::active(status) == 1);
        net.up("c2");
        net.wait("hub", "both are there", |status| crate::net::active(status) == 2);
        std::thread::sleep(Duration::from_millis(1_200));
    }
    let told = told(&net);
    let most = 1 + (net.status("hub").unwrap()["uptime_s"].as_f64().unwrap() / 5.0) as usize;
    assert!((1..=most).contains(&told), "{told} of {most}\n{}", net.logs());
}

/// The way between them is cut, and restored.
#[test]
fn what_two_ends_send_each_other_goes_through_the_hub_while_they_do_not_meet() {
    if !can_run("what_two_ends_send_each_other_goes_through_the_hub_while_they_do_not_meet") {
        return;
    }
    let mut net = network("again", GUARDS, "10.77.0.254/32", INTRODUCED, "introduces = [\"c2\"]\n");
    wait_met(&net);
    net.start("c1", &["ping", "-n", "-i", "0.2", "10.77.0.2"]);
    nft(
        &net,
        "hub",
        "table ip t {\nchain f { type filter hook forward priority 0; iifname \"out*\" oifname \"out*\" drop; };\n}",
    );
    for host in ["c1", "c2"] {
        net.wait(host, "its packets go through the hub", |status| status["peers"][1]["through"] == "hub");
    }
    assert_eq!(net.ping("c1", "10.77.0.2", 5, &[]), 5, "{}", net.logs());
    assert_eq!(net.ping("c2", "10.77.0.1", 5, &[]), 5, "{}", net.logs());
    nft(&net, "hub", "delete table ip t");
    wait_met(&net);
    assert_eq!(net.ping("c2", "10.77.0.1", 5, &[]), 5, "{}", net.logs());
}

#[test]
fn ends_behind_translators_that_change_every_port_go_through_the_hub() {
    if !can_run("ends_behind_translators_that_change_every_port_go_through_the_hub") {
        return;
    }
    let net = network("changes", CHANGES, "10.77.0.254/32", INTRODUCED, "introduces = [\"c2\"]\n");
    for host in ["c1", "c2"] {
        net.wait(host, "it tries to meet the other", |status| {
            status["peers"][1]["waits_for"].as_str().is_some_and(|what| what.starts_with("an answer of 10.2."))
        });
    }
    let before = through_hub(&net);
    assert_eq!(net.ping("c1", "10.77.0.2", 5, &["-s", "1000"]), 5, "{}", net.logs());
    assert_eq!(net.ping("c2", "10.77.0.1", 5, &["-s", "1000"]), 5, "{}", net.logs());
    assert!(through_hub(&net) - before >= 40_000);
    // They stop trying.
    for host in ["c1", "c2"] {
        let status = net.wait(host, "it has given up for now", |status| {
            status["peers"][1]["waits_for"] == "an introduction by hub"
        });
        let other = &status["peers"][1];
        assert_eq!((&other["through"], &other["cause"]), (&"hub".into(), &"not-met".into()), "{status}");
    }
}

#[test]
fn a_hub_whose_file_does_not_name_a_pair_tells_neither() {
    if !can_run("a_hub_whose_file_does_not_name_a_pair_tells_neither") {
        return;
    }
    let net = network("silent", KEEPS, "10.77.0.254/32", INTRODUCED, "");
    assert_eq!(net.ping("c1", "10.77.0.2", 3, &[]), 3, "{}", net.logs());
    // Three questions.
    std::thread::sleep(Duration::from_secs(4));
    for host in ["c1", "c2"] {
        let status = net.status(host).unwrap();
        let other = &status["peers"][1];
        assert_eq!((&other["up"], &other["waits_for"]), (&false.into(), &"an introduction by hub".into()), "{status}");
    }
    assert!(!net.logs().contains("introduced"), "{}", net.logs());
}

/// Without introductions in any file, behind translators that change every port.
#[test]
fn two_ends_behind_translators_reach_each_other_through_a_hub() {
    if !can_run("two_ends_behind_translators_reach_each_other_through_a_hub") {
        return;
    }
    let net = network("through", CHANGES, "10.77.0.0/24", "", "");
    assert_eq!(net.ping("c1", "10.77.0.2", 5, &[]), 5, "{}", net.logs());
    assert_eq!(net.ping("c2", "10.77.0.1", 5, &["-s", "1200"]), 5, "{}", net.logs());
    let status = net.status("hub").unwrap();
    let got = |peer: usize| status["peers"][peer]["received_packets"].as_u64().unwrap();
    assert!(got(0) >= 10 && got(1) >= 10, "{status}");
}
