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

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Duration;

    /// A millisecond for a frame, and a microsecond for each byte.
    const COST: Cost = Cost { overhead: Duration::from_millis(1), per_byte: Duration::from_micros(1) };
    const CONFIG: Oracle = Oracle { bytes_min: 104, bytes_max: 1_204 };

    fn told(state: &mut State, fate: Fate) -> (u16, u8) {
        state.foretell(fate);
        let shape = state.shape();
        (shape.bytes(), shape.parity())
    }

    /// Before anything was sent time is worth nothing: whatever arrives is sent as long as it can be.
    #[test]
    fn it_sends_the_most_that_will_arrive() {
        let mut state = State::new(CONFIG, COST);
        assert_eq!(told(&mut state, Fate::Delivered { worst: 0 }), (1_204, 0));
        let (bytes, parity) = told(&mut state, Fate::Delivered { worst: 3 });
        assert!(bytes > 1_000 && parity == 6, "{bytes} {parity}");
        assert_eq!(told(&mut state, Fate::Truncated { at: 700 }), (700, 0));
        for fate in [Fate::Lost, Fate::Undecodable, Fate::Truncated { at: 104 }, Fate::Delivered { worst: 200 }] {
            assert_eq!(told(&mut state, fate), (104, 0), "{fate:?}");
        }
    }

    /// The link brings 1000 byte in 2 ms, half a byte a microsecond. Cut at 200 byte a segment has 196 in 1.2 ms, which
    /// are worth 600 there: it loses 405, and the shortest one 451.
    #[test]
    fn what_takes_longer_than_it_brings_is_left_out() {
        let mut state = State::new(Oracle { bytes_min: 104, bytes_max: 1_004 }, COST);
        let whole = Observation { coded_len: 1_004, parity: 0, fate: Fate::Delivered { worst: 0 } };
        (0..10).for_each(|_| state.observe(whole));
        // 4 of check: 196 - 1000 x 1204 / 2004 = -405, and 100 - 1000 x 1104 / 2004 = -451.
        assert_eq!(told(&mut state, Fate::Truncated { at: 200 }), (200, 0));
        // One more byte in one more microsecond is gained: 101 - 551.4 beats 100 - 550.9.
        assert_eq!(told(&mut state, Fate::Truncated { at: 105 }).0, 105);
        // Where the shortest one fails as well the longer one has to bring more than its own time is worth.
        let mut fast =
            State::new(Oracle { bytes_min: 104, bytes_max: 1_004 }, Cost { overhead: Duration::ZERO, ..COST });
        (0..10).for_each(|_| fast.observe(whole));
        // A byte a microsecond. A parity of 16 in 255 costs 63 byte of 1004, and the shortest segment fails: 104 us.
        // A parity of 60 costs 236. Before anything was sent time is worth nothing.
        assert_eq!(told(&mut fast, Fate::Delivered { worst: 8 }).1, 16);
        assert_eq!(told(&mut fast, Fate::Delivered { worst: 30 }), (104, 0));
        assert_eq!(told(&mut State::new(CONFIG, COST), Fate::Delivered { worst: 30 }).1, 60);
    }

    #[test]
    fn bounds_are_checked() {
        assert!(Oracle::PAPER.check().is_ok() && Oracle { bytes_min: 64, bytes_max: 64 }.check().is_ok());
        assert!(Oracle { bytes_min: 65, bytes_max: 64 }.check().is_err());
    }
}
