//! Bianchi's fixed point (IEEE JSAC 18(3), 2000) with a chain of retries that ends, and the countdown of EDCA.

use super::exchange::Access;
use airbraid_units::Duration;

/// Bisections of the fixed point: the interval of 1 shrinks below the spacing of floating-point numbers.
const BISECTIONS: u32 = 200;
/// Failures after which a chain without end is cut off: what remains of `p^k` is below 1e-9 for p < 0.9.
const CHAIN_MAX: u32 = 200;

/// The state in which each of n saturated stations meets what the others make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedPoint {
    /// Probability that a station sends in a slot.
    pub tau: f64,
    /// Probability that a transmission collides.
    pub collision: f64,
}

/// The fixed point of `stations` alike. A slot of the chain is one decrement of the counter: an idle slot, or a busy
/// time with the AIFS behind it, at whose end EDCA counts down once (10.23.2.4).
pub fn fixed_point(access: &Access, stations: u32) -> FixedPoint {
    let collision = |tau: f64| 1.0 - libm::pow(1.0 - tau, f64::from(stations) - 1.0);
    // The chain's tau falls in tau and the identity rises: one root.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if sends(access, collision(middle)) > middle { low = middle } else { high = middle }
    }
    FixedPoint { tau: low, collision: collision(low) }
}

/// Transmissions a slot, where each fails with probability `p`: of the attempts of one chain over their slots.
fn sends(access: &Access, p: f64) -> f64 {
    let last = access.reset_at.unwrap_or(CHAIN_MAX);
    let (mut attempts, mut slots, mut reached) = (0.0, 0.0, 1.0);
    for failures in 0..last {
        attempts += reached;
        slots += reached * (f64::from(access.window(failures)) / 2.0 + 1.0);
        reached *= p;
    }
    attempts / slots
}

/// The throughput of `stations` \[bit/s\], where a success carries `bits` in `success` and a collision takes `lost`,
/// both with the interframe space behind them.
pub fn throughput_bps(
    point: FixedPoint,
    stations: u32,
    slot: Duration,
    (bits, success): (f64, Duration),
    lost: Duration,
) -> f64 {
    let n = f64::from(stations);
    let idle = libm::pow(1.0 - point.tau, n);
    let one = n * point.tau * libm::pow(1.0 - point.tau, n - 1.0);
    let several = (1.0 - idle - one).max(0.0);
    let time = idle * slot.as_secs_f64() + one * success.as_secs_f64() + several * lost.as_secs_f64();
    one * bits / time
}
