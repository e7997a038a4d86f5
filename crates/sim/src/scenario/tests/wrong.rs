//! Wrong input: file, line, column, value and remedy of each.

use super::*;
use airbraid_engine::trunk::LateMode;
use airbraid_engine::trunk::bonding::{BondPolicy, BondResequencer, Coding};
use airbraid_units::{Bytes, Duration};
use std::path::Path;

/// The base with `from` replaced by `to`, which must be there.
fn with(from: &str, to: &str) -> String {
    assert!(BASE.contains(from), "{from}");
    BASE.replacen(from, to, 1)
}

/// Asserts that the one error of `text` is `expected`.
fn tells(text: &str, expected: &str) {
    assert_eq!(errors(text), expected);
}

#[test]
fn a_misspelt_key_names_the_nearest() {
    tells(
        &with("duration", "durration"),
        "t.toml:4:1: `run.duration` is missing at `[run]`: add duration = \"100 s\"\n\
         t.toml:5:1: unknown key `durration` in `run` at `durration`: did you mean `duration`? allowed: duration, \
         replications, seed, warm_up",
    );
    assert_eq!(first(&with("[radio]", "[radoi]")), ("6:2".into(), "radoi".into()));
}

#[test]
fn a_unit_that_is_missing_or_wrong_is_told_with_those_that_exist() {
    let units = "bit/s, kbit/s, Mbit/s, Gbit/s";
    tells(
        &with("\"20 Mbit/s\"", "20"),
        &format!(
            "t.toml:22:8: the unit is missing at `20`: write it in quotes with its unit: \"20 bit/s\" (units: {units})"
        ),
    );
    tells(
        &with("\"20 Mbit/s\"", "\"20\""),
        &format!("t.toml:22:8: the unit is missing at `\"20\"`: write \"20 bit/s\" (units: {units})"),
    );
    tells(
        &with("\"20 Mbit/s\"", "\"20 Mbps\""),
        &format!(
            "t.toml:22:8: `Mbps` is not a unit of a bit rate at `\"20 Mbps\"`: units: {units}; for example \"11 Mbit/s\""
        ),
    );
    tells(
        &with("\"20 Mbit/s\"", "20 Mbit/s"),
        "t.toml:22:8: this is not TOML: string values must be quoted, expected literal string at `20 Mbit/s`: a quantity is a text in quotes: rate = \"20 Mbit/s\"",
    );
}

#[test]
fn the_receiver_of_ns2_compares_powers_and_nothing_else() {
    let radio = |keys: &str| with("[radio]", &format!("[radio]\n{keys}"));
    for other in ["recapture = true", "capture = \"none\"", "error = \"sinr\""] {
        let (place, value) = first(&radio(&format!("receiver = \"ns2\"\n{other}")));
        assert_eq!((place.as_str(), value.as_str()), ("7:12", "\"ns2\""), "{other}");
    }
    assert_eq!(first(&radio("receiver = \"ns-2\"")), ("7:12".into(), "\"ns-2\"".into()));
    assert_eq!(first(&radio("eifs = \"nave\"")), ("7:8".into(), "\"nave\"".into()));
}

#[test]
fn a_negative_rate_is_refused() {
    tells(
        &with("\"20 Mbit/s\"", "\"-20 Mbit/s\""),
        "t.toml:22:8: a bit rate cannot be negative at `\"-20 Mbit/s\"`: write a bit rate such as \"11 Mbit/s\"",
    );
    tells(
        &with("\"20 Mbit/s\"", "\"0 bit/s\""),
        "t.toml:22:8: a rate is above zero at `\"0 bit/s\"`: leave it out for a link without limit",
    );
}

#[test]
fn a_rate_that_the_standard_has_not_lists_those_it_has() {
    tells(
        &with("rate = \"11 Mbit/s\"", "rate = \"12 Mbit/s\""),
        "t.toml:7:8: 802.11b has no rate of 12 Mbit/s at `\"12 Mbit/s\"`: allowed: \"1 Mbit/s\", \"2 Mbit/s\", \"5.5 Mbit/s\", \"11 Mbit/s\"",
    );
}

