//! A plan of slots as an SVG that stands alone: lanes of the period, with those of no policy under them, and the
//! distribution of round-trip times.

use super::text::shares;
use super::{Plan, Policy, Report, ms, rate, short};
use crate::page::ticks;
use std::fmt::Write as _;

const WIDTH: f64 = 960.0;
/// Left and right ends of lanes.
const LEFT: f64 = 110.0;
const RIGHT: f64 = 770.0;
const TOP: f64 = 92.0;
/// Height of a lane, of the thin one under it, and the distance of lanes.
const LANE: f64 = 22.0;
const THIN: f64 = 6.0;
const STEP: f64 = 44.0;
/// Height of the distribution.
const CURVES: f64 = 210.0;
/// Blocks in a lane above which shares of columns are drawn.
const BLOCKS_MAX: usize = 600;
/// Largest number of slots with edges.
const EDGED_MAX: usize = 80;
/// Points of a curve.
const POINTS: usize = 200;
/// The palette of Okabe and Ito without yellow, which is too pale for a line.
const PALETTE: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5a5a5a", "#000000"];

/// The drawing.
pub fn svg(report: &Report) -> String {
    let lanes = report.access_points.len() as f64 * STEP;
    let curves = TOP + lanes + 86.0;
    let height = curves + CURVES + 64.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#282828\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let Some(plan) = report.of(report.policy) else { return out + "</svg>\n" };
    head(report, plan, &mut out);
    for (station, ap) in report.access_points.iter().enumerate() {
        lane(report, plan, (station, ap), &mut out);
    }
    axis(plan, TOP + lanes, &mut out);
    distribution(report, plan, curves, &mut out);
    out.push_str("</svg>\n");
    out
}

fn head(report: &Report, plan: &Plan, out: &mut String) {
    let title = format!("{} slots in {}, {}", report.slots, ms(report.period_ns as f64 / 1e9), report.policy.name());
    text(out, (24.0, 32.0), "font-size=\"19\"", &title);
    let base = report.of(Policy::NoPolicy).map_or(f64::NAN, |plan| plan.aggregate_bps);
    let gain = plan.aggregate_bps / base;
    let gain = if gain.is_finite() { format!(", {gain:.2} times that of one block each") } else { String::new() };
    let assumed = if report.delays_known { "" } else { " (delays assumed)" };
    let said = format!("throughput by the model {}{gain}{assumed}", rate(plan.aggregate_bps));
    text(out, (24.0, 54.0), "fill=\"#6e6e6e\"", &said);
    text(out, (RIGHT + 18.0, 78.0), "fill=\"#6e6e6e\"", "away at most: before, now");
}

fn lane(report: &Report, plan: &Plan, (station, ap): (usize, &super::AccessPoint), out: &mut String) {
    let y = TOP + station as f64 * STEP;
    let colour = colour(station);
    text(out, (24.0, y + 15.0), "", &shorten(&ap.name, 11));
    let _ = writeln!(
        out,
        "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{:.1}\" height=\"{LANE}\" fill=\"#f1f1ee\"/>",
        RIGHT - LEFT
    );
    blocks(plan, station, (y, LANE), colour, 1.0, out);
    let without = report.of(Policy::NoPolicy);
    if let Some(without) = without {
        blocks(without, station, (y + LANE + 3.0, THIN), colour, 0.45, out);
    }
    let away = |plan: &Plan| short(plan.access_points[station].disconnection_ns as f64 / 1e6);
    let before = without.map(away).unwrap_or_default();
    let said = format!("{before}, {} ms", away(plan));
    text(out, (RIGHT + 18.0, y + 10.0), "", &said);
    let slots = format!("{} x {}", ap.slots, ms(ap.slot_ns as f64 / 1e9));
    text(out, (RIGHT + 18.0, y + 26.0), "fill=\"#6e6e6e\"", &slots);
}

