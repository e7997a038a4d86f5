//! The example of the design document, and every table's values where they end up.

use super::super::spec::{ChangeKind, Interface, Mobility, RadioTrunk, Transport};
use super::*;
use crate::phy::{ErrorModel, PathLoss, Threshold};
use airbraid_engine::trunk::LateMode;
use airbraid_engine::trunk::paper::{Distributor, Srr};
use airbraid_mac::dcf::DcfConfig;
use airbraid_mac::phy::{Preamble, Standard};
use airbraid_net::loss::Loss;
use airbraid_net::source::Source;
use airbraid_net::tcp::{Config, Profile, Variant};
use airbraid_units::{BitRate, Bytes, Db, Dbm, Duration, Instant, Metres, Probability};

const DESIGN: &str = include_str!("design.toml");

fn dcf(spec: &Spec, node: usize, radio: usize) -> DcfConfig {
    *spec.nodes[node].radios[radio].mac.dcf().unwrap()
}

#[test]
fn the_design_example_resolves_to_what_it_says() {
    // One cell of its sweep.
    let mut scenario = Scenario::parse("t.toml", DESIGN).unwrap();
    scenario.set("--set", "trunk.air.policy.distributor=round_robin").unwrap();
    let plan = scenario.plan().unwrap_or_else(|e| panic!("{e}"));
    let spec = &plan.cells[0].spec;
    assert_eq!(spec.title, "Three 802.11b channels as one trunk");
    assert_eq!(
        (spec.duration, spec.warm_up, spec.seed, spec.replications),
        (Duration::from_secs(250), Duration::ZERO, 1, 5)
    );
    assert_eq!(spec.nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["sender", "receiver"]);
    assert_eq!(spec.nodes[0].position.x, Metres(100.0));
    assert_eq!(
        spec.nodes[0].radios.iter().map(|r| (r.name.as_str(), r.channel)).collect::<Vec<_>>(),
        [("ch1", 1), ("ch5", 5), ("ch9", 9)]
    );
    let dcf = dcf(spec, 1, 2);
    assert_eq!(dcf.data_rate.bit_rate, BitRate::from_kbps(11_000));
    assert_eq!(dcf.control_rate.bit_rate, BitRate::from_kbps(1_000));
    assert_eq!(dcf.phy.preamble, Preamble::Long);
    assert_eq!(spec.trunks[0].radios().unwrap().members, [[0, 0], [1, 1], [2, 2]]);
    assert_eq!(spec.trunks[0].radios().unwrap().policy.distributor, Distributor::RoundRobin);
    assert_eq!(spec.trunks[0].radios().unwrap().policy.resequencer.increment, Duration::from_millis(1));
    assert!(matches!(spec.flows[0].transport, Transport::Tcp(c) if c.variant == Variant::NewReno));
    assert_eq!(spec.flows[0].source, Source::Greedy);
    let expectation = &plan.expectations[0];
    assert_eq!(
        (expectation.key.as_str(), expectation.min, expectation.line),
        ("flow.download.goodput_bps", Some(14e6), 44)
    );
    assert_eq!(expectation.cells, [0]);
}

#[test]
fn the_design_example_sweeps_over_distributors() {
    let plan = plan(DESIGN);
    let distributors: Vec<Distributor> =
        plan.cells.iter().map(|c| c.spec.trunks[0].radios().unwrap().policy.distributor).collect();
    assert_eq!(distributors, [Distributor::RoundRobin, Distributor::Srr(Srr::default())]);
    let [member_queues, headers] = [0, 1].map(|k| {
        let value = |t: &RadioTrunk| if k == 0 { u64::from(t.policy.member_limit) } else { t.header.as_u64() };
        plan.cells.iter().map(|c| value(c.spec.trunks[0].radios().unwrap())).collect::<Vec<_>>()
    });
    assert_eq!((member_queues, headers), (vec![1, 32], vec![4, 0]));
}

#[test]
fn policies_that_cannot_work_say_why() {
    let with = |policy: &str| errors(&DESIGN.replace("distributor = \"round_robin\"", policy));
    assert_eq!(with("distributor = \"earliest_delivery\""), "no error");
    let own_order = DESIGN.replace("timer = \"adaptive\"", "method = \"fifo\"");
    let text = errors(&own_order);
    assert!(text.contains("`srr` and `jkm` restore the order in their own way"), "{text}");
    let numbered = DESIGN.replace("distributor = \"round_robin\"", "numbering = \"arrival\"");
    let striping = |text: &str| text.replace("[\"round_robin\", \"srr\"]", "[\"round_robin\", \"earliest_delivery\"]");
    assert_eq!(errors(&striping(&numbered)), "no error");
    for text in [numbered.clone(), striping(&numbered).replace("timer = \"adaptive\"", "method = \"fifo\"")] {
        let text = errors(&text);
        assert!(text.contains("a number that no member carries is a gap that only a timer ends"), "{text}");
    }
    let text = with("member_queue = 60");
    assert!(text.contains("the trunk gives a radio up to 60 frames at once, and one has a queue of 50"), "{text}");
    let text = with("srr = { quantum = \"100 byte\" }");
    assert!(text.contains("a quantum of 100 byte cannot be used"), "{text}");
    let text = with("jkm = { window = 0 }");
    assert!(text.contains("a window of 0 packets cannot be had"), "{text}");
}

