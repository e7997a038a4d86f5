//! FLEX: segment size and user share of each block, each by its own rule (section 6.3 of the paper).

use super::{Fate, Observation, Policy};
use crate::link::refusal::Refusal;
use crate::link::shape::{BLOCK_LEN, Shape};

/// The constants of FLEX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flex {
    /// The smallest segment \[byte on the air\].
    pub bytes_min: u16,
    pub bytes_max: u16,
    /// Fewest bytes of each block of 255 for the user.
    pub share_min: u8,
}

impl Flex {
    /// One to five blocks (paper); at least 128 of 255 byte for the user (our reading: no more than half is parity).
    pub const PAPER: Self = Self { bytes_min: BLOCK_LEN, bytes_max: 5 * BLOCK_LEN, share_min: 128 };

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.bytes_min > self.bytes_max {
            return Err(Refusal::Bounds("segment size"));
        }
        shape(self.bytes_min, self.share_min).map(|_| ())
    }
}

/// Number of past transactions that count (paper).
const WINDOW: u32 = 10;
/// Damaged ones among them that lower the estimate (paper).
const TRIGGER: u32 = 2;
/// Undamaged ones in a row that raise it (paper).
const STREAK: u32 = 3;
/// Factor of a fall, in hundredths (paper).
const FALL: u32 = 85;
/// The steps by which the size grows, the last one repeated \[byte\] (paper).
const SIZE_STEPS: [u16; 3] = [200, 400, 800];
/// The steps by which the user's share grows \[byte\] (paper).
const SHARE_STEPS: [u16; 3] = [10, 20, 40];

/// The rule for rises and falls, by one kind of damage.
#[derive(Clone, Copy, Debug, Default)]
struct Rule {
    /// Bit i: the transaction i before the last was damaged.
    history: u32,
    streak: u32,
    /// Steps taken since the last fall.
    steps: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Stay,
    Fall,
    Grow(usize),
}

impl Rule {
    /// That the window is cleared by a fall, and the streak by each step, is our reading.
    fn judge(&mut self, is_damaged: bool) -> Verdict {
        self.history = (self.history << 1 | u32::from(is_damaged)) & ((1 << WINDOW) - 1);
        self.streak = if is_damaged { 0 } else { self.streak + 1 };
        if self.history.count_ones() >= TRIGGER {
            *self = Self::default();
            return Verdict::Fall;
        }
        if self.streak == STREAK {
            self.streak = 0;
            self.steps += 1;
            return Verdict::Grow(self.steps - 1);
        }
        Verdict::Stay
    }
}

/// The state of FLEX.
#[derive(Clone, Copy, Debug)]
pub struct State {
    config: Flex,
    size: Rule,
    share: Rule,
    /// The estimated safe size \[byte\].
    bytes: u16,
    /// The user's part of each block \[byte\].
    user: u16,
}

impl State {
    pub fn new(config: Flex) -> Self {
        Self { config, size: Rule::default(), share: Rule::default(), bytes: config.bytes_max, user: BLOCK_LEN }
    }
}

/// Odd parity repairs no more than the even number below it, so that is taken.
fn shape(bytes: u16, user: u8) -> Result<Shape, Refusal> {
    Shape::new(bytes, (255 - user) & !1)
}

fn step(steps: [u16; 3], taken: usize) -> u16 {
    steps[taken.min(steps.len() - 1)]
}

impl Policy for State {
    /// A lost segment does not count.
    fn observe(&mut self, observation: Observation) {
        let cut = match observation.fate {
            Fate::Lost => return,
            Fate::Truncated { at } => Some(at),
            Fate::Delivered { .. } | Fate::Undecodable => None,
        };
        match self.size.judge(cut.is_some()) {
            Verdict::Stay => {}
            Verdict::Fall => {
                let safe = u32::from(cut.unwrap_or(self.bytes)) * FALL / 100;
                self.bytes = (safe as u16).clamp(self.config.bytes_min, self.config.bytes_max);
            }
            Verdict::Grow(taken) => {
                self.bytes = self.bytes.saturating_add(step(SIZE_STEPS, taken)).min(self.config.bytes_max);
            }
        }
        match self.share.judge(observation.fate == Fate::Undecodable) {
            Verdict::Stay => {}
            Verdict::Fall => self.user = (self.user * FALL as u16 / 100).max(u16::from(self.config.share_min)),
            Verdict::Grow(taken) => self.user = (self.user + step(SHARE_STEPS, taken)).min(BLOCK_LEN),
        }
    }

    fn shape(&self) -> Shape {
        // The least of both has been checked, and more of either leaves more room.
        shape(self.bytes, self.user as u8).unwrap_or(super::fixed::ROBUST)
    }
}
