//! The receiving side of selective repeat: several packets at once of each class, delivered in order.

use super::super::header::{Received, Segment};
use super::super::service::Output;
use super::super::stats::Stats;
use crate::packet::TrafficClass;
use airbraid_units::SeqNum;
use std::collections::VecDeque;

/// Packets of a class that the receiver holds at most: one farther ahead of the expected one is neither sent nor taken.
pub const SPAN: u32 = 256;

/// A packet that is being reassembled, or waits for those before it.
#[derive(Debug)]
struct Slot<P> {
    /// The runs of bytes that have arrived, in order, not touching each other.
    runs: Vec<(u16, u16)>,
    /// Its length, once its last segment has come.
    len: Option<u16>,
    /// If it is complete: the segment that completed it, and its offset.
    whole: Option<(u16, P)>,
}

impl<P> Slot<P> {
    const fn empty() -> Self {
        Self { runs: Vec::new(), len: None, whole: None }
    }

    /// Adds a run; returns whether anything of it is new.
    fn add(&mut self, from: u16, to: u16, is_last: bool) -> bool {
        let is_longer = self.runs.last().is_some_and(|&(_, end)| is_last && end > to);
        if is_longer || self.len.is_some_and(|len| to > len || is_last && to != len) {
            return false;
        }
        let is_news = is_last && self.len.is_none();
        if is_last {
            self.len = Some(to);
        }
        if from == to || self.runs.iter().any(|&(a, b)| a <= from && to <= b) {
            return is_news;
        }
        let (mut from, mut to) = (from, to);
        self.runs.retain(|&(a, b)| {
            let is_apart = b < from || to < a;
            if !is_apart {
                (from, to) = (from.min(a), to.max(b));
            }
            is_apart
        });
        let at = self.runs.partition_point(|&(a, _)| a < from);
        self.runs.insert(at, (from, to));
        true
    }

    fn is_complete(&self) -> bool {
        self.len.is_some_and(|len| len == 0 || self.runs == [(0, len)])
    }
}

#[derive(Debug)]
pub struct ClassReceiver<P> {
    class: TrafficClass,
    /// The packet that is to be delivered next.
    next: SeqNum,
    /// From `next` on.
    slots: VecDeque<Slot<P>>,
}

impl<P> ClassReceiver<P> {
    pub fn new(class: TrafficClass) -> Self {
        Self { class, next: SeqNum(1), slots: VecDeque::new() }
    }

    pub fn next(&self) -> SeqNum {
        self.next
    }
    /// Packets that are complete and wait for those before them.
    pub fn held_len(&self) -> usize {
        self.slots.iter().filter(|slot| slot.whole.is_some()).count()
    }

    /// Takes a segment that arrived undamaged.
    pub fn receive<H>(&mut self, segment: Segment, packet: P, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        let Segment { class, seq, offset, is_last, .. } = segment;
        let ahead = seq.distance_from(self.next);
        let is_near = (0..SPAN as i32).contains(&ahead);
        if is_near && ahead as usize >= self.slots.len() {
            self.slots.resize_with(ahead as usize + 1, Slot::empty);
        }
        let slot = self.slots.get_mut(ahead as usize).filter(|_| is_near);
        let end = u16::try_from(segment.end()).ok();
        match slot.zip(end).and_then(|(slot, end)| slot.add(offset, end, is_last).then_some(slot)) {
            Some(slot) if slot.is_complete() => slot.whole = Some((offset, packet)),
            Some(_) => outputs.push_back(Output::Piece { class, seq, offset, packet }),
            None => {
                stats.duplicates += 1;
                outputs.push_back(Output::Release(packet));
            }
        }
        self.deliver(stats, outputs);
    }

    /// The sender has given up the packets before `floor`.
    pub fn skip<H>(&mut self, floor: SeqNum, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        if !floor.is_after(self.next) {
            return;
        }
        while self.next != floor {
            let (class, seq) = (self.class, self.next);
            let Some(slot) = self.slots.pop_front() else {
                self.next = floor;
                break;
            };
            match slot {
                Slot { whole: Some((offset, packet)), .. } => {
                    stats.delivered[class as usize] += 1;
                    outputs.push_back(Output::Deliver { class, seq, offset, packet });
                }
                slot if !slot.runs.is_empty() => outputs.push_back(Output::Abandon { class, seq }),
                _ => {}
            }
            self.next = self.next.next();
        }
        self.deliver(stats, outputs);
    }

    fn deliver<H>(&mut self, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        while let Some(slot) = self.slots.pop_front_if(|slot| slot.whole.is_some()) {
            let (class, seq) = (self.class, self.next);
            self.next = seq.next();
            let Some((offset, packet)) = slot.whole else { continue };
            stats.delivered[class as usize] += 1;
            outputs.push_back(Output::Deliver { class, seq, offset, packet });
        }
    }
}

impl Received {
    /// Notes that a frame has arrived.
    pub(super) fn note(&mut self, number: SeqNum) {
        let ahead = number.distance_from(self.newest);
        match ahead {
            1.. => {
                let before = self.before.checked_shl(ahead as u32).unwrap_or(0);
                let newest = 1u64.checked_shl(ahead as u32 - 1).unwrap_or(0);
                *self = Self { newest: number, before: before | newest };
            }
            -64..=-1 => self.before |= 1 << (-ahead - 1),
            _ => {}
        }
    }

    /// Whether it reports the arrival of a frame.
    pub(super) fn has(&self, number: SeqNum) -> bool {
        match self.newest.distance_from(number) {
            0 => true,
            behind @ 1..=64 => self.before >> (behind - 1) & 1 == 1,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn received_is_a_set_of_the_last_65(start: u32, steps in prop::collection::vec(0u32..80, 1..40)) {
            let mut received = Received { newest: SeqNum(start), before: 0 };
            let mut set = BTreeSet::from([1_000i64]);
            for step in steps {
                let newest = *set.last().unwrap();
                let number = newest - 60 + i64::from(step);
                received.note(SeqNum(start).plus((number - 1_000) as u32));
                set.insert(number);
            }
            let newest = *set.last().unwrap();
            prop_assert_eq!(received.newest, SeqNum(start).plus((newest - 1_000) as u32));
            for number in newest - 64..=newest {
                let has = received.has(SeqNum(start).plus((number - 1_000) as u32));
                prop_assert_eq!(has, set.contains(&number), "{}", number - newest);
            }
        }

        #[test]
        fn runs_are_a_set_of_bytes(runs in prop::collection::vec((0u16..60, 0u16..20), 1..20)) {
            let (mut slot, mut set) = (Slot::<()>::empty(), BTreeSet::new());
            for (from, count) in runs {
                let before = set.len();
                set.extend(from..from + count);
                let is_new = slot.add(from, from + count, false);
                prop_assert!(is_new || set.len() == before);
                let bytes: Vec<u16> = slot.runs.iter().flat_map(|&(a, b)| a..b).collect();
                prop_assert!(bytes.iter().eq(&set));
            }
            let len = set.last().map_or(0, |last| last + 1);
            prop_assert!(len == 0 || !slot.add(0, len - 1, true), "it has come farther than that");
            prop_assert!(slot.add(len, len, true));
            prop_assert_eq!(slot.is_complete(), set.len() == usize::from(len));
        }
    }
}
