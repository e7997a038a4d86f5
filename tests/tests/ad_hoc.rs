//! Networks without infrastructure: AODV and the multi-channel MACs in whole runs.
//!
//! The books balance and everything drains, no data frame is sent that its receiver has not granted, a radio does one
//! thing at a time, and what the seed draws is the same for every MAC.

use airbraid_mac::{Access, Address, Frame, FrameKind};
use airbraid_sim::scenario::spec::Mobility;
use airbraid_sim::{DropReason, FrameEvent, Loss, Msdu, MsduKind, NodeId, Observer, RadioId, Record, World, drawn};
use airbraid_tests::{run, spec, spec_of_file};
use airbraid_units::{Duration, Instant};
use proptest::prelude::*;
use std::cell::RefCell;

/// A network of few nodes in a small square, one moving, with ARP by odd seeds.
fn network(mac: &str, constants: &str, nodes: usize, flows: usize, settings: &str, seed: u64) -> String {
    let arp = seed % 2 == 1;
    format!(
        r#"
schema  = 1
title   = "Random"
question = "Do the books balance?"
routing = {{ protocol = "aodv", constants = "{constants}", arp = {arp} }}
run     = {{ duration = "120 s", seed = {seed} }}
radio   = {{ standard = "802.11b", mac = "{mac}", rate = "1 Mbit/s", carrier_sense_range = "250 m", rts_threshold = "0 byte", {settings} }}
node    = [{{ name = "walker", position = ["0 m", "0 m"], velocity = ["20 m/s", "10 m/s"], radios = [1] }}]
[topology]
shape   = "random"
count   = {nodes}
area    = ["600 m", "400 m"]
radios  = [1]
[[flow]]
name    = "f"
count   = {flows}
from    = "random"
to      = "random"
source  = {{ file = "20 kB" }}
transport = {{ tcp = "newreno", mss = "984 byte", window = 8 }}
start_jitter = "2 s"
[[flow]]
name    = "moving"
from    = "walker"
to      = "n1"
transport = "udp"
source  = {{ rate = "40 kbit/s" }}
stop    = "20 s"
"#
    )
}

const MACS: [&str; 3] = ["dcf", "mcmac", "bi_mcmac"];

/// The transmissions, one entry a frame.
#[derive(Debug, Default)]
struct Sent(Vec<(RadioId, Frame<Msdu>, Instant)>);

/// Writes down every transmission.
#[derive(Debug)]
struct Witness<'a>(&'a RefCell<Sent>);

impl Observer for Witness<'_> {
    fn on_transmission(&mut self, _now: Instant, event: &FrameEvent<'_>, _access: Access) {
        self.0.borrow_mut().0.push((event.radio, *event.frame, event.start));
    }
    fn on_reception(&mut self, _now: Instant, _event: &FrameEvent<'_>, _dbm: f64, _result: Result<(), Loss>) {}
    fn on_drop(&mut self, _now: Instant, _node: NodeId, _packet: &Record, _reason: DropReason) {}
    fn on_delivery(&mut self, _now: Instant, _node: NodeId, _packet: &Record) {}
}

fn airtime(frame: &Frame<Msdu>) -> Duration {
    Duration::from_micros(192) + frame.rate.bit_rate.time_for(frame.size)
}

