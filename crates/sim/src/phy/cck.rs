//! Symbol errors of complementary code keying, exactly: one integral over the normal density, done numerically.
//!
//! CCK is taken as 8-chip biorthogonal keying with coherent detection of one of 16 code words (Proakis, *Digital
//! Communications*, 4th ed., 5.2-34; Pursley and Royster, IEEE Trans. Commun. 57(3), 2009, for 802.11b). Both CCK rates
//! are functions of this one. Never the polynomial fitted to it, which lies about 3 dB off.

use core::f64::consts::{PI, SQRT_2};

/// Points a panel of the Gauss-Legendre rule.
const POINTS: usize = 12;
/// Width of a panel. The integrand is about exp(-(u - b/2)^2): a panel of 2 is under three of its standard deviations
/// wide, and 12 points integrate it to 1e-12 (tested against Simpson's rule with 40,000 steps).
const PANEL: f64 = 2.0;
/// Panels: the tables end near b = 15, where the integrand has its maximum at 7.5 and is gone at 20.
const PANELS: u8 = 10;
/// Distance from its maximum to which the integrand is followed: exp(-7^2) = 5e-22 of it.
const REACH: f64 = 7.0;

/// The rule, with everything that does not depend on the SINR worked out.
pub struct SymbolErrors {
    /// Abscissae of the integrand, ascending, with their weights.
    points: Vec<(f64, f64)>,
}

impl SymbolErrors {
    /// Precomputes the rule; about a hundred error functions.
    pub fn new() -> Self {
        let rule = gauss_legendre();
        let density = 1.0 / libm::sqrt(2.0 * PI);
        let points = (0..PANELS)
            .flat_map(|panel| {
                let left = f64::from(panel) * PANEL;
                rule.map(|(x, w)| (left + 0.5 * PANEL * (x + 1.0), 0.5 * PANEL * w))
            })
            .map(|(u, weight)| (u, weight * density * some_other_is_larger(u)))
            .collect();
        Self { points }
    }

    /// Probability that one of 16 code words is mistaken at a symbol energy of `e` over the noise density, linear.
    ///
    /// `SEP = 1 - Int_{-b}^{inf} (2 Phi(x + b) - 1)^7 phi(x) dx`, `b = sqrt(2 e)`, with u = x + b turned into a sum of
    /// positive terms, `Phi(-b) + Int_0^inf (1 - (2 Phi(u) - 1)^7) phi(u - b) du`, so that small probabilities keep
    /// their digits.
    pub fn probability(&self, e: f64) -> f64 {
        let b = libm::sqrt(2.0 * e);
        let near = self.points.iter().filter(|(u, _)| (u - 0.5 * b).abs() < REACH);
        let integral: f64 = near.map(|(u, weight)| weight * libm::exp(-0.5 * (u - b) * (u - b))).sum();
        0.5 * libm::erfc(b / SQRT_2) + integral
    }
}

/// Probability that one of seven other correlators exceeds `u` in magnitude: 1 - (1 - q)^7 with q = erfc(u / sqrt 2),
/// expanded so that a small q keeps its digits.
fn some_other_is_larger(u: f64) -> f64 {
    let q = libm::erfc(u / SQRT_2);
    // Binomials of 7 with alternating sign, Horner's way.
    let rest = [-1.0, 7.0, -21.0, 35.0, -35.0, 21.0, -7.0];
    let sum = rest.iter().fold(0.0, |sum, c| sum * q - c);
    sum * q
}

/// Nodes and weights of the Gauss-Legendre rule on \[-1, 1\], by Newton's method on the Legendre polynomial.
fn gauss_legendre() -> [(f64, f64); POINTS] {
    let n = POINTS as f64;
    core::array::from_fn(|i| {
        let mut x = -libm::cos(PI * (i as f64 + 0.75) / (n + 0.5));
        let mut slope = 1.0;
        // Quadratic convergence from a start good to 1e-3: five steps are one more than needed.
        for _ in 0..5 {
            let (mut before, mut value) = (1.0, x);
            for k in 2..=POINTS {
                let k = k as f64;
                (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
            }
            slope = n * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The integral as it is printed, by Simpson's rule.
    fn naive(e: f64) -> f64 {
        let b = libm::sqrt(2.0 * e);
        let (left, right, steps) = (-b, 9.0, 40_000);
        let h = (right - left) / f64::from(steps);
        let phi = |x: f64| libm::exp(-0.5 * x * x) / libm::sqrt(2.0 * PI);
        let value = |x: f64| libm::pow(libm::erf((x + b) / SQRT_2), 7.0) * phi(x);
        let sum: f64 = (0..=steps)
            .map(|i| {
                let weight = if i == 0 || i == steps {
                    1.0
                } else if i % 2 == 1 {
                    4.0
                } else {
                    2.0
                };
                weight * value(left + h * f64::from(i))
            })
            .sum();
        1.0 - sum * h / 3.0
    }

    #[test]
    fn the_rule_is_simpsons_to_1e_9() {
        let exact = SymbolErrors::new();
        for i in 0..60 {
            let e = 0.01 * libm::pow(1.16, f64::from(i));
            let (ours, theirs) = (exact.probability(e), naive(e));
            assert!((ours - theirs).abs() < 1e-11, "e = {e}: {ours} against {theirs}");
        }
    }

    #[test]
    fn without_signal_one_of_sixteen_is_guessed() {
        assert!((SymbolErrors::new().probability(0.0) - 15.0 / 16.0).abs() < 1e-10);
    }

    #[test]
    fn small_probabilities_keep_their_digits() {
        // Union bound over the 14 orthogonal neighbours, from below by the first two terms: 14 Q(sqrt e) (1 - small).
        let e = 60.0;
        let bound = 14.0 * 0.5 * libm::erfc(libm::sqrt(e / 2.0));
        let ours = SymbolErrors::new().probability(e);
        assert!(ours < bound && ours > 0.99 * bound, "{ours:e} against {bound:e}");
    }
}
