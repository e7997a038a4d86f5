//! The times and shares of one member beside numbers worked out by hand.

use super::*;
use crate::trunk::bonding::path::{Arrival, RateMark};

const MS: Duration = Duration::from_millis(1);
/// Rate at which a byte takes a microsecond \[bit/s\].
const BYTE_A_US: u64 = 8_000_000;

const fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn member(config: MemberConfig) -> MemberEnd {
    MemberEnd::new(Instant::ZERO, Member(0), config, SeqNum(1))
}

/// A member that has answered, and whose delay is not known.
fn heard() -> MemberEnd {
    let mut end = member(MemberConfig::default());
    end.on_heard(Instant::ZERO);
    end
}

/// A member with a round trip of 80 ms, and a deviation of 40 ms as one sample has: it works.
fn answered(mut end: MemberEnd) -> MemberEnd {
    end.on_heard(Instant::ZERO);
    end.on_arrival(at(80), &arrival(0, 0, 80, 0));
    end
}

/// A member that works, and whose rate is not known.
fn active() -> MemberEnd {
    answered(member(MemberConfig::default()))
}

/// Feedback that tells at once of a frame that took `delay_ms`.
fn arrival(number: u32, sent_ms: u64, delay_ms: u64, came: u64) -> Arrival {
    let received_us = (sent_ms + delay_ms) as u32 * 1_000;
    let newest = RateMark { number: SeqNum(number), received_us, sent_at: at(sent_ms), total: came, came, idles: 0 };
    Arrival { newest, first: None, age_us: Some(0), offset_us: 0, waited_since: at(sent_ms) }
}

/// A member of 8 Mbit/s with a round trip of 80 ms, and a deviation of 40 ms as one sample has.
fn measured() -> MemberEnd {
    let mut end = heard();
    end.path.on_train(Instant::ZERO, BYTE_A_US);
    end.trains = Trains::new();
    end.on_arrival(at(80), &arrival(1, 0, 80, 0));
    end
}

/// Frames of 1000 byte leave, none of them with a packet.
fn send(end: &mut MemberEnd, now: Instant, frames: usize) {
    for _ in 0..frames {
        end.on_numbered(now, Bytes::new(1_000), Duration::ZERO, Content::Repair);
    }
}

#[test]
fn a_frame_is_late_ten_milliseconds_and_four_deviations_after_it_was_due() {
    let mut end = measured();
    assert_eq!(end.late_us(), 10_000);
    // 84 ms: a deviation of 1 ms.
    end.path.on_arrival(at(184), &arrival(2, 100, 84, 0));
    assert_eq!(end.late_us(), 14_000);
    assert_eq!(heard().late_us(), 30_000, "the queue that the search of the rate fills is unknown");
    assert_eq!(active().late_us(), 30_000 + 20_000, "and a quarter of a round trip");
}

#[test]
fn frames_that_come_late_make_it_tolerate_their_lateness_up_to_a_round_trip() {
    let mut end = measured();
    assert_eq!(end.tolerance(), Duration::ZERO);
    end.on_spurious(at(100), MS * 6);
    assert_eq!((end.tolerance(), end.late_us(), end.counted.spurious), (MS * 6, 16_000, 1));
    end.on_spurious(at(100), MS * 7);
    assert_eq!((end.tolerance(), end.counted.spurious), (MS * 13, 2), "later than what was tolerated");
    end.on_spurious(at(100), MS * 200);
    assert_eq!((end.tolerance(), end.counted.spurious), (MS * 80, 3));
    let mut end = heard();
    end.on_spurious(at(100), MS * 200);
    assert_eq!(end.tolerance(), MS * 200, "no round trip is known");
}

#[test]
fn silence_is_thirty_milliseconds_or_eight_full_frames_if_they_take_longer() {
    let mut end = measured();
    assert_eq!(end.silence_us(), 30_000);
    end.path.on_train(at(100), BYTE_A_US / 4);
    assert_eq!(end.silence_us(), 48_000);
}

