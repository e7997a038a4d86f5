//! 802.11n to 802.11be against closed forms that were written apart from the MAC (`docs/models/wifi-saturation.md`):
//! the tables of `docs/validation.md`.
//!
//! `cargo test -p airbraid-tests --test wifi -- --nocapture` prints them.

use airbraid_mac::phy::{OFDM_RATES, Phy, Preamble, Rate, Standard};
use airbraid_mac::ppdu::{Band, Choice, Format, GuardInterval, Mode, Width};
use airbraid_sim::models::wifi::{
    Access, Aggregation, Cell, Countdown, Exchange, Repair, Sender, Sending, Station, simulate,
};
use airbraid_tests::{row, run, spec};
use airbraid_units::{Bytes, Duration};
use std::fmt::Write;

/// Payload of a datagram \[byte\].
const PAYLOAD: u64 = 1_472;
/// A category's name, AIFSN, CWmin and CWmax (802.11-2020, table 9-155).
type Category = (&'static str, u32, u32, u32);
const BE: Category = ("be", 3, 15, 1_023);
const BK: Category = ("bk", 7, 15, 1_023);
const VI: Category = ("vi", 2, 7, 15);
const VO: Category = ("vo", 2, 3, 7);

/// A saturated cell around an access point.
#[derive(Clone, Copy, Debug)]
struct Case {
    format: Format,
    width: Width,
    mcs: u8,
    streams: u8,
    guard: GuardInterval,
    ampdu: bool,
    rts: bool,
    /// The TXOP limit \[us\].
    txop: u64,
    stations: u32,
    category: Category,
    /// A second category with as many stations.
    beside: Option<Category>,
}

impl Case {
    const fn new(format: Format, width: Width, mcs: u8) -> Self {
        let (streams, guard, ampdu, rts, txop) = (1, GuardInterval::Ns800, true, false, 0);
        Self { format, width, mcs, streams, guard, ampdu, rts, txop, stations: 1, category: BE, beside: None }
    }

    fn name(&self) -> String {
        let mut name = format!("{}, {} MHz, MCS {}", self.format.name(), self.width.mhz(), self.mcs);
        if self.streams > 1 {
            let _ = write!(name, " x {}", self.streams);
        }
        if self.guard != GuardInterval::Ns800 {
            let _ = write!(name, ", {} ns", self.guard.time().as_nanos());
        }
        let _ = write!(name, ", {} {}", self.stations, self.category.0);
        if let Some(beside) = self.beside {
            let _ = write!(name, " + {} {}", self.stations, beside.0);
        }
        name += if self.ampdu { ", A-MPDU" } else { ", single" };
        name += if self.rts { ", RTS" } else { "" };
        if self.txop > 0 {
            let _ = write!(name, ", TXOP {} us", self.txop);
        }
        name
    }

    fn mode(&self) -> Mode {
        let band = if self.width == Width::Mhz320 { Band::Ghz6 } else { Band::Ghz5 };
        let (width, mcs, streams, guard_interval) = (self.width, self.mcs, self.streams, self.guard);
        let choice = Choice { band, width, mcs, streams, guard_interval, ..Choice::new(self.format) };
        Mode::new(choice).unwrap_or_else(|refused| panic!("{}: {refused}", self.name()))
    }

    /// Seconds of a run: as many accesses as a mean within half a percent takes.
    fn seconds(&self) -> f64 {
        let exchange = self.sender().exchange().success.as_secs_f64();
        let accesses = if self.stations == 1 && self.beside.is_none() { 1_500.0 } else { 15_000.0 };
        (accesses * (exchange + 60e-6)).clamp(0.2, 60.0)
    }

    fn scenario(&self) -> String {
        let (ampdu, rts) = (if self.ampdu { "longest" } else { "off" }, if self.rts { "0 byte" } else { "off" });
        let groups = 1 + u32::from(self.beside.is_some());
        let mut text = format!(
            r#"
schema = 1
title  = "Saturated"
question = "Is this EDCA the one of the model?"
[run]
duration = "{:.6} s"
warm_up  = "50 ms"
[topology]
shape  = "circle"
count  = {}
radius = "10 cm"
radios = [{}]
[radio]
standard         = "{}"
band             = "{}"
width            = "{} MHz"
mcs              = {}
streams          = {}
guard_interval   = "{} ns"
ampdu            = "{ampdu}"
rts_threshold    = "{rts}"
txop             = "{} us"
eifs             = false
{}queue            = 2100
"#,
            self.seconds() + 0.05,
            groups * self.stations + 1,
            // 320 MHz are in the band of 6 GHz alone.
            if self.width == Width::Mhz320 { 31 } else { 36 },
            self.format.name(),
            self.mode().choice().band.name(),
            self.width.mhz(),
            self.mcs,
            self.streams,
            self.guard.time().as_nanos(),
            self.txop,
            if self.ampdu { "block_ack_repair = \"retransmit\"\n" } else { "" },
        );
        for station in 0..groups * self.stations {
            let category = if station < self.stations { self.category } else { self.beside.unwrap_or(self.category) };
            let _ = write!(
                text,
                r#"
[[flow]]
name      = "f{station}"
from      = "n{}"
to        = "n1"
transport = {{ udp = "{PAYLOAD} byte" }}
access    = "{}"
"#,
                station + 2,
                category.0,
            );
        }
        text
    }

    /// Goodput of the stations of each category together \[Mbit/s\].
    fn simulated(&self) -> Vec<f64> {
        let flows = run(&spec(&self.scenario())).result.flows;
        let groups = flows.chunks(self.stations as usize);
        groups.map(|group| group.iter().map(|flow| flow.goodput_bps).sum::<f64>() / 1e6).collect()
    }

    fn sender(&self) -> Sender {
        let mode = self.mode();
        let window = match self.format {
            Format::Ht | Format::Vht => 64,
            Format::He => 256,
            Format::Eht => 1_024,
        };
        // The A-MPDU exponent of VHT ends at 2^20 - 1 (9.4.2.157.2).
        let longest = if self.format == Format::Vht { Bytes::new(1_048_575) } else { self.format.psdu_max() };
        let aggregation = self.ampdu.then_some(Aggregation { bytes: longest, frames: window, window });
        let control = answer_rate(self.mcs);
        Sender {
            sending: Sending::Ppdu(mode),
            phy: Phy::new(Standard::Dot11a, Preamble::Long),
            packet: Bytes::new(PAYLOAD + 28),
            llc: Bytes::new(8),
            header: Bytes::new(30),
            amsdu: 1,
            aggregation,
            control,
            response: control,
            rts: self.rts,
            txop: Duration::from_micros(self.txop),
        }
    }

    /// The same by the model: exact for one sender, by draws for several.
    fn computed(&self) -> Vec<f64> {
        let (sender, bits) = (self.sender(), PAYLOAD * 8);
        if self.stations == 1 && self.beside.is_none() {
            return vec![sender.alone_bps(&access(self.category), bits) / 1e6];
        }
        let exchange: Exchange = sender.exchange();
        let phy = sender.phy;
        let each = self.stations as usize;
        let station = |category: Category| {
            let access = access(category);
            Station { access, aifs: access.aifs(&phy), exchange, repair: Repair::Again }
        };
        let categories = std::iter::once(self.category).chain(self.beside);
        let cell = Cell {
            stations: categories.flat_map(|category| std::iter::repeat_n(station(category), each)).collect(),
            slot: phy.slot,
            turnaround: phy.turnaround,
            countdown: Countdown::Edca,
            captures: false,
            after_error: Duration::ZERO,
        };
        let seconds = 10.0 * self.seconds();
        let results = simulate(&cell, Duration::from_secs_f64(seconds), 1);
        let groups = results.chunks(each);
        groups.map(|group| group.iter().map(|one| one.packets * bits).sum::<u64>() as f64 / seconds / 1e6).collect()
    }
}

/// The rate of an answer: the highest of 6, 12 and 24 Mbit/s that is not above the non-HT reference rate of the MCS
/// (table 10-10).
fn answer_rate(mcs: u8) -> Rate {
    OFDM_RATES[match mcs {
        0 => 0,
        1 | 2 => 2,
        _ => 4,
    }]
}

const fn access((_, aifsn, cw_min, cw_max): Category) -> Access {
    // QSRC counts to 7, and the next failure resets it (10.23.2.2).
    Access { aifsn, cw_min, cw_max, reset_at: Some(8) }
}

/// Largest deviation from the model, as a share of what all stations get.
const TOLERANCE: f64 = 0.02;

/// Prints the cases, each with the goodput of both, and returns the number of those that are off. A category of two is
/// judged by what both get together.
fn compare(cases: &[Case]) -> u32 {
    let mut off = 0;
    for case in cases {
        let (computed, simulated) = (case.computed(), case.simulated());
        let total: f64 = computed.iter().sum();
        let categories = std::iter::once(case.category).chain(case.beside);
        for ((computed, simulated), category) in computed.iter().zip(&simulated).zip(categories) {
            let of = if case.beside.is_some() { format!(": {}", category.0) } else { String::new() };
            let allowed = TOLERANCE * total / computed;
            let deviation = row(&format!("{}{of}", case.name()), *computed, *simulated, allowed);
            off += u32::from(deviation.abs() > allowed);
        }
    }
    off
}

/// Every width of a format with these MCS.
fn grid(format: Format, widths: &[Width], mcs: &[u8]) -> Vec<Case> {
    let of = |width: &Width| mcs.iter().map(|&mcs| Case::new(format, *width, mcs)).collect::<Vec<_>>();
    widths.iter().flat_map(of).collect()
}

const HEAD: &str = "| cell | computed Mbit/s | simulated Mbit/s | deviation | allowed | |\n|---|---|---|---|---|---|";

#[test]
fn one_sender_carries_the_closed_form() {
    use Width::{Mhz20, Mhz40, Mhz80, Mhz160, Mhz320};
    println!("{HEAD}");
    let (he, eht) = (Case::new(Format::He, Mhz20, 7), Case::new(Format::Eht, Mhz80, 11));
    let mut cases = [
        grid(Format::Ht, &[Mhz20, Mhz40], &[0, 3, 5, 7]),
        grid(Format::Vht, &[Mhz20, Mhz40, Mhz80, Mhz160], &[0, 4, 8]),
        grid(Format::He, &[Mhz20, Mhz40, Mhz80, Mhz160], &[0, 5, 9, 11]),
        grid(Format::Eht, &[Mhz20, Mhz40, Mhz80, Mhz160, Mhz320], &[0, 7, 13]),
    ]
    .concat();
    // One MPDU an access, RTS, TXOPs, other categories, guard intervals and streams.
    let singles = [Format::Ht, Format::Vht, Format::He, Format::Eht].map(|format| Case::new(format, Mhz20, 7));
    cases.extend(singles.map(|case| Case { ampdu: false, ..case }));
    cases.extend(singles.map(|case| Case { rts: true, ..case }));
    cases.extend(singles.map(|case| Case { ampdu: false, txop: 4_096, ..case }));
    cases.extend(singles.map(|case| Case { txop: 2_528, ..case }));
    cases.extend([VO, VI, BK].map(|category| Case { category, ..he }));
    cases.extend([VO, VI, BK].map(|category| Case { category, ampdu: false, ..eht }));
    cases.extend([GuardInterval::Ns1600, GuardInterval::Ns3200].map(|guard| Case { guard, ..he }));
    cases.extend([2, 4, 8].map(|streams| Case { streams, ..eht }));
    cases.push(Case { guard: GuardInterval::Ns400, ..Case::new(Format::Vht, Mhz80, 9) });
    assert!(cases.len() >= 75, "{} cells", cases.len());
    assert_eq!(compare(&cases), 0, "cells beyond their tolerance");
}

#[test]
fn stations_that_contend_carry_what_the_model_draws() {
    println!("{HEAD}");
    let mut cases = Vec::new();
    for stations in [2, 5, 10, 20] {
        let wide = Case { stations, ..Case::new(Format::Eht, Width::Mhz80, 13) };
        let he = Case { stations, ..Case::new(Format::He, Width::Mhz20, 7) };
        let ht = Case { stations, ..Case::new(Format::Ht, Width::Mhz20, 7) };
        let vht = Case { stations, ..Case::new(Format::Vht, Width::Mhz80, 8) };
        cases.extend([Case { ampdu: false, ..he }, Case { rts: true, ..he }, he]);
        cases.extend([Case { ampdu: false, ..ht }, ht, vht, Case { ampdu: false, ..wide }]);
    }
    assert_eq!(compare(&cases), 0, "cells beyond their tolerance");
}

#[test]
fn categories_share_as_the_model_draws() {
    println!("{HEAD}");
    let he = Case { ampdu: false, ..Case::new(Format::He, Width::Mhz20, 7) };
    let ht = Case::new(Format::Ht, Width::Mhz40, 7);
    let pairs = [(VO, BE), (VI, BE), (BE, BK), (VO, VI), (VI, BK), (BE, BE)];
    let of = |case: Case| pairs.map(|(category, beside)| Case { category, beside: Some(beside), ..case });
    let several = Case { stations: 4, category: VI, beside: Some(BE), ..he };
    let cases = [&of(he)[..], &of(ht)[..], &[several, Case { category: BE, beside: Some(BK), ..several }]].concat();
    assert_eq!(compare(&cases), 0, "cells beyond their tolerance");
}
