//! Peers that answer nothing, on one link or on all: requests end, and what is in doubt goes another way.

use super::air::{Air, at};
use super::{check_until, config, losses, of_window, requests, sendings, with_agreements};
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

/// While nothing waits the peer is told after pauses that grow; when it is there again, within the next one.
#[test]
fn a_peer_that_is_gone_is_told_less_and_less() {
    let mut config = of_window(8);
    config.aggregation.retry_limit = Some(2);
    let mut air = Air::new(config, 2, 1);
    // The second of two comes, and waits for the first.
    air.fate = Box::new(|now, kind, _, place| now < at(3_000_000) && (kind != FrameKind::Data || place == 0));
    (0..2).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(2_900_000));
    let requests = air.timeline.lines().filter(|line| line.contains("A BAR"));
    let begins: Vec<u64> = requests.filter_map(|line| line.trim().split('.').next()?.parse().ok()).collect();
    let bursts = begins.windows(2).filter(|pair| pair[1] - pair[0] > 150_000).count();
    assert_eq!((begins.len(), bursts), (5 * 7, 3), "pauses of 0.4, 0.8 and 1.6 s, {}", air.timeline);
    air.run(at(7_000_000));
    assert_eq!(air.delivered.iter().map(|(_, _, id)| *id).collect::<Vec<_>>(), [1], "{}", air.timeline);
}

/// A link of which MPDUs go again without a question is silent, too.
#[test]
fn a_link_that_sends_again_begins_by_rts() {
    let mut sending_again = config();
    sending_again.aggregation.repair = Repair::Retransmit;
    for (config, requests) in [(sending_again, RequestLink::OfData), (config(), RequestLink::None)] {
        let mut air = Air::of_devices(config, 2, 2, requests, 1);
        air.outage = Some((0, at(0)..at(30_000)));
        (0..400).for_each(|id| air.send(at(10 + 1_000 * u64::from(id / 5)), 0, 1, id, BestEffort));
        air.run(at(120_000));
        let first_answer = air.timeline.lines().position(|line| line.contains("B1 CTS")).unwrap();
        let before: Vec<&str> = air.timeline.lines().take(first_answer).filter(|line| line.contains(" A1 ")).collect();
        let data = before.iter().filter(|line| line.contains("DATA")).count();
        let announced = before.iter().filter(|line| line.contains("RTS")).count();
        assert_eq!((air.delivered.len(), data, count(&air, "BAR")), (400, 1, 0), "{}", air.timeline);
        assert!(announced > 1 && count(&air, "A1 DATA") > 20, "{}", air.timeline);
    }
}

/// Of a device of which one link leads to the peer that one asks, as a plain station does.
#[test]
fn a_device_of_one_link_asks() {
    let mut air = Air::of_devices(config(), 2, 1, RequestLink::None, 1);
    air.fate = Box::new(|_, kind, nth, _| kind == FrameKind::BlockAck && nth == 1);
    (0..4).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(5_000));
    assert_eq!((count(&air, "BAR"), count(&air, "DATA")), (1, 1), "{}", air.timeline);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A peer is gone for a while, and long bursts are given up. None of what it acknowledges later is taken for old,
    /// however long the window; and it is not asked without end.
    #[test]
    fn what_is_acknowledged_after_a_gap_has_come(
        window in prop_oneof![Just(64u16), Just(256), Just(1_024)],
        limits in (1u32..3, 1u32..8),
        links in 1u32..3,
        requests in requests(),
        gone in (0u64..20_000, 20_000u64..400_000),
        bursts in (1u32..1_300, 1u32..1_300, 1u32..100),
        seed: u64,
    ) {
        let mut config = of_window(window);
        (config.aggregation.retry_limit, config.retry_limit) = (Some(limits.0), Some(limits.1));
        config.queue_limit = 4_000;
        let mut air = Air::of_devices(config, 3, links, requests, seed);
        air.fate = Box::new(move |now, _, _, _| (at(gone.0)..at(gone.1)).contains(&now));
        let starts = [0, gone.1 / 2, gone.1 + 300_000];
        let times = [bursts.0, bursts.1, bursts.2].into_iter().zip(starts);
        let packets: Vec<_> = times.flat_map(|(count, from)| (0..count).map(move |_| (0, 1, 1, from))).collect();
        check_until(30_000_000, air, &packets)?;
    }

    /// A peer is gone for good: everything is given up, and what follows is a request now and then.
    #[test]
    fn a_peer_that_is_gone_for_good_is_asked_now_and_then(
        window in prop_oneof![Just(64u16), Just(1_024)],
        links in 1u32..3,
        packets in 1u32..2_600,
        seed: u64,
    ) {
        let mut config = of_window(window);
        (config.aggregation.retry_limit, config.retry_limit) = (Some(1), Some(3));
        config.queue_limit = 4_000;
        let mut air = Air::of_devices(config, 2, links, RequestLink::OfData, seed);
        air.fate = Box::new(|_, _, _, _| true);
        (0..packets).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
        air.run(at(20_000_000));
        let given_up = air.outcomes.iter().filter(|(_, _, outcome)| *outcome == Outcome::RetryLimit).count();
        prop_assert_eq!((given_up, air.delivered.len()), (packets as usize, 0));
        let before = count(&air, "BAR");
        air.run(at(60_000_000));
        prop_assert!(count(&air, "BAR") - before <= 3 * 5, "{} more", count(&air, "BAR") - before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// One of the links dies for good; beside it everything comes through, whatever is lost at first.
    #[test]
    fn nothing_waits_for_a_link_that_is_dead(
        config in with_agreements(),
        seed: u64,
        links in 2u32..4,
        requests in requests(),
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
