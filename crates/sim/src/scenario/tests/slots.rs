//! Radios with virtual stations: allowed `[[slots]]`, and refusals.

use super::*;
use crate::scenario::spec::{Mac, SlotSource};
use airbraid_units::Duration;

const HOME: &str = r#"
schema = 1
title = "t"
question = "a?"
[run]
duration = "10 s"
[radio]
standard = "802.11a"
[[node]]
name = "laptop"
position = ["0 m", "0 m"]
radios = [{ name = "air", mac = "slotted" }]
[[node]]
name = "ap1"
position = ["9 m", "0 m"]
radios = [{ name = "air", channel = 36, mac = "access_point", buffer = 30 }]
[[node]]
name = "ap2"
position = ["0 m", "9 m"]
radios = [{ name = "air", channel = 40, mac = "access_point" }]
[[slots]]
name = "laptop"
radio = "laptop/air"
access_points = ["ap1/air", "ap2/air"]
duty = ["3/4", "1/4"]
slot = "10 ms"
[[flow]]
name = "f"
from = "ap1"
to = "laptop"
via = "ap1/air"
"#;

/// The errors when `to` stands for `from`.
fn refused(from: &str, to: &str) -> String {
    assert!(HOME.contains(from), "{from}");
    errors(&HOME.replacen(from, to, 1))
}

/// The order of the slots, `None` for idle ones, and their lengths \[us\].
fn plan_of(text: &str) -> Vec<(Option<usize>, u64)> {
    match &spec(text).slots[0].plan {
        SlotSource::Fixed(slots) => slots.iter().map(|slot| (slot.station, slot.length.as_micros())).collect(),
        SlotSource::Lots(_) => panic!("by lot"),
    }
}

#[test]
fn slots_are_planned_from_duty_cycles() {
    let spec = spec(HOME);
    let slots = &spec.slots[0];
    assert_eq!((slots.radio, &slots.access_points[..]), ((0, 0), &[(1, 0), (2, 0)][..]));
    assert_eq!(slots.shares_ns, [30_000_000, 10_000_000]);
    assert_eq!(plan_of(HOME), [(Some(0), 10_000), (Some(0), 10_000), (Some(0), 10_000), (Some(1), 10_000)]);
    assert_eq!(spec.flows[0].via, Some((1, 0)));
    let Mac::Slotted(radio) = spec.nodes[0].radios[0].mac else { panic!("no virtual stations") };
    assert_eq!((radio.retuning, radio.null_attempts), (Duration::from_micros(800), 7));
    let Mac::AccessPoint(config) = spec.nodes[1].radios[0].mac else { panic!("no access point") };
    assert_eq!(config.buffer_limit, 30);
    let shown = plan(HOME).resolved();
    let line = shown.iter().find(|line| line.key == "slots.laptop.slots_planned").unwrap();
    assert_eq!(line.value, "1: 10 ms, 1: 10 ms, 1: 10 ms, 2: 10 ms");
}

#[test]
fn each_planner_gives_every_access_point_its_share() {
    for planner in ["no_policy", "min_max", "blind", "worst_case", "measured"] {
        let more = format!("duty = [\"1/4\", \"3/5\"]\ndelay = [\"30 ms\", \"70 ms\"]\nplanner = \"{planner}\"");
        let slots = plan_of(&HOME.replace("duty = [\"3/4\", \"1/4\"]", &more));
        let time = |station| slots.iter().filter(|slot| slot.0 == station).map(|slot| slot.1).sum::<u64>();
        assert_eq!([Some(0), Some(1), None].map(time), [10_000, 24_000, 6_000], "{planner}: {slots:?}");
    }
    let lots = HOME.replace("slot = \"10 ms\"", "slot = \"10 ms\"\nplanner = \"random\"");
    assert!(matches!(spec(&lots).slots[0].plan, SlotSource::Lots(_)));
}

#[test]
fn slots_are_written_one_by_one() {
    let written = "plan = [[\"ap2/air\", \"4 ms\"], [\"nobody\", \"1 ms\"], [\"ap1/air\", \"3 ms\"]]";
    let text = HOME.replace("duty = [\"3/4\", \"1/4\"]\nslot = \"10 ms\"", written);
    assert_eq!(plan_of(&text), [(Some(1), 4_000), (None, 1_000), (Some(0), 3_000)]);
    assert_eq!(spec(&text).slots[0].shares_ns, [3_000_000, 4_000_000]);
    let without = |plan: &str| errors(&text.replace(written, plan));
    assert!(without("plan = [[\"ap1/air\", \"3 ms\"]]").contains("`ap2/air` has no slot"));
    assert!(without("plan = []").contains("`ap1/air` has no slot"));
    assert!(without("plan = [[\"ap1/air\", \"0 s\"]]").contains("no slot lasts"));
    assert!(without("plan = [[\"ap1/air\", \"2 min\"]]").contains("no slot lasts"));
    assert!(without("plan = [[\"ap1/air\"]]").contains("an access point and a time"));
    assert!(without("plan = [[\"laptop/air\", \"3 ms\"]]").contains("none of the `access_points`"));
    assert!(without("plan = [[\"ap1/air\", \"3 ms\"], [\"ap2/air\", \"700 us\"]]").contains("retuning takes 800 us"));
    let many = vec!["[\"ap1/air\", \"1 ms\"]"; 70_000].join(", ");
    assert!(without(&format!("plan = [{many}]")).contains("70000 slots are more"));
}

