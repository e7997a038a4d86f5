//! The frame timeline: one line for each event of a frame or a packet, for people to read.
//!
//! Columns are stable (time, who, what, frame, peer, size, rate, then the rest), so that `grep`, `cut` and `diff` work;
//! two runs of one seed give the same bytes. Formats only: whoever asks for a timeline calls it, nobody else pays.

use airbraid_units::{BitRate, Bytes, Duration, Instant};

/// The event of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
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
        /// The frame ([`Timeline::heard`]).
        frame: &'a [u8],
        /// The power with which it arrived \[dBm\].
        signal_dbm: f64,
    },
    /// A frame could not be read.
    ReceiveError {
        /// The frame ([`Timeline::heard`]).
        frame: &'a [u8],
        cause: Cause,
    },
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
    Timer {
        /// Name: "ACK timeout", "reordering".
        name: &'a str,
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

/// A frame in the line of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameText<'a> {
    /// `DATA`, `NULL`, `RTS`, `CTS`, `ACK`.
    pub kind: &'static str,
    /// Index of the receiver among the timeline's names; `None`: all that hear it.
    pub peer: Option<usize>,
    /// Its columns behind these ([`Timeline::heard`]).
    pub columns: &'a [u8],
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
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.flow.as_bytes());
        out.extend_from_slice(b" #");
        number(out, self.number, 0, b' ');
        out.extend_from_slice(b"  ");
        number(out, self.size.as_u64(), 0, b' ');
        out.extend_from_slice(b" B");
    }
}

/// Powers whose text is remembered, by the low bits of their number: a pair of radios at rest has always the same.
const POWERS: usize = 1 << 10;

/// A writer of lines. Each of its parts is put together by hand: a frame is simulated in less time than it takes to
/// format a line.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Names of the radios and nodes in the lines, filled up to the length of the longest, between spaces.
    names: Vec<String>,
    everybody: String,
    /// Rates with their text.
    rates: Vec<(BitRate, String)>,
    /// Powers with their text.
    powers: Vec<(f64, String)>,
}

impl Timeline {
    /// A timeline about `names`: radios as `node/radio`, and nodes for events above the radios.
    pub fn new(names: Vec<String>) -> Self {
        // At least as wide as "everybody".
        let longest = names.iter().map(|name| name.chars().count()).max();
        let width = longest.unwrap_or(0).max(EVERYBODY.len());
        let pad = |name: &str| format!("  {name:width$}  ");
        Self {
            names: names.iter().map(|name| pad(name)).collect(),
            everybody: pad(EVERYBODY),
            rates: Vec::new(),
            powers: vec![(f64::NAN, String::new()); POWERS],
        }
    }

    /// Appends the line of `event`, at number `who` of the names at `now`.
    pub fn line(&mut self, out: &mut Vec<u8>, now: Instant, who: usize, event: &Event<'_>) {
        clock(out, now);
        out.extend_from_slice(self.name(who).as_bytes());
        match event {
            Event::Transmit { frame, duration, backoff } => {
                out.extend_from_slice(b"TX      ");
                self.head(out, frame.kind, b"->", frame.peer);
                out.extend_from_slice(frame.columns);
                out.extend_from_slice(b"  dur ");
                number(out, duration.as_micros(), 0, b' ');
                out.extend_from_slice(b" us");
                if let Some((cw, slots)) = backoff {
                    out.extend_from_slice(b"  (cw ");
                    number(out, u64::from(*cw), 0, b' ');
                    out.extend_from_slice(b", backoff ");
                    number(out, u64::from(*slots), 0, b' ');
                    out.push(b')');
                }
            }
            Event::Receive { frame, signal_dbm } => {
                out.extend_from_slice(b"RX ok   ");
                out.extend_from_slice(frame);
                out.extend_from_slice(self.power(*signal_dbm).as_bytes());
            }
            Event::ReceiveError { frame, cause } => {
                out.extend_from_slice(b"RX err  ");
                out.extend_from_slice(frame);
                out.extend_from_slice(match cause {
                    Cause::Collision => b"  collision",
                    Cause::Channel => b"  channel",
                });
            }
            Event::Drop { packet, reason } => {
                out.extend_from_slice(b"DROP    ");
                packet.put(out);
                out.extend_from_slice(b"  ");
                out.extend_from_slice(reason.as_bytes());
            }
            Event::Deliver { packet, delay } => {
                out.extend_from_slice(b"DELIVER ");
                packet.put(out);
                out.extend_from_slice(b"  after ");
                number(out, delay.as_nanos() / 1_000_000, 0, b' ');
                out.push(b'.');
                number(out, delay.as_nanos() / 1_000 % 1_000, 3, b'0');
                out.extend_from_slice(b" ms");
            }
            Event::Timer { name } => {
                out.extend_from_slice(b"TIMER   ");
                out.extend_from_slice(name.as_bytes());
            }
        }
        out.push(b'\n');
    }

