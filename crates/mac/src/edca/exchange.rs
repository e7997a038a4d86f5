//! The frame exchanges of a station that has gained access: RTS and CTS, data and its answer, and what follows in the
//! same TXOP (802.11-2020, 10.23.2.8 and 10.23.2.12).
//!
//! ```text
//!             access        CTS                 ACK, block ACK
//!   Idle ------------> Await -----> Await ----------------------> Idle, or the next PPDU of the TXOP
//!                       |  timeout or another frame: the window doubles, MPDUs wait again, perhaps a request
//! ```

use super::category::AccessCategory;
use super::config::{Announcement, Bandwidth};
use super::coupling::Room;
use super::expectation::SentPpdu;
use super::frames::{BlockAck, Content, Ppdu};
use super::plan::{Answer, Planned};
use super::rates::Pick;
use super::share::Sent;
use super::traffic::QueueId;
use super::{Edca, Repair};
use crate::frame::{Address, Frame, FrameKind};
use crate::service::{Access, MacOutput, Msdu, Outcome};
use airbraid_engine::Packet;
use airbraid_units::{Bytes, Duration, Instant};
use std::sync::Arc;

/// State of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// None: the access functions contend.
    Idle,
    /// A frame that nobody answers is on the air until then.
    Unanswered(Instant),
    /// An answer must begin in time for this deadline.
    Await(Answer, Instant),
    /// The deadline has passed while a reception was under way: its end decides.
    Overdue(Answer),
}

/// The TXOP under way.
#[derive(Clone, Debug)]
pub(super) struct Txop<P> {
    pub category: AccessCategory,
    /// Its end; `None`: after one exchange.
    pub end: Option<Instant>,
    /// Whether its first exchange has not come to an end yet.
    is_first: bool,
    /// Whether its first frame has been answered, or its answer is overdue.
    is_known: bool,
    /// The PPDU that is on the air or comes after the CTS.
    planned: Option<Planned<P>>,
    /// The end of what was reserved for OFDM where stations of 802.11b are in the cell.
    pub covered: Instant,
    /// The initial control frame behind its protection, which is on the air.
    pub protected: Option<Announcement>,
}

/// The first exchange of a TXOP.
#[derive(Clone, Debug)]
pub(super) struct Exchange<P> {
    pub category: AccessCategory,
    /// End of the TXOP; `None`: after this exchange.
    pub end: Option<Instant>,
    pub planned: Planned<P>,
    /// The frame before it.
    pub announcement: Option<Announcement>,
}

impl<P> Txop<P> {
    fn new(category: AccessCategory, end: Option<Instant>, planned: Option<Planned<P>>) -> Self {
        Self { category, end, is_first: true, is_known: false, planned, covered: Instant::ZERO, protected: None }
    }
    /// The TXOP of a null frame.
    pub fn of_null(category: AccessCategory) -> Self {
        Self::new(category, None, None)
    }
}

impl<P: Packet + Copy> Edca<P> {
    /// A category gains the medium at `at`.
    pub(super) fn begin_txop(&mut self, category: AccessCategory, at: Instant) {
        let function = &mut self.functions[category.index()];
        let access = function.backoff.spend();
        function.contends = false;
        let span = (!function.txop.is_zero()).then_some(function.txop);
        if self.planner.link.is_shared && self.begin_null(category, at, access) {
            return;
        }
        if self.traffic.setups.is_some() && self.begin_setup(category, at, access) {
            return;
        }
        let Some(id) = self.traffic.next(category, self.planner.link.id, at) else { return self.leave(category, at) };
        self.stop_counters(at);
        if self.traffic.queue(id).is_broadcast() {
            self.txop = Some(Txop::new(category, span.map(|span| at + span), None));
            self.take_radio();
            return self.send_broadcast(id, at, access);
        }
        let Some(pick) = self.pick(at, id, true) else {
            // The whole channel or nothing (10.23.2.5).
            let function = &mut self.functions[category.index()];
            function.contends = true;
            return function.backoff.draw(at);
        };
        let room = self.room(id, at);
        let Some(planned) = self.plan_first(id, (room, at), span, pick) else {
            if let Room::EndAt(end) | Room::Join(end) = room {
                // Too little time is left beside the other link.
                let function = &mut self.functions[category.index()];
                function.contends = true;
                function.backoff.keep_zero(at);
                self.listening.crowded_until = end;
            }
            return;
        };
        let (planned, announcement) = match room {
            Room::EndAt(_) => (planned, None),
            Room::Join(_) => {
                let request = self.planner.config.request_to_send(&planned.ppdu.vector);
                (planned, Some(request))
            }
            Room::Free | Room::Wait(_) => {
                let announcement = self.announcement(&planned, at);
                (self.shortened(planned, (announcement, span), pick), announcement)
            }
        };
        let end = span.map(|span| at + span);
        self.begin_exchange(Exchange { category, end, planned, announcement }, at, access);
    }

