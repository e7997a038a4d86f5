//! TCP's throughput between two nodes under each contending MAC, by arithmetic: Kuang and Williamson 2004, appendix A,
//! for any radio, sizes and batch. Nothing is simulated.

use crate::slots::options::quantity;
use airbraid_sim::models::efficiency::{DcfConfig, MultichannelConfig, Preamble, Protocol, Standard, Transfer};
use airbraid_units::{BitRate, Bytes, Duration};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Longest packet: the largest of IPv4.
const PACKET_MAX: Bytes = Bytes::new(65_535);
/// Longest backoff or switching time, so that sums of times stay within their type.
const TIME_MAX: Duration = Duration::from_secs(1);

// Defaults: the example of the paper's appendix A.
const STANDARD: &str = "802.11b";
const PREAMBLE: &str = "long";
const RATE: &str = "1 Mbit/s";
const PACKET: &str = "1024 byte";
const ACK: &str = "40 byte";
const LLC: &str = "0 byte";
const NO_TIME: &str = "0 s";
/// With delayed acknowledgements.
const PACKETS_PER_ACK: u32 = 2;
const BATCH: u8 = 1;

#[derive(Clone, Debug)]
pub struct Request {
    /// `802.11a`, `802.11b` or `802.11g`.
    pub standard: String,
    /// Whether preambles are short, which only 802.11b has.
    pub has_short_preamble: bool,
    /// Rate of data frames.
    pub rate: BitRate,
    /// Rate of control frames; `None`: the lowest of the standard.
    pub control_rate: Option<BitRate>,
    /// An IP packet with data.
    pub packet: Bytes,
    /// An IP packet with a TCP acknowledgement.
    pub acknowledgement: Bytes,
    /// LLC header before each packet.
    pub llc_header: Bytes,
    /// 2 with delayed acknowledgements.
    pub packets_per_acknowledgement: u32,
    /// Data frames a handshake, where the MAC can do that.
    pub batch: u8,
    /// Time to change the channel.
    pub switching_time: Duration,
    /// Mean backoff before each handshake.
    pub backoff: Duration,
}

/// The same as a person types it, by the names of the command's options.
#[derive(Args, Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EfficiencyOptions {
    /// The standard of the radio
    #[arg(long, value_name = "NAME", default_value = STANDARD, value_parser = ["802.11a", "802.11b", "802.11g"])]
    pub standard: String,
    /// Preamble of 802.11b
    #[arg(long, value_name = "NAME", default_value = PREAMBLE, value_parser = ["long", "short"])]
    pub preamble: String,
    /// Rate of data frames
    #[arg(long, value_name = "RATE", default_value = RATE)]
    pub rate: String,
    /// Rate of control frames [default: the lowest of the standard]
    #[arg(long, value_name = "RATE")]
    pub control_rate: Option<String>,
    /// A packet with data, TCP and IP headers included
    #[arg(long, value_name = "SIZE", default_value = PACKET)]
    pub packet: String,
    /// A TCP acknowledgement, headers included
    #[arg(long, value_name = "SIZE", default_value = ACK)]
    pub ack: String,
    /// LLC header before each packet; the paper has none
    #[arg(long, value_name = "SIZE", default_value = LLC)]
    pub llc: String,
    /// Packets for each acknowledgement: 2 with delayed acknowledgements
    #[arg(long, value_name = "N", default_value_t = PACKETS_PER_ACK, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub packets_per_ack: u32,
    /// Data frames a handshake under MCMAC and Bi-MCMAC
    #[arg(long, value_name = "N", default_value_t = BATCH, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub batch: u8,
    /// Time to change the channel under MCMAC and Bi-MCMAC
    #[arg(long, value_name = "TIME", default_value = NO_TIME)]
    pub switching: String,
    /// Mean backoff before each handshake
    #[arg(long, value_name = "TIME", default_value = NO_TIME)]
    pub backoff: String,
}

