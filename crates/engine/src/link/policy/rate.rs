//! What a link achieves, and what a segment is worth beside it.

use super::{Fate, Observation};
use crate::link::config::Cost;
use crate::link::shape::Shape;

/// A probability in parts of 2^16.
pub const CERTAIN: u32 = 1 << 16;

/// What the link achieves: bytes of packets by time, in whole numbers.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    cost: Cost,
    /// Bytes delivered, times 2^16, fading.
    bytes: u64,
    /// Time taken, fading \[ns\].
    time: u64,
    /// Each observation takes 2^-fade of the past with it; 63: none.
    fade: u32,
}

impl Rate {
    /// Of the last 2^`fade` observations, about; of all if that is 63.
    pub fn new(cost: Cost, fade: u32) -> Self {
        Self { cost, bytes: 0, time: 0, fade }
    }

    /// What a segment of so many bytes on the air takes \[ns\].
    fn time(&self, bytes: u16) -> u64 {
        self.cost.overhead.as_nanos() + self.cost.per_byte.as_nanos() * u64::from(bytes)
    }

    /// Counts what a segment has brought, and its time.
    pub fn observe(&mut self, observation: Observation) {
        self.bytes -= self.bytes >> self.fade;
        self.time -= self.time >> self.fade;
        if let Fate::Delivered { .. } = observation.fate
            && let Ok(shape) = Shape::new(observation.coded_len, observation.parity)
        {
            self.bytes += u64::from(shape.capacity()) << 16;
        }
        self.time += self.time(observation.coded_len);
    }

    /// What the link brings otherwise in the time that a segment takes \[2^-16 byte\].
    pub fn worth(&self, bytes: u16) -> i64 {
        let worth = u128::from(self.bytes) * u128::from(self.time(bytes)) / u128::from(self.time.max(1));
        i64::try_from(worth).unwrap_or(i64::MAX)
    }
}

/// What a segment is expected to bring \[2^-16 byte\]. Less [`Rate::worth`] it is what to maximise at each step for the
/// greatest rate in the long run (Dinkelbach 1967: a quotient is greatest where the difference is zero).
pub fn brings(shape: Shape, success: u32) -> i64 {
    i64::from(success) * i64::from(shape.capacity())
}
