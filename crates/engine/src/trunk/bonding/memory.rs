//! What a tunnel may occupy: everything that it keeps is counted by the bytes that its buffers take ([`crate::Packet::footprint`]), and
//! gives way when that is too much.
//!
//! The far end decides how long much of it is kept: it says what has come, which holes there are, and what is to be restored. What is kept
//! for it gives way in this order: what packets are restored from, which only saves a repetition; what waits for those before it, which is
//! delivered out of order; what waits to be sent, which is dropped. A packet of the host's is taken where all that is kept leaves room for it.
//!
//! Restoring packets costs time by the product of what is there and what is missing, so that has a measure of its own.

use super::coded::Coded;
use super::sender::Sender;
use super::{DropReason, Tunnel, hand_up};
use airbraid_units::{Bytes, Duration, Instant};

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

impl<P: Coded> Sender<P> {
    /// What all that it keeps occupies \[byte\].
    pub fn occupied(&self) -> u64 {
        self.queue.occupied() + self.store.occupied()
    }

    /// Makes room for a packet that occupies so much, if there may be room: packets of the longest flow give way.
    pub(super) fn make_room(&mut self, footprint: u64) -> bool {
        let most = self.memory.saturating_sub(footprint + ENTRY);
        if self.occupied() <= most {
            return true;
        }
        // What was sent is not taken back. Where nothing is kept one packet is not too much.
        if self.store.occupied() > most {
            return self.occupied() == 0;
        }
        while self.occupied() > most {
            let Some(packet) = self.queue.shorten() else { break };
            self.drop(packet, DropReason::Memory);
        }
        true
    }
}

impl<P: Coded> Tunnel<P> {
    /// How much it may occupy from now on \[byte\]; without a word it may occupy anything.
    pub const fn set_memory(&mut self, memory: Bytes) {
        self.memory = memory.as_u64();
    }

    /// What it occupies: never more than it may when it has done what it was asked, unless that has become less.
    pub fn occupied(&self) -> Bytes {
        Bytes::new(self.sender.occupied() + self.receiver.occupied())
    }

    /// What the sender may occupy, the rest being what it is.
    pub(super) fn share_out(&mut self) {
        self.sender.memory = self.memory.saturating_sub(self.receiver.occupied());
    }

    /// What has come gives way while there is too much.
    pub(super) fn give_way(&mut self) {
        while self.sender.occupied() + self.receiver.occupied() > self.memory {
            let Self { sender, receiver, .. } = self;
            if let Some(symbols) = receiver.forget_restorer() {
                sender.counts.forgotten += 1;
                sender.outputs.extend(symbols.into_iter().map(super::Output::Spent));
            } else if !receiver.order.give_up(&mut sender.counts, |ordered| hand_up(&mut sender.outputs, ordered)) {
                return;
            }
        }
    }
}
