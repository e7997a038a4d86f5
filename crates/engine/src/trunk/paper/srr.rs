//! Surplus round robin: both ends run one algorithm, so that the receiver knows which member's packet is next
//! (Wang 2005, section 2.1, after Adiseshu, Parulkar and Varghese).
//!
//! A member's turn adds a quantum to its counter; it sends while its counter is not negative, each packet taking its
//! length (of the IP packet) away. The debt is carried into its next turn. The receiver keeps a FIFO for each member
//! and takes from the one whose turn it is, and from no other: if that is empty, it blocks. Data carries no numbers, so
//! a lost packet leaves it out of step; a marker after each turn carries the begin of the next one and its counter.
//!
//! It never skips a busy member and never gives up waiting, as the paper measures.

use super::control::Control;
use super::counts::PaperCounts;
use super::header::TrunkHeader;
use super::policy::{Marking, PaperPolicy, Srr};
use super::{Member, PaperDropReason, PaperOutput};
use crate::packet::Packet;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Rounds and counters, run alike by both ends.
#[derive(Debug)]
struct Turns {
    quantum: i64,
    round: u32,
    current: usize,
    /// Rest that each member may send \[byte\].
    counters: Vec<i64>,
}

impl Turns {
    fn new(quantum: u32, members: usize) -> Self {
        // With a quantum of zero the turns would never end.
        let quantum = i64::from(quantum.max(1));
        let mut counters = vec![0; members];
        if let Some(first) = counters.first_mut() {
            *first = quantum;
        }
        Self { quantum, round: 1, current: 0, counters }
    }

    /// Takes a packet from the current member's counter; returns whether its turn is over.
    fn spend(&mut self, len: u64) -> bool {
        let counter = &mut self.counters[self.current];
        *counter = counter.saturating_sub(i64::try_from(len).unwrap_or(i64::MAX));
        *counter < 0
    }

    /// The next member's turn begins; one that is still in debt after its quantum is passed over.
    fn advance(&mut self) {
        loop {
            self.current = (self.current + 1) % self.counters.len();
            if self.current == 0 {
                self.round = self.round.wrapping_add(1);
            }
            let counter = &mut self.counters[self.current];
            *counter = counter.saturating_add(self.quantum);
            if *counter >= 0 {
                return;
            }
        }
    }

    /// Round and counter of the current member's next turn, this one being over.
    fn next_turn(&self) -> (u32, i64) {
        let counter = self.counters[self.current];
        let rounds = (-counter + self.quantum - 1).div_euclid(self.quantum).max(1);
        (self.round.wrapping_add(rounds as u32), counter + rounds * self.quantum)
    }
}

#[derive(Debug)]
pub struct Sender<P> {
    marker: Marking,
    member_limit: u32,
    queue_limit: usize,
    epoch: u16,
    turns: Turns,
    /// Packets that each member holds.
    held: Vec<u32>,
    queue: VecDeque<P>,
    counts: PaperCounts,
}

impl<P: Packet> Sender<P> {
    /// A sender over `members` free members.
    pub fn new(policy: PaperPolicy, config: Srr, members: u8, epoch: u16) -> Self {
        let members = usize::from(members);
        Self {
            marker: config.marker,
            member_limit: policy.member_limit,
            queue_limit: policy.queue_limit as usize,
            epoch,
            turns: Turns::new(config.quantum, members),
            held: vec![0; members],
            queue: VecDeque::new(),
            counts: PaperCounts::of_sender(members),
        }
    }

    pub fn counts(&self) -> &PaperCounts {
        &self.counts
    }
    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// A packet from above: to the member whose turn it is, or into the queue.
    pub fn on_packet(&mut self, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        if self.queue.is_empty() && self.has_room() {
            self.give(packet, outputs);
        } else if self.queue.len() < self.queue_limit {
            self.queue.push_back(packet);
            self.counts.queue_max = self.counts.queue_max.max(self.queue.len());
        } else {
            self.counts.queue_drops += 1;
            outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::QueueFull));
        }
    }

    /// A member has finished with a packet. Only if it is that member's turn does the queue move on.
    pub fn on_finished(&mut self, member: Member, outputs: &mut VecDeque<PaperOutput<P>>) {
        if let Some(held) = self.held.get_mut(usize::from(member.0)) {
            *held = held.saturating_sub(1);
        }
        while self.has_room() {
            let Some(packet) = self.queue.pop_front() else { break };
            self.give(packet, outputs);
        }
    }

    fn has_room(&self) -> bool {
        self.held.get(self.turns.current).is_some_and(|&held| held < self.member_limit)
    }

    fn give(&mut self, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        let index = self.turns.current;
        let member = Member(index as u8);
        let turn_is_over = self.turns.spend(packet.len().as_u64());
        self.held[index] += 1;
        self.counts.sent += 1;
        self.counts.sent_by_member[index] += 1;
        // The header names only the member: data carries no numbers.
        let header = TrunkHeader { epoch: self.epoch, member, ..TrunkHeader::default() };
        outputs.push_back(PaperOutput::Transmit { header, packet, kept: false });
        if turn_is_over {
            let (round, counter) = self.turns.next_turn();
            let counter = i32::try_from(counter).unwrap_or(i32::MAX);
            self.counts.markers += 1;
            let acknowledged = self.marker == Marking::Unicast;
            outputs.push_back(PaperOutput::Control {
                member,
                acknowledged,
                control: Control::Surplus { round, counter },
            });
            self.turns.advance();
        }
    }
}

