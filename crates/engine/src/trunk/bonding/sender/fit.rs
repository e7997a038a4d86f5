//! Packet lengths and members: a member gets no packet that is longer than its path is known to carry.
//!
//! A packet that is too long for one member goes on another. One that is too long for all waits while their paths are
//! probed ([`crate::trunk::bonding::plpmtu`]), and is dropped when the result is known, so that its sender can be told.

use super::BondSender;
use crate::trunk::Member;
use crate::trunk::bonding::coded::Coded;
use crate::trunk::bonding::flow_seq::FlowSeq;
use crate::trunk::bonding::queue::Lead;
use crate::trunk::bonding::sent_frames::Content;
use crate::trunk::bonding::service::{BondDropReason, BondOutput};
use crate::trunk::bonding::store::PacketId;
use airbraid_units::{Bytes, Instant, SeqNum};

/// Largest number of packets that wait for the end of a search: more wait in the queue, whose delay control acts on
/// them.
const PARKED_MAX: usize = 64;

/// The longest packets for working members \[byte\].
#[derive(Clone, Copy, Debug)]
pub struct Longest {
    pub on_all: u64,
    pub on_one: u64,
    /// One of them, once it is known what it carries.
    pub possible: u64,
    /// When a probe that finds out more is due.
    pub changes_at: Instant,
}

impl Longest {
    /// No member works.
    pub const NONE: Self = Self { on_all: u64::MAX, on_one: 0, possible: 0, changes_at: Instant::MAX };
}

impl<P: Coded> BondSender<P> {
    /// Sends the size probes that are due, reports results to the host, updates the longest packets of the members, and
    /// decides on the packets that wait for that. While no member works, nothing is known.
    pub fn fit(&mut self, now: Instant) {
        if !self.has_limits {
            return;
        }
        let mut longest = Longest::NONE;
        for index in 0..self.members.len() {
            let end = &mut self.members[index];
            if end.plpmtu.is_off() {
                if end.is_active() {
                    (longest.on_one, longest.possible) = (u64::MAX, u64::MAX);
                }
                continue;
            }
            // A path that is not validated gets no long probes.
            let may_ask = !end.validation.is_on_trial();
            if may_ask && end.is_active() && end.plpmtu.wake() <= now && self.ask_sizes(now, index) {
                // Short, and behind them: what it overtakes was too long.
                self.ask(now, index, 0, Content::Probe);
            }
            self.tell(index);
            let end = &self.members[index];
            if end.is_active() {
                let may_be = end.longest_packet();
                longest.on_all = longest.on_all.min(may_be);
                longest.on_one = longest.on_one.max(may_be);
                longest.possible = longest.possible.max(end.longest_possible());
                if may_ask {
                    longest.changes_at = longest.changes_at.min(end.plpmtu.wake());
                }
            }
        }
        self.longest = longest;
        if !self.parked.is_empty() && longest.on_one > 0 {
            self.look_at_parked(now);
        }
    }

    /// Reports a member's path MTU to the host, or asks it for a hint.
    fn tell(&mut self, index: usize) {
        let end = &mut self.members[index];
        let member = end.id;
        if end.plpmtu.take_wish() {
            self.outputs.push_back(BondOutput::HintWanted { member });
        }
        if let Some(mtu) = end.plpmtu.take_news() {
            self.outputs.push_back(BondOutput::PathMtu { member, mtu: Bytes::new(mtu) });
        }
    }

    /// Whether a member's path carries a packet of this length.
    pub(super) fn fits(&self, index: usize, len: u64) -> bool {
        len <= self.longest.on_all || len <= self.members[index].longest_packet()
    }

    /// Whether a packet of a service is too long for every member that works and may carry it.
    pub(super) fn is_too_long(&self, service: u8, len: u64) -> bool {
        len > self.longest.on_all && len > self.longest_of(service).0
    }

    fn look_at_parked(&mut self, now: Instant) {
        for _ in 0..self.parked.len() {
            let Some(id) = self.parked.pop_front() else { return };
            let entry = self.store.get(id);
            let reason = match &entry.packet {
                None => None,
                Some(packet) if packet.len().as_u64() > self.longest_of(packet.service()).1 => {
                    Some(BondDropReason::TooLong)
                }
                Some(packet) if entry.since.saturating_add(self.persistence(packet.class())) < now => {
                    Some(BondDropReason::Expired)
                }
                Some(packet) => {
                    let is_too_long = self.is_too_long(packet.service(), packet.len().as_u64());
                    let list = if is_too_long { &mut self.parked } else { &mut self.resend };
                    list.push_back(id);
                    continue;
                }
            };
            self.settle(id, reason);
            self.unqueue(id);
        }
    }

    /// Lets a packet that is too long for now wait, if that may help.
    pub(super) fn park(&mut self, id: PacketId, service: u8, len: u64) {
        if self.parked.len() < PARKED_MAX && len <= self.longest_of(service).1 {
            self.parked.push_back(id);
            return;
        }
        self.settle(id, Some(BondDropReason::TooLong));
        self.unqueue(id);
    }

    /// Sets the next packet of a service aside, and lets others pass. Returns whether to go on.
    pub(super) fn park_next(&mut self, now: Instant, service: u8) -> bool {
        if self.parked.len() >= PARKED_MAX {
            return false;
        }
        let Some(next) = self.queue.take(now, service, Lead::default()) else { return false };
        self.set_aside(next.packet, next.place, next.since, next.mark);
        true
    }

    /// Keeps a packet that has left the queue for a member that does not carry it.
    pub(super) fn set_aside(&mut self, packet: P, place: FlowSeq, since: Instant, mark: bool) {
        let (len, service) = (packet.len().as_u64(), packet.service());
        let id = self.store.add(packet, place, since, mark);
        self.store.get_mut(id).is_queued = true;
        self.store.name(id);
        if self.is_too_long(service, len) {
            self.park(id, service, len);
        } else {
            self.resend.push_back(id);
        }
    }

    /// Sends a member's size probes that are due. Returns whether there are any.
    pub(super) fn ask_sizes(&mut self, now: Instant, index: usize) -> bool {
        let end = &mut self.members[index];
        let sizes = end.plpmtu.take_due(now, end.is_active());
        for &size in &sizes {
            self.ask(now, index, size.into(), Content::Size);
        }
        !sizes.is_empty()
    }

    /// The host's own link did not take a frame.
    pub fn on_too_long(&mut self, now: Instant, member: Member, number: SeqNum) {
        let Some(index) = self.index_of(member) else { return };
        let end = &mut self.members[index];
        if let Some(sent) = end.sent_frames.get(number) {
            end.plpmtu.on_too_long(now, sent.bytes);
        }
        self.lose(now, index, number);
    }

    /// The network says what the longest is.
    pub fn on_mtu_hint(&mut self, member: Member, mtu: Bytes) {
        let Some(index) = self.index_of(member) else { return };
        self.members[index].plpmtu.on_hint(u32::try_from(mtu.as_u64()).unwrap_or(u32::MAX));
    }

    /// A member's path is another.
    pub fn on_path_changed(&mut self, now: Instant, member: Member) {
        if let Some(index) = self.index_of(member) {
            self.members[index].plpmtu.begin(now);
        }
    }
}