/// Whether the receiver of a data frame has granted the time: by its CTS, or by its CRN for the answer.
fn is_granted(sent: &[(RadioId, Frame<Msdu>, Instant)], place: usize) -> bool {
    let (_, data, at) = &sent[place];
    // The longest grant is two data frames with what belongs to them.
    let recent = sent[..place].iter().rev().take_while(|(_, _, start)| *at < *start + Duration::from_millis(60));
    recent.into_iter().any(|(_, frame, start)| {
        let end = *start + airtime(frame);
        matches!(frame.kind, FrameKind::Cts | FrameKind::Crn)
            && (frame.from, frame.to) == (data.to, data.from)
            && end <= *at
            // Duration fields count in microseconds, and frames need some to arrive.
            && *at + airtime(data) <= end + frame.nav + Duration::from_micros(20)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_books_balance_and_everything_drains(
        mac in 0usize..3, ns2: bool, nodes in 2usize..12, flows in 1usize..5, skip: bool, batch in 1u32..4,
        switching in prop::sample::select(vec![0u32, 80]), queue in 2u32..50, seed in 0u64..1_000,
    ) {
        let scheduling = if skip { "skip_busy" } else { "fifo" };
        let settings = format!(
            "queue = {queue}, batch = {batch}, scheduling = \"{scheduling}\", switching_time = \"{switching} us\""
        );
        let constants = if ns2 { "ns2" } else { "rfc3561" };
        let text = network(MACS[mac], constants, nodes, flows, &settings, seed);
        let spec = spec(&text);
        let result = run(&spec).result;
        let (data, finished) = (result.packets, result.flows.iter().filter(|flow| flow.completion_s.is_some()).count());
        // A connection whose ends have parted goes on trying; nothing else is left.
        prop_assert!(data.in_flight <= 70 * (flows + 1 - finished) as u64, "{:?} {:?}\n{}", data, result.drops, text);
        // With ARP one packet a neighbour may wait for an answer that nobody asks for again.
        let waiting = if seed % 2 == 1 { (nodes * nodes) as u64 } else { 0 };
        prop_assert!(finished < flows || data.in_flight <= waiting, "{:?} {:?}\n{}", data, result.drops, text);
        prop_assert!(data.offered > 0);
        // The reading of RFC 3561 that is named has no loops, whatever moves.
        prop_assert!(ns2 || result.routing.unwrap().loops == 0, "{}", text);
    }

    #[test]
    fn no_data_without_a_grant_and_one_use_of_a_transceiver_at_a_time(
        bidirectional: bool, nodes in 2usize..12, flows in 1usize..5, switching in prop::sample::select(vec![0u32, 80]),
        batch in 1u32..3, seed in 0u64..1_000,
    ) {
        let settings = format!("switching_time = \"{switching} us\", batch = {batch}");
        let mac = if bidirectional { "bi_mcmac" } else { "mcmac" };
        let text = network(mac, "ns2", nodes, flows, &settings, seed);
        let spec = spec(&text);
        let spec = drawn(&spec, seed);
        let sent = RefCell::new(Sent::default());
        let mut world = World::new(&spec, seed, Some(Box::new(Witness(&sent)))).unwrap();
        world.run(&mut |_| true).unwrap();
        drop(world);
        let mut sent = sent.into_inner().0;
        sent.sort_by_key(|(radio, _, start)| (*start, *radio));
        let mut data = 0;
        for (place, (_, frame, _)) in sent.iter().enumerate() {
            if frame.kind == FrameKind::Data && frame.to != Address::BROADCAST {
                data += 1;
                prop_assert!(is_granted(&sent, place), "{:?}\n{}", sent[place], text);
            }
        }
        prop_assert!(data > 0 || nodes < 4, "{}", text);
        sent.sort_by_key(|(radio, _, start)| (*radio, *start));
        for pair in sent.windows(2) {
            let same = pair[0].0 == pair[1].0;
            prop_assert!(!same || pair[0].2 + airtime(&pair[0].1) <= pair[1].2, "{:?}\n{}", pair, text);
        }
    }
}

/// Checks that each copy of a packet on the air has come as many hops as its sender is away from its source. Nodes are
/// in a chain, each with one radio.
#[derive(Debug)]
struct HopsOfCopies<'a>(&'a RefCell<(u32, u32)>);

impl Observer for HopsOfCopies<'_> {
    fn on_transmission(&mut self, _now: Instant, event: &FrameEvent<'_>, _access: Access) {
        let Some(Msdu { kind: MsduKind::Routed { hops, .. }, .. }) = event.frame.payload else { return };
        let Some(packet) = event.packet else { return };
        let (copies, again) = &mut *self.0.borrow_mut();
        assert_eq!(
            usize::from(hops),
            event.radio.index().abs_diff(packet.from.router().0 as usize),
            "of {}",
            event.radio.index()
        );
        (*copies, *again) = (*copies + 1, *again + u32::from(event.frame.retry));
    }
    fn on_reception(&mut self, _now: Instant, _event: &FrameEvent<'_>, _dbm: f64, _result: Result<(), Loss>) {}
    fn on_drop(&mut self, _now: Instant, _node: NodeId, _packet: &Record, _reason: DropReason) {}
    fn on_delivery(&mut self, _now: Instant, _node: NodeId, _packet: &Record) {}
}

/// A neighbour has a packet and its acknowledgement is lost: the copy that goes on counts hops, the one that is sent
/// again does not. Where both counted in one place, ns-2's repair began on the wrong side of the chain: 11 nodes at 11
/// Mbit/s had 10 % less than ns-2.
#[test]
fn a_packet_that_is_sent_again_has_the_hops_of_its_own_copy() {
    let settings =
        ["radio.rts_threshold=\"3000 byte\"", "topology.count=8", "run.replications=1", "run.duration=\"40 s\""];
    for routing in ["\"aodv\"", "{ protocol = \"aodv\", constants = \"ns2\" }"] {
        let routing = format!("routing={routing}");
        let mut set: Vec<&str> = settings.to_vec();
        set.push(&routing);
        let spec = spec_of_file("examples/chain_aodv.toml", &set);
        let counted = RefCell::new((0, 0));
        let mut world = World::new(&spec, 5, Some(Box::new(HopsOfCopies(&counted)))).unwrap();
        world.run(&mut |_| true).unwrap();
        drop(world);
        let (copies, again) = counted.into_inner();
        assert!(copies > 10_000 && again > 1_000, "{copies} copies, {again} of them sent again");
    }
}

#[test]
fn a_seed_draws_the_same_network_for_every_mac_and_the_same_first_flows_for_any_number() {
    let cell = |mac: &str, count: u32| {
        let set = [format!("radio.mac=\"{mac}\""), format!("flow.pair.count={count}")];
        spec_of_file("kuang2004/random.toml", &[&set[0], &set[1]])
    };
    let ends = |spec: &airbraid_sim::scenario::spec::Spec| -> Vec<_> {
        spec.flows.iter().map(|flow| (flow.from, flow.to, flow.start)).collect()
    };
    let (dcf, bi, few) = (cell("dcf", 12), cell("bi_mcmac", 12), cell("dcf", 4));
    let (dcf, bi, few) = (drawn(&dcf, 7), drawn(&bi, 7), drawn(&few, 7));
    let places = |spec: &airbraid_sim::scenario::spec::Spec| -> Vec<_> {
        spec.nodes.iter().map(|node| (node.position.x.0.to_bits(), node.position.y.0.to_bits())).collect()
    };
    assert_eq!(places(&dcf), places(&bi));
    assert_eq!(ends(&dcf), ends(&bi));
    assert_eq!(ends(&dcf)[..4], ends(&few)[..]);
    assert!(dcf.flows.iter().all(|flow| flow.from != flow.to));
    assert!(dcf.nodes.iter().all(|node| (0.0..500.0).contains(&node.position.x.0)));
    let other = cell("dcf", 12);
    assert_ne!(ends(&drawn(&other, 8)), ends(&dcf));
}

#[test]
fn nodes_that_walk_keep_to_their_speed_and_area_and_go_the_same_ways_under_every_mac() {
    let cell = |mac: &str| {
        let set = [format!("radio.mac=\"{mac}\""), "topology.speed=\"5 m/s\"".into(), "topology.pause=\"2 s\"".into()];
        spec_of_file("kuang2004/mobile.toml", &[&set[0], &set[1], &set[2]])
    };
    let (dcf, bi) = (cell("dcf"), cell("bi_mcmac"));
    let (dcf, bi) = (drawn(&dcf, 3), drawn(&bi, 3));
    let end = Instant::ZERO + dcf.duration;
    let mut rests = 0;
    for (node, other) in dcf.nodes.iter().zip(&bi.nodes) {
        assert_eq!(node.mobility, other.mobility);
        let Mobility::Waypoints(points) = &node.mobility else { panic!("{} stays", node.name) };
        assert!(points.last().unwrap().0 >= end);
        let (mut from, mut left) = (node.position, Instant::ZERO);
        for &(at, to) in points {
            assert!((0.0..800.0).contains(&to.x.0) && (0.0..500.0).contains(&to.y.0));
            let (east, north, seconds) = (to.x.0 - from.x.0, to.y.0 - from.y.0, (at - left).as_secs_f64());
            let metres = (east * east + north * north).sqrt();
            let is_rest = metres == 0.0 && (seconds - 2.0).abs() < 1e-9;
            assert!(is_rest || (metres / seconds - 5.0).abs() < 1e-3, "{metres} m in {seconds} s");
            rests += u32::from(is_rest);
            (from, left) = (to, at);
        }
    }
    assert!(rests > 50);
    assert_ne!(drawn(&cell("dcf"), 4).nodes[0].mobility, dcf.nodes[0].mobility);
}

/// Kuang and Williamson 2004, section 5.2.2: 754.0, 710.5 and 765.4 kbit/s, here within 1 %.
#[test]
fn two_nodes_get_what_the_paper_printed() {
    for (mac, paper) in [("dcf", 754.0e3), ("mcmac", 710.5e3), ("bi_mcmac", 765.4e3)] {
        let spec = spec_of_file("kuang2004/chain.toml", &["topology.count=2", &format!("radio.mac=\"{mac}\"")]);
        let ours = run(&spec).result.total.ip_throughput_bps;
        assert!((ours / paper - 1.0).abs() < 0.01, "{mac}: {ours} beside {paper}");
    }
}

/// The same with ns-2.35's overhead and payload beside its results: with limits of 20 and at 4 nodes within 3 %, with
/// the literal limits of 7 and 4 at 8 and 12 nodes within its own scatter (20 seeds: 73.9 ± 11.0, 56.9 ± 8.0 kbit/s).
/// At 4 nodes these limits give 205.5 ± 2.5 in ns-2 by 20 seeds; five other seeds gave 203.6 ± 2.3, which is 3.4 % less
/// than here.
#[test]
fn a_chain_gets_what_ns_2_gives() {
    let cases = [
        (2, 20, 20, 755.0e3, 0.03),
        (4, 20, 20, 224.0e3, 0.03),
        (12, 20, 20, 129.6e3, 0.03),
        (4, 7, 4, 205.5e3, 0.03),
        (8, 7, 4, 73.9e3, 11.0 / 73.9),
        (12, 7, 4, 56.9e3, 8.0 / 56.9),
    ];
    for (nodes, short, long, peer, tolerance) in cases {
        let set = [
            format!("topology.count={nodes}"),
            format!("radio.short_retry_limit={short}"),
            format!("radio.long_retry_limit={long}"),
            "radio.llc_header=\"6 byte\"".to_owned(),
            "flow.data.transport.mss=\"1024 byte\"".to_owned(),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let mut spec = spec_of_file("kuang2004/chain.toml", &set);
        let runs = 5;
        let mut sum = 0.0;
        for seed in 1..=runs {
            spec.seed = seed;
            sum += run(&spec).result.total.ip_throughput_bps;
        }
        let ours = sum / runs as f64;
        assert!((ours / peer - 1.0).abs() < tolerance, "{nodes} nodes, limits {short}/{long}: {ours} beside {peer}");
    }
}
