//! The rules of the policies, as transcripts: what is observed, and the shape that follows.

use airbraid_engine::link::Cost;
use airbraid_engine::link::policy::{AnyPolicy, Flex, Goodput, Observation, Oracle, TwoMode};
use airbraid_engine::link::{Adaptation, Config, Fate, Policy, Refusal, Shape};
use std::fmt::Write;

const OK: Fate = Fate::Delivered { worst: 0 };

/// The decisions of a policy behind each run of equal fates.
fn transcript(adaptation: Adaptation, fates: &[(u32, Fate)]) -> String {
    let mut policy = adaptation.build(Cost::default());
    let mut text = show(&policy);
    for &(times, fate) in fates {
        for _ in 0..times {
            let shape = policy.shape();
            policy.observe(Observation { coded_len: shape.bytes(), parity: shape.parity(), fate });
        }
        let what = match fate {
            Fate::Delivered { worst: 0 } => "whole".to_owned(),
            Fate::Delivered { worst } => format!("repaired {worst}"),
            Fate::Lost => "lost".to_owned(),
            Fate::Truncated { at } => format!("cut at {at}"),
            Fate::Undecodable => "undecodable".to_owned(),
        };
        write!(text, "\n{times} {what}: {}", show(&policy)).unwrap();
    }
    text
}

fn show(policy: &AnyPolicy) -> String {
    let shape = policy.shape();
    format!("{} byte, parity {}", shape.bytes(), shape.parity())
}

#[test]
fn the_fixed_ones_stay() {
    let fates = [(20, Fate::Undecodable), (20, Fate::Truncated { at: 70 }), (20, OK)];
    for (adaptation, shape) in [
        (Adaptation::BOLD, "1275 byte, parity 0"),
        (Adaptation::LIGHT, "1275 byte, parity 12"),
        (Adaptation::ROBUST, "255 byte, parity 84"),
    ] {
        assert!(transcript(adaptation, &fates).lines().all(|line| line.ends_with(shape)));
    }
}

/// Two damaged in a row, and three undamaged; repaired ones are undamaged, lost ones tell nothing.
#[test]
fn two_modes() {
    let cut = Fate::Truncated { at: 500 };
    assert_eq!(
        transcript(
            Adaptation::BIMODAL,
            &[
                (1, cut),
                (1, OK),
                (1, cut),
                (3, Fate::Lost),
                (1, Fate::Undecodable),
                (2, OK),
                (1, cut),
                (3, Fate::Delivered { worst: 9 })
            ]
        ),
        "\
1275 byte, parity 0
1 cut at 500: 1275 byte, parity 0
1 whole: 1275 byte, parity 0
1 cut at 500: 1275 byte, parity 0
3 lost: 1275 byte, parity 0
1 undecodable: 255 byte, parity 84
2 whole: 255 byte, parity 84
1 cut at 500: 255 byte, parity 84
3 repaired 9: 1275 byte, parity 0"
    );
    let poor = |adaptation| transcript(adaptation, &[(2, Fate::Undecodable)]).lines().last().unwrap().to_owned();
    assert_eq!(poor(Adaptation::BI_CODE), "2 undecodable: 1275 byte, parity 84");
    assert_eq!(poor(Adaptation::BI_SIZE), "2 undecodable: 255 byte, parity 0");
}

/// 0.85 of the cut at the second in ten; 200, 400, 800, 800 byte back after each three without.
#[test]
fn the_size_of_flex() {
    let cut = Fate::Truncated { at: 400 };
    assert_eq!(
        transcript(
            Adaptation::FLEX,
            &[(1, cut), (9, OK), (1, cut), (1, OK), (1, cut), (2, OK), (5, Fate::Lost), (1, OK), (3, OK), (3, OK)]
        ),
        "\
1275 byte, parity 0
1 cut at 400: 1275 byte, parity 0
9 whole: 1275 byte, parity 0
1 cut at 400: 1275 byte, parity 0
1 whole: 1275 byte, parity 0
1 cut at 400: 340 byte, parity 0
2 whole: 340 byte, parity 0
5 lost: 340 byte, parity 0
1 whole: 540 byte, parity 0
3 whole: 940 byte, parity 0
3 whole: 1275 byte, parity 0"
    );
    // The fourth step is again 800.
    let far = Flex { bytes_max: 10_000, ..Flex::PAPER };
    let text = transcript(Adaptation::Flex(far), &[(2, cut), (3, OK), (3, OK), (3, OK), (3, OK)]);
    let sizes: Vec<&str> = text.lines().skip(1).map(|line| line.split_whitespace().rev().nth(3).unwrap()).collect();
    assert_eq!(sizes, ["340", "540", "940", "1740", "2540"]);
    assert!(transcript(Adaptation::FLEX, &[(2, Fate::Truncated { at: 64 })]).ends_with(": 255 byte, parity 0"));
}

