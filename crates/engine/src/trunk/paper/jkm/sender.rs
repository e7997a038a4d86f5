//! The sending side: keeps unacknowledged packets, and retransmits requested ones before anything new.
//!
//! A packet that a member still holds is not retransmitted: its member is still trying.

use crate::machine::Wake;
use crate::packet::Share;
use crate::trunk::paper::control::Missing;
use crate::trunk::paper::counts::PaperCounts;
use crate::trunk::paper::header::TrunkHeader;
use crate::trunk::paper::policy::{Jkm, PaperPolicy};
use crate::trunk::paper::sequence::FIRST;
use crate::trunk::paper::{Member, PaperDropReason, PaperOutput};
use airbraid_units::{Instant, SeqNum};
use std::collections::VecDeque;

/// A packet that was sent and is not acknowledged.
#[derive(Debug)]
struct Kept<P> {
    packet: P,
    /// Whether a member holds it.
    is_out: bool,
    /// Whether it waits for retransmission.
    is_wanted: bool,
    /// Time at which a member last took it or finished with it.
    touched: Instant,
}

#[derive(Debug)]
pub struct Sender<P> {
    config: Jkm,
    member_limit: usize,
    queue_limit: usize,
    epoch: u16,
    /// For each member the numbers that it holds, in order.
    members: Vec<VecDeque<SeqNum>>,
    is_up: Vec<bool>,
    turn: usize,
    /// The oldest number that is not acknowledged.
    base: SeqNum,
    /// Unacknowledged packets, from `base` on.
    kept: VecDeque<Kept<P>>,
    /// Numbers to be retransmitted, in the order of the requests; acknowledged ones are skipped.
    wanted: VecDeque<SeqNum>,
    queue: VecDeque<P>,
    counts: PaperCounts,
}