    /// A category that has gained the medium leaves to other links what it has, and contends again.
    fn leave(&mut self, category: AccessCategory, at: Instant) {
        let link = self.planner.link.id;
        if self.traffic.leaves() && self.traffic.can_send(category, link) {
            self.traffic.note_left(at, link, category);
            let function = &mut self.functions[category.index()];
            function.contends = true;
            function.backoff.draw(at);
        }
    }

    /// The first exchange of a TXOP begins.
    pub(super) fn begin_exchange(&mut self, exchange: Exchange<P>, at: Instant, access: Access) {
        let Exchange { category, end, planned, announcement } = exchange;
        self.txop = Some(Txop::new(category, end, Some(planned.clone())));
        self.take_radio();
        self.listening.medium_sync.begin_txop();
        if self.traffic.coupling.is_some() {
            let announced = announcement.map_or(Duration::ZERO, |frame| self.planner.config.time_of(&frame));
            self.on_own_exchange(at, &planned, announced);
        }
        match announcement {
            None => self.send_planned(&planned, at, access),
            Some(announcement) => self.announce(&planned, announcement, at, access),
        }
    }

    /// The first PPDU of a TXOP at `at`, in the room that other links leave.
    fn plan_first(
        &mut self,
        id: QueueId,
        (room, at): (Room, Instant),
        span: Option<Duration>,
        pick: Pick,
    ) -> Option<Planned<P>> {
        let (planner, queue) = (&self.planner, self.traffic.queue_mut(id));
        match room {
            Room::EndAt(end) => planner.plan_beside(id, queue, end.saturating_since(at), pick),
            Room::Join(end) => {
                let announced = planner.config.announced_time(&planner.config.data);
                planner.plan_beside(id, queue, end.saturating_since(at + announced), pick)
            }
            Room::Free | Room::Wait(_) => planner.plan(id, queue, span, true, pick),
        }
    }

    /// The first frame of a TXOP was answered, or was not.
    #[inline]
    fn note_first_answer(&mut self, has_come: bool) {
        if self.traffic.leaves()
            && let Some(txop) = self.txop.as_mut().filter(|txop| !txop.is_known)
        {
            txop.is_known = true;
            self.traffic.note_first_answer(self.planner.link.id, has_come);
        }
    }

    /// The format of the next PPDU of a queue, in the part of the channel that is idle; `None` if all must be and is
    /// not. A TXOP keeps the part with which it began.
    fn pick(&mut self, at: Instant, id: QueueId, is_first: bool) -> Option<Pick> {
        let (link, formats) = (&self.planner.link, &self.planner.formats);
        let to = link.address(self.traffic.queue(id).to);
        if is_first {
            let widest = self.secondary.widest(at, self.planner.config.secondary_idle());
            self.halvings = self.secondary.halvings(widest);
            let least = formats.halvings(to);
            if self.halvings > least && self.planner.config.bandwidth == Bandwidth::Static {
                return None;
            }
            if let Some(part) = self.secondary.enter(self.halvings.max(least)) {
                self.outputs.push_back(MacOutput::Announce(part));
            }
        }
        let pick = self.rates[formats.family(to)].pick(at, to);
        let (share, first_here) = match link.is_shared {
            true if self.planner.config.follows_ns3() => (None, self.traffic.first_here(at, id, link.id)),
            true => (self.traffic.share_of(at, id, link.id), self.traffic.first_here(at, id, link.id)),
            false => (None, None),
        };
        Some(Pick { grade: formats.place(to, pick.grade, self.halvings), share, first_here, ..pick })
    }

