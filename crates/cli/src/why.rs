//! The reasons behind a result: what limited each flow, chosen metrics, members of trunks and radios.

use crate::arguments::Run;
use crate::columns::{columns, wrapped};
use crate::table::spread;
use airbraid_campaign::CellResult;
use airbraid_sim::limits::{self, FlowLimits};
use airbraid_sim::metric::{FAMILIES, Unit, unit_of};
use airbraid_sim::result::TrunkResult;
use std::fmt::Write as _;

/// The limits of one flow of a cell in all its runs.
fn runs_of(cell: &CellResult, place: usize) -> Vec<&FlowLimits> {
    cell.runs.iter().filter_map(|run| run.flows.get(place)?.limits.as_ref()).collect()
}

/// A line for each flow: what limited it.
fn lines(cell: &CellResult) -> String {
    let flows = cell.runs.first().map(|run| run.flows.as_slice()).unwrap_or_default();
    let mut out = String::new();
    for (place, flow) in flows.iter().enumerate() {
        let line = limits::line(&runs_of(cell, place));
        if !line.is_empty() {
            out.push_str(&wrapped(&format!("  {} is limited by {line}", flow.name), "      "));
        }
    }
    out
}

/// The limits of the flows of a cell, and everything that the options ask for.
pub fn details(cell: &CellResult, arguments: &Run) -> String {
    let mut out = lines(cell);
    if arguments.why {
        out.push_str(&whys(cell));
    }
    if arguments.verbose {
        out.push_str(&radios(cell));
        out.push_str(&members(cell));
    }
    if !arguments.metrics.is_empty() {
        out.push_str(&metrics(cell, &arguments.metrics));
    }
    out
}

/// The time of each flow divided among causes, and how busy the devices on its way were.
fn whys(cell: &CellResult) -> String {
    let flows = cell.runs.first().map(|run| run.flows.as_slice()).unwrap_or_default();
    let mut out = String::new();
    for (place, flow) in flows.iter().enumerate() {
        let runs = runs_of(cell, place);
        let _ = writeln!(out, "\n  why {} has what it has: share of its time", flow.name);
        out.push_str(&columns(&rows(limits::rows(&runs))));
        let way = limits::way(&runs);
        if !way.is_empty() {
            out.push_str("  on its way, there and back: busy\n");
            out.push_str(&columns(&rows(way)));
        }
    }
    out
}

fn rows(all: Vec<[String; 2]>) -> Vec<Vec<String>> {
    all.into_iter().map(Vec::from).collect()
}

/// Airtime, frames and losses of each radio.
fn radios(cell: &CellResult) -> String {
    let head = ["radio", "airtime", "frames", "retries", "collisions", "errors", "queue drops"];
    let of_mac = |node: &str, radio: &str| {
        let shown = |key: &str, unit| spread(cell, &format!("mac.{node}.{radio}.{key}"), unit);
        let count = |key| shown(key, Unit::Count);
        vec![
            format!("{node} {radio}"),
            shown("airtime", Unit::Share),
            count("data_frames"),
            count("retries"),
            count("collisions"),
            count("channel_errors"),
            count("queue_drops"),
        ]
    };
    let macs = cell.runs.first().into_iter().flat_map(|run| &run.macs);
    section(&head, macs.map(|mac| of_mac(&mac.node, &mac.radio)).collect())
}

/// The share of each member of each trunk.
fn members(cell: &CellResult) -> String {
    let mut rows = Vec::new();
    let member = |trunk: &str, from: &str, link: &str| {
        let share = spread(cell, &format!("trunk.{trunk}.{from}.{link}.share"), Unit::Share);
        vec![trunk.to_owned(), from.to_owned(), link.to_owned(), share]
    };
    for trunk in cell.runs.first().into_iter().flat_map(|run| &run.trunks) {
        match trunk {
            TrunkResult::Radios(trunk) => {
                let all = trunk.sent_by_member.iter().sum::<u64>().max(1) as f64;
                for (member, sent) in trunk.sent_by_member.iter().enumerate() {
                    let share = Unit::Share.show(*sent as f64 / all);
                    rows.push(vec![trunk.name.clone(), trunk.from.clone(), format!("member {}", member + 1), share]);
                }
            }
            TrunkResult::Links(trunk) => {
                let members = trunk.members.iter().map(|member| &member.link);
                rows.extend(members.map(|link| member(&trunk.name, &trunk.from, link)));
            }
            TrunkResult::MultiLink(trunk) => {
                let members = trunk.members.iter().map(|member| &member.link);
                rows.extend(members.map(|link| member(&trunk.name, &trunk.from, link)));
            }
        }
    }
    section(&["trunk", "from", "member", "share"], rows)
}

/// The metrics whose names one of the patterns fits.
fn metrics(cell: &CellResult, patterns: &[String]) -> String {
    // Also without the unit, as `[expect]` names a metric.
    let without_unit = |name: &str| ["_bps", "_s"].iter().find_map(|unit| name.strip_suffix(unit)).map(str::to_owned);
    let is_either = |pattern: &str, name: &str| {
        is_match(pattern, name) || without_unit(name).is_some_and(|name| is_match(pattern, &name))
    };
    let fits = |name: &str| patterns.iter().any(|pattern| is_either(pattern, name));
    let chosen = cell.summary().iter().map(|(name, _)| name).filter(|name| fits(name));
    let rows: Vec<_> = chosen.map(|name| vec![name.clone(), spread(cell, name, unit_of(name))]).collect();
    if rows.is_empty() {
        let words: Vec<&str> = FAMILIES.iter().map(|family| family.word).collect();
        let mut words: Vec<&str> = words.into_iter().chain(["drops"]).collect();
        words.dedup();
        return format!("\n  no metric fits {}; names begin with {}\n", patterns.join(", "), words.join(", "));
    }
    section(&["metric", "value"], rows)
}

fn section(head: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head = head.iter().map(|word| (*word).to_owned()).collect();
    let all: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    format!("\n{}", columns(&all))
}

/// Whether a pattern fits a whole name: `*` stands for any text, `?` for one character.
fn is_match(pattern: &str, name: &str) -> bool {
    let mut pattern_rest = pattern.chars();
    match pattern_rest.next() {
        None => name.is_empty(),
        Some('*') => {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.into_iter().any(|at| is_match(pattern_rest.as_str(), &name[at..]))
        }
        Some(wanted) => {
            let mut rest = name.chars();
            rest.next()
                .is_some_and(|is| (wanted == '?' || wanted == is) && is_match(pattern_rest.as_str(), rest.as_str()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_match;

    #[test]
    fn a_star_stands_for_any_text_and_a_question_mark_for_one_character() {
        assert!(is_match("mac.*", "mac.sender.ch1.retries"));
        assert!(is_match("*.retries", "mac.sender.ch1.retries"));
        assert!(is_match("mac.sender.ch?.retries", "mac.sender.ch1.retries"));
        assert!(!is_match("mac.*", "total.collisions"));
        assert!(!is_match("mac", "mac.sender.ch1.retries"));
    }
}
