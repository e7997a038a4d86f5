//! One function that contends: its interframe space, contention window and backoff counter. DCF has one a station, EDCA
//! one for each access category. They count by different rules:
//!
//! ```text
//!  DCF (10.3.4.3)       gap |-- slot --|-- slot --|     a slot that was idle to its end counts
//!  EDCA (10.23.2.4)     gap |-- slot --|-- slot --|     a slot counts as it begins: the first at the end of the gap
//! ```
//!
//! With either a counter of b transmits b slots after the gap. They differ where another station begins: an EDCA
//! counter has then made one step more.

use super::{Awaited, CarrierSense, Grant};
use crate::alarm::Alarm;
use crate::service::Access;
use airbraid_engine::Stream;
use airbraid_units::{Duration, Instant};

/// The constants of one function that contends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackoffConfig {
    /// DIFS or AIFS.
    pub gap: Duration,
    /// aSlotTime.
    pub slot: Duration,
    /// Time between the station's commitment to a transmission and its first energy (aRxTxTurnaroundTime).
    pub turnaround: Duration,
    pub cw_min: u32,
    pub cw_max: u32,
}

/// A backoff counter and the instant before which it does not run.
#[derive(Clone, Copy, Debug)]
struct Counter {
    slots: u32,
    from: Instant,
}

/// A function that contends, by the rule of EDCA or of DCF.
#[derive(Clone, Debug)]
pub(crate) struct Backoff<const EDCA: bool> {
    config: BackoffConfig,
    cw: u32,
    counter: Option<Counter>,
    /// When the frame in service asked for the medium.
    asked_at: Instant,
    /// The last backoff drawn \[slots\], for the timeline.
    drawn: u32,
    random: Stream,
}

impl<const EDCA: bool> Backoff<EDCA> {
    pub fn new(config: BackoffConfig, random: Stream) -> Self {
        Self { config, cw: config.cw_min, counter: None, asked_at: Instant::ZERO, drawn: 0, random }
    }

    /// The contention window and the backoff that was drawn last \[slots\].
    #[cfg(test)]
    pub fn last_draw(&self) -> (u32, u32) {
        (self.cw, self.drawn)
    }

    #[inline]
    fn counts_from(&self, sense: &CarrierSense, counter: Counter) -> Instant {
        sense.ready(self.config.gap).max(counter.from)
    }

    /// Stops the counter at `now`, keeping what is left; a counter that had run out is gone.
    ///
    /// A slot is decided on a turnaround before its end, where a station whose last slot it is commits itself: energy
    /// that comes later does not take it back. (Slot ends of two stations agree only to the rounding of the
    /// propagation delays; deciding at the very end would cost whoever is a nanosecond behind a slot each time.)
    #[inline]
    pub fn freeze(&mut self, sense: &CarrierSense, now: Instant) {
        let Some(counter) = self.counter else { return };
        if sense.busy_since().is_some() {
            return;
        }
        let start = self.counts_from(sense, counter);
        let decided = now + self.config.turnaround;
        if decided < start {
            return;
        }
        let passed = (decided - start).div_floor(self.config.slot) + u64::from(EDCA);
        self.counter = match u64::from(counter.slots).checked_sub(passed) {
            // EDCA: zero, but its own slot has not come yet.
            Some(left) if left > 0 || EDCA => Some(Counter { slots: left as u32, from: counter.from }),
            // Fully counted: a station that had a frame to send would have sent it, so this one had none.
            _ => None,
        };
    }

    /// Asks for the medium for a new frame: at once if the medium has been idle for long enough and no backoff is
    /// pending, after a backoff otherwise. `is_taken`: the medium is busy or reserved.
    #[inline]
    pub fn request(&mut self, sense: &CarrierSense, now: Instant, is_taken: bool) {
        self.asked_at = now;
        let counted_out = self.counter.is_some_and(|counter| {
            (EDCA && counter.slots == 0)
                || sense.busy_since().is_none() && {
                    let end = self.counts_from(sense, counter) + self.config.slot * u64::from(counter.slots);
                    end <= now
                }
        });
        if counted_out {
            self.counter = None;
        }
        if self.counter.is_none() && is_taken {
            self.draw(now);
        }
    }

    /// Draws a backoff from the present window; it runs from `from` at the earliest.
    pub fn draw(&mut self, from: Instant) {
        self.drawn = self.random.up_to(self.cw);
        self.counter = Some(Counter { slots: self.drawn, from });
    }

    /// A backoff that has run out is kept at zero, from `from` on (802.11be-2024, 35.3.16.6).
    pub fn keep_zero(&mut self, from: Instant) {
        self.counter = Some(Counter { slots: 0, from });
    }

    /// A frame that wanted immediate access was overtaken by energy: it must back off after all.
    #[inline]
    pub fn draw_if_none(&mut self, now: Instant) {
        if self.counter.is_none() {
            self.draw(now);
        }
    }

    /// The rest of a backoff is void.
    pub fn forget(&mut self) {
        self.counter = None;
    }

    /// An attempt failed: the window doubles.
    pub fn widen(&mut self) {
        self.cw = (self.cw * 2 + 1).min(self.config.cw_max);
    }

    /// The window is the smallest again.
    pub fn reset_window(&mut self) {
        self.cw = self.config.cw_min;
    }

    /// The time at which the frame in service will be on the air if nothing comes between; `None` while energy is on
    /// the medium.
    #[inline]
    pub fn access_at(&self, sense: &CarrierSense) -> Option<Instant> {
        if sense.busy_since().is_some() {
            return None;
        }
        Some(match self.counter {
            Some(counter) => self.counts_from(sense, counter) + self.config.slot * u64::from(counter.slots),
            None => {
                let start = sense.ready(self.config.gap);
                if EDCA && self.asked_at > start {
                    // EDCA acts on slot boundaries alone (10.23.2.4).
                    let slot = self.config.slot;
                    start + slot * (self.asked_at - start).as_nanos().div_ceil(slot.as_nanos())
                } else {
                    start.max(self.asked_at)
                }
            }
        })
    }

    /// Whether the frame in service is to be transmitted at `now`: a station commits itself a turnaround before its
    /// access.
    #[inline]
    pub fn grant(&self, sense: &CarrierSense, now: Instant) -> Grant {
        let Some(access) = self.access_at(sense) else { return Grant::Later(Alarm::NEVER) };
        let commit = access.saturating_sub(self.config.turnaround);
        if commit <= now {
            return Grant::Now(access.max(now));
        }
        Grant::Later(match sense.nav.reset_at() {
            Some(reset) if reset < commit => Alarm::of(reset, Awaited::NavReset),
            _ => Alarm::of(commit, Awaited::Access),
        })
    }

    /// The station commits: the backoff is spent.
    pub fn spend(&mut self) -> Access {
        match self.counter.take() {
            Some(_) => Access::Backoff { window: self.cw, drawn: self.drawn },
            None => Access::Immediate,
        }
    }
}
