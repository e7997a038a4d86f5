//! Tables of text that fit a terminal of 80 columns.

/// Columns of a terminal that nobody has widened.
const COLUMNS: usize = 80;
/// Distance between columns, and of the first from the margin.
const GAP: usize = 2;

/// Rows, the head first, in columns as wide as their widest entry. A table that is wider than 80 columns has the units
/// that all its rows share in its head; if that is not enough, it is broken into several, each with the first column.
pub fn columns(rows: &[Vec<String>]) -> String {
    if total(&widths(rows)) <= COLUMNS {
        return aligned(rows);
    }
    let rows = units_in_head(rows);
    let widths = widths(&rows);
    let mut out = String::new();
    for part in parts(&widths) {
        let cells = |row: &Vec<String>| part.iter().filter_map(|i| row.get(*i).cloned()).collect::<Vec<_>>();
        out.push_str(&aligned(&rows.iter().map(cells).collect::<Vec<_>>()));
    }
    out
}

/// A text in lines of at most 80 columns; those after the first begin with `indent`.
#[cfg(feature = "simulator")]
pub fn wrapped(text: &str, indent: &str) -> String {
    let words = text.trim_start_matches(' ');
    let mut out = text[..text.len() - words.len()].to_owned();
    let mut used = out.len();
    for (place, word) in words.split(' ').enumerate() {
        let wide = width(word);
        if place > 0 && used + 1 + wide > COLUMNS {
            out.push('\n');
            out.push_str(indent);
            used = width(indent);
        } else if place > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += wide;
    }
    out + "\n"
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |i: usize| rows.iter().filter_map(|row| row.get(i)).map(|cell| width(cell)).max().unwrap_or(0);
    (0..count).map(widest).collect()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().map(|width| GAP + width).sum()
}

/// Indices of the columns of each part: the first, and as many others as fit, one at least.
fn parts(widths: &[usize]) -> Vec<Vec<usize>> {
    let first = GAP + widths.first().copied().unwrap_or(0);
    let (mut parts, mut part, mut used) = (Vec::new(), vec![0], first);
    for (i, width) in widths.iter().enumerate().skip(1) {
        if used + GAP + width > COLUMNS && part.len() > 1 {
            parts.push(std::mem::replace(&mut part, vec![0]));
            used = first;
        }
        part.push(i);
        used += GAP + width;
    }
    parts.push(part);
    parts
}

/// The same with the unit that ends all entries of a column in its head.
fn units_in_head(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut rows = rows.to_vec();
    let [head, body @ ..] = &mut rows[..] else { return rows };
    for (i, name) in head.iter_mut().enumerate() {
        let ends: Vec<Option<&str>> = body
            .iter()
            .filter_map(|row| row.get(i))
            .filter(|cell| *cell != "-" && !cell.is_empty())
            .map(|c| unit(c))
            .collect();
        let Some(Some(unit)) = ends.first().copied() else { continue };
        if ends.iter().any(|end| *end != Some(unit)) {
            continue;
        }
        let end = format!(" {unit}");
        *name = format!("{name} [{unit}]");
        for cell in body.iter_mut().filter_map(|row| row.get_mut(i)) {
            if let Some(number) = cell.strip_suffix(&end).map(str::to_owned) {
                *cell = number;
            }
        }
    }
    rows
}

/// The unit behind a number: `Mbit/s` of `14.92 ± 0.00 Mbit/s`.
fn unit(cell: &str) -> Option<&str> {
    let (number, unit) = cell.rsplit_once(' ')?;
    let is_number = number.chars().next().is_some_and(|c| c.is_ascii_digit() || c == '-');
    let is_unit = unit.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '%');
    (is_number && is_unit).then_some(unit)
}

/// Rows in columns, whatever their width: for tables that are too long to be broken.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let widths = widths(rows);
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, column) in row.iter().zip(&widths) {
            line.push_str(&" ".repeat(GAP));
            line.push_str(cell);
            line.push_str(&" ".repeat(column - width(cell)));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Number of characters that a text takes on a terminal, its colours aside.
pub fn width(text: &str) -> usize {
    let (mut count, mut is_escape) = (0, false);
    for c in text.chars() {
        match (is_escape, c) {
            (false, '\u{1b}') => is_escape = true,
            (true, 'm') => is_escape = false,
            (true, _) => {}
            (false, _) => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lines: &[&[&str]]) -> Vec<Vec<String>> {
        lines.iter().map(|line| line.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn a_table_that_fits_stays_as_it_is() {
        let table = rows(&[&["flow", "goodput"], &["f", "5.021 \u{b1} 0.013 Mbit/s"]]);
        assert_eq!(columns(&table), "  flow  goodput\n  f     5.021 \u{b1} 0.013 Mbit/s\n");
    }

    #[test]
    fn shared_units_go_into_the_head_of_a_wide_table() {
        let (long, rate) = ("x".repeat(50), "1.000 \u{b1} 0.000 Mbit/s");
        let table = rows(&[&["flow", "goodput", "delay"], &[&long, rate, "20 ms"], &["f", "2 Mbit/s", "1 s"]]);
        let text = columns(&table);
        assert!(text.lines().next().unwrap().contains("goodput [Mbit/s]"), "{text}");
        assert!(text.contains("20 ms") && text.contains("1 s"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
    }

    #[test]
    fn a_long_text_is_broken_between_words() {
        let text = wrapped(&format!("note: {}", "word ".repeat(30).trim_end()), "  ");
        assert!(
            text.lines().all(|line| line.len() <= COLUMNS) && text.lines().skip(1).all(|l| l.starts_with("  word"))
        );
        assert_eq!(text.split_whitespace().count(), 31);
        let long = "x".repeat(100);
        assert_eq!(wrapped(&long, "  "), format!("{long}\n"), "a word is never broken");
        assert_eq!(wrapped("  drops a run: none", "    "), "  drops a run: none\n");
    }

    #[test]
    fn a_table_that_is_still_too_wide_is_broken_behind_its_first_column() {
        let wide = "y".repeat(40);
        let table = rows(&[&["name", "a", "b", "c"], &["n1", &wide, &wide, "3"]]);
        let text = columns(&table);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines[0].starts_with("  name  a") && lines[2].starts_with("  name  b"), "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS), "{text}");
    }
}
