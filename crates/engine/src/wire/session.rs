//! Byte formats of link security: the messages of a handshake and the header of a sealed frame.
//!
//! The first byte is the format's version (high half) and the kind. A message is exactly as long as its kind:
//!
//! ```text
//!  0           1        2         3        4        8                     112     128           144
//!  | version 1 | oldest | newest  | suites | sender | Noise message 1     | MAC   | cookie MAC  |
//!  0           1                           4          8                     64      80
//!  | version 2 | zeros                     | receiver | Noise message 2     | MAC   |
//!  0           1                           4          8       20              52
//!  | version 3 | zeros                     | receiver | nonce | sealed cookie |
//!  0           1                           4          8                       68      84
//!  | version 6 | zeros                     | receiver | Noise message 2       | MAC   |
//! ```
//!
//! The last, the stamp reply, is a second message whose sealed part is longer, and so none of kind 2: the lengths of
//! both are sealed with them.
//!
//! A frame, of data (4) or of the session's own (5); the tag of 16 bytes is its end:
//!
//! ```text
//!  0           1        2       6         12
//!  | version 4 | member | key   | counter | sealed ...
//! ```

use super::WireError;
use crate::converge::session::{
    CookieReply, FRAME_HEADER_LEN, FRAME_OVERHEAD, FrameHeader, FrameKind, Initiation, KeyId, Response, StampReply,
};
use crate::trunk::Member;

/// The version of these formats that this code speaks.
pub const SESSION_VERSION: u8 = 1;
/// Length of the first message \[byte\].
pub const INITIATION_LEN: usize = 144;
/// Length of the second message \[byte\].
pub const RESPONSE_LEN: usize = 80;
/// Length of a cookie reply \[byte\].
pub const COOKIE_REPLY_LEN: usize = 52;
/// Length of a stamp reply \[byte\].
pub const STAMP_REPLY_LEN: usize = 84;

const INITIATION: u8 = 1;
const RESPONSE: u8 = 2;
const COOKIE_REPLY: u8 = 3;
const DATA: u8 = 4;
const CONTROL: u8 = 5;
const STAMP_REPLY: u8 = 6;

const fn first(kind: u8) -> u8 {
    SESSION_VERSION << 4 | kind
}

/// The kinds of datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionMessage {
    /// The first message of a handshake.
    Initiation(Initiation),
    Response(Response),
    /// A cookie instead of the second.
    CookieReply(CookieReply),
    /// The newest time stamp instead of the second.
    StampReply(StampReply),
    Frame(FrameHeader),
}

/// Writes a first message.
pub fn emit_initiation(message: &Initiation) -> [u8; INITIATION_LEN] {
    let mut bytes = [0; INITIATION_LEN];
    bytes[..4].copy_from_slice(&[first(INITIATION), message.versions.0, message.versions.1, message.suites]);
    bytes[4..8].copy_from_slice(&message.sender.0.to_be_bytes());
    bytes[8..112].copy_from_slice(&message.noise);
    bytes[112..128].copy_from_slice(&message.mac);
    bytes[128..].copy_from_slice(&message.cookie_mac);
    bytes
}

/// Writes a second message.
pub fn emit_response(message: &Response) -> [u8; RESPONSE_LEN] {
    let mut bytes = [0; RESPONSE_LEN];
    bytes[0] = first(RESPONSE);
    bytes[4..8].copy_from_slice(&message.receiver.0.to_be_bytes());
    bytes[8..64].copy_from_slice(&message.noise);
    bytes[64..].copy_from_slice(&message.mac);
    bytes
}

/// Writes a cookie reply.
pub fn emit_cookie_reply(message: &CookieReply) -> [u8; COOKIE_REPLY_LEN] {
    let mut bytes = [0; COOKIE_REPLY_LEN];
    bytes[0] = first(COOKIE_REPLY);
    bytes[4..8].copy_from_slice(&message.receiver.0.to_be_bytes());
    bytes[8..20].copy_from_slice(&message.nonce);
    bytes[20..].copy_from_slice(&message.sealed);
    bytes
}

/// Writes a stamp reply.
pub fn emit_stamp_reply(message: &StampReply) -> [u8; STAMP_REPLY_LEN] {
    let mut bytes = [0; STAMP_REPLY_LEN];
    bytes[0] = first(STAMP_REPLY);
    bytes[4..8].copy_from_slice(&message.receiver.0.to_be_bytes());
    bytes[8..68].copy_from_slice(&message.noise);
    bytes[68..].copy_from_slice(&message.mac);
    bytes
}

/// Writes the header of a sealed frame.
///
/// # Panics
/// If the counter is 2^48 or more.
pub fn emit_frame_header(header: &FrameHeader) -> [u8; FRAME_HEADER_LEN] {
    assert!(header.counter < 1 << 48, "a key seals less than 2^48 frames");
    let kind = match header.kind {
        FrameKind::Data => DATA,
        FrameKind::Control => CONTROL,
    };
    let [_, _, counter @ ..] = header.counter.to_be_bytes();
    let mut bytes = [0; FRAME_HEADER_LEN];
    bytes[..2].copy_from_slice(&[first(kind), header.member.0]);
    bytes[2..6].copy_from_slice(&header.key.0.to_be_bytes());
    bytes[6..].copy_from_slice(&counter);
    bytes
}

/// The array from `at` on; the caller has checked the length.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

fn key(bytes: &[u8], at: usize) -> KeyId {
    KeyId(u32::from_be_bytes(array(bytes, at)))
}

