//! Airtime under 802.11b, a and g.

use super::{AirtimeOptions, Report, options, rates};
use crate::slots::options::quantity;
use airbraid_sim::models::airtime::{Band, Phy, Preamble, Standard};
use airbraid_units::{BitRate, Bytes, Duration};

/// The longest PSDU: LENGTH of OFDM's SIGNAL field has 12 bits (17.3.4.3); aMPDUMaxLength of HR/DSSS (table 16-4).
const PSDU_MAX: u64 = 4_095;
/// A symbol of OFDM at 20 MHz (table 17-5).
const SYMBOL: Duration = Duration::from_micros(4);
/// Preamble and SIGNAL of OFDM (table 17-5).
const OFDM_PREAMBLE: Duration = Duration::from_micros(20);
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
    let size = Bytes::new(asked.bytes);
    let times = Times::new(&phy, phy.txtime(rate, size), phy.txtime(rate, Bytes::ZERO));
    Ok(times.report(asked, name, band, rate.bit_rate))
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

/// The parts of a PPDU.
struct Times {
    total: Duration,
    preamble: Duration,
    symbols: Option<u64>,
    extension: Duration,
}

impl Times {
    /// `empty` is the time of no PSDU at all: of HR/DSSS that is the preamble.
    fn new(phy: &Phy, total: Duration, empty: Duration) -> Self {
        let is_ofdm = phy.standard != Standard::Dot11b;
        let extension = if phy.standard == Standard::Dot11g { SIGNAL_EXTENSION } else { Duration::ZERO };
        let preamble = if is_ofdm { OFDM_PREAMBLE } else { empty };
        let symbols = is_ofdm.then(|| (total - preamble - extension).div_floor(SYMBOL));
        Self { total, preamble, symbols, extension }
    }

    fn report(&self, asked: &AirtimeOptions, standard: &'static str, band: Band, rate: BitRate) -> Report {
        let (psdu_rate_bps, share) = rates(Bytes::new(asked.bytes), self.total, rate);
        let is_ofdm = self.symbols.is_some();
        Report {
            airtime_ns: self.total.as_nanos(),
            standard,
            rules: if asked.rules == options::NS3 { options::NS3 } else { options::STANDARD },
            band: band.name(),
            width_mhz: if is_ofdm { 20 } else { 22 },
            mcs: None,
            streams: 1,
            guard_interval_ns: is_ofdm.then_some(800),
            coding: None,
            ltf: None,
            psdu_bytes: asked.bytes,
            preamble_ns: self.preamble.as_nanos(),
            symbols: self.symbols,
            symbol_ns: is_ofdm.then_some(SYMBOL.as_nanos()),
            bits_per_symbol: is_ofdm.then_some(rate.as_bps() * 4 / 1_000_000),
            ldpc_extra: false,
            data_ns: (self.total - self.preamble - self.extension).as_nanos(),
            packet_extension_ns: 0,
            signal_extension_ns: self.extension.as_nanos(),
            data_rate_bps: rate.as_bps(),
            psdu_rate_bps,
            share,
        }
    }
}
