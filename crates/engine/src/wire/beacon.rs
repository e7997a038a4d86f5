//! Byte format of the beacons of interface selection, 28 bytes; the frame that carries them names the sender:
//!
//! ```text
//!  0         1   2       4        8        12      16        20        24     28
//!  | version | 1 | zeros | number | newest | heard | arrived | missing | gaps |
//! ```

use super::WireError;
use crate::converge::select::{Beacon, Tally};
use airbraid_units::SeqNum;

/// The version of this format that this code speaks.
pub const BEACON_VERSION: u8 = 2;
/// Length of a beacon \[byte\].
pub const BEACON_LEN: usize = 28;

/// Writes a beacon.
pub fn emit_beacon(beacon: &Beacon) -> [u8; BEACON_LEN] {
    let mut bytes = [0; BEACON_LEN];
    bytes[..2].copy_from_slice(&[BEACON_VERSION, 1]);
    let Beacon { number, newest, heard, tally: Tally { arrived, missing, gaps } } = *beacon;
    let (places, _) = bytes[4..].as_chunks_mut::<4>();
    for (place, word) in places.iter_mut().zip([number.0, newest.0, heard, arrived, missing, gaps]) {
        *place = word.to_be_bytes();
    }
    bytes
}

/// Reads a beacon, which is all of `bytes`.
///
/// # Errors
/// [`WireError`] if it is none.
pub fn parse_beacon(bytes: &[u8]) -> Result<Beacon, WireError> {
    let (head, rest) = bytes.split_first_chunk::<BEACON_LEN>().ok_or(WireError::Truncated)?;
    match *head {
        [BEACON_VERSION, 1, 0, 0, ..] if rest.is_empty() => {}
        [BEACON_VERSION, 1, ..] => return Err(WireError::Malformed),
        [BEACON_VERSION, kind, ..] => return Err(WireError::Kind(kind)),
        [version, ..] => return Err(WireError::Version(version)),
    }
    let (words, _) = head[4..].as_chunks::<4>();
    let word = |at: usize| u32::from_be_bytes(words[at]);
    let tally = Tally { arrived: word(3), missing: word(4), gaps: word(5) };
    Ok(Beacon { number: SeqNum(word(0)), newest: SeqNum(word(1)), heard: word(2), tally })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_emitted_is_parsed() {
        let tally = Tally { arrived: 900, missing: 12, gaps: u32::MAX };
        let beacon = Beacon { number: SeqNum(7), newest: SeqNum(u32::MAX), heard: 0x8000_0001, tally };
        let bytes = emit_beacon(&beacon);
        assert_eq!(parse_beacon(&bytes), Ok(beacon));
        assert_eq!(parse_beacon(&bytes[..BEACON_LEN - 1]), Err(WireError::Truncated));
        assert_eq!(parse_beacon(&[&bytes[..], &[0]].concat()), Err(WireError::Malformed));
        let with = |at: usize, value| {
            let mut bytes = bytes;
            bytes[at] = value;
            parse_beacon(&bytes)
        };
        assert_eq!(with(0, 1), Err(WireError::Version(1)));
        assert_eq!(with(1, 2), Err(WireError::Kind(2)));
        assert_eq!(with(3, 1), Err(WireError::Malformed));
    }
}
