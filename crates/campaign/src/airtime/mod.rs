//! Airtime of one PPDU, part by part, under 802.11b to 802.11be. Arithmetic; nothing is simulated.

mod older;
mod options;

pub use options::AirtimeOptions;

use airbraid_sim::models::airtime::{Airtime, Format, Mode, Rules};
use airbraid_units::Bytes;
use serde::Serialize;
use std::fmt::Write as _;

/// A PPDU: its mode, its parts, and what follows from them. `null` is what the standard does not have.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// TXTIME \[ns\].
    pub airtime_ns: u64,
    #[serde(flatten)]
    pub mode: ModeReport,
    pub psdu_bytes: u64,
    #[serde(flatten)]
    pub parts: Parts,
    /// Bits of the PSDU over the airtime \[bit/s\].
    pub psdu_rate_bps: u64,
    /// The same over the data rate.
    pub share: f64,
}

/// The way in which the PSDU is sent.
#[derive(Clone, Debug, Serialize)]
pub struct ModeReport {
    pub standard: &'static str,
    /// The text that the time follows: `standard` or `ns-3`.
    pub rules: &'static str,
    pub band: &'static str,
    pub width_mhz: u32,
    pub mcs: Option<u8>,
    pub streams: u8,
    pub guard_interval_ns: Option<u64>,
    pub coding: Option<&'static str>,
    /// Size of the training symbols, of HE and EHT.
    pub ltf: Option<&'static str>,
    /// Rate that the standard prints for the mode \[bit/s\].
    pub data_rate_bps: u64,
}

/// The parts of the PPDU in the order in which they are sent.
#[derive(Clone, Debug, Serialize)]
pub struct Parts {
    pub preamble_ns: u64,
    /// Data symbols; null of 802.11b.
    pub symbols: Option<u64>,
    pub symbol_ns: Option<u64>,
    pub bits_per_symbol: Option<u64>,
    /// Whether LDPC added a symbol, or a quarter of one.
    pub ldpc_extra: bool,
    pub data_ns: u64,
    pub packet_extension_ns: u64,
    pub signal_extension_ns: u64,
}

impl Report {
    fn new(mode: ModeReport, psdu_bytes: u64, parts: Parts) -> Self {
        let airtime_ns = parts.preamble_ns + parts.data_ns + parts.packet_extension_ns + parts.signal_extension_ns;
        let psdu_rate_bps = (u128::from(psdu_bytes) * 8 * 1_000_000_000 / u128::from(airtime_ns)) as u64;
        let share = psdu_rate_bps as f64 / mode.data_rate_bps as f64;
        Self { airtime_ns, mode, psdu_bytes, parts, psdu_rate_bps, share }
    }
}

/// Computes the airtime.
///
/// # Errors
/// A message that names the wrong option, or the combination that the standard does not have and what is near.
pub fn compute(options: &AirtimeOptions) -> Result<Report, String> {
    let Some(format) = Format::ALL.into_iter().find(|format| format.name() == options.standard) else {
        return older::compute(options);
    };
    let mode = Mode::new(options.choice(format)?).map_err(|refused| refused.to_string())?;
    let parts = mode.checked_parts(Bytes::new(options.bytes)).map_err(|refused| refused.to_string())?;
    Ok(Report::new(mode_report(&mode), options.bytes, parts_report(&mode, &parts)))
}

fn mode_report(mode: &Mode) -> ModeReport {
    let choice = mode.choice();
    let is_standard = choice.rules == Rules::Standard;
    let has_ltf_sizes = matches!(choice.format, Format::He | Format::Eht) && is_standard;
    ModeReport {
        standard: choice.format.name(),
        rules: if is_standard { options::STANDARD } else { options::NS3 },
        band: choice.band.name(),
        width_mhz: choice.width.mhz(),
        mcs: Some(choice.mcs),
        streams: choice.streams,
        guard_interval_ns: Some(choice.guard_interval.time().as_nanos()),
        coding: is_standard.then_some(mode.coding().name()),
        ltf: has_ltf_sizes.then_some(mode.ltf().name()),
        data_rate_bps: mode.data_rate().as_bps(),
    }
}

fn parts_report(mode: &Mode, parts: &Airtime) -> Parts {
    Parts {
        preamble_ns: parts.preamble.as_nanos(),
        symbols: Some(parts.symbols),
        symbol_ns: Some(mode.symbol().as_nanos()),
        bits_per_symbol: Some(mode.bits_per_symbol()),
        ldpc_extra: parts.has_ldpc_extra,
        data_ns: parts.data.as_nanos(),
        packet_extension_ns: parts.packet_extension.as_nanos(),
        signal_extension_ns: parts.signal_extension.as_nanos(),
    }
}

/// The report as a table.
pub fn text(report: &Report) -> String {
    let (mut out, parts) = (head(&report.mode), &report.parts);
    let us = |ns: u64| format!("{:.1}", ns as f64 / 1e3);
    let mut row = |part: &str, ns: u64, note: &str| {
        let _ = writeln!(out, "{}", format!("{part:<17} {:>10}  {note}", us(ns)).trim_end());
    };
    row("preamble", parts.preamble_ns, "training and signal fields");
    row("data", parts.data_ns, &symbols(parts));
    if parts.packet_extension_ns > 0 {
        row("packet extension", parts.packet_extension_ns, "for the receiver to decode the last symbol");
    }
    if parts.signal_extension_ns > 0 {
        row("signal extension", parts.signal_extension_ns, "2.4 GHz: its SIFS is 6 us shorter");
    }
    row("airtime", report.airtime_ns, "");
    let mbps = |bps: u64| format!("{:.1} Mbit/s", bps as f64 / 1e6);
    let _ = writeln!(
        out,
        "\ndata rate {}; {} byte in {} us are {}, {:.1} % of it",
        mbps(report.mode.data_rate_bps),
        report.psdu_bytes,
        us(report.airtime_ns),
        mbps(report.psdu_rate_bps),
        100.0 * report.share
    );
    out
}

fn head(mode: &ModeReport) -> String {
    let mut words = vec![mode.standard.to_owned(), mode.band.to_owned(), format!("{} MHz", mode.width_mhz)];
    if let (Some(mcs), Some(guard)) = (mode.mcs, mode.guard_interval_ns) {
        words.push(format!("MCS {mcs}"));
        words.push(format!("{} {}", mode.streams, if mode.streams == 1 { "stream" } else { "streams" }));
        words.push(format!("guard interval {guard} ns"));
    }
    words.extend(mode.coding.map(str::to_uppercase));
    words.extend(mode.ltf.map(|ltf| format!("{ltf} LTF")));
    if mode.rules == options::NS3 {
        words.push("as ns-3 counts".to_owned());
    }
    format!("{}\n\n{:<17} {:>10}\n", words.join(", "), "part", "us")
}

/// The note on the data: "2 symbols of 13.6 us, 8166 bits each".
fn symbols(parts: &Parts) -> String {
    let (Some(count), Some(ns), Some(bits)) = (parts.symbols, parts.symbol_ns, parts.bits_per_symbol) else {
        return "no symbols to fill: rounded up to a microsecond".to_owned();
    };
    let s = if count == 1 { "symbol" } else { "symbols" };
    let mut note = format!("{count} {s} of {:.1} us, {bits} bits each", ns as f64 / 1e3);
    if parts.data_ns > count * ns {
        note.push_str(", rounded up to 4 us");
    }
    if parts.ldpc_extra {
        note.push_str(", LDPC's extra one or its part included");
    }
    note
}
