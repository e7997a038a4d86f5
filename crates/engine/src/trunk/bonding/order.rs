//! Restores the order of each flow: a packet waits for those before it, for a limited time, and never for another
//! flow's packets.
//!
//! Members lose frames, and the sender retransmits them, so a younger packet says nothing of an older one's fate. The
//! time that gaps take to be filled is measured, and one that takes much longer is given up. A packet of real-time
//! class is delivered at once, and so is a pure acknowledgement: it tells all that those before it told.

use super::config::BondResequencer;
use super::filter::Least;
use super::flow_seq::{BUCKETS, FlowSeq};
use super::memory::ENTRY;
use super::service::BondDropReason;
use super::status::BondCounts;
use crate::machine::Wake;
use crate::packet::{Packet, TrafficClass};
use crate::trunk::LateMode;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// A gap is given up after this many quarters of the longest recent time to fill one, and [`MARGIN`]. Chosen.
const PATIENCE_QUARTERS: u64 = 6;
/// Added to it: the time until a dead member is known to be dead, and its packets have come by another. Nearly
/// everything comes, so waiting too long costs little, and giving up too soon costs a retransmission of TCP.
const MARGIN: Duration = Duration::from_millis(100);
/// Retransmissions may be lost, too: a gap is not given up before this many repair times of the longest path.
const REPAIRS: u64 = 2;
/// Wait before any gap was filled, chosen: as long as the shortest timer of Linux (`TCP_RTO_MIN`).
const INITIAL: Duration = Duration::from_millis(200);
/// Time for which a measured fill time counts: as long as the minimums of delays.
const SPAN: Duration = Duration::from_secs(10);
/// Numbers of a flow that were given up and may still come; older ones are not distinguished from duplicates.
const GIVEN_UP_MAX: usize = 256;
/// The same for all flows together: eight that lose much.
const GIVEN_UP_ALL: usize = 2_048;
/// Packets of a flow that may be under way before the first one arrives: half a second of 50 Mbit/s.
const EARLY: u32 = 2_048;
/// Largest number of waiting packets of all flows together: twice the default of one flow.
const HELD_MAX: usize = 131_072;

#[derive(Debug)]
struct Held<P> {
    number: u32,
    /// None if it did not wait: it marks the number as come.
    packet: Option<P>,
    since: Instant,
}

impl<P: Packet> Held<P> {
    /// Its memory \[byte\].
    fn occupied(&self) -> u64 {
        self.packet.as_ref().map_or(0, Packet::footprint) + ENTRY
    }
}

#[derive(Debug)]
struct Flow<P> {
    next: u32,
    held: VecDeque<Held<P>>,
    /// Time since which the first of them has waited for the present gap.
    since: Instant,
    /// Numbers before `next` that did not come, with when they were missed first; in order.
    given_up: VecDeque<(u32, Instant)>,
}

impl<P> Flow<P> {
    /// Arrival of the oldest waiting packet. Frames that were received in one batch have one time, so the search ends
    /// early: none can be older than the previous oldest.
    fn oldest(&self) -> Instant {
        let mut oldest = Instant::MAX;
        for held in &self.held {
            oldest = oldest.min(held.since);
            if oldest <= self.since {
                break;
            }
        }
        oldest
    }
}

/// The decision on a packet.
#[derive(Debug)]
pub enum Ordered<P> {
    /// It goes to the host.
    Deliver(P),
    /// It goes no further.
    Drop(P, BondDropReason),
}

/// The receiving side of all flows.
#[derive(Debug)]
pub struct Order<P> {
    config: BondResequencer,
    flows: Vec<Option<Box<Flow<P>>>>,
    /// Flows with waiting packets, in the order in which the oldest came.
    waiting: VecDeque<u16>,
    /// The flow of each number that was given up, the oldest first.
    given_up: VecDeque<u16>,
    held: usize,
    /// Memory of the waiting packets \[byte\].
    occupied: u64,
    /// Negated fill times of gaps, so that the least is the longest \[ns\].
    took: Least,
    /// Time to repair a loss on the longest path.
    repair: Duration,
}

