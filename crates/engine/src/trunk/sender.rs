//! The sending side: numbers packets and gives each to the next free member, in turn.
//!
//! A packet is numbered when a member takes it. That order is the order of arrival, and a packet that the full queue
//! refuses takes no number, so the receiver never waits for it.

use super::header::Header;
use super::policy::{Distributor, Policy};
use super::{DropReason, Member, Output};
use crate::packet::Packet;
use airbraid_units::SeqNum;
use std::collections::VecDeque;

/// Flow buckets that are numbered apart; a packet's bucket is taken modulo this.
const BUCKETS: usize = 1024;

/// What the sending side counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Packets given to members.
    pub sent: u64,
    /// The same by member.
    pub sent_by_member: Vec<u64>,
    /// Packets refused by the full queue.
    pub queue_drops: u64,
    /// The longest that the queue has been \[packets\].
    pub queue_max: usize,
}

/// A member as its sender sees it.
#[derive(Clone, Copy, Debug, Default)]
struct MemberState {
    /// Packets that it holds.
    held: u32,
    next_number: SeqNum,
    /// Trunk number of the last frame given to it.
    previous: Option<SeqNum>,
}

/// The sending side of a trunk.
#[derive(Debug)]
pub struct Sender<P> {
    policy: Policy,
    epoch: u16,
    members: Vec<MemberState>,
    /// Where the round robin goes on.
    turn: usize,
    next_number: SeqNum,
    bucket_numbers: Vec<SeqNum>,
    queue: VecDeque<P>,
    stats: SenderStats,
}

impl<P: Packet> Sender<P> {
    /// A sender over `members` free members. Numbers begin at 1.
    pub fn new(policy: Policy, members: u8, epoch: u16) -> Self {
        Self {
            policy,
            epoch,
            members: vec![MemberState::default(); usize::from(members)],
            turn: 0,
            next_number: SeqNum(1),
            bucket_numbers: vec![SeqNum(0); BUCKETS],
            queue: VecDeque::with_capacity(policy.queue_limit as usize),
            stats: SenderStats { sent_by_member: vec![0; usize::from(members)], ..SenderStats::default() },
        }
    }

    /// What it has counted.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Packets that wait.
    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// A packet from above: to the next free member, or into the queue.
    pub fn on_packet(&mut self, packet: P, outputs: &mut VecDeque<Output<P>>) {
        match self.free_member(self.turn) {
            Some(member) => self.give(member, packet, outputs),
            None if self.queue.len() < self.policy.queue_limit as usize => {
                self.queue.push_back(packet);
                self.stats.queue_max = self.stats.queue_max.max(self.queue.len());
            }
            None => {
                self.stats.queue_drops += 1;
                outputs.push_back(Output::Drop(packet, DropReason::QueueFull));
            }
        }
    }

    /// A member has finished with a packet: the queue moves on, starting at that member.
    pub fn on_finished(&mut self, member: Member, outputs: &mut VecDeque<Output<P>>) {
        let index = usize::from(member.0);
        if let Some(state) = self.members.get_mut(index) {
            state.held = state.held.saturating_sub(1);
        }
        while let Some(free) = self.free_member(index) {
            let Some(packet) = self.queue.pop_front() else { break };
            self.give(free, packet, outputs);
        }
    }

    /// The first free member from `start` on, in turn.
    fn free_member(&self, start: usize) -> Option<usize> {
        match self.policy.distributor {
            Distributor::RoundRobin => (start..self.members.len())
                .chain(0..start)
                .find(|&index| self.members[index].held < self.policy.member_limit),
        }
    }

    fn give(&mut self, index: usize, packet: P, outputs: &mut VecDeque<Output<P>>) {
        self.turn = (index + 1) % self.members.len();
        let number = self.next_number;
        self.next_number = number.plus(packet.segments());
        let bucket = packet.flow_bucket() % BUCKETS as u16;
        let bucket_number = self.bucket_numbers[usize::from(bucket)];
        self.bucket_numbers[usize::from(bucket)] = bucket_number.plus(packet.segments());
        let state = &mut self.members[index];
        let header = Header {
            epoch: self.epoch,
            member: Member(index as u8),
            number,
            member_number: state.next_number,
            member_previous: state.previous.unwrap_or(number),
            bucket,
            bucket_number,
        };
        state.held += 1;
        state.next_number = state.next_number.next();
        state.previous = Some(number);
        self.stats.sent += 1;
        self.stats.sent_by_member[index] += 1;
        outputs.push_back(Output::Transmit { header, packet });
    }
}
