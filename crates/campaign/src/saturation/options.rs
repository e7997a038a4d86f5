//! The options of `airbraid plan wifi`, as a person types them.

use crate::airtime::AirtimeOptions;
use crate::slots::options::quantity;
use airbraid_sim::models::airtime::{Band, Format, Mode, Phy, Preamble, Rate, Standard};
use airbraid_sim::models::wifi::{Access, Aggregation, Sender, Sending};
use airbraid_units::{BitRate, Bytes, Duration};
use clap::Args;
use serde::Deserialize;

/// A UDP payload of 1472 byte and its headers, the largest packet of Ethernet.
const PACKET: &str = "1500 byte";
/// LLC and SNAP.
const LLC: &str = "8 byte";
/// MAC header of a QoS data frame and its FCS (9.2.4, 9.2.4.5).
const HEADER: &str = "30 byte";
const LONGEST: &str = "longest";
const OFF: &str = "off";
/// dot11ShortRetryLimit (annex C).
const RETRY_LIMIT: u32 = 7;
const STATIONS_MAX: u32 = 1_000;
/// The most packets of an A-MSDU: its longest is 11454 byte (table 9-25).
const AMSDU_MAX: u64 = 64;
/// Largest of IPv4.
const PACKET_MAX: Bytes = Bytes::new(65_535);

/// Most links of a device (802.11be: a link ID has four bits, one value is reserved).
const LINKS_MAX: u32 = 15;

/// The load of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Load {
    /// Goodput of all stations together.
    Rate(BitRate),
    /// Every queue is full.
    Saturated,
}

/// The radio of every station.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RadioOptions {
    /// 802.11a, 802.11g, or 802.11n to 802.11be
    #[arg(long, value_name = "NAME", value_parser = ["802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax", "802.11be"])]
    pub standard: String,
    /// Modulation and code rate, 0 to 13 (from 802.11n on)
    #[arg(long, value_name = "N")]
    pub mcs: Option<u8>,
    /// Width of the channel (from 802.11n on) [default: 20 MHz]
    #[arg(long, value_name = "WIDTH")]
    pub width: Option<String>,
    /// Spatial streams (from 802.11n on) [default: 1]
    #[arg(long, value_name = "N")]
    pub streams: Option<u8>,
    /// Guard interval: 400 or 800 ns, from 802.11ax on 800, 1600 or 3200 ns [default: 800 ns]
    #[arg(long, value_name = "TIME")]
    pub guard_interval: Option<String>,
    /// 2.4 GHz, 5 GHz or 6 GHz [default: 2.4 GHz for 802.11g, 6 GHz for 320 MHz, else 5 GHz]
    #[arg(long, value_name = "BAND")]
    pub band: Option<String>,
    /// Rate of 802.11a and g
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Preamble of data frames, where another than the standard's is to be compared with
    #[arg(long, value_name = "TIME")]
    pub preamble: Option<String>,
    /// Counts by the standard or as ns-3.44 does [default: standard]
    #[arg(long, value_name = "NAME")]
    pub rules: Option<String>,
}

/// The frames of an access.
#[derive(Args, Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrameOptions {
    /// An IP packet, headers included
    #[arg(long, value_name = "SIZE", default_value = PACKET)]
    pub packet: String,
    /// The part of it that counts as goodput [default: less 28 byte of UDP and IP]
    #[arg(long, value_name = "SIZE")]
    pub payload: Option<String>,
    /// LLC header before each packet
    #[arg(long, value_name = "SIZE", default_value = LLC)]
    pub llc: String,
    /// MAC header and FCS of an MPDU; 28 byte without QoS
    #[arg(long, value_name = "SIZE", default_value = HEADER)]
    pub header: String,
    /// Longest A-MPDU: off, longest, or a size (from 802.11n on) [default: longest from 802.11n on, else off]
    #[arg(long, value_name = "SIZE")]
    pub ampdu: Option<String>,
    /// Window of the block acknowledgement, and the most MPDUs of a PPDU [default: 64, 802.11ax 256, 802.11be 1024]
    #[arg(long, value_name = "N")]
    pub window: Option<u64>,
    /// Packets of an A-MSDU
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub amsdu_packets: u64,
    /// Sends RTS and CTS before every PPDU of data
    #[arg(long)]
    pub rts: bool,
    /// TXOP limit; 0 is one PPDU an access
    #[arg(long, value_name = "TIME", default_value = "0 us")]
    pub txop: String,
    /// Rate of RTS and CTS [default: 24 Mbit/s, or the highest of 6, 12 and 24 below that of data]
    #[arg(long, value_name = "RATE")]
    pub control_rate: Option<String>,
    /// Rate of ACKs and block acknowledgements [default: the control rate]
    #[arg(long, value_name = "RATE")]
    pub response_rate: Option<String>,
}

