//! The keys that `--set` takes, as they are listed for completion.

use super::*;

fn keys(text: &str) -> Vec<String> {
    Scenario::parse("t.toml", text).unwrap().keys()
}

#[test]
fn every_listed_key_is_a_known_one() {
    let text = include_str!("everything.toml");
    let keys = keys(text);
    assert!(keys.len() > 200, "only {} keys", keys.len());
    // A date is a value of no key: each is refused for its value, not for its name. The keys of a path loss follow from
    // its `model`.
    let is_alone = |key: &&String| {
        !["at.", "exec.", "slots."].iter().any(|list| key.starts_with(list)) && !key.contains("path_loss.")
    };
    for key in keys.iter().filter(is_alone) {
        let mut scenario = Scenario::parse("t.toml", text).unwrap();
        scenario.set("--set", &format!("{key}=1979-05-27")).unwrap();
        let said = scenario.plan().map_or_else(|errors| errors.to_string(), |_| String::new());
        // Without its value a table may not have its other keys.
        let name = key.rsplit('.').next().unwrap_or_default();
        let is_unknown = said.contains(&format!("unknown key `{name}`")) || said.contains("is not a path");
        assert!(!is_unknown, "{key}: {said}");
    }
}

/// Values that are shown, and follow from other keys.
const DERIVED: [&str; 2] = ["control_rate", "_planned"];

#[test]
fn every_resolved_key_is_listed() {
    for text in [BASE, include_str!("everything.toml")] {
        let keys = keys(text);
        for line in plan(text).resolved().into_iter().filter(|line| !DERIVED.iter().any(|key| line.key.ends_with(key)))
        {
            // Elements of lists have numbers, and a key may be written as a table.
            let is_listed = keys.iter().any(|key| *key == line.key || key.starts_with(&format!("{}.", line.key)));
            let is_inside = keys.iter().any(|key| line.key.starts_with(&format!("{key}.")));
            assert!(is_listed || is_inside, "{} is not listed", line.key);
        }
    }
}

#[test]
fn a_file_with_errors_has_keys() {
    let listed = keys(&BASE.replace("11 Mbit/s", "12 Mbit/s").replace("position = [\"0 m\", \"0 m\"]", "positon = 1"));
    for key in ["radio.rate", "run.duration", "node.a.position", "link.wan.delay", "flow.f.transport"] {
        assert!(listed.iter().any(|other| other == key), "{key} is not in {listed:?}");
    }
}
