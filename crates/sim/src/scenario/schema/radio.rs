//! `[radio]` and each radio's own table: the PHY, the medium access, power, thresholds, and the models of the channel.
//!
//! Defaults: 802.11-2020 for the MAC (`DcfConfig::new`), ns-2's for the radio (two-ray ground, 24.5 dBm, 250 m
//! reception, 550 m carrier sense, capture 10 dB), because that is what most published wireless simulations ran with. A
//! radio whose `standard` differs from that of `[radio]` inherits from there only what does not belong to a PHY.

use super::medium_access::{basic_rates, eifs, rate, rate_control, retry_limit, rts_threshold, small, timing};
use super::path_loss::path_loss;
use super::standard::{Named, STANDARDS, name_of, standard_name};
use super::{edca, link as plain_link, link_layer, multichannel, polled, power_save, survey};
use crate::phy::{ErrorModel, PathLoss, RadioConfig, Receiver, Threshold};
use crate::scenario::error::Complaint;
use crate::scenario::frequency::Frequency;
use crate::scenario::reader::{self, View, probability, quantity};
use crate::scenario::spec::{DeliveryLoss, Mac};
use crate::scenario::tree::Data;
use airbraid_engine::link;
use airbraid_mac::dcf::DcfConfig;
use airbraid_mac::phy::{Preamble, Standard};
use airbraid_mac::ppdu::Format;
use airbraid_mac::rate_control::RateControl;
use airbraid_net::loss::Loss;
use airbraid_units::{Db, Dbm, Metres, Milliwatt, Probability};

/// The medium access of a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "an access point is called so")]
enum Access {
    Dcf,
    Polled,
    Mcmac,
    BiMcmac,
    AccessPoint,
    Slotted,
}

const ACCESSES: [(&str, Access); 6] = [
    ("dcf", Access::Dcf),
    ("polled", Access::Polled),
    ("mcmac", Access::Mcmac),
    ("bi_mcmac", Access::BiMcmac),
    ("access_point", Access::AccessPoint),
    ("slotted", Access::Slotted),
];
/// Keys that mean something for one PHY only: not inherited by a radio of another standard.
const OF_THE_PHY: &[&str] = &[
    "rate",
    "rate_control",
    "burst",
    "basic_rates",
    "broadcast_rate",
    "preamble",
    "slot",
    "sifs",
    "turnaround",
    "rx_start_delay",
    "cw_min",
    "cw_max",
    "noise",
    "edca",
    "band",
    "width",
    "mcs",
    "streams",
    "guard_interval",
    "coding",
    "ltf",
    "packet_extension",
    "rules",
    "ampdu",
    "ampdu_frames",
    "amsdu",
    "block_ack_window",
    "block_ack_repair",
    "block_ack_retry_limit",
    "txop",
    "aifsn",
    "retry_limit",
    "primary",
    "secondary",
    "bandwidth",
    "protection",
    "block_ack_setup",
    "beacons",
];
/// Number of those, the last ones, that mean the same for every PHY from 802.11n on.
const OF_NEWER_PHYS: usize = 2;

/// Reads everything of a radio but its name and channel, whose number is asked for the band.
pub(super) fn read(view: &mut View<'_>, channel: Option<u32>) -> (RadioConfig, Mac, Option<link::Config>) {
    let access = view.choice("mac", &ACCESSES, Access::Dcf, "the medium access of 802.11");
    if access == Access::Polled {
        let access = polled::read(view);
        let link_layer = link_layer::of_radio(view, &access);
        // WaveLAN's band is as wide as that of 802.11b.
        return (radio(view, Named::Older(Standard::Dot11b), channel), Mac::Polled(access), link_layer);
    }
    let named = standard(view);
    let message = || "local error control waits for its turn, and under DCF nobody gives one".to_owned();
    let own = view.own_table().is_some_and(|table| table.get("link_layer").is_some());
    view.require(!own, "link_layer", message, "add mac = \"polled\", or leave it out: DCF repeats by itself");
    view.know("link_layer");
    let standard = match named {
        Named::Newer(format) => return (radio(view, named, channel), newer(view, access, format, channel), None),
        Named::Older(standard) => standard,
    };
    let has_edca = view.flag("edca", false, "DCF: 802.11n and later have EDCA");
    if has_edca && is_fit_for_edca(view, access, standard) {
        let rate = rate(view, "rate", standard, standard.rates()[standard.rates().len() - 1], HIGHEST);
        return (radio(view, named, channel), edca::read_older(view, standard, rate), None);
    }
    edca::refuse(view, "DCF");
    let dcf = dcf(view, standard);
    if matches!(access, Access::AccessPoint | Access::Slotted) {
        power_save::KEYS.iter().for_each(|key| view.know(key));
    }
    let plain = access == Access::Dcf || (dcf.rate_control == RateControl::Fixed && dcf.burst == 1);
    let message = || "`rate_control` and `burst` are of DCF alone".to_owned();
    view.require(plain, if dcf.burst == 1 { "rate_control" } else { "burst" }, message, "leave them out");
    let mac = match access {
        Access::Mcmac => Mac::Multichannel(multichannel::read(view, dcf, false)),
        Access::BiMcmac => Mac::Multichannel(multichannel::read(view, dcf, true)),
        Access::AccessPoint => Mac::AccessPoint(power_save::access_point(view, dcf)),
        Access::Slotted => Mac::Slotted(power_save::slotted(view, dcf)),
        Access::Dcf | Access::Polled => {
            multichannel::KEYS.iter().for_each(|key| view.know(key));
            Mac::Dcf(dcf)
        }
    };
    (radio(view, named, channel), mac, None)
}

