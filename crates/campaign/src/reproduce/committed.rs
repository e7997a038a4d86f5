//! The committed rows of a paper: each row's value, interval, verdict and origin as a file of the repository, and the
//! comparison with what is computed now.
//!
//! A row may move within its own interval, which is that of a normal distribution: with two replications Student's
//! would be 25 times as wide and hold nothing. A row without deviation stays where it is. Everything else is a
//! difference, until the file is written again.

use super::judge::{Ours, formula_digest};
use super::paper::Paper;
use super::rows::{Row, Rows};
use crate::statistics::Summary;
use std::fmt::Write as _;

/// The 99.5 % quantile of the normal distribution.
const NORMAL: f64 = 2.576;
/// Share of a value within which two are equal: the last of the digits that the file keeps.
const EQUAL: f64 = 2e-6;
/// The columns, separated by tabulators.
const HEAD: &str = "row\tunit\taccept\tverdict\torigin\tn\tvalues\thalves\terrors\tformula\tfound";

/// A row as the file has it.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    id: String,
    unit: String,
    accept: String,
    verdict: String,
    origin: String,
    n: usize,
    /// Means in the row's unit; of an ordering the sides in base units.
    values: Vec<f64>,
    /// Half of each 99 % confidence interval, for tables.
    halves: Vec<f64>,
    /// The standard error of each mean.
    errors: Vec<f64>,
    /// A digest of the formula: another formula is another row.
    formula: String,
    /// Findings in words: the sides of an ordering, the reason of an open row.
    found: String,
}

impl Line {
    fn of(paper: &Paper, row: &Row) -> Self {
        let summaries: Vec<&Summary> = match &row.ours {
            Ours::None { .. } => row.sides.iter().collect(),
            Ours::Number(summary) => vec![summary],
            Ours::List(all) => all.iter().collect(),
        };
        let error = |s: &&Summary| s.std.map_or(0.0, |std| std / libm::sqrt(s.n as f64));
        let output = &paper.rows[row.output];
        Self {
            id: row.id.clone(),
            unit: row.unit.clone(),
            accept: plain(&row.accept),
            verdict: row.verdict.name().to_owned(),
            origin: row.origin.name().to_owned(),
            n: row.ours.n(),
            values: summaries.iter().map(|s| s.mean.unwrap_or(f64::NAN)).collect(),
            halves: summaries.iter().map(|s| s.half_width().unwrap_or(0.0)).collect(),
            errors: summaries.iter().map(error).collect(),
            formula: formula_digest(output),
            found: plain(&row.found),
        }
    }

    fn write(&self, out: &mut String) {
        let list = |numbers: &[f64]| numbers.iter().map(|x| digits(*x)).collect::<Vec<_>>().join(" ");
        let (values, halves, errors) = (list(&self.values), list(&self.halves), list(&self.errors));
        let Self { id, unit, accept, verdict, origin, n, formula, found, .. } = self;
        let _ = writeln!(
            out,
            "{id}\t{unit}\t{accept}\t{verdict}\t{origin}\t{n}\t{values}\t{halves}\t{errors}\t{formula}\t{found}"
        );
    }

    fn read(text: &str) -> Option<Self> {
        let list = |text: &str| text.split_whitespace().map(|x| x.parse().ok()).collect::<Option<Vec<f64>>>();
        let cells: Vec<&str> = text.split('\t').collect();
        let [id, unit, accept, verdict, origin, n, values, halves, errors, formula, found] = cells[..] else {
            return None;
        };
        let text = str::to_owned;
        Some(Self {
            id: text(id),
            unit: text(unit),
            accept: text(accept),
            verdict: text(verdict),
            origin: text(origin),
            n: n.parse().ok()?,
            values: list(values)?,
            halves: list(halves)?,
            errors: list(errors)?,
            formula: text(formula),
            found: text(found),
        })
    }

    /// The differences of `now`, in words.
    fn differences(&self, now: &Self) -> Vec<String> {
        let mut all = Vec::new();
        let words = [
            ("formula", &self.formula, &now.formula),
            ("verdict", &self.verdict, &now.verdict),
            ("origin", &self.origin, &now.origin),
            ("acceptance", &self.accept, &now.accept),
            ("unit", &self.unit, &now.unit),
        ];
        for (what, before, now) in words.into_iter().filter(|(_, before, now)| before != now) {
            all.push(format!("{what} {before}, now {now}"));
        }
        if self.n != now.n || self.values.len() != now.values.len() {
            let (n, length) = (now.n, now.values.len());
            all.push(format!("{} values of {} replications, now {length} of {n}", self.values.len(), self.n));
            return all;
        }
        for ((before, error), now) in self.values.iter().zip(&self.errors).zip(&now.values) {
            let most = (NORMAL * error).max(EQUAL * before.abs());
            let is_same = (before.is_nan() && now.is_nan()) || (before - now).abs() <= most;
            if !is_same {
                all.push(format!("value {}, now {}: more than {} apart", digits(*before), digits(*now), digits(most)));
            }
        }
        all
    }
}

