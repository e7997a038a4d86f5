//! Equalises the delay of a flow whose sender would otherwise never use a slower member.
//!
//! A slower member serves a flow of which enough waits. A sender that fills its window until a loss has that soon. BBR
//! has twice its rate times the shortest round trip under way, which is that of the fastest member: it fills this one,
//! and no more. But every ten seconds it measures the shortest round trip again, with four packets under way. If its
//! packets have the delay of the slower member then, it takes the window that both members need.
//!
//! So a flow that fills the fastest member, or some of them, and of which too little waits, is tried when its shortest
//! round trip expires: the delay of its packets grows to that of the slowest member that is worth it, and each waits
//! that time for the fastest one; a slower one takes the newest. It stays so while the flow carries more than those
//! could that it filled.

use super::targets::Step;
use airbraid_units::{Duration, Instant};

/// BBR's window while it measures the shortest round trip \[packets\] (`bbr_cwnd_min_target`).
const MEASURING: usize = 4;
/// Time for which so few wait at most while it measures: BBR's is 200 ms (`bbr_probe_rtt_mode_ms`).
const MEASURED: Duration = Duration::from_millis(150);
/// Life of BBR's shortest round trip (`bbr_min_rtt_win_sec`).
const LIFE: Duration = Duration::from_secs(10);
/// Time over which a flow's rate is counted: some tens of packets at a megabit a second, and longer than slow start.
const SPAN: Duration = Duration::from_millis(500);
/// Sixteenths of the members' rate from which on a flow fills them: the bond's own header is 5 % of a full packet, and
/// BBR drains its queue in one of eight round trips.
const FULL: u64 = 14;
/// Sixteenths of the rate of the members that a flow filled, and an eighth more, that it must carry for its delay to
/// stay: more than it could carry without.
const MORE: u64 = 15;
/// Time for which a flow still counts as filling: BBR sends next to nothing for 200 ms and a round trip.
const LASTS: Duration = Duration::from_secs(2);
/// Most by which the tunnel lets a round trip grow at once, half of the time by which Linux's timer exceeds it
/// (`TCP_RTO_MIN`): a sender whose round trip were longer by more would hold everything for lost.
pub const TIMER_MARGIN: Duration = Duration::from_millis(100);
/// Then it grows by a second in two. In each of the few round trips until then BBR forgets a tenth of the rate that it
/// has measured.
const RAMP: u64 = 2;
/// Time by which a held packet may leave late by a slower member, and by which that member may be later than the delay
/// is equal for: hosts and radios send in bursts of that length.
pub const LATE: Duration = Duration::from_millis(20);
/// Length of a trial beside [`LASTS`], in times of the delay: two to measure, and six to double a window of which the
/// shortest round trip is a sixtieth.
const DELAYS: u64 = 8;

/// The state of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Equaliser {
    begun: Instant,
    /// Begin of the present count, and its bytes.
    since: Instant,
    bytes: u64,
    /// Time until which it counts as filling faster members, and the rate of those that it fills \[bit/s\].
    full_until: Instant,
    filled: u64,
    /// Whether it fills the slower ones, too.
    has_all: bool,
    /// Most packets that waited in the present count, and in the one before.
    most: (usize, usize),
    /// Time since which no more than [`MEASURING`] packets have waited, after at least twice as many.
    few_since: Option<Instant>,
    /// Time at which its shortest round trip is measured next.
    trial_at: Instant,
    /// Whether it has been seen to measure it.
    measures: bool,
    /// Time since which its delay grows, or is equal.
    on_since: Option<Instant>,
}

impl Equaliser {
    /// A flow begins.
    pub fn new(now: Instant) -> Self {
        Self { begun: now, since: now, trial_at: now.saturating_add(LIFE), ..Self::default() }
    }

    /// The delay of a flow's packets has been equal since the beginning of time.
    #[cfg(test)]
    pub fn on() -> Self {
        Self { full_until: Instant::MAX, on_since: Some(Instant::ZERO), ..Self::default() }
    }

