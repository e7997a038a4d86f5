//! Paths that are narrower than the interface at their beginning, with silent routers, or with forged messages.

use super::net::{Keys, Net, active, text};
use super::{carries, serve};
use crate::turns::can_run;
use airbraid_live::namespace;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, bind, sendto, socket};
use serde_json::Value;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// A router that never reports a packet too long for its next link.
const SILENT: &str = "table ip silent { chain out { \
    type filter hook output priority 0; policy accept; icmp type destination-unreachable drop; }; }";

/// A daemon's file: its address inside, its uplinks, and its peers.
fn file(own: &str, uplinks: &[&str], peers: &str) -> String {
    let uplinks: String = uplinks.iter().map(|name| format!("[[uplink]]\nname = \"{name}\"\n")).collect();
    format!("[interface]\naddress = [{own}]\nprivate_key = \"{{key}}\"\nlisten = 5182\n{uplinks}{peers}")
}

fn peer(name: &str, public: &str, address: &str, endpoint: &str) -> String {
    format!("[[peer]]\nname = \"{name}\"\npublic_key = \"{public}\"\nallowed = [{address}]\n{endpoint}")
}

/// Two hosts with a router between them, whose far link takes `mtu` byte; with `is_silent` it never reports it. The
/// addresses inside are given.
fn routed(test: &str, mtu: u32, is_silent: bool, inside: [&str; 2]) -> Net {
    let mut net = Net::new(test, &["near", "mid", "far"]);
    net.link("l0", ["near", "mid"], ["10.9.0.1/24", "10.9.0.2/24"]);
    net.link("l1", ["mid", "far"], ["10.9.1.1/24", "10.9.1.2/24"]);
    net.exec("mid", &["sysctl", "-qw", "net.ipv4.ip_forward=1"]);
    net.ip("near", "route add default via 10.9.0.2");
    net.ip("far", "route add default via 10.9.1.1");
    if is_silent {
        let made = net.exec("mid", &["nft", SILENT]);
        assert!(made.status.success(), "{}", text(&made.stderr));
    }
    narrow(&net, mtu);
    let (a, b) = (Keys::new(), Keys::new());
    let [near, far] = inside;
    let endpoint = "endpoint = \"10.9.1.2:5182\"\n";
    net.site("near", &a, &file(near, &["l0"], &peer("far", &b.public, &hosts(far), endpoint)));
    net.site("far", &b, &file(far, &["l1"], &peer("near", &a.public, &hosts(near), "")));
    net.up("far");
    net.up("near");
    net.wait_members("near", 1);
    net
}

/// The path between router and far host takes `mtu` byte from now on, both ways.
fn narrow(net: &Net, mtu: u32) {
    net.ip("mid", &format!("link set l1 mtu {mtu}"));
    net.ip("mid", &format!("link set l0 mtu {mtu}"));
}

/// The addresses alone of a list with prefixes.
fn hosts(addresses: &str) -> String {
    let host = |one: &str| format!("\"{}\"", one.trim().trim_matches('"').split('/').next().unwrap());
    addresses.split(',').map(host).collect::<Vec<_>>().join(", ")
}

const V4: [&str; 2] = ["\"10.77.0.1/24\"", "\"10.77.0.2/24\""];

fn mtus(status: &Value) -> Vec<u64> {
    let members = status["peers"].as_array().unwrap().iter().flat_map(|peer| peer["members"].as_array().unwrap());
    members.filter_map(|member| member["path_mtu_bytes"].as_u64()).collect()
}

fn sent(status: &Value) -> u64 {
    status["uplinks"].as_array().unwrap().iter().map(|uplink| uplink["sent_bytes"].as_u64().unwrap()).sum()
}

