//! Polled radios, local error control and packet killers: allowed settings and refusals.

use super::*;
use crate::killer::{Acts, Event};
use crate::scenario::spec::Mac;
use airbraid_engine::TrafficClass;
use airbraid_engine::link::Adaptation;
use airbraid_mac::polled::Role;
use airbraid_units::Duration;

const CELL: &str = r#"
schema = 1
title = "t"
question = "a?"
[run]
duration = "10 s"
[radio]
mac = "polled"
link_layer = { policy = "light", retransmissions = 3, real_time = { lifetime = "80 ms" } }
[[node]]
name = "a"
position = ["0 m", "0 m"]
radios = [{ channel = 1, role = "master" }]
[[node]]
name = "b"
position = ["9 m", "0 m"]
radios = [1]
[[killer]]
name = "air"
from = "a/ch1"
to = "b/ch1"
events = "ok x2, lost, corrupted 7"
[[flow]]
name = "voice"
from = "a"
to = "b"
transport = { udp = "160 byte" }
dscp = "ef"
"#;

fn with(from: &str, to: &str) -> String {
    assert!(CELL.contains(from), "{from}");
    CELL.replacen(from, to, 1)
}

fn read(text: &str) -> Spec {
    Scenario::parse("t.toml", text).unwrap().plan().unwrap().cells.remove(0).spec
}

fn refused(text: &str) -> String {
    Scenario::parse("t.toml", text).unwrap().plan().unwrap_err().to_string()
}

#[test]
fn a_cell_is_read_as_it_is_written() {
    let spec = read(CELL);
    let roles = spec.nodes.iter().map(|node| match &node.radios[0].mac {
        Mac::Polled(config) => config.role,
        _ => unreachable!("all are polled"),
    });
    assert_eq!(roles.collect::<Vec<_>>(), [Role::Master, Role::Slave]);
    let link = spec.nodes[0].radios[0].link_layer.unwrap();
    assert_eq!((link.adaptation, link.bulk.persistence.retransmissions), (Adaptation::LIGHT, Some(3)));
    assert_eq!(link.bulk.persistence.lifetime, None);
    // What is not said of real-time packets is as for the others.
    assert_eq!(link.real_time.persistence.retransmissions, Some(3));
    assert_eq!(link.real_time.persistence.lifetime, Some(Duration::from_millis(80)));
    assert_eq!(spec.flows[0].class, TrafficClass::RealTime);
    let killer = &spec.killers[0];
    let corrupted = Event::Corrupted { symbols: 7, bits: 0 };
    assert_eq!(*killer.events, [Event::Fine, Event::Fine, Event::Lost, corrupted]);
    assert_eq!((killer.output, killer.input[1]), ([Acts::NOTHING; 2], Acts::NOTHING), "a pattern acts once");
    assert_eq!(killer.input[0], Acts { loss: true, damage: true });
}

#[test]
fn a_trace_acts_at_both_hosts_and_damage_once_unless_it_is_told_to() {
    let loss = Acts { loss: true, damage: false };
    let all = Acts { loss: true, damage: true };
    let killer = |more: &str| {
        read(&with("events = \"ok x2, lost, corrupted 7\"", &format!("trace = \"table\"\n{more}"))).killers.remove(0)
    };
    let plain = killer("");
    assert_eq!((plain.output, plain.input), ([loss; 2], [all, loss]));
    let both = killer("corrupt_both = true");
    assert_eq!((both.output, both.input), ([all; 2], [all; 2]));
    let once = killer("on = \"output\"\nboth_ways = false");
    assert_eq!((once.output, once.input), ([all, Acts::NOTHING], [Acts::NOTHING; 2]));
}

#[test]
fn what_cannot_work_is_refused_with_the_reason() {
    let killer = "events = \"ok x2, lost, corrupted 7\"";
    let cases = [
        (with("mac = \"polled\"", ""), "local error control waits for its turn, and under DCF nobody gives one"),
        (with("\"light\"", "\"ligth\""), "did you mean `light`?"),
        (
            with("\"light\"", "{ bytes = \"255 byte\", parity = \"13 byte\" }"),
            "13 byte of parity: it must be an even number",
        ),
        (with("retransmissions = 3", "retransmissions = \"many\""), "this is no limit"),
        (with("lifetime = \"80 ms\"", "lifetime = \"0 ms\""), "a packet is worth something at first"),
        (with("role = \"master\"", "role = \"boss\""), "`boss` is not known here"),
        (with("role = \"master\"", "overhead = \"0 ms\""), "a transaction takes time even without data"),
        (with("role = \"master\"", "rate = \"1 Mbit/s\""), "unknown key `rate`"),
        (with(killer, "events = \"ok x2, lots\""), "event 2: `lots` is no event; write `lost`"),
        (with(killer, ""), "a killer has either `events` or a `trace`"),
        (with(killer, "trace = \"wall\""), "no trace is called `wall`"),
        (
            with(killer, "trace = { place = \"walls\", loss = \"1 %\" }"),
            "a trace is of a place, of a rate, or in a file",
        ),
        (with(killer, "trace = { file = \"/nowhere.trace\" }"), "the trace /nowhere.trace cannot be read"),
        (with("to = \"b/ch1\"", "to = \"a/ch1\""), "both ends are at the same node"),
        (with("radios = [1]", "radios = [{ name = \"ch1\", channel = 2 }]"), "the radios are on different channels"),
        (with("radios = [1]", "radios = [{ channel = 1, mac = \"dcf\" }]"), "give both radios mac = \"polled\""),
        (with("dscp = \"ef\"", "dscp = \"gold\""), "`gold` is not known here"),
    ];
    for (text, said) in cases {
        let told = refused(&text);
        assert!(told.contains(said), "{said}\n{told}");
    }
}

#[test]
fn a_trunk_needs_a_master_at_one_end_of_each_member() {
    let trunk = "[[trunk]]\nname = \"t\"\nbetween = [\"a\", \"b\"]\nmembers = [\"ch1\"]\n[[flow]]";
    assert!(Scenario::parse("t.toml", &with("[[flow]]", trunk)).unwrap().plan().is_ok());
    let two = with("role = \"master\"", "role = \"slave\"").replacen("[[flow]]", trunk, 1);
    assert!(refused(&two).contains("neither of the radios polls the other"));
}
