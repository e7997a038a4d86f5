//! The upper part of an EDCA station: packets that wait, by peer and traffic identifier, with the agreements of each.
//! It knows of no medium and no link; a device with several links has one of these and several of those.

use super::agreement::Setups;
use super::allocation::Allocation;
use super::around::Around;
use super::category::{AccessCategory, TIDS};
use super::config::{AgreementSetup, EdcaConfig, RequestLink};
use super::coupling::{Coupling, Room};
use super::doubt::{Doubts, Work};
use super::emlsr::OneRadio;
use super::expectation::{Accesses, Deliveries};
use super::frames::{Mpdu, Ppdu};
use super::kinds::Kinds;
use super::link::{LinkId, Links};
use super::originator::Originator;
use super::peer::{Peer, PeerTraits, Peers};
use super::rates::Pick;
use super::recipient::Recipient;
use super::share::{Demand, Sent, Share, Uses};
use super::single::OneAwake;
use crate::frame::Address;
use crate::service::Msdu;
use airbraid_engine::Packet;
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// A queue of [`Traffic`], by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueId(u16);

/// Packets for one peer under one traffic identifier; broadcasts have a queue of their own for each category.
#[derive(Clone, Debug)]
pub(super) struct TrafficQueue<P> {
    pub to: Address,
    pub tid: u8,
    /// Whether the peer has QoS; to one that has not, data go as frames without QoS Control, all of them here.
    pub has_qos: bool,
    /// Headers and FCS of an MPDU with one packet.
    pub overhead: Bytes,
    /// Packets without a number yet, each with its arrival.
    pub waiting: VecDeque<(P, u64)>,
    /// Whether there is a block acknowledgement agreement; without one each MPDU is acknowledged by itself.
    pub is_agreed: bool,
    pub originator: Originator<P>,
    /// The links on which the peer can be reached now.
    links: Links,
    /// Its questions to the peer.
    pub doubts: Doubts<P>,
    /// Whether its packets are put to links before those have the medium.
    is_put: bool,
    /// Whether a packet more changes something though its category is at work: for a link, or another category.
    is_told: bool,
    /// The use that it makes of links that share its window; `None`: no two of them send at once.
    pub(super) uses: Option<Box<Uses>>,
    /// Its expectation of each link, where a link leaves to others what they deliver before.
    pub(super) deliveries: Option<Box<Deliveries>>,
}

impl<P: Packet + Copy> TrafficQueue<P> {
    /// The peer and the traffic identifier.
    pub fn ends(&self) -> (Address, u8) {
        (self.to, self.tid)
    }
    pub fn is_broadcast(&self) -> bool {
        self.to == Address::BROADCAST
    }

    /// Whether its packets wait for whichever link has the medium; otherwise each is put to a link.
    #[inline]
    pub fn is_shared(&self) -> bool {
        !self.is_put
    }

    /// Whether there is anything that may be sent on a link now.
    #[inline]
    pub fn can_send(&self, link: LinkId) -> bool {
        self.links.contains(link) && (self.has_data(link) || self.needs_request(link))
    }
    #[inline]
    fn has_data(&self, link: LinkId) -> bool {
        let has_new = || !self.waiting.is_empty() && self.originator.has_space() && self.is_shared();
        self.originator.has_waiting_on(link) || has_new()
    }
    fn work(&self, link: LinkId) -> Work {
        if self.has_data(link) {
            return Work::Data;
        }
        if self.originator.len() == 0 && !self.waiting.is_empty() { Work::Barred } else { Work::None }
    }

