//! Linux's times of acknowledgement: at once at the start of a connection, after trouble and while the window grows;
//! then every second full segment, or after a delay that follows the arrivals. Reports of disorder are thinned out.
//!
//! RFC 5681 section 4.2 leaves the choice; this is the kernel's (`quickack`, `ato`, `tcp_comp_sack_*`). The receiver
//! never sends data, so it is never in the interactive mode that would end quick acknowledgements. It sends nothing
//! itself.

use airbraid_units::{Duration, Instant};

/// Segments acknowledged at once at the start (`TCP_MAX_QUICKACKS`).
const QUICK_MAX: u64 = 16;

/// The least and first delay (`TCP_ATO_MIN`, `TCP_DELACK_MIN`: 40 ms).
const DELAY_MIN: Duration = Duration::from_millis(40);

/// Reports of disorder that go at once until the gap moves (`TCP_FASTRETRANS_THRESH`).
const REPORTS_AT_ONCE: u32 = 3;

/// Largest number of reports that one stands for (`tcp_comp_sack_nr`).
const REPORTS_JOINED: u32 = 44;

/// A report is never held back longer (`tcp_comp_sack_delay_ns`), nor than a twentieth of the round trip.
const REPORT_DELAY_MAX: Duration = Duration::from_millis(1);

/// The state of one receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct Quick {
    /// Acknowledgements that still go at once.
    credit: u64,
    /// The delay for the others; zero before the first segment.
    delay: Duration,
    last: Instant,
    /// Reports of disorder since the gap moved, and those held back.
    reports: u32,
    held_back: u32,
}

impl Quick {
    /// Data came; `window` and `mss` bound the quick acknowledgements, `rto` is the sender's timeout.
    pub fn on_data(&mut self, now: Instant, window: u64, mss: u64, rto: Duration) {
        let gap = now.saturating_since(self.last);
        self.last = now;
        if self.delay.is_zero() {
            self.refill(window, mss);
            self.delay = DELAY_MIN;
        } else if gap <= DELAY_MIN / 2 {
            self.delay = self.delay / 2 + DELAY_MIN / 2;
        } else if gap < self.delay {
            self.delay = (self.delay / 2 + gap).min(rto);
        } else if gap > rto {
            // The sender has restarted and needs acknowledgements to grow.
            self.refill(window, mss);
        }
    }
    fn refill(&mut self, window: u64, mss: u64) {
        self.credit = self.credit.max((window / (2 * mss)).clamp(2, QUICK_MAX));
    }
    /// The window grew, and the sender is told at once (`tcp_grow_window`): while it grows with each segment, each is
    /// acknowledged.
    pub fn on_growth(&mut self) {
        self.credit |= 1;
    }
    /// A segment came that the receiver had: its acknowledgement must have been lost or late.
    pub fn on_trouble(&mut self, window: u64, mss: u64) {
        self.refill(window, mss);
        self.delay = DELAY_MIN;
    }

    /// Whether `unacknowledged` byte in order are acknowledged at once: more than `every` - 1 segments, or in quick
    /// mode.
    pub fn is_due(&self, unacknowledged: u64, mss: u64, every: u32) -> bool {
        self.credit > 0 || unacknowledged > u64::from(every - 1) * mss
    }
    /// Delay of an acknowledgement, at most `most`.
    pub fn delay(&self, most: Duration, rtt: Option<Duration>) -> Duration {
        let bound = rtt.map_or(most, |rtt| most.min(rtt.max(DELAY_MIN)));
        self.delay.max(Duration::from_nanos(1)).min(bound)
    }
    /// Delay of a report of disorder: zero for the first three, or if it would stand for too many.
    pub fn report_delay(&mut self, rtt: Option<Duration>) -> Duration {
        if self.reports < REPORTS_AT_ONCE {
            self.reports += 1;
            return Duration::ZERO;
        }
        self.held_back += 1;
        if self.held_back >= REPORTS_JOINED {
            return Duration::ZERO;
        }
        rtt.map_or(Duration::ZERO, |rtt| (rtt / 20).min(REPORT_DELAY_MAX))
    }
    /// Whether a report is held back.
    pub const fn holds_report(&self) -> bool {
        self.held_back > 0
    }
    pub fn on_progress(&mut self) {
        self.reports = 0;
    }
    pub fn on_sent(&mut self) {
        self.held_back = 0;
        if self.credit == 1 {
            self.delay = DELAY_MIN;
        }
        self.credit = self.credit.saturating_sub(1);
    }
    /// An acknowledgement went because the delay was over: the next may wait longer.
    pub fn on_expired(&mut self, rto: Duration) {
        self.delay = (self.delay * 2).min(rto);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }
    const RTO: Duration = Duration::from_millis(220);

    #[test]
    fn sixteen_go_at_once_then_every_second() {
        let mut quick = Quick::default();
        quick.on_data(at(1), 65_535, 1_448, RTO);
        for _ in 0..16 {
            assert!(quick.is_due(1_448, 1_448, 2));
            quick.on_sent();
        }
        assert!(!quick.is_due(1_448, 1_448, 2) && quick.is_due(1_449, 1_448, 2));
        quick.on_data(at(300), 65_535, 1_448, RTO);
        assert!(quick.is_due(1, 1_448, 2), "after a silence");
    }

