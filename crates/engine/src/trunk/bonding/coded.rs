//! The host's part in repair symbols: the engine has no bytes of its own.
//!
//! The daemon sums bytes ([`crate::link::fec::erasure`]); a simulator's symbol holds handles to the packets of its
//! group, and restores as many as are lost. For both, the engine decides which frames make a group, and when one is
//! restored.

use super::flow_seq::FlowSeq;
use crate::packet::Share;
use airbraid_units::Bytes;
use std::fmt::Debug;

/// A packet of a group, as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a, P> {
    pub packet: &'a P,
    /// Its place, which is coded with it.
    pub place: FlowSeq,
    /// Whether it was marked for congestion.
    pub mark: bool,
}

/// A packet that repair symbols restore.
pub trait Coded: Share {
    type Symbol: Debug;
    /// The part of a packet that a receiver keeps, to restore others of its group.
    type Kept: Debug;

    /// The part that is kept of this packet, as it was sent.
    fn keep(&self, place: FlowSeq) -> Self::Kept;
    /// The repair symbol of this index over a group of at least one packet.
    fn repair(sources: &[Source<'_, Self>], index: u8) -> Self::Symbol;
    /// Length of a symbol on the wire, the word of its place included \[byte\].
    fn symbol_len(symbol: &Self::Symbol) -> Bytes;
    /// Memory of a symbol \[byte\].
    fn symbol_footprint(symbol: &Self::Symbol) -> u64 {
        Self::symbol_len(symbol).as_u64()
    }
    /// Restores the packets of a group that are `None` in `sources`, in their order, from as many symbols, each with
    /// its index. Results that are no packets are left out.
    fn restore(sources: &[Option<&Self::Kept>], symbols: &mut [(u8, Self::Symbol)]) -> Vec<(FlowSeq, Self)>;
}
