//! Formulas: a small language, read into a tree, in which a row's value is computed from runs.
//!
//! ```text
//! tcp3:flow.download.goodput_bps / tcp1:flow.download.goodput_bps     a number: RUN:METRIC, arithmetic
//! max(course(srr:flow.download.goodput_bps, 5, 250))                  functions of lists; a course by seconds
//! n.*:flow.download.goodput_bps / (5e6 * [3, 4, 5])                   all cells of a group; lists elementwise
//! max([srr.{n}:x / {n} for n in 1..4])                                written out at first ([`comprehension`])
//! trunk:x > 1.5 * srr:x and srr:x > 0                                 a relation
//! lasts(trunk:x, free(3e5)) > 4                                       a threshold that the paper does not print
//! ```
//!
//! It reads and never computes; what a formula is of, it tells, so that only that is kept of each run.

mod comprehension;

use airbraid_units::named_enum;
use std::collections::BTreeSet;

/// A formula: either a value or a relation.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number, or a list of numbers.
    Value(Expression),
    /// Chains of comparisons that must all hold.
    Relation(Vec<Chain>),
}

/// `a > b > c`.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    pub first: Expression,
    /// The others, each with its comparison with the one before.
    pub rest: Vec<(Comparison, Expression)>,
}

impl Chain {
    /// All its sides.
    pub fn sides(&self) -> Vec<&Expression> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, side)| side)).collect()
    }
}

/// A comparison of two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// An expression with a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Number(f64),
    /// `free(x)`: a number of ours where the paper gives none. A verdict must not hang on it.
    Free(f64),
    /// A metric of a run; of each cell of a group where the run ends with `.*`.
    Metric {
        run: String,
        /// The metric, as a summary names it.
        name: String,
    },
    /// The values of a series from one second to another; without them all.
    Course {
        run: String,
        /// The metric of the course.
        name: String,
        /// Intervals that begin before are left out \[s\].
        from: Option<f64>,
        /// Intervals that end after are left out \[s\].
        to: Option<f64>,
    },
    /// `[a, b]`.
    List(Vec<Expression>),
    Minus(Box<Expression>),
    /// `abs(a)`, elementwise.
    Absolute(Box<Expression>),
    /// `a + b` and so on.
    Arithmetic(Operator, Box<Expression>, Box<Expression>),
    /// A function of its arguments.
    Call(Function, Vec<Expression>),
}

/// An operator of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

named_enum! {
    /// The functions of formulas.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Function {
        /// Arithmetic mean of a list.
        Mean = "mean",
        /// Largest element.
        Max = "max",
        /// Smallest element.
        Min = "min",
        Sum = "sum",
        /// Standard deviation over mean.
        Variation = "variation",
        /// `bins(list, k)`: the means of k equal parts.
        Bins = "bins",
        /// The largest step up from the least value so far; 0 for what never rises.
        Rise = "rise",
        /// `lasts(list, x)`: how many elements there are up to the last that is above x.
        Lasts = "lasts",
        /// `slope(y, x)`: of the line of least squares.
        Slope = "slope",
        /// `correlation(y, x)`: Pearson's.
        Correlation = "correlation",
        /// `farthest(list, x)`: the element that is farthest from x.
        Farthest = "farthest",
        /// First element.
        First = "first",
        /// Last element.
        Last = "last",
        /// `share(list, x)`: the share of the elements that are above x.
        Share = "share",
        /// `crossing(y, x)`: the x from which on y stays below 0, by the straight line between two of them; the largest
        /// x where it does not.
        Crossing = "crossing",
        /// The middle element by size; of an even number the mean of the two in the middle.
        Median = "median",
        /// Of a number or list: the mean over the replications.
        Average = "average",
        /// Of a number or list: the sample standard deviation over the replications.
        Spread = "spread",
    }
}

impl Function {
    /// Whether its value is one for all replications together.
    pub const fn is_pooled(self) -> bool {
        matches!(self, Self::Average | Self::Spread)
    }

