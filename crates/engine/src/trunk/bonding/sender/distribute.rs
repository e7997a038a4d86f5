//! The choice of a member for each packet: the one by which it arrives first.
//!
//! A free member takes a packet from the queue only if the faster members would deliver that packet later. Before the
//! arrival `A_j` of a packet on member `j`, the faster ones carry the sum over `i` of `rate_i (A_j - A_i)`. Packets
//! beyond that in the queue are for the slower member: it takes one from the middle of the queue, which arrives when
//! its turn has come. A useless link finds no such packet and stays idle.

use super::BondSender;
use crate::packet::TrafficClass;
use crate::trunk::Member;
use crate::trunk::bonding::coded::Coded;
use crate::trunk::bonding::frame::{FULL, MEMBERS_MAX};
use crate::trunk::bonding::member::MemberEnd;
use crate::trunk::bonding::queue::{Lead, Waiting};
use crate::trunk::bonding::service::BondDropReason;
use crate::trunk::bonding::store::PacketId;
use crate::trunk::bonding::targets::Server;
use airbraid_units::{Duration, Instant};
use arrayvec::ArrayVec;

/// Assumed length of a packet where none is known \[byte\].
const TYPICAL: u64 = FULL;
/// Assumed length of feedback, with a few reports \[byte\].
const SHORT: u64 = 128;
/// Length of the queue, in targets: it is full long after delay control has begun.
const QUEUE_TARGETS: u64 = 6;
/// Least limit of the queue \[byte\].
const QUEUE_BYTES_MIN: u64 = 64 * TYPICAL;
/// Difference below which two arrivals count as one: the time to wake a host. Up to 100 Mbit/s a full frame takes
/// longer, and each is chosen for; at gigabits a run of segments stays together, is sealed, sent and joined as one, and
/// costs one choice.
const SAME: Duration = Duration::from_micros(100);
/// Largest number of waiting retransmissions that are looked at in one go: for each member one that waits for it, and
/// one of another service.
const LOOKS_MAX: usize = 2 * MEMBERS_MAX;
/// Delay that each tier adds to the cost of its members \[us\], chosen: more than most paths differ by.
const TIER_US: i64 = 50_000;

/// A member that can be given packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Arrival of a packet \[us\], by a clock that all members share.
    pub(super) arrival_us: i64,
    pub(super) rate: u64,
    pub(super) index: usize,
}

pub(super) type Candidates = ArrayVec<Candidate, MEMBERS_MAX>;

impl<P: Coded> BondSender<P> {
    /// The greatest rate that is known of a member that works \[bit/s\]; zero if none is.
    pub(super) fn widest(&self) -> u64 {
        let known = self.members.iter().filter(|end| end.is_active() && end.path.has_estimate());
        known.map(|end| end.path.rate()).max().unwrap_or(0)
    }

    /// Members for packets of a service, of up to `len` byte, in the order in which one of `bytes` arrives by them.
    fn candidates(&self, now: Instant, service: u8, bytes: u64, len: u64) -> Candidates {
        let is_short = len <= self.longest.on_all;
        let widest = self.widest();
        let carries = |end: &MemberEnd| end.is_active() && end.config.services.has(service);
        let has_main = self.members.iter().any(|end| carries(end) && !end.config.is_backup);
        // While another member's rate is known, one that trains are probing gets nothing else.
        let is_ready = |end: &MemberEnd| widest == 0 || !end.is_being_probed();
        let works = |end: &MemberEnd| carries(end) && end.has_room(now) && is_ready(end);
        let mut candidates = Candidates::new();
        for (index, end) in self.members.iter().enumerate() {
            if !works(end) || (has_main && end.config.is_backup) || !(is_short || len <= end.longest_packet()) {
                continue;
            }
            let rate = end.useful_rate();
            if let Some(arrival_us) = end.path.arrival_us(now, end.reserved + bytes) {
                let arrival_us = arrival_us + i64::from(end.config.tier) * TIER_US;
                candidates.push(Candidate { arrival_us, rate, index });
            }
        }
        candidates.sort_by_key(|candidate| (candidate.arrival_us, candidate.index));
        candidates
    }

