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
