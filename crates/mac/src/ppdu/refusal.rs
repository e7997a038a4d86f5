//! Combinations that the standard does not have, with what is near.

use super::PPDU_TIME_MAX;
use super::choice::{Band, Choice, Coding, Format, GuardInterval, Ltf, Padding, Rules, Width};
use airbraid_units::{Bytes, Duration};

/// A combination that the standard does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{missing}: {near}")]
pub struct Refusal {
    /// The part of the request that is wrong.
    pub missing: String,
    /// The values that are allowed or near.
    pub near: String,
}

fn refuse(missing: String, near: impl Into<String>) -> Refusal {
    Refusal { missing, near: near.into() }
}

impl Format {
    /// The widths that it has.
    pub fn widths(self) -> &'static [Width] {
        match self {
            Self::Ht => &Width::ALL[..2],
            Self::Vht | Self::He => &Width::ALL[..4],
            Self::Eht => &Width::ALL,
        }
    }
    /// The bands that it works in.
    pub fn bands(self) -> &'static [Band] {
        match self {
            Self::Ht => &Band::ALL[..2],
            Self::Vht => &Band::ALL[1..2],
            Self::He | Self::Eht => &Band::ALL,
        }
    }
    pub const fn mcs_max(self) -> u8 {
        match self {
            Self::Ht => 7,
            Self::Vht => 9,
            Self::He => 11,
            Self::Eht => 13,
        }
    }
    pub const fn streams_max(self) -> u8 {
        if matches!(self, Self::Ht) { 4 } else { 8 }
    }
    pub fn guard_intervals(self) -> &'static [GuardInterval] {
        if self.has_packet_extension() { &GuardInterval::ALL[1..] } else { &GuardInterval::ALL[..2] }
    }
}

/// Checks each part by itself, and band with width.
pub(super) fn check_common(choice: &Choice) -> Result<(), Refusal> {
    let (format, name) = (choice.format, choice.format.name());
    if !format.widths().contains(&choice.width) {
        let missing = format!("{name} has no width of {} MHz", choice.width.mhz());
        let has = list(format.widths().iter().map(|width| format!("{} MHz", width.mhz())));
        let later = later_with(|later| later.widths().contains(&choice.width));
        return Err(refuse(missing, format!("it has {has}{later}")));
    }
    if !format.bands().contains(&choice.band) {
        let missing = format!("{name} does not work in {}", choice.band.name());
        return Err(refuse(
            missing,
            format!("it works in {}", list(format.bands().iter().map(|b| b.name().to_owned()))),
        ));
    }
    check_band_width(choice)?;
    check_mcs(choice)?;
    if choice.streams == 0 || choice.streams > format.streams_max() {
        let missing = format!("{name} has no {} streams", choice.streams);
        return Err(refuse(missing, format!("1 to {}", format.streams_max())));
    }
    if !format.guard_intervals().contains(&choice.guard_interval) {
        let missing = format!("{name} has no guard interval of {}", choice.guard_interval.time());
        let has = format.guard_intervals().iter().map(|g| format!("{} ns", g.time().as_nanos()));
        return Err(refuse(missing, format!("it has {}", list(has))));
    }
    check_extension(choice)
}

fn check_band_width(choice: &Choice) -> Result<(), Refusal> {
    match (choice.band, choice.width) {
        (Band::Ghz2_4, Width::Mhz20 | Width::Mhz40) => Ok(()),
        (Band::Ghz2_4, wide) => {
            Err(refuse(format!("there is no channel of {} MHz in 2.4 GHz", wide.mhz()), "20 and 40 MHz"))
        }
        (Band::Ghz5, Width::Mhz320) => {
            Err(refuse("there is no channel of 320 MHz in 5 GHz".to_owned(), "up to 160 MHz, or the band 6 GHz"))
        }
        _ => Ok(()),
    }
}

fn check_mcs(choice: &Choice) -> Result<(), Refusal> {
    let (format, mcs) = (choice.format, choice.mcs);
    if mcs <= format.mcs_max() {
        return Ok(());
    }
    let near = match (format, mcs) {
        (Format::Ht, 8..=31) => format!("its MCS {mcs} is MCS {} with {} streams", mcs % 8, mcs / 8 + 1),
        (Format::Eht, 14 | 15) => "0 to 13; the duplicate and dual-carrier modes 14 and 15 are left out".to_owned(),
        _ => {
            format!("0 to {}{}", format.mcs_max(), later_with(|later| later.mcs_max() >= mcs))
        }
    };
    Err(refuse(format!("{} has no MCS {mcs} of one stream", format.name()), near))
}

