//! Path validation: an address that an authentic frame has only named gets next to nothing before it has answered, and
//! a client whose address translator chooses another port does not notice.

use crate::net::{Keys, Net, text};
use crate::turns::can_run;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

/// Loads rules into a host's nftables, in place of those before.
fn filter(net: &Net, host: &str, rules: &str) {
    let mut nft = net.command(host, &["nft", "-f", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    nft.stdin.take().unwrap().write_all(format!("flush ruleset\n{rules}").as_bytes()).unwrap();
    let done = nft.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
}

/// Bytes of IP packets that a host's only counter of this name has seen.
fn counted(net: &Net, host: &str, counter: &str) -> u64 {
    let said = text(&net.exec(host, &["nft", "list", "counter", "ip", "t", counter]).stdout);
    let bytes = said.split("bytes ").nth(1).and_then(|rest| rest.split_whitespace().next());
    bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

/// A hub behind a router, a client with two uplinks there, and a third host.
fn world(test: &str) -> Net {
    let mut net = Net::new(test, &["hub", "router", "client", "victim"]);
    net.link("lh", ["hub", "router"], ["10.3.0.1/24", "10.3.0.254/24"]);
    net.link("la", ["client", "router"], ["10.1.0.2/24", "10.1.0.254/24"]);
    net.link("lb", ["client", "router"], ["10.2.0.2/24", "10.2.0.254/24"]);
    net.link("lv", ["victim", "router"], ["10.9.0.9/24", "10.9.0.254/24"]);
    for name in ["ip_forward=1", "conf.all.rp_filter=0", "conf.la.rp_filter=0", "conf.lb.rp_filter=0"] {
        let set = format!("net.ipv4.{name}");
        assert!(net.exec("router", &["sysctl", "-qw", &set]).status.success(), "{set}");
    }
    net.ip("hub", "route add default via 10.3.0.254");
    net.ip("client", "route add 10.3.0.0/24 via 10.1.0.254 dev la metric 1");
    net.ip("client", "route add 10.3.0.0/24 via 10.2.0.254 dev lb metric 2");
    let (hub, client) = (Keys::new(), Keys::new());
    let own = |address: &str| {
        format!("[interface]\naddress = [\"{address}\"]\nprivate_key = \"{{key}}\"\nmtu = \"1400 byte\"\n")
    };
    net.site(
        "hub",
        &hub,
        &format!(
            "{}listen = 5182\n[[peer]]\nname = \"client\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.2/32\"]\n",
            own("10.77.0.1/24"),
            client.public
        ),
    );
    net.site(
        "client",
        &client,
        &format!(
            "{}listen = 5183\n[[uplink]]\nname = \"la\"\n[[uplink]]\nname = \"lb\"\nrate = \"4 Mbit/s\"\n[[peer]]\nname = \"hub\"\n\
             public_key = \"{}\"\nendpoint = \"10.3.0.1:5182\"\nallowed = [\"10.77.0.1/32\"]\n",
            own("10.77.0.2/24"),
            hub.public
        ),
    );
    net.up("hub");
    net.up("client");
    net.wait_members("client", 2);
    net.wait_members("hub", 2);
    net.start("client", &["iperf3", "-s"]);
    std::thread::sleep(Duration::from_millis(300));
    net
}

#[test]
fn an_address_that_is_only_named_gets_three_times_what_came() {
    if !can_run("an_address_that_is_only_named_gets_three_times_what_came") {
        return;
    }
    let net = world("spoof");
    // Nobody there: it does not even complain.
    filter(
        &net,
        "victim",
        "table ip t { counter got {}\nchain i { type filter hook prerouting priority 0; udp sport 5182 counter name got drop; };\n}",
    );
    let download = ["iperf3", "-u", "-b", "8M", "-l", "1200", "-t", "6", "-J", "-c", "10.77.0.2"];
    let download = net.command("hub", &download).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1_000));
    // An authentic client that writes the victim's address into what it sends on one of its uplinks, and acknowledges
    // packets that the victim gets: it has copies of them. Of what is shorter it has none, as it would not where it
    // only guesses numbers.
    filter(
        &net,
        "router",
        "table ip t {\nchain f { type filter hook prerouting priority 0; \
         ip daddr 10.9.0.9 udp sport 5182 meta length > 400 dup to 10.1.0.2 device \"la\"; };\n}",
    );
    filter(
        &net,
        "client",
        "table ip t { counter sent {}\nchain o { type filter hook postrouting priority 300; \
         oifname \"la\" udp dport 5182 counter name sent ip saddr set 10.9.0.9; };\n\
         chain i { type filter hook prerouting priority -300; ip daddr 10.9.0.9 ip daddr set 10.1.0.2; };\n}",
    );
    let done = download.wait_with_output().unwrap();
    let (sent, got) = (counted(&net, "client", "sent"), counted(&net, "victim", "got"));
    println!("the client sent {sent} byte in the victim's name, and the victim got {got}");
    assert!(sent > 0, "{}", net.logs());
    assert!(got <= 3 * sent, "{got} byte for {sent}\n{}", net.logs());
    let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(done.status.success(), "{said}\n{}", net.logs());
    let status = net.status("hub").unwrap();
    assert!(status["peers"][0]["moves"].as_u64().unwrap() > 0, "{status}");
    let log = std::fs::read_to_string(net.folder.join("hub.log")).unwrap();
    let lines = log.lines().filter(|line| line.contains("a member has moved")).count();
    assert!((1..=12).contains(&lines), "one line a second at most: {lines}");
}

/// The client's translator: packets that leave on `la` come from this port, and only packets to it are admitted.
fn translate(net: &Net, port: u16) {
    filter(
        net,
        "client",
        &format!(
            "table ip t {{\nchain o {{ type filter hook postrouting priority 300; \
             oifname \"la\" udp dport 5182 udp sport set {port}; }};\n\
             chain i {{ type filter hook prerouting priority -300; iifname \"la\" udp sport 5182 udp dport {port} \
             udp dport set 5183 accept; iifname \"la\" udp sport 5182 drop; }};\n}}"
        ),
    );
}

#[test]
fn a_translator_that_chooses_another_port_is_followed_within_a_round_trip() {
    if !can_run("a_translator_that_chooses_another_port_is_followed_within_a_round_trip") {
        return;
    }
    let net = world("rebind");
    // The first uplink alone.
    assert!(crate::net::airbraid(&["link", "lb", "off", "--daemon", &net.daemon("client")]).status.success());
    net.wait_members("client", 1);
    translate(&net, 40_001);
    net.wait("hub", "the translator's port is known", |status| status.to_string().contains(":40001"));
    let download = ["iperf3", "-t", "4", "-i", "0.2", "-J", "-c", "10.77.0.2"];
    let download = net.command("hub", &download).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(2_000));
    translate(&net, 40_002);
    net.wait("hub", "the translator's new port is known", |status| status.to_string().contains(":40002"));
    let done = download.wait_with_output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(done.status.success(), "{said}\n{}", net.logs());
    let got = |interval: &serde_json::Value| interval["sum"]["bytes"].as_u64().unwrap();
    let bytes: Vec<u64> = said["intervals"].as_array().unwrap().iter().map(got).collect();
    println!("bytes in each fifth of a second {bytes:?}");
    assert!(*bytes.last().unwrap() > 0, "{bytes:?}");
    let status = net.status("hub").unwrap();
    assert_eq!(status["peers"][0]["unvalidated"].as_u64(), Some(0), "{status}\n{}", net.logs());
}
