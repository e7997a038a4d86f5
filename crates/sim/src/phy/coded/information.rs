//! Mutual information of a square constellation over white noise, and the SINR that stands for several.
//!
//! Received bit information rate (RBIR): a coded packet whose subcarriers have different SINRs fails as one whose
//! subcarriers all have the SINR of equal mean information a bit (IEEE 802.11-14/0571r12, 11ax evaluation methodology,
//! physical layer abstraction). Inputs are equally likely, decoding is joint over a symbol. Nothing here is fitted.

use core::f64::consts::{LN_2, PI};

/// Step and half width of the trapezoidal rule over the noise \[standard deviations\]: for a Gaussian weight its error
/// falls with exp(-2 pi^2 / step^2), and 7 standard deviations hold all but 3e-12 of the weight.
const NOISE_STEP: f64 = 0.25;
const NOISE_STEPS: i32 = 28;
/// Terms below exp(-40) of the largest do not change a double's sum that ends in six digits.
const REACH: f64 = 40.0;

/// Bits that one bit of a constellation of `bits` bits (1, or an even number) carries at linear SINR `sinr`: 0 to 1.
pub fn rate(bits: u8, sinr: f64) -> f64 {
    if sinr <= 0.0 {
        return 0.0;
    }
    // BPSK has one dimension with all the energy; the others have two, each a PAM with half of it.
    let (levels, bits_of_dimension, energy) =
        if bits == 1 { (2, 1.0, 2.0) } else { (1u32 << (bits / 2), f64::from(bits / 2), 1.0) };
    // Levels at odd multiples of d have a mean square of d^2 (m^2 - 1) / 3; in units of the noise's deviation the mean
    // square is `energy` times the SINR.
    let m = f64::from(levels);
    let d = libm::sqrt(3.0 * energy * sinr / (m * m - 1.0));
    let lost: f64 = (0..levels / 2).map(|level| equivocation(f64::from(level), m, d)).sum::<f64>() / (m / 2.0);
    (1.0 - lost / bits_of_dimension).clamp(0.0, 1.0)
}

/// Bits that remain uncertain where level number `level` of `m` at a half distance of `d` was sent: the mean over the
/// noise of log2 sum_j exp(-((x + n)^2 - n^2) / 2), x the distance of level j.
fn equivocation(level: f64, m: f64, d: f64) -> f64 {
    let mut sum = 0.0;
    for step in -NOISE_STEPS..=NOISE_STEPS {
        let n = NOISE_STEP * f64::from(step);
        let weight = libm::exp(-0.5 * n * n) * NOISE_STEP / libm::sqrt(2.0 * PI);
        // The exponents form a parabola in j with its top at the level nearest to what arrives.
        let term = |j: f64| {
            let x = 2.0 * d * (level - j);
            -x * (0.5 * x + n)
        };
        let top = (level + n / (2.0 * d)).clamp(0.0, m - 1.0);
        let reach = libm::sqrt(2.0 * REACH) / (2.0 * d) + 1.0;
        let (low, high) = (libm::floor((top - reach).max(0.0)), libm::ceil((top + reach).min(m - 1.0)));
        let (mut total, mut j) = (0.0, low);
        while j <= high {
            total += libm::exp(term(j));
            j += 1.0;
        }
        sum += weight * libm::log(total);
    }
    sum / LN_2
}

/// Distance of two entries \[dB\], and the SINR of the first; the last has the information of a noiseless channel.
const STEP: f64 = 0.5;
const FIRST: f64 = -15.0;

/// The rate of one constellation, tabulated for averaging.
#[derive(Clone, Debug)]
pub struct Information {
    rates: Vec<f64>,
}

impl Information {
    /// The table of a constellation of `bits` bits.
    pub fn new(bits: u8) -> Self {
        let mut rates = Vec::new();
        let mut db = FIRST;
        loop {
            let rate = rate(bits, libm::pow(10.0, 0.1 * db));
            rates.push(rate);
            if rate > 1.0 - 1e-6 {
                return Self { rates };
            }
            db += STEP;
        }
    }