const HIGHEST: &str = "the highest of the standard";

/// A radio of 802.11n or later.
fn newer(view: &View<'_>, access: Access, format: Format, channel: Option<u32>) -> Mac {
    let message = || format!("{} has a medium access of its own: EDCA", format.name());
    view.require(access == Access::Dcf, "mac", message, "leave `mac` out");
    edca::read(view, format, channel)
}

/// Whether `edca = true` goes with the rest of a radio of 802.11b, a or g.
fn is_fit_for_edca(view: &View<'_>, access: Access, standard: Standard) -> bool {
    let is_ofdm = matches!(standard, Standard::Dot11a | Standard::Dot11g);
    let message = || format!("EDCA is modelled over OFDM, and {} has none", standard_name(standard));
    view.require(is_ofdm, "edca", message, "write standard = \"802.11a\" or a later one, or leave `edca` out");
    let message = || "this `mac` has a medium access of its own".to_owned();
    view.require(access == Access::Dcf, "edca", message, "leave `edca` or `mac` out");
    is_ofdm && access == Access::Dcf
}

/// Whether a radio has no channel of its own: it is where its access points are.
pub(super) fn is_slotted(view: &View<'_>) -> bool {
    matches!(view.find("mac").map(|found| &found.value.data), Some(Data::Text(word)) if word == "slotted")
}

/// Losses between the MAC and the layer above.
pub(super) fn delivery_loss(view: &View<'_>) -> DeliveryLoss {
    let read = view.optional("delivery_loss", "none", |value| match &value.data {
        Data::Table(table) if table.get("by_distance").is_some() => {
            let inner = View::new(view.cx, view.path_of("delivery_loss"), value.place, Some(table));
            let wear = survey::wear(&inner);
            inner.finish();
            Ok(wear.map(|wear| DeliveryLoss::Wear(Box::new(wear))).unwrap_or_default())
        }
        _ => plain_link::loss(view, "delivery_loss", value).map(|loss| match loss {
            Loss::None => DeliveryLoss::None,
            loss => DeliveryLoss::Link(loss),
        }),
    });
    read.unwrap_or_default()
}

fn standard(view: &mut View<'_>) -> Named {
    let usual = Named::Older(Standard::Dot11b);
    let standard = view.choice("standard", &STANDARDS, usual, "11 Mbit/s in 2.4 GHz");
    if let Some(found) = view.find("standard") {
        let inherited = view.behind(found.layer, "standard").map(|value| &value.data);
        let same = match inherited {
            Some(Data::Text(name)) => name == name_of(standard),
            _ => standard == usual,
        };
        if !same {
            let count = match standard {
                Named::Older(_) => OF_THE_PHY.len(),
                Named::Newer(_) => OF_THE_PHY.len() - OF_NEWER_PHYS,
            };
            view.bind(&OF_THE_PHY[..count], found.layer + 1);
        }
    }
    standard
}

// --- the medium access ---------------------------------------------------------------------------------------------

