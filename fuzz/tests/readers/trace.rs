//! Trace files and patterns of a packet killer: no text makes the reader panic, and it writes what it reads.

use airbraid_sim::killer::trace::{read, read_pattern, write};

#[test]
fn any_text_is_read_or_refused() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let _ = read_pattern(text);
        // The first line alone would hardly ever be found by chance.
        for text in [text.to_owned(), format!("airbraid-trace 1\n{text}")] {
            if let Ok(events) = read(&text) {
                assert_eq!(read(&write(&events)), Ok(events));
            }
        }
    });
}

#[test]
fn any_events_are_read_or_refused() {
    bolero::check!().with_type::<(Vec<(u8, u16, u16, u8)>, String)>().for_each(|(events, text)| {
        let word = |(kind, one, two, times): &(u8, u16, u16, u8)| {
            let event = match kind % 6 {
                0 => "ok".to_owned(),
                1 => "lost".to_owned(),
                2 => format!("truncated {one}"),
                3 => format!("truncated {one} bits {two}"),
                4 => format!("corrupted {one} bits {two}"),
                _ => text.clone(),
            };
            if kind & 0x40 == 0 { event } else { format!("{event} x{times}") }
        };
        let words: Vec<String> = events.iter().map(word).collect();
        if let Ok(events) = read_pattern(&words.join(", ")) {
            assert_eq!(read(&write(&events)), Ok(events));
        }
    });
}