    /// Whether the peer must be asked or told on a link before more data are sent there.
    #[inline]
    pub fn needs_request(&self, link: LinkId) -> bool {
        self.doubts.is_due(link, self.originator.start(), || self.work(link))
    }
    /// An MPDU is given up: the peer is to be told.
    pub fn give_up(&mut self, sequence: u16) {
        self.doubts.add_gap(sequence);
        self.originator.set_limit(self.doubts.limit(self.originator.window()));
    }
    /// The peer has answered on a link, perhaps to a request with this start; returns the PPDUs that were in doubt.
    pub fn on_answer(&mut self, link: LinkId, request: Option<u16>) -> Vec<Arc<Ppdu<P>>> {
        let ppdus = self.doubts.on_answer(link, request);
        self.originator.set_limit(self.doubts.limit(self.originator.window()));
        ppdus
    }
    /// Nobody has answered a request on a link; returns the PPDUs that are taken for lost.
    pub fn on_unanswered_request(&mut self, link: LinkId, limit: Option<u32>) -> Vec<Arc<Ppdu<P>>> {
        self.doubts.on_failure(link, self.links, limit)
    }
    /// Whether a link leads to the peer now.
    pub fn leads_over(&self, link: LinkId) -> bool {
        self.links.contains(link)
    }
    /// These links lead to the peer from now on. Where one at a time does, it opens by an exchange that was answered,
    /// and what is in doubt on others waits for it.
    pub fn lead_over(&mut self, links: Links, is_single: bool) {
        if is_single {
            links.without(self.links).iter().for_each(|link| self.doubts.on_heard(link));
        }
        self.links = links;
    }
    /// Whether a block acknowledgement that was lost on a link is asked for.
    pub fn asks(&self, link: LinkId) -> bool {
        self.doubts.asks(link, self.links)
    }
    /// Whether a link begins by RTS, for another is better.
    pub fn is_doubtful(&self, link: LinkId) -> bool {
        self.doubts.is_doubtful(link, self.links)
    }

    /// The packets behind the first that make one MPDU of `count` packets with it.
    #[inline]
    pub fn joined_to_first(&self, count: usize) -> Option<Box<[P]>> {
        (count > 1).then(|| self.waiting.range(1..count).map(|(packet, _)| *packet).collect())
    }

    /// Most MPDUs of the next PPDU, as far as new ones go with those that were lost, of which `oldest` is the first.
    /// Where the window has space for all that waits, the share is no limit.
    #[inline]
    pub fn most_new(&self, pick: Pick, oldest: Option<&Mpdu>) -> u32 {
        if self.waiting.len() <= self.originator.space() {
            return pick.first_here.unwrap_or(u32::MAX);
        }
        let Some(share) = pick.share else { return u32::MAX };
        let next = self.originator.next();
        share.of(self.originator.space_behind(oldest.map_or(next, |mpdu| mpdu.sequence)))
    }

    /// The arrival that decides which queue is served first.
    fn rank(&self) -> u64 {
        let waiting = self.waiting.front().map_or(u64::MAX, |(_, arrival)| *arrival);
        self.originator.oldest_arrival().unwrap_or(u64::MAX).min(waiting)
    }
}

/// Everything that waits at a station, and both ends of its agreements.
#[derive(Clone, Debug)]
pub(super) struct Traffic<P> {
    queues: Vec<TrafficQueue<P>>,
    /// By address and TID the place of the queue, plus one.
    places: Vec<[u16; TIDS]>,
    /// The same of frames to all, by link.
    broadcasts: Vec<[u16; TIDS]>,
    /// The multi-link peers.
    pub peers: Peers,
    /// The one radio of a device in EMLSR mode.
    pub radio: Option<OneRadio>,
    /// The one link of a device that is awake, where it has one radio that cannot listen on several.
    pub awake: Option<Box<OneAwake>>,
    /// The doings of links that disturb each other, at this device or at a peer.
    pub coupling: Option<Box<Coupling>>,
    /// The links that have nothing to send in a category, and contend as soon as there is something.
    idle: [Links; AccessCategory::COUNT],
    /// The time in which each link had something to send.
    demands: Vec<Demand>,
    /// The accesses of each link, where one leaves to others what they deliver before.
    pub(super) accesses: Option<Box<Accesses>>,
    /// The queues of each category.
    pub(super) by_category: [Vec<QueueId>; AccessCategory::COUNT],
    /// MSDUs of each category that wait or are not acknowledged yet.
    counts: [u32; AccessCategory::COUNT],
    limit: u32,
    arrivals: u64,
    /// The stations around.
    around: Around,
    /// Whether there are agreements.
    pub has_agreements: bool,
    /// Whether they are set up by frames.
    pub is_by_frames: bool,
    /// The setup of agreements by frames: of its own, or because a peer has asked for one.
    pub setups: Option<Box<Setups>>,
    /// The end of the first pause of a queue that has asked in vain.
    pub rests_until: Option<Instant>,
    /// By address and TID.
    pub(super) recipients: Vec<[Option<Box<Recipient<P>>>; TIDS]>,
}

