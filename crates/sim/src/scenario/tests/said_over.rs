//! `--set`, sweeps, expectations of cells, and `explain`.

use super::*;
use airbraid_units::{BitRate, Bytes};

fn set(text: &str, said: &[&str]) -> Result<Plan, String> {
    let mut scenario = Scenario::parse("t.toml", text).map_err(|e| e.to_string())?;
    for argument in said {
        scenario.set("--set", argument).map_err(|e| e.to_string())?;
    }
    scenario.plan().map_err(|e| e.to_string())
}

fn told(said: &str) -> String {
    set(BASE, &[said]).map(|_| "no error".to_owned()).unwrap_or_else(|e| e)
}

#[test]
fn set_takes_toml_bare_words_and_bare_quantities() {
    let plan = set(
        BASE,
        &[
            "radio.rate=5.5 Mbit/s",
            "run.seed = 9",
            "link.wan.loss=\"1 %\"",
            "trunk.air.members=[\"ch5\"]",
            "flow.f.transport={ tcp = \"cubic\" }",
            "node.a.radios.ch5.queue=3",
            "radio.rate=\"2 Mbit/s\"",
        ],
    )
    .unwrap();
    let spec = &plan.cells[0].spec;
    let dcf = spec.nodes[0].radios[1].mac.dcf().unwrap();
    assert_eq!((dcf.queue_limit, dcf.data_rate.bit_rate), (3, BitRate::from_kbps(2_000)));
    assert_eq!((spec.seed, spec.trunks[0].radios().unwrap().members.len()), (9, 1));
    assert_eq!(spec.nodes[0].radios[0].name, "ch1");
    let from = |key: &str| plan.resolved().iter().find(|r| r.key == key).map(|r| r.from.clone());
    assert_eq!(from("run.seed").as_deref(), Some("--set run.seed = 9"));
    assert_eq!(from("node.a.radios.ch1.rate").as_deref(), Some("[radio] at --set radio.rate=\"2 Mbit/s\""));
}

#[test]
fn set_tells_what_is_wrong_within_the_argument() {
    assert_eq!(
        told("radio.rate"),
        "--set:1:1: there is no `=` between key and value at `radio.rate`: write key=value, as in radio.rate=\"11 Mbit/s\""
    );
    assert_eq!(
        told("radio.rate=11"),
        "--set:1:12: the unit is missing at `11`: write it in quotes with its unit: \"11 bit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s)"
    );
    assert!(
        told("radio.rat=1")
            .starts_with("--set:1:1: unknown key `rat` in `radio` at `radio.rat`: did you mean `rate`? allowed: ")
    );
    assert_eq!(
        told("trunk.x.header=1"),
        "--set:1:1: nothing in `trunk` is called `x` at `trunk.x.header`: allowed: air; a path names it, as in trunk.air.KEY"
    );
    assert_eq!(
        told("trunk.air=1"),
        "--set:1:1: `trunk.air` is a whole table at `trunk.air`: name a key of it: trunk.air.KEY"
    );
    assert_eq!(
        told("flow=1"),
        "--set:1:1: `flow` is a list of tables, not a value at `flow`: name one of them and a key of it: flow.NAME.KEY"
    );
    assert_eq!(
        told("title.x=1"),
        "--set:1:1: `title` is \"base\", not a table at `title.x`: set `title` itself, to a table: title={ ... }"
    );
    assert_eq!(
        told("radio..rate=1"),
        "--set:1:1: `radio..rate` is not a path to a key at `radio..rate`: a path is keys and names with points between: trunk.air.policy.distributor"
    );
    assert!(told("trunk.air.members=[1").starts_with("--set:1:19: the value is not TOML at `[1`"));
    assert!(told("run.seed=1\nrun = 2").contains("a whole number is needed"));
    assert!(set("schema = 1", &["node.a.name=x"]).unwrap_err().contains("the scenario has no [[node]]"));
}

