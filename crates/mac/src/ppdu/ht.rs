//! HT: 802.11n, HT-mixed format (802.11-2020 clause 19).

use super::choice::Width;
use airbraid_units::Duration;

/// N_SD (table 19-6).
pub(super) const fn data_tones(width: Width) -> u64 {
    if matches!(width, Width::Mhz20) { 52 } else { 108 }
}

/// L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4, and 4 us an HT-LTF (19.4.3, table 19-6).
pub(super) fn preamble(streams: u8) -> Duration {
    Duration::from_micros(8 + 8 + 4 + 8 + 4 + 4 * training_symbols(streams))
}

/// Symbols of the long training field by space-time streams (tables 19-13 and 21-13; HE and EHT alike).
pub(super) const fn training_symbols(streams: u8) -> u64 {
    match streams {
        0 | 1 => 1,
        2 => 2,
        3 | 4 => 4,
        5 | 6 => 6,
        _ => 8,
    }
}

/// N_ES: a second encoder above 300 Mbit/s (19.5), by N_DBPS of a symbol of 4 us.
pub(super) const fn encoders(data_bits: u64) -> u64 {
    /// 300 Mbit/s for 4 us.
    const ONE_ENCODER_BITS_MAX: u64 = 1_200;
    if data_bits > ONE_ENCODER_BITS_MAX { 2 } else { 1 }
}
