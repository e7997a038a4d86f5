//! The skeleton of every page: head, security policy, style sheet for dark and light, scripts.
//!
//! A page is one file that asks for nothing: its policy forbids every request, and runs only the style and the scripts
//! that it was written with, by their hashes. Text of a scenario that slipped through as markup would do nothing. Equal
//! parts give equal bytes.

pub(crate) use crate::drawing::escape;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The style sheet that all pages share: colours on light and dark ground, text, tables.
pub const STYLE: &str = include_str!("style.css");

/// The parts of a page around its body.
#[derive(Clone, Copy, Debug)]
pub struct Skeleton<'a> {
    /// Plain text.
    pub title: &'a str,
    /// Style sheets, in order: usually [`STYLE`] and the page's own.
    pub styles: &'a [&'a str],
    /// Scripts, in order; they run when the body is there.
    pub scripts: &'a [&'a str],
}

impl Skeleton<'_> {
    /// Everything before the body's content.
    pub fn head(&self) -> String {
        let style = self.styles.concat();
        format!(
            "<!doctype html>\n<html lang=\"en\" class=\"airbraid\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n",
            self.policy(&style),
            escape(self.title)
        )
    }

    /// Everything behind the body's content.
    pub fn foot(&self) -> String {
        let script = self.script();
        let script = if script.is_empty() { script } else { format!("<script>{script}</script>\n") };
        format!("{script}</body>\n</html>\n")
    }

    /// The scripts as one, whose names stay their own.
    fn script(&self) -> String {
        if self.scripts.is_empty() {
            return String::new();
        }
        format!("\n(() => {{\n\"use strict\";\n{}}})();\n", self.scripts.concat())
    }

    /// The content security policy: nothing from anywhere; pictures that stand in the page itself.
    fn policy(&self, style: &str) -> String {
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
        let script = self.script();
        let script = if script.is_empty() { "'none'".to_owned() } else { hash(&script) };
        format!(
            "default-src 'none'; style-src {}; script-src {script}; img-src data:; base-uri 'none'; form-action 'none'",
            hash(style)
        )
    }
}

/// A block of data for the scripts, which read it by its id: JSON in which nothing can end the element.
pub fn data(id: &str, value: &impl Serialize) -> String {
    // A value that has no JSON is a defect of the page, and an empty block shows it.
    let json = serde_json::to_string(value).unwrap_or_default().replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"{}\">{json}</script>\n", escape(id))
}

/// A picture that stands in the page as an image: no script in it ever runs.
pub fn picture(svg: &str, shows: &str) -> String {
    format!("<img alt=\"{}\" src=\"data:image/svg+xml;base64,{}\">\n", escape(shows), STANDARD.encode(svg))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_runs_only_what_it_was_written_with_and_asks_for_nothing() {
        let skeleton = Skeleton { title: "<b> & \"c\"", styles: &["p { margin: 0; }"], scripts: &["f();", "g();"] };
        let page = skeleton.head() + &skeleton.foot();
        assert!(page.contains("<title>&lt;b&gt; &amp; &quot;c&quot;</title>"));
        let between =
            |open: &str, close: &str| page.split(open).nth(1).unwrap().split(close).next().unwrap().to_owned();
        for text in [between("<style>", "</style>"), between("<script>", "</script>")] {
            let hash = STANDARD.encode(Sha256::digest(text.as_bytes()));
            assert!(page.contains(&format!("'sha256-{hash}'")), "the policy has the hash of {text}");
        }
        assert!(page.contains("default-src 'none'"));
        let without = Skeleton { scripts: &[], ..skeleton };
        assert!(without.head().contains("script-src 'none'") && !without.foot().contains("<script"));
    }

    #[test]
    fn data_cannot_end_its_element() {
        let block = data("d", &["</script><script>alert(1)</script>"]);
        assert_eq!(block.matches("</script>").count(), 1);
        let json = block.split_once('>').unwrap().1.split("</script>").next().unwrap();
        let back: Vec<String> = serde_json::from_str(json).unwrap();
        assert_eq!(back, ["</script><script>alert(1)</script>"]);
    }
}
