//! The retransmission timeout (RFC 6298), in integers, on a clock that may be as coarse as BSD's 500 ms.
//!
//! With BSD's clock comes BSD's arithmetic (profile `bsd`): whole ticks, shifts that drop what is left, and two ticks
//! more than the last round trip at least.
//!
//! It never takes a sample itself: the sender applies Karn's rule and calls [`Rto::sample`] only with what counts.

use super::config::{Config, Profile};
use airbraid_units::{Duration, Instant};

/// The timeout when data begin to flow after the SYN itself timed out \[ns\] (RFC 6298, rule 5.7).
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);

/// The estimator of NetBSD 1.2: 4.4BSD's `tcp_xmit_timer` (Wright and Stevens 1995, section 25.10) with the two more
/// binary digits that Brakmo and Peterson 1995 asked for, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    /// The smoothed round trip, times 32; zero before the first sample that lasts a tick.
    srtt: i64,
    /// The variation, times 16.
    rttvar: i64,
}

impl Ticks {
    /// Takes a round trip of `crossed` ticks of the clock; returns the timeout in ticks, two more than these at least.
    fn sample(&mut self, crossed: i64) -> i64 {
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = (crossed << 5, crossed << 3);
        } else {
            let delta = (crossed << 2) - (self.srtt >> 3);
            self.srtt += delta;
            self.rttvar += delta.abs() - (self.rttvar >> 2);
        }
        (((self.srtt >> 3) + self.rttvar) >> 2).max(crossed + 2)
    }
}

/// The estimator and the backoff.
#[derive(Clone, Debug)]
pub struct Rto {
    /// Eight times SRTT \[ns\], so that a gain of 1/8 loses nothing to rounding.
    srtt8: u64,
    /// Four times RTTVAR \[ns\].
    rttvar4: u64,
    sampled: bool,
    /// Without backoff.
    base: Duration,
    backoff: u32,
    minimum: Duration,
    maximum: Duration,
    tick: Duration,
    /// BSD's arithmetic beside the equations', and instead of it for the timeout.
    ticks: Option<Ticks>,
}

impl Rto {
    /// The estimator of a connection before its first sample.
    pub fn new(config: &Config) -> Self {
        Self {
            srtt8: 0,
            rttvar4: 0,
            sampled: false,
            base: config.initial_rto,
            backoff: 0,
            minimum: config.min_rto,
            maximum: config.max_rto,
            tick: config.tick,
            ticks: (config.profile == Profile::Bsd).then(Ticks::default),
        }
    }

    /// A segment sent at `sent` and never again was acknowledged at `now` (rules 2.2, 2.3 and the end of 5).
    pub fn sample(&mut self, sent: Instant, now: Instant) {
        let r = self.measured(sent, now);
        if self.sampled {
            // RTTVAR first: it wants the old SRTT.
            self.rttvar4 = self.rttvar4 - self.rttvar4 / 4 + (self.srtt8 / 8).abs_diff(r);
            self.srtt8 = self.srtt8 - self.srtt8 / 8 + r;
        } else {
            self.srtt8 = 8 * r;
            self.rttvar4 = 2 * r;
            self.sampled = true;
        }
        let tick = self.tick.as_nanos();
        let base = match &mut self.ticks {
            Some(ticks) => self.tick * ticks.sample((r / tick) as i64) as u64,
            None => Duration::from_nanos(self.srtt8 / 8 + self.rttvar4.max(tick)),
        };
        self.base = base.clamp(self.minimum, self.maximum);
        self.backoff = 0;
    }

    /// The round trip as the clock sees it: in whole ticks.
    fn measured(&self, sent: Instant, now: Instant) -> u64 {
        let tick = self.tick.as_nanos();
        if tick == 1 {
            return now.saturating_since(sent).as_nanos();
        }
        (now.as_nanos() / tick).saturating_sub(sent.as_nanos() / tick) * tick
    }

