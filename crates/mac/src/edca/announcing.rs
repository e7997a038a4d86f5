//! The frame with which an exchange begins, where it is not the PPDU itself: an RTS, the initial control frame of
//! EMLSR, or a CTS to the station itself that protects OFDM (802.11-2020, 10.3.2.9 and 10.27; 802.11be-2024, 35.3.17).

use super::Edca;
use super::config::Announcement;
use super::exchange::State;
use super::frames::Content;
use super::plan::{Answer, Planned, put_back};
use super::rates::Pick;
use crate::frame::{Frame, FrameKind, duration_field};
use crate::service::Access;
use airbraid_engine::Packet;
use airbraid_units::{Duration, Instant};

impl<P: Packet + Copy> Edca<P> {
    /// The frame with which a TXOP begins, where it is not the first PPDU itself.
    pub(super) fn announcement(&mut self, planned: &Planned<P>, at: Instant) -> Option<Announcement> {
        let config = &self.planner.config;
        if self.planner.link.is_shared {
            let (link, device) = (self.planner.link.id, self.traffic.queue(planned.queue).to);
            if let Some(delays) = self.traffic.emlsr(device) {
                self.traffic.set_open(device, |peer| peer.open_only(link));
                return Some(config.initial_control_frame(&planned.ppdu.vector, delays.padding));
            }
            if self.has_unsure_link(at) || self.risks_more(planned) {
                return Some(config.request_to_send(&planned.ppdu.vector));
            }
        }
        let is_control = matches!(planned.ppdu.content, Content::BlockAckRequest { .. });
        let is_doubtful = || self.traffic.queue(planned.queue).is_doubtful(self.planner.link.id);
        let is_long = !is_control && (planned.ppdu.header.size > config.rts_threshold || is_doubtful());
        let vector = &planned.ppdu.vector;
        if is_long { Some(config.request_to_send(vector)) } else { config.protection_before(vector) }
    }

    /// Whether a PPDU is expected to lose more without an RTS before it than that takes.
    fn risks_more(&self, planned: &Planned<P>) -> bool {
        let cost = self.planner.config.announced_time(&planned.ppdu.vector);
        self.traffic.leaves() && self.traffic.risk(self.planner.link.id, planned.airtime) > cost
    }

    /// A PPDU that begins a TXOP, shorter where its announcement leaves too little of that (10.23.2.9).
    #[inline]
    pub(super) fn shortened(
        &mut self,
        planned: Planned<P>,
        (announcement, span): (Option<Announcement>, Option<Duration>),
        pick: Pick,
    ) -> Planned<P> {
        match announcement.zip(span) {
            None => planned,
            Some((announcement, span)) => self.shortened_by(&announcement, span, planned, pick),
        }
    }

    #[cold]
    fn shortened_by(&mut self, first: &Announcement, span: Duration, planned: Planned<P>, pick: Pick) -> Planned<P> {
        let queue = self.traffic.queue_mut(planned.queue);
        let left = span.saturating_sub(self.planner.config.time_of(first));
        let Some(data) = planned.ppdu.data().filter(|_| self.planner.lasts(queue, &planned) > left) else {
            return planned;
        };
        put_back(queue, data);
        self.planner.plan(planned.queue, queue, Some(left), true, pick).unwrap_or(planned)
    }

    /// Announces a PPDU; an announcement that must be protected follows a SIFS behind its protection.
    pub(super) fn announce(&mut self, planned: &Planned<P>, announcement: Announcement, at: Instant, access: Access) {
        let until_data = self.planner.config.time_of(&announcement);
        match self.planner.config.protection_of(&announcement) {
            Some(first) => {
                self.send_announcement(planned, (first, until_data), at, access);
                if let Some(txop) = &mut self.txop {
                    txop.protected = Some(announcement);
                }
            }
            None => self.send_announcement(planned, (announcement, until_data), at, access),
        }
    }

    /// The announcement behind its protection.
    pub(super) fn announce_protected(&mut self, planned: &Planned<P>, announcement: Announcement, at: Instant) {
        let config = &self.planner.config;
        let first = config.protection_of(&announcement).map_or(Duration::ZERO, |first| config.time_of(&first));
        let until_data = config.time_of(&announcement).saturating_sub(first);
        self.send_announcement(planned, (announcement, until_data), at, Access::Response);
    }

    /// Sends a frame that announces a PPDU, which begins this long after it.
    fn send_announcement(
        &mut self,
        planned: &Planned<P>,
        (announcement, until_data): (Announcement, Duration),
        at: Instant,
        access: Access,
    ) {
        let Announcement { kind, rate, size } = announcement;
        let airtime = self.planner.config.answer_time(rate, size);
        let reserved = self.reserved_behind(planned, at + until_data);
        let nav = duration_field(until_data.saturating_sub(airtime) + planned.airtime + reserved);
        if kind == FrameKind::Cts {
            let frame = self.planner.frame_to_self(kind, size, rate);
            let end = self.transmit(Frame { nav, ..frame }, at, airtime, access);
            self.state = State::Unanswered(end);
            return;
        }
        let frame = self.planner.frame(kind, planned.ppdu.header.to, size, rate);
        self.stats.rts_frames += 1;
        let end = self.transmit(Frame { nav, ..frame }, at, airtime, access);
        self.state = State::Await(Answer::Cts, end + self.planner.config.response_timeout());
    }

    /// Time for which the medium is reserved behind a PPDU that begins at `start` and is announced. Stations of 802.11b
    /// read no later Duration field: for them it is all of the TXOP.
    fn reserved_behind(&mut self, planned: &Planned<P>, start: Instant) -> Duration {
        let nav = planned.ppdu.header.nav;
        let end = start + planned.airtime;
        let is_protected = self.planner.config.protection_before(&planned.ppdu.vector).is_some();
        let Some(txop) = self.txop.as_mut().filter(|_| is_protected) else { return nav };
        let left = txop.end.map_or(Duration::ZERO, |until| until.saturating_since(end));
        let rest = nav.max(self.planner.rest(self.traffic.queue(planned.queue), planned, left));
        txop.covered = end + rest;
        rest
    }
}
