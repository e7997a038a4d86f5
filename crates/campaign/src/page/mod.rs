//! The page of a reproduction: one HTML file that needs nothing else, with plots, tables, misses with their reasons,
//! and runs; and its rows as JSON and CSV. It shows results and computes nothing.
//!
//! [`run`] is the page of a run, [`skeleton`] what all pages share.

mod figures;
mod parts;
pub mod run;
pub mod skeleton;
pub mod timeline;

use crate::drawing::style;
use crate::files::{REPORT, ROWS};
use crate::reproduce::reference::short;
use crate::reproduce::{Origin, Ours, Reproduction, Row, Rows, Standing};
use crate::store::Build;
use std::fmt::Write as _;

pub use figures::unit;
use skeleton::Skeleton;
pub(crate) use skeleton::escape;

/// The files of `--out DIR`: names and texts.
pub fn files(reproduction: &Reproduction, rows: &Rows, build: &Build) -> Vec<(String, String)> {
    let mut json = serde_json::to_value(rows).unwrap_or_default();
    json["made"] = serde_json::json!({
        "by": parts::command(reproduction),
        "version": env!("CARGO_PKG_VERSION"),
        "commit": build.commit(),
        "sources": build.short(),
    });
    let json = serde_json::to_string_pretty(&json).unwrap_or_default() + "\n";
    let file = |name: &str, text: String| (name.to_owned(), text);
    vec![file(REPORT, html(reproduction, rows, build)), file(ROWS, json), file("rows.csv", csv(rows))]
}

pub fn html(reproduction: &Reproduction, rows: &Rows, build: &Build) -> String {
    let title = format!("{} reproduced", reproduction.paper.about.title);
    let drawings = style();
    let skeleton = Skeleton { title: &title, styles: &[skeleton::STYLE, &drawings], scripts: &[] };
    let mut page = skeleton.head();
    parts::head(reproduction, rows, build, &mut page);
    parts::figures(reproduction, rows, &mut page);
    parts::misses(reproduction, rows, &mut page);
    parts::runs(reproduction, build, &mut page);
    page + &skeleton.foot()
}

/// One line a row, numbers in the row's unit.
fn csv(rows: &Rows) -> String {
    let mut out = "id,unit,paper,accept,mean,low,high,n,kind,origin,verdict,note\n".to_owned();
    for row in &rows.rows {
        let [mean, low, high] = match &row.ours {
            Ours::Number(s) => {
                let number = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
                [number(s.mean), number(s.ci99.map(|c| c[0])), number(s.ci99.map(|c| c[1]))]
            }
            Ours::List(all) => {
                let list = |f: fn(&crate::statistics::Summary) -> Option<f64>| {
                    all.iter().map(|s| f(s).map(|x| x.to_string()).unwrap_or_default()).collect::<Vec<_>>().join(" ")
                };
                [list(|s| s.mean), list(|s| s.ci99.map(|c| c[0])), list(|s| s.ci99.map(|c| c[1]))]
            }
            Ours::None { .. } => Default::default(),
        };
        let paper = if row.paper.is_null() { String::new() } else { row.paper.to_string() };
        let n = row.ours.n().to_string();
        let verdict = row.verdict.name();
        let fields = [&row.id, &row.unit, &paper, &row.accept, &mean, &low, &high, &n, &row.kind];
        let fields: Vec<String> = fields.into_iter().map(|f| field(f)).collect();
        let _ = writeln!(out, "{},{},{verdict},{}", fields.join(","), row.origin.name(), field(&row.note));
    }
    out
}

/// A field of RFC 4180: quoted where it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Our value as text: `14.93 ± 0.02`; several after each other.
pub fn ours(ours: &Ours) -> String {
    let one = |s: &crate::statistics::Summary| {
        let Some(mean) = s.mean else { return "none".to_owned() };
        match s.half_width() {
            // Equal runs differ by the rounding of their sum.
            Some(half) if half > 1e-9 * mean.abs() => format!("{} \u{b1} {}", short(mean), two(half)),
            _ => short(mean),
        }
    };
    match ours {
        Ours::None { .. } => String::new(),
        Ours::Number(summary) => one(summary),
        Ours::List(all) => all.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

/// Two significant digits: more of an interval's width means nothing.
fn two(x: f64) -> String {
    let magnitude = libm::floor(libm::log10(x.abs())) as i32;
    let decimals = (1 - magnitude).clamp(0, 12) as usize;
    format!("{x:.decimals$}")
}

/// Deviation of our mean from the paper's value: in per cent of it, or in the unit where that is zero.
pub fn deviation(row: &Row) -> String {
    let (Ours::Number(summary), Some(paper)) = (&row.ours, row.paper.as_f64()) else { return String::new() };
    let Some(mean) = summary.mean else { return String::new() };
    if paper == 0.0 {
        return format!("{}{}", if mean < 0.0 { "" } else { "+" }, short(mean));
    }
    let share = (mean - paper) / paper.abs() * 100.0;
    if share.abs() < 0.05 {
        return "0.0 %".to_owned();
    }
    if share.abs() >= 1000.0 { format!("\u{d7} {}", short(mean / paper)) } else { format!("{share:+.1} %") }
}

/// The verdicts with their numbers, in words: `predicted: 83 within, 9 off; calibrated: 2 within`.
pub fn summary(rows: &Rows) -> String {
    let mut out = String::new();
    let mut last = None;
    for (origin, verdict, n) in rows.counts() {
        let name = origin.map_or("shown", Origin::name);
        match last {
            Some(before) if before == name => out.push_str(", "),
            Some(_) => out = format!("{out}; {name}: "),
            None => out = format!("{name}: "),
        }
        last = Some(name);
        let _ = write!(out, "{n} {}", verdict.name());
    }
    out
}

impl Ours {
    pub fn n(&self) -> usize {
        match self {
            Self::None { n } => *n,
            Self::Number(summary) => summary.n,
            Self::List(all) => all.first().map_or(0, |s| s.n),
        }
    }
}

/// Whether a row needs an explanation.
fn is_miss(row: &Row) -> bool {
    matches!(row.verdict, Standing::Off | Standing::Broken | Standing::Open | Standing::Missing)
}
