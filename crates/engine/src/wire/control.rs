//! Byte formats of a paper trunk's control frames, behind a header of 20 bytes as IPv4's, which carries the epoch as
//! its identification; a marker has a protocol number of its own there, the other two differ by their length:
//!
//! ```text
//!  0       4         8
//!  | round | counter |
//!  0               4                                20
//!  | next          | missing, four; `next` for none |
//!  0        2          6        10          12
//!  | member | previous | number | unsettled | zeros ...
//! ```

use super::WireError;
use crate::trunk::Member;
use crate::trunk::paper::{Control, Missing};
use airbraid_units::SeqNum;

/// The protocol numbers of surplus markers and acknowledgements, and of the markers of the method `fifo`: those for
/// experiments (RFC 3692, section 3.3).
pub const CONTROL_PROTOCOL: u8 = 253;
pub const MARKER_PROTOCOL: u8 = 254;

const SURPLUS_LEN: usize = 8;
const ACKNOWLEDGEMENT_LEN: usize = 4 + 4 * Missing::CAPACITY;
const MARKER_LEN: usize = 12;

/// Appends a control frame to `out`, without the header before it; returns what goes there: protocol number and epoch.
pub fn emit_control(control: &Control, out: &mut Vec<u8>) -> (u8, u16) {
    match *control {
        Control::Surplus { round, counter } => {
            out.extend(round.to_be_bytes());
            out.extend(counter.to_be_bytes());
            (CONTROL_PROTOCOL, 0)
        }
        Control::Acknowledgement { epoch, next, missing } => {
            let padding = std::iter::repeat(next);
            let numbers = missing.iter().chain(padding).take(Missing::CAPACITY);
            [next].into_iter().chain(numbers).for_each(|number| out.extend(number.0.to_be_bytes()));
            (CONTROL_PROTOCOL, epoch)
        }
        Control::Marker { epoch, member, previous, number, unsettled, padding } => {
            out.extend([0, member.0]);
            out.extend(previous.0.to_be_bytes());
            out.extend(number.0.to_be_bytes());
            out.extend(unsettled.to_be_bytes());
            out.resize(out.len() + usize::from(padding), 0);
            (MARKER_PROTOCOL, epoch)
        }
    }
}

/// Reads a control frame, which is all of `bytes`, behind a header with this protocol number and epoch.
///
/// # Errors
/// [`WireError`] if it is none.
pub fn parse_control((protocol, epoch): (u8, u16), bytes: &[u8]) -> Result<Control, WireError> {
    let (words, _) = bytes.as_chunks::<4>();
    let word = |at: usize| u32::from_be_bytes(words[at]);
    match (protocol, bytes.len()) {
        (CONTROL_PROTOCOL, SURPLUS_LEN) => Ok(Control::Surplus { round: word(0), counter: word(1) as i32 }),
        (CONTROL_PROTOCOL, ACKNOWLEDGEMENT_LEN) => {
            let mut missing = Missing::default();
            let numbers = (1..words.len()).map(word).filter(|number| *number != word(0));
            numbers.for_each(|number| {
                missing.push(SeqNum(number));
            });
            Ok(Control::Acknowledgement { epoch, next: SeqNum(word(0)), missing })
        }
        (MARKER_PROTOCOL, MARKER_LEN..) => parse_marker(epoch, bytes),
        (CONTROL_PROTOCOL | MARKER_PROTOCOL, _) => Err(WireError::Truncated),
        (other, _) => Err(WireError::Kind(other)),
    }
}

fn parse_marker(epoch: u16, bytes: &[u8]) -> Result<Control, WireError> {
    let (&[zero, member, a, b, c, d, e, f, g, h, high, low], padding) =
        bytes.split_first_chunk::<MARKER_LEN>().ok_or(WireError::Truncated)?;
    if zero != 0 || padding.iter().any(|byte| *byte != 0) {
        return Err(WireError::Malformed);
    }
    Ok(Control::Marker {
        epoch,
        member: Member(member),
        previous: SeqNum(u32::from_be_bytes([a, b, c, d])),
        number: SeqNum(u32::from_be_bytes([e, f, g, h])),
        unsettled: u16::from_be_bytes([high, low]),
        padding: u16::try_from(padding.len()).map_err(|_| WireError::Malformed)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of the header before a control frame \[byte\].
    const HEADER: u64 = 20;

    #[test]
    fn control_frames_are_parsed_as_they_were_emitted_and_as_long_as_they_say() {
        let mut missing = Missing::default();
        missing.push(SeqNum(9));
        missing.push(SeqNum(12));
        let marker = Control::Marker {
            epoch: 3,
            member: Member(2),
            previous: SeqNum(7),
            number: SeqNum(u32::MAX),
            unsettled: 5,
            padding: 8,
        };
        let acknowledgement = Control::Acknowledgement { epoch: 1, next: SeqNum(8), missing };
        for control in [Control::Surplus { round: 4, counter: -1_500 }, acknowledgement, marker] {
            let mut bytes = Vec::new();
            let head = emit_control(&control, &mut bytes);
            assert_eq!(bytes.len() as u64 + HEADER, control.len().as_u64());
            assert_eq!(parse_control(head, &bytes), Ok(control));
            assert_eq!(parse_control(head, &bytes[..7]), Err(WireError::Truncated));
            assert_eq!(parse_control((17, 0), &bytes), Err(WireError::Kind(17)));
        }
    }

    #[test]
    fn a_marker_with_something_behind_it_is_refused() {
        let mut bytes = vec![0; 13];
        assert!(parse_control((MARKER_PROTOCOL, 0), &bytes).is_ok());
        bytes[12] = 1;
        assert_eq!(parse_control((MARKER_PROTOCOL, 0), &bytes), Err(WireError::Malformed));
    }
}
