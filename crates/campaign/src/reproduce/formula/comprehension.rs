//! Comprehensions in formulas, as Python has them, which are written out before a formula is read.
//!
//! ```text
//! [dcf.{n}:total.collisions / {n} for n in 4..18 by 2]    a list: [dcf.4:total.collisions / 4, dcf.6: ...]
//! sum(page.*:flow.web{n}.completion_s for n in 1..8)      a sum, of lists element by element: (page.*: ... + ...)
//! all(bi.{n}:x > dcf.{n}:x for n in 2, 8, 18)             relations that hold together: bi.2:x > dcf.2:x and ...
//! ```

/// Largest length of a formula that is written out, in byte. The longest of the papers has 3,500.
const LENGTH_MAX: usize = 1 << 16;

/// Writes out all comprehensions of a formula.
///
/// # Errors
/// Says which comprehension is wrong, and how it is written.
pub(super) fn written_out(text: &str) -> Result<String, String> {
    let mut text = text.to_owned();
    // Before the first ` for ` stands no other one: what it repeats is written out.
    while let Some(at) = text.find(" for ") {
        let wrong = |wrong: String| format!("in the formula `{text}`, at `{}`: {wrong}", &text[at..]);
        let found = Comprehension::read(&text, at).map_err(wrong)?;
        let out = found.written_out(LENGTH_MAX).ok_or_else(|| wrong("this gives too much".to_owned()))?;
        text = format!("{}{out}{}", found.before, found.after);
    }
    Ok(text)
}

/// The text between the expressions that a comprehension gives, and around them.
#[derive(Clone, Copy)]
enum Kind {
    List,
    Sum,
    All,
}

/// A comprehension, and what stands before and after it.
struct Comprehension<'a> {
    before: &'a str,
    kind: Kind,
    /// With `{name}` where a value comes.
    expression: &'a str,
    name: &'a str,
    values: Vec<String>,
    after: &'a str,
}

impl<'a> Comprehension<'a> {
    /// The comprehension whose ` for ` is at this byte.
    fn read(text: &'a str, at: usize) -> Result<Self, String> {
        let how =
            || "write [... {n} ... for n in 2..18 by 2], sum(...) or all(...); `in one, two` for words".to_owned();
        let open = opening(&text[..at]).ok_or_else(how)?;
        let (before, kind) = kind(text, open).ok_or_else(how)?;
        let close = at + text[at..].find([']', ')']).ok_or_else(how)?;
        let (name, values) = text[at + " for ".len()..close].split_once(" in ").ok_or_else(how)?;
        let (expression, name) = (&text[open + 1..at], name.trim());
        let values = values.split(',').map(|part| read_values(part.trim())).collect::<Option<Vec<_>>>();
        let values = values.ok_or_else(how)?.concat();
        if !expression.contains(&format!("{{{name}}}")) {
            return Err(format!("nothing has `{{{name}}}` in it"));
        }
        Ok(Self { before, kind, expression, name, values, after: &text[close + 1..] })
    }

    /// The expressions of all values; `None` if they are longer than `most` byte.
    fn written_out(&self, most: usize) -> Option<String> {
        let hole = format!("{{{}}}", self.name);
        let (open, between, close) = match self.kind {
            Kind::List => ("[", ", ", "]"),
            Kind::Sum => ("(", " + ", ")"),
            Kind::All => ("", " and ", ""),
        };
        let mut out = open.to_owned();
        for (i, value) in self.values.iter().enumerate() {
            out += if i == 0 { "" } else { between };
            out += &self.expression.replace(&hole, value);
            if out.len() > most {
                return None;
            }
        }
        Some(out + close)
    }
}

/// The last bracket that is opened and not closed.
fn opening(text: &str) -> Option<usize> {
    let mut closed = 0_usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ']' | ')' => closed += 1,
            '[' | '(' if closed == 0 => return Some(at),
            '[' | '(' => closed -= 1,
            _ => {}
        }
    }
    None
}

/// The kind of comprehension that begins with this bracket, and the text before it.
fn kind(text: &str, open: usize) -> Option<(&str, Kind)> {
    let before = &text[..open];
    match &text[open..=open] {
        "[" => Some((before, Kind::List)),
        _ => {
            let named = |name, kind| before.strip_suffix(name).map(|before| (before, kind));
            named("sum", Kind::Sum).or_else(|| named("all", Kind::All))
        }
    }
}

/// A word or a number, or whole numbers from one to another: `2..18`, `2..18 by 4`.
fn read_values(part: &str) -> Option<Vec<String>> {
    let Some((first, rest)) = part.split_once("..") else {
        let is_plain = !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
        return is_plain.then(|| vec![part.to_owned()]);
    };
    let (last, step) = rest.split_once(" by ").unwrap_or((rest, "1"));
    let whole = |text: &str| text.trim().parse::<u16>().ok();
    let (first, last, step) = (whole(first)?, whole(last)?, whole(step).filter(|step| *step > 0)?);
    (first <= last).then(|| (first..=last).step_by(usize::from(step)).map(|value| value.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comprehensions_are_written_out() {
        let cases = [
            ("max([a.{n}:x / {n} for n in 2..8 by 3])", "max([a.2:x / 2, a.5:x / 5, a.8:x / 8])"),
            ("sum(a.*:flow.web{n}.y for n in 1..3) / 3", "(a.*:flow.web1.y + a.*:flow.web2.y + a.*:flow.web3.y) / 3"),
            (
                "all(a.{n}:x > b.{n}:x for n in 1e5, 5e6) and a.0:x > 1",
                "a.1e5:x > b.1e5:x and a.5e6:x > b.5e6:x and a.0:x > 1",
            ),
            ("[{r}:x for r in one, 2..3]", "[one:x, 2:x, 3:x]"),
            ("[max([{r}.{n}:x for r in a, b]) for n in 1..2]", "[max([a.1:x, b.1:x]), max([a.2:x, b.2:x])]"),
            ("a:x > 1", "a:x > 1"),
        ];
        for (text, out) in cases {
            assert_eq!(written_out(text).as_deref(), Ok(out));
        }
    }

    #[test]
    fn what_is_wrong_with_a_comprehension_is_said() {
        let cases = [
            ("[a.{n}:x for n in 3..x]", "write [... {n} ... for n in 2..18 by 2]"),
            ("[a.{n}:x for n in 3..9 by 0]", "write ["),
            ("[a.{n}:x for n in 9..3]", "write ["),
            ("[a.{n}:x for n in ]", "write ["),
            ("[a.{n}:x for n of 1]", "write ["),
            ("[a.{n}:x for n in 1", "write ["),
            ("a.{n}:x for n in 1", "write ["),
            ("mean(a.{n}:x for n in 1..3)", "sum(...) or all(...)"),
            ("[a.2:x for n in 1..3]", "nothing has `{n}` in it"),
            ("[[[[a.{a}.{b}.{c}:x for a in 1..999] for b in 1..999] for c in 1..999]", "this gives too much"),
        ];
        for (text, said) in cases {
            let wrong = written_out(text).unwrap_err();
            assert!(wrong.contains(said), "{text}: {wrong}");
        }
    }
}
