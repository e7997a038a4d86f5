//! The values of formulas: for each replication from the facts of its runs, then over the replications.
//!
//! Replication k of one run goes with replication k of another: they have one seed. Relations are judged on the means.

use super::formula::{Chain, Comparison, Expression, Formula, Function, Operator};
use crate::statistics::{Quantiles, Summary};
use airbraid_sim::facts::Facts;
use std::sync::Arc;

/// A source of the facts of runs.
pub trait Source {
    /// The facts of each replication of a run, in the order of the seeds.
    ///
    /// # Errors
    /// Says why there are none.
    fn facts(&self, run: &str) -> Result<&[Arc<Facts>], String>;
    /// The cells of a group, by their full names.
    ///
    /// # Errors
    /// There is no such group.
    fn cells(&self, group: &str) -> Result<Vec<String>, String>;
    /// Whether a run is the same in every replication: a model without random draws. It has one replication and goes
    /// with runs of any number.
    fn is_constant(&self, _run: &str) -> bool {
        false
    }
}

/// A value: a number, or a list of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(f64),
    /// Several.
    List(Vec<f64>),
}

/// A value over the replications.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Number(Summary),
    /// Of each element of a list.
    List(Vec<Summary>),
}

/// The result of a relation.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// Whether every comparison holds for the means.
    pub holds: bool,
    /// The means of the sides, chain by chain.
    pub sides: Vec<Vec<Side>>,
    pub n: usize,
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Its comparison with the side before it.
    pub comparison: Option<Comparison>,
    /// Over the replications.
    pub summary: Summary,
}

/// The value of `expression` over the replications, multiplied by `factor`.
///
/// # Errors
/// Says what is missing or does not fit.
pub fn value(expression: &Expression, factor: f64, source: &dyn Source) -> Result<Outcome, String> {
    let mut quantiles = Quantiles::default();
    let mut replications = Vec::new();
    for k in 0..count(expression, source)? {
        replications.push(Replication { source, k }.value(expression)?);
    }
    let lists: Vec<&[f64]> = replications.iter().map(Value::elements).collect();
    let length = lists.first().map_or(0, |list| list.len());
    if lists.iter().any(|list| list.len() != length) {
        return Err("the replications give lists of unlike length".to_owned());
    }
    let mut summary = |i: usize| {
        let values: Vec<f64> = lists.iter().map(|list| list[i] * factor).collect();
        let summary = Summary::of(&values, &mut quantiles);
        // What is one value for all replications has no deviation among them.
        if expression.is_pooled() { Summary { std: None, ci99: None, ..summary } } else { summary }
    };
    match replications.first() {
        Some(Value::Number(_)) => Ok(Outcome::Number(summary(0))),
        _ => Ok(Outcome::List((0..length).map(summary).collect())),
    }
}

/// Whether the chains hold.
///
/// # Errors
/// As [`value`]; or a side is a list.
pub fn relation(chains: &[Chain], factor: f64, source: &dyn Source) -> Result<Relation, String> {
    let number = |expression: &Expression| match value(expression, factor, source)? {
        Outcome::Number(summary) => Ok(summary),
        Outcome::List(_) => Err("a list cannot be compared".to_owned()),
    };
    let (mut holds, mut n, mut all) = (true, 0, Vec::new());
    for chain in chains {
        let mut sides = vec![Side { comparison: None, summary: number(&chain.first)? }];
        for (comparison, expression) in &chain.rest {
            sides.push(Side { comparison: Some(*comparison), summary: number(expression)? });
        }
        for pair in sides.windows(2) {
            let (a, b) = (pair[0].summary.mean, pair[1].summary.mean);
            holds &= a.zip(b).zip(pair[1].comparison).is_some_and(|((a, b), comparison)| comparison.holds(a, b));
        }
        n = sides.iter().map(|side| side.summary.n).fold(n, usize::max);
        all.push(sides);
    }
    Ok(Relation { holds, sides: all, n })
}

