//! The frequencies of a radio: its channel, and whether channels that overlap disturb each other.

use crate::phy::spectrum::{Ask, OperatingChannel, Shape, Side};
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, quantity};
use crate::scenario::spec::{Mac, Spectrum};
use crate::scenario::tree::Data;
use airbraid_mac::edca::Vector;
use airbraid_mac::phy::Standard;
use airbraid_mac::ppdu::{Band, Choice, Format, Width};
use airbraid_units::{Db, Dbm, Quantity};
use std::fmt::Display;

/// Keys of this module.
pub(super) const KEYS: [&str; 5] = ["overlap", "isolation", "energy_detect", "primary", "secondary"];

/// 20 dB above the minimum sensitivity of 6 Mbit/s: energy of any kind at which CCA of OFDM must be busy (802.11-2020,
/// 17.3.10.6, 19.3.19.5.2, 21.3.18.5.3).
const ENERGY_DETECT: Dbm = Dbm(-62.0);

/// The words of `overlap`.
const OVERLAPS: [(&str, bool); 2] = [("modelled", true), ("ignored", false)];

/// The band in which a standard has a channel: the first of 5, 2.4 and 6 GHz, the last for numbers below those of 5 GHz
/// alone; where there is none 5 GHz, with 320 MHz 6 GHz.
pub(super) fn band_of(format: Format, width: Width, channel: Option<u32>) -> Band {
    let bands: &[Band] = match format {
        Format::Ht => &[Band::Ghz5, Band::Ghz2_4],
        Format::Vht => &[Band::Ghz5],
        Format::He | Format::Eht => &[Band::Ghz5, Band::Ghz2_4, Band::Ghz6],
    };
    /// Lowest number in 5 GHz.
    const LOWEST: u32 = 36;
    let has = |band: &&Band| {
        let ask = |number| Ask { band: **band, width, number, primary: None, secondary: None };
        let is_clear = |number: &u32| **band != Band::Ghz6 || *number < LOWEST;
        channel.filter(is_clear).is_some_and(|number| OperatingChannel::new(ask(number)).is_ok())
    };
    let usual = if width == Width::Mhz320 { Band::Ghz6 } else { Band::Ghz5 };
    bands.iter().find(has).copied().unwrap_or(usual)
}

/// The centre of a channel \[MHz\]; without a number, or where there is no such channel, about that of the band.
pub(super) fn centre_mhz(band: Band, width: Width, number: Option<u32>) -> u32 {
    let ask = |number| Ask { band, width, number, primary: None, secondary: None };
    let channel = number.and_then(|number| OperatingChannel::new(ask(number)).ok());
    channel.map_or(
        match band {
            Band::Ghz2_4 => 2_437,
            Band::Ghz5 => 5_500,
            Band::Ghz6 => 6_500,
        },
        |channel| channel.centre_mhz(),
    )
}

/// Reads the frequencies of a radio on a channel, or without a number defaults for radios; `None`: it has none, or they
/// are ignored.
pub(super) fn read(view: &View<'_>, number: Option<u32>, mac: &Mac) -> Option<Spectrum> {
    match mac {
        Mac::Edca(config) => match &config.data {
            Vector::Mode(mode) => newer(view, number, mode.choice()),
            Vector::NonHt(_) => older(view, number, config.phy.standard),
        },
        Mac::Dcf(dcf) => older(view, number, dcf.phy.standard),
        _ => {
            let why = "channels of a radio that changes them, or is polled, are orthogonal";
            let is_modelled = view.choice("overlap", &OVERLAPS, false, why);
            let message = || "this `mac` has orthogonal channels".to_owned();
            view.require(!is_modelled, "overlap", message, "write overlap = \"ignored\", or leave it out");
            KEYS.iter().for_each(|key| view.know(key));
            None
        }
    }
}

fn older(view: &View<'_>, number: Option<u32>, standard: Standard) -> Option<Spectrum> {
    for key in ["primary", "secondary"] {
        let message = || format!("`{key}` is of wide channels, from 802.11n on");
        view.require(view.find(key).is_none(), key, message, "leave it out");
    }
    let is_2_4_ghz = matches!(standard, Standard::Dot11b | Standard::Dot11g);
    let shape = if standard == Standard::Dot11b { Shape::Dsss } else { Shape::Ofdm(Width::Mhz20) };
    let channel = number.filter(|_| standard != Standard::Fhss);
    let channel = channel.and_then(|number| OperatingChannel::of_20_mhz(number, is_2_4_ghz));
    of_channel(view, channel, shape)
}

/// A radio of 802.11n and later: its channel must be one of the standard.
fn newer(view: &View<'_>, number: Option<u32>, choice: &Choice) -> Option<Spectrum> {
    let Choice { band, width, .. } = *choice;
    let primary = view.optional("primary", "the channel's number, or its lowest 20 MHz", reader::count);
    let sides = [("above", Side::Above), ("below", Side::Below)];
    let why = "40 MHz in 2.4 GHz: above up to channel 7, below from 8";
    let secondary = view.optional("secondary", why, |value| reader::choose(value, &sides));
    let is_in_2_4_ghz = (band, width) == (Band::Ghz2_4, Width::Mhz40);
    let message = || "only 40 MHz in 2.4 GHz have a choice of sides".to_owned();
    view.require(secondary.is_none() || is_in_2_4_ghz, "secondary", message, "leave it out");
    let shape = match choice.format {
        Format::Ht | Format::Vht => Shape::Ofdm(width),
        Format::He | Format::Eht => Shape::Dense(width),
    };
    let channel = number.map(|number| OperatingChannel::new(Ask { band, width, number, primary, secondary }));
    let spectrum = of_channel(view, channel.as_ref().and_then(|channel| channel.as_ref().ok().copied()), shape);
    if let Some(Err(refused)) = channel {
        let key = if primary.is_some() { "primary" } else { "channel" };
        view.complain(key, Complaint::new(refused.message, refused.help));
    }
    spectrum
}

fn of_channel(view: &View<'_>, channel: Option<OperatingChannel>, shape: Shape) -> Option<Spectrum> {
    let is_modelled = view.choice("overlap", &OVERLAPS, true, "channels that overlap disturb each other");
    view.apply(is_modelled);
    let isolation = level::<Db>(view, "isolation", None, "radios of one node do not disturb each other");
    let (default, why) = match shape {
        // CCA mode 2 of 16.3.8.5: only a DSSS signal makes the medium busy, and that of another channel is none.
        Shape::Dsss => (None, "802.11-2020, 16.3.8.5: CCA mode 2, only frames make the medium busy"),
        Shape::Ofdm(_) | Shape::Dense(_) => (Some(ENERGY_DETECT), "802.11-2020, 17.3.10.6: any energy"),
    };
    let energy_detect = level(view, "energy_detect", default, why);
    view.apply(true);
    let channel = channel.filter(|_| is_modelled)?;
    Some(Spectrum { channel, shape, isolation, energy_detect })
}

/// A level, or `"none"`.
fn level<Q: Quantity + Display + Copy>(view: &View<'_>, key: &'static str, default: Option<Q>, why: &str) -> Option<Q> {
    let show = |level: Option<Q>| level.map_or_else(|| "none".to_owned(), |level| level.to_string());
    let mut level = default;
    view.read(key, show(default), why, |value| -> Result<String, Complaint> {
        level = match &value.data {
            Data::Text(word) if word == "none" => None,
            _ => Some(quantity(value)?),
        };
        Ok(show(level))
    });
    level
}