impl<P: Packet> Order<P> {
    /// Nothing has come.
    pub fn new(config: BondResequencer) -> Self {
        let flows = (0..2 * BUCKETS).map(|_| None).collect();
        Self {
            config,
            flows,
            waiting: VecDeque::new(),
            given_up: VecDeque::new(),
            held: 0,
            occupied: 0,
            took: Least::new(SPAN),
            repair: Duration::ZERO,
        }
    }

    pub const fn held_len(&self) -> usize {
        self.held
    }

    /// Memory of the waiting packets \[byte\].
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Entries of all flows.
    pub fn kept(&self) -> usize {
        self.held + self.given_up.len()
    }

    /// Sets the time to repair a loss on the longest path.
    pub const fn set_repair(&mut self, repair: Duration) {
        self.repair = repair;
    }

    /// The longest wait of a packet.
    pub fn hold_time(&self) -> Duration {
        let measured = self.took.get().map(|ns| Duration::from_nanos(ns.unsigned_abs()));
        let hold = measured.map_or(INITIAL, |took| took * PATIENCE_QUARTERS / 4 + MARGIN);
        hold.max(self.repair * REPAIRS + MARGIN)
            .clamp(self.config.minimum, self.config.maximum.max(self.config.minimum))
    }

    /// When the first packet has waited long enough.
    pub fn wake(&self) -> Option<Wake> {
        let flows = self.waiting.iter().filter_map(|bucket| self.flows[usize::from(*bucket)].as_ref());
        let since = flows.map(|flow| flow.since).min()?;
        Some(Wake { at: since.saturating_add(self.hold_time()), why: "tunnel.hold" })
    }

    /// A packet has come.
    pub fn on_packet(
        &mut self,
        now: Instant,
        place: FlowSeq,
        packet: P,
        counts: &mut BondCounts,
        mut give: impl FnMut(Ordered<P>),
    ) {
        let Some(slot) = self.flows.get_mut(usize::from(place.bucket)) else {
            counts.strange += 1;
            give(Ordered::Drop(packet, BondDropReason::Stale));
            return;
        };
        let limit = self.config.buffer_limit.max(1) as i32;
        let flow = slot.get_or_insert_with(|| {
            // A large first number was sent to an earlier life of this end. Any other flow may have begun
            // with losses: the numbers before it are waited for, like any gap.
            let next = if place.number < EARLY { 0 } else { place.number };
            Box::new(Flow { next, held: VecDeque::new(), since: now, given_up: VecDeque::new() })
        });
        let ahead = FlowSeq::distance(place.number, flow.next);
        if ahead >= limit || ahead < -(1 << 20) {
            // Beyond the buffer: the waiting packets go on, and the flow begins again here.
            counts.holes += 1;
            self.release_all(place.bucket, counts, &mut give);
            if let Some(flow) = &mut self.flows[usize::from(place.bucket)] {
                flow.next = place.number;
                flow.given_up.clear();
            }
        }
        let Some(flow) = &mut self.flows[usize::from(place.bucket)] else { return };
        match FlowSeq::distance(place.number, flow.next) {
            ..0 => self.on_old(now, place, packet, counts, give),
            0 => {
                flow.next = FlowSeq::plus(flow.next, 1);
                counts.delivered += 1;
                give(Ordered::Deliver(packet));
                if !flow.held.is_empty() {
                    self.took.learn(now, -(now.saturating_since(flow.since).as_nanos() as i64));
                    self.release_ready(place.bucket, counts, &mut give);
                }
            }
            1.. if place.class() == TrafficClass::RealTime => {
                self.skip_to(now, place, counts);
                counts.delivered += 1;
                give(Ordered::Deliver(packet));
            }
            1.. => self.hold(now, place, packet, counts, give),
        }
    }

    /// Gives up what is before a packet of real-time class.
    fn skip_to(&mut self, now: Instant, place: FlowSeq, counts: &mut BondCounts) {
        self.miss_until(place.bucket, place.number, now, counts);
        if let Some(flow) = &mut self.flows[usize::from(place.bucket)] {
            flow.next = FlowSeq::plus(flow.next, 1);
        }
    }