#[test]
fn a_flow_to_nowhere_names_the_nodes() {
    tells(
        &with("to = \"b\"", "to = \"bb\""),
        "t.toml:26:6: no node is called `bb` at `\"bb\"`: did you mean `b`? allowed: a, b",
    );
    tells(
        &with("to = \"b\"", "to = \"a\""),
        "t.toml:26:6: a flow goes from one node to another at `\"a\"`: name two different nodes",
    );
}

#[test]
fn a_tcp_that_is_not_known_is_the_only_complaint() {
    tells(
        &with("to = \"b\"", "to = \"b\"\ntransport = { tcp = \"bbr2\", profile = \"linux\" }"),
        "t.toml:27:21: `bbr2` is not known here at `\"bbr2\"`: did you mean `bbr`? allowed: reno, newreno, sack, cubic, bbr",
    );
}

#[test]
fn a_trunk_without_a_shared_channel_says_what_each_end_has() {
    tells(
        &with("radios = [1, 5]", "radios = [6, 11]"),
        "t.toml:18:11: the ends of this trunk share no channel: `a` has 6, 11; `b` has 1, 5 at `[\"a\", \"b\"]`: give both \
         nodes radios on the same channels",
    );
}

#[test]
fn two_things_of_one_name_are_told_at_the_second() {
    assert_eq!(first(&with("name = \"b\"", "name = \"a\"")), ("13:8".into(), "\"a\"".into()));
    tells(
        &with("radios = [1, 5]", "radios = [1, 1, 5]"),
        "t.toml:11:14: two radios are called `ch1` at `1`: give each its own name",
    );
    let twice = format!("{BASE}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n");
    tells(&twice, "t.toml:28:8: two flows are called `f` at `\"f\"`: give each its own name");
}

#[test]
fn a_number_beyond_its_type_is_told_its_range() {
    tells(
        &with("[radio]", "[radio]\nqueue = 5000000000"),
        "t.toml:7:9: the number is beyond its type at `5000000000`: write a number from 0 to 4294967295",
    );
    tells(
        &with("[run]", "[run]\nseed = 99999999999999999999"),
        "t.toml:5:8: the number is beyond its type at `99999999999999999999`: write a number from 0 to 9223372036854775807",
    );
    tells(
        &with("[run]", "[run]\nseed = -1"),
        "t.toml:5:8: the number cannot be negative at `-1`: write a number from 0 to 9223372036854775807",
    );
    assert_eq!(first(&with("[run]", &format!("[run]\nseed = {}", "9".repeat(60)))).0, "5:8");
    tells(
        &with("\"10 s\"", "\"1e300 s\""),
        "t.toml:5:12: the number is too large at `\"1e300 s\"`: write a duration such as \"20 us\"",
    );
}

#[test]
fn places_and_speeds_are_of_this_world() {
    tells(
        &with("\"100 m\"", "\"1e300 m\""),
        "t.toml:14:12: that is further than anything on Earth at `[\"1e300 m\", \"0 m\"]`: write at most \"20000 km\"",
    );
    assert!(errors(&with("\"100 m\"", "\"-20001 km\"")).contains("further than anything on Earth"));
    assert_eq!(errors(&with("\"100 m\"", "\"-20000 km\"")), "no error");
    let moving = |speed: &str| with("name = \"b\"", &format!("name = \"b\"\nvelocity = [\"0 m/s\", \"{speed}\"]"));
    tells(
        &moving("3e8 m/s"),
        "t.toml:14:12: that is faster than light at `[\"0 m/s\", \"3e8 m/s\"]`: write for example [\"1.5 m/s\", \"0 m/s\"]",
    );
    assert_eq!(errors(&moving("7900 m/s")), "no error");
}

