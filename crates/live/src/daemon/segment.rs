//! Cuts the kernel's runs into their packets: segments of TCP, or UDP datagrams, each with the headers that it would
//! have had (RFC 9293, RFC 768, RFC 791; Linux's GSO).
//!
//! A run stays whole until one of its segments is written where it is sealed: nothing is copied twice.

use super::checksum::{fold, pseudo, sum};
use super::inner::{TCP, UDP, V4_HEADER, V6_HEADER};
use crate::vnet::{Gso, VnetHeader};

/// Flags of TCP that only the last segment of a run has: FIN and PSH; and CWR, which only the first has.
const LAST: u8 = 0x09;
const FIRST: u8 = 0x80;
/// Length of a TCP header without options, and of a UDP header \[byte\].
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// Longest run: IP's lengths have 16 bits \[byte\].
const RUN_MAX: usize = 65_535;

/// The read packet is malformed: its headers are shorter than they claim, or wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The cuts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Offset of TCP or UDP \[byte\].
    transport: usize,
    /// Length of all headers \[byte\].
    headers: usize,
    /// Payload of a segment \[byte\].
    payload: usize,
    /// Length of the run \[byte\].
    length: usize,
    is_tcp: bool,
}

/// Makes a packet ready as it was read: completes its checksum, or returns its cuts.
///
/// # Errors
/// [`Malformed`]: it cannot be carried.
pub fn finish(header: &VnetHeader, packet: &mut [u8]) -> Result<Option<Cut>, Malformed> {
    if header.gso != Gso::None {
        return Cut::new(header, packet).map(Some).ok_or(Malformed);
    }
    if header.needs_checksum {
        let start = usize::from(header.checksum_start);
        let place = start + usize::from(header.checksum_offset);
        let total = fold(sum(packet.get(start..).ok_or(Malformed)?, 0));
        let field = packet.get_mut(place..place + 2).ok_or(Malformed)?;
        field.copy_from_slice(&never_zero(!total).to_be_bytes());
    }
    Ok(None)
}

/// Replaces a zero checksum, which means that there is none (RFC 768), by its other form.
const fn never_zero(checksum: u16) -> u16 {
    if checksum == 0 { 0xffff } else { checksum }
}

impl Cut {
    fn new(header: &VnetHeader, packet: &[u8]) -> Option<Self> {
        let is_v4 = packet.first()? >> 4 == 4;
        let is_tcp = header.gso != Gso::Udp;
        let protocol = if is_tcp { TCP } else { UDP };
        let (transport, said) =
            if is_v4 { (usize::from(packet[0] & 15) * 4, *packet.get(9)?) } else { (V6_HEADER, *packet.get(6)?) };
        let is_right = match header.gso {
            Gso::Tcp4 => is_v4,
            Gso::Tcp6 => packet[0] >> 4 == 6,
            _ => is_v4 || packet[0] >> 4 == 6,
        };
        if !is_right || said != protocol || is_v4 && transport < V4_HEADER {
            return None;
        }
        let headers = if is_tcp {
            let offset = usize::from(packet.get(transport + 12)? >> 4) * 4;
            transport + (offset >= TCP_HEADER).then_some(offset)?
        } else {
            transport + UDP_HEADER
        };
        let (payload, length) = (usize::from(header.segment_len), packet.len());
        (payload > 0 && headers <= length && length <= RUN_MAX).then_some(Self {
            transport,
            headers,
            payload,
            length,
            is_tcp,
        })
    }

    /// Number of segments of the run: at least one.
    pub fn count(&self) -> usize {
        (self.length - self.headers).div_ceil(self.payload).max(1)
    }

    /// Length of a segment with its headers \[byte\].
    pub fn segment_len(&self, index: usize) -> usize {
        let rest = (self.length - self.headers).saturating_sub(index * self.payload);
        self.headers + rest.min(self.payload)
    }

    /// Appends a segment of `run` to `out`.
    pub fn write(&self, run: &[u8], index: usize, out: &mut Vec<u8>) {
        let from = self.headers + index * self.payload;
        let until = from + self.segment_len(index) - self.headers;
        let start = out.len();
        out.extend_from_slice(&run[..self.headers]);
        out.extend_from_slice(&run[from..until]);
        let segment = &mut out[start..];
        self.set_ip(segment, index);
        if self.is_tcp {
            self.set_tcp(segment, index, until == self.length);
        } else {
            let length = (segment.len() - self.transport) as u16;
            segment[self.transport + 4..self.transport + 6].copy_from_slice(&length.to_be_bytes());
        }
        self.set_checksum(segment);
    }

    fn set_ip(&self, segment: &mut [u8], index: usize) {
        if segment[0] >> 4 == 4 {
            let length = segment.len() as u16;
            segment[2..4].copy_from_slice(&length.to_be_bytes());
            let id = u16::from_be_bytes([segment[4], segment[5]]).wrapping_add(index as u16);
            segment[4..6].copy_from_slice(&id.to_be_bytes());
            segment[10..12].fill(0);
            let checksum = !fold(sum(&segment[..self.transport], 0));
            segment[10..12].copy_from_slice(&checksum.to_be_bytes());
        } else {
            let length = (segment.len() - V6_HEADER) as u16;
            segment[4..6].copy_from_slice(&length.to_be_bytes());
        }
    }

    fn set_tcp(&self, segment: &mut [u8], index: usize, is_last: bool) {
        let tcp = &mut segment[self.transport..];
        let number = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let number = number.wrapping_add((index * self.payload) as u32);
        tcp[4..8].copy_from_slice(&number.to_be_bytes());
        if !is_last {
            tcp[13] &= !LAST;
        }
        if index > 0 {
            tcp[13] &= !FIRST;
        }
    }

    fn set_checksum(&self, segment: &mut [u8]) {
        let (ip, transport) = segment.split_at_mut(self.transport);
        let addresses = if ip[0] >> 4 == 4 { &ip[12..20] } else { &ip[8..40] };
        let (protocol, at) = if self.is_tcp { (TCP, 16) } else { (UDP, 6) };
        transport[at..at + 2].fill(0);
        let checksum = !fold(sum(transport, pseudo(addresses, protocol, transport.len())));
        let checksum = if self.is_tcp { checksum } else { never_zero(checksum) };
        transport[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    }
}
