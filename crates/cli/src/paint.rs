//! Colours of verdicts: on a terminal alone, and not where `NO_COLOR` is set (no-color.org) or the terminal is dumb.

use std::io::IsTerminal;
use std::sync::OnceLock;

const GREEN: &str = "\u{1b}[32m";
const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[33m";
const PLAIN: &str = "\u{1b}[0m";

/// A verdict in its colour.
pub fn verdict(word: &str) -> String {
    static IS_WANTED: OnceLock<bool> = OnceLock::new();
    let variable = |name| std::env::var(name).ok();
    let wanted = || {
        let (no_color, term) = (variable("NO_COLOR"), variable("TERM"));
        is_wanted(std::io::stdout().is_terminal(), no_color.as_deref(), term.as_deref())
    };
    if *IS_WANTED.get_or_init(wanted) { coloured(word) } else { word.to_owned() }
}

fn is_wanted(is_terminal: bool, no_color: Option<&str>, term: Option<&str>) -> bool {
    is_terminal && no_color.is_none_or(str::is_empty) && term.is_some_and(|term| term != "dumb")
}

fn coloured(word: &str) -> String {
    let colour = match word {
        "holds" | "within" | "up" => GREEN,
        "BROKEN" | "broken" | "off" | "missing" | "failed" | "wrong" | "down" => RED,
        "open" | "not judged" | "probing" => YELLOW,
        _ => return word.to_owned(),
    };
    format!("{colour}{word}{PLAIN}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::width;

    #[test]
    fn colours_are_for_a_terminal_that_shows_them_and_a_reader_who_wants_them() {
        assert!(is_wanted(true, None, Some("xterm")) && is_wanted(true, Some(""), Some("xterm")));
        assert!(!is_wanted(false, None, Some("xterm")));
        assert!(!is_wanted(true, Some("1"), Some("xterm")));
        assert!(!is_wanted(true, None, Some("dumb")) && !is_wanted(true, None, None));
    }

    #[test]
    fn a_coloured_word_is_as_wide_as_a_plain_one() {
        assert_eq!(coloured("BROKEN"), "\u{1b}[1;31mBROKEN\u{1b}[0m");
        assert_eq!((width(&coloured("BROKEN")), width("14.92 \u{b1} 0.00")), (6, 12));
        assert_eq!(coloured("flow"), "flow");
    }
}
