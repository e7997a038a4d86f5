//! The header before each packet of a TUN device with `IFF_VNET_HDR`: `struct virtio_net_hdr`, ten bytes in the
//! machine's byte order (virtio 1.2, section 5.1.6; `linux/virtio_net.h`). It lists the work that is left: a checksum
//! to complete, and the segments to cut.

/// Its length \[byte\].
pub const VNET_LEN: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const NONE: u8 = 0;
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP: u8 = 5;
/// Beside TCP: the first segment alone has CWR.
const ECN: u8 = 0x80;

/// The kind of the segments to cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gso {
    /// None: one packet.
    #[default]
    None,
    /// Segments of TCP over IPv4.
    Tcp4,
    /// Segments of TCP over IPv6.
    Tcp6,
    /// UDP datagrams.
    Udp,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VnetHeader {
    /// The checksum holds the sum of the pseudo header only.
    pub needs_checksum: bool,
    /// The kind of its segments.
    pub gso: Gso,
    /// A TCP with CWR.
    pub has_ecn: bool,
    /// Length of all headers, as a hint \[byte\].
    pub header_len: u16,
    /// Payload of each segment but the last, behind its headers \[byte\].
    pub segment_len: u16,
    /// Offset where the checksum begins to count.
    pub checksum_start: u16,
    /// Offset of the checksum behind that.
    pub checksum_offset: u16,
}

impl VnetHeader {
    /// As bytes.
    pub fn emit(&self) -> [u8; VNET_LEN] {
        let gso = match self.gso {
            Gso::None => NONE,
            Gso::Tcp4 => TCP4,
            Gso::Tcp6 => TCP6,
            Gso::Udp => UDP,
        };
        let words = [self.header_len, self.segment_len, self.checksum_start, self.checksum_offset];
        let mut bytes = [0; VNET_LEN];
        bytes[0] = if self.needs_checksum { NEEDS_CHECKSUM } else { 0 };
        bytes[1] = gso | if self.has_ecn { ECN } else { 0 };
        for (place, word) in bytes[2..].chunks_exact_mut(2).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// Parses the beginning of `bytes`; `None` if they are too short, or request an offload that was not offered.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let &[flags, gso, a, b, c, d, e, f, g, h] = bytes.first_chunk::<VNET_LEN>()?;
        let kind = match gso & !ECN {
            NONE => Gso::None,
            TCP4 => Gso::Tcp4,
            TCP6 => Gso::Tcp6,
            UDP => Gso::Udp,
            _ => return None,
        };
        Some(Self {
            needs_checksum: flags & NEEDS_CHECKSUM != 0,
            gso: kind,
            has_ecn: gso & ECN != 0,
            header_len: u16::from_ne_bytes([a, b]),
            segment_len: u16::from_ne_bytes([c, d]),
            checksum_start: u16::from_ne_bytes([e, f]),
            checksum_offset: u16::from_ne_bytes([g, h]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_parsed_is_what_was_emitted(bytes: [u8; VNET_LEN]) {
            if let Some(header) = VnetHeader::parse(&bytes) {
                // Flags that say that a checksum was verified are not kept.
                prop_assert_eq!(&header.emit()[1..], &bytes[1..]);
                prop_assert_eq!(VnetHeader::parse(&header.emit()), Some(header));
            }
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        assert_eq!(VnetHeader::parse(&[0; VNET_LEN - 1]), None);
        let mut bytes = [0; VNET_LEN];
        // UFO, which was never asked for.
        bytes[1] = 3;
        assert_eq!(VnetHeader::parse(&bytes), None);
    }
}
