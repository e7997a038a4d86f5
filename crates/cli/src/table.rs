//! Results as text in columns.

use crate::columns::{aligned, columns, wrapped};
use crate::paint;
use airbraid_campaign::page;
use airbraid_campaign::reproduce::{Reproduction, Rows, Standing};
use airbraid_campaign::statistics::{self, INTERVAL_RUNS_MIN};
use airbraid_campaign::{CellResult, Results, Verdict};
use airbraid_sim::metric::Unit;
use airbraid_sim::scenario::Plan;
use std::fmt::Write as _;

/// The output of `run`: for each cell a line a flow, then drops and expectations.
///
/// `details` gives the reasons behind a cell.
pub fn results(
    plan: &Plan,
    results: &Results,
    verdicts: &[Verdict],
    details: &dyn Fn(&CellResult) -> String,
) -> String {
    let mut out = wrapped(&plan.title, "") + &wrapped(&plan.question, "");
    for cell in &results.cells {
        out.push('\n');
        if !cell.label.is_empty() {
            out.push_str(&wrapped(&cell.label, "  "));
        }
        out.push_str(&columns(&flows(cell)));
        out.push_str(&wrapped(&format!("  drops a run: {}", drops(cell)), "    "));
        out.push_str(&details(cell));
    }
    out.push_str(&replications(results.cells.first().map_or(0, |cell| cell.runs.len())));
    for warning in &plan.warnings {
        out.push_str(&wrapped(&format!("note: {warning}"), "  "));
    }
    match &plan.unjudged {
        Some(why) => {
            let (n, is) =
                if plan.expectations.len() == 1 { ("its expectation", "is") } else { ("its expectations", "are") };
            let text = format!("{n} {is} {}: {why}", paint::verdict("not judged"));
            let _ = write!(out, "\n{}", wrapped(&text, "  "));
        }
        None if !verdicts.is_empty() => out.push('\n'),
        None => {}
    }
    out + &by_cell(verdicts)
}

/// The meaning of numbers over `n` replications.
fn replications(n: usize) -> String {
    match n {
        0 | 1 => "\none replication: no confidence interval (--replications 5)\n".to_owned(),
        n if n < INTERVAL_RUNS_MIN => {
            format!("\nmean (smallest to largest) of {n} replications; an interval needs {INTERVAL_RUNS_MIN}\n")
        }
        n => format!("\nmean \u{b1} half of the 99 % confidence interval over {n} replications\n"),
    }
}

/// The output of `reproduce`: the rows, then those that need an explanation, then the numbers of verdicts.
pub fn reproduction(reproduction: &Reproduction, rows: &Rows) -> String {
    let about = &reproduction.paper.about;
    let mut out = format!("{}\n{}, {}\n\n", about.title, about.authors, about.source);
    let head = ["row", "paper", "ours", "unit", "deviation", "verdict", "origin"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in &rows.rows {
        let value = !row.paper.is_null();
        lines.push(vec![
            row.id.clone(),
            shorten(&row.accept, 44),
            if value { page::ours(&row.ours) } else { shorten(&row.note, 44) },
            if value { page::unit(&row.unit).to_owned() } else { String::new() },
            page::deviation(row),
            paint::verdict(row.verdict.name()),
            row.origin.name().to_owned(),
        ]);
    }
    out.push_str(&aligned(&lines));
    let explained = [Standing::Off, Standing::Broken, Standing::Open, Standing::Missing];
    for row in rows.rows.iter().filter(|row| explained.contains(&row.verdict)) {
        let note = if row.note.is_empty() { "not explained" } else { &row.note };
        let text = format!("{} is {}: {note}", row.id, row.verdict.name());
        let _ = write!(out, "\n{}", wrapped(&text, "  ").trim_end());
    }
    let _ = writeln!(out, "\n\n{}", page::summary(rows));
    out.push_str(if reproduction.quick {
        "a first answer from short runs and few replications: without --quick it may differ\n"
    } else {
        "mean \u{b1} half of the 99 % confidence interval\n"
    });
    out
}

fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect()
}

/// The output of `check` for one file.
pub fn verdicts(file: &str, verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return format!("{file}: ran; it expects nothing\n");
    }
    let holds = verdicts.iter().filter(|v| v.holds).count();
    format!("{file}: {holds} of {} hold\n{}", verdicts.len(), by_cell(verdicts))
}

/// Verdicts as columns, those of each cell together.
fn by_cell(verdicts: &[Verdict]) -> String {
    let mut cells: Vec<&str> = Vec::new();
    for verdict in verdicts {
        if !cells.contains(&verdict.cell.as_str()) {
            cells.push(&verdict.cell);
        }
    }
    let row = |v: &Verdict| {
        let verdict = paint::verdict(if v.holds { "holds" } else { "BROKEN" });
        vec![verdict, v.metric.clone(), v.expected.clone(), v.found.clone()]
    };
    let head = ["", "expected of", "", "found"].map(str::to_owned).to_vec();
    let mut out = String::new();
    for cell in cells {
        if !cell.is_empty() {
            out.push_str(&wrapped(&format!("  where {cell}:"), "    "));
        }
        let rows = verdicts.iter().filter(|v| v.cell == cell).map(row);
        out.push_str(&columns(&std::iter::once(head.clone()).chain(rows).collect::<Vec<_>>()));
    }
    out
}

fn flows(cell: &CellResult) -> Vec<Vec<String>> {
    let head = ["flow", "goodput", "delay", "p99", "resent", "timeouts"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let Some(run) = cell.runs.first() else { return rows };
    for flow in &run.flows {
        let spread = |name: &str, unit| spread(cell, &format!("flow.{}.{name}", flow.name), unit);
        rows.push(vec![
            flow.name.clone(),
            spread("goodput_bps", Unit::BitPerSecond),
            spread("delay_mean_s", Unit::Second),
            spread("delay_p99_s", Unit::Second),
            if flow.transport == "tcp" { spread("retransmits", Unit::Count) } else { "-".to_owned() },
            if flow.transport == "tcp" { spread("timeouts", Unit::Count) } else { "-".to_owned() },
        ]);
    }
    rows
}

/// A metric of a cell with its spread.
pub fn spread(cell: &CellResult, metric: &str, unit: Unit) -> String {
    cell.metric(metric)
        .map_or_else(|| "-".to_owned(), |summary| statistics::spread(&summary, || cell.values(metric), unit))
}

fn drops(cell: &CellResult) -> String {
    let of = cell.summary().iter().filter_map(|(key, summary)| {
        let reason = key.strip_prefix("drops.")?;
        let mean = summary.mean.filter(|m| *m > 0.0)?;
        Some(format!("{reason} {}", Unit::Count.show(mean)))
    });
    let list: Vec<String> = of.collect();
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}
