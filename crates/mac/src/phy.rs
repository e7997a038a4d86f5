//! The properties of a PHY that a MAC needs: slot, interframe spaces, rates, and airtimes of frames.
//!
//! IEEE 802.11-2020: clause 15 (DSSS), 16 (HR/DSSS, "802.11b"), 17 (OFDM, "802.11a"), 18 (ERP, "802.11g"); the FHSS
//! set is the one that Bianchi 2000 computes with. Frame times are exact to the nanosecond where the standard gives
//! whole microseconds, and rounded up at 5.5 and 11 Mbit/s.

use airbraid_units::{BitRate, Bytes, Duration};

/// A PHY of the standard, by the name that its amendment had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// HR/DSSS in 2.4 GHz: 1, 2, 5.5 and 11 Mbit/s.
    Dot11b,
    /// OFDM in 5 GHz: 6 to 54 Mbit/s.
    Dot11a,
    /// ERP-OFDM in 2.4 GHz: as 802.11a with a signal extension.
    Dot11g,
    /// Frequency hopping at 1 Mbit/s with the constants of Bianchi 2000, Table II.
    Fhss,
}

/// Modulation and coding of one rate; the error models go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// Differential BPSK with Barker spreading, 1 Mbit/s.
    Dbpsk,
    /// Differential QPSK with Barker spreading, 2 Mbit/s.
    Dqpsk,
    /// Complementary code keying with 4 bits a symbol, 5.5 Mbit/s.
    Cck4,
    /// Complementary code keying with 8 bits a symbol, 11 Mbit/s.
    Cck8,
    /// OFDM with this constellation (bits a subcarrier: 1, 2, 4 or 6) and convolutional code rate `b/(b+1)` (b: 1 to
    /// 3).
    Ofdm {
        /// Coded bits a subcarrier.
        bits: u8,
        /// `b` of the code rate b/(b+1).
        code: u8,
    },
}

impl Modulation {
    /// Whether it is OFDM, which stations of 802.11b do not hear; otherwise DSSS, CCK or frequency hopping.
    #[inline]
    pub const fn is_ofdm(self) -> bool {
        matches!(self, Self::Ofdm { .. })
    }
}

/// One rate of a PHY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bits a second of the PSDU.
    pub bit_rate: BitRate,
    pub modulation: Modulation,
}

/// The preamble of DSSS and CCK; the other PHYs have one only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preamble {
    /// 144 + 48 us.
    #[default]
    Long,
    /// 72 + 24 us; never used at 1 Mbit/s (16.2.2.3).
    Short,
}

const fn rate(kbps: u64, modulation: Modulation) -> Rate {
    Rate { bit_rate: BitRate::from_kbps(kbps), modulation }
}

/// Rates of HR/DSSS, slowest first (16.2.3.5).
pub const HR_DSSS_RATES: [Rate; 4] = [
    rate(1_000, Modulation::Dbpsk),
    rate(2_000, Modulation::Dqpsk),
    rate(5_500, Modulation::Cck4),
    rate(11_000, Modulation::Cck8),
];
/// Rates of OFDM with 20 MHz channel spacing, slowest first (Table 17-4).
pub const OFDM_RATES: [Rate; 8] = [
    rate(6_000, Modulation::Ofdm { bits: 1, code: 1 }),
    rate(9_000, Modulation::Ofdm { bits: 1, code: 3 }),
    rate(12_000, Modulation::Ofdm { bits: 2, code: 1 }),
    rate(18_000, Modulation::Ofdm { bits: 2, code: 3 }),
    rate(24_000, Modulation::Ofdm { bits: 4, code: 1 }),
    rate(36_000, Modulation::Ofdm { bits: 4, code: 3 }),
    rate(48_000, Modulation::Ofdm { bits: 6, code: 2 }),
    rate(54_000, Modulation::Ofdm { bits: 6, code: 3 }),
];
/// The rate of the FHSS set; its error model is that of DBPSK.
pub const FHSS_RATES: [Rate; 1] = [rate(1_000, Modulation::Dbpsk)];

impl Standard {
    /// The rates, slowest first.
    pub const fn rates(self) -> &'static [Rate] {
        match self {
            Self::Dot11b => &HR_DSSS_RATES,
            Self::Dot11a | Self::Dot11g => &OFDM_RATES,
            Self::Fhss => &FHSS_RATES,
        }
    }
    /// The rate of `bit_rate`, if the PHY has it.
    pub fn rate(self, bit_rate: BitRate) -> Option<Rate> {
        self.rates().iter().copied().find(|r| r.bit_rate == bit_rate)
    }
}

