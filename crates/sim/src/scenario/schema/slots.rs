//! `[[slots]]`: a radio that goes from one access point to the next, and its times.
//!
//! The period is planned from duty cycles (`docs/models/slots.md`) or written slot by slot. What a radio cannot keep is
//! refused here: a run never finds out.

use super::node::find_radio;
use super::power_save::CHANNELS_MAX;
use super::standard_name;
use crate::models::planner::{Policy, arrange};
use crate::models::tcp::{Route, Tcp};
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View, quantity};
use crate::scenario::spec::{self, Mac, Node, SlotSource, Slots, SlottedRadio};
use crate::scenario::tree::{Data, Value};
use airbraid_engine::slots::{Fraction, Layout, Length, Path, SLOTS_MAX, Station, Timetable};
use airbraid_mac::power_save::PlannedSlot;
use airbraid_units::Duration;
use std::collections::BTreeSet;

const POLICIES: [(&str, Policy); 6] = [
    ("no_policy", Policy::NoPolicy),
    ("random", Policy::Random),
    ("min_max", Policy::MinMax),
    ("blind", Policy::Blind),
    ("worst_case", Policy::WorstCase),
    ("measured", Policy::Measured),
];
/// The default shortest slot: the upper end of the range that section 6.1 of the paper calls safe.
const SLOT: Duration = Duration::from_millis(15);
/// Longest slot: the times of a period add up in nanoseconds.
const SLOT_MAX: Duration = Duration::from_secs(60);
/// Largest number of slots that are shown.
const SHOWN: usize = 64;

/// The origin of the slots, and each access point's part of a period.
type Planned = (SlotSource, Vec<u64>);

