//! The reference values of a paper: rows of its results, each with the acceptance that it is judged by.
//!
//! The acceptance is the row's own. Nothing here widens it, and nothing else judges.

use super::evaluate::{Outcome, Relation};
use airbraid_units::named_enum;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt::Write as _;

/// A row as `reference.toml` has it; `[[result]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Unique: the paper's code, then its subject.
    pub id: String,
    /// The code of the paper.
    pub paper: String,
    /// Table, figure or section.
    #[serde(rename = "where")]
    pub place: String,
    pub scenario: String,
    /// Parameters of the set-up.
    #[serde(default)]
    pub params: toml::Table,
    pub metric: String,
    /// The unit of the value.
    pub unit: String,
    /// The paper's value; absent for orderings.
    pub value: Option<toml::Value>,
    /// `exact`, `approx`, `ordering` or `ratio`.
    pub kind: String,
    /// Tolerance as a share of the value.
    pub tol_rel: Option<f64>,
    /// Tolerance in the unit.
    pub tol_abs: Option<f64>,
    /// A remark on the tolerance.
    pub tol_note: Option<String>,
    /// value/factor to value*factor.
    pub factor: Option<f64>,
    /// Lower bound.
    pub min: Option<f64>,
    /// The relation of an ordering.
    pub relation: Option<String>,
    /// `paper` or `derived`.
    pub source: String,
    /// `input`, `calibration`, `context`; absent for an output that is scored.
    #[serde(rename = "use")]
    pub role: Option<String>,
}

/// The table of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    #[serde(default, rename = "result")]
    pub rows: Vec<Row>,
}

/// The acceptance of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Acceptance {
    /// `|ours - value| <= share * |value|`.
    Relative(f64),
    /// `|ours - value| <= distance`.
    Absolute(f64),
    /// `value / factor <= ours <= value * factor`.
    Factor(f64),
    /// At least.
    Minimum(f64),
    /// Equal to as many decimals as are printed.
    Printed,
    /// A relation, judged by its formula.
    Ordering,
}

named_enum! {
    /// The verdict on a row, in the order of a summary.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Standing {
        /// The value is accepted.
        Within = "within",
        /// The value is not accepted.
        Off = "off",
        Holds = "holds",
        /// The ordering does not hold.
        Broken = "broken",
        /// Undecided: a reading that the paper leaves free decides, or one run.
        Open = "open",
        /// Shown, not scored.
        Context = "context",
        /// Not computed.
        Missing = "missing",
    }
}

impl Serialize for Standing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Row {
    /// Whether it is a result, not an input of a simulator.
    pub fn is_output(&self) -> bool {
        !matches!(self.role.as_deref(), Some("input" | "calibration"))
    }
    /// Whether it is shown without a score.
    pub fn is_context(&self) -> bool {
        self.role.as_deref() == Some("context")
    }
    /// The numbers of its value; empty for orderings.
    pub fn values(&self) -> Vec<f64> {
        match &self.value {
            Some(toml::Value::Array(list)) => list.iter().filter_map(number).collect(),
            Some(value) => number(value).into_iter().collect(),
            None => Vec::new(),
        }
    }
    /// Its acceptance.
    pub fn acceptance(&self) -> Acceptance {
        let bound = (self.tol_rel.map(Acceptance::Relative))
            .or(self.tol_abs.map(Acceptance::Absolute))
            .or(self.factor.map(Acceptance::Factor))
            .or(self.min.map(Acceptance::Minimum));
        // An ordering is its relation, also where the table gives the number that stands in it.
        if self.kind == "ordering" && self.relation.is_some() {
            return Acceptance::Ordering;
        }
        match (bound, &self.value) {
            (Some(bound), Some(_)) => bound,
            (_, Some(_)) => Acceptance::Printed,
            (_, None) => Acceptance::Ordering,
        }
    }
    /// Its acceptance, in words: `15.0 +- 10 %`.
    pub fn accept(&self) -> String {
        let value = self.shown();
        let list: Vec<f64> = self.values();
        match self.acceptance() {
            Acceptance::Relative(0.0) => format!("{value} exactly"),
            Acceptance::Relative(share) => format!("{value} +- {} %", short(share * 100.0)),
            Acceptance::Absolute(distance) => format!("{value} +- {}", short(distance)),
            Acceptance::Factor(factor) => {
                let mut text = format!("{value} by a factor of {}", short(factor));
                if let [x] = list[..] {
                    let _ = write!(text, ": {} to {}", short(x / factor), short(x * factor));
                }
                text
            }
            Acceptance::Minimum(least) => format!("{value}, at least {}", short(least)),
            Acceptance::Printed => format!("{value} to the printed digits"),
            Acceptance::Ordering => self.relation.clone().unwrap_or_default(),
        }
    }
    /// The paper's value as text.
    pub fn shown(&self) -> String {
        self.value.as_ref().map(show).unwrap_or_default()
    }

