//! Mean, standard deviation and confidence interval of independent replications.

use airbraid_sim::metric::Unit;
use serde::{Deserialize, Serialize};

/// Least number of replications whose interval is shown to a person. With three, Student's t at 99 % is 9.9 and the
/// interval 5.7 standard deviations to either side, with two 45: the single runs say more (docs/reference/commands.md).
pub const INTERVAL_RUNS_MIN: usize = 4;

/// A number over the replications of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Arithmetic mean; null without a number.
    pub mean: Option<f64>,
    /// Sample standard deviation (n - 1); null for fewer than two.
    pub std: Option<f64>,
    /// 99 % confidence interval of the mean by Student's t; null for fewer than two.
    pub ci99: Option<[f64; 2]>,
    /// Number of replications that gave a number.
    pub n: usize,
}

impl Summary {
    /// The summary of `values`, taking the quantiles from `quantiles`.
    pub fn of(values: &[f64], quantiles: &mut Quantiles) -> Self {
        let n = values.len();
        if n == 0 {
            return Self { mean: None, std: None, ci99: None, n };
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Self { mean: Some(mean), std: None, ci99: None, n };
        }
        // Two passes: the squares of goodputs in bit/s would cancel in one.
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let std = libm::sqrt(squares / (n - 1) as f64);
        let half = quantiles.t995(n - 1) * std / libm::sqrt(n as f64);
        Self { mean: Some(mean), std: Some(std), ci99: Some([mean - half, mean + half]), n }
    }

    /// The confidence interval, where there are enough replications to show one.
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.ci99.filter(|_| self.n >= INTERVAL_RUNS_MIN)
    }

    /// The two values of two replications, the smaller first.
    pub fn pair(&self) -> Option<[f64; 2]> {
        let (mean, std) = self.mean.zip(self.std).filter(|_| self.n == 2)?;
        // Of two values each is half their distance from the mean, and the deviation is that times the root of 2.
        let half = std / std::f64::consts::SQRT_2;
        Some([mean - half, mean + half])
    }

    /// Half the width of the confidence interval.
    pub fn half_width(&self) -> Option<f64> {
        self.ci99.map(|[low, high]| (high - low) / 2.0)
    }
}

/// `5.021 ± 0.013 Mbit/s`: mean and half width in one unit; of few runs, whose numbers are `values`, `415.4 (289.1 to
/// 541.7) kbit/s`.
pub fn spread(summary: &Summary, values: impl FnOnce() -> Vec<f64>, unit: Unit) -> String {
    let Some(mean) = summary.mean else { return "-".to_owned() };
    let shown = unit.show(mean);
    let (number, name) = shown.split_once(' ').unwrap_or((&shown, ""));
    // The factor between the number shown and the mean is that of the unit.
    let factor = number.parse::<f64>().ok().filter(|n| *n != 0.0 && mean != 0.0).map_or(1.0, |n| n / mean);
    let decimals = number.split_once('.').map_or(0, |(_, d)| d.len());
    let around = if let (Some(_), Some(half)) = (summary.interval(), summary.half_width()) {
        // A count's mean may be whole where its runs differ.
        let decimals = if unit == Unit::Count && half > 0.0 { decimals.max(1) } else { decimals };
        format!(" \u{b1} {:.decimals$}", half * factor)
    } else if summary.n > 1 {
        let (low, high) = values().iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        format!(" ({:.decimals$} to {:.decimals$})", low * factor, high * factor)
    } else {
        String::new()
    };
    format!("{number}{around} {name}").trim_end().to_owned()
}

/// The 99.5 % quantiles of Student's t, each computed once.
#[derive(Debug, Default)]
pub struct Quantiles {
    known: Vec<Option<f64>>,
}

impl Quantiles {
    /// The quantile for `degrees` of freedom, at least 1.
    pub fn t995(&mut self, degrees: usize) -> f64 {
        if self.known.len() <= degrees {
            self.known.resize(degrees + 1, None);
        }
        let known = &mut self.known[degrees];
        *known.get_or_insert_with(|| inverse_t(0.99, degrees.max(1)))
    }
}

/// The two-sided quantile of Student's t: a value lies within (-t, t) with probability `level`.
///
/// # Errors
/// The level is not between 0 and 1, or there are no degrees of freedom.
pub fn student_t(level: f64, degrees: usize) -> Result<f64, String> {
    if !(level > 0.0 && level < 1.0) {
        return Err(format!("a level is above 0 and below 1, as 0.95 is; this is {level}"));
    }
    if degrees == 0 {
        return Err("without degrees of freedom there is no interval: two values at least are needed".to_owned());
    }
    Ok(inverse_t(level, degrees))
}

