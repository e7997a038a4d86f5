//! The data of the page's scripts: charts, tables and maps by cell, within a budget.

use super::course::{self, POINTS_MAX, POINTS_MIN};
use super::{map, tables};
use crate::stored::Stored;
use serde_json::{Number, Value, json};

/// Points of all charts together: about 2 MB of text.
const POINTS: usize = 300_000;

/// All data.
pub fn data(result: &Stored) -> Value {
    let charts: Vec<Vec<course::Chart>> = result.cells.iter().map(course::charts).collect();
    let lines: Vec<usize> = charts.iter().map(|charts| course::line_count(charts)).collect();
    let (points, drawn) = budget(&lines);
    let mut maps: Vec<Value> = Vec::new();
    let cells = charts.iter().enumerate().map(|(index, charts)| {
        let map = map::map(result, index);
        let place = maps.iter().position(|other| *other == map).unwrap_or_else(|| {
            maps.push(map);
            maps.len() - 1
        });
        let shown = if index < drawn { &charts[..] } else { &[] };
        json!({
            "label": result.plan.cells[index].label,
            "charts": shown.iter().map(|chart| chart.data(points)).collect::<Vec<_>>(),
            "left": index >= drawn,
            "tables": tables::tables(result, index),
            "map": place,
        })
    });
    let cells: Vec<Value> = cells.collect();
    let duration = result.plan.cells.iter().map(|cell| cell.spec.duration.as_secs_f64()).fold(0.0, f64::max);
    json!({ "duration": duration, "drawn": drawn, "cells": cells, "maps": maps })
}

/// The points of a line, and the number of cells that have charts, where each cell has so many lines.
fn budget(lines: &[usize]) -> (usize, usize) {
    let all: usize = lines.iter().sum();
    let points = (POINTS / all.max(1)).clamp(POINTS_MIN, POINTS_MAX);
    let mut left = POINTS.max(points * lines.first().copied().unwrap_or_default());
    let fits = |lines: &&usize| {
        let is_there = points * **lines <= left;
        left = left.saturating_sub(points * **lines);
        is_there
    };
    (points, lines.iter().take_while(fits).count())
}

/// A number with four significant digits; null where it is none.
pub fn number(x: f64) -> Value {
    rounded(x, 4)
}

/// A number with so many significant digits; null where it is none.
pub fn rounded(x: f64, digits: usize) -> Value {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { 0.into() } else { Value::Null };
    }
    let rounded: f64 = format!("{x:.*e}", digits - 1).parse().unwrap_or(x);
    let is_whole = rounded == libm::trunc(rounded) && rounded.abs() < 1e15;
    if is_whole { (rounded as i64).into() } else { Number::from_f64(rounded).map_or(Value::Null, Value::Number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_divided_among_the_lines_and_the_first_cell_always_has_its_charts() {
        assert_eq!(budget(&[4]), (POINTS_MAX, 1));
        assert_eq!(budget(&[1_000]), (300, 1));
        assert_eq!(budget(&[100_000, 1]), (POINTS_MIN, 1));
        let (points, drawn) = budget(&[600; 60]);
        assert_eq!(points, POINTS_MIN);
        assert!(drawn < 60 && drawn * 600 * points <= POINTS, "{drawn} cells");
        assert_eq!(budget(&[]), (POINTS_MAX, 0));
    }

    #[test]
    fn numbers_are_short() {
        let text = |x: f64| number(x).to_string();
        assert_eq!([5_064_123.4, 0.090_887_69, 0.0, -2.0].map(text), ["5064000", "0.09089", "0", "-2"]);
        assert_eq!(number(f64::INFINITY), Value::Null);
    }
}
