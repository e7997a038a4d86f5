//! The elements of a drawing, its colours, and their counterparts on a dark ground.

use std::fmt::{Display, Write as _};

/// The ground, and what must look like it.
pub(crate) const PAPER: &str = "#ffffff";
const INK: &str = "#282828";
/// Lines of a grid.
pub(super) const GRID: &str = "#e4e4e4";
/// Axes.
pub(crate) const PALE: &str = "#6e6e6e";
/// Empty stretches.
pub(crate) const FRAME: &str = "#f1f1ee";
/// Attributes of text that is not the first to be read.
pub(crate) const SOFT: &str = "fill=\"#6e6e6e\"";
/// Attributes of text around its place.
pub(crate) const MIDDLE: &str = "text-anchor=\"middle\"";

/// The colours of lines, and those that replace them on a dark ground: the palette of Okabe and Ito, which the
/// colour-blind can tell apart too, as dark or as bright as a thin line must be; yellow, too pale on white, is left
/// out.
const LINES: [(&str, &str); 8] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#f28e4b"),
    ("#009e73", "#35c79a"),
    ("#b0578c", "#e29ac4"),
    ("#4a90c2", "#8ec9f0"),
    ("#b8860b", "#e6b84a"),
    ("#5a5a5a", "#a9a9a9"),
    ("#222222", "#eeeeee"),
];
const GROUNDS: [(&str, &str); 5] =
    [(PAPER, "#16181b"), (INK, "#e8e8e4"), (GRID, "#2a2d31"), (PALE, "#a2a7ad"), (FRAME, "#1f2226")];

/// The colour of the line with this index; after eight they begin again.
pub(crate) fn line_colour(index: usize) -> &'static str {
    LINES[index % LINES.len()].0
}

/// The style sheet that a page needs for the drawings within it: the colours on a dark screen.
pub(crate) fn style() -> String {
    let mut out = "@media screen and (prefers-color-scheme: dark) {\n".to_owned();
    for (light, dark) in GROUNDS.iter().chain(&LINES) {
        for what in ["fill", "stroke"] {
            let own = if *light == INK && what == "fill" { ".airbraid, " } else { "" };
            let _ = writeln!(out, "  {own}.airbraid [{what}=\"{light}\"] {{ {what}: {dark}; }}");
        }
    }
    out + "}\n"
}

/// The style sheet that gives scripts the colours of lines, as `--line-0` and so on.
pub(crate) fn variables() -> String {
    let list = |colour: fn(&(&'static str, &'static str)) -> &'static str| {
        LINES.iter().enumerate().map(|(i, pair)| format!("--line-{i}: {}; ", colour(pair))).collect::<String>()
    };
    let (light, dark) = (list(|pair| pair.0), list(|pair| pair.1));
    format!(":root {{ {light}}}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n")
}

/// A drawing under way.
#[derive(Clone, Debug)]
pub(crate) struct Svg(String);

impl Svg {
    /// A drawing within a page that has [`style`]; `title` is what it shows.
    pub(crate) fn within_page((width, height): (f64, f64), title: &str) -> Self {
        Self(format!(
            "<svg class=\"airbraid\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" fill=\"{INK}\">\n",
            escape(title)
        ))
    }

    /// A drawing that stands alone.
    pub(crate) fn alone((width, height): (f64, f64), title: &str) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"airbraid\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" \
             font-size=\"12\" fill=\"{INK}\">\n<title>{}</title>\n<style>\n{}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>\n",
            escape(title),
            style()
        ))
    }

    /// An element without content: its name and attributes.
    pub(crate) fn add(&mut self, element: impl Display) {
        let _ = writeln!(self.0, "<{element}/>");
    }

    /// Text at a place.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), attributes: &str, text: &str) {
        let gap = if attributes.is_empty() { "" } else { " " };
        let _ = writeln!(self.0, "<text x=\"{x:.1}\" y=\"{y:.1}\"{gap}{attributes}>{}</text>", escape(text));
    }

    /// A line through points.
    pub(crate) fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, colour: &str, attributes: &str) {
        let places: Vec<String> = points.into_iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let gap = if attributes.is_empty() { "" } else { " " };
        self.add(format_args!("path d=\"M{}\" fill=\"none\" stroke=\"{colour}\"{gap}{attributes}", places.join("L")));
    }

    pub(crate) fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}

/// Text within SVG or HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text of at most `most` characters; a longer one ends in two points.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(2)).chain("..".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_and_colours_follow_the_reader() {
        let mut svg = Svg::alone((100.0, 50.0), "a < b");
        svg.text((1.0, 2.0), SOFT, "5 & \"6\"");
        svg.line([(0.0, 0.0), (1.25, 3.0)], line_colour(8), "");
        let drawing = svg.finish();
        assert!(drawing.contains("<title>a &lt; b</title>"));
        assert!(drawing.contains("<text x=\"1.0\" y=\"2.0\" fill=\"#6e6e6e\">5 &amp; &quot;6&quot;</text>"));
        assert!(drawing.contains("<path d=\"M0.0 0.0L1.2 3.0\" fill=\"none\" stroke=\"#0072b2\"/>"), "{drawing}");
        let sheet = style();
        for (light, dark) in GROUNDS.iter().chain(&LINES) {
            assert!(sheet.contains(&format!(".airbraid [fill=\"{light}\"] {{ fill: {dark}; }}")), "{light}");
        }
        assert_eq!(sheet.matches("#0072b2").count(), 2);
        assert_eq!((shorten("abcdef", 6).as_str(), shorten("abcdefg", 6).as_str()), ("abcdef", "abcd.."));
    }
}
