//! Campaigns of invented runs: order, seeds, statistics, failures, files.

use airbraid_campaign::{Failure, Job, Recorded, Results, Settings, execute, judge, output, plot};
use airbraid_sim::RunOutput;
use airbraid_sim::record::RecordedFile;
use airbraid_sim::result::{
    FlowResult, FlowSeries, LinkTrunkMemberResult, LinkTrunkResult, RadioTrunkResult, RunResult, TrunkResult,
    TrunkSeries,
};
use airbraid_sim::scenario::{Plan, Scenario};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const TEXT: &str = r#"
schema = 1
title = "invented"
question = "are results gathered?"
run = { duration = "3 s", seed = 10, replications = 4 }
node = [{ name = "a", position = ["0 m", "0 m"], radios = [1] }, { name = "b", position = ["9 m", "0 m"], radios = [1] }]
flow = [{ name = "f", from = "a", to = "b" }]
trunk = [{ name = "air", between = ["a", "b"] }]
[sweep]
"radio.queue" = [5, 3]
[expect]
"flow.f.goodput" = [{ at = { "radio.queue" = 5 }, min = "5 Mbit/s" }, { at = { "radio.queue" = 3 }, min = "5 Mbit/s" }]
"trunk.air.late" = { max = 5 }
"drops.queue_full" = { max = 1 }
"#;

fn plan(text: &str) -> Plan {
    Scenario::parse("t.toml", text).and_then(|s| s.plan()).unwrap_or_else(|e| panic!("{e}"))
}

/// A run that is a function of cell and seed alone: goodput is queue Mbit/s and a bit for the seed.
fn invented(job: &Job<'_>) -> RunOutput {
    let dcf = job.spec.nodes[0].radios[0].mac.dcf().unwrap();
    let goodput_bps = f64::from(dcf.queue_limit) * 1e6 + job.seed as f64 * 1e3;
    let series = FlowSeries { interval_s: 1.0, goodput_bps: vec![goodput_bps; 3], ..FlowSeries::default() };
    let flow = FlowResult {
        name: "f".into(),
        transport: "tcp",
        goodput_bps,
        ip_throughput_bps: goodput_bps,
        series,
        ..FlowResult::default()
    };
    let trunk = |from: &str, to: &str, late| {
        let series = TrunkSeries { interval_s: 1.0, reorder_timer_s: vec![0.01; 3] };
        let [name, from, to] = ["air", from, to].map(String::from);
        let mut trunk = RadioTrunkResult { name, from, to, series, ..RadioTrunkResult::default() };
        trunk.counts.late = late;
        TrunkResult::Radios(trunk)
    };
    let drops = if job.seed == 10 { BTreeMap::from([("queue_full", 4)]) } else { BTreeMap::new() };
    let result = RunResult {
        seed: job.seed,
        duration_s: 3.0,
        events: 1,
        flows: vec![flow],
        trunks: vec![trunk("a", "b", 2), trunk("b", "a", 1)],
        drops,
        ..RunResult::default()
    };
    let file = |name: &str, bytes: &[u8]| RecordedFile { name: name.to_owned(), bytes: Some(bytes.to_vec()) };
    let timeline = job.recorded.timeline.then(|| file("timeline.txt", b"line\n"));
    let capture = job.recorded.pcap.then(|| file("../a_ch1.pcapng", &[1, 2, 3]));
    RunOutput { result, files: timeline.into_iter().chain(capture).collect(), courses: None }
}

fn settings(jobs: usize, stop: &AtomicBool) -> Settings<'_> {
    Settings { jobs, recorded: Recorded { pcap: true, timeline: true, scenario: true, ..Recorded::LIMITS }, stop }
}

fn outcomes(plan: &Plan, jobs: usize) -> Vec<Vec<RunOutput>> {
    let stop = AtomicBool::new(false);
    let runner = |job: &Job<'_>, _: &mut dyn FnMut(f64) -> bool| {
        // The first runs last longest, so that they finish last.
        let spin = 2_000_u64.saturating_sub(job.seed * 100);
        assert!((0..spin).map(std::hint::black_box).sum::<u64>() < u64::MAX);
        Ok(invented(job))
    };
    execute(plan, &settings(jobs, &stop), &runner, &|_, _| {}).unwrap()
}

