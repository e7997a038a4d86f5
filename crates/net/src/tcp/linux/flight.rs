//! The segments in flight, each with the time of its last transmission and its state: Linux's retransmission queue with
//! the counters of its pipe.
//!
//! It never decides that something is lost; it is told. A segment that a selective acknowledgement covers only in part
//! counts as not covered. Nothing is ever taken back (a receiver does not renege here).

use super::sent::{Sent, Stamp};
use airbraid_units::Instant;
use std::collections::VecDeque;
use std::ops::Range;

/// The queue and its counters, in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    list: VecDeque<Sent>,
    /// Number and first offset of each transmission, in order of time; outdated ones are skipped.
    order: VecDeque<(u64, u64)>,
    transmissions: u64,
    sacked: u64,
    lost: u64,
    again: u64,
    /// One past the highest offset that was selectively acknowledged.
    highest_sacked: u64,
    /// No segment below waits for its retransmission.
    cursor: u64,
    /// The blocks of the last acknowledgement: segments in them are known.
    seen: [(u64, u64); 4],
}

impl Flight {
    /// Segments that are not cumulatively acknowledged (`packets_out`).
    pub fn len(&self) -> u64 {
        self.list.len() as u64
    }
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// Segments selectively acknowledged.
    pub const fn sacked(&self) -> u64 {
        self.sacked
    }
    /// Segments believed to be lost.
    pub const fn lost(&self) -> u64 {
        self.lost
    }
    /// Lost segments that were retransmitted.
    pub const fn again(&self) -> u64 {
        self.again
    }
    /// Segments believed to be in the network: sent, less those that arrived or were lost, plus retransmissions.
    pub fn pipe(&self) -> u64 {
        self.len() + self.again - self.sacked - self.lost
    }
    /// One past the highest offset selectively acknowledged; `una` where nothing is.
    pub const fn highest_sacked(&self, una: u64) -> u64 {
        if self.sacked == 0 { una } else { self.highest_sacked }
    }
    pub fn first(&self) -> Option<&Sent> {
        self.list.front()
    }
    /// Beginning of the last segment.
    pub fn last_start(&self) -> Option<u64> {
        self.list.back().map(|sent| sent.start)
    }
    pub fn get(&self, place: usize) -> &Sent {
        &self.list[place]
    }

    /// A new segment leaves.
    pub fn push(&mut self, now: Instant, (start, end): (u64, u64), stamp: Stamp) {
        self.transmissions += 1;
        let order = self.transmissions;
        self.order.push_back((order, start));
        let [sacked, lost, again, repeated] = [false; 4];
        self.list.push_back(Sent { start, end, at: now, order, stamp, sacked, lost, again, repeated });
    }

    /// The segment at `place` leaves once more; `counted`: as the retransmission of a loss, not as a probe.
    pub fn repeat(&mut self, now: Instant, place: usize, stamp: Stamp, counted: bool) {
        self.transmissions += 1;
        let sent = &mut self.list[place];
        sent.at = now;
        sent.order = self.transmissions;
        sent.stamp = stamp;
        sent.repeated = true;
        if counted && !sent.again {
            sent.again = true;
            self.again += 1;
        }
        let start = sent.start;
        self.order.push_back((self.transmissions, start));
        self.tidy();
    }

    /// Takes out the first segment if it ends by `ack`; one that ends later is cut.
    pub fn pop(&mut self, ack: u64) -> Option<Sent> {
        let first = self.list.front_mut()?;
        if first.end > ack {
            first.start = first.start.max(ack);
            return None;
        }
        let sent = self.list.pop_front()?;
        self.sacked -= u64::from(sent.sacked);
        self.lost -= u64::from(sent.lost);
        self.again -= u64::from(sent.again);
        if self.order.front().is_some_and(|front| front.0 == sent.order) {
            self.order.pop_front();
        }
        Some(sent)
    }

    /// The indices of the segments that lie wholly in `start..end`, but for those that the last acknowledgement
    /// covered.
    pub fn news_within(&self, (start, end): (u64, u64)) -> Range<usize> {
        let known = self.seen.iter().find(|&&(s, e)| s <= start && start < e && e <= end);
        self.within_from((start, end), known.map_or(start, |&(_, e)| e))
    }
    /// The indices of the segments that lie wholly in a block.
    pub fn within(&self, block: (u64, u64)) -> Range<usize> {
        self.within_from(block, block.0)
    }
    fn within_from(&self, (start, end): (u64, u64), from: u64) -> Range<usize> {
        let mut first = self.list.partition_point(|sent| sent.end <= from);
        while self.list.get(first).is_some_and(|sent| sent.start < start) {
            first += 1;
        }
        let mut last = first;
        while self.list.get(last).is_some_and(|sent| sent.end <= end) {
            last += 1;
        }
        first..last
    }
    /// Remembers the blocks of an acknowledgement.
    pub fn remember(&mut self, blocks: impl Iterator<Item = (u64, u64)>) {
        self.seen = [(0, 0); 4];
        for (slot, block) in self.seen.iter_mut().zip(blocks) {
            *slot = block;
        }
    }

