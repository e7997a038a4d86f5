//! Airtime of single-user PPDUs of HT, VHT, HE and EHT: 802.11n, ac, ax and be. Arithmetic in whole nanoseconds, never
//! a state.
//!
//! IEEE 802.11-2020 clauses 19 (HT) and 21 (VHT), 802.11ax-2021 clause 27 (HE), 802.11be-2024 clause 36 (EHT). All
//! four are one equation: a preamble, a whole number of data symbols, and an extension. The older PHYs are in
//! [`crate::phy`].

mod choice;
mod eht;
mod he;
mod ht;
mod ldpc;
mod mcs;
mod ns3;
mod refusal;
mod symbols;
#[cfg(test)]
mod tests;
mod vht;

pub use choice::{Band, Choice, Coding, Format, GuardInterval, Ltf, Padding, Rules, Width};
pub use mcs::CodeRate;
pub use refusal::Refusal;

use airbraid_units::{BitRate, Bytes, Duration};
use symbols::SymbolBits;

/// aPPDUMaxTime: the longest PPDU (802.11-2020 tables 19-25 and 21-29, 802.11ax-2021 27.4.4).
pub const PPDU_TIME_MAX: Duration = Duration::from_micros(5_484);
/// Signal extension in 2.4 GHz, where SIFS is 10 us and decoders need 16 us (19.4.3 and 27.4.3).
pub const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);
/// A symbol with the long guard interval of 802.11a, which older stations count in (table 17-5).
const LEGACY_SYMBOL: Duration = Duration::from_micros(4);

/// A way to send a PSDU that the standard has: format, width, MCS, streams and what else decides its airtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    choice: Choice,
    coding: Coding,
    ltf: Ltf,
    preamble: Duration,
    symbol: Duration,
    bits: SymbolBits,
}

/// The parts of a PPDU in the order in which they are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// Training and signal fields before the data.
    pub preamble: Duration,
    /// Data symbols.
    pub symbols: u64,
    /// Whether LDPC asked for one more symbol (HT, VHT) or symbol segment (HE, EHT) (19.3.11.7.5).
    pub has_ldpc_extra: bool,
    /// Data symbols and, with a short guard interval, the rest of the last 4 us (19.4.3).
    pub data: Duration,
    /// The PE field of HE and EHT (27.3.13).
    pub packet_extension: Duration,
    pub signal_extension: Duration,
}

impl Airtime {
    /// TXTIME.
    pub fn total(&self) -> Duration {
        self.preamble + self.data + self.packet_extension + self.signal_extension
    }
}

impl Mode {
    /// The mode of `choice`.
    ///
    /// # Errors
    /// [`Refusal`] names the part that the standard does not have, and what is near.
    pub fn new(choice: Choice) -> Result<Self, Refusal> {
        refusal::check_common(&choice)?;
        let coding = refusal::coding(&choice)?;
        let ltf = refusal::ltf(&choice)?;
        let tones = match choice.format {
            Format::Ht => ht::data_tones(choice.width),
            Format::Vht => vht::data_tones(&choice)?,
            Format::He | Format::Eht => he::data_tones(choice.width),
        };
        let preamble = match (choice.rules, choice.format) {
            (Rules::Ns3, _) => ns3::preamble(&choice),
            (Rules::Standard, Format::Ht) => ht::preamble(choice.streams),
            (Rules::Standard, Format::Vht) => vht::preamble(choice.streams),
            (Rules::Standard, Format::He) => he::preamble(&choice, ltf),
            (Rules::Standard, Format::Eht) => eht::preamble(&choice, ltf),
        };
        let symbol = choice.guard_interval.time() + choice.format.useful_symbol();
        Ok(Self { choice, coding, ltf, preamble, symbol, bits: SymbolBits::new(&choice, coding, tones) })
    }

