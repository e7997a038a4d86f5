//! A plan of slots in the terminal: the map, a lane for each access point; the results of each; the policies side by
//! side.

use super::{Plan, Report, Seen, ms, rate, short};
use std::fmt::Write as _;

/// Width of the map.
const COLUMNS: usize = 64;
/// Width of a distribution.
const BINS: usize = 24;
/// Largest number of access points that are listed one by one.
const LISTED: usize = 6;

/// The picture and its tables.
pub fn text(report: &Report) -> String {
    let mut out = head(report);
    let Some(plan) = report.of(report.policy) else { return out };
    map(report, plan, &mut out);
    distributions(report, plan, &mut out);
    out.push('\n');
    out.push_str(&columns(&seen(report, plan)));
    out.push('\n');
    out.push_str(&columns(&policies(report)));
    notes(report, &mut out);
    out
}

fn head(report: &Report) -> String {
    let plural = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    let idle = if report.idle_ns > 0 { format!(", {} idle", ms(report.idle_ns as f64 / 1e9)) } else { String::new() };
    format!(
        "{} for {}, period {}{idle}: {}\n\n",
        plural(report.slots, "slot"),
        plural(report.access_points.len(), "access point"),
        ms(report.period_ns as f64 / 1e9),
        report.policy.name()
    )
}

/// A lane for each access point: full where it is connected all the time of a column.
fn map(report: &Report, plan: &Plan, out: &mut String) {
    let width = report.access_points.iter().map(|ap| ap.name.chars().count()).max().unwrap_or(0);
    let period = plan.timetable.period().as_nanos();
    for (station, ap) in report.access_points.iter().enumerate() {
        let shares = shares(&plan.timetable.blocks_ns(station), period, COLUMNS);
        let lane: String = shares.into_iter().map(shade).collect();
        let name = &ap.name;
        let _ = writeln!(out, "  {name:width$}  {lane}  {} x {}", ap.slots, ms(ap.slot_ns as f64 / 1e9));
    }
    let scale = |i: usize| short(period as f64 / 1e6 * i as f64 / 4.0);
    let mut axis = vec![' '; COLUMNS + 8];
    for i in 0..=4 {
        for (k, c) in scale(i).chars().enumerate() {
            if let Some(place) = axis.get_mut(i * COLUMNS / 4 + k) {
                *place = c;
            }
        }
    }
    let axis: String = axis.into_iter().collect();
    let _ = writeln!(out, "  {:width$}  {} ms", "", axis.trim_end());
}

/// For each of `count` columns of the period the share in which there is a block.
pub(super) fn shares(blocks: &[(u64, u64)], period: u64, count: usize) -> Vec<f64> {
    let mut shares = vec![0.0; count];
    let column = period as f64 / count as f64;
    let mut add = |from: u64, to: u64| {
        let (from, to) = (from as f64 / column, to as f64 / column);
        let touched = from as usize..(libm::ceil(to) as usize).min(count);
        for (i, share) in shares[touched.clone()].iter_mut().enumerate() {
            let column = (touched.start + i) as f64;
            *share += (to.min(column + 1.0) - from.max(column)).max(0.0);
        }
    };
    for (start, length) in blocks {
        let end = start + length;
        add(*start, end.min(period));
        if end > period {
            add(0, end - period);
        }
    }
    shares
}

fn shade(share: f64) -> char {
    match share {
        x if x < 0.02 => '\u{b7}',
        x if x < 0.3 => '\u{2591}',
        x if x < 0.6 => '\u{2592}',
        x if x < 0.98 => '\u{2593}',
        _ => '\u{2588}',
    }
}

