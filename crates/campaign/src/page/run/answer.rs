//! The answer in words and numbers: goodput and delay of each flow, what limits it, and verdicts.

use super::super::skeleton::{escape, picture};
use crate::drawing::line_colour;
use crate::plot::show;
use crate::statistics::{INTERVAL_RUNS_MIN, Summary, spread};
use crate::stored::{Stored, StoredCell, list, text};
use airbraid_sim::limits::{self, Cause, FlowLimits};
use airbraid_sim::metric::Unit;
use serde_json::Value;
use std::fmt::Write as _;

/// Largest number of rows of the answer: more are in the page's tables, cell by cell.
const ROWS_MAX: usize = 200;
/// Largest number of flows whose causes stand in the page.
const CAUSES_MAX: usize = 40;

/// A column of the answer: its heading, the metric behind `flow.NAME.`, the way to it in a run, its unit.
type Column = (&'static str, &'static str, &'static [&'static str], Unit);

const COLUMNS: [Column; 5] = [
    ("goodput", "goodput_bps", &["goodput_bps"], Unit::BitPerSecond),
    ("mean delay", "delay_mean_s", &["delay_s", "mean"], Unit::Second),
    ("99 % below", "delay_p99_s", &["delay_s", "p99"], Unit::Second),
    ("resent", "retransmits", &["retransmits"], Unit::Count),
    ("timeouts", "timeouts", &["timeouts"], Unit::Count),
];

