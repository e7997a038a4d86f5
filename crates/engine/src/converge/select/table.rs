//! The neighbour table: the state of one way, a port towards a neighbour.

use super::arrivals::Arrivals;
use super::attempts::Attempts;
use super::config::Policy;
use super::loss::{LossBySnr, LossShare};
use super::port::MilliDb;
use super::service::Beacon;
use crate::packet::TrafficClass;
use airbraid_units::{BitRate, Instant, SeqNum, metrics};

/// Number of beacons over which the share of arrivals is taken: 3.2 s of them.
const WINDOW: u32 = 32;

metrics! {
    /// The counters of a selector.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Stats {
        /// Packets given to a port or to the trunk.
        pub sent: u64,
        /// Packets among these that another port had not delivered.
        pub resent: u64 = sum,
        /// Changes of the ports that packets take.
        pub switches: u64 = sum,
        /// Beacons that were sent.
        pub beacons: u64 = sum,
        /// Packets that were dropped.
        pub dropped: u64 = sum,
        /// Longest queue \[packets\].
        pub queue_max: usize,
    }
}

/// The state of a port towards a neighbour.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Smoothed \[10^-6 dB\]: fine enough for smoothing to reach its target in integers.
    snr: Option<i64>,
    last_heard: Option<Instant>,
    /// By class: above the threshold.
    is_good: [bool; 2],
    /// As reported by the port, and when.
    rate: Option<(Instant, BitRate)>,
    /// Transmissions for a frame.
    attempts: Option<Attempts>,
    failures: u32,
    /// Beacons sent.
    pub(super) sent: SeqNum,
    /// The other end's beacons: the newest, and which of those up to it have arrived.
    newest: SeqNum,
    heard: u32,
    /// The other end's report of our beacons: the newest, and which.
    told: (SeqNum, u32),
    /// The other end's numbered frames, and its report of ours.
    arrivals: Arrivals,
    loss: LossBySnr,
}

/// Number of the last beacons that arrived, and of how many.
fn share(newest: SeqNum, heard: u32) -> Option<(u32, u32)> {
    let expected = newest.0.min(WINDOW);
    let mask = u32::MAX.checked_shr(WINDOW - expected).unwrap_or(0);
    (expected > 0).then(|| ((heard & mask).count_ones(), expected))
}

impl Way {
    pub fn snr(&self) -> Option<MilliDb> {
        self.snr.map(|snr| MilliDb((snr / 1_000) as i32))
    }
    /// The time at which anything was last heard.
    pub fn last_heard(&self) -> Option<Instant> {
        self.last_heard
    }
    /// Whether its SNR is above the threshold of a class, hysteresis included.
    pub fn is_good(&self, class: TrafficClass) -> bool {
        self.is_good[class as usize]
    }
    /// The rate that the port has reported within the last `silence`: older reports are of a way that was better or
    /// worse.
    pub fn rate(&self, now: Instant, policy: &Policy) -> Option<BitRate> {
        self.rate.filter(|(at, _)| now.saturating_since(*at) < policy.silence).map(|(_, rate)| rate)
    }

    /// The losses behind the MAC at the present SNR, as far as the other end has reported them.
    pub fn loss(&self) -> LossShare {
        self.loss.at(self.snr())
    }

    /// Transmissions that a frame and its acknowledgement need \[thousandths\]: those of the frames sent within the
    /// last `silence`, otherwise those that beacons show for both directions (De Couto et al. 2003). 1000 if nothing is
    /// known yet, `None` if nothing arrives.
    pub fn expected_transmissions(&self, now: Instant, policy: &Policy) -> Option<u64> {
        if let Some(attempts) = self.recent_attempts(now, policy) {
            return Some(attempts.smoothed(weight(policy)));
        }
        let (there, back) = (share(self.told.0, self.told.1), share(self.newest, self.heard));
        let product = |(come, of): (u32, u32), (others, of_others): (u32, u32)| {
            let (come, of) = (u64::from(come) * u64::from(others), u64::from(of) * u64::from(of_others));
            (1_000 * of).checked_div(come)
        };
        product(there.unwrap_or((1, 1)), back.unwrap_or((1, 1)))
    }