    /// The segment at `place` was selectively acknowledged.
    pub fn sack(&mut self, place: usize) {
        let sent = &mut self.list[place];
        if sent.sacked {
            return;
        }
        // A retransmission of a segment that was not believed lost stays in the network.
        if sent.lost {
            self.again -= u64::from(std::mem::take(&mut sent.again));
            sent.lost = false;
            self.lost -= 1;
        }
        sent.sacked = true;
        self.sacked += 1;
        self.highest_sacked = self.highest_sacked.max(sent.end);
    }
    /// The retransmission of the segment at `place` has arrived, after the original.
    pub fn repetition_arrived(&mut self, place: usize) {
        let sent = &mut self.list[place];
        self.again -= u64::from(std::mem::take(&mut sent.again));
    }

    /// The segment at `place` is lost, or its retransmission is; returns whether that is new.
    pub fn lose(&mut self, place: usize) -> bool {
        let sent = &mut self.list[place];
        if sent.sacked || sent.lost && !sent.again {
            return false;
        }
        if !sent.lost {
            sent.lost = true;
            self.lost += 1;
        }
        self.again -= u64::from(std::mem::take(&mut sent.again));
        self.cursor = self.cursor.min(sent.start);
        true
    }
    /// Nothing is lost after all; retransmissions under way stay so.
    pub fn forget_losses(&mut self) {
        for sent in &mut self.list {
            sent.lost = false;
        }
        self.lost = 0;
    }
    /// The first lost segment that was not retransmitted.
    pub fn next_lost(&mut self) -> Option<usize> {
        if self.again >= self.lost {
            return None;
        }
        let from = self.list.partition_point(|sent| sent.end <= self.cursor);
        let found = (from..self.list.len()).find(|&place| {
            let sent = &self.list[place];
            sent.lost && !sent.again && !sent.sacked
        });
        self.cursor = found.map_or(u64::MAX, |place| self.list[place].start);
        found
    }

    /// Drops outdated entries at the front of the order of time.
    pub fn tidy(&mut self) {
        while let Some(&(order, start)) = self.order.front()
            && self.place(order, start).is_none_or(|place| self.list[place].sacked)
        {
            self.order.pop_front();
        }
    }
    /// The `n`-th entry in order of time: `None` past the end, no index if it is outdated.
    pub fn by_time(&self, n: usize) -> Option<Option<usize>> {
        let &(order, start) = self.order.get(n)?;
        Some(self.place(order, start))
    }
    fn place(&self, order: u64, start: u64) -> Option<usize> {
        let place = self.list.partition_point(|sent| sent.end <= start);
        self.list.get(place).filter(|sent| sent.order == order).map(|_| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn five() -> Flight {
        let mut flight = Flight::default();
        for i in 0..5 {
            flight.push(Instant::from_nanos(i), (1 + 10 * i, 11 + 10 * i), Stamp::default());
        }
        flight
    }

    #[test]
    fn the_pipe_counts_what_is_in_the_network() {
        let mut flight = five();
        flight.sack(1);
        flight.sack(1);
        assert!(flight.lose(0) && !flight.lose(0) && !flight.lose(1));
        assert_eq!((flight.len(), flight.sacked(), flight.lost(), flight.pipe()), (5, 1, 1, 3));
        assert_eq!(flight.next_lost(), Some(0));
        flight.repeat(Instant::from_nanos(9), 0, Stamp::default(), true);
        assert_eq!((flight.next_lost(), flight.pipe(), flight.again()), (None, 4, 1));
        assert!(flight.lose(0), "the repetition");
        assert_eq!((flight.next_lost(), flight.pipe()), (Some(0), 3));
        assert_eq!(flight.pop(25).map(|sent| sent.lost), Some(true));
        assert_eq!(flight.pop(25).map(|sent| sent.sacked), Some(true));
        assert!(flight.pop(25).is_none());
        assert_eq!((flight.first().unwrap().start, flight.pipe(), flight.lost(), flight.sacked()), (25, 3, 0, 0));
    }

    #[test]
    fn blocks_cover_whole_segments_and_are_walked_once() {
        let mut flight = five();
        assert_eq!(flight.within((11, 35)), 1..3);
        assert_eq!(flight.within((12, 41)), 2..4);
        flight.remember([(11, 35)].into_iter());
        assert_eq!((flight.news_within((11, 51)), flight.within((11, 51))), (3..5, 1..5));
    }

    #[test]
    fn repetitions_go_to_the_end_of_time() {
        let mut flight = five();
        flight.lose(0);
        flight.repeat(Instant::from_nanos(9), 0, Stamp::default(), true);
        let order: Vec<_> = (0..).map_while(|n| flight.by_time(n)).flatten().collect();
        assert_eq!(order, [1, 2, 3, 4, 0]);
    }

    /// A segment that was sent again leaves its place in time to the others: taking it out takes none of them along.
    #[test]
    fn a_repetition_that_is_acknowledged_takes_no_other_out_of_time() {
        let mut flight = five();
        flight.lose(0);
        flight.repeat(Instant::from_nanos(9), 0, Stamp::default(), true);
        assert_eq!(flight.pop(11).map(|sent| sent.start), Some(1));
        let order: Vec<_> = (0..).map_while(|n| flight.by_time(n)).flatten().collect();
        assert_eq!(order, [0, 1, 2, 3]);
    }
}
