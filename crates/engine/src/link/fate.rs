//! The fate of a segment on the channel.

/// The channel's effect on a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives; the code repairs at most `worst` wrong bytes of a block.
    Delivered {
        /// Wrong bytes of the worst block.
        worst: u8,
    },
    /// Nothing arrives.
    Lost,
    Truncated {
        /// Coded bytes that arrive.
        at: u16,
    },
    /// More bytes of a block are wrong than the code repairs.
    Undecodable,
}
