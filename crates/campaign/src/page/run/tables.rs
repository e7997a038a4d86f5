//! The tables of a cell: a row for each flow, radio, trunk, member, link, with every number that is not zero
//! everywhere.

use super::number::number;
use crate::stored::{Stored, StoredCell, list, text};
use airbraid_sim::metric::{Unit, unit_of};
use serde_json::{Value, json};

/// The title of the members of trunks over links.
const OF_LINKS: &str = "Members of trunks over links";

/// The kinds of things, by the first part of a metric's name and the number of its parts without the metric.
const KINDS: [(&str, usize, &str); 11] = [
    ("flow", 2, "Flows"),
    ("mac", 3, "Radios"),
    ("trunk", 2, "Trunks, both ends together"),
    ("trunk", 3, "Ends of trunks"),
    ("trunk", 4, OF_LINKS),
    ("select", 3, "Interface selection"),
    ("link", 3, "Links, by direction"),
    ("link_layer", 3, "Local error control"),
    ("slots", 2, "Radios that change access points"),
    ("slots", 4, "Access points"),
    ("killer", 2, "Packet killers"),
];

/// The tables of a cell, those without rows left out.
pub fn tables(result: &Stored, index: usize) -> Vec<Value> {
    let cell = &result.cells[index];
    let mut all: Vec<Value> = Vec::new();
    for (word, parts, title) in KINDS {
        let title = if (word, parts) == ("trunk", 4) { title_of_members(result, index) } else { title };
        all.extend(of_kind(cell, word, parts, title));
        if (word, parts) == ("trunk", 3) {
            all.extend(members(result, index));
        }
    }
    all.extend(whole(cell));
    all
}

/// The title of the members that have metrics of their own: those of trunks over links and of multi-link devices.
fn title_of_members(result: &Stored, index: usize) -> &'static str {
    let has_devices = result.plan.cells.get(index).is_some_and(|cell| cell.spec.multi_link_trunks().next().is_some());
    if has_devices { "Members of trunks" } else { OF_LINKS }
}

/// Name and metric of a full name.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

fn of_kind(cell: &StoredCell, word: &str, parts: usize, title: &str) -> Option<Value> {
    let belongs = |name: &str| {
        let thing = split(name).0;
        thing.split('.').next() == Some(word) && thing.split('.').count() == parts
    };
    let numbers: Vec<(&str, &str, f64)> = cell
        .summary
        .iter()
        .filter(|(name, _)| belongs(name))
        .filter_map(|(name, summary)| Some((split(name).0, split(name).1, summary.mean?)))
        .collect();
    let mut things: Vec<&str> = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    let mut of_thing: std::collections::BTreeMap<(&str, &str), f64> = std::collections::BTreeMap::new();
    let mut last = "";
    for (thing, metric, mean) in numbers {
        // The names of one thing stand together.
        if thing != last {
            things.push(thing);
            last = thing;
        }
        if mean != 0.0 && !columns.contains(&metric) {
            columns.push(metric);
        }
        of_thing.insert((thing, metric), mean);
    }
    let row = |thing: &&str| {
        let name = thing.split('.').skip(1).collect::<Vec<_>>().join(" ");
        let values = columns.iter().map(|metric| of_thing.get(&(*thing, *metric)).map_or(Value::Null, |x| number(*x)));
        std::iter::once(Value::from(name)).chain(values).collect::<Value>()
    };
    let head: Vec<Value> = columns.iter().map(|metric| heading(metric, unit_of(&format!("{word}.{metric}")))).collect();
    (!things.is_empty())
        .then(|| json!({ "title": title, "head": head, "rows": things.iter().map(row).collect::<Vec<_>>() }))
}

/// A column's heading: the metric in words, and its unit.
fn heading(metric: &str, unit: Unit) -> Value {
    json!([metric.strip_suffix(unit.suffix()).unwrap_or(metric).replace('_', " "), unit.word()])
}

/// The members of trunks over radios, with the packets that each was given in the first replication.
fn members(result: &Stored, index: usize) -> Option<Value> {
    let spec = &result.plan.cells.get(index)?.spec;
    let mut rows = Vec::new();
    for trunk in list(result.cells[index].runs.first(), "trunks") {
        let sent: Vec<f64> = list(Some(trunk), "sent_by_member").iter().filter_map(Value::as_f64).collect();
        let all = sent.iter().sum::<f64>().max(1.0);
        let known = spec.radio_trunks().find(|known| known.name == text(trunk, "name"));
        for (member, packets) in sent.iter().enumerate() {
            let radio = known.and_then(|trunk| {
                let radio = trunk.members.get(member)?[0];
                Some(spec.nodes.get(trunk.between[0])?.radios.get(radio)?.name.clone())
            });
            let name = format!("{} {} {}", text(trunk, "name"), text(trunk, "from"), radio.unwrap_or_default());
            rows.push(json!([name.trim(), number(*packets), number(packets / all)]));
        }
    }
    let head = [heading("packets", Unit::Count), heading("share", Unit::Share)];
    (!rows.is_empty())
        .then(|| json!({ "title": "Members of trunks over radios (first replication)", "head": head, "rows": rows }))
}

/// Numbers of all together, and drops by reason.
fn whole(cell: &StoredCell) -> Option<Value> {
    const WHOLE: [&str; 4] = ["total", "packets", "routing", "drops"];
    let rows: Vec<Value> = cell
        .summary
        .iter()
        .filter(|(name, _)| WHOLE.contains(&split(name).0))
        .filter_map(|(name, summary)| {
            let (of, metric) = split(name);
            let unit = unit_of(name);
            let words = metric.strip_suffix(unit.suffix()).unwrap_or(metric).replace('_', " ");
            Some(json!([format!("{of} {words}"), [number(summary.mean.filter(|x| *x != 0.0)?), unit.word()]]))
        })
        .collect();
    (!rows.is_empty())
        .then(|| json!({ "title": "All together, and drops by reason", "head": [["value", ""]], "rows": rows }))
}
