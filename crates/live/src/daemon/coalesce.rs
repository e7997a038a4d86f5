//! Joins consecutive TCP segments of a flow, so that the kernel takes them at once (Linux's GRO, by the rules of its
//! `tcp_gro_receive`).
//!
//! Segments are joined only if cutting the run up again gives them back: headers alike but for number and length,
//! checksums right, equally long but the last. Nothing is held for more to come: what a turn of the loop has brought is
//! written when it ends, and a flow's packets never pass each other.

use super::checksum::{fold, pseudo, sum};
use super::inner::{TCP, V4_HEADER, V6_HEADER};
use super::packet::IpPacket;
use crate::vnet::{Gso, VNET_LEN, VnetHeader};
use std::io::IoSlice;

/// Largest number of flows joined at once; of more, the oldest is written.
const FLOWS: usize = 16;
/// Longest run: IP's lengths have 16 bits \[byte\].
const RUN_MAX: usize = 65_535;
/// The longest headers: IPv6 and TCP with all its options \[byte\].
const HEADERS_MAX: usize = V6_HEADER + 60;
/// The headers that TCP has at least \[byte\].
const TCP_HEADER: usize = 20;
const ACK: u8 = 0x10;
const PUSH: u8 = 0x08;

/// The data of one write.
#[derive(Debug)]
pub struct Parcel<'a> {
    /// Header for the interface, headers and payloads.
    pub slices: &'a [IoSlice<'a>],
    /// Number of packets in it.
    pub packets: u64,
}

/// A segment that may be joined with others.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Offset of TCP.
    transport: usize,
    /// Length of all headers.
    headers: usize,
    number: u32,
    is_pushed: bool,
    /// The sum of its payload.
    sum: u16,
}

impl Segment {
    /// Reads a packet; `None` if it is to be passed on unchanged.
    fn read(packet: &[u8]) -> Option<Self> {
        let (transport, protocol, length) = match packet.first()? {
            0x45 if packet.len() > V4_HEADER && packet[6] & 0x3f == 0 && packet[7] == 0 => {
                (V4_HEADER, packet[9], usize::from(u16::from_be_bytes([packet[2], packet[3]])))
            }
            first if first >> 4 == 6 && packet.len() > V6_HEADER => {
                (V6_HEADER, packet[6], V6_HEADER + usize::from(u16::from_be_bytes([packet[4], packet[5]])))
            }
            _ => return None,
        };
        // The kernel would not take it, and the run's new checksum would make it right.
        if transport == V4_HEADER && fold(sum(&packet[..V4_HEADER], 0)) != 0xffff {
            return None;
        }
        let tcp = packet.get(transport..).filter(|tcp| tcp.len() > TCP_HEADER)?;
        let offset = usize::from(tcp[12] >> 4) * 4;
        let is_plain = tcp[13] & !PUSH == ACK && tcp[12] & 0x0f == 0;
        if protocol != TCP || length != packet.len() || !is_plain || offset < TCP_HEADER || tcp.len() <= offset {
            return None;
        }
        let carried = fold(sum(&tcp[offset..], 0));
        let whole = sum(&tcp[..offset], u32::from(carried) + pseudo(addresses(packet), TCP, tcp.len()));
        let number = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let is_pushed = tcp[13] & PUSH != 0;
        let headers = transport + offset;
        (fold(whole) == 0xffff).then_some(Self { transport, headers, number, is_pushed, sum: carried })
    }
}

fn addresses(packet: &[u8]) -> &[u8] {
    if packet[0] >> 4 == 4 { &packet[12..20] } else { &packet[8..40] }
}

/// Whether two packets of TCP are of one flow.
fn is_same_flow(a: &[u8], b: &[u8]) -> bool {
    let place = |packet: &[u8]| if packet[0] >> 4 == 4 { V4_HEADER } else { V6_HEADER };
    a[0] >> 4 == b[0] >> 4
        && addresses(a) == addresses(b)
        && a.get(place(a)..place(a) + 4) == b.get(place(b)..place(b) + 4)
}

/// A run that is being joined.
#[derive(Debug)]
struct Open {
    packets: Vec<IpPacket>,
    segment: Segment,
    /// Payload of each but perhaps the last \[byte\].
    payload: usize,
    /// The next sequence number.
    next: u32,
    length: usize,
    /// The sum of all payloads.
    sum: u32,
    is_pushed: bool,
}

impl Open {
    fn new(mut packets: Vec<IpPacket>, packet: IpPacket, segment: Segment) -> Self {
        let length = packet.bytes().len();
        let payload = length - segment.headers;
        packets.push(packet);
        let (next, sum) = (segment.number.wrapping_add(payload as u32), u32::from(segment.sum));
        Self { packets, segment, payload, next, length, sum, is_pushed: segment.is_pushed }
    }

    /// Whether a packet of this flow continues the run.
    fn fits(&self, packet: &[u8], segment: &Segment) -> bool {
        let first = self.packets[0].bytes();
        let (tcp, headers, carried) = (segment.transport, segment.headers, packet.len() - segment.headers);
        if segment.number != self.next || carried > self.payload || self.length + carried > RUN_MAX {
            return false;
        }
        let is_ip_alike = if first[0] >> 4 == 4 {
            let id = |packet: &[u8]| u16::from_be_bytes([packet[4], packet[5]]);
            let follows = id(packet) == id(first).wrapping_add(self.packets.len() as u16);
            follows && first[1] == packet[1] && first[6..9] == packet[6..9]
        } else {
            first[..4] == packet[..4] && first[7] == packet[7]
        };
        // Acknowledgement and length of the headers; window; urgent pointer and options.
        let alike = |from: usize, until: usize| first.get(from..until) == packet.get(from..until);
        is_ip_alike
            && headers == self.segment.headers
            && alike(tcp + 8, tcp + 13)
            && alike(tcp + 14, tcp + 16)
            && alike(tcp + 18, headers)
    }

