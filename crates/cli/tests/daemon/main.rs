//! The daemon as a user types it, as root, in network namespaces: allowed traffic passes, other traffic does not, and
//! nothing is left behind.
//!
//! Where there is no root or no TUN the tests fail, unless a list counts them as skipped (`root/mod.rs`).

mod addresses;
mod causes;
mod file;
#[expect(dead_code, reason = "the benchmark uses more of it")]
mod flood;
mod gateway;
mod identity;
mod introduction;
mod load;
mod memory;
mod mtu;
mod names;
mod net;
mod notices;
mod offload;
mod page;
mod paths;
mod resolv;
#[path = "../root/mod.rs"]
mod root;
mod routes;
mod serve;
mod services;
mod strangers;
mod turns;

use net::{Keys, Net, active, airbraid, text};
use turns::can_run;

/// Two hosts with `links` links between them, and their daemons' files. More of either file is given.
fn pair(test: &str, links: usize, near: &str, far: &str) -> Net {
    let net = Net::new(test, &["near", "far"]);
    let (a, b) = (Keys::new(), Keys::new());
    let mut uplinks = String::new();
    let mut endpoints = String::new();
    for link in 0..links {
        let addresses = [format!("10.9.{link}.1/24"), format!("10.9.{link}.2/24")];
        net.link(&format!("l{link}"), ["near", "far"], [&addresses[0], &addresses[1]]);
        uplinks += &format!("[[uplink]]\nname = \"l{link}\"\n");
        endpoints += &format!("l{link} = \"10.9.{link}.2:5182\", ");
    }
    let file = |own: &str, other: &str, public: &str, more: &str| {
        format!(
            "[interface]\naddress = [\"10.77.0.{own}/24\", \"fd77::{own}/64\"]\nprivate_key = \"{{key}}\"\n{more}\n{uplinks}\
             [[peer]]\nname = \"other\"\npublic_key = \"{public}\"\nallowed = [\"10.77.0.{other}/32\", \"fd77::{other}/128\"]\n"
        )
    };
    net.site("near", &a, &(file("1", "2", &b.public, near) + &format!("endpoint = {{ {endpoints}}}\n")));
    net.site("far", &b, &file("2", "1", &a.public, &format!("listen = 5182\n{far}")));
    net
}

/// The same, up, with all members working.
fn pair_up(test: &str, links: usize) -> Net {
    let mut net = pair(test, links, "", "");
    net.up("far");
    net.up("near");
    net.wait_members("near", links);
    net.wait_members("far", links);
    net
}

/// TCP carries this many megabytes from near to far, however long a busy machine takes; over a link believed to be
/// almost dead it would take longer.
fn carries(net: &Net, megabytes: u32) {
    let words = ["timeout", "60", "iperf3", "-c", "10.77.0.2", "-n", &format!("{megabytes}M"), "-J"];
    let done = net.exec("near", &words);
    let state = |host| net.status(host).map_or_else(|| "no status".to_owned(), |status| status.to_string());
    assert!(
        done.status.success(),
        "{}\nnear {}\nfar {}\n{}",
        text(&done.stdout),
        state("near"),
        state("far"),
        net.logs()
    );
}

