//! Peers that answer nothing, on one link or on all: requests end, and what is in doubt goes another way.

use super::air::{Air, at};
use super::{check_until, config, losses, of_window, sendings, with_agreements};
use crate::edca::AccessCategory::BestEffort;
use crate::edca::{Repair, RequestLink};
use crate::frame::FrameKind;
use crate::service::Outcome;
use proptest::prelude::*;

fn count(air: &Air, words: &str) -> usize {
    air.timeline.lines().filter(|line| line.contains(words)).count()
}

/// On the first of two links nothing comes through: one request, and the MPDUs go on the other.
#[test]
fn what_a_silent_link_has_sent_goes_on_another() {
    let mut air = Air::of_devices(config(), 2, 2, RequestLink::OfData, 1);
    air.outage = Some((0, at(0)..at(1_000_000)));
    (0..3).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.send(at(400), 0, 1, 3, BestEffort);
    air.run(at(20_000));
    assert_eq!(air.delivered.iter().map(|(_, _, id)| *id).collect::<Vec<_>>(), [0, 1, 2, 3], "{}", air.timeline);
    assert_eq!((count(&air, "A1 BAR"), count(&air, "A1 DATA"), count(&air, "A2 BAR")), (1, 1, 0), "{}", air.timeline);
}

/// A link that is silent begins by RTS, and asks again after an answer.
#[test]
fn a_silent_link_begins_by_rts_until_it_is_answered() {
    let mut air = Air::of_devices(config(), 2, 2, RequestLink::OfData, 1);
    air.outage = Some((0, at(0)..at(30_000)));
    (0..400).for_each(|id| air.send(at(10 + 1_000 * u64::from(id / 5)), 0, 1, id, BestEffort));
    air.run(at(120_000));
    assert_eq!(air.delivered.len(), 400);
    let lines: Vec<&str> = air.timeline.lines().filter(|line| line.contains(" A1 ")).collect();
    let place = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap();
    let first_answer = air.timeline.lines().position(|line| line.contains("B1 CTS")).unwrap();
    let before = air.timeline.lines().take(first_answer).filter(|line| line.contains("A1 DATA")).count();
    assert!(place("BAR") < place("RTS") && before <= 2, "{}", air.timeline);
    assert!(count(&air, "A1 DATA") > 20, "it carries its part again");
}

/// One link asks seven times, as often as a frame without an agreement is sent, and then sends the MPDUs again.
#[test]
fn a_plain_station_asks_as_often_as_a_frame_is_sent() {
    let mut air = Air::new(config(), 2, 1);
    air.fate = Box::new(|now, _, _, _| now < at(200_000));
    (0..3).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(200_000));
    let sent: Vec<&str> = air.timeline.lines().filter(|line| line.contains(" A ")).collect();
    let kinds: Vec<bool> = sent.iter().take(9).map(|line| line.contains("BAR")).collect();
    assert_eq!(kinds, [false, true, true, true, true, true, true, true, false], "{}", air.timeline);
    assert_eq!(count(&air, "A BAR"), 7, "it asks no more before it is answered");
    air.run(at(400_000));
    assert_eq!(air.delivered.len(), 3, "{}", air.timeline);
}

/// Nothing that could be given up is held behind a request for what was given up before.
#[test]
fn packets_for_a_peer_that_is_gone_are_given_up() {
    let mut config = of_window(8);
    config.aggregation.retry_limit = Some(2);
    let mut air = Air::new(config, 2, 1);
    air.fate = Box::new(|_, _, _, _| true);
    (0..40).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(2_000_000));
    let given_up = air.outcomes.iter().filter(|(_, _, outcome)| *outcome == Outcome::RetryLimit).count();
    assert_eq!((given_up, air.delivered.len()), (40, 0), "{}", air.timeline);
}

/// When the peer is there again it is told what was given up, before it gets more.
#[test]
fn a_peer_that_returns_is_told_what_was_given_up() {
    let mut config = of_window(8);
    config.aggregation.retry_limit = Some(2);
    let mut air = Air::new(config, 2, 1);
    // The last of the first four comes, and waits for those before it.
    air.fate = Box::new(|now, kind, _, place| now < at(300_000) && (kind != FrameKind::Data || place < 3));
    (0..4).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    (4..8).for_each(|id| air.send(at(299_000), 0, 1, id, BestEffort));
    air.run(at(600_000));
    let up: Vec<u32> = air.delivered.iter().map(|(_, _, id)| *id).collect();
    assert_eq!(up, [3, 4, 5, 6, 7], "{}", air.timeline);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// One of the links dies for good; beside it everything comes through, whatever is lost at first.
    #[test]
    fn nothing_waits_for_a_link_that_is_dead(
        config in with_agreements(),
        seed: u64,
        links in 2u32..4,
        requests in prop_oneof![Just(RequestLink::OfData), Just(RequestLink::Any)],
        permille in [0u32..500, 0u32..500, 0u32..500],
        outage in (0usize..2, 0u64..40_000),
        packets in sendings(),
    ) {
        let repair = Repair::Request;
        let mut config = config;
        config.aggregation.repair = repair;
        let mut air = Air::of_devices(config, 3, links, requests, seed);
        air.fate = losses(seed, permille, 60_000);
        air.outage = Some((outage.0, at(outage.1)..at(100_000_000)));
        check_until(2_000_000, air, &packets)?;
    }
}