impl Default for EfficiencyOptions {
    fn default() -> Self {
        let [standard, preamble, rate] = [STANDARD, PREAMBLE, RATE].map(str::to_owned);
        let [packet, ack, llc] = [PACKET, ACK, LLC].map(str::to_owned);
        let [switching, backoff] = [NO_TIME, NO_TIME].map(str::to_owned);
        let (control_rate, packets_per_ack, batch) = (None, PACKETS_PER_ACK, BATCH);
        Self { standard, preamble, rate, control_rate, packet, ack, llc, packets_per_ack, batch, switching, backoff }
    }
}

impl EfficiencyOptions {
    /// Parses the request.
    ///
    /// # Errors
    /// A message that names the wrong option.
    pub fn request(&self) -> Result<Request, String> {
        let has_short_preamble = match self.preamble.as_str() {
            "long" => false,
            "short" => true,
            other => return Err(format!("--preamble {other}: allowed are long, short")),
        };
        let within = |name: &str, n: u32, most: u32| match n {
            n if (1..=most).contains(&n) => Ok(()),
            n => Err(format!("--{name} {n}: a number from 1 to {most} is needed")),
        };
        within("packets-per-ack", self.packets_per_ack, 1_000)?;
        within("batch", u32::from(self.batch), 64)?;
        let control_rate =
            self.control_rate.as_ref().map(|text| quantity::<BitRate>("control-rate", text)).transpose()?;
        Ok(Request {
            standard: self.standard.clone(),
            has_short_preamble,
            rate: quantity("rate", &self.rate)?,
            control_rate,
            packet: quantity("packet", &self.packet)?,
            acknowledgement: quantity("ack", &self.ack)?,
            llc_header: quantity("llc", &self.llc)?,
            packets_per_acknowledgement: self.packets_per_ack,
            batch: self.batch,
            switching_time: quantity("switching", &self.switching)?,
            backoff: quantity("backoff", &self.backoff)?,
        })
    }
}

/// The estimate for all MACs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Nominal rate of data frames \[bit/s\].
    pub rate_bps: u64,
    /// DCF, MCMAC, Bi-MCMAC.
    pub macs: Vec<Row>,
}

/// The estimate for one MAC.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name in scenarios.
    pub mac: &'static str,
    /// Packets a handshake carries.
    pub batch: u8,
    /// A handshake with packets \[ns\].
    pub packet_cycle_ns: u64,
    /// One with acknowledgements \[ns\].
    pub acknowledgement_cycle_ns: u64,
    /// One with both \[ns\], if the MAC can do that.
    pub joint_cycle_ns: Option<u64>,
    /// Bits of IP packets for each bit that the nominal rate would have carried.
    pub efficiency: f64,
    /// The same, times the nominal rate \[bit/s\].
    pub throughput_bps: f64,
    /// The most that a long chain of nodes can carry \[bit/s\].
    pub chain_bound_bps: f64,
}

/// Computes the estimate.
///
/// # Errors
/// A message that names the impossible option.
pub fn estimate(request: &Request) -> Result<Report, String> {
    let (protocols, transfer) = protocols(request)?;
    let rows = protocols.map(|(mac, protocol)| {
        let batch = if mac == DCF { 1 } else { request.batch };
        row(mac, batch, protocol, &transfer)
    });
    Ok(Report { rate_bps: request.rate.as_bps(), macs: rows.into() })
}

/// DCF's name in scenarios.
const DCF: &str = "dcf";

