//! HE: 802.11ax, single user (802.11ax-2021 clause 27). EHT shares its symbols, training fields and extension.

use super::choice::{Choice, Ltf, Padding, Width};
use super::ht::training_symbols;
use airbraid_units::Duration;

/// Data subcarriers N_SD of one RU over the whole width (27.5; 320 MHz: 802.11be-2024, 36.5).
pub(super) const fn data_tones(width: Width) -> u64 {
    match width {
        Width::Mhz20 => 234,
        Width::Mhz40 => 468,
        Width::Mhz80 => 980,
        Width::Mhz160 => 1_960,
        Width::Mhz320 => 3_920,
    }
}

/// N_SD,short: subcarriers of a segment, a quarter of a symbol (27.3.12.5; 320 MHz: 36.3.13).
pub(super) const fn segment_tones(width: Width) -> u64 {
    match width {
        Width::Mhz20 => 60,
        Width::Mhz40 => 120,
        Width::Mhz80 => 240,
        Width::Mhz160 => 492,
        Width::Mhz320 => 984,
    }
}

/// L-STF 8, L-LTF 8, L-SIG 4, RL-SIG 4, HE-SIG-A 8, HE-STF 4 and the HE-LTFs (27.4.3).
pub(super) fn preamble(choice: &Choice, ltf: Ltf) -> Duration {
    Duration::from_micros(8 + 8 + 4 + 4 + 8 + 4) + training(choice, ltf)
}

/// The long training field: its symbols have the guard interval of the data.
pub(super) fn training(choice: &Choice, ltf: Ltf) -> Duration {
    (ltf.time() + choice.guard_interval.time()) * training_symbols(choice.streams)
}

/// Nominal T_PE by nominal packet padding and pre-FEC padding factor 1 to 4 (27.3.13 and 36.3.14): the time that
/// the padded rest of the last symbol leaves to be asked for.
pub(super) fn packet_extension(choice: &Choice, factor: u64) -> Duration {
    /// The padded segments of the last symbol give the receiver 4 us each.
    const SEGMENT: Duration = Duration::from_micros(4);
    if choice.padding == Padding::Us0 {
        return Duration::ZERO;
    }
    choice.padding.time().saturating_sub(SEGMENT * (4 - factor))
}
