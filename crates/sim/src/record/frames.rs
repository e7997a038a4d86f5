//! Frames, packets and levels of a run as compact binary blocks, from which a page draws its timeline.
//!
//! A file is a row of blocks: four bytes of length, little endian, then the block. The first is a header in JSON (the
//! names behind all numbers), the last one in JSON says how much there is; those between begin with a zero byte and
//! hold records. Numbers are varints as in Protocol Buffers, signed ones in zigzag. Within a block every time is the
//! difference to the record before it, and every other number that grows is one to its last value in the block, so that
//! a frame and all that is known of it takes some 30 byte. Receptions by others than the addressee stand up to 10 us
//! behind their time, so that all who hear a frame are one record.
//!
//! A record is a tag and the fields behind it; the low three bits of the tag are its kind, the others are flags:
//!
//! - 0, a shape of frames, numbered from 0 in each block: kind, channel, size \[byte\], rate \[100 kbit/s\], airtime
//!   \[ns\], duration field \[ns\], whether the sender dozes plus twice the number of MPDUs of an aggregate.
//! - 1, a transmission (8: retry, 16: with a packet, 32: with a sequence number, 64: to all): time, radio, peer, shape,
//!   sequence number, access, packet.
//! - 2, a reception (16: of the transmission of the last one, 32: by others than the addressee, 64 and 128: lost):
//!   time of the end, number of transmissions since; radio and signal \[-0.5 dBm\], or a set of radios.
//! - 3, something given to a MAC (8: a packet, 64: to all): time, radio, peer, packet.
//! - 4, something that has left a MAC (8: the packet last sent there, 16: a packet): time, radio, outcome, attempts,
//!   packet.
//! - 5, a delivery (8: of the packet last received there): time, node, packet.
//! - 6, a drop: time, node, reason, packet.
//! - 7, a level: time, level, change.
//!
//! An access is 0 (a response), 1 (the medium was idle) or 2 + slots drawn, then the contention window. A packet is 4 *
//! flow + role, its number's change, and the time since it was made. A set of radios is its number in the block from 1
//! on; or where it is new 0, the number of its runs of consecutive radios, and for each how many are left out before it
//! and how many it has. Never looks at the world, and opens no file.

use airbraid_units::{Duration, Instant};
use std::borrow::Borrow;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;

/// Length at which a block is written \[byte\]: 85 kB as base64.
const BLOCK: usize = 64 << 10;

/// The identity of a packet: no other of its flow was made then with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketKey {
    pub flow: usize,
    pub role: Role,
    pub number: u64,
    pub created: Instant,
}

/// The role of a packet in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Data,
    Ack,
    Datagram,
    /// From outside the simulation.
    External,
}

/// The properties that many frames share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Place of the kind in the header's list.
    pub kind: u8,
    pub channel: u32,
    /// Length with header and FCS \[byte\].
    pub size: u64,
    /// In units of 100 kbit/s.
    pub rate: u64,
    pub airtime: Duration,
    /// The duration field.
    pub nav: Duration,
    pub dozes: bool,
    /// Number of MPDUs of an aggregate; 0: it is none.
    pub mpdus: u32,
}

/// The access to the medium of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameAccess {
    Response,
    Immediate,
    /// Contention window and slots drawn.
    Backoff(u32, u32),
}

/// A transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentFrame {
    pub radio: usize,
    /// The radio that it is for; `None`: all.
    pub peer: Option<usize>,
    pub shape: Shape,
    pub seq: Option<u16>,
    pub retry: bool,
    pub access: FrameAccess,
    pub packet: Option<PacketKey>,
}

/// The result of a reception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reception {
    Ok,
    Collision,
    Channel,
}

/// Places of [`Numbered::recent`].
const RECENT: usize = 64;

/// Things with a number each in a block. Nearly all are among those that came last, which are found by a mixture of
/// their bits.
#[derive(Debug)]
struct Numbered<T> {
    all: BTreeMap<T, u64>,
    recent: [Option<(T, u64)>; RECENT],
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), recent: [const { None }; RECENT] }
    }
}

impl<T: Ord + Clone> Numbered<T> {
    /// The number of a thing, and whether it is new.
    fn number<Q: ToOwned<Owned = T> + Ord + ?Sized>(&mut self, thing: &Q, mixture: u64) -> (u64, bool)
    where
        T: Borrow<Q>,
    {
        // Fibonacci hashing: 2^64 divided by the golden ratio, of which the high bits are the best mixed.
        let place = (mixture.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - RECENT.ilog2())) as usize;
        if let Some((known, number)) = &self.recent[place]
            && known.borrow() == thing
        {
            return (*number, false);
        }
        let next = self.all.len() as u64;
        let (number, is_new) = match self.all.get(thing) {
            Some(number) => (*number, false),
            None => (next, true),
        };
        if is_new {
            self.all.insert(thing.to_owned(), number);
        }
        self.recent[place] = Some((thing.to_owned(), number));
        (number, is_new)
    }

    fn clear(&mut self) {
        self.all.clear();
        self.recent.fill(None);
    }
}

