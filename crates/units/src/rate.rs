//! Bit rates, in whole bits a second.

use crate::{Bytes, Duration};
use std::fmt;

/// Bits a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// `bps` bits a second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// `kbps` thousand bits a second (802.11b's 5.5 Mbit/s is 5500).
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps * 1_000)
    }
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// The time that `size` takes at this rate, rounded up to the nanosecond; the rate must not be zero.
    pub const fn time_for(self, size: Bytes) -> Duration {
        // One byte at one bit a second [ns]; up to 2 GB the product has 64 bits, and a division of 128 is slow.
        const BYTE_NS: u64 = 8_000_000_000;
        let ns = match size.as_u64().checked_mul(BYTE_NS) {
            Some(bit_ns) => bit_ns.div_ceil(self.0),
            None => (size.as_u64() as u128 * BYTE_NS as u128).div_ceil(self.0 as u128) as u64,
        };
        Duration::from_nanos(ns)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps >= 1_000_000_000 => write!(f, "{} Gbit/s", bps as f64 / 1e9),
            bps if bps >= 1_000_000 => write!(f, "{} Mbit/s", bps as f64 / 1e6),
            bps if bps >= 1_000 => write!(f, "{} kbit/s", bps as f64 / 1e3),
            bps => write!(f, "{bps} bit/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_for_a_frame_is_rounded_up() {
        let rate = BitRate::from_kbps(11_000);
        assert_eq!(rate.time_for(Bytes::new(11)), Duration::from_micros(8));
        assert_eq!(rate.time_for(Bytes::new(1536)), Duration::from_nanos(1_117_091));
        assert_eq!(rate.to_string(), "11 Mbit/s");
        assert_eq!(BitRate::from_kbps(5_500).to_string(), "5.5 Mbit/s");
    }
}
