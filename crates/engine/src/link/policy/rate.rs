//! The achieved rate of a link, and the worth of a segment beside it.

use super::{Fate, Observation};
use crate::link::cost::Cost;
use crate::link::shape::Shape;

/// A probability in parts of 2^16.
pub const CERTAIN: u32 = 1 << 16;

/// The achieved rate of a link: bytes of packets by time, in whole numbers.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    cost: Cost,
    /// Bytes delivered, times 2^16, fading.
    bytes: u64,
    /// Time taken, fading \[ns\].
    time: u64,
    /// Each observation removes 2^-fade of the past; 63: none.
    fade: u32,
}

impl Rate {
    /// Of about the last 2^`fade` observations; of all if that is 63.
    pub fn new(cost: Cost, fade: u32) -> Self {
        Self { cost, bytes: 0, time: 0, fade }
    }

    /// Time of this many bytes on the air \[ns\].
    pub fn time(&self, bytes: u32) -> u64 {
        self.cost.overhead.as_nanos() + self.cost.per_byte.as_nanos() * u64::from(bytes)
    }

    /// Counts the payload of a segment, and its time.
    pub fn observe(&mut self, observation: Observation) {
        self.bytes -= self.bytes >> self.fade;
        self.time -= self.time >> self.fade;
        if let Fate::Delivered { .. } = observation.fate
            && let Ok(shape) = Shape::new(observation.coded_len, observation.parity)
        {
            self.bytes += u64::from(shape.capacity()) << 16;
        }
        self.time += self.time(observation.coded_len.into());
    }

    /// The worth of time \[2^-16 byte in 2^20 ns\], if the best present choice brings `brings` \[2^-16 byte\] in `time`
    /// \[ns\].
    ///
    /// If a bad time lasts for a number of segments, whatever their length, the best in the long run is to value time
    /// by what the link brings on the whole (Dinkelbach 1967: a quotient is greatest where the difference is zero), and
    /// so to leave it behind by short ones. If it lasts for so much time, the best is what brings most by time at
    /// present. It is not known which: a third of the way from the second to the first does well in both (measured,
    /// `docs/models/local-error-control.md`).
    pub fn value(&self, brings: i64, time: u64) -> i64 {
        let here = (brings << 20) / i64::try_from(time.max(1)).unwrap_or(i64::MAX);
        let whole = (u128::from(self.bytes) << 20) / u128::from(self.time.max(1));
        let whole = i64::try_from(whole).unwrap_or(i64::MAX);
        here + (whole.max(here) - here) / 3
    }

    /// The link's mean payload in the time that a segment takes \[2^-16 byte\].
    pub fn worth_on_the_whole(&self, shape: Shape) -> i64 {
        let worth = u128::from(self.bytes) * u128::from(self.time(shape.bytes().into())) / u128::from(self.time.max(1));
        i64::try_from(worth).unwrap_or(i64::MAX)
    }
}

/// The worth of this much time \[2^-16 byte\], by the value of time. The greatest difference of payload and worth is
/// the best choice.
pub fn worth(time: u64, value: i64) -> i64 {
    let worth = (i128::from(value) * i128::from(time)) >> 20;
    i64::try_from(worth).unwrap_or(i64::MAX)
}

/// The expected payload of a segment \[2^-16 byte\].
pub fn brings(shape: Shape, success: u32) -> i64 {
    i64::from(success) * i64::from(shape.capacity())
}