impl<P: Packet + Copy> Traffic<P> {
    pub fn new(config: &EdcaConfig) -> Self {
        let aggregation = &config.aggregation;
        Self {
            queues: Vec::new(),
            places: Vec::new(),
            broadcasts: Vec::new(),
            peers: Peers::default(),
            radio: None,
            awake: None,
            coupling: None,
            idle: [Links::default(); AccessCategory::COUNT],
            demands: Vec::new(),
            accesses: None,
            by_category: [const { Vec::new() }; AccessCategory::COUNT],
            counts: [0; AccessCategory::COUNT],
            limit: config.queue_limit,
            arrivals: 0,
            around: Around::new(config),
            has_agreements: aggregation.ampdu.is_some(),
            is_by_frames: aggregation.setup == AgreementSetup::Frames,
            setups: (aggregation.setup == AgreementSetup::Frames).then(Box::default),
            rests_until: None,
            recipients: Vec::new(),
        }
    }

    /// It learns of the stations around it.
    pub fn meet(&mut self, kinds: &Kinds) {
        self.around.meet(kinds);
    }
    /// The window of agreements with a peer; 0: there are none.
    #[inline]
    pub fn window_with(&self, peer: Address) -> u16 {
        self.around.window_with(peer)
    }

    /// A link more leads to a multi-link peer.
    pub fn share(&mut self, device: Address, (link, tids): (LinkId, u8), traits: PeerTraits) {
        let has_one_awake = self.awake.is_some();
        let traits = PeerTraits { is_single: traits.is_single || has_one_awake, ..traits };
        if traits.allocation == Allocation::Expected {
            self.accesses.get_or_insert_default();
        }
        self.peers.reach(device, traits).add_link(link, tids);
        if let Some(awake) = &mut self.awake {
            awake.add_link(link);
        }
    }

    /// Two links disturb each other, at a peer or at this device.
    pub fn couple(&mut self, at: Option<Address>, [a, b]: [LinkId; 2]) -> &mut Coupling {
        if let Some(peer) = at.and_then(|device| self.peers.get_mut(device)) {
            peer.pairs.add(a, b);
        }
        let coupling = self.coupling.get_or_insert_default();
        if at.is_none() {
            coupling.pairs.add(a, b);
        }
        coupling
    }

    /// The room on a link for the next PPDU of a queue.
    pub fn room(&self, id: QueueId, link: LinkId, at: Instant) -> Room {
        if self.coupling.is_none() {
            return Room::Free;
        }
        let queue = self.queue(id);
        match self.room_towards(queue.to, link, at) {
            // No request goes beside data: its answer would come before those of the others.
            Room::EndAt(end) | Room::Join(end) if queue.needs_request(link) || queue.is_broadcast() => Room::Wait(end),
            room => room,
        }
    }

    /// The same for anything that goes to a peer.
    pub fn room_towards(&self, to: Address, link: LinkId, at: Instant) -> Room {
        let Some(coupling) = &self.coupling else { return Room::Free };
        let pairs = self.peers.get(to).map(|peer| peer.pairs).unwrap_or_default();
        coupling.room(link, to, &pairs, at)
    }

