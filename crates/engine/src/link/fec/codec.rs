//! The codec on real bytes: check, blocks, parity; and back.

use super::block::ReedSolomon;
use super::check::crc32;
use super::{Codec, Decoded};
use crate::link::header::Segment;
use crate::link::shape::{BLOCK_LEN, CHECK_LEN};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Codes and decodes segments; keeps a table for each number of parity bytes that it has used.
#[derive(Clone, Debug, Default)]
pub struct BlockCodec {
    codes: BTreeMap<u8, ReedSolomon>,
}

impl BlockCodec {
    fn code(&mut self, parity: u8) -> Option<&ReedSolomon> {
        match self.codes.entry(parity) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(place) => Some(place.insert(ReedSolomon::new(parity).ok()?)),
        }
    }

    /// Puts the coded segment in `coded`: `segment.coded_len()` bytes. `data` are its `segment.count` bytes of the
    /// packet.
    ///
    /// # Panics
    /// If `data` has another length, or the parity is one that [`crate::link::Shape`] refuses.
    pub fn encode(&mut self, segment: &Segment, data: &[u8], coded: &mut Vec<u8>) {
        assert_eq!(data.len(), usize::from(segment.count), "a segment is as long as its header says");
        let Some(code) = self.code(segment.parity) else { panic!("parity of {} byte", segment.parity) };
        let parity = usize::from(segment.parity);
        coded.clear();
        coded.extend_from_slice(data);
        coded.extend(crc32(data).to_be_bytes());
        let plain = coded.len();
        coded.resize(segment.coded_len() as usize, 0);
        // From the last block to the first each is moved to its place, behind the parity of those before it.
        let room = usize::from(BLOCK_LEN) - parity;
        for index in (0..plain.div_ceil(room)).rev() {
            let (from, to) = (index * room, plain.min((index + 1) * room));
            let place = index * usize::from(BLOCK_LEN);
            coded.copy_within(from..to, place);
            code.encode(&mut coded[place..place + to - from + parity]);
        }
    }
}

impl Codec for BlockCodec {
    /// The coded bytes; if they are intact, the first `segment.count` of them are then the data.
    type Coded = [u8];

    fn decode(&mut self, segment: &Segment, coded: &mut [u8]) -> Decoded {
        let Some(code) = self.code(segment.parity) else { return Decoded::Undecodable };
        if coded.len() != segment.coded_len() as usize {
            return Decoded::Undecodable;
        }
        let (mut worst, mut plain) = (0, 0);
        for place in (0..coded.len()).step_by(usize::from(BLOCK_LEN)) {
            let end = coded.len().min(place + usize::from(BLOCK_LEN));
            let Ok(wrong) = code.decode(&mut coded[place..end]) else { return Decoded::Undecodable };
            worst = worst.max(wrong);
            let data = end - usize::from(segment.parity);
            coded.copy_within(place..data, plain);
            plain += data - place;
        }
        let (data, check) = coded[..plain].split_at(plain - usize::from(CHECK_LEN));
        if crc32(data).to_be_bytes() == *check { Decoded::Intact { worst } } else { Decoded::Undecodable }
    }
}
