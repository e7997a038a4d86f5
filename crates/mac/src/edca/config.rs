//! The configuration of an EDCA station.

use super::category::AccessCategory;
use super::frames::{BlockAck, Vector};
use crate::contention::{BackoffConfig, SenseConfig};
use crate::dcf::{ACK_SIZE, CTS_SIZE, RTS_SIZE};
use crate::erp::{NonErp, Protection};
use crate::frame::FrameKind;
use crate::phy::{HR_DSSS_RATES, OFDM_RATES, Phy, Preamble, Rate, Standard};
use crate::ppdu::{Band, Format, Mode, PPDU_TIME_MAX, Rules, Width};
use crate::rate_control::RateControl;
use airbraid_units::{Bytes, Duration};

/// The constants of one access function (802.11-2020, table 9-155).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionConfig {
    /// AIFSN: AIFS = SIFS + AIFSN slots.
    pub aifsn: u32,
    pub cw_min: u32,
    pub cw_max: u32,
    /// TXOP limit; zero: one PPDU with its answer.
    pub txop: Duration,
}

impl FunctionConfig {
    /// The defaults for OFDM PHYs, where aCWmin is 15 and aCWmax 1023, with TXOPs of one exchange.
    pub const fn standard(category: AccessCategory) -> Self {
        Self::of_windows(category, 15, 1_023)
    }

    /// The defaults by aCWmin and aCWmax.
    pub const fn of_windows(category: AccessCategory, a_cw_min: u32, a_cw_max: u32) -> Self {
        let (half, quarter) = (a_cw_min.div_ceil(2).saturating_sub(1), a_cw_min.div_ceil(4).saturating_sub(1));
        let (aifsn, cw_min, cw_max) = match category {
            AccessCategory::Background => (7, a_cw_min, a_cw_max),
            AccessCategory::BestEffort => (3, a_cw_min, a_cw_max),
            AccessCategory::Video => (2, half, a_cw_min),
            AccessCategory::Voice => (2, quarter, half),
        };
        Self { aifsn, cw_min, cw_max, txop: Duration::ZERO }
    }
}

/// The reaction to a block acknowledgement that does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The sender asks for it, and sends nothing of the agreement before it knows.
    Request,
    /// The sender takes all MPDUs for lost and sends them again.
    Retransmit,
}

/// The link of a multi-link device on which a block acknowledgement that did not come is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestLink {
    /// The link of the data.
    #[default]
    OfData,
    /// Whichever has the medium first: for a receiver that keeps one scoreboard for all of its links.
    Any,
    /// None, where another link leads to the peer: the MPDUs go again, on whichever link is next.
    None,
}

/// The use of a wide channel of which a secondary part is busy (10.23.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bandwidth {
    /// The whole channel or nothing: it draws another backoff.
    Static,
    /// The widest primary channel that is idle.
    Dynamic,
}

/// The way in which block acknowledgement agreements come about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgreementSetup {
    /// They are there from the beginning.
    #[default]
    Given,
    /// By ADDBA Request and ADDBA Response, before the first data of a peer and TID.
    Frames,
}

/// Aggregation and block acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggregationConfig {
    /// Longest A-MPDU; `None`: none, and no agreements either.
    pub ampdu: Option<Bytes>,
    /// Most MPDUs of an A-MPDU.
    pub ampdu_frames: u32,
    /// Longest A-MSDU; `None`: none.
    pub amsdu: Option<Bytes>,
    /// Window of the agreements, 1 to 1024.
    pub window: u16,
    pub setup: AgreementSetup,
    pub repair: Repair,
    /// Transmissions of an MPDU under an agreement; `None`: no limit.
    pub retry_limit: Option<u32>,
}

/// Parameters of an EDCA station (802.11-2020, 10.23.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdcaConfig {
    /// Timing, and the PHY of control frames: OFDM, in 2.4 GHz with its signal extension.
    pub phy: Phy,
    /// The format of data; with rate control the highest.
    pub data: Vector,
    pub rate_control: RateControl,
    /// Reaction to a part of a wide channel that is busy when the station may transmit.
    pub bandwidth: Bandwidth,
    /// Rates of answers, RTS and requests: a bit for each rate of OFDM, the slowest the lowest.
    pub basic_rates: u16,
    /// The rate of broadcast frames.
    pub broadcast_rate: Rate,
    /// By [`AccessCategory::index`].
    pub functions: [FunctionConfig; AccessCategory::COUNT],
    /// A PSDU longer than this is sent after RTS and CTS.
    pub rts_threshold: Bytes,
    /// Transmissions of an MPDU without an agreement, and doublings of the contention window; `None`: no limit.
    pub retry_limit: Option<u32>,
    pub eifs: bool,
    pub eifs_is_nav: bool,
    pub nav_reset: bool,
    /// Most MSDUs of a category that wait or are not acknowledged yet.
    pub queue_limit: u32,
    /// MAC header with QoS Control, and FCS: 26 + 4 byte.
    pub data_header: Bytes,
    /// LLC and SNAP header: 8 byte.
    pub llc_header: Bytes,
    pub response_slack: Duration,
    /// Whether it sends beacons, as an access point.
    pub beacons: bool,
    /// The stations of 802.11b in its cell, if there are any.
    pub non_erp: Option<NonErp>,
    pub aggregation: AggregationConfig,
}

