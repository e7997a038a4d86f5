//! The properties of a packet that a protocol may use: length, class, flow, and the number of segments that it is a run
//! of.
//!
//! Machines are generic over [`Packet`] and never look at bytes. The simulator passes small descriptors, the daemon
//! pooled buffers; the daemon's large reads stay whole as a run of equal segments until they must be split.

use airbraid_units::Bytes;

/// The class that a flow requests from the link, by its DSCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrafficClass {
    /// Every byte counts, at any delay (the default).
    #[default]
    Bulk,
    /// Late packets are useless.
    RealTime,
}

/// A packet, or a run of equally long segments of one flow that travel together.
pub trait Packet {
    /// The length of the whole \[byte\].
    fn len(&self) -> Bytes;
    /// The class of its flow.
    fn class(&self) -> TrafficClass {
        TrafficClass::Bulk
    }
    /// A small number that all packets of one flow share; flows may share one.
    fn flow_bucket(&self) -> u16;
    /// Number of segments in this run; each takes a sequence number of its own. At least 1.
    fn segments(&self) -> u32 {
        1
    }
    /// The length of each segment of the run but perhaps the last \[byte\].
    fn segment_len(&self) -> Bytes {
        self.len()
    }
    /// Memory that it occupies, or its part of that where it shares a buffer \[byte\]. It never changes.
    fn footprint(&self) -> u64 {
        self.len().as_u64()
    }
    /// Whether a mark can report congestion (ECN) in place of a drop.
    fn can_be_marked(&self) -> bool {
        false
    }
    /// Whether it only acknowledges the data of another flow: it paces that one, and delays no application by itself.
    fn is_acknowledgement(&self) -> bool {
        false
    }
    /// Whether it is an acknowledgement that tells all that an older one told, so that nobody misses that: of the same
    /// flow, with a greater number, without gaps and with the same marks.
    fn supersedes(&self, _older: &Self) -> bool
    where
        Self: Sized,
    {
        false
    }
    /// Its user priority, 0 to 7 (802.1D); 0 is best effort.
    fn priority(&self) -> u8 {
        0
    }
    /// The service that it belongs to, which only some members of a bond may carry; 0 for none.
    fn service(&self) -> u8 {
        0
    }
    /// Whether it carries nothing.
    fn is_empty(&self) -> bool {
        self.len() == Bytes::ZERO
    }
}

/// A packet that can have a second handle: a machine that retransmits keeps one while the other is under way.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of this length, of which nothing else is said.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Plain(u64);

    impl Packet for Plain {
        fn len(&self) -> Bytes {
            Bytes::new(self.0)
        }
        fn flow_bucket(&self) -> u16 {
            0
        }
    }
    impl Share for Plain {
        fn share(&self) -> Self {
            *self
        }
    }

    #[test]
    fn a_packet_of_which_nothing_is_said_is_one_segment_of_bulk_data() {
        let packet = Plain(1_400);
        assert_eq!((packet.class(), packet.segments(), packet.priority()), (TrafficClass::Bulk, 1, 0));
        assert_eq!(packet.service(), 0);
        assert_eq!((packet.segment_len(), packet.footprint()), (Bytes::new(1_400), 1_400));
        assert!(!packet.can_be_marked() && !packet.is_acknowledgement() && !packet.is_empty());
        assert!(Plain(0).is_empty() && !Plain(1).is_empty());
        assert_eq!(packet.segment(0), packet);
    }
}