fn serve(net: &mut Net) {
    net.start("far", &["iperf3", "-s"]);
    for _ in 0..100 {
        if text(&net.exec("far", &["ss", "-Hltn", "sport", "=", ":5201"]).stdout).contains("5201") {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("iperf3 does not listen");
}

#[test]
fn two_hosts_over_three_links() {
    if !can_run("two_hosts_over_three_links") {
        return;
    }
    let mut net = pair_up("thin", 3);
    assert_eq!(net.ping("near", "10.77.0.2", 10, &[]), 10);
    assert_eq!(net.ping("far", "fd77::1", 10, &[]), 10);
    // Longer than the MTU: in pieces, and whole again.
    assert_eq!(net.ping("near", "10.77.0.2", 3, &["-s", "4000"]), 3);
    // As long as the MTU, never in pieces.
    let mtu = net.status("near").unwrap()["mtu_bytes"].as_u64().unwrap();
    assert_eq!(net.ping("near", "10.77.0.2", 3, &["-M", "do", "-s", &(mtu - 28).to_string()]), 3);
    serve(&mut net);
    carries(&net, 6);
    for host in ["near", "far"] {
        let status = net.status(host).unwrap();
        let peer = &status["peers"][0];
        assert_eq!(peer["up"], true);
        assert_eq!(peer["foreign_packets"], 0);
        for uplink in status["uplinks"].as_array().unwrap() {
            assert!(uplink["received_bytes"].as_u64().unwrap() > 1_000, "{status}");
        }
        assert_eq!(status["refused_frames"], serde_json::json!({}), "{status}");
    }
    // What is on the wire is nothing that was said inside.
    let shown = airbraid(&["status", &net.daemon("near")]);
    assert!(text(&shown.stdout).contains("peer other, up"), "{}", text(&shown.stdout));
}

#[test]
fn over_ipv6_too() {
    if !can_run("over_ipv6_too") {
        return;
    }
    let mut net = Net::new("six", &["near", "far"]);
    for link in 0..2 {
        let name = format!("l{link}");
        net.link(&name, ["near", "far"], [&format!("fd09:{link}::1/64"), &format!("fd09:{link}::2/64")]);
    }
    let (a, b) = (Keys::new(), Keys::new());
    let file = |own: &str, other: &str, public: &str, more: &str| {
        format!(
            "[interface]\naddress = [\"10.77.0.{own}/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n[[uplink]]\nname = \"l0\"\n[[uplink]]\nname = \"l1\"\n\
             [[peer]]\nname = \"other\"\npublic_key = \"{public}\"\nallowed = [\"10.77.0.{other}/32\"]\n{more}"
        )
    };
    // Each goes to the other: the end with the smaller key has its way, and there are two members, not four.
    let places = |end: u8| format!("endpoint = {{ l0 = \"[fd09:0::{end}]:5182\", l1 = \"[fd09:1::{end}]:5182\" }}\n");
    net.site("near", &a, &file("1", "2", &b.public, &places(2)));
    net.site("far", &b, &file("2", "1", &a.public, &places(1)));
    net.up("far");
    net.up("near");
    for host in ["near", "far"] {
        let status = net.wait(host, "there are two members", |status| {
            let members = status["peers"][0]["members"].as_array().unwrap();
            members.len() == 2 && active(status) == 2
        });
        assert_eq!(status["mtu_bytes"], 1_415, "{status}");
    }
    assert_eq!(net.ping("near", "10.77.0.2", 5, &["-M", "do", "-s", "1387"]), 5);
}

#[test]
fn the_end_leaves_nothing_behind() {
    if !can_run("the_end_leaves_nothing_behind") {
        return;
    }
    let mut net = pair_up("end", 1);
    net.signal("near", "-TERM");
    assert!(net.ended("near").success(), "{}", net.logs());
    assert!(!net.ip("near", "link show").contains("air0"));
    assert!(!net.ip("near", "route show").contains("10.77"));
    // The other end was told, and waits for it to come back.
    net.wait_members("far", 0);
    let done = airbraid(&["down", &net.daemon("far")]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(net.ended("far").success());
    assert!(!net.ip("far", "link show").contains("air0"));
    let again = airbraid(&["down", &net.daemon("far")]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("is not up"), "{}", text(&again.stderr));
    net.up("near");
    net.up("far");
    net.wait_members("near", 1);
    assert_eq!(net.ping("near", "10.77.0.2", 5, &[]), 5);
}

#[test]
fn a_killed_daemon_is_cleaned_up_after() {
    if !can_run("a_killed_daemon_is_cleaned_up_after") {
        return;
    }
    let mut net = pair("killed", 1, "dns = [\"10.77.0.53\"]", "");
    // A file of the namespace's own lies over the system's.
    let own = std::path::Path::new("/etc/netns").join(net.namespace("near"));
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("resolv.conf"), "nameserver 192.0.2.1\n").unwrap();
    let resolv = |net: &Net| text(&net.exec("near", &["cat", "/etc/resolv.conf"]).stdout);
    net.up("far");
    net.up("near");
    net.wait_members("near", 1);
    assert!(resolv(&net).contains("nameserver 10.77.0.53"), "{}", resolv(&net));
    let second = net.file("near").display().to_string();
    let second = net.exec("near", &[env!("CARGO_BIN_EXE_airbraid"), "up", &second]);
    assert_eq!(second.status.code(), Some(2), "{}", text(&second.stderr));
    assert!(text(&second.stderr).contains("is up already"), "{}", text(&second.stderr));
    net.signal("near", "-KILL");
    net.ended("near");
    assert!(!net.ip("near", "link show").contains("air0"));
    net.up("near");
    net.wait_members("near", 1);
    assert_eq!(net.ping("near", "10.77.0.2", 5, &[]), 5);
    net.signal("near", "-KILL");
    net.ended("near");
    assert!(resolv(&net).contains("10.77.0.53"));
    let name = net.daemon("near");
    let cleaned = net.exec("near", &[env!("CARGO_BIN_EXE_airbraid"), "down", &name]);
    assert!(cleaned.status.success(), "{}", text(&cleaned.stderr));
    assert_eq!(resolv(&net), "nameserver 192.0.2.1\n");
    let left = std::fs::read_dir("/run/airbraid").unwrap().flatten().map(|entry| entry.file_name());
    assert!(!left.into_iter().any(|file| file.to_string_lossy().starts_with(&name)));
}

#[test]
fn a_hub_that_restarts_is_found_again() {
    if !can_run("a_hub_that_restarts_is_found_again") {
        return;
    }
    let mut net = pair_up("restart", 2);
    net.signal("far", "-KILL");
    net.ended("far");
    net.up("far");
    // The near end has its old keys still, and learns from the silence that they are worth nothing any more.
    net.start("near", &["ping", "-i", "0.2", "10.77.0.2"]);
    net.wait_members("far", 2);
    assert_eq!(net.ping("near", "10.77.0.2", 5, &[]), 5);
    assert_eq!(net.ping("far", "10.77.0.1", 5, &[]), 5);
}

#[test]
fn an_uplink_that_is_removed_comes_back_with_another_address() {
    if !can_run("an_uplink_that_is_removed_comes_back_with_another_address") {
        return;
    }
    let mut net = pair_up("away", 2);
    serve(&mut net);
    let mut client = net.command("near", &["iperf3", "-c", "10.77.0.2", "-t", "5", "-J"]);
    let client = client.stdout(std::process::Stdio::piped()).spawn().unwrap();
    net.ip("near", "link delete l0");
    net.wait("near", "l0 is away", |status| status["uplinks"][0]["state"] == "away");
    net.wait_members("near", 1);
    net.link("l0", ["near", "far"], ["10.9.0.77/24", "10.9.0.2/24"]);
    let status = net.wait_members("near", 2);
    assert_eq!(status["uplinks"][0]["addresses"][0], "10.9.0.77");
    net.wait("far", "the new address is known", |status| status.to_string().contains("10.9.0.77:"));
    let done = client.wait_with_output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(done.status.success(), "{said}\n{}", net.logs());
    assert!(said["end"]["sum_received"]["bytes"].as_u64().unwrap() > 1_000_000);
}

#[test]
fn the_loss_of_every_uplink_is_survived() {
    if !can_run("the_loss_of_every_uplink_is_survived") {
        return;
    }
    let mut net = pair_up("all", 2);
    serve(&mut net);
    net.start("near", &["iperf3", "-c", "10.77.0.2", "-t", "300"]);
    let got = |status: &serde_json::Value| status["peers"][0]["received_bytes"].as_u64().unwrap();
    net.wait("far", "a megabyte has come", |status| got(status) > 1_000_000);
    for link in ["l0", "l1"] {
        net.ip("near", &format!("link set {link} down"));
    }
    net.wait_members("near", 0);
    assert!(net.ip("near", "route show").contains("10.77.0.0/24"));
    std::thread::sleep(std::time::Duration::from_millis(500));
    for link in ["l0", "l1"] {
        net.ip("near", &format!("link set {link} up"));
    }
    net.wait_members("near", 2);
    // The connection goes on: nobody has made another.
    let before = got(&net.status("far").unwrap());
    net.wait("far", "more comes", |status| got(status) > before + 1_000_000);
}

#[test]
fn a_client_that_changes_its_address_keeps_its_connections() {
    if !can_run("a_client_that_changes_its_address_keeps_its_connections") {
        return;
    }
    let mut net = pair_up("roam", 1);
    serve(&mut net);
    let mut client = net.command("near", &["iperf3", "-c", "10.77.0.2", "-t", "4", "-J"]);
    let client = client.stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    // The new one is there before the old one goes, as with a new lease: the socket stays.
    net.ip("near", "addr add 10.9.0.88/25 dev l0");
    net.ip("near", "addr del 10.9.0.1/24 dev l0");
    net.wait("far", "the client has moved", |status| status.to_string().contains("10.9.0.88:"));
    let done = client.wait_with_output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(done.status.success(), "{said}\n{}", net.logs());
    let last = said["intervals"].as_array().unwrap().last().unwrap().clone();
    let state = |host| net.status(host).map_or_else(|| "no status".to_owned(), |status| status.to_string());
    assert!(
        last["sum"]["bytes"].as_u64().unwrap() > 0,
        "{said}\nnear {}\nfar {}\n{}",
        state("near"),
        state("far"),
        net.logs()
    );
}

#[test]
fn a_link_is_switched_off_and_on_and_nothing_is_lost() {
    if !can_run("a_link_is_switched_off_and_on_and_nothing_is_lost") {
        return;
    }
    let net = pair_up("switch", 2);
    let mut pings = net.command("near", &["ping", "-n", "-q", "-i", "0.01", "-c", "200", "-W", "3", "10.77.0.2"]);
    let pings = pings.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let (name, link) = (net.daemon("near"), |state: &str| {
        let done = airbraid(&["link", "l1", state, "--daemon", &net.daemon("near")]);
        assert!(done.status.success(), "{}", text(&done.stderr));
    });
    link("off");
    let status = net.wait_members("near", 1);
    assert_eq!(status["uplinks"][1]["state"], "off");
    net.wait_members("far", 1);
    link("on");
    net.wait_members("near", 2);
    net.wait_members("far", 2);
    let said = text(&pings.wait_with_output().unwrap().stdout);
    assert!(said.contains(" 200 received"), "{said}\n{}", net.logs());
    let wrong = airbraid(&["link", "l7", "off", "--daemon", &name]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("there is no uplink `l7`; allowed: l0, l1"), "{}", text(&wrong.stderr));
}

#[test]
fn a_reload_drops_nothing() {
    if !can_run("a_reload_drops_nothing") {
        return;
    }
    let net = pair_up("reload", 2);
    let file = net.file("near");
    let before = std::fs::read_to_string(&file).unwrap();
    let mut pings = net.command("near", &["ping", "-n", "-q", "-i", "0.01", "-c", "200", "-W", "3", "10.77.0.2"]);
    let pings = pings.stdout(std::process::Stdio::piped()).spawn().unwrap();
    // One more peer, another address, another tier; the first uplink as it was.
    let more =
        format!("[[peer]]\nname = \"third\"\npublic_key = \"{}\"\nallowed = [\"10.78.0.0/16\"]\n", Keys::new().public);
    let after =
        before.replace("name = \"l1\"\n", "name = \"l1\"\ntier = 1\n").replace("\"fd77::1/64\"", "\"fd78::1/64\"");
    std::fs::write(&file, after.clone() + &more).unwrap();
    net.signal("near", "-HUP");
    let status = net.wait("near", "there are two peers", |status| status["peers"].as_array().unwrap().len() == 2);
    assert_eq!(active(&status), 2);
    assert!(net.ip("near", "route show").contains("10.78.0.0/16 dev air0"));
    let addresses = net.ip("near", "addr show dev air0");
    assert!(addresses.contains("fd78::1/64") && !addresses.contains("fd77::1/64"), "{addresses}");
    // A file that is wrong changes nothing, and says why.
    std::fs::write(&file, after.replace("tier = 1", "tier = 99")).unwrap();
    let wrong = airbraid(&["reload", &net.daemon("near")]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("write a number from 0 to 7"), "{}", text(&wrong.stderr));
    std::fs::write(&file, after.replace("private_key", "name = \"air9\"\nprivate_key")).unwrap();
    let fixed = airbraid(&["reload", &net.daemon("near")]);
    assert!(
        text(&fixed.stderr).contains("interface.name can be changed by `down` and `up` only"),
        "{}",
        text(&fixed.stderr)
    );
    std::fs::write(&file, &after).unwrap();
    let fewer = airbraid(&["reload", &net.daemon("near")]);
    assert_eq!(text(&fewer.stdout).trim(), "no route 10.78.0.0/16, no peer third", "{}", text(&fewer.stderr));
    let said = text(&pings.wait_with_output().unwrap().stdout);
    assert!(said.contains(" 200 received"), "{said}\n{}", net.logs());
}

#[test]
fn two_sites_and_ten_clients_on_one_port() {
    if !can_run("two_sites_and_ten_clients_on_one_port") {
        return;
    }
    let mut net = Net::new("many", &["hub", "site1", "site2", "clients"]);
    let hub = Keys::new();
    for (number, host) in ["site1", "site2", "clients"].into_iter().enumerate() {
        let addresses = [format!("10.9.{number}.1/24"), format!("10.9.{number}.2/24")];
        net.link(&format!("l{number}"), [host, "hub"], [&addresses[0], &addresses[1]]);
    }
    let mut peers = String::new();
    let mut member = |host: &str, device: usize, number: usize, interface: &str, net: &Net, behind: &str| {
        let keys = Keys::new();
        let file = format!(
            "[interface]\nname = \"{interface}\"\naddress = [\"10.77.0.{number}/32\"]\nprivate_key = \"{{key}}\"\n[[uplink]]\nname = \"l{device}\"\n\
             [[peer]]\nname = \"hub\"\npublic_key = \"{}\"\nendpoint = \"10.9.{device}.2:5182\"\nallowed = [\"10.77.0.254/32\"{}]\n",
            hub.public,
            if behind.is_empty() { "" } else { ", \"10.80.0.0/16\"" },
        );
        net.site(host, &keys, &file);
        peers += &format!(
            "[[peer]]\nname = \"{host}\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.{number}/32\"{behind}]\n",
            keys.public
        );
    };
    member("site1", 0, 201, "air0", &net, ", \"10.80.1.0/24\"");
    member("site2", 1, 202, "air0", &net, ", \"10.80.2.0/24\"");
    let clients: Vec<String> = (1..=10).map(|number| format!("c{number}")).collect();
    for (number, client) in (1..).zip(&clients) {
        member(client, 2, number, &format!("air{number}"), &net, "");
    }
    // No uplinks in the hub's file: one socket for all that there is.
    net.site(
        "hub",
        &hub,
        &format!("[interface]\naddress = [\"10.77.0.254/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n{peers}"),
    );
    net.exec("hub", &["sysctl", "-qw", "net.ipv4.ip_forward=1"]);
    for (site, net_behind) in [("site1", "10.80.1.1/24"), ("site2", "10.80.2.1/24")] {
        net.ip(site, "link add behind type veth peer name inside");
        net.ip(site, "link set inside up");
        net.ip(site, &format!("addr add {net_behind} dev behind"));
        net.ip(site, "link set behind up");
    }
    net.up("hub");
    net.up("site1");
    net.up("site2");
    for client in &clients {
        net.up_in("clients", client);
    }
    net.wait_members("hub", 12);
    for number in 1..=10u32 {
        let interface = format!("air{number}");
        assert_eq!(net.ping("clients", "10.77.0.254", 3, &["-I", &interface]), 3, "{interface}: {}", net.logs());
    }
    // From one site to the other, over the hub.
    assert_eq!(net.ping("site1", "10.80.2.1", 5, &["-I", "10.80.1.1"]), 5, "{}", net.logs());
    // A site that says it is somebody else is not heard.
    assert_eq!(net.ping("site1", "10.77.0.254", 2, &["-I", "10.80.1.1"]), 2);
    net.ip("site1", "addr add 10.80.2.9/32 dev behind");
    assert_eq!(net.ping("site1", "10.77.0.254", 2, &["-I", "10.80.2.9", "-W", "1"]), 0);
    let status = net.status("hub").unwrap();
    let site1 = status["peers"].as_array().unwrap().iter().find(|peer| peer["name"] == "site1").unwrap().clone();
    assert_eq!(site1["foreign_packets"], 2, "{site1}");
}

#[test]
fn a_narrower_path_is_found_and_nothing_is_lost_on_the_way() {
    if !can_run("a_narrower_path_is_found_and_nothing_is_lost_on_the_way") {
        return;
    }
    let mut net = Net::new("narrow", &["near", "mid", "far"]);
    net.link("l0", ["near", "mid"], ["10.9.0.1/24", "10.9.0.2/24"]);
    net.link("l1", ["mid", "far"], ["10.9.1.1/24", "10.9.1.2/24"]);
    net.exec("mid", &["sysctl", "-qw", "net.ipv4.ip_forward=1"]);
    net.ip("near", "route add default via 10.9.0.2");
    net.ip("far", "route add default via 10.9.1.1");
    net.ip("mid", "link set l1 mtu 1400");
    let (a, b) = (Keys::new(), Keys::new());
    let file = |own: &str, other: &str, uplink: &str, public: &str, more: &str| {
        format!(
            "[interface]\naddress = [\"10.77.0.{own}/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n[[uplink]]\nname = \"{uplink}\"\n\
             [[peer]]\nname = \"other\"\npublic_key = \"{public}\"\nallowed = [\"10.77.0.{other}/32\"]\n{more}"
        )
    };
    net.site("near", &a, &file("1", "2", "l0", &b.public, "endpoint = \"10.9.1.2:5182\"\n"));
    net.site("far", &b, &file("2", "1", "l1", &a.public, ""));
    net.up("far");
    net.up("near");
    net.wait_members("near", 1);
    serve(&mut net);
    carries(&net, 6);
    net.wait("near", "the path's MTU is known", |status| status["mtu_bytes"] == 1_335);
    assert_eq!(net.ping("near", "10.77.0.2", 3, &["-M", "do", "-s", "1307"]), 3);
}
