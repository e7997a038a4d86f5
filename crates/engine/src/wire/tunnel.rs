//! Byte formats of the tunnel, sealed between the daemon's ends. Parsing and emitting, no state.
//!
//! The first byte is the format's version (high half) and the kind. A packet (1), 9 bytes before its own:
//!
//! ```text
//!  0           1        5                            9
//!  | version 1 | number | bucket 10 bit, place 22 bit | packet ...
//! ```
//!
//! A probe (2), and feedback (3) with a report for each member; every length behind the count is a variable-length
//! number, seven bits a byte, the lowest first:
//!
//! ```text
//!  0           1        5       9
//!  | version 2 | number | epoch | zeros ...
//!  0           1       5         9
//!  | version 3 | epoch | sent at | member | count | newest, 4 | age, 3 | span | span time | len | gap | len ... | ...
//! ```
//!
//! A path challenge (5), and the answer to it (6), which is the same:
//!
//! ```text
//!  0           1          9
//!  | version 5 | token, 8 |
//! ```
//!
//! A repair symbol (4) over the `count` packets whose numbers lie before `number - index`, of which the low half is
//! said. What is summed of a packet is the word of its place and its bytes, zeros behind; so the frame is as long as
//! that of the longest packet:
//!
//! ```text
//!  0           1        3       4       5
//!  | version 4 | number | count | index | place, 4 | packet ...
//! ```

use super::WireError;
use crate::link::fec::erasure::SYMBOLS_MAX;
use crate::trunk::Member;
pub use crate::trunk::bonding::frame::{
    HEADER_LEN as TUNNEL_HEADER_LEN, PATH_LEN as TUNNEL_PATH_LEN, PROBE_LEN as TUNNEL_PROBE_LEN,
    REPAIR_LEN as TUNNEL_REPAIR_LEN, REPORT_LEN as TUNNEL_REPORT_LEN,
};
use crate::trunk::bonding::{
    AckRange, BondHeader, Feedback, FlowSeq, MEMBERS_MAX, PathToken, Probe, RepairHeader, Report,
};
use airbraid_units::SeqNum;
use arrayvec::ArrayVec;

/// The version of these formats that this code speaks.
pub const TUNNEL_VERSION: u8 = 3;
const DATA: u8 = 1;
const PROBE: u8 = 2;
const FEEDBACK: u8 = 3;
const REPAIR: u8 = 4;
const PATH_CHALLENGE: u8 = 5;
const PATH_RESPONSE: u8 = 6;
/// The longest packet: IP's lengths have 16 bits \[byte\].
const PACKET_MAX: usize = 65_535;
/// The longest age that a report can express \[us\].
const AGE_MAX: u32 = (1 << 24) - 1;

const fn first(kind: u8) -> u8 {
    TUNNEL_VERSION << 4 | kind
}

