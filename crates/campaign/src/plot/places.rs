//! Places of swept values along an axis: by their numbers where all have one unit, or else one beside the other.

use super::{labelled, show};
use crate::drawing::{Axis, Scale, shorten};
use airbraid_units::{BitRate, Bytes, Db, Dbm, Duration, Metres, Probability, Quantity};
use serde_json::Value;

/// Ratio of the largest to the smallest number from which a scale of powers of ten is taken: two decades.
const LOG_FROM: f64 = 100.0;

/// Places of values along the axis.
pub(super) struct Places {
    /// The places, in the order of the values.
    pub at: Vec<f64>,
    pub axis: Axis,
}

/// Whether all values are numbers, or quantities of one kind.
pub(super) fn has_numbers(values: &[Value]) -> bool {
    within(values).map_or_else(|| numbers(values), |(_, values)| numbers(&values)).is_some()
}

/// The numbers of values and their unit: bare numbers, quantities in the unit of the first.
fn numbers(values: &[Value]) -> Option<(Vec<f64>, String)> {
    if let Some(bare) = values.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>() {
        return Some((bare, String::new()));
    }
    let texts = values.iter().map(Value::as_str).collect::<Option<Vec<&str>>>()?;
    quantities::<BitRate>(&texts, |q| q.as_bps() as f64)
        .or_else(|| quantities::<Duration>(&texts, |q| q.as_secs_f64()))
        .or_else(|| quantities::<Bytes>(&texts, |q| q.as_u64() as f64))
        .or_else(|| quantities::<Metres>(&texts, |q| q.0))
        .or_else(|| quantities::<Dbm>(&texts, |q| q.0))
        .or_else(|| quantities::<Db>(&texts, |q| q.0))
        .or_else(|| quantities::<Probability>(&texts, |q| q.get()))
}

fn quantities<Q: Quantity>(texts: &[&str], base: impl Fn(&Q) -> f64) -> Option<(Vec<f64>, String)> {
    let all: Vec<f64> = texts.iter().map(|text| Q::parse(text).ok().map(|q| base(&q))).collect::<Option<_>>()?;
    let unit = texts.first()?.trim_start_matches(|c: char| !c.is_ascii_alphabetic() && c != '%').trim();
    let one = Q::parse(&format!("1 {unit}")).ok().map_or(1.0, |q| base(&q));
    Some((all.into_iter().map(|x| x / one).collect(), unit.to_owned()))
}

/// The values that tables of one and the same key have, and that key.
fn within(values: &[Value]) -> Option<(String, Vec<Value>)> {
    let only = |value: &Value| {
        let entries = value.as_object().filter(|entries| entries.len() == 1)?;
        entries.iter().next().map(|(key, value)| (key.clone(), value.clone()))
    };
    let all: Vec<(String, Value)> = values.iter().map(only).collect::<Option<_>>()?;
    let (first, _) = all.first()?;
    let is_same = all.iter().all(|(key, _)| key == first);
    is_same.then(|| (first.clone(), all.iter().map(|(_, value)| value.clone()).collect()))
}

/// The places of the values of `key`.
pub(super) fn places(key: &str, values: &[Value]) -> Places {
    if let Some((inner, values)) = within(values) {
        return places(&format!("{key}.{inner}"), &values);
    }
    let named = || {
        let names: Vec<String> = values.iter().map(|value| shorten(&show(value), 24)).collect();
        let range = [-0.5, names.len() as f64 - 0.5];
        let axis = Axis { label: key.to_owned(), range, scale: Scale::Names(names) };
        Places { at: (0..values.len()).map(|i| i as f64).collect(), axis }
    };
    let Some((at, unit)) = numbers(values).filter(|(at, _)| at.len() > 1) else { return named() };
    let (low, high) = at.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let label = labelled(key, &unit);
    if low > 0.0 && high / low >= LOG_FROM {
        let power = |exponent: f64| libm::pow(10.0, exponent);
        // Marks of the first and the last value stand beside the frame, not on it.
        let edge = 0.06;
        let range = [power(libm::floor(libm::log10(low)) - edge), power(libm::ceil(libm::log10(high)) + edge)];
        return Places { at, axis: Axis { label, range, scale: Scale::Log } };
    }
    let least = at.iter().copied().filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
    if low >= 0.0 && high / least >= LOG_FROM {
        // Powers of ten beside a zero: no scale shows both.
        return named();
    }
    let edge = (high - low) * 0.05;
    Places { at, axis: Axis { label, range: [low - edge, high + edge], scale: Scale::Linear } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_stand_where_their_numbers_are() {
        let of = |values: &Value| numbers(values.as_array().unwrap());
        assert_eq!(of(&json!([1, 2.5])), Some((vec![1.0, 2.5], String::new())));
        assert_eq!(of(&json!(["500 kbit/s", "2 Mbit/s"])), Some((vec![500.0, 2_000.0], "kbit/s".to_owned())));
        assert_eq!(of(&json!(["0.1 %", "1 %"])).map(|(_, unit)| unit).as_deref(), Some("%"));
        assert_eq!(of(&json!(["srr", "jkm"])), None);
        assert_eq!(of(&json!(["1 s", "1 byte"])), None);
        let scale = |values: Value| places("k", values.as_array().unwrap()).axis.scale;
        assert_eq!(scale(json!([1, 2, 4])), Scale::Linear);
        assert_eq!(scale(json!([1e-6, 1e-5, 1e-4])), Scale::Log);
        assert_eq!(scale(json!([{ "ber": 1e-6 }, { "ber": 1e-4 }])), Scale::Log);
        assert_eq!(
            scale(json!([{ "ber": 1 }, { "per": 2 }])),
            Scale::Names(vec!["{ ber = 1 }".into(), "{ per = 2 }".into()])
        );
        assert_eq!(scale(json!([0, 1e-6, 1e-4])), Scale::Names(vec!["0".into(), "1e-6".into(), "1e-4".into()]));
    }
}