/// The t for which the two-sided probability within (-t, t) is `inside`, by bisection to the last digits.
fn inverse_t(inside: f64, degrees: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while probability_within(high, degrees) < inside && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if probability_within(middle, degrees) < inside { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The probability that Student's t with `degrees` of freedom lies within (-t, t): the closed form for whole degrees
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn probability_within(t: f64, degrees: usize) -> f64 {
    let theta = libm::atan(t / libm::sqrt(degrees as f64));
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    let odd = degrees % 2 == 1;
    // Even: 1 + 1/2 cos^2 + (1 3)/(2 4) cos^4 + ...; odd: cos + 2/3 cos^3 + (2 4)/(3 5) cos^5 + ...; both end at
    // cos^(degrees - 2).
    let (mut term, mut power) = if odd { (cos, 1) } else { (1.0, 0) };
    let mut sum = 0.0;
    while power + 2 <= degrees {
        sum += term;
        power += 2;
        term *= cos * cos * (power - 1) as f64 / power as f64;
    }
    if odd { (theta + sin * sum) * 2.0 / std::f64::consts::PI } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed tables of the t distribution, two-sided 99 %.
    const KNOWN: [(usize, f64); 9] = [
        (1, 63.656_741),
        (2, 9.924_843),
        (3, 5.840_909),
        (4, 4.604_095),
        (5, 4.032_143),
        (9, 3.249_836),
        (10, 3.169_273),
        (30, 2.749_996),
        (120, 2.617_421),
    ];

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let mut quantiles = Quantiles::default();
        for (degrees, t) in KNOWN {
            let ours = quantiles.t995(degrees);
            assert!((ours - t).abs() < 2e-6, "{degrees}: {ours}, not {t}");
        }
        // The normal distribution is the limit.
        assert!((quantiles.t995(9_999) - 2.576_3).abs() < 1e-4);
    }

    #[test]
    fn five_values_give_the_interval_of_a_pocket_calculator() {
        let summary = Summary::of(&[5.0, 5.1, 4.9, 5.2, 4.8], &mut Quantiles::default());
        let [low, high] = summary.ci99.unwrap();
        assert!((summary.mean.unwrap() - 5.0).abs() < 1e-12);
        assert!((summary.std.unwrap() - 0.158_113_883).abs() < 1e-9);
        // 4.604095 * 0.158114 / sqrt 5
        assert!((high - 5.325_56).abs() < 1e-4 && (low - 4.674_44).abs() < 1e-4);
    }

    #[test]
    fn other_levels_are_those_of_the_tables_too() {
        for (level, degrees, t) in [(0.95, 1, 12.706_205), (0.95, 4, 2.776_445), (0.9, 29, 1.699_127)] {
            assert!((student_t(level, degrees).unwrap() - t).abs() < 2e-6, "{level} {degrees}");
        }
        assert!(student_t(1.0, 4).is_err() && student_t(f64::NAN, 4).is_err() && student_t(0.95, 0).is_err());
    }

    #[test]
    fn one_value_has_no_interval_and_none_has_no_mean() {
        let mut quantiles = Quantiles::default();
        assert_eq!(Summary::of(&[3.0], &mut quantiles), Summary { mean: Some(3.0), std: None, ci99: None, n: 1 });
        assert_eq!(Summary::of(&[], &mut quantiles).mean, None);
    }

    #[test]
    fn few_runs_are_shown_one_by_one_and_not_by_an_interval() {
        let of = |values: &[f64]| Summary::of(values, &mut Quantiles::default());
        let [low, high] = of(&[3.0, 5.0]).pair().unwrap();
        assert!((low - 3.0).abs() < 1e-12 && (high - 5.0).abs() < 1e-12);
        assert_eq!((of(&[3.0, 5.0]).interval(), of(&[3.0, 4.0, 5.0]).interval()), (None, None));
        assert!(of(&[3.0, 4.0, 5.0]).pair().is_none() && of(&[3.0, 4.0, 5.0, 6.0]).interval().is_some());
    }

    #[test]
    fn large_values_do_not_cancel() {
        let summary = Summary::of(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0], &mut Quantiles::default());
        assert!((summary.std.unwrap() - 1.0).abs() < 1e-9);
    }
}