    /// Appends the columns of a frame between the event and the size.
    fn head(&self, out: &mut Vec<u8>, kind: &str, arrow: &[u8; 2], peer: Option<usize>) {
        out.extend_from_slice(kind.as_bytes());
        (kind.len()..KIND_WIDTH).for_each(|_| out.push(b' '));
        out.extend_from_slice(arrow);
        let peer = peer.map_or(self.everybody.as_str(), |peer| self.name(peer));
        // One of the spaces before it: it stands behind an arrow.
        out.extend_from_slice(&peer.as_bytes()[1..]);
    }

    /// Appends a frame as it stands in the lines of all who hear it; returns where its columns from the size on begin.
    pub fn heard(&mut self, out: &mut Vec<u8>, kind: &str, from: usize, frame: &FrameColumns) -> usize {
        self.head(out, kind, b"<-", Some(from));
        let columns = out.len();
        self.columns(out, frame);
        columns
    }

    /// Appends the columns of a frame from its size on.
    fn columns(&mut self, out: &mut Vec<u8>, frame: &FrameColumns) {
        number(out, frame.size.as_u64(), 4, b' ');
        out.extend_from_slice(b" B ");
        out.extend_from_slice(self.rate(frame.rate).as_bytes());
        out.extend_from_slice(b" Mbit/s");
        if let Some(seq) = frame.seq {
            out.extend_from_slice(b"  seq ");
            let start = out.len();
            number(out, u64::from(seq), 0, b' ');
            (out.len() - start..SEQ_WIDTH).for_each(|_| out.push(b' '));
        }
        if frame.mpdus > 1 {
            out.extend_from_slice(b"  ");
            if frame.intact < frame.mpdus {
                number(out, u64::from(frame.intact), 0, b' ');
                out.extend_from_slice(b" of ");
            }
            number(out, u64::from(frame.mpdus), 0, b' ');
            out.extend_from_slice(b" MPDUs");
        }
        out.extend_from_slice(if frame.retry { b"  retry" } else { b"" });
        out.extend_from_slice(if frame.dozes { b"  PS" } else { b"" });
    }

    fn name(&self, who: usize) -> &str {
        self.names.get(who).map_or("  ?  ", String::as_str)
    }

    /// A rate in Mbit/s without its unit: ` 5.5`.
    fn rate(&mut self, rate: BitRate) -> &str {
        let place = self.rates.iter().position(|(known, _)| *known == rate).unwrap_or_else(|| {
            let tenths = rate.as_bps() / 100_000;
            let (whole, rest) = (tenths / 10, tenths % 10);
            let text = if rest == 0 { whole.to_string() } else { format!("{whole}.{rest}") };
            self.rates.push((rate, format!("{text:>4}")));
            self.rates.len() - 1
        });
        &self.rates[place].1
    }

    /// The column of a power: `-61.9 dBm`.
    fn power(&mut self, dbm: f64) -> &str {
        // Of neighbouring numbers the high bits are the same.
        let bits = dbm.to_bits();
        let (known, text) = &mut self.powers[(bits >> 40 ^ bits) as usize % POWERS];
        if known.to_bits() != bits {
            *known = dbm;
            *text = format!("  {dbm:.1} dBm");
        }
        text
    }
}

/// The peer of a broadcast.
const EVERYBODY: &str = "everybody";
/// Widths of the columns of kinds and sequence numbers.
const KIND_WIDTH: usize = 5;
const SEQ_WIDTH: usize = 4;

/// Appends a number in decimal, filled up to `width`.
fn number(out: &mut Vec<u8>, value: u64, width: usize, fill: u8) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(value);
    (digits.len()..width).for_each(|_| out.push(fill));
    out.extend_from_slice(digits.as_bytes());
}

