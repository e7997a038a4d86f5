//! A plan of slots as an SVG that stands alone: lanes of the period, with those of no policy under them, and the
//! distribution of round-trip times.

use super::text::shares;
use super::{Plan, Policy, Report, ms, rate, short};
use crate::drawing::{
    Area, Axis, Chart, FRAME, Line, MIDDLE, PALE, PAPER, Point, SOFT, Scale, Svg, line_colour, shorten, ticks,
};

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
const CURVES: f64 = 256.0;
/// Blocks in a lane above which shares of columns are drawn.
const BLOCKS_MAX: usize = 600;
/// Largest number of slots with edges.
const EDGED_MAX: usize = 80;
/// Points of a curve.
const POINTS: usize = 200;
/// Largest number of curves with a name.
const NAMES_MAX: usize = 12;

pub fn svg(report: &Report) -> String {
    let Some(plan) = report.of(report.policy) else { return Svg::alone((WIDTH, TOP), "no plan").finish() };
    let curves = distribution(report, plan);
    let lanes = TOP + report.access_points.len() as f64 * STEP;
    let area = Area { left: LEFT - 62.0, top: lanes + 86.0, width: RIGHT - LEFT + 80.0, height: CURVES };
    let top = area.top + curves.legend_height(area.width);
    let title = format!("{} slots in {}, {}", report.slots, ms(report.period_ns as f64 / 1e9), report.policy.name());
    let mut out = Svg::alone((WIDTH, top + CURVES + 18.0), &title);
    out.text((24.0, 32.0), "font-size=\"19\"", &title);
    head(report, plan, &mut out);
    for (station, ap) in report.access_points.iter().enumerate() {
        lane(report, plan, (station, ap), &mut out);
    }
    axis(plan, lanes, &mut out);
    curves.draw_legend(&mut out, area);
    curves.draw(&mut out, Area { top, ..area });
    out.finish()
}

fn head(report: &Report, plan: &Plan, out: &mut Svg) {
    let base = report.of(Policy::NoPolicy).map_or(f64::NAN, |plan| plan.aggregate_bps);
    let gain = plan.aggregate_bps / base;
    let gain = if gain.is_finite() { format!(", {gain:.2} times that of one block each") } else { String::new() };
    let assumed = if report.delays_known { "" } else { " (delays assumed)" };
    let said = format!("throughput by the model {}{gain}{assumed}", rate(plan.aggregate_bps));
    out.text((24.0, 54.0), SOFT, &said);
    out.text((RIGHT + 18.0, 78.0), SOFT, "away at most: before, now");
}

fn lane(report: &Report, plan: &Plan, (station, ap): (usize, &super::AccessPoint), out: &mut Svg) {
    let y = TOP + station as f64 * STEP;
    let colour = line_colour(station);
    out.text((24.0, y + 15.0), "", &shorten(&ap.name, 11));
    let width = RIGHT - LEFT;
    out.add(format_args!("rect x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"{LANE}\" fill=\"{FRAME}\""));
    blocks(plan, station, (y, LANE), colour, 1.0, out);
    let without = report.of(Policy::NoPolicy);
    if let Some(without) = without {
        blocks(without, station, (y + LANE + 3.0, THIN), colour, 0.45, out);
    }
    let away = |plan: &Plan| short(plan.access_points[station].disconnection_ns as f64 / 1e6);
    let before = without.map(away).unwrap_or_default();
    let said = format!("{before}, {} ms", away(plan));
    out.text((RIGHT + 18.0, y + 10.0), "", &said);
    let slots = format!("{} x {}", ap.slots, ms(ap.slot_ns as f64 / 1e9));
    out.text((RIGHT + 18.0, y + 26.0), SOFT, &slots);
}

/// The slots of a station as rectangles; very many as columns of their share.
fn blocks(plan: &Plan, station: usize, (y, height): (f64, f64), colour: &str, opacity: f64, out: &mut Svg) {
    let period = plan.timetable.period().as_nanos();
    let blocks = plan.timetable.blocks_ns(station);
    // A white edge tells the slots of a block apart, as long as it leaves something of them.
    let edge = if plan.timetable.slots().len() <= EDGED_MAX {
        format!(" stroke=\"{PAPER}\" stroke-width=\"0.8\"")
    } else {
        String::new()
    };
    let mut rectangle = |from: f64, to: f64, opacity: f64| {
        let (x, wide) = (LEFT + from * (RIGHT - LEFT), (to - from) * (RIGHT - LEFT));
        out.add(format_args!(
            "rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{wide:.2}\" height=\"{height}\" fill=\"{colour}\" fill-opacity=\"{opacity:.2}\"{edge}"
        ));
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

fn axis(plan: &Plan, y: f64, out: &mut Svg) {
    let period = plan.timetable.period().as_secs_f64();
    for at in ticks([0.0, period * 1e3], 8) {
        let x = LEFT + at / (period * 1e3) * (RIGHT - LEFT);
        out.line([(x, y - 6.0), (x, y - 1.0)], PALE, "");
        out.text((x, y + 14.0), &format!("{MIDDLE} {SOFT}"), &short(at));
    }
    out.text(((LEFT + RIGHT) / 2.0, y + 34.0), MIDDLE, "time in the period [ms]; thin: one block each");
}

/// The share of round-trip times up to a value, of the plan and, dashed, of one block each.
fn distribution(report: &Report, plan: &Plan) -> Chart {
    let without = report.of(Policy::NoPolicy);
    let longest = |plan: &Plan| plan.access_points.iter().filter_map(|s| s.rtt_s).map(|r| r.max).fold(0.0, f64::max);
    let most = without.map_or(0.0, longest).max(longest(plan)).max(1e-6);
    let curve = |plan: Option<&Plan>, station: usize| -> Vec<[f64; 2]> {
        let sample = plan.and_then(|plan| plan.samples[station].as_ref());
        let shares = (0..=POINTS).map(|i| i as f64 / POINTS as f64);
        sample.map_or_else(Vec::new, |s| shares.map(|share| [s.quantile_s(share) * 1e3, share * 100.0]).collect())
    };
    let line = |(station, ap): (usize, &super::AccessPoint)| Line {
        label: if station < NAMES_MAX { shorten(&ap.name, 18) } else { String::new() },
        points: curve(Some(plan), station).into_iter().map(|[x, y]| Point { x, mean: y, low: y, high: y }).collect(),
        is_joined: true,
        reference: curve(without, station),
        ..Line::default()
    };
    Chart {
        title: String::new(),
        x: Axis { label: "round-trip time [ms]".to_owned(), range: [0.0, most * 1e3], scale: Scale::Linear },
        y: Axis { label: "share of segments [%]".to_owned(), range: [0.0, 100.0], scale: Scale::Linear },
        lines: report.access_points.iter().enumerate().map(line).collect(),
        reference: "one block each",
    }
}
