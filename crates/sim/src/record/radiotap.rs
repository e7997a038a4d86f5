//! The radiotap header: the radio's information about a frame, in front of the frame (radiotap.org, "Defined Fields").

use airbraid_mac::phy::{Modulation, Phy, Preamble, Rate, Standard};
use airbraid_mac::ppdu::{Coding, Format, GuardInterval, Ltf, Mode, Width};
use airbraid_units::{Bytes, Duration, Instant};

/// Bits of the "present" word.
const TSFT: u32 = 1 << 0;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const SIGNAL: u32 = 1 << 5;
const HT: u32 = 1 << 19;
const AMPDU: u32 = 1 << 20;
const VHT: u32 = 1 << 21;
const HE: u32 = 1 << 23;
/// Fields with type and length follow.
const TLVS: u32 = 1 << 28;
/// Types of such fields.
const U_SIG: u16 = 33;
const EHT: u16 = 34;
/// Bits of the A-MPDU status: the last subframe is known, this is the last, and a single one with its EOF bit, known.
const LAST_KNOWN: u16 = 0x0004;
const LAST: u16 = 0x0008;
const EOF: u16 = 0x0040 | 0x0080;
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
    /// Whether it is DSSS or CCK, whatever else its sender knows.
    is_dsss: bool,
    bytes: [u8; LENGTH_WITH_SIGNAL],
}

impl Radiotap {
    pub fn new(phy: &Phy, rate: Rate) -> Self {
        let lead = lead(phy, rate);
        let mut bytes = [0; LENGTH_WITH_SIGNAL];
        let is_dsss = phy.standard == Standard::Dot11g && !rate.modulation.is_ofdm();
        let may_be_short = is_dsss || phy.standard != Standard::Dot11g;
        let short = may_be_short && phy.preamble == Preamble::Short && rate.modulation != Modulation::Dbpsk;
        // Also of a frame that the capture cuts: its original length counts the FCS.
        bytes[16] = FCS_AT_END | if short { SHORT_PREAMBLE } else { 0 };
        // The unit of the rate is 500 kbit/s.
        bytes[17] = u8::try_from(rate.bit_rate.as_bps() / 500_000).unwrap_or(u8::MAX);
        Self { lead, is_dsss, bytes }
    }

    /// The header of a frame whose preamble begins at `start`, with its power at a receiver \[dBm\].
    pub fn bytes(&mut self, start: Instant, channel: ChannelField, signal_dbm: Option<f64>, fcs_ok: bool) -> &[u8] {
        let (length, signal) = if signal_dbm.is_some() { (LENGTH_WITH_SIGNAL, SIGNAL) } else { (LENGTH, 0) };
        let time = start.saturating_add(self.lead).as_nanos() / 1_000;
        self.bytes[2] = length as u8;
        self.bytes[4..8].copy_from_slice(&(TSFT | FLAGS | RATE | CHANNEL | signal).to_le_bytes());
        self.bytes[8..16].copy_from_slice(&time.to_le_bytes());
        self.bytes[16] = if fcs_ok { self.bytes[16] & !BAD_FCS } else { self.bytes[16] | BAD_FCS };
        let channel = if self.is_dsss { channel.of_cck() } else { channel };
        self.bytes[18..22].copy_from_slice(&channel.0);
        // A conversion to an integer saturates.
        self.bytes[LENGTH] = libm::round(signal_dbm.unwrap_or(0.0)) as i8 as u8;
        &self.bytes[..length]
    }
}

/// The place of an MPDU in its PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subframe {
    /// The number of its A-MPDU; `None`: it is in none.
    pub reference: Option<u32>,
    pub is_last: bool,
    /// Whether it is the only one.
    pub is_single: bool,
    /// Time from the beginning of the data to its first bit.
    pub after: Duration,
}

/// The header of an MPDU in a format of 802.11n and later.
#[derive(Clone, Debug)]
pub struct ModeTap {
    mode: Mode,
    buffer: Vec<u8>,
}

impl ModeTap {
    pub fn new(mode: &Mode) -> Self {
        Self { mode: *mode, buffer: Vec::with_capacity(128) }
    }