/// A PHY with its timing, as the MAC needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phy {
    pub standard: Standard,
    /// Long or short preamble of DSSS and CCK.
    pub preamble: Preamble,
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// The part of the slot before its end at which a station is committed to transmit: aRxTxTurnaroundTime.
    pub turnaround: Duration,
    /// aPHY-RX-START-Delay: from the first energy of a frame to PHY-RXSTART.indication.
    pub rx_start_delay: Duration,
}

impl Phy {
    /// The PHY of `standard` with the timing of 802.11-2020 (tables 15-6, 16-4, 17-21, 18-5), short slot for ERP.
    pub const fn new(standard: Standard, preamble: Preamble) -> Self {
        let us = Duration::from_micros;
        let (slot, sifs, turnaround, rx_start_delay) = match standard {
            Standard::Dot11b => {
                let rx_start = match preamble {
                    Preamble::Long => us(192),
                    Preamble::Short => us(96),
                };
                (us(20), us(10), us(5), rx_start)
            }
            Standard::Dot11a => (us(9), us(16), us(2), us(20)),
            Standard::Dot11g => (us(9), us(10), us(2), us(20)),
            Standard::Fhss => (us(50), us(28), us(20), us(128)),
        };
        Self { standard, preamble, slot, sifs, turnaround, rx_start_delay }
    }

    /// DIFS = SIFS + 2 slots (10.3.2.3.5).
    pub fn difs(&self) -> Duration {
        self.sifs + self.slot * 2
    }

    /// Airtime of a PSDU of `size` at `rate`, with preamble and PHY header.
    pub fn frame_time(&self, rate: Rate, size: Bytes) -> Duration {
        let us = Duration::from_micros;
        match self.standard {
            Standard::Dot11b => self.dsss_time(rate, size),
            Standard::Dot11a => ofdm_time(rate, size),
            // 18.3.2.4: 6 us of signal extension follow each ERP-OFDM frame.
            Standard::Dot11g if rate.modulation.is_ofdm() => ofdm_time(rate, size) + us(6),
            // 18.1.2: an ERP station has the rates of HR/DSSS, too.
            Standard::Dot11g => self.dsss_time(rate, size),
            // Bianchi 2000, Table II: a PHY header of 128 bit at 1 Mbit/s.
            Standard::Fhss => us(128) + rate.bit_rate.time_for(size),
        }
    }

    /// TXTIME of DSSS and HR/DSSS, with the fraction of a microsecond.
    fn dsss_time(&self, rate: Rate, size: Bytes) -> Duration {
        let short = self.preamble == Preamble::Short && rate.modulation != Modulation::Dbpsk;
        Duration::from_micros(if short { 96 } else { 192 }) + rate.bit_rate.time_for(size)
    }

    /// TXTIME as the standard rounds it: HR/DSSS ends on a whole microsecond (16.3.4), where
    /// [`frame_time`](Self::frame_time) has the fraction that 5.5 and 11 Mbit/s leave.
    pub fn txtime(&self, rate: Rate, size: Bytes) -> Duration {
        let time = self.frame_time(rate, size);
        match self.standard {
            Standard::Dot11b => Duration::from_micros(time.as_nanos().div_ceil(1_000)),
            Standard::Dot11a | Standard::Dot11g | Standard::Fhss => time,
        }
    }
}

