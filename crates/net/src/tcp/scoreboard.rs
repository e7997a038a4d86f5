//! The sender's scoreboard of selective acknowledgements: lost segments, segments in the network, and the next to send.
//!
//! RFC 6675, sections 2 to 4, on ranges instead of octets: a hole is lost or not as a whole. It never decides when to
//! recover and holds no window.

use super::ranges::{Range, Ranges};
use super::segment::Segment;

/// Duplicate acknowledgements (or discontiguous ranges above a gap) that prove a loss (RFC 6675, section 2).
pub(crate) const DUP_THRESH: u32 = 3;

/// The proposal of `NextSeg` (RFC 6675, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Rule 1: a gap that is lost.
    Lost(Range),
    /// Rules 2 and 3: new data if there are any, otherwise this gap, not yet known to be lost.
    NewOr(Option<Range>),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    sacked: Ranges,
    /// Everything below was retransmitted in this recovery if it needed to be (`HighRxt`, one past).
    high_rxt: u64,
}

impl Scoreboard {
    /// Takes in the blocks of an acknowledgement; returns the bytes that were not known before.
    pub(crate) fn update(&mut self, segment: &Segment, una: u64, max: u64) -> u64 {
        segment
            .sack_blocks()
            .filter(|&(start, end)| start >= una && end <= max)
            .map(|block| self.sacked.insert(block))
            .sum()
    }
    /// The cumulative acknowledgement has come to `una`.
    pub(crate) fn advance(&mut self, una: u64) {
        if !self.sacked.is_empty() {
            self.sacked.remove_below(una);
        }
    }
    /// Forgets everything (RFC 2018, section 8: after a timeout).
    pub(crate) fn clear(&mut self) {
        self.sacked.clear();
        self.high_rxt = 0;
    }
    /// Whether nothing is selectively acknowledged.
    pub(crate) fn is_empty(&self) -> bool {
        self.sacked.is_empty()
    }
    /// Selectively acknowledged bytes below `offset`.
    pub(crate) fn sacked_below(&self, offset: u64) -> u64 {
        self.sacked.total_below(offset)
    }
    /// A recovery begins: nothing has been retransmitted in it.
    pub(crate) fn begin_recovery(&mut self, una: u64) {
        self.high_rxt = una;
    }
    /// All gaps below `end` were retransmitted.
    pub(crate) fn retransmitted(&mut self, end: u64) {
        self.high_rxt = self.high_rxt.max(end);
    }
    /// The first stretch at or above `offset` that is not selectively acknowledged, cut at the next range.
    pub(crate) fn gap_from(&self, offset: u64) -> Range {
        match self.sacked.at_or_above(offset) {
            // Ranges do not touch, so behind this one a gap begins.
            Some((start, end)) if start <= offset => {
                (end, self.sacked.at_or_above(end).map_or(u64::MAX, |next| next.0))
            }
            Some((start, _)) => (offset, start),
            None => (offset, u64::MAX),
        }
    }

    /// `IsLost` for the gap that ends where `above` begins: three ranges above it, or more than two segments.
    fn is_lost_below(ranges_above: u32, bytes_above: u64, mss: u64) -> bool {
        ranges_above >= DUP_THRESH || bytes_above > u64::from(DUP_THRESH - 1) * mss
    }

    /// `IsLost` for the first byte that is not acknowledged.
    pub(crate) fn first_is_lost(&self, mss: u64) -> bool {
        let ranges = self.sacked.iter().take(DUP_THRESH as usize).count() as u32;
        Self::is_lost_below(ranges, self.sacked.total(), mss)
    }

    /// `SetPipe`: the bytes of `una..nxt` that are believed to be in the network, from the highest gap down.
    pub(crate) fn pipe(&self, una: u64, nxt: u64, mss: u64) -> u64 {
        let retransmitted = |(start, end): Range| end.min(self.high_rxt).saturating_sub(start);
        let (mut pipe, mut top) = (0, nxt);
        let (mut ranges, mut bytes) = (0, 0);
        for (start, end) in self.sacked.iter().rev().chain([(una, una)]) {
            let hole = (end, top.max(end));
            if !Self::is_lost_below(ranges, bytes, mss) {
                pipe += hole.1 - hole.0;
            }
            pipe += retransmitted(hole);
            ranges += 1;
            bytes += end - start;
            top = start;
        }
        pipe
    }

    /// `NextSeg`, rules 1 to 3: the next data to send in recovery.
    pub(crate) fn next(&self, una: u64, mss: u64) -> Next {
        let from = self.high_rxt.max(una);
        let gap = self.gap_from(from);
        // Only below the highest range is there evidence.
        if gap.1 == u64::MAX {
            return Next::NewOr(None);
        }
        let (mut ranges, mut bytes) = (0, 0);
        for (start, end) in self.sacked.iter().rev().take_while(|range| range.0 >= gap.1) {
            ranges += 1;
            bytes += end - start;
            if Self::is_lost_below(ranges, bytes, mss) {
                return Next::Lost((gap.0, gap.1.min(gap.0 + mss)));
            }
        }
        Next::NewOr(Some((gap.0, gap.1.min(gap.0 + mss))))
    }

