//! Round trip and one-way delay of one path, and the queue that the latter shows.

use super::filter::Least;
use airbraid_units::{Duration, Instant};

/// Time span of minimums: BBR's, for its reason.
const MINIMUM_SPAN: Duration = Duration::from_secs(10);

/// The delays of one path.
#[derive(Clone, Debug)]
pub struct PathDelay {
    rtt_least: Least,
    /// Smoothed time to the answer and its deviation \[ns\].
    rtt: Option<(u64, u64)>,
    least: Least,
    /// Smoothed one-way delay and its deviation \[us\].
    smooth: Option<(i64, i64)>,
    /// One-way delay of the last frame above the least \[us\].
    queue_us: i64,
}

impl PathDelay {
    /// Delays without any sample.
    pub fn new() -> Self {
        let least = || Least::new(MINIMUM_SPAN);
        Self { rtt_least: least(), rtt: None, least: least(), smooth: None, queue_us: 0 }
    }

    /// The shortest recent round trip \[ns\]; before any, a tenth of a second.
    pub fn rtt_least_ns(&self) -> u64 {
        self.rtt_least.get().map_or(100_000_000, |ns| ns.max(0) as u64)
    }
    /// The shortest recent round trip.
    pub fn rtt_least(&self) -> Option<Duration> {
        self.rtt_least.get().map(|ns| Duration::from_nanos(ns.max(0) as u64))
    }
    /// Smoothed time until feedback tells of a frame, and its deviation (as of RFC 6298): a round trip, and the time
    /// that a frame waits for the feedback.
    pub fn rtt(&self) -> Option<(Duration, Duration)> {
        self.rtt.map(|(rtt, var)| (Duration::from_nanos(rtt), Duration::from_nanos(var)))
    }
    /// Length of the link's own queue when the last frame passed it.
    pub fn queue(&self) -> Duration {
        Duration::from_micros(self.queue_us.max(0) as u64)
    }
    /// The same, negative if the frame was faster than the least delay \[us\].
    pub const fn queue_us(&self) -> i64 {
        self.queue_us
    }
    /// The least recent one-way delay \[us\]; the origin is the same on all members.
    pub fn least_us(&self) -> Option<i64> {
        self.least.get()
    }
    /// The same with the deviation of the smoothed delay \[us\].
    pub fn least_and_deviation_us(&self) -> Option<(i64, i64)> {
        Some((self.least.get()?, self.smooth?.1))
    }

    /// Learns from a frame that was sent at `sent_at` and came `age_us` before the feedback left; nothing had been
    /// heard of frames since `waited_since`.
    pub fn learn_rtt(&mut self, now: Instant, sent_at: Instant, age_us: u32, waited_since: Instant) {
        let least = now.saturating_since(sent_at).saturating_sub(Duration::from_micros(u64::from(age_us)));
        self.rtt_least.learn(now, i64::try_from(least.as_nanos().max(1)).unwrap_or(i64::MAX));
        let sample = now.saturating_since(waited_since.min(sent_at)).as_nanos().max(1);
        self.rtt = Some(match self.rtt {
            None => (sample, sample / 2),
            Some((rtt, var)) => (rtt - rtt / 8 + sample / 8, var - var / 4 + rtt.abs_diff(sample) / 4),
        });
    }

    /// Learns the one-way delay of a frame \[us\].
    pub fn learn_one_way(&mut self, now: Instant, delay: i64) {
        let least = self.least.learn(now, delay);
        self.queue_us = delay - least;
        self.smooth = Some(match self.smooth {
            None => (delay, 0),
            Some((smooth, var)) => (smooth + (delay - smooth) / 4, var + ((delay - smooth).abs() - var) / 4),
        });
    }

    /// The least one-way delay is `delay` from now on \[us\]: the path has become longer.
    pub fn restart(&mut self, now: Instant, delay: i64) {
        self.least.restart(now, delay);
    }

    /// Forgets one-way delays: the far end's clock is another.
    pub fn forget_one_way(&mut self) {
        self.least = Least::new(MINIMUM_SPAN);
        self.smooth = None;
        self.queue_us = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn the_first_round_trip_has_half_of_it_as_deviation_and_later_ones_an_eighth_and_a_quarter_of_weight() {
        let mut delay = PathDelay::new();
        assert_eq!((delay.rtt(), delay.rtt_least(), delay.rtt_least_ns()), (None, None, 100_000_000));
        // As in RFC 6298, section 2.
        delay.learn_rtt(at(80), at(0), 0, at(0));
        assert_eq!(delay.rtt(), Some((MS * 80, MS * 40)));
        delay.learn_rtt(at(220), at(100), 0, at(100));
        assert_eq!(delay.rtt(), Some((MS * 85, MS * 40)), "30 and a quarter of 40");
        delay.learn_rtt(at(345), at(300), 0, at(300));
        assert_eq!(delay.rtt(), Some((MS * 80, MS * 40)));
        assert_eq!(delay.rtt_least(), Some(MS * 45));
    }

    #[test]
    fn the_least_round_trip_has_no_wait_for_feedback_and_the_usual_one_the_whole() {
        let mut delay = PathDelay::new();
        // It left at 20 ms, waited there for 15 ms, and nothing had been heard of what left at 10 ms.
        delay.learn_rtt(at(100), at(20), 15_000, at(10));
        assert_eq!((delay.rtt_least(), delay.rtt()), (Some(MS * 65), Some((MS * 90, MS * 45))));
        // A far clock that runs fast makes no round trip of nothing.
        delay.learn_rtt(at(200), at(190), 20_000, at(190));
        assert_eq!(delay.rtt_least_ns(), 1);
    }

    #[test]
    fn a_queue_is_the_delay_above_the_least_and_the_deviation_is_smoothed() {
        let mut delay = PathDelay::new();
        assert_eq!((delay.least_us(), delay.least_and_deviation_us(), delay.queue_us()), (None, None, 0));
        let mut learn = |us: i64| {
            delay.learn_one_way(at(0), us);
            (delay.least_and_deviation_us().unwrap(), delay.queue_us())
        };
        // Smoothed: 1000, 1400, 1250.
        assert_eq!(learn(1_000), ((1_000, 0), 0));
        assert_eq!(learn(2_600), ((1_000, 400), 1_600));
        assert_eq!(learn(800), ((800, 450), 0));
        assert_eq!(learn(1_250), ((800, 338), 450));
        delay.restart(at(1), 1_300);
        assert_eq!(delay.least_us(), Some(1_300));
        delay.learn_one_way(at(2), 1_500);
        assert_eq!((delay.queue_us(), delay.queue()), (200, Duration::from_micros(200)));
        delay.forget_one_way();
        assert_eq!((delay.least_us(), delay.least_and_deviation_us(), delay.queue_us()), (None, None, 0));
    }
}