    /// A packet of the flow leaves, which is one of `flows` and may use the members of these steps.
    pub fn on_taken(&mut self, now: Instant, len: u64, steps: &[Step], flows: u64) {
        self.bytes += len;
        let span = now.saturating_since(self.since);
        if span < SPAN {
            return;
        }
        let carried = u128::from(self.bytes) * u128::from(flows) * 8_000_000 * 16;
        let carries = |wanted: u64| carried >= u128::from(wanted) * u128::from(span.as_micros());
        let more = steps.last().map_or(0, |last| last.all().saturating_sub(self.filled));
        let is_full = if self.is_on() {
            // While there is no slower member, as when a faster one fails for a moment, an equalised flow stays so.
            more == 0 || carries((self.filled + more.min(self.filled) / 8) * MORE)
        } else {
            // The nearest member alone, too: the step of a thin one behind it is missing where a later is worth more.
            let alone = steps.first().filter(|step| step.faster == 0).map(|step| step.rate);
            let filled = steps.iter().map(|step| step.faster).chain(alone);
            let filled = filled.filter(|&rate| rate > 0 && carries(rate * FULL));
            self.filled = filled.max().unwrap_or(self.filled);
            self.filled > 0 && carries(self.filled * FULL)
        };
        if is_full {
            self.full_until = self.full_until.max(now.saturating_add(LASTS));
        }
        self.has_all = more > 0 && carries((self.filled + more) * FULL) && carries((self.filled + more / 2) * MORE);
        (self.since, self.bytes, self.most) = (now, 0, (0, self.most.0));
    }

    /// Time for which a packet of the flow must have waited before the fastest member takes it; `waiting` packets wait,
    /// `bytes` in all.
    pub fn hold(&mut self, now: Instant, (waiting, bytes): (usize, u64), step: &Step) -> Duration {
        if self.full_until <= now {
            (self.few_since, self.on_since) = (None, None);
            return Duration::ZERO;
        }
        if self.on_since.is_none() {
            self.look(now, waiting);
            if !step.later.is_zero() {
                self.consider_trial(now, bytes, step);
            }
        }
        self.grown(now, step).unwrap_or(Duration::ZERO)
    }

    /// The delay that its packets have so far, if it grows or is equal.
    fn grown(&self, now: Instant, step: &Step) -> Option<Duration> {
        Some(step.later.min(TIMER_MARGIN + now.saturating_since(self.on_since?) / RAMP))
    }

    /// Looks whether the sender measures its shortest round trip, while `waiting` packets wait.
    fn look(&mut self, now: Instant, waiting: usize) {
        self.most.0 = self.most.0.max(waiting);
        if waiting > MEASURING || !self.has_many() {
            self.few_since = None;
        } else if now.saturating_since(*self.few_since.get_or_insert(now)) >= MEASURED
            && now.saturating_since(self.begun) >= LIFE
        {
            (self.trial_at, self.measures) = (now.saturating_add(LIFE), true);
        }
    }

    /// Whether so much has waited of late that it shows when few do.
    fn has_many(&self) -> bool {
        self.most.0.max(self.most.1) >= 2 * MEASURING
    }

    /// Whether it has shown that the sender measures, or would.
    fn shows(&self) -> bool {
        self.measures || self.has_many()
    }

