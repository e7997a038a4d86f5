//! Cells in 2.4 GHz with radios of 802.11b beside others, which have OFDM: what the latter do for the former's sake
//! (802.11-2020, 10.27.2 and clause 18).

use super::radio_pool::RadioPool;
use super::standard::standard_name;
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View};
use crate::scenario::spec::{AskedProtection, BesideDsss, Mac, Node, Radio};
use airbraid_mac::dcf::DcfConfig;
use airbraid_mac::erp::{NonErp, Protection};
use airbraid_mac::phy::{HR_DSSS_RATES, Phy, Preamble, Rate, Standard};
use airbraid_units::Duration;
use std::sync::Arc;

/// The slot of a cell that has a station without the short one (802.11-2020, table 18-5 and 9.4.1.4).
const LONG_SLOT: Duration = Duration::from_micros(20);

const PROTECTIONS: [(&str, AskedProtection); 4] = [
    ("automatic", AskedProtection::Automatic),
    ("off", AskedProtection::Always(None)),
    ("cts_to_self", AskedProtection::Always(Some(Protection::CtsToSelf))),
    ("rts_cts", AskedProtection::Always(Some(Protection::RtsCts))),
];

/// Reads what a radio on a channel, or without a number defaults for radios, says.
pub(super) fn read(view: &View<'_>, channel: Option<u32>, mac: &Mac) -> BesideDsss {
    let is_there = |key| view.find(key).is_some();
    let speaks = matches!(mac, Mac::Dcf(_) | Mac::Edca(_));
    let is_erp = speaks && mac.phy().is_some_and(|phy| phy.standard == Standard::Dot11g);
    if !is_erp {
        let message = || "`protection` is of OFDM in 2.4 GHz, beside stations of 802.11b".to_owned();
        view.require(channel.is_none() || !is_there("protection"), "protection", message, "leave it out");
        view.know("protection");
        return BesideDsss::default();
    }
    let why = "802.11-2020, 10.27.2: a CTS to itself where a radio of 802.11b is on its channel";
    let word = |asked| PROTECTIONS.iter().find(|(_, other)| *other == asked).map_or("", |(word, _)| *word);
    let mut protection = AskedProtection::Automatic;
    view.read("protection", word(protection).to_owned(), why, |value| {
        protection = reader::choose(value, &PROTECTIONS)?;
        Ok(word(protection).to_owned())
    });
    BesideDsss { protection, has_slot: is_there("slot"), has_broadcast_rate: is_there("broadcast_rate") }
}

/// Radios with OFDM learn of those of 802.11b on their channel.
pub(super) fn settle(top: &View<'_>, nodes: &mut [Node]) {
    let all: Vec<Arc<Radio>> = nodes.iter().flat_map(|node| node.radios.iter().cloned()).collect();
    let older: Vec<&Radio> = all.iter().map(|radio| &**radio).filter(|radio| is_dsss(radio)).collect();
    check_access_points(top, &all);
    let mut pool = RadioPool::default();
    for node in nodes {
        for radio in &mut node.radios {
            if let Some(changed) = beside(radio, &older) {
                show(top, &format!("node.{}.radios.{}", node.name, radio.name), (radio, &changed));
                *radio = pool.shared(changed);
            }
        }
    }
}

/// Shows what a radio uses where it is not the default of its table.
fn show(top: &View<'_>, table: &str, (before, after): (&Radio, &Radio)) {
    let uses = |radio: &Radio| {
        let broadcast = match &radio.mac {
            Mac::Dcf(dcf) => Some(dcf.broadcast_rate.bit_rate),
            Mac::Edca(edca) => Some(edca.broadcast_rate.bit_rate),
            _ => None,
        };
        (radio.mac.phy().map(|phy| phy.slot), broadcast)
    };
    let ((slot, rate), (new_slot, new_rate)) = (uses(before), uses(after));
    if let Some(new) = new_slot.filter(|_| new_slot != slot) {
        top.cx.settle(table, "slot", new, "802.11-2020, 9.4.1.4: 802.11b is on its channel");
    }
    if let Some(new) = new_rate.filter(|_| new_rate != rate) {
        top.cx.settle(table, "broadcast_rate", new, "802.11-2020, 10.6.5: 802.11b is on its channel");
    }
    let protection = after.mac.non_erp().map(|non_erp| AskedProtection::Always(non_erp.protection));
    if let Some(new) = protection.filter(|_| before.beside_dsss.protection == AskedProtection::Automatic) {
        let word = PROTECTIONS.iter().find(|(_, other)| *other == new).map_or("", |(word, _)| *word);
        top.cx.settle(table, "protection", word, "802.11-2020, 10.27.2: 802.11b is on its channel");
    }
}

