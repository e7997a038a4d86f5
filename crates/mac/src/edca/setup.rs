//! The exchange of the frames by which agreements are set up ([`agreement`](super::agreement)): each in a TXOP of its
//! own, in the category of management frames, at their rate, and acknowledged.

use super::agreement::{CATEGORY, SetupFrame, Wanted};
use super::category::AccessCategory;
use super::coupling::Room;
use super::exchange::Exchange;
use super::frames::{AgreementFrame, Content, Ppdu, SEQUENCES, Vector};
use super::link::LinkId;
use super::plan::{Answer, Planned};
use super::traffic::{QueueId, Traffic};
use super::{Edca, Timer};
use crate::alarm::Alarm;
use crate::contention::Awaited;
use crate::frame::{Address, Frame, duration_field};
use crate::service::{Access, MacOutput};
use airbraid_engine::Packet;
use airbraid_units::Instant;
use std::collections::VecDeque;
use std::sync::Arc;

impl<P: Packet + Copy> Edca<P> {
    /// A packet has come to a queue: an agreement is to be made first.
    #[cold]
    pub(super) fn want_agreement(&mut self, now: Instant, id: QueueId) {
        self.traffic.want_agreement(now, id);
        self.settle_setups(now);
    }

    /// Whatever is due of agreements: those that are asked for in vain, and those that are to be asked for.
    pub(super) fn settle_setups(&mut self, now: Instant) {
        while let Some(wanted) = self.traffic.setups.as_mut().and_then(|setups| setups.overdue(now)) {
            self.fail_setup(now, &wanted);
        }
        while let Some(id) = self.traffic.ask_next(now) {
            let category = AccessCategory::of_priority(self.traffic.queue(id).tid);
            self.functions[category.index()].contends &= self.traffic.can_send(category, self.planner.link.id);
        }
        self.renew(now, CATEGORY);
    }

    /// The alarm of what will be due.
    pub(super) fn setup_alarm(&self) -> Alarm<Timer> {
        self.traffic.setup_alarm().map_or(Alarm::NEVER, |at| Alarm::of(at, Timer::Agreement))
    }

    /// There is no agreement for now: MPDUs go one by one.
    fn fail_setup(&mut self, now: Instant, wanted: &Wanted) {
        self.counts.setup.on_end(now, wanted, false);
        let Some(id) = self.traffic.find(wanted.to, wanted.tid) else { return };
        self.traffic.queue_mut(id).originator.set_window(wanted.window());
        self.open_window(now, id);
    }

    /// The window of a queue may have space.
    fn open_window(&mut self, now: Instant, id: QueueId) {
        self.traffic.put_to_links(now, id, |length| self.planner.config.mpdu_size(length));
        self.renew(now, AccessCategory::of_priority(self.traffic.queue(id).tid));
    }

    /// The time until which no frame has room beside other links, if there is one to be sent.
    pub(super) fn setup_waits_until(&self, at: Instant) -> Option<Instant> {
        let link = self.planner.link.id;
        let until = |frame: &SetupFrame| match self.traffic.setup_room(frame, link, at) {
            Room::Wait(until) | Room::EndAt(until) | Room::Join(until) => Some(until),
            Room::Free => None,
        };
        let waits: Option<Vec<Instant>> = self.traffic.setup_frames(link).map(until).collect();
        waits?.into_iter().min()
    }

    /// Sends a setup frame, if there is one that has room.
    pub(super) fn begin_setup(&mut self, category: AccessCategory, at: Instant, access: Access) -> bool {
        if category != CATEGORY {
            return false;
        }
        let Some(planned) = self.plan_setup(at) else { return false };
        self.stop_counters(at);
        let announcement = self.announcement(&planned, at);
        self.begin_exchange(Exchange { category, end: None, planned, announcement }, at, access);
        true
    }

