//! Numbers of the page's data: as short as a reader can tell them apart.

use serde_json::{Number, Value};

/// A number with four significant digits; null where it is none.
pub fn number(x: f64) -> Value {
    rounded(x, 4)
}

/// A number with `digits` significant digits; null where it is none.
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
    fn numbers_are_short() {
        let text = |x: f64| number(x).to_string();
        assert_eq!([5_064_123.4, 0.090_887_69, 0.0, -2.0].map(text), ["5064000", "0.09089", "0", "-2"]);
        assert_eq!(number(f64::INFINITY), Value::Null);
    }
}
