//! What a host provides so that packets can be restored from repair symbols: the engine has no bytes of its own.
//!
//! The daemon sums bytes ([`crate::link::fec::erasure`]); whoever passes descriptors passes handles to the packets of the group, which any
//! symbol of as many as are lost brings back. Which frames make a group, and when one is restored, the engine decides for both.

use super::flow_seq::Place;
use crate::packet::Share;
use airbraid_units::Bytes;
use std::fmt::Debug;

/// A packet of a group, as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a, P> {
    /// The packet.
    pub packet: &'a P,
    /// Its place, which is coded with it.
    pub place: Place,
    /// Whether it was sent with a mark that it met congestion.
    pub mark: bool,
}

/// A packet that repair symbols restore.
pub trait Coded: Share {
    /// A repair symbol.
    type Symbol: Debug;
    /// What a receiver keeps of a packet, to restore others of its group.
    type Kept: Debug;

    /// What is kept of this packet, as it was sent.
    fn keep(&self, place: Place) -> Self::Kept;
    /// The repair symbol of this index over a group of at least one packet.
    fn repair(sources: &[Source<'_, Self>], index: u8) -> Self::Symbol;
    /// Length of a symbol on the wire, the word of its place included \[byte\].
    fn symbol_len(symbol: &Self::Symbol) -> Bytes;
    /// What a symbol occupies where it lies \[byte\].
    fn symbol_footprint(symbol: &Self::Symbol) -> u64 {
        Self::symbol_len(symbol).as_u64()
    }
    /// Restores the packets of a group that are none in `sources`, in their order, from as many symbols, each with its index. What comes out as no
    /// packet is left out.
    fn restore(sources: &[Option<&Self::Kept>], symbols: &mut [(u8, Self::Symbol)]) -> Vec<(Place, Self)>;
}
