//! The send queues: a queue for each class, the packet at its head, and its expiry.

use super::config::{ClassConfig, Config};
use super::header::{Ack, Segment};
use super::service::{DropReason, Output};
use super::shape::Shape;
use super::stats::Stats;
use crate::packet::{Share, TrafficClass};
use airbraid_units::{Bytes, Instant, SeqNum};
use std::collections::VecDeque;

/// The classes in the order in which they are served.
pub const BY_URGENCY: [TrafficClass; 2] = [TrafficClass::RealTime, TrafficClass::Bulk];

/// A packet with its time of expiry.
#[derive(Debug)]
pub struct Waiting<P> {
    pub packet: P,
    pub expires: Option<Instant>,
}

/// A limited queue whose packets may expire.
#[derive(Debug)]
pub struct ClassQueue<P> {
    class: TrafficClass,
    config: ClassConfig,
    waiting: VecDeque<Waiting<P>>,
}

impl<P: Share> ClassQueue<P> {
    pub fn new(class: TrafficClass, config: &Config) -> Self {
        let config = match class {
            TrafficClass::Bulk => config.bulk,
            TrafficClass::RealTime => config.real_time,
        };
        Self { class, config, waiting: VecDeque::new() }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }
    pub fn retransmissions(&self) -> Option<u32> {
        self.config.persistence.retransmissions
    }

    pub fn push<H>(&mut self, now: Instant, packet: P, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        let class = self.class as usize;
        let reason = if packet.len() > Bytes::new(u64::from(u16::MAX)) {
            Some(DropReason::TooLong)
        } else if self.waiting.len() >= self.config.queue_limit as usize {
            Some(DropReason::QueueFull)
        } else {
            None
        };
        if let Some(reason) = reason {
            stats.queue_drops[class] += 1;
            outputs.push_back(Output::Drop(packet, reason));
            return;
        }
        let expires = self.config.persistence.lifetime.map(|lifetime| now.saturating_add(lifetime));
        self.waiting.push_back(Waiting { packet, expires });
        stats.accepted[class] += 1;
        stats.queue_max[class] = stats.queue_max[class].max(self.waiting.len());
    }

    /// Length of the next packet \[byte\]; longer ones are not taken.
    pub fn next_len(&self) -> Option<u16> {
        self.waiting.front().map(|next| next.packet.len().as_u64() as u16)
    }

    pub fn pop(&mut self) -> Option<Waiting<P>> {
        self.waiting.pop_front()
    }

    /// All of a class live equally long, so that the oldest expires first.
    pub fn expire<H>(&mut self, now: Instant, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        while let Some(oldest) = self.waiting.pop_front_if(|oldest| oldest.expires.is_some_and(|at| at <= now)) {
            stats.expired[self.class as usize] += 1;
            outputs.push_back(Output::Drop(oldest.packet, DropReason::Expired));
        }
    }

    pub fn wake(&self) -> Option<Instant> {
        self.waiting.front().and_then(|oldest| oldest.expires)
    }
}

/// The packet that stop-and-wait has on its way.
#[derive(Debug)]
struct Current<P> {
    packet: P,
    len: u16,
    seq: SeqNum,
    /// Number of its first bytes that have arrived.
    acked: u16,
    /// Number of its first bytes that have been sent at least once.
    sent: u16,
    /// Number of transmissions of the segment at `acked`.
    attempts: u32,
    expires: Option<Instant>,
}

/// The send state of one class under stop-and-wait.
#[derive(Debug)]
pub struct Outgoing<P> {
    queue: ClassQueue<P>,
    current: Option<Current<P>>,
    next: SeqNum,
    /// Whether its segment is under way, its fate unknown.
    is_on_air: bool,
}

impl<P: Share> Outgoing<P> {
    pub fn new(class: TrafficClass, config: &Config) -> Self {
        Self { queue: ClassQueue::new(class, config), current: None, next: SeqNum(1), is_on_air: false }
    }

    pub fn push<H>(&mut self, now: Instant, packet: P, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        self.queue.push(now, packet, stats, outputs);
    }
    /// Packets that wait, the one under way not among them.
    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Rest of the packet that is next, or under way \[byte\].
    pub fn left(&self) -> Option<u16> {
        let current = self.current.as_ref().map(|current| current.len - current.acked);
        current.or_else(|| self.queue.next_len())
    }

    /// Notes that nothing is on the air any more, whether something came back or not.
    pub fn settle(&mut self) {
        self.is_on_air = false;
    }