/// Differences are taken from these, within a block.
#[derive(Debug, Default)]
struct Last {
    time: u64,
    shapes: Numbered<Shape>,
    sets: Numbered<RadioSet>,
    /// By stream.
    numbers: Vec<u64>,
    /// By level.
    levels: Vec<u64>,
}

impl Last {
    fn clear(&mut self) {
        self.time = 0;
        self.shapes.clear();
        self.sets.clear();
        self.numbers.fill(0);
        self.levels.fill(0);
    }
}

/// Puts a value at a place, and returns the one before; zero where there was none.
fn replace(values: &mut Vec<u64>, place: usize, value: u64) -> u64 {
    if place >= values.len() {
        values.resize(place + 1, 0);
    }
    std::mem::replace(&mut values[place], value)
}

/// The longest time for which receptions of one frame by others than its addressee are gathered: light goes 3 km.
const GATHERED: Duration = Duration::from_micros(10);

/// Receptions of one frame by others than its addressee, at nearly one time.
#[derive(Debug)]
struct Crowd {
    at: Instant,
    frame: u64,
    result: Reception,
    radios: RadioSet,
}

/// A set of radios, a bit for each; the last word has one.
type RadioSet = Vec<u64>;

/// Puts a radio into a set.
fn insert(set: &mut RadioSet, radio: usize) {
    let word = radio / 64;
    if word >= set.len() {
        set.resize(word + 1, 0);
    }
    set[word] |= 1 << (radio % 64);
}

/// The runs of consecutive radios: how many are left out before each, and how many it has.
fn runs(set: &RadioSet) -> Vec<[u64; 2]> {
    let is_in = |radio: &u64| set[(radio / 64) as usize] >> (radio % 64) & 1 == 1;
    let (mut runs, mut next) = (Vec::<[u64; 2]>::new(), 0);
    for radio in (0..set.len() as u64 * 64).filter(is_in) {
        match runs.last_mut() {
            Some([_, count]) if radio == next => *count += 1,
            _ => runs.push([radio - next, 1]),
        }
        next = radio + 1;
    }
    runs
}

/// A writer of blocks.
#[derive(Debug)]
pub struct FrameLog<W: Write> {
    out: W,
    block: Vec<u8>,
    last: Last,
    /// Number of transmissions so far.
    sent: u64,
    /// The transmission of the last reception.
    received: u64,
    /// Those that are not written yet, in the order of their times.
    crowds: VecDeque<Crowd>,
    /// Room for the radios of the next ones.
    spare: Vec<RadioSet>,
}

impl<W: Write> FrameLog<W> {
    /// Begins with the header, in JSON.
    pub fn new(out: W, header: &[u8]) -> Self {
        let (block, last, crowds, spare) = (Vec::new(), Last::default(), VecDeque::new(), Vec::new());
        let mut log = Self { out, block, last, sent: 0, received: u64::MAX, crowds, spare };
        log.write(header);
        log
    }

    /// Ends with a block in JSON, and flushes.
    pub fn finish(mut self, end: &[u8]) {
        self.flush_crowds(Instant::MAX);
        self.flush_block();
        self.write(end);
        // A recording's sink does not fail.
        let _ = self.out.flush();
    }

    /// Writes a block.
    fn write(&mut self, block: &[u8]) {
        // A recording's sink does not fail.
        let _ = self.out.write_all(&(block.len() as u32).to_le_bytes());
        let _ = self.out.write_all(block);
    }

    fn flush_block(&mut self) {
        if !self.block.is_empty() {
            let block = std::mem::take(&mut self.block);
            self.write(&block);
            self.block = block;
            self.block.clear();
        }
        self.last.clear();
    }

