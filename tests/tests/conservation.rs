//! Nothing vanishes and nothing multiplies: whatever the scenario, offered = delivered + dropped + in flight, and once
//! the sources have stopped and the queues have drained nothing is in flight any more.

use airbraid_tests::{run, spec};
use proptest::prelude::*;
use std::fmt::Write;

/// One flow in a random scenario: from, to (steps further on), transport and source.
type FlowChoice = (usize, usize, usize, usize);

fn scenario(
    nodes: usize,
    flows: &[FlowChoice],
    [ber, rts, trunk, repaired]: [bool; 4],
    queue: u32,
    seed: u32,
) -> String {
    let error = if ber { "{ ber = 1e-5 }" } else { "\"none\"" };
    let threshold = if rts { 0 } else { 3000 };
    // Every other scenario with bit errors also loses packets behind the MAC.
    let lost = if ber && seed.is_multiple_of(2) { "5 %" } else { "none" };
    let mut text = format!(
        r#"
schema = 1
title  = "Random"
question = "Do the books balance?"
[run]
duration = "120 s"
seed     = {seed}
[radio]
standard            = "802.11b"
rate                = "11 Mbit/s"
reception_range     = "250 m"
carrier_sense_range = "400 m"
error               = {error}
rts_threshold       = "{threshold} byte"
queue               = {queue}
delivery_loss       = "{lost}"
"#
    );
    for node in 0..nodes {
        let x = 200 * node;
        let radios = if trunk && node < 2 { "[1, 5, 9]" } else { "[1]" };
        let _ = write!(text, "[[node]]\nname = \"n{node}\"\nposition = [\"{x} m\", \"0 m\"]\nradios = {radios}\n");
    }
    if trunk {
        text.push_str("[[trunk]]\nname = \"air\"\nbetween = [\"n0\", \"n1\"]\npolicy = { queue = 8 }\n");
    }
    let far = nodes - 1;
    let repair = if repaired { "link_layer = { policy = \"flex\", queue = 7, retransmissions = 2 }\n" } else { "" };
    let _ = write!(
        text,
        "[[node]]\nname = \"wired\"\nposition = [\"0 m\", \"900 m\"]\nradios = []\n[[link]]\nname = \"wan\"\n\
         between = [\"n{far}\", \"wired\"]\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\njitter = \"3 ms\"\nqueue = 5\nloss = \"1 %\"\n{repair}"
    );
    for (number, (from, step, transport, source)) in flows.iter().enumerate() {
        let name = |index: usize| if index == nodes { "wired".to_owned() } else { format!("n{index}") };
        let (from, to) = (from % (nodes + 1), (from + 1 + step % nodes) % (nodes + 1));
        let transport =
            ["\"udp\"", "{ tcp = \"reno\" }", "{ tcp = \"newreno\" }", "{ tcp = \"sack\" }", "{ tcp = \"cubic\" }"]
                [transport % 5];
        let source = ["\"greedy\"", "{ rate = \"300 kbit/s\" }", "{ file = \"100 kB\" }"][source % 3];
        let _ = write!(
            text,
            "[[flow]]\nname = \"f{number}\"\nfrom = \"{}\"\nto = \"{}\"\ntransport = {transport}\nsource = {source}\nstop = \"3 s\"\n",
            name(from),
            name(to)
        );
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_books_balance_and_everything_drains(
        nodes in 2usize..6,
        flows in prop::collection::vec((0usize..8, 0usize..8, 0usize..5, 0usize..3), 1..5),
        ber: bool, rts: bool, trunk: bool, repaired: bool, queue in 1u32..60, seed in 0u32..1000,
    ) {
        let text = scenario(nodes, &flows, [ber, rts, trunk, repaired], queue, seed);
        // The run itself refuses to end with books that do not balance.
        let result = run(&spec(&text)).result;
        prop_assert_eq!(result.packets.in_flight, 0, "{:?} {:?}\n{}", result.packets, result.drops, text);
        prop_assert!(result.packets.offered > 0);
        let dropped: u64 = result.drops.values().sum();
        prop_assert_eq!(dropped, result.packets.dropped);
    }
}

#[test]
fn a_radio_loses_the_share_that_it_is_told_to() {
    let text = r#"
schema = 1
title  = "Losses behind the MAC"
question = "Is one datagram of fifty lost, and does the MAC not know?"
run    = { duration = "100 s" }
radio  = { standard = "802.11b" }
node   = [
  { name = "a", position = ["0 m", "0 m"], radios = [1] },
  { name = "b", position = ["50 m", "0 m"], radios = [{ channel = 1, delivery_loss = "2 %" }] },
]
flow   = [{ name = "f", from = "a", to = "b", transport = "udp", source = { rate = "1 Mbit/s" } }]
"#;
    let result = run(&spec(text)).result;
    let lost = result.drops.get("delivery_loss").copied().unwrap_or(0);
    let offered: f64 = result.packets.offered as f64;
    // Expected 2 %, five standard deviations of a binomial.
    let (expected, deviation) = (0.02 * offered, (0.02 * 0.98 * offered).sqrt());
    assert!(offered > 5_000.0 && (lost as f64 - expected).abs() < 5.0 * deviation, "{lost} of {offered}");
    assert!(result.macs.iter().all(|mac| mac.counts.retries == 0), "the MAC has acknowledged them");
}
