//! One radio at several access points, in whole runs: addresses, load balancing, balanced accounts, and the promises of
//! the plan.

use airbraid_sim::result::RunResult;
use airbraid_sim::scenario::spec::Spec;
use airbraid_tests::{spec, spec_of_file};
use proptest::prelude::*;
use std::fmt::Write;

fn run(spec: &Spec) -> RunResult {
    airbraid_tests::run(spec).result
}

/// A station and access points on channels 36, 40, ... behind which there is a server; the tables of `more` follow.
fn home(duties: &[&str], more: &str, seed: u64) -> String {
    let mut text = format!(
        "schema = 1\ntitle = \"t\"\nquestion = \"a?\"\n[run]\nduration = \"20 s\"\nseed = {seed}\n\
         [radio]\nstandard = \"802.11a\"\nbasic_rates = [\"6 Mbit/s\"]\n\
         [[node]]\nname = \"server\"\n[[node]]\nname = \"laptop\"\nposition = [\"0 m\", \"0 m\"]\n\
         radios = [{{ name = \"air\", mac = \"slotted\" }}]\n"
    );
    let mut names = Vec::new();
    for i in 1..=duties.len() {
        let channel = 32 + 4 * i;
        let _ = write!(
            text,
            "[[node]]\nname = \"ap{i}\"\nposition = [\"{i} m\", \"5 m\"]\n\
             radios = [{{ name = \"air\", channel = {channel}, mac = \"access_point\" }}]\n\
             [[link]]\nname = \"line{i}\"\nbetween = [\"ap{i}\", \"server\"]\nrate = \"4 Mbit/s\"\ndelay = \"10 ms\"\n"
        );
        names.push(format!("\"ap{i}/air\""));
    }
    let (names, duties) = (names.join(", "), duties.join("\", \""));
    let _ = write!(
        text,
        "[[slots]]\nname = \"laptop\"\nradio = \"laptop/air\"\naccess_points = [{names}]\nduty = [\"{duties}\"]\n{more}"
    );
    text
}

#[test]
fn flows_are_given_to_access_points_by_their_shares_and_stay() {
    let flows = "[[flow]]\nname = \"down\"\nfrom = \"server\"\nto = \"laptop\"\ncount = 4\n\
                 [[flow]]\nname = \"up\"\nfrom = \"laptop\"\nto = \"server\"\ncount = 4\nstart = \"1 s\"\n";
    let result = run(&spec(&home(&["1/2", "1/8", "3/8"], &format!("slot = \"12.5 ms\"\n{flows}"), 1)));
    let points = &result.slots[0].access_points;
    assert_eq!(points.iter().map(|point| point.flows).collect::<Vec<_>>(), [4, 1, 3]);
    assert!(result.flows.iter().all(|flow| flow.goodput_bps > 50e3), "{:?}", result.flows);
    // Each line carries what its flows send, and nothing else comes over it.
    let total: f64 = result.flows.iter().map(|flow| flow.goodput_bps).sum();
    assert!(total > 12e6, "{total}");
    assert!(!result.drops.contains_key("no_route"));
}

#[test]
fn a_flow_that_has_ended_leaves_its_place_to_the_next() {
    let file = |name: &str, start: &str, more: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"server\"\nto = \"laptop\"\nstart = \"{start}\"\n\
             source = {{ file = \"100 kB\" }}\n{more}"
        )
    };
    let flows = [file("a", "0 s", ""), file("b", "5 s", ""), file("c", "10 s", "via = \"ap2/air\"\n")].concat();
    let result = run(&spec(&home(&["2/3", "1/3"], &flows, 1)));
    assert!(result.flows.iter().all(|flow| flow.completion_s.is_some()), "{:?}", result.flows);
    // The first two were alone and got the larger share one after the other; the third went where it was told to.
    let points = &result.slots[0].access_points;
    assert_eq!(points.iter().map(|point| point.flows).collect::<Vec<_>>(), [0, 1]);
    let carried = |name: &str| {
        result.links.iter().filter(|link| link.name == name).map(|link| link.counts.delivered).sum::<u64>()
    };
    assert!(carried("line1") > 200 && (100..200).contains(&carried("line2")), "{:?}", result.links);
}

