//! Trace files and patterns of a packet killer: no text makes the reader panic, and what it reads it writes.

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
