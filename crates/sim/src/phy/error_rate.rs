//! Bit survival: the probability that a chunk of a frame is received without error at its SINR.
//!
//! A chunk is a part of a frame over which the SINR is constant; a frame survives if every chunk does, so the medium
//! multiplies. DSSS and CCK in closed form or by the exact integral, OFDM by the NIST model (equations and sources:
//! `docs/models/radio.md`). Never knows of collisions or thresholds, never draws a random number.
//!
//! Each function is tabulated when a run first asks for its modulation (1,000 to 2,000 numbers), so
//! that the run asks it for the price of an exponential function, or of a comparison where the answer is 0 or 1.

use super::cck::SymbolErrors;
use super::coded::information::Information;
use super::coded::{CodedRate, CodedRates};
use super::ofdm;
use super::table::{Table, survival};
use airbraid_mac::phy::Modulation;
use airbraid_units::{Bytes, Probability};
use core::f64::consts::{PI, SQRT_2};
use std::sync::OnceLock;

/// SINR to Eb/N0 of a 1 Mbit/s bit in a channel of 22 MHz, the bandwidth of the DSSS spectral mask (15.4.5.5).
const BANDWIDTH_OVER_BIT_RATE: f64 = 22.0;
/// The same for a symbol of CCK with 4 bits (5.5 Mbit/s): 22 / 5.5 * 4 / 2.
const CCK4_SYMBOL: f64 = 8.0;
/// The same for half a symbol of CCK with 8 bits (11 Mbit/s): 22 / 11 * 4 / 2.
const CCK8_SYMBOL: f64 = 4.0;

/// The error functions of every modulation; made once a run, shared by all its receivers.
///
/// A table is filled in when it is first asked; as it is a pure function, no answer depends on who asked first.
#[derive(Clone, Debug, Default)]
pub struct ErrorRates {
    dbpsk: OnceLock<Table>,
    dqpsk: OnceLock<Table>,
    /// Over the energy of a 16-word symbol; both CCK rates are this one at their own energy.
    cck: OnceLock<Table>,
    /// By constellation (1, 2, 4, 6 bits), then by code (1/2, 2/3, 3/4).
    ofdm: [[OnceLock<Table>; 3]; 4],
    /// 802.11n and later.
    coded: CodedRates,
    /// By half of the bits of a constellation: BPSK, QPSK, and so on to 4096-QAM.
    information: [OnceLock<Information>; 7],
}

impl ErrorRates {
    /// No table filled in yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Probability that all of `bits` bits survive at a linear signal-to-interference-and-noise ratio in 22 MHz (DSSS,
    /// CCK) or 20 MHz (OFDM).
    ///
    /// Within 1e-4 of the exact packet error probability, relative, for 112 bits (an ACK) and more. Exactly 1 where a
    /// double cannot tell it from 1, exactly 0 below 4e-18. A modulation that no standard has gives 0.
    #[inline]
    pub fn success(&self, modulation: Modulation, sinr_linear: f64, bits: u64) -> f64 {
        match modulation {
            Modulation::Dbpsk => self.dbpsk.get_or_init(|| Table::new(dbpsk)).success(sinr_linear, bits),
            Modulation::Dqpsk => self.dqpsk.get_or_init(|| Table::new(dqpsk)).success(sinr_linear, bits),
            Modulation::Cck4 => self.cck_table().success(sinr_linear * CCK4_SYMBOL, bits),
            Modulation::Cck8 => self.cck_table().success(sinr_linear * CCK8_SYMBOL, bits),
            Modulation::Ofdm { bits: constellation, code } => {
                self.ofdm_table(constellation, code).map_or(0.0, |table| table.success(sinr_linear, bits))
            }
        }
    }

