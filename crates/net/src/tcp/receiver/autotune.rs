//! The receive window grows with the bytes that the application reads in a round trip: Linux's dynamic right-sizing.
//!
//! Fisk and Feng 2001; the kernel's `tcp_rcv_space_adjust` and `tcp_grow_window`, without the memory that packets take
//! besides their payload. It only says how large the window may be; it never shrinks it.

use airbraid_units::{Duration, Instant};

/// The first window \[byte\]: half of `tcp_rmem`'s default of 128 KiB, limited to a SYN's 16 bits.
const FIRST: u64 = 65_535;

/// Segments that the application is taken to have read in the round trip before the first (`TCP_INIT_CWND`).
const FIRST_READ: u64 = 10;

/// Segments of slack in the window (as above: twice what was read and 16 segments).
const SLACK: u64 = 16;

#[derive(Clone, Debug)]
pub(super) struct Autotune {
    mss: u64,
    most: u64,
    window: u64,
    clamp: u64,
    /// Bytes read in the last round trip that read more than those before.
    space: u64,
    /// Beginning of the present round trip, and the next offset then.
    since: Instant,
    from: u64,
    /// Eight times the round trip \[ns\], as the receiver sees it; zero before the first.
    rtt8: u64,
}

impl Autotune {
    /// A window of up to `most` byte.
    pub fn new(mss: u64, most: u64) -> Self {
        let window = FIRST.min(most);
        Self { mss, most, window, clamp: window, space: FIRST_READ * mss, since: Instant::ZERO, from: 1, rtt8: 0 }
    }
    /// The window now \[byte\].
    pub const fn window(&self) -> u64 {
        self.window
    }
    /// The round trip as the receiver sees it; `None` without timestamps.
    pub fn rtt(&self) -> Option<Duration> {
        (self.rtt8 > 0).then(|| Duration::from_nanos(self.rtt8 / 8))
    }

    /// A segment of `len` byte came that answers what was sent at `echo`; everything below `next` is in order. Returns
    /// whether the window grew.
    pub fn on_data(&mut self, now: Instant, len: u64, echo: Option<Instant>, next: u64) -> bool {
        match echo {
            None => self.clamp = self.most,
            Some(echo) if len >= self.mss => {
                let r = now.saturating_since(echo).as_nanos();
                self.rtt8 = if self.rtt8 == 0 { 8 * r } else { self.rtt8 - self.rtt8 / 8 + r };
            }
            Some(_) => {}
        }
        let before = self.window;
        self.window = self.clamp.min(self.window + 2 * self.mss);
        if let Some(rtt) = self.rtt()
            && now.saturating_since(self.since) >= rtt
        {
            self.measure(now, next);
        }
        self.window > before
    }

    /// A round trip is over.
    fn measure(&mut self, now: Instant, next: u64) {
        let read = next.saturating_sub(self.from);
        if read > self.space {
            let target = 2 * read + SLACK * self.mss;
            let grown = target + 2 * (target * (read - self.space) / self.space);
            self.clamp = self.clamp.max(grown.min(self.most));
            self.space = read;
        }
        self.since = now;
        self.from = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_stays_ahead_of_slow_start() {
        let (mss, rtt) = (1_448, Duration::from_millis(50));
        let mut tune = Autotune::new(mss, 3 << 20);
        assert_eq!(tune.window(), 65_535);
        let (mut now, mut next, mut cwnd) = (Instant::ZERO + rtt, 1, 10);
        for _ in 0..8 {
            assert!(tune.window() >= (cwnd * mss).min(3 << 20), "{cwnd} segments, {}", tune.window());
            for _ in 0..cwnd {
                next += mss;
                tune.on_data(now, mss, Some(now.saturating_sub(rtt)), next);
                now += rtt / (cwnd + 1);
            }
            cwnd *= 2;
        }
        assert_eq!((tune.window(), tune.rtt()), (3 << 20, Some(rtt)));
    }

    #[test]
    fn a_round_trip_that_read_more_grows_the_window_by_twice_what_it_read_and_twice_the_growth() {
        let mut tune = Autotune::new(1_000, 1 << 20);
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        // Ten segments are taken to have been read before: 2 x 20,000 and 16,000, and twice as much again.
        tune.measure(at(50), 20_001);
        assert_eq!((tune.clamp, tune.space, tune.from), (56_000 * 3, 20_000, 20_001));
        tune.measure(at(100), 40_001);
        assert_eq!((tune.clamp, tune.space, tune.since), (56_000 * 3, 20_000, at(100)), "no more than before");
        tune.measure(at(150), 1_040_001);
        assert_eq!(tune.clamp, 1 << 20, "the buffer is no larger");
        // Without timestamps there is no round trip, and the window is the buffer at once but for two segments a time.
        let mut tune = Autotune::new(1_000, 1 << 20);
        assert!(tune.on_data(at(0), 1_000, None, 1_001) && tune.window() == 67_535 && tune.rtt().is_none());
    }
}