    /// When a category may have room for something on a link that it has none for now.
    pub fn room_from(&self, category: AccessCategory, link: LinkId, at: Instant) -> Option<Instant> {
        let ready = self.by_category[category.index()].iter().filter(|id| self.queue(**id).can_send(link));
        let waits = |id: &QueueId| match self.room(*id, link, at) {
            Room::Wait(until) => Some(until),
            Room::Free | Room::EndAt(_) | Room::Join(_) => None,
        };
        ready.filter_map(waits).min()
    }

    /// A link has become taken or free.
    pub fn on_medium(&mut self, now: Instant, link: LinkId, is_taken: bool) {
        for allocator in self.peers.allocators() {
            allocator.on_medium(now, link, is_taken);
        }
    }

    /// This station sends on a link for this time.
    pub fn on_own_transmission(&mut self, now: Instant, link: LinkId, airtime: Duration) {
        for allocator in self.peers.allocators() {
            allocator.on_own_transmission(now, link, airtime);
        }
    }

    /// The window of a queue moves past everything that is done.
    #[inline]
    pub fn advance(&mut self, now: Instant, id: QueueId) {
        let queue = self.queue_mut(id);
        queue.originator.advance();
        if let Some(deliveries) = &mut queue.deliveries {
            deliveries.on_moved(now, queue.originator.start());
        }
    }

    /// Numbers packets of a queue as far as its window goes, and puts each to a link, where that is done.
    #[inline]
    pub fn put_to_links(&mut self, now: Instant, id: QueueId, size: impl Fn(Bytes) -> u32) {
        if self.queue(id).is_put {
            self.put_all(now, id, size);
        }
    }
    fn put_all(&mut self, now: Instant, id: QueueId, size: impl Fn(Bytes) -> u32) {
        let queue = &mut self.queues[usize::from(id.0)];
        let Some(peer) = self.peers.get_mut(queue.to) else { return };
        let links = peer.carrying(queue.tid);
        let Some(allocator) = peer.allocator.as_deref_mut() else { return };
        while queue.originator.has_space()
            && let Some((packet, arrival)) = queue.waiting.pop_front()
        {
            let link = allocator.put(now, packet.flow_bucket(), links);
            queue.originator.put(packet, size(packet.len()), arrival, link);
        }
    }

    /// A link has nothing to send in a category, or contends.
    pub fn set_idle(&mut self, link: LinkId, category: AccessCategory, is_idle: bool) {
        let idle = &mut self.idle[category.index()];
        if is_idle { idle.insert(link) } else { idle.remove(link) }
    }

    /// Whether no link waits to be woken for this category, and none for what another does.
    #[inline]
    pub fn is_at_work(&self, category: AccessCategory) -> bool {
        self.is_plain() && self.idle[category.index()] == Links::default()
    }
    /// Whether a link has something to send only by packets and what becomes of them.
    #[inline]
    fn is_plain(&self) -> bool {
        self.setups.is_none() && self.awake.is_none() && self.coupling.is_none() && self.radio.is_none()
    }
    /// Whether any link may have to be woken; if not, [`Traffic::wakes`] is false for all.
    #[inline]
    pub fn may_wake(&self) -> bool {
        let may = |(idle, queues): (&Links, &Vec<QueueId>)| *idle != Links::default() && !queues.is_empty();
        !self.is_plain() || self.idle.iter().zip(&self.by_category).any(may)
    }

    /// It contends or holds the medium in any category from now on, or in none.
    #[inline]
    pub fn note_demand(&mut self, now: Instant, link: LinkId, is_busy: bool) {
        let place = usize::from(link.0);
        if place >= self.demands.len() {
            self.demands.resize(place + 1, Demand::default());
        }
        self.demands[place].set(now, is_busy);
    }
    /// The time for which it has done so until then.
    pub fn demand(&self, now: Instant, link: LinkId) -> Duration {
        self.demands.get(usize::from(link.0)).map_or(Duration::ZERO, |demand| demand.until(now))
    }