#[test]
fn a_path_that_swallows_long_packets_is_found_and_nothing_is_lost() {
    if !can_run("a_path_that_swallows_long_packets_is_found_and_nothing_is_lost") {
        return;
    }
    let mut net = routed("swallowed", 1_300, true, V4);
    for host in ["near", "far"] {
        net.wait(host, "the path's MTU is found", |status| mtus(status) == [1_300]);
        net.wait(host, "the interface has it", |status| status["mtu_bytes"] == 1_235);
    }
    let before = sent(&net.status("near").unwrap());
    assert_eq!(net.ping("near", "10.77.0.2", 10, &["-s", "1380"]), 10, "{}", net.logs());
    let cost = sent(&net.status("near").unwrap()) - before;
    println!("10 pings of 1380 byte: {cost} byte sent");
    // 15 kB of packets in pieces, and feedback.
    assert!(cost < 60_000, "{cost} byte");
    assert_eq!(net.ping("near", "10.77.0.2", 3, &["-M", "do", "-s", "1207"]), 3);
    serve(&mut net);
    carries(&net, 4);
    assert!(net.logs().contains("path MTU of l0 1300"), "{}", net.logs());
    let status = net.status("near").unwrap();
    assert_eq!(status["peers"][0]["members"][0]["black_holes"], 0, "{status}");
}

#[test]
fn a_path_that_becomes_narrower_under_load_is_found_in_seconds() {
    if !can_run("a_path_that_becomes_narrower_under_load_is_found_in_seconds") {
        return;
    }
    let mut net = routed("shrinks", 1_500, true, V4);
    net.wait("near", "the path takes all", |status| mtus(status) == [1_500] && status["mtu_bytes"] == 1_435);
    serve(&mut net);
    net.start("near", &["iperf3", "-c", "10.77.0.2", "-t", "300", "-b", "20M"]);
    let got = |status: &Value| status["peers"][0]["received_bytes"].as_u64().unwrap();
    net.wait("far", "a megabyte has come", |status| got(status) > 1_000_000);
    narrow(&net, 1_300);
    let began = net.status("near").unwrap()["uptime_s"].as_f64().unwrap();
    let status = net.wait("near", "the black hole is found", |status| mtus(status) == [1_300]);
    println!("found after {:.2} s", status["uptime_s"].as_f64().unwrap() - began);
    assert_eq!(status["peers"][0]["members"][0]["black_holes"], 1, "{status}");
    // The connection goes on: nobody has made another.
    let before = got(&net.status("far").unwrap());
    net.wait("far", "more comes", |status| got(status) > before + 1_000_000);
    assert!(net.logs().contains("path MTU of l0 1300, before 1500"), "{}", net.logs());
}

#[test]
fn what_a_router_says_is_believed_once_it_is_confirmed() {
    if !can_run("what_a_router_says_is_believed_once_it_is_confirmed") {
        return;
    }
    // A size that no search would come upon by itself at once.
    let net = routed("said", 1_317, false, V4);
    let status = net.wait("near", "the path's MTU is found", |status| !mtus(status).is_empty());
    assert_eq!(mtus(&status), [1_317]);
    assert_eq!(net.ping("near", "10.77.0.2", 3, &["-M", "do", "-s", "1224"]), 3);
}

#[test]
fn a_forged_message_that_packets_are_too_long_changes_nothing() {
    if !can_run("a_forged_message_that_packets_are_too_long_changes_nothing") {
        return;
    }
    let net = routed("forged", 1_500, false, V4);
    net.wait("near", "the path takes all", |status| mtus(status) == [1_500] && status["mtu_bytes"] == 1_435);
    for mtu in [576, 1_200, 68] {
        forge(&net, mtu);
    }
    // The kernel believes it: whoever asks it for the path hears so.
    let known = net.ip("near", "route get 10.9.1.2");
    assert!(known.contains("mtu lock 5"), "{known}");
    assert_eq!(net.ping("near", "10.77.0.2", 20, &["-M", "do", "-s", "1407"]), 20, "{}", net.logs());
    // What asked the kernel every minute is long gone; what learnt it from a refused send would have by now.
    std::thread::sleep(Duration::from_millis(500));
    let status = net.status("near").unwrap();
    assert_eq!((mtus(&status), &status["mtu_bytes"]), (vec![1_500], &1_435.into()), "{}", net.logs());
    assert_eq!(status["uplinks"][0]["refused_datagrams"], 0, "{status}");
    assert_eq!(status["peers"][0]["members"][0]["lost_frames"], 0, "{status}");
}