/// The frame that announces a PPDU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Announcement {
    pub kind: FrameKind,
    pub rate: Rate,
    pub size: Bytes,
}

/// The rate of a CTS in answer to an MU-RTS: 6 Mbit/s (26.2.6.3).
pub(super) const MU_RTS_CTS_RATE: Rate = OFDM_RATES[0];
/// MU-RTS for one station: frame control, duration, two addresses, common info, user info, FCS (9.3.1.22).
const MU_RTS_SIZE: Bytes = Bytes::new(2 + 2 + 6 + 6 + 8 + 5 + 4);
/// The rates of an initial control frame: 6, 12 and 24 Mbit/s (35.3.17), by their places.
const INITIAL_CONTROL_RATES: [usize; 3] = [0, 2, 4];

/// BAR: frame control, duration, two addresses, BAR control, starting sequence control, FCS (9.3.1.7).
pub(super) const REQUEST_SIZE: Bytes = Bytes::new(24);
/// QoS Control, which frames to all, and to stations without QoS, do not have (9.2.4.5).
const QOS_CONTROL: Bytes = Bytes::new(2);

impl EdcaConfig {
    /// A station that sends data in `data`, with the standard's values.
    pub fn new(data: Vector, band: Band) -> Self {
        let standard = if band == Band::Ghz2_4 { Standard::Dot11g } else { Standard::Dot11a };
        let phy = Phy::new(standard, Preamble::Long);
        let mode = match data {
            Vector::Mode(mode) => Some(mode),
            Vector::NonHt(_) => None,
        };
        let window = window_max(&data);
        Self {
            phy,
            data,
            rate_control: RateControl::Fixed,
            bandwidth: Bandwidth::Dynamic,
            basic_rates: MANDATORY_RATES,
            broadcast_rate: OFDM_RATES[0],
            functions: AccessCategory::ALL.map(FunctionConfig::standard),
            rts_threshold: Bytes::new(u64::MAX),
            retry_limit: Some(7),
            eifs: true,
            eifs_is_nav: false,
            nav_reset: true,
            queue_limit: 1_000.max(4 * u32::from(window)),
            data_header: Bytes::new(30),
            llc_header: Bytes::new(8),
            response_slack: Duration::ZERO,
            beacons: false,
            non_erp: None,
            aggregation: AggregationConfig {
                ampdu: mode.map(|mode| ampdu_max(mode.choice().format)),
                ampdu_frames: u32::from(window),
                amsdu: None,
                window,
                setup: AgreementSetup::Given,
                repair: Repair::Request,
                retry_limit: None,
            },
        }
    }

    pub(super) fn sense(&self) -> SenseConfig {
        let phy = &self.phy;
        let lowest = if self.non_erp.is_some() { HR_DSSS_RATES[0] } else { phy.standard.rates()[0] };
        let eifs = phy.sifs + phy.difs() + phy.frame_time(lowest, ACK_SIZE);
        SenseConfig {
            eifs: self.eifs.then_some(eifs),
            eifs_is_nav: self.eifs_is_nav,
            difs: phy.difs(),
            rx_start_delay: phy.rx_start_delay,
        }
    }

    pub(super) fn backoff(&self, category: AccessCategory) -> BackoffConfig {
        let (phy, function) = (&self.phy, &self.functions[category.index()]);
        BackoffConfig {
            gap: phy.sifs + phy.slot * u64::from(function.aifsn),
            slot: phy.slot,
            turnaround: phy.turnaround,
            cw_min: function.cw_min,
            cw_max: function.cw_max,
        }
    }

    /// ACKTimeout, CTSTimeout and BlockAckTimeout: SIFS + slot + aPHY-RX-START-Delay after the end of the frame
    /// (10.3.2.11). Answers are non-HT PPDUs.
    pub(super) fn response_timeout(&self) -> Duration {
        let phy = &self.phy;
        phy.sifs + phy.slot + phy.rx_start_delay + self.response_slack
    }

    /// 10.3.2.4, as [`DcfConfig`](crate::dcf::DcfConfig) has it.
    pub(super) fn nav_probation(&self, cts_time: Duration) -> Duration {
        let phy = &self.phy;
        phy.sifs * 2 + cts_time + phy.rx_start_delay + phy.slot * 2
    }

