//! The cubic window in congestion avoidance (RFC 9438). It does not detect loss itself.
//!
//! Floating point through `libm` alone, so that it computes the same everywhere. Windows are in segments here.

use airbraid_units::{Duration, Instant};

/// C \[segments/s^3\]: growth rate of the window far from its plateau (RFC 9438, section 5.1).
pub(crate) const C: f64 = 0.4;

/// The part of the window that remains after a loss (RFC 9438, section 4.6).
pub(crate) const BETA: f64 = 0.7;

/// Growth \[segments/RTT\] with which a window that keeps 0.7 at a loss gets Reno's mean: 3 (1 - B) / (1 + B) (4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// A congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Instant,
    /// Time from the start to the plateau \[s\].
    k: f64,
    w_max: f64,
    /// The window that Reno would have.
    w_est: f64,
}

/// The state between losses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    epoch: Option<Epoch>,
    /// The plateau for the next stage; `None` after a timeout or before any loss: it starts at its plateau.
    w_max: Option<f64>,
    /// The window before the last reduction.
    cwnd_prior: f64,
    /// Part of a byte that is still owed to the window.
    fraction: f64,
    /// The time of the last acknowledgement, for the time that does not count.
    last: Instant,
}

/// `W_cubic(t)` (figure 1 of the RFC): the window `t` seconds into a stage.
pub(crate) fn w_cubic(t: f64, k: f64, w_max: f64) -> f64 {
    let d = t - k;
    C * d * d * d + w_max
}

/// `K` (figure 2): seconds from `start` segments to the plateau.
pub(crate) fn time_to_plateau(w_max: f64, start: f64) -> f64 {
    libm::cbrt((w_max - start).max(0.0) / C)
}

impl Cubic {
    /// `acked` byte were acknowledged in congestion avoidance: returns the bytes to add to `cwnd`.
    pub(crate) fn increase(&mut self, now: Instant, cwnd: u64, acked: u64, mss: u64, rtt: Duration) -> u64 {
        let segment = mss as f64;
        let (window, acked) = (cwnd as f64 / segment, acked as f64 / segment);
        let epoch = self.epoch.get_or_insert_with(|| {
            let w_max = self.w_max.filter(|&w| w > window).unwrap_or(window);
            Epoch { start: now, k: time_to_plateau(w_max, window), w_max, w_est: window }
        });
        self.last = now;
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { ALPHA };
        epoch.w_est += alpha * acked / window;
        let t = now.saturating_since(epoch.start).as_secs_f64();
        let add = if w_cubic(t, epoch.k, epoch.w_max) < epoch.w_est {
            epoch.w_est - window
        } else {
            let target = w_cubic(t + rtt.as_secs_f64(), epoch.k, epoch.w_max).clamp(window, 1.5 * window);
            (target - window) / window * acked
        };
        let bytes = add.max(0.0) * segment + self.fraction;
        self.fraction = bytes - libm::floor(bytes);
        bytes as u64
    }

    /// The window was not the limit: the time since the last acknowledgement does not count (section 5.8).
    pub(crate) fn pause(&mut self, now: Instant) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now.saturating_since(self.last);
        }
        self.last = now;
    }

    /// A loss at a window of `cwnd` byte: remembers the plateau, lower if the window never got back to the last one
    /// (fast convergence, section 4.7).
    pub(crate) fn on_loss(&mut self, cwnd: u64, mss: u64) {
        let window = cwnd as f64 / mss as f64;
        let converging = self.w_max.is_some_and(|last| window < last);
        self.w_max = Some(if converging { window * (1.0 + BETA) / 2.0 } else { window });
        self.cwnd_prior = window;
        self.epoch = None;
        self.fraction = 0.0;
    }

    /// A timeout: the next stage starts at its plateau (section 4.8).
    pub(crate) fn on_timeout(&mut self, cwnd: u64, mss: u64) {
        self.on_loss(cwnd, mss);
        self.w_max = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    #[test]
    fn follows_the_curve_of_the_rfc_where_reno_would_be_slower() {
        // 400 segments and 200 ms: Reno would need 40 s to the plateau, the cubic 6.7 s.
        let (mut cubic, mut cwnd) = (Cubic::default(), 280 * MSS);
        cubic.on_loss(400 * MSS, MSS);
        let (rtt, step) = (Duration::from_millis(200), Duration::from_millis(1));
        let k = time_to_plateau(400.0, 280.0);
        assert!((k - 6.694_329_5).abs() < 1e-6, "{k}");
        let start = Instant::from_nanos(5);
        let mut now = start;
        for i in 0..12_000u64 {
            // An acknowledgement each millisecond, for a two-hundredth of the window.
            cwnd += cubic.increase(now, cwnd, cwnd / 200, MSS, rtt);
            if i % 1_000 == 999 {
                let t = now.saturating_since(start).as_secs_f64();
                let formula = w_cubic(t, k, 400.0);
                assert!((cwnd as f64 / MSS as f64 / formula - 1.0).abs() < 0.01, "{t} s: {cwnd}, formula {formula}");
            }
            now += step;
        }
    }

    #[test]
    fn on_short_paths_it_is_no_slower_than_reno() {
        let (mut cubic, mut cwnd) = (Cubic::default(), 7 * MSS);
        cubic.on_loss(10 * MSS, MSS);
        let rtt = Duration::from_millis(10);
        let mut now = Instant::ZERO;
        // In the Reno-friendly region: ALPHA segments a round trip until the window before the loss.
        for _ in 0..5 {
            cwnd += cubic.increase(now, cwnd, cwnd, MSS, rtt);
            now += rtt;
        }
        assert!((cwnd as f64 / MSS as f64 - (7.0 + 5.0 * ALPHA)).abs() < 0.01, "{cwnd}");
    }

    #[test]
    fn fast_convergence_lowers_the_plateau_and_pauses_do_not_count() {
        let mut cubic = Cubic::default();
        cubic.on_loss(100 * MSS, MSS);
        cubic.on_loss(80 * MSS, MSS);
        assert!((cubic.w_max.unwrap() - 68.0).abs() < 1e-9);
        cubic.increase(Instant::ZERO, 56 * MSS, MSS, MSS, Duration::from_millis(100));
        cubic.pause(Instant::ZERO + Duration::from_secs(9));
        assert_eq!(cubic.epoch.unwrap().start, Instant::ZERO + Duration::from_secs(9));
        cubic.on_timeout(60 * MSS, MSS);
        assert!(cubic.w_max.is_none() && cubic.epoch.is_none());
    }
}
