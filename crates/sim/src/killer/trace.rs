//! Lists of error events as text: a pattern in a scenario, or a trace in a file (`docs/reference/traces.md`).
//!
//! ```text
//! airbraid-trace 1
//! # what, then a count if it happens several times in a row
//! ok x12
//! lost
//! truncated 512 bits 40
//! corrupted 7 bits 19
//! ```
//!
//! Reading never panics, and what is wrong is said with its line. Writing what was read gives the same events.

use super::Event;
use airbraid_units::metrics;
use std::fmt::Write;

/// The first line of a file.
const HEAD: &str = "airbraid-trace 1";
/// Largest number of events: an hour at 300 frames a second.
pub const EVENTS_MAX: usize = 1_000_000;
/// The longest frame and the most wrong bits of an event.
const NUMBER_MAX: u32 = u16::MAX as u32;

/// An error in a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Wrong {
    /// The line, from 1; of a pattern the event.
    pub line: usize,
    /// The error, and the allowed forms.
    pub what: String,
}

/// Reads a trace file.
///
/// # Errors
/// [`Wrong`] names the first line that is no event.
pub fn read(text: &str) -> Result<Vec<Event>, Wrong> {
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.split('#').next().unwrap_or("").trim()));
    let mut filled = lines.by_ref().filter(|(_, line)| !line.is_empty());
    match filled.next() {
        Some((_, HEAD)) => {}
        Some((line, _)) => return Err(Wrong { line, what: format!("a trace begins with `{HEAD}`") }),
        None => return Err(Wrong { line: 1, what: format!("the trace is empty; it begins with `{HEAD}`") }),
    }
    collect(filled)
}

/// Reads a pattern: events with commas between, as `ok x95, lost x5`.
///
/// # Errors
/// [`Wrong`] counts events where a file has lines.
pub fn read_pattern(text: &str) -> Result<Vec<Event>, Wrong> {
    collect(text.split(',').enumerate().map(|(i, event)| (i + 1, event.trim())))
}

fn collect<'a>(items: impl Iterator<Item = (usize, &'a str)>) -> Result<Vec<Event>, Wrong> {
    let mut events = Vec::new();
    let mut last = 1;
    for (line, text) in items {
        last = line;
        let (event, count) = one(text).map_err(|what| Wrong { line, what })?;
        if events.len() + count > EVENTS_MAX {
            return Err(Wrong { line, what: format!("more than {EVENTS_MAX} events") });
        }
        events.extend(std::iter::repeat_n(event, count));
    }
    if events.is_empty() {
        return Err(Wrong { line: last, what: "there is no event".to_owned() });
    }
    Ok(events)
}

/// Reads one event with its count.
fn one(text: &str) -> Result<(Event, usize), String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let mut count = 1;
    if let Some(times) = words.last().and_then(|word| word.strip_prefix('x')) {
        count = times
            .parse()
            .ok()
            .filter(|n| (1..=EVENTS_MAX).contains(n))
            .ok_or_else(|| format!("`x{times}` is no count; write x1 to x{EVENTS_MAX}"))?;
        words.pop();
    }
    let event = match words[..] {
        ["ok"] => Event::Fine,
        ["lost"] => Event::Lost,
        ["truncated", at] => Event::Truncated { at: number(at)?, bits: 0 },
        ["truncated", at, "bits", bits] => Event::Truncated { at: number(at)?, bits: number(bits)? },
        ["corrupted", symbols] => corrupted(number(symbols)?, 0)?,
        ["corrupted", symbols, "bits", bits] => corrupted(number(symbols)?, number(bits)?)?,
        _ => return Err(unknown(text, words.first().copied().unwrap_or(""))),
    };
    Ok((event, count))
}

fn corrupted(symbols: u16, bits: u16) -> Result<Event, String> {
    if symbols == 0 { Err("nothing is corrupted; write ok".to_owned()) } else { Ok(Event::Corrupted { symbols, bits }) }
}

fn number(word: &str) -> Result<u16, String> {
    let number = word.parse::<u32>().ok().filter(|n| *n <= NUMBER_MAX);
    number.map(|n| n as u16).ok_or_else(|| format!("`{word}` is no number from 0 to {NUMBER_MAX}"))
}

fn unknown(text: &str, word: &str) -> String {
    const FORMS: [(&str, &str); 4] = [
        ("ok", "ok"),
        ("lost", "lost"),
        ("truncated", "truncated BYTES [bits N]"),
        ("corrupted", "corrupted BYTES [bits N]"),
    ];
    let near = FORMS.iter().min_by_key(|(name, _)| strsim::osa_distance(name, word));
    match near {
        Some((name, form)) if strsim::osa_distance(name, word) <= 2 => format!("`{text}` is no event; write `{form}`"),
        _ => format!("`{text}` is no event; there are ok, lost, truncated BYTES, corrupted BYTES, each with xCOUNT"),
    }
}