/// The file of `rows`; rows that were not selected keep their line of `before`, if it has one.
///
/// # Errors
/// `before` is no such file.
pub fn write(before: Option<&str>, paper: &Paper, rows: &Rows) -> Result<String, String> {
    let before = before.map(read).transpose()?.unwrap_or_default();
    let mut out = format!("{HEAD}\n");
    for output in &paper.rows {
        let id = &output.row.id;
        let now = rows.rows.iter().find(|row| row.id == *id).map(|row| Line::of(paper, row));
        if let Some(line) = now.as_ref().or_else(|| before.iter().find(|line| line.id == *id)) {
            line.write(&mut out);
        }
    }
    Ok(out)
}

fn read(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err("it does not begin with the names of the columns".to_owned());
    }
    let read = |(i, line): (usize, &str)| Line::read(line).ok_or_else(|| format!("line {} is no row", i + 2));
    lines.enumerate().map(read).collect()
}

/// Compares `rows` with the file's text: one message for each row that differs. Rows that were not selected are left
/// out.
///
/// # Errors
/// The text is not such a file.
pub fn compare(text: &str, paper: &Paper, only: &[String], rows: &Rows) -> Result<Vec<String>, String> {
    let before = read(text)?;
    let mut differences = Vec::new();
    for row in &rows.rows {
        let now = Line::of(paper, row);
        match before.iter().find(|line| line.id == now.id) {
            None => differences.push(format!("{}: it is new", now.id)),
            Some(before) => {
                let all = before.differences(&now);
                if !all.is_empty() {
                    differences.push(format!("{}: {}", now.id, all.join("; ")));
                }
            }
        }
    }
    let is_gone = |line: &&Line| !paper.rows.iter().any(|output| output.row.id == line.id);
    if only.is_empty() {
        differences.extend(before.iter().filter(is_gone).map(|line| format!("{}: it is gone", line.id)));
    }
    Ok(differences)
}

/// Seven significant digits.
fn digits(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if x.is_nan() {
        return "NaN".to_owned();
    }
    let text = format!("{x:.6e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    match exponent.parse::<i32>() {
        Ok(exponent) if (-4..9).contains(&exponent) => {
            let decimals = (6 - exponent).max(0) as usize;
            let text = format!("{x:.decimals$}");
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
        _ => format!("{mantissa}e{exponent}"),
    }
}

/// Text that fits into a cell.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f64], errors: &[f64]) -> Line {
        let text = str::to_owned;
        Line {
            id: text("1.a"),
            unit: text("s"),
            accept: text("1 +- 5 %"),
            verdict: text("within"),
            origin: text("predicted"),
            n: 5,
            values: values.to_vec(),
            halves: errors.to_vec(),
            errors: errors.to_vec(),
            formula: text("abc"),
            found: String::new(),
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for x in [0.0, 1.5, -2.25e-9, 123_456.7, 7.25e12, 0.000_123_456_7, 42.0] {
            let before = line(&[x, 1.0], &[0.5, 0.0]);
            let mut text = String::new();
            before.write(&mut text);
            assert_eq!(Line::read(text.trim_end_matches('\n')), Some(before), "{text}");
        }
        assert_eq!(Line::read("a\tb"), None);
    }

    #[test]
    fn a_row_may_move_within_its_interval() {
        let before = line(&[10.0], &[0.1]);
        for (now, count) in [(10.25, 0), (9.75, 0), (10.26, 1), (9.74, 1)] {
            assert_eq!(before.differences(&line(&[now], &[0.1])).len(), count, "{now}");
        }
        let fixed = line(&[10.0], &[0.0]);
        assert_eq!(fixed.differences(&line(&[10.000_01], &[0.0])).len(), 0);
        assert_eq!(fixed.differences(&line(&[10.000_1], &[0.0])).len(), 1);
    }

    #[test]
    fn other_words_are_differences() {
        let before = line(&[10.0], &[0.1]);
        let others = [
            Line { verdict: "off".to_owned(), ..before.clone() },
            Line { origin: "calibrated".to_owned(), ..before.clone() },
            Line { formula: "abd".to_owned(), ..before.clone() },
            Line { accept: "1 +- 6 %".to_owned(), ..before.clone() },
            Line { n: 6, ..before.clone() },
        ];
        for other in others {
            assert_eq!(before.differences(&other).len(), 1, "{other:?}");
        }
    }
}
