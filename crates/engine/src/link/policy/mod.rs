//! Policies: from the fates of earlier frames, the length of the next segment and its parity.
//!
//! Seven are the paper's (section 6.3): three fixed, three with two modes, and FLEX. [`Goodput`] is ours, [`Oracle`]
//! the limit: it is told what will happen. All in whole numbers.

mod fixed;
mod flex;
mod goodput;
mod oracle;
mod rate;

pub use fixed::TwoMode;
pub use flex::Flex;
pub use goodput::Goodput;
pub use oracle::Oracle;

use super::cost::Cost;
use super::fate::Fate;
use super::header::Segment;
use super::refusal::Refusal;
use super::shape::Shape;
use fixed::{Fixed, TwoModes};

/// A segment that was sent, and its fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Its length on the air \[byte\].
    pub coded_len: u16,
    /// Parity of its blocks \[byte\].
    pub parity: u8,
    pub fate: Fate,
}

impl Observation {
    pub(super) fn of(segment: &Segment, fate: Fate) -> Self {
        let coded_len = u16::try_from(segment.coded_len()).unwrap_or(u16::MAX);
        Self { coded_len, parity: segment.parity, fate }
    }
    /// An observation of a segment that had at most this shape.
    pub(super) fn within(shape: Shape, fate: Fate) -> Self {
        Self { coded_len: shape.bytes(), parity: shape.parity(), fate }
    }
}

/// The purpose of the next segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Rest of the packet \[byte\]; `None`: more than fits.
    pub left: Option<u16>,
    /// Bytes that are lost, too, if this segment does not arrive: those of the poll that it would acknowledge.
    pub rides: u16,
    /// Their length on the air \[byte\].
    pub beside: u16,
}

/// Follows the channel.
pub trait Policy {
    /// Learns the fate of a segment.
    fn observe(&mut self, observation: Observation);
    /// Decides the next one, of endless data.
    fn shape(&self) -> Shape;
    /// Decides the next one for a task; only [`Goodput`] uses it.
    fn shape_for(&self, _task: Task) -> Shape {
        self.shape()
    }
    /// Announces the fate of the next segment; only the oracle uses it.
    fn foretell(&mut self, _fate: Fate) {}
}

/// A policy with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adaptation {
    /// Always the same.
    Fixed(Shape),
    /// One of two, by runs of damaged and undamaged segments.
    TwoMode(TwoMode),
    /// FLEX: size and code each by its own rule.
    Flex(Flex),
    /// Ours: the pair with the greatest expected goodput, by the observed sequences of fates.
    Goodput(Goodput),
    /// The limit: it knows the future.
    Oracle(Oracle),
}

impl Adaptation {
    /// Five blocks without parity.
    pub const BOLD: Self = Self::Fixed(fixed::BOLD);
    /// Five blocks with about 5 % of parity: t = 6.
    pub const LIGHT: Self = Self::Fixed(fixed::LIGHT);
    /// One block with about one third of parity: t = 42.
    pub const ROBUST: Self = Self::Fixed(fixed::ROBUST);
    /// BOLD or ROBUST.
    pub const BIMODAL: Self = Self::TwoMode(TwoMode::BIMODAL);
    /// Five blocks, without or with ROBUST's parity.
    pub const BI_CODE: Self = Self::TwoMode(TwoMode::BI_CODE);
    /// Five blocks or one, without parity.
    pub const BI_SIZE: Self = Self::TwoMode(TwoMode::BI_SIZE);
    /// FLEX with the paper's constants.
    pub const FLEX: Self = Self::Flex(Flex::PAPER);
    /// Ours with its default constants.
    pub const GOODPUT: Self = Self::Goodput(Goodput::DEFAULT);
    /// The limit, within the paper's bounds.
    pub const ORACLE: Self = Self::Oracle(Oracle::PAPER);

    /// Packets whole up to 64 KiB, no parity: retransmission alone (section 5 of the paper).
    pub const WHOLE: Self = Self::Fixed(fixed::WHOLE);

    /// Whether one instance follows both directions of a link, a transaction at a time, as the paper's do; otherwise
    /// each direction has its own.
    pub fn is_joint(&self) -> bool {
        !matches!(self, Self::Goodput(_) | Self::Oracle(_))
    }

    /// Checks that a policy can be made of it.
    ///
    /// # Errors
    /// [`Refusal`] says why not.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Fixed(_) => Ok(()),
            Self::TwoMode(config) => config.check(),
            Self::Flex(config) => config.check(),
            Self::Goodput(config) => config.check(),
            Self::Oracle(config) => config.check(),
        }
    }

    pub fn build(&self, cost: Cost) -> AnyPolicy {
        AnyPolicy(match *self {
            Self::Fixed(shape) => Kind::Fixed(Fixed(shape)),
            Self::TwoMode(config) => Kind::TwoMode(TwoModes::new(config)),
            Self::Flex(config) => Kind::Flex(flex::State::new(config)),
            Self::Goodput(config) => Kind::Goodput(Box::new(goodput::State::new(config, cost))),
            Self::Oracle(config) => Kind::Oracle(oracle::State::new(config, cost)),
        })
    }
}

impl Default for Adaptation {
    fn default() -> Self {
        Self::GOODPUT
    }
}

/// Any of the policies.
#[derive(Clone, Debug)]
pub struct AnyPolicy(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Fixed(Fixed),
    TwoMode(TwoModes),
    Flex(flex::State),
    Goodput(Box<goodput::State>),
    Oracle(oracle::State),
}

impl Policy for AnyPolicy {
    fn observe(&mut self, observation: Observation) {
        match &mut self.0 {
            Kind::Fixed(policy) => policy.observe(observation),
            Kind::TwoMode(policy) => policy.observe(observation),
            Kind::Flex(policy) => policy.observe(observation),
            Kind::Goodput(policy) => policy.observe(observation),
            Kind::Oracle(policy) => policy.observe(observation),
        }
    }
    fn shape(&self) -> Shape {
        match &self.0 {
            Kind::Fixed(policy) => policy.shape(),
            Kind::TwoMode(policy) => policy.shape(),
            Kind::Flex(policy) => policy.shape(),
            Kind::Goodput(policy) => policy.shape(),
            Kind::Oracle(policy) => policy.shape(),
        }
    }
    fn shape_for(&self, task: Task) -> Shape {
        match &self.0 {
            Kind::Goodput(policy) => policy.shape_for(task),
            _ => self.shape(),
        }
    }
    fn foretell(&mut self, fate: Fate) {
        if let Kind::Oracle(policy) = &mut self.0 {
            policy.foretell(fate);
        }
    }
}
