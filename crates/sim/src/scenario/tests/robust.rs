//! No text makes the reader panic: arbitrary ones, and valid ones with anything changed.

use super::*;
use proptest::prelude::*;

fn survives(text: &str) {
    let Ok(scenario) = Scenario::parse("t.toml", text) else { return };
    match scenario.plan() {
        Ok(plan) => {
            assert!(!plan.cells.is_empty());
            let _ = plan.explain();
        }
        Err(errors) => {
            assert!((1..=10).contains(&errors.0.len()));
            for error in &errors.0 {
                assert!(!error.message.is_empty() && error.line.is_some() && error.column.is_some());
                let shown = format!("{:?}", miette::Report::new(super::super::Report::from(error.clone())));
                assert!(!shown.is_empty());
            }
        }
    }
}

const WORDS: [&str; 24] = [
    "0",
    "-1",
    "1e999",
    "nan",
    "\"\"",
    "\"1\"",
    "\"-5 s\"",
    "\"1e300 m\"",
    "[]",
    "{}",
    "[[1]]",
    "true",
    "1979-05-27",
    "\"unlimited\"",
    "{ ber = 2 }",
    "18446744073709551616",
    "\"\u{1f600}\"",
    "\"a/ch1\"",
    "\"0 dBm\"",
    "\"0 s\"",
    "{ trace = [] }",
    "[\"a\", \"b\", \"c\"]",
    "\"0 byte\"",
    "0.0",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text(text in ".{0,200}") {
        survives(&text);
    }

    #[test]
    fn any_value_at_any_key(line in 0usize..150, word in 0usize..WORDS.len()) {
        let valid = include_str!("everything.toml");
        let changed: Vec<String> = valid.lines().enumerate().map(|(i, l)| match l.split_once(" = ") {
            Some((key, _)) if i == line => format!("{key} = {}", WORDS[word]),
            _ => l.to_owned(),
        }).collect();
        survives(&changed.join("\n"));
    }

    #[test]
    fn any_bytes_cut_out_or_put_in(at in 0usize..3_500, length in 0usize..30, put in "[ -~\n]{0,6}") {
        let valid = include_str!("everything.toml");
        let (start, end) = (at.min(valid.len()), (at + length).min(valid.len()));
        survives(&format!("{}{put}{}", &valid[..start], &valid[end..]));
    }

    #[test]
    fn any_lines_left_out_or_exchanged(a in 0usize..150, b in 0usize..150, keep in any::<bool>()) {
        let valid = include_str!("everything.toml");
        let mut lines: Vec<&str> = valid.lines().collect();
        let (a, b) = (a.min(lines.len() - 1), b.min(lines.len() - 1));
        lines.swap(a, b);
        if !keep {
            lines.remove(a);
        }
        survives(&lines.join("\n"));
    }

    #[test]
    fn anything_said_over_it(argument in "[a-z.=0-9\"\\[\\]{} ]{0,40}", key in 0usize..5) {
        let keys = ["radio.rate=", "node.a.radios.ch1.", "sweep.x=", "trunk.air.members=", ""];
        let mut scenario = Scenario::parse("t.toml", BASE).unwrap();
        if scenario.set("--set", &format!("{}{argument}", keys[key])).is_ok() {
            let _ = scenario.plan();
        }
    }
}
