//! VHT: 802.11ac, single user (802.11-2020 clause 21).

use super::choice::{Choice, Width};
use super::ht::training_symbols;
use super::mcs::{self, CodeRate};
use super::refusal::{self, Refusal};
use airbraid_units::Duration;

/// N_DBPS that one encoder takes: 540 Mbit/s for 4 us, the limit behind N_ES of tables 21-30 to 21-61.
const ENCODER_BITS_MAX: u64 = 2_160;

/// N_SD (table 21-5).
///
/// # Errors
/// The combination of MCS, width and streams is one that 21.5 leaves out.
pub(super) fn data_tones(choice: &Choice) -> Result<u64, Refusal> {
    if is_left_out(choice.width, choice.mcs, choice.streams) {
        return Err(refusal::left_out(choice, is_left_out));
    }
    Ok(tones(choice.width))
}

const fn tones(width: Width) -> u64 {
    match width {
        Width::Mhz20 => 52,
        Width::Mhz40 => 108,
        Width::Mhz80 => 234,
        Width::Mhz160 | Width::Mhz320 => 468,
    }
}

/// Whether tables 21-30 to 21-61 have no such line: the bits of a symbol would not divide among encoders.
const fn is_left_out(width: Width, mcs: u8, streams: u8) -> bool {
    matches!(
        (width, mcs, streams),
        (Width::Mhz20, 9, 1 | 2 | 4 | 5 | 7 | 8)
            | (Width::Mhz80, 6, 3 | 7)
            | (Width::Mhz80, 9, 6)
            | (Width::Mhz160, 9, 3)
    )
}

/// L-STF 8, L-LTF 8, L-SIG 4, VHT-SIG-A 8, VHT-STF 4, 4 us a VHT-LTF, VHT-SIG-B 4 (21.4.3, table 21-5).
pub(super) fn preamble(streams: u8) -> Duration {
    Duration::from_micros(8 + 8 + 4 + 8 + 4 + 4 * training_symbols(streams) + 4)
}

/// N_ES: the fewest encoders that take the rate and among which the bits of a symbol divide in whole blocks of the
/// punctured code (tables 21-30 to 21-61, 21.3.10.5.2).
pub(super) fn encoders(choice: &Choice, coded_bits: u64, data_bits: u64) -> u64 {
    let (_, CodeRate { numerator, denominator }) = mcs::modulation(choice.mcs);
    let divides = |n: u64| {
        coded_bits.is_multiple_of(n * u64::from(denominator)) && data_bits.is_multiple_of(n * u64::from(numerator))
    };
    let fewest = data_bits.div_ceil(ENCODER_BITS_MAX);
    /// The most of table 21-61.
    const ENCODERS_MAX: u64 = 12;
    (fewest..=ENCODERS_MAX).find(|n| divides(*n)).unwrap_or(fewest)
}
