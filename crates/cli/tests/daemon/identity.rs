//! Identity of the other end, its address, and its lifetime: clocks that were set back, hosts with several addresses,
//! farewells, keys that two hosts have.

use crate::net::{Keys, Net, text};
use crate::turns::can_run;
use crate::{airbraid, pair, pair_up};
use serde_json::Value;
use std::time::Duration;

/// A library for `LD_PRELOAD` that sets a process's time of day back by an hour; namespaces have no such clock of their
/// own.
fn an_hour_ago(net: &Net) -> String {
    let (source, library) = (net.folder.join("ago.c"), net.folder.join("ago.so"));
    let text = "#define _GNU_SOURCE\n#include <time.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n\
        int clock_gettime(clockid_t clock, struct timespec *time) {\n\
        int done = syscall(SYS_clock_gettime, clock, time);\n\
        if (clock == CLOCK_REALTIME) time->tv_sec -= 3600;\nreturn done; }\n";
    std::fs::write(&source, text).unwrap();
    // What links these tests.
    let built = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(built.unwrap().success());
    library.display().to_string()
}

#[test]
fn a_clock_that_was_set_back_keeps_nobody_out() {
    if !can_run("a_clock_that_was_set_back_keeps_nobody_out") {
        return;
    }
    let mut net = pair_up("clock", 1);
    net.signal("near", "-TERM");
    assert!(net.ended("near").success());
    let ago = an_hour_ago(&net);
    let (file, log) = (net.file("near").display().to_string(), net.folder.join("near.log").display().to_string());
    let command = format!("LD_PRELOAD={ago} exec {} up {file} --foreground 2>{log}", env!("CARGO_BIN_EXE_airbraid"));
    net.start("near", &["sh", "-c", &command]);
    for (host, whose) in [("near", "ours"), ("far", "theirs")] {
        let status = net.wait(host, "the session is up", |status| status["peers"][0]["up"] == true);
        let seen = &status["peers"][0]["clock_set_back"];
        assert_eq!(seen["whose"], whose, "{status}");
        let by = seen["by_s"].as_f64().unwrap();
        assert!((3_000.0..=3_600.0).contains(&by), "{by}");
        assert!(net.logs().contains("was set back, by 3"), "{}", net.logs());
    }
    assert_eq!(net.ping("near", "10.77.0.2", 3, &[]), 3);
    let shown = text(&airbraid(&["status", &net.daemon("near")]).stdout);
    assert!(shown.contains("the clock of this host was set back by"), "{shown}");
}

