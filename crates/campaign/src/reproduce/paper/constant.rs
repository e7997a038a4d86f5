//! Formulas that no run can change: constants in disguise, such as `15e6 + 0 * tcp3:x`.
//!
//! Each formula is computed from invented results. What is the same whatever the runs give is no result of them.

use super::Paper;
use crate::reproduce::evaluate::{self, Outcome, Source};
use crate::reproduce::formula::{Chain, Expression, Formula, Needs};
use airbraid_sim::facts::{Facts, Series};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of times that results are invented.
const DRAWS: u64 = 12;
/// Share by which the largest and the smallest of them differ at least: the tightest tolerance of the papers but one is
/// 2 %.
const LEAST_CHANGE: f64 = 0.01;
/// Invented values of a metric are about ten to a power between these, from seconds to bits a second, one power for all
/// cells of a group,
const POWERS: [f64; 2] = [-4.0, 8.0];
/// and differ among cells, replications and seconds by a factor of up to ten to half of this.
const SPREAD: f64 = 1.0;
/// Replications, so that there is a deviation among them.
const REPLICATIONS: u64 = 2;
/// Values of a course, one a second: longer than any part that a formula asks for.
const COURSE: u64 = 1_000;

/// Refuses a row of `paper` with a formula, or a part of one, that no run and no model can change; unless it is marked
/// as arithmetic.
///
/// # Errors
/// Names the row and says how to mend it.
pub fn refuse(paper: &Paper) -> Result<(), String> {
    for output in paper.rows.iter().filter(|output| !output.is_arithmetic) {
        for formula in output.formulas() {
            let parts = parts(formula);
            let Some(at) = parts.iter().position(|part| is_constant(paper, part)) else { continue };
            let which = if parts.len() == 1 { "it".to_owned() } else { format!("part {} of it", at + 1) };
            return Err(format!(
                "row {}: whatever the runs give, {which} stays the same, so that it cannot fail: compute it from RUN:METRIC \
                 or a model, or mark the row `arithmetic = true`, which counts it apart",
                output.row.id
            ));
        }
    }
    Ok(())
}

/// The parts of a formula that each state something: the elements of a list, or the chains.
fn parts(formula: &Formula) -> Vec<Formula> {
    match formula {
        Formula::Value(Expression::List(items)) => items.iter().cloned().map(Formula::Value).collect(),
        Formula::Value(_) => vec![formula.clone()],
        Formula::Relation(chains) => chains.iter().map(|chain| Formula::Relation(vec![chain.clone()])).collect(),
    }
}

/// Whether all sides of a formula are nearly the same in all invented worlds that give them a value.
fn is_constant(paper: &Paper, part: &Formula) -> bool {
    let needs = part.needs();
    if needs.runs().next().is_none() {
        return true;
    }
    let worlds = (0..DRAWS).filter_map(|draw| sides(part, &Invented::new(paper, &needs, draw)).ok());
    let worlds: Vec<Vec<f64>> = worlds.collect();
    let Some(first) = worlds.first() else { return false };
    (0..first.len()).all(|side| {
        let values = || worlds.iter().filter_map(|world| world.get(side).copied());
        let least = values().fold(f64::INFINITY, f64::min);
        let most = values().fold(f64::NEG_INFINITY, f64::max);
        most - least <= LEAST_CHANGE * least.abs().max(most.abs())
    })
}

/// The numbers of a formula: its value, or its sides.
fn sides(part: &Formula, source: &dyn Source) -> Result<Vec<f64>, String> {
    let mean = |expression: &Expression| {
        Ok(match evaluate::value(expression, 1.0, source)? {
            Outcome::Number(summary) => vec![summary.mean.unwrap_or(0.0)],
            Outcome::List(all) => all.iter().map(|summary| summary.mean.unwrap_or(0.0)).collect(),
        })
    };
    match part {
        Formula::Value(expression) => mean(expression),
        Formula::Relation(chains) => {
            let all: Result<Vec<Vec<f64>>, String> = chains.iter().flat_map(Chain::sides).map(mean).collect();
            Ok(all?.concat())
        }
    }
}

/// Results that nobody has computed.
struct Invented {
    facts: BTreeMap<String, Vec<Arc<Facts>>>,
    groups: BTreeMap<String, Vec<String>>,
}

impl Invented {
    fn new(paper: &Paper, needs: &Needs, draw: u64) -> Self {
        let mut groups = BTreeMap::new();
        for run in needs.runs().filter_map(|run| run.strip_suffix(".*")) {
            groups.insert(run.to_owned(), paper.cells(run));
        }
        let cells = |run: &str| match run.strip_suffix(".*") {
            Some(group) => groups.get(group).cloned().unwrap_or_default(),
            None => vec![run.to_owned()],
        };
        let mut made: BTreeMap<String, Vec<Facts>> = BTreeMap::new();
        let empty = || Facts { metrics: BTreeMap::new(), series: BTreeMap::new() };
        let worlds = || (0..REPLICATIONS).map(|_| empty()).collect();
        for (run, name) in &needs.metrics {
            let power = power(&[run, name], draw);
            for cell in cells(run) {
                for (k, facts) in made.entry(cell.clone()).or_insert_with(worlds).iter_mut().enumerate() {
                    let exponent = power + SPREAD * (share(&[&cell, name], [draw, k as u64, 0]) - 0.5);
                    facts.metrics.insert(name.clone(), libm::pow(10.0, exponent));
                }
            }
        }
        for (run, name) in &needs.series {
            let power = power(&[run, name], draw);
            for cell in cells(run) {
                for (k, facts) in made.entry(cell.clone()).or_insert_with(worlds).iter_mut().enumerate() {
                    let exponent = |second| SPREAD * (share(&[&cell, name], [draw, k as u64, second + 1]) - 0.5);
                    let values = (0..COURSE).map(|second| libm::pow(10.0, power + exponent(second))).collect();
                    facts.series.insert(name.clone(), Series { interval_s: 1.0, values });
                }
            }
        }
        let facts = made.into_iter().map(|(run, all)| (run, all.into_iter().map(Arc::new).collect())).collect();
        Self { facts, groups }
    }
}

impl Source for Invented {
    fn facts(&self, run: &str) -> Result<&[Arc<Facts>], String> {
        self.facts.get(run).map(Vec::as_slice).ok_or_else(|| format!("{run} is not invented"))
    }
    fn cells(&self, group: &str) -> Result<Vec<String>, String> {
        self.groups.get(group).cloned().ok_or_else(|| format!("{group} is not invented"))
    }
}

/// A power for a metric: all parts of their range have their turn.
fn power(names: &[&str], draw: u64) -> f64 {
    let first = (share(names, [0, REPLICATIONS, 0]) * DRAWS as f64) as u64;
    let turn = ((first + draw) % DRAWS) as f64 + share(names, [draw, REPLICATIONS, 1]);
    POWERS[0] + turn / DRAWS as f64 * (POWERS[1] - POWERS[0])
}

/// A number from 0 to 1 by names and indices.
fn share(names: &[&str], indices: [u64; 3]) -> f64 {
    let bytes = names.iter().flat_map(|name| name.bytes()).chain(indices.iter().flat_map(|i| i.to_le_bytes()));
    // FNV-1a, then the end of MurmurHash3 so that the upper bits are mixed.
    let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}
