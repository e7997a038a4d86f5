//! The arithmetic of one path beside numbers worked out by hand. At 8 Mbit/s a byte takes a microsecond, at 1.2 Mbit/s
//! a full frame takes 10 ms.

use super::*;

const MS: Duration = Duration::from_millis(1);
const BYTE_A_US: u64 = 8_000_000;
const FRAME_IN_10_MS: u64 = 1_200_000;

const fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

/// A frame that has come, and the time at which that is told: at once.
#[derive(Clone, Copy)]
struct Came {
    number: u32,
    sent_us: u64,
    received_us: u64,
    /// Bytes sent up to it, and those among them that have come.
    total: u64,
    came: u64,
    idles: u32,
}

impl Came {
    const fn new(number: u32, sent_us: u64, received_us: u64, total: u64) -> Self {
        Self { number, sent_us, received_us, total, came: total, idles: 0 }
    }
}

fn hear(path: &mut Path, frame: Came) {
    let newest = RateMark {
        number: SeqNum(frame.number),
        received_us: frame.received_us as u32,
        sent_at: at(frame.sent_us),
        total: frame.total,
        came: frame.came,
        idles: frame.idles,
    };
    let arrival = Arrival { newest, first: None, age_us: Some(0), offset_us: 0, waited_since: newest.sent_at };
    path.on_arrival(at(frame.received_us), &arrival);
}

/// A path whose rate a train has shown.
fn measured(rate: u64) -> Path {
    let mut path = Path::new(None);
    path.on_train(Instant::ZERO, rate);
    path
}

/// Tells the fates of `frames` frames from number 1 on, all sent at 1 ms: of each `of` the first `lost` are lost.
fn tell(path: &mut Path, frames: u32, lost: u32, of: u32) {
    for number in 1..=frames {
        path.on_fate(SeqNum(number), at(1_000), (number - 1) % of < lost);
    }
    path.on_fates(at(1_000));
}

#[test]
fn before_any_measurement_it_counts_on_ten_full_frames_a_round_trip() {
    let mut path = Path::new(None);
    assert_eq!((path.rate(), path.has_estimate(), path.is_measured()), (1_200_000, false, false), "of 100 ms");
    path.set_cap(Some(1_000_000));
    assert_eq!(path.rate(), 1_000_000);
    path.set_cap(Some(1));
    assert_eq!(path.rate(), RATE_MIN);
    path.set_cap(None);
    hear(&mut path, Came::new(1, 0, 20_000, 1_500));
    assert_eq!(path.rate(), 6_000_000);
    hear(&mut path, Came::new(2, 30_000, 32_000, 3_000));
    assert_eq!(path.rate(), 12_000_000, "round trips below 10 ms count as 10 ms");
}

#[test]
fn a_trains_bound_raises_a_searched_rate_and_changes_no_known_one() {
    let mut path = Path::new(None);
    path.on_bound(BYTE_A_US);
    assert_eq!((path.rate(), path.has_estimate(), path.is_measured()), (BYTE_A_US, true, false));
    path.on_bound(BYTE_A_US / 2);
    assert_eq!(path.rate(), BYTE_A_US);
    path.on_train(at(7), BYTE_A_US / 4);
    assert_eq!((path.rate(), path.is_measured(), path.looked_at()), (BYTE_A_US / 4, true, at(7)));
    path.on_bound(BYTE_A_US);
    assert_eq!(path.rate(), BYTE_A_US / 4);
}

#[test]
fn the_window_is_the_rate_times_the_usual_answer_and_three_frames() {
    let mut path = Path::new(None);
    assert_eq!(path.window(), 30_000, "twenty full frames on an unknown link");
    // 80 ms, with a deviation of half of it: 80 + 4 x 40 ms, and 20 ms for feedback.
    hear(&mut path, Came::new(1, 0, 80_000, 1_500));
    path.on_bound(BYTE_A_US);
    assert_eq!(path.window(), 2 * 260_000 + 15_000, "twice that and ten frames while the rate is searched");
    path.on_train(at(80_000), BYTE_A_US);
    assert_eq!(path.window(), 260_000 + 4_500);
    // A sample of 90 ms: 81.25 ms and 32.5 ms; the link's own queue of 10 ms does not count.
    hear(&mut path, Came::new(2, 100_000, 190_000, 3_000));
    assert_eq!(path.window(), 221_250 + 4_500);
}