    /// The rate of what answers a frame sent in `vector`: the highest basic one that is not above its non-HT reference
    /// rate (10.6.6.5.2, 10.6.11).
    pub fn answer_rate(&self, vector: &Vector) -> Rate {
        let reference = match vector {
            Vector::NonHt(rate) if !rate.modulation.is_ofdm() => return self.dsss_answer_rate(*rate),
            Vector::NonHt(rate) => rate.bit_rate,
            Vector::Mode(mode) => reference_rate(mode).bit_rate,
        };
        let basic = OFDM_RATES.iter().enumerate().filter(|(i, _)| self.basic_rates >> i & 1 == 1);
        let below = basic.map(|(_, rate)| rate).rfind(|rate| rate.bit_rate <= reference);
        *below.unwrap_or(&OFDM_RATES[0])
    }

    fn dsss_answer_rate(&self, rate: Rate) -> Rate {
        self.non_erp.map_or(HR_DSSS_RATES[0], |non_erp| non_erp.answer_rate(rate.bit_rate))
    }

    /// The RTS before a PPDU in `vector`; where that must be protected stations of 802.11b read it.
    pub(super) fn request_to_send(&self, vector: &Vector) -> Announcement {
        let protected = self.non_erp.filter(|non_erp| non_erp.protection_before(vector.rate()).is_some());
        let rate = protected.map_or_else(|| self.answer_rate(vector), |non_erp| non_erp.protection_rate());
        Announcement { kind: FrameKind::Rts, rate, size: RTS_SIZE }
    }
    /// The frame that must go before a PPDU in `vector` for the sake of stations of 802.11b (10.27.2).
    pub(super) fn protection_before(&self, vector: &Vector) -> Option<Announcement> {
        let non_erp = self.non_erp?;
        Some(match non_erp.protection_before(vector.rate())? {
            Protection::CtsToSelf => {
                Announcement { kind: FrameKind::Cts, rate: non_erp.protection_rate(), size: CTS_SIZE }
            }
            Protection::RtsCts => self.request_to_send(vector),
        })
    }
    /// The CTS to the station itself before an initial control frame, where stations of 802.11b must hear of it. An RTS
    /// would be a call of its own.
    pub(super) fn protection_of(&self, announcement: &Announcement) -> Option<Announcement> {
        let non_erp = self.non_erp.filter(|_| announcement.kind == FrameKind::MuRts)?;
        non_erp.protection_before(announcement.rate)?;
        Some(Announcement { kind: FrameKind::Cts, rate: non_erp.protection_rate(), size: CTS_SIZE })
    }
    /// Time from the beginning of an announcement to that of the PPDU: with its protection and its answer, if it has
    /// them.
    pub(super) fn time_of(&self, announcement: &Announcement) -> Duration {
        let Announcement { kind, rate, size } = *announcement;
        let cts = self.answer_time(self.cts_rate(kind, rate), CTS_SIZE);
        let answer = if kind == FrameKind::Cts { Duration::ZERO } else { self.phy.sifs + cts };
        let protection = self.protection_of(announcement).map_or(Duration::ZERO, |first| self.time_of(&first));
        protection + self.answer_time(rate, size) + answer + self.phy.sifs
    }
    /// The initial control frame before a PPDU in `vector` for a device in EMLSR mode, with this padding.
    pub(super) fn initial_control_frame(&self, vector: &Vector, padding: Duration) -> Announcement {
        let highest = self.answer_rate(vector).bit_rate;
        let rates = INITIAL_CONTROL_RATES.map(|place| OFDM_RATES[place]);
        let rate = *rates.iter().rfind(|rate| rate.bit_rate <= highest).unwrap_or(&rates[0]);
        // Whole bytes that last at least as long.
        let bits = (padding.as_nanos() * rate.bit_rate.as_bps()).div_ceil(1_000_000_000);
        Announcement { kind: FrameKind::MuRts, rate, size: MU_RTS_SIZE + Bytes::new(bits.div_ceil(8)) }
    }
    /// Time of RTS, CTS and the SIFS behind each, before a PPDU in `vector`.
    pub(super) fn announced_time(&self, vector: &Vector) -> Duration {
        self.time_of(&self.request_to_send(vector))
    }
    /// The rate of the CTS in answer to such a frame.
    pub(super) fn cts_rate(&self, kind: FrameKind, rate: Rate) -> Rate {
        if kind == FrameKind::MuRts { MU_RTS_CTS_RATE } else { self.answer_rate(&Vector::NonHt(rate)) }
    }

    /// Airtime of an answer of this length.
    pub(super) fn answer_time(&self, rate: Rate, size: Bytes) -> Duration {
        self.phy.frame_time(rate, size)
    }

