//! Block acknowledgement agreements that are set up by frames, in whole runs: what they cost beside those that are
//! given, and how many there are.

use airbraid_sim::result::{MacResult, RunResult};
use airbraid_sim::{RunOptions, run};
use airbraid_tests::spec;
use proptest::prelude::*;

/// Longest time that a setup takes from the packets of a sender alone: two frames of 76 us as voice, each after 34 us
/// and at most 3 slots, SIFS and an ACK of 44 us; the access of best effort with its 43 us and at most 15 slots, twice,
/// for its draws are shifted by one.
const SETUP_S: f64 = (2 * (34 + 3 * 9 + 76 + 16 + 44) + 2 * (43 + 15 * 9)) as f64 * 1e-6;

/// A radio of a format, width \[MHz\] and MCS.
#[derive(Clone, Copy, Debug)]
struct Radio(&'static str, u32, u32);

/// A device with a second link on 6 GHz, or a plain station.
fn radios(links: usize) -> &'static str {
    if links > 1 { "[36, { name = \"six\", channel = 37, band = \"6 GHz\" }]" } else { "[36]" }
}

/// Two nodes a metre apart, the first of which sends all it can.
fn scenario(Radio(standard, width, mcs): Radio, links: usize, keys: &str, more: &str) -> String {
    let node = |name: &str, metres: u32| {
        format!("[[node]]\nname = \"{name}\"\nposition = [\"{metres} m\", \"0 m\"]\nradios = {}\n", radios(links))
    };
    let trunk = "[[trunk]]\nname = \"t\"\nbetween = [\"a\", \"b\"]\nover = \"mld\"\n";
    format!(
        "schema = 1\ntitle = \"t\"\nquestion = \"q\"\n[run]\nduration = \"200 ms\"\n[radio]\nstandard = \"{standard}\"\n\
         band = \"5 GHz\"\nwidth = \"{width} MHz\"\nmcs = {mcs}\nqueue = 6000\n{keys}\n{}{}{}\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ udp = \"1472 byte\" }}\n{more}",
        node("a", 0),
        node("b", 1),
        if links > 1 { trunk } else { "" },
    )
}

fn result(text: &str, seed: u64) -> RunResult {
    run(&spec(text), seed, RunOptions::default()).unwrap().result
}

fn macs<'a>(result: &'a RunResult, node: &'a str) -> impl Iterator<Item = &'a MacResult> {
    result.macs.iter().filter(move |mac| mac.node == node)
}

/// The sum of a count of agreements over the radios of a node.
fn agreements(result: &RunResult, node: &str) -> u64 {
    macs(result, node).filter_map(|mac| mac.agreements.as_ref()).map(|counts| counts.agreements).sum()
}

