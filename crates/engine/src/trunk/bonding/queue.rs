//! The one queue before all members: flow-fair and short (RFC 8290, with the delay control of RFC 8289).
//!
//! Each flow bucket has a queue of its own; those that have just become active come first, the others by deficit round
//! robin. So a flow that sends little never waits behind one that sends much. There are two
//! differences to the RFCs:
//!
//! - A packet gets its place in its flow when it is queued, because a slower member may take one from the middle of the
//!   queue that the faster ones will only reach when that one has come ([`Queue::take`]). So the queue never gives up a
//!   packet that has a place: a decision on the delay of the flow's first packet hits its next packet.
//! - The target of a flow's wait includes the time that uneven members need; the caller passes it.
//!
//! Flows of a service that only some members may carry take turns among themselves, in a lane of their own.

use super::ack_pacer::AckPace;
use super::delay_control::{Control, PACKET, Patience};
use super::equaliser::{Equaliser, LATE, TIMER_MARGIN};
use super::flow_seq::{BUCKETS, FlowSeq};
use super::memory::ENTRY;
use super::services::{SERVICES_MAX, Services};
use super::targets::{Step, Targets};
use crate::packet::Packet;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// Bytes that a flow may send in its turn: one full packet (RFC 8290, section 5.2).
const QUANTUM: i64 = PACKET as i64;
/// Pause after which a flow begins again: longer than any round trip.
const PAUSE: Duration = Duration::from_secs(1);
/// Acknowledgements of a round trip that a flow needs while its packets wait: half of the samples by which HyStart
/// judges the round trip (eight: RFC 9406, 4.3; `tcp_cubic.c`), since others pass when nothing waits.
const ACKS_IN_ROUND: u64 = 4;
/// Time in which the nearest members carry as many acknowledgements as may wait: two bursts of a member. A sender by
/// RFC 5681, 3.1 grows with each that passes, and each round trip is longer by those that wait.
const ACKS_WAIT: Duration = Duration::from_millis(2);
/// Largest number of flows that are examined for one packet: it bounds the time for a packet.
const LOOK: usize = 32;
/// Buckets that are open to a flow: with one alone a third of 200 flows would share theirs.
const WAYS: u16 = 8;
/// Buckets of both classes.
const FLOWS: usize = 2 * BUCKETS as usize;

/// A packet that waits.
#[derive(Debug)]
pub struct Waiting<P> {
    pub packet: P,
    /// Its place in its flow.
    pub place: FlowSeq,
    /// Time of its arrival.
    pub since: Instant,
    /// Whether it is to be marked for congestion.
    pub mark: bool,
}

/// The lead of the faster members over the one that takes a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lead {
    /// Bytes that they carry until a packet arrives by it.
    pub bytes: u64,
    /// Time by which it is later than the fastest.
    pub later: Duration,
}

/// The list that a flow is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Listed {
    #[default]
    None,
    New,
    Old,
}

#[derive(Debug)]
struct Flow<P> {
    waiting: VecDeque<Waiting<P>>,
    bytes: u64,
    next: u32,
    deficit: i64,
    listed: Listed,
    /// The number that packets of its flow have in common ([`Packet::flow_bucket`]), once one has come.
    owner: Option<u16>,
    /// The lane that it is listed in.
    service: u8,
    control: Control,
    /// Bytes sent since its last pause, and the arrival of its last packet.
    sent: u64,
    /// Whether it was told to slow down since then.
    was_told: bool,
    added_at: Option<Instant>,
    equaliser: Equaliser,
}

