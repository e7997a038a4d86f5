//! What a protocol may know of a packet: how long it is, whom it serves, and of how many segments it is a run.
//!
//! Machines are generic over [`Packet`] and never look at bytes. The simulator passes small descriptors, the daemon
//! pooled buffers; the daemon's large reads stay whole as a run of equal segments until they must be split.

use airbraid_units::Bytes;

/// What a flow wants of the link, from its DSCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrafficClass {
    /// Wants every byte, whenever (the default).
    #[default]
    Bulk,
    /// Wants it soon or not at all.
    RealTime,
}

/// A packet, or a run of equally long segments of one flow that travel together.
pub trait Packet {
    /// The length of the whole \[byte\].
    fn len(&self) -> Bytes;
    /// What its flow wants of the link.
    fn class(&self) -> TrafficClass {
        TrafficClass::Bulk
    }
    /// A small number that all packets of one flow share; flows may share one.
    fn flow_bucket(&self) -> u16;
    /// How many segments this is a run of; each takes a sequence number of its own. At least 1.
    fn segments(&self) -> u32 {
        1
    }
    /// The length of each segment of the run but perhaps the last \[byte\].
    fn segment_len(&self) -> Bytes {
        self.len()
    }
    /// What it occupies where it lies, or its part of that where others lie there, too \[byte\]. It is always the same.
    fn footprint(&self) -> u64 {
        self.len().as_u64()
    }
    /// Whether it can be told by a mark that it met congestion (ECN), and need not be dropped for that.
    fn can_be_marked(&self) -> bool {
        false
    }
    /// Whether it only acknowledges what another flow brings: it paces that one, and nobody waits for it alone.
    fn is_acknowledgement(&self) -> bool {
        false
    }
    /// Whether it carries nothing.
    fn is_empty(&self) -> bool {
        self.len() == Bytes::ZERO
    }
}

/// A packet of which a second handle can be had: what resends keeps one while the other is on its way.
///
/// The daemon's buffers are reference-counted. The simulator passes descriptors and counts the places itself, told by
/// what goes out: a machine that keeps a handle says so with the output, and gives the handle back when it is done.
pub trait Share: Packet + Sized {
    /// Another handle to the same packet.
    fn share(&self) -> Self;
    /// A handle to one segment of a run, `index` below [`Packet::segments`]: it is queued, sent and lost by itself.
    fn segment(&self, index: u32) -> Self {
        debug_assert_eq!((index, self.segments()), (0, 1), "runs have handles to their segments");
        self.share()
    }
}
