//! Radios that nodes share, and values that are read again.

use super::{errors, plan, spec};
use std::sync::Arc;

/// Five nodes: three with `[radio]` on channel 1, one on channel 6, one with another power; `radio` is a key more.
fn text(radio: &str) -> String {
    let node = |name: &str, radios: &str| {
        format!("[[node]]\nname = \"{name}\"\nposition = [\"0 m\", \"0 m\"]\nradios = [{radios}]\n")
    };
    let nodes: String =
        [("a", "1"), ("b", "1"), ("c", "6"), ("d", "{ channel = 1 }"), ("e", "{ channel = 1, power = \"1 dBm\" }")]
            .iter()
            .map(|(name, radios)| node(name, radios))
            .collect();
    format!("schema = 1\ntitle = \"t\"\nquestion = \"q?\"\nrun = {{ duration = \"1 s\" }}\n[radio]\n{radio}\n{nodes}")
}

#[test]
fn the_same_radios_are_one_and_others_are_not() {
    let spec = spec(&text("rate = \"2 Mbit/s\""));
    let radio = |node: usize| &spec.nodes[node].radios[0];
    assert!(Arc::ptr_eq(radio(0), radio(1)) && Arc::ptr_eq(radio(0), radio(3)));
    assert_eq!((radio(2).channel, radio(2).name.as_str()), (6, "ch6"));
    assert!(!Arc::ptr_eq(radio(0), radio(2)) && radio(0).radio != radio(4).radio);
}

#[test]
fn each_node_shows_its_own_values() {
    let resolved = plan(&text("rate = \"2 Mbit/s\"")).resolved();
    for node in ["a", "b", "d", "e"] {
        let key = format!("node.{node}.radios.ch1.rate");
        let line = resolved.iter().find(|line| line.key == key).unwrap();
        assert!(line.value == "2 Mbit/s" && line.from.starts_with("[radio] at"), "{line:?}");
    }
}

#[test]
fn an_error_of_the_radio_that_all_share_is_told_once() {
    let errors = errors(&text("rate = \"3 Mbit/s\""));
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("3 Mbit/s"), "{errors}");
}
