//! Linux's estimate of the round trip and its timeout: RFC 6298 with a variation that is the largest of a round trip,
//! falls slowly when the delay shrinks, and is never below 200 ms.
//!
//! In nanoseconds, in integers. The sender decides which measurements count. It also keeps the least round trip.

use super::super::config::Config;
use airbraid_units::{Duration, Instant};

/// Time for which the least round trip counts (`tcp_min_rtt_wlen`: 300 s).
const LEAST_LASTS: Duration = Duration::from_secs(300);

#[derive(Clone, Debug)]
pub(super) struct Rtt {
    /// Eight times the smoothed round trip \[ns\]; zero before the first sample.
    srtt8: u64,
    /// Four times the mean deviation \[ns\].
    mdev4: u64,
    /// The largest of those in this round trip, and the variation that the timeout uses \[ns\].
    mdev_max: u64,
    rttvar: u64,
    /// The round trip ends when this offset is acknowledged.
    round_end: u64,
    least: Option<(Duration, Instant)>,
    base: Duration,
    backoff: u32,
    floor: u64,
    maximum: Duration,
}

impl Rtt {
    pub fn new(config: &Config) -> Self {
        Self {
            srtt8: 0,
            mdev4: 0,
            mdev_max: 0,
            rttvar: 0,
            round_end: 0,
            least: None,
            base: config.initial_rto,
            backoff: 0,
            floor: config.min_rto.as_nanos(),
            maximum: config.max_rto,
        }
    }

    /// A round trip took `r`; `una` is acknowledged and `nxt` the next to be sent.
    pub fn sample(&mut self, r: Duration, una: u64, nxt: u64) {
        let r = r.as_nanos();
        if self.srtt8 == 0 {
            self.srtt8 = 8 * r;
            self.mdev4 = 2 * r;
            self.rttvar = self.mdev4.max(self.floor);
            self.mdev_max = self.rttvar;
            self.round_end = nxt;
        } else {
            self.refine(r, una, nxt);
        }
        self.srtt8 = self.srtt8.max(1);
        self.base = Duration::from_nanos(self.srtt8 / 8 + self.rttvar).min(self.maximum);
        self.backoff = 0;
    }

