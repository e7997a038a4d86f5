//! Selective repeat over a plain link, as scenarios have it: whatever the link loses and delays, packets come once and
//! in the order in which they were sent; all of them, with perpetual persistence, once the link carries again.

use airbraid_sim::scenario::mark;
use airbraid_sim::{Delivery, External, NodeId, PayloadHandle, World};
use airbraid_tests::{run, spec};
use airbraid_units::{Duration, Instant};
use proptest::prelude::*;

/// A link that loses these shares of packets, forth and back, for two seconds, and none from then on. The slowest case,
/// a window of one with 200 packets in the shortest segments, takes more than five minutes.
fn scenario(losses: [f64; 2], delay: u32, reorder: bool, keys: &str) -> String {
    let [forward, backward] = losses;
    format!(
        r#"
schema = 1
title  = "Random"
question = "Does each packet come once, and in order?"
[run]
duration = "3000 s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name       = "wan"
between    = ["a", "b"]
rate       = "2 Mbit/s"
delay      = "{delay} ms"
jitter     = "{delay} ms"
reorder    = {reorder}
queue      = 64
forward    = {{ loss = {forward} }}
backward   = {{ loss = {backward} }}
link_layer = {{ {keys} }}
[[flow]]
name   = "none"
from   = "a"
to     = "b"
source = {{ file = "1 byte" }}
start  = "2999 s"
[[at]]
time = "2 s"
link = "wan"
loss = "none"
"#
    )
}

/// Sends packets of these lengths from a to b, one in 10 ms: returns those that arrive, in their order, and the number
/// of lost ones.
fn carry(text: &str, lengths: &[u32], seed: u64) -> (Vec<u32>, usize) {
    let spec = spec(text);
    let mut world = World::new(&spec, seed, None).unwrap();
    world.open_to_outside();
    let [from, to] = [0, 1].map(NodeId::new);
    for (index, &len) in lengths.iter().enumerate() {
        world.run_until(Instant::ZERO + Duration::from_millis(10) * index as u64, &mut |_| {});
        let handle = PayloadHandle::new(index);
        world.inject(&External {
            handle,
            from,
            to,
            via: None,
            len,
            bucket: 0,
            mark: mark::of_code_point(0),
            is_acknowledgement: false,
        });
    }
    world.run_until(Instant::ZERO + Duration::from_secs(2_990), &mut |_| {});
    let (mut deliveries, mut gone): (Vec<Delivery>, Vec<PayloadHandle>) = (vec![], vec![]);
    world.take_deliveries(&mut deliveries);
    world.take_released(&mut gone);
    (deliveries.iter().map(|delivery| delivery.handle.index() as u32).collect(), gone.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn all_come_once_and_in_order_when_the_link_has_healed(
        forward in 0.0f64..=1.0, backward in 0.0f64..=1.0, delay in 0u32..80, reorder: bool, window in 1u32..=64,
        policy in prop::sample::select(vec!["whole", "robust", "flex", "goodput"]),
        lengths in prop::collection::vec(1u32..3_000, 1..200), seed: u64,
    ) {
        let keys = format!("policy = \"{policy}\", window = {window}, queue = 1000, timeout = \"400 ms\"");
        let (came, gone) = carry(&scenario([forward, backward], delay, reorder, &keys), &lengths, seed);
        let all: Vec<u32> = (0..lengths.len() as u32).collect();
        prop_assert!(came == all, "{} of {} came", came.len(), all.len());
        prop_assert_eq!(gone, all.len());
    }

    #[test]
    fn with_limits_what_comes_is_in_order_and_nothing_stays(
        forward in 0.0f64..=1.0, backward in 0.0f64..=1.0, delay in 0u32..80, reorder: bool, window in 1u32..=64,
        retransmissions in 0u32..4, lengths in prop::collection::vec(1u32..3_000, 1..200), seed: u64,
    ) {
        let keys = format!("policy = \"flex\", window = {window}, queue = 9, retransmissions = {retransmissions}, lifetime = \"700 ms\"");
        let (came, gone) = carry(&scenario([forward, backward], delay, reorder, &keys), &lengths, seed);
        prop_assert!(came.is_sorted_by(|a, b| a < b), "{came:?}");
        prop_assert_eq!(gone, lengths.len());
    }
}

/// The example's claim, on the same seed: TCP gains at least three times, and sees none of the losses.
#[test]
fn tcp_over_a_lossy_50_ms_link_gains() {
    let goodput = |repaired: bool| {
        let keys = "policy = \"whole\", window = 64";
        let text = scenario([0.01, 0.01], 50, false, keys).replace("3000 s", "30 s").replace("2999 s", "0 s");
        let text = text.replace("{ file = \"1 byte\" }", "\"greedy\"").replace("time = \"2 s\"", "time = \"29.9 s\"");
        let text = if repaired { text } else { text.replace("link_layer", "# link_layer") };
        let result = run(&spec(&text)).result;
        (result.flows[0].goodput_bps, result.flows[0].tcp.timeouts)
    };
    let (without, _) = goodput(false);
    let (with, timeouts) = goodput(true);
    assert!(with > 1.5 * without, "{with} {without}");
    assert_eq!(timeouts, 0);
}
