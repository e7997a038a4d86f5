//! The frequencies of a radio: whether channels that overlap disturb each other, and what else depends on frequencies.

use crate::phy::spectrum::{OperatingChannel, Shape};
use crate::scenario::error::Complaint;
use crate::scenario::reader::{View, quantity};
use crate::scenario::spec::{Mac, Spectrum};
use crate::scenario::tree::Data;
use airbraid_mac::phy::Standard;
use airbraid_mac::ppdu::Width;
use airbraid_units::{Db, Dbm, Quantity};
use std::fmt::Display;

/// Keys of this module.
pub(super) const KEYS: [&str; 3] = ["overlap", "isolation", "energy_detect"];

/// 20 dB above the minimum sensitivity of 6 Mbit/s: energy of any kind at which CCA of OFDM must be busy (802.11-2020,
/// 17.3.10.6, 19.3.19.5.2, 21.3.18.5.3).
const ENERGY_DETECT: Dbm = Dbm(-62.0);

/// The words of `overlap`.
const OVERLAPS: [(&str, bool); 2] = [("modelled", true), ("ignored", false)];

/// Reads the frequencies of a radio on a channel; `None`: it has none, or they are ignored.
pub(super) fn read(view: &View<'_>, number: u32, mac: &Mac) -> Option<Spectrum> {
    let Mac::Dcf(dcf) = mac else {
        let why = "channels of a radio that changes them, or is polled, are orthogonal";
        let is_modelled = view.choice("overlap", &OVERLAPS, false, why);
        let message = || "this `mac` has orthogonal channels".to_owned();
        view.require(!is_modelled, "overlap", message, "write overlap = \"ignored\", or leave it out");
        KEYS.iter().for_each(|key| view.know(key));
        return None;
    };
    let standard = dcf.phy.standard;
    let is_2_4_ghz = matches!(standard, Standard::Dot11b | Standard::Dot11g);
    let shape = if standard == Standard::Dot11b { Shape::Dsss } else { Shape::Ofdm(Width::Mhz20) };
    let channel = OperatingChannel::of_20_mhz(number, is_2_4_ghz).filter(|_| standard != Standard::Fhss);
    of_channel(view, channel, shape)
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
