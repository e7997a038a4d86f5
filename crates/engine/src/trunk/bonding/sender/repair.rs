//! Repair symbols in the sender: packets join groups, symbols follow them, and packets that the far end has restored
//! are settled.

use super::BondSender;
use crate::trunk::bonding::coded::{Coded, Source};
use crate::trunk::bonding::config::Coding;
use crate::trunk::bonding::frame::{Frame, RepairHeader};
use crate::trunk::bonding::group::{News, Verdict};
use crate::trunk::bonding::sent_frames::{Content, SentFrame};
use crate::trunk::bonding::service::{BondDropReason, BondOutput};
use crate::trunk::bonding::store::PacketId;
use airbraid_units::{Bytes, Instant, SeqNum};

impl<P: Coded> BondSender<P> {
    /// Updates the coding plan of each member.
    pub(super) fn set_plans(&mut self) {
        let may_be = self.config.policy.coding == Coding::Adaptive;
        self.members.iter_mut().for_each(|end| end.set_plan(may_be));
    }

    /// A frame with a packet has left.
    pub(super) fn join_group(&mut self, now: Instant, index: usize, number: SeqNum, id: PacketId) {
        if self.members[index].groups.join(now, number, id) {
            self.store.get_mut(id).covered += 1;
            self.store.name(id);
        }
        self.uncover(index);
    }

    /// Releases the packets of groups whose symbols have left.
    fn uncover(&mut self, index: usize) {
        for id in self.members[index].groups.take_done() {
            self.uncover_one(id);
        }
    }

    fn uncover_one(&mut self, id: PacketId) {
        let entry = self.store.get_mut(id);
        entry.covered -= 1;
        if entry.covered == 0
            && let Some((packet, reason)) = self.store.take_spare(id)
        {
            self.give_back(packet, reason);
        }
        self.store.unname(id);
    }

    /// The far end has a packet, or it is dropped: the host gets its handle back, once symbols do not need it any more.
    pub(super) fn settle(&mut self, id: PacketId, reason: Option<BondDropReason>) {
        let Some(packet) = self.store.settle(id) else { return };
        self.counts.settled += u64::from(reason.is_none());
        if self.store.get(id).covered > 0 {
            self.store.keep_spare(id, packet, reason);
        } else {
            self.give_back(packet, reason);
        }
    }

    fn give_back(&mut self, packet: P, reason: Option<BondDropReason>) {
        match reason {
            None => self.outputs.push_back(BondOutput::Release(packet)),
            Some(reason) => self.drop(packet, reason),
        }
    }

    /// Sends the symbols that are due, and ends the groups that are.
    pub(super) fn repair_due(&mut self, now: Instant) {
        for index in 0..self.members.len() {
            let end = &mut self.members[index];
            if end.groups.close_due(now) || end.groups.is_pending() {
                while self.send_symbol(now, index) {}
                self.uncover(index);
                let end = &mut self.members[index];
                let verdict = end.groups.review(now, end.newest);
                self.carry_out(verdict);
            }
        }
    }

    /// Sends a symbol of a member. Returns whether to go on.
    fn send_symbol(&mut self, now: Instant, index: usize) -> bool {
        let end = &mut self.members[index];
        if !end.groups.is_pending() || !end.is_active() || !end.has_room(now) {
            return false;
        }
        let free_at = end.free_at();
        if free_at > now {
            self.wait_until(free_at);
            return false;
        }
        let number = end.sent_frames.next();
        let Some((symbol, ids)) = end.groups.pending(number) else { return false };
        let store = &self.store;
        let source = |id: &PacketId| {
            let entry = store.get(*id);
            let packet = entry.packet.as_ref().or(entry.spare.as_ref().map(|(packet, _)| packet))?;
            Some(Source { packet, place: entry.place, mark: entry.mark })
        };
        let sources: Vec<Source<'_, P>> = ids.iter().filter_map(source).collect();
        debug_assert_eq!(sources.len(), ids.len(), "what is covered is there");
        let header = RepairHeader { number, sources: sources.len() as u8, index: symbol };
        let frame = Frame::Repair { header, symbol: P::repair(&sources, symbol) };
        let bytes = Bytes::new(end.on_wire(frame.len()));
        if bytes.as_u64() > end.plpmtu.size() {
            // The path has become narrower since its packets left.
            self.abandon_groups(index);
            return false;
        }
        end.on_numbered(now, bytes, self.late, Content::Repair);
        end.counted.repair_bytes += bytes;
        end.groups.on_sent(number);
        self.outputs.push_back(BondOutput::Transmit { member: end.id, frame, mark: false });
        true
    }

    /// A frame has come or is lost: updates its group.
    pub(super) fn on_news(&mut self, now: Instant, index: usize, number: SeqNum, sent: &SentFrame, news: News) {
        let end = &mut self.members[index];
        let verdict = end.groups.on_news(now, number, sent.content == Content::Repair, news, end.newest);
        self.carry_out(verdict);
    }

    fn carry_out(&mut self, verdict: Verdict) {
        // A waiting packet is named: the frame that carried it may be forgotten first.
        if let Some(id) = verdict.waits {
            self.store.name(id);
        }
        if let Some(id) = verdict.came {
            self.store.get_mut(id).copies -= 1;
            self.store.unname(id);
        }
        for id in verdict.restored {
            self.store.get_mut(id).copies -= 1;
            self.settle(id, None);
            self.store.unname(id);
        }
        if let Some(id) = verdict.lost {
            self.repeat(id);
        }
        for id in verdict.again {
            self.repeat(id);
            self.store.unname(id);
        }
    }

    /// Ends all groups of a member.
    pub(super) fn abandon_groups(&mut self, index: usize) {
        let (waiting, covered) = self.members[index].groups.abandon();
        covered.into_iter().for_each(|id| self.uncover_one(id));
        for id in waiting {
            self.repeat(id);
            self.store.unname(id);
        }
    }
}