    /// The same for a retransmission: those that answer, if any does.
    pub(super) fn answering(&self, now: Instant, service: u8, len: u64) -> Candidates {
        let mut candidates = self.candidates(now, service, len, len);
        let is_silent = |one: &Candidate| self.members[one.index].is_silent();
        if !candidates.iter().all(is_silent) {
            candidates.retain(|one| !is_silent(one));
        }
        candidates
    }

    /// The working member by which a short frame arrives first, of those of whose rate feedback has not had its share
    /// if there are any.
    pub fn feedback_carrier(&self, now: Instant) -> Option<Member> {
        let candidates = self.candidates(now, 0, SHORT, 0);
        let ends = || candidates.iter().map(|candidate| &self.members[candidate.index]);
        ends().find(|end| end.fed_back_at <= now).or_else(|| ends().next()).map(|end| end.id)
    }

    /// Sends whatever can be sent now.
    pub fn pump(&mut self, now: Instant) {
        self.late = self.pace_at.take().map_or(Duration::ZERO, |at| now.saturating_since(at));
        self.repair_due(now);
        self.examine_barred(now);
        self.send_all_again(now);
        while self.send_next(now) {
            self.repair_due(now);
        }
    }

    /// Retransmits what is lost. A packet that another member delivers sooner than the free ones waits for that member,
    /// which takes nothing else before. A free member takes the packet behind those that wait for the faster ones.
    fn send_all_again(&mut self, now: Instant) {
        self.members.iter_mut().for_each(|end| end.reserved = 0);
        let (mut place, mut looks) = (0, 0);
        while place < self.resend.len() && looks < LOOKS_MAX {
            let waiting = self.send_again(now, place);
            place += waiting;
            looks += usize::from(waiting > 0);
            self.repair_due(now);
        }
    }

    /// Notes that a member with something to send may send it at `at`.
    pub(super) fn wait_until(&mut self, at: Instant) {
        self.pace_at = Some(self.pace_at.map_or(at, |other| other.min(at)));
    }

    /// Sends the packet that waits for retransmission at `place`, or gives it up. Returns how many packets from there
    /// wait for a member by which they arrive sooner: zero if it waits no more.
    fn send_again(&mut self, now: Instant, place: usize) -> usize {
        let id = self.resend[place];
        let entry = self.store.get(id);
        let Some(packet) = &entry.packet else {
            self.resend.remove(place);
            self.unqueue(id);
            return 0;
        };
        if entry.since.saturating_add(self.persistence(packet.class())) < now {
            self.resend.remove(place);
            self.settle(id, Some(BondDropReason::Expired));
            self.unqueue(id);
            return 0;
        }
        let (len, service) = (packet.len().as_u64(), packet.service());
        if self.is_barred(service) || self.is_too_long(service, len) {
            self.resend.remove(place);
            if self.is_barred(service) {
                self.bar(id)
            } else {
                self.park(id, service, len)
            }
            return 0;
        }
        let candidates = self.answering(now, service, len);
        let Some(first) = candidates.first() else { return 1 };
        if !self.members[first.index].is_free(now) {
            // The faster members may not carry the services of those behind it.
            let waiting = if self.queue.lanes() > 1 { 1 } else { self.resend.len() - place };
            return self.reserve(now, &candidates, len, waiting);
        }
        self.resend.remove(place);
        let is_first = !self.store.get(id).was_sent;
        self.transmit(now, first.index, id, is_first);
        self.counts.retransmissions += u64::from(!is_first);
        self.unqueue(id);
        0
    }