    /// Returns how many arguments it takes.
    const fn arity(self) -> usize {
        match self {
            Self::Bins
            | Self::Lasts
            | Self::Slope
            | Self::Correlation
            | Self::Farthest
            | Self::Share
            | Self::Crossing => 2,
            _ => 1,
        }
    }
}

/// Largest depth of a formula.
const DEPTH_MAX: usize = 64;

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// Says what is wrong, where, and what could stand there.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = &comprehension::written_out(text)?;
        let tokens = tokens(text)?;
        let mut reader = Reader { tokens: &tokens, at: 0, depth: 0 };
        let formula = reader.formula().map_err(|wrong| reader.place(text, &wrong))?;
        match reader.tokens.get(reader.at) {
            None => Ok(formula),
            Some(_) => Err(reader.place(text, "an operator is needed here")),
        }
    }

    /// Everything that it is computed from.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        self.expressions().into_iter().for_each(|expression| expression.needs(&mut needs));
        needs
    }

    /// Its expressions: the value, or the sides of all chains.
    fn expressions(&self) -> Vec<&Expression> {
        match self {
            Self::Value(expression) => vec![expression],
            Self::Relation(chains) => chains.iter().flat_map(Chain::sides).collect(),
        }
    }

    /// The formula with its free numbers multiplied by `factor`; `None` if it has none.
    pub fn with_free(&self, factor: f64) -> Option<Self> {
        if !self.expressions().into_iter().any(Expression::has_free) {
            return None;
        }
        Some(match self {
            Self::Value(expression) => Self::Value(expression.with_free(factor)),
            Self::Relation(chains) => {
                let chain = |Chain { first, rest }: &Chain| Chain {
                    first: first.with_free(factor),
                    rest: rest.iter().map(|(comparison, side)| (*comparison, side.with_free(factor))).collect(),
                };
                Self::Relation(chains.iter().map(chain).collect())
            }
        })
    }
}

/// The inputs of a formula: pairs of a run and a metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Numbers.
    pub metrics: BTreeSet<(String, String)>,
    pub series: BTreeSet<(String, String)>,
}

impl Needs {
    /// These and those.
    pub fn extend(&mut self, other: Self) {
        self.metrics.extend(other.metrics);
        self.series.extend(other.series);
    }
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().chain(&self.series).map(|(run, _)| run.as_str())
    }
}

impl Expression {
    /// Whether it has one value for all replications together.
    pub fn is_pooled(&self) -> bool {
        match self {
            Self::Number(_) | Self::Free(_) | Self::Metric { .. } | Self::Course { .. } => false,
            Self::List(all) => all.iter().any(Self::is_pooled),
            Self::Minus(inner) | Self::Absolute(inner) => inner.is_pooled(),
            Self::Arithmetic(_, a, b) => a.is_pooled() || b.is_pooled(),
            Self::Call(function, all) => function.is_pooled() || all.iter().any(Self::is_pooled),
        }
    }

    fn has_free(&self) -> bool {
        match self {
            Self::Free(_) => true,
            Self::Number(_) | Self::Metric { .. } | Self::Course { .. } => false,
            Self::List(all) | Self::Call(_, all) => all.iter().any(Self::has_free),
            Self::Minus(inner) | Self::Absolute(inner) => inner.has_free(),
            Self::Arithmetic(_, a, b) => a.has_free() || b.has_free(),
        }
    }

    fn with_free(&self, factor: f64) -> Self {
        let one = |inner: &Self| Box::new(inner.with_free(factor));
        let all = |items: &[Self]| items.iter().map(|item| item.with_free(factor)).collect();
        match self {
            Self::Free(x) => Self::Number(x * factor),
            Self::Number(_) | Self::Metric { .. } | Self::Course { .. } => self.clone(),
            Self::List(items) => Self::List(all(items)),
            Self::Call(function, items) => Self::Call(*function, all(items)),
            Self::Minus(inner) => Self::Minus(one(inner)),
            Self::Absolute(inner) => Self::Absolute(one(inner)),
            Self::Arithmetic(operator, a, b) => Self::Arithmetic(*operator, one(a), one(b)),
        }
    }