impl Comparison {
    /// Whether the comparison holds for `a` and `b`.
    pub fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Less => a < b,
            Self::AtMost => a <= b,
            Self::Greater => a > b,
            Self::AtLeast => a >= b,
        }
    }
    pub fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// Number of replications of a formula: that of each of its runs that is not constant, otherwise one.
fn count(expression: &Expression, source: &dyn Source) -> Result<usize, String> {
    let needs = Formula::Value(expression.clone()).needs();
    let mut counts = Vec::new();
    for run in needs.runs() {
        for name in names(run, source)? {
            let replications = source.facts(&name)?.len();
            if !source.is_constant(&name) {
                counts.push(replications);
            }
        }
    }
    match counts.iter().min() {
        None => Ok(1),
        Some(least) if counts.iter().all(|n| n == least) => Ok(*least),
        Some(_) => Err("the runs have unlike numbers of replications".to_owned()),
    }
}

/// The run, or all cells of its group.
///
/// # Errors
/// There is no such group.
pub fn names(run: &str, source: &dyn Source) -> Result<Vec<String>, String> {
    match run.strip_suffix(".*") {
        Some(group) => source.cells(group),
        None => Ok(vec![run.to_owned()]),
    }
}

struct Replication<'a> {
    source: &'a dyn Source,
    k: usize,
}