fn dcf(view: &View<'_>, standard: Standard) -> DcfConfig {
    view.apply(standard == Standard::Dot11b);
    let preamble = view.choice(
        "preamble",
        &[("long", Preamble::Long), ("short", Preamble::Short)],
        Preamble::Long,
        "every 802.11b station understands it",
    );
    view.apply(true);
    let other = preamble == Preamble::Short && standard != Standard::Dot11b;
    view.require(!other, "preamble", || format!("{} has no short preamble", standard_name(standard)), "leave it out");
    let mut dcf = DcfConfig::new(standard, preamble);
    let why = "802.11-2020";
    timing(view, &mut dcf.phy);
    rates(view, standard, &mut dcf);
    dcf.rate_control = rate_control(view);
    let of_edca = matches!(dcf.rate_control, RateControl::Minstrel | RateControl::Ideal);
    let message = || "\"minstrel\" and \"ideal\" are of stations under EDCA".to_owned();
    view.require(!of_edca, "rate_control", message, "add edca = true (802.11a or g), or write \"arf\" or \"periodic\"");
    dcf.burst = view.count("burst", dcf.burst, "frames in one access to the medium; DCF");
    let some = (1..=64).contains(&dcf.burst);
    view.require(some, "burst", || format!("a burst of {} frames cannot be had", dcf.burst), "1 to 64");
    windows(view, &mut dcf);
    dcf.rts_threshold = rts_threshold(view, dcf.rts_threshold);
    dcf.short_retry_limit = retry_limit(view, "short_retry_limit", dcf.short_retry_limit);
    dcf.long_retry_limit = retry_limit(view, "long_retry_limit", dcf.long_retry_limit);
    (dcf.eifs, dcf.eifs_is_nav) = eifs(view);
    dcf.nav_reset = view.flag("nav_reset", dcf.nav_reset, "802.11-2020, 10.3.2.4; ns-2: false");
    dcf.queue_limit = view.count("queue", dcf.queue_limit, "packets; ns-2's interface queue");
    dcf.data_header = view.quantity("data_header", dcf.data_header, "MAC header 24 byte and FCS 4 byte");
    dcf.llc_header = view.quantity("llc_header", dcf.llc_header, "LLC and SNAP");
    dcf.response_slack = view.quantity("response_slack", dcf.response_slack, why);
    small(view, "data_header", dcf.data_header);
    small(view, "llc_header", dcf.llc_header);
    dcf
}

fn rates(view: &View<'_>, standard: Standard, dcf: &mut DcfConfig) {
    dcf.data_rate = rate(view, "rate", standard, dcf.data_rate, "the highest of the standard");
    let basic = basic_rates(view, standard);
    let below = basic.iter().filter(|r| r.bit_rate <= dcf.data_rate.bit_rate).max_by_key(|r| r.bit_rate);
    view.require(
        below.is_some(),
        "basic_rates",
        || format!("no basic rate is at or below the rate of {}", dcf.data_rate.bit_rate),
        "answers go at the highest basic rate that is not above the data rate: add a lower one",
    );
    dcf.control_rate = below.copied().unwrap_or(dcf.control_rate);
    let places = (0..).zip(standard.rates()).filter(|(_, rate)| basic.contains(rate));
    dcf.basic_rates = places.fold(0, |set, (i, _)| set | 1 << i);
    let lowest = basic.iter().min_by_key(|r| r.bit_rate).copied().unwrap_or(dcf.broadcast_rate);
    dcf.broadcast_rate = rate(view, "broadcast_rate", standard, lowest, "the lowest basic rate");
    view.note("control_rate", dcf.control_rate.bit_rate, None, "the highest basic rate not above `rate`");
}

fn windows(view: &View<'_>, dcf: &mut DcfConfig) {
    dcf.cw_min = view.count("cw_min", dcf.cw_min, "802.11-2020: aCWmin");
    dcf.cw_max = view.count("cw_max", dcf.cw_max, "802.11-2020: aCWmax");
    let (min, max) = (dcf.cw_min, dcf.cw_max);
    let largest = 1 << 20;
    view.require(
        min <= max,
        "cw_min",
        || format!("cw_min {min} is above cw_max {max}"),
        "lower the one or raise the other",
    );
    view.require(max < largest, "cw_max", || format!("{max} is no contention window"), "802.11 has 15 to 1023");
}

// --- the radio -----------------------------------------------------------------------------------------------------

