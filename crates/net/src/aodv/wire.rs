//! Byte formats of AODV's messages, for captures: RFC 3561, sections 5.1 to 5.3. Parsing and emitting, no state.
//!
//! Network byte order. Flags J, R, A and the prefix size, which the model does not use, are emitted as zero and
//! refused.
//!
//! ```text
//!  0        1       2          3       4    8             12         16           20
//!  | 1      | flags | reserved | hops  | id | destination | number   | originator | number   |
//!  | 2      | flags | prefix   | hops  | destination      | number   | originator | lifetime |
//!  | 3      | flags | reserved | count | destination      | number   | ...
//! ```

use super::Node;
use super::message::{
    Message, RERR_HEADER_LEN, RREP_LEN, RREQ_LEN, Rerr, Rrep, Rreq, RreqId, UNREACHABLE_LEN, UNREACHABLE_MAX,
    Unreachable,
};
use airbraid_units::{Duration, SeqNum};

/// Flags of a RREQ: gratuitous reply, destination only, unknown sequence number.
const GRATUITOUS: u8 = 0x20;
const DESTINATION_ONLY: u8 = 0x10;
const UNKNOWN_SEQUENCE: u8 = 0x08;
/// Flag of a RERR: do not delete the route.
const NO_DELETE: u8 = 0x80;

/// The reason why bytes are no message of AODV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// There are fewer bytes, or more, than the message has.
    Length,
    /// An unknown type, or one that the model does not use.
    Type(u8),
    /// A field that must be zero is not, or a RERR has no destination.
    Malformed,
}

/// Writes a message. Of a RERR's destinations the first [`UNREACHABLE_MAX`] are written, of a lifetime whole
/// milliseconds up to 32 bits of them.
pub fn emit(message: &Message) -> Vec<u8> {
    match message {
        Message::Rreq(rreq) => emit_rreq(rreq),
        Message::Rrep(rrep) => emit_rrep(rrep),
        Message::Rerr(rerr) => emit_rerr(rerr),
    }
}

fn put(bytes: &mut Vec<u8>, word: u32) {
    bytes.extend_from_slice(&word.to_be_bytes());
}

fn emit_rreq(rreq: &Rreq) -> Vec<u8> {
    let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let flags = flag(rreq.gratuitous, GRATUITOUS)
        | flag(rreq.destination_only, DESTINATION_ONLY)
        | flag(rreq.destination_sequence.is_none(), UNKNOWN_SEQUENCE);
    let mut bytes = Vec::with_capacity(RREQ_LEN);
    bytes.extend_from_slice(&[1, flags, 0, rreq.hop_count]);
    put(&mut bytes, rreq.id.0);
    put(&mut bytes, rreq.destination.0);
    put(&mut bytes, rreq.destination_sequence.map_or(0, |number| number.0));
    put(&mut bytes, rreq.originator.0);
    put(&mut bytes, rreq.originator_sequence.0);
    bytes
}

fn emit_rrep(rrep: &Rrep) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(RREP_LEN);
    bytes.extend_from_slice(&[2, 0, 0, rrep.hop_count]);
    put(&mut bytes, rrep.destination.0);
    put(&mut bytes, rrep.destination_sequence.0);
    put(&mut bytes, rrep.originator.0);
    let milliseconds = rrep.lifetime.as_nanos() / 1_000_000;
    put(&mut bytes, u32::try_from(milliseconds).unwrap_or(u32::MAX));
    bytes
}

fn emit_rerr(rerr: &Rerr) -> Vec<u8> {
    let count = rerr.unreachable.len().min(UNREACHABLE_MAX);
    let mut bytes = Vec::with_capacity(RERR_HEADER_LEN + UNREACHABLE_LEN * count);
    bytes.extend_from_slice(&[3, if rerr.keep { NO_DELETE } else { 0 }, 0, count as u8]);
    for one in &rerr.unreachable[..count] {
        put(&mut bytes, one.destination.0);
        put(&mut bytes, one.sequence.0);
    }
    bytes
}

/// Reads a message, which must fill `bytes`.
///
/// # Errors
/// [`WireError`]: what is wrong first.
pub fn parse(bytes: &[u8]) -> Result<Message, WireError> {
    let (&[kind, flags, reserved, last], body) = bytes.split_first_chunk::<4>().ok_or(WireError::Length)?;
    let message = match kind {
        1 => parse_rreq(flags, last, body)?,
        2 => parse_rrep(flags, last, body)?,
        3 => parse_rerr(flags, last, body)?,
        other => return Err(WireError::Type(other)),
    };
    if reserved != 0 {
        return Err(WireError::Malformed);
    }
    Ok(message)
}

