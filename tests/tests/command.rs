//! The `airbraid` command from a user's view: its output on both streams, and its exit codes.

use airbraid_tests::{airbraid, root};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const SHORT: [&str; 2] = ["--duration", "2 s"];

#[test]
fn json_is_one_object_and_nothing_else() {
    let output = airbraid(&[&["run", "scenarios/examples/one_channel.toml", "--json"][..], &SHORT].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let run = &value["cells"][0]["runs"][0];
    assert!(run["flows"][0]["goodput_bps"].as_f64().unwrap() > 4e6);
    assert_eq!(run["seed"], 1);
    let packets = &run["packets"];
    let count = |key: &str| packets[key].as_u64().unwrap();
    assert_eq!(count("offered"), count("delivered") + count("dropped") + count("in_flight"));
    let summary = &value["cells"][0]["summary"]["flow.download.goodput_bps"];
    assert_eq!(summary["n"], 5);
    assert!(summary["ci99"].is_array());
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let facts = |jobs: &str| {
        let arguments =
            ["run", "scenarios/validation/trunk_shared.toml", "--json", "--jobs", jobs, "--replications", "4"];
        let output = airbraid(&[&arguments[..], &SHORT].concat());
        let mut value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for run in value["cells"][0]["runs"].as_array_mut().unwrap() {
            run["wall_s"] = 0.into();
            run["cpu_s"] = 0.into();
        }
        value
    };
    assert!(facts("1") == facts("2"), "the facts differ");
}

#[test]
fn timelines_are_the_same_bytes_whatever_the_number_of_jobs() {
    let timeline = |jobs: &str| {
        let folder = std::env::temp_dir().join(format!("airbraid-jobs-{}-{jobs}", std::process::id()));
        let out = folder.to_string_lossy().into_owned();
        let arguments = ["run", "scenarios/examples/three_channels.toml", "--timeline", "--out", &out, "--jobs", jobs];
        let output = airbraid(&[&arguments[..], &SHORT].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut all = Vec::new();
        let mut folders = vec![folder.clone()];
        while let Some(folder) = folders.pop() {
            let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            entries.sort();
            for path in entries {
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name().is_some_and(|name| name.to_string_lossy().contains("timeline")) {
                    all.push(std::fs::read(path).unwrap());
                }
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
        assert!(!all.is_empty(), "no timeline was written");
        all
    };
    assert!(timeline("1") == timeline("2"), "the timelines differ");
}

#[test]
fn wrong_input_is_exit_2_with_the_place_and_the_remedy() {
    let output = airbraid(&["run", "scenarios/examples/one_channel.toml", "--set", "radio.rat=\"11 Mbit/s\""]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("rat") && message.contains("rate"), "{message}");
    assert!(output.stdout.is_empty());
    let missing = airbraid(&["run", "no-such-file.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("no-such-file.toml"));
    assert_eq!(airbraid(&["run", "scenarios"]).status.code(), Some(2));
    assert_eq!(airbraid(&["fly"]).status.code(), Some(2));
}

#[test]
fn a_broken_expectation_is_exit_1() {
    let folder = std::env::temp_dir().join(format!("airbraid-check-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("broken.toml");
    let scenario = std::fs::read_to_string(root().join("scenarios/validation/trunk_shared.toml")).unwrap();
    std::fs::write(&file, scenario.replace("12.5 Mbit/s", "125 Mbit/s").replace("250 s", "2 s")).unwrap();
    let output = airbraid(&["check", &file.to_string_lossy()]);
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(output.status.code(), Some(1), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("BROKEN"));
}

#[test]
fn explain_says_where_every_value_comes_from() {
    let output = airbraid(&["explain", "scenarios/examples/one_channel.toml", "--set", "radio.queue=20"]);
    let shown = text(&output.stdout);
    let line = |key: &str| shown.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
    assert!(line("radio.queue").contains("--set"), "{shown}");
    assert!(line("radio.rate").contains("one_channel.toml:"), "{shown}");
    assert!(line("radio.cw_min").contains("default"), "{shown}");
}