/// A MAC with its name in scenarios.
pub type NamedProtocol = (&'static str, Protocol);

/// The MACs of a request by their names in scenarios, and its transfer.
///
/// # Errors
/// A message that names the impossible option.
pub fn protocols(request: &Request) -> Result<([NamedProtocol; 3], Transfer), String> {
    let dcf = station(request)?;
    let times = [("switching", request.switching_time), ("backoff", request.backoff)];
    if let Some((name, _)) = times.iter().find(|(_, time)| *time > TIME_MAX) {
        return Err(format!("--{name}: at most 1 s"));
    }
    let sizes = [("packet", request.packet), ("ack", request.acknowledgement)];
    if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == Bytes::ZERO || *size > PACKET_MAX) {
        return Err(format!("--{name}: from 1 to {} byte", PACKET_MAX.as_u64()));
    }
    if request.llc_header > Bytes::new(64) {
        return Err("--llc: at most 64 byte".to_owned());
    }
    let multichannel = |is_bidirectional| {
        let config = MultichannelConfig::new(dcf, is_bidirectional);
        Protocol::Multichannel(MultichannelConfig {
            batch: request.batch,
            switching_time: request.switching_time,
            ..config
        })
    };
    let transfer = Transfer {
        packet: request.packet,
        acknowledgement: request.acknowledgement,
        packets_per_acknowledgement: request.packets_per_acknowledgement,
        backoff: request.backoff,
    };
    let protocols = [(DCF, Protocol::Dcf(dcf)), ("mcmac", multichannel(false)), ("bi_mcmac", multichannel(true))];
    Ok((protocols, transfer))
}

/// A station that announces every frame.
fn station(request: &Request) -> Result<DcfConfig, String> {
    let standard = match request.standard.as_str() {
        "802.11a" => Standard::Dot11a,
        "802.11b" => Standard::Dot11b,
        "802.11g" => Standard::Dot11g,
        other => return Err(format!("--standard {other}: allowed are 802.11a, 802.11b, 802.11g")),
    };
    if request.has_short_preamble && standard != Standard::Dot11b {
        return Err("--preamble short: only 802.11b has it".to_owned());
    }
    let preamble = if request.has_short_preamble { Preamble::Short } else { Preamble::Long };
    let mut dcf = DcfConfig::new(standard, preamble);
    let rate = |name: &str, asked: BitRate| {
        let all: Vec<_> = standard.rates().iter().map(|rate| rate.bit_rate.to_string()).collect();
        let refusal = || format!("--{name} {asked}: {} has {}", request.standard, all.join(", "));
        standard.rate(asked).ok_or_else(refusal)
    };
    dcf.data_rate = rate("rate", request.rate)?;
    if let Some(control) = request.control_rate {
        dcf.control_rate = rate("control-rate", control)?;
    }
    (dcf.llc_header, dcf.rts_threshold) = (request.llc_header, Bytes::ZERO);
    Ok(dcf)
}

fn row(mac: &'static str, batch: u8, protocol: Protocol, transfer: &Transfer) -> Row {
    let estimate = protocol.estimate(transfer);
    Row {
        mac,
        batch,
        packet_cycle_ns: estimate.packet_cycle.as_nanos(),
        acknowledgement_cycle_ns: estimate.acknowledgement_cycle.as_nanos(),
        joint_cycle_ns: estimate.joint_cycle.map(Duration::as_nanos),
        efficiency: estimate.efficiency,
        throughput_bps: estimate.throughput_bps,
        chain_bound_bps: protocol.chain_bound_bps(transfer),
    }
}

/// The report as a table.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let us = |ns: u64| format!("{:.1}", ns as f64 / 1e3);
    let kbps = |bps: f64| format!("{:.1}", bps / 1e3);
    let _ = writeln!(
        out,
        "{:<9} {:>6} {:>12} {:>9} {:>9} {:>10} {:>11} {:>12}",
        "mac", "batch", "packets us", "acks us", "both us", "efficiency", "kbit/s", "chain kbit/s"
    );
    for row in &report.macs {
        let _ = writeln!(
            out,
            "{:<9} {:>6} {:>12} {:>9} {:>9} {:>8.2} % {:>11} {:>12}",
            row.mac,
            row.batch,
            us(row.packet_cycle_ns),
            us(row.acknowledgement_cycle_ns),
            row.joint_cycle_ns.map_or_else(|| "-".to_owned(), us),
            100.0 * row.efficiency,
            kbps(row.throughput_bps),
            kbps(row.chain_bound_bps),
        );
    }
    out
}
