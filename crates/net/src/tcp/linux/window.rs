//! The congestion window in segments: growth, reduction and its undoing, and whether it was used, as Linux has it.
//!
//! RFC 5681 with appropriate byte counting (each acknowledged segment counts, RFC 3465 without its limit), RFC 2861 and
//! 7661 in spirit (a window that is not used does not grow and decays). It never knows which segment was lost.

use super::super::config::{Config, Variant};
use super::cubic::Cubic;
use airbraid_units::{Duration, Instant};

/// No threshold.
const NONE: u64 = u64::MAX;

/// The window and its threshold.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// \[segments\]
    pub cwnd: u64,
    ssthresh: u64,
    /// Acknowledged segments that are not yet turned into growth.
    count: u64,
    /// Window and threshold before the last reduction; no threshold: nothing to undo.
    prior_cwnd: u64,
    prior_ssthresh: Option<u64>,
    cubic: Option<Cubic>,
    initial: u64,
    usage: Usage,
}

/// Whether the window was the limit, in the round trip that ends at `until`.
#[derive(Clone, Debug, Default)]
struct Usage {
    limited: bool,
    most_out: u64,
    until: u64,
    /// The most in flight since the window was last the limit, and the time of that.
    used: u64,
    stamp: Instant,
}

impl Window {
    pub fn new(config: &Config) -> Self {
        let initial = config.initial_cwnd() / config.mss.as_u64();
        Self {
            cwnd: initial,
            ssthresh: NONE,
            count: 0,
            prior_cwnd: 0,
            prior_ssthresh: None,
            cubic: (config.variant == Variant::Cubic).then(Cubic::default),
            initial,
            usage: Usage::default(),
        }
    }
    pub const fn ssthresh(&self) -> Option<u64> {
        if self.ssthresh == NONE { None } else { Some(self.ssthresh) }
    }
    /// The threshold as reduction by proportion wants it.
    pub const fn target(&self) -> u64 {
        self.ssthresh
    }
    const fn is_slow(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The connection is established; after lost SYNs the window is one segment.
    pub fn begin(&mut self, now: Instant, nxt: u64, syn_lost: bool) {
        if syn_lost {
            self.cwnd = 1;
        }
        self.usage.stamp = now;
        if let Some(cubic) = &mut self.cubic {
            cubic.begin(now, nxt);
        }
    }

    /// An acknowledgement up to `una` ended a round trip of `rtt`.
    pub fn on_rtt(&mut self, now: Instant, una: u64, nxt: u64, rtt: Duration) {
        let slow = self.is_slow();
        if let Some(cubic) = &mut self.cubic
            && cubic.on_delay(now, (una, nxt), self.cwnd, slow, rtt)
        {
            self.ssthresh = self.cwnd;
        }
    }

    /// `acked` segments arrived outside recovery.
    pub fn on_ack(&mut self, now: Instant, mut acked: u64) {
        if !self.is_used() {
            return;
        }
        if self.is_slow() {
            let grown = (self.cwnd + acked).min(self.ssthresh);
            acked -= grown - self.cwnd;
            self.cwnd = grown;
            if acked == 0 {
                return;
            }
        }
        let needed = match &mut self.cubic {
            Some(cubic) => cubic.count(now, self.cwnd, acked),
            None => self.cwnd,
        };
        // What was saved up for a larger window gives one segment, not many.
        if self.count >= needed {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += acked;
        self.cwnd += self.count / needed;
        self.count %= needed;
    }

    /// A loss: the threshold falls, and the values before are saved. The window follows as the recovery goes on.
    pub fn reduce(&mut self, remember: bool) {
        self.prior_ssthresh = remember.then(|| self.current_ssthresh());
        self.prior_cwnd = self.cwnd;
        self.count = 0;
        self.ssthresh = match &mut self.cubic {
            Some(cubic) => cubic.on_loss(self.cwnd),
            None => (self.cwnd / 2).max(2),
        };
    }
    /// A timeout, after [`Self::reduce`] unless it hits an earlier one: one segment more than is in the network.
    pub fn on_timeout(&mut self, now: Instant, pipe: u64, nxt: u64) {
        self.cwnd = pipe + 1;
        self.count = 0;
        if let Some(cubic) = &mut self.cubic {
            cubic.reset(now, nxt);
        }
    }
    pub fn end_reduction(&mut self) {
        if self.ssthresh != NONE {
            self.cwnd = self.ssthresh;
        }
    }
    /// The last reduction was needless.
    pub fn undo(&mut self) {
        if let Some(ssthresh) = self.prior_ssthresh {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    /// The threshold, as if the window were reduced now: three quarters of the window at least.
    fn current_ssthresh(&self) -> u64 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }

    /// Whether the window is used, so that it may grow; in slow start half of it is enough.
    fn is_used(&self) -> bool {
        self.usage.limited || self.is_slow() && self.cwnd < 2 * self.usage.most_out
    }

    /// After sending: `out` segments are not acknowledged, everything up to `una` is, `nxt` comes next; `limited`: the
    /// window ended it. `idle`: only lack of data did, and no recovery goes on; `rto`: the timeout.
    pub fn validate(
        &mut self,
        now: Instant,
        out: u64,
        (una, nxt): (u64, u64),
        limited: bool,
        idle: bool,
        rto: Duration,
    ) {
        let usage = &mut self.usage;
        if una >= usage.until || limited || !usage.limited && out > usage.most_out {
            usage.limited = limited;
            usage.most_out = out;
            usage.until = nxt;
        }
        if self.is_used() {
            self.usage.used = 0;
            self.usage.stamp = now;
            return;
        }
        self.usage.used = self.usage.used.max(out);
        if now.saturating_since(self.usage.stamp) < rto {
            return;
        }
        if idle {
            let used = self.usage.used.max(self.initial);
            if used < self.cwnd {
                self.ssthresh = self.current_ssthresh();
                self.cwnd = u64::midpoint(self.cwnd, used);
            }
            self.usage.used = 0;
        }
        self.usage.stamp = now;
    }

    /// Data are to be sent while nothing is out, the last at `last_sent`: each timeout of silence halves the window.
    pub fn on_silence(&mut self, now: Instant, last_sent: Instant, rto: Duration) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_silence(now, last_sent);
        }
        let mut silent = now.saturating_since(last_sent);
        if silent <= rto {
            return;
        }
        self.ssthresh = self.current_ssthresh();
        let least = self.initial.min(self.cwnd);
        while silent > rto && self.cwnd > least {
            silent = silent.saturating_sub(rto);
            self.cwnd /= 2;
        }
        self.cwnd = self.cwnd.max(least);
        self.usage.stamp = now;
        self.usage.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(variant: Variant) -> Window {
        let mut window = Window::new(&Config::linux(variant));
        window.begin(Instant::ZERO, 1, false);
        window
    }
    fn use_all(window: &mut Window) {
        window.validate(Instant::ZERO, window.cwnd, (1, 2), true, false, Duration::from_secs(1));
    }

    #[test]
    fn slow_start_counts_segments_and_reno_one_a_window() {
        let mut window = window(Variant::Reno);
        window.on_ack(Instant::ZERO, 2);
        assert_eq!(window.cwnd, 10, "not used");
        use_all(&mut window);
        window.on_ack(Instant::ZERO, 10);
        assert_eq!(window.cwnd, 20);
        window.reduce(true);
        window.end_reduction();
        assert_eq!((window.cwnd, window.ssthresh()), (10, Some(10)));
        for _ in 0..5 {
            window.on_ack(Instant::ZERO, 2);
        }
        assert_eq!(window.cwnd, 11);
        window.undo();
        assert_eq!((window.cwnd, window.ssthresh()), (20, None));
    }

    #[test]
    fn cubic_keeps_seven_tenths() {
        let mut window = window(Variant::Cubic);
        window.cwnd = 100;
        window.reduce(true);
        assert_eq!(window.ssthresh(), Some(70));
    }

    #[test]
    fn a_window_that_is_not_used_decays() {
        let mut window = window(Variant::Reno);
        window.cwnd = 40;
        window.ssthresh = 30;
        let (second, at) = (Duration::from_secs(1), |s| Instant::ZERO + Duration::from_secs(s));
        window.validate(at(2), 5, (1, 2), false, true, second);
        assert_eq!((window.cwnd, window.ssthresh()), (25, Some(30)), "(40 + 10) / 2");
        window.on_silence(at(9), at(6), second);
        assert_eq!(window.cwnd, 10, "halved thrice, not below the initial window");
    }

    #[test]
    fn in_slow_start_a_window_of_which_half_is_out_may_grow() {
        for (out, grown) in [(5, 10), (6, 20), (10, 20)] {
            let mut window = window(Variant::Reno);
            window.validate(Instant::ZERO, out, (1, 2), false, false, Duration::from_secs(1));
            window.on_ack(Instant::ZERO, 10);
            assert_eq!(window.cwnd, grown, "{out} of 10 are out");
        }
    }

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    /// Used once in a round trip is used until that is over, whatever leaves meanwhile.
    #[test]
    fn a_window_counts_as_used_for_a_round_trip() {
        let mut window = window(Variant::Reno);
        (window.cwnd, window.ssthresh) = (10, 5);
        let rto = Duration::from_secs(1);
        let mut sees = |out, (una, nxt), limited| {
            window.validate(at(0), out, (una, nxt), limited, false, rto);
            (window.is_used(), window.usage.most_out, window.usage.until)
        };
        assert_eq!(sees(10, (1, 100), true), (true, 10, 100));
        assert_eq!(sees(12, (50, 120), false), (true, 10, 100), "the round trip is not over");
        assert_eq!(sees(3, (100, 130), false), (false, 3, 130));
        assert_eq!(sees(2, (110, 140), false), (false, 3, 130), "fewer");
        assert_eq!(sees(4, (110, 140), false), (false, 4, 140), "more");
        assert_eq!(sees(3, (120, 150), true), (true, 3, 150));
    }

    /// A timeout without being the limit, idle at its end: halfway to what was used, the initial window at least.
    #[test]
    fn only_a_window_that_was_idle_for_a_timeout_decays() {
        let rto = Duration::from_secs(2);
        let after = |seconds: u64, out, idle, cwnd| {
            let mut window = window(Variant::Reno);
            (window.cwnd, window.ssthresh) = (cwnd, 5);
            window.validate(at(seconds), out, (1, 2), false, idle, rto);
            (window.cwnd, window.ssthresh().unwrap())
        };
        assert_eq!(after(1, 20, true, 40), (40, 5), "a second");
        assert_eq!(after(2, 20, false, 40), (40, 5), "it was not idle");
        assert_eq!(after(2, 20, true, 40), (30, 30), "three quarters of 40 are the threshold");
        assert_eq!(after(2, 4, true, 40), (25, 30));
        assert_eq!(after(2, 4, true, 10), (10, 5), "the initial window");
        assert_eq!(after(2, 4, true, 11), (10, 7));
    }

    /// The threshold stops slow start within an acknowledgement, and the rest counts as in avoidance.
    #[test]
    fn an_acknowledgement_may_end_slow_start_and_go_on() {
        let mut window = window(Variant::Reno);
        window.ssthresh = 12;
        use_all(&mut window);
        window.on_ack(at(0), 5);
        assert_eq!((window.cwnd, window.count), (12, 3));
        window.on_ack(at(0), 8);
        assert_eq!((window.cwnd, window.count), (12, 11));
        window.on_ack(at(0), 1);
        assert_eq!((window.cwnd, window.count), (13, 0));
        // What was saved for a larger window gives one at once.
        (window.cwnd, window.count) = (5, 11);
        (window.ssthresh, window.usage.limited) = (5, true);
        window.on_ack(at(0), 1);
        assert_eq!((window.cwnd, window.count), (6, 1));
    }

    /// A timeout leaves what is in the network and one more; an undone reduction gives back the greater of both.
    #[test]
    fn a_reduction_can_be_taken_back_if_it_is_remembered() {
        for (remember, cwnd, ssthresh) in [(true, 20, 15), (false, 4, 10)] {
            let mut window = window(Variant::Reno);
            (window.cwnd, window.ssthresh) = (20, 8);
            window.reduce(remember);
            window.on_timeout(at(1), 3, 9);
            assert_eq!((window.cwnd, window.ssthresh(), window.count), (4, Some(10), 0));
            window.undo();
            assert_eq!((window.cwnd, window.ssthresh()), (cwnd, Some(ssthresh)), "three quarters of 20");
        }
        let mut window = window(Variant::Reno);
        window.end_reduction();
        assert_eq!(window.cwnd, 10, "there is no threshold");
        (window.cwnd, window.ssthresh) = (3, NONE);
        window.reduce(true);
        assert_eq!(window.ssthresh(), Some(2), "two at least");
    }

    /// Each timeout of silence halves it, the initial window at least; a silence of one timeout does nothing.
    #[test]
    fn a_silence_halves_the_window() {
        let rto = Duration::from_secs(1);
        let after = |seconds: u64, cwnd| {
            let mut window = window(Variant::Reno);
            window.cwnd = cwnd;
            window.on_silence(at(10 + seconds), at(10), rto);
            (window.cwnd, window.ssthresh())
        };
        assert_eq!(after(1, 80), (80, None));
        // Two seconds are one timeout and one more that is not passed.
        assert_eq!((after(2, 80).0, after(3, 80).0, after(4, 80).0, after(9, 80).0), (40, 20, 10, 10));
        assert_eq!(after(9, 4).0, 4, "it is below the initial one");
    }
}