#[test]
fn defaults_are_those_of_the_documents() {
    let spec = spec(BASE);
    let radio = &spec.nodes[0].radios[0].radio;
    assert!((radio.power.0 - 24.5).abs() < 1e-4);
    assert_eq!(radio.path_loss, PathLoss::TwoRay);
    assert_eq!(radio.reception, Threshold::Range(Metres(250.0)));
    assert_eq!(radio.carrier_sense, Threshold::Range(Metres(550.0)));
    assert_eq!(radio.interference, radio.carrier_sense);
    assert_eq!((radio.capture, radio.error), (Some(Db(10.0)), ErrorModel::None));
    let mut expected = DcfConfig::new(Standard::Dot11b, Preamble::Long);
    expected.broadcast_rate = expected.control_rate;
    assert_eq!(dcf(&spec, 0, 0), expected);
    assert_eq!(spec.record.interval, Duration::from_secs(1));
    assert_eq!(spec.replications, 1);
}

#[test]
fn the_sinr_model_takes_powers_for_ranges() {
    let spec = spec(&BASE.replace("[radio]", "[radio]\nerror = \"sinr\""));
    let radio = &spec.nodes[0].radios[0].radio;
    assert_eq!(radio.reception, Threshold::Power(Dbm(-98.6)));
    assert_eq!(radio.carrier_sense, radio.reception);
    assert_eq!(radio.interference, Threshold::Power(Dbm(-103.6)));
    assert_eq!(radio.capture, None);
}

#[test]
fn a_radio_has_its_own_over_the_nodes_over_the_defaults() {
    let text = BASE.replacen(
        "radios = [1, 5]",
        "radio = { queue = 7, eifs = false }\nradios = [1, { name = \"five\", channel = 5, queue = 9, sensitivity = \"-80 dBm\", \
         carrier_sense = \"-90 dBm\" }]",
        1,
    );
    let text = text.replace("[[trunk]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\n", "");
    let spec = spec(&text.replace("[radio]", "[radio]\nqueue = 5\nreception_range = \"100 m\""));
    let limits = [(0, 0), (0, 1), (1, 0)].map(|(n, r)| (dcf(&spec, n, r).queue_limit, dcf(&spec, n, r).eifs));
    assert_eq!(limits, [(7, false), (9, false), (5, true)]);
    assert_eq!(spec.nodes[0].radios[1].name, "five");
    assert_eq!(spec.nodes[0].radios[1].radio.reception, Threshold::Power(Dbm(-80.0)));
    assert_eq!(spec.nodes[0].radios[0].radio.reception, Threshold::Range(Metres(100.0)));
}

#[test]
fn a_radio_of_another_standard_inherits_nothing_of_the_phy() {
    let text = BASE.replace("radios = [1, 5]", "radios = [1, { name = \"a5\", channel = 36, standard = \"802.11a\" }]");
    let spec = spec(&text.replace("[radio]", "[radio]\ncw_min = 63\nqueue = 9"));
    assert_eq!(dcf(&spec, 0, 0).cw_min, 63);
    let a = dcf(&spec, 0, 1);
    assert_eq!(
        (a.data_rate.bit_rate, a.control_rate.bit_rate, a.cw_min, a.queue_limit),
        (BitRate::from_kbps(54_000), BitRate::from_kbps(24_000), 15, 9)
    );
}