fn radio(view: &View<'_>, named: Named, channel: Option<u32>) -> RadioConfig {
    // ns-2's WirelessPhy: Pt_ = 0.28183815 W and freq_ = 914 MHz give 250 m and 550 m over two-ray ground.
    let power = view.quantity("power", Milliwatt(281.838_15).to_dbm(), "ns-2: 0.28183815 W");
    let gain = view.quantity("gain", Db(0.0), "isotropic antenna");
    let frequency = frequency(view, named, channel);
    bounded(view, "power", power.0);
    bounded(view, "gain", gain.0);
    let path_loss = path_loss(view, frequency);
    let height = height(view, &path_loss);
    let error = error(view);
    let sinr = error == ErrorModel::Sinr;
    let noise = noise(view, noise_of(named, view));
    let below_noise = |db: f64| Threshold::Power(noise - Db(db));
    let range = |m: f64| Threshold::Range(Metres(m));
    let reception = if sinr {
        threshold(
            view,
            "reception_range",
            "sensitivity",
            below_noise(5.0),
            "noise - 5 dB: nothing weaker is understood",
        )
    } else {
        threshold(view, "reception_range", "sensitivity", range(250.0), "ns-2")
    };
    let carrier_sense = if sinr {
        threshold(view, "carrier_sense_range", "carrier_sense", reception, "what can be received is heard")
    } else {
        threshold(view, "carrier_sense_range", "carrier_sense", range(550.0), "ns-2")
    };
    order(view, reception, carrier_sense);
    let interference = if sinr {
        threshold(view, "interference_range", "interference_floor", below_noise(10.0), "noise - 10 dB")
    } else {
        threshold(view, "interference_range", "interference_floor", carrier_sense, "the carrier-sense threshold")
    };
    let capture = capture(view, sinr);
    RadioConfig {
        power,
        gain,
        height,
        frequency_hz: frequency.0,
        path_loss,
        shadowing: survey::shadowing(view),
        reception,
        carrier_sense,
        interference,
        noise,
        implementation_loss: view.quantity("implementation_loss", Db(0.0), "none"),
        capture,
        preamble_detection: preamble_detection(view, named),
        receiver: receiver(view, capture, sinr),
        error,
    }
}

/// The height of the antenna, which two-ray ground alone asks for.
fn height(view: &View<'_>, path_loss: &PathLoss) -> Metres {
    view.apply(matches!(path_loss, PathLoss::TwoRay));
    let height = view.quantity("height", Metres(1.5), "ns-2");
    view.apply(true);
    let message = || "an antenna stands above the ground".to_owned();
    view.require(height.0 > 0.0, "height", message, "write for example \"1.5 m\"");
    height
}

/// The carrier.
fn frequency(view: &View<'_>, named: Named, channel: Option<u32>) -> Frequency {
    let (carrier, why) = match named {
        Named::Older(_) => (Frequency(914e6), "ns-2"),
        Named::Newer(format) => (edca::carrier(view, format, channel), "the centre of the channel"),
    };
    view.quantity("frequency", carrier, why)
}

/// ns-2's receiver compares two powers and knows no ratio to noise.
fn receiver(view: &View<'_>, capture: Option<Db>, sinr: bool) -> Receiver {
    let recapture = view.flag("recapture", false, "a receiver stays with the frame that it has begun");
    let why = "802.11-2020, 16.2.6: energy without a PHY header does not hold a receiver";
    let kinds = [("standard", Receiver::Standard { recapture }), ("ns2", Receiver::Ns2)];
    let receiver = view.choice("receiver", &kinds, Receiver::Standard { recapture }, why);
    let fits = receiver != Receiver::Ns2 || (capture.is_some() && !recapture && !sinr);
    let what = || "ns-2's receiver compares with `capture` alone, without `recapture` or `error = \"sinr\"`".to_owned();
    view.require(fits, "receiver", what, "leave the receiver out, or give a `capture` in dB");
    receiver
}

fn bounded(view: &View<'_>, key: &'static str, decibels: f64) {
    view.require(
        decibels.abs() <= 300.0,
        key,
        || format!("{decibels} dB is beyond physics"),
        "write a value within 300 dB",
    );
}

/// Thermal noise in the channel of a standard and a noise figure of 7 dB, in dBm, with its reason.
fn noise_of(named: Named, view: &View<'_>) -> (f64, &'static str) {
    match named {
        Named::Older(Standard::Dot11b) => (-93.6, "thermal noise in 22 MHz and 7 dB of noise figure"),
        Named::Older(Standard::Dot11a | Standard::Dot11g) => {
            (-94.0, "thermal noise in 20 MHz and 7 dB of noise figure")
        }
        Named::Older(Standard::Fhss) => (-107.0, "thermal noise in 1 MHz and 7 dB of noise figure"),
        // Each doubling of the width has twice the noise.
        Named::Newer(_) => {
            let doublings = edca::width_as_given(view).mhz().ilog2() - 20u32.ilog2();
            (-94.0 + 3.0 * f64::from(doublings), "thermal noise in the width and 7 dB of noise figure")
        }
    }
}