#[test]
fn odd_duty_cycles_are_refused_or_right() {
    let duty = |duty: &str| refused("duty = [\"3/4\", \"1/4\"]", duty);
    assert!(duty("duty = [\"0.9\", \"0.2\"]").contains("add up to 1.1"), "{}", duty("duty = [\"0.9\", \"0.2\"]"));
    assert!(duty("duty = [\"1\", \"0\"]").contains("the duty cycle of access point 2 is 0"));
    assert!(duty("duty = [\"1/2\"]").contains("1 duty cycles for 2 access points"));
    assert!(duty("duty = [0.5, 0.5]").contains("it is a text"));
    assert!(duty("duty = []").contains("0 duty cycles"));
    assert!(duty("").contains("`slots.laptop.duty` is missing"));
    assert!(duty("duty = [\"999999/1000000\", \"1/1000000\"]").contains("longer than"));
    let tiny = HOME.replace("slot = \"10 ms\"", "slot = \"1 ms\"");
    let tiny = errors(&tiny.replace("[\"3/4\", \"1/4\"]", "[\"99999/100000\", \"1/100000\"]"));
    assert!(tiny.contains("100000 slots in a period are more than 65536"), "{tiny}");
    assert!(
        refused("slot = \"10 ms\"", "slot = \"10 ms\"\nperiod = \"15 ms\"")
            .contains("3.75 ms, shorter than the slot time of 10 ms")
    );
    assert!(refused("slot = \"10 ms\"", "slot = \"0 s\"").contains("0"));
    assert!(refused("slot = \"10 ms\"", "slot = \"800 us\"").contains("the shortest slot lasts 800 us"));
    // 10,000 slots are many, and fine.
    let fine = HOME.replace("duty = [\"3/4\", \"1/4\"]", "duty = [\"9999/10000\", \"1/10000\"]");
    assert_eq!(plan_of(&fine).len(), 10_000);
    // One access point is never left.
    let alone = HOME.replace("\"ap1/air\", \"ap2/air\"]", "\"ap1/air\"]").replace("[\"3/4\", \"1/4\"]", "\"1\"");
    assert_eq!(plan_of(&alone), [(Some(0), 10_000)]);
}

#[test]
fn what_does_not_fit_together_is_said() {
    let points = |to: &str| refused("[\"ap1/air\", \"ap2/air\"]", to);
    assert!(points("[\"ap1/air\", \"ap1/air\"]").contains("named twice"));
    assert!(points("[\"ap1/air\", \"laptop/air\"]").contains("is no access point"));
    assert!(points("[\"ap1/air\", \"ap3/air\"]").contains("no radio `ap3/air`"));
    assert!(refused("radio = \"laptop/air\"", "radio = \"ap1/air\"").contains("has no virtual stations"));
    assert!(refused("via = \"ap1/air\"", "via = \"laptop/air\"").contains("neither end"));
    assert!(refused("slot = \"10 ms\"", "planner = \"worst_case\"").contains("needs the round-trip times"));
    assert!(refused("slot = \"10 ms\"", "planner = \"best\"").contains("`best` is not known"));
    assert!(refused("slot = \"10 ms\"", "loss = \"0\"").contains("a loss above 0"));
    assert!(refused("slot = \"10 ms\"", "flows = [0, 1]").contains("at least one flow"));
    assert!(refused("slot = \"10 ms\"", "delay = [\"1 ms\", \"2 ms\", \"3 ms\"]").contains("3 values for 2"));
    assert!(refused("slot = \"10 ms\"", "slots = 4").contains("unknown key `slots`"));
    assert!(
        refused("name = \"air\", mac", "name = \"air\", channel = 1, mac").contains("on the channels of its access")
    );
    assert!(refused("mac = \"slotted\"", "mac = \"slotted\", null_attempts = 0").contains("at least once"));
    let (head, rest) = HOME.split_once("[[slots]]").unwrap();
    let flow = &rest[rest.find("[[flow]]").unwrap()..].replace("via = \"ap1/air\"", "");
    assert!(errors(&format!("{head}{flow}")).contains("nobody says when `laptop/air`"));
    let again = rest[..rest.find("[[flow]]").unwrap()].replace("name = \"laptop\"", "name = \"again\"");
    assert!(errors(&format!("{HOME}[[slots]]{again}")).contains("`laptop` has slots already"));
    assert!(errors(&format!("routing = \"aodv\"\n{HOME}")).contains("AODV asks who is there"));
    let trunk = "[[trunk]]\nname = \"t\"\nbetween = [\"ap1\", \"laptop\"]\nmembers = [\"air\"]\n";
    assert!(errors(&format!("{HOME}{trunk}")).contains("different channels"));
    assert!(refused("channel = 36, mac", "channel = 36, standard = \"802.11g\", mac").contains("different standards"));
}
