//! The keys of radios under EDCA: 802.11n, ac, ax and be, and 802.11a and g with `edca = true`.
//!
//! Defaults: 802.11-2020, 802.11ax-2021 and 802.11be-2024; see [`EdcaConfig::new`].

use super::medium_access::{basic_rates, eifs, rate, rate_control, retry_limit, rts_threshold, small, timing};
use super::spectrum;
use crate::scenario::error::Complaint;
use crate::scenario::frequency::Frequency;
use crate::scenario::reader::{self, View, quantity};
use crate::scenario::spec::{Mac, Node};
use crate::scenario::tree::{Data, Value};
use airbraid_mac::edca::{AccessCategory, AgreementSetup, Bandwidth, EdcaConfig, FunctionConfig, Repair, Vector};
use airbraid_mac::phy::{OFDM_RATES, Rate, Standard};
use airbraid_mac::ppdu::{Band, Choice, Coding, Format, GuardInterval, Ltf, Mode, Padding, Rules, Width};
use airbraid_mac::rate_control::RateControl;
use airbraid_units::{Bytes, Duration};

/// Keys that DCF does not have.
pub(super) const KEYS: &[&str] = &[
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
    "bandwidth",
    "beacons",
    "block_ack_setup",
];

/// Keys of DCF that EDCA does not have, and what takes their place.
const OF_DCF: [(&str, &str); 5] = [
    ("short_retry_limit", "write `retry_limit`"),
    ("long_retry_limit", "write `retry_limit`"),
    ("burst", "write `txop = { be = \"4096 us\" }`"),
    ("preamble", "leave it out: OFDM has one"),
    ("nav_reset", "leave it out: by the standard"),
];

/// The unit of TXOP limits, and the highest: the field has 16 bits (802.11-2020, 9.4.2.28).
const TXOP_UNIT: Duration = Duration::from_micros(32);
const TXOP_MAX: Duration = Duration::from_micros(65_535 * 32);
/// The longest A-MSDU (802.11-2020, table 9-25): of HT, and from VHT on that of an MPDU of 11454 byte, without header
/// and FCS.
const fn amsdu_max(format: Format) -> Bytes {
    Bytes::new(if matches!(format, Format::Ht) { 7_935 } else { 11_454 - 30 })
}

/// Reads a radio of 802.11n, ac, ax or be.
pub(super) fn read(view: &View<'_>, format: Format, channel: Option<u32>) -> Mac {
    let mode = mode(view, format, channel);
    let message = || format!("`rate` is for 802.11b, a and g; {} has mcs and streams", format.name());
    view.require(view.find("rate").is_none(), "rate", message, "write mcs = 7");
    let wants = view.flag("edca", true, "from 802.11n on every station has it");
    let message = || format!("{} without EDCA does not exist: A-MPDUs belong to its traffic classes", format.name());
    view.require(wants, "edca", message, "leave it out, or write standard = \"802.11a\"");
    Mac::Edca(Box::new(access(view, Vector::Mode(mode), mode.choice().band, Some(format))))
}

/// Reads a radio of 802.11a or g with EDCA.
pub(super) fn read_older(view: &View<'_>, standard: Standard, rate: Rate) -> Mac {
    let band = if standard == Standard::Dot11g { Band::Ghz2_4 } else { Band::Ghz5 };
    for key in KEYS.iter().filter(|key| !matches!(**key, "txop" | "aifsn" | "retry_limit")) {
        let message = || format!("`{key}` is for 802.11n and later");
        view.require(view.find(key).is_none(), key, message, "write standard = \"802.11n\", or leave it out");
    }
    Mac::Edca(Box::new(access(view, Vector::NonHt(rate), band, None)))
}

/// Tells of keys that a radio under another medium access does not have.
pub(super) fn refuse(view: &View<'_>, what: &str) {
    for key in KEYS {
        let message = || format!("`{key}` belongs to EDCA, and this radio has {what}");
        let help = match *key {
            "txop" | "aifsn" | "retry_limit" => "add edca = true (802.11a or g), or leave it out",
            _ => "write standard = \"802.11n\", \"802.11ac\", \"802.11ax\" or \"802.11be\", or leave it out",
        };
        view.require(view.find(key).is_none(), key, message, help);
    }
}

// --- the PHY -------------------------------------------------------------------------------------------------------

fn width(view: &View<'_>) -> Width {
    word(view, "width", &Width::ALL, Width::Mhz20, "the narrowest", width_name)
}

