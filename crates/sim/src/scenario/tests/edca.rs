//! Radios of 802.11n to be and their access categories: what a few keys mean, and what is refused with its remedy.

use super::*;
use crate::scenario::spec::Mac;
use airbraid_mac::edca::{AccessCategory, AgreementSetup, EdcaConfig, FunctionConfig, Repair, Vector};
use airbraid_mac::ppdu::Format;
use airbraid_units::{Bytes, Duration};

/// The base with these keys in place of the rate, on channels that their band has.
fn of(keys: &str) -> String {
    let text = BASE.replacen("rate = \"11 Mbit/s\"", keys, 1);
    if keys.contains("5 GHz") { text.replace("radios = [1, 5]", "radios = [36, 40]") } else { text }
}

fn config(keys: &str) -> EdcaConfig {
    match &spec(&of(keys)).nodes[0].radios[0].mac {
        Mac::Edca(config) => **config,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_standard_alone_has_its_windows_and_its_highest_mode() {
    let expected = [
        ("802.11n", Format::Ht, 7, 64, 65_535),
        ("802.11ac", Format::Vht, 8, 64, 1_048_575),
        ("802.11ax", Format::He, 11, 256, 6_500_631),
        ("802.11be", Format::Eht, 13, 1_024, 15_523_200),
    ];
    for (name, format, mcs, window, ampdu) in expected {
        let config = config(&format!("standard = \"{name}\"\nband = \"5 GHz\""));
        let Vector::Mode(mode) = config.data else { panic!("{name} has no mode") };
        assert_eq!((mode.choice().format, mode.choice().mcs), (format, mcs));
        let aggregation = config.aggregation;
        assert_eq!((aggregation.window, aggregation.ampdu_frames), (window, u32::from(window)));
        assert_eq!(aggregation.ampdu, Some(Bytes::new(ampdu)));
        assert_eq!(aggregation.repair, Repair::Request);
    }
}

#[test]
fn keys_by_category_are_one_value_or_a_table() {
    let be = AccessCategory::BestEffort.index();
    let one = config("standard = \"802.11ax\"\ncw_min = 31\ntxop = \"2048 us\"");
    assert!(one.functions.iter().all(|function| function.txop == Duration::from_micros(2_048)));
    // One window is that of best effort; the others keep the standard's ratios.
    let windows = one.functions.map(|function| (function.cw_min, function.cw_max));
    assert_eq!(windows, [(31, 1_023), (31, 1_023), (15, 31), (7, 15)]);
    let table = config("standard = \"802.11ax\"\naifsn = { be = 4 }\ntxop = { vi = \"4096 us\", be = \"0 us\" }");
    assert_eq!(
        table.functions[be],
        FunctionConfig { aifsn: 4, ..FunctionConfig::standard(AccessCategory::BestEffort) }
    );
    assert_eq!(table.functions[AccessCategory::Video.index()].txop, Duration::from_micros(4_096));
    assert_eq!(table.functions[AccessCategory::Voice.index()], FunctionConfig::standard(AccessCategory::Voice));
}

#[test]
fn a_flow_has_its_category_by_name_or_by_dscp() {
    let priority = |keys: &str| spec(&(BASE.to_owned() + keys)).flows[0].priority;
    let category = |keys: &str| AccessCategory::of_priority(priority(keys));
    assert_eq!(priority(""), 0);
    assert_eq!(category("access = \"vo\""), AccessCategory::Voice);
    for (dscp, expected) in [
        ("ef", AccessCategory::Voice),
        ("cs6", AccessCategory::Voice),
        ("cs5", AccessCategory::Video),
        ("af41", AccessCategory::Video),
        ("af21", AccessCategory::BestEffort),
        ("default", AccessCategory::BestEffort),
        ("cs1", AccessCategory::Background),
    ] {
        assert_eq!(category(&format!("dscp = \"{dscp}\"")), expected, "{dscp}");
        assert_eq!(category(&format!("dscp = \"{dscp}\"\naccess = \"vi\"")), AccessCategory::Video, "{dscp}");
    }
}

/// Asserts that the keys are refused at `place`, with these words.
#[track_caller]
fn refuses(keys: &str, place: &str, expected: &str) {
    let told = errors(&of(keys));
    let first = told.lines().next().unwrap_or_default();
    assert!(first.starts_with(&format!("t.toml:{place}: ")) && first.contains(expected), "{told}");
}

#[test]
fn what_a_standard_does_not_have_is_told_at_its_key() {
    refuses(
        "standard = \"802.11n\"\nwidth = \"80 MHz\"",
        "8:9",
        "802.11n has no width of 80 MHz at `\"80 MHz\"`: it has 20 MHz and 40 MHz; 802.11ac has it",
    );
    refuses(
        "standard = \"802.11ac\"\nwidth = \"80 MHz\"\nmcs = 11",
        "9:7",
        "802.11ac has no MCS 11 of one stream at `11`: 0 to 9; 802.11ax has it",
    );
    refuses(
        "standard = \"802.11ac\"\nband = \"2.4 GHz\"",
        "8:8",
        "802.11ac does not work in 2.4 GHz at `\"2.4 GHz\"`: it works in 5 GHz",
    );
    refuses("standard = \"802.11ax\"\nguard_interval = \"400 ns\"", "8:18", "it has 800 ns, 1600 ns and 3200 ns");
    refuses("standard = \"802.11n\"\nmcs = 9", "8:7", "its MCS 9 is MCS 1 with 2 streams");
    refuses("standard = \"802.11ax\"\nampdu = \"8 MB\"", "8:9", "write ampdu = \"longest\"");
    refuses("standard = \"802.11ac\"\nblock_ack_window = 256", "8:20", "1 to 64");
    refuses("standard = \"802.11ax\"\namsdu = \"12 kB\"", "8:9", "write amsdu = \"7935 byte\"");
    refuses("standard = \"802.11n\"\nband = \"5 GHz\"\namsdu = \"8 kB\"", "9:9", "an A-MSDU of 802.11n has at most");
    let longest = config("standard = \"802.11ac\"\nband = \"5 GHz\"\namsdu = \"11424 byte\"");
    assert_eq!(longest.aggregation.amsdu, Some(Bytes::new(11_424)));
}

#[test]
fn a_limit_for_which_nothing_is_left_is_told() {
    refuses("standard = \"802.11ax\"\nampdu = \"0 byte\"", "8:9", "write ampdu = \"off\" for none");
    refuses("standard = \"802.11ax\"\namsdu = \"0 byte\"", "8:9", "write amsdu = \"off\" for none");
    refuses("standard = \"802.11ax\"\nampdu_frames = 257", "8:16", "802.11ax acknowledges no A-MPDU of 257 MPDUs");
    refuses("standard = \"802.11ax\"\nqueue = 0", "8:9", "a queue without a place takes no packet");
    // A window that there is not is told once.
    assert_eq!(errors(&of("standard = \"802.11ax\"\nblock_ack_window = 2000")).lines().count(), 1);
    refuses("standard = \"802.11a\"\nband = \"5 GHz\"", "8:8", "`band` belongs to EDCA");
    refuses("standard = \"802.11g\"\nbasic_rates = []", "8:15", "write [\"6 Mbit/s\"]");
}

/// A neighbour of an older standard has no agreements to set up, and one of another newer standard sets them up alike.
#[test]
fn what_is_written_once_for_a_file_is_no_slip_of_its_older_radios() {
    let text = of("standard = \"802.11ax\"\nband = \"5 GHz\"\nblock_ack_setup = \"frames\"\nbeacons = true");
    for older in ["802.11a", "802.11a\", edca = true, rate = \"54 Mbit/s", "802.11n"] {
        let node = format!(
            "[[node]]\nname = \"old\"\nposition = [\"1 m\", \"0 m\"]\nradios = [36]\nradio = {{ standard = \"{older}\" }}\n"
        );
        let spec = spec(&(text.clone() + &node));
        let Some(old) = spec.nodes.iter().find(|node| node.name == "old") else { panic!("no such node") };
        match &old.radios[0].mac {
            Mac::Edca(config) if config.aggregation.ampdu.is_some() => {
                assert_eq!(config.aggregation.setup, AgreementSetup::Frames);
                assert!(config.beacons);
            }
            Mac::Edca(config) => assert!(!config.beacons, "{older}"),
            Mac::Dcf(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_belongs_together_stays_together() {
    refuses("ampdu = \"longest\"", "7:9", "`ampdu` belongs to EDCA, and this radio has DCF");
    refuses("standard = \"802.11a\"\ntxop = \"2 ms\"", "8:8", "add edca = true");
    refuses("standard = \"802.11ax\"\nedca = false", "8:8", "802.11ax without EDCA does not exist");
    refuses("standard = \"802.11b\"\nedca = true", "8:8", "EDCA is modelled over OFDM, and 802.11b has none");
    refuses("standard = \"802.11a\"\nedca = true\nampdu = \"longest\"", "9:9", "`ampdu` is for 802.11n and later");
    refuses("standard = \"802.11ax\"\nrate = \"54 Mbit/s\"", "8:8", "802.11ax has mcs and streams");
    refuses("standard = \"802.11ax\"\nmac = \"mcmac\"", "8:7", "802.11ax has a medium access of its own: EDCA");
    refuses("standard = \"802.11ax\"\nshort_retry_limit = 7", "8:21", "write `retry_limit`");
    refuses("standard = \"802.11ax\"\nburst = 4", "8:9", "write `txop = { be = \"4096 us\" }`");
    refuses("standard = \"802.11ax\"\ntxop = \"3 s\"", "8:8", "a TXOP limit of 3 s is too long");
    refuses(
        "standard = \"802.11ax\"\ncw_min = { be = 63 }\ncw_max = { be = 31 }",
        "8:10",
        "cw_min 63 is above cw_max 31",
    );
    refuses("standard = \"802.11ax\"\naifsn = 0", "8:9", "an AIFSN of 0 does not exist");
}

/// The EDCA Parameter Set element has exponents, and units of 32 us.
#[test]
fn what_the_parameter_set_cannot_say_is_refused() {
    refuses("standard = \"802.11ax\"\ncw_min = { be = 10 }", "8:10", "write 7 or 15");
    refuses("standard = \"802.11ax\"\ncw_max = { be = 1000 }", "8:10", "write 511 or 1023");
    refuses("standard = \"802.11ax\"\ntxop = { vi = \"2 ms\" }", "8:8", "write \"1.984 ms\" or \"2.016 ms\"");
    let fine = config("standard = \"802.11ax\"\ncw_min = { vo = 0 }\ncw_max = { vo = 1 }\ntxop = \"32 us\"");
    let function = fine.functions[AccessCategory::Voice.index()];
    assert_eq!((function.cw_min, function.cw_max, function.txop), (0, 1, Duration::from_micros(32)));
}

#[test]
fn agreements_are_given_or_set_up_by_frames() {
    let setup = |keys: &str| config(&format!("standard = \"802.11ax\"\n{keys}")).aggregation.setup;
    assert_eq!(setup(""), AgreementSetup::Given);
    assert_eq!(setup("block_ack_setup = \"given\""), AgreementSetup::Given);
    assert_eq!(setup("block_ack_setup = \"frames\""), AgreementSetup::Frames);
}

#[test]
fn a_setup_without_agreements_or_with_one_end_is_refused() {
    let key = "block_ack_setup = \"frames\"";
    refuses(&format!("standard = \"802.11ax\"\n{}", key.replace("frames", "late")), "8:19", "allowed: given, frames");
    refuses(&format!("standard = \"802.11b\"\n{key}"), "8:19", "`block_ack_setup` belongs to EDCA");
    refuses(&format!("standard = \"802.11g\"\nedca = true\n{key}"), "9:19", "is for 802.11n and later");
    // The first of the two nodes alone.
    let one_end = format!("radios = [1, 5]\nradio = {{ {key} }}");
    let told = errors(&of("standard = \"802.11ax\"").replacen("radios = [1, 5]", &one_end, 1));
    assert!(told.contains("some radios set up agreements by frames") && told.contains("in [radio]"), "{told}");
    let without = one_end.replace(key, "ampdu = \"off\"");
    let text = of(&format!("standard = \"802.11ax\"\n{key}")).replacen("radios = [1, 5]", &without, 1);
    let told = errors(&text.replace("[[trunk]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\n", ""));
    assert_eq!(told, "no error", "a station without agreements declines");
}
