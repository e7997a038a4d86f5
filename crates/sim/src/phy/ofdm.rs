//! Bit errors of coded OFDM, by the NIST error-rate model: hard-decision Viterbi decoding under its union bound.
//!
//! G. Pei and T. Henderson, *Validation of OFDM error rate model in ns-3*, Boeing 2010, after Miller, *Validation of
//! 802.11a/UWB coexistence simulation*, NIST 2003; the distance spectra of the punctured codes are those of
//! Frenger et al., *Multi-rate convolutional codes*, Chalmers 1998. No frequency selectivity, no soft decisions.

/// Bit errors (Frenger's c_d) of the rate-1/2 code with generators 133 and 171, at distances 10, 12, ..., 26.
const HALF: [f64; 9] = [36.0, 211.0, 1_404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0];
/// The same punctured to 2/3, at distances 6 to 15.
const TWO_THIRDS: [f64; 10] =
    [3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0];
/// The same punctured to 3/4, at distances 5 to 14.
const THREE_QUARTERS: [f64; 10] =
    [42.0, 201.0, 1_492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0, 13_073_811.0, 75_152_755.0, 428_005_675.0];

/// Probability that a coded bit is wrong before decoding, for a square constellation of `bits` bits (1, 2, 4 or 6) at
/// linear SINR `s`.
fn uncoded(bits: u8, s: f64) -> f64 {
    match bits {
        1 => 0.5 * libm::erfc(libm::sqrt(s)),
        // ((m - 1) / (m log2 m)) erfc(sqrt(3 s / (2 (M - 1)))) with m = sqrt(M) = 2, 4, 8.
        2 => 0.5 * libm::erfc(libm::sqrt(s / 2.0)),
        4 => 0.375 * libm::erfc(libm::sqrt(s / 10.0)),
        _ => 7.0 / 24.0 * libm::erfc(libm::sqrt(s / 42.0)),
    }
}

/// Bound on the probability that a decoded bit is wrong, for code rate `code / (code + 1)` (1 to 3) and a constellation
/// of `bits` bits; may exceed 1.
fn decoded(bits: u8, code: u8, s: f64) -> f64 {
    let p = uncoded(bits, s);
    // Bhattacharyya parameter of the binary symmetric channel.
    let d = libm::sqrt(4.0 * p * (1.0 - p));
    let (spectrum, free_distance, step): (&[f64], f64, f64) = match code {
        1 => (&HALF, 10.0, d * d),
        2 => (&TWO_THIRDS, 6.0, d),
        _ => (&THREE_QUARTERS, 5.0, d),
    };
    let sum = spectrum.iter().rev().fold(0.0, |sum, errors| sum * step + errors);
    sum * libm::pow(d, free_distance) / (2.0 * f64::from(code.clamp(1, 3)))
}

/// Hazard of a decoded bit at linear SINR `s`: minus the logarithm of the probability that it survives.
pub fn hazard(bits: u8, code: u8, s: f64) -> f64 {
    -libm::log1p(-decoded(bits, code, s).min(1.0))
}