#[test]
fn ten_frames_leave_at_once_on_an_unknown_path() {
    let mut path = Path::new(None);
    let now = at(1_000_000);
    // Twice 1.2 Mbit/s: 5 ms each.
    for left in (0..10u64).rev() {
        path.on_sent(now, FULL, Duration::ZERO);
        assert_eq!(path.release(), now.saturating_sub(MS * 5 * left));
    }
    path.on_sent(now, FULL, Duration::ZERO);
    assert_eq!(path.release(), now + MS * 5);
}

#[test]
fn a_host_catches_up_with_a_tick_or_with_its_own_lateness_up_to_eight_ticks() {
    for (late, behind) in [(0, 1), (1, 1), (5, 5), (20, 8)] {
        let mut path = measured(FRAME_IN_10_MS);
        path.on_sent(at(50_000), FULL, MS * late);
        assert_eq!(path.release(), at(50_000) + MS * (10 - behind), "{late} ms late");
    }
}

/// Sends full frames, each when it may leave; returns how long each kept the next one back, with the length of each
/// row of equal ones \[us\].
fn paces(path: &mut Path, frames: usize) -> Vec<(u64, usize)> {
    let mut rows: Vec<(u64, usize)> = vec![];
    for _ in 0..frames {
        let now = path.release();
        path.on_sent(now, FULL, Duration::ZERO);
        let gap_us = (path.release() - now).as_micros();
        match rows.last_mut().filter(|(last, _)| *last == gap_us) {
            Some((_, count)) => *count += 1,
            None => rows.push((gap_us, 1)),
        }
    }
    rows
}

#[test]
fn the_pace_probes_for_more_compensates_and_keeps_the_rate_for_twice_as_long() {
    let mut path = measured(FRAME_IN_10_MS);
    // Steps of eight frames' time: 80 ms, the last of 160 ms. A quarter more is 8 ms a frame, a quarter less 13.3 ms.
    let rows = paces(&mut path, 60);
    assert_eq!(rows, [(10_000, 8), (8_000, 10), (13_333, 7), (10_000, 16), (8_000, 10), (13_333, 7), (10_000, 2)]);
}

#[test]
fn the_pace_keeps_to_the_cap() {
    let mut path = measured(FRAME_IN_10_MS);
    path.set_cap(Some(FRAME_IN_10_MS / 2));
    assert_eq!(paces(&mut path, 30)[0], (20_000, 12), "when it would probe, too");
    path.set_cap(Some(FRAME_IN_10_MS));
    let fastest = paces(&mut path, 60).into_iter().map(|(gap_us, _)| gap_us).min();
    assert_eq!(fastest, Some(10_000), "no probe goes beyond it");
}

#[test]
fn a_frame_arrives_behind_those_before_it_after_the_paths_delay() {
    let mut path = measured(FRAME_IN_10_MS);
    let now = at(1_000_000);
    assert_eq!(path.arrival_us(now, FULL), None, "no delay is known");
    hear(&mut path, Came::new(1, 0, 50_000, 0));
    assert_eq!(path.arrival_us(now, FULL), Some(60_000));
    assert_eq!([(); 2].map(|()| path.on_sent(now, FULL, Duration::ZERO)), [10_000, 20_000]);
    assert_eq!(path.arrival_us(now, FULL), Some(20_000 + 10_000 + 50_000));
    // A sixteenth of 256 frames is lost and takes a round trip of 50 ms more: 50 ms / 15.
    tell(&mut path, 64, 1, 4);
    assert_eq!((path.loss_ppm(), path.arrival_us(now, FULL)), (62_500, Some(83_333)));
}

