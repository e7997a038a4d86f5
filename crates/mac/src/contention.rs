//! Contention for the medium: carrier sense, interframe spaces and backoff of one station (802.11-2020, 10.3.2 to
//! 10.3.4), shared by all MACs that contend.
//!
//! Backoff is arithmetic, not events: the counter and the instant from which it runs are kept, and what is left of it
//! is computed when energy stops it. A MAC that wants to transmit asks for a [`Contention::grant`] after every input.
//!
//! ```text
//!  medium   busy |  idle                                     | busy
//!                |-- DIFS/EIFS --|-- slot --|-- slot --|- ...
//!            idle since        ready                   ^ access: committed a turnaround earlier
//! ```

mod backoff;
mod carrier_sense;
#[cfg(test)]
mod tests;

pub(crate) use backoff::{Backoff, BackoffConfig};
pub(crate) use carrier_sense::{CarrierSense, SenseConfig};

use crate::alarm::Alarm;
use crate::nav::Nav;
use crate::service::Access;
use airbraid_engine::Stream;
use airbraid_units::{Duration, Instant};

/// The constants of a station's contention.
#[derive(Clone, Copy, Debug)]
pub struct ContentionConfig {
    /// aSlotTime.
    pub slot: Duration,
    pub difs: Duration,
    /// EIFS; `None`: not used, DIFS instead.
    pub eifs: Option<Duration>,
    /// Whether EIFS is a NAV: counted from the end of the frame, kept when a correct one follows.
    pub eifs_is_nav: bool,
    /// Time between the station's commitment to a transmission and its first energy (aRxTxTurnaroundTime).
    pub turnaround: Duration,
    /// Time from the first energy of a frame to PHY-RXSTART.indication (aPHY-RX-START-Delay).
    pub rx_start_delay: Duration,
    /// aCWmin.
    pub cw_min: u32,
    /// aCWmax.
    pub cw_max: u32,
}

/// The event for which a MAC waits while its frame in service contends; after either it asks for a grant again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// The backoff ends, less the turnaround: commit.
    Access,
    /// A NAV on probation ends.
    NavReset,
}

/// Whether the frame in service may be transmitted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Grant {
    /// It is on the air at this instant: the station commits itself to it.
    Now(Instant),
    /// Not before this; never, while energy is on the medium.
    Later(Alarm<Awaited>),
}

/// The contention of a station with one queue: its view of the medium, and its place in the queue for it.
#[derive(Clone, Debug)]
pub struct Contention {
    pub(crate) sense: CarrierSense,
    backoff: Backoff<false>,
}

impl Contention {
    /// A station that finds the medium idle; `random` gives its backoffs.
    pub fn new(config: ContentionConfig, random: Stream) -> Self {
        let ContentionConfig { slot, difs, turnaround, cw_min, cw_max, .. } = config;
        let sense = SenseConfig {
            eifs: config.eifs,
            eifs_is_nav: config.eifs_is_nav,
            difs,
            rx_start_delay: config.rx_start_delay,
        };
        let backoff = BackoffConfig { gap: difs, slot, turnaround, cw_min, cw_max };
        Self { sense: CarrierSense::new(sense), backoff: Backoff::new(backoff, random) }
    }

    /// Virtual carrier sense.
    #[inline]
    pub fn nav(&self) -> &Nav {
        &self.sense.nav
    }
    /// The same, to be changed.
    #[inline]
    pub fn nav_mut(&mut self) -> &mut Nav {
        &mut self.sense.nav
    }
    /// Returns the time at which the energy on the medium began, if there is any.
    pub fn busy_since(&self) -> Option<Instant> {
        self.sense.busy_since()
    }
    /// Whether a reception is under way whose preamble has been noticed by `now`.
    pub fn has_reception_begun(&self, now: Instant) -> bool {
        self.sense.has_reception_begun(now)
    }
    /// Whether a reception that begins at `since` will have been noticed by `now`.
    #[inline]
    pub fn has_begun(&self, since: Instant, now: Instant) -> bool {
        self.sense.has_begun(since, now)
    }
    /// The contention window and the backoff that was drawn last \[slots\].
    #[cfg(test)]
    fn last_draw(&self) -> (u32, u32) {
        self.backoff.last_draw()
    }

    /// Energy arrives: the counter stops.
    #[inline]
    pub fn on_busy(&mut self, now: Instant) {
        self.sense.nav.settle(now);
        self.backoff.freeze(&self.sense, now);
        self.sense.on_busy(now);
    }

    /// The medium falls idle.
    #[inline]
    pub fn on_idle(&mut self, now: Instant) {
        self.sense.on_idle(now);
    }

    /// A reception ends with an error.
    #[inline]
    pub fn on_error(&mut self, now: Instant) {
        self.sense.on_error(now);
    }

    /// A frame of `airtime` begins that the receiver ignores.
    pub fn on_ignored(&mut self, now: Instant, airtime: Duration) {
        self.sense.on_ignored(now, airtime);
    }

    /// A reception ends well: EIFS is over.
    #[inline]
    pub fn on_success(&mut self) {
        self.sense.on_success();
    }

    /// The station itself transmits until `end`.
    #[inline]
    pub fn on_own_transmission(&mut self, end: Instant) {
        self.sense.on_own_transmission(end);
    }

    /// Begins on a channel of which the station knows nothing: the medium must be idle for DIFS first. The rest of a
    /// backoff elsewhere is void, and so is everything that was heard there.
    pub fn start_again(&mut self, now: Instant) {
        self.sense.start_again(now);
        self.backoff.forget();
    }

    /// Holds the frame in service until `until` before its slots count; a time in the past lifts the hold. Slots that
    /// have been counted stay counted.
    pub fn hold_until(&mut self, now: Instant, until: Instant) {
        self.sense.nav.settle(now);
        if until > now {
            self.backoff.freeze(&self.sense, now);
        }
        self.sense.hold_until(now, until);
    }

    /// Asks for the medium for a new frame: at once if the medium has been idle for long enough and no backoff is
    /// pending, after a backoff otherwise.
    pub fn request(&mut self, now: Instant) {
        self.sense.nav.settle(now);
        let is_taken = self.sense.is_taken(now);
        self.backoff.request(&self.sense, now, is_taken);
    }

    /// Draws a backoff from the present window; it runs from `from` at the earliest.
    pub fn draw(&mut self, from: Instant) {
        self.backoff.draw(from);
    }

    /// A frame that wanted immediate access was overtaken by energy: it must back off after all.
    #[inline]
    pub fn draw_if_none(&mut self, now: Instant) {
        self.backoff.draw_if_none(now);
    }

    /// An attempt failed: the window doubles.
    pub fn widen(&mut self) {
        self.backoff.widen();
    }

    /// A frame went through or was given up: the window is the smallest again.
    pub fn reset_window(&mut self) {
        self.backoff.reset_window();
    }

    /// The time at which the frame in service will be on the air if nothing comes between; `None` while energy is on
    /// the medium.
    #[inline]
    pub fn access_at(&self) -> Option<Instant> {
        self.backoff.access_at(&self.sense)
    }

    /// Whether the frame in service is to be transmitted at `now`: a station commits itself a turnaround before its
    /// access.
    #[inline]
    pub(crate) fn grant(&self, now: Instant) -> Grant {
        self.backoff.grant(&self.sense, now)
    }

    /// The station commits: the backoff is spent.
    pub fn spend(&mut self) -> Access {
        self.backoff.spend()
    }
}
