//! Shared parts of the tests: packets of real bytes, a channel that damages them, a host that reassembles them, and the
//! naive account of the fates of a packet.

use airbraid_engine::link::fec::{BlockCodec, Codec, Decoded};
use airbraid_engine::link::{Payload, Segment};
use airbraid_engine::packet::TrafficClass;
use airbraid_engine::{Packet, Share};
use airbraid_units::{Bytes, SeqNum};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A packet, or a segment of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    pub id: u32,
    pub class: TrafficClass,
    pub bytes: Rc<[u8]>,
}

impl Packet for Buffer {
    fn len(&self) -> Bytes {
        Bytes::new(self.bytes.len() as u64)
    }
    fn class(&self) -> TrafficClass {
        self.class
    }
    fn flow_bucket(&self) -> u16 {
        0
    }
}

impl Share for Buffer {
    fn share(&self) -> Self {
        self.clone()
    }
}

/// A packet with bytes that no other has.
pub fn buffer(id: u32, class: TrafficClass, len: u16) -> Buffer {
    let mut state = id.wrapping_mul(0x9e37_79b9) | 1;
    let bytes = (0..len).map(|_| {
        state = state.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
        (state >> 24) as u8
    });
    Buffer { id, class, bytes: bytes.collect() }
}

/// The channel's effect on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    Lost,
    /// It is truncated after this part \[thousandths\].
    Cut(u16),
    /// Wrong bytes: their number, the place of the first, and their distance.
    Wrong(u16, u16, u16),
}

pub fn fault() -> impl Strategy<Value = Fault> {
    let wrong = (prop_oneof![0u16..60, any::<u16>()], 1u16..40, 1u16..100);
    prop_oneof![
        5 => Just(Fault::None),
        2 => Just(Fault::Lost),
        1 => (0u16..1_000).prop_map(Fault::Cut),
        2 => wrong.prop_map(|(at, count, step)| Fault::Wrong(at, count, step)),
    ]
}

impl Fault {
    /// Applies it to a frame.
    pub fn apply(self, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::None => {}
            Self::Lost => return None,
            Self::Cut(thousandths) => bytes.truncate(bytes.len() * usize::from(thousandths) / 1_000),
            Self::Wrong(at, count, step) => {
                let len = bytes.len();
                for i in 0..usize::from(count) {
                    bytes[(usize::from(at) + i * usize::from(step)) % len] ^= 1 + (i as u8 & 0x7f);
                }
            }
        }
        Some(bytes)
    }
}

/// A frame as bytes: its header and, if it has a segment, what the codec makes of it.
pub fn on_air(codec: &mut BlockCodec, header: &[u8], segment: Option<Segment>, packet: Option<Buffer>) -> Vec<u8> {
    let mut bytes = header.to_vec();
    assert_eq!(segment.is_some(), packet.is_some(), "a segment has a packet, and no other frame has one");
    if let Some((segment, packet)) = segment.zip(packet) {
        let mut coded = vec![];
        let from = usize::from(segment.offset);
        codec.encode(&segment, &packet.bytes[from..from + usize::from(segment.count)], &mut coded);
        bytes.extend(coded);
    }
    bytes
}

/// A host's reading of the bytes behind the header.
pub fn payload(codec: &mut BlockCodec, segment: Option<Segment>, rest: &[u8]) -> Payload<Buffer> {
    let Some(segment) = segment else { return Payload::None };
    if rest.len() < segment.coded_len() as usize {
        return Payload::Truncated { at: rest.len() as u16 };
    }
    let mut coded = rest.to_vec();
    match codec.decode(&segment, &mut coded) {
        Decoded::Intact { worst } => {
            let bytes = coded[..usize::from(segment.count)].into();
            Payload::Intact { packet: Buffer { id: 0, class: segment.class, bytes }, worst }
        }
        Decoded::Undecodable => Payload::Undecodable,
    }
}

/// The receiving host's buffers.
#[derive(Debug, Default)]
pub struct Assembly(BTreeMap<(TrafficClass, u32), Vec<u8>>);

impl Assembly {
    pub fn put(&mut self, class: TrafficClass, seq: SeqNum, offset: u16, piece: &Buffer) {
        let bytes = self.0.entry((class, seq.0)).or_default();
        let end = usize::from(offset) + piece.bytes.len();
        bytes.resize(bytes.len().max(end), 0);
        bytes[usize::from(offset)..end].copy_from_slice(&piece.bytes);
    }
    pub fn take(&mut self, class: TrafficClass, seq: SeqNum) -> Option<Vec<u8>> {
        self.0.remove(&(class, seq.0))
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// The naive reference for one direction: packets in the order in which they were offered, and what became of them.
#[derive(Debug, Default)]
pub struct Account {
    pub offered: Vec<Buffer>,
    /// Number of times that the sender has given its handle back, by packet.
    pub returned: BTreeMap<u32, u32>,
    pub refused: Vec<u32>,
    pub given_up: Vec<u32>,
    /// By class: how many of the offered ones of this class precede the next delivery at least.
    reached: [usize; 2],
    pub delivered: Vec<u32>,
}

impl Account {
    /// Notes a delivery: the bytes must be those of a packet of this class behind the last one delivered.
    pub fn deliver(&mut self, class: TrafficClass, bytes: &[u8]) {
        let of_class: Vec<&Buffer> = self.offered.iter().filter(|packet| packet.class == class).collect();
        let reached = &mut self.reached[class as usize];
        let found = of_class[*reached..].iter().position(|packet| *packet.bytes == *bytes);
        let Some(found) = found else { panic!("delivered twice, out of order or damaged: {} byte", bytes.len()) };
        *reached += found + 1;
        self.delivered.push(of_class[*reached - 1].id);
    }

    pub fn give_back(&mut self, id: u32) {
        *self.returned.entry(id).or_default() += 1;
    }

    /// Whether the sender has given back each handle exactly once.
    pub fn is_closed(&self) -> bool {
        self.offered.iter().all(|packet| self.returned.get(&packet.id) == Some(&1))
    }
}