#[test]
fn four_missing_frames_are_suspicious_or_seven_mean_bursts() {
    let mut end = measured();
    assert_eq!(end.missing_min(), 4);
    for number in 1..=40 {
        end.path.on_fate(SeqNum(number), at(1), (number - 1) % 10 < 3);
    }
    end.path.on_fates(at(100));
    end.path.on_arrival(at(181), &arrival(41, 101, 80, 0));
    assert_eq!(end.missing_min(), 21);
}

#[test]
fn the_fate_of_a_lost_frame_is_remembered_for_two_round_trips_and_the_longest_gap_of_probes() {
    assert_eq!(heard().memory(), MS * 3_000, "no round trip is known");
    assert_eq!(measured().memory(), MS * 410);
}

#[test]
fn feedback_has_a_sixteenth_of_the_rate() {
    let mut end = measured();
    // With its headers 125 byte: 125 us of 2 ms.
    let len = Bytes::new(125) - MemberConfig::OVERHEAD_IPV4;
    end.on_feedback_sent(at(100), len);
    assert_eq!(end.fed_back_at, at(102));
    end.on_feedback_sent(at(101), len);
    assert_eq!(end.fed_back_at, at(104));
    end.on_feedback_sent(at(110), len);
    assert_eq!(end.fed_back_at, at(112));
}

#[test]
fn symbols_take_their_part_of_the_rate_and_leave_less_blocking() {
    let mut end = measured();
    for number in 1..=256 {
        end.path.on_fate(SeqNum(number), at(1), number % 128 == 0);
    }
    end.path.on_fates(at(100));
    assert_eq!(end.path.loss_ppm(), 7_812);
    end.groups.plan = Some(Plan { sources: 30, repairs: 2, span: MS, blocking: MS * 7 });
    assert_eq!((end.useful_rate(), end.blocking()), (7_500_000, MS * 7));
    end.groups.plan = None;
    assert_eq!((end.useful_rate(), end.blocking()), (BYTE_A_US, end.path.blocking()));
}

#[test]
fn only_a_measured_member_without_a_quota_is_coded() {
    let lossy = |quota: Option<Bytes>, rate: Option<u64>| {
        let mut end = member(MemberConfig { quota, ..MemberConfig::default() });
        if let Some(rate) = rate {
            end.path.on_train(Instant::ZERO, rate);
        }
        end.on_arrival(at(200), &arrival(1, 0, 200, 0));
        for number in 1..=256 {
            end.path.on_fate(SeqNum(number), at(1), number % 20 == 0);
        }
        end.path.on_fates(at(200));
        end
    };
    let is_coded = |mut end: MemberEnd, may_be| {
        end.set_plan(may_be);
        end.groups.plan.is_some()
    };
    assert!(is_coded(lossy(None, Some(BYTE_A_US)), true));
    assert!(!is_coded(lossy(None, Some(BYTE_A_US)), false));
    assert!(!is_coded(lossy(None, None), true));
    assert!(!is_coded(lossy(Some(Bytes::new(1 << 40)), Some(BYTE_A_US)), true));
    let mut suspected = lossy(None, Some(BYTE_A_US));
    suspected.suspect(at(200));
    assert!(!is_coded(suspected, true));
}

#[test]
fn an_unknown_member_is_probed_at_growing_gaps_up_to_a_quarter_of_a_second() {
    let mut end = member(MemberConfig::default());
    let mut gaps = vec![];
    for _ in 0..6 {
        let (due, why) = end.question_at().expect("a probe is due");
        assert_eq!(why, "tunnel.probe");
        assert!(!end.on_question(due));
        gaps.push(end.question_at().map(|(next, _)| next - due));
    }
    assert_eq!(gaps, [25, 50, 100, 200, 250, 250].map(|ms| Some(MS * ms)));
    end.begin(at(2_000));
    assert_eq!(end.question_at().map(|(due, _)| due), Some(at(2_000)), "another end may be there");
    end.on_question(at(2_000));
    assert_eq!(end.question_at().map(|(due, _)| due), Some(at(2_025)));
}

