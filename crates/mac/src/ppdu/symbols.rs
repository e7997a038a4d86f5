//! The number of data symbols of a PPDU.
//!
//! HT and VHT fill whole symbols (19.3.11 and 21.3.10). HE and EHT know how many quarters of the last symbol carry
//! data: the pre-FEC padding factor (27.3.12.5 and 36.3.13).

use super::choice::{Choice, Coding, Format};
use super::mcs::{self, CodeRate};
use super::{he, ht, ldpc, vht};
use airbraid_units::Bytes;

/// The SERVICE field before the PSDU.
const SERVICE_BITS: u64 = 16;
/// Zeros that bring an encoder back to its first state.
const TAIL_BITS: u64 = 6;
/// Segments of a symbol of HE and EHT.
const SEGMENTS: u64 = 4;

/// Bits of one symbol over all streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SymbolBits {
    /// N_CBPS.
    pub coded: u64,
    /// N_DBPS, rounded down where it is no whole number (27.3.12.5).
    pub data: u64,
    /// N_CBPS,short and N_DBPS,short: those of a segment; zero in HT and VHT.
    coded_segment: u64,
    data_segment: u64,
    /// Tail bits of all encoders; LDPC has none.
    tail: u64,
    code: CodeRate,
}

/// Symbols of a PSDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub symbols: u64,
    /// The pre-FEC padding factor, 1 to 4: the segments of the last symbol that carry data.
    pub factor: u64,
    pub has_ldpc_extra: bool,
}

impl SymbolBits {
    pub(super) fn new(choice: &Choice, coding: Coding, tones: u64) -> Self {
        let (bits, code) = mcs::modulation(choice.mcs);
        let each_tone = u64::from(bits) * u64::from(choice.streams);
        let data_of = |coded: u64| coded * u64::from(code.numerator) / u64::from(code.denominator);
        let (coded, coded_segment) = (tones * each_tone, segment_tones(choice) * each_tone);
        let data = data_of(coded);
        let encoders = match choice.format {
            Format::Ht => ht::encoders(data),
            Format::Vht => vht::encoders(choice, coded, data),
            Format::He | Format::Eht => 1,
        };
        let tail = if coding == Coding::Bcc { TAIL_BITS * encoders } else { 0 };
        Self { coded, data, coded_segment, data_segment: data_of(coded_segment), tail, code }
    }

    /// The bits before the padding.
    fn needed(&self, psdu: Bytes) -> u64 {
        SERVICE_BITS + psdu.bits() + self.tail
    }
}

const fn segment_tones(choice: &Choice) -> u64 {
    if choice.format.has_packet_extension() { he::segment_tones(choice.width) } else { 0 }
}

/// Whole symbols of convolutional code (19.4.3, 21.4.3).
pub(super) fn bcc(bits: &SymbolBits, psdu: Bytes) -> Count {
    Count { symbols: bits.needed(psdu).div_ceil(bits.data), factor: SEGMENTS, has_ldpc_extra: false }
}

/// Whole symbols of LDPC (19.3.11.7.5); VHT encodes the padding up to the end of the symbol, too (21.3.10.5.4).
pub(super) fn ldpc(bits: &SymbolBits, psdu: Bytes, is_padded: bool) -> Count {
    let needed = bits.needed(psdu);
    let symbols = needed.div_ceil(bits.data);
    let payload = if is_padded { symbols * bits.data } else { needed };
    let has_ldpc_extra = ldpc::needs_extra(payload, symbols * bits.coded, bits.code);
    Count { symbols: symbols + u64::from(has_ldpc_extra), factor: SEGMENTS, has_ldpc_extra }
}

/// Symbols of HE and EHT with the segments of the last one (27.3.12.5).
pub(super) fn segmented(bits: &SymbolBits, coding: Coding, psdu: Bytes) -> Count {
    let needed = bits.needed(psdu);
    let symbols = needed.div_ceil(bits.data);
    let factor = match needed % bits.data {
        0 => SEGMENTS,
        excess => excess.div_ceil(bits.data_segment).min(SEGMENTS),
    };
    let last = |segment: u64, whole: u64| if factor < SEGMENTS { factor * segment } else { whole };
    let payload = (symbols - 1) * bits.data + last(bits.data_segment, bits.data);
    let available = (symbols - 1) * bits.coded + last(bits.coded_segment, bits.coded);
    let has_ldpc_extra = coding == Coding::Ldpc && ldpc::needs_extra(payload, available, bits.code);
    match (has_ldpc_extra, factor) {
        (false, _) => Count { symbols, factor, has_ldpc_extra },
        (true, SEGMENTS) => Count { symbols: symbols + 1, factor: 1, has_ldpc_extra },
        (true, _) => Count { symbols, factor: factor + 1, has_ldpc_extra },
    }
}
