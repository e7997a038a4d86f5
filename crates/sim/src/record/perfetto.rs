//! A trace that Perfetto's interface opens: slices on tracks, counters, arrows, as a stream.
//!
//! The format is Protocol Buffers: `perfetto/trace/trace_packet.proto`, `track_event/track_event.proto` and
//! `track_descriptor.proto` of Perfetto; the numbers of fields below are theirs. Three kinds of message are needed, and
//! no reader, so that varints are written by hand: the crates for Protocol Buffers want their schemas compiled. Names
//! are interned once, in the order in which they are first needed, so that two runs of one seed give the same bytes.
//! Never looks at the world, and opens no file.

use airbraid_units::Instant;
use std::collections::BTreeMap;
use std::io::Write;

/// All packets are of one sequence, which owns the interned names.
const SEQUENCE: u64 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`, `SEQ_NEEDS_INCREMENTAL_STATE`.
const FIRST: u64 = 1;
const LATER: u64 = 2;

/// A message that is being written.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn fixed64(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
    }

    fn double(&mut self, field: u64, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A message within this one.
    fn message(&mut self, field: u64, fill: impl FnOnce(&mut Self)) {
        self.varint(field << 3 | 2);
        let at = self.0.len();
        // Its length comes first and is known last. One byte holds most lengths.
        self.0.push(0);
        fill(self);
        let length = self.0.len() - at - 1;
        if length < 0x80 {
            self.0[at] = length as u8;
        } else {
            let mut whole = Self::default();
            whole.varint(length as u64);
            self.0.splice(at..=at, whole.0);
        }
    }
}

/// The value of an annotation.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Number(u64),
    Real(f64),
    Flag(bool),
    /// One of few texts.
    Name(&'a str),
}

/// The kinds of interned names: the numbers of their fields in `InternedData`.
#[derive(Clone, Copy, Debug)]
enum Interned {
    Category = 1,
    Event = 2,
    Annotation = 3,
    Text = 29,
}

/// A track, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track(u64);

/// A slice of a track.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    pub track: Track,
    pub start: Instant,
    pub end: Instant,
    pub name: &'static str,
    pub category: &'static str,
    /// Slices of one number are joined by arrows, in the order of time.
    pub arrow: Option<u64>,
    pub annotations: &'a [(&'static str, Value<'a>)],
}

/// A writer of a trace.
#[derive(Debug)]
pub struct PerfettoTrace<W: Write> {
    out: W,
    tracks: u64,
    names: [BTreeMap<String, u64>; 4],
    /// Names that the next packet has to bring.
    fresh: Message,
    /// Buffers, reused for every packet.
    packet: Message,
    event: Message,
    is_begun: bool,
}

impl<W: Write> PerfettoTrace<W> {
    pub fn new(out: W) -> Self {
        let [fresh, packet, event] = [const { Message(Vec::new()) }; 3];
        Self { out, tracks: 0, names: Default::default(), fresh, packet, event, is_begun: false }
    }

    /// Flushes what was written.
    pub fn finish(mut self) {
        // A recording's sink does not fail.
        let _ = self.out.flush();
    }

    /// A packet of the trace.
    fn packet(&mut self, at: Option<Instant>, fill: impl FnOnce(&mut Message)) {
        self.packet.0.clear();
        self.packet.message(1, |packet| {
            if let Some(at) = at {
                packet.number(8, at.as_nanos());
            }
            packet.number(10, SEQUENCE);
            packet.number(13, if self.is_begun { LATER } else { FIRST });
            if !self.fresh.0.is_empty() {
                packet.bytes(12, &self.fresh.0);
            }
            fill(packet);
        });
        self.fresh.0.clear();
        self.is_begun = true;
        // A recording's sink does not fail.
        let _ = self.out.write_all(&self.packet.0);
    }

    /// A track below another, at this place among its siblings.
    pub fn track(&mut self, name: &str, parent: Option<Track>, rank: usize) -> Track {
        self.describe(name, parent, rank, |_| {})
    }

    /// A track of a number.
    pub fn counter(&mut self, name: &str, unit: &str, parent: Option<Track>, rank: usize) -> Track {
        self.describe(name, parent, rank, |track| track.message(8, |counter| counter.bytes(6, unit.as_bytes())))
    }

    fn describe(&mut self, name: &str, parent: Option<Track>, rank: usize, more: impl FnOnce(&mut Message)) -> Track {
        self.tracks += 1;
        let uuid = self.tracks;
        self.packet(None, |packet| {
            packet.message(60, |track| {
                track.number(1, uuid);
                track.bytes(2, name.as_bytes());
                if let Some(parent) = parent {
                    track.number(5, parent.0);
                }
                more(track);
                // Children are in the order of their ranks.
                track.number(11, 3);
                track.number(12, rank as u64);
            });
        });
        Track(uuid)
    }

    /// The number of a name, which the next packet brings where it is new.
    fn intern(&mut self, kind: Interned, name: &str) -> u64 {
        let place = match kind {
            Interned::Category => 0,
            Interned::Event => 1,
            Interned::Annotation => 2,
            Interned::Text => 3,
        };
        if let Some(number) = self.names[place].get(name) {
            return *number;
        }
        let number = self.names[place].len() as u64 + 1;
        self.names[place].insert(name.to_owned(), number);
        self.fresh.message(kind as u64, |entry| {
            entry.number(1, number);
            entry.bytes(2, name.as_bytes());
        });
        number
    }

    /// A slice. Slices of one track do not overlap, but may come in any order.
    pub fn slice(&mut self, slice: &Slice<'_>) {
        let mut event = std::mem::take(&mut self.event);
        event.0.clear();
        event.number(9, 1);
        event.number(11, slice.track.0);
        event.number(3, self.intern(Interned::Category, slice.category));
        event.number(10, self.intern(Interned::Event, slice.name));
        for (name, value) in slice.annotations {
            let name = self.intern(Interned::Annotation, name);
            let text = if let Value::Name(text) = value { self.intern(Interned::Text, text) } else { 0 };
            event.message(4, |annotation| {
                annotation.number(1, name);
                match value {
                    Value::Flag(flag) => annotation.number(2, u64::from(*flag)),
                    Value::Number(number) => annotation.number(3, *number),
                    Value::Real(real) => annotation.double(5, *real),
                    Value::Name(_) => annotation.number(17, text),
                }
            });
        }
        if let Some(arrow) = slice.arrow {
            event.fixed64(47, arrow);
        }
        self.packet(Some(slice.start), |packet| packet.bytes(11, &event.0));
        event.0.clear();
        event.number(9, 2);
        event.number(11, slice.track.0);
        self.packet(Some(slice.end), |packet| packet.bytes(11, &event.0));
        self.event = event;
    }

    /// Something at one time.
    pub fn mark(&mut self, track: Track, at: Instant, name: &str, category: &'static str, text: (&'static str, &str)) {
        let [category, name] =
            [(Interned::Category, category), (Interned::Event, name)].map(|(k, n)| self.intern(k, n));
        let (key, text) = (self.intern(Interned::Annotation, text.0), self.intern(Interned::Text, text.1));
        self.packet(Some(at), |packet| {
            packet.message(11, |event| {
                event.number(9, 3);
                event.number(11, track.0);
                event.number(3, category);
                event.number(10, name);
                event.message(4, |annotation| {
                    annotation.number(1, key);
                    annotation.number(17, text);
                });
            });
        });
    }

    /// A counter has a value from now on.
    pub fn count(&mut self, track: Track, at: Instant, value: u64) {
        self.packet(Some(at), |packet| {
            packet.message(11, |event| {
                event.number(9, 4);
                event.number(11, track.0);
                event.number(30, value);
            });
        });
    }
}
