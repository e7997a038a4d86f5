//! Byte formats, for the daemon, captures and fuzzers. Parsing and emitting, no state.
//!
//! Network byte order. Trunk header, 24 bytes, or 8 where its length counts: the number, and the distances from it back
//! to the member's previous one and to the oldest that may be under way:
//!
//! ```text
//!  0         1        2       4        8               12                16       18              22          24
//!  | version | member | epoch | number | member number | member previous | bucket | bucket number | unsettled |
//!  0        4                    6           8
//!  | number | distance to member | unsettled |
//! ```

mod beacon;
mod control;
mod link;
mod session;
mod tunnel;

pub use beacon::{BEACON_LEN, BEACON_VERSION, emit_beacon, parse_beacon};
pub use control::{CONTROL_PROTOCOL, MARKER_PROTOCOL, emit_control, parse_control};
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

use crate::trunk::paper::TrunkHeader;

/// The version that this code speaks.
pub const TRUNK_VERSION: u8 = 1;
/// Length of the trunk header \[byte\].
pub const TRUNK_HEADER_LEN: usize = 24;
/// Length of the short one \[byte\].
pub const SHORT_TRUNK_HEADER_LEN: usize = 8;

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
pub fn emit_trunk_header(header: &TrunkHeader) -> [u8; TRUNK_HEADER_LEN] {
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

/// Writes a short trunk header: of its first four bytes, the number, alone a receiver can restore the order.
pub fn emit_short_trunk_header(header: &TrunkHeader) -> [u8; SHORT_TRUNK_HEADER_LEN] {
    let distance = header.number.0.wrapping_sub(header.member_previous.0);
    let mut bytes = [0; SHORT_TRUNK_HEADER_LEN];
    bytes[..4].copy_from_slice(&header.number.0.to_be_bytes());
    bytes[4..6].copy_from_slice(&u16::try_from(distance).unwrap_or(u16::MAX).to_be_bytes());
    bytes[6..].copy_from_slice(&header.unsettled.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trunk::Member;
    use airbraid_units::SeqNum;

    #[test]
    fn a_trunk_header_looks_as_drawn() {
        let header = TrunkHeader {
            epoch: 0x0203,
            member: Member(1),
            number: SeqNum(0x0405_0607),
            member_number: SeqNum(0x0809_0a0b),
            member_previous: SeqNum(0x0c0d_0e0f),
            bucket: 0x1011,
            bucket_number: SeqNum(0x1213_1415),
            unsettled: 0x1617,
        };
        assert_eq!(emit_trunk_header(&header).to_vec(), [TRUNK_VERSION].into_iter().chain(1..=23).collect::<Vec<u8>>());
        let near = TrunkHeader { member_previous: SeqNum(0x0405_0605), ..header };
        assert_eq!(emit_short_trunk_header(&near), [4, 5, 6, 7, 0, 2, 0x16, 0x17]);
        assert_eq!(emit_short_trunk_header(&header)[4..6], [0xff; 2], "a distance that 16 bits do not hold");
    }
}
