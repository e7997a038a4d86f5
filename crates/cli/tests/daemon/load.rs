//! A peer connects while strangers send as much as they can, and garbage costs next to nothing, for any number of
//! peers.

use crate::flood::{EVENLY, Kind, connects, flood, garbage_costs, hub, messages, start_hub};
use crate::turns::can_run_alone;
use std::time::Duration;

#[test]
fn a_client_connects_while_strangers_flood() {
    if !can_run_alone("a_client_connects_while_strangers_flood") {
        return;
    }
    let (mut net, far) = hub("flood", 0);
    start_hub(&mut net);
    let flood = flood(messages(&net, &far, 50, Kind::Both), 20_000, EVENLY);
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..3 {
        let took = connects(&mut net, Duration::from_secs(20));
        assert!(took.is_some_and(|took| took < Duration::from_secs(3)), "{took:?}\n{}", net.logs());
    }
    drop(flood);
    let status =
        net.wait("far", "it has refused", |status| status["refused_handshakes"]["overload"].as_u64() > Some(0));
    assert!(status["refused_handshakes"]["nocookie"].as_u64() > Some(0), "{status}");
}

#[test]
fn garbage_costs_the_same_with_many_peers() {
    if !can_run_alone("garbage_costs_the_same_with_many_peers") {
        return;
    }
    let few = garbage_costs("few", 0, &[0]);
    let many = garbage_costs("crowd", 4_000, &[0]);
    assert!(many < 3.0 * few, "{few:.0} ns with one peer, {many:.0} with 4,001");
}
