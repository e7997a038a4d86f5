//! Two ends behind address translators that neither can go through to the other: what a hub that both reach does for them.

use crate::net::{Keys, Net, can_run, text};

/// A client behind a translator that takes another port for each destination.
fn client(net: &mut Net, number: u8, own: &Keys, hub: &Keys) {
    let (host, router) = (format!("c{number}"), format!("r{number}"));
    let address = |net: u8, last: u8| format!("10.{net}.{number}.{last}/24");
    net.link(&format!("in{number}"), [&host, &router], [&address(1, 1), &address(1, 2)]);
    net.link(&format!("out{number}"), [&router, "hub"], [&address(2, 1), &address(2, 2)]);
    net.ip(&host, &format!("route add default via 10.1.{number}.2"));
    assert!(net.exec(&router, &["sysctl", "-qw", "net.ipv4.ip_forward=1"]).status.success());
    let rules = format!(
        "table ip t {{\nchain o {{ type nat hook postrouting priority 100; oifname \"out{number}\" masquerade fully-random; }};\n}}"
    );
    let file = net.folder.join(format!("{router}.nft"));
    std::fs::write(&file, rules).unwrap();
    let done = net.exec(&router, &["nft", "-f", &file.display().to_string()]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let site = format!(
        "[interface]\naddress = [\"10.77.0.{number}/24\"]\nprivate_key = \"{{key}}\"\n[[uplink]]\nname = \"in{number}\"\n\
         [[peer]]\nname = \"hub\"\npublic_key = \"{}\"\nendpoint = \"10.2.{number}.2:5182\"\nallowed = [\"10.77.0.0/24\"]\n",
        hub.public
    );
    net.site(&host, own, &site);
}

#[test]
fn two_ends_behind_translators_reach_each_other_through_a_hub() {
    if !can_run("two_ends_behind_translators_reach_each_other_through_a_hub") {
        return;
    }
    let mut net = Net::new("through", &["hub", "r1", "r2", "c1", "c2"]);
    let (hub, one, two) = (Keys::new(), Keys::new(), Keys::new());
    client(&mut net, 1, &one, &hub);
    client(&mut net, 2, &two, &hub);
    let peer = |number: u8, keys: &Keys| {
        format!(
            "[[peer]]\nname = \"c{number}\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.{number}/32\"]\n",
            keys.public
        )
    };
    let site = format!(
        "[interface]\naddress = [\"10.77.0.254/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n{}{}",
        peer(1, &one),
        peer(2, &two)
    );
    net.site("hub", &hub, &site);
    assert!(net.exec("hub", &["sysctl", "-qw", "net.ipv4.ip_forward=1"]).status.success());
    ["hub", "c1", "c2"].into_iter().for_each(|host| net.up(host));
    ["c1", "c2"].into_iter().for_each(|host| drop(net.wait_members(host, 1)));
    net.wait_members("hub", 2);
    assert_eq!(net.ping("c1", "10.77.0.2", 5, &[]), 5, "{}", net.logs());
    assert_eq!(net.ping("c2", "10.77.0.1", 5, &["-s", "1200"]), 5, "{}", net.logs());
    let status = net.status("hub").unwrap();
    let got = |peer: usize| status["peers"][peer]["received_packets"].as_u64().unwrap();
    assert!(got(0) >= 10 && got(1) >= 10, "{status}");
}