/// Contention.
#[derive(Args, Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessOptions {
    /// Saturated stations of each category
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub stations: u32,
    /// Access categories that contend, of vo, vi, be, bk, separated by commas
    #[arg(long, value_name = "LIST", default_value = "be", value_delimiter = ',')]
    pub categories: Vec<String>,
    /// AIFSN of all categories [default: that of the category, VO 2, VI 2, BE 3, BK 7]
    #[arg(long, value_name = "N")]
    pub aifsn: Option<u32>,
    /// Smallest window of all categories [default: VO 3, VI 7, BE 15, BK 15]
    #[arg(long, value_name = "N")]
    pub cw_min: Option<u32>,
    /// Largest window of all categories [default: VO 7, VI 15, BE 1023, BK 1023]
    #[arg(long, value_name = "N")]
    pub cw_max: Option<u32>,
    /// Failures in a row after which one more resets the window; 0: none does
    #[arg(long, value_name = "N", default_value_t = RETRY_LIMIT)]
    pub retry_limit: u32,
    /// Asks for a lost block acknowledgement, instead of sending the A-MPDU again
    #[arg(long)]
    pub block_ack_request: bool,
    /// Waits EIFS after a collision
    #[arg(long)]
    pub eifs: bool,
    /// Counts down as DCF does: not at the end of the interframe space
    #[arg(long)]
    pub dcf: bool,
    /// Every frame of a collision arrives: receivers are far nearer to their sender than to others
    #[arg(long)]
    pub capture: bool,
    /// Adds the delays of a packet in closed form, at this load of all stations together: goodput, or "saturated"
    #[arg(long, value_name = "RATE")]
    pub load: Option<String>,
    /// Links of each station (802.11be, simultaneous transmission and reception), which share its load evenly
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub links: u32,
    /// Time of the contention by random draws [default: 100 s]
    #[arg(long, value_name = "TIME", default_value = "100 s")]
    pub time: String,
}

impl Default for FrameOptions {
    fn default() -> Self {
        let [packet, llc, header, txop] = [PACKET, LLC, HEADER, "0 us"].map(str::to_owned);
        let (payload, ampdu, window, amsdu_packets, rts) = (None, None, None, 1, false);
        let (control_rate, response_rate) = (None, None);
        Self { packet, payload, llc, header, ampdu, window, amsdu_packets, rts, txop, control_rate, response_rate }
    }
}

impl Default for AccessOptions {
    fn default() -> Self {
        let (categories, time) = (vec!["be".to_owned()], "100 s".to_owned());
        let (aifsn, cw_min, cw_max) = (None, None, None);
        let (block_ack_request, eifs, dcf, capture) = (false, false, false, false);
        let (retry_limit, load, links) = (RETRY_LIMIT, None, 1);
        Self {
            stations: 1,
            categories,
            aifsn,
            cw_min,
            cw_max,
            retry_limit,
            block_ack_request,
            eifs,
            dcf,
            capture,
            load,
            links,
            time,
        }
    }
}