    /// Airtimes of a CTS or ACK, and of a block acknowledgement, in answer to a frame sent in `vector`.
    pub(super) fn ack_time(&self, vector: &Vector) -> Duration {
        self.answer_time(self.answer_rate(vector), CTS_SIZE)
    }
    pub(super) fn block_ack_time(&self, vector: &Vector, window: u16) -> Duration {
        self.answer_time(self.answer_rate(vector), BlockAck::size(window))
    }

    /// Airtime of a PSDU with data.
    pub(super) fn data_time(&self, vector: &Vector, psdu: Bytes) -> Duration {
        match vector {
            Vector::NonHt(rate) => self.phy.frame_time(*rate, psdu),
            Vector::Mode(mode) => mode.airtime(psdu),
        }
    }

    /// Length of an MPDU with one packet.
    #[inline]
    pub(super) fn mpdu_size(&self, packet: Bytes) -> u32 {
        (self.data_header + self.llc_header + packet).as_u64() as u32
    }
    /// Headers and FCS of an MPDU for a station with QoS, or without.
    pub(super) fn overhead(&self, has_qos: bool) -> Bytes {
        let headers = self.data_header + self.llc_header;
        if has_qos { headers } else { headers - QOS_CONTROL }
    }
    /// Length of a frame to all.
    pub(super) fn broadcast_size(&self, packet: Bytes) -> Bytes {
        self.data_header + self.llc_header + packet - QOS_CONTROL
    }

    /// The longest A-MSDU in `vector`, if there are any, and for which there is room: in an A-MPDU of HT the length of
    /// an MPDU has 12 bits (9.7.1).
    pub(super) fn amsdu_max(&self, vector: &Vector) -> Option<u64> {
        let Vector::Mode(mode) = vector else { return None };
        let is_ht = mode.choice().format == Format::Ht;
        let most = if is_ht && self.aggregation.ampdu.is_some() { 4_095 } else { 11_454 };
        let amsdu = self.aggregation.amsdu?.as_u64();
        Some(amsdu.min(most - self.data_header.as_u64().min(most)))
    }

    /// Whether it follows ns-3 where the standard leaves a choice: a PPDU takes all that the window of a multi-link
    /// device has left, with no shares by link, and a block acknowledgement is asked for until it comes.
    pub fn follows_ns3(&self) -> bool {
        matches!(&self.data, Vector::Mode(mode) if mode.choice().rules == Rules::Ns3)
    }

    /// Width of the channel.
    pub fn width(&self) -> Width {
        match &self.data {
            Vector::NonHt(_) => Width::Mhz20,
            Vector::Mode(mode) => mode.choice().width,
        }
    }
    /// PIFS: the time for which secondary channels must have been idle (10.23.2.5); DIFS in 2.4 GHz (10.23.2.5 b).
    pub(super) fn secondary_idle(&self) -> Duration {
        let phy = &self.phy;
        if phy.standard == Standard::Dot11g { phy.difs() } else { phy.sifs + phy.slot }
    }

    /// The longest PSDU in `vector` whose PPDU lasts at most `span`.
    pub(super) fn longest_psdu(&self, vector: &Vector, span: Duration) -> u64 {
        match vector {
            Vector::NonHt(_) => u64::from(u32::MAX),
            Vector::Mode(mode) if span >= PPDU_TIME_MAX => mode.longest_psdu().as_u64(),
            Vector::Mode(mode) => mode.longest_psdu_within(span).as_u64(),
        }
    }
}

/// The longest window of agreements with a station that sends in this format: 64, 256 from HE on, 1024 from EHT on
/// (802.11-2020, 802.11ax-2021 and 802.11be-2024).
pub fn window_max(vector: &Vector) -> u16 {
    match vector {
        Vector::Mode(mode) if mode.choice().format == Format::Eht => 1_024,
        Vector::Mode(mode) if mode.choice().format == Format::He => 256,
        _ => 64,
    }
}

/// 6, 12 and 24 Mbit/s, which every OFDM station has (17.2.3.4).
const MANDATORY_RATES: u16 = 0b1_0101;

/// The longest A-MPDU of a format (19.4.4, 21.4.4, 27.4.4, 36.4.4): VHT's is that of the exponent 7.
pub(super) const fn ampdu_max(format: Format) -> Bytes {
    match format {
        Format::Vht => Bytes::new(1_048_575),
        _ => format.psdu_max(),
    }
}

/// Non-HT reference rate by modulation and code rate (table 10-10).
pub(super) fn reference_rate(mode: &Mode) -> Rate {
    let index = match mode.choice().mcs {
        0 => 0,
        1 => 2,
        2 => 3,
        3 => 4,
        4 => 5,
        5 => 6,
        _ => 7,
    };
    OFDM_RATES[index]
}
