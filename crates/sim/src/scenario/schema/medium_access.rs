//! Keys that DCF and EDCA share: timing, basic rates, EIFS, retry limits, RTS, rate control.

use super::standard::standard_name;
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, quantity};
use crate::scenario::tree::{Data, Value};
use airbraid_mac::phy::{Phy, Rate, Standard};
use airbraid_mac::rate_control::RateControl;
use airbraid_units::{BitRate, Bytes, Duration};
use std::fmt::Display;

/// The timing of a PHY.
pub(super) fn timing(view: &View<'_>, phy: &mut Phy) {
    let is_erp = phy.standard == Standard::Dot11g;
    let why = if is_erp { "802.11-2020: aSlotTime; 20 us beside 802.11b" } else { "802.11-2020: aSlotTime" };
    phy.slot = positive(view, "slot", phy.slot, why);
    phy.sifs = positive(view, "sifs", phy.sifs, "802.11-2020: aSIFSTime");
    phy.turnaround = view.quantity("turnaround", phy.turnaround, "802.11-2020: aRxTxTurnaroundTime");
    phy.rx_start_delay = view.quantity("rx_start_delay", phy.rx_start_delay, "802.11-2020: aPHY-RX-START-Delay");
    let (slot, turnaround) = (phy.slot, phy.turnaround);
    view.require(
        turnaround < slot,
        "turnaround",
        || format!("a turnaround of {turnaround} does not fit into a slot of {slot}"),
        "it is the end of the slot in which a station is committed to transmit",
    );
}

/// Whether there is EIFS, and whether it is a NAV.
pub(super) fn eifs(view: &View<'_>) -> (bool, bool) {
    let (mut eifs, show) = ((true, false), |eifs| if eifs { "true" } else { "false" });
    view.read("eifs", show(true).to_owned(), "802.11-2020, 10.3.2.3.7; ns-2: \"nav\"", |value| {
        let word = match &value.data {
            Data::Flag(flag) => {
                eifs = (*flag, false);
                show(*flag)
            }
            Data::Text(word) if word == "nav" => {
                eifs = (true, true);
                "nav"
            }
            _ => {
                let message = format!("true, false or \"nav\" is needed, this is {}", value.kind());
                return Err(Complaint::new(message, "write eifs = true"));
            }
        };
        Ok(word.to_owned())
    });
    eifs
}

pub(super) fn rate(view: &View<'_>, key: &'static str, standard: Standard, default: Rate, why: &str) -> Rate {
    let bit_rate = view.read(key, default.bit_rate, why, |value| one_rate(value, standard).map(|r| r.bit_rate));
    standard.rate(bit_rate).unwrap_or(default)
}

fn one_rate(value: &Value, standard: Standard) -> Result<Rate, Complaint> {
    let bit_rate: BitRate = quantity(value)?;
    standard.rate(bit_rate).ok_or_else(|| {
        let rates: Vec<String> = standard.rates().iter().map(|r| format!("\"{}\"", r.bit_rate)).collect();
        let message = format!("{} has no rate of {bit_rate}", standard_name(standard));
        Complaint::new(message, format!("allowed: {}", rates.join(", ")))
    })
}

pub(super) fn basic_rates(view: &View<'_>, standard: Standard) -> Vec<Rate> {
    // 802.11b: ns-2's basicRate, which the published values of Wang 2005 agree with; OFDM: the mandatory rates.
    let kbps: &[u64] = match standard {
        Standard::Dot11b | Standard::Fhss => &[1_000],
        Standard::Dot11a | Standard::Dot11g => &[6_000, 12_000, 24_000],
    };
    let default: Vec<Rate> = kbps.iter().filter_map(|k| standard.rate(BitRate::from_kbps(*k))).collect();
    let mut given = None;
    view.read("basic_rates", Rates(&default).to_string(), "1 Mbit/s as in ns-2; OFDM: the mandatory rates", |value| {
        let rates: Vec<Rate> = reader::list(value)?.iter().map(|v| one_rate(v, standard)).collect::<Result<_, _>>()?;
        if rates.is_empty() {
            let help = format!("write [\"{}\"]", standard.rates()[0].bit_rate);
            return Err(Complaint::new("there must be a basic rate", help));
        }
        let shown = Rates(&rates).to_string();
        given = Some(rates);
        Ok(shown)
    });
    given.unwrap_or(default)
}