/// A forger who knows both ports reports to the near host that its packets are too long.
fn forge(net: &Net, mtu: u16) {
    let mut message = vec![3, 4, 0, 0, 0, 0];
    message.extend(mtu.to_be_bytes());
    // The beginning of what is said to have been too long: from 10.9.0.1 to 10.9.1.2, port 5182 at both ends.
    message.extend([0x45, 0, 5, 220, 0, 0, 0x40, 0, 63, 17, 0, 0, 10, 9, 0, 1, 10, 9, 1, 2]);
    message.extend([0x14, 0x3e, 0x14, 0x3e, 5, 200, 0, 0]);
    let words = message.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let total: u32 = words.sum();
    let checksum = !((total & 0xffff) + (total >> 16)) as u16;
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let sent = namespace::inside(&net.namespace("mid"), || {
        let fd = socket(AddressFamily::Inet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::Icmp)?;
        bind(fd.as_raw_fd(), &SockaddrIn::new(10, 9, 0, 2, 0))?;
        sendto(fd.as_raw_fd(), &message, &SockaddrIn::new(10, 9, 0, 1, 0), MsgFlags::empty())
    });
    assert_eq!(sent.unwrap(), Ok(message.len()));
}

#[test]
fn a_narrow_peer_changes_nothing_for_another() {
    if !can_run("a_narrow_peer_changes_nothing_for_another") {
        return;
    }
    let mut net = Net::new("peers", &["hub", "wide", "thin"]);
    net.link("l0", ["hub", "wide"], ["10.9.0.1/24", "10.9.0.2/24"]);
    net.link("l1", ["hub", "thin"], ["10.9.1.1/24", "10.9.1.2/24"]);
    // What is longer than it takes vanishes at its interface, which lets four byte more pass (a VLAN's).
    net.ip("thin", "link set l1 mtu 1300");
    let [hub, wide, thin] = [Keys::new(), Keys::new(), Keys::new()];
    let peers = [peer("wide", &wide.public, "\"10.77.0.2\"", ""), peer("thin", &thin.public, "\"10.77.0.3\"", "")];
    // No uplinks in the hub's file: one socket for all that there is.
    net.site("hub", &hub, &file("\"10.77.0.1/24\"", &[], &peers.concat()));
    for (name, keys, own, at, link) in
        [("wide", &wide, "\"10.77.0.2/24\"", "10.9.0.1", "l0"), ("thin", &thin, "\"10.77.0.3/24\"", "10.9.1.1", "l1")]
    {
        let to_hub = peer("hub", &hub.public, "\"10.77.0.0/24\"", &format!("endpoint = \"{at}:5182\"\n"));
        net.site(name, keys, &file(own, &[link], &to_hub));
    }
    net.up("hub");
    net.up("wide");
    net.up("thin");
    let status = net.wait("hub", "both paths are found", |status| mtus(status).len() == 2 && active(status) == 2);
    let of = |name: &str| {
        let peer = status["peers"].as_array().unwrap().iter().find(|peer| peer["name"] == name).unwrap();
        peer["mtu_bytes"].as_u64().unwrap()
    };
    assert_eq!((of("wide"), &status["mtu_bytes"]), (1_435, &1_435.into()), "{}", net.logs());
    assert!((1_235..=1_239).contains(&of("thin")), "{}", net.logs());
    assert_eq!(net.ping("hub", "10.77.0.2", 5, &["-M", "do", "-s", "1407"]), 5);
    assert_eq!(net.ping("hub", "10.77.0.3", 5, &["-M", "do", "-s", "1207"]), 5);
    // What may be cut goes as fragments; the sender of what may not be is told.
    assert_eq!(net.ping("hub", "10.77.0.3", 5, &["-M", "dont", "-s", "1407"]), 5, "{}", net.logs());
    let told =
        text(&net.exec("hub", &["ping", "-n", "-c", "2", "-M", "do", "-s", "1380", "-W", "2", "10.77.0.3"]).stdout);
    assert!(told.contains("mtu = 123") || told.contains("mtu=123"), "{told}");
    let status = net.status("hub").unwrap();
    assert!(status["fragmented_packets"].as_u64().unwrap() >= 5, "{status}");
    // The far side of the narrow one sees it at its own interface.
    assert_eq!(net.status("thin").unwrap()["mtu_bytes"], 1_235);
}

