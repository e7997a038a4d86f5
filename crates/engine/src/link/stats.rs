//! The counters of an end of the link.

use super::header::Report;
use airbraid_units::metrics;

metrics! {
    /// The counters of an end, both ways.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Stats {
        /// Packets accepted, by class (bulk, real-time), as in all pairs here.
        pub accepted: [u64; 2] = sum,
        /// Packets that the other side has acknowledged.
        pub settled: [u64; 2] = sum,
        /// Packets refused by the full queue, or too long.
        pub queue_drops: [u64; 2] = sum,
        /// Packets that expired.
        pub expired: [u64; 2] = sum,
        /// Packets given up after the last retransmission.
        pub given_up: [u64; 2] = sum,
        /// Segments sent, retransmissions included.
        pub segments: u64 = sum,
        /// Segments sent whose first byte had been sent before.
        pub repetitions: u64 = sum,
        /// Bytes of packets in all segments sent.
        pub data_bytes: u64 = sum,
        /// Bytes of all segments sent, with checks and parity.
        pub coded_bytes: u64 = sum,
        /// Packets delivered.
        pub delivered: [u64; 2] = sum,
        /// Segments that had arrived before, or arrived after their packet was given up.
        pub duplicates: u64 = sum,
        /// Segments that arrived truncated.
        pub truncated: u64 = sum,
        /// Segments that could not be decoded.
        pub undecodable: u64 = sum,
        /// Segments that arrived with repaired bytes.
        pub repaired: u64 = sum,
        /// Polls without an answer (master), or frames taken for lost (selective repeat).
        pub lost: u64 = sum,
        /// Longest queue of each class \[packets\].
        pub queue_max: [usize; 2],
    }
}

impl Stats {
    /// Counts the fate of a segment from the other side.
    pub(super) fn count(&mut self, report: Report) {
        match report {
            Report::None | Report::Intact { worst: 0 } => {}
            Report::Intact { .. } => self.repaired += 1,
            Report::Truncated { .. } => self.truncated += 1,
            Report::Undecodable => self.undecodable += 1,
        }
    }
}
