//! IEEE 802.11 frames as bytes, for captures: RTS, CTS, ACK and data, with a real FCS; data in an independent BSS, or
//! to or from an access point.
//!
//! Formats of 802.11-2020: 9.3.1.2 to 9.3.1.4 (control), 9.3.2.1 (data), 9.2.4.8 (FCS); LLC and SNAP of 802.2 and RFC
//! 1042. Never the simulator's own view of a frame: whoever captures describes the frame in [`CapturedFrame`].

use super::ip::{self, CapturedPacket};
use airbraid_mac::phy::Rate;
use airbraid_units::Instant;

/// A radio of a node, by indices; it makes the MAC address 02:00:00:nn:nn:rr (locally administered).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Index of the node; the address carries its lower 16 bits.
    pub node: u32,
    /// Index of the radio in the node; the address carries its lower 8 bits.
    pub radio: u32,
}

impl Station {
    /// The radio's MAC address.
    pub const fn mac_address(self) -> [u8; 6] {
        [0x02, 0, 0, (self.node >> 8) as u8, self.node as u8, self.radio as u8]
    }
}

/// A frame on the air, as one radio sent or received it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapturedFrame<'a> {
    /// Beginning of its preamble.
    pub time: Instant,
    pub channel: u32,
    pub rate: Rate,
    /// The power with which it arrived \[dBm\]; `None` at the sender.
    pub signal_dbm: Option<f64>,
    /// Whether it arrived without errors.
    pub fcs_ok: bool,
    pub src: Station,
    /// The receiver; `None` is broadcast.
    pub dst: Option<Station>,
    /// The Duration field \[us\]; cut at 32,767.
    pub duration_us: u16,
    /// Kind and contents.
    pub kind: CapturedKind<'a>,
}

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CapturedKind<'a> {
    /// Request to send.
    Rts,
    /// Clear to send; its sender is not in the frame.
    Cts,
    /// Acknowledgement; its sender is not in the frame.
    Ack,
    Data {
        /// The basic service set.
        bss: Bss,
        /// The Power Management subfield.
        power_management: bool,
        /// Sequence number of the MSDU; the frame carries its lower 12 bits.
        seq: u16,
        retry: bool,
        /// The packet; `None`: a null data frame, without a body.
        packet: Option<CapturedPacket<'a>>,
    },
}

/// The basic service set of a data frame: To DS, From DS, and the third address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bss {
    /// The one independent BSS that all stations are in.
    #[default]
    Independent,
    /// To an access point, which is receiver and destination.
    ToAccessPoint,
    /// From an access point, which is sender and source.
    FromAccessPoint,
}

/// Frame control: type and subtype in the first byte (9.2.4.1).
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
const DATA: u8 = 0x08;
const NULL: u8 = 0x48;
/// Frame control: bits of the second byte.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;
const POWER_MANAGEMENT: u8 = 0x10;
/// The BSSID of the one independent BSS that all stations are in.
const BSSID: [u8; 6] = [0x02, 0xab, 0x1d, 0, 0, 0];
/// LLC and SNAP with the organisation code of Ethernet types.
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];
/// Ethernet type of IPv4.
const IPV4: [u8; 2] = [0x08, 0x00];
/// Ethernet type for local experiments (IEEE 802, 9.2.4), for packets behind a trunk's header.
const LOCAL_EXPERIMENT: [u8; 2] = [0x88, 0xb5];
/// A Duration field above this means something else (9.2.4.2).
const LONGEST_DURATION: u16 = 32_767;

/// Appends the frame without its FCS to `out`.
pub fn append(out: &mut Vec<u8>, frame: &CapturedFrame<'_>) {
    let duration = frame.duration_us.min(LONGEST_DURATION).to_le_bytes();
    let to = frame.dst.map_or([0xff; 6], Station::mac_address);
    let from = frame.src.mac_address();
    let mut header = |control: u8, flags: u8| {
        out.extend([control, flags]);
        out.extend(duration);
        out.extend(to);
    };
    match frame.kind {
        CapturedKind::Cts => header(CTS, 0),
        CapturedKind::Ack => header(ACK, 0),
        CapturedKind::Rts => {
            header(RTS, 0);
            out.extend(from);
        }
        CapturedKind::Data { bss, power_management, seq, retry, packet } => {
            let (direction, third) = match bss {
                Bss::Independent => (0, BSSID),
                Bss::ToAccessPoint => (TO_DS, to),
                Bss::FromAccessPoint => (FROM_DS, from),
            };
            let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
            let flags = direction | flag(retry, RETRY) | flag(power_management, POWER_MANAGEMENT);
            header(if packet.is_some() { DATA } else { NULL }, flags);
            out.extend(from);
            out.extend(third);
            out.extend(((seq & 0xfff) << 4).to_le_bytes());
            if let Some(packet) = packet {
                body(out, &packet);
            }
        }
    }
}

/// Appends LLC, SNAP, the trunk's header if there is one, and the packet.
fn body(out: &mut Vec<u8>, packet: &CapturedPacket<'_>) {
    out.extend(SNAP);
    match packet.trunk_header {
        None => out.extend(IPV4),
        Some(header) => {
            out.extend(LOCAL_EXPERIMENT);
            out.extend(header);
        }
    }
    ip::append(out, packet);
}

/// The FCS of `bytes`: CRC-32 with the generator of 9.2.4.8, reflected, as it is sent (least significant byte first).
pub fn fcs(bytes: &[u8]) -> [u8; 4] {
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| (crc >> 8) ^ CRC[usize::from(crc as u8 ^ byte)]);
    (!crc).to_le_bytes()
}

/// CRC-32 of each byte.
const CRC: [u32; 256] = crc_table();

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_crc_32() {
        assert_eq!(fcs(b"123456789"), 0xcbf4_3926u32.to_le_bytes());
    }
}
