//! The parts of a mode as a person chooses them. Whether the standard has their combination, `refusal.rs` decides.

use airbraid_units::{Bytes, Duration};

/// A PPDU format, named by its amendment, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// High throughput, HT-mixed format: 802.11n.
    Ht,
    /// Very high throughput: 802.11ac.
    Vht,
    /// High efficiency, single user: 802.11ax.
    He,
    /// Extremely high throughput, an EHT MU PPDU for one user: 802.11be.
    Eht,
}

impl Format {
    pub const ALL: [Self; 4] = [Self::Ht, Self::Vht, Self::He, Self::Eht];

    /// The name of its amendment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ht => "802.11n",
            Self::Vht => "802.11ac",
            Self::He => "802.11ax",
            Self::Eht => "802.11be",
        }
    }
    /// Whether data end in a segment of a symbol and a PE field follows.
    pub(super) const fn has_packet_extension(self) -> bool {
        matches!(self, Self::He | Self::Eht)
    }
    /// T_DFT: a data symbol without its guard interval (tables 19-6, 21-5 and 27-12; EHT's is HE's).
    pub(super) const fn useful_symbol(self) -> Duration {
        Duration::from_nanos(if self.has_packet_extension() { 12_800 } else { 3_200 })
    }
    /// aPSDUMaxLength (19.4.4, 21.4.4, 27.4.4, 36.4.4).
    pub const fn psdu_max(self) -> Bytes {
        Bytes::new(match self {
            Self::Ht => 65_535,
            Self::Vht => 4_692_480,
            Self::He => 6_500_631,
            Self::Eht => 15_523_200,
        })
    }
}

/// The width of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    Mhz20,
    Mhz40,
    Mhz80,
    /// 160 MHz, or 80+80 MHz.
    Mhz160,
    Mhz320,
}

impl Width {
    pub const ALL: [Self; 5] = [Self::Mhz20, Self::Mhz40, Self::Mhz80, Self::Mhz160, Self::Mhz320];

    pub const fn mhz(self) -> u32 {
        match self {
            Self::Mhz20 => 20,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
            Self::Mhz160 => 160,
            Self::Mhz320 => 320,
        }
    }
}

/// The band of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    Ghz2_4,
    Ghz5,
    Ghz6,
}

impl Band {
    pub const ALL: [Self; 3] = [Self::Ghz2_4, Self::Ghz5, Self::Ghz6];

    /// The name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ghz2_4 => "2.4 GHz",
            Self::Ghz5 => "5 GHz",
            Self::Ghz6 => "6 GHz",
        }
    }
}

/// The guard interval before each data symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardInterval {
    /// The short one of HT and VHT.
    Ns400,
    /// The long one of HT and VHT, the shortest of HE and EHT.
    Ns800,
    Ns1600,
    Ns3200,
}

impl GuardInterval {
    pub const ALL: [Self; 4] = [Self::Ns400, Self::Ns800, Self::Ns1600, Self::Ns3200];

    pub const fn time(self) -> Duration {
        Duration::from_nanos(match self {
            Self::Ns400 => 400,
            Self::Ns800 => 800,
            Self::Ns1600 => 1_600,
            Self::Ns3200 => 3_200,
        })
    }
}

/// The forward error correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// The binary convolutional code, with 6 tail bits an encoder.
    Bcc,
    /// Low-density parity check, whose codewords can ask for one more symbol.
    Ldpc,
}

impl Coding {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bcc => "bcc",
            Self::Ldpc => "ldpc",
        }
    }
}

/// The size of a symbol of the long training field, without its guard interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ltf {
    /// 3.2 us.
    X1,
    /// 6.4 us.
    X2,
    /// 12.8 us.
    X4,
}

impl Ltf {
    pub const ALL: [Self; 3] = [Self::X1, Self::X2, Self::X4];

    pub const fn name(self) -> &'static str {
        match self {
            Self::X1 => "1x",
            Self::X2 => "2x",
            Self::X4 => "4x",
        }
    }
    pub(super) const fn time(self) -> Duration {
        Duration::from_nanos(match self {
            Self::X1 => 3_200,
            Self::X2 => 6_400,
            Self::X4 => 12_800,
        })
    }
}

/// Nominal packet padding: the time that the receiver has asked for to decode the last symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    Us0,
    Us8,
    Us16,
    /// EHT only.
    Us20,
}

impl Padding {
    pub const ALL: [Self; 4] = [Self::Us0, Self::Us8, Self::Us16, Self::Us20];

    pub const fn time(self) -> Duration {
        Duration::from_micros(match self {
            Self::Us0 => 0,
            Self::Us8 => 8,
            Self::Us16 => 16,
            Self::Us20 => 20,
        })
    }
}

/// The text that durations follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The standard.
    Standard,
    /// ns-3.44, which departs from the standard in four points (docs/models/wifi-phy.md), to compare with its results.
    Ns3,
}

/// A request for a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub format: Format,
    pub band: Band,
    pub width: Width,
    /// The index of modulation and code rate for each stream; HT's MCS 8 to 31 are its MCS 0 to 7 on more streams.
    pub mcs: u8,
    /// Spatial streams, each with a space-time stream of its own.
    pub streams: u8,
    pub guard_interval: GuardInterval,
    /// `None`: BCC where the standard allows it.
    pub coding: Option<Coding>,
    /// `None`: 4x with the guard interval of 3.2 us, else 2x.
    pub ltf: Option<Ltf>,
    pub padding: Padding,
    pub rules: Rules,
}

impl Choice {
    /// The simplest mode of `format`: 20 MHz in 5 GHz, MCS 0, one stream, the guard interval of 0.8 us.
    pub const fn new(format: Format) -> Self {
        Self {
            format,
            band: Band::Ghz5,
            width: Width::Mhz20,
            mcs: 0,
            streams: 1,
            guard_interval: GuardInterval::Ns800,
            coding: None,
            ltf: None,
            padding: Padding::Us0,
            rules: Rules::Standard,
        }
    }
}
