//! Byte formats, for the daemon, captures and fuzzers. Parsing and emitting, no state.
//!
//! Network byte order. Trunk header, 24 bytes:
//!
//! ```text
//!  0         1        2       4        8               12                16       18              22          24
//!  | version | member | epoch | number | member number | member previous | bucket | bucket number | unsettled |
//! ```
//!
//! Control frames of a trunk; how many numbers are missing follows from the length:
//!
//! ```text
//!  0         1   2       4            8                12
//!  | version | 1 | zero  | round      | counter        |
//!  | version | 2 | epoch | next       | missing, 0 to 4 numbers ...
//!
//!  0         1   2       4        5      6           8          12       16
//!  | version | 3 | epoch | member | zero | unsettled | previous | number | zeros ...
//! ```

mod beacon;
mod link;
mod session;
mod tunnel;

pub use beacon::{BEACON_LEN, BEACON_VERSION, emit_beacon, parse_beacon};
pub use link::{
    LINK_HEADER_LEN, LINK_VERSION, WINDOW_HEADER_LEN, emit_link_header, emit_window_header, parse_link_header,
    parse_window_header,
};
pub use session::{
    COOKIE_REPLY_LEN, INITIATION_LEN, RESPONSE_LEN, SESSION_VERSION, STAMP_REPLY_LEN, SessionMessage,
    emit_cookie_reply, emit_frame_header, emit_initiation, emit_response, emit_stamp_reply, parse_frame_header,
    parse_session,
};
pub use tunnel::{
    TUNNEL_HEADER_LEN, TUNNEL_PATH_LEN, TUNNEL_PROBE_LEN, TUNNEL_REPAIR_LEN, TUNNEL_VERSION, TunnelFrame,
    emit_tunnel_feedback, emit_tunnel_header, emit_tunnel_path, emit_tunnel_probe, emit_tunnel_repair, parse_tunnel,
};

use crate::trunk::Member;
use crate::trunk::paper::{Control, Header, Missing};
use airbraid_units::SeqNum;

/// The version that this code speaks.
pub const TRUNK_VERSION: u8 = 1;
/// Length of the trunk header \[byte\].
pub const TRUNK_HEADER_LEN: usize = 24;

/// The reason why bytes are not the expected header or control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// There are fewer bytes than a header has.
    Truncated,
    /// A version that this code does not speak.
    Version(u8),
    /// An unknown kind, or another than expected.
    Kind(u8),
    /// It is longer than its kind allows, or a reserved field is not zero.
    Malformed,
    /// Its check does not hold.
    Check,
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
    bytes[22..24].copy_from_slice(&header.unsettled.to_be_bytes());
    bytes
}

/// Reads a trunk header; returns it and the rest.
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
        unsettled: short(22),
    };
    Ok((header, rest))
}

/// Appends a control frame to `out`.
pub fn emit_control(control: &Control, out: &mut Vec<u8>) {
    let mut head = |kind: u8, epoch: u16| {
        out.extend([TRUNK_VERSION, kind]);
        out.extend(epoch.to_be_bytes());
    };
    match *control {
        Control::Surplus { round, counter } => {
            head(1, 0);
            out.extend(round.to_be_bytes());
            out.extend(counter.to_be_bytes());
        }
        Control::Acknowledgement { epoch, next, missing } => {
            head(2, epoch);
            out.extend(next.0.to_be_bytes());
            out.extend(missing.iter().flat_map(|number| number.0.to_be_bytes()));
        }
        Control::Marker { epoch, member, previous, number, unsettled, padding } => {
            head(3, epoch);
            out.extend([member.0, 0]);
            out.extend(unsettled.to_be_bytes());
            out.extend(previous.0.to_be_bytes());
            out.extend(number.0.to_be_bytes());
            out.resize(out.len() + usize::from(padding), 0);
        }
    }
}