    fn refine(&mut self, r: u64, una: u64, nxt: u64) {
        let srtt = self.srtt8 / 8;
        self.srtt8 = self.srtt8 - srtt + r;
        let (deviation, mdev) = (srtt.abs_diff(r), self.mdev4 / 4);
        if deviation <= mdev {
            self.mdev4 -= mdev - deviation;
        } else {
            // A delay that suddenly falls must not raise the timeout: an eighth of the gain, as Linux does after Eifel.
            self.mdev4 += (deviation - mdev) / if r < srtt { 8 } else { 1 };
        }
        if self.mdev4 > self.mdev_max {
            self.mdev_max = self.mdev4;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if una > self.round_end {
            self.rttvar -= self.rttvar.saturating_sub(self.mdev_max) / 4;
            self.round_end = nxt;
            self.mdev_max = self.floor;
        }
    }

    /// A round trip took `r`, the last of those that ended now.
    pub fn note_least(&mut self, now: Instant, r: Duration) {
        if self.least.is_none_or(|(least, at)| r <= least || now.saturating_since(at) > LEAST_LASTS) {
            self.least = Some((r, now));
        }
    }
    /// The least round trip of the last minutes; zero before the first.
    pub fn least(&self) -> Duration {
        self.least.map_or(Duration::ZERO, |(least, _)| least)
    }
    pub fn srtt(&self) -> Option<Duration> {
        (self.srtt8 > 0).then(|| Duration::from_nanos(self.srtt8 / 8))
    }
    /// The least variation, which a probe adds for a delayed acknowledgement.
    pub fn floor(&self) -> Duration {
        Duration::from_nanos(self.floor)
    }
    pub fn back_off(&mut self) {
        if self.timeout() < self.maximum {
            self.backoff += 1;
        }
    }
    /// The timeout, backoff included.
    pub fn timeout(&self) -> Duration {
        if self.backoff == 0 {
            return self.base;
        }
        self.base.saturating_mul(1 << self.backoff.min(63)).min(self.maximum)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::config::Variant;
    use super::*;

    #[test]
    fn the_timeout_is_the_round_trip_and_200_ms_at_least() {
        let ms = Duration::from_millis;
        let mut rtt = Rtt::new(&Config::linux(Variant::Cubic));
        assert_eq!(rtt.timeout(), ms(1_000));
        rtt.sample(ms(20), 1, 2);
        assert_eq!((rtt.srtt(), rtt.timeout()), (Some(ms(20)), ms(220)));
        // Variation 2 * 300 = 600 ms, then falling by a quarter a round trip to 200 ms again.
        let mut rtt = Rtt::new(&Config::linux(Variant::Cubic));
        rtt.sample(ms(300), 1, 2);
        assert_eq!(rtt.timeout(), ms(900));
        for round in 2..60 {
            rtt.sample(ms(300), round + 1, round + 2);
        }
        assert!(rtt.timeout() < ms(502), "{}", rtt.timeout());
        rtt.back_off();
        assert!(rtt.timeout() > ms(1_000));
        rtt.sample(ms(300), 100, 101);
        assert!(rtt.timeout() < ms(502));
    }

    #[test]
    fn a_greater_deviation_counts_at_once_and_one_by_a_shorter_delay_by_an_eighth() {
        let us = Duration::from_micros;
        let mut rtt = Rtt::new(&Config::linux(Variant::Cubic));
        let mut sample = |us_each: u64, una: u64, nxt: u64| {
            rtt.sample(us(us_each), una, nxt);
            (rtt.srtt().unwrap(), rtt.timeout() - rtt.srtt().unwrap())
        };
        // Smoothed by an eighth; the variation is four times the mean deviation, which follows by a quarter.
        assert_eq!(sample(400_000, 1, 100), (us(400_000), us(800_000)));
        assert_eq!(sample(600_000, 50, 100), (us(425_000), us(800_000)), "200 ms, as before");
        assert_eq!(sample(1_025_000, 60, 100), (us(500_000), us(1_200_000)), "600 ms");
        assert_eq!(sample(100_000, 70, 100), (us(450_000), us(1_212_500)), "400 ms less");
    }

    #[test]
    fn the_variation_falls_by_a_quarter_of_the_difference_with_each_round_trip() {
        let us = Duration::from_micros;
        let mut rtt = Rtt::new(&Config::linux(Variant::Cubic));
        let mut variation = |una: u64, nxt: u64| {
            rtt.sample(us(400_000), una, nxt);
            rtt.timeout() - us(400_000)
        };
        assert_eq!([variation(1, 100), variation(101, 200)], [us(800_000); 2], "its largest of the round");
        // Four times 112.5 ms have been the largest of the next one.
        assert_eq!([variation(150, 250), variation(200, 260)], [us(800_000); 2]);
        assert_eq!(variation(201, 300), us(712_500));
    }

    #[test]
    fn the_least_round_trip_lasts_for_five_minutes_unless_it_comes_again() {
        let (ms, at) = (Duration::from_millis, |s: u64| Instant::ZERO + Duration::from_secs(s));
        let mut rtt = Rtt::new(&Config::linux(Variant::Cubic));
        assert_eq!(rtt.least(), Duration::ZERO);
        let mut note = |s: u64, r: u64| {
            rtt.note_least(at(s), ms(r));
            rtt.least()
        };
        assert_eq!([note(0, 50), note(300, 60), note(301, 60)], [50, 50, 60].map(ms));
        assert_eq!([note(400, 60), note(650, 70), note(700, 70), note(701, 70)], [60, 60, 60, 70].map(ms));
    }
}