/// A client behind a translator that admits only answers from the requested address, and a hub with one more address on
/// its interface, and one on its loopback, in both families.
#[test]
fn a_hub_answers_from_the_address_that_was_asked() {
    if !can_run("a_hub_answers_from_the_address_that_was_asked") {
        return;
    }
    let mut net = Net::new("asked", &["near", "router", "hub"]);
    net.link("l0", ["near", "router"], ["192.168.9.2/24", "192.168.9.1/24"]);
    net.link("l1", ["router", "hub"], ["203.0.113.2/24", "203.0.113.1/24"]);
    for (host, words) in [
        ("near", "addr add fd09::2/64 dev l0 nodad"),
        ("router", "addr add fd09::1/64 dev l0 nodad"),
        ("router", "addr add 2001:db8::2/64 dev l1 nodad"),
        ("hub", "addr add 2001:db8::1/64 dev l1 nodad"),
        ("near", "route add default via 192.168.9.1"),
        ("near", "-6 route add default via fd09::1"),
        ("router", "route add 198.51.100.7 via 203.0.113.1"),
        ("hub", "addr add 203.0.113.8/24 dev l1"),
        ("hub", "addr add 198.51.100.7/32 dev lo"),
        ("hub", "addr add 2001:db8::8/64 dev l1 nodad preferred_lft 0"),
    ] {
        net.ip(host, words);
    }
    net.exec("router", &["sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"]);
    let rules =
        "table inet nat { chain out { type nat hook postrouting priority srcnat; oifname \"l1\" masquerade; }; }";
    let done = net.exec("router", &["nft", rules]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let (a, b) = (Keys::new(), Keys::new());
    let hub = format!(
        "[interface]\naddress = [\"10.77.0.2/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n\
         [[peer]]\nname = \"near\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.1/32\"]\n",
        a.public
    );
    net.site("hub", &b, &hub);
    net.up("hub");
    for endpoint in ["203.0.113.8", "198.51.100.7", "[2001:db8::8]"] {
        let near = format!(
            "[interface]\naddress = [\"10.77.0.1/24\"]\nprivate_key = \"{{key}}\"\n[[uplink]]\nname = \"l0\"\n\
             [[peer]]\nname = \"hub\"\npublic_key = \"{}\"\nendpoint = \"{endpoint}:5182\"\nallowed = [\"10.77.0.2/32\"]\n",
            b.public
        );
        net.site("near", &a, &near);
        net.up("near");
        net.wait_members("near", 1);
        assert_eq!(net.ping("near", "10.77.0.2", 3, &[]), 3, "{endpoint}: {}", net.logs());
        net.signal("near", "-TERM");
        assert!(net.ended("near").success());
    }
}

fn peer(status: &Value) -> &Value {
    &status["peers"][0]
}

#[test]
fn after_down_the_other_end_knows_at_once_and_is_silent() {
    if !can_run("after_down_the_other_end_knows_at_once_and_is_silent") {
        return;
    }
    for links in [1, 2] {
        let mut net = pair_up(&format!("bye{links}"), links);
        assert_eq!(net.ping("near", "10.77.0.2", 2, &[]), 2);
        let down = airbraid(&["down", &net.daemon("near")]);
        assert!(down.status.success(), "{}", text(&down.stderr));
        assert!(net.ended("near").success());
        let status = net.wait("far", "it knows", |status| peer(status)["up"] == false);
        assert!(peer(&status)["left_s"].as_f64().is_some(), "{status}");
        assert_eq!(peer(&status)["members"], serde_json::json!([]));
        assert!(net.logs().contains("the peer has left"), "{}", net.logs());
        // Nothing more is sent, not even for programs.
        let sent = |net: &Net| {
            let status = net.status("far").unwrap();
            let uplinks = status["uplinks"].as_array().unwrap();
            uplinks.iter().map(|uplink| uplink["sent_datagrams"].as_u64().unwrap()).sum::<u64>()
        };
        let before = sent(&net);
        assert_eq!(net.ping("far", "10.77.0.1", 3, &["-W", "1"]), 0);
        assert_eq!(sent(&net), before);
        net.up("near");
        let status = net.wait("far", "it is back", |status| peer(status)["up"] == true);
        assert!(peer(&status)["left_s"].is_null());
        net.wait_members("near", links);
        assert_eq!(net.ping("near", "10.77.0.2", 2, &[]), 2);
    }
}

#[test]
fn a_hub_that_has_left_is_tried_for_again() {
    if !can_run("a_hub_that_has_left_is_tried_for_again") {
        return;
    }
    let mut net = pair_up("hubbye", 2);
    let down = airbraid(&["down", &net.daemon("far")]);
    assert!(down.status.success(), "{}", text(&down.stderr));
    assert!(net.ended("far").success());
    net.wait("near", "it knows", |status| peer(status)["up"] == false && peer(status)["left_s"].is_f64());
    net.up("far");
    net.wait_members("near", 2);
    assert_eq!(net.ping("near", "10.77.0.2", 2, &[]), 2);
}

/// Two lives that begin within one second are distinct: the second's numbers are not taken for the first's.
#[test]
fn two_starts_in_one_second_are_two_lives() {
    if !can_run("two_starts_in_one_second_are_two_lives") {
        return;
    }
    let mut net = pair("twice", 1, "", "");
    net.up("far");
    // A second begins.
    net.exec("near", &["sh", "-c", "until date +%N | grep -q ^0; do sleep 0.02; done"]);
    net.up("near");
    net.wait_members("near", 1);
    assert_eq!(net.ping("near", "10.77.0.2", 20, &[]), 20);
    net.signal("near", "-KILL");
    net.ended("near");
    net.up("near");
    let answered = net.exec("near", &["ping", "-n", "-c", "1", "-i", "0.2", "-w", "6", "10.77.0.2"]);
    assert!(answered.status.success(), "{}\n{}", text(&answered.stdout), net.logs());
}

/// A peer that is removed from the file is told, over the ways that are forgotten with it.
#[test]
fn a_peer_that_is_removed_is_told() {
    if !can_run("a_peer_that_is_removed_is_told") {
        return;
    }
    let net = pair_up("removed", 2);
    let file = std::fs::read_to_string(net.file("far")).unwrap();
    let (before, after) = file.split_once("public_key = \"").unwrap();
    let other = format!("{before}public_key = \"{}{}", Keys::new().public, &after[after.find('"').unwrap()..]);
    std::fs::write(net.file("far"), other).unwrap();
    let reloaded = airbraid(&["reload", &net.daemon("far")]);
    assert!(reloaded.status.success(), "{}", text(&reloaded.stderr));
    net.wait("near", "it knows", |status| peer(status)["up"] == false && peer(status)["left_s"].is_f64());
}

#[test]
fn one_key_on_two_hosts_is_seen() {
    if !can_run("one_key_on_two_hosts_is_seen") {
        return;
    }
    let mut net = Net::new("twins", &["one", "two", "far"]);
    net.link("l0", ["one", "far"], ["10.9.0.1/24", "10.9.0.2/24"]);
    net.link("l1", ["two", "far"], ["10.9.1.1/24", "10.9.1.2/24"]);
    let (a, b) = (Keys::new(), Keys::new());
    for (host, link) in [("one", 0), ("two", 1)] {
        let file = format!(
            "[interface]\naddress = [\"10.77.0.1/24\"]\nprivate_key = \"{{key}}\"\n[[uplink]]\nname = \"l{link}\"\n\
             [[peer]]\nname = \"far\"\npublic_key = \"{}\"\nendpoint = \"10.9.{link}.2:5182\"\nallowed = [\"10.77.0.2/32\"]\n",
            b.public
        );
        net.site(host, &a, &file);
    }
    let far = format!(
        "[interface]\naddress = [\"10.77.0.2/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n\
         [[peer]]\nname = \"near\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.1/32\"]\n",
        a.public
    );
    net.site("far", &b, &far);
    for host in ["far", "one", "two"] {
        net.up(host);
    }
    for host in ["one", "two"] {
        net.start(host, &["ping", "-q", "-i", "0.2", "10.77.0.2"]);
    }
    net.wait("far", "it has seen both", |status| peer(status)["shared_key"] == "theirs");
    assert!(net.logs().contains("two hosts use the key of this peer"), "{}", net.logs());
    let shown = text(&airbraid(&["status", &net.daemon("far")]).stdout);
    assert!(shown.contains("another host uses the key of this peer"), "{shown}");
}

/// Datagrams of a host's that begin with this byte, as its firewall has counted them.
fn counted(net: &Net, host: &str) -> u64 {
    let said = text(&net.exec(host, &["nft", "list", "table", "inet", "count"]).stdout);
    let packets = said.split("packets ").nth(1).and_then(|rest| rest.split(' ').next());
    packets.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

/// A session is renewed over eight links: a request on all ways gets one answer.
#[test]
fn a_question_for_a_key_is_answered_by_one_way() {
    if !can_run("a_question_for_a_key_is_answered_by_one_way") {
        return;
    }
    // Datagrams that are joined would be counted as one.
    let mut net = pair("nine", 8, "offload = false", "offload = false");
    for host in ["near", "far"] {
        let rules = "table inet count { chain out { type filter hook output priority 0; @th,64,8 0x15 counter; }; }";
        let done = net.exec(host, &["nft", rules]);
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    net.up("far");
    net.up("near");
    net.wait_members("near", 8);
    let before = ["near", "far"].map(|host| counted(&net, host));
    // The far end stands still until the near one makes a new key.
    net.signal("far", "-STOP");
    net.start("near", &["ping", "-q", "-i", "0.2", "10.77.0.2"]);
    std::thread::sleep(Duration::from_millis(3_000));
    net.signal("far", "-CONT");
    net.wait("far", "there is a new key", |_| counted(&net, "near") > before[0]);
    std::thread::sleep(Duration::from_millis(500));
    let [asked, answered] =
        [("near", before[0]), ("far", before[1])].map(|(host, before)| counted(&net, host) - before);
    println!("{asked} questions, {answered} answers");
    assert!(asked >= 8 && answered >= 1 && answered <= asked, "{asked} questions, {answered} answers\n{}", net.logs());
}