    #[inline]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.block.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.block.push(value as u8);
    }

    /// A difference, in zigzag.
    fn change(&mut self, from: u64, to: u64) {
        let change = to.wrapping_sub(from) as i64;
        self.varint((change << 1 ^ change >> 63) as u64);
    }

    /// Begins a record: its tag and its time.
    fn begin(&mut self, tag: u8, at: Instant) {
        self.make_room(at);
        self.tag(tag, at);
    }

    /// Writes what was gathered long enough, and the block if it is full.
    fn make_room(&mut self, now: Instant) {
        self.flush_crowds(now);
        if self.block.len() >= BLOCK {
            self.flush_block();
        }
    }

    fn tag(&mut self, tag: u8, at: Instant) {
        if self.block.is_empty() {
            self.block.push(0);
        }
        self.block.push(tag);
        self.change(self.last.time, at.as_nanos());
        self.last.time = at.as_nanos();
    }

    fn packet(&mut self, packet: &PacketKey) {
        let stream = packet.flow * 4 + packet.role as usize;
        self.varint(stream as u64);
        let before = replace(&mut self.last.numbers, stream, packet.number);
        self.change(before, packet.number);
        self.change(packet.created.as_nanos(), self.last.time);
    }

    fn peer(&mut self, peer: Option<usize>) {
        if let Some(peer) = peer {
            self.varint(peer as u64);
        }
    }

    /// The number of a shape in this block, which it is written into where it is new.
    fn shape(&mut self, shape: Shape) -> u64 {
        let mixture =
            shape.size ^ u64::from(shape.kind) << 32 ^ shape.nav.as_nanos() << 8 ^ u64::from(shape.channel) << 16;
        let (number, is_new) = self.last.shapes.number(&shape, mixture);
        if is_new {
            let Shape { kind, channel, size, rate, airtime, nav, dozes, mpdus } = shape;
            let last = u64::from(dozes) | u64::from(mpdus) << 1;
            if self.block.is_empty() {
                self.block.push(0);
            }
            self.block.extend([0, kind]);
            for value in [u64::from(channel), size, rate, airtime.as_nanos(), nav.as_nanos(), last] {
                self.varint(value);
            }
        }
        number
    }

    /// A transmission is committed to, which begins at `start`; returns its number.
    pub fn transmission(&mut self, now: Instant, start: Instant, frame: &SentFrame) -> u64 {
        self.make_room(now);
        let shape = self.shape(frame.shape);
        let flag = |bit: u8, is_set: bool| if is_set { bit } else { 0 };
        let flags = flag(8, frame.retry) | flag(16, frame.packet.is_some()) | flag(32, frame.seq.is_some());
        self.tag(1 | flags | flag(64, frame.peer.is_none()), start);
        self.varint(frame.radio as u64);
        self.peer(frame.peer);
        self.varint(shape);
        if let Some(seq) = frame.seq {
            self.varint(u64::from(seq));
        }
        match frame.access {
            FrameAccess::Response => self.varint(0),
            FrameAccess::Immediate => self.varint(1),
            FrameAccess::Backoff(window, drawn) => {
                self.varint(2 + u64::from(drawn));
                self.varint(u64::from(window));
            }
        }
        if let Some(packet) = &frame.packet {
            self.packet(packet);
        }
        self.sent += 1;
        self.sent - 1
    }

    fn reception_head(&mut self, at: Instant, frame: u64, tag: u8) {
        let same = if self.received == frame { 16 } else { 0 };
        self.tag(tag | same, at);
        if same == 0 {
            self.varint(self.sent - 1 - frame);
            self.received = frame;
        }
    }

    /// The addressee's reception of a transmission ends, with this signal level \[dBm\].
    pub fn reception(&mut self, end: Instant, frame: u64, radio: usize, signal_dbm: f64, result: Reception) {
        self.make_room(end);
        self.reception_head(end, frame, 2 | (result as u8) << 6);
        self.varint(radio as u64);
        // A conversion to an integer saturates.
        self.block.push(libm::round(-2.0 * signal_dbm) as u8);
    }

    /// Somebody else's reception of a transmission ends.
    pub fn overheard(&mut self, end: Instant, frame: u64, radio: usize, result: Reception) {
        self.flush_crowds(end);
        let is_same = |crowd: &&mut Crowd| crowd.frame == frame && crowd.result == result;
        if let Some(crowd) = self.crowds.iter_mut().rev().find(is_same) {
            return insert(&mut crowd.radios, radio);
        }
        let mut radios = self.spare.pop().unwrap_or_default();
        insert(&mut radios, radio);
        self.crowds.push_back(Crowd { at: end, frame, result, radios });
    }

    /// Writes the crowds that began long enough before `now`.
    #[inline]
    fn flush_crowds(&mut self, now: Instant) {
        while let Some(mut crowd) = self.crowds.pop_front_if(|crowd| now.saturating_since(crowd.at) > GATHERED) {
            self.write_crowd(&crowd);
            crowd.radios.clear();
            self.spare.push(crowd.radios);
        }
    }

    fn write_crowd(&mut self, crowd: &Crowd) {
        if self.block.len() >= BLOCK {
            self.flush_block();
        }
        self.reception_head(crowd.at, crowd.frame, 2 | 32 | (crowd.result as u8) << 6);
        let mixture = crowd.radios.iter().fold(0, |mixture: u64, word| mixture.rotate_left(7) ^ word);
        let (number, is_new) = self.last.sets.number(&crowd.radios[..], mixture);
        if !is_new {
            return self.varint(number + 1);
        }
        let runs = runs(&crowd.radios);
        self.varint(0);
        self.varint(runs.len() as u64);
        runs.into_iter().flatten().for_each(|value| self.varint(value));
    }

    /// A radio's MAC gets a packet, or a frame of a protocol.
    pub fn queued(&mut self, at: Instant, radio: usize, peer: Option<usize>, packet: Option<&PacketKey>) {
        let flags = if packet.is_some() { 8 } else { 0 } | if peer.is_none() { 64 } else { 0 };
        self.begin(3 | flags, at);
        self.varint(radio as u64);
        self.peer(peer);
        if let Some(packet) = packet {
            self.packet(packet);
        }
    }

    /// A radio's MAC has finished with one: with the last packet that it sent if `packet` is [`Known::Before`].
    pub fn finished(&mut self, at: Instant, radio: usize, (outcome, attempts): (u8, u32), packet: Known<'_>) {
        self.begin(4 | packet.flags(), at);
        self.varint(radio as u64);
        self.block.push(outcome);
        self.varint(u64::from(attempts));
        if let Known::Packet(packet) = packet {
            self.packet(packet);
        }
    }

    /// A packet has reached its transport at a node.
    pub fn delivery(&mut self, at: Instant, node: usize, packet: Known<'_>) {
        self.begin(5 | packet.flags(), at);
        self.varint(node as u64);
        if let Known::Packet(packet) = packet {
            self.packet(packet);
        }
    }

    /// A packet goes no further at a node.
    pub fn drop(&mut self, at: Instant, node: usize, reason: usize, packet: &PacketKey) {
        self.begin(6, at);
        self.varint(node as u64);
        self.varint(reason as u64);
        self.packet(packet);
    }

    /// A level, by its place in the header's list.
    pub fn level(&mut self, at: Instant, level: usize, value: u64) {
        self.begin(7, at);
        self.varint(level as u64);
        let before = replace(&mut self.last.levels, level, value);
        self.change(before, value);
    }
}