    /// Gives up the numbers of a flow before `number`, which were missed first at `since`.
    fn miss_until(&mut self, bucket: u16, number: u32, since: Instant, counts: &mut BondCounts) {
        let Some(flow) = &mut self.flows[usize::from(bucket)] else { return };
        // All are counted, but only the newest are remembered: a packet that names a far place costs no more than that.
        let missed = FlowSeq::distance(number, flow.next).max(0) as u32;
        counts.holes += u64::from(missed);
        flow.next = FlowSeq::plus(flow.next, missed.saturating_sub(GIVEN_UP_MAX as u32));
        while flow.next != number {
            if flow.given_up.len() == GIVEN_UP_MAX {
                flow.given_up.pop_front();
            }
            flow.given_up.push_back((flow.next, since));
            flow.next = FlowSeq::plus(flow.next, 1);
            self.given_up.push_back(bucket);
        }
        while self.given_up.len() > GIVEN_UP_ALL
            && let Some(oldest) = self.given_up.pop_front()
        {
            if let Some(flow) = &mut self.flows[usize::from(oldest)] {
                flow.given_up.pop_front();
            }
        }
    }

    fn hold(
        &mut self,
        now: Instant,
        place: FlowSeq,
        packet: P,
        counts: &mut BondCounts,
        mut give: impl FnMut(Ordered<P>),
    ) {
        let Some(flow) = &mut self.flows[usize::from(place.bucket)] else { return };
        let index = flow.held.partition_point(|held| FlowSeq::distance(held.number, place.number) <= 0);
        if index > 0 && flow.held[index - 1].number == place.number {
            counts.duplicates += 1;
            give(Ordered::Drop(packet, BondDropReason::Duplicate));
            return;
        }
        if flow.held.is_empty() {
            self.waiting.push_back(place.bucket);
            flow.since = now;
        }
        let packet = if packet.is_acknowledgement() {
            counts.delivered += 1;
            give(Ordered::Deliver(packet));
            None
        } else {
            Some(packet)
        };
        let held = Held { number: place.number, packet, since: now };
        self.occupied += held.occupied();
        flow.held.insert(index, held);
        self.held += 1;
        if self.held > HELD_MAX
            && let Some(&first) = self.waiting.front()
        {
            self.give_up_first(first, counts, &mut give);
        }
    }

    /// Handles a packet before the next one to deliver: late, or a duplicate.
    fn on_old(
        &mut self,
        now: Instant,
        place: FlowSeq,
        packet: P,
        counts: &mut BondCounts,
        mut give: impl FnMut(Ordered<P>),
    ) {
        let Some(flow) = &mut self.flows[usize::from(place.bucket)] else { return };
        let Some(index) = flow.given_up.iter().position(|(number, _)| *number == place.number) else {
            counts.duplicates += 1;
            give(Ordered::Drop(packet, BondDropReason::Duplicate));
            return;
        };
        let missed = flow.given_up.remove(index);
        counts.late += 1;
        if place.class() == TrafficClass::Bulk
            && let Some((_, since)) = missed
        {
            self.took.learn(now, -(now.saturating_since(since).as_nanos() as i64));
        }
        match (self.config.mode, place.class()) {
            (LateMode::Tcp, _) | (_, TrafficClass::RealTime) => {
                counts.delivered += 1;
                give(Ordered::Deliver(packet));
            }
            (LateMode::Strict, TrafficClass::Bulk) => give(Ordered::Drop(packet, BondDropReason::Late)),
        }
    }

    /// Delivers what no hole holds up any more.
    fn release_ready(&mut self, bucket: u16, counts: &mut BondCounts, give: &mut impl FnMut(Ordered<P>)) {
        let Some(flow) = &mut self.flows[usize::from(bucket)] else { return };
        let mut has_oldest = false;
        while flow.held.front().is_some_and(|held| held.number == flow.next) {
            let Some(held) = flow.held.pop_front() else { break };
            has_oldest |= held.since <= flow.since;
            flow.next = FlowSeq::plus(flow.next, 1);
            self.held -= 1;
            self.occupied -= held.occupied();
            if let Some(packet) = held.packet {
                counts.delivered += 1;
                give(Ordered::Deliver(packet));
            }
        }
        if flow.held.is_empty() {
            self.waiting.retain(|other| *other != bucket);
        } else if has_oldest {
            flow.since = flow.oldest();
        }
    }