impl<P: Share> Sender<P> {
    /// A sender over `members` free members. Numbers begin at 1.
    pub fn new(policy: PaperPolicy, config: Jkm, members: u8, epoch: u16) -> Self {
        let members = usize::from(members);
        Self {
            config,
            member_limit: policy.member_limit as usize,
            queue_limit: policy.queue_limit as usize,
            epoch,
            members: vec![VecDeque::new(); members],
            is_up: vec![true; members],
            turn: 0,
            base: FIRST,
            kept: VecDeque::new(),
            wanted: VecDeque::new(),
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

    /// A packet from above.
    pub fn on_packet(&mut self, now: Instant, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        self.queue.push_back(packet);
        self.pump(now, self.turn, outputs);
        if self.queue.len() > self.queue_limit
            && let Some(packet) = self.queue.pop_back()
        {
            self.counts.queue_drops += 1;
            outputs.push_back(PaperOutput::Drop(packet, PaperDropReason::QueueFull));
        }
        self.counts.queue_max = self.counts.queue_max.max(self.queue.len());
    }

    /// A member has finished with a packet; the receiver reports its fate.
    pub fn on_finished(&mut self, now: Instant, member: Member, outputs: &mut VecDeque<PaperOutput<P>>) {
        let index = usize::from(member.0);
        if let Some(number) = self.members.get_mut(index).and_then(VecDeque::pop_front)
            && let Some(kept) = self.kept_mut(number)
        {
            kept.is_out = false;
            kept.touched = now;
        }
        self.pump(now, index, outputs);
    }

    /// The host reports whether a member can be used.
    pub fn on_link(&mut self, now: Instant, member: Member, is_up: bool, outputs: &mut VecDeque<PaperOutput<P>>) {
        if let Some(state) = self.is_up.get_mut(usize::from(member.0)) {
            *state = is_up;
        }
        self.pump(now, self.turn, outputs);
    }

    /// An acknowledgement has come.
    pub fn on_ack(
        &mut self,
        now: Instant,
        epoch: u16,
        next: SeqNum,
        missing: Missing,
        outputs: &mut VecDeque<PaperOutput<P>>,
    ) {
        if epoch != self.epoch {
            return;
        }
        let done = next.distance_from(self.base);
        // A number beyond the sent ones is no answer to them.
        if (1..=self.kept.len() as i32).contains(&done) {
            outputs.extend(self.kept.drain(..done as usize).map(|kept| PaperOutput::Release(kept.packet)));
            self.base = next;
        }
        for number in missing.iter() {
            self.want(number);
        }
        self.pump(now, self.turn, outputs);
    }

    /// The oldest packet has been unacknowledged for too long: its request may have been lost, or no packet behind it
    /// has arrived that would reveal the loss.
    #[inline(never)]
    pub fn on_timeout(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        if self.resend_at().is_some_and(|at| at <= now) {
            self.want(self.base);
            self.pump(now, self.turn, outputs);
        }
    }

    #[inline(never)]
    pub fn wake(&self) -> Option<Wake> {
        self.resend_at().map(|at| Wake { at, why: "trunk.resend" })
    }

    fn resend_at(&self) -> Option<Instant> {
        let oldest = self.kept.front().filter(|kept| !kept.is_out && !kept.is_wanted)?;
        Some(oldest.touched + self.config.sender_timeout)
    }

    fn kept_mut(&mut self, number: SeqNum) -> Option<&mut Kept<P>> {
        let index = usize::try_from(number.distance_from(self.base)).ok()?;
        self.kept.get_mut(index)
    }

    /// Queues a packet for retransmission, unless it is queued or a member still holds it.
    fn want(&mut self, number: SeqNum) {
        if let Some(kept) = self.kept_mut(number)
            && !kept.is_out
            && !kept.is_wanted
        {
            kept.is_wanted = true;
            self.wanted.push_back(number);
        }
    }

    /// Gives packets to free members, beginning at `start`.
    fn pump(&mut self, now: Instant, start: usize, outputs: &mut VecDeque<PaperOutput<P>>) {
        while let Some(index) = self.free_member(start) {
            let (number, packet) = match self.next_wanted() {
                Some(again) => again,
                None if self.kept.len() < self.config.window as usize => {
                    let Some(packet) = self.queue.pop_front() else { return };
                    let number = self.base.plus(self.kept.len() as u32);
                    let handle = packet.share();
                    self.kept.push_back(Kept { packet, is_out: true, is_wanted: false, touched: now });
                    self.counts.sent += 1;
                    (number, handle)
                }
                None => return,
            };
            self.turn = (index + 1) % self.members.len();
            self.members[index].push_back(number);
            self.counts.sent_by_member[index] += 1;
            let header =
                TrunkHeader { epoch: self.epoch, member: Member(index as u8), number, ..TrunkHeader::default() };
            outputs.push_back(PaperOutput::Transmit { header, packet, kept: true });
        }
    }

    /// The next packet to be retransmitted.
    fn next_wanted(&mut self) -> Option<(SeqNum, P)> {
        while let Some(number) = self.wanted.pop_front() {
            if let Some(kept) = self.kept_mut(number) {
                kept.is_wanted = false;
                kept.is_out = true;
                let handle = kept.packet.share();
                self.counts.resends += 1;
                return Some((number, handle));
            }
        }
        None
    }

    fn free_member(&self, start: usize) -> Option<usize> {
        let is_free = |&index: &usize| self.is_up[index] && self.members[index].len() < self.member_limit;
        (start..self.members.len()).chain(0..start).find(is_free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use airbraid_units::{Bytes, Duration};

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Named(u32);

    impl Packet for Named {
        fn len(&self) -> Bytes {
            Bytes::new(1_000)
        }
        fn flow_bucket(&self) -> u16 {
            0
        }
    }
    impl Share for Named {
        fn share(&self) -> Self {
            *self
        }
    }

    struct End {
        sender: Sender<Named>,
        outputs: VecDeque<PaperOutput<Named>>,
    }

    impl End {
        /// Three members that hold one packet each, a queue for two, a window of six.
        fn new() -> Self {
            let policy = PaperPolicy { member_limit: 1, queue_limit: 2, ..PaperPolicy::default() };
            let config = Jkm { window: 6, sender_timeout: Duration::from_millis(200), ..Jkm::default() };
            Self { sender: Sender::new(policy, config, 3, 1), outputs: VecDeque::new() }
        }
        /// Members and numbers of what was sent.
        fn sent(&mut self) -> Vec<(u8, u32)> {
            let of = |output| match output {
                PaperOutput::Transmit { header, .. } => Some((header.member.0, header.number.0)),
                _ => None,
            };
            self.outputs.drain(..).filter_map(of).collect()
        }
        fn packets(&mut self, ids: std::ops::Range<u32>) {
            ids.for_each(|id| self.sender.on_packet(at(0), Named(id), &mut self.outputs));
        }
        fn finish(&mut self, ms: u64, member: u8) -> Vec<(u8, u32)> {
            self.sender.on_finished(at(ms), Member(member), &mut self.outputs);
            self.sent()
        }
        fn ack(&mut self, ms: u64, next: u32, missing: &[u32]) -> Vec<(u8, u32)> {
            let mut holes = Missing::default();
            missing.iter().for_each(|number| assert!(holes.push(SeqNum(*number))));
            self.sender.on_ack(at(ms), 1, SeqNum(next), holes, &mut self.outputs);
            self.sent()
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn members_take_turns_and_what_finds_no_room_is_dropped() {
        let mut end = End::new();
        end.packets(0..7);
        let dropped = end.outputs.iter().filter(|output| matches!(output, PaperOutput::Drop(..))).count();
        assert_eq!((end.sent(), dropped), (vec![(0, 1), (1, 2), (2, 3)], 2));
        let counts = end.sender.counts();
        assert_eq!((counts.queue_drops, counts.queue_max, end.sender.queue_len(), counts.sent), (2, 2, 2, 3));
        assert_eq!((end.finish(1, 1), end.finish(2, 0)), (vec![(1, 4)], vec![(0, 5)]));
        assert_eq!((end.sender.counts().sent_by_member.clone(), end.sender.counts().sent), (vec![2, 2, 1], 5));
        // Two are free now: the turn goes on behind the last that was given one.
        assert_eq!((end.finish(3, 2), end.finish(4, 0)), (vec![], vec![]));
        end.packets(10..11);
        assert_eq!(end.sent(), [(2, 6)]);
    }

    #[test]
    fn nothing_new_is_sent_beyond_the_window() {
        let mut end = End::new();
        end.packets(0..5);
        end.sent();
        [(1, 0), (2, 1), (3, 2)].into_iter().for_each(|(ms, member)| {
            end.finish(ms, member);
        });
        end.packets(5..8);
        end.sent();
        [(4, 0), (5, 1), (6, 2)].into_iter().for_each(|(ms, member)| {
            end.finish(ms, member);
        });
        assert_eq!((end.sender.counts().sent, end.sender.queue_len()), (6, 2), "six are not acknowledged");
        assert_eq!(end.ack(7, 8, &[]), [], "a number beyond those that were sent is no answer");
        assert_eq!(end.ack(8, 3, &[]).len(), 2);
        assert_eq!((end.sender.counts().sent, end.sender.base), (8, SeqNum(3)));
    }

    /// A packet that is missing goes again, once, unless its member still holds it; the oldest goes again by itself
    /// after 200 ms.
    #[test]
    fn what_is_missing_goes_again() {
        let mut end = End::new();
        end.packets(0..3);
        end.sent();
        assert_eq!(end.ack(1, 1, &[1]), [], "its member is still trying");
        assert_eq!((end.finish(2, 0), end.sender.wake().map(|wake| wake.at)), (vec![], Some(at(202))));
        assert_eq!((end.ack(3, 1, &[1, 1]), end.sender.counts().resends), (vec![(0, 1)], 1));
        assert_eq!((end.finish(5, 0), end.ack(6, 1, &[7])), (vec![], vec![]), "there is no such number");
        end.sender.on_timeout(at(204), &mut end.outputs);
        assert_eq!(end.sent(), []);
        end.sender.on_timeout(at(205), &mut end.outputs);
        assert_eq!((end.sent(), end.sender.counts().resends), (vec![(0, 1)], 2));
        assert!(end.sender.wake().is_none(), "a member has it");
    }
}