fn check_extension(choice: &Choice) -> Result<(), Refusal> {
    if choice.padding == Padding::Us0 {
        return Ok(());
    }
    if !choice.format.has_packet_extension() {
        return Err(refuse(format!("{} has no packet extension", choice.format.name()), "802.11ax and 802.11be have"));
    }
    if choice.padding == Padding::Us20 && choice.format == Format::He {
        return Err(refuse("802.11ax has no packet extension of 20 us".to_owned(), "0, 8 or 16 us; 802.11be has 20"));
    }
    if choice.rules == Rules::Ns3 {
        return Err(refuse("ns-3 has no packet extension".to_owned(), "0 us, or the rules of the standard"));
    }
    Ok(())
}

/// The code of a choice: HE and EHT have BCC up to 20 MHz, 4 streams and MCS 9 (27.3.12.5, 36.3.13.3).
pub(super) fn coding(choice: &Choice) -> Result<Coding, Refusal> {
    let is_beyond_bcc =
        choice.format.has_packet_extension() && (choice.width > Width::Mhz20 || choice.streams > 4 || choice.mcs > 9);
    match choice.coding {
        // ns-3 counts BCC's tail in every symbol count.
        None if choice.rules == Rules::Ns3 => Ok(Coding::Bcc),
        None if is_beyond_bcc => Ok(Coding::Ldpc),
        None => Ok(Coding::Bcc),
        Some(Coding::Bcc) if is_beyond_bcc => {
            let missing = format!("{} has no BCC here", choice.format.name());
            Err(refuse(missing, "it is for 20 MHz, at most 4 streams, MCS 0 to 9; else ldpc"))
        }
        Some(Coding::Ldpc) if choice.rules == Rules::Ns3 => {
            Err(refuse("ns-3 counts no LDPC".to_owned(), "bcc, or the rules of the standard"))
        }
        Some(coding) => Ok(coding),
    }
}

/// The training symbols of a choice (27.3.11.10, 36.3.12.10).
pub(super) fn ltf(choice: &Choice) -> Result<Ltf, Refusal> {
    let usual = if choice.guard_interval == GuardInterval::Ns3200 { Ltf::X4 } else { Ltf::X2 };
    let Some(ltf) = choice.ltf else { return Ok(usual) };
    let name = choice.format.name();
    if !choice.format.has_packet_extension() {
        return Err(refuse(format!("{name} has training fields of one size"), "leave the size out"));
    }
    if choice.rules == Rules::Ns3 {
        return Err(refuse("ns-3 has training fields of 8 us only".to_owned(), "leave the size out"));
    }
    let has = match (choice.guard_interval, choice.format) {
        (GuardInterval::Ns800, Format::He) => &Ltf::ALL[..],
        (GuardInterval::Ns800, _) => &Ltf::ALL[1..],
        (GuardInterval::Ns3200, _) => &Ltf::ALL[2..],
        _ => &Ltf::ALL[1..2],
    };
    if has.contains(&ltf) {
        return Ok(ltf);
    }
    let missing = format!(
        "{name} has no {} LTF with a guard interval of {} ns",
        ltf.name(),
        choice.guard_interval.time().as_nanos()
    );
    Err(refuse(missing, format!("it has {}", list(has.iter().map(|l| l.name().to_owned())))))
}

/// The refusal of a combination of MCS, width and streams, with the nearest that `is_left_out` does not name.
pub(super) fn left_out(choice: &Choice, is_left_out: fn(Width, u8, u8) -> bool) -> Refusal {
    let Choice { width, mcs, streams, .. } = *choice;
    let s = if streams == 1 { "stream" } else { "streams" };
    let missing = format!("802.11ac has no MCS {mcs} at {} MHz with {streams} {s} (802.11-2020, 21.5)", width.mhz());
    let others = (1..=Format::Vht.streams_max()).filter(|n| !is_left_out(width, mcs, *n)).map(|n| n.to_string());
    let wider = Format::Vht.widths().iter().find(|w| **w > width && !is_left_out(**w, mcs, streams));
    let wider = wider.map_or_else(String::new, |w| format!(", or {} MHz", w.mhz()));
    refuse(missing, format!("near are MCS {}, or {} streams{wider}", mcs - 1, list(others)))
}

pub(super) fn size(format: Format, psdu: Bytes, most: Bytes) -> Refusal {
    refuse(format!("{} has no PSDU of {} byte", format.name(), psdu.as_u64()), format!("1 to {}", most.as_u64()))
}

pub(super) fn time(asked: Duration, longest: Bytes) -> Refusal {
    let missing = format!("the PPDU would last {asked}, and the longest lasts {PPDU_TIME_MAX}");
    refuse(missing, format!("at most {} byte fit", longest.as_u64()))
}

/// The first format that has what is asked for, as "; 802.11be has it".
fn later_with(has: impl Fn(Format) -> bool) -> String {
    let later = Format::ALL.into_iter().find(|later| has(*later));
    later.map_or_else(String::new, |later| format!("; {} has it", later.name()))
}

/// Values as "a, b and c".
fn list(values: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = values.collect();
    match all.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => all.join(""),
    }
}