    /// Tries the slower member, if too little waits for it, and if it is worth the trial: the flow will last about as
    /// long as it has lasted, and carries next to nothing for as long as a trial takes. That is longer where nobody
    /// has seen when the shortest round trip expires; for the first time it does so [`LIFE`] after the flow has begun.
    fn consider_trial(&mut self, now: Instant, bytes: u64, step: &Step) {
        let lead = ramp(step.later) + step.rtt;
        let is_first = self.trial_at == self.begun.saturating_add(LIFE) && now <= self.trial_at;
        let is_known = self.shows() || is_first;
        let unknown = if is_known { Duration::ZERO } else { LIFE };
        if now.saturating_add(lead + unknown) < self.trial_at {
            return;
        }
        let lasts = LASTS + lead + step.later * DELAYS + unknown;
        let age = now.saturating_since(self.begun);
        // With all members it takes `filled / all` of the time.
        let is_worth = u128::from((age + lead).as_micros()) * u128::from(step.all().saturating_sub(self.filled))
            >= u128::from(lasts.as_micros()) * u128::from(step.all());
        if !is_worth {
            if now >= self.trial_at {
                self.trial_at = now.saturating_add(LIFE);
            }
            return;
        }
        // Where it does not show that it measures, the next trial is at twice the age.
        self.trial_at = if self.shows() { Instant::MAX } else { now.saturating_add(age) };
        let ahead = u128::from(self.filled) * u128::from(step.later.as_micros()) / 8_000_000;
        // A sender that measures may keep just as much waiting as the slower member needs, for a while.
        if u128::from(bytes) < ahead * 2 && !self.has_all {
            self.on_since = Some(now);
            self.full_until = now.saturating_add(lasts);
        }
    }

    /// Whether the delay of its packets grows, or is equal.
    pub const fn is_on(&self) -> bool {
        self.on_since.is_some()
    }

    /// The same for a slower member that is `later` than the fastest: `None` unless the delay is equalised as far. What
    /// a farther one carried would hold up all that follows.
    pub fn hold_for(&self, now: Instant, later: Duration, step: &Step) -> Option<Duration> {
        let hold = self.grown(now, step)?;
        let is_farther = later > step.later + LATE;
        (!is_farther && hold >= later.min(step.later)).then(|| hold.saturating_sub(later))
    }
}