#[test]
fn a_frame_that_found_a_queue_tells_when_the_link_is_free() {
    let mut path = measured(FRAME_IN_10_MS);
    hear(&mut path, Came::new(1, 0, 50_000, 0));
    let now = at(1_000_000);
    for _ in 0..3 {
        path.on_sent(now, FULL, Duration::ZERO);
    }
    // The first of the three found a queue of 30 ms; two come behind it.
    hear(&mut path, Came::new(2, 1_000_000, 1_080_000, FULL));
    assert_eq!(path.arrival_us(now, FULL), Some(30_000 + 20_000 + 10_000 + 50_000));
    // The last one found none: it is sent 10 ms after it left.
    hear(&mut path, Came::new(4, 1_000_000, 1_050_000, 3 * FULL));
    assert_eq!(path.served, now + MS * 10);
}

/// Whether a rate is measured between two frames at this distance in numbers and in microseconds.
fn is_measured_over(frames: u32, span_us: u64) -> bool {
    let mut path = measured(BYTE_A_US);
    hear(&mut path, Came::new(1, 0, 5_000, 1_500));
    hear(&mut path, Came::new(1 + frames, span_us, 5_000 + span_us, 1_500 * u64::from(1 + frames)));
    path.looked_at() == at(5_000 + span_us)
}

#[test]
fn a_rate_is_measured_over_eight_frames_and_ten_milliseconds_within_a_second() {
    assert!(is_measured_over(8, 10_000) && is_measured_over(8, 1_000_000));
    assert!(!is_measured_over(7, 10_000), "a frame more or less would matter");
    assert!(!is_measured_over(8, 9_999), "a burst may be the medium's");
    assert!(!is_measured_over(8, 1_000_001), "it paused");
}

#[test]
fn a_pause_begins_a_measurement_again() {
    let mut path = measured(BYTE_A_US);
    hear(&mut path, Came::new(1, 0, 5_000, 1_500));
    hear(&mut path, Came::new(9, 2_000_000, 2_005_000, 13_500));
    hear(&mut path, Came::new(17, 2_010_000, 2_015_000, 43_500));
    assert_eq!(path.rate(), 24_000_000, "30,000 byte in 10 ms");
}

/// The rate of a path of 8 Mbit/s after `times` measurements, each of eight frames of `bytes` in all that left within
/// `sent_us` and came within `span_us`.
fn adapted(times: u64, bytes: u64, sent_us: u64, span_us: u64) -> u64 {
    let mut path = measured(BYTE_A_US);
    for time in 0..=times {
        hear(&mut path, Came::new(1 + 8 * time as u32, time * sent_us, 100_000 + time * span_us, time * bytes));
    }
    path.rate()
}

#[test]
fn a_greater_rate_is_believed_at_once_and_a_smaller_one_after_three_measurements() {
    assert_eq!(adapted(1, 30_000, 10_000, 10_000), 24_000_000);
    assert_eq!(adapted(1, 30_000, 20_000, 10_000), 12_000_000, "it was sent at 12 Mbit/s and waited somewhere");
    assert_eq!([1, 2, 3].map(|times| adapted(times, 12_000, 10_000, 20_000)), [BYTE_A_US, BYTE_A_US, 4_800_000]);
}

#[test]
fn a_link_keeps_up_that_stretches_frames_by_no_more_than_a_thirty_second_and_a_fifth_of_a_millisecond() {
    assert_eq!(adapted(3, 5_000, 10_000, 10_512), BYTE_A_US, "little was sent");
    assert_eq!(adapted(3, 5_000, 10_000, 10_513), 5_000 * 8_000_000 / 10_513);
}

#[test]
fn a_member_with_nothing_to_send_at_times_is_not_slow() {
    let mut path = measured(BYTE_A_US);
    for time in 0..6 {
        let frame = Came::new(1 + 8 * time, u64::from(time) * 10_000, 100_000 + u64::from(time) * 20_000, 0);
        hear(&mut path, Came { total: u64::from(time) * 12_000, came: u64::from(time) * 12_000, idles: time, ..frame });
    }
    assert_eq!(path.rate(), BYTE_A_US);
}

#[test]
fn lost_bytes_are_no_part_of_a_rate() {
    let mut path = measured(BYTE_A_US);
    hear(&mut path, Came::new(1, 0, 10_000, 3_000));
    hear(&mut path, Came { came: 21_000, ..Came::new(9, 10_000, 20_000, 27_000) });
    assert_eq!(path.rate(), 14_400_000, "18 kB in 10 ms");
}