/// The pictures of a sweep, and a row for each flow of each cell.
pub fn answer(result: &Stored, page: &mut String) {
    page.push_str("<section id=\"answer\">\n<h2>Answer</h2>\n");
    if result.cells.len() > 1 || !result.made.plots.is_empty() {
        for svg in &result.pictures {
            let _ = writeln!(
                page,
                "<figure class=\"wide drawing\" tabindex=\"0\">{}</figure>",
                picture(svg, &shown(result))
            );
        }
    }
    let keys: Vec<&str> = result.plan.axes.iter().map(|axis| axis.key.as_str()).collect();
    page.push_str("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
    keys.iter().for_each(|key| page.push_str(&format!("<th scope=\"col\">{}</th>", escape(key))));
    page.push_str("<th scope=\"col\">flow</th>");
    COLUMNS.iter().for_each(|(head, ..)| page.push_str(&format!("<th scope=\"col\" class=\"n\">{head}</th>")));
    page.push_str("</tr></thead>\n<tbody>\n");
    let all = pairs(result);
    for (cell, flow) in all.iter().take(ROWS_MAX) {
        row(result, *cell, *flow, page);
    }
    page.push_str("</tbody>\n</table></div>\n");
    let _ = writeln!(page, "<p class=\"small\">{}{}</p>", replications(result), more(all.len(), ROWS_MAX));
    page.push_str("</section>\n");
}

/// The content of the pictures, in words.
fn shown(result: &Stored) -> String {
    let keys: Vec<&str> = result.plan.axes.iter().map(|axis| axis.key.as_str()).collect();
    format!("{}: the metric over {}; its numbers are in the table below", result.plan.title, keys.join(", "))
}

/// All flows of all cells, by their places.
fn pairs(result: &Stored) -> Vec<(usize, usize)> {
    let of_cell =
        |(index, cell): (usize, &StoredCell)| (0..cell.flows().len()).map(move |flow| (index, flow)).collect();
    result.cells.iter().enumerate().flat_map(|pair| -> Vec<(usize, usize)> { of_cell(pair) }).collect()
}

fn row(result: &Stored, index: usize, flow: usize, page: &mut String) {
    let cell = &result.cells[index];
    let facts = &cell.flows()[flow];
    let name = text(facts, "name");
    page.push_str("<tr>");
    for (_, value) in &result.plan.cells[index].set {
        let _ = write!(page, "<td>{}</td>", escape(&show(value)));
    }
    let ends = format!("{} to {}", text(facts, "from"), text(facts, "to"));
    let _ = write!(page, "<th scope=\"row\">{} <span>{}</span></th>", escape(name), escape(&ends));
    let is_tcp = text(facts, "transport") == "tcp";
    for (_, key, way, unit) in COLUMNS {
        let summary = cell.metric(&format!("flow.{name}.{key}")).filter(|_| is_tcp || unit != Unit::Count);
        let shown = summary.map_or_else(|| "\u{2013}".to_owned(), |summary| of_runs(cell, flow, (way, unit), &summary));
        let _ = write!(page, "<td class=\"n\">{}</td>", escape(&shown));
    }
    page.push_str("</tr>\n");
}

fn of_runs(cell: &StoredCell, flow: usize, (way, unit): (&[&str], Unit), summary: &Summary) -> String {
    let value = |run: &Value| {
        let facts = list(Some(run), "flows").get(flow)?;
        way.iter().try_fold(facts, |at, step| at.get(step))?.as_f64()
    };
    spread(summary, || cell.runs.iter().filter_map(value).collect(), unit)
}

/// The meaning of numbers over the replications.
fn replications(result: &Stored) -> String {
    match result.cells.first().map_or(0, |cell| cell.runs.len()) {
        0 | 1 => "One replication: no confidence interval.".to_owned(),
        n if n < INTERVAL_RUNS_MIN => {
            format!("Mean (smallest to largest) of {n} replications; an interval needs {INTERVAL_RUNS_MIN}.")
        }
        n => format!("Mean \u{b1} half of the 99 % confidence interval over {n} replications."),
    }
}

/// A sentence about rows that are left out.
fn more(all: usize, most: usize) -> String {
    if all > most {
        format!(" The first {most} of {all}; all are in the tables below, by cell.")
    } else {
        String::new()
    }
}

/// For each flow a line that says what limited it, its time divided among the causes as a bar, and the shares.
pub fn limits(result: &Stored, page: &mut String) {
    page.push_str("<section id=\"limits\">\n<h2>What limits each flow</h2>\n");
    let all = pairs(result);
    let known: Vec<(usize, usize, Vec<FlowLimits>)> = all
        .into_iter()
        .map(|(cell, flow)| (cell, flow, result.cells[cell].limits(flow)))
        .filter(|(.., runs)| !runs.is_empty())
        .collect();
    if known.is_empty() {
        page.push_str("<p>Not recorded: the result is of a version that kept no account of causes.</p>\n");
    }
    let mut last = None;
    for (cell, flow, runs) in known.iter().take(CAUSES_MAX) {
        let label = &result.plan.cells[*cell].label;
        if last != Some(*cell) && !label.is_empty() {
            let _ = writeln!(page, "<h3>{}</h3>", escape(label));
        }
        last = Some(*cell);
        cause(text(&result.cells[*cell].flows()[*flow], "name"), runs, page);
    }
    let more = more(known.len(), CAUSES_MAX);
    if !more.is_empty() {
        let _ = writeln!(page, "<p class=\"small\">{more}</p>");
    }
    page.push_str("</section>\n");
}

fn cause(flow: &str, runs: &[FlowLimits], page: &mut String) {
    let runs: Vec<&FlowLimits> = runs.iter().collect();
    let line = limits::line(&runs);
    if line.is_empty() {
        return;
    }
    let _ = writeln!(page, "<div class=\"cause\">\n<p><b>{}</b> is limited by {}.</p>", escape(flow), escape(&line));
    let shares = limits::means(&runs);
    let _ =
        write!(page, "<svg class=\"bar\" viewBox=\"0 0 1000 14\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let mut left = 0.0;
    for limit in &shares {
        let wide = limit.share.clamp(0.0, 1.0) * 1000.0;
        let _ = write!(
            page,
            "<rect x=\"{left:.1}\" width=\"{:.1}\" height=\"14\" fill=\"{}\"/>",
            (wide - 1.5).max(0.5),
            colour(limit.cause)
        );
        left += wide;
    }
    page.push_str("</svg>\n<ul>\n");
    for (limit, [share, words]) in shares.iter().zip(limits::rows(&runs)) {
        let _ = writeln!(
            page,
            "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" height=\"10\" fill=\"{}\"/></svg>\
             {} {}</li>",
            colour(limit.cause),
            escape(&share),
            escape(&words)
        );
    }
    page.push_str("</ul>\n</div>\n");
}

/// Causes of one kind have one colour; the words beside it tell them apart.
fn colour(cause: &str) -> &'static str {
    line_colour(match Cause::of_name(cause) {
        Some(Cause::Rate | Cause::Airtime | Cause::Busy) => 2,
        Some(Cause::ReceiveWindow | Cause::SendBuffer) => 0,
        Some(Cause::SlowStart | Cause::CongestionWindow | Cause::Handshake) => 4,
        Some(Cause::Losses | Cause::Retries | Cause::BlockAckWindow) => 1,
        Some(Cause::OtherFlows) => 3,
        Some(Cause::Queue | Cause::Reordering | Cause::Slots) => 5,
        Some(Cause::Route | Cause::Down) => 7,
        Some(Cause::Application) | None => 6,
    })
}

/// The verdicts of `[expect]`.
pub fn verdicts(result: &Stored, page: &mut String) {
    let verdicts = result.verdicts();
    if let Some(why) = result.plan.unjudged.as_ref().filter(|_| !result.plan.expectations.is_empty()) {
        let _ = writeln!(page, "<p class=\"banner\">Its expectations are not judged: {}.</p>", escape(why));
    }
    if verdicts.is_empty() {
        return;
    }
    let holds = verdicts.iter().filter(|v| v.holds).count();
    let _ = writeln!(
        page,
        "<section id=\"verdicts\">\n<h2>What was expected<small>{holds} of {} hold</small></h2>\n\
         <div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">verdict</th>\
         <th scope=\"col\">metric</th><th scope=\"col\">cell</th><th scope=\"col\">expected</th><th scope=\"col\">found</th></tr></thead>\n<tbody>",
        verdicts.len()
    );
    for verdict in &verdicts {
        let (class, word) = if verdict.holds { ("holds", "holds") } else { ("broken", "broken") };
        let _ = writeln!(
            page,
            "<tr><td><span class=\"pill {class}\">{word}</span></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&verdict.metric),
            escape(&verdict.cell),
            escape(&verdict.expected),
            escape(&verdict.found)
        );
    }
    page.push_str("</tbody>\n</table></div>\n</section>\n");
}
