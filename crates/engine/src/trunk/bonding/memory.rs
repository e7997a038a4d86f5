//! What a tunnel may occupy: everything that it keeps is counted by the bytes that its buffers take ([`crate::Packet::footprint`]), and
//! gives way when that is too much.
//!
//! The far end decides how long much of it is kept: it says what has come, which holes there are, and what is to be restored. What is kept
//! for it gives way in this order: what packets are restored from, which only saves a repetition; what waits for those before it, which is
//! delivered out of order; what waits to be sent, which is dropped. A packet of the host's is taken where all that is kept leaves room for it.
//!
//! Restoring packets costs time by the product of what is there and what is missing, so that has a measure of its own.

use airbraid_units::{Duration, Instant};

/// What the tables keep of a packet beside it: entries of the store, of a ledger, of a group and of a queue \[byte\].
pub const ENTRY: u64 = 256;
/// Products of bytes for one group: 128 packets of 4 KiB of which all are missing. A host sums some gigabytes a second.
const WORK_MAX: u64 = 1 << 26;
/// Products of bytes in a nanosecond: what 1 Gbit/s costs of which one packet in twenty is lost, with the usual groups, is 0.75.
const WORK_RATE: u64 = 1;

/// How much may be restored.
#[derive(Debug)]
pub struct Work {
    left: u64,
    at: Instant,
}

impl Work {
    /// Nothing was restored.
    pub const fn new() -> Self {
        Self { left: WORK_MAX, at: Instant::ZERO }
    }

    /// Whether so much may be done now; then it is.
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