#[test]
fn every_table_ends_up_in_the_spec() {
    let spec = spec(include_str!("everything.toml"));
    let west = &spec.nodes[0];
    assert_eq!(dcf(&spec, 0, 0).short_retry_limit, None);
    assert_eq!(dcf(&spec, 0, 0).rts_threshold, Bytes::ZERO);
    assert_eq!(dcf(&spec, 0, 0).control_rate.bit_rate, BitRate::from_kbps(2_000));
    assert!(matches!(west.radios[0].radio.error, ErrorModel::Ber(p) if p.get() == 1e-5));
    assert_eq!(
        west.radios[0].radio.path_loss,
        PathLoss::LogDistance { exponent: 3.0, reference: Metres(1.0), loss: Db(40.0) }
    );
    assert_eq!(west.routes[0].interface, Some(Interface::Link(0)));
    assert!(matches!(&spec.nodes[1].mobility, Mobility::Waypoints(points) if points.len() == 2));
    assert!(matches!(spec.nodes[2].mobility, Mobility::Velocity { x, .. } if x.0 == 0.7));
    assert_eq!(spec.trunks[0].radios().unwrap().members, [[1, 0]]);
    assert_eq!(spec.trunks[0].radios().unwrap().policy.resequencer.mode, LateMode::Strict);
    let [forward, backward] = &spec.links[0].directions;
    assert_eq!(forward.rate, Some(BitRate::from_kbps(20_000)));
    assert_eq!(backward.rate, Some(BitRate::from_kbps(1_000)));
    assert_eq!((forward.delay, backward.delay), (Duration::from_millis(20), Duration::from_millis(20)));
    assert!(matches!(backward.loss, Loss::GilbertElliott { good_to_bad, bad_to_good, .. }
        if (good_to_bad.get() - 0.25 * 0.02 / 0.98).abs() < 1e-12 && bad_to_good.get() == 0.25));
    assert_eq!(forward.loss, Loss::Trace(vec![false, true]));
    let Transport::Tcp(tcp) = spec.flows[0].transport else { panic!("the first flow is TCP") };
    assert_eq!((tcp.receive_buffer, tcp.ack_every), (Bytes::new(32 * 1_000), 1));
    assert_eq!(spec.flows[0].source, Source::File { size: Bytes::new(10_000_000) });
    assert_eq!(spec.flows[1].transport, Transport::Udp { payload: Bytes::new(1_000), header: Bytes::new(28) });
    assert_eq!(spec.flows[1].stop, Some(Instant::from_nanos(9_000_000_000)));
    let kinds: Vec<u64> = spec.changes.iter().map(|c| c.at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(kinds, [1, 2, 2, 3, 3]);
    assert_eq!(
        spec.changes[0].what,
        ChangeKind::LinkLoss { link: 0, loss: Loss::Bernoulli(Probability::new(0.1).unwrap()) }
    );
    assert_eq!(spec.changes[1].what, ChangeKind::RadioUp { node: 0, radio: 1, up: false });
    assert_eq!(spec.changes[4].what, ChangeKind::LinkRate { link: 0, rate: BitRate::from_kbps(5_000) });
    assert!(spec.record.pcap.contains(0, 0));
    assert!(spec.record.timeline);
}

const PLAIN: &str = r#"
schema = 1
title = "t"
question = "?"
run.duration = "1 s"
node = [{ name = "a" }, { name = "b" }]
link = [{ name = "wan", between = ["a", "b"] }]
flow = [{ name = "f", from = "a", to = "b" }]
"#;

#[test]
fn the_linux_profile_brings_its_own_defaults() {
    let read = |transport: &str| {
        let mut scenario = Scenario::parse("t.toml", PLAIN).unwrap();
        scenario.set("--set", &format!("flow.f.transport={transport}")).unwrap();
        scenario.plan()
    };
    let config = |transport: &str| match read(transport).unwrap().cells[0].spec.flows[0].transport {
        Transport::Tcp(config) => config,
        Transport::Udp { .. } => panic!("{transport}"),
    };
    assert_eq!(config(r#"{ tcp = "cubic", profile = "linux" }"#), Config::linux(Variant::Cubic));
    assert_eq!(config(r#"{ tcp = "bbr", profile = "linux" }"#), Config::linux(Variant::Bbr));
    assert_eq!(config(r#"{ tcp = "bbr" }"#), Config::linux(Variant::Bbr), "no other profile has it");
    assert_eq!(config(r#"{ tcp = "reno", profile = "rfc" }"#), Config { variant: Variant::Reno, ..Config::default() });
    let bare = config(r#"{ tcp = "reno", profile = "linux", timestamps = false, initial_window = 4 }"#);
    assert_eq!((bare.profile, bare.mss, bare.initial_window), (Profile::Linux, Bytes::new(1_460), Some(4)));
    let plan = read(r#"{ tcp = "cubic", profile = "linux" }"#).unwrap();
    let line = plan.resolved().into_iter().find(|line| line.key == "flow.f.transport.min_rto").unwrap();
    assert!(format!("{line:?}").contains("linux profile"), "{line:?}");
    for wrong in [
        r#"{ tcp = "sack", profile = "linux" }"#,
        r#"{ tcp = "bbr", profile = "rfc" }"#,
        r#"{ tcp = "reno", profile = "linux", tick = "500 ms" }"#,
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_reference_names_every_key() {
    let reference = include_str!("../../../../../docs/reference/scenario.md");
    for line in &plan(include_str!("everything.toml")).resolved() {
        let key = line.key.rsplit('.').next().unwrap_or_default();
        // What is computed from other keys, and list elements, have no key of their own.
        if key != "control_rate" && key.parse::<usize>().is_err() {
            assert!(reference.contains(key), "docs/reference/scenario.md does not tell of `{}`", line.key);
        }
    }
}