impl RadioOptions {
    /// The timing, and the frames of data.
    fn sending(&self) -> Result<(Phy, Sending, BitRate), String> {
        let Some(format) = Format::ALL.into_iter().find(|format| format.name() == self.standard) else {
            return self.older();
        };
        let airtime = AirtimeOptions {
            standard: self.standard.clone(),
            mcs: self.mcs,
            width: self.width.clone(),
            streams: self.streams,
            guard_interval: self.guard_interval.clone(),
            band: self.band.clone(),
            rate: self.rate.clone(),
            rules: self.rules.clone().unwrap_or_else(|| "standard".to_owned()),
            ..AirtimeOptions::default()
        };
        let choice = airtime.choice(format)?;
        let mode = Mode::new(choice).map_err(|refused| refused.to_string())?;
        // Answers are non-HT PPDUs: those of 802.11g in 2.4 GHz, with its SIFS and signal extension.
        let older = if choice.band == Band::Ghz2_4 { Standard::Dot11g } else { Standard::Dot11a };
        let sending = match &self.preamble {
            None => Sending::Ppdu(mode),
            Some(text) => Sending::Behind { preamble: quantity("preamble", text)?, mode },
        };
        Ok((Phy::new(older, Preamble::Long), sending, mode.data_rate()))
    }

    fn older(&self) -> Result<(Phy, Sending, BitRate), String> {
        let standard = if self.standard == "802.11g" { Standard::Dot11g } else { Standard::Dot11a };
        if self.mcs.is_some() || self.width.is_some() || self.streams.is_some() || self.preamble.is_some() {
            return Err(format!("{} has --rate instead of --mcs, --width, --streams and --preamble", self.standard));
        }
        let text = self.rate.as_deref().ok_or("--rate is missing: 802.11a and g have 6 to 54 Mbit/s")?;
        let rate = rate_of(standard, "rate", text)?;
        Ok((Phy::new(standard, Preamble::Long), Sending::Ofdm(rate), rate.bit_rate))
    }
}

fn rate_of(standard: Standard, option: &str, text: &str) -> Result<Rate, String> {
    let all: Vec<_> = standard.rates().iter().map(|rate| rate.bit_rate.to_string()).collect();
    let asked: BitRate = quantity(option, text)?;
    standard.rate(asked).ok_or_else(|| format!("--{option} {text}: allowed are {}", all.join(", ")))
}

impl FrameOptions {
    /// The sender with that radio, and its payload bits a packet.
    ///
    /// # Errors
    /// A message that names the wrong option.
    pub(super) fn sender(&self, radio: &RadioOptions) -> Result<(Sender, u64), String> {
        let (phy, sending, data_rate) = radio.sending()?;
        let size = |option: &str, text: &str| {
            let size: Bytes = quantity(option, text)?;
            if size > PACKET_MAX { Err(format!("--{option} {text}: at most {PACKET_MAX}")) } else { Ok(size) }
        };
        let packet = size("packet", &self.packet)?;
        let payload = match &self.payload {
            Some(text) => size("payload", text)?,
            None => Bytes::new(packet.as_u64().saturating_sub(28)),
        };
        if payload == Bytes::ZERO || payload > packet {
            return Err(format!("--payload: {payload} of a packet of {packet}"));
        }
        if !(1..=AMSDU_MAX).contains(&self.amsdu_packets) {
            return Err(format!("--amsdu-packets {}: 1 to {AMSDU_MAX}", self.amsdu_packets));
        }
        let control = match &self.control_rate {
            Some(text) => rate_of(phy.standard, "control-rate", text)?,
            None => highest_basic(&phy, data_rate),
        };
        let response = match &self.response_rate {
            Some(text) => rate_of(phy.standard, "response-rate", text)?,
            None => control,
        };
        let sender = Sender {
            sending,
            phy,
            packet,
            llc: size("llc", &self.llc)?,
            header: size("header", &self.header)?,
            amsdu: self.amsdu_packets,
            aggregation: self.aggregation(&sending)?,
            control,
            response,
            rts: self.rts,
            txop: quantity("txop", &self.txop)?,
        };
        Ok((sender, payload.bits()))
    }