#[test]
fn a_member_whose_answer_tells_no_delay_is_probed_on() {
    let mut end = member(MemberConfig::default());
    send(&mut end, Instant::ZERO, 1);
    // It goes another way from here on.
    end.path.begin_with(end.sent_frames.next());
    end.begin(at(10));
    end.on_question(at(10));
    end.on_heard(at(20));
    end.on_arrival(at(20), &arrival(1, 0, 10, 0));
    assert_eq!((end.state, end.question_at()), (MemberState::Probing, Some((at(35), "tunnel.probe"))));
    send(&mut end, at(35), 1);
    end.on_heard(at(50));
    end.on_arrival(at(50), &arrival(2, 35, 15, 0));
    assert_eq!(end.state, MemberState::Active);
}

#[test]
fn a_late_host_learns_its_first_delay_too_long_and_later_ones_not_from_late_frames() {
    let mut end = member(MemberConfig::default());
    send(&mut end, Instant::ZERO, 1);
    end.on_late(Instant::ZERO, at(8));
    end.on_heard(at(20));
    end.on_arrival(at(20), &arrival(1, 0, 18, 0));
    assert_eq!((end.state, end.path.delay().least_us()), (MemberState::Active, Some(18_000)));
    send(&mut end, at(30), 1);
    end.on_late(at(30), at(38));
    end.on_arrival(at(50), &arrival(2, 38, 2, 0));
    assert_eq!(end.path.delay().least_us(), Some(18_000), "it may have left before that");
    send(&mut end, at(60), 1);
    end.on_arrival(at(75), &arrival(3, 60, 10, 0));
    assert_eq!(end.path.delay().least_us(), Some(10_000));
}

#[test]
fn a_member_is_asked_when_its_oldest_frame_has_no_answer_after_the_longest_usual_time() {
    let mut end = measured();
    end.on_heard(at(90));
    send(&mut end, at(100), 2);
    // 80 + 4 x 40 ms, 20 ms of feedback, and two full frames.
    assert_eq!(end.question_at(), Some((at(100 + 263), "tunnel.silence")));
    end.on_heard(at(120));
    assert_eq!(end.question_at(), Some((at(120 + 263), "tunnel.silence")));
    end.on_question(at(383));
    assert_eq!(end.question_at(), Some((at(383 + 263), "tunnel.silence")));
    let mut end = active();
    send(&mut end, at(100), 1);
    // The same, and two full frames at 50 kbit/s.
    assert_eq!(end.question_at(), Some((at(100 + 740), "tunnel.silence")));
}

#[test]
fn an_idle_member_is_asked_every_ten_seconds() {
    let mut end = measured();
    end.on_heard(at(90));
    assert_eq!(end.question_at(), Some((at(10_090), "tunnel.keepalive")));
    // A frame is lost, and nothing has come since: not after ten more seconds.
    end.sent_at = at(5_000);
    assert_eq!(end.question_at(), Some((at(5_000 + 263), "tunnel.silence")));
    assert!(!end.on_question(at(5_263)) && end.is_silent());
}

#[test]
fn the_fourth_question_without_an_answer_makes_it_suspect() {
    let mut end = measured();
    send(&mut end, at(100), 1);
    let asked = [400, 700, 1_000, 1_300].map(|ms| end.on_question(at(ms)));
    assert_eq!((asked, end.is_silent()), ([false, false, false, true], true));
    end.on_heard(at(1_310));
    assert!(!end.is_silent(), "it has answered");
    // Nothing is under way: nothing is missed.
    let mut end = measured();
    assert!((0..8).all(|second| !end.on_question(at(10_000 * second))) && !end.is_silent());
}

#[test]
fn a_suspected_member_is_probed_at_once_and_comes_back_with_its_rate() {
    let mut end = measured();
    send(&mut end, at(100), 1);
    (0..2).for_each(|_| assert!(!end.on_question(at(400))));
    end.suspect(at(500));
    assert_eq!((end.state, end.counted.suspicions, end.is_silent()), (MemberState::Suspected, 1, false));
    assert_eq!(end.question_at(), Some((at(500), "tunnel.probe")));
    end.on_question(at(500));
    assert_eq!(end.question_at(), Some((at(525), "tunnel.probe")));
    end.on_heard(at(600));
    assert_eq!((end.state, end.path.rate(), end.path.release()), (MemberState::Active, BYTE_A_US, at(600)));
    assert_eq!(end.train_at(), None, "its rate is known");
}