/// Reads a control frame, which is all of `bytes`.
///
/// # Errors
/// [`WireError`] if it is none.
pub fn parse_control(bytes: &[u8]) -> Result<Control, WireError> {
    let (head, body) = bytes.split_first_chunk::<4>().ok_or(WireError::Truncated)?;
    if head[0] != TRUNK_VERSION {
        return Err(WireError::Version(head[0]));
    }
    let epoch = u16::from_be_bytes([head[2], head[3]]);
    if head[1] == 3 {
        return parse_marker(epoch, body);
    }
    let (words, rest) = body.as_chunks::<4>();
    if words.len() > 1 + Missing::CAPACITY || words.len() == 1 + Missing::CAPACITY && !rest.is_empty() {
        return Err(WireError::Malformed);
    }
    if !rest.is_empty() {
        return Err(WireError::Truncated);
    }
    match (head[1], words) {
        (1, &[round, counter]) if epoch == 0 => {
            Ok(Control::Surplus { round: u32::from_be_bytes(round), counter: i32::from_be_bytes(counter) })
        }
        (2, &[next, ref numbers @ ..]) => {
            let mut missing = Missing::default();
            for number in numbers {
                missing.push(SeqNum(u32::from_be_bytes(*number)));
            }
            Ok(Control::Acknowledgement { epoch, next: SeqNum(u32::from_be_bytes(next)), missing })
        }
        (1, &[] | &[_]) | (2, &[]) => Err(WireError::Truncated),
        (1, _) => Err(WireError::Malformed),
        (kind, _) => Err(WireError::Kind(kind)),
    }
}

fn parse_marker(epoch: u16, body: &[u8]) -> Result<Control, WireError> {
    let (&[member, zero, high, low, ref numbers @ ..], padding) =
        body.split_first_chunk::<12>().ok_or(WireError::Truncated)?;
    let [a, b, c, d, e, f, g, h] = *numbers;
    let is_silent = zero == 0 && padding.iter().all(|&byte| byte == 0);
    let padding = u16::try_from(padding.len()).ok().filter(|_| is_silent).ok_or(WireError::Malformed)?;
    Ok(Control::Marker {
        epoch,
        member: Member(member),
        previous: SeqNum(u32::from_be_bytes([a, b, c, d])),
        number: SeqNum(u32::from_be_bytes([e, f, g, h])),
        unsettled: u16::from_be_bytes([high, low]),
        padding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> impl Strategy<Value = Control> {
        let missing = prop::collection::vec(any::<u32>(), 0..=Missing::CAPACITY);
        prop_oneof![
            any::<(u32, i32)>().prop_map(|(round, counter)| Control::Surplus { round, counter }),
            (any::<(u16, u32)>(), missing).prop_map(|((epoch, next), numbers)| {
                let mut missing = Missing::default();
                assert!(numbers.into_iter().all(|number| missing.push(SeqNum(number))));
                Control::Acknowledgement { epoch, next: SeqNum(next), missing }
            }),
            (any::<(u16, u8, u32, u32, u16)>(), 0u16..2_000).prop_map(|(fields, padding)| {
                let (epoch, member, previous, number, unsettled) = fields;
                let (previous, number) = (SeqNum(previous), SeqNum(number));
                Control::Marker { epoch, member: Member(member), previous, number, unsettled, padding }
            }),
        ]
    }
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_emitted_is_parsed(
            member: u8,
            epoch: u16,
            numbers: [u32; 4],
            shorts: [u16; 2],
            rest in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            let header = Header {
                epoch,
                member: Member(member),
                number: SeqNum(numbers[0]),
                member_number: SeqNum(numbers[1]),
                member_previous: SeqNum(numbers[2]),
                bucket: shorts[0],
                bucket_number: SeqNum(numbers[3]),
                unsettled: shorts[1],
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
                Err(other) => panic!("{other:?} of a header"),
            }
        }

        #[test]
        fn a_control_frame_that_is_emitted_is_parsed_and_any_beginning_of_it_is_too_short(control in control()) {
            let mut bytes = vec![];
            emit_control(&control, &mut bytes);
            prop_assert_eq!(parse_control(&bytes), Ok(control));
            let least = match control {
                Control::Surplus { .. } => bytes.len(),
                Control::Acknowledgement { .. } => 8,
                Control::Marker { .. } => 16,
            };
            for len in 0..bytes.len() {
                let shorter = parse_control(&bytes[..len]);
                // A list of numbers may end behind each of them, zeros anywhere.
                prop_assert!(shorter == Err(WireError::Truncated) || (shorter.is_ok() && len >= least));
            }
        }

        #[test]
        fn any_bytes_are_answered_as_a_control_frame(
            start in (1u8..=1, 0u8..6), rest in prop::collection::vec(any::<u8>(), 0..40)
        ) {
            let mut bytes = vec![start.0, start.1];
            bytes.extend(rest);
            if let Ok(control) = parse_control(&bytes) {
                let mut again = vec![];
                emit_control(&control, &mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
