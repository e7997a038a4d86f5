//! The command as a user types it: exit status, both outputs, and no half-written file.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn airbraid(arguments: &[&str]) -> Output {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_airbraid"));
    command.current_dir(repository).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const ONE: &str = "scenarios/examples/one_channel.toml";
const SHORT: [&str; 4] = ["--set", "run.warm_up=0 s", "--duration", "200 ms"];

fn with<'a>(first: &[&'a str]) -> Vec<&'a str> {
    first.iter().chain(&SHORT).copied().collect()
}

fn empty_dir(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("airbraid-cli-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

#[test]
fn json_is_one_object_and_nothing_else_on_standard_output() {
    let done = airbraid(&with(&["run", ONE, "--json", "--replications", "2", "--seed", "5"]));
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let seeds: Vec<u64> =
        json["cells"][0]["runs"].as_array().unwrap().iter().map(|r| r["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [5, 6]);
    assert_eq!(json["cells"][0]["summary"]["flow.download.goodput_bps"]["n"], 2);
    assert!(done.stderr.is_empty());
}

#[test]
fn the_same_seed_gives_the_same_numbers_on_one_thread_and_on_two() {
    let run = |jobs: &str| {
        let done = airbraid(&with(&["run", ONE, "--json", "--replications", "3", "--jobs", jobs]));
        let mut json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        for run in json["cells"][0]["runs"].as_array_mut().unwrap() {
            run["wall_s"] = 0.into();
            run["cpu_s"] = 0.into();
        }
        json
    };
    assert_eq!(run("1"), run("2"));
}

#[test]
fn a_table_for_people_says_mean_interval_and_number() {
    let done = airbraid(&with(&["run", ONE, "--replications", "4"]));
    let said = text(&done.stdout);
    for part in ["One 802.11b channel", "download", "Mbit/s", "\u{b1}", "drops a run", "4 replications"] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
}

#[test]
fn wrong_input_is_status_2_on_standard_error_and_writes_nothing() {
    let dir = empty_dir("wrong");
    let out = dir.join("result").display().to_string();
    let cases: [(&[&str], &str); 8] = [
        (&["run", ONE, "--set", "radio.rate=12 Mbit/s", "--out", &out], "--set:1:12: 802.11b has no rate of 12 Mbit/s"),
        (&["run", ONE, "--duration", "0 s", "--out", &out], "--duration:1:14: a run cannot last 0 s"),
        (&["run", ONE, "--seed", "x", "--json", "--out", &out], "--seed:1:10: a whole number is needed"),
        (&["run", "none.toml", "--out", &out], "none.toml: the file cannot be read"),
        (&["run", "scenarios", "--out", &out], "scenarios: this is a directory"),
        (&["explain", "Cargo.toml"], "Cargo.toml:1:1: `schema` is missing"),
        (&["run", ONE, "--jobs", "0"], "--jobs"),
        (&["run", ONE, "--out", "crates"], "--out crates: the directory holds something else"),
    ];
    for (arguments, message) in cases {
        let done = airbraid(arguments);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(message), "{message}\n  is not in\n{said}");
        assert!(done.stdout.is_empty() && !said.contains("panicked"), "{said}");
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn out_writes_everything_at_once() {
    let dir = empty_dir("out");
    let out = dir.join("result").display().to_string();
    let done = airbraid(&with(&["run", ONE, "--out", &out, "--pcap", "--timeline", "--replications", "2"]));
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    for name in ["summary.json", "flows.csv", "plot.svg", "timeline.txt", "run.pcapng", "ip-sender.pcapng"] {
        assert!(dir.join("result").join(name).metadata().is_ok_and(|m| m.len() > 0), "{name}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn what_a_scenario_records_is_written_for_the_first_seed_and_only_with_out() {
    let dir = empty_dir("record");
    let out = dir.join("result").display().to_string();
    let asked = ["--set", "record.pcap=[\"sender/ch1\"]", "--set", "record.timeline=true", "--replications", "2"];
    let done = airbraid(&with(&[&["run", ONE, "--out", &out], &asked[..]].concat()));
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let made = |name: &str| dir.join("result").join(name).exists();
    assert_eq!(["timeline.txt", "run.pcapng", "ip-sender.pcapng"].map(made), [true, true, false]);
    let capture = std::fs::read(dir.join("result/run.pcapng")).unwrap();
    let has = |name: &[u8]| capture.windows(name.len()).any(|bytes| bytes == name);
    assert!(has(b"sender/ch1") && !has(b"receiver/ch1"), "only the radio that was named is captured");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn check_is_1_for_a_broken_expectation_and_2_for_a_wrong_scenario() {
    let dir = empty_dir("check");
    let scenario = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(ONE)).unwrap();
    let scenario = scenario.replace("\"30 s\"", "\"2 s\"");
    let holds = scenario.replace("tolerance = \"5 %\"", "tolerance = \"40 %\"");
    let broken = scenario.replace("5.05 Mbit/s", "9 Mbit/s");
    let path = dir.display().to_string();
    let check = |name: &str, text: &str| {
        std::fs::write(dir.join(name), text).unwrap();
        airbraid(&["check", &path])
    };
    let done = check("a.toml", &holds);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
    let done = check("b.toml", &broken);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stdout).contains("BROKEN  flow.download.goodput"));
    let done = check("c.toml", "schema = 1");
    assert_eq!(done.status.code(), Some(2));
    let done = airbraid(&["check", &path, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let holds: Vec<Option<bool>> = json["files"].as_array().unwrap().iter().map(|f| f["holds"].as_bool()).collect();
    assert_eq!(holds, [Some(true), Some(false), Some(false)]);
    std::fs::remove_dir_all(&dir).unwrap();
    std::fs::create_dir_all(&dir).unwrap();
    assert_eq!(airbraid(&["check", &path]).status.code(), Some(2), "a directory without scenarios");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_airbraid"));
    command.current_dir(repository).args(["explain", ONE]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
}

#[test]
fn help_teaches_by_examples() {
    for command in ["run", "check", "explain", "reproduce"] {
        let done = airbraid(&[command, "--help"]);
        assert_eq!(done.status.code(), Some(0));
        assert!(text(&done.stdout).contains("Examples:"));
    }
}

#[test]
fn reproduce_prints_the_contract_and_nothing_else() {
    let dir = empty_dir("reproduce");
    let store = dir.join("store").display().to_string();
    let out = dir.join("page").display().to_string();
    let arguments = ["reproduce", "wang2005", "--quick", "--only", "fig12", "--json", "--store", &store, "--out", &out];
    let first = airbraid(&arguments);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let json: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!((json["paper"].as_str(), rows.len()), (Some("wang2005"), 3));
    assert!(rows.iter().all(|row| row["verdict"] == "within" && row["ours"]["n"] == 2), "{json}");
    assert!(dir.join("page/report.html").metadata().is_ok_and(|m| m.len() > 10_000));
    // Everything is in the store now: nothing is run again, and nothing else comes out.
    let again = airbraid(&arguments);
    assert_eq!(first.stdout, again.stdout);
    assert!(text(&again.stderr).contains("4 of 4 runs are in the store"), "{}", text(&again.stderr));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn reproduce_refuses_what_it_does_not_know() {
    let dir = empty_dir("reproduce-wrong");
    let out = dir.join("page").display().to_string();
    std::fs::write(dir.join("runs.sqlite"), "not a database, but longer than nothing").unwrap();
    let foreign = dir.display().to_string();
    let cases: [(&[&str], &str); 5] = [
        (&["reproduce", "wang205", "--no-store", "--out", &out], "did you mean `wang2005`?"),
        (&["reproduce", "wang2005", "--only", "fig122", "--no-store", "--out", &out], "did you mean `fig12`?"),
        (&["reproduce", "wang2005", "--only", "fig12", "--store", &foreign, "--out", &out], "not an SQLite file"),
        (
            &["reproduce", "wang2005", "--only", "fig12", "--store", &foreign, "--out", &out],
            "use another directory; options: --store DIR, --no-store",
        ),
        (&["reproduce", "wang2005", "--papers", "/nowhere", "--out", &out], "--papers /nowhere"),
    ];
    for (arguments, message) in cases {
        let done = airbraid(arguments);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(message), "{message}\n  is not in\n{said}");
        assert!(done.stdout.is_empty() && !dir.join("page").exists());
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// The committed rows are those of today; one that was moved on purpose is a failure until the file is written again.
#[test]
fn a_row_that_was_moved_is_a_failure_until_it_is_renewed() {
    let dir = empty_dir("reproduce-rows");
    let rows = dir.display().to_string();
    let store = dir.join("store").display().to_string();
    let compare = |rows: &str, more: &[&str]| {
        let arguments = ["reproduce", "wang2005", "--quick", "--only", "fig12", "--store", &store, "--rows", rows];
        let done = airbraid(&[&arguments[..], more].concat());
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    let (code, said, _) = compare("tests/rows", &[]);
    assert_eq!((code, said.contains("3 rows are where they were")), (Some(0), true), "{said}");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rows/wang2005.quick.tsv");
    let committed = std::fs::read_to_string(committed).unwrap();
    let file = dir.join("wang2005.quick.tsv");
    let is_gain = |line: &&str| line.starts_with("000.fig12.gain\t");
    let gain = committed.lines().find(is_gain).unwrap();
    let moved = gain.replacen("\t2\t3.0", "\t2\t3.9", 1);
    assert_ne!(moved, gain);
    std::fs::write(&file, committed.replace(gain, &moved)).unwrap();
    let (code, said, why) = compare(&rows, &[]);
    assert_eq!(code, Some(1), "{said}{why}");
    assert!(said.starts_with("000.fig12.gain: value 3.9") && why.contains("1 rows were moved"), "{said}{why}");
    let (code, said, why) = compare(&rows, &["--renew"]);
    assert_eq!(code, Some(0), "{said}{why}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), committed, "rows that were not selected are kept");
    let (code, _, why) = compare("/nowhere", &[]);
    let mend = "--rows: /nowhere/wang2005.quick.tsv is not there; --renew writes it";
    assert_eq!((code, why.contains(mend)), (Some(2), true), "{why}");
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A campaign that is killed in the middle continues, with the result of one that was left alone.
#[test]
fn a_killed_reproduction_goes_on_where_it_was() {
    let dir = empty_dir("reproduce-kill");
    let store = dir.join("store").display().to_string();
    let arguments = ["reproduce", "wang2005", "--quick", "--only", "fig37", "--json", "--jobs", "1", "--store", &store];
    let mut child = Command::new(env!("CARGO_BIN_EXE_airbraid"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let file = dir.join("store/runs.sqlite-wal");
    while file.metadata().map_or(0, |m| m.len()) < 40_000 {
        assert!(child.try_wait().unwrap().is_none(), "it was done before it could be killed");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = airbraid(&arguments);
    let said = text(&resumed.stderr);
    let found = said.split(" of ").next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
    assert!(found >= 1 && said.contains("of 18 runs are in the store"), "{said}");
    let other = dir.join("other").display().to_string();
    let alone = airbraid(&[&arguments[..9], &[other.as_str()]].concat());
    assert_eq!(text(&resumed.stdout), text(&alone.stdout));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_generated_trace_is_compared_with_what_is_printed() {
    for place in ["office", "walking", "adjacent", "table", "walls"] {
        let done = airbraid(&["trace", place]);
        let said = text(&done.stdout);
        assert_eq!(done.status.code(), Some(0), "{said}");
        assert_eq!(said.matches("  holds").count(), 6, "{said}");
    }
    let made_up = airbraid(&["trace", "oven", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&made_up.stdout).unwrap();
    let rates = json["rates"].as_array().unwrap();
    assert!(rates.iter().all(|rate| rate["printed"].is_null() && rate["found"].is_number()), "{json}");
}

#[test]
fn a_written_trace_is_read_again_with_the_same_rates() {
    let dir = empty_dir("trace");
    let file = dir.join("walls.trace");
    let file = file.to_str().unwrap();
    let written = airbraid(&["trace", "walls", "--seed", "7", "--out", file, "--json"]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    let read = airbraid(&["trace", "--read", file, "--json"]);
    let found = |done: &Output| -> Vec<f64> {
        let json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        json["rates"].as_array().unwrap().iter().map(|rate| rate["found"].as_f64().unwrap()).collect()
    };
    assert_eq!(found(&written), found(&read));
    std::fs::write(dir.join("wrong.trace"), "airbraid-trace 1\nok x3\nlots\n").unwrap();
    let wrong = airbraid(&["trace", "--read", dir.join("wrong.trace").to_str().unwrap()]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("line 3: `lots` is no event; write `lost`"), "{}", text(&wrong.stderr));
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn traces_that_cannot_be_are_refused() {
    for (arguments, said) in [
        (&["trace"][..], "required"),
        (&["trace", "wals"], "'walls'"),
        (&["trace", "walls", "--read", "x.trace"], "cannot be used with"),
        (&["trace", "--read", "no-such-file.trace"], "no-such-file.trace"),
        (&["trace", "walls", "--out", "no-such-directory/walls.trace"], "no-such-directory"),
    ] {
        let done = airbraid(arguments);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(text(&done.stderr).contains(said), "{arguments:?}: {}", text(&done.stderr));
    }
}

#[test]
fn a_result_says_how_it_was_made_and_is_made_again_byte_for_byte() {
    let dir = empty_dir("again");
    let path = |name: &str| dir.join(name).display().to_string();
    let (first, second) = (path("first"), path("second"));
    let options = ["--set", "sweep.radio.queue=[5,50]", "--replications", "2", "--pcap", "--timeline", "--out", &first];
    let done = airbraid(&[&with(&["run", ONE])[..], &options].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let again = airbraid(&["run", &first, "--out", &second]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("the same as the earlier result, number for number"));
    assert_eq!(text(&again.stdout), text(&done.stdout));
    let files = ["flows.csv", "plot.svg", "cell-0/timeline.txt", "cell-1/run.pcapng"];
    for file in files {
        let read = |dir: &str| std::fs::read(Path::new(dir).join(file)).unwrap();
        assert_eq!(read(&first), read(&second), "{file}");
    }
    let summary = |dir: &str| {
        let all = std::fs::read_to_string(Path::new(dir).join("summary.json")).unwrap();
        all.lines()
            .filter(|line| !line.contains("wall_s\"") && !line.contains("cpu_s\""))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(summary(&first), summary(&second));
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("first/summary.json")).unwrap()).unwrap();
    let made = &json["made"];
    let settings: Vec<&str> = made["settings"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
    let said = ["run.warm_up=0 s", "sweep.radio.queue=[5,50]", "run.replications=2", "run.duration=200 ms"];
    assert_eq!(settings, said, "{made}");
    assert!(made["text"].as_str().unwrap().starts_with("schema = 1") && made["sha256"].as_str().unwrap().len() == 64);
    let other = airbraid(&["run", &first, "--seed", "9"]);
    assert!(text(&other.stderr).contains("with other settings than the earlier result"), "{}", text(&other.stderr));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_directory_that_no_run_made_is_told_apart() {
    let dir = empty_dir("unmade");
    let path = dir.display().to_string();
    let told = || text(&airbraid(&["run", &path]).stderr);
    assert!(told().contains("this is a directory"));
    std::fs::write(dir.join("rows.json"), "{}").unwrap();
    assert!(told().contains("this is the reproduction of a paper"));
    std::fs::write(dir.join("summary.json"), "{\"cells\": []}").unwrap();
    assert!(told().contains("does not say how it was made"));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_scenario_comes_from_standard_input() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_airbraid"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(ONE);
    let input = std::fs::File::open(file).unwrap();
    let done = command.args(with(&["run", "-", "--json"])).stdin(Stdio::from(input)).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("\"scenario\":\"standard input\""));
}

#[test]
fn expectations_for_another_duration_are_not_judged() {
    let done = airbraid(&with(&["run", ONE, "--replications", "1"]));
    let said = text(&done.stdout);
    assert!(said.contains("its expectations are not judged: written for a run of "), "{said}");
    assert!(!said.contains("BROKEN"), "{said}");
    let other = airbraid(&with(&[
        "run",
        ONE,
        "--replications",
        "1",
        "--set",
        "expect={\"flow.download.goodput\"={min=\"1 Gbit/s\"}}",
    ]));
    assert!(text(&other.stdout).contains("BROKEN"), "{}", text(&other.stdout));
}

#[test]
fn tables_fit_80_columns_and_few_runs_have_a_range_instead_of_an_interval() {
    let few = text(
        &airbraid(&with(&["run", ONE, "--replications", "2", "--set", "sweep.radio.error=[{ber=1e-5},{ber=3e-5}]"]))
            .stdout,
    );
    assert!(few.contains(" to ") && few.contains("mean (smallest to largest) of 2 replications"), "{few}");
    assert!(!few.contains("\u{b1}"), "{few}");
    let five = text(&airbraid(&with(&["run", ONE, "--replications", "5", "--set", "radio.error={ber=3e-5}"])).stdout);
    assert!(five.contains("\u{b1}"), "{five}");
    let whole = text(&airbraid(&["check", "scenarios/examples/one_channel.toml"]).stdout);
    for said in [few, five, whole.clone()] {
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        assert!(!said.contains('\u{1b}'), "colours are for terminals: {said}");
    }
    assert!(whole.trim_end().ends_with("1 file: 2 hold"), "{whole}");
}

#[test]
fn links_and_hosts_without_radios_are_captured() {
    let dir = empty_dir("wired");
    let out = dir.join("result").display().to_string();
    let file = "scenarios/examples/lossy_link.toml";
    let set = ["--set", "sweep={}", "--replications", "1", "--duration", "6 s"];
    let done = airbraid(&[&["run", file, "--pcap", "--out", &out], &set[..]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    for name in ["run.pcapng", "ip-server.pcapng", "ip-client.pcapng"] {
        assert!(dir.join("result").join(name).metadata().is_ok_and(|m| m.len() > 1_000), "{name}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn the_dissector_is_printed_or_installed_and_what_was_there_is_kept() {
    let dir = empty_dir("wireshark");
    let printed = airbraid(&["wireshark"]);
    assert!(text(&printed.stdout).contains("DissectorTable"), "{}", text(&printed.stdout));
    let install = || {
        let home = ("HOME", dir.display().to_string());
        let binary = env!("CARGO_BIN_EXE_airbraid");
        let done = Command::new(binary).args(["wireshark", "--install"]).env(home.0, home.1).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        text(&done.stderr)
    };
    let file = dir.join(".local/lib/wireshark/plugins/airbraid.lua");
    assert!(install().starts_with(&format!("written: {}", file.display())));
    assert_eq!(std::fs::read(&file).unwrap(), printed.stdout);
    assert!(install().starts_with("already there: "));
    std::fs::write(&file, "-- somebody's own").unwrap();
    let said = install();
    assert!(said.contains("airbraid.lua.old"), "{said}");
    assert_eq!(std::fs::read(file.with_extension("lua.old")).unwrap(), b"-- somebody's own");
    assert_eq!(std::fs::read(&file).unwrap(), printed.stdout);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_picture_of_a_sweep_is_over_the_swept_value() {
    let dir = empty_dir("picture");
    let out = dir.join("result").display().to_string();
    let file = "scenarios/examples/lossy_link.toml";
    let plot = "flow.download.timeouts ~ flow.download.transport.tcp | link.wan.forward.loss";
    let done = airbraid(&with(&[
        "run",
        file,
        "--replications",
        "2",
        "--plot",
        plot,
        "--plot",
        "flow.download.goodput",
        "--out",
        &out,
    ]));
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let svg = |name: &str| std::fs::read_to_string(dir.join("result").join(name)).unwrap();
    for part in [
        ">flow.download.timeouts<",
        ">flow.download.transport.tcp<",
        "link.wan.forward.loss = 0.1 %",
        "mean and each run, n = 2",
    ] {
        assert!(svg("plot.svg").contains(part), "{part}");
    }
    assert!(svg("plot-2.svg").contains(">link.wan.forward.loss [%]<"));
    for (plot, told) in [
        ("flow.download.goodputt", "did you mean `goodput`"),
        ("flow.download.goodput ~ link.wan.forward.los", "did you mean `link.wan.forward.loss`"),
        ("flow.download.goodput ~ link.wan.forward.loss | radio.rate", "`radio.rate` is not swept"),
    ] {
        let done = airbraid(&with(&["run", file, "--plot", plot, "--out", &out]));
        assert_eq!(done.status.code(), Some(2));
        assert!(text(&done.stderr).contains(told), "{}", text(&done.stderr));
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn ctrl_c_with_keep_leaves_the_runs_that_are_finished() {
    let dir = empty_dir("keep");
    let out = dir.join("result");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(ONE);
    let mut command = Command::new(env!("CARGO_BIN_EXE_airbraid"));
    // The first cell is done at once, the second takes minutes.
    command.arg("run").arg(file).arg("--keep").arg("--out").arg(&out);
    command.args(["--jobs", "1", "--replications", "1", "--set", "sweep.run.duration=[\"2 s\", \"200 h\"]"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(6));
    assert!(child.try_wait().unwrap().is_none(), "it was done before it could be stopped");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("1 of 2 runs are kept"), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("not judged: 1 of 2 runs are missing"), "{}", text(&done.stdout));
    let summary = std::fs::read_to_string(out.join("summary.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((json["made"]["left"].as_u64(), json["cells"][0]["runs"].as_array().unwrap().len()), (Some(1), 1));
    assert!(json["cells"][1]["runs"].as_array().unwrap().is_empty());
    std::fs::remove_dir_all(&dir).unwrap();
}