impl Replication<'_> {
    fn value(&self, expression: &Expression) -> Result<Value, String> {
        match expression {
            Expression::Number(x) | Expression::Free(x) => Ok(Value::Number(*x)),
            Expression::Metric { run, name } => self.metric(run, name),
            Expression::Course { run, name, from, to } => self.course(run, name, *from, *to).map(Value::List),
            Expression::List(items) => {
                let numbers: Result<Vec<f64>, String> = items.iter().map(|item| self.number(item)).collect();
                numbers.map(Value::List)
            }
            Expression::Minus(inner) => Ok(self.value(inner)?.map(|x| -x)),
            Expression::Absolute(inner) => Ok(self.value(inner)?.map(f64::abs)),
            Expression::Arithmetic(operator, a, b) => arithmetic(*operator, &self.value(a)?, &self.value(b)?),
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn facts(&self, run: &str) -> Result<&Facts, String> {
        let all = self.source.facts(run)?;
        let k = if self.source.is_constant(run) { 0 } else { self.k };
        all.get(k).map(|facts| &**facts).ok_or_else(|| format!("the run {run} has no replication {}", self.k))
    }

    fn metric(&self, run: &str, name: &str) -> Result<Value, String> {
        let one = |run: &str| {
            let found = self.facts(run)?.metrics.get(name).copied();
            // What never happened is not counted.
            found.or(name.starts_with("drops.").then_some(0.0)).ok_or_else(|| format!("the run {run} has no {name}"))
        };
        if !run.ends_with(".*") {
            return one(run).map(Value::Number);
        }
        let all: Result<Vec<f64>, String> = names(run, self.source)?.iter().map(|run| one(run)).collect();
        all.map(Value::List)
    }

    fn course(&self, run: &str, name: &str, from: Option<f64>, to: Option<f64>) -> Result<Vec<f64>, String> {
        let facts = self.facts(run)?;
        let series = facts.series.get(name).ok_or_else(|| format!("the run {run} has no course of {name}"))?;
        // A quarter of an interval for the dust of binary fractions.
        let dust = series.interval_s / 4.0;
        let within = |i: usize| {
            let (begins, ends) = (i as f64 * series.interval_s, (i + 1) as f64 * series.interval_s);
            from.is_none_or(|from| begins >= from - dust) && to.is_none_or(|to| ends <= to + dust)
        };
        let values = series.values.iter().enumerate().filter(|(i, _)| within(*i)).map(|(_, x)| *x);
        Ok(values.collect())
    }

    fn number(&self, expression: &Expression) -> Result<f64, String> {
        match self.value(expression)? {
            Value::Number(x) => Ok(x),
            Value::List(_) => Err("a number is needed, this is a list".to_owned()),
        }
    }

    fn list(&self, expression: &Expression) -> Result<Vec<f64>, String> {
        match self.value(expression)? {
            Value::Number(_) => Err("a list is needed, this is a number".to_owned()),
            Value::List(list) if list.is_empty() => Err("the run ends before what is asked for begins".to_owned()),
            Value::List(list) => Ok(list),
        }
    }

    /// The mean or standard deviation of each element over all replications.
    fn pooled(&self, function: Function, inner: &Expression) -> Result<Value, String> {
        let mut all = Vec::new();
        for k in 0..count(inner, self.source)? {
            all.push(Replication { source: self.source, k }.value(inner)?);
        }
        if function == Function::Spread && all.len() < 2 {
            return Err("a spread needs two replications".to_owned());
        }
        let length = all.iter().map(|value| value.elements().len()).min().unwrap_or(0);
        let over = |i: usize| {
            let values: Vec<f64> = all.iter().map(|value| value.elements()[i]).collect();
            if function == Function::Spread { std(&values) } else { mean(&values) }
        };
        match all.first() {
            Some(Value::Number(_)) => Ok(Value::Number(over(0))),
            _ => Ok(Value::List((0..length).map(over).collect())),
        }
    }

    fn call(&self, function: Function, arguments: &[Expression]) -> Result<Value, String> {
        if function.is_pooled() {
            return self.pooled(function, &arguments[0]);
        }
        let list = self.list(&arguments[0])?;
        let number = || self.number(&arguments[1]);
        let x = match function {
            Function::Mean => mean(&list),
            Function::Max => list.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Function::Min => list.iter().copied().fold(f64::INFINITY, f64::min),
            Function::Sum => list.iter().sum(),
            Function::Variation => std(&list) / mean(&list),
            Function::Bins => return bins(&list, number()?).map(Value::List),
            Function::Rise => rise(&list),
            Function::Lasts => {
                let level = number()?;
                list.iter().rposition(|x| *x > level).map_or(0.0, |i| (i + 1) as f64)
            }
            Function::Slope => line(&list, &self.list(&arguments[1])?)?.0,
            Function::Correlation => line(&list, &self.list(&arguments[1])?)?.1,
            Function::Farthest => {
                let from = number()?;
                list.iter().copied().fold(from, |far, x| if (x - from).abs() > (far - from).abs() { x } else { far })
            }
            Function::First => list[0],
            Function::Last => list[list.len() - 1],
            Function::Share => {
                let level = number()?;
                list.iter().filter(|x| **x > level).count() as f64 / list.len() as f64
            }
            Function::Crossing => crossing(&list, &self.list(&arguments[1])?)?,
            Function::Median => median(list),
            // Dealt with above.
            Function::Average | Function::Spread => f64::NAN,
        };
        if x.is_nan() { Err("the formula has no value".to_owned()) } else { Ok(Value::Number(x)) }
    }
}

impl Value {
    fn elements(&self) -> &[f64] {
        match self {
            Self::Number(x) => std::slice::from_ref(x),
            Self::List(list) => list,
        }
    }
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Number(x) => Self::Number(f(x)),
            Self::List(list) => Self::List(list.into_iter().map(f).collect()),
        }
    }
}

/// Lists go element by element; a number goes with each element of a list.
fn arithmetic(operator: Operator, a: &Value, b: &Value) -> Result<Value, String> {
    let one = |x: f64, y: f64| {
        let z = match operator {
            Operator::Plus => x + y,
            Operator::Minus => x - y,
            Operator::Times => x * y,
            Operator::Over => x / y,
        };
        if z.is_finite() { Ok(z) } else { Err(format!("{x} over {y} has no value")) }
    };
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => one(*x, *y).map(Value::Number),
        (Value::List(x), Value::List(y)) if x.len() != y.len() => {
            Err(format!("lists of {} and of {} elements do not go together", x.len(), y.len()))
        }
        _ => {
            let length = a.elements().len().max(b.elements().len());
            let at = |value: &Value, i: usize| match value {
                Value::Number(x) => *x,
                Value::List(list) => list[i],
            };
            let all: Result<Vec<f64>, String> = (0..length).map(|i| one(at(a, i), at(b, i))).collect();
            all.map(Value::List)
        }
    }
}

fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len() as f64
}

