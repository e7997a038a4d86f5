//! The monotonic clock as the machines count time: from a beginning on. It never goes back and is never set.

use airbraid_units::Instant;
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Time since its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    beginning_ns: u64,
}

impl Clock {
    /// A clock that begins now.
    pub fn start() -> Self {
        Self { beginning_ns: monotonic_ns() }
    }

    pub fn now(&self) -> Instant {
        Instant::from_nanos(monotonic_ns().saturating_sub(self.beginning_ns))
    }

    /// Time that has passed since its beginning.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(monotonic_ns().saturating_sub(self.beginning_ns))
    }
}

/// `CLOCK_MONOTONIC`, which every Linux has.
fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| time.num_nanoseconds().unsigned_abs())
}

/// Asks the system to wake this thread on time: no slack on its timers, and priority over other threads. A refusal
/// shows later as lateness, and is measured there. Child processes do not inherit it.
pub fn keep_time() {
    let _ = nix::sys::prctl::set_timerslack(1);
    let (policy, priority): (libc::c_int, libc::c_int) = (libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, 1);
    #[expect(unsafe_code, reason = "there is no safe call for sched_setscheduler, and musl's function refuses all")]
    // SAFETY: it reads one valid number, which is all of the kernel's structure, and concerns this thread only.
    let _ = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
}
