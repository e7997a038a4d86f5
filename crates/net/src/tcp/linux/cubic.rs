//! The cubic window as Linux computes it: RFC 9438 in integers, segments and 1/1024 s, with HyStart.
//!
//! It says after how many acknowledged segments the window grows by one; the window itself is not here. It differs from
//! the RFC's in what an integer cannot say, in the growth of a connection without a loss, and in the times it forgets.

use super::hystart::HyStart;
use airbraid_units::{Duration, Instant};

/// The part of the window that remains after a loss, in 1/1024 (`beta`: 717/1024 = 0.7).
const BETA: u64 = 717;
/// The unit of [`BETA`].
const BETA_UNIT: u64 = 1_024;

/// C \[segments/s^3\] in 1/1024 (`bic_scale` 41, times 10: 410/1024 = 0.4).
const C: u64 = 410;

/// The clock's unit is a second shifted by this (`BICTCP_HZ`).
const CLOCK_SHIFT: u32 = 10;

/// Acknowledged segments for Reno's estimate to grow by one, in eighths of a window: 8 (1024 + B) / 3 / (1024 - B) =
/// 15, the inverse of RFC 9438's alpha (`beta_scale`).
const RENO_EIGHTHS: u64 = 8 * (BETA_UNIT + BETA) / 3 / (BETA_UNIT - BETA);

/// Before any loss the window grows by a twentieth a round trip at least.
const COUNT_BEFORE_LOSS: u64 = 20;

/// It never grows faster than by one segment for two (RFC 9438: half a window a round trip).
const COUNT_MIN: u64 = 2;

/// Interval after which the growth of an unchanged window is computed again (`HZ / 32`).
const RENEW: Duration = Duration::from_nanos(1_000_000_000 / 32);

/// Shortest interval between two computations of the growth: Debian's tick (`HZ` 250).
const JIFFY: Duration = Duration::from_millis(4);

/// Time after a recovery in which delays do not count.
const QUIET: Duration = Duration::from_secs(1);

/// The state between losses.
#[derive(Clone, Debug, Default)]
pub(super) struct Cubic {
    /// Acknowledged segments for one segment of growth.
    count: u64,
    last_max: u64,
    last_cwnd: u64,
    last_time: Instant,
    origin: u64,
    /// Time to the plateau \[s / 1024\].
    k: u64,
    least_delay: Option<Duration>,
    epoch: Option<Instant>,
    acked: u64,
    /// The window that Reno would have.
    reno: u64,
    hystart: HyStart,
}