    /// Takes in the other side's acknowledgement; impossible ones are ignored.
    pub fn acknowledge<H>(&mut self, ack: Ack, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        let class = self.queue.class as usize;
        let Some(current) = &mut self.current else { return };
        if ack.next == current.seq.next() {
            stats.settled[class] += 1;
            outputs.extend(self.current.take().map(|current| Output::Release(current.packet)));
        } else if ack.next == current.seq && ack.good > current.acked && ack.good <= current.sent {
            (current.acked, current.attempts) = (ack.good, 0);
        }
    }

    /// Gives up packets that are too old or were sent too often, but none that is on the air.
    pub fn give_up<H>(&mut self, now: Instant, stats: &mut Stats, outputs: &mut VecDeque<Output<H, P>>) {
        let class = self.queue.class as usize;
        let limit = self.queue.retransmissions();
        let is_old = |current: &Current<P>| current.expires.is_some_and(|at| at <= now);
        let is_tried = |current: &Current<P>| limit.is_some_and(|limit| current.attempts > limit);
        let is_done = |current: &mut Current<P>| !self.is_on_air && (is_old(current) || is_tried(current));
        if let Some(current) = self.current.take_if(is_done) {
            let reason = if is_old(&current) { DropReason::Expired } else { DropReason::Retransmissions };
            let count = if is_old(&current) { &mut stats.expired } else { &mut stats.given_up };
            count[class] += 1;
            outputs.push_back(Output::Drop(current.packet, reason));
        }
        self.queue.expire(now, stats, outputs);
    }

    /// The next segment, if there is anything to send, and the packet of which it is a part.
    pub fn transmit(&mut self, shape: Shape, stats: &mut Stats) -> Option<(Segment, P)> {
        if self.current.is_none() {
            let Waiting { packet, expires } = self.queue.pop()?;
            let len = packet.len().as_u64() as u16;
            self.current = Some(Current { packet, len, seq: self.next, acked: 0, sent: 0, attempts: 0, expires });
            self.next = self.next.next();
        }
        let current = self.current.as_mut()?;
        let count = shape.capacity().min(current.len - current.acked);
        let segment = Segment {
            class: self.queue.class,
            seq: current.seq,
            offset: current.acked,
            count,
            is_last: current.acked + count == current.len,
            parity: shape.parity(),
        };
        stats.repetitions += u64::from(current.attempts > 0);
        current.attempts += 1;
        current.sent = current.sent.max(current.acked + count);
        self.is_on_air = true;
        Some((segment, current.packet.share()))
    }

    /// The time at which something expires that is not on the air.
    pub fn wake(&self) -> Option<Instant> {
        let current = self.current.as_ref().filter(|_| !self.is_on_air).and_then(|current| current.expires);
        match (current, self.queue.wake()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;

    #[derive(Clone)]
    struct Long(u64);

    impl Packet for Long {
        fn len(&self) -> Bytes {
            Bytes::new(self.0)
        }
        fn flow_bucket(&self) -> u16 {
            0
        }
    }

    impl Share for Long {
        fn share(&self) -> Self {
            self.clone()
        }
    }

    #[test]
    fn the_rest_of_a_packet_is_what_has_not_arrived_of_the_one_under_way_or_of_the_next() {
        let (mut stats, mut outputs) = (Stats::default(), VecDeque::<Output<(), Long>>::new());
        let mut outgoing = Outgoing::new(TrafficClass::Bulk, &Config::default());
        assert_eq!(outgoing.left(), None);
        outgoing.push(Instant::ZERO, Long(1_000), &mut stats, &mut outputs);
        outgoing.push(Instant::ZERO, Long(40), &mut stats, &mut outputs);
        assert_eq!(outgoing.left(), Some(1_000));
        let (segment, _) = outgoing.transmit(Shape::constant(304, 0), &mut stats).expect("a packet waits");
        assert_eq!((segment.count, outgoing.left()), (300, Some(1_000)), "it has not arrived");
        let mut acknowledge = |outgoing: &mut Outgoing<Long>, next, good| {
            let ack = Ack { next, good };
            outgoing.acknowledge(ack, &mut stats, &mut outputs);
        };
        acknowledge(&mut outgoing, SeqNum(1), 301);
        assert_eq!(outgoing.left(), Some(1_000), "more than was sent");
        acknowledge(&mut outgoing, SeqNum(1), 300);
        assert_eq!(outgoing.left(), Some(700));
        acknowledge(&mut outgoing, SeqNum(2), 0);
        assert_eq!((outgoing.left(), outgoing.queue_len()), (Some(40), 1));
    }
}