    /// Whether it can be used at all.
    pub(super) fn is_alive(&self, now: Instant, policy: &Policy) -> bool {
        let is_heard = self.last_heard.is_some_and(|at| now.saturating_since(at) < policy.silence);
        is_heard && self.failures < policy.failures
    }

    /// The time at which it will be gone if nothing is heard.
    pub(super) fn dies(&self, policy: &Policy) -> Option<Instant> {
        let is_counted = self.failures < policy.failures;
        self.last_heard.map(|at| at + policy.silence).filter(|_| is_counted)
    }

    pub(super) fn on_heard(
        &mut self,
        now: Instant,
        snr: Option<MilliDb>,
        thresholds: Option<[MilliDb; 2]>,
        policy: &Policy,
    ) {
        self.last_heard = Some(now);
        self.failures = 0;
        let Some(MilliDb(new)) = snr else {
            self.is_good = [thresholds.is_none(); 2];
            return;
        };
        let new = i64::from(new) * 1_000;
        let smoothed = self.snr.map_or(new, |old| old + (new - old) * i64::from(policy.weight.min(1_000)) / 1_000);
        self.snr = Some(smoothed);
        for (class, is_good) in self.is_good.iter_mut().enumerate() {
            // Half the hysteresis above, or below, in millionths of a decibel.
            let half = i64::from(policy.hysteresis.0) * 500 * if *is_good { -1 } else { 1 };
            *is_good = thresholds.is_none_or(|all| smoothed >= i64::from(all[class].0) * 1_000 + half);
        }
    }

    pub(super) fn on_beacon(&mut self, beacon: Beacon) {
        let ahead = beacon.number.distance_from(self.newest);
        if ahead > 0 {
            let ahead = ahead.unsigned_abs();
            self.heard = self.heard.checked_shl(ahead).unwrap_or(0) | 1;
            self.newest = beacon.number;
        } else {
            self.heard |= 1u32.checked_shl(ahead.unsigned_abs()).unwrap_or(0);
        }
        // What it tells of ours may have been overtaken, and cannot be of what was not sent.
        let is_newer = !beacon.newest.is_before(self.told.0);
        if is_newer && !beacon.newest.is_after(self.sent) {
            // Those that were sent since have not come, as far as anybody knows; the last may be on its way.
            self.told = (beacon.newest, beacon.heard);
            self.loss.on_tally(beacon.tally, self.snr());
        }
    }

    pub(super) fn next_beacon(&mut self) -> Beacon {
        self.sent = self.sent.next();
        Beacon { number: self.sent, newest: self.newest, heard: self.heard, tally: self.arrivals.tally() }
    }

    pub(super) fn on_arrived(&mut self, number: SeqNum) {
        self.arrivals.on_arrived(number);
    }

    pub(super) fn on_rate(&mut self, now: Instant, rate: BitRate) {
        self.rate = Some((now, rate));
    }

    /// A frame is finished. Frames that finish at one instant are those of one A-MPDU: together they fail once.
    pub(super) fn on_finished(&mut self, now: Instant, attempts: u32, is_delivered: bool, policy: &Policy) {
        // One that was not delivered would have taken at least as many again.
        let new = u64::from(attempts.max(1)) * if is_delivered { 1_000 } else { 2_000 };
        let before = self.recent_attempts(now, policy);
        let has_failed = before.is_some_and(|before| before.at == now && !before.is_delivered);
        let attempts = match before {
            Some(before) => before.next(now, new, is_delivered, weight(policy)),
            None => Attempts::first(now, new, is_delivered),
        };
        if attempts.is_delivered {
            self.failures = 0;
        } else if !has_failed {
            self.failures = self.failures.saturating_add(1);
        }
        self.attempts = Some(attempts);
    }

    /// Observations within the last `silence`.
    fn recent_attempts(&self, now: Instant, policy: &Policy) -> Option<Attempts> {
        self.attempts.filter(|attempts| now.saturating_since(attempts.at) < policy.silence)
    }
}

