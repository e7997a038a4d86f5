//! The frame timeline: one line for each event of a frame or a packet, for people to read.
//!
//! Columns are stable (time, who, what, frame, peer, size, rate, then the rest), so that `grep`, `cut` and `diff` work;
//! two runs of one seed give the same bytes. Formats only: whoever asks for a timeline calls it, nobody else pays.

use airbraid_units::{BitRate, Bytes, Duration, Instant};
use std::fmt::{self, Write};

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

impl fmt::Display for PacketLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} #{}  {} B", self.flow, self.number, self.size.as_u64())
    }
}

/// A writer of lines.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Names of the radios and nodes in the lines.
    names: Vec<String>,
    /// Length of the longest name: the width of the columns.
    width: usize,
}

impl Timeline {
    /// A timeline about `names`: radios as `node/radio`, and nodes for events above the radios.
    pub fn new(names: Vec<String>) -> Self {
        // At least as wide as "everybody".
        let longest = names.iter().map(|name| name.chars().count()).max();
        Self { width: longest.unwrap_or(0).max(EVERYBODY.len()), names }
    }

    /// Appends the line of `event`, at number `who` of the names at `now`.
    pub fn line(&self, out: &mut String, now: Instant, who: usize, event: &Event<'_>) {
        // Writing to a string never fails.
        let _ = self.write(out, now, who, event);
    }

    fn write(&self, out: &mut String, now: Instant, who: usize, event: &Event<'_>) -> fmt::Result {
        let width = self.width;
        write!(out, "{}  {:width$}  ", Clock(now), self.name(who))?;
        match event {
            Event::Transmit { frame, backoff } => {
                self.frame(out, "TX", "->", frame)?;
                write!(out, "  dur {} us", frame.duration.as_micros())?;
                if let Some((cw, slots)) = backoff {
                    write!(out, "  (cw {cw}, backoff {slots})")?;
                }
            }
            Event::Receive { frame, signal_dbm } => {
                self.frame(out, "RX ok", "<-", frame)?;
                write!(out, "  {signal_dbm:.1} dBm")?;
            }
            Event::ReceiveError { frame, cause } => {
                self.frame(out, "RX err", "<-", frame)?;
                out.write_str(match cause {
                    Cause::Collision => "  collision",
                    Cause::Channel => "  channel",
                })?;
            }
            Event::Drop { packet, reason } => write!(out, "{:<8}{packet}  {reason}", "DROP")?,
            Event::Deliver { packet, delay } => {
                let (ms, rest) = (delay.as_nanos() / 1_000_000, delay.as_nanos() / 1_000 % 1_000);
                write!(out, "{:<8}{packet}  after {ms}.{rest:03} ms", "DELIVER")?;
            }
            Event::Timer { name } => write!(out, "{:<8}{name}", "TIMER")?,
        }
        out.write_char('\n')
    }

    /// Writes the columns from the event to the sequence number.
    fn frame(&self, out: &mut String, what: &str, arrow: &str, frame: &FrameLine) -> fmt::Result {
        let (peer, width) = (frame.peer.map_or(EVERYBODY, |peer| self.name(peer)), self.width);
        let (size, rate) = (frame.size.as_u64(), Megabits(frame.rate));
        write!(out, "{what:<8}{:<5}{arrow} {peer:width$}  {size:>4} B {rate:>4} Mbit/s", frame.kind)?;
        if let Some(seq) = frame.seq {
            write!(out, "  seq {seq:<4}")?;
        }
        out.write_str(if frame.retry { "  retry" } else { "" })?;
        out.write_str(if frame.dozes { "  PS" } else { "" })
    }

    fn name(&self, who: usize) -> &str {
        self.names.get(who).map_or("?", String::as_str)
    }
}

/// The peer of a broadcast.
const EVERYBODY: &str = "everybody";

/// A time as seconds with nanoseconds in groups of three: `12.345 678 900`.
struct Clock(Instant);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.as_nanos();
        let (s, ms, us) = (ns / 1_000_000_000, ns / 1_000_000 % 1_000, ns / 1_000 % 1_000);
        write!(f, "{s:>4}.{ms:03} {us:03} {:03}", ns % 1_000)
    }
}

/// A rate in Mbit/s without its unit: `5.5`.
struct Megabits(BitRate);

impl fmt::Display for Megabits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.0.as_bps() / 100_000;
        if tenths.is_multiple_of(10) {
            f.pad(&(tenths / 10).to_string())
        } else {
            f.pad(&format!("{}.{}", tenths / 10, tenths % 10))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: &'static str, peer: usize, size: u64, kbps: u64, seq: Option<u16>, us: u64) -> FrameLine {
        FrameLine {
            kind,
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
        let timeline = Timeline::new(names.map(str::to_owned).to_vec());
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
        let mut out = String::new();
        for (ns, who, event) in events {
            timeline.line(&mut out, Instant::from_nanos(12_345_678_900 + ns), who, &event);
        }
        assert_eq!(out, include_str!("timeline_golden.txt"));
    }
}
