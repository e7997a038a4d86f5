//! Survival of coded bits of HT, VHT, HE and EHT: link-level curves of each MCS, scaled by length.
//!
//! The curves are simulated ones ([`figures`]). A packet of n bits survives where all do, with n / n_ref of the
//! hazard of the reference packet (IEEE 802.11-14/0803r1), so parts of a packet with SINRs of their own multiply. The
//! convolutional code has two reference lengths, because its errors come in bursts, LDPC one. 4096-QAM was not
//! simulated: its curves are those of 1024-QAM with the same code, moved to equal mutual information a bit
//! ([`information`]). Validity and what is left out: `docs/models/wifi-errors.md`.

mod figures;
pub mod information;

use super::table::Table;
use airbraid_mac::phy::Modulation;
use airbraid_mac::ppdu::Coding;
use airbraid_units::Bytes;
use figures::{BCC_32, BCC_1458, BCC_STEP, Curve, LDPC_1458, LDPC_STEP};
use std::sync::OnceLock;

/// MCSs that have a curve: 0 to 13.
pub const MCS_COUNT: usize = 14;
/// An MPDU shorter than this is scaled from 32 byte, others from 1458 byte (IEEE 802.11-14/0803r1; BCC only).
const SHORT: Bytes = Bytes::new(400);
/// Points with fewer than 4 errors, or fewer than 4 successes, among 40,000 packets do not tell a slope: 1e-4.
const COUNTED: core::ops::RangeInclusive<f64> = 1e-4..=1.0 - 1e-4;
/// SNR that 4096-QAM needs above 1024-QAM for equal mutual information a bit, at the 10 % point of MCS 10 (rate 3/4)
/// \[dB\]; the test `shifts_of_4096_qam_are_those_of_its_information` computes it.
const SHIFT_12: f64 = 5.14;
/// The same for MCS 11 (rate 5/6).
const SHIFT_13: f64 = 5.45;

/// Modulation and code of an MPDU as its errors depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodedRate {
    pub mcs: u8,
    pub coding: Coding,
}

impl CodedRate {
    /// The curve of a non-HT rate, which is that of the MCS with its constellation and code; BPSK 3/4 has none.
    pub fn of_non_ht(modulation: Modulation) -> Option<Self> {
        let Modulation::Ofdm { bits, code } = modulation else { return None };
        let mcs = match (bits, code) {
            (1, 1) => 0,
            (2, 1) => 1,
            (2, 3) => 2,
            (4, 1) => 3,
            (4, 3) => 4,
            (6, 2) => 5,
            (6, 3) => 6,
            _ => return None,
        };
        Some(Self { mcs, coding: Coding::Bcc })
    }

    /// The SINR at which a tenth of packets of 1458 byte is lost \[dB\].
    pub fn needed_db(self) -> f64 {
        let reference = if self.coding == Coding::Bcc { Reference::BccLong } else { Reference::Ldpc };
        let hazard = reference.hazard(self.mcs);
        let is_enough = |db: f64| hazard(libm::pow(10.0, 0.1 * db)) * 1_458.0 * 8.0 < -libm::log(0.9);
        let (mut low, mut high) = (-20.0, 60.0);
        while high - low > 1e-3 {
            let middle = 0.5 * (low + high);
            if is_enough(middle) { high = middle } else { low = middle }
        }
        high
    }
}

/// The curves that a run has asked for; each is tabulated at its first use.
#[derive(Clone, Debug, Default)]
pub struct CodedRates {
    short: [OnceLock<Table>; MCS_COUNT],
    bcc: [OnceLock<Table>; MCS_COUNT],
    ldpc: [OnceLock<Table>; MCS_COUNT],
}

impl CodedRates {
    /// Probability that `bits` bits of an MPDU of `mpdu` survive at a linear SINR a subcarrier. An MCS that no standard
    /// has gives 0.
    #[inline]
    pub fn success(&self, rate: CodedRate, mpdu: Bytes, sinr: f64, bits: u64) -> f64 {
        let (tables, kind) = match rate.coding {
            Coding::Ldpc => (&self.ldpc, Reference::Ldpc),
            Coding::Bcc if mpdu < SHORT => (&self.short, Reference::BccShort),
            Coding::Bcc => (&self.bcc, Reference::BccLong),
        };
        let Some(slot) = tables.get(usize::from(rate.mcs)) else { return 0.0 };
        slot.get_or_init(|| Table::new(kind.hazard(rate.mcs))).success(sinr, bits)
    }
}

/// The reference packet of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reference {
    BccShort,
    BccLong,
    Ldpc,
}

/// A curve as it is read for an MCS.
struct Reading {
    curve: &'static Curve,
    /// Distance of its points \[dB\].
    step: f64,
    /// The SNR by which it is moved \[dB\].
    shift: f64,
    /// Bits of its packets.
    bits: f64,
}

impl Reference {
    /// BCC ends at MCS 9 in every standard; above it LDPC's curve stands in.
    fn reading(self, mcs: u8) -> Reading {
        let (place, shift) = match mcs {
            12 => (10, SHIFT_12),
            13.. => (11, SHIFT_13),
            _ => (usize::from(mcs), 0.0),
        };
        let (curve, step, bytes) = match self {
            Self::BccShort if place < BCC_32.len() => (&BCC_32[place], BCC_STEP, 32.0),
            Self::BccLong if place < BCC_1458.len() => (&BCC_1458[place], BCC_STEP, 1_458.0),
            _ => (&LDPC_1458[place], LDPC_STEP, 1_458.0),
        };
        Reading { curve, step, shift, bits: 8.0 * bytes }
    }

    /// The hazard of one bit over the linear SINR: its logarithm is linear in decibels between the points, and goes on
    /// straight beyond them.
    fn hazard(self, mcs: u8) -> impl Fn(f64) -> f64 {
        let Reading { curve, step, shift, bits } = self.reading(mcs);
        let measured = (0u8..).zip(curve.errors).filter(|(_, error)| COUNTED.contains(error));
        let points: Vec<(f64, f64)> = measured
            .map(|(place, error)| {
                let db = curve.first + step * f64::from(place) + shift;
                (db, libm::log(-libm::log1p(-error) / bits))
            })
            .collect();
        move |sinr| {
            let db = 10.0 * libm::log10(sinr);
            let right = points.partition_point(|point| point.0 < db).clamp(1, points.len() - 1);
            let ((x, y), (far, there)) = (points[right - 1], points[right]);
            libm::exp(y + (there - y) * (db - x) / (far - x))
        }
    }
}

#[cfg(test)]
mod tests;