/// The distributions of round-trip times, on one scale.
fn distributions(report: &Report, plan: &Plan, out: &mut String) {
    let most = plan.access_points.iter().filter_map(|seen| seen.rtt_s).map(|rtt| rtt.max).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    let width = report.access_points.iter().map(|ap| ap.name.chars().count()).max().unwrap_or(0);
    let _ = writeln!(out, "\n  {:width$}  round-trip times, 0 to {}", "", ms(most));
    for (ap, sample) in report.access_points.iter().zip(&plan.samples) {
        let Some(sample) = sample else { continue };
        let mut bins = [0_usize; BINS];
        for rtt in &sample.rtts_s {
            bins[((rtt / most * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
        let top = bins.iter().copied().max().unwrap_or(1).max(1);
        let bar = |n: &usize| match n * 8 / top {
            _ if *n == 0 => '\u{b7}',
            level => char::from_u32(0x2581 + level.min(7) as u32).unwrap_or(' '),
        };
        let _ = writeln!(out, "  {:width$}  {}", ap.name, bins.iter().map(bar).collect::<String>());
    }
}

fn seen(report: &Report, plan: &Plan) -> Vec<Vec<String>> {
    let head = ["access point", "duty", "delay", "away at most", "RTT mean", "p99", "throughput", "without policy"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let without = report.plans.first();
    for (i, (ap, seen)) in report.access_points.iter().zip(&plan.access_points).enumerate() {
        let rtt = |of: fn(&super::Rtt) -> f64| seen.rtt_s.map_or("none".to_owned(), |rtt| ms(of(&rtt)));
        rows.push(vec![
            ap.name.clone(),
            if ap.duty.len() <= 8 { ap.duty.clone() } else { short(ap.share_ns as f64 / report.period_ns as f64) },
            ms(ap.delay_s),
            ms(seen.disconnection_ns as f64 / 1e9),
            rtt(|rtt| rtt.mean),
            rtt(|rtt| rtt.p99),
            rate(seen.throughput_bps),
            without.map_or_else(String::new, |plan| rate(plan.access_points[i].throughput_bps)),
        ]);
    }
    rows
}

fn policies(report: &Report) -> Vec<Vec<String>> {
    let head = ["policy", "throughput", "", "switches", "away at most", "proof"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let base = report.plans.first().map_or(f64::NAN, |plan| plan.aggregate_bps);
    for plan in &report.plans {
        let gain = plan.aggregate_bps / base;
        let mark = if plan.policy == report.policy { "> " } else { "  " };
        rows.push(vec![
            format!("{mark}{}", plan.policy.name()),
            rate(plan.aggregate_bps),
            if gain.is_finite() { format!("x {gain:.2}") } else { String::new() },
            short(plan.switches),
            disconnections(&plan.access_points),
            proof(plan),
        ]);
    }
    rows
}

/// `12.5 87.5 37.5 ms`; of many the least and the largest.
fn disconnections(all: &[Seen]) -> String {
    let each: Vec<u64> = all.iter().map(|seen| seen.disconnection_ns).collect();
    let shown = |ns: &u64| short(*ns as f64 / 1e6);
    if each.len() <= LISTED {
        return each.iter().map(shown).collect::<Vec<_>>().join(" ") + " ms";
    }
    let end = |ns: Option<&u64>| ns.map(shown).unwrap_or_default();
    format!("{} to {} ms", end(each.iter().min()), end(each.iter().max()))
}

fn proof(plan: &Plan) -> String {
    match (plan.proof, plan.runs) {
        (Some(proof), _) if proof.best => format!("best of all by its measure, {} steps", proof.steps),
        (Some(super::Proof { gap: Some(gap), steps, .. }), _) => {
            format!("within {} % of the best by its measure, {steps} steps", short(gap * 100.0))
        }
        (Some(proof), _) => format!("best of {} plans, not all", proof.steps),
        (None, Some(runs)) => {
            let search = runs.search.map_or_else(|| "very many".to_owned(), short);
            format!("runs as the paper may count: {search} or {}", runs.line)
        }
        (None, None) => String::new(),
    }
}

fn notes(report: &Report, out: &mut String) {
    if !report.delays_known {
        let delay = report.access_points.first().map_or(0.0, |ap| ap.delay_s);
        let _ = writeln!(
            out,
            "\ndelays are not given: round-trip times are for {} on every path; --delay makes the plan better",
            ms(delay)
        );
    }
    if report.idle_ns > 0 {
        out.push_str("\nthe duty cycles add up to less than 1: the radio is idle at the end of each period\n");
    }
}

/// Rows in columns as wide as their widest entry.
pub(super) fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let line: String = row.iter().zip(&widths).map(|(cell, width)| format!("  {cell:width$}")).collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