fn std(list: &[f64]) -> f64 {
    let mean = mean(list);
    let squares: f64 = list.iter().map(|x| (x - mean) * (x - mean)).sum();
    libm::sqrt(squares / list.len().saturating_sub(1).max(1) as f64)
}

fn bins(list: &[f64], count: f64) -> Result<Vec<f64>, String> {
    let count = count as usize;
    if count == 0 || count > list.len() {
        return Err(format!("{} values cannot be put into {count} bins", list.len()));
    }
    Ok((0..count).map(|i| mean(&list[i * list.len() / count..(i + 1) * list.len() / count])).collect())
}

fn rise(list: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    let mut rise = 0.0_f64;
    for x in list {
        least = least.min(*x);
        rise = rise.max(x - least);
    }
    rise
}

/// The x from which on y stays below 0.
fn crossing(y: &[f64], x: &[f64]) -> Result<f64, String> {
    if y.len() != x.len() || y.is_empty() {
        return Err(format!("{} values at {} places", y.len(), x.len()));
    }
    let Some(last) = y.iter().rposition(|y| *y >= 0.0) else { return Ok(x[0]) };
    let Some(after) = y.get(last + 1) else { return Ok(x[last]) };
    Ok(x[last] + (x[last + 1] - x[last]) * y[last] / (y[last] - after))
}

fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    let middle = list.len() / 2;
    if list.len().is_multiple_of(2) { (list[middle - 1] + list[middle]) / 2.0 } else { list[middle] }
}