    /// The timer expired: the next timeout is twice as long (rule 5.5).
    pub fn back_off(&mut self) {
        if self.timeout() < self.maximum {
            self.backoff += 1;
        }
    }
    /// The handshake is over although its SYN timed out: data start with three seconds (rule 5.7).
    pub fn after_lost_syn(&mut self) {
        self.backoff = 0;
        self.base = self.base.max(AFTER_LOST_SYN).min(self.maximum);
    }
    /// Whether the timer expired since the last sample.
    pub const fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }
    /// The timeout now, backoff included.
    pub fn timeout(&self) -> Duration {
        if self.backoff == 0 {
            return self.base;
        }
        self.base.saturating_mul(1 << self.backoff.min(63)).min(self.maximum)
    }
    /// The expiry of a timer started `now`: a countdown of whole ticks, the first of which may come at once, as BSD's.
    pub fn expires(&self, now: Instant) -> Instant {
        self.expires_after(now, self.timeout())
    }
    /// The end of a countdown of `span` started `now`.
    pub fn expires_after(&self, now: Instant, span: Duration) -> Instant {
        let tick = self.tick.as_nanos();
        if tick == 1 {
            return now.saturating_add(span.max(self.tick));
        }
        let ticks = span.as_nanos().div_ceil(tick).max(1);
        Instant::from_nanos((now.as_nanos() / tick).saturating_add(ticks).saturating_mul(tick))
    }
    /// The smoothed round trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.sampled.then(|| Duration::from_nanos(self.srtt8 / 8))
    }
    /// The variation of the round trip time; zero before the first sample.
    pub fn rttvar(&self) -> Duration {
        Duration::from_nanos(self.rttvar4 / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }
    fn at(n: u64) -> Instant {
        Instant::ZERO + ms(n)
    }
    fn fine() -> Config {
        Config { min_rto: Duration::ZERO, ..Config::default() }
    }

    #[test]
    fn follows_the_equations_of_rfc_6298() {
        let mut rto = Rto::new(&fine());
        assert_eq!((rto.timeout(), rto.srtt()), (ms(1_000), None));
        rto.sample(at(0), at(80));
        assert_eq!((rto.srtt(), rto.rttvar(), rto.timeout()), (Some(ms(80)), ms(40), ms(240)));
        // RTTVAR = 3/4 * 40 + 1/4 * |80 - 160| = 50; SRTT = 7/8 * 80 + 1/8 * 160 = 90.
        rto.sample(at(100), at(260));
        assert_eq!((rto.srtt(), rto.rttvar(), rto.timeout()), (Some(ms(90)), ms(50), ms(290)));
    }

    #[test]
    fn minimum_maximum_and_backoff_hold() {
        let mut rto = Rto::new(&Config::default());
        rto.sample(at(0), at(10));
        assert_eq!(rto.timeout(), ms(1_000), "one second at least");
        let mut seen = Vec::new();
        for _ in 0..8 {
            rto.back_off();
            seen.push(rto.timeout().as_nanos() / 1_000_000_000);
        }
        assert_eq!(seen, [2, 4, 8, 16, 32, 60, 60, 60]);
        rto.sample(at(0), at(10));
        assert!(!rto.is_backed_off());
        rto.after_lost_syn();
        assert_eq!(rto.timeout(), ms(3_000));
    }

    /// By hand: samples in ticks, and the timeout in ticks after each.
    #[test]
    fn bsd_counts_in_whole_ticks() {
        let mut rto = Rto::new(&Config::bsd(crate::tcp::Variant::Reno));
        assert_eq!(rto.timeout(), ms(6_000));
        let mut ticks = Vec::new();
        for crossed in [0, 0, 1, 0, 0, 0, 2] {
            let sent = at(10_100);
            rto.sample(sent, sent + ms(100 + 500 * crossed));
            ticks.push(rto.timeout().as_nanos() / 500_000_000);
        }
        // (srtt, rttvar): (0, 0), (0, 0), (32, 8), (28, 10), (25, 11), (22, 12), (28, 15).
        assert_eq!(ticks, [2, 2, 3, 3, 3, 3, 4]);
    }

    #[test]
    fn a_coarse_clock_counts_ticks() {
        let mut rto = Rto::new(&Config { tick: ms(500), ..Config::default() });
        // 20 ms across a tick count as one, 400 ms within a tick as none.
        rto.sample(at(490), at(510));
        assert_eq!(rto.srtt(), Some(ms(500)));
        let mut rto = Rto::new(&Config { tick: ms(500), ..Config::default() });
        rto.sample(at(50), at(450));
        assert_eq!((rto.srtt(), rto.timeout()), (Some(Duration::ZERO), ms(1_000)));
        assert_eq!(rto.expires(at(1_200)), at(2_000), "two ticks: 0.5 to 1 s");
        assert_eq!(rto.expires(at(1_000)), at(2_000));
        assert_eq!(rto.expires(at(1_499)), at(2_000));
    }

    /// BSD's timeout after a change settles two ticks above a round trip that stays the same.
    #[test]
    fn bsd_s_variation_fades_where_the_round_trip_is_steady() {
        for crossed in [1, 4, 20] {
            let mut ticks = Ticks::default();
            assert_eq!(ticks.sample(crossed), (crossed + 2).max(3 * crossed), "three round trips to begin with");
            let steady = (0..100).map(|_| ticks.sample(crossed)).last();
            assert_eq!(steady, Some(crossed + 2));
        }
    }
}
