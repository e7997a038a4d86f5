//! RACK: a segment is lost when one that left sufficiently later has arrived (RFC 8985, section 6), as Linux has it.
//!
//! It judges by time alone and never counts duplicates, but for the one rule that makes it quick where nothing was ever
//! reordered. It sends nothing and keeps no timer: it says how long the last doubtful segment has still to wait.

use super::flight::Flight;
use super::sent::Sent;
use airbraid_units::{Duration, Instant};

/// Recoveries for which a widened reordering window is kept (RFC 8985, section 6.2, step 4: 16).
const PERSIST: u32 = 16;

/// The reordering window is at most this many quarters of the least round trip (Linux: a byte).
const STEPS_MAX: u64 = 255;

/// The latest transmission that is known to have arrived, and the window for those before it.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// Its number: it distinguishes transmissions at one time, where RFC 8985 (6.2) must go by the offset.
    latest: u64,
    rtt: Duration,
    /// Something arrived since the last search for losses.
    pub advanced: bool,
    /// The reordering window in quarters of the least round trip (`RACK.reo_wnd_mult`).
    steps: u64,
    persist: u32,
    /// A needless retransmission was reported since the window was last adapted.
    pub duplicate_seen: bool,
    /// Deliveries at that time.
    adapted_at: u64,
}

/// The conditions that decide the size of the reordering window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    /// Something was seen out of order on this connection.
    pub seen: bool,
    /// Recovery has begun, by acknowledgements or by a timeout.
    pub recovering: bool,
    /// As many segments arrived above a gap as count as proof.
    pub evident: bool,
    pub min_rtt: Duration,
    pub srtt: Duration,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            latest: 0,
            rtt: Duration::ZERO,
            advanced: false,
            steps: 1,
            persist: 0,
            duplicate_seen: false,
            adapted_at: 0,
        }
    }
}

impl Rack {
    /// `sent` has arrived (step 2).
    pub fn on_arrival(&mut self, now: Instant, sent: &Sent, min_rtt: Duration) {
        let rtt = now.saturating_since(sent.at);
        if sent.repeated && rtt < min_rtt {
            // Too early for the retransmission: the original was late, not lost.
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.latest = self.latest.max(sent.order);
    }

    /// The reordering window (step 4): none while nothing was reordered and a loss is evident, else quarters of the
    /// least round trip, at most the smoothed one.
    pub fn window(&self, order: Order) -> Duration {
        if !order.seen && (order.recovering || order.evident) {
            return Duration::ZERO;
        }
        (order.min_rtt / 4 * self.steps).min(order.srtt)
    }

    /// Time until `sent` counts as lost; zero if it does.
    pub fn patience(&self, now: Instant, sent: &Sent, window: Duration) -> Duration {
        (self.rtt + window).saturating_sub(now.saturating_since(sent.at))
    }

    /// Marks lost segments (step 5); returns their number, and the wait of the last doubtful one.
    pub fn detect(&mut self, now: Instant, flight: &mut Flight, window: Duration) -> (u64, Option<Duration>) {
        self.advanced = false;
        flight.tidy();
        let (mut lost, mut wait, mut n) = (0, None, 0);
        while let Some(place) = flight.by_time(n) {
            n += 1;
            let Some(place) = place else { continue };
            let sent = *flight.get(place);
            if sent.sacked || sent.lost && !sent.again {
                continue;
            }
            if sent.order > self.latest {
                break;
            }
            let patience = self.patience(now, &sent, window);
            if patience.is_zero() {
                lost += u64::from(flight.lose(place));
            } else {
                wait = wait.max(Some(patience));
            }
        }
        (lost, wait)
    }

    /// Widens the window by a step for a round trip with needless retransmissions, and resets it after 16 recoveries
    /// without; `sent_at` is the number of deliveries when the latest arrival left.
    pub fn adapt(&mut self, sent_at: u64, delivered: u64) {
        if sent_at < self.adapted_at {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.duplicate_seen = false;
            self.steps = (self.steps + 1).min(STEPS_MAX);
            self.adapted_at = delivered;
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }
    /// A recovery ended: it was needed, or it was undone because every retransmission proved needless.
    pub fn on_recovery_end(&mut self, needed: bool) {
        self.persist = if needed { self.persist.saturating_sub(1) } else { (self.persist + 1).min(PERSIST) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::sent::Stamp;
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }
    fn at(n: u64) -> Instant {
        Instant::ZERO + ms(n)
    }
    const NEW: Order = Order {
        seen: false,
        recovering: false,
        evident: false,
        min_rtt: Duration::from_millis(40),
        srtt: Duration::from_millis(50),
    };

    #[test]
    fn the_reordering_window_is_a_quarter_of_the_round_trip_once_something_was_reordered() {
        let mut rack = Rack::default();
        assert_eq!(rack.window(NEW), ms(10), "doubt, but no proof");
        assert_eq!(rack.window(Order { evident: true, ..NEW }), Duration::ZERO);
        assert_eq!(rack.window(Order { recovering: true, ..NEW }), Duration::ZERO);
        let seen = Order { seen: true, evident: true, recovering: true, ..NEW };
        assert_eq!(rack.window(seen), ms(10));
        for (round, window) in [(1, 20), (2, 30), (3, 40), (4, 50), (5, 50)] {
            rack.duplicate_seen = true;
            rack.adapt(10 * round, 10 * round + 5);
            assert_eq!(rack.window(seen), ms(window), "a step a round, at most the smoothed round trip");
        }
        rack.duplicate_seen = true;
        rack.adapt(54, 60);
        assert!(rack.steps == 6 && !rack.duplicate_seen, "not twice in one round trip");
        for _ in 0..16 {
            rack.adapt(70, 80);
            assert_eq!(rack.steps, 6);
            rack.on_recovery_end(true);
        }
        rack.adapt(90, 100);
        assert_eq!(rack.window(seen), ms(10), "sixteen recoveries later");
    }

    #[test]
    fn what_left_before_an_arrival_waits_for_a_round_trip_and_the_window() {
        let (mut rack, mut flight) = (Rack::default(), Flight::default());
        for i in 0..4 {
            flight.push(at(i), (1 + 10 * i, 11 + 10 * i), Stamp::default());
        }
        // The third, sent at 2 ms, arrives after 40 ms: the first was due 2 ms ago, the second 1 ms ago.
        rack.on_arrival(at(42), flight.get(2), ms(40));
        flight.sack(2);
        assert!(rack.advanced);
        assert_eq!(rack.detect(at(42), &mut flight, ms(10)), (0, Some(ms(9))));
        assert_eq!(rack.detect(at(50), &mut flight, ms(10)), (1, Some(ms(1))), "the first at 50 ms");
        assert_eq!(rack.detect(at(51), &mut flight, ms(10)), (1, None), "the second at 51; the fourth left later");
        assert_eq!((flight.lost(), flight.pipe()), (2, 1));
    }

    #[test]
    fn a_repetition_that_arrives_too_early_says_nothing() {
        let (mut rack, mut flight) = (Rack::default(), Flight::default());
        flight.push(at(0), (1, 11), Stamp::default());
        flight.lose(0);
        flight.repeat(at(45), 0, Stamp::default(), true);
        rack.on_arrival(at(50), flight.get(0), ms(40));
        assert!(!rack.advanced);
        rack.on_arrival(at(90), flight.get(0), ms(40));
        assert!(rack.advanced && rack.rtt == ms(45));
    }
}