    /// Gives up the first hole of a flow, and delivers what waits behind it.
    fn give_up_first(&mut self, bucket: u16, counts: &mut BondCounts, give: &mut impl FnMut(Ordered<P>)) {
        let Some(flow) = &self.flows[usize::from(bucket)] else { return };
        let since = flow.since;
        if let Some(first) = flow.held.front().map(|held| held.number) {
            self.miss_until(bucket, first, since, counts);
        }
        self.release_ready(bucket, counts, give);
    }

    /// Gives up the hole that has been waited for longest, because what waits occupies too much; says whether there was
    /// one.
    pub fn give_up(&mut self, counts: &mut BondCounts, mut give: impl FnMut(Ordered<P>)) -> bool {
        let Some(&first) = self.waiting.front() else { return false };
        self.give_up_first(first, counts, &mut give);
        true
    }

    /// Gives up all holes of a flow.
    fn release_all(&mut self, bucket: u16, counts: &mut BondCounts, give: &mut impl FnMut(Ordered<P>)) {
        while self.flows[usize::from(bucket)].as_ref().is_some_and(|flow| !flow.held.is_empty()) {
            self.give_up_first(bucket, counts, give);
        }
    }

    /// Gives up what has been waited for long enough.
    pub fn on_timeout(&mut self, now: Instant, counts: &mut BondCounts, mut give: impl FnMut(Ordered<P>)) {
        let hold = self.hold_time();
        if self.wake().is_none_or(|wake| wake.at > now) {
            return;
        }
        let due: Vec<u16> = self.waiting.iter().copied().collect();
        for bucket in due {
            while let Some(flow) = &self.flows[usize::from(bucket)] {
                if flow.held.is_empty() || flow.since.saturating_add(hold) > now {
                    break;
                }
                self.give_up_first(bucket, counts, &mut give);
            }
        }
    }