    /// The header of an MPDU of a PPDU whose preamble begins at `start`.
    pub fn bytes(
        &mut self,
        start: Instant,
        channel: ChannelField,
        (signal_dbm, fcs_ok): (Option<f64>, bool),
        place: &Subframe,
    ) -> &[u8] {
        let format = self.mode.choice().format;
        let of_format = match format {
            Format::Ht => HT,
            Format::Vht => VHT,
            Format::He => HE,
            Format::Eht => TLVS,
        };
        let optional = |is_there: bool, bit: u32| if is_there { bit } else { 0 };
        let present = TSFT
            | FLAGS
            | CHANNEL
            | of_format
            | optional(signal_dbm.is_some(), SIGNAL)
            | optional(place.reference.is_some(), AMPDU);
        let out = &mut self.buffer;
        out.clear();
        out.extend([0; 4]);
        out.extend(present.to_le_bytes());
        let time = start.saturating_add(self.mode.preamble() + place.after).as_nanos() / 1_000;
        out.extend(time.to_le_bytes());
        out.extend([FCS_AT_END | if fcs_ok { 0 } else { BAD_FCS }, 0]);
        out.extend(channel.0);
        // A conversion to an integer saturates.
        out.extend(signal_dbm.map(|dbm| libm::round(dbm) as i8 as u8));
        if format == Format::Ht {
            out.extend(ht(&self.mode));
        }
        append_status(out, place);
        match format {
            Format::Ht => {}
            Format::Vht => {
                align(out, 2);
                out.extend(vht(&self.mode));
            }
            Format::He => {
                align(out, 2);
                out.extend(he(&self.mode).into_iter().flat_map(u16::to_le_bytes));
            }
            Format::Eht => {
                align(out, 4);
                eht(out, &self.mode);
            }
        }
        let length = (out.len() as u16).to_le_bytes();
        out[2..4].copy_from_slice(&length);
        out
    }
}

/// Appends the A-MPDU status of an MPDU that is in one.
fn append_status(out: &mut Vec<u8>, place: &Subframe) {
    let Some(reference) = place.reference else { return };
    align(out, 4);
    out.extend(reference.to_le_bytes());
    let flags = LAST_KNOWN | if place.is_last { LAST } else { 0 } | if place.is_single { EOF } else { 0 };
    out.extend(flags.to_le_bytes());
    out.extend([0, 0]);
}

fn align(out: &mut Vec<u8>, to: usize) {
    out.resize(out.len().next_multiple_of(to), 0);
}

/// The MCS field: known, flags, index.
fn ht(mode: &Mode) -> [u8; 3] {
    let choice = mode.choice();
    // Bandwidth, index, guard interval, format (0: mixed), code, STBC (0) and extension streams (0) are known.
    let known = 0x7f;
    let flags = u8::from(choice.width == Width::Mhz40)
        | u8::from(choice.guard_interval == GuardInterval::Ns400) << 2
        | u8::from(mode.coding() == Coding::Ldpc) << 4;
    [known, flags, choice.mcs + 8 * (choice.streams - 1)]
}

/// The VHT field.
fn vht(mode: &Mode) -> [u8; 12] {
    let choice = mode.choice();
    // STBC (0), guard interval and bandwidth are known.
    let known: u16 = 0x0001 | 0x0004 | 0x0040;
    let bandwidth = match choice.width {
        Width::Mhz20 => 0,
        Width::Mhz40 => 1,
        Width::Mhz80 => 4,
        Width::Mhz160 | Width::Mhz320 => 11,
    };
    let mut out = [0; 12];
    out[..2].copy_from_slice(&known.to_le_bytes());
    out[2] = u8::from(choice.guard_interval == GuardInterval::Ns400) << 2;
    out[3] = bandwidth;
    out[4] = choice.mcs << 4 | choice.streams;
    out[8] = u8::from(mode.coding() == Coding::Ldpc);
    out
}

/// The code of a guard interval in the HE and EHT fields.
fn guard_code(mode: &Mode) -> u16 {
    match mode.choice().guard_interval {
        GuardInterval::Ns400 | GuardInterval::Ns800 => 0,
        GuardInterval::Ns1600 => 1,
        GuardInterval::Ns3200 => 2,
    }
}

/// The code of a width: 0 for 20 MHz, one more for each doubling.
fn width_code(mode: &Mode) -> u16 {
    match mode.choice().width {
        Width::Mhz20 => 0,
        Width::Mhz40 => 1,
        Width::Mhz80 => 2,
        Width::Mhz160 => 3,
        Width::Mhz320 => 4,
    }
}

/// The code of a training symbol's size, 1 for 1x.
fn ltf_code(mode: &Mode) -> u16 {
    match mode.ltf() {
        Ltf::X1 => 1,
        Ltf::X2 => 2,
        Ltf::X4 => 3,
    }
}

