//! Pacing: bursts of some segments, spaced by the rate.
//!
//! The kernel sends what it has made one packet of at once (TSO) and then waits for the time that all of it takes. It
//! never says what to send.

use airbraid_units::{Duration, Instant};

/// The time at which the next burst may leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Pacer {
    next: Instant,
    /// Segments of the present burst that have not left.
    left: u64,
    /// A segment was held back, and waits.
    is_waiting: bool,
}

impl Pacer {
    /// Whether a segment may leave now, with bursts of `burst` segments.
    pub fn lets(&mut self, now: Instant, burst: u64) -> bool {
        if now >= self.next {
            self.left = burst;
        }
        self.is_waiting |= self.left == 0;
        self.left > 0
    }

    /// A segment of `bytes` leaves at `rate` \[byte/s\].
    pub fn on_sent(&mut self, now: Instant, bytes: u64, rate: u64) {
        self.left = self.left.saturating_sub(1);
        let span = Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / rate.max(1));
        self.next = self.next.max(now).saturating_add(span);
    }

    /// The time at which a waiting segment may leave.
    pub fn wake(&self) -> Option<Instant> {
        self.is_waiting.then_some(self.next)
    }

    /// End of the last burst's time.
    pub const fn busy_until(&self) -> Instant {
        self.next
    }

    /// Whether a waiting segment may leave now; it then no longer waits.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.is_waiting && now >= self.next;
        self.is_waiting &= !is_due;
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_as_far_apart_as_they_take() {
        let mut pacer = Pacer::default();
        let mut left = vec![];
        let mut now = Instant::ZERO;
        while left.len() < 7 {
            while pacer.lets(now, 2) {
                pacer.on_sent(now, 1_000, 1_000_000);
                left.push(now.as_nanos() / 1_000_000);
            }
            now = pacer.wake().unwrap();
            assert!(pacer.is_due(now) && !pacer.is_due(now));
        }
        assert_eq!(left, [0, 0, 2, 2, 4, 4, 6, 6]);
        assert!(pacer.lets(Instant::ZERO + Duration::from_secs(1), 2), "after a silence at once");
    }
}