    fn send_broadcast(&mut self, id: QueueId, at: Instant, access: Access) {
        let queue = self.traffic.queue_mut(id);
        let tid = queue.tid;
        let Some((packet, _)) = queue.waiting.pop_front() else { return };
        self.traffic.leave(tid, 1);
        let config = &self.planner.config;
        let (rate, size) = (config.broadcast_rate, config.broadcast_size(packet.len()));
        let airtime = config.answer_time(rate, size);
        let frame = self.planner.frame(FrameKind::Data, Address::BROADCAST, size, rate);
        let sequence = self.number();
        self.stats.data_frames += 1;
        self.broadcast = Some(packet);
        let end = self.transmit(Frame { payload: Some(packet), sequence, ..frame }, at, airtime, access);
        self.state = State::Unanswered(end);
    }

    /// Sends a PPDU that is planned.
    fn send_planned(&mut self, planned: &Planned<P>, at: Instant, access: Access) {
        match &planned.ppdu.content {
            Content::Data(data) => {
                let queue = self.traffic.queue_mut(planned.queue);
                let mut retries = 0;
                for mpdu in data.mpdus() {
                    queue.originator.on_sent(mpdu.sequence);
                    retries += u64::from(mpdu.attempts > 1);
                }
                let mpdus = data.mpdus().len() as u64;
                self.stats.data_frames += 1;
                self.stats.retries += retries;
                self.counts.mpdus += mpdus;
                self.counts.ampdus += u64::from(mpdus > 1);
                if self.planner.link.is_shared {
                    self.note_use(planned, mpdus, at);
                }
            }
            Content::BlockAckRequest { .. } => self.counts.block_ack_requests += 1,
            Content::BlockAck(_) => {}
            Content::Agreement(frame) => self.note_setup_sent(planned.queue, *frame),
        }
        let end = if self.traffic.queue(planned.queue).has_qos {
            self.transmit_ppdu(&planned.ppdu, at, planned.airtime, access)
        } else {
            self.transmit_plain(planned, at, access)
        };
        if self.traffic.coupling.is_some() {
            self.on_own_exchange(at, planned, Duration::ZERO);
        }
        self.state = State::Await(planned.answer, end + self.planner.config.response_timeout());
    }

    /// Sends a single MPDU to a station without QoS.
    #[cold]
    fn transmit_plain(&mut self, planned: &Planned<P>, at: Instant, access: Access) -> Instant {
        let payload = planned.ppdu.msdus().first().copied();
        let frame = Frame { payload, ..planned.ppdu.header.without_payload() };
        self.transmit(frame, at, planned.airtime, access)
    }

    /// A link of a device sends a PPDU with `mpdus` MPDUs at `at`.
    fn note_use(&mut self, planned: &Planned<P>, mpdus: u64, at: Instant) {
        let (link, ppdu) = (self.planner.link.id, &planned.ppdu);
        let time = planned.airtime + self.access_gap() + self.planner.block_ack_time(planned.grade);
        let (rate, mpdu) = (ppdu.vector.rate().bit_rate, Bytes::new(ppdu.header.size.as_u64() / mpdus.max(1)));
        let demand = self.traffic.demand(at + planned.airtime, link);
        self.traffic.note_use(planned.queue, &Sent { link, rate, mpdu, time, demand });
        if self.traffic.leaves() {
            let until = at + time.saturating_sub(self.access_gap());
            let cost = time.saturating_sub(rate.time_for(ppdu.header.size));
            self.traffic.note_delivery(at, planned.queue, &SentPpdu { link, rate, until, cost });
        }
    }