    /// Rate at an SINR in decibels; linear between entries.
    pub fn at(&self, db: f64) -> f64 {
        let place = (db - FIRST) / STEP;
        if place.is_nan() || place <= 0.0 {
            // Proportional to the SINR: the first term of its series.
            return self.rates[0] * libm::pow(10.0, 0.1 * (db - FIRST));
        }
        let left = place as usize;
        match self.rates.get(left..left + 2) {
            Some([a, b]) => a + (b - a) * (place - left as f64),
            _ => self.rates.last().copied().unwrap_or(1.0),
        }
    }

    /// The SINR \[dB\] at which the rate is `rate`.
    pub fn inverse(&self, rate: f64) -> f64 {
        let right = self.rates.partition_point(|entry| *entry < rate);
        if right == 0 {
            return FIRST + 10.0 * libm::log10(rate / self.rates[0]);
        }
        let Some(above) = self.rates.get(right) else { return FIRST + STEP * (self.rates.len() - 1) as f64 };
        let below = self.rates[right - 1];
        let share = if *above > below { (rate - below) / (above - below) } else { 0.0 };
        FIRST + STEP * ((right - 1) as f64 + share)
    }

    /// The linear SINR that stands for several of equal weight; nothing if there are none.
    pub fn effective(&self, sinrs: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut count, mut strongest) = (0.0, 0u32, 0.0f64);
        for sinr in sinrs {
            if sinr > 0.0 {
                sum += self.at(10.0 * libm::log10(sinr));
            }
            strongest = strongest.max(sinr);
            count += 1;
        }
        if count == 0 || sum <= 0.0 {
            return 0.0;
        }
        // The mean is never better than the best; the table's end must not make it so.
        libm::pow(10.0, 0.1 * self.inverse(sum / f64::from(count))).min(strongest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(db: f64) -> f64 {
        libm::pow(10.0, 0.1 * db)
    }

    #[test]
    fn information_lies_below_shannons_and_reaches_it_in_noise() {
        for bits in [1u8, 2, 4, 6, 8, 10, 12] {
            for db in (-15..45).map(f64::from) {
                let (ours, shannon) = (f64::from(bits) * rate(bits, linear(db)), libm::log2(1.0 + linear(db)));
                // One dimension cannot have more than half of the complex channel's at twice the SINR.
                let bound = if bits == 1 { 0.5 * libm::log2(1.0 + 2.0 * linear(db)) } else { shannon };
                assert!(ours <= bound + 1e-9, "{bits} bits at {db} dB: {ours} above {bound}");
                assert!(db > -10.0 || ours > 0.95 * bound, "{bits} bits at {db} dB: {ours} far below {bound}");
            }
        }
    }

    #[test]
    fn known_points_of_bpsk_and_qpsk() {
        // Capacity of binary antipodal signalling: one half at Es/N0 of -2.82 dB (Eb/N0 0.187 dB), e.g. Proakis,
        // Digital Communications, 4th ed., figure 7.1-6.
        assert!((rate(1, linear(-2.823)) - 0.5).abs() < 5e-4, "{}", rate(1, linear(-2.823)));
        for db in [-5.0, 0.0, 3.0, 8.0] {
            let (bpsk, qpsk) = (rate(1, linear(db)), rate(2, 2.0 * linear(db)));
            assert!((bpsk - qpsk).abs() < 1e-12, "QPSK is two BPSK: {bpsk}, {qpsk}");
        }
    }

    #[test]
    fn equal_sinrs_stand_for_themselves_and_others_lie_between() {
        for bits in [2u8, 6, 10] {
            let table = Information::new(bits);
            for db in [-3.0, 4.2, 9.7] {
                let same = table.effective([linear(db); 4].into_iter());
                assert!((10.0 * libm::log10(same) - db).abs() < 0.02, "{bits} bits at {db}: {same}");
                let mixed = table.effective([linear(db), linear(db - 10.0)].into_iter());
                assert!(mixed < same && mixed > linear(db - 10.0), "{bits} bits at {db}: {mixed}");
            }
            assert_eq!(table.effective([0.0, 0.0].into_iter()), 0.0);
            // A subcarrier that is lost leaves half of the information.
            let half = table.effective([1e6, 0.0].into_iter());
            assert!((rate(bits, half) - 0.5).abs() < 5e-3, "{bits} bits: {}", rate(bits, half));
        }
    }
}
