//! The sending side of selective repeat: packets of one class under way, with the parts of them that are still to be
//! sent.

use super::super::config::Config;
use super::super::header::Segment;
use super::super::outgoing::{ClassQueue, Waiting};
use super::super::service::{DropReason, Output};
use super::super::shape::Shape;
use super::super::stats::Stats;
use super::receiver::SPAN;
use crate::packet::{Share, TrafficClass};
use airbraid_units::{Instant, SeqNum};
use std::collections::VecDeque;

/// A run of bytes of a packet, with the number of its transmissions.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    from: u16,
    to: u16,
    attempts: u32,
}

/// A packet that is under way.
#[derive(Debug)]
struct Open<P> {
    packet: P,
    len: u16,
    seq: SeqNum,
    expires: Option<Instant>,
    /// Runs to be sent, in order; a run that is neither here nor on the air has arrived.
    todo: VecDeque<Run>,
    /// Number of frames on the air with a part of it.
    on_air: u32,
}

#[derive(Debug)]
pub struct ClassSender<P> {
    class: TrafficClass,
    queue: ClassQueue<P>,
    /// In order, without settled ones.
    open: VecDeque<Open<P>>,
    /// Number of the next packet.
    next: SeqNum,
    /// The packet that the other side expects, by its last report.
    expected: SeqNum,
    retransmissions: Option<u32>,
}

impl<P: Share> ClassSender<P> {
    pub fn new(class: TrafficClass, config: &Config) -> Self {
        let queue = ClassQueue::new(class, config);
        let retransmissions = queue.retransmissions();
        Self { class, queue, open: VecDeque::new(), next: SeqNum(1), expected: SeqNum(1), retransmissions }
    }

