//! Preambles as ns-3.44 counts them, which differ from the standard's in VHT-SIG-B, in the long training fields of HE
//! and EHT, and in EHT-SIG. For comparison with its published durations only.

use super::choice::{Choice, Format, Width};
use super::ht::{self, training_symbols};
use super::mcs;
use airbraid_units::Duration;

/// A symbol of the long training field of HE and EHT, whatever the guard interval.
const TRAINING_SYMBOL: Duration = Duration::from_micros(8);
/// The highest MCS of EHT-SIG.
const SIG_MCS_MAX: u8 = 5;
/// Subcarriers of a symbol of EHT-SIG.
const SIG_TONES: u64 = 52;

pub(super) fn preamble(choice: &Choice) -> Duration {
    let training = TRAINING_SYMBOL * training_symbols(choice.streams);
    let us = Duration::from_micros;
    match choice.format {
        // VHT-SIG-B is missing.
        Format::Ht | Format::Vht => ht::preamble(choice.streams),
        Format::He => us(36) + training,
        Format::Eht => us(36) + us(4) * signal_symbols(choice) + training,
    }
}

/// Symbols of EHT-SIG, which has the fields of HE-SIG-B: CRC and tail 10 bit, 8 bit for each 40 MHz, a bit above
/// 40 MHz, and 31 for the user.
fn signal_symbols(choice: &Choice) -> u64 {
    let allocation = match choice.width {
        Width::Mhz20 | Width::Mhz40 => 8,
        wide => 8 * u64::from(wide.mhz() / 40) + 1,
    };
    let (bits, code) = mcs::modulation(choice.mcs.min(SIG_MCS_MAX));
    let symbol_bits = SIG_TONES * u64::from(bits) * u64::from(code.numerator) / u64::from(code.denominator);
    (10 + allocation + 31).div_ceil(symbol_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One, two, four and four training symbols for one to four streams.
    #[test]
    fn preambles_grow_with_streams_and_with_eht_sig() {
        let time = |choice: Choice| preamble(&choice).as_nanos() / 1_000;
        let of_streams = |format| [1, 2, 3, 4].map(|streams| time(Choice { streams, ..Choice::new(format) }));
        assert_eq!(of_streams(Format::He), [44, 52, 68, 68]);
        // EHT-SIG at MCS 0: 49 bits in symbols of 26.
        assert_eq!(of_streams(Format::Eht), [52, 60, 76, 76]);
        let wide = |mcs, width| time(Choice { mcs, width, ..Choice::new(Format::Eht) });
        // 8 bits for each 40 MHz and one more: 58, 74 and 106.
        assert_eq!(
            [Width::Mhz40, Width::Mhz80, Width::Mhz160, Width::Mhz320].map(|width| wide(0, width)),
            [52, 56, 56, 64]
        );
        // A symbol has 52 bits at MCS 1, and 208 at MCS 5, above which it stays.
        assert_eq!([1, 5, 11].map(|mcs| wide(mcs, Width::Mhz320)), [56, 48, 48]);
    }
}