    /// A link sends a PPDU of a queue.
    pub fn note_use(&mut self, id: QueueId, sent: &Sent) {
        if let Some(uses) = &mut self.queue_mut(id).uses {
            uses.on_sent(sent);
        }
    }
    /// Whether a link leaves to others what they deliver before.
    #[inline]
    pub fn leaves(&self) -> bool {
        self.accesses.is_some()
    }
    /// The share of a link in the window of a queue.
    pub fn share_of(&self, now: Instant, id: QueueId, link: LinkId) -> Option<Share> {
        self.queue(id).uses.as_ref()?.share(link, self.queue(id).originator.window(), |link| self.demand(now, link))
    }

    /// Whether a link that was idle has something to send now, or has become blind, or can hear again.
    pub fn wakes(&self, link: LinkId) -> bool {
        let has_work =
            |category: AccessCategory| self.idle[category.index()].contains(link) && self.can_send(category, link);
        self.must_tell(link) || AccessCategory::ALL.into_iter().any(has_work)
    }

    /// Whether a link does not know yet that it has become blind, or can hear again.
    pub fn must_tell(&self, link: LinkId) -> bool {
        self.radio.as_ref().is_some_and(|radio| radio.must_tell(link))
            || self.coupling.as_ref().is_some_and(|coupling| coupling.must_tell(link))
            || self.awake.as_ref().is_some_and(|awake| awake.must_tell(link))
    }
    /// A link is told; returns whether it is blind, and the delay of its medium synchronisation.
    pub fn tell(&mut self, link: LinkId) -> (bool, Duration) {
        let (mut is_blind, mut medium_sync) = (false, Duration::ZERO);
        if let Some(radio) = &mut self.radio {
            radio.tell(link);
            (is_blind, medium_sync) = (radio.blinds(link), radio.delays.medium_sync);
        }
        if let Some(coupling) = &mut self.coupling {
            coupling.tell(link);
            (is_blind, medium_sync) = (is_blind || coupling.blinds(link), medium_sync.max(coupling.medium_sync));
        }
        if let Some(awake) = &mut self.awake {
            awake.tell(link);
            is_blind |= !awake.is_at(link);
        }
        (is_blind, medium_sync)
    }

    /// MSDUs of a category that wait or are not acknowledged yet.
    pub fn count(&self, category: AccessCategory) -> usize {
        self.counts[category.index()] as usize
    }
    /// The same of all categories.
    pub fn len(&self) -> usize {
        self.counts.iter().map(|count| *count as usize).sum()
    }

    #[inline]
    pub fn queue(&self, id: QueueId) -> &TrafficQueue<P> {
        &self.queues[usize::from(id.0)]
    }
    #[inline]
    pub fn queue_mut(&mut self, id: QueueId) -> &mut TrafficQueue<P> {
        &mut self.queues[usize::from(id.0)]
    }

    /// The queue towards a peer, if there is one.
    pub fn find(&self, to: Address, tid: u8) -> Option<QueueId> {
        let place = self.places.get(to.0 as usize)?[usize::from(tid) % TIDS];
        place.checked_sub(1).map(QueueId)
    }

    /// The queue towards a peer of a link; made at its first packet.
    #[inline]
    pub fn reach(&mut self, to: Address, tid: u8, link: LinkId) -> QueueId {
        let (rows, index) = match to {
            Address::BROADCAST => (&mut self.broadcasts, usize::from(link.0)),
            to => (&mut self.places, to.0 as usize),
        };
        if index >= rows.len() {
            rows.resize(index + 1, [0; TIDS]);
        }
        let place = &mut rows[index][usize::from(tid) % TIDS];
        if *place == 0 {
            *place = self.queues.len() as u16 + 1;
            if self.around.is_plain(to) {
                return self.reach_plain(to, link);
            }
            self.add_queue((to, true), tid, link);
            return QueueId(self.queues.len() as u16 - 1);
        }
        QueueId(*place - 1)
    }
    /// The queue towards a station without QoS: one of best effort, whatever the traffic identifier.
    #[cold]
    fn reach_plain(&mut self, to: Address, link: LinkId) -> QueueId {
        self.add_queue((to, false), 0, link);
        self.places[to.0 as usize] = [self.queues.len() as u16; TIDS];
        QueueId(self.queues.len() as u16 - 1)
    }
    /// The category in which a packet of this user priority for a peer waits.
    #[inline]
    pub fn category(&self, to: Address, priority: u8) -> AccessCategory {
        AccessCategory::of_priority(if self.around.is_plain(to) { 0 } else { priority })
    }

