//! Two additions to DCF: rate control, and bursts of data frames in one access to the medium.
//!
//! A burst is the idea of 802.11e's TXOP (802.11-2020, 10.23.2.9) without its negotiation: a SIFS after an
//! acknowledgement the next data frame follows, up to a number of frames. Others hear a medium that is idle for less
//! than their DIFS. It ends with the first frame that fails, that goes to all, or that
//! must be announced.

use super::{Dcf, Held, InService};
use crate::frame::Address;
use crate::service::{Access, Msdu, Outcome};
use airbraid_engine::Packet;
use airbraid_units::Instant;

impl<P: Packet + Copy> Dcf<P> {
    /// Tells rate control the outcome of the frame in service; a frame that failed may be retransmitted at another
    /// rate.
    pub(super) fn learn(&mut self, now: Instant, is_acknowledged: bool) {
        if self.rates.is_fixed() {
            return;
        }
        let Some(to) = self.service.as_ref().filter(|service| service.packet.is_some()).map(|service| service.to)
        else {
            return;
        };
        self.rates.on_attempt(now, to, is_acknowledged);
        if is_acknowledged {
            return;
        }
        let rate = self.rate_towards(to);
        let phy = self.config.phy;
        if let Some(service) = self.service.as_mut() {
            (service.rate, service.airtime) = (rate, phy.frame_time(rate, service.size));
        }
    }

    /// Returns the MSDU that follows in the same access to the medium, if there is one and the burst allows it.
    pub(super) fn next_in_burst(&mut self) -> Option<Held<P>> {
        if self.burst_left == 0 || self.null.is_some() || self.is_paused || self.service.as_ref()?.packet.is_none() {
            return None;
        }
        let is_short = |msdu: &Msdu<P>| self.config.data_size(msdu.packet.len()) <= self.unannounced;
        let may = |msdu: &Msdu<P>| msdu.to != Address::BROADCAST && is_short(msdu);
        match self.returned.front() {
            Some(held) => may(&held.msdu).then_some(())?,
            None => self.station.queue.iter().next().filter(|msdu| may(msdu)).map(|_| ())?,
        }
        self.returned.pop_front().or_else(|| self.station.queue.pop().map(Held::new))
    }

    /// The frame in service is acknowledged, and the next one follows after a SIFS.
    pub(super) fn go_on(&mut self, now: Instant, held: Held<P>) {
        if let Some(InService { to, packet: Some(packet), attempts, .. }) = self.service.take() {
            self.station.report(Msdu { to, packet }, Outcome::Acknowledged, attempts);
        }
        self.station.contention.reset_window();
        self.burst_left -= 1;
        self.service = Some(self.in_service(now, held));
        self.begin_data(now + self.config.phy.sifs, Access::Response);
    }
}
