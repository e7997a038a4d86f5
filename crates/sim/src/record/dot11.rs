//! IEEE 802.11 frames as bytes, for captures: RTS, CTS, ACK and data, with a real FCS; data in an independent BSS, or
//! to or from an access point.
//!
//! Formats of 802.11-2020: 9.3.1.2 to 9.3.1.4 (control), 9.3.2.1 (data), 9.2.4.8 (FCS); LLC and SNAP of 802.2 and RFC
//! 1042. Never the simulator's own view of a frame: whoever captures describes its header in [`MacHeader`].

use super::agreement::AgreementBody;
use super::multi_link::MultiLinkElement;
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

    /// The node as a multi-link device: its address is none of a radio.
    pub const fn of_device(node: u32) -> Self {
        Self { node, radio: u32::MAX }
    }

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
    /// The trigger frame MU-RTS for one station, without its padding.
    MuRts,
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
        /// QoS Control; `None`: a frame without it.
        qos: Option<QosControl>,
    },
    /// A compressed block acknowledgement.
    BlockAck { tid: u8 },
    /// A request for one.
    BlockAckRequest { tid: u8, start: u16 },
    /// A beacon; its sender is the basic service set.
    Beacon { seq: u16 },
    /// An action frame by which a block acknowledgement agreement is set up, with its body.
    Agreement { bss: Bss, seq: u16, retry: bool, body: AgreementBody },
}

/// QoS Control (9.2.4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QosControl {
    pub tid: u8,
    /// Whether the body is an A-MSDU.
    pub is_amsdu: bool,
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

impl Bss {
    /// To DS and From DS, and the third address.
    const fn fields(self, to: [u8; 6], from: [u8; 6]) -> (u8, [u8; 6]) {
        match self {
            Self::Independent => (0, BSSID),
            Self::ToAccessPoint => (TO_DS, to),
            Self::FromAccessPoint => (FROM_DS, from),
        }
    }
}

/// Frame control: type and subtype in the first byte (9.2.4.1).
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
const DATA: u8 = 0x08;
const NULL: u8 = 0x48;
const QOS_DATA: u8 = 0x88;
const TRIGGER: u8 = 0x24;
const BLOCK_ACK_REQUEST: u8 = 0x84;
const BLOCK_ACK: u8 = 0x94;
const BEACON: u8 = 0x80;
const ACTION: u8 = 0xd0;
/// Common Info of a trigger frame (9.3.1.22.1): the type MU-RTS, 3, in its lowest four bits; CS Required, bit 17.
const MU_RTS_COMMON_INFO: [u8; 8] = [3, 0, 2, 0, 0, 0, 0, 0];
/// User Info of a trigger frame: AID 1, and the RU allocation of the primary 20 MHz, 61, from bit 13 on.
const MU_RTS_USER_INFO: [u8; 5] = [1, 0xa0, 7, 0, 0];
/// BA Control and BAR Control: the compressed variant, below the TID (9.3.1.7.1, 9.3.1.8.1).
const COMPRESSED: u16 = 2 << 1;
/// QoS Control: an A-MSDU is present.
const AMSDU_PRESENT: u8 = 0x80;
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
        MacKind::MuRts => {
            header(TRIGGER, 0);
            out.extend(from.iter().chain(&MU_RTS_COMMON_INFO).chain(&MU_RTS_USER_INFO));
        }
        MacKind::BlockAckRequest { tid, start } => {
            header(BLOCK_ACK_REQUEST, 0);
            out.extend(from);
            out.extend(block_ack_control(tid));
            out.extend((start << 4).to_le_bytes());
        }
        MacKind::BlockAck { tid } => {
            header(BLOCK_ACK, 0);
            out.extend(from);
            out.extend(block_ack_control(tid));
        }
        MacKind::Beacon { seq } => {
            header(BEACON, 0);
            append_rest(out, [from, from], seq);
        }
        MacKind::Agreement { bss, seq, retry, body } => {
            // A management frame says by its third address alone which set it belongs to (9.3.3.1).
            let (_, third) = bss.fields(to, from);
            header(ACTION, if retry { RETRY } else { 0 });
            append_rest(out, [from, third], seq);
            body.append(out);
        }
        MacKind::Data { bss, power_management, seq, retry, has_body, qos } => {
            let (direction, third) = bss.fields(to, from);
            let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
            let flags = direction | flag(retry, RETRY) | flag(power_management, POWER_MANAGEMENT);
            header(data_control(qos.is_some(), has_body), flags);
            append_rest(out, [from, third], seq);
            // The ack policy is Normal Ack, or Implicit BAR in an A-MPDU: both are 0.
            out.extend(qos.iter().flat_map(|qos| [qos.tid | if qos.is_amsdu { AMSDU_PRESENT } else { 0 }, 0]));
        }
    }
}

