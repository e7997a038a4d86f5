//! Transmissions that the frames of a port need, smoothed over observations.
//!
//! MPDUs of one A-MPDU share one fate: what finishes at one instant is one observation, and its mean counts.

use airbraid_units::Instant;

/// The transmissions of a frame, as observed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempts {
    /// The time of the newest observation.
    pub at: Instant,
    /// Smoothed over those before the newest; `None`: there was none \[thousandths\].
    before: Option<u64>,
    /// Sum of transmissions \[thousandths\] and number of frames of the newest.
    newest: (u64, u64),
    /// Whether any frame of the newest was delivered.
    pub is_delivered: bool,
}

impl Attempts {
    /// A frame has finished after `transmissions` \[thousandths\], and no earlier observation counts.
    pub const fn first(at: Instant, transmissions: u64, is_delivered: bool) -> Self {
        Self { at, before: None, newest: (transmissions, 1), is_delivered }
    }

    /// Another frame has finished; observations have this weight \[thousandths\].
    pub fn next(self, at: Instant, transmissions: u64, is_delivered: bool, weight: u64) -> Self {
        if at != self.at {
            return Self { before: Some(self.smoothed(weight)), ..Self::first(at, transmissions, is_delivered) };
        }
        let (sum, count) = self.newest;
        Self { newest: (sum + transmissions, count + 1), is_delivered: self.is_delivered || is_delivered, ..self }
    }

    /// Transmissions for a frame \[thousandths\].
    pub fn smoothed(self, weight: u64) -> u64 {
        let mean = self.newest.0 / self.newest.1;
        self.before.map_or(mean, |before| (before * (1_000 - weight) + mean * weight) / 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Duration;

    const WEIGHT: u64 = 100;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn an_aggregate_that_was_lost_once_counts_as_one_frame_that_was() {
        let good = Attempts::first(at(0), 1_000, true);
        let one = good.next(at(5), 2_000, true, WEIGHT);
        let many = (1..256).fold(one, |all, _| all.next(at(5), 2_000, true, WEIGHT));
        assert_eq!(one.smoothed(WEIGHT), 1_100);
        assert_eq!(many.smoothed(WEIGHT), 1_100);
        assert_eq!(many.next(at(10), 1_000, true, WEIGHT).smoothed(WEIGHT), 1_090);
    }

    #[test]
    fn an_aggregate_counts_by_its_mean_whatever_its_order() {
        let mixed = |order: [u64; 4]| {
            let first = Attempts::first(at(0), 1_000, true);
            order.iter().fold(first, |all, n| all.next(at(5), n * 1_000, true, WEIGHT)).smoothed(WEIGHT)
        };
        assert_eq!(mixed([1, 1, 1, 3]), 1_050);
        assert_eq!(mixed([3, 1, 1, 1]), 1_050);
    }

    #[test]
    fn an_aggregate_is_delivered_if_any_frame_of_it_is() {
        let lost = Attempts::first(at(0), 14_000, false);
        assert!(!lost.next(at(0), 14_000, false, WEIGHT).is_delivered);
        assert!(lost.next(at(0), 7_000, true, WEIGHT).is_delivered);
        assert!(!lost.next(at(0), 7_000, true, WEIGHT).next(at(1), 14_000, false, WEIGHT).is_delivered);
    }
}