fn exactly(bytes: &[u8], len: usize) -> Result<(), WireError> {
    match bytes.len() {
        shorter if shorter < len => Err(WireError::Truncated),
        longer if longer > len => Err(WireError::Malformed),
        _ => Ok(()),
    }
}

fn silent(bytes: &[u8]) -> Result<(), WireError> {
    if bytes[1..4] == [0; 3] { Ok(()) } else { Err(WireError::Malformed) }
}

/// The kind in the first byte.
fn kind(bytes: &[u8]) -> Result<u8, WireError> {
    let &first = bytes.first().ok_or(WireError::Truncated)?;
    if first >> 4 == SESSION_VERSION { Ok(first & 15) } else { Err(WireError::Version(first >> 4)) }
}

/// Reads the header of a sealed frame, which is all of `bytes`, tag included.
///
/// # Errors
/// [`WireError`] if it is none, or too short for header and tag.
pub fn parse_frame_header(bytes: &[u8]) -> Result<FrameHeader, WireError> {
    let kind = match kind(bytes)? {
        DATA => FrameKind::Data,
        CONTROL => FrameKind::Control,
        kind => return Err(WireError::Kind(kind)),
    };
    if bytes.len() < FRAME_OVERHEAD {
        return Err(WireError::Truncated);
    }
    let [a, b, c, d, e, f] = array(bytes, 6);
    let counter = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
    Ok(FrameHeader { kind, member: Member(bytes[1]), key: key(bytes, 2), counter })
}

/// Reads a datagram: a message of a handshake, or a frame, of which it returns the header.
///
/// # Errors
/// [`WireError`] if it is neither.
pub fn parse_session(bytes: &[u8]) -> Result<SessionMessage, WireError> {
    match kind(bytes)? {
        INITIATION => {
            exactly(bytes, INITIATION_LEN)?;
            Ok(SessionMessage::Initiation(Initiation {
                versions: (bytes[1], bytes[2]),
                suites: bytes[3],
                sender: key(bytes, 4),
                noise: array(bytes, 8),
                mac: array(bytes, 112),
                cookie_mac: array(bytes, 128),
            }))
        }
        RESPONSE => {
            exactly(bytes, RESPONSE_LEN)?;
            silent(bytes)?;
            let (receiver, noise, mac) = (key(bytes, 4), array(bytes, 8), array(bytes, 64));
            Ok(SessionMessage::Response(Response { receiver, noise, mac }))
        }
        COOKIE_REPLY => {
            exactly(bytes, COOKIE_REPLY_LEN)?;
            silent(bytes)?;
            let (receiver, nonce, sealed) = (key(bytes, 4), array(bytes, 8), array(bytes, 20));
            Ok(SessionMessage::CookieReply(CookieReply { receiver, nonce, sealed }))
        }
        STAMP_REPLY => {
            exactly(bytes, STAMP_REPLY_LEN)?;
            silent(bytes)?;
            let (receiver, noise, mac) = (key(bytes, 4), array(bytes, 8), array(bytes, 68));
            Ok(SessionMessage::StampReply(StampReply { receiver, noise, mac }))
        }
        _ => parse_frame_header(bytes).map(SessionMessage::Frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_parsed_is_what_would_be_emitted(
            kind in 0u8..8,
            len in prop_oneof![Just(28usize), Just(52), Just(80), Just(84), Just(144), 0usize..160],
            fill: u8,
            is_silent: bool,
        ) {
            let mut bytes: Vec<u8> = (0..len).map(|at| fill.wrapping_add(at as u8)).collect();
            if let Some(byte) = bytes.first_mut() {
                *byte = first(kind);
            }
            if is_silent && len >= 4 {
                bytes[1..4].fill(0);
            }
            let emitted = match parse_session(&bytes) {
                Ok(SessionMessage::Initiation(message)) => emit_initiation(&message).to_vec(),
                Ok(SessionMessage::Response(message)) => emit_response(&message).to_vec(),
                Ok(SessionMessage::CookieReply(message)) => emit_cookie_reply(&message).to_vec(),
                Ok(SessionMessage::StampReply(message)) => emit_stamp_reply(&message).to_vec(),
                Ok(SessionMessage::Frame(header)) => {
                    [&emit_frame_header(&header)[..], &bytes[FRAME_HEADER_LEN..]].concat()
                }
                Err(_) => return Ok(()),
            };
            prop_assert!(emitted == bytes);
        }
    }

    #[test]
    fn lengths_versions_and_kinds() {
        let sized = |kind: u8, len: usize| {
            let mut bytes = vec![0; len];
            bytes[0] = first(kind);
            parse_session(&bytes).map(|_| ())
        };
        for (kind, len) in [
            (INITIATION, INITIATION_LEN),
            (RESPONSE, RESPONSE_LEN),
            (COOKIE_REPLY, COOKIE_REPLY_LEN),
            (STAMP_REPLY, STAMP_REPLY_LEN),
        ] {
            assert_eq!(sized(kind, len), Ok(()));
            assert_eq!(sized(kind, len - 1), Err(WireError::Truncated));
            assert_eq!(sized(kind, len + 1), Err(WireError::Malformed));
        }
        assert_eq!(sized(DATA, FRAME_OVERHEAD), Ok(()));
        assert_eq!(sized(CONTROL, FRAME_OVERHEAD - 1), Err(WireError::Truncated));
        assert_eq!(sized(7, 200), Err(WireError::Kind(7)));
        assert_eq!(parse_session(&[0x24; 60]), Err(WireError::Version(2)));
        assert_eq!(parse_session(&[]), Err(WireError::Truncated));
    }
}