/// The results without measured times.
fn comparable(plan: &Plan, jobs: usize) -> String {
    let mut results = Results::new(plan, &mut outcomes(plan, jobs));
    for run in results.cells.iter_mut().flat_map(|c| &mut c.runs) {
        (run.wall_s, run.cpu_s) = (0.0, 0.0);
    }
    serde_json::to_string(&results).unwrap()
}

#[test]
fn results_are_in_the_order_of_cells_and_seeds_on_any_number_of_threads() {
    let plan = plan(TEXT);
    let one = comparable(&plan, 1);
    assert_eq!(one, comparable(&plan, 2));
    assert_eq!(one, comparable(&plan, 7));
    let json: serde_json::Value = serde_json::from_str(&one).unwrap();
    let seeds: Vec<u64> =
        json["cells"][1]["runs"].as_array().unwrap().iter().map(|r| r["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [10, 11, 12, 13]);
}

#[test]
fn the_summary_of_one_run_is_written_as_it_is_kept() {
    let plan = plan(&TEXT.replace("replications = 4", "replications = 1"));
    let results = Results::new(&plan, &mut outcomes(&plan, 1));
    for cell in &results.cells {
        assert!(cell.summary().len() > 20, "{:?}", cell.summary().keys());
        let written = serde_json::to_string(cell).unwrap();
        let kept = serde_json::to_string(cell.summary()).unwrap();
        assert!(written.contains(&format!("\"summary\":{kept},\"runs\":[")), "{written}");
    }
}

#[test]
fn the_json_is_that_of_the_contract() {
    let plan = plan(TEXT);
    let json = serde_json::to_value(Results::new(&plan, &mut outcomes(&plan, 2))).unwrap();
    assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), ["title", "scenario", "cells"]);
    let cell = &json["cells"][0];
    assert_eq!(cell.as_object().unwrap().keys().collect::<Vec<_>>(), ["set", "summary", "runs"]);
    assert_eq!(cell["set"], serde_json::json!({ "radio.queue": 5 }));
    let goodput = &cell["summary"]["flow.f.goodput_bps"];
    assert_eq!(goodput.as_object().unwrap().keys().collect::<Vec<_>>(), ["mean", "std", "ci99", "n"]);
    assert_eq!((goodput["mean"].as_f64(), goodput["n"].as_u64()), (Some(5_011_500.0), Some(4)));
    assert_eq!(cell["summary"]["trunk.air.late"]["mean"].as_f64(), Some(3.0));
    assert_eq!(cell["summary"]["trunk.air.a.late"]["mean"].as_f64(), Some(2.0));
    // A reason that one run of four had counts as 0 in the others.
    assert_eq!(cell["summary"]["drops.queue_full"]["mean"].as_f64(), Some(1.0));
    assert_eq!(cell["runs"][0]["flows"][0]["delay_s"], serde_json::Value::Null);
}

#[test]
fn counts_of_both_ends_of_a_trunk_over_links_are_added() {
    let end = |from: &str, retransmissions| {
        let member = LinkTrunkMemberResult { link: "dsl".to_owned(), share: 0.75, ..LinkTrunkMemberResult::default() };
        let mut end = LinkTrunkResult {
            name: "bond".to_owned(),
            from: from.to_owned(),
            hold_time_s: 0.1,
            members: vec![member],
            ..LinkTrunkResult::default()
        };
        end.counts.retransmissions = retransmissions;
        TrunkResult::Links(end)
    };
    let run = RunResult { trunks: vec![end("a", 5), end("b", 7)], ..RunResult::default() };
    let metrics: BTreeMap<String, f64> = airbraid_sim::metric::of(&run).into_iter().collect();
    for (name, value) in [
        ("trunk.bond.retransmissions", Some(12.0)),
        ("trunk.bond.b.retransmissions", Some(7.0)),
        ("trunk.bond.a.dsl.share", Some(0.75)),
        ("trunk.bond.b.hold_time_s", Some(0.1)),
        // Times are no counts: there is no sum of them.
        ("trunk.bond.hold_time_s", None),
    ] {
        assert_eq!(metrics.get(name).copied(), value, "{name}");
    }
}