#[test]
fn a_sweep_is_the_product_in_the_order_of_the_file_last_axis_fastest() {
    let text = format!(
        "{BASE}[sweep]\n\"trunk.air.header\" = [\"8 byte\", \"0 byte\"]\nradio.queue = [5, 3]\n[expect]\n\
         \"flow.f.goodput\" = [{{ min = \"1 Mbit/s\" }}, {{ at = {{ \"radio.queue\" = 3 }}, value = \"2 Mbit/s\", tolerance = \"10 %\" }}]\n\
         drops.queue_full = {{ max = 3 }}\n"
    );
    let plan = plan(&text);
    let labels: Vec<&str> = plan.cells.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "trunk.air.header = 8 byte, radio.queue = 5",
            "trunk.air.header = 8 byte, radio.queue = 3",
            "trunk.air.header = 0 byte, radio.queue = 5",
            "trunk.air.header = 0 byte, radio.queue = 3"
        ]
    );
    assert_eq!(plan.cells[2].spec.trunks[0].radios().unwrap().header, Bytes::ZERO);
    assert_eq!(plan.cells[0].set[1], ("radio.queue".to_owned(), serde_json::json!(5)));
    let cells: Vec<&[usize]> = plan.expectations.iter().map(|e| &e.cells[..]).collect();
    assert_eq!(cells, [&[0, 1, 2, 3][..], &[1, 3], &[0, 1, 2, 3]]);
    let [_, bounded, drops] = &plan.expectations[..] else { panic!("three") };
    assert_eq!((bounded.min, bounded.max), (Some(1.8e6), Some(2.2e6)));
    assert!(bounded.holds(Some(1.8e6)) && !bounded.holds(Some(2.3e6)) && !bounded.holds(None));
    assert_eq!((drops.key.as_str(), drops.bounds().as_str()), ("drops.queue_full", "<= 3"));
}

#[test]
fn an_option_on_a_swept_key_pins_it_and_expectations_of_other_cells_fall_away() {
    let text = format!(
        "{BASE}[sweep]\n\"radio.queue\" = [5, 3]\n[expect]\n\"flow.f.goodput\" = {{ at = {{ \"radio.queue\" = 3 }}, min = \"1 bit/s\" }}\n"
    );
    let pinned = |value: &str| {
        let plan = set(&text, &[&format!("radio.queue={value}")]).unwrap();
        (plan.cells.len(), plan.expectations[0].cells.len())
    };
    assert_eq!((pinned("3"), pinned("7")), ((1, 1), (1, 0)));
}

#[test]
fn cells_without_an_expectation_are_left_out_and_all_stay_where_none_has_one() {
    let swept = format!("{BASE}[sweep]\n\"radio.queue\" = [5, 4, 3, 2]\n");
    let at = |queue| format!("{{ at = {{ \"radio.queue\" = {queue} }}, min = \"1 bit/s\" }}");
    let expecting = plan(&format!("{swept}[expect]\n\"flow.f.goodput\" = [{}, {}]\n", at(2), at(4)));
    let kept = expecting.clone().of_expected_cells();
    let labels: Vec<&str> = kept.cells.iter().map(|cell| cell.label.as_str()).collect();
    assert_eq!(labels, ["radio.queue = 4", "radio.queue = 2"]);
    let of = |plan: &Plan| {
        let label = |cell: &usize| plan.cells[*cell].label.clone();
        plan.expectations.iter().map(|e| e.cells.iter().map(label).collect()).collect::<Vec<Vec<_>>>()
    };
    assert_eq!(of(&kept), of(&expecting));
    assert_eq!(plan(&swept).of_expected_cells().cells.len(), 4);
}

