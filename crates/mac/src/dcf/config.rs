//! The configuration of a DCF station: every constant of the standard that papers vary.

use crate::contention::ContentionConfig;
use crate::erp::NonErp;
use crate::phy::{HR_DSSS_RATES, Phy, Preamble, Rate, Standard};
use crate::rate_control::RateControl;
use crate::retry::RetryLimits;
use airbraid_units::{Bytes, Duration};

/// Parameters of a station under the distributed coordination function (802.11-2020, 10.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcfConfig {
    /// The PHY and its timing.
    pub phy: Phy,
    /// The rate of unicast data frames; with rate control the one that is never passed, and where it begins.
    pub data_rate: Rate,
    pub rate_control: RateControl,
    /// Data frames that may follow each other a SIFS after the acknowledgement, in one access to the medium: 1 is DCF,
    /// more is what cards of 2004 called bursting, and 802.11e a TXOP.
    pub burst: u32,
    /// The rate of RTS, CTS and ACK: the highest basic rate not above the data rate (10.6.6).
    pub control_rate: Rate,
    /// The basic rates: one bit for each rate of the standard, the slowest the lowest.
    pub basic_rates: u16,
    /// The rate of broadcast frames: a basic rate (10.6.5.1).
    pub broadcast_rate: Rate,
    /// aCWmin.
    pub cw_min: u32,
    /// aCWmax.
    pub cw_max: u32,
    /// An MPDU longer than this \[byte\] is sent after RTS and CTS; 0: all, the largest number: none.
    pub rts_threshold: Bytes,
    /// dot11ShortRetryLimit: attempts of an RTS, or of an MPDU not longer than the RTS threshold; `None`: no limit.
    pub short_retry_limit: Option<u32>,
    /// dot11LongRetryLimit: attempts of an MPDU longer than the RTS threshold; `None`: no limit.
    pub long_retry_limit: Option<u32>,
    /// Whether a station waits EIFS instead of DIFS after a reception with an error (10.3.2.3.7).
    pub eifs: bool,
    /// Whether that EIFS is a NAV, as in ns-2: it counts from the end of the frame, a correct one does not end it, and
    /// the station grants no RTS meanwhile.
    pub eifs_is_nav: bool,
    /// Whether a NAV that an RTS set is reset when no PPDU follows in time (10.3.2.4). ns-2 does not.
    pub nav_reset: bool,
    /// Largest number of MSDUs that wait besides the one in service.
    pub queue_limit: u32,
    /// MAC header and FCS of a data frame: 24 + 4 byte.
    pub data_header: Bytes,
    /// LLC and SNAP header before the packet: 8 byte.
    pub llc_header: Bytes,
    /// Added to the time in which a CTS or ACK must begin: SIFS + slot + aPHY-RX-START-Delay is the standard's.
    pub response_slack: Duration,
    /// The stations of 802.11b in the cell of one of 802.11g.
    pub non_erp: Option<NonErp>,
}

/// RTS: frame control, duration, two addresses, FCS (9.3.1.2).
pub const RTS_SIZE: Bytes = Bytes::new(20);
/// CTS: frame control, duration, one address, FCS (9.3.1.3).
pub const CTS_SIZE: Bytes = Bytes::new(14);
/// ACK: as CTS (9.3.1.4).
pub const ACK_SIZE: Bytes = Bytes::new(14);

