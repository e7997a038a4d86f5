//! A link of which another one of the device, or of the peer's, cannot hear while it sends: when it may begin, and with
//! what ([`coupling`](super::coupling)).

use super::category::AccessCategory;
use super::coupling::{Coupling, OnLink, Room};
use super::link::LinkId;
use super::listening::Change;
use super::plan::Planned;
use super::traffic::QueueId;
use super::{Edca, Timer};
use crate::alarm::Alarm;
use crate::contention::Awaited;
use crate::dcf::ACK_SIZE;
use crate::frame::{Address, FrameKind};
use airbraid_engine::Packet;
use airbraid_units::{Duration, Instant};

impl<P: Packet + Copy> Edca<P> {
    /// Does something to the pairs of the device, if it has any.
    #[inline]
    pub(super) fn couple(&mut self, change: impl FnOnce(&mut Coupling, LinkId)) {
        let link = self.planner.link.id;
        if let Some(coupling) = &mut self.traffic.coupling {
            change(coupling, link);
        }
    }

    /// Whether a category whose time has come has to wait for other links; the alarm is set if so.
    pub(super) fn waits_for_links(&mut self, at: Instant, category: AccessCategory) -> bool {
        if self.setup_waits_for_links(at, category) {
            return true;
        }
        let link = self.planner.link.id;
        let until = match self.traffic.next(category, link, at) {
            None => self.traffic.room_from(category, link, at),
            // A link that is not sure begins by RTS, and no CTS comes beside data.
            Some(id) => match self.traffic.room(id, link, at) {
                Room::EndAt(end) => {
                    Some(end).filter(|_| self.listening.medium_sync.is_unsure(at) || at < self.listening.crowded_until)
                }
                Room::Join(end) => Some(end).filter(|_| at < self.listening.crowded_until),
                Room::Free | Room::Wait(_) => None,
            },
        };
        let Some(until) = until else { return false };
        self.alarm = self.alarm.earlier(Alarm::of(until, Timer::Contention(Awaited::Access)));
        true
    }

    /// Whether the link begins later, together with another one; the alarm is set if so. It waits at most as long as
    /// the smallest window of the category lasts, within which the other one begins in most cases.
    pub(super) fn waits_for_partner(&mut self, now: Instant, category: AccessCategory) -> bool {
        let (link, config) = (self.planner.link.id, &self.planner.config);
        let span = config.phy.slot * u64::from(config.functions[category.index()].cw_min);
        let partner = self.traffic.coupling.as_ref().and_then(|coupling| coupling.partner(link, now, span));
        let Some(at) = partner else { return false };
        self.alarm = self.alarm.earlier(Alarm::of(at, Timer::Contention(Awaited::Access)));
        self.couple(|coupling, link| coupling.set_access(link, Some(now)));
        true
    }

    /// Tells other links when this one would begin.
    pub(super) fn publish_access(&mut self) {
        let at = self.alarm.when(|timer| matches!(timer, Timer::Contention(_)));
        self.couple(|coupling, link| coupling.set_access(link, at));
    }

    /// The room for the first PPDU of a TXOP.
    pub(super) fn room(&self, id: QueueId, at: Instant) -> Room {
        self.traffic.room(id, self.planner.link.id, at)
    }
    /// Whether a TXOP begins by RTS because this link does not trust what it hears, or another one does not that may
    /// begin with it.
    pub(super) fn has_unsure_link(&self, at: Instant) -> bool {
        let link = self.planner.link.id;
        let has_partner = |coupling: &Coupling| coupling.has_unsure_partner(link, at);
        self.listening.medium_sync.is_unsure(at) || self.traffic.coupling.as_deref().is_some_and(has_partner)
    }
    /// Whether another exchange may follow without regard to other links.
    pub(super) fn has_room(&self, id: QueueId, at: Instant) -> bool {
        self.traffic.room(id, self.planner.link.id, at) == Room::Free
    }

    /// A TXOP begins at `at`, or goes on, with this PPDU, which an announcement with its answer precedes, or none.
    pub(super) fn on_own_exchange(&mut self, at: Instant, planned: &Planned<P>, announcement: Duration) {
        let with = self.traffic.queue(planned.queue).to;
        let data_end = at + announcement + planned.airtime;
        // A slot more, for what is on its way.
        let until = data_end + planned.ppdu.header.nav + self.planner.config.phy.slot;
        let is_announced = !announcement.is_zero();
        self.couple(|coupling, link| {
            coupling.set_access(link, None);
            let exchange = OnLink { with, is_own: true, begun: at, is_announced, data_end: Some(data_end), until };
            coupling.set_exchange(link, Some(exchange));
        });
    }

    /// A PPDU for this station begins to arrive; its header tells what it is, and where it ends.
    pub fn on_incoming(&mut self, from: Address, kind: FrameKind, end: Instant) {
        if let Some(radio) = self.traffic.radio.as_mut().filter(|_| kind == FrameKind::MuRts) {
            radio.call(self.planner.link.id, end);
        }
        let (with, config) = (self.planner.link.device(from), &self.planner.config);
        // An answer to it is at most a block acknowledgement.
        let answer = config.block_ack_time(&config.data, config.aggregation.window);
        let answer = answer.max(config.answer_time(config.broadcast_rate, ACK_SIZE));
        let until = end + config.phy.sifs + answer + config.phy.slot;
        self.couple(|coupling, link| {
            let is_under_way = coupling.exchange_mut(link).is_some_and(|exchange| exchange.is_own);
            if !is_under_way {
                coupling.set_exchange(
                    link,
                    Some(OnLink { with, is_own: false, begun: end, is_announced: false, data_end: None, until }),
                );
            }
        });
    }

    /// This link sends from `at` to `end`, in its own TXOP or in answer to a peer. Where the answer reserves the medium
    /// for `nav`, as a CTS does, the peer's next frame begins within a silence, and prolongs the exchange itself.
    pub(super) fn on_sending(&mut self, at: Instant, end: Instant, nav: Duration) {
        if self.traffic.coupling.is_none() {
            return;
        }
        let is_own = self.txop.is_some();
        let rest = if nav.is_zero() { self.planner.config.phy.slot } else { self.silence() };
        self.couple(|coupling, link| {
            coupling.commit(link);
            if let Some(exchange) = coupling.exchange_mut(link).filter(|exchange| !is_own && !exchange.is_own) {
                exchange.until = end + rest;
            }
        });
        self.listening.changes.push((at, Change::Sends));
        self.listening.changes.push((end, Change::Sent));
    }
}