    fn plan_setup(&mut self, at: Instant) -> Option<Planned<P>> {
        let (link, is_shared) = (self.planner.link.id, self.planner.link.is_shared);
        let has_room = |frame: &&SetupFrame| self.traffic.setup_room(frame, link, at) == Room::Free;
        let SetupFrame { to, tid, content, sequence, attempts, .. } =
            *self.traffic.setup_frames(link).find(has_room)?;
        let queue = self.traffic.reach(to, tid, link);
        let start = self.traffic.queue(queue).originator.next();
        let sequence = match sequence {
            Some(sequence) => sequence,
            None if is_shared => self.traffic.setups.as_mut()?.number(SEQUENCES),
            None => self.number(),
        };
        let frame = self.traffic.setups.as_mut()?.frame(to, tid, content)?;
        (frame.sequence, frame.is_taken) = (Some(sequence), true);
        let content = match content {
            AgreementFrame::Request { token, window, .. } => AgreementFrame::Request { token, start, window },
            response @ AgreementFrame::Response { .. } => response,
        };
        let config = &self.planner.config;
        let (rate, size) = (config.broadcast_rate, content.size());
        let vector = Vector::NonHt(rate);
        let nav = duration_field(config.phy.sifs + config.ack_time(&vector));
        let address = self.planner.link.address(to);
        let header = self.planner.frame(content.kind(), address, size, rate);
        let header = Frame { retry: attempts > 0, sequence, nav, ..header };
        let airtime = config.answer_time(rate, size);
        let ppdu = Arc::new(Ppdu { header, vector, tid, content: Content::Agreement(content) });
        Some(Planned { queue, grade: 0, ppdu, airtime, answer: Answer::Ack })
    }

    /// A setup frame goes on the air.
    pub(super) fn note_setup_sent(&mut self, id: QueueId, content: AgreementFrame) {
        let (to, tid) = self.traffic.queue(id).ends();
        if let Some(frame) = self.traffic.setups.as_mut().and_then(|setups| setups.frame(to, tid, content)) {
            frame.attempts += 1;
        }
        let counts = &mut self.counts.setup;
        *if content.is_request() { &mut counts.addba_requests } else { &mut counts.addba_responses } += 1;
    }

    /// A setup frame is acknowledged.
    pub(super) fn on_setup_acknowledged(&mut self, now: Instant, id: QueueId, content: AgreementFrame) {
        let (to, tid) = self.traffic.queue(id).ends();
        if let Some(setups) = &mut self.traffic.setups {
            setups.on_acknowledged(now, to, tid, content);
        }
        self.end_txop(now, true);
    }

    /// The answer to a setup frame, or to its announcement, did not come.
    pub(super) fn on_setup_lost(&mut self, now: Instant, id: QueueId, content: AgreementFrame) {
        let (to, tid) = self.traffic.queue(id).ends();
        let limit = self.planner.config.retry_limit;
        let Some(setups) = &mut self.traffic.setups else { return };
        // It may have had its answer on another way meanwhile.
        let Some(frame) = setups.frame(to, tid, content) else { return };
        frame.is_taken = false;
        if limit.is_some_and(|limit| frame.attempts >= limit)
            && let Some(wanted) = setups.give_up(now, to, tid, content.is_request())
        {
            self.fail_setup(now, &wanted);
        }
    }

    /// An MPDU without an agreement is acknowledged, or given up.
    #[cold]
    pub(super) fn note_single(&mut self, id: QueueId, is_given_up: bool) {
        let (to, tid) = self.traffic.queue(id).ends();
        let setups = self.traffic.setups.as_mut();
        if let Some(wanted) = setups.and_then(|setups| setups.on_single(to, tid, is_given_up)) {
            self.traffic.queue_mut(id).originator.set_window(wanted.window());
        }
    }

    /// A setup frame has come.
    pub(super) fn on_setup_frame(&mut self, now: Instant, ppdu: &Ppdu<P>, content: AgreementFrame) {
        self.acknowledge(now, &ppdu.header, &ppdu.vector);
        let (link, tid) = (self.planner.link.id, ppdu.tid);
        let from = self.planner.link.device(ppdu.header.from);
        match content {
            AgreementFrame::Request { token, start, window } => {
                let setups = self.traffic.setups.get_or_insert_default();
                if !setups.on_request(from, tid, token, ppdu.header.retry) {
                    return;
                }
                // From now on it is known on which link a peer of one link is.
                self.traffic.reach(from, tid, link);
                let accepted = self.traffic.accept(now, (from, tid), (start, window), &mut self.outputs);
                let (is_accepted, window) = (accepted.is_some(), accepted.unwrap_or(window));
                if let Some(setups) = &mut self.traffic.setups {
                    setups.answer(from, tid, AgreementFrame::Response { token, is_accepted, window });
                }
            }
            AgreementFrame::Response { token, is_accepted, window } => {
                let setups = self.traffic.setups.as_mut();
                let wanted = setups.and_then(|setups| setups.on_response(from, tid, token, is_accepted));
                let (Some(wanted), Some(id)) = (wanted, self.traffic.find(from, tid)) else { return };
                self.counts.setup.on_end(now, &wanted, is_accepted);
                self.traffic.agree(id, is_accepted.then_some(window));
                self.open_window(now, id);
            }
        }
    }

