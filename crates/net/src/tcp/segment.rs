//! A segment as the models pass it: numbers and options, never payload, and never the wire format.
//!
//! RFC 9293 (header), RFC 7323 (window scale, timestamps), RFC 2018 (selective acknowledgements).

use crate::header::{IPV4_HEADER, TCP_HEADER};
use airbraid_units::{Bytes, Instant};

/// Blocks that 40 byte of options hold without timestamps: 2 + 4 * 8 = 34 (RFC 2018, section 3).
pub(crate) const MAX_SACK_BLOCKS: usize = 4;

/// Blocks that fit beside the 12 byte of timestamps (RFC 2018, section 3).
pub(crate) const MAX_SACK_BLOCKS_WITH_TIMESTAMPS: usize = 3;

/// The flags of a segment, and the two options that only a SYN carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Opens the connection; takes one sequence number.
    pub syn: bool,
    /// The acknowledgement number counts.
    pub ack: bool,
    /// The sender has no more data; takes one sequence number.
    pub fin: bool,
    /// On a SYN: windows may be scaled (RFC 7323).
    pub window_scale: bool,
    /// On a SYN: selective acknowledgements are understood (RFC 2018).
    pub sack_permitted: bool,
}

/// Up to four ranges that arrived beyond the acknowledgement number, the most recent first; before them perhaps one
/// that arrived twice (RFC 2883), which may lie below it.
///
/// They are kept relative to it, in 32 bits each: no window is larger, and a segment is copied often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    relative: [(u32, u32); MAX_SACK_BLOCKS],
    len: u8,
    /// The first is a range that arrived twice, and relative by a signed number.
    duplicate: bool,
}

impl SackBlocks {
    /// A report that `start..end` arrived again (RFC 2883, section 4), before any other block; empty if it is not a
    /// range within 2^31 of `ack`.
    pub fn of_duplicate(ack: u64, (start, end): (u64, u64)) -> Self {
        let relative = |offset: u64| i32::try_from(offset.wrapping_sub(ack).cast_signed()).ok();
        match (relative(start), relative(end)) {
            (Some(first), Some(last)) if first < last => {
                let mut blocks = Self { len: 1, duplicate: true, ..Self::default() };
                blocks.relative[0] = (first.cast_unsigned(), last.cast_unsigned());
                blocks
            }
            _ => Self::default(),
        }
    }
    /// The range that arrived twice, if one is reported.
    pub fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let place = |relative: u32| ack.wrapping_add_signed(i64::from(relative.cast_signed()));
        self.duplicate.then(|| (place(self.relative[0].0), place(self.relative[0].1)))
    }
    /// Appends `start..end`, relative to the acknowledgement number `ack`; returns false if it does not fit, or is not
    /// a range above `ack` within 2^32.
    pub fn push(&mut self, ack: u64, (start, end): (u64, u64)) -> bool {
        let relative = |offset: u64| offset.checked_sub(ack).and_then(|d| u32::try_from(d).ok());
        let (Some(start), Some(end)) = (relative(start), relative(end)) else { return false };
        let Some(slot) = self.relative.get_mut(usize::from(self.len)) else { return false };
        if start >= end {
            return false;
        }
        *slot = (start, end);
        self.len += 1;
        true
    }
    pub const fn len(&self) -> usize {
        self.len as usize
    }
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The ranges `start..end`, in the order in which they were pushed; `ack` is the segment's.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + Clone + '_ {
        let skipped = usize::from(self.duplicate);
        let above = self.relative[skipped..self.len()].iter();
        let above = above.map(move |&(start, end)| (ack + u64::from(start), ack + u64::from(end)));
        self.duplicate(ack).into_iter().chain(above)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Stream offset of its first byte (or of SYN or FIN); the wire carries the low 32 bits.
    pub seq: u64,
    /// The next offset that its sender expects.
    pub ack: u64,
    /// Payload \[byte\].
    pub len: u32,
    /// The offered window, already unscaled \[byte\].
    pub window: u32,
    /// Flags and options of a SYN.
    pub flags: Flags,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// The timestamps option: the sender's clock, and the clock value that it echoes (RFC 7323).
    pub timestamp: Option<(Instant, Instant)>,
}