#[test]
fn explain_says_where_each_value_came_from() {
    let text = BASE.replace("radios = [1, 5]", "radios = [1, { channel = 5, queue = 9 }]");
    let plan = plan(&format!(
        "{text}[sweep]\n\"run.warm_up\" = [\"1 s\", \"2 s\"]\n[expect]\n\"flow.f.timeouts\" = {{ max = 2 }}\n"
    ));
    let explained = plan.explain();
    let squeezed: Vec<String> = explained.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "run.duration 10 s t.toml:5:12",
        "run.warm_up 1 s [sweep] at t.toml:28:18",
        "run.seed 1 default: the first",
        "radio.rate 11 Mbit/s t.toml:7:8",
        "radio.power 24.499998 dBm default: ns-2: 0.28183815 W",
        "node.a.radios.ch5.channel 5 t.toml:11:26",
        "node.a.radios.ch5.queue 9 t.toml:11:37",
        "node.a.radios.ch5.* (44 more) the same as radio.*",
        "trunk.air.policy.resequencer.increment 1 ms default: Wang 2005",
        "flow.f.transport.tcp newreno default: newreno: what the papers' simulations ran",
        "flow.f.transport.receive_buffer 65535 byte default: the largest window without scaling",
        "[[flow]] f: transport",
        "[[node]] a: radios.ch5",
        "swept, 2 cells (the values above are those of the first):",
        "run.warm_up = 1 s | 2 s",
        "flow.f.timeouts <= 2",
        "warning: channels 1 and 5 are 20 MHz apart or less and overlap: they disturb each other (overlap = \"ignored\" leaves that out)",
    ] {
        assert!(squeezed.iter().any(|l| l == line), "{line}\n  is not in\n{explained}");
    }
}

#[test]
fn explain_shows_each_value_once_and_nothing_that_has_no_effect() {
    let keys = |text: &str| plan(text).resolved().into_iter().map(|r| r.key).collect::<Vec<String>>();
    let has = |keys: &[String], key: &str| keys.iter().any(|k| k == key);
    let plain = keys(BASE);
    for absent in [
        "trunk.air.policy.srr.quantum",
        "trunk.air.policy.jkm.window",
        "trunk.air.policy.resequencer.silence",
        "flow.f.transport",
        "flow.f.transport.window",
        "flow.f.via",
        "node.a.attach",
    ] {
        assert!(!has(&plain, absent), "{absent}");
    }
    let own_order = keys(&BASE.replace("[[link]]", "policy = { distributor = \"srr\" }\n[[link]]"));
    assert!(has(&own_order, "trunk.air.policy.srr.quantum") && !has(&own_order, "trunk.air.policy.resequencer.mode"));
    let said = plan(&BASE.replace("[[link]]", "policy = { srr = { quantum = \"2000 byte\" } }\n[[link]]"));
    assert!(said.resolved().iter().any(|r| r.key.ends_with("srr.quantum") && r.value == "2000 byte (not used)"));
    let linux = keys(&format!("{BASE}transport = {{ tcp = \"cubic\", profile = \"linux\" }}\n"));
    for key in ["min_rto", "delayed_ack", "send_buffer", "window_scaling", "ack_every"] {
        assert!(has(&linux, &format!("flow.f.transport.{key}")) && has(&plain, &format!("flow.f.transport.{key}")));
    }
    let udp = plan(&format!("{BASE}transport = \"udp\"\n"));
    assert!(udp.resolved().iter().any(|r| r.key == "flow.f.transport.udp" && r.value == "1024 byte"));
}

