//! The order that a resequencer restores: admission of frames, held packets, delivery.
//!
//! ```text
//!   delivered ... | next ------- hole ------- | held | hole | held held |
//! ```
//!
//! The resequencers decide when a hole is given up. No packet is ever delivered twice: the last 32,768 numbers
//! are remembered.

use super::counts::PaperCounts;
use super::header::TrunkHeader;
use super::policy::Resequencer;
use super::window::{ReceivedWindow, WINDOW};
use super::{PaperDropReason, PaperOutput};
use crate::packet::Packet;
use crate::trunk::LateMode;
use airbraid_units::{Duration, Instant, SeqNum};
use std::collections::VecDeque;

/// The first number of each epoch.
pub const FIRST: SeqNum = SeqNum(1);

/// A packet, or run, that waits for its turn.
#[derive(Debug)]
struct Held<P> {
    number: SeqNum,
    packet: P,
    since: Instant,
}

/// The standing of a header's epoch and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Of an earlier life of the sender, or too old to tell.
    Stale,
    /// Of the present life.
    Present,
    /// A new life, or numbers that leapt: all held packets are delivered, and only the next number is known.
    Anew,
}

/// The decision on a frame's packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is a duplicate.
    Duplicate,
    /// Its place had been given up.
    Late,
    /// It was the next, and is delivered.
    Next,
    /// It waits for those before it.
    Held,
}

/// Numbers in order, with holes.
#[derive(Debug)]
pub struct Sequence<P> {
    /// Largest distance of a held packet from the next number.
    buffer_limit: u32,
    mode: LateMode,
    epoch: Option<u16>,
    /// The number that is to be delivered next: that of the first hole.
    next: SeqNum,
    /// Packets that came early, in order of their numbers.
    held: VecDeque<Held<P>>,
    received: ReceivedWindow,
    /// Counters of the receiving side.
    pub counts: PaperCounts,
}

impl<P: Packet> Sequence<P> {
    /// Expects the first number of whatever epoch comes first.
    pub fn new(config: &Resequencer) -> Self {
        Self {
            // A packet that may fill a hole must not be forgotten: half the window for the hole, half for a long run.
            buffer_limit: config.buffer_limit.clamp(1, WINDOW / 2),
            mode: config.mode,
            epoch: None,
            next: FIRST,
            held: VecDeque::new(),
            received: ReceivedWindow::new(FIRST.prev()),
            counts: PaperCounts::default(),
        }
    }

    /// The number that is to be delivered next.
    #[inline]
    pub fn next(&self) -> SeqNum {
        self.next
    }
    /// The least number that is held.
    #[inline]
    pub fn first_held(&self) -> Option<SeqNum> {
        self.held.front().map(|held| held.number)
    }
    /// Number of packets that wait for their turn.
    pub fn held_len(&self) -> usize {
        self.held.len()
    }
    /// Whether a number has come; it must not be forgotten.
    pub fn has(&self, number: SeqNum) -> bool {
        self.received.contains(number)
    }
    /// Whether a number lies further ahead than can be held.
    pub fn is_beyond(&self, number: SeqNum) -> bool {
        number.distance_from(self.next) >= self.buffer_limit as i32
    }

    /// Checks the epoch of a frame or marker; a newer one begins a new life.
    pub fn enter(&mut self, now: Instant, header: &TrunkHeader, outputs: &mut VecDeque<PaperOutput<P>>) -> Standing {
        let TrunkHeader { epoch, number, .. } = *header;
        match self.epoch {
            Some(current) if current == epoch => return Standing::Present,
            Some(current) if (epoch.wrapping_sub(current) as i16) < 0 => return Standing::Stale,
            Some(_) => {
                self.flush(now, outputs);
                self.counts.resyncs += 1;
            }
            None => {}
        }
        self.epoch = Some(epoch);
        self.next = FIRST;
        self.received = ReceivedWindow::new(FIRST.prev());
        if number.is_before(FIRST) {
            // A receiver that joins more than 2^31 numbers into the sender's life: this is no packet of long ago.
            self.leap(now, number, outputs);
        }
        Standing::Anew
    }

    /// Checks the number of a packet; numbers that leap beyond the buffer go on behind the leap.
    pub fn admit(&mut self, now: Instant, header: &TrunkHeader, outputs: &mut VecDeque<PaperOutput<P>>) -> Standing {
        let standing = self.enter(now, header, outputs);
        if standing == Standing::Stale || self.received.is_forgotten(header.number) {
            return Standing::Stale;
        }
        if self.is_beyond(header.number) {
            self.leap(now, header.number, outputs);
            return Standing::Anew;
        }
        standing
    }

    fn leap(&mut self, now: Instant, number: SeqNum, outputs: &mut VecDeque<PaperOutput<P>>) {
        self.flush(now, outputs);
        self.next = number;
        self.received.leap(number.prev());
        self.counts.resyncs += 1;
    }