fn any_radio() -> impl Strategy<Value = Radio> {
    prop_oneof![
        (0u32..8).prop_map(|mcs| Radio("802.11n", 20, mcs)),
        (0u32..10).prop_map(|mcs| Radio("802.11ac", 80, mcs)),
        (0u32..12).prop_map(|mcs| Radio("802.11ax", 20, mcs)),
        (0u32..12).prop_map(|mcs| Radio("802.11ax", 160, mcs)),
        (0u32..14).prop_map(|mcs| Radio("802.11be", 80, mcs)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Where nothing is lost, the packets that are missing are those of the setup, give or take a PPDU of each link
    /// that has not ended yet.
    #[test]
    fn a_setup_costs_its_time_and_nothing_more(radio in any_radio(), links in 1usize..3, seed in 0u64..1_000_000) {
        let links = if radio.0 == "802.11be" { links } else { 1 };
        let [given, frames] = ["given", "frames"].map(|setup| {
            result(&scenario(radio, links, &format!("block_ack_setup = \"{setup}\""), ""), seed)
        });
        let delivered = |result: &RunResult| result.flows[0].counts.0.delivered_bytes as f64;
        // On the device's links together; the longest that the results tell of.
        let longest = |result: &RunResult| -> f64 {
            let of = |mac: &MacResult| {
                let mpdus = mac.edca.as_ref().map_or(0, |edca| edca.mpdus);
                mpdus.div_ceil(mac.counts.data_frames.max(1)) as f64 + 1.0
            };
            macs(result, "a").map(of).sum::<f64>() * 1_472.0
        };
        let slack = longest(&given).max(longest(&frames));
        let missing = delivered(&given) - delivered(&frames);
        let setup = delivered(&given) / 0.2 * SETUP_S;
        prop_assert!(missing <= setup + slack && missing >= -slack, "{} of {}", missing, delivered(&given));
        prop_assert_eq!(agreements(&frames, "a"), 1);
        prop_assert!(given.macs.iter().all(|mac| mac.agreements.is_none()));
    }
}

/// Two TIDs of one direction, and the other direction.
#[test]
fn there_is_an_agreement_for_each_peer_and_tid() {
    let flow = |name: &str, from: &str, to: &str, access: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\naccess = \"{access}\"\n\
             transport = {{ udp = \"1472 byte\" }}\nsource = {{ rate = \"3 Mbit/s\" }}\n"
        )
    };
    let more = flow("v", "a", "b", "vi") + &flow("w", "b", "a", "be");
    let text = scenario(Radio("802.11ax", 80, 9), 1, "block_ack_setup = \"frames\"", &more);
    let result = result(&text, 5);
    assert_eq!((agreements(&result, "a"), agreements(&result, "b")), (2, 1));
    assert!(result.flows.iter().all(|flow| flow.counts.0.delivered_bytes > 0));
}

/// An access point with a window of 1024 and an older station with one of 64 agree on 64.
#[test]
fn the_window_is_that_of_the_end_that_has_less() {
    let of = |window: u32| {
        let text = scenario(Radio("802.11be", 80, 11), 1, "block_ack_setup = \"frames\"", "");
        let short = format!("name = \"b\"\nradio = {{ block_ack_window = {window} }}");
        let result = result(&text.replace("name = \"b\"", &short), 3);
        let mac = macs(&result, "a").next().unwrap();
        (mac.edca.as_ref().unwrap().mpdus / mac.counts.data_frames, result.flows[0].goodput_bps)
    };
    let (full, short) = (of(1_024), of(64));
    // A PPDU at the end of the queue or of the run may be shorter.
    assert!((58..=64).contains(&short.0) && full.0 > 200, "{full:?} {short:?}");
    assert!(short.1 < full.1);
}

/// Of short packets and the frames of the setup many are lost, one bit in some hundreds being wrong. What was sent is
/// accounted for by the run itself; packets come in order, and many must go again.
#[test]
fn packets_come_in_order_where_much_is_lost() {
    let (mut again, mut asked) = (0, 0);
    for (ber, links) in [("3e-4", 1), ("1e-3", 1), ("2e-3", 1), ("1e-3", 2)] {
        let keys = format!("block_ack_setup = \"frames\"\nerror = {{ ber = {ber} }}");
        let text = scenario(Radio("802.11be", 20, 3), links, &keys, "").replace("1472 byte", "60 byte");
        // A second and more, for which packets may wait for a response.
        let text = text.replace("200 ms", "2500 ms");
        for seed in 0..6 {
            let result = result(&text, seed);
            let flow = &result.flows[0];
            assert_eq!(flow.arrivals.0.reordered, 0, "{ber}, {links} links, seed {seed}");
            assert!(flow.counts.0.delivered_bytes > 0, "{ber}, {links} links, seed {seed}");
            again += macs(&result, "a").map(|mac| mac.counts.retries).sum::<u64>();
            asked +=
                macs(&result, "a").filter_map(|mac| mac.agreements).map(|counts| counts.addba_requests).sum::<u64>();
        }
    }
    assert!(again > 1_000 && asked > 30, "{again} MPDUs again, {asked} requests");
}
