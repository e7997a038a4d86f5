//! Bianchi's model of a saturated DCF (IEEE JSAC 18(3), 2000): the fixed point and the throughput, computed
//! independently.

/// One saturated cell.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub stations: u32,
    /// Smallest window W (CWmin + 1).
    pub window: u32,
    /// Doublings m until the largest window.
    pub doublings: u32,
    /// With RTS/CTS, or basic access.
    pub rts: bool,
}

/// Times of the paper's Table II at 1 Mbit/s \[us\].
const SLOT: f64 = 50.0;
const SIFS: f64 = 28.0;
const DIFS: f64 = 128.0;
const PROPAGATION: f64 = 1.0;
const PHY: f64 = 128.0;
const HEADER: f64 = 272.0 + PHY;
const PAYLOAD: f64 = 8184.0;
const ACK: f64 = 112.0 + PHY;
const RTS: f64 = 160.0 + PHY;
const CTS: f64 = 112.0 + PHY;

impl Cell {
    /// Probability that a station transmits in a slot: the root of the fixed point, by bisection.
    fn tau(&self) -> f64 {
        let (w, others) = (f64::from(self.window), f64::from(self.stations) - 1.0);
        // The right side falls in tau and the left rises: one root in (0, 1).
        let residue = |tau: f64| {
            let p = 1.0 - (1.0 - tau).powf_portable(others);
            // (1 - (2p)^m) / (1 - 2p) as a sum, which p = 1/2 does not trouble.
            let series: f64 = (0..self.doublings).map(|i| (2.0 * p).powf_portable(f64::from(i))).sum();
            tau - 2.0 / (1.0 + w + p * w * series)
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if residue(middle) < 0.0 { low = middle } else { high = middle }
        }
        low
    }

    /// Saturation throughput: the share of time in which payload is carried.
    pub fn throughput(&self) -> f64 {
        let (n, tau) = (f64::from(self.stations), self.tau());
        let some = 1.0 - (1.0 - tau).powf_portable(n);
        let one = n * tau * (1.0 - tau).powf_portable(n - 1.0) / some;
        let exchange = HEADER + PAYLOAD + SIFS + PROPAGATION + ACK + DIFS + PROPAGATION;
        let (success, collision) = if self.rts {
            let handshake = RTS + SIFS + PROPAGATION + CTS + SIFS + PROPAGATION;
            (handshake + exchange, RTS + DIFS + PROPAGATION)
        } else {
            (exchange, HEADER + PAYLOAD + DIFS + PROPAGATION)
        };
        some * one * PAYLOAD / ((1.0 - some) * SLOT + some * one * success + some * (1.0 - one) * collision)
    }
}

/// Powers by exponentials that are the same everywhere.
trait Portable {
    fn powf_portable(self, exponent: f64) -> f64;
}

impl Portable for f64 {
    fn powf_portable(self, exponent: f64) -> f64 {
        if exponent == 0.0 { 1.0 } else { libm::pow(self, exponent) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values_come_out() {
        let throughput = |stations, window, doublings, rts| Cell { stations, window, doublings, rts }.throughput();
        assert!((throughput(10, 32, 3, false) - 0.7532).abs() < 5e-5);
        assert!((throughput(50, 128, 3, true) - 0.8363).abs() < 5e-5);
    }
}
