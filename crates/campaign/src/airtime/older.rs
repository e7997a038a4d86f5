//! Airtime under 802.11b, a and g.

use super::{AirtimeOptions, ModeReport, Parts, Report, options};
use crate::slots::options::quantity;
use airbraid_sim::models::airtime::{Band, Phy, Preamble, Rate, Standard};
use airbraid_units::{BitRate, Bytes, Duration};

/// The longest PSDU: LENGTH of OFDM's SIGNAL field has 12 bits (17.3.4.3); aMPDUMaxLength of HR/DSSS (table 16-4).
const PSDU_MAX: u64 = 4_095;
/// A symbol of OFDM at 20 MHz (table 17-5).
const SYMBOL: Duration = Duration::from_micros(4);
/// Preamble and SIGNAL of OFDM (table 17-5).
const OFDM_PREAMBLE: Duration = Duration::from_micros(20);
/// T_GI of OFDM at 20 MHz (table 17-5).
const OFDM_GUARD_INTERVAL: Duration = Duration::from_nanos(800);
const OFDM_WIDTH_MHZ: u32 = 20;
/// The width of HR/DSSS's transmit mask between its first steps (16.3.7.4).
const DSSS_WIDTH_MHZ: u32 = 22;
/// The signal extension of ERP-OFDM (18.3.2.4).
const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);

/// Computes the airtime.
///
/// # Errors
/// A message that names the wrong option.
pub(super) fn compute(asked: &AirtimeOptions) -> Result<Report, String> {
    let (standard, name, band) = match asked.standard.as_str() {
        "802.11a" => (Standard::Dot11a, "802.11a", Band::Ghz5),
        "802.11g" => (Standard::Dot11g, "802.11g", Band::Ghz2_4),
        _ => (Standard::Dot11b, "802.11b", Band::Ghz2_4),
    };
    if let Some(option) = asked.newer() {
        return Err(format!("--{option}: {name} has one width and one stream, and --rate instead of --mcs"));
    }
    if asked.band()?.is_some_and(|given| given != band) {
        return Err(format!("{name} works in {}", band.name()));
    }
    if asked.bytes == 0 || asked.bytes > PSDU_MAX {
        return Err(format!("{name} has no PSDU of {} byte: 1 to {PSDU_MAX}", asked.bytes));
    }
    let phy = Phy::new(standard, preamble(asked, standard)?);
    let all: Vec<_> = standard.rates().iter().map(|rate| rate.bit_rate.to_string()).collect();
    let Some(text) = &asked.rate else { return Err(format!("--rate is missing: {name} has {}", all.join(", "))) };
    let asked_rate: BitRate = quantity("rate", text)?;
    let rate = standard.rate(asked_rate).ok_or_else(|| format!("--rate {text}: {name} has {}", all.join(", ")))?;
    let mode = ModeReport {
        standard: name,
        rules: if asked.rules == options::NS3 { options::NS3 } else { options::STANDARD },
        band: band.name(),
        width_mhz: if standard == Standard::Dot11b { DSSS_WIDTH_MHZ } else { OFDM_WIDTH_MHZ },
        mcs: None,
        streams: 1,
        guard_interval_ns: (standard != Standard::Dot11b).then_some(OFDM_GUARD_INTERVAL.as_nanos()),
        coding: None,
        ltf: None,
        data_rate_bps: rate.bit_rate.as_bps(),
    };
    Ok(Report::new(mode, asked.bytes, parts(&phy, rate, Bytes::new(asked.bytes))))
}

fn preamble(asked: &AirtimeOptions, standard: Standard) -> Result<Preamble, String> {
    match asked.preamble.as_deref() {
        Some("short" | "long") if standard != Standard::Dot11b => {
            Err("--preamble: only 802.11b has a choice".to_owned())
        }
        None | Some("long") => Ok(Preamble::Long),
        Some("short") => Ok(Preamble::Short),
        Some(other) => Err(format!("--preamble {other}: allowed are long, short")),
    }
}

/// The parts of a PPDU. Without a PSDU that of HR/DSSS is its preamble.
fn parts(phy: &Phy, rate: Rate, psdu: Bytes) -> Parts {
    let is_ofdm = phy.standard != Standard::Dot11b;
    let extension = if phy.standard == Standard::Dot11g { SIGNAL_EXTENSION } else { Duration::ZERO };
    let preamble = if is_ofdm { OFDM_PREAMBLE } else { phy.txtime(rate, Bytes::ZERO) };
    let data = phy.txtime(rate, psdu) - preamble - extension;
    let of_ofdm = |value: u64| is_ofdm.then_some(value);
    Parts {
        preamble_ns: preamble.as_nanos(),
        symbols: of_ofdm(data.div_floor(SYMBOL)),
        symbol_ns: of_ofdm(SYMBOL.as_nanos()),
        bits_per_symbol: of_ofdm(rate.bit_rate.as_bps() * SYMBOL.as_micros() / 1_000_000),
        ldpc_extra: false,
        data_ns: data.as_nanos(),
        packet_extension_ns: 0,
        signal_extension_ns: extension.as_nanos(),
    }
}