fn width_name(width: Width) -> String {
    format!("{} MHz", width.mhz())
}

/// The width of the channel, for what is read before the mode is.
pub(super) fn width_as_given(view: &View<'_>) -> Width {
    as_given(view, "width", &Width::ALL, width_name).unwrap_or(Width::Mhz20)
}

/// The centre of the channel; without a number, or where there is no such channel, about that of the band.
pub(super) fn carrier(view: &View<'_>, format: Format, channel: Option<u32>) -> Frequency {
    let width = width_as_given(view);
    let band = as_given(view, "band", &Band::ALL, |band| band.name().to_owned());
    let band = band.unwrap_or_else(|| spectrum::band_of(format, width, channel));
    Frequency(f64::from(spectrum::centre_mhz(band, width, channel)) * 1e6)
}

fn as_given<T: Copy>(view: &View<'_>, key: &'static str, all: &[T], name: impl Fn(T) -> String) -> Option<T> {
    view.find(key).and_then(|found| pick(found.value, all, name).ok())
}

fn mode(view: &View<'_>, format: Format, channel: Option<u32>) -> Mode {
    let usual = Choice::new(format);
    let width = width(view);
    let band = spectrum::band_of(format, width, channel);
    let why = "the one that has the channel; 5 GHz before 2.4 GHz and 6 GHz";
    let band = word(view, "band", &Band::ALL, band, why, |band| band.name().to_owned());
    let streams = byte(view, "streams", 1, "one antenna");
    let guard = &GuardInterval::ALL;
    let choice = Choice {
        band,
        width,
        streams,
        guard_interval: word(view, "guard_interval", guard, usual.guard_interval, "the usual one", |guard| {
            guard.time().to_string()
        }),
        coding: view.optional("coding", "bcc where the standard allows it", |value| {
            pick(value, &[Coding::Bcc, Coding::Ldpc], |code| code.name().to_owned())
        }),
        ltf: view.optional("ltf", "4x with a guard interval of 3200 ns, else 2x", |value| {
            pick(value, &Ltf::ALL, |ltf| ltf.name().to_owned())
        }),
        padding: word(
            view,
            "packet_extension",
            &Padding::ALL,
            usual.padding,
            "the receiver asks for none",
            |padding| padding.time().to_string(),
        ),
        rules: view.choice(
            "rules",
            &[("standard", Rules::Standard), ("ns-3", Rules::Ns3)],
            Rules::Standard,
            "durations by the standard",
        ),
        ..usual
    };
    let highest = (0..=format.mcs_max()).rev().find(|mcs| Mode::new(Choice { mcs: *mcs, ..choice }).is_ok());
    let mcs = byte(view, "mcs", highest.unwrap_or_default(), "the highest of the standard");
    Mode::new(Choice { mcs, ..choice }).unwrap_or_else(|refused| {
        let key = wrong_key(&choice, mcs);
        view.complain(key, Complaint::new(refused.missing, refused.near));
        // Only so that reading goes on.
        Mode::new(usual).unwrap_or_else(|_| unreachable!("the simplest mode of a format exists"))
    })
}

/// The key of the part that the standard does not have: without it there would be a mode.
fn wrong_key(choice: &Choice, mcs: u8) -> &'static str {
    let usual = Choice::new(choice.format);
    let asked = Choice { mcs, ..*choice };
    let without = [
        ("mcs", Choice { mcs: 0, ..asked }),
        ("width", Choice { width: usual.width, ..asked }),
        ("band", Choice { band: if choice.band == Band::Ghz5 { Band::Ghz6 } else { Band::Ghz5 }, ..asked }),
        ("streams", Choice { streams: 1, ..asked }),
        ("guard_interval", Choice { guard_interval: usual.guard_interval, ..asked }),
        ("coding", Choice { coding: None, ..asked }),
        ("ltf", Choice { ltf: None, ..asked }),
        ("packet_extension", Choice { padding: usual.padding, ..asked }),
    ];
    without.into_iter().find(|(_, choice)| Mode::new(*choice).is_ok()).map_or("standard", |(key, _)| key)
}

/// One of the values whose text is given; spaces between number and unit do not matter.
fn word<T: Copy>(
    view: &View<'_>,
    key: &'static str,
    all: &[T],
    default: T,
    why: &str,
    name: impl Fn(T) -> String,
) -> T {
    let mut chosen = default;
    view.read(key, name(default), why, |value| {
        chosen = pick(value, all, &name)?;
        Ok(name(chosen))
    });
    chosen
}