    fn join(&mut self, packet: IpPacket, segment: &Segment) {
        let carried = packet.bytes().len() - segment.headers;
        let is_odd = !(self.length - self.segment.headers).is_multiple_of(2);
        self.sum += u32::from(if is_odd { segment.sum.swap_bytes() } else { segment.sum });
        self.length += carried;
        self.next = self.next.wrapping_add(carried as u32);
        self.is_pushed = segment.is_pushed;
        self.packets.push(packet);
    }

    /// Whether nothing can be joined any more.
    fn is_full(&self) -> bool {
        let carried = self.length - self.segment.headers;
        self.is_pushed || carried < self.packets.len() * self.payload || self.length + self.payload > RUN_MAX
    }

    /// The headers of the run, behind the one for the interface.
    fn headers(&self, room: &mut [u8; VNET_LEN + HEADERS_MAX]) -> usize {
        let Segment { transport, headers, .. } = self.segment;
        let first = self.packets[0].bytes();
        let is_v4 = first[0] >> 4 == 4;
        // The checksum is whole: whoever looks at the interface sees that it is right, and so does the kernel.
        let header = VnetHeader {
            gso: if is_v4 { Gso::Tcp4 } else { Gso::Tcp6 },
            header_len: headers as u16,
            segment_len: self.payload as u16,
            ..VnetHeader::default()
        };
        room[..VNET_LEN].copy_from_slice(&header.emit());
        let run = &mut room[VNET_LEN..VNET_LEN + headers];
        run.copy_from_slice(&first[..headers]);
        if is_v4 {
            run[2..4].copy_from_slice(&(self.length as u16).to_be_bytes());
            run[10..12].fill(0);
            let checksum = !fold(sum(&run[..transport], 0));
            run[10..12].copy_from_slice(&checksum.to_be_bytes());
        } else {
            run[4..6].copy_from_slice(&((self.length - V6_HEADER) as u16).to_be_bytes());
        }
        if self.is_pushed {
            run[transport + 13] |= PUSH;
        }
        run[transport + 16..transport + 18].fill(0);
        let beside = pseudo(addresses(first), TCP, self.length - transport);
        let checksum = !fold(sum(&run[transport..], u32::from(fold(self.sum)) + beside));
        run[transport + 16..transport + 18].copy_from_slice(&checksum.to_be_bytes());
        VNET_LEN + headers
    }

    fn write(&self, write: &mut impl FnMut(Parcel<'_>)) {
        if let [packet] = &self.packets[..] {
            pass(packet.bytes(), write);
            return;
        }
        let mut room = [0; VNET_LEN + HEADERS_MAX];
        let headers = self.headers(&mut room);
        let mut slices = Vec::with_capacity(1 + self.packets.len());
        slices.push(IoSlice::new(&room[..headers]));
        let carried = self.packets.iter().map(|packet| IoSlice::new(&packet.bytes()[self.segment.headers..]));
        slices.extend(carried);
        write(Parcel { slices: &slices, packets: self.packets.len() as u64 });
    }
}

/// Writes a packet unchanged.
fn pass(packet: &[u8], write: &mut impl FnMut(Parcel<'_>)) {
    let header = VnetHeader::default().emit();
    let slices = [IoSlice::new(&header), IoSlice::new(packet)];
    write(Parcel { slices: &slices, packets: 1 });
}

/// Segments that have arrived and are not yet written.
#[derive(Debug, Default)]
pub struct Coalescer {
    open: Vec<Open>,
    /// Empty lists for reuse.
    spare: Vec<Vec<IpPacket>>,
}

impl Coalescer {
    /// Takes a packet for the interface; writes those that cannot wait for others.
    pub fn add(&mut self, packet: IpPacket, mut write: impl FnMut(Parcel<'_>)) {
        let bytes = packet.bytes();
        let segment = Segment::read(bytes);
        let is_own = |open: &Open| is_same_flow(open.packets[0].bytes(), bytes);
        if let Some(place) = self.open.iter().position(is_own) {
            if let Some(segment) = segment.filter(|segment| self.open[place].fits(bytes, segment)) {
                self.open[place].join(packet, &segment);
                if self.open[place].is_full() {
                    self.close(place, &mut write);
                }
                return;
            }
            self.close(place, &mut write);
        }
        match segment {
            Some(segment) if !segment.is_pushed => {
                if self.open.len() == FLOWS {
                    self.close(0, &mut write);
                }
                let packets = self.spare.pop().unwrap_or_default();
                self.open.push(Open::new(packets, packet, segment));
            }
            _ => pass(bytes, &mut write),
        }
    }

    /// Writes everything.
    pub fn flush(&mut self, mut write: impl FnMut(Parcel<'_>)) {
        while !self.open.is_empty() {
            self.close(0, &mut write);
        }
    }

    fn close(&mut self, place: usize, write: &mut impl FnMut(Parcel<'_>)) {
        let mut open = self.open.remove(place);
        open.write(write);
        open.packets.clear();
        self.spare.push(open.packets);
    }
}
