//! Scenarios that resolve to their meaning, and wrong ones that are refused with place and reason.

mod ad_hoc;
mod design;
mod edca;
mod keys;
mod link_layer;
mod multi_link;
mod plan_tables;
mod polled;
mod robust;
mod said_over;
mod select;
mod shared;
mod slips;
mod slots;
mod wrong;

use super::spec::Spec;
use super::{Plan, Scenario};

/// A small valid scenario: two nodes with channels 1 and 5, a trunk, a link and a flow.
const BASE: &str = r#"schema = 1
title = "base"
question = "does it run?"
[run]
duration = "10 s"
[radio]
rate = "11 Mbit/s"
[[node]]
name = "a"
position = ["0 m", "0 m"]
radios = [1, 5]
[[node]]
name = "b"
position = ["100 m", "0 m"]
radios = [1, 5]
[[trunk]]
name = "air"
between = ["a", "b"]
[[link]]
name = "wan"
between = ["a", "b"]
rate = "20 Mbit/s"
[[flow]]
name = "f"
from = "a"
to = "b"
"#;

fn plan(text: &str) -> Plan {
    Scenario::parse("t.toml", text).and_then(|s| s.plan()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn spec(text: &str) -> Spec {
    plan(text).cells.swap_remove(0).spec
}

/// All errors of a text, one a line.
fn errors(text: &str) -> String {
    match Scenario::parse("t.toml", text).and_then(|s| s.plan()) {
        Ok(_) => "no error".to_owned(),
        Err(errors) => errors.to_string(),
    }
}

/// Where, as `line:column`, and the value.
fn first(text: &str) -> (String, String) {
    let Err(errors) = Scenario::parse("t.toml", text).and_then(|s| s.plan()) else { panic!("no error in\n{text}") };
    let error = &errors.0[0];
    let place = format!("{}:{}", error.line.unwrap_or(0), error.column.unwrap_or(0));
    (place, error.value.clone().unwrap_or_default())
}
