//! The size of the window: slow start, congestion avoidance and the responses to loss, apart from detecting it.
//!
//! RFC 5681 (Reno's increase) or RFC 9438 (cubic). All in bytes. It never knows which segment was lost.

use super::config::{Config, Variant};
use super::cubic::{BETA, Cubic};
use airbraid_units::{Duration, Instant};

/// The window and its threshold.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    cwnd: u64,
    ssthresh: u64,
    mss: u64,
    cubic: Option<Cubic>,
}

impl Window {
    /// The window of a new connection: slow start without a threshold.
    pub(crate) fn new(config: &Config) -> Self {
        let cubic = (config.variant == Variant::Cubic).then(Cubic::default);
        Self { cwnd: config.initial_cwnd(), ssthresh: u64::MAX, mss: config.mss.as_u64(), cubic }
    }
    /// The congestion window \[byte\].
    pub(crate) const fn cwnd(&self) -> u64 {
        self.cwnd
    }
    /// The slow start threshold \[byte\].
    pub(crate) const fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// `acked` new bytes were acknowledged outside fast recovery while the window was full.
    pub(crate) fn on_ack(&mut self, now: Instant, acked: u64, rtt: Duration) {
        if self.cwnd < self.ssthresh {
            // RFC 5681, equation 2: at most a segment for each acknowledgement.
            self.cwnd += acked.min(self.mss);
            return;
        }
        self.cwnd += match &mut self.cubic {
            Some(cubic) => cubic.increase(now, self.cwnd, acked, self.mss, rtt),
            // Equation 3: for each acknowledgement, so that delayed ones halve the growth, as in BSD and ns-2.
            None => (self.mss * self.mss / self.cwnd).max(1),
        };
    }

    /// Bytes were acknowledged, but the window was not the limit: this says nothing about the path (RFC 7661).
    pub(crate) fn on_unused(&mut self, now: Instant) {
        if let Some(cubic) = &mut self.cubic {
            cubic.pause(now);
        }
    }

    /// A loss was detected by acknowledgements, `flight` byte being out: the window becomes the threshold.
    pub(crate) fn on_loss(&mut self, flight: u64) {
        self.ssthresh = self.reduced(flight);
        if let Some(cubic) = &mut self.cubic {
            cubic.on_loss(self.cwnd, self.mss);
        }
        self.cwnd = self.ssthresh;
    }

    /// The timer expired. `again`: for the same data, which leaves the threshold alone (RFC 5681, section 3.1).
    pub(crate) fn on_timeout(&mut self, flight: u64, again: bool) {
        if !again {
            self.ssthresh = self.reduced(flight);
            if let Some(cubic) = &mut self.cubic {
                cubic.on_timeout(self.cwnd, self.mss);
            }
        }
        self.cwnd = self.mss;
    }

    /// The part of `flight` that a loss leaves: half (RFC 5681, equation 4) or 0.7, two segments at least.
    fn reduced(&self, flight: u64) -> u64 {
        let left = if self.cubic.is_some() { (flight as f64 * BETA) as u64 } else { flight / 2 };
        left.max(2 * self.mss)
    }

    /// A segment has left the network in fast recovery, or the three that started it.
    pub(crate) fn inflate(&mut self, bytes: u64) {
        self.cwnd += bytes;
    }
    /// A partial acknowledgement took `acked` byte out of the inflated window (RFC 6582, step 3.2).
    pub(crate) fn deflate(&mut self, acked: u64) {
        let back = if acked >= self.mss { self.mss } else { 0 };
        self.cwnd = (self.cwnd.saturating_sub(acked) + back).max(self.mss);
    }
    /// Fast recovery is over: the inflation goes, and the window is at most `limit`.
    pub(crate) fn end_recovery(&mut self, limit: u64) {
        self.cwnd = self.ssthresh.min(limit).max(self.mss);
    }
    /// Back to at most `window` byte: after idling (RFC 5681, section 4.1) or a lost SYN (section 3.1).
    pub(crate) fn restart(&mut self, window: u64) {
        self.cwnd = self.cwnd.min(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Bytes;

    fn window(mss: u64, variant: Variant) -> Window {
        Window::new(&Config { mss: Bytes::new(mss), variant, ..Config::default() })
    }

    #[test]
    fn the_initial_window_depends_on_the_segment() {
        let segments = |mss| window(mss, Variant::Reno).cwnd() / mss;
        assert_eq!([512, 1_095, 1_096, 1_460, 2_190, 2_191].map(segments), [4, 4, 3, 3, 3, 2]);
    }

    #[test]
    fn slow_start_then_one_segment_a_round_trip() {
        let mut window = window(1_000, Variant::NewReno);
        window.on_loss(20_000);
        assert_eq!((window.cwnd(), window.ssthresh()), (10_000, 10_000));
        for _ in 0..10 {
            window.on_ack(Instant::ZERO, 1_000, Duration::ZERO);
        }
        assert!((10_900..=11_000).contains(&window.cwnd()), "{}", window.cwnd());
        window.on_timeout(11_000, false);
        window.on_timeout(1_000, true);
        assert_eq!((window.cwnd(), window.ssthresh()), (1_000, 5_500));
        window.on_ack(Instant::ZERO, 2_000, Duration::ZERO);
        assert_eq!(window.cwnd(), 2_000, "at most a segment for an acknowledgement");
    }

    #[test]
    fn cubic_keeps_seven_tenths() {
        let mut window = window(1_000, Variant::Cubic);
        window.on_loss(100_000);
        assert_eq!(window.ssthresh(), 70_000);
        window.on_loss(1_000);
        assert_eq!(window.ssthresh(), 2_000);
    }
}