/// Beside 802.11b a radio with OFDM has the long slot (802.11-2020, 9.4.1.4), whatever the default of its table is.
#[test]
fn explain_shows_the_slot_that_a_radio_beside_802_11b_uses() {
    let mixed = |old: &str, said: &str| {
        plan(&format!(
            "schema = 1\ntitle = \"t\"\nquestion = \"?\"\n[run]\nduration = \"1 s\"\n[radio]\nstandard = \"802.11g\"\n{said}\
             [[node]]\nname = \"new\"\nposition = [\"0 m\", \"0 m\"]\nradios = [1]\n\
             [[node]]\nname = \"old\"\nposition = [\"1 m\", \"0 m\"]\nradios = [1]\nradio = {{ {old} }}\n"
        ))
    };
    let value = |plan: &Plan, key: &str| {
        let found: Vec<String> = plan.resolved().into_iter().filter(|r| r.key == key).map(|r| r.value).collect();
        assert!(found.len() < 2, "{key} twice");
        found.first().cloned()
    };
    let beside = mixed("standard = \"802.11b\"", "");
    let [slot, rate, protection] =
        ["slot", "broadcast_rate", "protection"].map(|key| value(&beside, &format!("node.new.radios.ch1.{key}")));
    assert_eq!((slot.as_deref(), rate.as_deref()), (Some("20 us"), Some("1 Mbit/s")));
    assert_eq!(protection.as_deref(), Some("cts_to_self"));
    let own = mixed("standard = \"802.11b\"", "slot = \"9 us\"\n");
    assert_eq!(value(&own, "node.new.radios.ch1.slot").as_deref(), Some("9 us"), "it is said");
    let alone = mixed("cw_min = 15", "");
    assert_ne!(value(&alone, "node.new.radios.ch1.slot").as_deref(), Some("20 us"));
    assert_eq!(value(&alone, "radio.slot").as_deref(), Some("9 us"));
}

#[test]
fn no_scenario_of_the_repository_has_a_value_twice() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut open = vec![root];
    let mut read = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|e| e == "toml") {
            let plan = Scenario::read(&path).unwrap().plan().unwrap();
            let mut keys: Vec<String> = plan.resolved().into_iter().map(|r| r.key).collect();
            let all = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), all, "{}", path.display());
            read += 1;
        }
    }
    assert!(read > 20, "{read} scenarios");
}

#[test]
fn explain_notes_what_no_station_of_today_would_do() {
    let notes = |text: &str, part: &str| plan(text).warnings.iter().any(|w| w.contains(part));
    let on_14 = BASE.replace("radios = [1, 5]", "radios = [1, 14]");
    let newer = |text: &str| text.replace("rate = \"11 Mbit/s\"", "standard = \"802.11ax\"\nband = \"2.4 GHz\"");
    assert!(notes(&newer(&on_14), "channel 14, which is for 802.11b alone"));
    assert!(!notes(&on_14, "channel 14, which") && !notes(&newer(BASE), "channel 14, which"));
    let long = |payload: u32| format!("{BASE}transport = {{ udp = \"{payload} byte\" }}\n");
    // 8 byte of LLC and 28 of IP and UDP.
    assert!(notes(&long(2_269), "are longer than an MSDU of 802.11") && !notes(&long(2_268), "are longer than"));
    let unlike = |keys: &str| {
        let on = |text: &str| text.replace("radios = [1, 5]", "radios = [36]");
        let plain = BASE.replace("[[trunk]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\n", "");
        let text = on(&plain).replacen("radios = [36]", &format!("radios = [36]\nradio = {{ {keys} }}"), 1);
        text.replace("rate = \"11 Mbit/s\"", "standard = \"802.11ax\"")
    };
    assert!(!notes(&unlike("standard = \"802.11a\""), "no path leads"), "DCF and EDCA speak with each other");
    let part = "has an AIFSN of 1, which only access points may have";
    assert!(notes(&unlike("aifsn = 1"), part) && notes(&unlike("aifsn = { vo = 1 }"), part));
    assert!(!notes(&unlike("aifsn = 1, beacons = true"), part) && !notes(&unlike("aifsn = 2"), part));
    let part = "has a contention window that is not 2^n - 1";
    assert!(notes(&unlike("standard = \"802.11a\", cw_min = 10"), part));
    assert!(!notes(&unlike("standard = \"802.11a\", cw_min = 7"), part));
    let part = "share a channel, but their paths are those of 914 MHz and 5.18 GHz";
    assert!(notes(&unlike("standard = \"802.11a\""), part), "{:?}", plan(&unlike("standard = \"802.11a\"")).warnings);
    assert!(!notes(&unlike("standard = \"802.11a\", frequency = \"5.2 GHz\""), "share a channel"));
    assert!(!notes(&unlike("width = \"80 MHz\""), "share a channel"));
}