#[test]
fn the_station_is_where_the_plan_says() {
    // Datagrams of 100 kbit/s over the second of two access points, which has a quarter of 40 ms: each waits for its
    // slot.
    let flow = "[[flow]]\nname = \"f\"\nfrom = \"server\"\nto = \"laptop\"\nvia = \"ap2/air\"\n\
                transport = { udp = \"500 byte\" }\nsource = { rate = \"100 kbit/s\" }\n";
    let result = run(&spec(&home(&["3/4", "1/4"], &format!("slot = \"10 ms\"\n{flow}"), 3)));
    let (delay, slots) = (result.flows[0].delay_s.unwrap(), &result.slots[0]);
    // 11 ms on the line, up to 30 ms and a switch until the slot begins, and the queue that has come together.
    assert!(delay.min > 0.011 && delay.max < 0.011 + 0.030 + 0.003, "{delay:?}");
    assert_eq!((slots.switches, slots.counts.missed_slots, slots.counts.unannounced), (1_000, 0, 0), "{slots:?}");
    assert!((0.001..0.0015).contains(&slots.switch_mean_s.unwrap()));
    assert!(slots.access_points[1].counts.held > 300 && slots.access_points[0].counts.held == 0, "{slots:?}");
}

#[test]
fn two_stations_share_an_access_point_and_come_back_to_the_same_bytes() {
    let second = "[[node]]\nname = \"tablet\"\nposition = [\"3 m\", \"0 m\"]\nradios = [{ name = \"air\", mac = \"slotted\" }]\n\
                  [[slots]]\nname = \"tablet\"\nradio = \"tablet/air\"\naccess_points = [\"ap2/air\", \"ap1/air\"]\n\
                  duty = [\"1/2\", \"1/2\"]\nplanner = \"random\"\n\
                  [[flow]]\nname = \"one\"\nfrom = \"server\"\nto = \"laptop\"\n\
                  [[flow]]\nname = \"two\"\nfrom = \"tablet\"\nto = \"server\"\n\
                  [[flow]]\nname = \"three\"\nfrom = \"laptop\"\nto = \"tablet\"\n";
    let spec = spec(&home(&["1/2", "1/4"], second, 5));
    let (one, two) = (run(&spec), run(&spec));
    assert!(one.flows.iter().all(|flow| flow.goodput_bps > 100e3), "{:?}", one.flows);
    let text = |result: &RunResult| {
        let mut json = serde_json::to_value(result).unwrap();
        ["wall_s", "cpu_s"].iter().for_each(|key| json[*key] = 0.into());
        json.to_string()
    };
    assert_eq!(text(&one), text(&two));
}

#[test]
fn waits_are_round_trips() {
    // Half of 100 ms, 50 ms away: segments leave in a row when the slot begins, and what comes back waits for the next.
    let set = ["run.duration=\"60 s\"", "run.replications=1"];
    let result = run(&spec_of_file("giustiniano2013/one.toml", &set));
    let rtt = result.flows[0].rtt_mean_s.unwrap();
    assert!((0.100..0.108).contains(&rtt), "{rtt}");
    let set = [&set[..], &["slots.laptop.access_points=[\"ap1/air\"]", "slots.laptop.duty=[\"1\"]"]].concat();
    let result = run(&spec_of_file("giustiniano2013/one.toml", &set));
    let rtt = result.flows[0].rtt_mean_s.unwrap();
    assert!((0.050..0.056).contains(&rtt), "{rtt}");
    assert_eq!(result.slots[0].switches, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Whatever the plan and the traffic: the account of packets balances (the run checks it), no packet is without a
    /// route, and once the sources have stopped everything is somewhere.
    #[test]
    fn nothing_vanishes(
        duty in 1u32..9,
        planner in 0usize..4,
        slot in 2u32..20,
        flows in proptest::collection::vec((0usize..3, 0usize..3, 0usize..3), 1..6),
        seed in 1u64..1_000,
    ) {
        let mut more = format!(
            "slot = \"{slot} ms\"\nplanner = \"{}\"\n", ["no_policy", "random", "min_max", "blind"][planner]
        );
        for (i, (ends, transport, source)) in flows.iter().enumerate() {
            let (from, to) = [("server", "laptop"), ("laptop", "server"), ("ap1", "laptop")][*ends];
            let transport = ["\"udp\"", "{ tcp = \"sack\" }", "{ tcp = \"cubic\", profile = \"linux\" }"][*transport];
            let source = ["\"greedy\"", "{ rate = \"200 kbit/s\" }", "{ file = \"50 kB\" }"][*source];
            let _ = write!(
                more,
                "[[flow]]\nname = \"f{i}\"\nfrom = \"{from}\"\nto = \"{to}\"\nstop = \"3 s\"\ntransport = {transport}\nsource = {source}\n"
            );
        }
        let (a, b) = (format!("{duty}/10"), format!("{}/10", 9 - duty + 1));
        let result = run(&spec(&home(&[&a, &b], &more, seed)));
        prop_assert_eq!(result.drops.get("no_route"), None);
        prop_assert!(result.packets.in_flight == 0 || result.flows.iter().any(|flow| flow.transport == "tcp"), "{:?}", result.packets);
        prop_assert!(result.packets.delivered > 0);
    }
}
