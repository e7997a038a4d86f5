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

/// The fields of the header.
pub struct Radiotap {
    /// Beginning of the frame: of its preamble.
    pub time: Instant,
    pub standard: Standard,
    pub preamble: Preamble,
    pub rate: Rate,
    pub channel: u32,
    /// Power with which it arrived, at a receiver \[dBm\].
    pub signal_dbm: Option<f64>,
    /// Whether it arrived whole.
    pub fcs_ok: bool,
}

/// Appends the header to `out`.
pub fn append(out: &mut Vec<u8>, tap: &Radiotap) {
    let start = out.len();
    let signal = if tap.signal_dbm.is_some() { SIGNAL } else { 0 };
    out.extend([0; 4]);
    out.extend((TSFT | FLAGS | RATE | CHANNEL | signal).to_le_bytes());
    out.extend((tap.time.saturating_add(lead(tap)).as_nanos() / 1_000).to_le_bytes());
    let short = tap.preamble == Preamble::Short && tap.rate.modulation != Modulation::Dbpsk;
    // Also of a frame that the capture cuts: its original length counts the FCS.
    let mut flags = FCS_AT_END;
    flags |= if short { SHORT_PREAMBLE } else { 0 };
    flags |= if tap.fcs_ok { 0 } else { BAD_FCS };
    // The unit of the rate is 500 kbit/s.
    let rate = u8::try_from(tap.rate.bit_rate.as_bps() / 500_000).unwrap_or(u8::MAX);
    let (frequency, band) = channel(tap);
    out.extend([flags, rate]);
    out.extend(frequency.to_le_bytes());
    out.extend(band.to_le_bytes());
    if let Some(dbm) = tap.signal_dbm {
        // A conversion to an integer saturates.
        out.extend((libm::round(dbm) as i8).to_le_bytes());
    }
    let length = (out.len() - start) as u16;
    out[start + 2..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Time from the beginning of the preamble to the first bit of the MPDU, which the field TSFT is about: with OFDM 16 us
/// of preamble and 4 us of SIGNAL (802.11-2020, 17.4.3), else preamble and PHY header.
fn lead(tap: &Radiotap) -> Duration {
    match tap.standard {
        Standard::Dot11a | Standard::Dot11g => Duration::from_micros(20),
        Standard::Dot11b | Standard::Fhss => Phy::new(tap.standard, tap.preamble).frame_time(tap.rate, Bytes::ZERO),
    }
}

/// Centre frequency \[MHz\] and flags of the channel (802.11-2020, 17.3.8.4 and 15.4.4.3). Numbers beyond a band (the
/// simulator takes any) go on by its rule until the field ends.
fn channel(tap: &Radiotap) -> (u16, u16) {
    let number = tap.channel.min(10_000) as u16;
    match tap.standard {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_first_bit_of_the_mpdu() {
        let time = |standard: Standard, preamble, rate| {
            let mut out = Vec::new();
            let time = Instant::from_nanos(1_000_000);
            append(&mut out, &Radiotap { time, standard, preamble, rate, channel: 1, signal_dbm: None, fcs_ok: true });
            u64::from_le_bytes(out[8..16].try_into().unwrap())
        };
        let [slow, .., fast] = Standard::Dot11b.rates() else { panic!("there are rates") };
        assert_eq!(time(Standard::Dot11b, Preamble::Long, *fast), 1_192);
        assert_eq!(time(Standard::Dot11b, Preamble::Short, *fast), 1_096);
        assert_eq!(time(Standard::Dot11b, Preamble::Short, *slow), 1_192, "1 Mbit/s has the long preamble");
        assert_eq!(time(Standard::Dot11a, Preamble::Long, Standard::Dot11a.rates()[7]), 1_020);
    }
}
