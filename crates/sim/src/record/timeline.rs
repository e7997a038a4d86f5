//! The frame timeline: one line for each event of a frame or a packet, for people to read.
//!
//! Columns are stable (time, who, what, frame, peer, size, rate, then the rest), so that `grep`, `cut` and `diff` work;
//! two runs of one seed give the same bytes. Formats only: whoever asks for a timeline calls it, nobody else pays.

use super::text::{Line, Piece, clock};
use airbraid_units::{BitRate, Bytes, Duration, Instant};

/// The event of a line.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A frame begins to be transmitted.
    Transmit {
        frame: FrameText<'a>,
        /// The duration field.
        duration: Duration,
        /// The contention that it came out of: contention window and slots drawn; `None`: a response.
        backoff: Option<(u32, u32)>,
    },
    /// A frame has been received whole.
    Receive {
        frame: FrameText<'a>,
        /// The power with which it arrived \[dBm\].
        signal_dbm: f64,
    },
    /// A frame could not be read.
    ReceiveError { frame: FrameText<'a>, cause: Cause },
    /// A packet is given up.
    Drop {
        packet: PacketLine<'a>,
        /// The reason, as in the result's `drops`.
        reason: &'a str,
    },
    /// A packet reaches its destination.
    Deliver {
        packet: PacketLine<'a>,
        /// Time since it was sent.
        delay: Duration,
    },
}

/// The cause of a frame's loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Another frame at the same time.
    Collision,
    /// Noise, or the scenario's bit errors.
    Channel,
}

/// A frame in a line.
#[derive(Clone, Copy, Debug)]
pub struct FrameText<'a> {
    /// Number of its kind among the timeline's.
    pub kind: u8,
    /// Index of the other end among the timeline's names: of the receiver where it is sent, of the sender where it is
    /// received; `None`: all that hear it.
    pub peer: Option<usize>,
    /// Its columns behind these ([`Timeline::columns`]).
    pub columns: &'a ColumnsText,
}

/// Fields of a frame behind its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameColumns {
    /// Number of MPDUs of an aggregate, and how many of them are intact; 0: it is none.
    pub mpdus: u32,
    pub intact: u32,
    /// Length with header and FCS.
    pub size: Bytes,
    pub rate: BitRate,
    /// Sequence number, of a data frame.
    pub seq: Option<u16>,
    /// Whether it was sent before.
    pub retry: bool,
    /// The Power Management subfield: its sender is about to doze.
    pub dozes: bool,
}

/// A packet in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLine<'a> {
    pub flow: &'a str,
    /// Its number in the flow.
    pub number: u64,
    /// Its length with IP header.
    pub size: Bytes,
}

impl PacketLine<'_> {
    fn put(&self, line: &mut Line<'_>) {
        line.put_slice(self.flow.as_bytes());
        line.put_bytes(b" #");
        line.put_number(self.number);
        line.put_bytes(b"  ");
        line.put_number(self.size.as_u64());
        line.put_bytes(b" B");
    }
}

/// The text of [`FrameColumns`], which is never longer: five numbers, of at most 20 digits, and 50 letters.
pub type ColumnsText = Piece<128>;

/// Powers whose text is remembered, by the low bits of their number: a pair of radios at rest has always the same.
const POWERS: usize = 1 << 10;

/// A writer of lines. Each of its parts is put together by hand: a frame is simulated in less time than it takes to
/// format a line.
#[derive(Clone, Debug)]
pub struct Timeline {
    names: Vec<Name>,
    everybody: Name,
    /// The peer of a packet killer, which sends to nobody.
    nobody: Name,
    kinds: Vec<Piece<16>>,
    /// Rates with their text.
    rates: Vec<(BitRate, Piece<32>)>,
    /// Powers with their text.
    powers: Vec<(f64, Piece<16>)>,
    /// The time of the last line, with its text.
    clock: (Instant, Option<u128>),
}

/// The name of a radio or a node, filled up to the length of the longest.
#[derive(Clone, Debug)]
struct Name {
    /// As who a line is about.
    who: Piece<32>,
    /// As the receiver and as the sender of a frame.
    to: Piece<32>,
    from: Piece<32>,
}

impl Name {
    fn new(name: &str, width: usize) -> Self {
        let piece = |before: &str| Piece::new(format!("{before} {name:width$}  ").as_bytes());
        Self { who: piece(" "), to: piece("->"), from: piece("<-") }
    }
}

impl Timeline {
    /// A timeline about `names`: radios as `node/radio`, and nodes for events above the radios. `kinds` are the names
    /// of the kinds of frames.
    pub fn new(names: &[String], kinds: &[&str]) -> Self {
        // At least as wide as "everybody".
        let longest = names.iter().map(|name| name.chars().count()).max();
        let width = longest.unwrap_or(0).max(EVERYBODY.len());
        Self {
            names: names.iter().map(|name| Name::new(name, width)).collect(),
            everybody: Name::new(EVERYBODY, width),
            nobody: Name::new("?", 0),
            kinds: kinds.iter().map(|kind| Piece::new(format!("{kind:KIND_WIDTH$}").as_bytes())).collect(),
            rates: Vec::new(),
            powers: vec![(f64::NAN, Piece::default()); POWERS],
            clock: (Instant::ZERO, clock(Instant::ZERO)),
        }
    }