/// An entry of a member's FIFO.
#[derive(Debug)]
enum Entry<P> {
    Data { packet: P, since: Instant },
    Marker { round: u32, counter: i32 },
}

#[derive(Debug)]
struct Fifo<P> {
    entries: VecDeque<Entry<P>>,
    /// The round that the last marker named: nothing comes on this member before it.
    skip_round: u32,
}

#[derive(Debug)]
pub struct Receiver<P> {
    fifo_limit: usize,
    turns: Turns,
    fifos: Vec<Fifo<P>>,
    /// Packets in all FIFOs.
    waiting: usize,
    blocked_since: Option<Instant>,
    counts: PaperCounts,
}

/// Whether round `a` comes after round `b`; rounds wrap.
fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl<P: Packet> Receiver<P> {
    /// A receiver that expects the first packet of the first round.
    pub fn new(config: Srr, members: u8) -> Self {
        let fifo = |_| Fifo { entries: VecDeque::new(), skip_round: 0 };
        Self {
            fifo_limit: config.fifo_limit as usize,
            turns: Turns::new(config.quantum, usize::from(members)),
            fifos: (0..members).map(fifo).collect(),
            waiting: 0,
            blocked_since: None,
            counts: PaperCounts::default(),
        }
    }

    pub fn counts(&self) -> &PaperCounts {
        &self.counts
    }
    /// Number of packets that wait for their turn.
    pub fn held_len(&self) -> usize {
        self.waiting
    }
    /// Total and longest time for which it has been blocked, the present one included.
    pub fn blocked(&self, now: Instant) -> (Duration, Duration) {
        let present = self.blocked_since.map_or(Duration::ZERO, |since| now.saturating_since(since));
        (self.counts.blocked + present, self.counts.blocked_longest.max(present))
    }
    /// The member whose turn it is, the round, and the rest that the member may send.
    pub fn expects(&self) -> (Member, u32, i64) {
        let Turns { current, round, ref counters, .. } = self.turns;
        (Member(current as u8), round, counters.get(current).copied().unwrap_or(0))
    }

    /// A packet has come on a member.
    pub fn on_frame(&mut self, now: Instant, member: Member, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        let limit = self.fifo_limit;
        match self.fifos.get_mut(usize::from(member.0)) {
            Some(fifo) if fifo.entries.len() < limit => {
                fifo.entries.push_back(Entry::Data { packet, since: now });
                self.waiting += 1;
                self.take_turns(now, outputs);
            }
            _ => {
                self.counts.fifo_drops += 1;
                outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::FifoFull));
            }
        }
    }

    /// A marker has come on a member.
    pub fn on_marker(
        &mut self,
        now: Instant,
        member: Member,
        marker: (u32, i32),
        outputs: &mut VecDeque<PaperOutput<P>>,
    ) {
        let (round, counter) = marker;
        let limit = self.fifo_limit;
        match self.fifos.get_mut(usize::from(member.0)) {
            Some(fifo) if fifo.entries.len() < limit => {
                fifo.entries.push_back(Entry::Marker { round, counter });
                self.take_turns(now, outputs);
            }
            _ => self.counts.fifo_drops += 1,
        }
    }

    /// Takes packets in the order in which the sender gave them out, until the expected member has none.
    fn take_turns(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        let before = self.counts.delivered;
        loop {
            self.leap_if_all_are_ahead();
            let fifo = &mut self.fifos[self.turns.current];
            if is_after(fifo.skip_round, self.turns.round) {
                // The packets of this round were lost.
                self.turns.advance();
                continue;
            }
            match fifo.entries.pop_front() {
                None => break,
                Some(Entry::Marker { round, counter }) => {
                    fifo.skip_round = round;
                    if round == self.turns.round {
                        self.turns.counters[self.turns.current] = i64::from(counter);
                    } else if is_after(round, self.turns.round) {
                        self.turns.advance();
                    }
                }
                Some(Entry::Data { packet, since }) => {
                    self.waiting -= 1;
                    self.counts.delivered += 1;
                    self.counts.waited += now - since;
                    let turn_is_over = self.turns.spend(packet.len().as_u64());
                    outputs.push_back(PaperOutput::Deliver(packet));
                    if turn_is_over {
                        self.turns.advance();
                    }
                }
            }
        }
        self.note_blocking(now, self.counts.delivered > before);
    }

    /// Skips rounds where every member's next packet lies ahead: each of them would only add a quantum to each counter,
    /// and a forged marker could name any number of them.
    fn leap_if_all_are_ahead(&mut self) {
        let round = self.turns.round;
        let ahead = |fifo: &Fifo<P>| (fifo.skip_round.wrapping_sub(round) as i32).max(0) as u32;
        let least = self.fifos.iter().map(ahead).min().unwrap_or(0);
        // The last round before is walked, so that turns begin as they do without the leap.
        if least > 1 {
            let rounds = least - 1;
            self.turns.round = round.wrapping_add(rounds);
            for counter in &mut self.turns.counters {
                *counter = counter.saturating_add(self.turns.quantum.saturating_mul(i64::from(rounds)));
            }
        }
    }

    /// Counts the time since the last progress, if any was made now.
    fn note_blocking(&mut self, now: Instant, has_progressed: bool) {
        if has_progressed && let Some(since) = self.blocked_since.take() {
            self.counts.blocked += now - since;
            self.counts.blocked_longest = self.counts.blocked_longest.max(now - since);
        }
        if self.waiting > 0 {
            self.blocked_since.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Bytes;
    use proptest::prelude::*;

    /// A packet of this length.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Long(u64);

    impl Packet for Long {
        fn len(&self) -> Bytes {
            Bytes::new(self.0)
        }
        fn flow_bucket(&self) -> u16 {
            0
        }
    }

    proptest! {
        /// A marker says of a member's next turn what both ends come to by walking there.
        #[test]
        fn a_marker_says_where_the_next_turn_begins(
            quantum in 1u32..3_000,
            members in 1usize..5,
            lens in prop::collection::vec(1u64..9_000, 1..40),
        ) {
            let mut turns = Turns::new(quantum, members);
            let mut expected = vec![None; members];
            for len in lens {
                let member = turns.current;
                if let Some(next) = expected[member].take() {
                    prop_assert_eq!((turns.round, turns.counters[member]), next);
                }
                if turns.spend(len) {
                    expected[member] = Some(turns.next_turn());
                    turns.advance();
                } else {
                    expected[member] = Some((turns.round, turns.counters[member]));
                }
            }
        }
    }

    fn receiver(members: u8) -> Receiver<Long> {
        Receiver::new(Srr { quantum: 100, fifo_limit: 10, ..Srr::default() }, members)
    }
    fn mark(receiver: &mut Receiver<Long>, member: u8, round: u32) {
        receiver.on_marker(Instant::ZERO, Member(member), (round, 0), &mut VecDeque::new());
    }

    /// Each of two thousand million rounds adds a quantum of 100 to each counter; nobody counts them one by one.
    #[test]
    fn rounds_in_which_nothing_can_come_are_leapt_over() {
        let mut receiver = receiver(2);
        [0, 1].into_iter().for_each(|member| mark(&mut receiver, member, 2_000_000_000));
        assert_eq!(receiver.expects(), (Member(0), 2_000_000_000, 200_000_000_000));
    }

    /// The first member owes 9900 byte: in the round 50 it is passed over, having 100 for each round less that.
    #[test]
    fn a_member_in_debt_is_passed_over_behind_a_leap() {
        let mut receiver = receiver(2);
        receiver.on_frame(Instant::ZERO, Member(0), Long(10_000), &mut VecDeque::new());
        [1, 0].into_iter().for_each(|member| mark(&mut receiver, member, 50));
        assert_eq!(receiver.expects(), (Member(1), 50, 5_000));
    }

    /// Two members that hold one packet each, and a queue for two.
    #[test]
    fn a_queue_holds_as_many_as_it_may() {
        let policy = PaperPolicy { member_limit: 1, queue_limit: 2, ..PaperPolicy::default() };
        let mut sender = Sender::new(policy, Srr { quantum: 1, ..Srr::default() }, 2, 1);
        let mut outputs = VecDeque::new();
        (0..5).for_each(|_| sender.on_packet(Long(100), &mut outputs));
        let counts = sender.counts();
        assert_eq!((sender.queue_len(), counts.queue_drops, counts.queue_max, counts.sent), (2, 1, 2, 2));
        assert_eq!((counts.sent_by_member.clone(), counts.markers), (vec![1, 1], 2));
        let is_drop = |output: &&PaperOutput<Long>| matches!(output, PaperOutput::Drop(_, PaperDropReason::QueueFull));
        assert_eq!(outputs.iter().filter(is_drop).count(), 1);
        // The second member is free, and it is the first one's turn.
        sender.on_finished(Member(1), &mut outputs);
        assert_eq!(sender.queue_len(), 2);
        sender.on_finished(Member(0), &mut outputs);
        assert_eq!((sender.queue_len(), sender.counts().sent), (0, 4));
    }
}