impl<P: Packet> Flow<P> {
    /// Index of the packet for a member before which faster ones have this lead in the flow, which is one of `flows`.
    fn due_index(&self, now: Instant, lead: Lead, targets: &Targets, flows: u64) -> Option<usize> {
        // Packets that wait in a row are of one length, but for the last.
        let index_after = |bytes: u64| (self.waiting.len() as u64 * bytes).div_ceil(self.bytes.max(1)) as usize;
        let hold = if self.equaliser.is_on() {
            self.equaliser.hold_for(now, lead.later, targets.of(self.sent, flows))
        } else {
            None
        };
        let Some(hold) = hold else {
            let index = index_after(lead.bytes);
            return (index < self.waiting.len()).then_some(index);
        };
        let due = self.waiting.partition_point(|waiting| waiting.since.saturating_add(hold) <= now);
        let last = due.checked_sub(1)?;
        // The faster ones carry nothing before the first packet is due.
        let first_due = self.waiting.front()?.since.saturating_add(hold + lead.later);
        let carry = lead.later.saturating_sub(first_due.saturating_since(now)).as_micros();
        let index = index_after(lead.bytes * carry / lead.later.as_micros().max(1));
        // One that has waited longer is sooner there by the faster ones.
        let is_late = self.waiting[last].since.saturating_add(hold + LATE) <= now;
        (index <= last || !is_late).then_some(index.min(last))
    }

    /// Whether its last packet came longer ago than a pause, if one has come.
    fn is_past(&self, now: Instant) -> bool {
        self.added_at.is_none_or(|at| now.saturating_since(at) > PAUSE)
    }

    /// Whether another flow may have its bucket.
    fn is_free(&self, now: Instant) -> bool {
        self.waiting.is_empty() && self.listed == Listed::None && self.is_past(now)
    }

    /// Time at which the fastest member may take its first packet.
    fn due_at(&mut self, now: Instant, step: &Step) -> Instant {
        let hold = self.equaliser.hold(now, (self.waiting.len(), self.bytes), step);
        self.waiting.front().map_or(now, |first| first.since.saturating_add(hold))
    }
}

/// The turns of the flows of one service.
#[derive(Debug, Default)]
struct Lane {
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    /// Number of waiting packets.
    len: usize,
    /// Number of flows with waiting packets.
    busy: u64,
    /// Time at which the first packet that is held for its time may leave.
    held_until: Option<Instant>,
}

impl Lane {
    /// Flows in the order of their turns.
    fn listed(&self) -> impl Iterator<Item = u16> + Clone {
        self.new.iter().chain(&self.old).copied()
    }
}

/// The reason why a packet was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A newer acknowledgement tells all that it told, and waits in its place.
    Superseded,
    /// The queue is full, and this flow or the one that filled it loses a packet.
    Full,
    /// The flow is told to slow down.
    Managed,
}

#[derive(Debug)]
pub struct Queue<P> {
    flows: Vec<Flow<P>>,
    /// By number of the service; at least one.
    lanes: Vec<Lane>,
    limit: usize,
    /// Bytes that may wait.
    limit_bytes: u64,
    len: usize,
    bytes: u64,
    /// Memory of the waiting packets \[byte\].
    occupied: u64,
    /// The terms of the flows.
    pub targets: Targets,
}

impl<P: Packet> Queue<P> {
    /// An empty one that holds `limit` packets; each may wait for `target`.
    pub fn new(limit: usize, target: Duration) -> Self {
        let empty = || Flow {
            waiting: VecDeque::new(),
            bytes: 0,
            next: 0,
            deficit: 0,
            listed: Listed::None,
            owner: None,
            service: 0,
            control: Control::default(),
            sent: 0,
            was_told: false,
            added_at: None,
            equaliser: Equaliser::default(),
        };
        Self {
            flows: (0..FLOWS).map(|_| empty()).collect(),
            lanes: vec![Lane::default()],
            limit: limit.max(1),
            limit_bytes: u64::MAX,
            len: 0,
            bytes: 0,
            occupied: 0,
            targets: Targets::new(target),
        }
    }

