//! EHT: 802.11be, an EHT MU PPDU that is sent to one user (802.11be-2024 clause 36).

use super::choice::{Choice, Ltf};
use super::he;
use airbraid_units::Duration;

/// EHT-SIG for one user without OFDMA: common field 20, user field 22, CRC 4, tail 6 (36.3.12.8).
const SIG_BITS: u64 = 20 + 22 + 4 + 6;
/// Data bits of a symbol of EHT-SIG at its MCS 0: 52 subcarriers, BPSK, rate 1/2.
const SIG_SYMBOL_BITS: u64 = 26;

/// L-STF 8, L-LTF 8, L-SIG 4, RL-SIG 4, U-SIG 8, EHT-SIG, EHT-STF 4 and the EHT-LTFs (36.4.3).
pub(super) fn preamble(choice: &Choice, ltf: Ltf) -> Duration {
    let signal = Duration::from_micros(4) * signal_symbols(choice.mcs);
    Duration::from_micros(8 + 8 + 4 + 4 + 8 + 4) + signal + he::training(choice, ltf)
}

/// Symbols of EHT-SIG, which is sent as robustly as the data: at its MCS 0 with data at MCS 0, else at MCS 1 or 3,
/// where one symbol holds it.
fn signal_symbols(mcs: u8) -> u64 {
    SIG_BITS.div_ceil(if mcs == 0 { SIG_SYMBOL_BITS } else { 2 * SIG_SYMBOL_BITS })
}