    fn aggregation(&self, sending: &Sending) -> Result<Option<Aggregation>, String> {
        let (Sending::Ppdu(mode) | Sending::Behind { mode, .. }) = sending else {
            let is_off = self.ampdu.as_deref().is_none_or(|text| text == OFF);
            return if is_off { Ok(None) } else { Err("--ampdu: 802.11n and later have A-MPDUs".to_owned()) };
        };
        let format = mode.choice().format;
        let longest = match format {
            Format::Vht => Bytes::new(1_048_575),
            other => other.psdu_max(),
        };
        let bytes = match self.ampdu.as_deref() {
            Some(OFF) => return Ok(None),
            None | Some(LONGEST) => longest,
            Some(text) => quantity::<Bytes>("ampdu", text)?.min(longest),
        };
        let most = match format {
            Format::Ht | Format::Vht => 64,
            Format::He => 256,
            Format::Eht => 1_024,
        };
        let window = self.window.unwrap_or(most);
        if !(1..=most).contains(&window) {
            return Err(format!("--window {window}: {} has 1 to {most}", format.name()));
        }
        Ok(Some(Aggregation { bytes, frames: window, window }))
    }
}

/// The rate of answers: the highest of the mandatory 6, 12 and 24 Mbit/s that is not above that of data (10.6.6.5.2).
fn highest_basic(phy: &Phy, data: BitRate) -> Rate {
    let rates = phy.standard.rates();
    [4, 2].into_iter().map(|i| rates[i]).find(|rate| rate.bit_rate <= data).unwrap_or(rates[0])
}

impl AccessOptions {
    /// The parameters of each category.
    ///
    /// # Errors
    /// A message that names the wrong option.
    pub(super) fn categories(&self) -> Result<Vec<(&str, Access)>, String> {
        if !(1..=STATIONS_MAX).contains(&self.stations) {
            return Err(format!("--stations {}: 1 to {STATIONS_MAX}", self.stations));
        }
        let category = |name: &String| {
            // 802.11-2020 table 9-155, OFDM.
            let (aifsn, cw_min, cw_max) = match name.as_str() {
                "vo" => (2, 3, 7),
                "vi" => (2, 7, 15),
                "be" => (3, 15, 1_023),
                "bk" => (7, 15, 1_023),
                other => return Err(format!("--categories {other}: allowed are vo, vi, be, bk")),
            };
            let (cw_min, cw_max) = (self.cw_min.unwrap_or(cw_min), self.cw_max.unwrap_or(cw_max));
            if cw_min > cw_max {
                return Err(format!("--cw-min {cw_min} is above --cw-max {cw_max}"));
            }
            // 10.23.2.2: QSRC counts up to the limit, and the next failure sets it to 0.
            let reset_at = (self.retry_limit > 0).then_some(self.retry_limit + 1);
            Ok(Access { aifsn: self.aifsn.unwrap_or(aifsn), cw_min, cw_max, reset_at })
        };
        self.categories.iter().map(|name| Ok((name.as_str(), category(name)?))).collect()
    }

    /// The load of all stations together, if delays are asked for.
    ///
    /// # Errors
    /// A message that names the wrong option.
    pub(super) fn load(&self) -> Result<Option<Load>, String> {
        if !(1..=LINKS_MAX).contains(&self.links) {
            return Err(format!("--links {}: 1 to {LINKS_MAX}", self.links));
        }
        let Some(text) = &self.load else { return Ok(None) };
        if text == "saturated" {
            return Ok(Some(Load::Saturated));
        }
        let rate: BitRate = quantity("load", text)?;
        if rate.as_bps() == 0 { Err("--load: above 0".to_owned()) } else { Ok(Some(Load::Rate(rate))) }
    }

    pub(super) fn time(&self) -> Result<Duration, String> {
        let time: Duration = quantity("time", &self.time)?;
        if time > Duration::from_secs(10_000) { Err("--time: at most 10000 s".to_owned()) } else { Ok(time) }
    }
}