    pub fn push<H>(&mut self, now: Instant, packet: P, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        self.queue.push(now, packet, stats, outputs);
    }
    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }
    /// Packets before this one are settled or given up.
    pub fn floor(&self) -> SeqNum {
        self.open.front().map_or(self.next, |oldest| oldest.seq)
    }

    /// Whether the other side waits for packets that were given up.
    pub fn is_behind(&self) -> bool {
        self.expected.is_before(self.floor())
    }

    fn find(&self, seq: SeqNum) -> Option<usize> {
        self.open.iter().position(|open| open.seq == seq)
    }

    /// The next segment: lost runs of the oldest first, then a new packet.
    pub fn transmit(&mut self, shape: Shape, stats: &mut Stats) -> Option<(Segment, Run, P)> {
        if !self.open.iter().any(|open| !open.todo.is_empty()) {
            // The other side takes no more.
            if self.next.distance_from(self.floor()) >= SPAN as i32 {
                return None;
            }
            let Waiting { packet, expires } = self.queue.pop()?;
            let len = packet.len().as_u64() as u16;
            let todo = VecDeque::from([Run { from: 0, to: len, attempts: 0 }]);
            self.open.push_back(Open { packet, len, seq: self.next, expires, todo, on_air: 0 });
            self.next = self.next.next();
        }
        let open = self.open.iter_mut().find(|open| !open.todo.is_empty())?;
        let run = open.todo.front_mut()?;
        let to = run.from.saturating_add(shape.capacity()).min(run.to);
        let sent = Run { from: run.from, to, attempts: run.attempts + 1 };
        run.from = to;
        if run.from == run.to {
            open.todo.pop_front();
        }
        open.on_air += 1;
        stats.repetitions += u64::from(sent.attempts > 1);
        let segment = Segment {
            class: self.class,
            seq: open.seq,
            offset: sent.from,
            count: sent.to - sent.from,
            is_last: sent.to == open.len,
            parity: shape.parity(),
        };
        Some((segment, sent, open.packet.share()))
    }

    /// A frame with this run has arrived.
    pub fn on_come<H>(&mut self, seq: SeqNum, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        let Some(index) = self.find(seq) else { return };
        self.open[index].on_air -= 1;
        if self.open[index].on_air == 0 && self.open[index].todo.is_empty() {
            self.settle(index, stats, outputs);
        }
    }

    /// A frame with this run is lost.
    pub fn on_lost(&mut self, seq: SeqNum, run: Run) {
        let Some(index) = self.find(seq) else { return };
        let open = &mut self.open[index];
        open.on_air -= 1;
        let at = open.todo.partition_point(|other| other.from < run.from);
        open.todo.insert(at, run);
    }

    /// The other side expects this packet: all before it have arrived.
    pub fn on_next<H>(&mut self, next: SeqNum, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        // It cannot expect more than was sent.
        if next.is_after(self.next) || !next.is_after(self.expected) {
            return;
        }
        self.expected = next;
        while self.open.front().is_some_and(|oldest| oldest.seq.is_before(next)) {
            self.settle(0, stats, outputs);
        }
    }

    fn settle<H>(&mut self, index: usize, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        stats.settled[self.class as usize] += 1;
        outputs.extend(self.open.remove(index).map(|open| Output::Release(open.packet)));
    }

    /// Gives up packets that would have to be sent, but are too old or were sent too often. Frames on the air may still
    /// arrive.
    pub fn give_up<H>(&mut self, now: Instant, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        let class = self.class as usize;
        self.queue.expire(now, stats, outputs);
        let mut index = 0;
        while let Some(open) = self.open.get(index) {
            let is_old = !open.todo.is_empty() && open.expires.is_some_and(|at| at <= now);
            let limit = self.retransmissions;
            let is_tried = open.todo.iter().any(|run| limit.is_some_and(|limit| run.attempts > limit));
            if !is_old && !is_tried {
                index += 1;
                continue;
            }
            let reason = if is_old { DropReason::Expired } else { DropReason::Retransmissions };
            let count = if is_old { &mut stats.expired } else { &mut stats.given_up };
            count[class] += 1;
            outputs.extend(self.open.remove(index).map(|open| Output::Drop(open.packet, reason)));
        }
    }

    /// The time at which something expires that is not on the air.
    pub fn wake(&self) -> Option<Instant> {
        let open = self.open.iter().filter(|open| !open.todo.is_empty()).filter_map(|open| open.expires);
        open.chain(self.queue.wake()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Bytes;

    /// A packet of this length.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Long(u64);

    impl crate::packet::Packet for Long {
        fn len(&self) -> Bytes {
            Bytes::new(self.0)
        }
        fn flow_bucket(&self) -> u16 {
            0
        }
    }
    impl Share for Long {
        fn share(&self) -> Self {
            *self
        }
    }

    /// 100 byte of payload and 4 of check.
    const SHAPE: Shape = Shape::constant(104, 0);

    struct End {
        sender: ClassSender<Long>,
        stats: Stats,
        outputs: VecDeque<Output<(), Long>>,
    }

    impl End {
        fn new(packets: &[u64]) -> Self {
            let sender = ClassSender::new(TrafficClass::Bulk, &Config::default());
            let mut end = Self { sender, stats: Stats::default(), outputs: VecDeque::new() };
            for len in packets {
                end.sender.push(Instant::ZERO, Long(*len), &mut end.stats, &mut end.outputs);
            }
            end
        }
        /// The number, offset and length of the next segment, and its run.
        fn send(&mut self) -> Option<(u32, u16, u16, bool, Run)> {
            let (segment, run, _) = self.sender.transmit(SHAPE, &mut self.stats)?;
            Some((segment.seq.0, segment.offset, segment.count, segment.is_last, run))
        }
        fn places(&mut self, count: usize) -> Vec<(u32, u16, u16, bool)> {
            (0..count).filter_map(|_| self.send()).map(|(seq, offset, len, last, _)| (seq, offset, len, last)).collect()
        }
        fn come(&mut self, seq: u32) -> bool {
            self.sender.on_come(SeqNum(seq), &mut self.stats, &mut self.outputs);
            matches!(self.outputs.pop_front(), Some(Output::Release(_)))
        }
    }

    /// 250 byte in three, then the next packet.
    #[test]
    fn a_packet_goes_in_parts_and_is_done_when_each_has_come() {
        let mut end = End::new(&[250, 100]);
        let sent = end.places(9);
        assert_eq!(sent, [(1, 0, 100, false), (1, 100, 100, false), (1, 200, 50, true), (2, 0, 100, true)]);
        assert_eq!((end.sender.floor(), end.stats.repetitions), (SeqNum(1), 0));
        assert_eq!([(); 3].map(|()| end.come(1)), [false, false, true]);
        assert!(end.sender.floor() == SeqNum(2) && end.come(2) && !end.come(2));
        assert_eq!((end.sender.floor(), end.stats.settled[TrafficClass::Bulk as usize]), (SeqNum(3), 2));
    }

    /// Lost parts go again before anything new, the first of them first, whichever was known to be lost first.
    #[test]
    fn lost_parts_go_again_in_order() {
        let mut end = End::new(&[300, 100]);
        let runs: Vec<Run> = (0..3).filter_map(|_| end.send()).map(|sent| sent.4).collect();
        [2, 0, 1].into_iter().for_each(|place: usize| end.sender.on_lost(SeqNum(1), runs[place]));
        assert_eq!(end.places(4), [(1, 0, 100, false), (1, 100, 100, false), (1, 200, 100, true), (2, 0, 100, true)]);
        assert_eq!(end.stats.repetitions, 3);
        assert_eq!([(); 3].map(|()| end.come(1)), [false, false, true], "three are on the air, not six");
    }

    /// The far end expects a number: all before it have come. It cannot expect more than was sent, nor less than
    /// before.
    #[test]
    fn what_is_expected_settles_all_before() {
        let mut end = End::new(&[100; 4]);
        assert_eq!(end.places(3).len(), 3);
        let mut expects = |next| {
            end.sender.on_next(SeqNum(next), &mut end.stats, &mut end.outputs);
            (end.sender.floor().0, end.sender.is_behind())
        };
        assert_eq!([5, 1, 3, 2, 4].map(&mut expects), [(1, false), (1, false), (3, false), (3, false), (4, false)]);
    }

    /// As many are open as the far end takes: 256 numbers from the oldest on.
    #[test]
    fn no_more_are_sent_than_the_far_end_takes() {
        let mut config = Config::default();
        config.bulk.queue_limit = 300;
        let mut end = End { sender: ClassSender::new(TrafficClass::Bulk, &config), ..End::new(&[]) };
        (0..300).for_each(|_| end.sender.push(Instant::ZERO, Long(50), &mut end.stats, &mut end.outputs));
        assert_eq!(end.places(300).len(), SPAN as usize);
        assert!(end.come(1) && end.places(9).len() == 1);
    }
}
