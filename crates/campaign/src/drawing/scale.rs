//! Round numbers along an axis.

/// Round numbers from the lower to the upper end, about `count`.
pub(crate) fn ticks([low, high]: [f64; 2], count: usize) -> Vec<f64> {
    let raw = (high - low) / count as f64;
    let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.999).unwrap_or(raw);
    let first = libm::ceil(low / step - 1e-9);
    let last = libm::floor(high / step + 1e-9);
    (0..=(last - first).max(0.0) as usize).map(|i| (first + i as f64) * step).collect()
}

/// The same, whole numbers where there are few.
pub(super) fn ticks_within(range: [f64; 2], count: usize) -> Vec<f64> {
    let span = range[1] - range[0];
    let count = if span < count as f64 && span > 2.0 { span as usize + 1 } else { count };
    ticks(range, count)
}

/// The powers of ten from the lower to the upper end.
pub(super) fn decades([low, high]: [f64; 2]) -> Vec<f64> {
    let (first, last) = (libm::round(libm::log10(low)) as i32, libm::round(libm::log10(high)) as i32);
    (first..=last).map(|e| libm::pow(10.0, f64::from(e))).collect()
}

/// A number without the dust of binary fractions.
pub(super) fn label(x: f64) -> String {
    if x != 0.0 && x.abs() < 1e-3 {
        let text = format!("{x:.3e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    let text = format!("{x:.6}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short.is_empty() || short == "-0" { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks([0.0, 16.8], 6), [0.0, 5.0, 10.0, 15.0]);
        assert_eq!(ticks([0.0, 1.12], 6), [0.0, 0.2, 0.4, 0.600_000_000_000_000_1, 0.8, 1.0]);
        assert_eq!(decades([0.001, 1.0]), [0.001, 0.01, 0.1, 1.0]);
        assert_eq!([0.1 + 0.2, -0.0, 250.0, 1e-5].map(label), ["0.3", "0", "250", "1e-5"]);
    }
}