    /// The request that this mode answers.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }
    pub fn coding(&self) -> Coding {
        self.coding
    }
    /// Size of the training fields' symbols; HT and VHT have one size only.
    pub fn ltf(&self) -> Ltf {
        self.ltf
    }
    /// Everything before the first data symbol.
    pub fn preamble(&self) -> Duration {
        self.preamble
    }
    /// A data symbol with its guard interval.
    pub fn symbol(&self) -> Duration {
        self.symbol
    }
    /// N_DBPS: data bits of a symbol.
    pub fn bits_per_symbol(&self) -> u64 {
        self.bits.data
    }
    /// Coded bits a subcarrier and stream, and the code rate, as the error models take them.
    pub fn modulation(&self) -> (u8, CodeRate) {
        mcs::modulation(self.choice.mcs)
    }

    /// The data rate that the standard's tables print, which rounds no symbol.
    pub fn data_rate(&self) -> BitRate {
        let (_, code) = self.modulation();
        let bits = self.bits.coded * u64::from(code.numerator) * 1_000_000_000;
        let time = u64::from(code.denominator) * self.symbol.as_nanos();
        BitRate::from_bps(bits / time)
    }

    /// TXTIME of a PSDU.
    pub fn airtime(&self, psdu: Bytes) -> Duration {
        self.parts(psdu).total()
    }

    /// TXTIME of a PSDU by its parts.
    pub fn parts(&self, psdu: Bytes) -> Airtime {
        let is_segmented = self.choice.format.has_packet_extension() && self.choice.rules == Rules::Standard;
        let count = match (is_segmented, self.coding) {
            (true, _) => symbols::segmented(&self.bits, self.coding, psdu),
            (false, Coding::Bcc) => symbols::bcc(&self.bits, psdu),
            (false, Coding::Ldpc) => symbols::ldpc(&self.bits, psdu, self.choice.format == Format::Vht),
        };
        let data = self.symbol * count.symbols;
        let is_short = self.choice.guard_interval == GuardInterval::Ns400 && self.choice.rules == Rules::Standard;
        let signal_extension = if self.choice.band == Band::Ghz2_4 { SIGNAL_EXTENSION } else { Duration::ZERO };
        Airtime {
            preamble: self.preamble,
            symbols: count.symbols,
            has_ldpc_extra: count.has_ldpc_extra,
            data: if is_short { whole_legacy_symbols(data) } else { data },
            packet_extension: if is_segmented {
                he::packet_extension(&self.choice, count.factor)
            } else {
                Duration::ZERO
            },
            signal_extension,
        }
    }

    /// TXTIME of a PSDU by its parts, if the PHY may send it.
    ///
    /// # Errors
    /// The PSDU is empty, above aPSDUMaxLength, or its PPDU above [`PPDU_TIME_MAX`].
    pub fn checked_parts(&self, psdu: Bytes) -> Result<Airtime, Refusal> {
        let most = self.choice.format.psdu_max();
        if psdu == Bytes::ZERO || psdu > most {
            return Err(refusal::size(self.choice.format, psdu, most));
        }
        let parts = self.parts(psdu);
        if parts.total() > PPDU_TIME_MAX {
            return Err(refusal::time(parts.total(), self.longest_psdu()));
        }
        Ok(parts)
    }

    /// The longest PSDU whose PPDU lasts at most [`PPDU_TIME_MAX`].
    pub fn longest_psdu(&self) -> Bytes {
        self.longest_psdu_within(PPDU_TIME_MAX)
    }

    /// The longest PSDU whose PPDU lasts at most `span`; zero if there is none.
    pub fn longest_psdu_within(&self, span: Duration) -> Bytes {
        let (mut fits, mut too_long) = (0, self.choice.format.psdu_max().as_u64() + 1);
        while too_long - fits > 1 {
            let middle = fits.midpoint(too_long);
            if self.airtime(Bytes::new(middle)) <= span { fits = middle } else { too_long = middle }
        }
        Bytes::new(fits)
    }
}

/// The time of the symbols of 4 us that cover `data`: with a short guard interval a PPDU ends on one of them (19.4.3
/// and 21.4.3), because the length in L-SIG counts them.
fn whole_legacy_symbols(data: Duration) -> Duration {
    LEGACY_SYMBOL * data.as_nanos().div_ceil(LEGACY_SYMBOL.as_nanos())
}