/// TXTIME of OFDM (17.4.3): preamble 16 us, SIGNAL 4 us, then symbols of 4 us that carry the 16 SERVICE bits, the PSDU
/// and 6 tail bits.
fn ofdm_time(rate: Rate, size: Bytes) -> Duration {
    let bits_per_symbol = rate.bit_rate.as_bps() * 4 / 1_000_000;
    let symbols = (16 + size.bits() + 6).div_ceil(bits_per_symbol);
    Duration::from_micros(20 + 4 * symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(standard: Standard, preamble: Preamble, kbps: u64, size: u64) -> u64 {
        let rate = standard.rate(BitRate::from_kbps(kbps)).unwrap();
        Phy::new(standard, preamble).frame_time(rate, Bytes::new(size)).as_nanos()
    }

    #[test]
    fn frame_times_are_those_of_the_standard() {
        assert_eq!(time(Standard::Dot11b, Preamble::Long, 11_000, 1536), 1_309_091);
        assert_eq!(time(Standard::Dot11b, Preamble::Long, 1_000, 14), 304_000);
        assert_eq!(time(Standard::Dot11b, Preamble::Short, 2_000, 14), 152_000);
        assert_eq!(time(Standard::Dot11b, Preamble::Short, 1_000, 14), 304_000);
        assert_eq!(time(Standard::Dot11a, Preamble::Long, 6_000, 14), 44_000);
        assert_eq!(time(Standard::Dot11a, Preamble::Long, 54_000, 1536), 20_000 + 4_000 * 57);
        assert_eq!(time(Standard::Dot11g, Preamble::Long, 24_000, 14), 34_000);
        assert_eq!(time(Standard::Fhss, Preamble::Long, 1_000, 14), 240_000);
        let erp = |preamble, rate| Phy::new(Standard::Dot11g, preamble).frame_time(rate, Bytes::new(14)).as_nanos();
        assert_eq!(erp(Preamble::Long, HR_DSSS_RATES[0]), 304_000, "an ERP station speaks DSSS, too");
        assert_eq!(erp(Preamble::Short, HR_DSSS_RATES[1]), 152_000);
    }

    /// Published by ns-3.44, `src/wifi/test/tx-duration-test.cc`: rate \[kbit/s\], preamble, PSDU \[byte\],
    /// time \[ns\].
    #[test]
    fn published_durations_of_hr_dsss_are_exact() {
        use Preamble::{Long, Short};
        let rows = [
            (11_000, Short, 1_023, 840_000),
            (11_000, Short, 1_025, 842_000),
            (11_000, Long, 1_023, 936_000),
            (5_500, Short, 1_023, 1_584_000),
            (5_500, Short, 1_024, 1_586_000),
            (5_500, Short, 1_026, 1_589_000),
            (5_500, Long, 1_026, 1_685_000),
            (2_000, Short, 1_023, 4_188_000),
            (2_000, Short, 1_024, 4_192_000),
            (2_000, Short, 1_026, 4_200_000),
            (2_000, Long, 1_025, 4_292_000),
            (1_000, Short, 1_023, 8_376_000),
            (1_000, Short, 1_024, 8_384_000),
            (1_000, Short, 1_026, 8_400_000),
            (1_000, Long, 1_023, 8_376_000),
            (1_000, Long, 1_025, 8_392_000),
            (1_000, Long, 1_026, 8_400_000),
            (11_000, Long, 76, 248_000),
        ];
        for (kbps, preamble, size, published) in rows {
            let rate = Standard::Dot11b.rate(BitRate::from_kbps(kbps)).unwrap();
            let time = Phy::new(Standard::Dot11b, preamble).txtime(rate, Bytes::new(size)).as_nanos();
            assert_eq!(time, published, "{kbps} kbit/s, {size} byte");
        }
        let erp = Phy::new(Standard::Dot11g, Long);
        assert_eq!(erp.txtime(OFDM_RATES[7], Bytes::new(14)).as_nanos(), 30_000);
    }

    /// Control frames and answers to HT, VHT, HE and EHT frames are non-HT PPDUs, or duplicates of as much time.
    #[test]
    fn control_frames_last_as_long_as_the_standard_says() {
        // ACK and CTS, RTS, then block acknowledgements with 64, 256, 512 and 1024 bits, in us.
        let expected = [
            (6_000, [44, 52, 68, 100, 144, 228]),
            (12_000, [32, 36, 44, 60, 84, 124]),
            (24_000, [28, 28, 32, 40, 52, 72]),
        ];
        for (kbps, times) in expected {
            for (size, us) in [14, 20, 32, 56, 88, 152].into_iter().zip(times) {
                assert_eq!(
                    time(Standard::Dot11a, Preamble::Long, kbps, size),
                    us * 1_000,
                    "{kbps} kbit/s, {size} byte"
                );
                assert_eq!(time(Standard::Dot11g, Preamble::Long, kbps, size), (us + 6) * 1_000, "2.4 GHz");
            }
        }
    }

    #[test]
    fn interframe_spaces_are_those_of_the_standard() {
        assert_eq!(Phy::new(Standard::Dot11b, Preamble::Long).difs(), Duration::from_micros(50));
        assert_eq!(Phy::new(Standard::Dot11a, Preamble::Long).difs(), Duration::from_micros(34));
        assert_eq!(Phy::new(Standard::Dot11g, Preamble::Long).difs(), Duration::from_micros(28));
        assert_eq!(Phy::new(Standard::Fhss, Preamble::Long).difs(), Duration::from_micros(128));
    }
}
