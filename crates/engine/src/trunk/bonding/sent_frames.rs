//! The frames that were sent on one member: those under way, and those that were decided recently.
//!
//! Numbers are consecutive and used once. A frame is kept for a while after it was declared lost: if it comes after
//! all, its packet need not be retransmitted, and the member is known to reorder.

use super::store::PacketId;
use airbraid_units::{Instant, SeqNum};
use std::collections::VecDeque;

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Packet(PacketId),
    Repair,
    Probe,
    /// A probe of a length: its loss says nothing else about the path.
    Size,
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentFate {
    /// It is under way, as far as known.
    OnTheWay,
    /// It has come.
    Acknowledged,
    /// It was declared lost at this time.
    Lost(Instant),
}

/// A frame that was sent.
#[derive(Clone, Copy, Debug)]
pub struct SentFrame {
    /// Time of its departure.
    pub at: Instant,
    /// Its length on the wire \[byte\].
    pub bytes: u32,
    /// Expected time until it was sent, behind those before it \[us\].
    pub due_us: u32,
    /// Bytes sent on this member up to and including this frame.
    pub total: u64,
    /// Number of times that the member had had nothing to send before this frame.
    pub idles: u32,
    pub content: Content,
    pub fate: SentFate,
}

impl SentFrame {
    /// Its bytes in the sum by which rates are measured: a probe of a length is neither lost nor received there.
    fn counted(&self) -> u64 {
        if self.content == Content::Size { 0 } else { self.bytes.into() }
    }
}

/// The frames of one member.
#[derive(Debug)]
pub struct SentFrames {
    /// The number of the first entry.
    first: SeqNum,
    entries: VecDeque<SentFrame>,
    /// Number of entries before the oldest under way: at high rates there are many, and searches skip them.
    decided: usize,
    /// The numbers among them that were declared lost, in order.
    lost: VecDeque<SeqNum>,
    on_the_way: u32,
    bytes_on_the_way: u64,
    total: u64,
    /// Bytes of all frames that were declared lost and have not come since.
    lost_bytes: u64,
}

impl SentFrames {
    /// A member without frames; `first` is its first number.
    pub const fn new(first: SeqNum) -> Self {
        Self {
            first,
            entries: VecDeque::new(),
            decided: 0,
            lost: VecDeque::new(),
            on_the_way: 0,
            bytes_on_the_way: 0,
            total: 0,
            lost_bytes: 0,
        }
    }

    /// The number of the next frame.
    pub fn next(&self) -> SeqNum {
        self.first.plus(self.entries.len() as u32)
    }
    /// Frames on the way.
    pub const fn on_the_way(&self) -> u32 {
        self.on_the_way
    }
    pub const fn bytes_on_the_way(&self) -> u64 {
        self.bytes_on_the_way
    }

    /// Entries kept, decided ones among them.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A frame leaves now.
    pub fn push(&mut self, at: Instant, bytes: u32, due_us: u32, idles: u32, content: Content) -> SeqNum {
        let number = self.next();
        // Rates count frames that came or were lost: a size probe is neither.
        if content != Content::Size {
            self.total += u64::from(bytes);
        }
        self.on_the_way += 1;
        self.bytes_on_the_way += u64::from(bytes);
        let (total, fate) = (self.total, SentFate::OnTheWay);
        self.entries.push_back(SentFrame { at, bytes, due_us, total, idles, content, fate });
        number
    }

    /// Frames that were to leave since `since` have left by `until`; returns whether there are any.
    pub fn put_off(&mut self, since: Instant, until: Instant) -> bool {
        let from = self.entries.partition_point(|sent| sent.at < since);
        self.entries.range_mut(from..).for_each(|sent| sent.at = sent.at.max(until));
        from < self.entries.len()
    }

    /// The entry of a number, if it is kept.
    pub fn get(&self, number: SeqNum) -> Option<&SentFrame> {
        let index = usize::try_from(number.distance_from(self.first)).ok()?;
        self.entries.get(index)
    }

    /// Bytes sent up to the frame `number` that were not lost; `total` were sent.
    pub fn came_until(&self, number: SeqNum, total: u64) -> u64 {
        let later = self.lost.iter().rev().take_while(|lost| lost.is_after(number));
        let later: u64 = later.filter_map(|lost| self.get(*lost)).map(|sent| sent.counted()).sum();
        total - (self.lost_bytes - later)
    }

    /// The numbers kept, the oldest first.
    pub fn numbers(&self) -> impl DoubleEndedIterator<Item = (SeqNum, &SentFrame)> {
        self.entries.iter().enumerate().map(|(index, sent)| (self.first.plus(index as u32), sent))
    }

    /// The same from the oldest on the way on.
    pub fn undecided(&self) -> impl Iterator<Item = (SeqNum, &SentFrame)> {
        let from = self.decided;
        self.entries.range(from..).enumerate().map(move |(index, sent)| (self.first.plus((from + index) as u32), sent))
    }