/// Time until the delay has grown as far.
fn ramp(later: Duration) -> Duration {
    later.saturating_sub(TIMER_MARGIN) * RAMP
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    /// A flow that may use a member of 50 ms more behind 80 Mbit/s: 500 kB should wait.
    const STEP: Step = Step {
        from: 0,
        target: Duration::ZERO,
        later: Duration::from_millis(50),
        faster: 80_000_000,
        rate: 40_000_000,
        rtt: Duration::ZERO,
    };

    /// Lets a flow go on at `mbps` until `until` \[ms\]; so much waits all the time. Gives the longest hold.
    fn go_on(equaliser: &mut Equaliser, now: &mut Instant, until: u64, mbps: u64, waits: (usize, u64)) -> Duration {
        go_on_with(&STEP, equaliser, now, until, mbps, waits)
    }

    fn go_on_with(
        step: &Step,
        equaliser: &mut Equaliser,
        now: &mut Instant,
        until: u64,
        mbps: u64,
        waits: (usize, u64),
    ) -> Duration {
        let mut longest = Duration::ZERO;
        while *now < Instant::ZERO + MS * until {
            *now += MS;
            equaliser.on_taken(*now, mbps * 125, std::slice::from_ref(step), 1);
            longest = longest.max(equaliser.hold(*now, waits, step));
        }
        longest
    }

    #[test]
    fn a_flow_that_fills_the_near_member_and_has_little_waiting_is_tried_after_ten_seconds() {
        // 150 ms more: 1.5 MB should wait.
        let step = Step { later: MS * 150, rtt: MS * 200, rate: STEP.faster, ..STEP };
        let (mut equaliser, mut now) = (Equaliser::new(Instant::ZERO), Instant::ZERO);
        let few = (20, 30_000);
        // A trial begins before the shortest round trip expires: a round trip, and the time in which its delay grows.
        assert_eq!(go_on_with(&step, &mut equaliser, &mut now, 9_690, 80, few), Duration::ZERO);
        assert_eq!(equaliser.hold_for(now, MS * 150, &step), None);
        go_on_with(&step, &mut equaliser, &mut now, 9_720, 80, few);
        let begun = equaliser.hold(now, few, &step);
        assert!((TIMER_MARGIN..MS * 125).contains(&begun), "{begun}: it grows slowly");
        assert_eq!(go_on_with(&step, &mut equaliser, &mut now, 20_000, 100, (1_000, 1_500_000)), step.later);
        assert_eq!(equaliser.hold_for(now, MS * 150, &step), Some(Duration::ZERO));
        assert_eq!(equaliser.hold_for(now, MS * 130, &step), Some(MS * 20));
    }

    #[test]
    fn a_trial_waits_until_it_is_worth_its_time() {
        // A twentieth more, for a trial of 2.4 s in which little comes: after 50.4 s.
        let step = Step { rate: STEP.faster / 20, ..STEP };
        let (mut equaliser, mut now) = (Equaliser::new(Instant::ZERO), Instant::ZERO);
        assert_eq!(go_on_with(&step, &mut equaliser, &mut now, 50_300, 76, (20, 30_000)), Duration::ZERO);
        assert_eq!(go_on_with(&step, &mut equaliser, &mut now, 60_000, 76, (20, 30_000)), step.later);
    }

    #[test]
    fn a_flow_that_fills_both_members_or_will_is_not_tried() {
        // 500 kB should wait.
        for (mbps, waits) in [(80, (800, 1_100_000)), (110, (200, 260_000))] {
            let (mut equaliser, mut now) = (Equaliser::new(Instant::ZERO), Instant::ZERO);
            assert_eq!(go_on(&mut equaliser, &mut now, 60_000, mbps, waits), Duration::ZERO);
            assert_eq!(equaliser.hold_for(now, MS * 50, &STEP), None);
        }
    }

    #[test]
    fn a_flow_that_would_not_show_that_it_measures_is_tried_for_longer_after_the_first_time() {
        let (mut equaliser, mut now) = (Equaliser::new(Instant::ZERO), Instant::ZERO);
        let few = (MEASURING + 1, 7_000);
        assert_eq!(go_on(&mut equaliser, &mut now, 9_990, 79, few), Duration::ZERO);
        assert_eq!(go_on(&mut equaliser, &mut now, 12_300, 79, few), STEP.later);
        go_on(&mut equaliser, &mut now, 12_500, 79, few);
        // A trial of 2.4 s and the life of its shortest round trip, for half as much again: after 37.2 s.
        assert_eq!(go_on(&mut equaliser, &mut now, 37_100, 79, few), Duration::ZERO);
        assert_eq!(go_on(&mut equaliser, &mut now, 49_500, 79, few), STEP.later);
        go_on(&mut equaliser, &mut now, 49_700, 79, few);
        // Its shortest round trip expires between this one and twice the age.
        assert_eq!(go_on(&mut equaliser, &mut now, 64_300, 79, few), Duration::ZERO);
        assert_eq!(go_on(&mut equaliser, &mut now, 76_700, 79, few), STEP.later);
    }

    #[test]
    fn a_flow_that_leaves_room_is_never_held() {
        let (mut equaliser, mut now) = (Equaliser::new(Instant::ZERO), Instant::ZERO);
        assert_eq!(go_on(&mut equaliser, &mut now, 60_000, 69, (1, 1_500)), Duration::ZERO);
    }

    #[test]
    fn a_constant_rate_that_the_near_member_carries_is_delayed_for_one_trial() {
        let (mut equaliser, mut now) = (Equaliser::new(Instant::ZERO), Instant::ZERO);
        assert_eq!(go_on(&mut equaliser, &mut now, 9_800, 79, (20, 30_000)), Duration::ZERO);
        assert_eq!(go_on(&mut equaliser, &mut now, 12_300, 79, (20, 30_000)), STEP.later);
        go_on(&mut equaliser, &mut now, 12_500, 79, (20, 30_000));
        assert_eq!(go_on(&mut equaliser, &mut now, 60_000, 79, (20, 30_000)), Duration::ZERO);
    }

    #[test]
    fn a_trial_that_fails_is_repeated_only_after_the_flow_has_measured() {
        let (mut equaliser, mut now) = (Equaliser::new(Instant::ZERO), Instant::ZERO);
        go_on(&mut equaliser, &mut now, 11_000, 80, (20, 30_000));
        assert!(equaliser.on_since.is_some());
        // It stays at half of what the near member carries.
        go_on(&mut equaliser, &mut now, 16_000, 40, (20, 30_000));
        assert!(equaliser.on_since.is_none());
        assert_eq!(go_on(&mut equaliser, &mut now, 60_000, 80, (20, 30_000)), Duration::ZERO);
        // It measures: four packets, for 200 ms.
        go_on(&mut equaliser, &mut now, 60_200, 0, (4, 6_000));
        go_on(&mut equaliser, &mut now, 69_000, 80, (20, 30_000));
        assert!(equaliser.on_since.is_none());
        go_on(&mut equaliser, &mut now, 70_500, 80, (20, 30_000));
        assert!(equaliser.on_since.is_some());
    }

    #[test]
    fn a_flow_that_fills_the_only_member_is_tried_with_another_when_it_is_seen_to_measure_next() {
        let alone = Step { later: Duration::ZERO, faster: 0, rate: STEP.faster, ..STEP };
        let tried_at = |waits| {
            let (mut equaliser, mut now) = (Equaliser::new(Instant::ZERO), Instant::ZERO);
            go_on_with(&alone, &mut equaliser, &mut now, 20_000, 80, waits);
            go_on_with(&alone, &mut equaliser, &mut now, 20_200, 0, (4, 6_000));
            assert_eq!(go_on_with(&alone, &mut equaliser, &mut now, 23_000, 80, waits), Duration::ZERO);
            let both = |until: u64| {
                let (mut equaliser, mut now) = (equaliser, now);
                go_on_with(&STEP, &mut equaliser, &mut now, until, 80, waits);
                equaliser.is_on()
            };
            (23_001..60_000).step_by(100).find(|until| both(*until))
        };
        assert_eq!(tried_at((20, 30_000)), Some(30_201), "ten seconds after it measured");
        assert_eq!(tried_at((5, 7_000)), Some(37_201), "unseen, for ten seconds more: a third of 37 s");
    }

    #[test]
    fn a_flow_that_fills_the_nearest_of_several_is_tried_with_all() {
        let near = Step { later: Duration::ZERO, faster: 0, rate: 6_000_000, ..STEP };
        let middle = Step { later: MS * 20, faster: 6_000_000, rate: 60_000_000, ..STEP };
        let far = Step { later: MS * 45, faster: 66_000_000, rate: 30_000_000, ..STEP };
        let longest = |mbps: u64, steps: &[Step]| {
            let (mut equaliser, mut longest) = (Equaliser::new(Instant::ZERO), Duration::ZERO);
            for ms in 1..12_000 {
                let now = Instant::ZERO + MS * ms;
                equaliser.on_taken(now, mbps * 125, steps, 1);
                longest = longest.max(equaliser.hold(now, (12, 17_000), &far));
            }
            longest
        };
        let all = [near, middle, far];
        assert_eq!(longest(6, &all), far.later);
        assert_eq!(longest(65, &all), far.later);
        assert_eq!(longest(5, &all), Duration::ZERO, "it leaves room");
        // The terms with the middle one are left out where the far one is worth more.
        assert_eq!(longest(6, &[near, far]), far.later);
        assert_eq!(longest(5, &[near, far]), Duration::ZERO, "it leaves room");
    }

    #[test]
    fn a_flow_fills_a_member_from_seven_eighths_of_its_rate_on() {
        for (mbps, flows, is_full) in [(69, 1, false), (70, 1, true), (34, 2, false), (35, 2, true)] {
            let mut equaliser = Equaliser::new(Instant::ZERO);
            for ms in 1..=500 {
                equaliser.on_taken(Instant::ZERO + MS * ms, mbps * 125, &[STEP], flows);
            }
            let until = Instant::ZERO + if is_full { MS * 2_500 } else { Duration::ZERO };
            assert_eq!(equaliser.full_until, until, "{mbps} Mbit/s, one of {flows} flows");
        }
    }

    #[test]
    fn a_delay_grows_by_half_of_the_time_from_a_tenth_of_a_second_on() {
        let step = Step { later: MS * 150, ..STEP };
        let begun = Equaliser { on_since: Some(Instant::ZERO), full_until: Instant::MAX, ..Equaliser::default() };
        let hold = |ms: u64| begun.clone().hold(Instant::ZERO + MS * ms, (1, 1_500), &step);
        assert_eq!([0, 40, 100, 900].map(hold), [MS * 100, MS * 120, MS * 150, MS * 150]);
        // A member between waits for what it is earlier; one that is a little later takes what comes.
        let hold_for = |ms: u64, later: u64| begun.hold_for(Instant::ZERO + MS * ms, MS * later, &step);
        assert_eq!(
            [hold_for(40, 110), hold_for(40, 120), hold_for(40, 121)],
            [Some(MS * 10), Some(Duration::ZERO), None]
        );
        assert_eq!([hold_for(99, 170), hold_for(100, 170)], [None, Some(Duration::ZERO)]);
        assert_eq!(hold_for(900, 171), None, "it is farther than the delay is equal for");
        assert_eq!(Equaliser::default().hold_for(Instant::ZERO, MS, &step), None);
    }

    #[test]
    fn few_packets_for_150_ms_behind_twice_as_many_show_that_a_sender_of_ten_seconds_measures() {
        let sees = |begin_ms: u64, many: usize, few: usize, span_ms: u64| {
            let mut equaliser = Equaliser::new(Instant::ZERO);
            let begin = Instant::ZERO + MS * begin_ms;
            equaliser.look(begin, many);
            (0..=span_ms).for_each(|ms| equaliser.look(begin + MS * ms, few));
            let expires = equaliser.trial_at == begin + MS * span_ms + LIFE;
            assert_eq!(equaliser.measures, expires, "its shortest round trip is young then");
            equaliser.measures
        };
        assert!(sees(10_000, 8, 4, 150));
        assert!(!sees(10_000, 8, 4, 149), "not for as long as that");
        assert!(!sees(10_000, 8, 5, 150), "more than it would leave");
        assert!(!sees(10_000, 7, 4, 150), "as few as before");
        assert!(!sees(9_000, 8, 4, 150), "there is nothing to measure again");
    }

    /// The time at which a flow of `mbps` is tried, if so much waits all the time \[ms\].
    fn tried_at(step: &Step, mbps: u64, waits: (usize, u64)) -> Option<u64> {
        let (mut equaliser, mut now) = (Equaliser::new(Instant::ZERO), Instant::ZERO);
        (1..60_000).find(|ms| {
            go_on_with(step, &mut equaliser, &mut now, *ms, mbps, waits);
            equaliser.is_on()
        })
    }

    #[test]
    fn a_trial_begins_when_the_delay_may_grow_and_lead_back_before_the_round_trip_expires() {
        // 200 ms in a second for each two, and a round trip of 100 ms: 300 ms before; it takes 3.9 s.
        let step = Step { later: MS * 200, rtt: MS * 100, faster: 70_000_000, rate: 70_000_000, ..STEP };
        assert_eq!(tried_at(&step, 70, (20, 30_000)), Some(9_700));
        // For three tenths of the rate 3 s of 10 are too little, and 6 s of 20 are not.
        let third = Step { rate: 30_000_000, ..step };
        assert_eq!(tried_at(&third, 70, (20, 30_000)), Some(19_700));
        // Where nobody has seen when it expires, it takes 13.9 s: three tenths of 46.3 s.
        assert_eq!(tried_at(&third, 70, (5, 7_000)), Some(46_034));
    }

    #[test]
    fn a_flow_of_which_twice_enough_waits_is_not_tried() {
        // 50 ms of 80 Mbit/s: 500 kB.
        assert_eq!(tried_at(&STEP, 80, (800, 1_000_000)), None);
        assert_eq!(tried_at(&STEP, 80, (800, 999_999)), Some(10_000));
    }
}
