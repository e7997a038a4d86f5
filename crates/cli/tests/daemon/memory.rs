//! The memory of packets: the file limits it, the status shows it, and packets that do not fit are refused and counted.

use crate::net::{Keys, Net, airbraid, text};
use crate::turns::can_run;

/// Two hosts with a link; packets for the far end may occupy a mebibyte at the near one.
fn pair(test: &str) -> Net {
    let mut net = Net::new(test, &["near", "far"]);
    net.link("l0", ["near", "far"], ["10.9.0.1/24", "10.9.0.2/24"]);
    let (a, b) = (Keys::new(), Keys::new());
    let near = format!(
        "[interface]\naddress = [\"10.77.0.1/24\"]\nprivate_key = \"{{key}}\"\nmemory = \"8 MiB\"\n\
         peer_memory = \"1 MiB\"\n[[uplink]]\nname = \"l0\"\n[[peer]]\nname = \"far\"\npublic_key = \"{}\"\n\
         endpoint = \"10.9.0.2:5182\"\nallowed = [\"10.77.0.2/32\"]\n",
        b.public
    );
    let far = format!(
        "[interface]\naddress = [\"10.77.0.2/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n\
         [[peer]]\nname = \"near\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.1/32\"]\n",
        a.public
    );
    net.site("near", &a, &near);
    net.site("far", &b, &far);
    net.up("far");
    net.up("near");
    net.wait_members("near", 1);
    net
}

#[test]
fn packets_for_a_peer_that_is_silent_are_kept_within_its_memory() {
    if !can_run("packets_for_a_peer_that_is_silent_are_kept_within_its_memory") {
        return;
    }
    let mut net = pair("memory");
    // Nothing is acknowledged any more: what programs send waits.
    let rules = "table ip t {\nchain i { type filter hook prerouting priority -300; udp sport 5182 drop; };\n}";
    std::fs::write(net.folder.join("rules"), rules).unwrap();
    let file = net.folder.join("rules").display().to_string();
    let done = net.exec("near", &["nft", "-f", &file]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    // Short packets of 5 flows: each takes a buffer of 2 KiB.
    for port in 0..5 {
        let send = format!("for n in $(seq 3000); do printf %0100d 0; done > /dev/udp/10.77.0.2/{}", 7_000 + port);
        net.start("near", &["bash", "-c", &send]);
    }
    let memory = |status: &serde_json::Value| status["peers"][0]["memory_bytes"].as_u64().unwrap();
    let status = net.wait("near", "packets are refused for want of memory", |status| {
        assert!(memory(status) <= 1 << 20, "{status}");
        status["peers"][0]["drops"]["memory"].as_u64().is_some_and(|count| count > 0)
    });
    assert!(memory(&status) > 1 << 18, "{status}");
    // When the far end is heard again, what waits goes out and the memory is free, but for entries of what was sent
    // last.
    assert!(net.exec("near", &["nft", "flush", "ruleset"]).status.success());
    net.wait_members("near", 1);
    net.wait("near", "the memory is free", |status| memory(status) < 1 << 18);
}

#[test]
fn a_memory_that_holds_nothing_is_refused() {
    if !can_run("a_memory_that_holds_nothing_is_refused") {
        return;
    }
    let net = pair("small");
    let file = net.file("near");
    let wrong = std::fs::read_to_string(&file).unwrap().replace("\"1 MiB\"", "\"20 kB\"");
    std::fs::write(&file, wrong).unwrap();
    let done = airbraid(&["up", "--check", &file.display().to_string()]);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("toml:6:") && said.contains("at least 1 MiB"), "{said}");
}