    fn add_queue(&mut self, (to, has_qos): (Address, bool), tid: u8, link: LinkId) {
        let window = self.window_with(to);
        let is_wanted = self.has_agreements && window > 0 && to != Address::BROADCAST;
        let is_agreed = is_wanted && !self.is_by_frames;
        let peer = self.peers.get(to);
        let links = peer.map_or(Links::of(link), |peer| peer.reached_by(tid));
        let request_link = peer.map_or(RequestLink::OfData, |peer| peer.traits.requests);
        let is_put = is_wanted && peer.is_some_and(|peer| peer.allocator.is_some());
        let has_one = self.radio.is_some() || self.awake.is_some();
        let has_several = is_wanted && !has_one && peer.is_some_and(Peer::receives_on_several);
        let leaves = peer.is_some_and(|peer| peer.traits.allocation == Allocation::Expected);
        self.by_category[AccessCategory::of_priority(tid).index()].push(QueueId(self.queues.len() as u16));
        self.queues.push(TrafficQueue {
            to,
            tid,
            has_qos,
            overhead: self.around.overhead(has_qos),
            waiting: VecDeque::new(),
            is_agreed,
            originator: Originator::new(if is_agreed { window } else { 1 }),
            links,
            doubts: Doubts::new(request_link),
            is_put,
            is_told: is_put || !has_qos,
            uses: has_several.then(Box::default),
            deliveries: (has_several && leaves).then(Box::default),
        });
    }

    /// Adds a packet, which came to a link.
    ///
    /// # Errors
    /// Hands it back if its category has no space.
    #[inline]
    pub fn push(&mut self, msdu: Msdu<P>, link: LinkId) -> Result<(AccessCategory, QueueId), Msdu<P>> {
        let id = self.reach(msdu.to, msdu.packet.priority() & 7, link);
        self.push_to(id, msdu)
    }

    #[inline]
    fn push_to(&mut self, id: QueueId, msdu: Msdu<P>) -> Result<(AccessCategory, QueueId), Msdu<P>> {
        let category = AccessCategory::of_priority(self.queue(id).tid);
        if self.counts[category.index()] >= self.limit {
            return Err(msdu);
        }
        self.counts[category.index()] += 1;
        self.arrivals += 1;
        let arrival = self.arrivals;
        self.queue_mut(id).waiting.push_back((msdu.packet, arrival));
        Ok((category, id))
    }

    /// Adds a packet of a category for which every link is at work, so that nothing follows from it now.
    ///
    /// # Errors
    /// Hands it back where something could follow.
    #[inline]
    pub fn push_at_work(&mut self, msdu: Msdu<P>, link: LinkId) -> Result<(), Msdu<P>> {
        let tid = msdu.packet.priority() & 7;
        let id = self.reach(msdu.to, tid, link);
        if self.queue(id).is_told || !self.is_at_work(AccessCategory::of_priority(tid)) {
            return Err(msdu);
        }
        self.push_to(id, msdu).map(|_| ())
    }

