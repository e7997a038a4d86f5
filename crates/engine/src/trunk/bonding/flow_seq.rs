//! The number of a packet within its flow.

use crate::packet::TrafficClass;

/// Flow buckets of each class: nine of the ten bits of a bucket in the header.
pub const BUCKETS: u16 = 512;
/// Bits of a number in a flow: what the bucket leaves of 32.
pub const PLACE_BITS: u32 = 22;

/// The place of a packet among those of its flow bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowSeq {
    /// The class and the bucket within it: below [`BUCKETS`] bulk, from there on real-time.
    pub bucket: u16,
    /// Its number, modulo 2^22.
    pub number: u32,
}

impl FlowSeq {
    /// The bucket of a packet.
    pub const fn bucket_of(class: TrafficClass, flow_bucket: u16) -> u16 {
        match class {
            TrafficClass::Bulk => flow_bucket % BUCKETS,
            TrafficClass::RealTime => BUCKETS + flow_bucket % BUCKETS,
        }
    }
    /// The class of its bucket.
    pub const fn class(self) -> TrafficClass {
        if self.bucket < BUCKETS { TrafficClass::Bulk } else { TrafficClass::RealTime }
    }
    /// The number `n` after `number`.
    pub const fn plus(number: u32, n: u32) -> u32 {
        number.wrapping_add(n) & ((1 << PLACE_BITS) - 1)
    }
    /// Both in 32 bits, as they are sent and coded.
    pub const fn word(self) -> u32 {
        (self.bucket as u32) << PLACE_BITS | Self::plus(self.number, 0)
    }
    /// The place of such a word.
    pub const fn of_word(word: u32) -> Self {
        Self { bucket: (word >> PLACE_BITS) as u16, number: Self::plus(word, 0) }
    }
    /// Distance of `number` after `other`; negative if before.
    pub const fn distance(number: u32, other: u32) -> i32 {
        (number.wrapping_sub(other) << (32 - PLACE_BITS)) as i32 >> (32 - PLACE_BITS)
    }
}
