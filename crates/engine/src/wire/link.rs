//! Headers of local error control. Network byte order; the last four bytes are a CRC-32 of those before them: a changed
//! header is refused.
//!
//! Stop-and-wait, 40 bytes:
//!
//! ```text
//!  0         1       2       3        4     8        10      12       16         18       22         24
//!  | version | flags | parity | report | seq | offset | count | next 0 | good 0   | next 1 | good 1   |
//!  24           26             28             29          36      40
//!  | report value | invited size | its parity | zeros ... | check |
//! ```
//!
//! Selective repeat, 60 bytes:
//!
//! ```text
//!  0         1       2        3        4        8     12       14      16        20        24       28       32
//!  | version | flags | parity | report | number | seq | offset | count | floor 0 | floor 1 | next 0 | next 1 |
//!  32       36       44              48             50      56      60
//!  | newest | before | report number | report value | zeros | check |
//! ```
//!
//! Flags: 1 stop-and-wait or 2 selective repeat; 4 a segment; 8 of real-time class; 16 the last of its packet; 32 an
//! invitation, or with selective repeat that an answer is wanted. Report: 0 none, 1 intact (value: wrong bytes), 2
//! truncated (value: bytes that came), 3 undecodable.

use super::WireError;
use crate::link::{Ack, Header, Received, Report, Segment, Shape, WindowHeader, fec::crc32};
use crate::packet::TrafficClass;
use airbraid_units::SeqNum;

/// The version that this code speaks.
pub const LINK_VERSION: u8 = 1;
/// Length of the header of stop-and-wait \[byte\].
pub const LINK_HEADER_LEN: usize = 40;
/// Length of the header of selective repeat \[byte\].
pub const WINDOW_HEADER_LEN: usize = 60;

const STOP_AND_WAIT: u8 = 1;
const SELECTIVE_REPEAT: u8 = 2;
const HAS_SEGMENT: u8 = 4;
const IS_REAL_TIME: u8 = 8;
const IS_LAST: u8 = 16;
const HAS_INVITATION: u8 = 32;
const ASKS: u8 = 32;

/// Length of the check \[byte\].
const CHECK: usize = 4;