impl DcfConfig {
    /// The standard's values for `standard`: data at its highest rate, control at its lowest, no RTS.
    pub fn new(standard: Standard, preamble: Preamble) -> Self {
        let rates = standard.rates();
        let (lowest, highest) = (rates[0], rates[rates.len() - 1]);
        let (cw_min, cw_max) = match standard {
            Standard::Dot11b => (31, 1023),
            Standard::Dot11a | Standard::Dot11g => (15, 1023),
            Standard::Fhss => (31, 255),
        };
        Self {
            phy: Phy::new(standard, preamble),
            data_rate: highest,
            rate_control: RateControl::Fixed,
            burst: 1,
            control_rate: lowest,
            basic_rates: 1,
            broadcast_rate: lowest,
            cw_min,
            cw_max,
            rts_threshold: Bytes::new(3_000),
            short_retry_limit: Some(7),
            long_retry_limit: Some(4),
            eifs: true,
            eifs_is_nav: false,
            nav_reset: true,
            queue_limit: 50,
            data_header: Bytes::new(28),
            llc_header: Bytes::new(8),
            response_slack: Duration::ZERO,
            non_erp: None,
        }
    }

    /// The constants of the contention of such a station.
    pub fn contention(&self) -> ContentionConfig {
        let phy = &self.phy;
        // 10.3.2.3.7: EIFS = SIFS + DIFS + the time of an ACK at the lowest rate.
        let lowest = if self.non_erp.is_some() { HR_DSSS_RATES[0] } else { phy.standard.rates()[0] };
        let eifs = phy.sifs + phy.difs() + phy.frame_time(lowest, ACK_SIZE);
        ContentionConfig {
            slot: phy.slot,
            difs: phy.difs(),
            eifs: self.eifs.then_some(eifs),
            eifs_is_nav: self.eifs_is_nav,
            turnaround: phy.turnaround,
            rx_start_delay: phy.rx_start_delay,
            cw_min: self.cw_min,
            cw_max: self.cw_max,
        }
    }

    /// The rates that data may have, the slowest first: all up to the data rate.
    pub fn data_rates(&self) -> &'static [Rate] {
        let rates = self.phy.standard.rates();
        let count = rates.iter().position(|rate| *rate == self.data_rate).map_or(rates.len(), |place| place + 1);
        &rates[..count]
    }

    /// The rate of what answers a frame of `rate`: the highest basic one that is not above it (10.6.6.5.2).
    pub fn answer_rate(&self, rate: Rate) -> Rate {
        if rate == self.data_rate {
            return self.control_rate;
        }
        if let Some(non_erp) = self.non_erp.filter(|_| !rate.modulation.is_ofdm()) {
            return non_erp.answer_rate(rate.bit_rate);
        }
        let mut rates = self.phy.standard.rates().iter().enumerate();
        let is_basic = |i: usize| self.basic_rates >> i & 1 == 1;
        let below = rates.rfind(|(i, basic)| is_basic(*i) && basic.bit_rate <= rate.bit_rate);
        below.map_or(self.control_rate, |(_, rate)| *rate)
    }

    /// The longest MPDU that is sent without a frame before it, whatever its rate.
    pub(super) fn unannounced(&self) -> Bytes {
        let is_protected = self.non_erp.is_some_and(|non_erp| non_erp.protection.is_some());
        if is_protected { Bytes::ZERO } else { self.rts_threshold }
    }

    pub const fn retry_limits(&self) -> RetryLimits {
        RetryLimits { short: self.short_retry_limit, long: self.long_retry_limit }
    }

    /// ACKTimeout and CTSTimeout: SIFS + slot + aPHY-RX-START-Delay after the end of the frame (10.3.2.11).
    pub fn response_timeout(&self) -> Duration {
        let phy = &self.phy;
        phy.sifs + phy.slot + phy.rx_start_delay + self.response_slack
    }

    /// 10.3.2.4: the NAV of an RTS may be reset if no PHY-RXSTART comes within 2 SIFS + CTS time +
    /// aPHY-RX-START-Delay + 2 slots.
    pub(crate) fn nav_probation(&self, cts_time: Duration) -> Duration {
        let phy = &self.phy;
        phy.sifs * 2 + cts_time + phy.rx_start_delay + phy.slot * 2
    }

    /// Length of the data frame that carries a packet of this length.
    pub(crate) fn data_size(&self, packet: Bytes) -> Bytes {
        self.data_header + self.llc_header + packet
    }
}
