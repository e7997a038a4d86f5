//! The network allocation vector: the medium is taken until then, whatever the radio hears (802.11-2020, 10.3.2.4).

use airbraid_units::{Duration, Instant};

#[derive(Clone, Copy, Debug, Default)]
pub struct Nav {
    until: Instant,
    /// Set by an RTS whose exchange must show itself by this instant, or the NAV may be reset.
    reset_at: Option<Instant>,
}

impl Nav {
    /// End of the reservation.
    pub fn until(&self) -> Instant {
        self.until
    }
    /// Whether the medium is taken at `now`.
    pub fn is_set(&self, now: Instant) -> bool {
        self.until > now
    }
    /// Takes over the Duration of an overheard frame if it reaches further; `probation` is the time in which
    /// the exchange that an RTS announced must show itself.
    pub fn update(&mut self, now: Instant, duration: Duration, probation: Option<Duration>) {
        let until = now + duration;
        if until > self.until {
            self.until = until;
            self.reset_at = probation.map(|span| now + span).filter(|&at| at < until);
        }
    }
    /// Clears the NAV, as the station that set it allows.
    pub fn cancel(&mut self, now: Instant) {
        self.until = self.until.min(now);
        self.reset_at = None;
    }
    /// The time of the NAV's reset unless a transmission begins.
    pub fn reset_at(&self) -> Option<Instant> {
        self.reset_at
    }
    /// Resets the NAV if its probation has ended by `now`.
    pub fn settle(&mut self, now: Instant) {
        if let Some(at) = self.reset_at
            && at <= now
        {
            self.reset_at = None;
            self.until = self.until.min(at);
        }
    }
    /// A transmission has begun that will be noticed in time (its PHY-RXSTART falls at `noticed`): the NAV stands.
    pub fn confirm(&mut self, noticed: Instant) {
        if self.reset_at.is_some_and(|at| noticed <= at) {
            self.reset_at = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    /// A frame that reserves no longer than what is reserved says nothing of the exchange that is on probation.
    #[test]
    fn only_a_longer_reservation_changes_one_that_may_be_reset() {
        let us = Duration::from_micros;
        for (again, reset_at) in [(499, Some(at(100))), (500, Some(at(100))), (501, None)] {
            let mut nav = Nav::default();
            nav.update(at(0), us(500), Some(us(100)));
            nav.update(at(0), us(again), None);
            assert_eq!((nav.reset_at(), nav.until()), (reset_at, at(again.max(500))));
        }
    }
}