impl Segment {
    /// The offset after its last byte, SYN and FIN counted.
    pub const fn end(&self) -> u64 {
        self.seq + self.len as u64 + self.flags.syn as u64 + self.flags.fin as u64
    }
    /// The selectively acknowledged ranges, the most recent first.
    pub fn sack_blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.sack.iter(self.ack)
    }
    /// The TCP header with its options, padded to words \[byte\].
    pub const fn header_len(&self) -> Bytes {
        // NOP NOP and ten byte, as RFC 7323 (appendix A) lays them out.
        let mut options: u64 = if self.timestamp.is_some() { 12 } else { 0 };
        if self.flags.syn {
            // Maximum segment size: 4 byte (RFC 9293, section 3.7.1). Window scale: 3 and a NOP.
            options += 4;
            options += if self.flags.window_scale { 4 } else { 0 };
            // SACK-permitted: 2 byte, which take the place of the two NOPs before timestamps if there are any.
            options += if self.flags.sack_permitted && self.timestamp.is_none() { 4 } else { 0 };
        }
        if self.sack.len > 0 {
            options += (2 + 8 * self.sack.len as u64).next_multiple_of(4);
        }
        Bytes::new(TCP_HEADER.as_u64() + options)
    }
    /// The IPv4 packet that carries it \[byte\].
    pub const fn packet_len(&self) -> Bytes {
        Bytes::new(IPV4_HEADER.as_u64() + self.header_len().as_u64() + self.len as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_blocks(n: u64, timestamp: bool) -> Segment {
        let mut segment = Segment { ack: 1, ..Segment::default() };
        for i in 0..n {
            assert!(segment.sack.push(1, (10 + 20 * i, 20 + 20 * i)));
        }
        segment.timestamp = timestamp.then_some((Instant::ZERO, Instant::ZERO));
        segment
    }

    #[test]
    fn options_are_counted_in_words() {
        assert_eq!(with_blocks(0, false).header_len(), Bytes::new(20));
        assert_eq!(with_blocks(0, true).header_len(), Bytes::new(32));
        assert_eq!(with_blocks(1, false).header_len(), Bytes::new(32));
        assert_eq!(with_blocks(4, false).header_len(), Bytes::new(56));
        assert_eq!(with_blocks(3, true).header_len(), Bytes::new(60), "the most that the header can say");
        let flags = Flags { syn: true, window_scale: true, sack_permitted: true, ..Flags::default() };
        let mut syn = Segment { flags, ..Segment::default() };
        assert_eq!(syn.header_len(), Bytes::new(32));
        syn.timestamp = Some((Instant::ZERO, Instant::ZERO));
        assert_eq!(syn.header_len(), Bytes::new(40));
        assert_eq!(syn.packet_len(), Bytes::new(60));
    }

    #[test]
    fn blocks_that_cannot_be_said_are_refused() {
        let mut blocks = SackBlocks::default();
        assert!(!blocks.push(100, (50, 60)), "below the acknowledgement");
        assert!(!blocks.push(100, (120, 120)), "empty");
        assert!(!blocks.push(0, (1 << 32, (1 << 32) + 1)), "too far");
        assert!(blocks.push(100, (110, 120)) && blocks.len() == 1 && !blocks.is_empty());
        assert_eq!(blocks.iter(100).collect::<Vec<_>>(), [(110, 120)]);
        assert!((0..3).all(|_| blocks.push(100, (110, 120))));
        assert!(!blocks.push(100, (110, 120)), "a fifth");
    }

    #[test]
    fn what_arrived_twice_is_told_before_the_rest() {
        let mut blocks = SackBlocks::of_duplicate(100, (40, 60));
        assert!(blocks.push(100, (110, 120)));
        assert_eq!(blocks.duplicate(100), Some((40, 60)));
        assert_eq!(blocks.iter(100).collect::<Vec<_>>(), [(40, 60), (110, 120)]);
        assert_eq!(SackBlocks::of_duplicate(100, (110, 120)).duplicate(100), Some((110, 120)));
        assert!(SackBlocks::of_duplicate(100, (60, 60)).is_empty());
        assert_eq!(SackBlocks::default().duplicate(100), None);
    }

    #[test]
    fn a_segment_stays_small() {
        assert!(size_of::<Segment>() <= 96, "{} byte", size_of::<Segment>());
    }

    #[test]
    fn a_packet_has_its_headers_and_its_payload() {
        for payload in [0, 1, 1_448] {
            let segment = Segment { len: payload, ..with_blocks(0, true) };
            assert_eq!(segment.packet_len(), Bytes::new(20 + 32 + u64::from(payload)));
        }
    }
}