/// The kinds of frames; a packet is the bytes after its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TunnelFrame<'a> {
    Data(BondHeader, &'a [u8]),
    /// A probe that wants an answer.
    Probe(Probe),
    Repair(RepairHeader, &'a [u8]),
    /// Acknowledgements.
    Feedback(Box<Feedback>),
    PathChallenge(PathToken),
    /// The answer to a path challenge.
    PathResponse(PathToken),
}

/// Writes the header before a packet.
pub fn emit_tunnel_header(header: &BondHeader) -> [u8; TUNNEL_HEADER_LEN] {
    let mut bytes = [first(DATA); TUNNEL_HEADER_LEN];
    bytes[1..5].copy_from_slice(&header.number.0.to_be_bytes());
    bytes[5..].copy_from_slice(&header.place.word().to_be_bytes());
    bytes
}

/// Writes the header before a repair symbol.
pub fn emit_tunnel_repair(header: &RepairHeader) -> [u8; TUNNEL_REPAIR_LEN] {
    let [_, _, high, low] = header.number.0.to_be_bytes();
    [first(REPAIR), high, low, header.sources, header.index]
}

/// Appends a probe to `out`.
pub fn emit_tunnel_probe(probe: &Probe, out: &mut Vec<u8>) {
    out.push(first(PROBE));
    out.extend(probe.number.0.to_be_bytes());
    out.extend(probe.epoch.to_be_bytes());
    out.resize(out.len() + usize::from(probe.padding), 0);
}

/// Appends a path challenge, or the answer to one, to `out`.
pub fn emit_tunnel_path(token: PathToken, is_response: bool, out: &mut Vec<u8>) {
    out.push(first(if is_response { PATH_RESPONSE } else { PATH_CHALLENGE }));
    out.extend(token);
}

/// Appends feedback to `out`.
pub fn emit_tunnel_feedback(feedback: &Feedback, out: &mut Vec<u8>) {
    out.push(first(FEEDBACK));
    out.extend(feedback.epoch.to_be_bytes());
    out.extend(feedback.sent_at_us.to_be_bytes());
    for report in &feedback.reports {
        out.extend([report.member.0, report.runs.len() as u8]);
        out.extend(report.newest.0.to_be_bytes());
        out.extend(&report.age_us.min(AGE_MAX).to_be_bytes()[1..]);
        put_number(report.span, out);
        put_number(report.span_us, out);
        for (index, run) in report.runs.iter().enumerate() {
            if index > 0 {
                put_number(run.gap, out);
            }
            put_number(run.len, out);
        }
    }
}

/// Reads a frame, which is all of `bytes`.
///
/// # Errors
/// [`WireError`] if it is none.
pub fn parse_tunnel(bytes: &[u8]) -> Result<TunnelFrame<'_>, WireError> {
    let (&kind, body) = bytes.split_first().ok_or(WireError::Truncated)?;
    if kind >> 4 != TUNNEL_VERSION {
        return Err(WireError::Version(kind >> 4));
    }
    let (&[a, b, c, d, e, f, g, h], rest) = body.split_first_chunk::<8>().ok_or(WireError::Truncated)?;
    let (one, two) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
    match kind & 0xf {
        DATA => Ok(TunnelFrame::Data(BondHeader { number: SeqNum(one), place: FlowSeq::of_word(two) }, rest)),
        REPAIR => {
            let header = RepairHeader { number: SeqNum(one >> 16), sources: c, index: d };
            let is_one = c > 0 && usize::from(c) + usize::from(d) < SYMBOLS_MAX && rest.len() <= PACKET_MAX;
            if is_one { Ok(TunnelFrame::Repair(header, &body[4..])) } else { Err(WireError::Malformed) }
        }
        PROBE => {
            let is_silent = rest.iter().all(|&byte| byte == 0);
            let padding = u16::try_from(rest.len()).ok().filter(|_| is_silent).ok_or(WireError::Malformed)?;
            Ok(TunnelFrame::Probe(Probe { number: SeqNum(one), epoch: two, padding }))
        }
        FEEDBACK => {
            let reports = parse_reports(rest)?;
            Ok(TunnelFrame::Feedback(Box::new(Feedback { epoch: one, sent_at_us: two, reports })))
        }
        PATH_CHALLENGE | PATH_RESPONSE if !rest.is_empty() => Err(WireError::Malformed),
        PATH_CHALLENGE => Ok(TunnelFrame::PathChallenge([a, b, c, d, e, f, g, h])),
        PATH_RESPONSE => Ok(TunnelFrame::PathResponse([a, b, c, d, e, f, g, h])),
        kind => Err(WireError::Kind(kind)),
    }
}

fn parse_reports(mut bytes: &[u8]) -> Result<ArrayVec<Report, MEMBERS_MAX>, WireError> {
    let mut reports = ArrayVec::new();
    while !bytes.is_empty() {
        let report = parse_report(&mut bytes)?;
        reports.try_push(report).map_err(|_| WireError::Malformed)?;
    }
    Ok(reports)
}

fn parse_report(bytes: &mut &[u8]) -> Result<Report, WireError> {
    let (&[member, count, a, b, c, d, high, middle, low], rest) =
        bytes.split_first_chunk::<TUNNEL_REPORT_LEN>().ok_or(WireError::Truncated)?;
    *bytes = rest;
    let (span, span_us) = (take_number(bytes)?, take_number(bytes)?);
    let mut runs = ArrayVec::new();
    for index in 0..count {
        let gap = if index == 0 { 0 } else { take_number(bytes)? };
        let len = take_number(bytes)?;
        if len == 0 || (gap == 0 && index > 0) {
            return Err(WireError::Malformed);
        }
        runs.try_push(AckRange { gap, len }).map_err(|_| WireError::Malformed)?;
    }
    Ok(Report {
        member: Member(member),
        newest: SeqNum(u32::from_be_bytes([a, b, c, d])),
        age_us: u32::from_be_bytes([0, high, middle, low]),
        span,
        span_us,
        runs,
    })
}