#[test]
fn two_uplinks_of_different_mtu_carry_together() {
    if !can_run("two_uplinks_of_different_mtu_carry_together") {
        return;
    }
    let mut net = Net::new("mixed", &["near", "far"]);
    net.link("l0", ["near", "far"], ["10.9.0.1/24", "10.9.0.2/24"]);
    net.link("l1", ["near", "far"], ["10.9.1.1/24", "10.9.1.2/24"]);
    // Each end takes no more, and sends no more; neither says so to the other.
    net.ip("near", "link set l1 mtu 1300");
    net.ip("far", "link set l1 mtu 1300");
    let (a, b) = (Keys::new(), Keys::new());
    let endpoint = "endpoint = { l0 = \"10.9.0.2:5182\", l1 = \"10.9.1.2:5182\" }\n";
    net.site("near", &a, &file(V4[0], &["l0", "l1"], &peer("far", &b.public, "\"10.77.0.2\"", endpoint)));
    net.site("far", &b, &file(V4[1], &["l0", "l1"], &peer("near", &a.public, "\"10.77.0.1\"", "")));
    net.up("far");
    net.up("near");
    let status = net.wait("near", "both paths are found", |status| mtus(status).len() == 2);
    assert_eq!((mtus(&status), &status["mtu_bytes"]), (vec![1_500, 1_300], &1_235.into()), "{}", net.logs());
    serve(&mut net);
    carries(&net, 20);
    // Each carries alone what was cut for both; iperf3 does not wait for the last of it.
    for (without, carrier) in [("l0", "l1"), ("l1", "l0")] {
        net.ip("near", &format!("link set {without} down"));
        net.wait_members("near", 1);
        carries(&net, 20);
        let status = net.status("near").unwrap();
        let members = status["peers"][0]["members"].as_array().unwrap();
        let carrier = members.iter().find(|member| member["uplink"] == carrier).unwrap();
        assert!(carrier["data_bytes"].as_u64().unwrap() > 10_000_000, "{status}");
        net.ip("near", &format!("link set {without} up"));
        net.wait_members("near", 2);
    }
    net.wait("near", "both paths are found again", |status| mtus(status).len() == 2);
    // An interface that takes less from now on is seen at once.
    net.ip("near", "link set l0 mtu 1400");
    net.wait("near", "the path takes less", |status| mtus(status) == [1_400, 1_300]);
}

#[test]
fn ipv6_inside_has_its_least_mtu_on_a_path_that_has_not() {
    if !can_run("ipv6_inside_has_its_least_mtu_on_a_path_that_has_not") {
        return;
    }
    let inside = ["\"10.77.0.1/24\", \"fd77::1/64\"", "\"10.77.0.2/24\", \"fd77::2/64\""];
    let net = routed("least", 1_300, true, inside);
    for host in ["near", "far"] {
        net.wait(host, "the path's MTU is found", |status| mtus(status) == [1_300] && status["mtu_bytes"] == 1_280);
    }
    // 1232 byte of echo are a packet of 1280, which no router may refuse.
    assert_eq!(net.ping("near", "fd77::2", 5, &["-M", "do", "-s", "1232"]), 5, "{}", net.logs());
    assert_eq!(net.ping("near", "10.77.0.2", 5, &["-M", "dont", "-s", "1400"]), 5, "{}", net.logs());
    let status = net.status("near").unwrap();
    assert_eq!(status["peers"][0]["mtu_bytes"], 1_235);
    assert_eq!(status["peers"][0]["members"][0]["suspicions"], 0, "{status}");
}
