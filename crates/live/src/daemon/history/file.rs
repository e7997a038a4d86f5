//! The bytes of the history on disk: a head, and records one after the other, each with a check sum. Whatever follows
//! the first record that is not as it was written is not read.
//!
//! ```text
//! record  kind (1) | length of the content (2) | content | CRC-32 of all before (4)
//! link    1 | number (1) | peer, uplink, link: length (1) and bytes each
//! point   2 | number (1) | span (1) | time (4) | seconds (2) | least, mean, most of each value (2 each)
//! event   3 | JSON
//! ```
//!
//! Numbers are little-endian.

use super::event::Event;
use super::series::{Point, Range, Span, VALUES};

/// The beginning of a file, with its version.
pub const MAGIC: &[u8] = b"airbraid history 1\n";
/// Longest content that is read \[byte\]: an event has 480 byte of text, in which JSON may escape every one.
const CONTENT_MAX: usize = 8_192;
/// Length of kind, length and check sum \[byte\].
const AROUND: usize = 7;
/// Length of the record of a point \[byte\].
pub const POINT_LEN: usize = AROUND + 8 + 6 * VALUES;

const LINK: u8 = 1;
const POINT: u8 = 2;
const EVENT: u8 = 3;

/// The names of a link: of the peer, of our uplink, and of the link at the end that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkKey {
    pub peer: String,
    pub uplink: String,
    pub link: String,
}

/// A record of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The number of a link in what follows.
    Link(u8, LinkKey),
    Point(u8, Span, u32, Point),
    Event(Event),
}

impl Record {
    /// Appends it. One that is too long is left out: no name and no text is.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut content = Vec::new();
        let kind = match self {
            Self::Link(number, key) => {
                content.push(*number);
                for name in [&key.peer, &key.uplink, &key.link] {
                    content.push(name.len() as u8);
                    content.extend(name.as_bytes());
                }
                LINK
            }
            Self::Point(number, span, time, point) => {
                content.extend([*number, *span as u8]);
                content.extend(time.to_le_bytes());
                content.extend(point.seconds.to_le_bytes());
                for code in point.values.iter().flat_map(|range| [range.least, range.mean, range.most]) {
                    content.extend(code.to_le_bytes());
                }
                POINT
            }
            Self::Event(event) => {
                content = serde_json::to_vec(event).unwrap_or_default();
                EVENT
            }
        };
        if content.len() > CONTENT_MAX {
            return;
        }
        let begin = out.len();
        out.push(kind);
        out.extend((content.len() as u16).to_le_bytes());
        out.extend(content);
        let sum = crc32(&out[begin..]);
        out.extend(sum.to_le_bytes());
    }

    /// Reads one from the beginning of `bytes`; returns it with its length.
    fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let (&[kind, low, high], rest) = bytes.split_first_chunk()?;
        let length = usize::from(u16::from_le_bytes([low, high]));
        if length > CONTENT_MAX {
            return None;
        }
        let (content, rest) = rest.split_at_checked(length)?;
        let (sum, _) = rest.split_first_chunk()?;
        if u32::from_le_bytes(*sum) != crc32(&bytes[..3 + length]) {
            return None;
        }
        let record = match kind {
            LINK => link(content),
            POINT => point(content),
            EVENT => serde_json::from_slice(content).ok().map(Self::Event),
            _ => None,
        };
        Some((record?, length + AROUND))
    }
}

fn link(content: &[u8]) -> Option<Record> {
    let (number, mut rest) = content.split_first()?;
    let mut name = || {
        let (length, behind) = rest.split_first()?;
        let (name, behind) = behind.split_at_checked(usize::from(*length))?;
        rest = behind;
        Some(std::str::from_utf8(name).ok()?.to_owned())
    };
    let key = LinkKey { peer: name()?, uplink: name()?, link: name()? };
    rest.is_empty().then_some(Record::Link(*number, key))
}

fn point(content: &[u8]) -> Option<Record> {
    let (&[number, span, a, b, c, d, low, high], codes) = content.split_first_chunk()?;
    let span = *Span::ALL.get(usize::from(span))?;
    let seconds = u16::from_le_bytes([low, high]);
    let mut codes = codes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]]));
    let mut values = [Range { least: 0, mean: 0, most: 0 }; VALUES];
    for range in &mut values {
        *range = Range { least: codes.next()?, mean: codes.next()?, most: codes.next()? };
    }
    let is_whole = codes.next().is_none() && content.len() + AROUND == POINT_LEN && seconds > 0;
    let time = u32::from_le_bytes([a, b, c, d]);
    is_whole.then_some(Record::Point(number, span, time, Point { seconds, values }))
}

/// The intact records of a file, and the length of the rest that is not \[byte\].
pub fn read(bytes: &[u8]) -> (Vec<Record>, usize) {
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else { return (Vec::new(), bytes.len()) };
    let mut records = Vec::new();
    while let Some((record, length)) = Record::parse(rest) {
        records.push(record);
        rest = &rest[length..];
    }
    (records, rest.len())
}

/// CRC-32 (IEEE 802.3, 3.2.9; reflected, as zlib has it).
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| TABLE[usize::from(sum as u8 ^ byte)] ^ (sum >> 8);
    !bytes.iter().fold(u32::MAX, step)
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn records() -> Vec<Record> {
        let key = LinkKey { peer: "hub".to_owned(), uplink: "dsl".to_owned(), link: "d-1".to_owned() };
        let range = Range::of(1.0, 2.0, f32::NAN);
        let event = Event { cause: Some("no-answer".to_owned()), ..Event::new(7, "cause", "dsl: \"nothing\"\n") };
        vec![
            Record::Link(3, key),
            Record::Point(3, Span::Day, 1_700_000_100, Point { seconds: 300, values: [range; VALUES] }),
            Record::Event(event),
        ]
    }

    fn file() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        records().iter().for_each(|record| record.emit(&mut bytes));
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&file()), (records(), 0));
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926, "the check value of CRC-32");
        let mut point = Vec::new();
        records()[1].emit(&mut point);
        assert_eq!(point.len(), POINT_LEN);
    }

    #[test]
    fn a_file_that_is_cut_is_read_up_to_the_last_whole_record() {
        let bytes = file();
        for length in 0..bytes.len() {
            let (read, left) = read(&bytes[..length]);
            assert_eq!(read[..], records()[..read.len()]);
            // Between two records nothing is missing.
            assert!(read.len() < 3 && left < bytes.len());
        }
    }

    #[test]
    fn a_bit_that_has_changed_ends_what_is_read() {
        let bytes = file();
        for at in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            let (read, left) = read(&damaged);
            assert!(left > 0 && read.len() < 3, "bit {at}");
            assert_eq!(read[..], records()[..read.len()]);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            has_head in any::<bool>(),
        ) {
            let head = if has_head { MAGIC } else { &[] };
            let all = [head, &bytes].concat();
            let (_, left) = read(&all);
            prop_assert!(left <= all.len());
        }

        /// With a right check sum around them, contents are read or refused, too.
        #[test]
        fn any_content_is_read_or_refused(kind in 0u8..5, content in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut bytes = vec![kind];
            bytes.extend((content.len() as u16).to_le_bytes());
            bytes.extend(&content);
            bytes.extend(crc32(&bytes).to_le_bytes());
            if let Some((record, length)) = Record::parse(&bytes) {
                let mut again = Vec::new();
                record.emit(&mut again);
                prop_assert_eq!(length, bytes.len());
                prop_assert!(matches!(record, Record::Event(_)) || again == bytes);
            }
        }
    }
}