    /// The frame that nobody answers has left.
    pub(super) fn on_unanswered_end(&mut self, now: Instant) {
        if let Some(planned) = self.txop.as_ref().and_then(|txop| txop.planned.clone()) {
            // It was a CTS to the station itself.
            if let Some(announcement) = self.txop.as_mut().and_then(|txop| txop.protected.take()) {
                return self.announce_protected(&planned, announcement, now + self.planner.config.phy.sifs);
            }
            return self.send_planned(&planned, now + self.planner.config.phy.sifs, Access::Response);
        }
        if let Some(packet) = self.broadcast.take() {
            let msdu = Msdu { to: Address::BROADCAST, packet };
            self.outputs.push_back(MacOutput::Status { msdu, outcome: Outcome::Broadcast, attempts: 1 });
        }
        self.end_txop(now, true);
    }

    /// The frame from the peer of the exchange, if it is the awaited answer, or another frame in place of it.
    pub(super) fn conclude(&mut self, now: Instant, answer: Option<(Address, Answer, Option<&BlockAck>)>) {
        let (State::Await(awaited, _) | State::Overdue(awaited)) = self.state else { return };
        let peer = self.txop.as_ref().and_then(|txop| txop.planned.as_ref()).map(|planned| planned.ppdu.header.to);
        let peer = peer.or_else(|| self.told_peer());
        match answer.filter(|(from, kind, _)| Some(*from) == peer && *kind == awaited) {
            None => self.fail(now, awaited),
            Some((_, Answer::Cts, _)) => self.on_cts(now),
            Some((_, Answer::Ack, _)) => self.on_ack(now),
            Some((_, Answer::BlockAck, block_ack)) => self.on_block_ack(now, block_ack),
        }
    }

    fn on_cts(&mut self, now: Instant) {
        self.note_first_answer(true);
        let Some(planned) = self.txop.as_ref().and_then(|txop| txop.planned.clone()) else { return };
        self.traffic.queue_mut(planned.queue).doubts.on_heard(self.planner.link.id);
        self.send_planned(&planned, now + self.planner.config.phy.sifs, Access::Response);
    }

    /// The single MPDU of the PPDU is acknowledged.
    fn on_ack(&mut self, now: Instant) {
        self.note_first_answer(true);
        let Some(planned) = self.take_planned() else { return self.on_told(now) };
        if let Some(frame) = planned.ppdu.agreement() {
            return self.on_setup_acknowledged(now, planned.queue, frame);
        }
        self.on_result(&planned, 1, 1);
        self.traffic.queue_mut(planned.queue).doubts.on_heard(self.planner.link.id);
        self.note_answer_to(&planned, |_| true);
        self.settle_acknowledged(now, planned.queue, &planned.ppdu, |_| true);
        self.go_on(now);
    }

    /// A PPDU was answered, or was not.
    #[inline]
    fn note_answer_to(&mut self, planned: &Planned<P>, is_acknowledged: impl Fn(u16) -> bool) {
        if self.traffic.leaves()
            && let Some(data) = planned.ppdu.data()
        {
            self.traffic.on_answer(planned.queue, self.planner.link.id, data, is_acknowledged);
        }
    }

    /// A block acknowledgement has come, in answer to data or to a request.
    fn on_block_ack(&mut self, now: Instant, block_ack: Option<&BlockAck>) {
        let (Some(planned), Some(answer)) = (self.take_planned(), block_ack) else { return };
        self.counts.block_acks += 1;
        self.note_first_answer(true);
        if let Some(data) = planned.ppdu.data() {
            let came = data.mpdus().iter().filter(|mpdu| answer.acknowledges(mpdu.sequence)).count();
            self.on_result(&planned, data.mpdus().len() as u32, came as u32);
        }
        self.note_answer_to(&planned, |sequence| answer.acknowledges(sequence));
        let queue = self.traffic.queue_mut(planned.queue);
        let request = match planned.ppdu.content {
            Content::BlockAckRequest { start } => Some(start),
            _ => None,
        };
        let doubtful = queue.on_answer(self.planner.link.id, request);
        for ppdu in std::iter::once(&planned.ppdu).chain(&doubtful) {
            self.settle_acknowledged(now, planned.queue, ppdu, |sequence| answer.acknowledges(sequence));
        }
        self.settle_otherwise(now, planned.queue, answer);
        self.go_on(now);
    }

