//! `airbraid plan` from a user's view: the paper's cases, odd input, the pictures.
//!
//! After a change of the pictures that is meant: `UPDATE_GOLDEN=1 cargo test -p airbraid-tests --test plan`, and look
//! at them.

use airbraid_tests::{airbraid, root};
use serde_json::Value;
use std::process::Output;

fn plan(arguments: &[&str]) -> Output {
    airbraid(&[&["plan"][..], arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(arguments: &[&str]) -> Value {
    let output = plan(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn policy<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["plans"].as_array().unwrap().iter().find(|plan| plan["policy"] == name).unwrap()
}

/// The longest disconnections [ms].
fn away(report: &Value, name: &str) -> Vec<f64> {
    let all = policy(report, name)["access_points"].as_array().unwrap();
    all.iter().map(|seen| seen["disconnection_ns"].as_f64().unwrap() / 1e6).collect()
}

#[test]
fn the_papers_cases() {
    let one = json(&["--duty", "0.5,0.125,0.125,0.125,0.125", "--slot", "15ms"]);
    assert_eq!(
        (&one["period_ns"], &one["slots"], &one["arrangements"]),
        (&120_000_000.into(), &8.into(), &1680.0.into())
    );
    assert_eq!(away(&one, "no-policy"), [60.0, 105.0, 105.0, 105.0, 105.0]);
    assert_eq!(away(&one, "min-max"), [15.0, 105.0, 105.0, 105.0, 105.0]);
    let two = json(&["--duty", "1/2, 12.5%, 0.375", "--slot", "12.5 ms"]);
    assert_eq!(away(&two, "no-policy"), [50.0, 87.5, 62.5]);
    assert_eq!(away(&two, "min-max"), [12.5, 87.5, 37.5]);
    assert_eq!(policy(&two, "min-max")["access_points"][2]["positions"], serde_json::json!([2, 4, 6]));
    assert_eq!(policy(&two, "min-max")["runs"]["search"], 6.0);
    let three = json(&["--duty", "0.65,0.25,0.1", "--slot", "15ms"]);
    assert_eq!(away(&three, "min-max"), [18.75, 80.0, 135.0]);
    assert_eq!(away(&three, "blind"), [18.75, 63.75, 135.0]);
    assert_eq!(policy(&three, "blind")["proof"]["best"], true);
}

#[test]
fn the_map_fills_the_period_and_delays_never_make_it_worse() {
    let report = json(&["--duty", "0.27,0.73", "--slot", "15ms", "--delay", "20ms,70ms", "--switch", "0.8ms"]);
    let sum: u64 = report["map"].as_array().unwrap().iter().map(|slot| slot["length_ns"].as_u64().unwrap()).sum();
    assert_eq!(Value::from(sum), report["period_ns"]);
    assert_eq!(report["policy"], "measured");
    let worth = |name| policy(&report, name)["aggregate_bps"].as_f64().unwrap();
    assert!(worth("measured") >= worth("min-max") && worth("measured") >= worth("no-policy"));
}

#[test]
fn twelve_access_points_get_a_plan_with_a_proven_bound() {
    let duties = "16/60,10/60,8/60,6/60,5/60,4/60,3/60,3/60,2/60,1/60,1/60,1/60";
    let report = json(&["--duty", duties, "--slot", "12ms"]);
    assert_eq!(report["slots"], 60);
    let proof = &policy(&report, "blind")["proof"];
    let gap = proof["gap"].as_f64().unwrap();
    assert!(proof["best"] == false && gap > 0.0 && gap < 0.1, "{proof}");
}

#[test]
fn rates_give_duty_cycles() {
    let rates = ["--backhaul", "10 Mbit/s, 20 Mbit/s, 0.2 Mbit/s", "--wireless", "20 Mbit/s", "--switch", "2 ms"];
    let fat_vap = json(&rates);
    // One backhaul is as fast as the air: the others are not worth their switches.
    assert_eq!(fat_vap["access_points"].as_array().unwrap().len(), 1);
    let themis = json(&[&rates[..], &["--scheduler", "themis"]].concat());
    let limits = themis["access_points"].as_array().unwrap().iter().map(|ap| ap["limit_bps"].as_u64().unwrap());
    assert_eq!(limits.collect::<Vec<_>>(), [9_300_000, 9_300_000, 200_000]);
    let weighed = json(&[&rates[..], &["--scheduler", "themis", "--weight", "1,2,1"]].concat());
    let limits = weighed["access_points"].as_array().unwrap().iter().map(|ap| ap["limit_bps"].as_u64().unwrap());
    assert_eq!(limits.collect::<Vec<_>>(), [6_200_000, 12_400_000, 200_000]);
}

#[test]
fn odd_input_gets_a_right_answer() {
    let alone = json(&["--duty", "1"]);
    assert_eq!((away(&alone, "min-max"), &alone["slots"]), (vec![0.0], &1.into()));
    let half = json(&["--duty", "0.5", "--slot", "50 ms"]);
    assert_eq!((away(&half, "min-max"), &half["idle_ns"]), (vec![50.0], &50_000_000.into()));
    let many = json(&["--duty", "0.0001,0.3333,0.6666", "--slot", "100 us"]);
    assert_eq!(many["slots"], 10_000);
    assert_eq!(away(&many, "min-max")[0], 999.9);
    let now = json(&["--duty", "0.5,0.5", "--delay", "0 s"]);
    assert!(now["plans"][0]["aggregate_bps"].is_null(), "nothing limits it");
}

#[test]
fn what_cannot_be_planned_is_exit_2_with_the_reason() {
    let too_many = vec!["1 Mbit/s"; 17].join(",");
    let cases: [(&[&str], &str); 20] = [
        (&["--duty", "0.7,0.5"], "add up to 1.2; one radio has no more than 1"),
        (&["--duty", "0.5,0"], "access point 2 is 0: leave it out"),
        (&["--duty", "0.5,half"], "`half`: write it as 0.125, 1/8 or 12.5 %"),
        (&["--duty", "-0.5"], ""),
        (&["--duty=-0.5"], "cannot be negative"),
        (
            &["--duty", "0.5,0.5", "--slot", "200 ms", "--period", "100 ms"],
            "would last 50 ms, shorter than the slot time of 200 ms",
        ),
        (&["--duty", "0.000001,0.5"], "the period would be longer than 3600 s"),
        (&["--duty", "0.00001,0.9", "--slot", "1 us"], "90001 slots in a period are more than 65536"),
        (&["--duty", "0.5,0.5", "--slot", "0 s"], "must be longer than 0"),
        (&["--duty", "0.5,0.5", "--slot", "15"], "the unit is missing"),
        (&["--duty", "0.5,0.5", "--switch", "15 ms"], "leaves nothing of the slots of access point 1"),
        (&["--duty", "0.5,0.3,0.2", "--delay", "1 ms,2 ms"], "2 values for 3 access points"),
        (&["--duty", "0.5,0.5", "--policy", "measured"], "give them with --delay"),
        (&["--duty", "0.5,0.5", "--policy", "best"], "min-max"),
        (&["--duty", "0.5,0.5", "--loss", "0"], "without loss the model has no limit"),
        (&["--backhaul", "1 Mbit/s,0 bit/s", "--wireless", "20 Mbit/s"], "access point 2 has a rate of 0"),
        (&["--backhaul", &too_many, "--wireless", "20 Mbit/s"], "17 are more than 16"),
        (&["--backhaul", "1 Mbit/s", "--wireless", "20 Mbit/s", "--weight", "2"], "add --scheduler themis"),
        (&["--duty", "0.5", "--weight", "2"], "--backhaul"),
        (&[], "--duty"),
    ];
    for (arguments, said) in cases {
        let output = plan(arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_drawing_that_cannot_be_written_is_not_begun() {
    let output = plan(&["--duty", "0.5,0.5", "--svg", "no-such-directory/plan.svg"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no-such-directory/plan.svg"));
    assert!(output.stdout.is_empty());
}

/// The pictures of case 2: small enough to be read in full.
#[test]
fn the_pictures_are_those_that_were_looked_at() {
    let file = std::env::temp_dir().join(format!("airbraid-plan-{}.svg", std::process::id()));
    let svg = file.to_string_lossy().into_owned();
    let output = plan(&["--duty", "0.5,0.125,0.375", "--slot", "12.5ms", "--delay", "20ms,60ms,35ms", "--svg", &svg]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let drawn = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    for (name, now) in [("plan.txt", text(&output.stdout)), ("plan.svg", drawn)] {
        let path = root().join("tests/golden").join(name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        for (number, (old, new)) in golden.lines().zip(now.lines()).enumerate() {
            assert_eq!(old, new, "{} differs from line {} on", path.display(), number + 1);
        }
        assert_eq!(golden.lines().count(), now.lines().count(), "{} has another length", path.display());
    }
}

#[test]
fn the_help_teaches() {
    let help = text(&plan(&["--help"]).stdout);
    for word in ["duty cycle", "min-max", "blind", "measured", "--backhaul", "Exit status"] {
        assert!(help.contains(word), "{word} is not in the help");
    }
}

#[test]
fn efficiency_is_that_of_the_appendix_of_kuang_and_williamson() {
    let percent = |arguments: &[&str]| -> Vec<f64> {
        let report = json(&[&["efficiency"], arguments].concat());
        let macs = report["macs"].as_array().unwrap();
        macs.iter().map(|mac| (mac["efficiency"].as_f64().unwrap() * 1e4).round() / 100.0).collect()
    };
    assert_eq!(percent(&[]), [77.75, 73.23, 78.35]);
    assert_eq!(percent(&["--packets-per-ack", "1"])[0], 71.71);
    // A larger batch costs DCF nothing and is of use to the others.
    let batch = percent(&["--batch", "8"]);
    assert!(batch[0] == 77.75 && batch[1] > 80.0 && batch[2] > batch[1], "{batch:?}");
    let table = text(&plan(&["efficiency"]).stdout);
    assert!(table.contains("bi_mcmac") && table.contains("78.35 %"), "{table}");
}

#[test]
fn efficiency_refuses_what_cannot_be_and_says_why() {
    let cases: [(&[&str], &str); 7] = [
        (&["--rate", "3 Mbit/s"], "802.11b has 1 Mbit/s, 2 Mbit/s, 5.5 Mbit/s, 11 Mbit/s"),
        (&["--rate", "fast"], "--rate fast"),
        (&["--standard", "802.11a", "--rate", "6 Mbit/s", "--preamble", "short"], "only 802.11b"),
        (&["--batch", "0"], "1..=64"),
        (&["--packet", "0 byte"], "from 1 to 65535 byte"),
        (&["--backoff", "1 h"], "--backoff"),
        (&["--duty", "0.5"], "--duty"),
    ];
    for (arguments, complaint) in cases {
        let output = plan(&[&["efficiency"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        let said = text(&output.stderr);
        assert!(said.contains(complaint), "{arguments:?}: {said}");
    }
}

/// `plan airtime` with a standard and further arguments.
fn airtime(standard: &str, arguments: &[&str]) -> Value {
    json(&[&["airtime", "--standard", standard], arguments].concat())
}

#[test]
fn airtime_is_that_of_the_standard() {
    let wide = ["--width", "80 MHz", "--mcs", "11", "--streams", "1", "--guard-interval", "800 ns", "--bytes", "1536"];
    let cases: [(&str, &[&str], u64); 9] = [
        ("802.11ax", &wide, 70_400),
        ("802.11ax", &[&wide[..], &["--rules", "ns-3"]].concat(), 71_200),
        ("802.11ac", &["--width", "80MHz", "--mcs", "9", "--bytes", "1536"], 72_000),
        ("802.11n", &["--mcs", "7", "--bytes", "14"], 40_000),
        ("802.11n", &["--mcs", "7", "--bytes", "14", "--band", "2.4 GHz"], 46_000),
        ("802.11be", &["--width", "320 MHz", "--mcs", "13", "--bytes", "1536"], 60_800),
        ("802.11a", &["--rate", "24 Mbit/s", "--bytes", "32"], 32_000),
        ("802.11g", &["--rate", "54 Mbit/s", "--bytes", "14"], 30_000),
        ("802.11b", &["--rate", "11 Mbit/s", "--preamble", "short", "--bytes", "1023"], 840_000),
    ];
    for (standard, arguments, expected) in cases {
        let report = airtime(standard, arguments);
        assert_eq!(report["airtime_ns"], expected, "{standard} {arguments:?}");
        let parts = ["preamble_ns", "data_ns", "packet_extension_ns", "signal_extension_ns"];
        let sum: u64 = parts.iter().map(|part| report[part].as_u64().unwrap()).sum();
        assert_eq!(sum, expected, "{standard} {arguments:?}");
    }
    assert_eq!(airtime("802.11be", cases[5].1)["band"], "6 GHz");
    let table = text(&plan(&[&["airtime", "--standard", "802.11ax"], &wide[..]].concat()).stdout);
    assert!(table.contains("2 symbols of 13.6 us, 8166 bits each"), "{table}");
    assert!(table.contains("data rate 600.5 Mbit/s; 1536 byte in 70.4 us are 174.5 Mbit/s, 29.1 % of it"), "{table}");
}

#[test]
fn airtime_refuses_what_the_standard_lacks_and_says_what_is_near() {
    let cases: [(&str, &[&str], &str); 14] = [
        ("802.11ac", &["--mcs", "9"], "near are MCS 8, or 3 and 6 streams, or 40 MHz"),
        ("802.11n", &["--mcs", "0", "--width", "80 MHz"], "it has 20 MHz and 40 MHz; 802.11ac has it"),
        ("802.11ax", &["--mcs", "0", "--width", "320 MHz"], "802.11be has it"),
        ("802.11ax", &["--mcs", "0", "--width", "80"], "--width 80: allowed are 20 MHz"),
        ("802.11ax", &[], "--mcs is missing: 802.11ax has MCS 0 to 11"),
        ("802.11ax", &["--mcs", "0", "--rate", "6 Mbit/s"], "--rate is for 802.11b, a and g"),
        ("802.11ax", &["--mcs", "0", "--guard-interval", "1 us"], "--guard-interval 1 us"),
        ("802.11ax", &["--mcs", "0", "--packet-extension", "9 us"], "allowed are 0 us, 8 us, 16 us, 20 us"),
        ("802.11g", &[], "--rate is missing: 802.11g has 6 Mbit/s"),
        ("802.11a", &["--rate", "11 Mbit/s"], "--rate 11 Mbit/s: 802.11a has 6 Mbit/s"),
        ("802.11a", &["--rate", "6 Mbit/s", "--preamble", "short"], "only 802.11b"),
        ("802.11a", &["--rate", "6 Mbit/s", "--band", "6 GHz"], "802.11a works in 5 GHz"),
        ("802.11b", &["--rate", "11 Mbit/s", "--streams", "2"], "--streams"),
        ("802.11z", &[], "802.11be"),
    ];
    for (standard, arguments, said) in cases {
        let output = plan(&[&["airtime", "--bytes", "100", "--standard", standard], arguments].concat());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{standard} {arguments:?}: {message}");
        assert!(message.contains(said) && output.stdout.is_empty(), "{standard} {arguments:?}: {message}");
    }
    let long = plan(&["airtime", "--standard", "802.11n", "--mcs", "0", "--bytes", "4424"]);
    assert!(text(&long.stderr).contains("at most 4423 byte fit"), "{}", text(&long.stderr));
}
