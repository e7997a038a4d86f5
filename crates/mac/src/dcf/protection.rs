//! The frame before a data frame: RTS above the threshold, and what stations of 802.11b hear where data are OFDM
//! (802.11-2020, 10.27.2).

use super::{ACK_SIZE, CTS_SIZE, Dcf, State};
use crate::erp::Protection;
use crate::frame::{Address, Frame, FrameKind, duration_field};
use crate::phy::{HR_DSSS_RATES, Rate};
use crate::service::Access;
use airbraid_engine::Packet;
use airbraid_units::{Duration, Instant};

impl<P: Packet + Copy> Dcf<P> {
    /// It learns of the stations around it, and the rate at which each sends: towards those of 802.11b it has the rates
    /// up to that.
    pub fn meet(&mut self, stations: impl Iterator<Item = (Address, Rate)>) {
        if self.config.non_erp.is_none() {
            return;
        }
        for (address, highest) in stations.filter(|(_, highest)| !highest.modulation.is_ofdm()) {
            let count = HR_DSSS_RATES.iter().filter(|rate| rate.bit_rate <= highest.bit_rate).count();
            self.rates.set_rates(address, &HR_DSSS_RATES[..count]);
        }
    }

    /// Announces the data frame in service at `at`, or sends it where nothing must go before it.
    pub(super) fn announce(&mut self, at: Instant, access: Access) {
        let Some(service) = &self.service else { return };
        let is_long = service.size > self.config.rts_threshold;
        match self.config.non_erp.and_then(|non_erp| non_erp.protection_before(service.rate)) {
            None if !is_long => self.begin_data(at, access),
            Some(Protection::CtsToSelf) if !is_long => {
                let end = self.send_cts_to_self(at, access);
                self.state = State::CtsToSelf(end);
            }
            _ => {
                let end = self.send_rts(at, access);
                self.state = State::AwaitCts(end + self.config.response_timeout());
            }
        }
    }

    /// The rate of the RTS before a protected data frame of this rate, and the airtime of its CTS.
    pub(super) fn request(&self, data: Rate) -> Option<(Rate, Duration)> {
        let non_erp = self.config.non_erp?;
        non_erp.protection_before(data)?;
        let rate = non_erp.protection_rate();
        Some((rate, self.config.phy.frame_time(rate, CTS_SIZE)))
    }

    /// Reserves the medium for the data frame in service; returns the end of the CTS.
    fn send_cts_to_self(&mut self, at: Instant, access: Access) -> Instant {
        let Some((service, (rate, airtime))) =
            self.service.as_ref().and_then(|service| Some((service, self.request(service.rate)?)))
        else {
            return at;
        };
        let phy = &self.config.phy;
        let ack_time = phy.frame_time(self.config.answer_rate(service.rate), ACK_SIZE);
        let nav = duration_field(phy.sifs * 2 + service.airtime + ack_time);
        let cts = self.station.frame(FrameKind::Cts, self.station.address, CTS_SIZE, rate);
        self.station.transmit(Frame { nav, ..cts }, at, airtime, access)
    }
}