    /// The MPDUs of a PPDU are acknowledged or lost, by what the answer says.
    fn settle_acknowledged(
        &mut self,
        now: Instant,
        id: QueueId,
        ppdu: &Arc<Ppdu<P>>,
        is_acknowledged: impl Fn(u16) -> bool,
    ) {
        let Some(data) = ppdu.data() else { return };
        let limit = self.mpdu_limit(id);
        let queue = self.traffic.queue_mut(id);
        let (mut left, mut gap) = (0, None);
        for (place, mpdu) in (0..).zip(data.mpdus()) {
            if !is_acknowledged(mpdu.sequence) {
                if let Some(slot) = queue.originator.lose(mpdu.sequence, limit) {
                    left += slot.count();
                    for packet in slot.packets() {
                        let msdu = Msdu { to: queue.to, packet };
                        let (outcome, attempts) = (Outcome::RetryLimit, u32::from(mpdu.attempts));
                        self.outputs.push_back(MacOutput::Status { msdu, outcome, attempts });
                    }
                    self.stats.retry_limit_drops += 1;
                    gap = Some(mpdu.sequence);
                }
            } else if queue.originator.acknowledge(mpdu.sequence) {
                left += data.msdus_of(mpdu).len() as u32;
                acknowledge_run(&mut self.outputs, ppdu, place);
            }
        }
        // The receiver must not wait for what will never come.
        if let Some(gap) = gap.filter(|_| queue.is_agreed) {
            queue.give_up(gap);
        }
        self.traffic.advance(now, id);
        let queue = self.traffic.queue(id);
        let tid = queue.tid;
        if !queue.is_agreed && left > 0 {
            self.note_single(id, gap.is_some());
        }
        self.traffic.leave(tid, left);
        self.traffic.put_to_links(now, id, |length| self.planner.config.mpdu_size(length));
    }

    /// MPDUs of earlier PPDUs of which an answer tells.
    fn settle_otherwise(&mut self, now: Instant, id: QueueId, answer: &BlockAck) {
        let queue = self.traffic.queue_mut(id);
        if queue.originator.len() == 0 {
            return;
        }
        let mut left = 0;
        for sequence in queue.originator.acknowledged_otherwise(answer) {
            queue.originator.acknowledge(sequence);
            let Some(slot) = queue.originator.get(sequence) else { continue };
            left += slot.count();
            for packet in slot.packets() {
                let (msdu, attempts) = (Msdu { to: queue.to, packet }, u32::from(slot.attempts));
                self.outputs.push_back(MacOutput::Status { msdu, outcome: Outcome::Acknowledged, attempts });
            }
        }
        let tid = queue.tid;
        self.traffic.advance(now, id);
        self.traffic.leave(tid, left);
        self.traffic.put_to_links(now, id, |length| self.planner.config.mpdu_size(length));
    }

    /// The awaited answer did not come.
    pub(super) fn fail(&mut self, now: Instant, awaited: Answer) {
        self.note_first_answer(false);
        if let Some(planned) = self.take_planned() {
            self.on_unanswered(now, awaited, planned);
        }
        self.end_txop(now, false);
    }