/// The HE field: six words.
fn he(mode: &Mode) -> [u16; 6] {
    let choice = mode.choice();
    // Format SU; MCS, code and width are known.
    let first = 0x0020 | 0x0080 | 0x4000;
    // The guard interval is known.
    let second = 0x0002;
    let third = u16::from(choice.mcs) << 8 | u16::from(mode.coding() == Coding::Ldpc) << 13;
    let fifth = width_code(mode) | guard_code(mode) << 4 | ltf_code(mode) << 6;
    [first, second, third, 0, fifth, u16::from(choice.streams)]
}

/// The fields U-SIG and EHT, as a type, a length and a value each.
fn eht(out: &mut Vec<u8>, mode: &Mode) {
    let choice = mode.choice();
    // The version of the PHY (0: EHT) and the width are known.
    let common = 0x0001 | 0x0002 | u32::from(width_code(mode)) << 15;
    out.extend(U_SIG.to_le_bytes());
    out.extend(12u16.to_le_bytes());
    out.extend([common, 0, 0].into_iter().flat_map(u32::to_le_bytes));
    // Guard interval and training symbols are known.
    let known: u32 = 0x0004 | 0x0010;
    let data = u32::from(guard_code(mode)) << 7 | u32::from(ltf_code(mode) - 1) << 9;
    // MCS, code and streams of the one user are known.
    let user = 0x0002 | 0x0004 | 0x0010;
    let user = user
        | u32::from(mode.coding() == Coding::Ldpc) << 19
        | u32::from(choice.mcs) << 20
        | u32::from(choice.streams - 1) << 24;
    out.extend(EHT.to_le_bytes());
    out.extend(44u16.to_le_bytes());
    out.extend([known, data, 0, 0, 0, 0, 0, 0, 0, 0, user].into_iter().flat_map(u32::to_le_bytes));
}

/// Time from the beginning of the preamble to the first bit of the MPDU, which the field TSFT is about: with OFDM 16 us
/// of preamble and 4 us of SIGNAL (802.11-2020, 17.4.3), else preamble and PHY header.
fn lead(phy: &Phy, rate: Rate) -> Duration {
    match phy.standard {
        Standard::Dot11a | Standard::Dot11g if rate.modulation.is_ofdm() => Duration::from_micros(20),
        _ => phy.frame_time(rate, Bytes::ZERO),
    }
}

/// The channel field: frequency and flags.
#[derive(Clone, Copy, Debug)]
pub struct ChannelField([u8; 4]);

impl ChannelField {
    /// A channel of OFDM by its frequency \[MHz\]: of a wide one that of its primary 20 MHz. 6 GHz has no flag.
    pub fn of_ofdm(frequency: u32) -> Self {
        let band = match frequency {
            0..3_000 => BAND_2GHZ,
            3_000..5_925 => BAND_5GHZ,
            _ => 0,
        };
        let ([a, b], [c, d]) = ((frequency as u16).to_le_bytes(), (band | OFDM).to_le_bytes());
        Self([a, b, c, d])
    }

    /// The same channel for a frame of DSSS or CCK.
    fn of_cck(self) -> Self {
        let [a, b, c, d] = self.0;
        let [c, d] = (u16::from_le_bytes([c, d]) & !OFDM | CCK).to_le_bytes();
        Self([a, b, c, d])
    }

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
        assert_eq!(time(Standard::Dot11g, Preamble::Long, *fast), 1_192, "802.11g beside 802.11b");
    }

    /// A station of 802.11g sends OFDM, and DSSS to those of 802.11b; its short preamble is that of DSSS.
    #[test]
    fn frames_tell_their_own_modulation() {
        let fields = |rate| {
            let mut tap = Radiotap::new(&Phy::new(Standard::Dot11g, Preamble::Short), rate);
            let bytes = tap.bytes(Instant::ZERO, ChannelField::of_ofdm(2_437), None, true);
            let flags = u16::from_le_bytes(bytes[20..22].try_into().unwrap());
            (bytes[16] & SHORT_PREAMBLE > 0, bytes[17], flags)
        };
        let [slow, .., fast] = Standard::Dot11b.rates() else { panic!("there are rates") };
        assert_eq!(fields(*fast), (true, 22, CCK | BAND_2GHZ));
        assert_eq!(fields(*slow), (false, 2, CCK | BAND_2GHZ));
        assert_eq!(fields(Standard::Dot11g.rates()[7]), (false, 108, OFDM | BAND_2GHZ));
    }
}
