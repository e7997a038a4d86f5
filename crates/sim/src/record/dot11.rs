//! IEEE 802.11 frames as bytes, for captures: RTS, CTS, ACK and data, with a real FCS; data in an independent BSS, or
//! to or from an access point.
//!
//! Formats of 802.11-2020: 9.3.1.2 to 9.3.1.4 (control), 9.3.2.1 (data), 9.2.4.8 (FCS); LLC and SNAP of 802.2 and RFC
//! 1042. Never the simulator's own view of a frame: whoever captures describes its header in [`MacHeader`].

use airbraid_engine::link::fec::crc32;

/// A radio of a node, by indices; it makes the MAC address 02:00:00:nn:nn:rr (locally administered).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Index of the node; the address carries its lower 16 bits.
    pub node: u32,
    /// Index of the radio in the node; the address carries its lower 8 bits.
    pub radio: u32,
}

/// The address of all.
pub const BROADCAST: [u8; 6] = [0xff; 6];

impl Station {
    /// The receiver of a frame that a packet killer has taken: 02:00:00:ff:ff:ff.
    pub const NOBODY: Self = Self { node: u32::MAX, radio: u32::MAX };

    /// The radio's MAC address.
    pub const fn mac_address(self) -> [u8; 6] {
        [0x02, 0, 0, (self.node >> 8) as u8, self.node as u8, self.radio as u8]
    }
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MacHeader {
    pub kind: MacKind,
    pub src: Station,
    /// The receiver; `None` is broadcast.
    pub dst: Option<Station>,
    /// The Duration field \[us\]; cut at 32,767.
    pub duration_us: u16,
}

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MacKind {
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
        /// Whether there is a body; otherwise it is a null data frame.
        has_body: bool,
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
/// A Duration field above this means something else (9.2.4.2).
const LONGEST_DURATION: u16 = 32_767;

/// The protocol of a data frame's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum EtherType {
    Ipv4 = 0x0800,
    Arp = 0x0806,
    /// For local experiments (IEEE 802, 9.2.4): our headers before a packet, and our beacons.
    LocalExperiment = 0x88b5,
}

/// Appends a frame's header to `out`.
pub fn append_header(out: &mut Vec<u8>, frame: &MacHeader) {
    let duration = frame.duration_us.min(LONGEST_DURATION).to_le_bytes();
    let to = frame.dst.map_or(BROADCAST, Station::mac_address);
    let from = frame.src.mac_address();
    let mut header = |control: u8, flags: u8| {
        out.extend([control, flags]);
        out.extend(duration);
        out.extend(to);
    };
    match frame.kind {
        MacKind::Cts => header(CTS, 0),
        MacKind::Ack => header(ACK, 0),
        MacKind::Rts => {
            header(RTS, 0);
            out.extend(from);
        }
        MacKind::Data { bss, power_management, seq, retry, has_body } => {
            let (direction, third) = match bss {
                Bss::Independent => (0, BSSID),
                Bss::ToAccessPoint => (TO_DS, to),
                Bss::FromAccessPoint => (FROM_DS, from),
            };
            let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
            let flags = direction | flag(retry, RETRY) | flag(power_management, POWER_MANAGEMENT);
            header(if has_body { DATA } else { NULL }, flags);
            out.extend(from);
            out.extend(third);
            out.extend(((seq & 0xfff) << 4).to_le_bytes());
        }
    }
}

/// LLC and SNAP before a body.
pub fn llc(ether_type: EtherType) -> [u8; 8] {
    let [a, b, c, d, e, f] = SNAP;
    let [high, low] = (ether_type as u16).to_be_bytes();
    [a, b, c, d, e, f, high, low]
}

/// The FCS of `bytes`: CRC-32 with the generator of 9.2.4.8, as it is sent (least significant byte first).
pub fn fcs(bytes: &[u8]) -> [u8; 4] {
    crc32(bytes).to_le_bytes()
}
