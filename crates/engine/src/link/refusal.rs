//! The reasons why a configuration of local error control is refused.

use std::fmt;

/// The reason why a configuration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Parity comes in pairs: two bytes repair one.
    OddParity(u8),
    /// Parity and check leave no byte for data.
    NoRoom {
        /// Length of the segment on the air \[byte\].
        bytes: u16,
        /// Parity of each block \[byte\].
        parity: u8,
    },
    /// A queue of length zero, or a lifetime of zero.
    Zero(&'static str),
    /// The window is not 1 to 64 frames.
    Window(u32),
    /// The lower bound is above the upper one.
    Bounds(&'static str),
    /// The memory is not 2^1 to 2^16 segments.
    Fade(u32),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OddParity(parity) => write!(f, "{parity} byte of parity: it must be an even number"),
            Self::NoRoom { bytes, parity } => {
                write!(f, "a segment of {bytes} byte with {parity} of parity in each block has no room for data")
            }
            Self::Zero(what) => write!(f, "{what} must be more than zero"),
            Self::Window(window) => write!(f, "a window of {window} frames: 1 to 64 are possible"),
            Self::Bounds(what) => write!(f, "{what}: the smallest is larger than the largest"),
            Self::Fade(fade) => write!(f, "a memory of 2^{fade} segments: 2^1 to 2^16 are possible"),
        }
    }
}

impl std::error::Error for Refusal {}