    /// The greatest length of a line without the names of its flow and reason, and what a piece may go beyond it
    /// \[byte\].
    pub fn room(&self) -> usize {
        let longest = self.names.iter().map(|name| name.who.as_bytes().len()).max().unwrap_or(0);
        LONGEST + 2 * longest.max(self.everybody.who.as_bytes().len())
    }

    /// Writes the line of `event`, at number `who` of the names at `now`, to the beginning of `text`, which has
    /// [`Timeline::room`]; returns its length.
    pub fn line(&mut self, text: &mut [u8], now: Instant, who: usize, event: &Event<'_>) -> usize {
        if self.clock.0 != now {
            self.clock = (now, clock(now));
        }
        let mut line = Line::new(text);
        line.put_clock(now, self.clock.1);
        line.put(&self.names[who].who);
        match event {
            Event::Transmit { frame, duration, backoff } => self.sent(&mut line, frame, *duration, *backoff),
            Event::Receive { frame, signal_dbm } => {
                line.put_bytes(b"RX ok   ");
                self.heard(&mut line, frame);
                line.put(self.power(*signal_dbm));
            }
            Event::ReceiveError { frame, cause } => {
                line.put_bytes(b"RX err  ");
                self.heard(&mut line, frame);
                match cause {
                    Cause::Collision => line.put_bytes(b"  collision"),
                    Cause::Channel => line.put_bytes(b"  channel"),
                }
            }
            Event::Drop { packet, reason } => {
                line.put_bytes(b"DROP    ");
                packet.put(&mut line);
                line.put_bytes(b"  ");
                line.put_slice(reason.as_bytes());
            }
            Event::Deliver { packet, delay } => {
                line.put_bytes(b"DELIVER ");
                packet.put(&mut line);
                line.put_bytes(b"  after ");
                line.put_number(delay.as_nanos() / 1_000_000);
                line.put_bytes(b".");
                line.put_three((delay.as_nanos() / 1_000 % 1_000) as usize);
                line.put_bytes(b" ms");
            }
        }
        line.put_bytes(b"\n");
        line.length()
    }

    fn peer(&self, frame: &FrameText<'_>) -> &Name {
        frame.peer.map_or(&self.everybody, |peer| self.names.get(peer).unwrap_or(&self.nobody))
    }

    /// Appends a frame as it stands in the line of its sender.
    #[inline]
    fn sent(&self, line: &mut Line<'_>, frame: &FrameText<'_>, duration: Duration, backoff: Option<(u32, u32)>) {
        line.put_bytes(b"TX      ");
        line.put(&self.kinds[usize::from(frame.kind)]);
        line.put(&self.peer(frame).to);
        line.put(frame.columns);
        line.put_bytes(b"  dur ");
        line.put_number(duration.as_micros());
        line.put_bytes(b" us");
        if let Some((cw, slots)) = backoff {
            line.put_bytes(b"  (cw ");
            line.put_number(u64::from(cw));
            line.put_bytes(b", backoff ");
            line.put_number(u64::from(slots));
            line.put_bytes(b")");
        }
    }

    /// Appends a frame as it stands in the lines of all who hear it.
    #[inline]
    fn heard(&self, line: &mut Line<'_>, frame: &FrameText<'_>) {
        line.put(&self.kinds[usize::from(frame.kind)]);
        line.put(&self.peer(frame).from);
        line.put(frame.columns);
    }

    /// Writes the columns of a frame.
    pub fn columns(&mut self, text: &mut ColumnsText, frame: &FrameColumns) {
        let rate = self.rate(frame.rate);
        text.write(|line| {
            line.put_right(frame.size.as_u64());
            line.put(rate);
            if let Some(seq) = frame.seq {
                line.put_bytes(b"  seq ");
                let start = line.length();
                line.put_number(u64::from(seq));
                line.fill(start, SEQ_WIDTH);
            }
            if frame.mpdus > 1 {
                line.put_bytes(b"  ");
                if frame.intact < frame.mpdus {
                    line.put_number(u64::from(frame.intact));
                    line.put_bytes(b" of ");
                }
                line.put_number(u64::from(frame.mpdus));
                line.put_bytes(b" MPDUs");
            }
            if frame.retry {
                line.put_bytes(b"  retry");
            }
            if frame.dozes {
                line.put_bytes(b"  PS");
            }
        });
    }

    /// A rate behind the unit of the size: ` B  5.5 Mbit/s`.
    fn rate(&mut self, rate: BitRate) -> &Piece<32> {
        let place = self.rates.iter().position(|(known, _)| *known == rate).unwrap_or_else(|| {
            let tenths = rate.as_bps() / 100_000;
            let (whole, rest) = (tenths / 10, tenths % 10);
            let text = if rest == 0 { whole.to_string() } else { format!("{whole}.{rest}") };
            self.rates.push((rate, Piece::new(format!(" B {text:>4} Mbit/s").as_bytes())));
            self.rates.len() - 1
        });
        &self.rates[place].1
    }

