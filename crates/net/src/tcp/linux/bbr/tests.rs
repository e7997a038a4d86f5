use super::*;

const MSS: u64 = 1_448;
/// Round trip of the path, and segments that it carries in one: 10 segments/ms.
const RTT: Duration = Duration::from_millis(20);
const PRODUCT: u64 = 200;

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}
fn begun() -> Bbr {
    let mut bbr = Bbr::new(MSS, 10);
    bbr.begin(Instant::ZERO, 10, Some(RTT), Some(RTT));
    bbr
}
/// Pace of a window of segments, with headers, in a round trip of the path \[byte/s\].
fn pace(window: f64) -> f64 {
    window * (MSS + HEADERS) as f64 / RTT.as_secs_f64()
}

/// Acknowledges `each` segments every `each`/10 ms while the network holds what the pace gives it; returns windows
/// and paces.
fn cruise(bbr: &mut Bbr, acks: u64, each: u64) -> Vec<(u64, u64)> {
    let mut window = 2 * PRODUCT;
    let mut step = |n: u64| {
        let (now, delivered) = (at(n * each * 100), n * each);
        let prior = delivered.saturating_sub(PRODUCT);
        let sample = Sample { delivered: PRODUCT, prior, interval: Some(RTT), is_limited: false };
        let pipe = PRODUCT * bbr.pacing_gain / UNIT + 3 * bbr.burst() + 4;
        let ack = Ack {
            now,
            delivered,
            acked: each,
            lost: 0,
            sample: Some(sample),
            rtt: Some(RTT),
            prior_pipe: pipe,
            pipe,
            busy_until: now,
            phase: Phase::Open,
        };
        window = bbr.on_ack(window, &ack);
        (window, bbr.pacing_rate())
    };
    (1..=acks).map(&mut step).collect()
}

#[test]
fn the_first_window_leaves_at_the_pace_of_startup() {
    // 2 / ln 2 windows a round trip, less a hundredth.
    let bbr = begun();
    let expected = pace(10.0) * 2.885 * 0.99;
    assert!((bbr.pacing_rate() as f64 / expected - 1.0).abs() < 0.01, "{} of {expected}", bbr.pacing_rate());
    // Without a round trip in a millisecond.
    let mut other = Bbr::new(MSS, 10);
    other.begin(Instant::ZERO, 10, None, None);
    assert!((other.pacing_rate() as f64 / (expected * 20.0) - 1.0).abs() < 0.01, "{}", other.pacing_rate());
}

#[test]
fn a_full_path_is_paced_at_its_rate_and_tried_a_quarter_above_and_below() {
    let mut bbr = begun();
    let seen = cruise(&mut bbr, 4_000, 1);
    assert_eq!(bbr.mode, Mode::Bandwidth);
    assert!(bbr.delivers(20_000).abs_diff(PRODUCT) <= 1, "{}", bbr.delivers(20_000));
    let mut paces: Vec<u64> = seen[2_000..].iter().map(|&(_, pace)| pace).collect();
    paces.sort_unstable();
    paces.dedup();
    assert_eq!(paces.len(), 3, "{paces:?}");
    for (ours, gain) in paces.iter().zip([0.75, 1.0, 1.25]) {
        assert!((*ours as f64 / (pace(PRODUCT as f64) * gain * 0.99) - 1.0).abs() < 0.01, "{paces:?}");
    }
}

#[test]
fn a_window_is_two_products_and_what_acknowledgements_bring_at_once() {
    let last = |each| {
        let mut bbr = begun();
        let seen = cruise(&mut bbr, 8_000 / each, each);
        (seen.last().unwrap().0, bbr.burst(), bbr.excess_allowed())
    };
    let (single, burst, excess) = last(1);
    assert!(excess <= 3, "{excess}");
    assert!((2 * PRODUCT..=2 * PRODUCT + 3 * burst + 4).contains(&single), "{single}, bursts of {burst}");
    // Forty at once, held back for 4 ms: they would stall a window that does not count them.
    let (held, _, excess) = last(40);
    assert!((39..=43).contains(&excess), "{excess}");
    assert!(held >= single + 30, "{held} after {single}");
}

