//! Frequencies: the channels that the standard numbers, and the power that one channel puts into another.

pub mod mask;
pub mod plan;

pub use mask::Shape;
pub use plan::{Ask, NoChannel, OperatingChannel, Side};