fn put_number(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A number in its shortest form.
fn take_number(bytes: &mut &[u8]) -> Result<u32, WireError> {
    let mut number = 0u32;
    for place in 0..5 {
        let (&byte, rest) = bytes.split_first().ok_or(WireError::Truncated)?;
        *bytes = rest;
        let bits = u32::from(byte & 0x7f);
        if place == 4 && bits > 0xf || place > 0 && byte == 0 {
            return Err(WireError::Malformed);
        }
        number |= bits << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(WireError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn feedback() -> impl Strategy<Value = Feedback> {
        let run = (1u32.., 1u32..).prop_map(|(gap, len)| AckRange { gap, len });
        let numbers = (any::<u32>(), any::<u32>(), any::<u32>());
        let report = (any::<u8>(), numbers, 0..=AGE_MAX, prop::collection::vec(run, 0..=16)).prop_map(
            |(member, (newest, span, span_us), age_us, runs)| {
                let mut runs: ArrayVec<AckRange, 16> = runs.into_iter().collect();
                if let Some(first) = runs.first_mut() {
                    first.gap = 0;
                }
                Report { member: Member(member), newest: SeqNum(newest), age_us, span, span_us, runs }
            },
        );
        (any::<[u32; 2]>(), prop::collection::vec(report, 0..=16)).prop_map(|([epoch, sent_at_us], reports)| Feedback {
            epoch,
            sent_at_us,
            reports: reports.into_iter().collect(),
        })
    }

    proptest! {
        #[test]
        fn a_packet_that_is_emitted_is_parsed(
            number: u32, bucket in 0u16..1024, place in 0u32..1 << 22, rest in prop::collection::vec(any::<u8>(), 0..8)
        ) {
            let header = BondHeader { number: SeqNum(number), place: FlowSeq { bucket, number: place } };
            let mut bytes = emit_tunnel_header(&header).to_vec();
            bytes.extend(&rest);
            prop_assert_eq!(parse_tunnel(&bytes), Ok(TunnelFrame::Data(header, &rest[..])));
        }

        #[test]
        fn a_repair_symbol_that_is_emitted_is_parsed(
            number: u16, sources in 1u8..=254, index: u8, symbol in prop::collection::vec(any::<u8>(), 4..12)
        ) {
            let header = RepairHeader { number: SeqNum(number.into()), sources, index: index % (255 - sources) };
            let mut bytes = emit_tunnel_repair(&header).to_vec();
            bytes.extend(&symbol);
            prop_assert_eq!(parse_tunnel(&bytes), Ok(TunnelFrame::Repair(header, &symbol[..])));
        }

        #[test]
        fn a_probe_that_is_emitted_is_parsed(number: u32, epoch: u32, padding in 0u16..2_000) {
            let probe = Probe { number: SeqNum(number), epoch, padding };
            let mut bytes = vec![];
            emit_tunnel_probe(&probe, &mut bytes);
            prop_assert_eq!(parse_tunnel(&bytes), Ok(TunnelFrame::Probe(probe)));
        }

        #[test]
        fn a_path_challenge_that_is_emitted_is_parsed(token: PathToken) {
            for (is_response, frame) in
                [(false, TunnelFrame::PathChallenge(token)), (true, TunnelFrame::PathResponse(token))]
            {
                let mut bytes = vec![];
                emit_tunnel_path(token, is_response, &mut bytes);
                prop_assert_eq!(bytes.len(), TUNNEL_PATH_LEN);
                prop_assert_eq!(parse_tunnel(&bytes), Ok(frame));
                bytes.push(0);
                prop_assert_eq!(parse_tunnel(&bytes), Err(WireError::Malformed));
            }
        }

        #[test]
        fn feedback_that_is_emitted_is_parsed_and_as_long_as_it_says(feedback in feedback()) {
            let mut bytes = vec![];
            emit_tunnel_feedback(&feedback, &mut bytes);
            prop_assert_eq!(bytes.len(), feedback.len());
            prop_assert_eq!(parse_tunnel(&bytes), Ok(TunnelFrame::Feedback(Box::new(feedback))));
        }

        #[test]
        fn any_bytes_are_answered(kind in 0u8..9, rest in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut bytes = vec![first(kind)];
            bytes.extend(rest);
            let mut again = vec![];
            match parse_tunnel(&bytes) {
                Ok(TunnelFrame::Data(header, rest)) => {
                    again.extend(emit_tunnel_header(&header));
                    again.extend(rest);
                }
                Ok(TunnelFrame::Repair(header, symbol)) => {
                    again.extend(emit_tunnel_repair(&header));
                    again.extend(symbol);
                }
                Ok(TunnelFrame::Probe(probe)) => emit_tunnel_probe(&probe, &mut again),
                Ok(TunnelFrame::Feedback(feedback)) => emit_tunnel_feedback(&feedback, &mut again),
                Ok(TunnelFrame::PathChallenge(token)) => emit_tunnel_path(token, false, &mut again),
                Ok(TunnelFrame::PathResponse(token)) => emit_tunnel_path(token, true, &mut again),
                Err(_) => return Ok(()),
            }
            prop_assert_eq!(again, bytes);
        }
    }

    #[test]
    fn a_repair_symbol_of_no_group_is_refused() {
        let repair = |sources: u8, index: u8, rest: usize| {
            let bytes = [&[first(REPAIR), 0, 1, sources, index, 0, 0, 0, 0][..], &vec![0; rest]].concat();
            parse_tunnel(&bytes).map(|_| ())
        };
        assert_eq!(repair(8, 0, 60), Ok(()));
        assert_eq!(repair(0, 0, 60), Err(WireError::Malformed));
        assert_eq!(repair(8, 246, 60), Ok(()));
        assert_eq!(repair(8, 247, 60), Err(WireError::Malformed));
        assert_eq!(repair(255, 0, 60), Err(WireError::Malformed));
        assert_eq!(repair(8, 0, PACKET_MAX + 1), Err(WireError::Malformed));
        assert_eq!(parse_tunnel(&[first(REPAIR), 0, 1, 8, 0, 0, 0, 0]), Err(WireError::Truncated));
    }

    #[test]
    fn distances_go_round() {
        assert_eq!(FlowSeq::distance(0, (1 << 22) - 1), 1);
        assert_eq!(FlowSeq::distance((1 << 22) - 1, 0), -1);
        assert_eq!(FlowSeq::distance(5, 3), 2);
    }
}