#[test]
fn a_searched_rate_grows_fourfold_at_most_and_is_known_when_the_link_stretches_it_by_a_quarter() {
    let start = |bytes: u64, span_us: u64| {
        let mut path = Path::new(None);
        // A round trip of 20 ms: 6 Mbit/s are supposed.
        hear(&mut path, Came::new(1, 0, 20_000, 0));
        hear(&mut path, Came::new(9, 10_000, 20_000 + span_us, bytes));
        (path.rate(), path.is_measured())
    };
    assert_eq!(start(60_000, 10_000), (24_000_000, false));
    assert_eq!(start(20_000, 10_000), (16_000_000, false));
    assert_eq!(start(6_000, 10_000), (6_000_000, false), "little was sent");
    assert_eq!(start(20_000, 12_500), (12_800_000, false));
    assert_eq!(start(20_000, 12_501), (12_798_976, true));
    assert_eq!(start(5_000, 20_000), (2_000_000, true), "it is less than was supposed");
}

#[test]
fn a_searched_rate_is_known_when_the_links_queue_is_long_however_it_was_sent() {
    // Longer than 15 ms and three frames at the 6 Mbit/s that are supposed.
    for (queue_us, is_measured) in [(21_000, false), (21_001, true)] {
        let mut path = Path::new(None);
        hear(&mut path, Came::new(1, 0, 20_000, 0));
        hear(&mut path, Came::new(9, 400_000, 420_000 + queue_us, 60_000));
        assert_eq!(path.is_measured(), is_measured, "a queue of {queue_us} us");
    }
}

#[test]
fn frames_of_a_train_and_before_it_tell_nothing_of_the_traffics_rate() {
    let mut path = measured(BYTE_A_US);
    hear(&mut path, Came::new(1, 0, 5_000, 0));
    path.skip_rates(SeqNum(20));
    hear(&mut path, Came::new(19, 10_000, 15_000, 60_000));
    assert_eq!(path.rate(), BYTE_A_US);
    hear(&mut path, Came::new(20, 20_000, 25_000, 90_000));
    hear(&mut path, Came::new(28, 30_000, 35_000, 120_000));
    assert_eq!(path.rate(), 24_000_000, "between two frames behind it");
}

#[test]
fn after_a_train_packets_do_not_wait_for_what_it_was_believed_to_take() {
    // Held to be slower than any link, as after a train among losses.
    let mut path = measured(6_000);
    for _ in 0..4 {
        path.on_sent(at(0), FULL, Duration::ZERO);
    }
    assert!(path.release() > at(2_900_000), "at the least rate, of 16 kbit/s");
    path.on_train(at(50_000), BYTE_A_US);
    assert_eq!(path.release(), at(50_000));
}

#[test]
fn frames_of_a_host_that_was_late_tell_nothing_of_the_path() {
    let mut path = measured(FRAME_IN_10_MS);
    path.on_sent(at(0), FULL, Duration::ZERO);
    path.on_late(at(0), at(30_000), SeqNum(5));
    assert_eq!((path.served, path.last), (at(40_000), (at(30_000), FULL)), "sent behind the wait of 30 ms");
    hear(&mut path, Came::new(4, 0, 90_000, 1_500));
    assert_eq!((path.delay().rtt(), path.delay().least_us()), (None, None));
    hear(&mut path, Came::new(5, 100_000, 150_000, 3_000));
    assert_eq!((path.delay().rtt_least(), path.delay().least_us()), (Some(MS * 50), Some(50_000)));
}

/// A path of 1.2 Mbit/s and 100 ms that has found a queue of 60 ms at 360 ms: longer than 15 ms and three frames.
fn draining() -> Path {
    let mut path = measured(FRAME_IN_10_MS);
    hear(&mut path, Came::new(1, 0, 100_000, 0));
    hear(&mut path, Came::new(2, 200_000, 360_000, 0));
    path
}

