//! The radiotap header: the radio's information about a frame, in front of the frame (radiotap.org, "Defined Fields").

use airbraid_mac::phy::{Modulation, Phy, Preamble, Rate, Standard};
use airbraid_units::{Bytes, Duration, Instant};

/// Bits of the "present" word.
const TSFT: u32 = 1 << 0;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const SIGNAL: u32 = 1 << 5;
/// Bits of the flags field.
const SHORT_PREAMBLE: u8 = 0x02;
const FCS_AT_END: u8 = 0x10;
const BAD_FCS: u8 = 0x40;
/// Bits of the channel flags.
const CCK: u16 = 0x0020;
const OFDM: u16 = 0x0040;
const BAND_2GHZ: u16 = 0x0080;
const BAND_5GHZ: u16 = 0x0100;
const GFSK: u16 = 0x0800;

/// Length of the header without a signal, and with one \[byte\].
const LENGTH: usize = 22;
const LENGTH_WITH_SIGNAL: usize = LENGTH + 1;

/// The header of a frame but for what its receivers differ in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Radiotap {
    /// Time from the beginning of the frame to the first bit of its MPDU.
    lead: Duration,
    bytes: [u8; LENGTH_WITH_SIGNAL],
}

impl Radiotap {
    pub fn new(phy: &Phy, rate: Rate) -> Self {
        let lead = lead(phy, rate);
        let mut bytes = [0; LENGTH_WITH_SIGNAL];
        let short = phy.preamble == Preamble::Short && rate.modulation != Modulation::Dbpsk;
        // Also of a frame that the capture cuts: its original length counts the FCS.
        bytes[16] = FCS_AT_END | if short { SHORT_PREAMBLE } else { 0 };
        // The unit of the rate is 500 kbit/s.
        bytes[17] = u8::try_from(rate.bit_rate.as_bps() / 500_000).unwrap_or(u8::MAX);
        Self { lead, bytes }
    }

    /// The header of a frame whose preamble begins at `start`, with its power at a receiver \[dBm\].
    pub fn bytes(&mut self, start: Instant, channel: ChannelField, signal_dbm: Option<f64>, fcs_ok: bool) -> &[u8] {
        let (length, signal) = if signal_dbm.is_some() { (LENGTH_WITH_SIGNAL, SIGNAL) } else { (LENGTH, 0) };
        let time = start.saturating_add(self.lead).as_nanos() / 1_000;
        self.bytes[2] = length as u8;
        self.bytes[4..8].copy_from_slice(&(TSFT | FLAGS | RATE | CHANNEL | signal).to_le_bytes());
        self.bytes[8..16].copy_from_slice(&time.to_le_bytes());
        self.bytes[16] = if fcs_ok { self.bytes[16] & !BAD_FCS } else { self.bytes[16] | BAD_FCS };
        self.bytes[18..22].copy_from_slice(&channel.0);
        // A conversion to an integer saturates.
        self.bytes[LENGTH] = libm::round(signal_dbm.unwrap_or(0.0)) as i8 as u8;
        &self.bytes[..length]
    }
}

/// Time from the beginning of the preamble to the first bit of the MPDU, which the field TSFT is about: with OFDM 16 us
/// of preamble and 4 us of SIGNAL (802.11-2020, 17.4.3), else preamble and PHY header.
fn lead(phy: &Phy, rate: Rate) -> Duration {
    match phy.standard {
        Standard::Dot11a | Standard::Dot11g => Duration::from_micros(20),
        Standard::Dot11b | Standard::Fhss => phy.frame_time(rate, Bytes::ZERO),
    }
}

/// The channel field: frequency and flags.
#[derive(Clone, Copy, Debug)]
pub struct ChannelField([u8; 4]);

impl ChannelField {
    /// Centre frequency \[MHz\] and flags of a channel (802.11-2020, 17.3.8.4 and 15.4.4.3). Numbers beyond a band (the
    /// simulator takes any) go on by its rule until the field ends.
    pub fn new(standard: Standard, number: u32) -> Self {
        let number = number.min(10_000) as u16;
        let (frequency, flags) = match standard {
            Standard::Dot11a => (5_000u16.saturating_add(number.saturating_mul(5)), BAND_5GHZ | OFDM),
            standard => {
                let frequency = if number == 14 { 2_484 } else { 2_407u16.saturating_add(number.saturating_mul(5)) };
                let kind = match standard {
                    Standard::Dot11b => CCK,
                    Standard::Fhss => GFSK,
                    Standard::Dot11a | Standard::Dot11g => OFDM,
                };
                (frequency, BAND_2GHZ | kind)
            }
        };
        let ([a, b], [c, d]) = (frequency.to_le_bytes(), flags.to_le_bytes());
        Self([a, b, c, d])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_first_bit_of_the_mpdu() {
        let time = |standard: Standard, preamble, rate| {
            let mut tap = Radiotap::new(&Phy::new(standard, preamble), rate);
            let bytes = tap.bytes(Instant::from_nanos(1_000_000), ChannelField::new(standard, 1), None, true);
            u64::from_le_bytes(bytes[8..16].try_into().unwrap())
        };
        let [slow, .., fast] = Standard::Dot11b.rates() else { panic!("there are rates") };
        assert_eq!(time(Standard::Dot11b, Preamble::Long, *fast), 1_192);
        assert_eq!(time(Standard::Dot11b, Preamble::Short, *fast), 1_096);
        assert_eq!(time(Standard::Dot11b, Preamble::Short, *slow), 1_192, "1 Mbit/s has the long preamble");
        assert_eq!(time(Standard::Dot11a, Preamble::Long, Standard::Dot11a.rates()[7]), 1_020);
    }
}