    /// Adds a packet before all others of its queue; returns the one that has lost its place by this.
    pub fn push_first(&mut self, msdu: Msdu<P>, link: LinkId) -> (AccessCategory, Option<Msdu<P>>) {
        let tid = msdu.packet.priority() & 7;
        let id = self.reach(msdu.to, tid, link);
        let category = AccessCategory::of_priority(self.queue(id).tid);
        let is_full = self.counts[category.index()] >= self.limit;
        let queue = self.queue_mut(id);
        let last = if is_full { queue.waiting.pop_back() } else { None };
        if is_full && last.is_none() {
            return (category, Some(msdu));
        }
        // It takes the rank of the packet that it goes before.
        queue.waiting.push_front((msdu.packet, 0));
        self.counts[category.index()] += u32::from(!is_full);
        (category, last.map(|(packet, _)| Msdu { to: msdu.to, packet }))
    }

    /// Whether a category has anything that may be sent on a link.
    pub fn can_send(&self, category: AccessCategory, link: LinkId) -> bool {
        let says = |awake: &OneAwake| awake.says(link, category).is_some();
        self.by_category[category.index()].iter().any(|id| self.queue(*id).can_send(link))
            || (self.setups.is_some() && self.has_setup_frame(category, link, false))
            || self.awake.as_deref().is_some_and(says)
    }

    /// Whether a category has anything for a link that was lost.
    pub fn has_lost(&self, category: AccessCategory, link: LinkId) -> bool {
        let is_lost = |queue: &TrafficQueue<P>| queue.links.contains(link) && queue.originator.has_waiting();
        self.by_category[category.index()].iter().any(|id| is_lost(self.queue(*id)))
            || (self.setups.is_some() && self.has_setup_frame(category, link, true))
    }

    /// Whether packets of a category wait for a window that is full.
    pub fn is_stalled(&self, category: AccessCategory, link: LinkId) -> bool {
        let is_full = |queue: &TrafficQueue<P>| queue.originator.is_full() && !queue.originator.has_waiting();
        let is_held =
            |queue: &TrafficQueue<P>| !queue.waiting.is_empty() && is_full(queue) && !queue.needs_request(link);
        self.by_category[category.index()].iter().any(|id| is_held(self.queue(*id)))
    }

    /// Whether a link contends or holds the medium in any category.
    pub fn is_busy(&self, link: LinkId) -> bool {
        !self.idle.iter().all(|idle| idle.contains(link))
    }

    /// Whether packets for a peer wait for its full window while a link that leads to it has nothing to send.
    pub fn stands_still(&self, link: LinkId, peer: Address) -> bool {
        let is_idle = |category: AccessCategory| self.idle[category.index()].contains(link);
        let is_held = |queue: &TrafficQueue<P>| {
            let is_led = queue.links.contains(link) && is_idle(AccessCategory::of_priority(queue.tid));
            is_led && !queue.waiting.is_empty() && queue.originator.is_full() && !queue.can_send(link)
        };
        let mut queues = (0..TIDS as u8).filter_map(|tid| self.find(peer, tid));
        queues.any(|id| is_held(self.queue(id)))
    }
    /// Whether any link has nothing to send in a category that has packets.
    pub fn may_stand_still(&self) -> bool {
        let has_idle = |index: usize| self.counts[index] > 0 && self.idle[index] != Links::default();
        AccessCategory::ALL.into_iter().any(|category| has_idle(category.index()))
    }

    /// The queue of a category that has waited longest and may send on a link at a time.
    pub fn next(&self, category: AccessCategory, link: LinkId, at: Instant) -> Option<QueueId> {
        let has_room = |id: QueueId| self.coupling.is_none() || !matches!(self.room(id, link, at), Room::Wait(_));
        let is_left = |id: QueueId| self.leaves() && self.leaves_all(at, id, link);
        let is_ready = |id: &QueueId| self.queue(*id).can_send(link) && has_room(*id) && !is_left(*id);
        let ready = self.by_category[category.index()].iter().copied().filter(is_ready);
        ready.min_by_key(|id| self.queue(*id).rank())
    }

    /// MSDUs have left the station.
    #[inline]
    pub fn leave(&mut self, tid: u8, count: u32) {
        self.counts[AccessCategory::of_priority(tid).index()] -= count;
    }
}
