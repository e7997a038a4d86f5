//! A device of which one link at a time is awake ([`single`](super::single)): what it says, when its radio moves, and
//! what its peer makes of that.

use super::beacon::BEACON_INTERVAL_TU;
use super::category::AccessCategory;
use super::exchange::{State, Txop};
use super::listening::Change;
use super::plan::Answer;
use super::single::CATEGORY;
use super::{Edca, Vector};
use crate::dcf::ACK_SIZE;
use crate::frame::{Address, Frame, FrameKind};
use crate::service::Access;
use airbraid_engine::Packet;
use airbraid_units::{Duration, Instant};

/// Silence after which the access point is asked: 7 beacon intervals, after which Linux holds beacons for lost.
const SILENCE: Duration = Duration::from_micros(7 * 1_024 * BEACON_INTERVAL_TU as u64);
impl<P: Packet + Copy> Edca<P> {
    /// The address on this link of the peer that is told, if a null frame is on the air.
    pub(super) fn told_peer(&self) -> Option<Address> {
        let awake = self.traffic.awake.as_ref()?;
        awake.says(self.planner.link.id, self.txop.as_ref()?.category)?;
        Some(self.planner.link.address(self.traffic.first_peer()?))
    }

    /// A null frame is sent, if the link has something to tell.
    pub(super) fn begin_null(&mut self, category: AccessCategory, at: Instant, access: Access) -> bool {
        let link = self.planner.link.id;
        let Some(awake) = &mut self.traffic.awake else { return false };
        let Some(sleeps) = awake.says(link, category) else { return false };
        let retry = awake.on_null();
        let Some(to) = self.traffic.first_peer().map(|device| self.planner.link.address(device)) else { return false };
        self.stop_counters(at);
        self.txop = Some(Txop::of_null(category));
        let (config, formats) = (&self.planner.config, &self.planner.formats);
        // As a block acknowledgement request: rate control does not hear of it.
        let lowest = &formats.grade(formats.lowest(to)).vector;
        // Where stations of 802.11b must hear it, it needs no protection at their rate.
        let older = config.non_erp.filter(|non_erp| non_erp.protection.is_some());
        let rate = older.map_or_else(|| config.answer_rate(lowest), |non_erp| non_erp.protection_rate());
        let size = config.data_header;
        let ack = config.answer_time(config.answer_rate(&Vector::NonHt(rate)), ACK_SIZE);
        let (airtime, nav) = (config.answer_time(rate, size), config.phy.sifs + ack);
        let null = self.planner.frame(FrameKind::Data, to, size, rate);
        let sequence = self.number();
        let end = self.transmit(Frame { power_management: sleeps, retry, sequence, nav, ..null }, at, airtime, access);
        self.state = State::Await(Answer::Ack, end + self.planner.config.response_timeout());
        true
    }

    /// A null frame is acknowledged.
    pub(super) fn on_told(&mut self, now: Instant) {
        if let Some(awake) = &mut self.traffic.awake {
            awake.on_acknowledged();
        }
        self.end_txop(now, true);
        self.follow_step(now);
    }

    /// A TXOP of a device of which one link is awake is over.
    pub(super) fn note_answer(&mut self, now: Instant, is_answered: bool) {
        let Some(awake) = &mut self.traffic.awake else { return };
        if is_answered {
            awake.on_heard(now);
        } else if awake.on_failure() {
            self.follow_step(now);
        }
    }

    /// Packets go over the link that is awake, or wait; the radio leaves as soon as what it sends is over.
    fn follow_step(&mut self, now: Instant) {
        let (Some(awake), Some(device)) = (&self.traffic.awake, self.traffic.first_peer()) else { return };
        let (open, leaves) = (awake.open(), awake.leaves());
        self.traffic.set_open(device, |peer| peer.open_at_most(open));
        if leaves {
            self.listening.set(Change::Departs, self.transmitting_until.max(now));
        }
        if open.is_some() {
            self.watch(now);
            self.take_over(now);
        }
        self.contend(now, CATEGORY, true);
    }

    /// The peer is expected to be heard.
    pub(super) fn watch(&mut self, now: Instant) {
        if self.traffic.awake.as_ref().is_some_and(|awake| awake.open() == Some(self.planner.link.id)) {
            self.listening.set(Change::Silence, now + SILENCE);
        }
    }

    /// The peer may have been silent for too long.
    pub(super) fn on_silence(&mut self, now: Instant) {
        let link = self.planner.link.id;
        let Some(awake) = self.traffic.awake.as_mut().filter(|awake| awake.open() == Some(link)) else { return };
        match awake.on_silence(now, SILENCE) {
            Some(end) => self.listening.set(Change::Silence, end),
            None => self.follow_step(now),
        }
    }

    /// The radio leaves this link.
    pub(super) fn depart(&mut self, now: Instant) {
        let Some(awake) = self.traffic.awake.as_mut().filter(|awake| awake.leaves()) else { return };
        awake.depart();
        self.listening.set(Change::Arrives, now + awake.switch_delay);
    }

    /// It is at another link, which says so.
    pub(super) fn arrive(&mut self) {
        if let Some(awake) = &mut self.traffic.awake {
            awake.ask();
        }
    }

    /// A frame of a peer has come: it tells which of its links are awake, if one at a time is.
    pub(super) fn on_power_management(&mut self, now: Instant, header: &Frame<()>) {
        let (link, device) = (self.planner.link.id, self.planner.link.device(header.from));
        if let Some(awake) = &mut self.traffic.awake {
            return awake.on_heard(now);
        }
        if header.kind != FrameKind::Data || !self.traffic.has_one_awake(device) {
            return;
        }
        let sleeps = header.power_management;
        let change = self.traffic.set_open(device, |peer| if sleeps { peer.close(link) } else { peer.open_only(link) });
        if change.is_some() {
            self.take_over(now);
        }
    }
}
