//! Forward error correction of a segment: Reed-Solomon blocks over GF(256) with a CRC-32 inside, and the port through
//! which a host provides it.
//!
//! A segment of `count` bytes is followed by its check and cut into blocks of 255 - parity bytes, the last one shorter;
//! each is followed by its parity. A host that carries bytes uses [`BlockCodec`], one that carries descriptors
//! [`Account`], which decides by the number of wrong bytes in each block; a test holds them together. [`erasure`] is
//! for packets that are lost whole.

mod block;
mod check;
mod codec;
pub mod erasure;
mod field;

pub use block::{ReedSolomon, Uncorrectable};
pub use check::crc32;
pub use codec::BlockCodec;

use super::header::Segment;

/// The result of decoding a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// All blocks are as they were sent, as the check confirms.
    Intact {
        /// Bytes that were repaired in the worst block.
        worst: u8,
    },
    /// One block had too many wrong bytes: the decoder failed, or repaired it to something else and the check failed.
    Undecodable,
}

/// Decodes the received part of a segment.
pub trait Codec {
    type Coded: ?Sized;
    /// Decodes it in place.
    fn decode(&mut self, segment: &Segment, coded: &mut Self::Coded) -> Decoded;
}

/// The exact account: a block with at most parity / 2 wrong bytes is repaired. One with more never passes: the code
/// finds no code word near, or the check finds that it is the wrong one (up to 2^-32).
#[derive(Clone, Copy, Debug, Default)]
pub struct Account;

impl Codec for Account {
    /// The wrong bytes of each block; blocks that are not named have none.
    type Coded = [u16];

    fn decode(&mut self, segment: &Segment, wrong: &mut [u16]) -> Decoded {
        let worst = wrong.iter().take(segment.blocks() as usize).copied().max().unwrap_or(0);
        match u8::try_from(worst) {
            Ok(worst) if worst <= segment.parity / 2 => Decoded::Intact { worst },
            _ => Decoded::Undecodable,
        }
    }
}
