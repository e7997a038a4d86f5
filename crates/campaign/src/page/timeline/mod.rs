//! The page of a run's frames: one HTML file that needs nothing else, written while the run goes on.
//!
//! The page's code comes first, then the blocks of [`airbraid_sim::record::frames`], each as base64 in a script of its
//! own: a browser reads them as they come, and a page that is cut short shows what it has. Understands no block.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{Result, Write};

const STYLE: &str = include_str!("../style.css");
const OWN_STYLE: &str = include_str!("timeline.css");
const BODY: &str = include_str!("timeline.html");
/// The code in the order in which its parts need each other.
const CODE: [&str; 8] = [
    include_str!("columns.js"),
    include_str!("blocks.js"),
    include_str!("density.js"),
    include_str!("way.js"),
    include_str!("search.js"),
    include_str!("raster.js"),
    include_str!("picture.js"),
    include_str!("main.js"),
];

/// Turns the blocks that are written to it into a page.
#[derive(Debug)]
pub struct TimelinePage<W: Write> {
    out: W,
    /// The bytes of the block that is not yet whole.
    pending: Vec<u8>,
    is_begun: bool,
}

impl<W: Write> TimelinePage<W> {
    pub const fn new(out: W) -> Self {
        Self { out, pending: Vec::new(), is_begun: false }
    }

    fn block(&mut self, block: &[u8]) -> Result<()> {
        if block.first() == Some(&0) {
            return writeln!(self.out, "<script>block(\"{}\")</script>", STANDARD.encode(&block[1..]));
        }
        // In a script a text must not end it.
        let json = String::from_utf8_lossy(block).replace('<', "\\u003c");
        if self.is_begun {
            return write!(self.out, "<script>end({json})</script>\n</body>\n</html>\n");
        }
        self.is_begun = true;
        self.head()?;
        writeln!(self.out, "<script>begin({json})</script>")
    }

    fn head(&mut self) -> Result<()> {
        write!(
            self.out,
            "<!doctype html>\n<html lang=\"en\" class=\"airbraid\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Timeline</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}{OWN_STYLE}</style>\n</head>\n<body>\n{BODY}<script>\n"
        )?;
        CODE.iter().try_for_each(|part| self.out.write_all(part.as_bytes()))?;
        writeln!(self.out, "</script>")
    }
}

impl<W: Write> Write for TimelinePage<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.pending.extend_from_slice(bytes);
        while let Some((head, rest)) = self.pending.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*head) as usize;
            let Some(block) = rest.get(..length).map(<[u8]>::to_vec) else { break };
            self.pending.drain(..4 + length);
            self.block(&block)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_scripts_however_they_are_cut() {
        let blocks: [&[u8]; 3] = [b"{\"title\":\"</script>\"}", &[0, 1, 2, 255], b"{}"];
        let mut stream = Vec::new();
        for block in blocks {
            stream.extend((block.len() as u32).to_le_bytes());
            stream.extend(block);
        }
        let page = |step: usize| {
            let mut page = TimelinePage::new(Vec::new());
            stream.chunks(step).for_each(|piece| page.write_all(piece).unwrap());
            String::from_utf8(page.out).unwrap()
        };
        let whole = page(1_000);
        assert_eq!(whole, page(1));
        let data = whole.split("<script>begin(").nth(1).unwrap();
        let title = r#"{"title":"\u003c/script>"}"#;
        assert_eq!(
            data,
            format!(
                "{title})</script>\n<script>block(\"AQL/\")</script>\n<script>end({{}})</script>\n</body>\n</html>\n"
            )
        );
    }
}