/// Weight of a new observation \[thousandths\].
fn weight(policy: &Policy) -> u64 {
    u64::from(policy.weight.min(1_000))
}

#[cfg(test)]
mod tests {
    use super::super::arrivals::Tally;
    use super::*;
    use airbraid_units::Duration;

    #[test]
    fn the_share_of_beacons() {
        assert_eq!(share(SeqNum(0), 0), None);
        assert_eq!(share(SeqNum(1), 1), Some((1, 1)));
        assert_eq!(share(SeqNum(4), 0b1011), Some((3, 4)));
        assert_eq!(share(SeqNum(100), u32::MAX >> 16), Some((16, 32)));
    }

    #[test]
    fn expected_transmissions_of_both_directions() {
        let policy = Policy::default();
        let mut way = Way::default();
        assert_eq!(way.expected_transmissions(Instant::ZERO, &policy), Some(1_000));
        way.sent = SeqNum(64);
        for number in (2..=64).step_by(2) {
            way.on_beacon(Beacon {
                number: SeqNum(number),
                newest: SeqNum(60),
                heard: u32::MAX >> 8,
                tally: Tally::default(),
            });
        }
        // Half of them come here, three quarters there.
        assert_eq!(way.expected_transmissions(Instant::ZERO, &policy), Some(2_666));
        way.on_finished(Instant::ZERO, 3, true, &policy);
        assert_eq!(way.expected_transmissions(Instant::ZERO, &policy), Some(3_000));
        let later = Instant::ZERO + Duration::from_millis(1);
        way.on_finished(later, 1, true, &policy);
        assert_eq!(way.expected_transmissions(later, &policy), Some(2_800));
    }

    #[test]
    fn smoothing_arrives() {
        let (policy, mut way) = (Policy::default(), Way::default());
        way.on_heard(Instant::ZERO, Some(MilliDb(10_000)), None, &policy);
        (0..300).for_each(|_| way.on_heard(Instant::ZERO, Some(MilliDb(-3_001)), None, &policy));
        let Some(MilliDb(snr)) = way.snr() else { panic!("heard") };
        assert!((-3_001..=-3_000).contains(&snr), "{snr}");
    }

    #[test]
    fn hysteresis_is_half_above_and_half_below() {
        let policy = Policy { weight: 1_000, hysteresis: MilliDb(2_000), ..Policy::default() };
        let mut way = Way::default();
        let thresholds = Some([MilliDb(25_000), MilliDb(30_000)]);
        let mut good = |snr| {
            way.on_heard(Instant::ZERO, Some(MilliDb(snr)), thresholds, &policy);
            way.is_good
        };
        let seen: Vec<_> = [25_999, 26_000, 24_000, 23_999, 31_000, 29_000, 28_999].map(&mut good).to_vec();
        let (no, bulk, both) = ([false; 2], [true, false], [true; 2]);
        assert_eq!(seen, [no, bulk, bulk, no, both, both, bulk]);
    }

    /// Three frames in a row that were not delivered end a way: nothing is left for its silence to end.
    #[test]
    fn a_way_that_has_failed_too_often_dies_no_second_time() {
        let (policy, mut way) = (Policy { failures: 3, ..Policy::default() }, Way::default());
        assert_eq!(way.dies(&policy), None, "never heard");
        way.on_heard(Instant::ZERO, None, None, &policy);
        for failures in 1..=3 {
            assert_eq!(
                (way.is_alive(Instant::ZERO, &policy), way.dies(&policy)),
                (true, Some(Instant::ZERO + policy.silence))
            );
            let now = Instant::ZERO + Duration::from_millis(failures);
            // The MPDUs of an A-MPDU fail together.
            (0..64).for_each(|_| way.on_finished(now, 7, false, &policy));
            assert_eq!(u64::from(way.failures), failures);
        }
        assert_eq!((way.is_alive(Instant::ZERO, &policy), way.dies(&policy)), (false, None));
    }
}
