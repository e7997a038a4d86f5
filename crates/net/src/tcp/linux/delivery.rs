//! Delivery rate, sampled at each acknowledgement: deliveries over the longer of the sending and the acknowledging time
//! (Cheng, Cardwell, Hassas Yeganeh and Jacobson, draft-cheng-iccrg-delivery-rate-estimation-02).
//!
//! A sample that an application held back is marked: it bounds the rate from below only. It draws no conclusion.

use super::sent::{Sent, Stamp};
use airbraid_units::{Duration, Instant};

/// The sample of one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Segments delivered since the latest of the arrived ones had left, and before that.
    pub delivered: u64,
    pub prior: u64,
    /// The time that they took; none if that is shorter than any round trip, and so tells nothing.
    pub interval: Option<Duration>,
    /// The application held them back.
    pub is_limited: bool,
}

/// The count of arrivals.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    /// Segments known to have arrived, needless ones not counted.
    pub delivered: u64,
    delivered_at: Instant,
    first_at: Instant,
    /// Deliveries until which the application had nothing more to send; zero: it has.
    limited_until: u64,
    /// The latest transmission that the present acknowledgement covers.
    latest: Option<Sent>,
}

impl Delivery {
    /// The stamp of a segment that leaves now; `is_first`: nothing else is out.
    pub fn stamp(&mut self, now: Instant, is_first: bool) -> Stamp {
        if is_first {
            (self.first_at, self.delivered_at) = (now, now);
        }
        let Self { delivered, delivered_at, first_at, limited_until, .. } = *self;
        Stamp { delivered, delivered_at, first_at, is_limited: limited_until > 0 }
    }

    /// A segment has arrived; one that is not `telling` is only counted.
    pub fn on_arrival(&mut self, sent: &Sent, telling: bool) {
        self.delivered += 1;
        if telling && self.latest.is_none_or(|latest| sent.order > latest.order) {
            self.latest = Some(*sent);
        }
    }

    /// The application has nothing more to send while `pipe` segments are in the network, or it is held back.
    pub fn on_limited(&mut self, pipe: u64) {
        self.limited_until = (self.delivered + pipe).max(1);
    }

    /// The sample of the acknowledgement that has been read now; `before` were delivered before it, and no round trip
    /// was shorter than `least`.
    pub fn sample(&mut self, now: Instant, before: u64, least: Duration) -> Option<Sample> {
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if self.delivered > before {
            self.delivered_at = now;
        }
        let Sent { at, stamp, .. } = self.latest.take()?;
        self.first_at = at;
        let sending = at.saturating_since(stamp.first_at);
        let interval = sending.max(now.saturating_since(stamp.delivered_at));
        Some(Sample {
            delivered: self.delivered - stamp.delivered,
            prior: stamp.delivered,
            interval: (interval >= least && !interval.is_zero()).then_some(interval),
            is_limited: stamp.is_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::flight::Flight;
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// One segment every 10 ms, each acknowledged after 40 ms.
    fn steady() -> (Flight, Delivery) {
        let (mut flight, mut delivery) = (Flight::default(), Delivery::default());
        for n in 0..10 {
            let stamp = delivery.stamp(at(10 * n), flight.is_empty());
            flight.push(at(10 * n), (n, n + 1), stamp);
            if n >= 4 {
                let sent = flight.pop(n - 3).unwrap();
                let before = delivery.delivered;
                delivery.on_arrival(&sent, true);
                delivery.sample(at(10 * n), before, Duration::from_millis(40));
            }
        }
        (flight, delivery)
    }

    #[test]
    fn a_rate_is_what_was_delivered_in_a_round_trip() {
        let (mut flight, mut delivery) = steady();
        let sent = flight.pop(7).unwrap();
        let before = delivery.delivered;
        delivery.on_arrival(&sent, true);
        let sample = delivery.sample(at(100), before, Duration::from_millis(40)).unwrap();
        // It left at 60 ms, when the third had just been acknowledged.
        assert_eq!((sample.prior, sample.delivered), (2, 5));
        assert_eq!(sample.interval, Some(Duration::from_millis(50)));
    }

    #[test]
    fn acknowledgements_that_come_together_show_no_more_than_was_sent() {
        let (mut flight, mut delivery) = steady();
        let before = delivery.delivered;
        while let Some(sent) = flight.pop(10) {
            delivery.on_arrival(&sent, true);
        }
        // All that is out arrives at once; the last of it left 50 ms after what was known to have arrived by then.
        let sample = delivery.sample(at(91), before, Duration::from_millis(1)).unwrap();
        assert_eq!((sample.delivered, sample.interval), (5, Some(Duration::from_millis(50))));
        assert_eq!(delivery.sample(at(91), 10, Duration::ZERO), None, "nothing new");
    }

    #[test]
    fn what_is_faster_than_any_round_trip_is_no_rate() {
        let (mut flight, mut delivery) = steady();
        delivery.on_arrival(&flight.pop(7).unwrap(), true);
        assert_eq!(delivery.sample(at(100), 6, Duration::from_millis(60)).unwrap().interval, None);
    }

    #[test]
    fn what_the_application_held_back_is_marked_until_it_has_arrived() {
        let (mut flight, mut delivery) = steady();
        delivery.on_limited(flight.pipe());
        let stamp = delivery.stamp(at(100), false);
        flight.push(at(100), (10, 11), stamp);
        let before = delivery.delivered;
        while let Some(sent) = flight.pop(11) {
            delivery.on_arrival(&sent, true);
        }
        assert!(delivery.sample(at(140), before, Duration::ZERO).unwrap().is_limited);
        assert!(!delivery.stamp(at(150), true).is_limited);
    }
}