#[test]
fn what_is_not_toml_is_told_where() {
    let (place, _) = first("schema = 1\ntitle = \"open\nquestion = 3\n");
    assert_eq!(place.split(':').next(), Some("2"));
    assert!(errors("<html>").starts_with("t.toml:1:"), "{}", errors("<html>"));
}

#[test]
fn a_sweep_over_a_key_that_does_not_exist_is_told_at_the_sweep() {
    let text = format!("{BASE}[sweep]\n\"trunk.air.policy.distributer\" = [\"round_robin\"]\n");
    tells(
        &text,
        "t.toml:28:1: unknown key `distributer` in `trunk.air.policy` at `\"trunk.air.policy.distributer\"`: did you mean \
         `distributor`? allowed: distributor, jkm, member_queue, member_time, numbering, queue, resequencer, srr",
    );
    tells(
        &format!("{BASE}[sweep]\n\"trunk.iar.header\" = [\"4 byte\"]\n"),
        "t.toml:28:1: nothing in `trunk` is called `iar` at `\"trunk.iar.header\"`: did you mean `air`? allowed: air",
    );
    tells(
        &format!("{BASE}[sweep]\n\"radio.queue\" = []\n"),
        "t.toml:28:17: there is nothing to sweep at `[]`: give at least one value, or leave the key out",
    );
    tells(
        &format!("{BASE}[sweep]\n\"radio.queue\" = 5\n"),
        "t.toml:28:17: a list of values is swept, this is a whole number at `5`: write [value, value, ...]",
    );
    assert!(
        errors(&format!("{BASE}[sweep]\n\"radio.queue\" = [1, 0.5]\n"))
            .contains("28:21: a whole number is needed, this is a number at `0.5`")
    );
}

#[test]
fn of_a_trunk_over_links_each_end_and_each_member_can_be_expected() {
    let text = |line: &str| {
        format!(
            "schema = 1\ntitle = \"t\"\nquestion = \"a\"\n[run]\nduration = \"1 s\"\n\
             [[node]]\nname = \"hub\"\n[[node]]\nname = \"car\"\n\
             [[link]]\nname = \"dsl\"\nbetween = [\"hub\", \"car\"]\nrate = \"2 Mbit/s\"\n\
             [[link]]\nname = \"lte\"\nbetween = [\"hub\", \"car\"]\nrate = \"1 Mbit/s\"\n\
             [[trunk]]\nname = \"bond\"\nover = \"links\"\nbetween = [\"hub\", \"car\"]\n\
             [[flow]]\nname = \"f\"\nfrom = \"hub\"\nto = \"car\"\ntransport = {{ udp = \"100 byte\" }}\n\
             source = {{ rate = \"80 kbit/s\" }}\n[expect]\n{line} = {{ min = 0 }}\n"
        )
    };
    for fine in ["trunk.bond.holes", "trunk.bond.car.retransmissions", "trunk.bond.hub.lte.share"] {
        spec(&text(&format!("\"{fine}\"")));
    }
    for (wrong, said) in [
        ("trunk.bind.holes", "no trunk is called `bind` at `\"trunk.bind.holes\"`: did you mean `bond`?"),
        ("trunk.bond.hole", "`hole` is no metric here at `\"trunk.bond.hole\"`: did you mean `holes`?"),
        ("trunk.bond.cat.holes", "no end is called `cat` at `\"trunk.bond.cat.holes\"`: did you mean `car`?"),
        ("trunk.bond.hub.lt.share", "no member is called `lt` at `\"trunk.bond.hub.lt.share\"`: did you mean `lte`?"),
        ("trunk.bond.hub.lte.shore", "`shore` is no metric here"),
        ("trunk.bond.resyncs", "`resyncs` is no metric here"),
        (
            "tunnel.bond.holes",
            "`tunnel.bond.holes` is an old name at `\"tunnel.bond.holes\"`: it is `trunk.bond.holes` now",
        ),
        ("tunnel.bond.hub.lte.lost", "it is `trunk.bond.hub.lte.lost_frames` now"),
    ] {
        let errors = errors(&text(&format!("\"{wrong}\"")));
        assert!(errors.contains(said), "{errors}");
    }
}