    /// The SINR at which a tenth of packets of 1458 byte is lost \[dB\].
    pub fn needed_db(&self, modulation: Modulation) -> f64 {
        let is_enough = |db: f64| self.success(modulation, libm::pow(10.0, 0.1 * db), 1_458 * 8) > 0.9;
        let (mut low, mut high) = (-20.0, 60.0);
        while high - low > 1e-3 {
            let middle = 0.5 * (low + high);
            if is_enough(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// Probability that `bits` bits of an MPDU of 802.11n and later survive at a linear SINR a subcarrier.
    #[inline]
    pub fn coded_success(&self, rate: CodedRate, mpdu: Bytes, sinr_linear: f64, bits: u64) -> f64 {
        self.coded.success(rate, mpdu, sinr_linear, bits)
    }

    /// The mutual information of a constellation of `bits` bits, at most 12.
    pub fn information(&self, bits: u8) -> &Information {
        let place = usize::from(bits / 2).min(self.information.len() - 1);
        self.information[place].get_or_init(|| Information::new(if place == 0 { 1 } else { 2 * place as u8 }))
    }

    fn cck_table(&self) -> &Table {
        self.cck.get_or_init(|| {
            let symbols = SymbolErrors::new();
            Table::new(|energy| cck(&symbols, energy))
        })
    }

    fn ofdm_table(&self, constellation: u8, code: u8) -> Option<&Table> {
        let row = match constellation {
            1 => 0,
            2 => 1,
            4 => 2,
            6 => 3,
            _ => return None,
        };
        let slot = self.ofdm[row].get(usize::from(code).wrapping_sub(1))?;
        Some(slot.get_or_init(|| Table::new(|sinr| ofdm::hazard(constellation, code, sinr))))
    }
}

/// Independent bit errors with one probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlainBer {
    hazard: f64,
}

impl PlainBer {
    /// Each bit is wrong with probability `ber`.
    pub fn new(ber: Probability) -> Self {
        Self { hazard: -libm::log1p(-ber.get()) }
    }

    /// Probability that all of `bits` bits survive: `(1 - ber)^bits`.
    #[inline]
    pub fn success(&self, bits: u64) -> f64 {
        if bits == 0 { 1.0 } else { survival(self.hazard * bits as f64) }
    }
}

/// Minus the logarithm of the probability that a bit survives which is wrong with probability `ber`; differential
/// detection of nothing guesses, so a bound above one half is cut there.
fn hazard_of(ber: f64) -> f64 {
    -libm::log1p(-ber.min(0.5))
}

/// 1 Mbit/s: differential BPSK, exact (Proakis, 4th ed., 5.2-69).
fn dbpsk(sinr: f64) -> f64 {
    hazard_of(0.5 * libm::exp(-BANDWIDTH_OVER_BIT_RATE * sinr))
}

/// 2 Mbit/s: differential QPSK, the asymptotic form for large Eb/N0 (Ferrari and Corazza, Electronics Letters 40(20),
/// 2004).
fn dqpsk(sinr: f64) -> f64 {
    let x = 0.5 * BANDWIDTH_OVER_BIT_RATE * sinr;
    let scale = (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2);
    hazard_of(scale / libm::sqrt(x) * libm::exp(-(2.0 - SQRT_2) * x))
}

/// 5.5 and 11 Mbit/s at a symbol energy: a bit is a quarter of a 16-word symbol. A symbol of 11 Mbit/s is two of them
/// side by side, each right with 1 - SEP, so its eight bits come to the same.
fn cck(symbols: &SymbolErrors, energy: f64) -> f64 {
    -0.25 * libm::log1p(-symbols.probability(energy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_mac::phy::{HR_DSSS_RATES, OFDM_RATES, Rate};
    use airbraid_units::Db;
    use proptest::prelude::*;

    /// Bits of a 1500-byte packet with LLC, MAC header and FCS.
    const FRAME: u64 = 1536 * 8;

    fn modulations() -> Vec<Modulation> {
        HR_DSSS_RATES.iter().chain(&OFDM_RATES).map(|Rate { modulation, .. }| *modulation).collect()
    }
    fn per(rates: &ErrorRates, modulation: Modulation, db: f64, bits: u64) -> f64 {
        1.0 - rates.success(modulation, Db(db).to_linear(), bits)
    }
    /// The hazard by the formula, without a table.
    fn exact(symbols: &SymbolErrors, modulation: Modulation, sinr: f64) -> f64 {
        match modulation {
            Modulation::Dbpsk => dbpsk(sinr),
            Modulation::Dqpsk => dqpsk(sinr),
            Modulation::Cck4 => cck(symbols, sinr * CCK4_SYMBOL),
            Modulation::Cck8 => cck(symbols, sinr * CCK8_SYMBOL),
            Modulation::Ofdm { bits, code } => ofdm::hazard(bits, code, sinr),
        }
    }

    #[test]
    fn packet_error_rates_are_the_reference_values() {
        let rates = ErrorRates::new();
        // Printed with three digits: half a unit of the last.
        let cck = [(5.0, 0.999), (6.0, 0.731), (7.0, 0.145)];
        for (db, expected) in cck {
            let got = per(&rates, Modulation::Cck8, db, FRAME);
            assert!((got - expected).abs() <= 5.1e-4, "11 Mbit/s at {db} dB: {got}");
        }
        let nist = [(21.0, 1.0), (22.0, 0.495), (23.0, 0.032), (24.0, 0.001)];
        for (db, expected) in nist {
            let got = per(&rates, Modulation::Ofdm { bits: 6, code: 3 }, db, FRAME);
            assert!((got - expected).abs() <= 5.1e-4, "54 Mbit/s at {db} dB: {got}");
        }
    }

    #[test]
    fn tables_are_the_formulas_within_1e_4_of_the_packet_error_rate() {
        let (rates, symbols) = (ErrorRates::new(), SymbolErrors::new());
        let mut worst = 0.0f64;
        for modulation in modulations() {
            for step in 0..40_000 {
                let sinr = Db(-25.0 + 0.001_503 * f64::from(step)).to_linear();
                let hazard = exact(&symbols, modulation, sinr);
                for bits in [112, 1_000, FRAME] {
                    let expected = -libm::expm1(-hazard * bits as f64);
                    // Below 1e-9 the subtraction from 1 leaves too few digits to compare (and nobody would notice).
                    if expected > 1e-9 {
                        let error = (1.0 - rates.success(modulation, sinr, bits)) / expected - 1.0;
                        worst = worst.max(error.abs());
                        assert!(error.abs() < 1e-4, "{modulation:?} {sinr} {bits}: {error:e}");
                    }
                }
            }
        }
        println!("worst relative error: {worst:e}");
    }

    #[test]
    fn no_signal_is_no_success_and_a_strong_one_is_certain() {
        let rates = ErrorRates::new();
        for modulation in modulations() {
            for hopeless in [0.0, -1.0, f64::NAN, 1e-300, 1e-4] {
                assert_eq!(rates.success(modulation, hopeless, 112), 0.0, "{modulation:?} {hopeless}");
            }
            for strong in [1e4, 1e300, f64::INFINITY] {
                assert_eq!(rates.success(modulation, strong, 8 * 4095), 1.0, "{modulation:?} {strong}");
            }
            assert_eq!(rates.success(modulation, 1.0, 0), 1.0);
        }
        assert_eq!(rates.success(Modulation::Ofdm { bits: 3, code: 1 }, 1e9, 8), 0.0);
        assert_eq!(rates.success(Modulation::Ofdm { bits: 6, code: 0 }, 1e9, 8), 0.0);
    }

    #[test]
    fn slower_rates_carry_further() {
        let rates = ErrorRates::new();
        let needed = |modulation| {
            (0..600).map(|step| f64::from(step) * 0.1 - 20.0).find(|db| per(&rates, modulation, *db, FRAME) < 0.1)
        };
        for set in [&HR_DSSS_RATES[..], &[OFDM_RATES[0], OFDM_RATES[2], OFDM_RATES[4], OFDM_RATES[7]]] {
            let levels: Vec<Option<f64>> = set.iter().map(|rate| needed(rate.modulation)).collect();
            assert!(levels.windows(2).all(|pair| pair[0] < pair[1]), "{levels:?}");
        }
    }

    #[test]
    fn plain_bit_errors_are_the_power() {
        let ber = PlainBer::new(Probability::new(1e-5).unwrap());
        // systems.md 1.7: 11.56 % of 1536-byte frames.
        assert!((1.0 - ber.success(FRAME) - 0.1156).abs() < 5e-5);
        assert_eq!(PlainBer::new(Probability::NEVER).success(u64::MAX), 1.0);
        assert_eq!(PlainBer::new(Probability::ALWAYS).success(1), 0.0);
        assert_eq!(PlainBer::new(Probability::ALWAYS).success(0), 1.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn success_rises_with_sinr_and_falls_with_length(
            low in -30.0f64..40.0, more in 0.0f64..10.0, bits in 1u64..40_000, extra in 0u64..40_000,
        ) {
            let rates = ErrorRates::new();
            let (weak, strong) = (Db(low).to_linear(), Db(low + more).to_linear());
            for modulation in modulations() {
                let base = rates.success(modulation, weak, bits);
                prop_assert!((0.0..=1.0).contains(&base));
                prop_assert!(rates.success(modulation, strong, bits) >= base);
                prop_assert!(rates.success(modulation, weak, bits + extra) <= base);
            }
        }
    }
}