#[test]
fn after_a_minute_of_silence_a_member_is_measured_from_the_beginning() {
    for (silence, is_known) in [(60_000, true), (60_001, false)] {
        let mut end = measured();
        end.on_heard(at(100));
        end.suspect(at(1_000));
        end.on_heard(at(100 + silence));
        end.on_arrival(at(100 + silence), &arrival(9, silence, 100, 0));
        assert_eq!(end.state, MemberState::Active);
        assert_eq!((end.path.has_estimate(), end.train_at().is_none()), (is_known, is_known), "{silence} ms");
    }
    let cap = Some(BitRate::from_bps(100_000));
    let mut end = member(MemberConfig { rate_cap: cap, ..MemberConfig::default() });
    end.on_heard(at(70_000));
    assert_eq!(end.path.rate(), 100_000, "its cap stays");
}

#[test]
fn a_member_whose_path_did_not_validate_stays_suspected_whatever_comes() {
    let mut end = measured();
    end.validation.begin(at(100), [7; 8], 0);
    assert!(end.validation.fail(at(3_100)));
    end.suspect(at(3_100));
    end.on_heard(at(3_200));
    assert_eq!((end.state, end.heard_at), (MemberState::Suspected, at(3_200)));
}

#[test]
fn a_host_that_could_not_send_pauses_the_member_for_two_milliseconds() {
    let mut end = measured();
    assert!(end.has_room(at(100)) && end.is_free(at(100)));
    end.on_refused(at(100));
    assert_eq!(end.free_at(), at(102));
    let is_open = |us: u64| {
        let now = at(100) + Duration::from_micros(us);
        (end.has_room(now), end.is_free(now))
    };
    assert_eq!((is_open(1_999), is_open(2_000)), ((false, false), (true, true)));
}

#[test]
fn a_member_for_which_retransmissions_wait_takes_nothing_else() {
    let mut end = measured();
    end.reserved = 1;
    assert!(!end.is_free(at(100)) && end.has_room(at(100)));
}

#[test]
fn a_window_that_is_full_leaves_no_room() {
    let mut end = measured();
    let frames = end.path.window().div_ceil(1_000) as usize;
    send(&mut end, at(80), frames - 1);
    assert!(end.has_room(at(80)));
    send(&mut end, at(80), 1);
    assert!(!end.has_room(at(80)));
}

#[test]
fn a_path_on_trial_has_room_when_the_longest_frame_is_allowed_there() {
    let mut end = measured();
    end.longest_frame = Bytes::new(1_000);
    end.validation.begin(at(100), [7; 8], 0);
    // 1056 byte on the wire: three for each that came.
    end.validation.on_came(351);
    assert!(!end.has_room(at(100)));
    end.validation.on_came(1);
    assert!(end.has_room(at(100)));
    end.on_numbered(at(100), Bytes::new(1), Duration::ZERO, Content::Repair);
    assert!(!end.has_room(at(100)));
}

#[test]
fn the_next_step_of_a_validation_is_a_challenge_that_is_allowed_or_its_end() {
    let mut end = measured();
    assert_eq!(end.validation_at(), None);
    end.validation.begin(at(100), [7; 8], 0);
    assert_eq!((end.challenge_len(), end.validation_at()), (65, Some(at(3_100))));
    end.validation.on_came(22);
    assert_eq!(end.validation_at(), Some(at(100)));
}

#[test]
fn a_quota_counts_both_directions_and_holds_until_it_is_set_again() {
    let mut end = answered(member(MemberConfig { quota: Some(Bytes::new(5_000)), ..MemberConfig::default() }));
    end.counted.received_bytes = Bytes::new(1_001);
    send(&mut end, at(100), 3);
    assert_eq!(end.state, MemberState::Active);
    send(&mut end, at(100), 1);
    assert_eq!((end.state, end.question_at()), (MemberState::Exhausted, None));
    end.begin(at(200));
    end.on_heard(at(200));
    assert_eq!(end.state, MemberState::Exhausted);
}

