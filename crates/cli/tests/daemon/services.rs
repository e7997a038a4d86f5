//! Services behind a gateway: what only one uplink may carry, and what no metered one may, in both directions. The DSCP
//! of a packet is copied outward, so each provider counts what it carries of each kind.

use crate::gateway::{HUB, WEB, internet, nft, seen_of, serve, sites};
use crate::net::{Net, airbraid, text};
use crate::turns::can_run;

/// Calls by DSCP, the web by port, and a network by its prefix; at the hub they are those of one peer.
const SERVICES: &str = "[[service]]\nname = \"calls\"\ndscp = \"EF\"\nonly = \"dsl\"\n{peer}\
     [[service]]\nname = \"web\"\nprotocol = \"tcp\"\nport = [80, \"8000-8100\"]\nmetered = false\n{peer}\
     [[service]]\nname = \"branch\"\nnetwork = [\"2001:db8:9::/64\"]\nonly = [\"lte\"]\n{peer}";

/// Packets of each kind that a provider has seen: EF, AF21, CS1.
fn seen(net: &Net, provider: &str) -> [u64; 3] {
    let said = text(&net.exec(provider, &["nft", "list", "table", "ip", "count"]).stdout);
    ["ef", "af21", "cs1"].map(|kind| {
        let line = said.lines().find(|line| line.contains(&format!("dscp {kind} "))).unwrap();
        line.split("packets ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap()
    })
}

/// The packets of each kind that the providers have seen during `act`.
fn during(net: &Net, act: impl FnOnce()) -> [[u64; 3]; 2] {
    let before = ["ispa", "ispb"].map(|provider| seen(net, provider));
    act();
    // What is acknowledged late, or copied, is on its way.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let after = ["ispa", "ispb"].map(|provider| seen(net, provider));
    [0, 1].map(|at| [0, 1, 2].map(|kind| after[at][kind] - before[at][kind]))
}

/// The files with or without services, read again where the daemons run.
fn write(net: &Net, keys: &[String; 2], services: &str) {
    for (host, (file, peer)) in ["office", "hub"].into_iter().zip(keys.iter().zip(["", "peer = \"office\"\n"])) {
        std::fs::write(net.file(host), format!("{file}{}", services.replace("{peer}", peer))).unwrap();
        if net.status(host).is_some() {
            let done = airbraid(&["reload", &net.daemon(host)]);
            assert!(done.status.success(), "{}", text(&done.stderr));
        }
    }
}

#[test]
fn a_service_goes_by_the_uplinks_that_may_carry_it_and_by_no_other() {
    if !can_run("a_service_goes_by_the_uplinks_that_may_carry_it_and_by_no_other") {
        return;
    }
    let mut net = internet("services");
    sites(&net, "");
    serve(&net);
    for provider in ["ispa", "ispb"] {
        let rules = ["ef", "af21", "cs1"].map(|kind| format!("ip dscp {kind} udp length > 0 counter\n")).concat();
        let rules = format!("type filter hook prerouting priority -300;\n{rules}");
        nft(&net, provider, &format!("table ip count {{\nchain c {{\n{rules}}}\n}}"));
    }
    // Both ends of the web mark it.
    for (host, hook, way) in [("pc", "output", "dport"), ("web", "output", "sport")] {
        let rule = format!("type filter hook {hook} priority 0; tcp {way} 80 ip dscp set af21");
        nft(&net, host, &format!("table ip m {{\nchain o {{\n{rule}\n}}\n}}"));
    }
    let office = std::fs::read_to_string(net.file("office")).unwrap();
    let files = [
        office.replace("name = \"lte\"\n", "name = \"lte\"\nmetered = true\n"),
        std::fs::read_to_string(net.file("hub")).unwrap(),
    ];
    write(&net, &files, "");
    net.up("hub");
    net.up("office");
    net.wait_members("office", 2);
    net.wait_members("hub", 2);
    let calls = |count| net.ping("pc", WEB[0], count, &["-Q", "0xb8"]);
    let branch = |count| net.ping("pc", WEB[1], count, &["-Q", "0x20"]);
    let [a, b] = during(&net, || assert_eq!(calls(5), 5));
    assert!(a[0] > 0 && b[0] > 0, "short packets of real-time class go on both: {a:?} {b:?}");

    write(&net, &files, SERVICES);
    let [a, b] = during(&net, || {
        assert_eq!(calls(20), 20, "{}", net.logs());
        assert_eq!(branch(20), 20, "{}", net.logs());
        (0..5).for_each(|_| assert_eq!(seen_of(&net, "pc", WEB[0]), HUB[0], "{}", net.logs()));
    });
    // What the daemon sends as one to the kernel counts once.
    assert!(a[0] > 0 && a[1] > 0 && a[2] == 0, "the first provider has calls and the web: {a:?} {b:?}");
    assert!(b[0] == 0 && b[1] == 0 && b[2] > 0, "the metered one has the branch alone: {a:?} {b:?}");

    // Without its uplink a service rests, whatever else works.
    net.ip("office", "link set dsl down");
    net.wait_members("office", 1);
    net.wait_members("hub", 1);
    let [a, b] = during(&net, || {
        assert_eq!((calls(3), seen_of(&net, "pc", WEB[0]).as_str()), (0, ""), "{}", net.logs());
        assert_eq!((branch(3), net.ping("pc", WEB[0], 3, &[])), (3, 3), "the rest goes on\n{}", net.logs());
    });
    assert_eq!(([a[0], a[1]], [b[0], b[1]]), ([0; 2], [0; 2]));
    write(&net, &files, "");
    assert_eq!((calls(3), seen_of(&net, "pc", WEB[0]).as_str()), (3, HUB[0]), "no service any more\n{}", net.logs());
    write(&net, &files, SERVICES);
    net.ip("office", "link set dsl up");
    net.ip("office", "route add default via 10.1.0.1 metric 100");
    net.wait_members("office", 2);
    net.wait_members("hub", 2);
    let [_, b] = during(&net, || {
        assert_eq!((calls(5), seen_of(&net, "pc", WEB[0]).as_str()), (5, HUB[0]), "it is back\n{}", net.logs());
    });
    assert_eq!([b[0], b[1]], [0; 2]);
}
