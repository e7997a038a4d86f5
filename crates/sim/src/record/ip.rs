//! IPv4 packets with TCP or UDP as bytes, for captures: headers and checksums are real, the payload is zeros.
//!
//! RFC 791, RFC 9293, RFC 768. Never parses, and is never asked on a run without a capture.

/// The IPv4 address of node `index`: 10.0.0.1 for the first, counting upwards through 10.0.0.0/8.
pub const fn ip_address(index: u32) -> [u8; 4] {
    let host = index.wrapping_add(1);
    [10, (host >> 16) as u8, (host >> 8) as u8, host as u8]
}

/// A packet inside a data frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapturedPacket<'a> {
    /// The trunk's header in front of the IP header, if it crosses a trunk.
    pub trunk_header: Option<&'a [u8]>,
    /// Index of the node that sent it first.
    pub source: u32,
    /// Index of the node that it is for.
    pub destination: u32,
    /// Identification.
    pub ident: u16,
    /// Time to live.
    pub ttl: u8,
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
    /// A packet of a real host: the IP packet with all its headers; nothing else here describes it.
    Whole(&'a [u8]),
}

/// Length of an IPv4 header without options \[byte\].
const IP_HEADER: usize = 20;
/// Length of a TCP header without options, and the longest options \[byte\].
const TCP_HEADER: usize = 20;
const TCP_OPTIONS: usize = 40;
/// Length of a UDP header \[byte\].
const UDP_HEADER: usize = 8;
/// Protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// "Do not fragment": nothing here fragments.
const DONT_FRAGMENT: u16 = 0x4000;

/// Appends the IP packet, all of its payload included, to `out`.
pub fn append(out: &mut Vec<u8>, packet: &CapturedPacket<'_>) {
    let start = out.len();
    let (protocol, header) = match packet.transport {
        CapturedTransport::Tcp { options, .. } => (TCP, TCP_HEADER + padded(options)),
        CapturedTransport::Udp => (UDP, UDP_HEADER),
        CapturedTransport::Whole(bytes) => {
            out.extend(bytes);
            return;
        }
    };
    // The length field has 16 bits; a run of segments longer than that is cut.
    let room = usize::from(u16::MAX) - IP_HEADER - header;
    let segment = header + (packet.payload as usize).min(room);
    let (source, destination) = (ip_address(packet.source), ip_address(packet.destination));

    out.extend([0x45, 0]);
    out.extend(((IP_HEADER + segment) as u16).to_be_bytes());
    out.extend(packet.ident.to_be_bytes());
    out.extend(DONT_FRAGMENT.to_be_bytes());
    out.extend([packet.ttl, protocol, 0, 0]);
    out.extend(source);
    out.extend(destination);
    let checksum = fold(sum(&out[start..]));
    out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());

    let at = out.len();
    out.extend(packet.source_port.to_be_bytes());
    out.extend(packet.destination_port.to_be_bytes());
    let checksum_at = match packet.transport {
        CapturedTransport::Tcp { seq, ack, flags, window, options } => {
            let options = &options[..options.len().min(TCP_OPTIONS)];
            out.extend(seq.to_be_bytes());
            out.extend(ack.to_be_bytes());
            out.extend([((header / 4) << 4) as u8, flags]);
            out.extend(window.to_be_bytes());
            out.extend([0; 4]);
            out.extend(options);
            out.resize(at + header, 0);
            at + 16
        }
        CapturedTransport::Udp => {
            out.extend((segment as u16).to_be_bytes());
            out.extend([0; 2]);
            at + 6
        }
        CapturedTransport::Whole(_) => return,
    };
    // Zeros add nothing to the sum, so the payload is appended after it.
    let pseudo = sum(&source) + sum(&destination) + u32::from(protocol) + segment as u32;
    let checksum = match fold(pseudo + sum(&out[at..])) {
        // RFC 768: zero means "no checksum".
        0 if protocol == UDP => u16::MAX,
        checksum => checksum,
    };
    out[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    out.resize(at + segment, 0);
}

/// Length of TCP options on the wire, padded to words.
fn padded(options: &[u8]) -> usize {
    options.len().min(TCP_OPTIONS).next_multiple_of(4)
}

/// Sum of the 16-bit words of `bytes`, an even number of them.
fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum()
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

    #[test]
    fn addresses_count_through_the_network() {
        assert_eq!(ip_address(0), [10, 0, 0, 1]);
        assert_eq!(ip_address(255), [10, 0, 1, 0]);
        assert_eq!(ip_address(65_535), [10, 1, 0, 0]);
    }

    #[test]
    fn lengths_are_those_of_the_descriptor() {
        let packet = CapturedPacket {
            trunk_header: None,
            source: 0,
            destination: 1,
            ident: 7,
            ttl: 64,
            source_port: 50_000,
            destination_port: 50_001,
            transport: CapturedTransport::Tcp { seq: 1, ack: 2, flags: 16, window: 3, options: &[1, 1, 8, 10, 0] },
            payload: 100,
        };
        let mut out = vec![0xee];
        append(&mut out, &packet);
        assert_eq!(out.len(), 1 + 20 + 28 + 100);
        // A header whose checksum is right sums up to all ones.
        assert_eq!(fold(sum(&out[1..21])), 0);
        let mut udp = Vec::new();
        append(&mut udp, &CapturedPacket { transport: CapturedTransport::Udp, payload: u32::MAX, ..packet });
        assert_eq!(udp.len(), 65_535);
    }
}