#[test]
fn packets_that_wait_measure_a_member_again_unless_it_has_a_quota() {
    for (quota, train_at) in [(None, Some(at(5_000))), (Some(Bytes::new(1 << 40)), None)] {
        let mut end = answered(member(MemberConfig { quota, ..MemberConfig::default() }));
        end.path.on_train(at(1), BYTE_A_US);
        end.trains = Trains::new();
        end.doubt(at(5_000));
        assert_eq!(end.train_at(), train_at);
    }
}

#[test]
fn a_member_is_being_probed_until_a_train_has_shown_anything() {
    let mut end = active();
    assert!(end.is_being_probed());
    end.path.on_bound(BYTE_A_US);
    assert!(!end.is_being_probed(), "at least so much");
    assert!(!measured().is_being_probed());
}

#[test]
fn a_train_whose_end_is_lost_tells_by_its_begin_when_it_is_due_again() {
    let mut end = active();
    assert_eq!((end.on_train(at(10)), end.train_at()), (4, Some(at(10 + 740))));
    // Two gaps of 1200 byte in 2.4 ms each, and nothing behind.
    for (number, came) in [(1, 1_200), (2, 2_400), (3, 3_600)] {
        let mut news = arrival(number, 10, 50, came);
        news.newest.received_us += 2_400 * number;
        assert!(end.trains.on_arrival(at(60), &news).is_none());
    }
    assert!(!end.path.is_measured());
    end.end_train(at(810));
    assert_eq!((end.path.is_measured(), end.path.rate()), (true, 4_000_000));
    assert_eq!(end.train_at(), None);
}

#[test]
fn frames_have_numbers_in_a_row_and_a_member_begins_to_be_busy_once() {
    let mut end = measured();
    end.on_numbered(at(100), Bytes::new(1_000), Duration::ZERO, Content::Repair);
    assert_eq!((end.idles, end.sent_at, end.counted.sent_bytes), (1, at(100), Bytes::new(1_000)));
    send(&mut end, at(101), 1);
    assert_eq!((end.idles, end.sent_frames.next()), (1, SeqNum(3)));
    end.is_idle = true;
    send(&mut end, at(110), 1);
    assert_eq!((end.idles, end.sent_frames.on_the_way()), (2, 3));
}

#[test]
fn a_status_shows_no_rate_that_nothing_has_measured() {
    let status = heard().status();
    assert_eq!((status.rate, status.rtt, status.rtt_min), (BitRate::default(), Duration::ZERO, Duration::ZERO));
    let mut end = measured();
    end.path.on_arrival(at(183), &arrival(2, 100, 83, 0));
    send(&mut end, at(200), 3);
    let status = end.status();
    assert_eq!((status.rate, status.rtt_min, status.queue_delay), (BitRate::from_bps(BYTE_A_US), MS * 80, MS * 3));
    assert_eq!((status.state, status.in_flight, status.rtt), (MemberState::Active, 3, Duration::from_micros(80_375)));
}

#[test]
fn a_packet_is_shorter_than_the_paths_limit_by_the_headers() {
    let mut end = member(MemberConfig { mtu: Some(Bytes::new(1_500)), ..MemberConfig::default() });
    // 56 byte around a frame, and 9 before a packet.
    assert_eq!((end.longest_packet(), end.longest_possible()), (576 - 65, 1_500 - 65));
    end.plpmtu.take_due(Instant::ZERO, true);
    end.plpmtu.on_came(at(1), Instant::ZERO, 1_500);
    assert_eq!(end.longest_packet(), 1_500 - 65);
    assert_eq!(mtu_of(&MemberConfig { mtu: Some(Bytes::new(100_000)), ..MemberConfig::default() }), Some(65_535));
}

#[test]
fn a_train_waits_until_it_is_known_what_the_path_carries() {
    let config = MemberConfig { mtu: Some(Bytes::new(1_500)), ..MemberConfig::default() };
    let mut end = answered(member(config));
    assert_eq!(end.train_at(), None, "frames of what every path carries would tell of half the rate");
    let _ = end.plpmtu.take_due(Instant::ZERO, true);
    end.plpmtu.on_came(Instant::ZERO, Instant::ZERO, 1_200);
    assert_eq!(end.train_at(), Some(Instant::ZERO));
    // Without a limit nothing is to be found out.
    assert_eq!(active().train_at(), Some(Instant::ZERO));
}
