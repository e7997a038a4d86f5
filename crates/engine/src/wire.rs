//! Byte formats: what the daemon sends, what captures show, what the fuzzers attack. Parsing and emitting, no state.
//!
//! Trunk header, 22 bytes, network byte order:
//!
//! ```text
//!  0         1        2       4        8               12                16       18              22
//!  | version | member | epoch | number | member number | member previous | bucket | bucket number |
//! ```

use crate::trunk::{Header, Member};
use airbraid_units::SeqNum;

/// The version that this code speaks.
pub const TRUNK_VERSION: u8 = 1;
/// Length of the trunk header \[byte\].
pub const TRUNK_HEADER_LEN: usize = 22;

/// Why bytes are not a trunk header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// There are fewer bytes than a header has.
    Truncated,
    /// It is of a version that this code does not speak.
    Version(u8),
}

/// Writes a trunk header.
pub fn emit_trunk_header(header: &Header) -> [u8; TRUNK_HEADER_LEN] {
    let mut bytes = [0; TRUNK_HEADER_LEN];
    bytes[0] = TRUNK_VERSION;
    bytes[1] = header.member.0;
    bytes[2..4].copy_from_slice(&header.epoch.to_be_bytes());
    bytes[4..8].copy_from_slice(&header.number.0.to_be_bytes());
    bytes[8..12].copy_from_slice(&header.member_number.0.to_be_bytes());
    bytes[12..16].copy_from_slice(&header.member_previous.0.to_be_bytes());
    bytes[16..18].copy_from_slice(&header.bucket.to_be_bytes());
    bytes[18..22].copy_from_slice(&header.bucket_number.0.to_be_bytes());
    bytes
}

/// Reads a trunk header; gives it and what follows.
///
/// # Errors
/// [`WireError`] if there are too few bytes or the version is another.
pub fn parse_trunk_header(bytes: &[u8]) -> Result<(Header, &[u8]), WireError> {
    let (head, rest) = bytes.split_first_chunk::<TRUNK_HEADER_LEN>().ok_or(WireError::Truncated)?;
    if head[0] != TRUNK_VERSION {
        return Err(WireError::Version(head[0]));
    }
    let short = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let long = |at: usize| SeqNum(u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
    let header = Header {
        epoch: short(2),
        member: Member(head[1]),
        number: long(4),
        member_number: long(8),
        member_previous: long(12),
        bucket: short(16),
        bucket_number: long(18),
    };
    Ok((header, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_emitted_is_parsed(
            member: u8, epoch: u16, numbers: [u32; 4], bucket: u16, rest in prop::collection::vec(any::<u8>(), 0..8)
        ) {
            let header = Header {
                epoch,
                member: Member(member),
                number: SeqNum(numbers[0]),
                member_number: SeqNum(numbers[1]),
                member_previous: SeqNum(numbers[2]),
                bucket,
                bucket_number: SeqNum(numbers[3]),
            };
            let mut bytes = emit_trunk_header(&header).to_vec();
            bytes.extend(&rest);
            prop_assert_eq!(parse_trunk_header(&bytes), Ok((header, &rest[..])));
        }

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            match parse_trunk_header(&bytes) {
                Ok((header, rest)) => {
                    prop_assert_eq!(&emit_trunk_header(&header)[..], &bytes[..TRUNK_HEADER_LEN]);
                    prop_assert_eq!(rest.len(), bytes.len() - TRUNK_HEADER_LEN);
                }
                Err(WireError::Truncated) => prop_assert!(bytes.len() < TRUNK_HEADER_LEN),
                Err(WireError::Version(version)) => prop_assert!(version != TRUNK_VERSION),
            }
        }
    }
}