/// Slope and correlation of the line of least squares.
fn line(y: &[f64], x: &[f64]) -> Result<(f64, f64), String> {
    if y.len() != x.len() || y.len() < 2 {
        return Err(format!("a line through {} values at {} places", y.len(), x.len()));
    }
    let (mx, my) = (mean(x), mean(y));
    let product =
        |a: &[f64], ma: f64, b: &[f64], mb: f64| -> f64 { a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum() };
    let (xx, xy, yy) = (product(x, mx, x, mx), product(x, mx, y, my), product(y, my, y, my));
    Ok((xy / xx, xy / libm::sqrt(xx * yy)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_sim::facts::Series;
    use std::collections::BTreeMap;

    struct Runs(BTreeMap<String, Vec<Arc<Facts>>>);

    impl Source for Runs {
        fn facts(&self, run: &str) -> Result<&[Arc<Facts>], String> {
            self.0.get(run).map(Vec::as_slice).ok_or_else(|| format!("there is no run {run}"))
        }
        fn cells(&self, group: &str) -> Result<Vec<String>, String> {
            Ok(self.0.keys().filter(|k| k.starts_with(&format!("{group}."))).cloned().collect())
        }
        fn is_constant(&self, run: &str) -> bool {
            run == "constant"
        }
    }

    fn runs() -> Runs {
        let facts = |x: f64| {
            let series = Series { interval_s: 1.0, values: (0..10).map(|i| x * f64::from(i)).collect() };
            Arc::new(Facts {
                metrics: BTreeMap::from([("x".to_owned(), x)]),
                series: BTreeMap::from([("x".to_owned(), series)]),
            })
        };
        let run = |values: &[f64]| values.iter().map(|x| facts(*x)).collect::<Vec<_>>();
        let of = |name: &str, values: &[f64]| (name.to_owned(), run(values));
        Runs(BTreeMap::from([
            of("a", &[1.0, 3.0]),
            of("b", &[2.0, 4.0]),
            of("n.1", &[1.0, 1.0]),
            of("n.2", &[2.0, 6.0]),
            of("three", &[1.0, 1.0, 1.0]),
            of("constant", &[5.0]),
        ]))
    }

    fn means(text: &str) -> Result<Vec<f64>, String> {
        let Formula::Value(expression) = Formula::read(text)? else { return Err("a relation".to_owned()) };
        Ok(match value(&expression, 1.0, &runs())? {
            Outcome::Number(summary) => vec![summary.mean.unwrap()],
            Outcome::List(all) => all.iter().map(|s| s.mean.unwrap()).collect(),
        })
    }

    #[test]
    fn formulas_are_computed_by_replication_and_then_averaged() {
        let cases: [(&str, &[f64]); 31] = [
            ("1 + 2 * 3 - 8 / 4 / 2", &[6.0]),
            ("a:x", &[2.0]),
            ("a:x / b:x", &[0.625]),
            ("n.*:x", &[1.0, 4.0]),
            ("n.*:x * [1, 10] + 1", &[2.0, 41.0]),
            ("constant:x * a:x", &[10.0]),
            ("constant:x", &[5.0]),
            ("-a:x", &[-2.0]),
            ("max(course(a:x))", &[18.0]),
            ("min(course(a:x, 2, 4))", &[4.0]),
            ("mean(course(a:x, 2, 4))", &[5.0]),
            ("sum([1, 2, 3])", &[6.0]),
            ("variation([1, 2, 3])", &[0.5]),
            ("abs([1, -2])", &[1.0, 2.0]),
            ("bins([1, 3, 5, 7], 2)", &[2.0, 6.0]),
            ("rise([5, 3, 4, 1, 2])", &[1.0]),
            ("lasts([5, 3, 0, 1, 0], 0.5)", &[4.0]),
            ("lasts([0, 0], 0.5)", &[0.0]),
            ("slope([2, 4, 6], [1, 2, 3])", &[2.0]),
            ("correlation([2, 4, 6], [3, 2, 1])", &[-1.0]),
            ("farthest([0.9, 1.02], 1)", &[0.9]),
            ("first([4, 5]) + last([4, 5])", &[9.0]),
            ("share([1, 2, 3, 4], 2)", &[0.5]),
            ("crossing([1, -1, 2, -2, -1], [0, 10, 20, 30, 40])", &[25.0]),
            ("crossing([-1, -2], [5, 6])", &[5.0]),
            ("crossing([-1, 2], [5, 6])", &[6.0]),
            ("median([5, 1, 3])", &[3.0]),
            ("median([5, 1, 3, 2])", &[2.5]),
            ("average(a:x) / average(b:x)", &[2.0 / 3.0]),
            ("spread(a:x)", &[std::f64::consts::SQRT_2]),
            ("average(n.*:x)", &[1.0, 4.0]),
        ];
        for (text, expected) in cases {
            let ours = means(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!(ours.len() == expected.len(), "{text}: {ours:?}");
            assert!(ours.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{text}: {ours:?}");
        }
    }

    #[test]
    fn what_has_no_value_says_why() {
        let cases = [
            ("c:x", "there is no run c"),
            ("a:y", "the run a has no y"),
            ("course(a:y)", "has no course of y"),
            ("mean(course(a:x, 50, 60))", "ends before"),
            ("a:x / three:x", "unlike numbers of replications"),
            ("[1, 2] + [1, 2, 3]", "do not go together"),
            ("1 / 0", "has no value"),
            ("mean(1)", "a list is needed"),
            ("bins([1], 2)", "cannot be put into"),
            ("crossing([1], [1, 2])", "1 values at 2 places"),
            ("spread(constant:x)", "needs two replications"),
        ];
        for (text, said) in cases {
            let wrong = means(text).unwrap_err();
            assert!(wrong.contains(said), "{text}: {wrong}");
        }
        assert_eq!(means("a:x + drops.x:drops.retry_limit").unwrap_err(), "there is no run drops.x");
        assert_eq!(means("a:drops.retry_limit"), Ok(vec![0.0]));
    }

    #[test]
    fn relations_are_judged_on_the_means() {
        let judge = |text: &str| {
            let Ok(Formula::Relation(chains)) = Formula::read(text) else { panic!("{text} is no relation") };
            relation(&chains, 1.0, &runs()).unwrap().holds
        };
        assert!(judge("b:x > a:x"));
        assert!(judge("b:x > a:x > 1"));
        assert!(!judge("b:x > a:x > 2.5"));
        assert!(judge("b:x >= 3 and a:x <= 2"));
        assert!(!judge("b:x > 3 and a:x <= 2"));
        assert!(!judge("b:x > 2 and a:x < 2"));
    }
}
