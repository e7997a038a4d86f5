//! The memory of a bond, counted by the bytes of its buffers ([`crate::Packet::footprint`]), and its limit.
//!
//! The far end decides how long much of it is kept: it acknowledges, leaves gaps, and codes. Above the limit packets
//! are given up in this order: packets kept for restoring, which only save a retransmission; packets that wait for
//! those before them, which are delivered out of order; packets that wait to be sent, which are dropped. A packet of
//! the host is accepted where there is space for it.
//!
//! Restoring costs time in proportion to kept packets times missing ones, so it has a budget of its own.

use airbraid_units::{Duration, Instant};

/// Memory of a packet's table entries: in the store, the sent frames, a group and a queue \[byte\].
pub const ENTRY: u64 = 256;
/// Largest work for one group, in products of bytes: 128 packets of 4 KiB, all missing. A host sums some gigabytes a
/// second.
const WORK_MAX: u64 = 1 << 26;
/// Rate of the budget, in products of bytes in a nanosecond: 1 Gbit/s with a loss of one packet in twenty costs 0.75,
/// with the usual groups.
const WORK_RATE: u64 = 1;

/// The budget for restoring.
#[derive(Debug)]
pub struct Work {
    left: u64,
    at: Instant,
}

impl Work {
    pub const fn new() -> Self {
        Self { left: WORK_MAX, at: Instant::ZERO }
    }

    /// Takes this many products from the budget; returns whether there were as many.
    pub fn take(&mut self, now: Instant, products: u64) -> bool {
        let since = now.saturating_since(self.at).min(Duration::from_secs(1));
        self.at = now;
        self.left = (self.left + since.as_nanos() * WORK_RATE).min(WORK_MAX);
        let may_be = products <= self.left;
        if may_be {
            self.left -= products;
        }
        may_be
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole budget at once, then a product for each nanosecond, and never more than the whole.
    #[test]
    fn work_is_given_back_as_time_goes_by() {
        let at = Instant::from_nanos;
        let mut work = Work::new();
        assert!(!work.take(at(0), WORK_MAX + 1) && work.take(at(0), WORK_MAX) && !work.take(at(0), 1));
        assert!(!work.take(at(1_000), 1_001) && work.take(at(1_000), 1_000) && !work.take(at(1_000), 1));
        assert!(work.take(at(1_500), 300) && work.take(at(1_500), 200) && !work.take(at(1_500), 1));
        let later = 3_600_000_000_000;
        assert!(!work.take(at(later), WORK_MAX + 1) && work.take(at(later), WORK_MAX) && !work.take(at(later), 1));
    }
}