#[test]
fn a_long_queue_is_drained_at_three_quarters_of_the_rate_until_it_is_short() {
    let mut path = draining();
    // The fourth part of the rate takes four times as long and one; two round trips; eight frames.
    assert_eq!((path.phase, path.phase_until), (Phase::Drain, at(360_000) + MS * (5 * 60 + 2 * 100 + 80)));
    assert_eq!(path.gain(), (3, 4));
    // Short is 2 ms and one frame and a half.
    hear(&mut path, Came::new(3, 400_000, 517_000, 0));
    assert_eq!(path.phase, Phase::Drain);
    hear(&mut path, Came::new(4, 500_000, 616_999, 0));
    assert_eq!((path.phase, path.phase_until), (Phase::Cruise, at(616_999) + MS * 160));
}

#[test]
fn a_queue_of_up_to_fifteen_milliseconds_and_three_frames_is_not_drained_but_shrinks_slowly() {
    let mut path = measured(FRAME_IN_10_MS);
    hear(&mut path, Came::new(1, 0, 100_000, 0));
    assert_eq!(path.gain(), (1, 1));
    hear(&mut path, Came::new(2, 200_000, 345_000, 0));
    assert_eq!((path.phase, path.gain()), (Phase::Cruise, (31, 32)));
    hear(&mut path, Came::new(3, 400_000, 545_001, 0));
    assert_eq!(path.phase, Phase::Drain);
}

#[test]
fn a_queue_that_two_drains_do_not_empty_is_a_longer_path() {
    let mut path = draining();
    hear(&mut path, Came::new(3, 400_000, 530_000, 0));
    path.go_on(at(939_999));
    assert_eq!(path.phase, Phase::Drain);
    path.go_on(at(940_000));
    // Half of the rate is left for a queue of 30 ms.
    assert_eq!((path.phase, path.phase_until), (Phase::DrainMore, at(940_000) + MS * (75 + 2 * 100 + 80)));
    assert_eq!(path.gain(), (1, 2));
    hear(&mut path, Came::new(4, 1_000_000, 1_135_000, 0));
    hear(&mut path, Came::new(5, 1_000_000, 1_130_000, 0));
    path.go_on(at(1_295_000));
    assert_eq!((path.phase, path.phase_until), (Phase::Cruise, at(1_295_000) + MS * 160));
    assert_eq!(path.delay().least_us(), Some(130_000), "the least that was found while it was drained");
}

#[test]
fn a_drain_of_which_nothing_is_heard_ends() {
    let mut path = draining();
    path.go_on(at(940_000));
    assert_eq!((path.phase, path.phase_until), (Phase::Cruise, at(940_000) + MS * 160));
}

#[test]
fn half_of_the_frames_lost_is_half_of_the_rate_too_much() {
    let mut path = measured(BYTE_A_US);
    tell(&mut path, 1_000, 1, 2);
    assert_eq!((path.loss_ppm(), path.rate()), (500_000, BYTE_A_US / 2));
    // While no rate is known there is none to slow down; one that is only bounded is then known.
    let mut path = Path::new(None);
    tell(&mut path, 1_000, 1, 2);
    assert_eq!((path.has_estimate(), path.is_measured()), (false, false));
    path.on_bound(BYTE_A_US);
    tell(&mut path, 1_000, 1, 2);
    assert_eq!((path.rate(), path.is_measured()), (BYTE_A_US / 2, true));
}

#[test]
fn losses_of_a_silence_are_not_the_links() {
    let mut path = measured(BYTE_A_US);
    tell(&mut path, 64, 1, 4);
    hear(&mut path, Came::new(65, 2_000, 7_000, 0));
    for number in 66..130 {
        path.on_fate(SeqNum(number), at(8_000), true);
    }
    path.on_fates(at(9_000));
    assert!(path.loss_ppm() > 62_500, "{}", path.loss_ppm());
    path.forget_silence();
    assert_eq!(path.loss_ppm(), 62_500);
}