/// Reads `N` words that fill `body`.
fn words<const N: usize>(body: &[u8]) -> Result<[u32; N], WireError> {
    if body.len() != 4 * N {
        return Err(WireError::Length);
    }
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(body.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    Ok(words)
}

fn parse_rreq(flags: u8, hop_count: u8, body: &[u8]) -> Result<Message, WireError> {
    let [id, destination, number, originator, originator_number] = words(body)?;
    let is_unknown = flags & UNKNOWN_SEQUENCE != 0;
    let others = !(GRATUITOUS | DESTINATION_ONLY | UNKNOWN_SEQUENCE);
    if flags & others != 0 || (is_unknown && number != 0) {
        return Err(WireError::Malformed);
    }
    Ok(Message::Rreq(Rreq {
        hop_count,
        id: RreqId(id),
        destination: Node(destination),
        destination_sequence: (!is_unknown).then_some(SeqNum(number)),
        originator: Node(originator),
        originator_sequence: SeqNum(originator_number),
        gratuitous: flags & GRATUITOUS != 0,
        destination_only: flags & DESTINATION_ONLY != 0,
    }))
}

fn parse_rrep(flags: u8, hop_count: u8, body: &[u8]) -> Result<Message, WireError> {
    let [destination, number, originator, milliseconds] = words(body)?;
    if flags != 0 {
        return Err(WireError::Malformed);
    }
    Ok(Message::Rrep(Rrep {
        hop_count,
        destination: Node(destination),
        destination_sequence: SeqNum(number),
        originator: Node(originator),
        lifetime: Duration::from_millis(u64::from(milliseconds)),
    }))
}

fn parse_rerr(flags: u8, count: u8, body: &[u8]) -> Result<Message, WireError> {
    if body.len() != UNREACHABLE_LEN * usize::from(count) {
        return Err(WireError::Length);
    }
    if flags & !NO_DELETE != 0 || count == 0 {
        return Err(WireError::Malformed);
    }
    let unreachable = body
        .chunks_exact(UNREACHABLE_LEN)
        .map(|chunk| {
            let [destination, number] = words(chunk)?;
            Ok(Unreachable { destination: Node(destination), sequence: SeqNum(number) })
        })
        .collect::<Result<_, _>>()?;
    Ok(Message::Rerr(Rerr { keep: flags & NO_DELETE != 0, unreachable }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node() -> impl Strategy<Value = Node> {
        any::<u32>().prop_map(Node)
    }
    fn number() -> impl Strategy<Value = SeqNum> {
        any::<u32>().prop_map(SeqNum)
    }
    fn rreq() -> impl Strategy<Value = Message> {
        (any::<(u8, u32, bool, bool)>(), node(), prop::option::of(number()), node(), number()).prop_map(
            |((hop_count, id, gratuitous, destination_only), destination, sequence, originator, own)| {
                Message::Rreq(Rreq {
                    hop_count,
                    id: RreqId(id),
                    destination,
                    destination_sequence: sequence,
                    originator,
                    originator_sequence: own,
                    gratuitous,
                    destination_only,
                })
            },
        )
    }
    fn message() -> impl Strategy<Value = Message> {
        let rrep = (any::<(u8, u32)>(), node(), number(), node()).prop_map(|((hop_count, ms), to, sequence, from)| {
            let lifetime = Duration::from_millis(u64::from(ms));
            let (destination, destination_sequence, originator) = (to, sequence, from);
            Message::Rrep(Rrep { hop_count, destination, destination_sequence, originator, lifetime })
        });
        let unreachable = (node(), number()).prop_map(|(destination, sequence)| Unreachable { destination, sequence });
        let rerr = (any::<bool>(), prop::collection::vec(unreachable, 1..=UNREACHABLE_MAX))
            .prop_map(|(keep, unreachable)| Message::Rerr(Rerr { keep, unreachable }));
        prop_oneof![rreq(), rrep, rerr]
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_read_again_and_as_long_as_promised(message in message()) {
            let bytes = emit(&message);
            prop_assert_eq!(bytes.len() as u64 + 28, message.packet_len().as_u64());
            prop_assert_eq!(parse(&bytes), Ok(message));
        }

        #[test]
        fn what_is_read_is_what_would_be_emitted(bytes in prop::collection::vec(any::<u8>(), 0..60), kind in 0u8..5) {
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            if let Ok(message) = parse(&bytes) {
                prop_assert!(emit(&message) == bytes);
            }
        }
    }

    #[test]
    fn a_request_looks_as_in_the_rfc() {
        let rreq = Rreq {
            hop_count: 3,
            id: RreqId(0x0102_0304),
            destination: Node(0x0a00_0002),
            destination_sequence: None,
            originator: Node(0x0a00_0001),
            originator_sequence: SeqNum(7),
            gratuitous: true,
            destination_only: false,
        };
        let bytes = emit(&Message::Rreq(rreq));
        assert_eq!(bytes[..8], [1, 0x28, 0, 3, 1, 2, 3, 4]);
        assert_eq!(bytes[8..], [10, 0, 0, 2, 0, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 7]);
    }

    #[test]
    fn what_is_no_message_is_refused_with_the_reason() {
        assert_eq!(parse(&[]), Err(WireError::Length));
        assert_eq!(parse(&[1, 0, 0, 0]), Err(WireError::Length));
        assert_eq!(parse(&[4, 0, 0, 0]), Err(WireError::Type(4)));
        assert_eq!(parse(&[3, 0, 0, 0]), Err(WireError::Malformed));
        assert_eq!(parse(&[3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]), Err(WireError::Length));
        let mut reply = [0; RREP_LEN];
        reply[0] = 2;
        reply[2] = 1;
        assert_eq!(parse(&reply), Err(WireError::Malformed));
    }
}