/// Appends the second and the third address, and the sequence number.
fn append_rest(out: &mut Vec<u8>, addresses: [[u8; 6]; 2], seq: u16) {
    out.extend(addresses.concat());
    out.extend(((seq & 0xfff) << 4).to_le_bytes());
}

const fn data_control(is_qos: bool, has_body: bool) -> u8 {
    match (is_qos, has_body) {
        (true, _) => QOS_DATA,
        (false, true) => DATA,
        (false, false) => NULL,
    }
}

/// Appends a beacon's body of `length` byte (9.3.3.2): timestamp \[us\], interval \[TU\], capabilities, the name of the
/// set, the link of a multi-link device that it is, and an element of no meaning in place of all others.
pub fn append_beacon(
    out: &mut Vec<u8>,
    timestamp: u64,
    interval: u16,
    multi_link: Option<MultiLinkElement>,
    length: usize,
) {
    /// Of an infrastructure set.
    const ESS: u16 = 1;
    const SSID: u8 = 0;
    const VENDOR_SPECIFIC: u8 = 221;
    const NAME: &[u8] = b"airbraid";
    let end = out.len() + length;
    out.extend(timestamp.to_le_bytes());
    out.extend(interval.to_le_bytes());
    out.extend(ESS.to_le_bytes());
    out.extend([SSID, NAME.len() as u8]);
    out.extend(NAME);
    if let Some(element) = multi_link {
        element.append(out);
    }
    let left = end.saturating_sub(out.len() + 2);
    out.extend([VENDOR_SPECIFIC, left as u8]);
    out.extend(&BSSID[..3]);
    out.resize(end, 0);
}

fn block_ack_control(tid: u8) -> [u8; 2] {
    (COMPRESSED | u16::from(tid) << 12).to_le_bytes()
}

/// The Fragment Number subfield of a compressed block acknowledgement says how long its bitmap is (table 9-30b of
/// 802.11ax-2021; 512 and 1024 by 802.11be-2024).
const fn bitmap_code(window: u16) -> u16 {
    match window {
        0..=64 => 0,
        65..=256 => 4,
        257..=512 => 8,
        _ => 10,
    }
}

/// Appends starting sequence control and bitmap of a block acknowledgement: whether each of `window` numbers has come.
pub fn append_bitmap(out: &mut Vec<u8>, start: u16, window: u16, has_come: impl Fn(u16) -> bool) {
    out.extend((start << 4 | bitmap_code(window)).to_le_bytes());
    let bits = match bitmap_code(window) {
        0 => 64,
        4 => 256,
        8 => 512,
        _ => 1_024,
    };
    for first in (0..bits).step_by(8) {
        out.push((0..8).filter(|bit| has_come(first + bit)).fold(0, |byte, bit| byte | 1 << bit));
    }
}

/// Appends the header of a subframe of an A-MSDU (9.3.2.2.2).
pub fn append_subframe(out: &mut Vec<u8>, to: Station, from: Station, length: u16) {
    out.extend(to.mac_address());
    out.extend(from.mac_address());
    out.extend(length.to_be_bytes());
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