    /// A packet that is no part of the order.
    pub fn refuse(&mut self, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        self.counts.duplicates += 1;
        outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::Stale));
    }

    /// Puts an admitted packet, or run, where it belongs.
    pub fn place(&mut self, now: Instant, number: SeqNum, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) -> Place {
        if !self.received.insert_run(number, packet.segments()) {
            self.counts.duplicates += 1;
            outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::Duplicate));
            return Place::Duplicate;
        }
        match number.distance_from(self.next) {
            ..0 => {
                self.counts.late += 1;
                match self.mode {
                    LateMode::Tcp => self.deliver(Duration::ZERO, packet, outputs),
                    LateMode::Strict => outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::Late)),
                }
                Place::Late
            }
            0 => {
                self.next = number.plus(packet.segments());
                self.deliver(Duration::ZERO, packet, outputs);
                Place::Next
            }
            1.. => {
                // Most come in order: look from the back.
                let behind = self.held.iter().rev().take_while(|held| number.is_before(held.number)).count();
                self.held.insert(self.held.len() - behind, Held { number, packet, since: now });
                Place::Held
            }
        }
    }

    fn deliver(&mut self, waited: Duration, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        self.counts.delivered += 1;
        self.counts.waited += waited;
        outputs.push_back(PaperOutput::Deliver(packet));
    }

    fn deliver_front(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        if let Some(held) = self.held.pop_front() {
            self.next = held.number.plus(held.packet.segments());
            self.deliver(now - held.since, held.packet, outputs);
        }
    }

    /// Gives up the holes before `next`: held packets lie behind it.
    pub fn pass_over(&mut self, next: SeqNum) {
        self.next = next;
    }

    /// Delivers packets that no hole blocks.
    pub fn drain(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        while self.first_held() == Some(self.next) {
            self.deliver_front(now, outputs);
        }
    }

    /// Gives up the holes before `last`: delivers held packets up to it, in order.
    pub fn flush_through(&mut self, now: Instant, last: SeqNum, outputs: &mut VecDeque<PaperOutput<P>>) {
        while self.first_held().is_some_and(|number| !number.is_after(last)) {
            self.deliver_front(now, outputs);
        }
    }

    /// Gives up all holes: delivers everything held, in order.
    pub fn flush(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        while !self.held.is_empty() {
            self.deliver_front(now, outputs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Bytes;

    /// A packet of this number, which may stand for a run.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Run(u32, u32);

    impl Packet for Run {
        fn len(&self) -> Bytes {
            Bytes::new(1_000)
        }
        fn flow_bucket(&self) -> u16 {
            0
        }
        fn segments(&self) -> u32 {
            self.1
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }
    fn delivered(outputs: &mut VecDeque<PaperOutput<Run>>) -> Vec<u32> {
        let number = |output| match output {
            PaperOutput::Deliver(Run(number, _)) => Some(number),
            _ => None,
        };
        outputs.drain(..).filter_map(number).collect()
    }

    #[test]
    fn packets_are_counted_by_where_they_belong() {
        let mut sequence: Sequence<Run> =
            Sequence::new(&Resequencer { mode: LateMode::Strict, ..Resequencer::default() });
        let mut outputs = VecDeque::new();
        let mut put = |sequence: &mut Sequence<Run>, ms, number: u32, segments| {
            let place = sequence.place(at(ms), SeqNum(number), Run(number, segments), &mut outputs);
            (place, delivered(&mut outputs), sequence.held_len())
        };
        assert_eq!(put(&mut sequence, 0, 1, 1), (Place::Next, vec![1], 0));
        assert_eq!(put(&mut sequence, 1, 6, 1), (Place::Held, vec![], 1));
        assert_eq!(put(&mut sequence, 2, 4, 2), (Place::Held, vec![], 2));
        assert_eq!(put(&mut sequence, 3, 8, 1), (Place::Held, vec![], 3));
        assert_eq!((sequence.first_held(), sequence.next()), (Some(SeqNum(4)), SeqNum(2)));
        assert_eq!(put(&mut sequence, 4, 6, 1), (Place::Duplicate, vec![], 3));
        assert_eq!(put(&mut sequence, 4, 1, 1), (Place::Duplicate, vec![], 3));
        let mut outputs = VecDeque::new();
        sequence.flush_through(at(10), SeqNum(6), &mut outputs);
        assert_eq!((delivered(&mut outputs), sequence.next()), (vec![4, 6], SeqNum(7)));
        assert_eq!(sequence.counts.waited, Duration::from_millis(8 + 9));
        for number in [2, 3] {
            assert_eq!(sequence.place(at(11), SeqNum(number), Run(number, 1), &mut outputs), Place::Late);
            sequence.refuse(Run(number, 1), &mut outputs);
        }
        let counts = &sequence.counts;
        assert_eq!((counts.delivered, counts.duplicates, counts.late, sequence.held_len()), (3, 2 + 2, 2, 1));
        assert_eq!(delivered(&mut outputs), [], "late ones are not delivered in this mode");
        sequence.place(at(12), SeqNum(7), Run(7, 1), &mut outputs);
        sequence.drain(at(13), &mut outputs);
        assert_eq!((delivered(&mut outputs), sequence.next()), (vec![7, 8], SeqNum(9)));
    }

    /// A newer epoch, or a number beyond the buffer, begins a life; an older epoch is stale.
    #[test]
    fn a_new_life_is_told_from_an_old_one() {
        let mut sequence: Sequence<Run> = Sequence::new(&Resequencer { buffer_limit: 10, ..Resequencer::default() });
        let mut outputs = VecDeque::new();
        let mut admit = |sequence: &mut Sequence<Run>, epoch, number: u32| {
            let header = TrunkHeader { epoch, number: SeqNum(number), ..TrunkHeader::default() };
            (sequence.admit(at(0), &header, &mut outputs), sequence.next().0, sequence.counts.resyncs)
        };
        assert_eq!(admit(&mut sequence, 5, 1), (Standing::Anew, 1, 0));
        assert_eq!(admit(&mut sequence, 5, 10), (Standing::Present, 1, 0));
        assert_eq!(admit(&mut sequence, 5, 11), (Standing::Anew, 11, 1));
        assert_eq!(admit(&mut sequence, 4, 11), (Standing::Stale, 11, 1));
        assert_eq!(admit(&mut sequence, 6, 1), (Standing::Anew, 1, 2));
        assert_eq!(admit(&mut sequence, 7, 3), (Standing::Anew, 1, 3));
    }
}
