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
        /// The frame; its peer is the receiver.
        frame: FrameLine,
        /// The contention that it came out of: contention window and slots drawn; `None`: a response.
        backoff: Option<(u32, u32)>,
    },
    /// A frame has been received whole.
    Receive {
        /// The frame; its peer is the sender.
        frame: FrameLine,
        /// The power with which it arrived \[dBm\].
        signal_dbm: f64,
    },
    /// A frame could not be read.
    ReceiveError {
        /// The frame; its peer is the sender.
        frame: FrameLine,
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

/// A frame in a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameLine {
    /// `DATA`, `NULL`, `RTS`, `CTS`, `ACK`.
    pub kind: &'static str,
    /// Number of MPDUs of an aggregate, and how many of them are intact; 0: it is none.
    pub mpdus: u32,
    pub intact: u32,
    /// Index of the other radio among the timeline's names; `None`: all that hear it.
    pub peer: Option<usize>,
    /// Length with header and FCS.
    pub size: Bytes,
    pub rate: BitRate,
    /// Sequence number, of a data frame.
    pub seq: Option<u16>,
    /// Whether it was sent before.
    pub retry: bool,
    /// The Power Management subfield: its sender is about to doze.
    pub dozes: bool,
    pub duration: Duration,
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
    /// Names of the radios and nodes in the lines, filled up to the length of the longest.
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
        let pad = |name: &str| format!("{name:width$}");
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
        out.extend_from_slice(b"  ");
        out.extend_from_slice(self.name(who).as_bytes());
        out.extend_from_slice(b"  ");
        match event {
            Event::Transmit { frame, backoff } => {
                self.frame(out, "TX      ", "-> ", frame);
                out.extend_from_slice(b"  dur ");
                number(out, frame.duration.as_micros(), 0, b' ');
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
                self.frame(out, "RX ok   ", "<- ", frame);
                out.extend_from_slice(b"  ");
                out.extend_from_slice(self.power(*signal_dbm).as_bytes());
                out.extend_from_slice(b" dBm");
            }
            Event::ReceiveError { frame, cause } => {
                self.frame(out, "RX err  ", "<- ", frame);
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

    /// Writes the columns from the event to the sequence number.
    fn frame(&mut self, out: &mut Vec<u8>, what: &str, arrow: &str, frame: &FrameLine) {
        out.extend_from_slice(what.as_bytes());
        out.extend_from_slice(frame.kind.as_bytes());
        (frame.kind.len()..KIND_WIDTH).for_each(|_| out.push(b' '));
        out.extend_from_slice(arrow.as_bytes());
        out.extend_from_slice(frame.peer.map_or(self.everybody.as_str(), |peer| self.name(peer)).as_bytes());
        out.extend_from_slice(b"  ");
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
        self.names.get(who).map_or("?", String::as_str)
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

    /// A power in dBm without its unit: `-61.9`.
    fn power(&mut self, dbm: f64) -> &str {
        // Of neighbouring numbers the high bits are the same.
        let bits = dbm.to_bits();
        let (known, text) = &mut self.powers[(bits >> 40 ^ bits) as usize % POWERS];
        if known.to_bits() != bits {
            *known = dbm;
            *text = format!("{dbm:.1}");
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
fn number(out: &mut Vec<u8>, mut value: u64, width: usize, fill: u8) {
    // 2^64 has 20 digits.
    let mut digits = [fill; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    let from = at.min(digits.len() - width);
    out.extend_from_slice(&digits[from..]);
}

/// Appends a time as seconds with nanoseconds in groups of three: `12.345 678 900`.
fn clock(out: &mut Vec<u8>, at: Instant) {
    let ns = at.as_nanos();
    number(out, ns / 1_000_000_000, 4, b' ');
    let mut rest = ns % 1_000_000_000;
    let mut text = *b".000 000 000";
    for place in [11, 10, 9, 7, 6, 5, 3, 2, 1] {
        text[place] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: &'static str, peer: usize, size: u64, kbps: u64, seq: Option<u16>, us: u64) -> FrameLine {
        FrameLine {
            kind,
            mpdus: 0,
            intact: 0,
            peer: Some(peer),
            size: Bytes::new(size),
            rate: BitRate::from_kbps(kbps),
            seq,
            retry: false,
            dozes: false,
            duration: Duration::from_micros(us),
        }
    }

    #[test]
    fn an_exchange_reads_as_it_happened() {
        let names = ["sender/ch1", "receiver/ch1", "receiver"];
        let mut timeline = Timeline::new(names.map(str::to_owned).to_vec());
        let data = frame("DATA", 1, 1_536, 11_000, Some(41), 314);
        let from_sender = FrameLine { peer: Some(0), ..data };
        let ack = frame("ACK", 0, 14, 1_000, None, 0);
        let packet = PacketLine { flow: "download", number: 41, size: Bytes::new(1_500) };
        let broadcast = FrameLine { peer: None, ..frame("DATA", 0, 84, 5_500, Some(4_095), 0) };
        let again = FrameLine { retry: true, ..data };
        let us = Duration::from_micros;
        let events = [
            (0, 0, Event::Transmit { frame: data, backoff: Some((31, 7)) }),
            (1_309_425, 1, Event::ReceiveError { frame: from_sender, cause: Cause::Collision }),
            (1_640_091, 0, Event::Timer { name: "ACK timeout" }),
            (2_140_091, 0, Event::Transmit { frame: again, backoff: Some((63, 22)) }),
            (3_449_516, 1, Event::Receive { frame: FrameLine { peer: Some(0), ..again }, signal_dbm: -61.97 }),
            (3_449_516, 2, Event::Deliver { packet, delay: us(3_449) }),
            (3_459_516, 1, Event::Transmit { frame: ack, backoff: None }),
            (3_763_850, 0, Event::Receive { frame: FrameLine { peer: Some(1), ..ack }, signal_dbm: -61.97 }),
            (4_500_000, 0, Event::Transmit { frame: broadcast, backoff: Some((31, 0)) }),
            (9_500_000, 0, Event::Drop { packet, reason: "queue_full" }),
        ];
        let mut out = Vec::new();
        for (ns, who, event) in events {
            timeline.line(&mut out, Instant::from_nanos(12_345_678_900 + ns), who, &event);
        }
        assert_eq!(String::from_utf8(out).unwrap(), include_str!("timeline_golden.txt"));
    }
}
