//! Our own policy: the size and code with the greatest expected goodput, by what was seen to follow what.

use super::{Fate, Observation, Policy};
use crate::link::config::{Cost, Refusal};
use crate::link::shape::Shape;

/// The constants of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goodput {
    /// The shortest segment \[byte on the air\].
    pub bytes_min: u16,
    /// The longest one.
    pub bytes_max: u16,
}

impl Goodput {
    /// Up to five blocks as the paper's policies; down to 64 byte, about what a frame's overhead is worth.
    pub const DEFAULT: Self = Self { bytes_min: 64, bytes_max: 1_275 };

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.bytes_min > self.bytes_max {
            return Err(Refusal::Bounds("segment size"));
        }
        Shape::new(self.bytes_min, 0).map(|_| ())
    }
}

/// What the link achieves: bytes of packets by time, in whole numbers.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Bytes delivered, times 2^16, fading.
    bytes: u64,
    /// Time taken, fading \[ns\].
    time: u64,
    /// Each observation takes 2^-fade of the past with it; 63: none.
    fade: u32,
}

impl Rate {
    /// A probability of one.
    pub const CERTAIN: u32 = 1 << 16;

    /// Of all that was.
    pub fn forever() -> Self {
        Self { bytes: 0, time: 0, fade: 63 }
    }
    /// Of the last 2^`fade` observations, about.
    pub fn of_last(fade: u32) -> Self {
        Self { bytes: 0, time: 0, fade }
    }

    pub fn observe(&mut self, observation: Observation, cost: Cost) {
        self.bytes -= self.bytes >> self.fade;
        self.time -= self.time >> self.fade;
        if let Fate::Delivered { .. } = observation.fate
            && let Ok(shape) = Shape::new(observation.coded_len, observation.parity)
        {
            self.bytes += u64::from(shape.capacity()) << 16;
        }
        self.time += time(observation.coded_len, cost);
    }

    /// What a segment is expected to bring, less what the link would bring in its time \[2^-16 byte\]: the best choice at
    /// each step for the greatest rate in the long run (the criterion of Dinkelbach 1967 for a quotient).
    pub fn gain(&self, shape: Shape, success: u32, cost: Cost) -> i64 {
        let brings = i64::from(success) * i64::from(shape.capacity());
        let worth = u128::from(self.bytes) * u128::from(time(shape.bytes(), cost)) / u128::from(self.time.max(1));
        brings - i64::try_from(worth).unwrap_or(i64::MAX)
    }
}

/// What a segment of so many bytes on the air takes \[ns\].
fn time(bytes: u16, cost: Cost) -> u64 {
    cost.overhead.as_nanos() + cost.per_byte.as_nanos() * u64::from(bytes)
}

/// The state of the policy.
#[derive(Clone, Debug)]
pub struct State {
    config: Goodput,
    cost: Cost,
    rate: Rate,
}

impl State {
    pub fn new(config: Goodput, cost: Cost) -> Self {
        Self { config, cost, rate: Rate::of_last(8) }
    }
}

impl Policy for State {
    fn observe(&mut self, observation: Observation) {
        self.rate.observe(observation, self.cost);
    }
    fn shape(&self) -> Shape {
        Shape::new(self.config.bytes_max, 0).unwrap_or(super::fixed::ROBUST)
    }
}
