//! Markdown tables of measured rows: each column summed up by group, and the worst rows.

use crate::bench::Row;
use std::fmt::Write;

/// A value that each row of a table has.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    /// Digits behind the point.
    pub digits: usize,
    /// Whether less is better.
    pub is_cost: bool,
    /// The bound of every row; rows beyond it are counted.
    pub bound: Option<f64>,
}

impl Column {
    /// A share: more is better.
    pub const fn share(name: &'static str, bound: Option<f64>) -> Self {
        Self { name, digits: 3, is_cost: false, bound }
    }

    /// A time or the like: less is better.
    pub const fn cost(name: &'static str, bound: Option<f64>) -> Self {
        Self { name, digits: 3, is_cost: true, bound }
    }

    fn is_beyond(&self, value: f64) -> bool {
        self.bound.is_some_and(|bound| if self.is_cost { value > bound } else { value < bound })
    }
}

/// The value below which a share of the sorted `values` lies, by linear interpolation; `None` of no values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let place = share * values.len().checked_sub(1)? as f64;
    let (low, part) = (place as usize, place.fract());
    let high = (low + 1).min(values.len() - 1);
    Some(values[low] + part * (values[high] - values[low]))
}

/// The mean of the values that are numbers.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) =
        values.into_iter().filter(|x| x.is_finite()).fold((0.0, 0_u32), |(sum, count), x| (sum + x, count + 1));
    sum / f64::from(count)
}

/// The sums of all columns: a line for each group and column that has values there.
pub fn summary(columns: &[Column], rows: &[Row]) -> String {
    let mut groups: Vec<&str> = rows.iter().flat_map(|row| &row.groups).map(String::as_str).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut text = "| rows | value | number | mean | 1 % | 10 % | median | 90 % | beyond | worst | row |\n".to_owned();
    text += "|---|---|---|---|---|---|---|---|---|---|---|\n";
    for group in groups {
        let of_group: Vec<&Row> = rows.iter().filter(|row| row.groups.iter().any(|other| other == group)).collect();
        for (index, column) in columns.iter().enumerate() {
            if let Some(line) = line(column, index, &of_group) {
                let _ = writeln!(text, "| {group} | {line} |");
            }
        }
    }
    text
}

/// The sums of the column `index` over the rows of a group; `None` if none has a value.
fn line(column: &Column, index: usize, rows: &[&Row]) -> Option<String> {
    let sorted = sorted(column, index, rows);
    let worst = sorted.first()?;
    let mut values: Vec<f64> = sorted.iter().map(|row| row.values[index]).collect();
    values.sort_by(f64::total_cmp);
    let digits = column.digits;
    let at = |share| quantile(&values, share).map_or("-".to_owned(), |value| format!("{value:.digits$}"));
    let beyond = column.bound.map_or("-".to_owned(), |bound| {
        let count = values.iter().filter(|value| column.is_beyond(**value)).count();
        format!("{count} {} {bound}", if column.is_cost { "above" } else { "below" })
    });
    let (name, number, mean) = (column.name, values.len(), mean(values.iter().copied()));
    let quantiles = [0.01, 0.1, 0.5, 0.9].map(at).join(" | ");
    let (worst, key) = (worst.values[index], &worst.key);
    Some(format!("{name} | {number} | {mean:.digits$} | {quantiles} | {beyond} | {worst:.digits$} | {key}"))
}

/// The rows that have a value in a column, the worst one first.
fn sorted<'a>(column: &Column, index: usize, rows: &[&'a Row]) -> Vec<&'a Row> {
    let mut sorted: Vec<&Row> = rows.iter().copied().filter(|row| row.values[index].is_finite()).collect();
    sorted.sort_by(|a, b| a.values[index].total_cmp(&b.values[index]));
    if column.is_cost {
        sorted.reverse();
    }
    sorted
}

/// The `count` worst rows of the column `by`, with a command for each that measures it alone. If `by` has no values, as
/// shares of what was not measured, those of the first column that has.
pub fn worst(columns: &[Column], rows: &[Row], by: usize, count: usize, command: &str) -> String {
    let has_values = |column: &usize| rows.iter().any(|row| row.values[*column].is_finite());
    let by = if has_values(&by) { by } else { (0..columns.len()).find(has_values).unwrap_or(by) };
    let sorted = sorted(&columns[by], by, &rows.iter().collect::<Vec<_>>());
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let mut text =
        format!("| worst by {} | {} | row |\n|---|{}---|\n", names[by], names.join(" | "), "---|".repeat(names.len()));
    for row in sorted.iter().take(count) {
        let value = |(column, value): (&Column, &f64)| {
            if value.is_finite() { format!("{value:.*}", column.digits) } else { "-".to_owned() }
        };
        let values: Vec<String> = columns.iter().zip(&row.values).map(value).collect();
        let _ = writeln!(text, "| {} | {} | `{command} --only {}` |", row.about, values.join(" | "), row.key);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, values: [f64; 2]) -> Row {
        Row {
            key: key.to_owned(),
            about: format!("about {key}"),
            groups: vec!["all".to_owned()],
            values: values.to_vec(),
        }
    }

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        let values: Vec<f64> = (0..11).map(f64::from).collect();
        assert_eq!([0.0, 0.05, 0.5, 1.0].map(|share| quantile(&values, share)), [0.0, 0.5, 5.0, 10.0].map(Some));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn a_summary_counts_what_is_beyond_its_bound_and_leaves_out_what_is_no_number() {
        let columns = [Column::share("share", Some(0.98)), Column::cost("time", None)];
        let rows = [row("a", [0.9, 2.0]), row("b", [1.0, f64::NAN]), row("c", [0.98, 1.0])];
        let text = summary(&columns, &rows);
        assert!(text.contains("| all | share | 3 | 0.960 |"), "{text}");
        assert!(text.contains("1 below 0.98 | 0.900 | a |"), "{text}");
        assert!(text.contains("| all | time | 2 | 1.500 |"), "{text}");
        let text = worst(&columns, &rows, 1, 5, "map");
        let [a, c] = ["about a", "about c"].map(|about| text.find(about));
        assert!(a < c && !text.contains("about b") && text.contains("`map --only a`"), "{text}");
        let text = worst(&columns, &[row("b", [1.0, f64::NAN])], 1, 5, "map");
        assert!(text.contains("worst by share") && text.contains("about b"), "{text}");
    }
}
