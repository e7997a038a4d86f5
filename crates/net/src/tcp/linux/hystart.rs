//! HyStart: ends slow start before the queue overflows (Ha and Rhee 2011), with Linux's constants.
//!
//! Two signs, looked for in each round trip: acknowledgements that come as one train for as long as half the least
//! delay, and a delay that has grown by an eighth. It never touches the window: it says "found".

use airbraid_units::{Duration, Instant};

/// Below this window nothing is looked for \[segments\] (`hystart_low_window`).
const LOW_WINDOW: u64 = 16;

/// Acknowledgements further apart belong to no train (`hystart_ack_delta`).
const TRAIN_GAP: Duration = Duration::from_millis(2);

/// Largest delay that aggregation adds to a train (`hystart_ack_delay` without pacing: at most 1 ms).
const AGGREGATION: Duration = Duration::from_millis(1);

/// Delays of a round that are sampled before they are judged (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;

/// The least and the largest growth of the delay that counts (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const GROWTH: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(16));

#[derive(Clone, Debug, Default)]
pub(super) struct HyStart {
    round_start: Instant,
    /// The round ends when this offset is acknowledged.
    round_end: u64,
    last: Instant,
    least: Option<Duration>,
    samples: u32,
    /// Slow start should have ended.
    pub found: bool,
}

impl HyStart {
    /// A new round, which lasts until `end` is acknowledged.
    pub fn begin_round(&mut self, now: Instant, end: u64) {
        *self = Self { round_start: now, round_end: end, last: now, found: self.found, ..Self::default() };
    }

    /// An acknowledgement up to `una` with a delay; `nxt` is the next offset to send, `least` the least delay ever.
    /// Returns whether slow start ends.
    pub fn on_ack(
        &mut self,
        now: Instant,
        (una, nxt): (u64, u64),
        cwnd: u64,
        delay: Duration,
        least: Duration,
    ) -> bool {
        if una > self.round_end {
            self.begin_round(now, nxt);
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        if now.saturating_since(self.last) <= TRAIN_GAP {
            self.last = now;
            self.found |= now.saturating_since(self.round_start) > (least + AGGREGATION) / 2;
        }
        let current = self.least.map_or(delay, |other| other.min(delay));
        self.least = Some(current);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let growth = (least / 8).clamp(GROWTH.0, GROWTH.1);
            self.found |= current > least + growth;
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    /// Feeds a round of acknowledgements `gap` apart with `delay`; returns the number after which slow start ends.
    fn round(cwnd: u64, gap: u64, delay: u64) -> Option<u64> {
        let mut hystart = HyStart::default();
        hystart.begin_round(Instant::ZERO, 1_000_000);
        (1..=40).find(|n| {
            let now = Instant::ZERO + us(n * gap);
            hystart.on_ack(now, (n * 1_000, 2_000_000), cwnd, us(delay), us(40_000))
        })
    }

    #[test]
    fn a_train_of_half_the_least_delay_ends_slow_start() {
        // (40 ms + 1 ms) / 2 = 20.5 ms: the 21st acknowledgement at 1 ms each is the first beyond.
        assert_eq!(round(16, 1_000, 40_000), Some(21));
        assert_eq!(round(15, 1_000, 40_000), None, "the window is too small to say");
        assert_eq!(round(16, 2_500, 40_000), None, "not a train");
    }

    #[test]
    fn a_delay_that_has_grown_by_an_eighth_ends_slow_start() {
        // The threshold is 40 + 40 / 8 = 45 ms; eight samples are only looked at.
        assert_eq!(round(16, 2_500, 45_000), None);
        assert_eq!(round(16, 2_500, 45_001), Some(9));
    }

    /// A round ends with what was sent when it began: its train and its delays are forgotten, and what was found stays.
    #[test]
    fn a_round_ends_behind_its_last_segment() {
        let at = |us_: u64| Instant::ZERO + us(us_);
        let mut hystart = HyStart::default();
        hystart.begin_round(at(0), 1_000);
        assert!(!hystart.on_ack(at(1_000), (1_000, 9_000), 20, us(40_000), us(40_000)));
        assert_eq!((hystart.round_end, hystart.samples), (1_000, 1), "the last of the round");
        hystart.on_ack(at(2_000), (1_001, 9_000), 20, us(50_000), us(40_000));
        assert_eq!((hystart.round_end, hystart.samples, hystart.round_start), (9_000, 1, at(2_000)));
        assert_eq!(hystart.least, Some(us(50_000)), "those of the last round do not count");
        hystart.found = true;
        hystart.begin_round(at(3_000), 20_000);
        assert!(hystart.found);
    }

    /// Gaps of 2 ms make a train, and half of 40 ms and 1 ms must be passed; growth counts from 4 to 16 ms.
    #[test]
    fn limits_belong_to_what_is_not_found() {
        assert_eq!(round(16, 2_000, 40_000), Some(11), "22 ms");
        assert_eq!(round(16, 2_001, 40_000), None);
        let grown = |least: u64, delay: u64| {
            let mut hystart = HyStart::default();
            hystart.begin_round(Instant::ZERO, 1_000_000);
            (1..=9).any(|n| hystart.on_ack(Instant::ZERO + us(n * 3_000), (n, 2), 16, us(delay), us(least)))
        };
        assert_eq!([14_000, 14_001].map(|delay| grown(10_000, delay)), [false, true], "4 ms at least");
        assert_eq!([216_000, 216_001].map(|delay| grown(200_000, delay)), [false, true], "16 ms at most");
    }
}