#[test]
fn no_cycle_begins_at_the_gain_below_one() {
    let mut begins = std::collections::BTreeSet::new();
    for us in 0..100 {
        let mut bbr = begun();
        bbr.cruise(at(us));
        begins.insert(CYCLE[bbr.cycle]);
    }
    assert_eq!(begins.into_iter().collect::<Vec<_>>(), [UNIT, UNIT * 5 / 4]);
}

#[test]
fn startup_leaves_at_nearly_three_times_the_rate_that_it_sees() {
    let mut bbr = begun();
    let (_, seen) = cruise(&mut bbr, 1, 1)[0];
    assert_eq!(bbr.mode, Mode::Startup);
    let expected = pace(PRODUCT as f64) * 2.885 * 0.99;
    assert!((seen as f64 / expected - 1.0).abs() < 0.01, "{seen} of {expected}");
}

/// An acknowledgement that ends a round trip at `rate` segments/ms, with `pipe` segments in the network.
fn end_round(bbr: &mut Bbr, now: Instant, rate: u64, pipe: u64) {
    let delivered = bbr.round_end + 100;
    let interval = Some(Duration::from_millis(100 / rate));
    let sample = Some(Sample { delivered: 100, prior: bbr.round_end, interval, is_limited: false });
    let (rtt, phase) = (Some(RTT), Phase::Open);
    let ack = Ack { now, delivered, acked: 100, lost: 0, sample, rtt, prior_pipe: pipe, pipe, busy_until: now, phase };
    bbr.on_ack(200, &ack);
}

#[test]
fn a_rate_counts_for_ten_round_trips() {
    let mut bbr = begun();
    end_round(&mut bbr, at(0), 10, 200);
    for round in 1..=12 {
        end_round(&mut bbr, at(20_000 * round), 5, 200);
        let expected: u64 = if round <= 10 { 200 } else { 100 };
        assert!(bbr.delivers(20_000).abs_diff(expected) <= 1, "{round} round trips later");
    }
}

#[test]
fn the_round_trip_is_measured_once_the_network_is_all_but_empty() {
    let mut bbr = begun();
    end_round(&mut bbr, at(10_000_000), 10, 200);
    assert!(!bbr.is_looking(), "ten seconds are not over");
    end_round(&mut bbr, at(10_020_000), 10, 200);
    assert!(bbr.is_looking() && bbr.look_until.is_none(), "the path is full");
    end_round(&mut bbr, at(10_040_000), 10, 5);
    assert_eq!(bbr.look_until, None);
    end_round(&mut bbr, at(10_060_000), 10, 4);
    assert_eq!(bbr.look_until, Some(at(10_260_000)), "for 200 ms");
}

#[test]
fn after_a_pause_the_round_trip_is_measured_again_once_data_have_come_back() {
    let mut bbr = begun();
    bbr.on_restart(at(10_010_000), 10);
    assert!(!bbr.is_looking());
    end_round(&mut bbr, at(10_020_000), 10, 20);
    assert!(!bbr.is_looking(), "the pause has emptied the path: no need to");
    end_round(&mut bbr, at(20_100_000), 10, 200);
    assert!(bbr.is_looking(), "ten seconds after that");
}

#[test]
fn a_pipe_is_full_after_three_rounds_in_which_the_rate_has_grown_by_less_than_a_quarter() {
    let mut bbr = begun();
    let ack = Ack {
        now: Instant::ZERO,
        delivered: 0,
        acked: 0,
        lost: 0,
        sample: None,
        rtt: None,
        prior_pipe: 0,
        pipe: 0,
        busy_until: Instant::ZERO,
        phase: Phase::Open,
    };
    bbr.is_round_start = true;
    bbr.full_rate = bbr.rate() * 4 / 5;
    bbr.check_full(&ack);
    assert_eq!((bbr.full_rate, bbr.full_rounds), (bbr.rate(), 0), "a quarter more");
    bbr.full_rate = bbr.rate() * 4 / 5 + 1;
    let full = [(); 3].map(|()| {
        bbr.check_full(&ack);
        bbr.is_full
    });
    assert_eq!(full, [false, false, true]);
}