fn pick<T: Copy>(value: &Value, all: &[T], name: impl Fn(T) -> String) -> Result<T, Complaint> {
    let plain = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
    let given = reader::text(value)?;
    // A time may be given in any unit.
    let time = |text: &str| airbraid_units::Quantity::parse(text).ok().map(|span: Duration| span.as_nanos());
    let same = |text: &str| plain(text) == plain(&given) || time(text).is_some_and(|ns| time(&given) == Some(ns));
    all.iter().copied().find(|t| same(&name(*t))).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|t| format!("\"{}\"", name(*t))).collect();
        Complaint::new(format!("`{given}` is not known here"), format!("allowed: {}", names.join(", ")))
    })
}

fn byte(view: &View<'_>, key: &'static str, default: u8, why: &str) -> u8 {
    let number = view.count(key, u32::from(default), why);
    u8::try_from(number).unwrap_or(u8::MAX)
}

// --- the medium access ---------------------------------------------------------------------------------------------

fn access(view: &View<'_>, data: Vector, band: Band, format: Option<Format>) -> EdcaConfig {
    let mut config = EdcaConfig::new(data, band);
    for (key, help) in OF_DCF {
        let message = || format!("`{key}` belongs to DCF, and this radio has EDCA");
        view.require(view.find(key).is_none(), key, message, help);
    }
    timing(view, &mut config.phy);
    let basic = basic_rates(view, Standard::Dot11a);
    let places = (0..).zip(&OFDM_RATES).filter(|(_, rate)| basic.contains(rate));
    config.basic_rates = places.fold(0, |set, (i, _)| set | 1 << i);
    let lowest = basic.iter().min_by_key(|rate| rate.bit_rate).copied().unwrap_or(OFDM_RATES[0]);
    config.broadcast_rate = rate(view, "broadcast_rate", Standard::Dot11a, lowest, "the lowest basic rate");
    functions(view, &mut config);
    config.rts_threshold = rts_threshold(view, config.rts_threshold);
    config.retry_limit = retry_limit(view, "retry_limit", config.retry_limit);
    (config.eifs, config.eifs_is_nav) = eifs(view);
    config.data_header = view.quantity("data_header", config.data_header, "QoS header 26 byte and FCS 4 byte");
    config.llc_header = view.quantity("llc_header", config.llc_header, "LLC and SNAP");
    config.response_slack = view.quantity("response_slack", config.response_slack, "802.11-2020");
    small(view, "data_header", config.data_header);
    small(view, "llc_header", config.llc_header);
    if let Some(format) = format {
        aggregation(view, &mut config, format);
    }
    config.rate_control = rate_control(view);
    let words = [("dynamic", Bandwidth::Dynamic), ("static", Bandwidth::Static)];
    view.apply(config.width() > Width::Mhz20);
    config.bandwidth = view.choice("bandwidth", &words, Bandwidth::Dynamic, "802.11-2020, 10.23.2.5");
    view.apply(true);
    config.beacons = view.flag("beacons", false, "a station; true: an access point, which sends beacons");
    let of_dcf = matches!(config.rate_control, RateControl::Arf { .. } | RateControl::Periodic { .. });
    let message = || "\"arf\" and \"periodic\" count frames without aggregation, under DCF".to_owned();
    view.require(!of_dcf, "rate_control", message, "write \"minstrel\" or \"ideal\"");
    let limit = 1_000.max(4 * u32::from(config.aggregation.window));
    let why = "packets of a category, with those that are not acknowledged yet; 1000 and four windows";
    config.queue_limit = view.count("queue", limit, why);
    let message = || "a queue without a place takes no packet".to_owned();
    view.require(config.queue_limit > 0, "queue", message, "at least 1: the packet in service counts, too");
    config
}

