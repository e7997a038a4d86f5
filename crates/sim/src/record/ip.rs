//! IPv4 packets with TCP or UDP as bytes, for captures: headers and checksums are real, the payload is zeros.
//!
//! RFC 791, RFC 9293, RFC 768, RFC 826. Never parses, and is never asked on a run without a capture.

/// An IPv4 address.
pub type Ipv4 = [u8; 4];

/// The address of all hosts (RFC 919).
pub const IP_BROADCAST: Ipv4 = [255; 4];

/// The IPv4 address of node `index`: 10.0.0.1 for the first, counting upwards through 10.0.0.0/8.
pub const fn ip_address(index: u32) -> Ipv4 {
    let host = index.wrapping_add(1);
    [10, (host >> 16) as u8, (host >> 8) as u8, host as u8]
}

/// The IPv4 address of an end of a link, by its number: 172.16.0.1 for the first, counting upwards through
/// 172.16.0.0/12.
pub const fn link_address(end: u32) -> Ipv4 {
    let host = end.wrapping_add(1);
    [172, 16 | (host >> 16) as u8 & 15, (host >> 8) as u8, host as u8]
}

/// The fields of an IPv4 header that differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IpHeader {
    pub source: Ipv4,
    pub destination: Ipv4,
    /// Identification.
    pub ident: u16,
    /// Time to live.
    pub ttl: u8,
}

/// A packet with a transport's header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapturedPacket<'a> {
    pub ip: IpHeader,
    pub source_port: u16,
    pub destination_port: u16,
    /// TCP or UDP.
    pub transport: CapturedTransport<'a>,
    /// Bytes of the transport's payload.
    pub payload: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CapturedTransport<'a> {
    Tcp {
        /// Sequence number.
        seq: u32,
        /// Acknowledgement number.
        ack: u32,
        /// FIN 1, SYN 2, RST 4, PSH 8, ACK 16.
        flags: u8,
        /// The window field, already shifted.
        window: u16,
        /// Options; filled up with end-of-options to a multiple of four, cut at 40 byte.
        options: &'a [u8],
    },
    Udp,
}

/// The TTL with which most hosts begin.
pub const INITIAL_TTL: u8 = 64;
/// Length of an IPv4 header without options \[byte\].
pub const IP_HEADER: usize = 20;
/// Length of a TCP header without options, and the longest options \[byte\].
const TCP_HEADER: usize = 20;
const TCP_OPTIONS: usize = 40;
/// Length of a UDP header \[byte\].
pub const UDP_HEADER: usize = 8;
/// Protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// "Do not fragment": nothing here fragments.
const DONT_FRAGMENT: u16 = 0x4000;