    /// The verdict on a value of ours.
    pub fn judge_value(&self, ours: &Outcome) -> Standing {
        let ours: Vec<Option<f64>> = match ours {
            Outcome::Number(summary) => vec![summary.mean],
            Outcome::List(all) => all.iter().map(|s| s.mean).collect(),
        };
        let Some(ours) = ours.into_iter().collect::<Option<Vec<f64>>>() else { return Standing::Missing };
        let paper = self.values();
        if self.is_context() {
            return Standing::Context;
        }
        let acceptance = self.acceptance();
        let digits = paper.iter().map(|x| decimals(*x)).max().unwrap_or(0);
        let fits = paper.len() == ours.len() && paper.iter().zip(&ours).all(|(p, o)| fits(acceptance, *p, *o, digits));
        if fits { Standing::Within } else { Standing::Off }
    }
    /// The verdict on a relation.
    pub fn judge_relation(&self, ours: &Relation) -> Standing {
        match (self.is_context(), ours.holds) {
            (true, _) => Standing::Context,
            (false, true) => Standing::Holds,
            (false, false) => Standing::Broken,
        }
    }
}

/// One number against one of the paper's.
fn fits(acceptance: Acceptance, paper: f64, ours: f64, digits: usize) -> bool {
    // What is equal but for the dust of binary fractions is equal.
    let dust = 1e-12 * paper.abs().max(ours.abs());
    let distance = (ours - paper).abs();
    match acceptance {
        Acceptance::Relative(share) => distance <= share * paper.abs() + dust,
        Acceptance::Absolute(most) => distance <= most + dust,
        Acceptance::Factor(factor) => paper / factor <= ours + dust && ours <= paper * factor + dust,
        Acceptance::Minimum(least) => ours + dust >= least,
        Acceptance::Printed => format!("{ours:.digits$}") == format!("{paper:.digits$}"),
        Acceptance::Ordering => false,
    }
}

/// Number of decimals of a printed number.
fn decimals(x: f64) -> usize {
    x.to_string().split_once('.').map_or(0, |(_, digits)| digits.len())
}

fn number(value: &toml::Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}