/// The numbers of three digits, one behind the other.
const THREES: [[u8; 3]; 1_000] = {
    let mut threes = [[b'0'; 3]; 1_000];
    let mut number = 0;
    while number < threes.len() {
        let digits = [number / 100, number / 10 % 10, number % 10];
        threes[number] = [b'0' + digits[0] as u8, b'0' + digits[1] as u8, b'0' + digits[2] as u8];
        number += 1;
    }
    threes
};

/// Appends a time as seconds with nanoseconds in groups of three: `12.345 678 900`.
fn clock(out: &mut Vec<u8>, at: Instant) {
    let (seconds, ns) = (at.as_nanos() / 1_000_000_000, (at.as_nanos() % 1_000_000_000) as usize);
    let mut text = *b"    .000 000 000";
    let groups = [(5, ns / 1_000_000), (9, ns / 1_000 % 1_000), (13, ns % 1_000)];
    groups.into_iter().for_each(|(place, group)| text[place..place + 3].copy_from_slice(&THREES[group]));
    if seconds >= 1_000 {
        number(out, seconds, 4, b' ');
        return out.extend_from_slice(&text[4..]);
    }
    let digits = THREES[seconds as usize];
    let first = digits[..2].iter().position(|digit| *digit != b'0').unwrap_or(2);
    text[1 + first..4].copy_from_slice(&digits[first..]);
    out.extend_from_slice(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame as its hearers' lines have it, and where its columns begin.
    fn heard(
        timeline: &mut Timeline,
        (kind, from): (&'static str, usize),
        (size, kbps, seq, retry): (u64, u64, Option<u16>, bool),
    ) -> (Vec<u8>, usize) {
        let (size, rate) = (Bytes::new(size), BitRate::from_kbps(kbps));
        let mut text = Vec::new();
        let frame = FrameColumns { mpdus: 0, intact: 0, size, rate, seq, retry, dozes: false };
        let columns = timeline.heard(&mut text, kind, from, &frame);
        (text, columns)
    }

    fn transmit<'a>(
        (kind, peer): (&'static str, Option<usize>),
        (text, columns): &'a (Vec<u8>, usize),
        duration_us: u64,
        backoff: Option<(u32, u32)>,
    ) -> Event<'a> {
        let frame = FrameText { kind, peer, columns: &text[*columns..] };
        Event::Transmit { frame, duration: Duration::from_micros(duration_us), backoff }
    }

    #[test]
    fn an_exchange_reads_as_it_happened() {
        let names = ["sender/ch1", "receiver/ch1", "receiver"];
        let mut timeline = Timeline::new(names.map(str::to_owned).to_vec());
        let first = heard(&mut timeline, ("DATA", 0), (1_536, 11_000, Some(41), false));
        let again = heard(&mut timeline, ("DATA", 0), (1_536, 11_000, Some(41), true));
        let ack = heard(&mut timeline, ("ACK", 1), (14, 1_000, None, false));
        let to_all = heard(&mut timeline, ("DATA", 0), (84, 5_500, Some(4_095), false));
        let packet = PacketLine { flow: "download", number: 41, size: Bytes::new(1_500) };
        let receive = |frame| Event::Receive { frame, signal_dbm: -61.97 };
        let events = [
            (0, 0, transmit(("DATA", Some(1)), &first, 314, Some((31, 7)))),
            (1_309_425, 1, Event::ReceiveError { frame: &first.0, cause: Cause::Collision }),
            (1_640_091, 0, Event::Timer { name: "ACK timeout" }),
            (2_140_091, 0, transmit(("DATA", Some(1)), &again, 314, Some((63, 22)))),
            (3_449_516, 1, receive(&again.0)),
            (3_449_516, 2, Event::Deliver { packet, delay: Duration::from_micros(3_449) }),
            (3_459_516, 1, transmit(("ACK", Some(0)), &ack, 0, None)),
            (3_763_850, 0, receive(&ack.0)),
            (4_500_000, 0, transmit(("DATA", None), &to_all, 0, Some((31, 0)))),
            (9_500_000, 0, Event::Drop { packet, reason: "queue_full" }),
        ];
        let mut out = Vec::new();
        for (ns, who, event) in events {
            timeline.line(&mut out, Instant::from_nanos(12_345_678_900 + ns), who, &event);
        }
        assert_eq!(String::from_utf8(out).unwrap(), include_str!("timeline_golden.txt"));
    }
}