#[test]
fn a_key_of_the_other_kind_of_trunk_is_refused_with_those_of_this_one() {
    let links = |policy: &str| {
        errors(&format!(
            "schema = 1\ntitle = \"t\"\nquestion = \"a\"\n[run]\nduration = \"1 s\"\n\
             [[node]]\nname = \"hub\"\n[[node]]\nname = \"car\"\n[[link]]\nname = \"dsl\"\nbetween = [\"hub\", \"car\"]\n\
             [[trunk]]\nname = \"bond\"\nover = \"links\"\nbetween = [\"hub\", \"car\"]\n{policy}\n\
             [[flow]]\nname = \"f\"\nfrom = \"hub\"\nto = \"car\"\nsource = \"greedy\"\n"
        ))
    };
    let bond = "a trunk over links has distributor, queue, resequencer, tunnel";
    let waits = "that of a trunk over links, which measures how long to wait, has buffer, maximum, minimum, mode";
    for (policy, said) in [
        ("policy = { srr = { quantum = 3000 } }", format!("17:12: `srr` belongs to a trunk over radios at `srr`: {bond}")),
        ("policy.member_queue = 8", format!("17:8: `member_queue` belongs to a trunk over radios at `member_queue`: {bond}")),
        ("policy.jkm.window = 8", format!("17:8: `jkm` belongs to a trunk over radios at `jkm`: {bond}")),
        (
            "policy.resequencer = { mode = \"strict\", method = \"fifo\" }",
            format!("17:41: `method` belongs to the resequencer of a trunk over radios at `method`: {waits}"),
        ),
        (
            "policy.resequencer.initial = \"1 ms\"",
            format!("17:20: `initial` belongs to the resequencer of a trunk over radios at `initial`: {waits}"),
        ),
        (
            "policy.distributor = \"round_robin\"",
            "17:22: over links each packet goes where it arrives first at `\"round_robin\"`: write \"earliest_delivery\", or leave \
             it out"
                .to_owned(),
        ),
        (
            "header = \"4 byte\"",
            "17:1: `header` belongs to a trunk over radios at `header`: a trunk over links has between, members, name, over, policy"
                .to_owned(),
        ),
        (
            "policy.resequencer = { minimum = \"2 s\" }",
            "17:34: 2 s <= 1 s does not hold at `\"2 s\"`: the longest wait is not below the shortest".to_owned(),
        ),
    ] {
        assert_eq!(links(policy), format!("t.toml:{said}"), "{policy}");
    }
    tells(
        &with("between = [\"a\", \"b\"]", "between = [\"a\", \"b\"]\npolicy = { tunnel = { coding = \"off\" } }"),
        "t.toml:19:12: `tunnel` belongs to a trunk over links (`over = \"links\"`) at `tunnel`: a trunk over radios has \
         distributor, jkm, member_queue, member_time, numbering, queue, resequencer, srr",
    );
}

#[test]
fn what_a_trunk_over_links_is_told_is_read() {
    let spec = spec(
        "schema = 1\ntitle = \"t\"\nquestion = \"a\"\n[run]\nduration = \"1 s\"\n\
         [[node]]\nname = \"hub\"\n[[node]]\nname = \"car\"\n[[link]]\nname = \"dsl\"\nbetween = [\"hub\", \"car\"]\n\
         [[trunk]]\nname = \"bond\"\nover = \"links\"\nbetween = [\"hub\", \"car\"]\n\
         policy.queue = 7\npolicy.resequencer = { mode = \"strict\", minimum = \"2 ms\", maximum = \"3 ms\", buffer = 9 }\n\
         policy.tunnel = { persistence = \"1 s\", persistence_real_time = \"2 s\", duplicate = \"4 byte\", target = \"5 s\", \
         coding = \"off\" }\n\
         [[flow]]\nname = \"f\"\nfrom = \"hub\"\nto = \"car\"\nsource = \"greedy\"\n",
    );
    let (ms, secs) = (Duration::from_millis, Duration::from_secs);
    let resequencer = BondResequencer { mode: LateMode::Strict, minimum: ms(2), maximum: ms(3), buffer_limit: 9 };
    let expected = BondPolicy {
        queue_limit: 7,
        resequencer,
        persistence: secs(1),
        persistence_real_time: secs(2),
        duplicate: Bytes::new(4),
        target: secs(5),
        coding: Coding::Off,
    };
    assert_eq!(spec.trunks[0].links().unwrap().policy, expected);
}