/// A recovery saves the window before it, or the greatest since.
#[test]
fn the_window_before_trouble_is_saved() {
    let mut bbr = begun();
    let mut saves = |phase, mode, window| {
        (bbr.phase, bbr.mode) = (phase, mode);
        bbr.save_window(window);
        bbr.prior_window
    };
    assert_eq!((saves(Phase::Open, Mode::Startup, 50), saves(Phase::Disorder, Mode::Bandwidth, 30)), (50, 30));
    assert_eq!((saves(Phase::Recovery, Mode::Bandwidth, 20), saves(Phase::Loss, Mode::Bandwidth, 60)), (30, 60));
    assert_eq!((saves(Phase::Open, Mode::RoundTrip, 4), saves(Phase::Open, Mode::Drain, 4)), (60, 4));
}

fn ack_in(phase: Phase, lost: u64, pipe: u64) -> Ack {
    Ack {
        now: at(0),
        delivered: 77,
        acked: 3,
        lost,
        sample: None,
        rtt: None,
        prior_pipe: pipe,
        pipe,
        busy_until: at(0),
        phase,
    }
}

/// A recovery begins with what is in the network and what has arrived, answers each arrival, and gives the window
/// back at its end.
#[test]
fn in_a_recovery_what_arrives_leaves() {
    let mut bbr = begun();
    bbr.save_window(100);
    let mut window = 100;
    assert!(bbr.recover(&mut window, &ack_in(Phase::Recovery, 5, 60)));
    assert_eq!((window, bbr.round_end), (63, 77));
    assert!(bbr.recover(&mut window, &ack_in(Phase::Recovery, 2, 70)));
    assert_eq!(window, 73, "as many as leave and are there");
    window = 90;
    assert!(bbr.recover(&mut window, &ack_in(Phase::Recovery, 2, 50)));
    assert_eq!(window, 88, "less what is lost");
    bbr.conserves = false;
    assert!(!bbr.recover(&mut window, &ack_in(Phase::Recovery, 0, 95)));
    assert_eq!(window, 88, "after a round trip it is left alone");
    assert!(!bbr.recover(&mut window, &ack_in(Phase::Open, 0, 50)));
    assert_eq!((window, bbr.phase), (100, Phase::Open));
    assert!(!bbr.recover(&mut window, &ack_in(Phase::Disorder, 200, 50)));
    assert_eq!(window, 1, "one at least");
    // From a timeout into a recovery it begins as from anywhere else.
    bbr.phase = Phase::Loss;
    assert!(bbr.recover(&mut window, &ack_in(Phase::Recovery, 0, 9)) && window == 12);
}

/// Below its target, or before the initial window has come, it grows by what arrives; a full pipe ends at the
/// target.
#[test]
fn a_window_grows_to_its_target() {
    let next = |is_full, window, delivered| {
        let mut bbr = begun();
        // The product is unknown: the initial window of 10.
        (bbr.least, bbr.is_full, bbr.phase) = (None, is_full, Phase::Open);
        let target = bbr.with_bursts(10);
        let ack = Ack { delivered, ..ack_in(Phase::Open, 0, 5) };
        (bbr.next_window(window, &ack), target)
    };
    let target = next(false, 1, 0).1;
    assert_eq!((next(false, target - 1, 77).0, next(false, target, 77).0), (target + 2, target));
    assert_eq!((next(false, target, 9).0, next(false, target, 10).0), (target + 3, target));
    assert_eq!((next(true, target - 1, 77).0, next(true, target - 4, 77).0), (target, target - 1));
    assert_eq!(next(false, 0, 77).0, WINDOW_MIN);
    let mut bbr = begun();
    bbr.mode = Mode::RoundTrip;
    let idle = Ack { acked: 0, ..ack_in(Phase::Open, 0, 5) };
    assert_eq!((bbr.next_window(100, &idle), bbr.next_window(2, &idle)), (WINDOW_MIN, 2));
    bbr.mode = Mode::Bandwidth;
    assert_eq!(bbr.next_window(100, &idle), 100);
}