    /// The sender has begun a new life: what waits goes on, and nothing is known of its flows.
    pub fn restart(&mut self, counts: &mut BondCounts, mut give: impl FnMut(Ordered<P>)) {
        for bucket in 0..2 * BUCKETS {
            self.release_all(bucket, counts, &mut give);
            self.flows[usize::from(bucket)] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Bytes;

    /// A packet that has this number.
    struct Numbered(u32, bool);

    impl Packet for Numbered {
        fn len(&self) -> Bytes {
            Bytes::new(1_000)
        }
        fn flow_bucket(&self) -> u16 {
            1
        }
        fn is_acknowledgement(&self) -> bool {
            self.1
        }
    }

    /// The delivered numbers of a flow whose packets come with these numbers, one a millisecond.
    fn delivered(numbers: impl IntoIterator<Item = u32>) -> Vec<u32> {
        delivered_of(numbers.into_iter().map(|number| Numbered(number, false)))
    }

    fn delivered_of(packets: impl IntoIterator<Item = Numbered>) -> Vec<u32> {
        let mut order = Order::new(BondResequencer::default());
        let (mut counts, mut delivered, mut now) = (BondCounts::default(), Vec::new(), Instant::ZERO);
        for packet in packets {
            now += Duration::from_millis(1);
            let place = FlowSeq { bucket: 1, number: packet.0 };
            order.on_packet(now, place, packet, &mut counts, |ordered| {
                if let Ordered::Deliver(Numbered(number, _)) = ordered {
                    delivered.push(number);
                }
            });
        }
        delivered
    }

    #[test]
    fn a_flow_whose_first_packets_come_last_begins_with_them() {
        assert_eq!(delivered((300..400).chain(0..300)), (0..400).collect::<Vec<_>>());
    }

    #[test]
    fn one_that_was_sent_to_another_life_of_this_end_begins_where_it_is() {
        for first in [5_000, u32::MAX - 50] {
            let numbers: Vec<_> = (0..100).map(|count| FlowSeq::plus(first, count)).collect();
            assert_eq!(delivered(numbers.clone()), numbers);
        }
    }

    #[test]
    fn an_acknowledgement_waits_for_none_before_it_and_comes_once() {
        let packets = [(0, false), (2, true), (4, false), (3, true), (2, true), (1, false), (5, false)];
        let numbers = delivered_of(packets.map(|(number, is_acknowledgement)| Numbered(number, is_acknowledgement)));
        assert_eq!(numbers, [0, 2, 3, 1, 4, 5]);
    }

    /// Counts after packets with these numbers, one a millisecond, and the reasons of drops.
    fn counted(bucket: u16, numbers: &[u32]) -> (BondCounts, Vec<BondDropReason>) {
        let mut order = Order::new(BondResequencer::default());
        let (mut counts, mut dropped) = (BondCounts::default(), vec![]);
        for (number, ms) in numbers.iter().zip(1..) {
            let now = Instant::ZERO + Duration::from_millis(ms);
            order.on_packet(
                now,
                FlowSeq { bucket, number: *number },
                Numbered(*number, false),
                &mut counts,
                |ordered| {
                    if let Ordered::Drop(_, reason) = ordered {
                        dropped.push(reason);
                    }
                },
            );
        }
        (counts, dropped)
    }

    #[test]
    fn packets_are_counted_by_what_becomes_of_them() {
        let of = |counts: BondCounts| [counts.delivered, counts.duplicates, counts.late, counts.holes, counts.strange];
        let twice = BondDropReason::Duplicate;
        // One comes twice while it waits, one after it was delivered.
        let (counts, dropped) = counted(1, &[0, 2, 2, 1, 0]);
        assert_eq!((of(counts), dropped), ([3, 2, 0, 0, 0], vec![twice, twice]));
        // A real-time packet gives up the three before it, of which two come late, one of them twice.
        let (counts, dropped) = counted(BUCKETS, &[0, 4, 3, 1, 3]);
        assert_eq!((of(counts), dropped), ([4, 1, 2, 3, 0], vec![twice]));
        // A place beyond the buffer begins the flow again; a bucket that cannot be is strange.
        let (counts, dropped) = counted(1, &[0, 65_537, 65_538]);
        assert_eq!((of(counts), dropped), ([3, 0, 0, 1, 0], vec![]));
        let (counts, dropped) = counted(2 * BUCKETS, &[0, 1]);
        assert_eq!((of(counts), dropped), ([0, 0, 0, 0, 2], vec![BondDropReason::Stale; 2]));
    }

    /// A number for each packet that waits, and for each that was given up and may still come.
    #[test]
    fn entries_are_those_that_wait_and_those_that_were_given_up() {
        let mut order = Order::new(BondResequencer::default());
        let mut counts = BondCounts::default();
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        let mut come = |order: &mut Order<Numbered>, ms: u64, number: u32| {
            let place = FlowSeq { bucket: 1, number };
            order.on_packet(at(ms), place, Numbered(number, false), &mut counts, |_| ());
            (order.held_len(), order.kept(), order.occupied())
        };
        assert_eq!(come(&mut order, 1, 0), (0, 0, 0));
        assert_eq!(come(&mut order, 2, 2), (1, 1, 1_000 + ENTRY));
        assert_eq!(come(&mut order, 3, 4), (2, 2, 2 * (1_000 + ENTRY)));
        assert_eq!(come(&mut order, 4, 1), (1, 1, 1_000 + ENTRY), "two goes with it");
        let mut left = vec![];
        order.restart(&mut BondCounts::default(), |ordered| left.push(ordered));
        assert!(matches!(left[..], [Ordered::Deliver(Numbered(4, _))]), "{}", left.len());
        assert_eq!((order.held_len(), order.occupied()), (0, 0));
        // Nothing is known of the flow: it may begin anywhere.
        assert_eq!(come(&mut order, 5, 100_000).0, 0);
    }

    /// A restart reaches every flow, those of real time as well.
    #[test]
    fn a_restart_reaches_every_flow() {
        let mut order = Order::new(BondResequencer::default());
        let mut counts = BondCounts::default();
        for bucket in [0, 1, BUCKETS - 1] {
            for number in [0, 2] {
                let place = FlowSeq { bucket, number };
                order.on_packet(Instant::ZERO, place, Numbered(number, false), &mut counts, |_| ());
            }
        }
        assert_eq!(order.held_len(), 3);
        let mut given = 0;
        order.restart(&mut counts, |_| given += 1);
        assert_eq!((given, order.held_len()), (3, 0));
    }
}