    /// The column of a power: `-61.9 dBm`.
    #[inline]
    fn power(&mut self, dbm: f64) -> &Piece<16> {
        // Of neighbouring numbers the high bits are the same.
        let bits = dbm.to_bits();
        let (known, text) = &mut self.powers[(bits >> 40 ^ bits) as usize % POWERS];
        if known.to_bits() != bits {
            *known = dbm;
            *text = Piece::new(format!("  {dbm:.1} dBm").as_bytes());
        }
        text
    }
}

/// The peer of a broadcast.
const EVERYBODY: &str = "everybody";
/// Widths of the columns of kinds and sequence numbers.
const KIND_WIDTH: usize = 5;
const SEQ_WIDTH: usize = 4;
/// More than a line without names takes: seven numbers of at most 20 digits, some 100 letters, and a block behind them.
const LONGEST: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [&str; 2] = ["DATA", "ACK"];

    fn text(timeline: &mut Timeline, frame: &FrameColumns) -> ColumnsText {
        let mut text = ColumnsText::default();
        timeline.columns(&mut text, frame);
        text
    }

    fn columns(timeline: &mut Timeline, size: u64, kbps: u64, seq: Option<u16>, retry: bool) -> ColumnsText {
        let (size, rate) = (Bytes::new(size), BitRate::from_kbps(kbps));
        text(timeline, &FrameColumns { mpdus: 0, intact: 0, size, rate, seq, retry, dozes: false })
    }

    fn transmit(frame: FrameText<'_>, duration_us: u64, backoff: Option<(u32, u32)>) -> Event<'_> {
        Event::Transmit { frame, duration: Duration::from_micros(duration_us), backoff }
    }

    #[test]
    fn an_exchange_reads_as_it_happened() {
        let names = ["sender/ch1", "receiver/ch1", "receiver"];
        let mut timeline = Timeline::new(&names.map(str::to_owned), &KINDS);
        let first = &columns(&mut timeline, 1_536, 11_000, Some(41), false);
        let again = &columns(&mut timeline, 1_536, 11_000, Some(41), true);
        let ack = &columns(&mut timeline, 14, 1_000, None, false);
        let to_all = &columns(&mut timeline, 84, 5_500, Some(4_095), false);
        let data = |peer, columns| FrameText { kind: 0, peer, columns };
        let answer = |peer| FrameText { kind: 1, peer: Some(peer), columns: ack };
        let packet = PacketLine { flow: "download", number: 41, size: Bytes::new(1_500) };
        let receive = |frame| Event::Receive { frame, signal_dbm: -61.97 };
        let events = [
            (0, 0, transmit(data(Some(1), first), 314, Some((31, 7)))),
            (1_309_425, 1, Event::ReceiveError { frame: data(Some(0), first), cause: Cause::Collision }),
            (2_140_091, 0, transmit(data(Some(1), again), 314, Some((63, 22)))),
            (3_449_516, 1, receive(data(Some(0), again))),
            (3_449_516, 2, Event::Deliver { packet, delay: Duration::from_micros(3_449) }),
            (3_459_516, 1, transmit(answer(0), 0, None)),
            (3_763_850, 0, receive(answer(1))),
            (4_500_000, 0, transmit(data(None, to_all), 0, Some((31, 0)))),
            (9_500_000, 0, Event::Drop { packet, reason: "queue_full" }),
        ];
        let mut out = Vec::new();
        let mut room = vec![0; timeline.room()];
        for (ns, who, event) in events {
            let length = timeline.line(&mut room, Instant::from_nanos(12_345_678_900 + ns), who, &event);
            out.extend_from_slice(&room[..length]);
        }
        assert_eq!(String::from_utf8(out).unwrap(), include_str!("timeline_golden.txt"));
    }

    #[test]
    fn names_and_times_of_any_length_have_room() {
        let name = "n".repeat(300);
        let mut timeline = Timeline::new(std::slice::from_ref(&name), &KINDS);
        let (mpdus, intact, size) = (u32::MAX, u32::MAX - 1, Bytes::new(u64::MAX));
        let (rate, seq) = (BitRate::from_kbps(u64::MAX / 1_000), Some(u16::MAX));
        let text = &text(&mut timeline, &FrameColumns { mpdus, intact, size, rate, seq, retry: true, dozes: true });
        let event =
            transmit(FrameText { kind: 0, peer: Some(0), columns: text }, u64::MAX / 1_000, Some((u32::MAX, 0)));
        let mut room = vec![0; timeline.room()];
        let length = timeline.line(&mut room, Instant::MAX, 0, &event);
        let line = std::str::from_utf8(&room[..length]).unwrap();
        assert!(
            line.starts_with(&format!(
                "18446744073.709 551 615  {name}  TX      DATA -> {name}  18446744073709551615 B "
            ))
        );
        assert!(line.ends_with("  (cw 4294967295, backoff 0)\n"), "{line}");
    }
}