    /// Leaves to the faster members, which are not free, as many of `waiting` packets of `len` byte as arrive by them
    /// sooner than by the first free one, or one if none is free. Returns how many. Retransmissions come before all
    /// else, so a member's whole rate counts.
    fn reserve(&mut self, now: Instant, candidates: &Candidates, len: u64, waiting: usize) -> usize {
        let free = candidates.iter().position(|one| self.members[one.index].is_free(now));
        let faster = &candidates[..free.unwrap_or(1)];
        let mut packets = 0;
        for one in faster {
            let end = &mut self.members[one.index];
            let free_at = end.free_at();
            let sooner_us = free.map_or(0, |place| candidates[place].arrival_us - one.arrival_us);
            let taken = (1 + carried(end.path.rate(), sooner_us) / len.max(1)).min((waiting - packets) as u64);
            end.reserved += taken * len;
            packets += taken as usize;
            self.wait_until(free_at);
        }
        packets
    }

    pub(super) fn unqueue(&mut self, id: PacketId) {
        self.store.get_mut(id).is_queued = false;
        self.store.unname(id);
    }

    /// Sends a packet of a service that waits, in its turn or out of it. Returns whether to go on.
    pub(super) fn send_next_of(&mut self, now: Instant, service: u8, is_in_turn: bool) -> bool {
        let is_busy = self.queue.has(service);
        if !is_busy && (service != 0 || is_in_turn) {
            return false;
        }
        let len = self.queue.next(now, service).map_or(0, |next| next.len().as_u64());
        if self.is_too_long(service, len) {
            return self.park_next(now, service);
        }
        let candidates = self.candidates(now, service, TYPICAL, len);
        if let Some(at) = self.queue.held_until(service) {
            self.wait_until(at);
        }
        for (place, one) in candidates.iter().enumerate() {
            let end = &self.members[one.index];
            if !end.is_free(now) {
                let free_at = end.free_at();
                if is_busy && free_at > now {
                    self.wait_until(free_at);
                }
                continue;
            }
            if is_in_turn && self.had_its_turn(one.index, service) {
                continue;
            }
            if let Some(waiting) = self.queue.take(now, service, lead(one, &candidates[..place])) {
                self.send_waiting(now, one.index, waiting, &candidates);
                self.note_lane(one.index, service);
                if place == 0 && !self.is_shared(one.index, service) {
                    self.send_run(now, service, &candidates);
                }
                return true;
            }
            if service != 0 || is_in_turn {
                continue;
            }
            let end = &mut self.members[one.index];
            // What waits for it in another lane has its turn yet.
            end.is_idle |= !self.queue.has_any(end.config.services);
        }
        false
    }

    /// Gives the first candidate the next packets, too, while they arrive by it first, or too little later than by
    /// another to matter to a host.
    fn send_run(&mut self, now: Instant, service: u8, candidates: &Candidates) {
        let Some(index) = candidates.first().map(|first| first.index) else { return };
        let other_us = candidates.get(1).map_or(i64::MAX, |other| other.arrival_us);
        let latest_us = other_us.saturating_add(SAME.as_micros() as i64);
        loop {
            let end = &self.members[index];
            let added_us = i64::from(end.config.tier) * TIER_US;
            let is_early = end.path.arrival_us(now, TYPICAL).is_some_and(|at| at + added_us <= latest_us);
            if !is_early || end.groups.is_pending() || !end.is_active() || !end.has_room(now) || end.free_at() > now {
                return;
            }
            let Some(waiting) = self.queue.take(now, service, Lead::default()) else { return };
            self.send_waiting(now, index, waiting, candidates);
        }
    }