fn functions(view: &View<'_>, config: &mut EdcaConfig) {
    // One number for a window is that of best effort; the others follow by the table.
    let number = |key: &'static str, usual: u32| match view.find(key).map(|found| &found.value.data) {
        Some(Data::Integer(n)) => u32::try_from(*n).unwrap_or(usual),
        _ => usual,
    };
    let usual = FunctionConfig::standard(AccessCategory::BestEffort);
    let (a_cw_min, a_cw_max) = (number("cw_min", usual.cw_min), number("cw_max", usual.cw_max));
    let default = AccessCategory::ALL.map(|category| FunctionConfig::of_windows(category, a_cw_min, a_cw_max));
    let of = |get: fn(&FunctionConfig) -> u32| default.each_ref().map(get);
    let why = "802.11-2020, table 9-155";
    let aifsn = by_category(view, "aifsn", of(|f| f.aifsn), why, reader::count, true);
    let cw_min = by_category(view, "cw_min", of(|f| f.cw_min), why, reader::count, false);
    let cw_max = by_category(view, "cw_max", of(|f| f.cw_max), why, reader::count, false);
    let none = [Duration::ZERO; AccessCategory::COUNT];
    let txop = by_category(view, "txop", none, "one exchange an access", quantity::<Duration>, true);
    for (index, function) in config.functions.iter_mut().enumerate() {
        *function =
            FunctionConfig { aifsn: aifsn[index], cw_min: cw_min[index], cw_max: cw_max[index], txop: txop[index] };
        let FunctionConfig { aifsn, cw_min, cw_max, txop } = *function;
        let message = || format!("an AIFSN of {aifsn} does not exist");
        view.require((1..=15).contains(&aifsn), "aifsn", message, "2 to 15, at an access point also 1");
        let message = || format!("cw_min {cw_min} is above cw_max {cw_max}");
        view.require(cw_min <= cw_max, "cw_min", message, "lower the one or raise the other");
        view.require(cw_max < 1 << 15, "cw_max", || format!("{cw_max} is no contention window"), "at most 32767");
        power_of_two(view, "cw_min", cw_min);
        power_of_two(view, "cw_max", cw_max);
        let message = || format!("a TXOP limit of {txop} is too long");
        view.require(txop <= TXOP_MAX, "txop", message, &format!("at most {TXOP_MAX}"));
        let units = txop.as_nanos() / TXOP_UNIT.as_nanos();
        let message = || format!("a TXOP limit counts 32 us, and {txop} is no multiple of that");
        let help = format!("write \"{}\" or \"{}\"", TXOP_UNIT * units, TXOP_UNIT * (units + 1));
        view.require(TXOP_UNIT * units == txop, "txop", message, &help);
    }
}

/// Stations learn of contention windows by the exponent of two alone (802.11-2020, 9.4.2.28).
fn power_of_two(view: &View<'_>, key: &'static str, window: u32) {
    let above = window.saturating_add(1).next_power_of_two() - 1;
    let message = || format!("EDCA has contention windows of 2^n - 1, and {window} is none");
    view.require(window == above, key, message, &format!("write {} or {above}", above / 2));
}

/// A table of values by category, or one value: for all of them where `is_for_all`, otherwise `default` has it already.
fn by_category<T: Copy + std::fmt::Display>(
    view: &View<'_>,
    key: &'static str,
    default: [T; AccessCategory::COUNT],
    why: &str,
    parse: impl Fn(&Value) -> Result<T, Complaint>,
    is_for_all: bool,
) -> [T; AccessCategory::COUNT] {
    let mut values = default;
    let show = |values: &[T; AccessCategory::COUNT]| {
        let each = AccessCategory::ALL.iter().rev().map(|c| format!("{} {}", c.name(), values[c.index()]));
        each.collect::<Vec<_>>().join(", ")
    };
    view.read(key, show(&default), why, |value| {
        match &value.data {
            Data::Table(table) => {
                let inner = View::new(view.cx, view.path_of(key), value.place, Some(table));
                for category in AccessCategory::ALL.into_iter().rev() {
                    let place = &mut values[category.index()];
                    let read = inner.optional(category.name(), why, &parse);
                    *place = read.unwrap_or(*place);
                }
                inner.finish();
            }
            _ => {
                let one = parse(value)?;
                values = if is_for_all { [one; AccessCategory::COUNT] } else { default };
            }
        }
        Ok(show(&values))
    });
    values
}