    /// `NextSeg`, rule 4: the last segment of `una..nxt` that is not acknowledged, if it lies above every range.
    pub(crate) fn rescue(&self, una: u64, nxt: u64, mss: u64) -> Option<Range> {
        let floor = self.sacked.last().map_or(una, |(_, end)| end).max(self.high_rxt);
        (floor < nxt).then(|| (floor.max(nxt.saturating_sub(mss)), nxt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 100;

    fn board(blocks: &[Range]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for &block in blocks {
            board.sacked.insert(block);
        }
        board
    }

    #[test]
    fn a_hole_is_lost_below_three_ranges_or_more_than_two_segments() {
        assert!(!board(&[(101, 301)]).first_is_lost(MSS), "two segments");
        assert!(board(&[(101, 302)]).first_is_lost(MSS), "and one byte");
        assert!(board(&[(101, 102), (110, 111), (120, 121)]).first_is_lost(MSS), "three ranges");
    }

    #[test]
    fn pipe_counts_what_is_neither_lost_nor_arrived_and_what_went_again() {
        // 1..101 lost, 101..501 arrived, 501..601 in flight (nothing above it but the end).
        let mut board = board(&[(101, 501)]);
        board.begin_recovery(1);
        assert_eq!(board.pipe(1, 601, MSS), 100);
        board.retransmitted(101);
        assert_eq!(board.pipe(1, 601, MSS), 200);
    }

    #[test]
    fn next_prefers_lost_holes_then_new_data_then_other_holes() {
        let mut board = board(&[(101, 201), (301, 601)]);
        board.begin_recovery(1);
        assert_eq!(board.next(1, MSS), Next::Lost((1, 101)));
        board.retransmitted(101);
        assert_eq!(board.next(1, MSS), Next::Lost((201, 301)));
        board.retransmitted(301);
        assert_eq!(board.next(1, MSS), Next::NewOr(None));
        let mut board = self::board(&[(101, 501), (601, 701)]);
        board.begin_recovery(1);
        board.retransmitted(101);
        assert_eq!(board.next(1, MSS), Next::NewOr(Some((501, 601))), "one segment above is no proof");
        assert_eq!(board.rescue(1, 901, MSS), Some((801, 901)));
        assert_eq!(board.rescue(1, 701, MSS), None);
    }

    #[test]
    fn gaps_are_found_from_any_offset() {
        let board = board(&[(10, 20), (30, 40)]);
        assert_eq!(board.gap_from(5), (5, 10));
        assert_eq!(board.gap_from(10), (20, 30));
        assert_eq!(board.gap_from(35), (40, u64::MAX));
        assert_eq!(board.sacked_below(35), 15);
    }

    /// The RFC octet by octet.
    struct Naive<'a> {
        sacked: &'a std::collections::BTreeSet<u64>,
        high_rxt: u64,
        una: u64,
        nxt: u64,
    }

    impl Naive<'_> {
        fn is_lost(&self, octet: u64) -> bool {
            let above: Vec<_> = self.sacked.range(octet..).copied().collect();
            let ranges = above.iter().filter(|&&x| !self.sacked.contains(&(x - 1))).count();
            ranges >= 3 || above.len() as u64 > 2 * 10
        }
        fn pipe(&self) -> u64 {
            (self.una..self.nxt)
                .filter(|octet| !self.sacked.contains(octet))
                .map(|octet| u64::from(!self.is_lost(octet)) + u64::from(octet < self.high_rxt))
                .sum()
        }
        fn next(&self) -> Next {
            let Some(&top) = self.sacked.last() else { return Next::NewOr(None) };
            let hole = (self.una.max(self.high_rxt)..top).find(|octet| !self.sacked.contains(octet));
            let Some(start) = hole else { return Next::NewOr(None) };
            let end = (start..start + 10).find(|octet| self.sacked.contains(octet)).unwrap_or(start + 10);
            if self.is_lost(start) { Next::Lost((start, end)) } else { Next::NewOr(Some((start, end))) }
        }
    }

    proptest! {
        #[test]
        fn equals_the_rfc_octet_by_octet(
            blocks in prop::collection::vec((1u64..120, 1u64..25), 0..7),
            (una, rxt) in (1u64..40, 0u64..100),
        ) {
            let nxt = 150;
            let mut board = Scoreboard::default();
            let mut sacked = std::collections::BTreeSet::new();
            for (start, len) in blocks {
                // The octet at the edge itself is what is missing.
                let start = start.max(una + 1);
                board.sacked.insert((start, start + len));
                sacked.extend(start..start + len);
            }
            board.begin_recovery(una);
            board.retransmitted(una + rxt);
            let naive = Naive { sacked: &sacked, high_rxt: una + rxt, una, nxt };
            prop_assert_eq!(board.first_is_lost(10), naive.is_lost(una));
            prop_assert_eq!(board.pipe(una, nxt, 10), naive.pipe());
            prop_assert_eq!(board.next(una, 10), naive.next());
        }
    }
}