fn show(value: &toml::Value) -> String {
    match value {
        toml::Value::Array(list) => format!("[{}]", list.iter().map(show).collect::<Vec<_>>().join(", ")),
        // 15.0 stays 15.0: it is what the table says.
        toml::Value::Float(x) => format!("{x:?}"),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// At most four significant digits, without trailing zeros.
pub fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let magnitude = libm::floor(libm::log10(x.abs())) as i32;
    let decimals = (3 - magnitude).clamp(0, 12) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number to nine decimals, without the dust of binary fractions and without trailing zeros.
pub fn short_decimal(x: f64) -> String {
    let text = format!("{x:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The factor from SI base units (bit/s, s, byte, 1) to a row's unit; 1 for units that are counts.
pub fn factor(unit: &str) -> f64 {
    match unit {
        "Mbps" | "Mbit/s" | "MB" => 1e-6,
        "kbps" | "kbit/s" | "kB" => 1e-3,
        // Bytes a second of what is bits a second.
        "KB/s" => 1e-3 / 8.0,
        "ms" => 1e3,
        "us" => 1e6,
        "ns" => 1e9,
        "bit" => 8.0,
        "percent" | "%" => 100.0,
        "GHz" => 1e-9,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Quantiles, Summary};

    fn row(fields: &str) -> Row {
        let head = "[[result]]\nid='x'\npaper='0'\nwhere='w'\nscenario='s'\nmetric='m'\nunit='ratio'\nsource='paper'\n";
        let table: Reference = toml::from_str(&format!("{head}{fields}")).unwrap();
        table.rows.into_iter().next().unwrap()
    }

    fn of(values: &[f64]) -> Outcome {
        let mut quantiles = Quantiles::default();
        match values {
            [x] => Outcome::Number(Summary::of(&[*x], &mut quantiles)),
            _ => Outcome::List(values.iter().map(|x| Summary::of(&[*x], &mut quantiles)).collect()),
        }
    }

    /// Each kind of acceptance at its bounds: just inside, just outside.
    #[test]
    fn the_acceptance_is_exactly_the_tables() {
        let cases: [(&str, &str, &[f64], &[f64]); 9] = [
            ("kind='approx'\nvalue=15.0\ntol_rel=0.1", "15.0 +- 10 %", &[13.5, 16.5], &[13.499, 16.501]),
            ("kind='approx'\nvalue=-2\ntol_rel=0.5", "-2 +- 50 %", &[-3.0, -1.0], &[-3.01, -0.99]),
            ("kind='ratio'\nvalue=0.93\ntol_abs=0.05", "0.93 +- 0.05", &[0.88, 0.98], &[0.8799, 0.9801]),
            ("kind='approx'\nvalue=0.0\ntol_abs=0.3", "0.0 +- 0.3", &[0.3, -0.3], &[0.301]),
            (
                "kind='approx'\nvalue=0.1\nfactor=3.0",
                "0.1 by a factor of 3: 0.03333 to 0.3",
                &[0.034, 0.3],
                &[0.033, 0.301],
            ),
            ("kind='approx'\nvalue=0.85\nmin=0.8", "0.85, at least 0.8", &[0.8, 5.0], &[0.79]),
            ("kind='exact'\nvalue=60\ntol_rel=0.0", "60 exactly", &[60.0], &[60.000_1]),
            ("kind='exact'\nvalue=55.56", "55.56 to the printed digits", &[55.555_6], &[55.57]),
            ("kind='ratio'\nvalue=3.0\nmin=2.7\nrelation='> 3'", "3.0, at least 2.7", &[2.7], &[2.6]),
        ];
        for (fields, accept, inside, outside) in cases {
            let row = row(fields);
            assert_eq!(row.accept(), accept);
            for x in inside {
                assert_eq!(row.judge_value(&of(&[*x])), Standing::Within, "{accept}: {x}");
            }
            for x in outside {
                assert_eq!(row.judge_value(&of(&[*x])), Standing::Off, "{accept}: {x}");
            }
        }
    }

    #[test]
    fn lists_fit_element_by_element() {
        let exact = row("kind='exact'\nvalue=[12.5, 87.5, 37.5]");
        assert_eq!(exact.judge_value(&of(&[12.5, 87.5, 37.5])), Standing::Within);
        assert_eq!(exact.judge_value(&of(&[12.5, 87.5, 37.6])), Standing::Off);
        assert_eq!(exact.judge_value(&of(&[12.5, 87.5])), Standing::Off);
        let near = row("kind='approx'\nvalue=[10, 20]\ntol_rel=0.1");
        assert_eq!(near.judge_value(&of(&[11.0, 18.0])), Standing::Within);
        assert_eq!(near.judge_value(&of(&[11.1, 20.0])), Standing::Off);
    }

    #[test]
    fn context_is_shown_and_not_scored_and_nothing_is_missing() {
        let context = row("kind='approx'\nvalue=4.0\ntol_rel=0.25\nuse='context'");
        assert_eq!(context.judge_value(&of(&[0.0])), Standing::Context);
        let none = Outcome::Number(Summary::of(&[], &mut Quantiles::default()));
        assert_eq!(context.judge_value(&none), Standing::Missing);
        assert!(!row("kind='exact'\nvalue=1\nuse='input'").is_output());
    }

    #[test]
    fn orderings_hold_or_are_broken() {
        let row = row("kind='ordering'\nrelation='a > b'");
        let relation = |holds| Relation { holds, sides: Vec::new(), n: 1 };
        assert_eq!((row.accept().as_str(), row.acceptance()), ("a > b", Acceptance::Ordering));
        let row = self::row("kind='ordering'\nrelation='a < 0.5 b'\nvalue=0.5");
        assert_eq!((row.accept().as_str(), row.acceptance()), ("a < 0.5 b", Acceptance::Ordering));
        assert_eq!(row.judge_relation(&relation(true)), Standing::Holds);
        assert_eq!(row.judge_relation(&relation(false)), Standing::Broken);
    }

    #[test]
    fn numbers_are_short() {
        let shown = [15.0, 0.000_123_456, 1_234_567.0, 0.1, 99.999].map(short);
        assert_eq!(shown, ["15", "0.0001235", "1234567", "0.1", "100"]);
    }
}