/// Writes a trace file, equal events in a row on one line.
pub fn write(events: &[Event]) -> String {
    let mut out = format!("{HEAD}\n");
    for run in events.chunk_by(|a, b| a == b) {
        let Some(event) = run.first() else { continue };
        // Writing to a string never fails.
        let _ = match event {
            Event::Fine => write!(out, "ok"),
            Event::Lost => write!(out, "lost"),
            Event::Truncated { at, bits: 0 } => write!(out, "truncated {at}"),
            Event::Truncated { at, bits } => write!(out, "truncated {at} bits {bits}"),
            Event::Corrupted { symbols, bits: 0 } => write!(out, "corrupted {symbols}"),
            Event::Corrupted { symbols, bits } => write!(out, "corrupted {symbols} bits {bits}"),
        };
        let _ = if run.len() > 1 { writeln!(out, " x{}", run.len()) } else { writeln!(out) };
    }
    out
}

metrics! {
    /// The statistics of a trace, as in Table 1 of the paper.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Summary {
        /// Events of the list.
        pub packets: u64 = sum "list_packets",
        /// Bits that a receiver of packets of 1309 byte would get.
        pub bits: u64 = sum "list_bits",
        /// Share of the packets that the list loses.
        pub loss: f64 = gauge "list_loss",
        /// Share of those not lost that it truncates.
        pub truncation: f64 = gauge "list_truncation",
        /// Share of those not truncated that it corrupts.
        pub corruption: f64 = gauge "list_corruption",
        /// Share of the bits received that are wrong.
        pub ber: f64 = gauge "list_ber",
        /// Wrong bits in a corrupted packet, on average.
        pub wrong_bits: f64 = gauge Count "list_wrong_bits",
    }
}

impl Summary {
    /// The summary of `events` on packets of `packet_bytes`.
    pub fn of(events: &[Event], packet_bytes: u64) -> Self {
        let (mut lost, mut truncated, mut corrupted) = (0u64, 0u64, 0u64);
        let (mut bits, mut wrong, mut wrong_corrupted) = (0u64, 0u64, 0u64);
        for event in events {
            let mut came = packet_bytes;
            match *event {
                Event::Fine => {}
                Event::Lost => {
                    lost += 1;
                    came = 0;
                }
                Event::Truncated { at, bits } => {
                    truncated += 1;
                    came = came.min(u64::from(at));
                    wrong += u64::from(bits);
                }
                Event::Corrupted { bits, .. } => {
                    corrupted += 1;
                    wrong += u64::from(bits);
                    wrong_corrupted += u64::from(bits);
                }
            }
            bits += 8 * came;
        }
        let packets = events.len() as u64;
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        Self {
            packets,
            bits,
            loss: share(lost, packets),
            truncation: share(truncated, packets - lost),
            corruption: share(corrupted, packets - lost - truncated),
            ber: share(wrong, bits),
            wrong_bits: share(wrong_corrupted, corrupted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            3 => Just(Event::Fine),
            1 => Just(Event::Lost),
            1 => (any::<u16>(), any::<u16>()).prop_map(|(at, bits)| Event::Truncated { at, bits }),
            1 => (1..=u16::MAX, any::<u16>()).prop_map(|(symbols, bits)| Event::Corrupted { symbols, bits }),
        ]
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let cases = [
            ("", "line 1: the trace is empty"),
            ("ok\n", "line 1: a trace begins with `airbraid-trace 1`"),
            ("airbraid-trace 1\n", "there is no event"),
            ("airbraid-trace 1\n\nlots\n", "line 3: `lots` is no event; write `lost`"),
            ("airbraid-trace 1\ntruncated\n", "line 2: `truncated` is no event; write `truncated BYTES [bits N]`"),
            ("airbraid-trace 1\ntruncated -1\n", "line 2: `-1` is no number from 0 to 65535"),
            ("airbraid-trace 1\ncorrupted 0\n", "nothing is corrupted"),
            ("airbraid-trace 1\nok x0\n", "`x0` is no count"),
            ("airbraid-trace 1\nok x1000000\nok\n", "line 3: more than 1000000 events"),
            ("airbraid-trace 1\nwind\n", "there are ok, lost, truncated BYTES"),
        ];
        for (text, said) in cases {
            let wrong = read(text).unwrap_err().to_string();
            assert!(wrong.contains(said), "{text:?}: {wrong}");
        }
    }

    #[test]
    fn a_pattern_is_one_line() {
        let events = read_pattern("ok x2, lost,truncated 100").unwrap();
        assert_eq!(events, [Event::Fine, Event::Fine, Event::Lost, Event::Truncated { at: 100, bits: 0 }]);
        assert!(read_pattern("").is_err());
        assert!(read_pattern("ok,,lost").is_err());
    }

    #[test]
    fn the_summary_counts_as_table_1_does() {
        let events = read_pattern("ok x6, lost x2, truncated 100 bits 5, corrupted 3 bits 8").unwrap();
        let summary = Summary::of(&events, 1_000);
        assert_eq!((summary.packets, summary.bits), (10, 8 * 7_100));
        assert_eq!((summary.loss, summary.truncation), (0.2, 0.125));
        assert_eq!((summary.corruption, summary.wrong_bits), (1.0 / 7.0, 8.0));
        assert_eq!(summary.ber, 13.0 / 56_800.0);
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(events in prop::collection::vec(event(), 1..60)) {
            prop_assert_eq!(read(&write(&events)), Ok(events));
        }

        #[test]
        fn no_text_makes_it_panic(text in "(airbraid-trace 1\n)?[a-z0-9 x\n#-]{0,60}") {
            let _ = (read(&text), read_pattern(&text));
        }
    }
}
