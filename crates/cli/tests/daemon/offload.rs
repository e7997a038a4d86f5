//! Runs of segments through the daemon: they arrive unchanged, with offloads, without, and with them at one end.

use super::{carries, pair, serve};
use crate::net::{Net, text};
use crate::turns::can_run;
use std::process::Stdio;
use std::time::Duration;

/// Two hosts over a link whose frames are really cut; more of either file is given.
fn cut_pair(test: &str, near: &str, far: &str) -> Net {
    let mut net = pair(test, 1, near, far);
    net.up("far");
    net.up("near");
    net.wait_members("near", 1);
    net.wait_members("far", 1);
    serve(&mut net);
    net
}

/// Packets in a capture that a filter of tshark's matches.
fn count(net: &Net, capture: &str, filter: &str) -> usize {
    let words = [
        "tshark",
        "-r",
        capture,
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "udp.check_checksum:TRUE",
        "-Y",
        filter,
    ];
    let done = net.exec("far", &words);
    assert!(done.status.success(), "{}", text(&done.stderr));
    text(&done.stdout).lines().count()
}

#[test]
fn checksums_are_right_where_they_arrive() {
    if !can_run("checksums_are_right_where_they_arrive") {
        return;
    }
    let net = cut_pair("sums", "", "");
    let capture = net.folder.join("far.pcap").display().to_string();
    let words =
        ["tshark", "-Q", "-i", "air0", "-a", "duration:60", "-f", "src host 10.77.0.1", "-s", "0", "-w", &capture];
    let mut looker = net.command("far", &words).stderr(Stdio::null()).spawn().unwrap();
    // It looks as soon as it has begun to write.
    let begun = || std::fs::metadata(&capture).is_ok_and(|file| file.len() > 0);
    (0..100).take_while(|_| !begun()).for_each(|_| std::thread::sleep(Duration::from_millis(50)));
    let (some, udp) =
        (["iperf3", "-c", "10.77.0.2", "-n", "3M"], ["iperf3", "-u", "-c", "10.77.0.2", "-n", "300K", "-l", "1000"]);
    assert!(net.exec("near", &some).status.success(), "{}", net.logs());
    assert!(net.exec("near", &udp).status.success(), "{}", net.logs());
    // What has come is written within a second.
    std::thread::sleep(Duration::from_secs(1));
    assert!(net.exec("far", &["kill", "-INT", &looker.id().to_string()]).status.success());
    assert!(looker.wait().unwrap().success());
    let all = count(&net, &capture, "tcp or udp");
    assert!(all > 100, "{all} packets");
    // 0 is what tshark calls bad.
    let bad = count(&net, &capture, "tcp.checksum.status == 0 or udp.checksum.status == 0 or ip.checksum.status == 0");
    assert_eq!(bad, 0, "of {all} packets");
    // Some were joined.
    assert!(count(&net, &capture, "tcp.len > 3000") > 0);
    let status = net.status("far").unwrap();
    assert_eq!((&status["malformed_runs"], &status["undelivered_packets"]), (&0.into(), &0.into()), "{status}");
}

#[test]
fn without_offloads_at_one_end_or_both() {
    if !can_run("without_offloads_at_one_end_or_both") {
        return;
    }
    let off = "offload = false\n";
    for (test, near, far) in [("off-near", off, ""), ("off-far", "", off), ("off-both", off, off)] {
        let net = cut_pair(test, near, far);
        carries(&net, 3);
        for (host, said) in [("near", near), ("far", far)] {
            let works = net.status(host).unwrap()["offloads"]["tun_tcp"].as_bool().unwrap();
            assert_eq!(works, said.is_empty(), "{test} {host}");
            let shown = crate::net::airbraid(&["status", &net.daemon(host)]);
            assert_eq!(text(&shown.stdout).contains("without offloads: tun_tcp"), !said.is_empty(), "{test} {host}");
        }
    }
}

#[test]
fn with_a_thread_for_each_uplink_at_one_end_or_both() {
    if !can_run("with_a_thread_for_each_uplink_at_one_end_or_both") {
        return;
    }
    let on = "threads = true\n";
    for (test, near, far) in [("thread-near", on, ""), ("thread-both", on, on)] {
        let mut net = pair(test, 2, near, far);
        net.up("far");
        net.up("near");
        net.wait_members("near", 2);
        serve(&mut net);
        carries(&net, 3);
        // Another address: new sockets, and new threads for them.
        assert!(net.exec("near", &["ip", "link", "set", "l0", "down"]).status.success());
        carries(&net, 3);
        assert!(net.exec("near", &["ip", "link", "set", "l0", "up"]).status.success());
        carries(&net, 3);
    }
}

#[test]
fn one_frame_in_a_hundred_lost_is_one_segment() {
    if !can_run("one_frame_in_a_hundred_lost_is_one_segment") {
        return;
    }
    let net = cut_pair("lossy", "", "");
    // A qdisc on the way out would lose whole runs: they are cut behind it.
    let cut = net.exec("near", &["ethtool", "-K", "l0", "tx-udp-segmentation", "off"]);
    assert!(cut.status.success(), "{}", text(&cut.stderr));
    // Where frames come in, before anything joins them.
    let drop = "table netdev lossy { chain frames { type filter hook ingress device \"l0\" priority 0; numgen random mod 100 == 0 drop; }; }";
    let lossy = net.exec("far", &["nft", drop]);
    assert!(lossy.status.success(), "{}", text(&lossy.stderr));
    carries(&net, 3);
    let status = net.status("near").unwrap();
    let member = &status["peers"][0]["members"][0];
    let [sent, lost, spurious] =
        ["sent_packets", "lost_frames", "spurious_losses"].map(|key| member[key].as_f64().unwrap());
    // A host that is stopped for a while takes frames for lost whose acknowledgements are late.
    let lost = lost - spurious;
    // Where a run of 45 went with one of it, it would be a third.
    assert!(lost > 0.0 && lost < sent * 0.03 + 20.0, "{status}");
}
