//! The layout of the kernel's messages: headers, attributes, numbers in host order (`netlink(7)`).

use super::HEADER;

/// The mask of an attribute's type: the other bits mark nested attributes and network order (`NLA_TYPE_MASK`).
const TYPE_MASK: u16 = 0x3fff;

/// The messages in the kernel's datagram: type, flags, sequence number, body.
pub(super) fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (u16, u16, u32, &[u8])> {
    std::iter::from_fn(move || {
        let length = word(bytes, 0)? as usize;
        let (kind, flags) = (half(bytes, 4)?, half(bytes, 6)?);
        let sequence = word(bytes, 8)?;
        let body = bytes.get(HEADER..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, flags, sequence, body))
    })
}

/// The attributes behind a fixed part.
pub(super) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(half(bytes, 0)?);
        let kind = half(bytes, 2)? & TYPE_MASK;
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

pub(super) fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes)
}

pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}