    /// Adds its inputs to `needs`.
    pub fn needs(&self, needs: &mut Needs) {
        match self {
            Self::Number(_) | Self::Free(_) => {}
            Self::Metric { run, name } => {
                needs.metrics.insert((run.clone(), name.clone()));
            }
            Self::Course { run, name, .. } => {
                needs.series.insert((run.clone(), name.clone()));
            }
            Self::List(all) | Self::Call(_, all) => all.iter().for_each(|e| e.needs(needs)),
            Self::Minus(inner) | Self::Absolute(inner) => inner.needs(needs),
            Self::Arithmetic(_, a, b) => {
                a.needs(needs);
                b.needs(needs);
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Word(String),
    Metric(String, String),
    Sign(char),
    Compare(Comparison),
}

/// The tokens of `text`, each with the byte at which it begins.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = match c {
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '<' | '>' => {
                let equal = rest[1..].starts_with('=');
                let comparison = match (c, equal) {
                    ('<', false) => Comparison::Less,
                    ('<', true) => Comparison::AtMost,
                    (_, false) => Comparison::Greater,
                    (_, true) => Comparison::AtLeast,
                };
                (Token::Compare(comparison), 1 + usize::from(equal))
            }
            '0'..='9' => number(rest).ok_or_else(|| place(text, at, "this is no number"))?,
            'A'..='Z' | 'a'..='z' | '_' => word(rest),
            '+' | '-' | '*' | '/' | '(' | ')' | '[' | ']' | ',' => (Token::Sign(c), 1),
            _ => return Err(place(text, at, "this sign means nothing here")),
        };
        out.push((at, token));
        at += length;
    }
    Ok(out)
}

fn number(rest: &str) -> Option<(Token, usize)> {
    let mut length = 0;
    let mut before = ' ';
    for c in rest.chars() {
        let sign = (c == '-' || c == '+') && before.eq_ignore_ascii_case(&'e');
        if !(c.is_ascii_digit() || c == '.' || c.eq_ignore_ascii_case(&'e') || sign) {
            break;
        }
        (length, before) = (length + 1, c);
    }
    rest[..length].parse().ok().map(|x| (Token::Number(x), length))
}

