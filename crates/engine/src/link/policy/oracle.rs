//! The limit: a policy that is told the fate of the next segment.

use super::rate::{CERTAIN, Rate, brings};
use super::{Fate, Observation, Policy};
use crate::link::cost::Cost;
use crate::link::refusal::Refusal;
use crate::link::shape::{PARITY_MAX, Shape};

/// No fading.
const NEVER: u32 = 63;

/// The bounds of the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oracle {
    /// The shortest segment, sent where nothing can arrive \[byte on the air\].
    pub bytes_min: u16,
    pub bytes_max: u16,
}

impl Oracle {
    /// Up to five blocks as the paper's policies; down to 64 byte as [`super::Goodput`].
    pub const PAPER: Self = Self { bytes_min: 64, bytes_max: 1_275 };

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.bytes_min > self.bytes_max {
            return Err(Refusal::Bounds("segment size"));
        }
        Shape::new(self.bytes_min, 0).map(|_| ())
    }
}

/// The state of the oracle.
#[derive(Clone, Copy, Debug)]
pub struct State {
    config: Oracle,
    rate: Rate,
    next: Fate,
}

impl State {
    pub fn new(config: Oracle, cost: Cost) -> Self {
        Self { config, rate: Rate::new(cost, NEVER), next: Fate::Delivered { worst: 0 } }
    }

    /// The largest shape within a length that has this parity, or less if it does not fit.
    fn largest(&self, bytes: u16, worst: u8) -> Option<Shape> {
        Shape::new(bytes.min(self.config.bytes_max), worst.checked_mul(2).filter(|&parity| parity <= PARITY_MAX)?).ok()
    }

    fn cheapest(&self) -> Shape {
        Shape::new(self.config.bytes_min, 0).unwrap_or(super::fixed::ROBUST)
    }
}

impl Policy for State {
    fn observe(&mut self, observation: Observation) {
        self.rate.observe(observation);
    }

    /// The most that arrives, unless the time that it takes is worth more: a segment that can only fail is sent as
    /// short as possible.
    fn shape(&self) -> Shape {
        let best = match self.next {
            Fate::Delivered { worst } => self.largest(self.config.bytes_max, worst),
            Fate::Truncated { at } => self.largest(at, 0),
            Fate::Lost | Fate::Undecodable => None,
        };
        let cheapest = self.cheapest();
        let Some(best) = best.filter(|shape| shape.bytes() > cheapest.bytes()) else { return cheapest };
        let gain =
            |shape: Shape, comes| brings(shape, if comes { CERTAIN } else { 0 }) - self.rate.worth_on_the_whole(shape);
        let comes_short = match self.next {
            Fate::Delivered { worst } => worst == 0,
            Fate::Truncated { at } => at >= cheapest.bytes(),
            Fate::Lost | Fate::Undecodable => false,
        };
        if gain(best, true) >= gain(cheapest, comes_short) { best } else { cheapest }
    }

    fn foretell(&mut self, fate: Fate) {
        self.next = fate;
    }
}