/// A packet in a record that often is the same as in the one before.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// None: a frame of a protocol.
    Nothing,
    /// The last packet that this radio sent, or that this node received.
    Before,
    Packet(&'a PacketKey),
}

impl Known<'_> {
    const fn flags(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Before => 8,
            Self::Packet(_) => 16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of the only block of a log in which two frames begin and radios overhear them: for each how long after
    /// that \[us\], which frame and which radio.
    fn block(overheard: &[(u64, u64, usize)]) -> Vec<u8> {
        let shape = Shape {
            kind: 0,
            channel: 1,
            size: 14,
            rate: 10,
            airtime: Duration::ZERO,
            nav: Duration::ZERO,
            dozes: false,
            mpdus: 0,
        };
        let (peer, access) = (Some(1), FrameAccess::Response);
        let frame = SentFrame { radio: 0, peer, shape, seq: None, retry: false, access, packet: None };
        let (mut out, zero) = (Vec::new(), Instant::ZERO);
        let mut log = FrameLog::new(&mut out, b"{}");
        let numbers = [0, 1].map(|_| log.transmission(zero, zero, &frame));
        for (us, number, radio) in overheard {
            log.overheard(zero + Duration::from_micros(*us), numbers[*number as usize], *radio, Reception::Ok);
        }
        log.finish(b"");
        out.truncate(out.len() - 4);
        out
    }

    #[test]
    fn all_who_hear_a_frame_are_one_record() {
        // New: one run behind three radios, of two.
        assert!(block(&[(1, 0, 3), (5, 0, 4)]).ends_with(&[0, 1, 3, 2]));
        // In between they hear another, and are the same: the first set of the block.
        let both = block(&[(1, 0, 3), (1, 1, 3), (5, 0, 4), (5, 1, 4)]);
        assert!(both.windows(4).any(|part| part == [0, 1, 3, 2]) && both.ends_with(&[1]));
        assert_eq!(both.len(), block(&[(1, 0, 3), (5, 0, 4)]).len() + 4);
    }

    #[test]
    fn who_hears_a_frame_much_later_is_a_record_of_its_own() {
        assert!(block(&[(1, 0, 3), (12, 0, 4)]).ends_with(&[0, 1, 4, 1]));
    }

    #[test]
    fn a_set_is_written_as_its_runs() {
        let mut set = RadioSet::new();
        [130, 0, 1, 63, 64, 65].into_iter().for_each(|radio| insert(&mut set, radio));
        assert_eq!(runs(&set), [[0, 2], [61, 3], [64, 1]]);
    }
}