#[test]
fn an_expectation_must_be_of_something_that_there_is() {
    let expect = |line: &str| errors(&format!("{BASE}[sweep]\n\"radio.queue\" = [1, 2]\n[expect]\n{line}\n"));
    assert_eq!(
        expect("\"flow.f.godput\" = { min = \"1 Mbit/s\" }"),
        "t.toml:30:1: `godput` is no metric here at `\"flow.f.godput\"`: did you mean `goodput`? allowed: goodput, \
         ip_throughput, delivered, sent_packets, received_packets, retransmits, timeouts, rtt_mean, retransmits_most, \
         out_of_order, idle_longest, completion, gap_longest, reordered, reordering_extent, on_time, delay_min, delay_mean, delay_std, delay_p50, delay_p99, delay_max, \
         limited_by_application, limited_by_receive_window, limited_by_send_buffer, limited_by_slow_start, \
         limited_by_congestion_window, limited_by_handshake, limited_by_rate, limited_by_airtime, \
         limited_by_other_flows, limited_by_retries, limited_by_block_ack_window, limited_by_slots, limited_by_queue, limited_by_losses, \
         limited_by_reordering, limited_by_route, limited_by_down"
    );
    assert_eq!(
        expect("\"flow.g.goodput\" = { min = \"1 Mbit/s\" }"),
        "t.toml:30:1: no flow is called `g` at `\"flow.g.goodput\"`: did you mean `f`? allowed: f"
    );
    assert_eq!(
        expect("\"flow.f.goodput\" = { at = { \"radio.queue\" = 3 }, min = \"1 Mbit/s\" }"),
        "t.toml:30:45: no cell has this value at `3`: allowed: 1, 2"
    );
    assert_eq!(
        expect("\"flow.f.goodput\" = { at = { \"radio.rate\" = 3 }, min = \"1 Mbit/s\" }"),
        "t.toml:30:29: `radio.rate` is not swept at `\"radio.rate\"`: allowed: radio.queue"
    );
    assert!(expect("\"flow.f.goodput\" = { min = 1 }").contains("the unit is missing at `1`"));
    assert!(
        expect("\"flow.f.goodput\" = { value = \"1 Mbit/s\" }")
            .contains("`expect.flow.f.goodput.tolerance` is missing")
    );
    assert!(expect("\"flow.f.goodput\" = {}").contains("nothing is expected here"));
}