fn noise(view: &View<'_>, (level, why): (f64, &str)) -> Dbm {
    let noise = view.quantity("noise", Dbm(level), why);
    bounded(view, "noise", noise.0);
    noise
}

fn capture(view: &View<'_>, sinr: bool) -> Option<Db> {
    let why = if sinr { "the error model decides" } else { "ns-2" };
    ratio_or_none(view, "capture", (!sinr).then_some(Db(10.0)), why)
}

fn preamble_detection(view: &View<'_>, named: Named) -> Option<Db> {
    let is_newer = matches!(named, Named::Newer(_));
    let why = if is_newer { "ns-3: two frames that begin together are energy and no frame" } else { "ns-2" };
    ratio_or_none(view, "preamble_detection", is_newer.then_some(Db(4.0)), why)
}

/// A ratio, or `"none"`.
fn ratio_or_none(view: &View<'_>, key: &'static str, default: Option<Db>, why: &str) -> Option<Db> {
    let show = |ratio: Option<Db>| ratio.map_or_else(|| "none".to_owned(), |db| db.to_string());
    let mut ratio = default;
    view.read(key, show(default), why, |value| {
        ratio = match &value.data {
            Data::Text(word) if word == "none" => None,
            _ => Some(quantity(value)?),
        };
        Ok(show(ratio))
    });
    ratio
}

fn error(view: &View<'_>) -> ErrorModel {
    let mut error = ErrorModel::None;
    let words = [("none", ErrorModel::None), ("sinr", ErrorModel::Sinr)];
    view.read("error", "none".to_owned(), "what is strong enough is received", |value| {
        error = match &value.data {
            Data::Table(table) => {
                let inner = View::new(view.cx, view.path_of("error"), value.place, Some(table));
                let ber = inner.required("ber", "1e-5", probability).unwrap_or(Probability::NEVER);
                inner.finish();
                ErrorModel::Ber(ber)
            }
            _ => reader::choose(value, &words)
                .map_err(|c| Complaint::new(c.message, "allowed: \"none\", \"sinr\", { ber = 1e-5 }"))?,
        };
        Ok(value.show())
    });
    error
}

/// A threshold that may be given as a range or as a power, by whichever key the nearer table has.
fn threshold(view: &View<'_>, range: &'static str, power: &'static str, default: Threshold, why: &str) -> Threshold {
    let (by_range, by_power) = (view.find(range), view.find(power));
    if let (Some(r), Some(p)) = (by_range, by_power)
        && r.layer == p.layer
    {
        let message = format!("`{power}` and `{range}` say the same thing twice");
        view.complain(power, Complaint::new(message, "keep one of them"));
    }
    let range_is_nearer = match (by_range, by_power) {
        (Some(r), Some(p)) => r.layer <= p.layer,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => {
            match default {
                Threshold::Range(m) => view.note(range, m, None, why),
                Threshold::Power(dbm) => view.note(power, dbm, None, why),
            }
            return default;
        }
    };
    if range_is_nearer {
        let metres = view.quantity(range, Metres(1.0), "");
        view.require(metres.0 > 0.0, range, || "a range is above zero".to_owned(), "write for example \"250 m\"");
        Threshold::Range(metres)
    } else {
        let level = view.quantity(power, Dbm(0.0), "");
        bounded(view, power, level.0);
        Threshold::Power(level)
    }
}

fn order(view: &View<'_>, reception: Threshold, carrier_sense: Threshold) {
    let deaf = match (reception, carrier_sense) {
        (Threshold::Range(r), Threshold::Range(c)) => c < r,
        (Threshold::Power(r), Threshold::Power(c)) => c > r,
        _ => false,
    };
    let key = if matches!(carrier_sense, Threshold::Range(_)) { "carrier_sense_range" } else { "carrier_sense" };
    view.require(
        !deaf,
        if view.find(key).is_some() { key } else { "reception_range" },
        || "the carrier is not sensed where frames are still received".to_owned(),
        "carrier sense reaches at least as far as reception: give carrier_sense_range the same or a larger distance",
    );
}