    /// Those of the `len` numbers from `upper` downward that are under way or were declared lost, the newest first.
    pub fn open(&self, upper: SeqNum, len: u32) -> Vec<SeqNum> {
        let lowest = SeqNum(upper.0.wrapping_sub(len - 1));
        let index = |number: SeqNum| (number.distance_from(self.first).max(0) as usize).min(self.entries.len());
        let from = index(lowest).max(self.decided);
        let young = self.entries.range(from..index(upper.next()).max(from)).enumerate().rev();
        let young = young.filter(|(_, sent)| sent.fate != SentFate::Acknowledged);
        let young = young.map(|(place, _)| self.first.plus((from + place) as u32));
        // Before the oldest under way only lost ones count.
        let oldest = self.first.plus(self.decided as u32);
        let from = self.lost.partition_point(|number| number.is_before(lowest));
        let until = self.lost.partition_point(|number| number.is_before(oldest) && !number.is_after(upper));
        young.chain(self.lost.range(from..until.max(from)).rev().copied()).collect()
    }

    /// Decides a frame's fate; returns the entry as it was, if that changes anything.
    pub fn decide(&mut self, number: SeqNum, fate: SentFate) -> Option<SentFrame> {
        let index = usize::try_from(number.distance_from(self.first)).ok()?;
        let entry = self.entries.get_mut(index)?;
        let before = *entry;
        match (before.fate, fate) {
            (SentFate::OnTheWay, SentFate::Acknowledged | SentFate::Lost(_)) => {
                self.on_the_way -= 1;
                self.bytes_on_the_way -= u64::from(entry.bytes);
            }
            (SentFate::Lost(_), SentFate::Acknowledged) => {}
            _ => return None,
        }
        entry.fate = fate;
        self.note(number, before.counted(), before.fate, fate);
        Some(before)
    }

    /// Updates the sums for a decided frame.
    fn note(&mut self, number: SeqNum, bytes: u64, before: SentFate, fate: SentFate) {
        let place = self.lost.partition_point(|other| other.is_before(number));
        match (before, fate) {
            (SentFate::OnTheWay, SentFate::Lost(_)) => {
                self.lost_bytes += bytes;
                self.lost.insert(place, number);
            }
            (SentFate::Lost(_), _) => {
                self.lost_bytes -= bytes;
                self.lost.remove(place);
            }
            _ => {}
        }
        while self.entries.get(self.decided).is_some_and(|sent| sent.fate != SentFate::OnTheWay) {
            self.decided += 1;
        }
    }

    /// The oldest frame on the way.
    pub fn oldest(&self) -> Option<&SentFrame> {
        self.entries.get(self.decided)
    }