/// 255, 216, 183, 155, 131 of 255 byte for the user, not below 128; 10, 20, 40, 40 back. Odd parity is the even below
/// it.
#[test]
fn the_code_of_flex() {
    let bad = Fate::Undecodable;
    assert_eq!(
        transcript(
            Adaptation::FLEX,
            &[
                (2, bad),
                (2, bad),
                (2, bad),
                (2, bad),
                (2, bad),
                (3, OK),
                (3, Fate::Delivered { worst: 40 }),
                (3, OK),
                (3, OK),
                (3, OK),
                (3, OK)
            ]
        ),
        "\
1275 byte, parity 0
2 undecodable: 1275 byte, parity 38
2 undecodable: 1275 byte, parity 72
2 undecodable: 1275 byte, parity 100
2 undecodable: 1275 byte, parity 124
2 undecodable: 1275 byte, parity 126
3 whole: 1275 byte, parity 116
3 repaired 40: 1275 byte, parity 96
3 whole: 1275 byte, parity 56
3 whole: 1275 byte, parity 16
3 whole: 1275 byte, parity 0
3 whole: 1275 byte, parity 0"
    );
}

/// It goes for what it was told, and makes the shortest of what cannot come.
#[test]
fn the_oracle() {
    let mut policy = Adaptation::ORACLE.build(Cost::default());
    let mut told = |fate| {
        policy.foretell(fate);
        let shape = policy.shape();
        policy.observe(Observation { coded_len: shape.bytes(), parity: shape.parity(), fate: OK });
        (shape.bytes(), shape.parity())
    };
    assert_eq!(told(OK), (1_275, 0));
    assert_eq!(told(Fate::Delivered { worst: 6 }), (1_275, 12));
    assert_eq!(told(Fate::Lost), (64, 0));
    assert_eq!(told(Fate::Truncated { at: 700 }), (700, 0));
    assert_eq!(told(Fate::Truncated { at: 20 }), (64, 0));
    assert_eq!(told(Fate::Delivered { worst: 200 }), (64, 0), "no code repairs that");
}

/// Ours begins boldly, codes for what it sees, shortens where it is cut, and comes back.
#[test]
fn goodput() {
    assert_eq!(
        transcript(
            Adaptation::GOODPUT,
            &[
                (50, OK),
                (60, Fate::Delivered { worst: 5 }),
                (200, OK),
                (40, Fate::Truncated { at: 600 }),
                (300, OK),
                (60, Fate::Lost),
                (300, OK)
            ]
        ),
        "\
1275 byte, parity 0
50 whole: 1275 byte, parity 0
60 repaired 5: 1275 byte, parity 12
200 whole: 1275 byte, parity 0
40 cut at 600: 510 byte, parity 12
300 whole: 1275 byte, parity 0
60 lost: 510 byte, parity 12
300 whole: 1275 byte, parity 0"
    );
}

#[test]
fn impossible_policies_are_refused() {
    let refusal = |adaptation| Config { adaptation, ..Config::default() }.check().unwrap_err();
    let flex = |bytes_min, bytes_max| Adaptation::Flex(Flex { bytes_min, bytes_max, share_min: 128 });
    assert_eq!(refusal(flex(300, 255)), Refusal::Bounds("segment size"));
    assert_eq!(refusal(flex(100, 255)), Refusal::NoRoom { bytes: 100, parity: 126 });
    assert_eq!(refusal(Adaptation::TwoMode(TwoMode { down: 0, ..TwoMode::BIMODAL })), Refusal::Zero("down"));
    assert_eq!(refusal(Adaptation::TwoMode(TwoMode { up: 0, ..TwoMode::BIMODAL })), Refusal::Zero("up"));
    assert_eq!(refusal(Adaptation::Goodput(Goodput { fade: 0, ..Goodput::DEFAULT })), Refusal::Fade(0));
    assert_eq!(
        refusal(Adaptation::Oracle(Oracle { bytes_min: 3, bytes_max: 9 })),
        Refusal::NoRoom { bytes: 3, parity: 0 }
    );
    assert_eq!(Shape::new(0, 2), Err(Refusal::NoRoom { bytes: 0, parity: 2 }));
}