/// The slots of a station as rectangles; very many as columns of their share.
fn blocks(plan: &Plan, station: usize, (y, height): (f64, f64), colour: &str, opacity: f64, out: &mut String) {
    let period = plan.timetable.period().as_nanos();
    let blocks = plan.timetable.blocks_ns(station);
    // A white edge tells the slots of a block apart, as long as it leaves something of them.
    let edge = if plan.timetable.slots().len() <= EDGED_MAX { " stroke=\"#ffffff\" stroke-width=\"0.8\"" } else { "" };
    let mut rectangle = |from: f64, to: f64, opacity: f64| {
        let (x, wide) = (LEFT + from * (RIGHT - LEFT), (to - from) * (RIGHT - LEFT));
        let _ = writeln!(
            out,
            "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{wide:.2}\" height=\"{height}\" fill=\"{colour}\" fill-opacity=\"{opacity:.2}\"{edge}/>"
        );
    };
    if blocks.len() > BLOCKS_MAX {
        let shares = shares(&blocks, period, BLOCKS_MAX);
        for (i, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.005) {
            rectangle(i as f64 / BLOCKS_MAX as f64, (i + 1) as f64 / BLOCKS_MAX as f64, opacity * share);
        }
        return;
    }
    let whole = period as f64;
    for slot in plan.timetable.slots().iter().filter(|slot| slot.station == station) {
        rectangle(slot.start_ns as f64 / whole, (slot.start_ns + slot.length_ns) as f64 / whole, opacity);
    }
}

fn axis(plan: &Plan, y: f64, out: &mut String) {
    let period = plan.timetable.period().as_secs_f64();
    for at in ticks([0.0, period * 1e3], 8) {
        let x = LEFT + at / (period * 1e3) * (RIGHT - LEFT);
        let _ = writeln!(out, "<path d=\"M{x:.1} {:.1}v5\" stroke=\"#6e6e6e\"/>", y - 6.0);
        text(out, (x, y + 14.0), "text-anchor=\"middle\" fill=\"#6e6e6e\"", &short(at));
    }
    text(
        out,
        ((LEFT + RIGHT) / 2.0, y + 34.0),
        "text-anchor=\"middle\"",
        "time in the period [ms]; thin: one block each",
    );
}

/// The share of round-trip times up to a value, of the plan and, dashed, without a policy.
fn distribution(report: &Report, plan: &Plan, top: f64, out: &mut String) {
    let without = report.of(Policy::NoPolicy);
    let longest = |plan: &Plan| plan.access_points.iter().filter_map(|s| s.rtt_s).map(|r| r.max).fold(0.0, f64::max);
    let most = without.map_or(0.0, longest).max(longest(plan)).max(1e-6);
    let bottom = top + CURVES;
    let place = |rtt: f64, share: f64| (LEFT + rtt / most * (RIGHT - LEFT), bottom - share * CURVES);
    for i in 0..=4 {
        let y = place(0.0, f64::from(i) / 4.0).1;
        let _ = writeln!(out, "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#e4e4e4\"/>");
        text(out, (LEFT - 8.0, y + 4.0), "text-anchor=\"end\" fill=\"#6e6e6e\"", &format!("{} %", i * 25));
    }
    for at in ticks([0.0, most * 1e3], 8) {
        text(out, (place(at / 1e3, 0.0).0, bottom + 18.0), "text-anchor=\"middle\" fill=\"#6e6e6e\"", &short(at));
    }
    let middle = (LEFT + RIGHT) / 2.0;
    text(out, (middle, bottom + 40.0), "text-anchor=\"middle\"", "round-trip time [ms]; dashed: one block each");
    let turn = format!("text-anchor=\"middle\" transform=\"rotate(-90 36 {:.1})\"", top + CURVES / 2.0);
    text(out, (36.0, top + CURVES / 2.0), &turn, "share of segments");
    for (station, ap) in report.access_points.iter().enumerate() {
        let plans = [(without, "stroke-dasharray=\"5 4\" stroke-opacity=\"0.6\""), (Some(plan), "")];
        for (plan, style) in plans {
            let Some(sample) = plan.and_then(|plan| plan.samples[station].as_ref()) else { continue };
            let path: Vec<String> = (0..=POINTS)
                .map(|i| i as f64 / POINTS as f64)
                .map(|share| place(sample.quantile_s(share), share))
                .map(|(x, y)| format!("{x:.1} {y:.1}"))
                .collect();
            let _ = writeln!(
                out,
                "<path d=\"M{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" {style}/>",
                path.join("L"),
                colour(station)
            );
        }
        if station < 12 {
            let y = top + 10.0 + 18.0 * station as f64;
            let x = RIGHT + 18.0;
            let _ =
                writeln!(out, "<path d=\"M{x} {:.1}h20\" stroke=\"{}\" stroke-width=\"3\"/>", y - 4.0, colour(station));
            text(out, (x + 27.0, y), "", &shorten(&ap.name, 18));
        }
    }
}

fn text(out: &mut String, (x, y): (f64, f64), style: &str, said: &str) {
    let said = said.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{said}</text>");
}

fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(2)).chain("..".chars()).collect()
}

fn colour(index: usize) -> &'static str {
    PALETTE[index % PALETTE.len()]
}