    /// Nobody has answered what was sent, or announced.
    fn on_unanswered(&mut self, now: Instant, awaited: Answer, planned: Planned<P>) {
        let link = self.planner.link.id;
        match &planned.ppdu.content {
            Content::Agreement(frame) => self.on_setup_lost(now, planned.queue, *frame),
            Content::BlockAckRequest { .. } if self.planner.config.follows_ns3() => {}
            Content::BlockAckRequest { .. } => {
                let limit = self.planner.config.retry_limit;
                for ppdu in self.traffic.queue_mut(planned.queue).on_unanswered_request(link, limit) {
                    self.settle_acknowledged(now, planned.queue, &ppdu, |_| false);
                }
                self.end_requests(now, planned.queue);
            }
            Content::BlockAck(_) => {}
            Content::Data(data) if awaited == Answer::Cts => {
                let originator = &mut self.traffic.queue_mut(planned.queue).originator;
                data.mpdus().iter().for_each(|mpdu| originator.release(mpdu.sequence));
            }
            Content::Data(data) => {
                self.on_result(&planned, data.mpdus().len() as u32, 0);
                self.note_answer_to(&planned, |_| false);
                let (config, queue) = (&self.planner.config, self.traffic.queue_mut(planned.queue));
                if awaited == Answer::BlockAck && queue.doubts.is_asked(link) {
                    if config.aggregation.repair == Repair::Request && queue.asks(link) {
                        return queue.doubts.add(link, planned.ppdu);
                    }
                    if !config.follows_ns3() {
                        queue.doubts.on_silence(link);
                    }
                }
                self.settle_acknowledged(now, planned.queue, &planned.ppdu, |_| false);
            }
        }
    }

    /// Whether a reception is under way that may be the answer. One that has begun while this station was sending is
    /// none (10.3.2.11). Where links leave to others what those deliver before, they know of a failure at once; else it
    /// is looked at when the medium is idle, for a plain station could do nothing before.
    pub(super) fn may_be_answered(&self, now: Instant) -> bool {
        let is_other = || self.sense.busy_since().is_some_and(|since| since < self.transmitting_until);
        self.sense.has_reception_begun(now) && !(self.traffic.leaves() && is_other())
    }

    /// Transmissions of an MPDU of a queue before it is given up.
    fn mpdu_limit(&self, id: QueueId) -> Option<u32> {
        let config = &self.planner.config;
        if self.traffic.queue(id).is_agreed { config.aggregation.retry_limit } else { config.retry_limit }
    }

    /// `acknowledged` of the `sent` MPDUs of a PPDU were acknowledged.
    fn on_result(&mut self, planned: &Planned<P>, sent: u32, acknowledged: u32) {
        let to = planned.ppdu.header.to;
        let formats = &self.planner.formats;
        self.rates[formats.family(to)].on_result(to, formats.in_whole(to, planned.grade), sent, acknowledged);
    }

    fn take_planned(&mut self) -> Option<Planned<P>> {
        self.txop.as_mut().and_then(|txop| txop.planned.take())
    }

    /// An exchange has gone well: another follows if the TXOP has the time.
    fn go_on(&mut self, now: Instant) {
        let sifs = self.planner.config.phy.sifs;
        if let Some(Txop { category, end: Some(end), .. }) = self.txop {
            let left = end.saturating_since(now + sifs);
            let next = self
                .traffic
                .next(category, self.planner.link.id, now + sifs)
                .filter(|id| self.follows(*id, now + sifs));
            let planned = next.and_then(|id| self.plan_next(now, id, left));
            if let Some((planned, announcement)) = planned {
                if self.planner.link.is_shared {
                    self.dismiss_others(now, self.traffic.queue(planned.queue).to);
                }
                match announcement {
                    None => self.send_planned(&planned, now + sifs, Access::Response),
                    Some(announcement) => self.announce(&planned, announcement, now + sifs, Access::Response),
                }
                if let Some(txop) = &mut self.txop {
                    (txop.is_first, txop.planned) = (false, Some(planned));
                }
                return;
            }
        }
        self.end_txop(now, true);
    }

    /// The next PPDU of a queue in the TXOP under way, of which `left` remains, and the frame that must go before it.
    fn plan_next(&mut self, now: Instant, id: QueueId, left: Duration) -> Option<(Planned<P>, Option<Announcement>)> {
        let pick = self.pick(now, id, false)?;
        let (planner, queue) = (&self.planner, self.traffic.queue_mut(id));
        let protection = planner.config.protection_before(&planner.formats.grade(pick.grade).vector);
        let Some(announcement) = protection else {
            return planner.plan(id, queue, Some(left), false, pick).map(|planned| (planned, None));
        };
        let covered = self.txop.as_ref().map_or(Instant::ZERO, |txop| txop.covered);
        // It begins a SIFS after `now`, and may end a SIFS late, for the time that answers have travelled: whoever
        // waits for the end of the reservation waits a DIFS more.
        let reserved = left.min(covered.saturating_since(now));
        if let Some(planned) = planner.plan(id, queue, Some(reserved), false, pick) {
            return Some((planned, None));
        }
        let left = left.saturating_sub(planner.config.time_of(&announcement));
        planner.plan(id, queue, Some(left), false, pick).map(|planned| (planned, Some(announcement)))
    }