/// Appends an IPv4 header before `length` byte of `protocol` to `out`.
pub fn append_header(out: &mut Vec<u8>, ip: &IpHeader, protocol: u8, length: usize) {
    let mut header = [0; IP_HEADER];
    header[0] = 0x45;
    header[2..4].copy_from_slice(&((IP_HEADER + length).min(usize::from(u16::MAX)) as u16).to_be_bytes());
    header[4..6].copy_from_slice(&ip.ident.to_be_bytes());
    header[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
    header[8..10].copy_from_slice(&[ip.ttl, protocol]);
    header[12..16].copy_from_slice(&ip.source);
    header[16..].copy_from_slice(&ip.destination);
    let checksum = fold(sum(&header));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    out.extend_from_slice(&header);
}

/// Appends the headers of a packet to `out`; returns the number of zeros that are its payload.
pub fn append(out: &mut Vec<u8>, packet: &CapturedPacket<'_>) -> usize {
    let (protocol, header) = match packet.transport {
        CapturedTransport::Tcp { options, .. } => (TCP, TCP_HEADER + padded(options)),
        CapturedTransport::Udp => (UDP, UDP_HEADER),
    };
    // The length field has 16 bits; a run of segments longer than that is cut.
    let room = usize::from(u16::MAX) - IP_HEADER - header;
    let payload = (packet.payload as usize).min(room);
    let segment = header + payload;
    append_header(out, &packet.ip, protocol, segment);
    let at = out.len();
    let ([a, b], [c, d]) = (packet.source_port.to_be_bytes(), packet.destination_port.to_be_bytes());
    let checksum_at = match packet.transport {
        CapturedTransport::Tcp { seq, ack, flags, window, options } => {
            let mut fixed = [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, flags, 0, 0, 0, 0, 0, 0];
            fixed[4..8].copy_from_slice(&seq.to_be_bytes());
            fixed[8..12].copy_from_slice(&ack.to_be_bytes());
            fixed[12] = ((header / 4) << 4) as u8;
            fixed[14..16].copy_from_slice(&window.to_be_bytes());
            out.extend_from_slice(&fixed);
            out.extend_from_slice(&options[..options.len().min(TCP_OPTIONS)]);
            out.resize(at + header, 0);
            at + 16
        }
        CapturedTransport::Udp => {
            let [high, low] = (segment as u16).to_be_bytes();
            out.extend_from_slice(&[a, b, c, d, high, low, 0, 0]);
            at + 6
        }
    };
    // Zeros add nothing to the sum.
    let checksum = transport_checksum(&packet.ip, protocol, segment, &out[at..]);
    out[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    payload
}

/// Appends a UDP datagram with this payload, at most 1 kB long, to `out`.
pub fn append_datagram(out: &mut Vec<u8>, ip: &IpHeader, port: u16, payload: &[u8]) {
    let length = UDP_HEADER + payload.len();
    append_header(out, ip, UDP, length);
    let at = out.len();
    append_udp_header(out, port, length);
    out.extend_from_slice(payload);
    let checksum = transport_checksum(ip, UDP, length, &out[at..]);
    out[at + 6..at + 8].copy_from_slice(&checksum.to_be_bytes());
}

/// Appends the headers of a UDP datagram from a port to the same one, `length` byte long with its own, without a
/// checksum.
pub fn append_datagram_headers(out: &mut Vec<u8>, ip: &IpHeader, port: u16, length: usize) {
    append_header(out, ip, UDP, length);
    append_udp_header(out, port, length);
}

fn append_udp_header(out: &mut Vec<u8>, port: u16, length: usize) {
    let ([a, b], [c, d]) = (port.to_be_bytes(), (length as u16).to_be_bytes());
    out.extend_from_slice(&[a, b, a, b, c, d, 0, 0]);
}

fn transport_checksum(ip: &IpHeader, protocol: u8, length: usize, bytes: &[u8]) -> u16 {
    let pseudo = sum(&ip.source) + sum(&ip.destination) + u32::from(protocol) + length as u32;
    match fold(pseudo + sum(bytes)) {
        // RFC 768: zero means "no checksum".
        0 if protocol == UDP => u16::MAX,
        checksum => checksum,
    }
}

/// An ARP message for Ethernet and IPv4 (RFC 826): operation, then hardware and protocol address of sender and target.
pub fn arp(operation: u16, sender: ([u8; 6], Ipv4), target: ([u8; 6], Ipv4)) -> [u8; 28] {
    let mut bytes = [0, 1, 8, 0, 6, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes[6..8].copy_from_slice(&operation.to_be_bytes());
    for (at, (hardware, protocol)) in [(8, sender), (18, target)] {
        bytes[at..at + 6].copy_from_slice(&hardware);
        bytes[at + 6..at + 10].copy_from_slice(&protocol);
    }
    bytes
}

/// Length of TCP options on the wire, padded to words.
fn padded(options: &[u8]) -> usize {
    options.len().min(TCP_OPTIONS).next_multiple_of(4)
}

/// Sum of the 16-bit words of `bytes`; an odd last byte is the high half of one.
fn sum(bytes: &[u8]) -> u32 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let last = rest.first().map_or(0, |byte| u32::from(*byte) << 8);
    pairs.iter().map(|pair| u32::from(u16::from_be_bytes(*pair))).sum::<u32>() + last
}

/// The Internet checksum of a sum: carries added, complement taken (RFC 1071).
fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    let twice = (once & 0xffff) + (once >> 16);
    !(twice as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IP: IpHeader = IpHeader { source: ip_address(0), destination: ip_address(1), ident: 7, ttl: 64 };

    #[test]
    fn addresses_count_through_the_network() {
        assert_eq!(ip_address(0), [10, 0, 0, 1]);
        assert_eq!(ip_address(255), [10, 0, 1, 0]);
        assert_eq!(ip_address(65_535), [10, 1, 0, 0]);
        assert_eq!(link_address(0), [172, 16, 0, 1]);
        assert_eq!(link_address(65_535), [172, 17, 0, 0]);
    }

    #[test]
    fn lengths_are_those_of_the_descriptor() {
        let packet = CapturedPacket {
            ip: IP,
            source_port: 50_000,
            destination_port: 50_001,
            transport: CapturedTransport::Tcp { seq: 1, ack: 2, flags: 16, window: 3, options: &[1, 1, 8, 10, 0] },
            payload: 100,
        };
        let mut out = vec![0xee];
        assert_eq!(append(&mut out, &packet), 100);
        assert_eq!(out.len(), 1 + 20 + 28);
        // A header whose checksum is right sums up to all ones.
        assert_eq!(fold(sum(&out[1..21])), 0);
        let mut udp = Vec::new();
        let zeros =
            append(&mut udp, &CapturedPacket { transport: CapturedTransport::Udp, payload: u32::MAX, ..packet });
        assert_eq!(udp.len() + zeros, 65_535);
    }

    #[test]
    fn the_checksum_of_a_datagram_covers_an_odd_last_byte() {
        let mut out = Vec::new();
        append_datagram(&mut out, &IP, 654, &[1, 2, 3]);
        assert_eq!(transport_checksum(&IP, UDP, 11, &out[20..]), u16::MAX);
    }
}