/// `name`, or `run.cell:metric.path`; a hyphen belongs to a path where no space is beside it.
fn word(rest: &str) -> (Token, usize) {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let run = rest.find(|c: char| !plain(c)).unwrap_or(rest.len());
    let run = if rest[run..].starts_with('*') && rest[..run].ends_with('.') { run + 1 } else { run };
    let Some(path) = rest[run..].strip_prefix(':') else { return (Token::Word(rest[..run].to_owned()), run) };
    let mut length = 0;
    for (i, c) in path.char_indices() {
        let hyphen = c == '-' && path[i + 1..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if !(plain(c) || hyphen) {
            break;
        }
        length = i + 1;
    }
    (Token::Metric(rest[..run].to_owned(), path[..length].to_owned()), run + 1 + length)
}

fn place(text: &str, at: usize, wrong: &str) -> String {
    format!("in the formula `{text}`, before `{}`: {wrong}", text.get(at..).unwrap_or_default())
}

struct Reader<'a> {
    tokens: &'a [(usize, Token)],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn place(&self, text: &str, wrong: &str) -> String {
        match self.tokens.get(self.at) {
            Some((at, _)) => place(text, *at, wrong),
            None => format!("in the formula `{text}`, at its end: {wrong}"),
        }
    }
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }
    fn take(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }
    fn need(&mut self, sign: char) -> Result<(), String> {
        if self.take(sign) { Ok(()) } else { Err(format!("`{sign}` is needed here")) }
    }

    fn formula(&mut self) -> Result<Formula, String> {
        let first = self.sum()?;
        if !matches!(self.peek(), Some(Token::Compare(_))) {
            return Ok(Formula::Value(first));
        }
        let mut chains = vec![self.chain(first)?];
        while self.peek() == Some(&Token::Word("and".to_owned())) {
            self.at += 1;
            let first = self.sum()?;
            chains.push(self.chain(first)?);
        }
        Ok(Formula::Relation(chains))
    }
    fn chain(&mut self, first: Expression) -> Result<Chain, String> {
        let mut rest = Vec::new();
        while let Some(Token::Compare(comparison)) = self.peek().cloned() {
            self.at += 1;
            rest.push((comparison, self.sum()?));
        }
        if rest.is_empty() { Err("<, <=, > or >= is needed here".to_owned()) } else { Ok(Chain { first, rest }) }
    }
    fn sum(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("this is nested too deep".to_owned());
        }
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Sign('+')) => Operator::Plus,
                Some(Token::Sign('-')) => Operator::Minus,
                _ => break,
            };
            self.at += 1;
            left = Expression::Arithmetic(operator, Box::new(left), Box::new(self.product()?));
        }
        self.depth -= 1;
        Ok(left)
    }
    fn product(&mut self) -> Result<Expression, String> {
        let mut left = self.single()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Sign('*')) => Operator::Times,
                Some(Token::Sign('/')) => Operator::Over,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expression::Arithmetic(operator, Box::new(left), Box::new(self.single()?));
        }
    }
    fn single(&mut self) -> Result<Expression, String> {
        let Some(token) = self.peek().cloned() else { return Err("something is missing".to_owned()) };
        match token {
            Token::Number(x) => {
                self.at += 1;
                Ok(Expression::Number(x))
            }
            Token::Metric(run, name) => {
                if let Some(now) = airbraid_sim::metric::renamed(&name) {
                    return Err(format!("`{name}` is an old name: it is `{now}` now"));
                }
                self.at += 1;
                Ok(Expression::Metric { run, name })
            }
            Token::Sign('-') => {
                self.at += 1;
                self.depth += 1;
                if self.depth > DEPTH_MAX {
                    return Err("this is nested too deep".to_owned());
                }
                let inner = self.single()?;
                self.depth -= 1;
                Ok(Expression::Minus(Box::new(inner)))
            }
            Token::Sign('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.need(')').map(|()| inner)
            }
            Token::Sign('[') => {
                self.at += 1;
                self.list(']').map(Expression::List)
            }
            Token::Word(name) => self.call(&name),
            _ => Err("a number, RUN:METRIC, a function or a bracket is needed here".to_owned()),
        }
    }
    /// The expressions between an opened bracket and `close`, separated by commas.
    fn list(&mut self, close: char) -> Result<Vec<Expression>, String> {
        let mut items = Vec::new();
        while !self.take(close) {
            if !items.is_empty() {
                self.need(',')?;
            }
            items.push(self.sum()?);
        }
        Ok(items)
    }
    fn call(&mut self, name: &str) -> Result<Expression, String> {
        let known = Function::ALL.into_iter().find(|known| known.name() == name);
        if known.is_none() && !["course", "abs", "free"].contains(&name) {
            let names = Function::ALL.map(Function::name).join(", ");
            return Err(format!("`{name}` is no function; there are course, abs, free, {names}"));
        }
        self.at += 1;
        self.need('(')?;
        let mut arguments = self.list(')')?;
        match known {
            None if name == "abs" => match (arguments.pop(), arguments.is_empty()) {
                (Some(inner), true) => Ok(Expression::Absolute(Box::new(inner))),
                _ => Err("`abs` takes 1".to_owned()),
            },
            None if name == "free" => match arguments[..] {
                [Expression::Number(x)] => Ok(Expression::Free(x)),
                _ => Err("`free` takes a number".to_owned()),
            },
            Some(function) if arguments.len() == function.arity() => Ok(Expression::Call(function, arguments)),
            Some(function) => Err(format!("`{name}` takes {}, not {}", function.arity(), arguments.len())),
            None => course(arguments),
        }
    }
}