#[test]
fn values_that_contradict_each_other_are_refused() {
    let cases = [
        (with("[radio]", "[radio]\ncw_min = 2000"), "cw_min 2000 is above cw_max 1023"),
        (
            with("[radio]", "[radio]\ncarrier_sense_range = \"100 m\""),
            "the carrier is not sensed where frames are still received",
        ),
        (with("[radio]", "[radio]\nreception_range = \"90 m\"\nsensitivity = \"-80 dBm\""), "say the same thing twice"),
        (with("[radio]", "[radio]\nbasic_rates = []"), "there must be a basic rate"),
        (with("[radio]", "[radio]\nshort_retry_limit = 0"), "a frame must be sent at least once"),
        (with("[radio]", "[radio]\nturnaround = \"30 us\""), "does not fit into a slot"),
        (with("[radio]", "[radio]\ndelivery_loss = 2"), "between 0 and 1"),
        (with("[radio]", "[radio]\nstandard = \"802.11a\"\npreamble = \"short\""), "802.11a has no short preamble"),
        (with("\"10 s\"", "\"0 s\""), "a run cannot last 0 s"),
        (with("[run]", "[run]\nwarm_up = \"20 s\""), "nothing is left after the warm-up"),
        (with("[run]", "[run]\nreplications = 0"), "0 replications cannot be run"),
        (with("to = \"b\"", "to = \"b\"\nstart = \"2 s\"\nstop = \"1 s\""), "the flow stops before it starts"),
        (with("to = \"b\"", "to = \"b\"\nsource = { rate = \"0 bit/s\" }"), "a rate is above zero"),
        (
            with("to = \"b\"", "to = \"b\"\ntransport = { tcp = \"reno\", udp = \"9 byte\" }"),
            "a flow has one transport",
        ),
        (with("to = \"b\"", "to = \"b\"\ntransport = { tcp = \"reno\", min_rto = \"90 s\" }"), "`min_rto` must"),
        (with("to = \"b\"", "to = \"b\"\ntransport = { udp = \"70 kB\" }"), "a datagram of 70000 byte does not exist"),
        (with("radios = [1, 5]", "radios = [1, 5]\nvelocity = [\"1 m/s\"]"), "two values are needed"),
        (
            with(
                "radios = [1, 5]",
                "radios = [1, 5]\nwaypoints = [{ at = \"2 s\", position = [\"0 m\", \"0 m\"] }, { at = \"1 s\", position = [\"0 m\", \"0 m\"] }]",
            ),
            "the times of waypoints must ascend",
        ),
        (
            with("[[trunk]]", "[[trunk]]\nname = \"air2\"\nbetween = [\"b\", \"a\"]\n[[trunk]]"),
            "trunks `air2` and `air` use the same radios",
        ),
        (with("between = [\"a\", \"b\"]", "between = [\"a\", \"a\"]"), "both ends are the same node"),
        (
            with("between = [\"a\", \"b\"]", "between = [\"a\", \"b\"]\nmembers = [[\"ch1\", \"ch5\"]]"),
            "different channels: 1 and 5",
        ),
        (
            with("between = [\"a\", \"b\"]", "between = [\"a\", \"b\"]\nmembers = [\"ch7\"]"),
            "no radio of `a` is called `ch7`",
        ),
        (
            with("[[link]]", "[[at]]\ntime = \"1 s\"\nradio = \"a/ch2\"\nstate = \"down\"\n[[link]]"),
            "there is no radio `a/ch2`",
        ),
        (with("[[link]]", "[[at]]\ntime = \"1 s\"\nradio = \"a/ch1\"\n[[link]]"), "nothing changes here"),
        (with("[[link]]", "[record]\ninterval = \"1 ns\"\n[[link]]"), "intervals are too many"),
        (with("name = \"a\"", "name = \"a b\""), "this cannot be a name"),
        (with("schema = 1", "schema = 2"), "schema 2 is not known"),
        (with("[[flow]]", "[flow]"), "`flow` is a list of tables"),
        (with("[radio]", "[radio]\npower = \"-1 W\""), "a power cannot be negative"),
        (with("[radio]", "[radio]\nerror = { ber = 1.5 }"), "a probability lies between 0 and 1"),
        (with("position = [\"0 m\", \"0 m\"]\n", ""), "node `a` has radios but no place"),
    ];
    for (text, message) in cases {
        let told = errors(&text);
        assert!(told.contains(message), "{message}\n  is not in\n{told}");
    }
}

#[test]
fn several_errors_are_told_at_once_and_no_more_than_ten() {
    let text = BASE.replace("between", "betwen").replace("from", "form");
    assert_eq!(errors(&text).lines().count(), 6, "{}", errors(&text));
    let many: String = (0..30).map(|i| format!("unknown{i} = 1\n")).collect();
    assert_eq!(errors(&format!("{many}{BASE}")).lines().count(), 10);
}