pub(super) fn read(views: &[View<'_>], nodes: &[Node]) -> Vec<Slots> {
    let mut all: Vec<Slots> = Vec::with_capacity(views.len());
    for view in views {
        let name = view.name();
        let radio = view.find("radio").and_then(|found| find_radio(view.cx, found.value, nodes));
        let message = || "`radio` is missing".to_owned();
        view.require(view.find("radio").is_some(), "radio", message, "add radio = \"laptop/air\"");
        let access_points = access_points(view, nodes);
        let Some(slotted) = radio.and_then(|at| station(view, at, nodes)) else { continue };
        let planned = plan(view, &access_points, nodes, slotted);
        let (Some(radio), Some((plan, shares_ns))) = (radio, planned) else { continue };
        same_standard(view, radio, &access_points, nodes);
        let taken = all.iter().any(|other| other.radio.0 == radio.0);
        let message = || format!("`{}` has slots already", nodes[radio.0].name);
        view.require(!taken, "radio", message, "a node has one radio with virtual stations");
        all.push(Slots { name, radio, access_points, shares_ns, plan });
    }
    let channels: BTreeSet<u32> =
        all.iter().flat_map(|slots| &slots.access_points).map(|(n, r)| nodes[*n].radios[*r].channel).collect();
    if let Some(view) = views.first() {
        let message = || format!("access points on {} channels are too many", channels.len());
        view.require(channels.len() <= CHANNELS_MAX, "access_points", message, &format!("at most {CHANNELS_MAX}"));
    }
    all
}

/// Checks that every radio that needs slots has some.
pub(super) fn check(top: &View<'_>, nodes: &[Node], slots: &[Slots]) {
    for (n, node) in nodes.iter().enumerate() {
        for (r, radio) in node.radios.iter().enumerate() {
            if matches!(radio.mac, Mac::Slotted(_)) && slots.iter().all(|slots| slots.radio != (n, r)) {
                let message = format!("nobody says when `{}/{}` serves which access point", node.name, radio.name);
                top.complain(
                    "slots",
                    Complaint::new(message, "add a [[slots]] with its radio, access_points and duty"),
                );
            }
        }
    }
}

fn station(view: &View<'_>, (node, radio): (usize, usize), nodes: &[Node]) -> Option<SlottedRadio> {
    if let Mac::Slotted(slotted) = nodes[node].radios[radio].mac {
        return Some(slotted);
    }
    view.complain("radio", Complaint::new("this radio has no virtual stations", "give it mac = \"slotted\""));
    None
}

fn access_points(view: &View<'_>, nodes: &[Node]) -> Vec<(usize, usize)> {
    let items = view.required("access_points", "[\"home/air\", \"cafe/air\"]", reader::list).unwrap_or(&[]);
    let mut found: Vec<(usize, usize)> = Vec::with_capacity(items.len());
    for item in items {
        let Some((node, radio)) = find_radio(view.cx, item, nodes) else { continue };
        if !matches!(nodes[node].radios[radio].mac, Mac::AccessPoint(_)) {
            let help = "give it mac = \"access_point\"";
            view.cx.complain(item.place, Complaint::new("this radio is no access point", help));
        } else if found.contains(&(node, radio)) {
            let help = "name each access point once: it may have several slots";
            view.cx.complain(item.place, Complaint::new("this access point is named twice", help));
        } else {
            found.push((node, radio));
        }
    }
    found
}

fn same_standard(view: &View<'_>, station: (usize, usize), access_points: &[(usize, usize)], nodes: &[Node]) {
    let standard = |(n, r): (usize, usize)| nodes[n].radios[r].mac.dcf().map(|dcf| dcf.phy.standard);
    let own = standard(station);
    for at in access_points {
        let other = standard(*at);
        let names = [own, other].map(|standard| standard.map_or("?", standard_name));
        let message = || format!("the radios speak different standards: {} and {}", names[0], names[1]);
        view.require(own == other, "access_points", message, "give both the same `standard`");
    }
}

/// The slots: written ones, or those planned from duty cycles.
fn plan(view: &View<'_>, access_points: &[(usize, usize)], nodes: &[Node], radio: SlottedRadio) -> Option<Planned> {
    let count = access_points.len();
    let written = view.find("plan").is_some();
    let message = || "`plan` has the slots, and `duty` would plan others".to_owned();
    let both = written && view.find("duty").is_some();
    view.require(!both, "plan", message, "keep one of them");
    let planned = if written {
        ["slot", "period", "planner", "delay", "loss", "flows"].iter().for_each(|key| view.know(key));
        by_hand(view, access_points, nodes)
    } else {
        from_duties(view, count)
    }?;
    let least = match &planned.0 {
        SlotSource::Fixed(slots) => slots.iter().filter(|slot| slot.station.is_some()).map(|slot| slot.length).min(),
        SlotSource::Lots(layout) => layout.stations().iter().map(|station| Duration::from_nanos(station.size_ns)).min(),
    };
    let fits = count < 2 || least.is_none_or(|least| least > radio.retuning);
    let message =
        || format!("retuning takes {}, and the shortest slot lasts {}", radio.retuning, least.unwrap_or_default());
    view.require(fits, if written { "plan" } else { "slot" }, message, "lengthen slots or period");
    show(view, &planned);
    Some(planned)
}

/// `plan = [["home/air", "10 ms"], ["nobody", "5 ms"]]`.
fn by_hand(view: &View<'_>, access_points: &[(usize, usize)], nodes: &[Node]) -> Option<Planned> {
    let items = view.optional("plan", "", reader::list)?;
    let mut shares = vec![0; access_points.len()];
    let mut slots = Vec::with_capacity(items.len());
    let message = || format!("{} slots are more than a period may have", items.len());
    view.require(items.len() as u64 <= SLOTS_MAX, "plan", message, &format!("at most {SLOTS_MAX}"));
    for item in items.iter().take(SLOTS_MAX as usize) {
        let slot = one_slot(view, item, access_points, nodes)?;
        if let Some(station) = slot.station {
            shares[station] += slot.length.as_nanos();
        }
        slots.push(slot);
    }
    if let Some(none) = shares.iter().position(|share| *share == 0) {
        let (node, radio) = access_points[none];
        let message = format!("`{}/{}` has no slot", nodes[node].name, nodes[node].radios[radio].name);
        view.complain("plan", Complaint::new(message, "give it one, or leave it out of `access_points`"));
        return None;
    }
    Some((SlotSource::Fixed(slots), shares))
}

fn one_slot(view: &View<'_>, item: &Value, access_points: &[(usize, usize)], nodes: &[Node]) -> Option<PlannedSlot> {
    const HELP: &str = "write [\"home/air\", \"10 ms\"], or [\"nobody\", \"5 ms\"]";
    let complain = |complaint| view.cx.complain(item.place, complaint);
    let Ok([owner, length]) = reader::list(item) else {
        complain(Complaint::new("a slot is an access point and a time", HELP));
        return None;
    };
    let length = quantity::<Duration>(length).map_err(complain).ok()?;
    if length.is_zero() || length > SLOT_MAX {
        complain(Complaint::new(format!("no slot lasts {length}"), "longer than nothing, and a minute at most"));
        return None;
    }
    if matches!(&owner.data, Data::Text(word) if word == "nobody") {
        return Some(PlannedSlot { station: None, length });
    }
    let at = find_radio(view.cx, owner, nodes)?;
    let station = access_points.iter().position(|other| *other == at);
    if station.is_none() {
        complain(Complaint::new("this is none of the `access_points`", HELP));
    }
    station.map(|station| PlannedSlot { station: Some(station), length })
}

fn from_duties(view: &View<'_>, count: usize) -> Option<Planned> {
    let fraction = |value: &Value| match &value.data {
        Data::Text(text) => {
            Fraction::parse(text).map_err(|e| Complaint::new(e.to_string(), "write \"1/2\" or \"0.5\""))
        }
        _ => Err(Complaint::new("a duty cycle is exact: it is a text", "write \"1/2\", \"0.5\" or \"50 %\"")),
    };
    let duties = view.required("duty", "[\"1/2\", \"1/2\"]", |value| each(value, fraction))?;
    let slot = view.optional("slot", "15 ms, where no period is given", quantity::<Duration>);
    let length = match (slot, view.optional("period", "by the smallest duty cycle", quantity::<Duration>)) {
        (Some(slot), Some(period)) => Length::Both { slot, period },
        (None, Some(period)) => Length::Period(period),
        (slot, None) => Length::Slot(slot.unwrap_or(SLOT)),
    };
    let policy = view.choice("planner", &POLICIES, Policy::MinMax, "it needs no delays");
    let routes = routes(view, count, policy, fraction)?;
    let message = || format!("{} duty cycles for {count} access points", duties.len());
    view.require(duties.len() == count, "duty", message, "give each its own");
    if duties.len() != count {
        return None;
    }
    let layout = match Layout::new(&duties, length) {
        Ok(layout) => layout,
        Err(refused) => {
            view.complain("duty", Complaint::new(refused.to_string(), "`airbraid plan` tries duty cycles out"));
            return None;
        }
    };
    let shares = layout.stations().iter().map(|station| station.share_ns).collect();
    let Some((arrangement, _)) = arrange(&layout, policy, &routes, &Tcp::default(), &[]) else {
        return Some((SlotSource::Lots(layout), shares));
    };
    let timetable = Timetable::new(&layout, &arrangement);
    Some((SlotSource::Fixed(spec::slots_of(&timetable)), shares))
}

/// The planner's data about the routes through the access points.
fn routes(
    view: &View<'_>,
    count: usize,
    policy: Policy,
    fraction: impl Fn(&Value) -> Result<Fraction, Complaint> + Copy,
) -> Option<Vec<Route>> {
    let delays = view.optional("delay", "not known", |value| each(value, quantity::<Duration>));
    let message = || "this planner needs the round-trip times behind the access points".to_owned();
    let known = delays.is_some() || view.find("delay").is_some();
    view.require(known || !policy.needs_delays(), "planner", message, "add delay = \"50 ms\", or one for each");
    let losses = view.optional("loss", "0.32 %", |value| each(value, fraction)).unwrap_or_default();
    let flows = view.optional("flows", "one for each access point", |value| each(value, reader::count));
    let flows = flows.unwrap_or_default();
    let delays = delays.unwrap_or_default();
    let mut fits = true;
    for (key, given) in [("delay", delays.len()), ("loss", losses.len()), ("flows", flows.len())] {
        let right = given <= 1 || given == count;
        fits &= right;
        view.require(right, key, || format!("{given} values for {count} access points"), "give one, or one for each");
    }
    let wrong = losses.iter().any(|loss| loss.is_zero() || *loss > Fraction::ONE);
    view.require(
        !wrong,
        "loss",
        || "the planner's model needs a loss above 0 and up to 1".to_owned(),
        "write \"0.32 %\"",
    );
    let none = flows.contains(&0);
    view.require(!none, "flows", || "a planner counts at least one flow".to_owned(), "write 1 or more");
    // 0.32 %: what the paper's simulations of slots take.
    let default = Fraction::new(32, 10_000).unwrap_or(Fraction::ONE);
    let route = |i: usize| {
        let delay = pick(&delays, i).unwrap_or_default();
        let path = Path { delay, loss: pick(&losses, i).unwrap_or(default), flows: pick(&flows, i).unwrap_or(1) };
        Route { path, limit: None }
    };
    (fits && !wrong && !none && (known || !policy.needs_delays())).then(|| (0..count).map(route).collect())
}

/// A value, or a list of them.
fn each<T>(value: &Value, read: impl Fn(&Value) -> Result<T, Complaint>) -> Result<Vec<T>, Complaint> {
    match &value.data {
        Data::List(items) => items.iter().map(read).collect(),
        _ => Ok(vec![read(value)?]),
    }
}

/// The value of access point `i`: its own, or the one for all.
fn pick<T: Copy>(values: &[T], i: usize) -> Option<T> {
    values.get(if values.len() == 1 { 0 } else { i }).copied()
}

/// Notes the plan for `explain`: period, and the order of the slots, counted from 1, `-` for nobody.
fn show(view: &View<'_>, (plan, _): &Planned) {
    match plan {
        SlotSource::Fixed(slots) => {
            let period = Duration::from_nanos(slots.iter().map(|slot| slot.length.as_nanos()).sum());
            let owner = |slot: &PlannedSlot| {
                let owner = slot.station.map_or_else(|| "-".to_owned(), |station| (station + 1).to_string());
                format!("{owner}: {}", slot.length)
            };
            let mut owners: Vec<String> = slots.iter().take(SHOWN).map(owner).collect();
            if slots.len() > SHOWN {
                owners.push(format!("and {} more", slots.len() - SHOWN));
            }
            view.note("period_planned", period, None, "the slots together");
            view.note("slots_planned", owners.join(", "), None, "by the planner, or as written");
        }
        SlotSource::Lots(layout) => {
            let size = |station: &Station| Duration::from_nanos(station.size_ns).to_string();
            let sizes: Vec<String> = layout.stations().iter().map(size).collect();
            view.note("period_planned", layout.period(), None, "in the mean");
            view.note("slots_planned", format!("by lot, of {}", sizes.join(", ")), None, "by the seed of a run");
        }
    }
}