#[test]
fn expectations_are_judged_on_the_mean_of_the_cells_that_they_select() {
    let plan = plan(TEXT);
    let results = Results::new(&plan, &mut outcomes(&plan, 2));
    let verdicts: Vec<(String, String, bool)> =
        judge(&plan, &results).into_iter().map(|v| (v.metric, v.found, v.holds)).collect();
    let row = |metric: &str, found: &str, holds| (metric.to_owned(), found.to_owned(), holds);
    assert_eq!(
        verdicts,
        [
            row("flow.f.goodput", "5.011 Mbit/s", true),
            row("flow.f.goodput", "3.011 Mbit/s", false),
            row("trunk.air.late", "3", true),
            row("trunk.air.late", "3", true),
            row("drops.queue_full", "1", true),
            row("drops.queue_full", "1", true),
        ]
    );
}

#[test]
fn only_the_first_seed_of_a_cell_is_recorded() {
    let plan = plan(TEXT);
    let recorded: Vec<Vec<bool>> =
        outcomes(&plan, 2).iter().map(|runs| runs.iter().map(|r| r.file("timeline.txt").is_some()).collect()).collect();
    assert_eq!(recorded, [[true, false, false, false], [true, false, false, false]]);
}

#[test]
fn a_failed_run_names_its_cell_and_seed_and_stops_the_others() {
    let plan = plan(TEXT);
    let stop = AtomicBool::new(false);
    let started = AtomicUsize::new(0);
    let runner = |job: &Job<'_>, _: &mut dyn FnMut(f64) -> bool| {
        started.fetch_add(1, Ordering::Relaxed);
        assert!(job.seed != 12, "the account does not balance");
        Ok(invented(job))
    };
    let failure = execute(&plan, &settings(1, &stop), &runner, &|_, _| {}).unwrap_err();
    let said =
        "the run with seed 12 in the cell radio.queue = 5 failed: an assertion broke: the account does not balance";
    assert_eq!(failure.to_string(), said);
    assert!(started.load(Ordering::Relaxed) < 8);
}

#[test]
fn somebody_who_asks_to_stop_is_heard_at_the_next_report() {
    let plan = plan(TEXT);
    let stop = AtomicBool::new(false);
    let runner = |job: &Job<'_>, go_on: &mut dyn FnMut(f64) -> bool| {
        stop.store(true, Ordering::Relaxed);
        if go_on(0.5) { Ok(invented(job)) } else { Err("interrupted".to_owned()) }
    };
    let settings = settings(2, &stop);
    assert_eq!(execute(&plan, &settings, &runner, &|_, _| {}).unwrap_err(), Failure::Stopped);
}

/// A directory of this test that is empty.
fn empty_dir(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("airbraid-campaign-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn listing(dir: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn files_appear_at_once_and_an_older_result_is_replaced() {
    let dir = empty_dir("files");
    let plan = plan(TEXT);
    let mut outcomes = outcomes(&plan, 2);
    let results = Results::new(&plan, &mut outcomes);
    let out = dir.join("deep/result");
    for _ in 0..2 {
        output::write(&out, &results, &outcomes, &plot::files(&plan, &results, &[])).unwrap();
        assert_eq!(listing(&dir.join("deep")), ["result"]);
        assert_eq!(listing(&out), ["cell-0", "cell-1", "flows.csv", "plot.svg", "summary.json", "trunks.csv"]);
    }
    assert_eq!(listing(&out.join("cell-0")), ["..-a_ch1.pcapng", "timeline.txt"]);
    let csv = std::fs::read_to_string(out.join("flows.csv")).unwrap();
    assert_eq!(csv.lines().next(), Some("cell,radio.queue,seed,flow,time_s,goodput_bps"));
    assert_eq!(csv.lines().nth(1), Some("0,5,10,f,1,5010000"));
    assert_eq!(csv.lines().count(), 1 + 2 * 4 * 3);
    let svg = std::fs::read_to_string(out.join("plot.svg")).unwrap();
    for text in
        ["invented", "are results gathered?", "flow.f.goodput [Mbit/s]", ">radio.queue<", "n = 4, seeds 10 to 13"]
    {
        assert!(svg.contains(text), "{text} is not in the plot");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn what_is_not_a_result_is_never_replaced() {
    let dir = empty_dir("foreign");
    std::fs::write(dir.join("thesis.tex"), "years of work").unwrap();
    assert!(output::check_target(&dir).unwrap_err().to_string().contains("something else than a result"));
    assert!(output::check_target(&dir.join("thesis.tex")).unwrap_err().to_string().contains("a file of that name"));
    assert!(output::check_target(std::path::Path::new("/")).is_err());
    assert!(output::check_target(&dir.join("new")).is_ok());
    std::fs::remove_dir_all(&dir).unwrap();
}
