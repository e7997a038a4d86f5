//! Notices: the words of an end on its members hold at the other end, also after a member has gone and come back.

use crate::pair;
use crate::turns::can_run;
use std::time::Duration;

#[test]
fn an_uplink_that_comes_back_has_the_rate_that_its_own_end_gives_it() {
    if !can_run("an_uplink_that_comes_back_has_the_rate_that_its_own_end_gives_it") {
        return;
    }
    let mut net = pair("notices", 2, "", "");
    let site = std::fs::read_to_string(net.file("near")).unwrap();
    std::fs::write(net.file("near"), site.replace("name = \"l1\"\n", "name = \"l1\"\nrate = \"1 Mbit/s\"\n")).unwrap();
    net.up("far");
    net.up("near");
    net.wait_members("near", 2);
    net.wait_members("far", 2);
    for _ in 0..2 {
        // The far end sends, and measures what carries it.
        for _ in 0..10 {
            net.ping("far", "10.77.0.1", 100, &["-s", "1000"]);
            std::thread::sleep(Duration::from_millis(100));
        }
        let status = net.status("far").unwrap();
        let members = status["peers"][0]["members"].as_array().unwrap();
        let capped = members.iter().find(|member| member["name"] == "l1").unwrap_or_else(|| panic!("{status}"));
        assert!(capped["rate_bps"].as_u64().is_some_and(|rate| rate <= 1_000_000), "{capped}\n{}", net.logs());
        net.ip("near", "link set l1 down");
        net.wait_members("far", 1);
        net.ip("near", "link set l1 up");
        net.wait_members("far", 2);
    }
}