    /// Sets the limit in bytes: packets that wait for too long are of no use.
    pub const fn set_limit(&mut self, bytes: u64) {
        self.limit_bytes = bytes;
    }
    pub const fn len(&self) -> usize {
        self.len
    }
    /// Whether none waits.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Memory of the waiting packets \[byte\].
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }
    /// Number of lanes: services up to the highest that has had a packet, and the rest of the traffic.
    pub const fn lanes(&self) -> u8 {
        self.lanes.len() as u8
    }
    /// Whether packets of a service wait.
    pub fn has(&self, service: u8) -> bool {
        self.lanes.get(usize::from(service)).is_some_and(|lane| lane.len > 0)
    }
    /// Whether packets of any of these services wait.
    pub fn has_any(&self, services: Services) -> bool {
        (1..self.lanes()).any(|service| services.has(service) && self.has(service))
    }

    /// When the next acknowledgement of a flow has to pass. A flow that was told to slow down has found the rate, and
    /// packets that are held do not wait for members: either needs each.
    pub fn ack_pace(&self, bucket: u16) -> AckPace {
        let flow = self.flows.get(usize::from(bucket));
        let Some(flow) = flow.filter(|flow| !flow.was_told && !flow.equaliser.is_on()) else {
            return AckPace::default();
        };
        let flows = self.lanes.get(usize::from(flow.service)).map_or(0, |lane| lane.busy);
        let lasts = self.targets.time_for(flow.bytes * flows);
        let rtt = self.targets.of(flow.sent, flows).rtt;
        let busy = lasts.saturating_sub(ACKS_WAIT).min(TIMER_MARGIN);
        AckPace { interval: (rtt + lasts) / ACKS_IN_ROUND, busy }
    }

    /// The bucket of a packet's flow: the one that it has, or one that it may take at this time. Of the eight that are
    /// open to it, all of its class, it takes its own by number if it can, and shares that if none is free.
    pub fn bucket(&self, now: Instant, packet: &P) -> u16 {
        let flow = packet.flow_bucket();
        let place = |way: u16| FlowSeq::bucket_of(packet.class(), (flow % BUCKETS) + way * (BUCKETS / WAYS));
        let state = |bucket: &u16| &self.flows[usize::from(*bucket)];
        let is_free = |bucket: &u16| state(bucket).is_free(now);
        (0..WAYS)
            .map(place)
            .find(|bucket| state(bucket).owner == Some(flow))
            .or_else(|| (0..WAYS).map(place).find(is_free))
            .unwrap_or_else(|| place(0))
    }

    /// Adds a packet. Returns one that is dropped instead, if there is one, and whether the new one was marked.
    pub fn add(&mut self, now: Instant, packet: P) -> (Option<(P, Refused)>, bool) {
        let bucket = self.bucket(now, &packet);
        let packet = match self.supersede(bucket, packet) {
            Ok(older) => return (Some((older, Refused::Superseded)), false),
            Err(packet) => packet,
        };
        let mut mark = false;
        if self.flows[usize::from(bucket)].control.due > 0 {
            self.flows[usize::from(bucket)].control.due -= 1;
            if !packet.can_be_marked() {
                return (Some((packet, Refused::Managed)), false);
            }
            mark = true;
        }
        let is_full = self.len >= self.limit || self.bytes > self.limit_bytes;
        let refused = if is_full { self.shorten() } else { None };
        let flow = &mut self.flows[usize::from(bucket)];
        let place = FlowSeq { bucket, number: flow.next };
        flow.next = FlowSeq::plus(flow.next, 1);
        let (len, footprint) = (packet.len().as_u64(), packet.footprint());
        if flow.is_past(now) {
            (flow.sent, flow.was_told, flow.control) = (0, false, Control::default());
            flow.equaliser = Equaliser::new(now);
        }
        if flow.owner.is_none() || flow.is_free(now) {
            flow.owner = Some(packet.flow_bucket());
        }
        flow.added_at = Some(now);
        flow.bytes += len;
        if flow.listed == Listed::None {
            flow.service = packet.service().min(SERVICES_MAX);
            let lanes = usize::from(flow.service) + 1;
            if self.lanes.len() < lanes {
                self.lanes.resize_with(lanes, Lane::default);
            }
        }
        let lane = &mut self.lanes[usize::from(flow.service)];
        lane.len += 1;
        lane.busy += u64::from(flow.waiting.is_empty());
        flow.waiting.push_back(Waiting { packet, place, since: now, mark });
        if flow.listed == Listed::None {
            flow.listed = Listed::New;
            flow.deficit = QUANTUM;
            lane.new.push_back(bucket);
        }
        self.len += 1;
        self.bytes += len;
        self.occupied += footprint + ENTRY;
        (refused.map(|packet| (packet, Refused::Full)), mark)
    }

    /// Puts an acknowledgement in the place of the last one that waits, if it tells all that that one told and the
    /// nearest members are busy for [`ACKS_WAIT`] with those before; gives the older one, or the packet back.
    fn supersede(&mut self, bucket: u16, packet: P) -> Result<P, P> {
        let carried = self.targets.of(0, 1).all().saturating_mul(ACKS_WAIT.as_micros()) / 8_000_000;
        let flow = &mut self.flows[usize::from(bucket)];
        let flows = self.lanes.get(usize::from(flow.service)).map_or(0, |lane| lane.busy);
        let is_long = carried > 0 && flow.bytes * flows > carried;
        let last = flow.waiting.back_mut().filter(|_| is_long).map(|last| &mut last.packet);
        // One of another length would change the bytes that wait.
        let tells_as_much = |last: &P| {
            last.is_acknowledgement()
                && packet.is_acknowledgement()
                && packet.len() == last.len()
                && packet.supersedes(last)
        };
        match last.filter(|last| tells_as_much(last)) {
            Some(last) => {
                self.occupied = self.occupied + packet.footprint() - last.footprint();
                Ok(std::mem::replace(last, packet))
            }
            None => Err(packet),
        }
    }

    /// Takes the last packet of the longest flow; its number goes to the flow's next packet.
    pub fn shorten(&mut self) -> Option<P> {
        let listed = self.lanes.iter().flat_map(Lane::listed);
        let longest = listed.max_by_key(|&bucket| self.flows[usize::from(bucket)].bytes)?;
        let flow = &mut self.flows[usize::from(longest)];
        let last = flow.waiting.pop_back()?;
        flow.next = last.place.number;
        self.leave(longest, &last);
        Some(last.packet)
    }

    /// Takes the first packet of a flow of a service that is too old.
    pub fn take_old(&mut self, service: u8, is_old: impl Fn(&Waiting<P>) -> bool) -> Option<P> {
        let first = |bucket: &u16| self.flows[usize::from(*bucket)].waiting.front();
        let bucket =
            self.lanes.get(usize::from(service))?.listed().find(|bucket| first(bucket).is_some_and(&is_old))?;
        let old = self.flows[usize::from(bucket)].waiting.pop_front()?;
        self.leave(bucket, &old);
        Some(old.packet)
    }

    /// Counts a packet that has left its flow.
    fn leave(&mut self, bucket: u16, left: &Waiting<P>) {
        let (len, flow) = (left.packet.len().as_u64(), &mut self.flows[usize::from(bucket)]);
        flow.bytes -= len;
        let lane = &mut self.lanes[usize::from(flow.service)];
        lane.len -= 1;
        lane.busy -= u64::from(flow.waiting.is_empty());
        self.len -= 1;
        self.bytes -= len;
        self.occupied -= left.packet.footprint() + ENTRY;
    }

    /// The packet of a service whose turn it is.
    pub fn next(&mut self, now: Instant, service: u8) -> Option<&P> {
        let bucket = if self.has(service) { self.turn(now, service) } else { None }?;
        self.flows[usize::from(bucket)].waiting.front().map(|waiting| &waiting.packet)
    }

    /// Takes the next packet of a service for a member before which faster ones lead so: of a flow with that much
    /// waiting, the first packet that they would reach later.
    pub fn take(&mut self, now: Instant, service: u8, lead: Lead) -> Option<Waiting<P>> {
        if !self.has(service) {
            return None;
        }
        let (bucket, index) =
            if lead.bytes == 0 { (self.turn(now, service)?, 0) } else { self.deep(now, service, lead)? };
        self.remove(now, bucket, index)
    }

    /// Time at which the first packet of a service that is held for its time may leave, after [`Self::next`] found
    /// none.
    pub fn held_until(&self, service: u8) -> Option<Instant> {
        self.lanes.get(usize::from(service)).and_then(|lane| lane.held_until)
    }

    fn remove(&mut self, now: Instant, bucket: u16, index: usize) -> Option<Waiting<P>> {
        let flow = &mut self.flows[usize::from(bucket)];
        let first = flow.waiting.front().map_or(now, |first| first.since);
        let taken = flow.waiting.remove(index)?;
        let (len, busy) = (taken.packet.len().as_u64(), self.lanes[usize::from(flow.service)].busy);
        flow.deficit -= len as i64;
        flow.sent += len;
        self.leave(bucket, &taken);
        let flow = &mut self.flows[usize::from(bucket)];
        flow.equaliser.on_taken(now, len, self.targets.reached(flow.sent, busy), busy);
        let patience = Patience::of(self.targets.of(flow.sent, busy), self.targets.longest(), flow.was_told);
        flow.control.on_taken(now, now.saturating_since(first), patience, flow.bytes);
        flow.was_told |= flow.control.is_telling;
        if flow.waiting.is_empty() {
            flow.waiting.shrink_to(64);
        }
        Some(taken)
    }

    /// The flow whose turn it is: new ones first, then by deficit (RFC 8290, section 4.2). One whose first packet is
    /// held is passed over.
    fn turn(&mut self, now: Instant, service: u8) -> Option<u16> {
        let lane = self.lanes.get_mut(usize::from(service))?;
        lane.held_until = None;
        let mut held = 0;
        loop {
            let is_new = !lane.new.is_empty();
            let list = if is_new { &mut lane.new } else { &mut lane.old };
            let bucket = *list.front()?;
            let flow = &mut self.flows[usize::from(bucket)];
            if flow.waiting.is_empty() {
                list.pop_front();
                // One round among the old ones, so that it cannot stay new by sending now and then.
                flow.listed = if is_new { Listed::Old } else { Listed::None };
                if is_new {
                    lane.old.push_back(bucket);
                }
                continue;
            }
            let due_at = flow.due_at(now, self.targets.of(flow.sent, lane.busy));
            if flow.deficit > 0 && due_at <= now {
                return Some(bucket);
            }
            if flow.deficit <= 0 {
                flow.deficit += QUANTUM;
            } else {
                lane.held_until = Some(lane.held_until.map_or(due_at, |other| other.min(due_at)));
                held += 1;
            }
            list.pop_front();
            flow.listed = Listed::Old;
            lane.old.push_back(bucket);
            if held > LOOK {
                return None;
            }
        }
    }

    /// The flow that has had least of those with more than their share of the lead waiting, or whose delay is
    /// equalised, and the index of the packet that arrives in its turn.
    fn deep(&self, now: Instant, service: u8, lead: Lead) -> Option<(u16, usize)> {
        let lane = self.lanes.get(usize::from(service))?;
        let flows = lane.busy.max(1);
        // The faster members take a quantum of each flow in turn: the first is the one whose turn it is when the lead
        // is over. Some that are listed have nothing any more.
        let listed = (lane.new.len() + lane.old.len()) as u64;
        let first = lead.bytes.div_ceil(PACKET) % flows * listed / flows;
        let turns = lane.listed().skip(first as usize).zip(first..).chain(lane.listed().zip(0..first));
        let mut least: Option<(i64, (u16, usize))> = None;
        for (bucket, turn) in turns.take(LOOK) {
            let flow = &self.flows[usize::from(bucket)];
            if least.is_some_and(|(deficit, _)| deficit >= flow.deficit) {
                continue;
            }
            let bytes = lead.bytes.saturating_sub(turn * flows / listed * PACKET) / flows;
            if let Some(index) = flow.due_index(now, Lead { bytes, ..lead }, &self.targets, flows) {
                least = Some((flow.deficit, (bucket, index)));
                // No flow has more left of its turn.
                if flow.deficit >= QUANTUM {
                    break;
                }
            }
        }
        least.map(|(_, found)| found)
    }
}

#[cfg(test)]
mod tests;
