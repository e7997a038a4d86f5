//! Results as text in columns.

use airbraid_campaign::page;
use airbraid_campaign::reproduce::{Reproduction, Rows, Standing};
use airbraid_campaign::statistics::Summary;
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
    let mut out = format!("{}\n{}\n", plan.title, plan.question);
    for cell in &results.cells {
        out.push('\n');
        if !cell.label.is_empty() {
            let _ = writeln!(out, "{}", cell.label);
        }
        out.push_str(&columns(&flows(cell)));
        let _ = writeln!(out, "  drops a run: {}", drops(cell));
        out.push_str(&details(cell));
    }
    let n = results.cells.first().map_or(0, |cell| cell.runs.len());
    if n > 1 {
        let _ = writeln!(out, "\nmean \u{b1} half of the 99 % confidence interval over {n} replications");
    } else {
        out.push_str("\none replication: no confidence interval (--replications 5)\n");
    }
    for warning in &plan.warnings {
        let _ = writeln!(out, "note: {warning}");
    }
    if !verdicts.is_empty() {
        out.push('\n');
        out.push_str(&columns(&verdict_rows(verdicts)));
    }
    out
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
            row.verdict.name().to_owned(),
            row.origin.name().to_owned(),
        ]);
    }
    out.push_str(&columns(&lines));
    let explained = [Standing::Off, Standing::Broken, Standing::Open, Standing::Missing];
    for row in rows.rows.iter().filter(|row| explained.contains(&row.verdict)) {
        let note = if row.note.is_empty() { "not explained" } else { &row.note };
        let _ = write!(out, "\n{} is {}: {note}", row.id, row.verdict.name());
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
    format!("{file}: {holds} of {} hold\n{}", verdicts.len(), columns(&verdict_rows(verdicts)))
}

fn verdict_rows(verdicts: &[Verdict]) -> Vec<Vec<String>> {
    let row = |v: &Verdict| {
        let verdict = if v.holds { "holds" } else { "BROKEN" };
        let mut row = vec![verdict.to_owned(), v.metric.clone(), v.expected.clone(), v.found.clone()];
        if !v.cell.is_empty() {
            row.push(v.cell.clone());
        }
        row
    };
    let head = ["", "expected of", "", "found"].map(str::to_owned).to_vec();
    std::iter::once(head).chain(verdicts.iter().map(row)).collect()
}

fn flows(cell: &CellResult) -> Vec<Vec<String>> {
    let head = ["flow", "goodput", "delay mean", "delay p99", "retransmits", "timeouts"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let Some(run) = cell.runs.first() else { return rows };
    for flow in &run.flows {
        let metric = |name: &str| cell.metric(&format!("flow.{}.{name}", flow.name));
        rows.push(vec![
            flow.name.clone(),
            spread(metric("goodput_bps"), Unit::BitPerSecond),
            spread(metric("delay_mean_s"), Unit::Second),
            spread(metric("delay_p99_s"), Unit::Second),
            if flow.transport == "tcp" { spread(metric("retransmits"), Unit::Count) } else { "-".to_owned() },
            if flow.transport == "tcp" { spread(metric("timeouts"), Unit::Count) } else { "-".to_owned() },
        ]);
    }
    rows
}

/// `5.021 ± 0.013 Mbit/s`: the half width in the unit of the mean.
pub fn spread(summary: Option<Summary>, unit: Unit) -> String {
    let Some(summary) = summary else { return "-".to_owned() };
    let Some(mean) = summary.mean else { return "-".to_owned() };
    let shown = unit.show(mean);
    let Some(half) = summary.half_width() else { return shown };
    let (number, name) = shown.split_once(' ').unwrap_or((&shown, ""));
    // The factor between the number shown and the mean is that of the unit.
    let factor = number.parse::<f64>().ok().filter(|n| *n != 0.0 && mean != 0.0).map_or(1.0, |n| n / mean);
    if half == 0.0 {
        return format!("{number} \u{b1} 0 {name}").trim_end().to_owned();
    }
    let decimals = number.split_once('.').map_or(0, |(_, d)| d.len()).max(usize::from(unit == Unit::Count));
    format!("{number} \u{b1} {:.decimals$} {name}", half * factor).trim_end().to_owned()
}

fn drops(cell: &CellResult) -> String {
    let of = cell.summary.iter().filter_map(|(key, summary)| {
        let reason = key.strip_prefix("drops.")?;
        let mean = summary.mean.filter(|m| *m > 0.0)?;
        Some(format!("{reason} {}", Unit::Count.show(mean)))
    });
    let list: Vec<String> = of.collect();
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}

/// Rows in columns as wide as their widest entry, two spaces apart and indented by two.
pub fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("  {cell:width$}"));
        let line: String = cells.collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