#[test]
fn a_links_losses_are_those_of_frames_sent_at_a_known_rate() {
    let mut path = measured(BYTE_A_US);
    for number in 1..=100 {
        path.on_fate(SeqNum(number), Instant::ZERO, true);
    }
    path.on_fates(at(1_000));
    assert!(path.losses().is_none(), "they left before the rate was known");
    // Bursts of three, one of four times ten frames.
    let mut path = measured(BYTE_A_US);
    hear(&mut path, Came::new(0, 0, 80_000, 0));
    tell(&mut path, 40, 3, 10);
    let losses = path.losses().expect("40 frames are enough");
    assert_eq!((losses.lost_ppm, losses.begun_ppm, losses.rate), (300_000, 100_000, BYTE_A_US));
    assert_eq!((losses.rtt, losses.repair), (MS * 80, MS * 120));
    assert_eq!(path.burst(), 0, "no newer frame has come since");
    hear(&mut path, Came::new(41, 2_000, 82_000, 0));
    assert_eq!(path.burst(), 3);
}

#[test]
fn a_loss_is_repaired_after_the_usual_round_trip_and_half_of_the_least() {
    let mut path = measured(BYTE_A_US);
    assert_eq!(path.repair(), MS * 150, "100 ms are supposed");
    hear(&mut path, Came::new(1, 0, 80_000, 0));
    assert_eq!(path.repair(), MS * 120);
    // 88 ms, less the queue of 64 ms, is less than the least one.
    hear(&mut path, Came::new(2, 100_000, 244_000, 0));
    assert_eq!(path.repair(), MS * 120);
}

#[test]
fn a_flow_waits_for_a_repair_as_often_as_a_frame_begins_a_loss() {
    // One frame while a loss is repaired, and one of eight begins a loss.
    let mut path = measured(100_000);
    hear(&mut path, Came::new(0, 0, 80_000, 0));
    assert_eq!(path.blocking(), Duration::ZERO);
    tell(&mut path, 256, 1, 8);
    assert_eq!(path.blocking(), MS * 15);
}

#[test]
fn a_member_that_is_used_again_has_an_empty_queue_and_keeps_its_rate() {
    let mut path = draining();
    for _ in 0..100 {
        path.on_sent(at(360_000), FULL, Duration::ZERO);
    }
    path.resume(at(500_000));
    assert_eq!((path.release(), path.served, path.rate()), (at(500_000), at(500_000), FRAME_IN_10_MS));
    assert_eq!((path.phase, path.phase_until), (Phase::Cruise, at(500_000) + MS * 80));
    let mut path = Path::new(None);
    path.resume(at(500_000));
    assert!(!path.is_measured());
}

#[test]
fn another_path_is_measured_by_its_own_frames_alone() {
    let mut path = Path::new(None);
    path.begin_with(SeqNum(10));
    hear(&mut path, Came::new(9, 0, 50_000, 0));
    assert_eq!(path.delay().least_us(), None);
    hear(&mut path, Came::new(10, 60_000, 90_000, 0));
    assert_eq!(path.delay().least_us(), Some(30_000));
    path.forget_delays();
    assert_eq!((path.delay().least_us(), path.delay().rtt_least()), (None, Some(MS * 30)), "the clock is another");
}

#[test]
fn the_first_frame_that_came_begins_a_trains_span_unless_it_is_older() {
    let mark = |number| RateMark {
        number: SeqNum(number),
        received_us: 0,
        sent_at: Instant::ZERO,
        total: 0,
        came: 0,
        idles: 0,
    };
    let arrival = |first: Option<u32>| Arrival {
        newest: mark(9),
        first: first.map(mark),
        age_us: None,
        offset_us: 0,
        waited_since: Instant::ZERO,
    };
    let since = |first| arrival(first).first_since(SeqNum(5)).number;
    assert_eq!([since(None), since(Some(4)), since(Some(5))], [SeqNum(9), SeqNum(9), SeqNum(5)]);
}

#[test]
fn the_greatest_rates_and_lengths_are_counted_without_overflow() {
    let mut path = measured(RATE_MAX);
    // 3.02 s of 12.5 GB/s.
    hear(&mut path, Came::new(1, 0, 1_000_000, 0));
    assert_eq!(path.window(), 37_750_000_000 + 4_500);
    assert_eq!(measured(BYTE_A_US).time_for(3_000_000_000), Duration::from_secs(3_000));
}
