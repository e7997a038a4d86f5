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

#[cfg(test)]
mod tests;

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

/// A backoff counter and the instant before which it does not run.
#[derive(Clone, Copy, Debug)]
struct Backoff {
    slots: u32,
    from: Instant,
}

/// One station's view of the medium and its place in the queue for it.
#[derive(Clone, Debug)]
pub struct Contention {
    config: ContentionConfig,
    /// Virtual carrier sense.
    pub nav: Nav,
    busy_since: Option<Instant>,
    own_until: Instant,
    /// End of the last energy or own transmission, and DIFS.
    idle_ready: Instant,
    /// End of EIFS after a reception with an error.
    eifs_ready: Instant,
    /// A reception has ended with an error while other energy keeps the medium busy: EIFS is still to begin.
    error_pending: bool,
    /// End of the time in which the frame in service cannot be sent to its receiver: like a NAV, but for that frame
    /// alone.
    hold: Instant,
    cw: u32,
    backoff: Option<Backoff>,
    /// When the frame in service asked for the medium.
    asked_at: Instant,
    /// The last backoff drawn \[slots\], for the timeline.
    drawn: u32,
    random: Stream,
}

impl Contention {
    /// A station that finds the medium idle; `random` gives its backoffs.
    pub fn new(config: ContentionConfig, random: Stream) -> Self {
        Self {
            config,
            nav: Nav::default(),
            busy_since: None,
            own_until: Instant::ZERO,
            idle_ready: Instant::ZERO,
            eifs_ready: Instant::ZERO,
            error_pending: false,
            hold: Instant::ZERO,
            cw: config.cw_min,
            backoff: None,
            asked_at: Instant::ZERO,
            drawn: 0,
            random,
        }
    }

    /// Returns the time at which the energy on the medium began, if there is any.
    pub fn busy_since(&self) -> Option<Instant> {
        self.busy_since
    }
    /// Whether a reception is under way whose preamble has been noticed by `now`.
    pub fn has_reception_begun(&self, now: Instant) -> bool {
        self.busy_since.is_some_and(|since| since + self.config.rx_start_delay <= now)
    }
    /// The contention window and the backoff that was drawn last \[slots\].
    #[cfg(test)]
    fn last_draw(&self) -> (u32, u32) {
        (self.cw, self.drawn)
    }

    /// Energy arrives: the counter stops.
    #[inline]
    pub fn on_busy(&mut self, now: Instant) {
        self.nav.settle(now);
        self.freeze(now);
        self.nav.confirm(now + self.config.rx_start_delay);
        self.busy_since = Some(now);
    }