/// Whether it is a radio of 802.11b under DCF.
pub(crate) fn is_dsss(radio: &Radio) -> bool {
    matches!(&radio.mac, Mac::Dcf(dcf) if dcf.phy.standard == Standard::Dot11b)
}

/// Access points for stations that doze, and those stations, have one standard.
fn check_access_points(top: &View<'_>, all: &[Arc<Radio>]) {
    let standard = |radio: &Radio| radio.mac.phy().map(|phy| phy.standard);
    for access_point in all.iter().filter(|radio| matches!(radio.mac, Mac::AccessPoint(_))) {
        let is_unlike = |other: &&Arc<Radio>| {
            matches!(other.mac, Mac::Dcf(_) | Mac::AccessPoint(_))
                && other.channel == access_point.channel
                && standard(other) != standard(access_point)
        };
        if let (Some(other), Some(own)) =
            (all.iter().find(is_unlike).and_then(|radio| standard(radio)), standard(access_point))
        {
            let [own, other] = [own, other].map(standard_name);
            let message = format!(
                "an access point for stations that doze has {own}, and another radio of channel {} {other}",
                access_point.channel
            );
            top.complain("node", Complaint::new(message, "give both one `standard`: mixed cells are of mac = \"dcf\""));
            return;
        }
    }
}

/// A radio with what it knows of those of 802.11b, if it has to know anything.
fn beside(radio: &Radio, older: &[&Radio]) -> Option<Radio> {
    let is_erp = radio.mac.phy().is_some_and(|phy| phy.standard == Standard::Dot11g);
    let near: Vec<&DcfConfig> = older
        .iter()
        .filter(|other| is_erp && radio.shares_channel(other))
        .filter_map(|other| other.mac.dcf())
        .collect();
    let asked = radio.beside_dsss.protection;
    let protection = match asked {
        _ if !is_erp => return None,
        AskedProtection::Automatic if near.is_empty() => return None,
        AskedProtection::Always(None) if near.is_empty() => return None,
        AskedProtection::Automatic => Some(Protection::CtsToSelf),
        AskedProtection::Always(protection) => protection,
    };
    // Without any there are those of an overlapping cell, of which nothing is known.
    let common = near.iter().map(|dcf| dcf.basic_rates as u8).reduce(|a, b| a & b).unwrap_or(0);
    let basic_rates = if common == 0 { 1 } else { common };
    let is_short = !near.is_empty() && near.iter().all(|dcf| dcf.phy.preamble == Preamble::Short);
    let preamble = if is_short { Preamble::Short } else { Preamble::Long };
    let lowest = HR_DSSS_RATES[basic_rates.trailing_zeros() as usize % HR_DSSS_RATES.len()];
    let non_erp = NonErp { basic_rates, protection };
    let mut radio = radio.clone();
    let said = radio.beside_dsss;
    let change = |phy: &mut Phy, broadcast: &mut Rate| {
        phy.preamble = preamble;
        if !said.has_slot && !near.is_empty() {
            phy.slot = LONG_SLOT;
        }
        if !said.has_broadcast_rate && !near.is_empty() {
            *broadcast = lowest;
        }
    };
    match &mut radio.mac {
        Mac::Dcf(dcf) => {
            change(&mut dcf.phy, &mut dcf.broadcast_rate);
            dcf.non_erp = Some(non_erp);
        }
        Mac::Edca(edca) => {
            change(&mut edca.phy, &mut edca.broadcast_rate);
            edca.non_erp = Some(non_erp);
        }
        _ => return None,
    }
    Some(radio)
}
