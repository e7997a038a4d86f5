//! Carrier sense: a station's view of the medium, physical and virtual, and since when it counts as idle. All functions
//! that contend for the medium at one station share it.

use crate::nav::Nav;
use airbraid_units::{Duration, Instant};

/// The constants of carrier sense.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenseConfig {
    /// EIFS; `None`: not used.
    pub eifs: Option<Duration>,
    /// Whether EIFS is a NAV: counted from the end of the frame, kept when a correct one follows.
    pub eifs_is_nav: bool,
    /// The gap that EIFS takes the place of.
    pub difs: Duration,
    /// Time from the first energy of a frame to PHY-RXSTART.indication (aPHY-RX-START-Delay).
    pub rx_start_delay: Duration,
}

/// One station's view of the medium.
#[derive(Clone, Debug)]
pub(crate) struct CarrierSense {
    config: SenseConfig,
    /// Virtual carrier sense.
    pub nav: Nav,
    busy_since: Option<Instant>,
    own_until: Instant,
    /// Whether anything was ever on the medium.
    is_used: bool,
    /// Whether the station hears nothing.
    is_lost: bool,
    /// End of the last energy or own transmission.
    idle_from: Instant,
    /// EIFS less DIFS after a reception with an error.
    eifs_from: Instant,
    /// A reception has ended with an error while other energy keeps the medium busy: EIFS is still to begin.
    error_pending: bool,
    /// End of the time in which the frame in service cannot be sent to its receiver: like a NAV, but for that frame
    /// alone.
    hold: Instant,
}

impl CarrierSense {
    /// A station that finds the medium idle.
    pub fn new(config: SenseConfig) -> Self {
        Self {
            config,
            nav: Nav::default(),
            busy_since: None,
            own_until: Instant::ZERO,
            is_used: false,
            is_lost: false,
            idle_from: Instant::ZERO,
            eifs_from: Instant::ZERO,
            error_pending: false,
            hold: Instant::ZERO,
        }
    }

    /// Returns the time at which the energy on the medium began, if there is any.
    #[inline]
    pub fn busy_since(&self) -> Option<Instant> {
        self.busy_since
    }
    /// Whether a reception is under way whose preamble has been noticed by `now`.
    pub fn has_reception_begun(&self, now: Instant) -> bool {
        self.busy_since.is_some_and(|since| self.has_begun(since, now))
    }
    /// Whether a reception that begins at `since` will have been noticed by `now`.
    #[inline]
    pub fn has_begun(&self, since: Instant, now: Instant) -> bool {
        since + self.config.rx_start_delay <= now
    }
    /// Whether the medium is busy, reserved, or taken by the station itself.
    #[inline]
    pub fn is_taken(&self, now: Instant) -> bool {
        let is_reserved = self.nav.is_set(now) || self.hold > now;
        self.busy_since.is_some() || is_reserved || self.own_until > now
    }

    /// Energy arrives. Counters must have been stopped before.
    #[inline]
    pub fn on_busy(&mut self, now: Instant) {
        self.nav.confirm(now + self.config.rx_start_delay);
        self.busy_since = Some(now);
    }

    /// The medium falls idle. A station that has ceased to hear at this very instant does not know.
    #[inline]
    pub fn on_idle(&mut self, now: Instant) {
        if self.is_lost {
            return;
        }
        self.busy_since = None;
        if self.error_pending {
            self.start_eifs(now);
        }
        self.wait_until(now);
    }

    /// A reception ends with an error: EIFS, so that the exchange that was not understood may finish. It begins when
    /// the medium falls idle (10.3.2.3.7).
    #[inline]
    pub fn on_error(&mut self, now: Instant) {
        if self.config.eifs_is_nav {
            self.nav.update(now, self.config.eifs.unwrap_or_default(), None);
        } else if self.busy_since.is_some() {
            self.error_pending = true;
        } else {
            self.start_eifs(now);
        }
    }

    /// A frame of `airtime` begins that the receiver ignores. Where EIFS is a NAV, the station takes it for one with an
    /// error, from its beginning on.
    pub fn on_ignored(&mut self, now: Instant, airtime: Duration) {
        if self.config.eifs_is_nav {
            self.nav.update(now, airtime + self.config.eifs.unwrap_or_default(), None);
        }
    }

    fn start_eifs(&mut self, now: Instant) {
        self.error_pending = false;
        if let Some(eifs) = self.config.eifs {
            self.eifs_from = now + eifs.saturating_sub(self.config.difs);
        }
    }

    /// A reception ends well: EIFS is over.
    #[inline]
    pub fn on_success(&mut self) {
        self.eifs_from = Instant::ZERO;
        self.error_pending = false;
    }

    /// The station itself transmits until `end`.
    #[inline]
    pub fn on_own_transmission(&mut self, end: Instant) {
        self.own_until = end;
        self.wait_until(end);
    }

    /// The medium counts as idle from `now` on at the earliest, as it does where the station has waited for an answer
    /// in vain.
    #[inline]
    pub fn wait_until(&mut self, now: Instant) {
        self.is_used = true;
        self.idle_from = self.idle_from.max(now);
    }

    /// Begins on a channel of which the station knows nothing: everything that was heard elsewhere is void.
    pub fn start_again(&mut self, now: Instant) {
        self.nav = Nav::default();
        (self.busy_since, self.error_pending) = (None, false);
        (self.eifs_from, self.hold) = (Instant::ZERO, Instant::ZERO);
        (self.is_used, self.idle_from) = (true, now);
    }

    /// The station hears nothing more: to it the medium is busy.
    pub fn lose(&mut self, now: Instant) {
        (self.busy_since, self.is_lost) = (Some(now), true);
    }
    /// It hears again, a medium that is idle. The NAV is what it was.
    pub fn find(&mut self, now: Instant) {
        (self.busy_since, self.error_pending, self.eifs_from) = (None, false, Instant::ZERO);
        self.is_lost = false;
        self.wait_until(now);
    }

    /// Holds the frame in service until `until`; a time in the past lifts the hold.
    pub fn hold_until(&mut self, now: Instant, until: Instant) {
        self.is_used |= until > now;
        self.hold = if until > now { until } else { self.hold.min(now) };
    }

    /// The time at which a medium that stays idle has been so for `gap`, as things stand; a station that has heard
    /// nothing yet has it behind itself.
    #[inline]
    pub fn ready(&self, gap: Duration) -> Instant {
        let idle = self.idle_from.max(self.eifs_from).max(self.nav.until().max(self.hold));
        if self.is_used { idle + gap } else { Instant::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame may end at the instant at which the radio leaves.
    #[test]
    fn a_station_that_hears_nothing_does_not_hear_that_the_medium_is_idle() {
        let [gap, at] = [34, 100].map(Duration::from_micros);
        let config = SenseConfig { eifs: None, eifs_is_nav: false, difs: gap, rx_start_delay: Duration::ZERO };
        let (mut sense, now) = (CarrierSense::new(config), Instant::ZERO + at);
        sense.on_busy(Instant::ZERO);
        sense.lose(now);
        sense.on_idle(now);
        assert!(sense.is_taken(now + at));
        sense.find(now + at);
        assert!(!sense.is_taken(now + at));
        assert_eq!(sense.ready(gap), now + at + gap);
    }
}