/// `course(run:metric)` or `course(run:metric, from, to)`.
fn course(arguments: Vec<Expression>) -> Result<Expression, String> {
    let wrong = || "write course(RUN:METRIC) or course(RUN:METRIC, FROM, TO) with seconds".to_owned();
    let mut arguments = arguments.into_iter();
    let Some(Expression::Metric { run, name }) = arguments.next() else { return Err(wrong()) };
    let seconds: Option<Vec<f64>> = arguments
        .map(|e| match e {
            Expression::Number(x) => Some(x),
            _ => None,
        })
        .collect();
    match seconds.as_deref() {
        Some([]) => Ok(Expression::Course { run, name, from: None, to: None }),
        Some([from, to]) if from < to => Ok(Expression::Course { run, name, from: Some(*from), to: Some(*to) }),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_is_that_of_arithmetic() {
        let two = |a, o, b| Expression::Arithmetic(o, Box::new(a), Box::new(b));
        let n = Expression::Number;
        let expected = two(n(1.0), Operator::Plus, two(n(2.0), Operator::Times, n(3.0)));
        assert_eq!(Formula::read("1 + 2 * 3"), Ok(Formula::Value(expected)));
        let expected = two(two(n(8.0), Operator::Over, n(4.0)), Operator::Over, n(2.0));
        assert_eq!(Formula::read("8/4/2"), Ok(Formula::Value(expected)));
    }

    #[test]
    fn metrics_have_hyphens_where_no_space_is_beside_them() {
        let metric = |run: &str, name: &str| Expression::Metric { run: run.into(), name: name.into() };
        let read = Formula::read("a.1e5:flow.up-link.x - b:y");
        let (a, b) = (metric("a.1e5", "flow.up-link.x"), metric("b", "y"));
        assert_eq!(read, Ok(Formula::Value(Expression::Arithmetic(Operator::Minus, Box::new(a), Box::new(b)))));
        assert_eq!(Formula::read("n.*:x"), Ok(Formula::Value(metric("n.*", "x"))));
    }

    #[test]
    fn what_a_formula_needs_is_told() {
        let needs = Formula::read("a:x > 2 * max(course(b:y, 1, 9)) and a:x >= c:z").unwrap().needs();
        assert_eq!(needs.runs().collect::<Vec<_>>(), ["a", "c", "b"]);
        assert_eq!(needs.series.len(), 1);
    }

    #[test]
    fn free_numbers_are_multiplied_and_others_are_not() {
        let formula = Formula::read("max([a:x, -free(2)]) > 3 * free(4) and abs(b:x) < 1").unwrap();
        let expected = Formula::read("max([a:x, -1]) > 3 * 2 and abs(b:x) < 1").unwrap();
        assert_eq!(formula.with_free(0.5), Some(expected.clone()));
        assert_eq!(expected.with_free(0.5), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let cases = [
            ("a:tunnel.bond.holes", "it is `trunk.bond.holes` now"),
            ("", "something is missing"),
            ("a:x >", "something is missing"),
            ("maxx(a:x)", "`maxx` is no function"),
            ("max(a:x, 1)", "`max` takes 1, not 2"),
            ("a:x > free(a:x)", "`free` takes a number"),
            ("course(1)", "write course(RUN:METRIC)"),
            ("course(a:x, 9, 1)", "write course(RUN:METRIC)"),
            ("1 2", "before `2`: an operator is needed"),
            ("(1", "`)` is needed"),
            ("1 ? 2", "this sign means nothing"),
            ("1 > 2 and 3", "<, <=, > or >="),
            ("1.2.3", "this is no number"),
        ];
        for (text, said) in cases {
            let wrong = Formula::read(text).unwrap_err();
            assert!(wrong.contains(said), "{text}: {wrong}");
        }
        assert!(Formula::read(&"(".repeat(100_000)).is_err());
        assert!(Formula::read(&"-".repeat(100_000)).is_err());
    }
}