/// At 1 a gain lasts for the least round trip; above, until the network holds so much or loses; below, until it
/// holds the product.
#[test]
fn a_gain_lasts_until_it_has_had_its_effect() {
    let goes = |gain: u64, us: u64, lost: u64, pipe: u64| {
        let mut bbr = begun();
        (bbr.mode, bbr.cycle, bbr.cycle_at) = (Mode::Bandwidth, 3, at(0));
        bbr.rates.push_back((0, (10 << RATE_UNIT) / 1_000));
        bbr.pacing_gain = gain;
        let ack = Ack { now: at(us), lost, prior_pipe: pipe, busy_until: at(us), ..ack_in(Phase::Open, lost, pipe) };
        bbr.go_round(&ack);
        assert_eq!(bbr.cycle_at == at(us), bbr.cycle == 4);
        bbr.cycle == 4
    };
    assert_eq!((goes(UNIT, 20_000, 0, 0), goes(UNIT, 20_001, 0, 999)), (false, true));
    let (up, down) = (CYCLE[0], CYCLE[1]);
    let mut bbr = begun();
    bbr.rates.push_back((0, (10 << RATE_UNIT) / 1_000));
    bbr.mode = Mode::Bandwidth;
    bbr.cycle = 3;
    let (full, product) = (bbr.in_network(up), bbr.in_network(UNIT));
    // With a gain above one what a burst adds counts.
    let more = full - bbr.burst();
    assert_eq!((goes(up, 20_001, 0, more - 1), goes(up, 20_001, 0, more)), (false, true));
    assert_eq!((goes(up, 20_001, 1, 0), goes(up, 20_000, 1, more)), (true, false));
    assert_eq!((goes(down, 1, 0, product), goes(down, 1, 0, product + 1)), (true, false));
    assert!(goes(down, 20_001, 0, product + 1));
    let mut last = begun();
    (last.mode, last.cycle, last.pacing_gain) = (Mode::Bandwidth, 7, UNIT);
    last.go_round(&Ack { now: at(20_001), ..ack_in(Phase::Open, 0, 0) });
    assert_eq!(last.cycle, 0, "the last is followed by the first");
}

/// Three bursts more, to an even number; two more in the first phase of a cycle.
#[test]
fn a_window_has_room_for_bursts() {
    let with = |mode, cycle| {
        let mut bbr = begun();
        (bbr.mode, bbr.cycle, bbr.pacing_rate) = (mode, cycle, ONE_AT_ONCE - 1);
        assert_eq!(bbr.burst(), 1);
        [10, 11].map(|window| bbr.with_bursts(window))
    };
    assert_eq!(
        [with(Mode::Bandwidth, 0), with(Mode::Bandwidth, 1), with(Mode::Startup, 0)],
        [[16, 16], [14, 14], [14, 14]]
    );
    let burst = |pace: u64| {
        let mut bbr = begun();
        bbr.pacing_rate = pace;
        bbr.burst()
    };
    assert_eq!([ONE_AT_ONCE, 1_024 * MSS * 5, u64::MAX].map(burst), [2, 5, BURST_MAX]);
}

/// Arrivals above the rate are counted from when they fall behind it, for five to ten round trips.
#[test]
fn arrivals_above_the_rate_are_counted() {
    let mut bbr = begun();
    // 10 segments a millisecond.
    bbr.rates.push_back((0, (10 << RATE_UNIT) / 1_000));
    let sample = Some(Sample { delivered: 1, prior: 0, interval: Some(RTT), is_limited: true });
    let come = |bbr: &mut Bbr, us: u64, acked: u64, window: u64| {
        let ack = Ack { now: at(us), acked, sample, ..ack_in(Phase::Open, 0, 5) };
        bbr.learn_excess(window, &ack);
        (bbr.epoch_acked, bbr.excess[bbr.excess_index])
    };
    assert_eq!(come(&mut bbr, 0, 30, 1_000), (30, 30));
    // After a millisecond 10 are expected, of which there were 30 and come 20.
    assert_eq!(come(&mut bbr, 1_001, 20, 1_000), (50, 40));
    assert_eq!(come(&mut bbr, 2_001, 20, 45), (70, 45), "no more than the window");
    // 70 have come by 7 ms, as many as are expected: it begins again.
    assert_eq!(come(&mut bbr, 7_101, 5, 1_000), (5, 45));
    bbr.is_round_start = true;
    let rounds = [(); 5].map(|()| come(&mut bbr, 7_101, 1, 1_000).1);
    assert_eq!((rounds[3], rounds[4], bbr.excess_index), (45, 10, 1), "the fifth begins the other count");
    assert_eq!(bbr.excess, [45, 10]);
}
