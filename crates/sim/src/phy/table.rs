//! A decreasing function of the SINR, tabulated so that asking it costs one exponential function.
//!
//! The table holds the hazard h: minus the natural logarithm of the probability that one bit survives, so that a
//! chunk of n bits survives with exp(-n h). Nodes lie on the bits of the floating-point number itself, 256 to
//! the octave (0.008 to 0.017 dB apart), so finding one is a shift; between two nodes ln h is linear in the SINR,
//! which is how all these functions fall, so the interpolation is monotone where the nodes are.
//! It never extrapolates: below the table nothing survives, above it everything.

/// Nodes an octave, as a power of two: 256 keep the relative error of the packet error rate under 4e-5 (tested against
/// 1e-4); 128 would give 1.1e-4 at 6 Mbit/s.
const STEP_BITS: u32 = 8;
/// Width of the bits of a double to the right of a node's number: the rest of its fraction.
const SHIFT: u32 = 52 - STEP_BITS;
/// 2^-SHIFT: the width of a cell, as a factor.
const CELL: f64 = 1.0 / (1u64 << SHIFT) as f64;
/// The table begins where a bit survives with e^-0.36: of an ACK's 112 bits, the shortest frame, nothing is left.
const SATURATED: f64 = 0.36;
/// The table ends where 2^22 bits, more than 100 of the longest frames, survive with a probability that a double
/// cannot tell from 1 (1 - 2^-54).
const NEGLIGIBLE: f64 = 1e-23;
/// exp(-40) = 4e-18: less than a random number of 53 bits can tell from zero.
const HOPELESS: f64 = 40.0;
/// Below this, 1 - x + x^2/2 is exp(-x) to double precision (x^3/6 < 2e-16).
const SMALL: f64 = 1e-5;
/// The largest hazard stored: a bound on the error probability that exceeds 1 gives infinity, which has no slope.
const LARGEST: f64 = 64.0;
/// Distance from 1 over which the ends of the table are searched \[octaves\]: 120 dB.
const OCTAVES: u64 = 40;

/// The hazard of one modulation over the SINR.
#[derive(Clone, Debug)]
pub struct Table {
    /// Number of the first node.
    first: u64,
    /// ln h at each node, falling.
    ln_hazard: Vec<f64>,
}

/// The node at or below `sinr`, which is positive.
const fn node_below(sinr: f64) -> u64 {
    sinr.to_bits() >> SHIFT
}

/// The SINR at node `number`.
const fn sinr_at(number: u64) -> f64 {
    f64::from_bits(number << SHIFT)
}

impl Table {
    /// Tabulates `hazard`, a decreasing function of the linear SINR.
    pub fn new(hazard: impl Fn(f64) -> f64) -> Self {
        let hazard = |node| hazard(sinr_at(node)).min(LARGEST);
        let (step, one) = (1 << STEP_BITS, node_below(1.0));
        let mut first = one + OCTAVES * step;
        while first > one - OCTAVES * step && hazard(first) < SATURATED {
            first -= step;
        }
        // Now the hazard crosses the level within the octave above.
        while hazard(first + 1) >= SATURATED && first < one + OCTAVES * step {
            first += 1;
        }
        let mut ln_hazard: Vec<f64> = Vec::new();
        for node in first..=one + OCTAVES * step {
            let h = hazard(node);
            // Rounding must not make the function rise.
            let ceiling = ln_hazard.last().copied().unwrap_or(f64::INFINITY);
            ln_hazard.push(libm::log(h.max(NEGLIGIBLE)).min(ceiling));
            if h <= NEGLIGIBLE {
                break;
            }
        }
        Self { first, ln_hazard }
    }

    /// Probability that `bits` bits survive at `sinr` (linear): between 0 and 1, rising with the SINR, falling with the
    /// number of bits. Exactly 1 above the table; exactly 0 where it is below 4e-18.
    #[inline]
    pub fn success(&self, sinr: f64, bits: u64) -> f64 {
        // There is no signal. Neither is there where nothing is divided by nothing.
        if sinr <= 0.0 || sinr.is_nan() {
            return if bits == 0 { 1.0 } else { 0.0 };
        }
        let node = node_below(sinr);
        let ln_hazard = if node < self.first {
            self.ln_hazard.first().copied()
        } else {
            let cell = (node - self.first) as usize;
            self.ln_hazard.get(cell + 1).map(|right| {
                let left = self.ln_hazard[cell];
                let share = (sinr.to_bits() & ((1 << SHIFT) - 1)) as f64 * CELL;
                left + (right - left) * share
            })
        };
        match ln_hazard {
            None => 1.0,
            Some(ln) => survival(bits as f64 * libm::exp(ln)),
        }
    }
}

/// exp(-x) for a non-negative x, cheap at both ends.
#[inline]
pub fn survival(x: f64) -> f64 {
    if x < SMALL {
        1.0 - x + 0.5 * x * x
    } else if x > HOPELESS {
        0.0
    } else {
        libm::exp(-x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survival_is_the_exponential_function() {
        for i in 0..4_000 {
            let x = 1e-9 * libm::pow(1.006, f64::from(i));
            assert!((survival(x) - libm::exp(-x)).abs() <= 2.3e-16 + 5e-18 * f64::from(u8::from(x > 30.0)), "{x}");
        }
        assert_eq!(survival(0.0), 1.0);
        assert_eq!(survival(f64::INFINITY), 0.0);
    }

    #[test]
    fn a_function_that_is_never_small_or_never_large_is_tabulated_all_the_same() {
        let low = Table::new(|_| 1e-6);
        assert!((low.success(1.0, 1_000) - libm::exp(-1e-3)).abs() < 1e-12);
        let high = Table::new(|_| 2.0);
        assert_eq!(high.success(1.0, 112), 0.0);
    }
}