#[test]
fn explain_warns_of_channels_that_the_standard_does_not_have() {
    let warns =
        |text: &str| plan(text).warnings.iter().any(|w| w.starts_with("802.11b and g end at channel 14; 19 is"));
    assert!(!warns(BASE));
    assert!(warns(&BASE.replace("radios = [1, 5]", "radios = [1, 19]")));
}

#[test]
fn explain_notes_what_is_allowed_and_probably_not_meant() {
    let notes = |text: &str, part: &str| plan(text).warnings.iter().any(|w| w.contains(part));
    let strong = BASE.replace("rate = \"11 Mbit/s\"", "power = \"300 dBm\"");
    assert!(notes(&strong, "radio `a/ch1` (and 3 more) transmits with 300 dBm"), "{:?}", plan(&strong).warnings);
    let on_5_ghz = BASE.replace("rate = \"11 Mbit/s\"", "standard = \"802.11a\"");
    assert!(notes(&on_5_ghz, "802.11a has no channel 1, 5 (it has 36 to 64"), "{:?}", plan(&on_5_ghz).warnings);
    assert!(!notes(&on_5_ghz.replace("[1, 5]", "[36, 149]"), "802.11a has no channel"));
    let late = format!("{BASE}[[at]]\ntime = \"10 s\"\nlink = \"wan\"\nstate = \"down\"\n");
    assert!(notes(&late, "[[at]] 10 s is when the run of 10 s is over"), "{:?}", plan(&late).warnings);
    assert!(!notes(&late.replace("time = \"10 s\"", "time = \"9 s\""), "[[at]]"));
    let unlike = BASE.replacen("radios = [1, 5]", "radios = [1, { channel = 5, error = { ber = 1e-4 } }]", 1);
    assert!(notes(&unlike, "on channel 5 have different `error`: that of the receiving radio counts"));
    for part in ["transmits with", "802.11a", "[[at]]", "different `error`"] {
        assert!(!notes(BASE, part), "{part}");
    }
    let swept = format!("{BASE}[sweep]\n\"radio.power\" = [\"20 dBm\", \"40 dBm\"]\n");
    assert!(notes(&swept, "where radio.power = 40 dBm: radio `a/ch1`"), "{:?}", plan(&swept).warnings);
}

#[test]
fn explain_warns_of_flows_without_a_path() {
    let text = BASE.replace("[\"100 m\", \"0 m\"]", "[\"900 m\", \"0 m\"]");
    let link = "[[link]]\nname = \"wan\"\nbetween = [\"a\", \"b\"]\nrate = \"20 Mbit/s\"\n";
    assert!(plan(&text).warnings.iter().all(|w| !w.contains("no path")));
    let alone = plan(&text.replace(link, ""));
    assert!(
        alone.warnings.iter().any(|w| w == "flow `f`: no path leads from `a` to `b` at the start"),
        "{:?}",
        alone.warnings
    );
}

#[test]
fn the_first_name_of_question_is_read_and_told_as_old() {
    let old = plan(&BASE.replace("question =", "asks ="));
    assert_eq!(old.question, plan(BASE).question);
    assert_eq!(old.warnings.first().unwrap(), "`asks` is now called `question`");
    assert!(plan(BASE).warnings.iter().all(|warning| !warning.contains("asks")));
    // Beside the new name the old one is an unknown key.
    assert!(errors(&BASE.replace("question =", "asks = \"?\"\nquestion =")).contains("unknown key `asks`"));
}