fn put_short(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}
fn put_long(bytes: &mut [u8], at: usize, value: SeqNum) {
    bytes[at..at + 4].copy_from_slice(&value.0.to_be_bytes());
}
fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
fn long(bytes: &[u8], at: usize) -> SeqNum {
    SeqNum(u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

fn put_check(bytes: &mut [u8]) {
    let (said, check) = bytes.split_at_mut(bytes.len() - CHECK);
    check.copy_from_slice(&crc32(said).to_be_bytes());
}

/// Returns the first `len` bytes, if their check holds and their version is right, and the rest.
fn checked(bytes: &[u8], len: usize) -> Result<(&[u8], &[u8]), WireError> {
    let (head, rest) = bytes.split_at_checked(len).ok_or(WireError::Truncated)?;
    let (said, check) = head.split_at(len - CHECK);
    if crc32(said).to_be_bytes() != *check {
        return Err(WireError::Check);
    }
    if said[0] != LINK_VERSION {
        return Err(WireError::Version(said[0]));
    }
    Ok((said, rest))
}

/// Writes a segment, but for its flags, which it returns: sequence number, offset and count from `at` on.
fn put_segment(bytes: &mut [u8], at: usize, segment: Option<Segment>) -> u8 {
    let Some(segment) = segment else { return 0 };
    bytes[2] = segment.parity;
    put_long(bytes, at, segment.seq);
    put_short(bytes, at + 4, segment.offset);
    put_short(bytes, at + 6, segment.count);
    let class = if segment.class == TrafficClass::RealTime { IS_REAL_TIME } else { 0 };
    HAS_SEGMENT | class | if segment.is_last { IS_LAST } else { 0 }
}

fn get_segment(bytes: &[u8], at: usize) -> Result<Option<Segment>, WireError> {
    let flags = bytes[1];
    let (parity, seq, offset, count) = (bytes[2], long(bytes, at), short(bytes, at + 4), short(bytes, at + 6));
    let class = if flags & IS_REAL_TIME == 0 { TrafficClass::Bulk } else { TrafficClass::RealTime };
    let is_last = flags & IS_LAST != 0;
    if flags & HAS_SEGMENT == 0 {
        let is_silent = flags & (IS_REAL_TIME | IS_LAST) == 0 && bytes[2] == 0 && bytes[at..at + 8] == [0; 8];
        return if is_silent { Ok(None) } else { Err(WireError::Malformed) };
    }
    let is_possible = parity.is_multiple_of(2) && offset.checked_add(count).is_some() && (count > 0 || is_last);
    let segment = Segment { class, seq, offset, count, is_last, parity };
    if is_possible { Ok(Some(segment)) } else { Err(WireError::Malformed) }
}

fn report_code(report: Report) -> (u8, u16) {
    match report {
        Report::None => (0, 0),
        Report::Intact { worst } => (1, u16::from(worst)),
        Report::Truncated { at } => (2, at),
        Report::Undecodable => (3, 0),
    }
}

fn get_report(code: u8, value: u16) -> Result<Report, WireError> {
    match (code, value) {
        (0, 0) => Ok(Report::None),
        (1, worst @ 0..=255) => Ok(Report::Intact { worst: worst as u8 }),
        (2, at) => Ok(Report::Truncated { at }),
        (3, 0) => Ok(Report::Undecodable),
        _ => Err(WireError::Malformed),
    }
}

/// Writes a header of stop-and-wait.
pub fn emit_link_header(header: &Header) -> [u8; LINK_HEADER_LEN] {
    let mut bytes = [0; LINK_HEADER_LEN];
    bytes[0] = LINK_VERSION;
    bytes[1] = STOP_AND_WAIT | put_segment(&mut bytes, 4, header.segment);
    for (at, ack) in [12, 18].into_iter().zip(header.acks) {
        put_long(&mut bytes, at, ack.next);
        put_short(&mut bytes, at + 4, ack.good);
    }
    let (code, value) = report_code(header.report);
    bytes[3] = code;
    put_short(&mut bytes, 24, value);
    if let Some(shape) = header.invite {
        bytes[1] |= HAS_INVITATION;
        put_short(&mut bytes, 26, shape.bytes());
        bytes[28] = shape.parity();
    }
    put_check(&mut bytes);
    bytes
}

/// Reads a header of stop-and-wait; returns it and the rest.
///
/// # Errors
/// [`WireError`] if there are too few bytes, the check does not hold, or it says what cannot be.
pub fn parse_link_header(bytes: &[u8]) -> Result<(Header, &[u8]), WireError> {
    let (said, rest) = checked(bytes, LINK_HEADER_LEN)?;
    let flags = said[1];
    if flags & 3 != STOP_AND_WAIT {
        return Err(WireError::Kind(flags & 3));
    }
    let invited = (short(said, 26), said[28]);
    let invite = match (flags & HAS_INVITATION != 0, invited) {
        (false, (0, 0)) => None,
        (true, (bytes, parity)) => Some(Shape::new(bytes, parity).map_err(|_| WireError::Malformed)?),
        (false, _) => return Err(WireError::Malformed),
    };
    if flags & 0xc0 != 0 || said[29..].iter().any(|&byte| byte != 0) {
        return Err(WireError::Malformed);
    }
    let acks = [12, 18].map(|at| Ack { next: long(said, at), good: short(said, at + 4) });
    let report = get_report(said[3], short(said, 24))?;
    Ok((Header { segment: get_segment(said, 4)?, acks, report, invite }, rest))
}

/// Writes a header of selective repeat.
pub fn emit_window_header(header: &WindowHeader) -> [u8; WINDOW_HEADER_LEN] {
    let mut bytes = [0; WINDOW_HEADER_LEN];
    bytes[0] = LINK_VERSION;
    bytes[1] = SELECTIVE_REPEAT | put_segment(&mut bytes, 8, header.segment);
    bytes[1] |= if header.asks { ASKS } else { 0 };
    put_long(&mut bytes, 4, header.number);
    for (at, number) in [16, 20].into_iter().zip(header.floors).chain([24, 28].into_iter().zip(header.nexts)) {
        put_long(&mut bytes, at, number);
    }
    put_long(&mut bytes, 32, header.received.newest);
    bytes[36..44].copy_from_slice(&header.received.before.to_be_bytes());
    let (number, report) = header.report;
    let (code, value) = report_code(report);
    bytes[3] = code;
    put_long(&mut bytes, 44, number);
    put_short(&mut bytes, 48, value);
    put_check(&mut bytes);
    bytes
}

/// Reads a header of selective repeat; returns it and the rest.
///
/// # Errors
/// [`WireError`] if there are too few bytes, the check does not hold, or it says what cannot be.
pub fn parse_window_header(bytes: &[u8]) -> Result<(WindowHeader, &[u8]), WireError> {
    let (said, rest) = checked(bytes, WINDOW_HEADER_LEN)?;
    let flags = said[1];
    if flags & 3 != SELECTIVE_REPEAT {
        return Err(WireError::Kind(flags & 3));
    }
    if flags & 0xc0 != 0 || said[50..].iter().any(|&byte| byte != 0) {
        return Err(WireError::Malformed);
    }
    let before = said[36..44].iter().fold(0, |before, &byte| before << 8 | u64::from(byte));
    let header = WindowHeader {
        number: long(said, 4),
        segment: get_segment(said, 8)?,
        asks: flags & ASKS != 0,
        floors: [long(said, 16), long(said, 20)],
        nexts: [long(said, 24), long(said, 28)],
        received: Received { newest: long(said, 32), before },
        report: (long(said, 44), get_report(said[3], short(said, 48))?),
    };
    Ok((header, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment() -> impl Strategy<Value = Option<Segment>> {
        prop::option::of(any::<(bool, u32, u16, u16, bool, u8)>().prop_map(|fields| {
            let (is_real_time, seq, offset, count, is_last, parity) = fields;
            let class = if is_real_time { TrafficClass::RealTime } else { TrafficClass::Bulk };
            let count = count.min(u16::MAX - offset);
            Segment { class, seq: SeqNum(seq), offset, count, is_last: is_last || count == 0, parity: parity & !1 }
        }))
    }
    fn report() -> impl Strategy<Value = Report> {
        prop_oneof![
            Just(Report::None),
            any::<u8>().prop_map(|worst| Report::Intact { worst }),
            any::<u16>().prop_map(|at| Report::Truncated { at }),
            Just(Report::Undecodable),
        ]
    }
    fn header() -> impl Strategy<Value = Header> {
        let invite = any::<(u16, u8)>().prop_map(|(bytes, parity)| Shape::new(bytes, parity & !1).ok());
        (segment(), any::<[(u32, u16); 2]>(), report(), invite).prop_map(|(segment, acks, report, invite)| {
            let acks = acks.map(|(next, good)| Ack { next: SeqNum(next), good });
            Header { segment, acks, report, invite }
        })
    }
    fn window_header() -> impl Strategy<Value = WindowHeader> {
        (segment(), any::<[u32; 7]>(), any::<(u64, bool)>(), report()).prop_map(|(segment, numbers, rest, report)| {
            let (before, asks) = rest;
            let [number, a, b, c, d, newest, reported] = numbers.map(SeqNum);
            let (floors, nexts, received) = ([a, b], [c, d], Received { newest, before });
            WindowHeader { number, segment, asks, floors, nexts, received, report: (reported, report) }
        })
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_parsed(header in header(), rest in prop::collection::vec(any::<u8>(), 0..8)) {
            let bytes = [&emit_link_header(&header)[..], &rest].concat();
            prop_assert_eq!(parse_link_header(&bytes), Ok((header, &rest[..])));
            prop_assert_eq!(parse_link_header(&bytes[..LINK_HEADER_LEN - 1]), Err(WireError::Truncated));
            prop_assert!(parse_window_header(&bytes).is_err());
        }

        #[test]
        fn what_is_emitted_is_parsed_with_a_window(
            header in window_header(),
            rest in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            let bytes = [&emit_window_header(&header)[..], &rest].concat();
            prop_assert_eq!(parse_window_header(&bytes), Ok((header, &rest[..])));
            prop_assert_eq!(parse_window_header(&bytes[..WINDOW_HEADER_LEN - 1]), Err(WireError::Truncated));
            prop_assert!(parse_link_header(&bytes).is_err());
        }

        /// A burst of up to 32 wrong bits is always found by a CRC-32.
        #[test]
        fn a_corrupted_header_is_none(header in header(), at in 0..LINK_HEADER_LEN - 3, burst in 1u32..) {
            let mut bytes = emit_link_header(&header);
            for (byte, wrong) in bytes[at..].iter_mut().zip(burst.to_be_bytes()) {
                *byte ^= wrong;
            }
            prop_assert_eq!(parse_link_header(&bytes), Err(WireError::Check));
        }
    }

    /// A reader says which kind of header it was given instead of its own.
    #[test]
    fn a_header_of_another_kind_is_refused_by_its_kind() {
        let stop_and_wait =
            Header { segment: None, acks: [Ack { next: SeqNum(1), good: 0 }; 2], report: Report::None, invite: None };
        let window = WindowHeader::default();
        for kind in 0..4 {
            let (mut short, mut long) = (emit_link_header(&stop_and_wait), emit_window_header(&window));
            for bytes in [&mut short[..], &mut long[..]] {
                bytes[1] = bytes[1] & !3 | kind;
                put_check(bytes);
            }
            let refused = WireError::Kind(kind);
            assert_eq!(parse_link_header(&short).err(), (kind != STOP_AND_WAIT).then_some(refused));
            assert_eq!(parse_window_header(&long).err(), (kind != SELECTIVE_REPEAT).then_some(refused));
        }
    }

    /// A check that holds makes no segment of what cannot be one.
    #[test]
    fn segments_that_cannot_be_are_refused() {
        let good =
            Segment { class: TrafficClass::Bulk, seq: SeqNum(9), offset: 40, count: 60, is_last: false, parity: 4 };
        let parsed = |segment: Segment| {
            let header = WindowHeader { segment: Some(segment), ..WindowHeader::default() };
            parse_window_header(&emit_window_header(&header)).map(|(header, _)| header.segment)
        };
        assert_eq!(parsed(good), Ok(Some(good)));
        let empty = Segment { count: 0, ..good };
        assert_eq!(parsed(Segment { is_last: true, ..empty }), Ok(Some(Segment { is_last: true, ..empty })));
        for impossible in [empty, Segment { parity: 3, ..good }, Segment { offset: u16::MAX, ..good }] {
            assert_eq!(parsed(impossible), Err(WireError::Malformed), "{impossible:?}");
        }
    }
}