fn aggregation(view: &View<'_>, config: &mut EdcaConfig, format: Format) {
    let aggregation = &mut config.aggregation;
    let longest = aggregation.ampdu.unwrap_or(Bytes::ZERO);
    let show = |limit: Option<Bytes>| limit.map_or_else(|| "off".to_owned(), |bytes| bytes.to_string());
    view.read("ampdu", show(aggregation.ampdu), "longest: as long as the standard allows", |value| {
        aggregation.ampdu = match &value.data {
            Data::Text(word) if word == "off" => None,
            Data::Text(word) if word == "longest" => Some(longest),
            _ => Some(quantity::<Bytes>(value).map_err(|c| or_words(c, "\"off\", \"longest\", \"65535 byte\""))?),
        };
        if aggregation.ampdu.is_some_and(|bytes| bytes > longest) {
            let message = format!("{} has no A-MPDU longer than {longest}", format.name());
            return Err(Complaint::new(message, "write ampdu = \"longest\""));
        }
        if aggregation.ampdu == Some(Bytes::ZERO) {
            return Err(Complaint::new("nothing fits into an A-MPDU of 0 byte", "write ampdu = \"off\" for none"));
        }
        Ok(show(aggregation.ampdu))
    });
    let has_agreements = aggregation.ampdu.is_some();
    view.apply(has_agreements);
    let why = "802.11n and ac 64, ax 256, be 1024";
    let window = view.count("block_ack_window", u32::from(aggregation.window), why);
    let largest = u32::from(aggregation.window);
    let message = || format!("{} has no window of {window} MPDUs", format.name());
    view.require((1..=largest).contains(&window), "block_ack_window", message, &format!("1 to {largest}"));
    aggregation.window = window.clamp(1, largest) as u16;
    let usual = u32::from(aggregation.window);
    aggregation.ampdu_frames = view.count("ampdu_frames", usual, "as many as the window");
    let message = || "an A-MPDU has at least one MPDU".to_owned();
    view.require(aggregation.ampdu_frames > 0, "ampdu_frames", message, "write ampdu = \"off\" for none");
    let message = || format!("{} acknowledges no A-MPDU of {} MPDUs", format.name(), aggregation.ampdu_frames);
    view.require(aggregation.ampdu_frames <= largest, "ampdu_frames", message, &format!("at most {largest}"));
    let setups = [("given", AgreementSetup::Given), ("frames", AgreementSetup::Frames)];
    let why = "agreements are there from the beginning";
    aggregation.setup = view.choice("block_ack_setup", &setups, AgreementSetup::Given, why);
    aggregation.repair = view.choice(
        "block_ack_repair",
        &[("request", Repair::Request), ("retransmit", Repair::Retransmit)],
        Repair::Request,
        "a lost block ack is asked for, as in ns-3",
    );
    aggregation.retry_limit = retry_limit(view, "block_ack_retry_limit", None);
    view.apply(true);
    amsdu(view, aggregation, format);
}

/// An agreement has two ends, which are set up alike.
pub(super) fn check(top: &View<'_>, nodes: &[Node]) {
    let setup = |node: &Node| {
        let setups = node.radios.iter().filter_map(|radio| match &radio.mac {
            Mac::Edca(config) => config.aggregation.ampdu.map(|_| config.aggregation.setup),
            _ => None,
        });
        setups.collect::<Vec<_>>()
    };
    let all: Vec<AgreementSetup> = nodes.iter().flat_map(setup).collect();
    let is_one = all.windows(2).all(|pair| pair[0] == pair[1]);
    let message = || "some radios set up agreements by frames, and others have them from the beginning".to_owned();
    top.require(is_one, "node", message, "write `block_ack_setup` once, in [radio]: an agreement has two ends");
}

fn amsdu(view: &View<'_>, aggregation: &mut airbraid_mac::edca::AggregationConfig, format: Format) {
    let longest = amsdu_max(format);
    let show = |limit: Option<Bytes>| limit.map_or_else(|| "off".to_owned(), |bytes| bytes.to_string());
    view.read("amsdu", show(aggregation.amsdu), "each packet in an MPDU of its own", |value| {
        aggregation.amsdu = match &value.data {
            Data::Text(word) if word == "off" => None,
            _ => Some(quantity::<Bytes>(value).map_err(|c| or_words(c, "\"off\", \"7935 byte\""))?),
        };
        if aggregation.amsdu.is_some_and(|bytes| bytes > longest) {
            let message = format!("an A-MSDU of {} has at most {longest}", format.name());
            return Err(Complaint::new(message, "write amsdu = \"7935 byte\""));
        }
        if aggregation.amsdu == Some(Bytes::ZERO) {
            return Err(Complaint::new("nothing fits into an A-MSDU of 0 byte", "write amsdu = \"off\" for none"));
        }
        Ok(show(aggregation.amsdu))
    });
}

/// The complaint with the words that may stand there, too.
fn or_words(complaint: Complaint, words: &str) -> Complaint {
    Complaint::new(complaint.message, format!("allowed: {words}"))
}