    /// Takes the oldest entry if its fate is decided, and was before `until` if it was lost.
    pub fn pop_decided(&mut self, until: Instant) -> Option<SentFrame> {
        let is_done = match self.entries.front()?.fate {
            SentFate::OnTheWay => false,
            SentFate::Acknowledged => true,
            SentFate::Lost(at) => at < until,
        };
        if !is_done {
            return None;
        }
        if self.lost.front() == Some(&self.first) {
            self.lost.pop_front();
        }
        self.first = self.first.next();
        self.decided -= 1;
        self.entries.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Frames 1, 2, 3 ... of 100, 200, 300 ... byte, one each millisecond.
    fn sent(frames: u64) -> SentFrames {
        let mut sent = SentFrames::new(SeqNum(1));
        for number in 1..=frames {
            let content = if number == 4 { Content::Size } else { Content::Repair };
            assert_eq!(sent.push(at(number), 100 * number as u32, 0, 0, content), SeqNum(number as u32));
        }
        sent
    }

    fn decide(sent: &mut SentFrames, number: u32, fate: SentFate) -> bool {
        sent.decide(SeqNum(number), fate).is_some()
    }

    fn numbers(list: impl IntoIterator<Item = SeqNum>) -> Vec<u32> {
        list.into_iter().map(|number| number.0).collect()
    }

    #[test]
    fn what_is_on_the_way_is_what_has_no_fate() {
        let mut sent = sent(3);
        assert_eq!((sent.on_the_way(), sent.bytes_on_the_way(), sent.next()), (3, 600, SeqNum(4)));
        assert!(decide(&mut sent, 2, SentFate::Lost(at(9))));
        assert!(!decide(&mut sent, 2, SentFate::Lost(at(10))), "once");
        assert_eq!((sent.on_the_way(), sent.bytes_on_the_way()), (2, 400));
        assert!(decide(&mut sent, 2, SentFate::Acknowledged), "it has come after all");
        assert!(!decide(&mut sent, 2, SentFate::Lost(at(10))) && !decide(&mut sent, 7, SentFate::Acknowledged));
        assert_eq!((sent.on_the_way(), sent.bytes_on_the_way()), (2, 400));
        assert_eq!(sent.oldest().map(|oldest| oldest.at), Some(at(1)));
        assert!(decide(&mut sent, 1, SentFate::Acknowledged));
        assert_eq!(sent.oldest().map(|oldest| oldest.at), Some(at(3)));
        assert_eq!(numbers(sent.undecided().map(|(number, _)| number)), [3]);
    }

    #[test]
    fn rates_count_what_came_until_a_frame_without_what_is_lost_and_without_size_probes() {
        let mut sent = sent(6);
        let total = |sent: &SentFrames, number| sent.get(SeqNum(number)).map(|sent| sent.total);
        assert_eq!([3, 4, 5, 6].map(|number| total(&sent, number)), [600, 600, 1_100, 1_700].map(Some));
        for number in [2, 4, 5] {
            decide(&mut sent, number, SentFate::Lost(at(9)));
        }
        // Without 200 byte, and from the fifth frame on without 500 more.
        assert_eq!(
            [(1, 100), (3, 600), (6, 1_700)].map(|(n, total)| sent.came_until(SeqNum(n), total)),
            [100, 400, 1_000]
        );
        decide(&mut sent, 2, SentFate::Acknowledged);
        assert_eq!(sent.came_until(SeqNum(6), 1_700), 1_200);
    }

    #[test]
    fn a_run_of_an_acknowledgement_finds_frames_on_the_way_and_lost_ones() {
        let mut sent = sent(9);
        for number in [1, 2, 4] {
            decide(&mut sent, number, SentFate::Acknowledged);
        }
        decide(&mut sent, 3, SentFate::Lost(at(9)));
        assert_eq!(numbers(sent.open(SeqNum(7), 3)), [7, 6, 5]);
        assert_eq!(numbers(sent.open(SeqNum(6), 6)), [6, 5, 3], "what came before the oldest on the way is skipped");
        assert_eq!(numbers(sent.open(SeqNum(4), 2)), [3]);
        assert_eq!(numbers(sent.open(SeqNum(2), 2)), [0; 0]);
    }

    proptest! {
        #[test]
        fn a_run_finds_what_a_search_of_all_frames_finds(
            first: u32,
            fates in prop::collection::vec(0u8..3, 0..40),
            forgotten in 0usize..40,
            (above, len) in (0u32..50, 1u32..50),
        ) {
            let mut sent = SentFrames::new(SeqNum(first));
            for fate in fates {
                let number = sent.push(at(0), 100, 0, 0, Content::Repair);
                let fate = [SentFate::OnTheWay, SentFate::Acknowledged, SentFate::Lost(at(1))][usize::from(fate)];
                sent.decide(number, fate);
            }
            for _ in 0..forgotten {
                sent.pop_decided(Instant::MAX);
            }
            let upper = SeqNum(first).plus(above);
            let is_in = |number: SeqNum| (0..len as i32).contains(&upper.distance_from(number));
            let open = sent.numbers().filter(|(_, frame)| frame.fate != SentFate::Acknowledged);
            let mut expected: Vec<SeqNum> = open.map(|(number, _)| number).filter(|number| is_in(*number)).collect();
            expected.reverse();
            prop_assert_eq!(sent.open(upper, len), expected);
        }
    }

    #[test]
    fn a_decided_frame_is_forgotten_in_order_and_a_lost_one_after_a_while() {
        let mut sent = sent(3);
        decide(&mut sent, 2, SentFate::Acknowledged);
        assert_eq!((sent.pop_decided(Instant::MAX).is_none(), sent.len()), (true, 3), "the first is on the way");
        decide(&mut sent, 1, SentFate::Lost(at(9)));
        assert!(sent.pop_decided(at(9)).is_none());
        assert_eq!(sent.pop_decided(at(10)).map(|sent| sent.bytes), Some(100));
        assert_eq!(sent.pop_decided(Instant::ZERO).map(|sent| sent.bytes), Some(200));
        assert_eq!((sent.pop_decided(Instant::MAX).is_none(), sent.len(), sent.next()), (true, 1, SeqNum(4)));
        assert_eq!((sent.oldest().map(|oldest| oldest.bytes), sent.get(SeqNum(2)).is_none()), (Some(300), true));
        assert_eq!(sent.came_until(SeqNum(3), 600), 500, "what was lost stays lost");
    }

    #[test]
    fn frames_of_a_late_host_left_when_it_was_awake() {
        let mut sent = sent(3);
        assert!(sent.put_off(at(2), at(20)) && !sent.put_off(at(21), at(30)));
        let left: Vec<Instant> = sent.numbers().map(|(_, sent)| sent.at).collect();
        assert_eq!(left, [at(1), at(20), at(20)]);
    }
}