    /// Sends a packet from the queue, unless it has waited for too long.
    pub(super) fn send_waiting(&mut self, now: Instant, index: usize, waiting: Waiting<P>, candidates: &Candidates) {
        let Waiting { packet, place, since, mark } = waiting;
        let class = packet.class();
        if since.saturating_add(self.persistence(class)) < now {
            self.drop(packet, BondDropReason::Expired);
            return;
        }
        let (len, service) = (packet.len().as_u64(), packet.service());
        let may_carry =
            |sender: &Self, index: usize| sender.fits(index, len) && sender.members[index].config.services.has(service);
        if !may_carry(self, index) {
            // It was taken from behind one that fits, or shares its flow's bucket with another service.
            self.set_aside(packet, place, since, mark);
            return;
        }
        let is_doubled = class == TrafficClass::RealTime && packet.len() <= self.config.policy.duplicate;
        let id = self.store.add(packet, place, since, mark);
        self.transmit(now, index, id, true);
        let other = candidates.iter().find(|candidate| candidate.index != index && may_carry(self, candidate.index));
        if let Some(other) = other.filter(|_| is_doubled) {
            self.transmit(now, other.index, id, false);
            self.counts.duplicated += 1;
        }
    }

    /// Time to repair a loss on the longest path in use.
    pub fn longest_repair(&self) -> Duration {
        let used = self.members.iter().filter(|end| end.is_active());
        used.filter(|end| end.path.delay().rtt().is_some()).map(|end| end.path.repair()).max().unwrap_or(Duration::ZERO)
    }

    /// Updates the times that packets may wait.
    pub(super) fn set_targets(&mut self, now: Instant) {
        let mut servers: ArrayVec<Server, MEMBERS_MAX> = ArrayVec::new();
        // What is only guessed, before any measurement, may be many times too much.
        let mut measured = 0;
        for end in self.members.iter().filter(|end| end.is_active()) {
            if let Some((delay, _)) = end.path.delay().least_and_deviation_us() {
                let rate = end.useful_rate();
                let rtt_us = end.path.delay().rtt_least_ns() / 1_000;
                let held_us = end.blocking().as_micros();
                let arrival_us = delay + (held_us + TYPICAL * 8_000_000 / rate.max(1)) as i64;
                servers.push(Server { arrival_us, rate, rtt_us: rtt_us + held_us });
                measured += if end.path.has_estimate() { rate as i64 } else { 0 };
            }
        }
        let best = self.best_rate.learn(now, -measured).unsigned_abs();
        self.queue.targets.set(self.config.policy.target, best, &mut servers);
        let longest = self.queue.targets.longest() * QUEUE_TARGETS;
        // While none works, the queue is kept for a member's return.
        let rate = self.members.iter().filter(|end| end.is_active()).map(|end| end.path.rate()).sum();
        if rate > 0 {
            let bytes = carried(rate, longest.as_micros() as i64);
            self.queue.set_limit(bytes.max(QUEUE_BYTES_MIN));
        }
    }
}

/// The lead of faster members over a slower one.
fn lead(one: &Candidate, faster: &[Candidate]) -> Lead {
    let bytes = faster.iter().map(|other| carried(other.rate, one.arrival_us - other.arrival_us)).sum();
    let later_us = faster.first().map_or(0, |first| one.arrival_us - first.arrival_us);
    Lead { bytes, later: Duration::from_micros(later_us as u64) }
}

/// Bytes that a member carries in a time.
fn carried(rate: u64, span_us: i64) -> u64 {
    (u128::from(rate) * span_us.max(0) as u128 / 8_000_000) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slower_member_leaves_what_the_faster_ones_carry_until_it_delivers() {
        let one = |arrival_us, rate, index| Candidate { arrival_us, rate, index };
        let faster = [one(4_000, 8_000_000, 0), one(6_000, 16_000_000, 1)];
        let Lead { bytes, later } = lead(&one(10_000, 1_000_000, 2), &faster);
        assert_eq!((bytes, later), (6_000 + 8_000, Duration::from_millis(6)));
        let Lead { bytes, later } = lead(&one(4_000, 8_000_000, 0), &[]);
        assert_eq!((bytes, later), (0, Duration::ZERO), "the fastest takes the first that waits");
        assert_eq!((carried(8_000_000, 250), carried(8_000_000, -1)), (250, 0));
    }
}