/// The largest integer whose cube is not above `n`.
fn cube_root(n: u64) -> u64 {
    let (mut low, mut high) = (0, 2_642_246);
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        if middle * middle * middle <= n {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Nanoseconds in units of the curve's clock.
fn clock(span: Duration) -> u64 {
    (span.as_micros() << CLOCK_SHIFT) / 1_000_000
}

impl Cubic {
    /// A round trip of HyStart begins with the connection.
    pub fn begin(&mut self, now: Instant, nxt: u64) {
        self.hystart.begin_round(now, nxt);
    }

    /// An acknowledgement up to `una` took `delay`; returns whether slow start ends here.
    pub fn on_delay(&mut self, now: Instant, (una, nxt): (u64, u64), cwnd: u64, slow: bool, delay: Duration) -> bool {
        if self.epoch.is_some_and(|start| now.saturating_since(start) < QUIET) {
            return false;
        }
        let least = self.least_delay.map_or(delay, |least| least.min(delay));
        self.least_delay = Some(least);
        slow && !self.hystart.found && self.hystart.on_ack(now, (una, nxt), cwnd, delay, least)
    }

    /// `acked` segments were acknowledged in congestion avoidance: returns the number that it takes for the window to
    /// grow by one.
    pub fn count(&mut self, now: Instant, cwnd: u64, acked: u64) -> u64 {
        self.acked += acked;
        let since = now.saturating_since(self.last_time);
        if self.last_cwnd == cwnd && since <= RENEW {
            return self.count;
        }
        if self.epoch.is_none() || since >= JIFFY {
            self.follow_curve(now, cwnd, acked);
        }
        self.keep_up_with_reno(cwnd);
        self.count = self.count.max(COUNT_MIN);
        self.count
    }

    fn follow_curve(&mut self, now: Instant, cwnd: u64, acked: u64) {
        self.last_cwnd = cwnd;
        self.last_time = now;
        let start = *self.epoch.get_or_insert_with(|| {
            self.acked = acked;
            self.reno = cwnd;
            self.origin = self.last_max.max(cwnd);
            // (origin - cwnd) / C in the cube of the clock's unit.
            self.k = cube_root((1 << (10 + 3 * CLOCK_SHIFT)) / C * (self.origin - cwnd));
            now
        });
        let t = clock(now.saturating_since(start) + self.least_delay.unwrap_or(Duration::ZERO));
        let offset = t.abs_diff(self.k).min(1 << 17);
        let delta = (C * offset * offset * offset) >> (10 + 3 * CLOCK_SHIFT);
        let target = if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        self.count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max == 0 {
            self.count = self.count.min(COUNT_BEFORE_LOSS);
        }
    }

    fn keep_up_with_reno(&mut self, cwnd: u64) {
        let step = ((cwnd * RENO_EIGHTHS) >> 3).max(1);
        // More than a step is strict: the remainder is never zero.
        let steps = self.acked.saturating_sub(1) / step;
        self.acked -= steps * step;
        self.reno += steps;
        if self.reno > cwnd {
            self.count = self.count.min(cwnd / (self.reno - cwnd));
        }
    }

    /// A loss at a window of `cwnd`: returns the window that remains.
    pub fn on_loss(&mut self, cwnd: u64) -> u64 {
        self.epoch = None;
        // Fast convergence: a window that never got back to the last plateau leaves room.
        let converging = cwnd < self.last_max;
        self.last_max = if converging { cwnd * (BETA_UNIT + BETA) / (2 * BETA_UNIT) } else { cwnd };
        (cwnd * BETA / BETA_UNIT).max(2)
    }

    /// A timeout resets everything.
    pub fn reset(&mut self, now: Instant, nxt: u64) {
        *self = Self::default();
        self.begin(now, nxt);
    }

    /// Data follow a silence since `last_sent`, which does not count.
    pub fn on_silence(&mut self, now: Instant, last_sent: Instant) {
        if let Some(start) = &mut self.epoch {
            *start = (*start + now.saturating_since(last_sent)).min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_exact() {
        for n in [0, 1, 7, 8, 26, 27, 1_000_000, u64::MAX] {
            let root = u128::from(cube_root(n));
            assert!(root.pow(3) <= u128::from(n) && (root + 1).pow(3) > u128::from(n), "{n}: {root}");
        }
    }

    /// Acknowledges whole windows, `rtt` apart, for `seconds`.
    fn grow(cubic: &mut Cubic, mut cwnd: u64, rtt: Duration, seconds: u64) -> u64 {
        let (mut now, mut owed) = (Instant::ZERO + Duration::from_secs(5), 0);
        let end = now + Duration::from_secs(seconds);
        cubic.least_delay = Some(rtt);
        while now < end {
            let segments = cwnd;
            for _ in 0..segments {
                now += rtt / segments;
                owed += 1;
                let count = cubic.count(now, cwnd, 1);
                if owed >= count {
                    owed = 0;
                    cwnd += 1;
                }
            }
        }
        cwnd
    }

    #[test]
    fn it_follows_the_curve_of_the_rfc_on_long_paths() {
        let mut cubic = Cubic::default();
        assert_eq!(cubic.on_loss(400), 280);
        // K = cbrt(120 / 0.4) = 6.694 s; after 4 s: 0.4 (4 - 6.694)^3 + 400 = 392.
        let cwnd = grow(&mut cubic, 280, Duration::from_millis(200), 4);
        assert!((388..=396).contains(&cwnd), "{cwnd}");
        assert!((6_830..=6_880).contains(&cubic.k), "{}", cubic.k);
    }

    #[test]
    fn it_keeps_up_with_reno_on_short_paths_and_converges_fast() {
        let mut cubic = Cubic::default();
        assert_eq!(cubic.on_loss(20), 14);
        // 10 ms: one segment for 15/8 round trips, 53 in a second; the curve alone would be at its plateau of 20.
        let cwnd = grow(&mut cubic, 14, Duration::from_millis(10), 1);
        assert!((60..=68).contains(&cwnd), "{cwnd}");
        let mut cubic = Cubic::default();
        cubic.on_loss(100);
        assert_eq!((cubic.on_loss(80), cubic.last_max), (56, 80 * 1_741 / 2_048));
    }

    /// The curve at hand-worked times. The plateau is 400, the window 380: K = cbrt(20 1024 / 410) = 3.683 s, or 3771
    /// units.
    #[test]
    fn the_number_for_one_segment_of_growth_is_that_of_the_curve() {
        let count = |least_s: u64| {
            let mut cubic = Cubic::default();
            cubic.on_loss(400);
            cubic.least_delay = Some(Duration::from_secs(least_s));
            let count = cubic.count(Instant::ZERO + Duration::from_secs(50), 380, 1);
            assert_eq!((cubic.origin, cubic.k), (400, 3_771));
            count
        };
        // The target is 400 less 0.4 (K - t)^3: 7.7 at 1 s, 0.1 at 3 s; and more by 0.9 at 5 s, 4.97 at 6 s.
        assert_eq!([1, 3, 5, 6].map(count), [380 / 13, 380 / 20, 380 / 20, 380 / 24]);
    }

    /// Without a loss it grows by a twentieth a round trip at least, by the curve where that is faster, and never by
    /// more than half.
    #[test]
    fn before_a_loss_it_grows_from_where_it_is() {
        let count = |least_s: u64, cwnd: u64| {
            let mut cubic = Cubic { least_delay: Some(Duration::from_secs(least_s)), ..Cubic::default() };
            cubic.count(Instant::ZERO + Duration::from_secs(50), cwnd, 1)
        };
        // 0.4 t^3: 0.4 after a second, 25.6 after four, 400 after ten.
        assert_eq!([(1, 100), (4, 100), (10, 100), (10, 4_000)].map(|(s, cwnd)| count(s, cwnd)), [20, 4, 2, 10]);
    }

    /// At its target, or above, it waits for a hundred windows.
    #[test]
    fn at_the_curve_it_all_but_stands_still() {
        let mut cubic = Cubic::default();
        cubic.on_loss(400);
        cubic.least_delay = Some(Duration::from_secs(3));
        let at = |ms: u64| Instant::ZERO + Duration::from_secs(50) + Duration::from_millis(ms);
        assert_eq!(cubic.count(at(0), 380, 1), 19);
        assert_eq!([400, 500].map(|cwnd| cubic.count(at(cwnd), cwnd, 1)), [40_000, 50_000]);
    }

    /// An unchanged window is computed again after more than a 32nd of a second, a changed one after 4 ms.
    #[test]
    fn the_curve_is_followed_now_and_then() {
        let at = |us: u64| Instant::ZERO + Duration::from_secs(50) + Duration::from_micros(us);
        let renewed = |cwnd: u64, us: u64| {
            let mut cubic = Cubic { least_delay: Some(Duration::from_secs(4)), ..Cubic::default() };
            cubic.count(at(0), 100, 1);
            cubic.count(at(us), cwnd, 1);
            cubic.last_time == at(us)
        };
        assert_eq!([31_250, 31_251].map(|us| renewed(100, us)), [false, true]);
        assert_eq!([3_999, 4_000].map(|us| renewed(101, us)), [false, true]);
    }

    /// Delays of the first second after a recovery do not count.
    #[test]
    fn delays_right_behind_a_recovery_do_not_count() {
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        let mut cubic = Cubic::default();
        cubic.begin(at(0), 1);
        cubic.on_loss(100);
        cubic.count(at(1_000), 70, 1);
        let delay = Duration::from_millis(30);
        assert!(!cubic.on_delay(at(1_999), (1, 2), 70, false, delay) && cubic.least_delay.is_none());
        cubic.on_delay(at(2_000), (1, 2), 70, false, delay);
        assert_eq!(cubic.least_delay, Some(delay));
        cubic.on_delay(at(2_001), (1, 2), 70, false, delay * 2);
        assert_eq!(cubic.least_delay, Some(delay), "the least");
        // A silence moves the epoch on, not beyond the present.
        cubic.on_silence(at(5_000), at(4_000));
        assert_eq!(cubic.epoch, Some(at(2_000)));
        cubic.on_silence(at(5_000), at(0));
        assert_eq!(cubic.epoch, Some(at(5_000)));
    }

    /// A window of 8 takes 15 segments for Reno's estimate to grow by one; the last of a step is not counted yet.
    #[test]
    fn renos_estimate_grows_by_one_for_fifteen_eighths_of_a_window() {
        let after = |acked: u64| {
            let mut cubic = Cubic { acked, reno: 8, count: 100, ..Cubic::default() };
            cubic.keep_up_with_reno(8);
            (cubic.reno, cubic.acked, cubic.count)
        };
        assert_eq!([15, 16, 30, 31].map(after), [(8, 15, 100), (9, 1, 8), (9, 15, 8), (10, 1, 4)]);
    }
}