    /// Whether a category whose time has come has a setup frame only, for which other links leave no room; the alarm is
    /// set if so.
    pub(super) fn setup_waits_for_links(&mut self, at: Instant, category: AccessCategory) -> bool {
        let Some(until) = self.setup_waits_until(at).filter(|_| category == CATEGORY) else { return false };
        self.alarm = self.alarm.earlier(Alarm::of(until, Timer::Contention(Awaited::Access)));
        true
    }
}

impl<P: Packet + Copy> Traffic<P> {
    /// Data wait for an agreement that there is not.
    fn want_agreement(&mut self, now: Instant, id: QueueId) {
        let queue = self.queue(id);
        let lacks_one = self.is_by_frames && self.has_agreements && !queue.is_agreed && !queue.is_broadcast();
        let (to, tid) = queue.ends();
        let lacks_one = lacks_one && self.window_with(to) > 0;
        if let Some(setups) = self.setups.as_mut().filter(|_| lacks_one) {
            setups.want(now, to, tid);
        }
    }

    /// Whether there are data that an agreement is wanted for.
    fn has_data(&self, wanted: &Wanted) -> bool {
        self.find(wanted.to, wanted.tid).is_some_and(|id| !self.queue(id).waiting.is_empty())
    }

    /// Begins to ask for the next agreement that is due; returns its queue, in which nothing more is numbered.
    fn ask_next(&mut self, now: Instant) -> Option<QueueId> {
        let Wanted { to, tid, .. } = self.setups.as_deref()?.due(now, |wanted| self.has_data(wanted))?;
        let (id, window) = (self.find(to, tid)?, self.window_with(to));
        self.setups.as_mut()?.ask(now, to, tid, window);
        self.queue_mut(id).originator.set_window(0);
        Some(id)
    }

    /// The earliest time at which something is to be done about agreements.
    fn setup_alarm(&self) -> Option<Instant> {
        self.setups.as_deref()?.alarm(|wanted| self.has_data(wanted))
    }

    /// The setup frames that a link may send. A request waits until what was numbered before it has its fate, for it
    /// says where the agreement begins.
    fn setup_frames(&self, link: LinkId) -> impl Iterator<Item = &SetupFrame> {
        let is_next = |frame: &SetupFrame| {
            let begins = || self.find(frame.to, frame.tid).is_none_or(|id| self.queue(id).originator.len() == 0);
            !frame.content.is_request() || begins()
        };
        let free = self.setups.iter().flat_map(|setups| setups.free());
        free.filter(move |frame| self.is_heard(frame.to, frame.tid, link) && is_next(frame))
    }

    /// Whether a category of a link has a setup frame to send: any, or one that was lost.
    #[cold]
    pub(super) fn has_setup_frame(&self, category: AccessCategory, link: LinkId, is_lost: bool) -> bool {
        category == CATEGORY && self.setup_frames(link).any(|frame| frame.attempts > 0 || !is_lost)
    }

    /// The room on a link for a setup frame.
    fn setup_room(&self, frame: &SetupFrame, link: LinkId, at: Instant) -> Room {
        self.room_towards(frame.to, link, at)
    }

    /// A request has come: there is an agreement from `start` on, with the window that is returned; `None`: this
    /// station has none.
    fn accept(
        &mut self,
        now: Instant,
        (from, tid): (Address, u8),
        (start, window): (u16, u16),
        outputs: &mut VecDeque<MacOutput<P>>,
    ) -> Option<u16> {
        let own = self.window_with(from);
        if own == 0 || !self.has_agreements {
            return None;
        }
        // 0: the originator leaves the choice to the recipient (9.4.1.13).
        let window = if window == 0 { own } else { window.min(own) };
        self.renew_recipient((from, tid), (window, start), now, outputs);
        Some(window)
    }

    /// There is an agreement of this window, or there will be none.
    fn agree(&mut self, id: QueueId, window: Option<u16>) {
        let own = self.window_with(self.queue(id).to);
        let queue = self.queue_mut(id);
        queue.is_agreed = window.is_some();
        queue.originator.set_window(window.map_or(1, |window| window.min(own).max(1)));
    }
}