struct Rates<'a>(&'a [Rate]);

impl Display for Rates<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rates: Vec<String> = self.0.iter().map(|r| r.bit_rate.to_string()).collect();
        f.write_str(&rates.join(", "))
    }
}

/// `"unlimited"` or a number of attempts.
pub(super) fn retry_limit(view: &View<'_>, key: &'static str, default: Option<u32>) -> Option<u32> {
    let show = |limit: Option<u32>| limit.map_or_else(|| "unlimited".to_owned(), |n| n.to_string());
    let mut limit = default;
    view.read(key, show(default), "802.11-2020", |value| {
        limit = match &value.data {
            Data::Text(word) if word == "unlimited" => None,
            Data::Text(_) => return Err(Complaint::new("this is no limit", "write a number or \"unlimited\"")),
            _ => Some(reader::count(value)?),
        };
        if limit == Some(0) {
            return Err(Complaint::new("a frame must be sent at least once", "write 1 or more, or \"unlimited\""));
        }
        Ok(show(limit))
    });
    limit.filter(|n| *n > 0)
}

/// `"off"`, or a size above which frames are sent after RTS and CTS.
pub(super) fn rts_threshold(view: &View<'_>, default: Bytes) -> Bytes {
    let never = Bytes::new(u64::MAX);
    let mut threshold = default;
    let shown = if default == never { "off".to_owned() } else { default.to_string() };
    view.read("rts_threshold", shown, "above every frame: no RTS", |value| match &value.data {
        Data::Text(word) if word == "off" => {
            threshold = never;
            Ok("off".to_owned())
        }
        _ => {
            threshold = quantity(value)?;
            Ok(threshold.to_string())
        }
    });
    threshold
}

pub(super) fn small(view: &View<'_>, key: &'static str, size: Bytes) {
    view.require(size.as_u64() <= 1_024, key, || format!("a header of {size} is too long"), "at most 1024 byte");
}

pub(super) fn positive(view: &View<'_>, key: &'static str, default: Duration, why: &str) -> Duration {
    let span = view.quantity(key, default, why);
    view.require(
        !span.is_zero(),
        key,
        || format!("`{key}` must last longer than nothing"),
        "write for example \"20 us\"",
    );
    span
}

/// Reads a rate control; the word alone has the numbers of its source.
pub(super) fn rate_control(view: &View<'_>) -> RateControl {
    let words = [
        ("none", RateControl::Fixed),
        ("arf", RateControl::ARF),
        ("periodic", RateControl::PERIODIC),
        ("minstrel", RateControl::Minstrel),
        ("ideal", RateControl::Ideal),
    ];
    let mut control = RateControl::Fixed;
    view.read("rate_control", "none".to_owned(), "one rate", |value| {
        let Data::Table(table) = &value.data else {
            control = reader::choose(value, &words)?;
            return Ok(value.show());
        };
        let inner = View::new(view.cx, view.path_of("rate_control"), value.place, Some(table));
        control = match inner.choice("method", &words, RateControl::ARF, "docs/models/rate-control.md") {
            RateControl::Arf { up, down } => RateControl::Arf {
                up: inner.count("up", up, "successes in a row; Kamerman and Monteban 1997").max(1),
                down: inner.count("down", down, "failures in a row; Kamerman and Monteban 1997").max(1),
            },
            RateControl::Periodic { period } => {
                RateControl::Periodic { period: positive(&inner, "period", period, "as the drivers of 2004") }
            }
            other => other,
        };
        inner.finish();
        Ok(value.show())
    });
    control
}