    #[test]
    fn the_delay_follows_the_arrivals_between_40_and_200_ms() {
        let mut quick = Quick::default();
        let most = Duration::from_millis(200);
        quick.on_data(at(0), 65_535, 1_448, RTO);
        assert_eq!(quick.delay(most, None), Duration::from_millis(40));
        quick.on_expired(RTO);
        quick.on_expired(RTO);
        assert_eq!(quick.delay(most, None), Duration::from_millis(160));
        assert_eq!(quick.delay(most, Some(Duration::from_millis(90))), Duration::from_millis(90));
        quick.on_data(at(10), 65_535, 1_448, RTO);
        assert_eq!(quick.delay(most, None), Duration::from_millis(100), "160 / 2 + 20");
        quick.on_data(at(60), 65_535, 1_448, RTO);
        assert_eq!(quick.delay(most, None), Duration::from_millis(100), "100 / 2 + 50");
    }

    #[test]
    fn the_first_three_reports_of_disorder_go_at_once() {
        let mut quick = Quick::default();
        let rtt = Some(Duration::from_millis(10));
        assert!((0..3).all(|_| quick.report_delay(rtt).is_zero()));
        assert_eq!(quick.report_delay(rtt), Duration::from_micros(500));
        assert!((0..42).all(|_| !quick.report_delay(rtt).is_zero()));
        assert!(quick.report_delay(rtt).is_zero(), "the 44th");
        quick.on_progress();
        assert!(quick.report_delay(rtt).is_zero());
    }

    #[test]
    fn what_came_twice_is_acknowledged_at_once_again() {
        let mut quick = Quick::default();
        quick.on_data(at(1), 65_535, 1_448, RTO);
        (0..16).for_each(|_| quick.on_sent());
        quick.on_expired(RTO);
        assert!(!quick.is_due(1_448, 1_448, 2));
        quick.on_trouble(65_535, 1_448);
        assert!(quick.is_due(1, 1_448, 2), "its acknowledgement was lost or late");
        assert_eq!(quick.delay(Duration::from_millis(200), None), DELAY_MIN);
    }

    #[test]
    fn a_report_is_held_back_until_an_acknowledgement_goes() {
        let mut quick = Quick::default();
        let rtt = Some(Duration::from_millis(10));
        (0..3).for_each(|_| assert!(quick.report_delay(rtt).is_zero()));
        assert!(!quick.holds_report(), "those went at once");
        quick.report_delay(rtt);
        assert!(quick.holds_report());
        quick.on_progress();
        assert!(quick.holds_report(), "it is still to be sent");
        quick.on_sent();
        assert!(!quick.holds_report());
        // A twentieth of the round trip, a millisecond at most; without a round trip at once.
        let delays = [20, 40].map(|ms| {
            let mut quick = Quick::default();
            (0..4).map(|_| quick.report_delay(Some(Duration::from_millis(ms)))).last()
        });
        assert_eq!(delays, [Some(Duration::from_millis(1)); 2]);
        assert!((0..9).all(|_| Quick::default().report_delay(None).is_zero()));
    }

    /// Half of the window's segments, from 2 to 16; one more where the window grew.
    #[test]
    fn as_many_go_at_once_as_half_of_the_window_holds() {
        for (window, credit) in [(1_000, 2), (10_000, 5), (11_999, 5), (32_000, 16), (90_000, 16)] {
            let mut quick = Quick::default();
            quick.on_data(at(1), window, 1_000, RTO);
            assert_eq!(quick.credit, credit, "{window}");
            quick.on_growth();
            assert_eq!(quick.credit, credit | 1);
        }
        // The last that goes at once sets the delay back.
        let mut quick = Quick::default();
        quick.on_data(at(1), 1_000, 1_000, RTO);
        quick.on_expired(RTO);
        quick.on_sent();
        assert_eq!(quick.delay(RTO, None), DELAY_MIN * 2);
        quick.on_sent();
        assert_eq!((quick.credit, quick.delay(RTO, None)), (0, DELAY_MIN));
        quick.on_sent();
        assert_eq!(quick.credit, 0);
    }

    /// 20 ms: half and 20 ms more. Below the delay: half and the gap. From the delay on nothing; beyond the timeout the
    /// sender has begun again.
    #[test]
    fn the_delay_changes_with_the_gap() {
        let after = |gap: u64| {
            let mut quick = Quick { delay: Duration::from_millis(100), last: at(1_000), ..Quick::default() };
            quick.on_data(at(1_000 + gap), 65_535, 1_448, RTO);
            (quick.delay.as_micros() / 1_000, quick.credit)
        };
        assert_eq!(
            [0, 20, 21, 99, 100, 220, 221].map(after),
            [(70, 0), (70, 0), (71, 0), (149, 0), (100, 0), (100, 0), (100, 16)]
        );
    }
}
