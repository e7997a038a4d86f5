//! The earliest timer of a machine, computed again whenever something has changed.

use airbraid_engine::Wake;
use airbraid_units::Instant;

/// The earliest timer of a machine, with the time at which it expires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm<T> {
    /// [`Instant::MAX`] where there is none: one comparison says whether anything is due.
    at: Instant,
    timer: Option<T>,
}

impl<T: Copy> Alarm<T> {
    /// No timer runs.
    pub const NEVER: Self = Self { at: Instant::MAX, timer: None };

    /// This timer is the earliest.
    pub const fn of(at: Instant, timer: T) -> Self {
        Self { at, timer: Some(timer) }
    }

    /// The earlier of two alarms; this one where both are at once.
    #[inline]
    pub fn earlier(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }

    /// The same alarm, of a timer that is part of another's.
    #[inline]
    pub fn map<U: Copy>(self, whole: impl FnOnce(T) -> U) -> Alarm<U> {
        Alarm { at: self.at, timer: self.timer.map(whole) }
    }

    /// The time at which it expires, if it is one of these timers.
    pub fn when(&self, is_one: impl FnOnce(T) -> bool) -> Option<Instant> {
        self.timer.filter(|timer| is_one(*timer)).map(|_| self.at)
    }

    /// Whether it has expired by `now`.
    pub fn is_due(&self, now: Instant) -> bool {
        self.at <= now
    }

    /// The timer, if it has expired by `now`.
    pub fn due(&self, now: Instant) -> Option<T> {
        if self.is_due(now) { self.timer } else { None }
    }

    /// The wake-up for the host; `name` gives the timer's name.
    #[inline]
    pub fn wake(&self, name: impl FnOnce(T) -> &'static str) -> Option<Wake> {
        self.timer.map(|timer| Wake { at: self.at, why: name(timer) })
    }
}
