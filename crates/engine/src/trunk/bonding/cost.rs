//! Head-of-line blocking: the cost of a member's losses for a flow that is delivered in order.
//!
//! A lost packet comes a round trip later and blocks all packets behind it, on whatever member. The cost is the share
//! of time in which the flow waits: of the `n` frames that a member carries while a loss is repaired, at least one is
//! lost with probability `1 - (1 - q)^n`, where `q` is the share of frames in which losses begin (a burst is one). A
//! member that nearly always has an open gap is slower by the whole repair time, however few its losses are.

use super::frame::FULL;
use airbraid_units::Duration;

/// Delay that repair symbols must save for the rate that they take, chosen: 4 ms for each percent \[ms\].
pub const PRICE_MS: u64 = 400;
/// One, in the numbers of this file \[millionths\].
pub const ONE: u64 = 1_000_000;

/// The losses of a member.
#[derive(Clone, Copy, Debug)]
pub struct Losses {
    /// Share of frames lost \[millionths\].
    pub lost_ppm: u32,
    /// Share of frames in which losses begin \[millionths\].
    pub begun_ppm: u32,
    /// Its rate \[bit/s\].
    pub rate: u64,
    /// Its shortest round trip.
    pub rtt: Duration,
    /// Time to repair a loss by retransmission.
    pub repair: Duration,
}

/// Mean delay of a flow by head-of-line blocking: `begun_ppm` losses begin in a frame, the member carries `rate`
/// \[bit/s\], and a loss is repaired after `repair`.
pub fn blocking(begun_ppm: u32, rate: u64, repair: Duration) -> Duration {
    let frames = (u128::from(rate) * u128::from(repair.as_nanos()) / (8_000_000_000 * u128::from(FULL))) as u64;
    let is_open = ONE - power(ONE - u64::from(begun_ppm).min(ONE), frames.max(1));
    Duration::from_nanos((u128::from(repair.as_nanos()) * u128::from(is_open) / u128::from(ONE)) as u64)
}

/// A probability to a power.
pub fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = ONE;
    while exponent > 0 && result > 0 {
        if exponent & 1 == 1 {
            result = result * base / ONE;
        }
        base = base * base / ONE;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wider_and_the_farther_the_more_a_loss_costs() {
        let held = |ppm, mbps: u64, ms| blocking(ppm, mbps * 1_000_000, Duration::from_millis(ms)).as_micros();
        assert_eq!(held(0, 100, 100), 0);
        // 83 frames: 1 - 0.99^83 = 0.566 of 100 ms.
        assert!((56_000..57_200).contains(&held(10_000, 10, 100)), "{}", held(10_000, 10, 100));
        // 833 frames: there is always a hole.
        assert!(held(10_000, 100, 100) > 99_900);
        // Three frames: the mean, 1 - 0.99^3.
        assert!((110..125).contains(&held(10_000, 10, 4)), "{}", held(10_000, 10, 4));
    }

    #[test]
    fn powers_are_those_of_the_numbers() {
        assert_eq!((power(ONE, 1_000), power(0, 3), power(0, 0)), (ONE, 0, ONE));
        assert_eq!(
            [0, 1, 2, 3, 10].map(|exponent| power(ONE / 2, exponent)),
            [1_000_000, 500_000, 250_000, 125_000, 976]
        );
        // At least one frame is at risk.
        assert_eq!(blocking(500_000, 1_000, Duration::from_millis(10)), Duration::from_millis(5));
        assert_eq!(blocking(1_000_000, 1_000, Duration::from_millis(10)), Duration::from_millis(10));
    }
}
