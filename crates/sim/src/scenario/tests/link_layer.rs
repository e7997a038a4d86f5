//! Local error control over plain links: allowed settings and refusals.

use super::*;
use airbraid_engine::link::{Adaptation, Config, WindowConfig};
use airbraid_units::Duration;

fn text(link_layer: &str) -> String {
    format!(
        r#"
schema = 1
title = "t"
question = "a?"
run.duration = "10 s"
node = [{{ name = "a" }}, {{ name = "b" }}]
flow = [{{ name = "f", from = "a", to = "b" }}]
[[link]]
name = "wan"
between = ["a", "b"]
rate = "8 Mbit/s"
delay = "50 ms"
{link_layer}
"#
    )
}

fn read(link_layer: &str) -> Option<(Config, WindowConfig)> {
    let plan = Scenario::parse("t.toml", &text(link_layer)).unwrap().plan().unwrap();
    plan.cells[0].spec.links[0].link_layer
}

#[test]
fn a_link_is_without_unless_it_is_said() {
    assert_eq!(read(""), None);
    assert_eq!(read("link_layer = \"none\""), None);
    assert_eq!(read("link_layer = \"selective_repeat\""), read("link_layer = {}"));
}

#[test]
fn what_is_not_said_follows_from_the_link() {
    let (config, window) = read("link_layer = \"selective_repeat\"").unwrap();
    assert_eq!(config.adaptation, Adaptation::WHOLE);
    assert_eq!(config.bulk.persistence.retransmissions, None);
    // 60 byte of header and each further byte at 8 Mbit/s.
    assert_eq!((config.cost.overhead, config.cost.per_byte), (Duration::from_micros(60), Duration::from_micros(1)));
    // Twice: 64 packets of 1.5 ms and 50 ms each way, and 2 ms for the acknowledgement.
    assert_eq!(window.timeout, Duration::from_millis(2 * (2 * (96 + 50) + 2)));
    assert_eq!((window.window, window.reordering), (64, 1));
    let (config, window) = read(
        "link_layer = { policy = \"flex\", window = 8, timeout = \"90 ms\", retransmissions = 2, \
         real_time = { lifetime = \"80 ms\" } }",
    )
    .unwrap();
    assert_eq!((config.adaptation, window.window), (Adaptation::FLEX, 8));
    assert_eq!(window.timeout, Duration::from_millis(90));
    assert_eq!(config.real_time.persistence.lifetime, Some(Duration::from_millis(80)));
    assert_eq!(config.real_time.persistence.retransmissions, Some(2));
}

#[test]
fn what_cannot_be_is_refused_and_says_what_can() {
    for (wrong, help) in [
        ("link_layer = \"stop_and_wait\"", "\"selective_repeat\" or a table"),
        ("link_layer = { window = 0 }", "1 to 64"),
        ("link_layer = { window = 65 }", "1 to 64"),
        ("link_layer = { timeout = \"0 s\" }", "more than the round trip"),
        ("link_layer = { reordering = 0 }", "write 1"),
        ("link_layer = { policy = \"oracle\" }", "goodput"),
        ("link_layer = { widow = 8 }", "window"),
        ("forward = { link_layer = \"none\" }", "link_layer"),
    ] {
        let refused = Scenario::parse("t.toml", &text(wrong)).unwrap().plan().unwrap_err().to_string();
        assert!(refused.contains(help), "{wrong}: {refused}");
    }
}
