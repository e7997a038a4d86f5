//! The fixed policies BOLD, LIGHT and ROBUST, and those that switch between two of them (section 6.3 of the paper).

use super::{Fate, Observation, Policy};
use crate::link::refusal::Refusal;
use crate::link::shape::Shape;

/// Five blocks without parity.
pub const BOLD: Shape = Shape::constant(1_275, 0);
/// Five blocks, 12 of 255 byte parity: t = 6 as with the 13 that "5 % coding overhead" would be.
pub const LIGHT: Shape = Shape::constant(1_275, 12);
/// One block, 84 of 255 byte parity, "nearly one third": t = 42.
pub const ROBUST: Shape = Shape::constant(255, 84);
/// Packets whole, no parity.
pub const WHOLE: Shape = Shape::constant(u16::MAX, 0);

/// Always the same.
#[derive(Clone, Copy, Debug)]
pub struct Fixed(pub Shape);

impl Policy for Fixed {
    fn observe(&mut self, _: Observation) {}
    fn shape(&self) -> Shape {
        self.0
    }
}

/// Two shapes, and the rule for changes between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoMode {
    /// For a good channel; it begins with this one.
    pub good: Shape,
    /// For a poor one.
    pub poor: Shape,
    /// Damaged segments in a row that make the channel poor.
    pub down: u32,
    /// Undamaged segments in a row that make it good again.
    pub up: u32,
}

impl TwoMode {
    /// BOLD or ROBUST.
    pub const BIMODAL: Self = Self { good: BOLD, poor: ROBUST, down: 2, up: 3 };
    /// Five blocks, without or with ROBUST's parity.
    pub const BI_CODE: Self = Self { good: BOLD, poor: Shape::constant(1_275, 84), down: 2, up: 3 };
    /// Five blocks or one, without parity.
    pub const BI_SIZE: Self = Self { good: BOLD, poor: Shape::constant(255, 0), down: 2, up: 3 };

    pub(super) fn check(&self) -> Result<(), Refusal> {
        match (self.down, self.up) {
            (0, _) => Err(Refusal::Zero("down")),
            (_, 0) => Err(Refusal::Zero("up")),
            _ => Ok(()),
        }
    }
}

/// The state of a policy with two modes.
#[derive(Clone, Copy, Debug)]
pub struct TwoModes {
    config: TwoMode,
    is_poor: bool,
    /// Segments in a row that support the other mode.
    streak: u32,
}

impl TwoModes {
    pub fn new(config: TwoMode) -> Self {
        Self { config, is_poor: false, streak: 0 }
    }
}

impl Policy for TwoModes {
    /// A segment that the code repaired counts as undamaged; a lost one does not count
    /// (`docs/models/local-error-control.md`).
    fn observe(&mut self, observation: Observation) {
        let is_damaged = match observation.fate {
            Fate::Lost => return,
            Fate::Delivered { .. } => false,
            Fate::Truncated { .. } | Fate::Undecodable => true,
        };
        self.streak = if is_damaged == self.is_poor { 0 } else { self.streak + 1 };
        if self.streak == if self.is_poor { self.config.up } else { self.config.down } {
            (self.is_poor, self.streak) = (!self.is_poor, 0);
        }
    }
    fn shape(&self) -> Shape {
        if self.is_poor { self.config.poor } else { self.config.good }
    }
}