    /// Whether the next PPDU of a queue may follow in the TXOP under way.
    fn follows(&self, id: QueueId, at: Instant) -> bool {
        let queue = self.traffic.queue(id);
        let link = &self.planner.link;
        let is_free = || self.traffic.can_follow(queue.to, link.id) && self.has_room(id, at);
        !queue.is_broadcast() && (!link.is_shared || is_free())
    }

    /// The TXOP is over: a backoff follows in any case (10.23.2.2).
    pub(super) fn end_txop(&mut self, now: Instant, is_success: bool) {
        self.state = State::Idle;
        let Some(txop) = self.txop.take() else { return };
        let function = &mut self.functions[txop.category.index()];
        if is_success {
            function.succeed();
        } else {
            function.fail();
            // 10.23.2.4 c): AIFS begins where the timeout ends.
            self.sense.wait_until(now);
        }
        function.backoff.draw(now);
        if self.planner.link.is_shared {
            self.end_shared_txop(now, is_success);
        }
        let function = &mut self.functions[txop.category.index()];
        function.contends = self.traffic.can_send(txop.category, self.planner.link.id);
        let is_stalled = self.traffic.is_stalled(txop.category, self.planner.link.id);
        self.counts.window_stalls += u64::from(is_stalled);
    }

    /// Time that the exchange under way may still take.
    pub(super) const fn is_in_exchange(&self) -> bool {
        !matches!(self.state, State::Idle)
    }

    /// Commits to a PPDU; returns its end.
    pub(super) fn transmit_ppdu(
        &mut self,
        ppdu: &Arc<Ppdu<P>>,
        at: Instant,
        airtime: Duration,
        access: Access,
    ) -> Instant {
        let end = at + airtime;
        self.on_own_transmission(end, airtime, ppdu.header.nav);
        self.outputs.push_back(MacOutput::TransmitPpdu { ppdu: ppdu.clone(), at, airtime, access });
        end
    }

    /// Commits to a frame; returns its end.
    pub(super) fn transmit(&mut self, frame: Frame<P>, at: Instant, airtime: Duration, access: Access) -> Instant {
        let end = at + airtime;
        self.on_own_transmission(end, airtime, frame.nav);
        self.outputs.push_back(MacOutput::Transmit { frame, at, airtime, access });
        end
    }

    fn on_own_transmission(&mut self, end: Instant, airtime: Duration, nav: Duration) {
        self.stats.airtime += airtime;
        if let Some(txop) = &self.txop {
            *self.counts.airtime_mut(txop.category) += airtime;
        }
        if self.planner.link.is_shared {
            self.traffic.on_own_transmission(end - airtime, self.planner.link.id, airtime);
            self.on_sending(end - airtime, end, nav);
            if self.txop.is_none() {
                self.on_answer_sent(end);
            }
        }
        self.transmitting_until = end;
        self.sense.on_own_transmission(end);
    }
}

/// An MPDU is acknowledged, in one output with those before it.
fn acknowledge_run<P: Copy>(outputs: &mut std::collections::VecDeque<MacOutput<P>>, ppdu: &Arc<Ppdu<P>>, place: u32) {
    if let Some(MacOutput::AcknowledgedRun { ppdu: last, mpdus }) = outputs.back_mut()
        && mpdus.end == place
        && Arc::ptr_eq(last, ppdu)
    {
        mpdus.end += 1;
        return;
    }
    outputs.push_back(MacOutput::AcknowledgedRun { ppdu: ppdu.clone(), mpdus: place..place + 1 });
}