    /// The medium falls idle.
    #[inline]
    pub fn on_idle(&mut self, now: Instant) {
        self.busy_since = None;
        if self.error_pending {
            self.start_eifs(now);
        }
        self.idle_ready = self.idle_ready.max(now + self.config.difs);
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
            self.eifs_ready = now + eifs;
        }
    }

    /// A reception ends well: EIFS is over.
    #[inline]
    pub fn on_success(&mut self) {
        self.eifs_ready = Instant::ZERO;
        self.error_pending = false;
    }

    /// The station itself transmits until `end`.
    #[inline]
    pub fn on_own_transmission(&mut self, end: Instant) {
        self.own_until = end;
        self.idle_ready = self.idle_ready.max(end + self.config.difs);
    }

    /// Begins on a channel of which the station knows nothing: the medium must be idle for DIFS first. The rest of a
    /// backoff elsewhere is void, and so is everything that was heard there.
    pub fn start_again(&mut self, now: Instant) {
        self.nav = Nav::default();
        (self.busy_since, self.error_pending, self.backoff) = (None, false, None);
        (self.eifs_ready, self.hold) = (Instant::ZERO, Instant::ZERO);
        self.idle_ready = now + self.config.difs;
    }

    /// The time from which backoff slots count, as things stand.
    #[inline]
    fn ready(&self) -> Instant {
        let nav = self.nav.until().max(self.hold);
        let nav = if nav == Instant::ZERO { Instant::ZERO } else { nav + self.config.difs };
        self.idle_ready.max(self.eifs_ready).max(nav)
    }

    /// Holds the frame in service until `until` before its slots count; a time in the past lifts the hold. Slots that
    /// have been counted stay counted.
    pub fn hold_until(&mut self, now: Instant, until: Instant) {
        self.nav.settle(now);
        if until > now {
            self.freeze(now);
        }
        self.hold = if until > now { until } else { self.hold.min(now) };
    }

    #[inline]
    fn counts_from(&self, backoff: Backoff) -> Instant {
        self.ready().max(backoff.from)
    }

    /// Stops the counter at `now`, keeping what is left; a counter that had run out is gone.
    ///
    /// A slot is decided on a turnaround before its end, where a station whose last slot it is commits itself: energy
    /// that comes later does not take it back. (Slot ends of two stations agree only to the rounding of the
    /// propagation delays; deciding at the very end would cost whoever is a nanosecond behind a slot each time.)
    #[inline]
    fn freeze(&mut self, now: Instant) {
        let Some(backoff) = self.backoff else { return };
        if self.busy_since.is_some() {
            return;
        }
        let start = self.counts_from(backoff);
        let decided = now + self.config.turnaround;
        if decided < start {
            return;
        }
        let passed = (decided - start).div_floor(self.config.slot);
        self.backoff = match u64::from(backoff.slots).checked_sub(passed) {
            Some(left) if left > 0 => Some(Backoff { slots: left as u32, from: backoff.from }),
            // Fully counted: a station that had a frame to send would have sent it, so this one had none.
            _ => None,
        };
    }

    /// Asks for the medium for a new frame: at once if the medium has been idle for long enough and no backoff is
    /// pending, after a backoff otherwise.
    pub fn request(&mut self, now: Instant) {
        self.nav.settle(now);
        self.asked_at = now;
        let counted_out = self.backoff.is_some_and(|backoff| {
            self.busy_since.is_none() && {
                let end = self.counts_from(backoff) + self.config.slot * u64::from(backoff.slots);
                end <= now
            }
        });
        if counted_out {
            self.backoff = None;
        }
        let is_reserved = self.nav.is_set(now) || self.hold > now;
        let taken = self.busy_since.is_some() || is_reserved || self.own_until > now;
        if self.backoff.is_none() && taken {
            self.draw(now);
        }
    }

    /// Draws a backoff from the present window; it runs from `from` at the earliest.
    pub fn draw(&mut self, from: Instant) {
        self.drawn = self.random.up_to(self.cw);
        self.backoff = Some(Backoff { slots: self.drawn, from });
    }

    /// A frame that wanted immediate access was overtaken by energy: it must back off after all.
    #[inline]
    pub fn draw_if_none(&mut self, now: Instant) {
        if self.backoff.is_none() {
            self.draw(now);
        }
    }

    /// An attempt failed: the window doubles.
    pub fn widen(&mut self) {
        self.cw = (self.cw * 2 + 1).min(self.config.cw_max);
    }

    /// A frame went through or was given up: the window is the smallest again.
    pub fn reset_window(&mut self) {
        self.cw = self.config.cw_min;
    }

    /// The time at which the frame in service will be on the air if nothing comes between; `None` while energy is on
    /// the medium.
    #[inline]
    pub fn access_at(&self) -> Option<Instant> {
        if self.busy_since.is_some() {
            return None;
        }
        Some(match self.backoff {
            Some(backoff) => self.counts_from(backoff) + self.config.slot * u64::from(backoff.slots),
            None => self.ready().max(self.asked_at),
        })
    }

    /// Whether the frame in service is to be transmitted at `now`: a station commits itself a turnaround before its
    /// access.
    #[inline]
    pub(crate) fn grant(&self, now: Instant) -> Grant {
        let Some(access) = self.access_at() else { return Grant::Later(Alarm::NEVER) };
        let commit = access.saturating_sub(self.config.turnaround);
        if commit <= now {
            return Grant::Now(access.max(now));
        }
        Grant::Later(match self.nav.reset_at() {
            Some(reset) if reset < commit => Alarm::of(reset, Awaited::NavReset),
            _ => Alarm::of(commit, Awaited::Access),
        })
    }

    /// The station commits: the backoff is spent.
    pub fn spend(&mut self) -> Access {
        match self.backoff.take() {
            Some(_) => Access::Backoff { window: self.cw, drawn: self.drawn },
            None => Access::Immediate,
        }
    }
}