#[test]
fn files_that_are_no_scenarios_are_told_apart() {
    let dir = std::env::temp_dir().join(format!("airbraid-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let told = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        Scenario::read(&path).map(|_| ()).unwrap_err().to_string().replace(&dir.display().to_string(), "DIR")
    };
    assert_eq!(
        told("empty.toml", b" \n"),
        "DIR/empty.toml:1:1: the file is empty: begin with schema = 1, title and question; docs/reference/scenario.md has all keys"
    );
    assert_eq!(
        told("bytes.toml", b"schema = 1\nti\xfftle"),
        "DIR/bytes.toml:2:3: the file is not UTF-8 text at `byte 0xff`: save it as UTF-8"
    );
    assert_eq!(
        told("large.toml", &vec![0xa5; 10_000_000]),
        "DIR/large.toml: the file is too large for a scenario: 10000000 byte: a scenario has at most 1 MB; most have 3 kB"
    );
    assert!(told("garbage.toml", &[b'\x01'; 900_000]).starts_with("DIR/garbage.toml:1:900001: this is not TOML"));
    let other = |path: &Path| {
        Scenario::read(path).map(|_| ()).unwrap_err().to_string().replace(&dir.display().to_string(), "DIR")
    };
    assert_eq!(
        other(&dir),
        "DIR: this is a directory, not a scenario: name one TOML file; `airbraid check` takes directories"
    );
    assert_eq!(
        other(&dir.join("none.toml")),
        "DIR/none.toml: the file cannot be read: no such file or directory: name one TOML file; `airbraid check` takes directories"
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn huge_sweeps_and_node_counts_are_refused() {
    let values: Vec<String> = (1..=100).map(|i| i.to_string()).collect();
    let list = values.join(", ");
    let text = format!("{BASE}[sweep]\n\"radio.queue\" = [{list}]\n\"link.wan.queue\" = [{list}]\n");
    assert_eq!(first(&text).0, "27:1");
    assert!(errors(&text).contains("10000 cells are too many"));
    let text = format!("{BASE}[sweep]\n\"radio.queue\" = [{list}]\n").replace("[run]", "[run]\nreplications = 9999");
    assert!(errors(&text).contains("28:1: 999900 runs are too many"), "{}", errors(&text));
    let nodes: String = (0..5_000).map(|i| format!("[[node]]\nname = \"n{i}\"\n")).collect();
    assert!(errors(&format!("{BASE}{nodes}")).contains("5002 nodes are more than a run may have"));
}

#[test]
fn a_key_of_another_table_is_told_as_that_tables() {
    let topology = "[topology]\nshape = \"chain\"\ncount = 2\nspacing = \"9 m\"\nradios = [1]\nrouting = \"aodv\"\n";
    let text = format!("{BASE}{topology}");
    let told = errors(&text);
    assert!(told.contains("unknown key `routing` in `topology`"), "{told}");
    assert!(told.contains("`routing` is a key of the head of the file: write it above the first [table]"), "{told}");
    let flow = errors(&format!("{BASE}routing = \"aodv\"\n"));
    assert!(flow.contains("in `flow.f`") && flow.contains("is a key of the head of the file"), "{flow}");
    let radio = errors(&BASE.replace("rate = \"11 Mbit/s\"", "duration = \"11 s\""));
    assert!(radio.contains("`duration` is a key of [run]; allowed here: "), "{radio}");
    let run = errors(&BASE.replace("duration = \"10 s\"", "duration = \"10 s\"\npreamble = \"short\""));
    assert!(run.contains("`preamble` is a key of [radio]"), "{run}");
    // A slip of the pen stays one.
    let slip = errors(&BASE.replace("rate = \"11 Mbit/s\"", "ratte = \"11 Mbit/s\""));
    assert!(slip.contains("did you mean `rate`?"), "{slip}");
}
