//! The rules of STYLE.md that a machine can check: how a comment begins, words that have a plainer one, the width of
//! lines, the length of functions and the number of fields. Each list of exceptions only shrinks.

use airbraid_tests::house::lines::split_tests;
use airbraid_tests::house::{sources, text};
use airbraid_tests::root;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// First words of a noun clause: name the thing instead.
const CLAUSES: [&str; 5] = ["What", "Who", "Whose", "Whom", "How"];

/// Words and phrases, in lower case, with those to write instead. A word matches whole, a phrase
/// with a mark as it is.
const WORDS: [(&str, &str); 20] = [
    ("anew", "again"),
    ("of late.", "recently, with the time span"),
    ("of late,", "recently, with the time span"),
    ("of late:", "recently, with the time span"),
    ("of late;", "recently, with the time span"),
    ("manieth", "every 8 frames"),
    ("so long", "the time, with its unit: at most 200 ms"),
    ("so many", "the number: at most 8"),
    ("so often", "the interval or the number of times"),
    ("lots", "random draws"),
    ("by lot", "at random"),
    ("repetition", "retransmission"),
    ("repetitions", "retransmissions"),
    ("bunch", "aggregate"),
    ("bunched", "aggregated"),
    ("herald", "loss notifier"),
    ("sleeper", "MachineId"),
    ("census", "MachineCounts"),
    ("ledger", "sent frames"),
    ("tally", "receive report"),
];

/// Widest line, comments too.
const COLUMNS: usize = 120;
/// Longest function, from `fn` to its closing brace.
const FUNCTION_LINES: usize = 55;
/// Functions that are longer.
const LONG_FUNCTIONS: [&str; 6] = [
    "crates/engine/src/converge/session/sessions.rs on_initiation",
    "crates/live/src/daemon/core/mod.rs on_opened",
    "crates/live/src/daemon/mod.rs begin",
    "crates/live/src/lab/mod.rs run",
    "crates/mac/src/medium.rs drive",
    "crates/sim/src/scenario/schema/mod.rs read",
];
/// Most fields of a struct.
const FIELDS: usize = 20;
/// Structs that have more: states of one published algorithm, configurations by the names of their standard, reports.
const WIDE_STRUCTS: [&str; 8] = [
    "crates/engine/src/trunk/bonding/member.rs MemberEnd",
    "crates/engine/src/trunk/bonding/plpmtu.rs Plpmtu",
    "crates/live/src/daemon/core/mod.rs Daemon",
    "crates/live/src/daemon/peer.rs PeerState",
    "crates/net/src/aodv/config.rs AodvConfig",
    "crates/net/src/aodv/mod.rs Aodv",
    "crates/net/src/tcp/linux/bbr.rs Bbr",
    "crates/net/src/tcp/linux/mod.rs Linux",
];

/// A line of a file.
struct Line<'a> {
    number: usize,
    text: &'a str,
    /// Whether a part of it is inside a string.
    has_string: bool,
}

/// Every Rust file of ours with its path from the root and its text, but for this one, which has the words.
fn files() -> Vec<(String, String)> {
    let found: Vec<PathBuf> =
        ["crates", "tests", "fuzz"].into_iter().flat_map(|folder| sources(&root().join(folder))).collect();
    let named = found.iter().map(|path| (path.strip_prefix(root()).unwrap().to_string_lossy().into_owned(), path));
    named.filter(|(name, _)| name != "tests/tests/words.rs").map(|(name, path)| (name, text(path))).collect()
}

/// The lines of a text, each with whether it has a part of a string.
fn lines(text: &str) -> Vec<Line<'_>> {
    let mut in_string = None;
    let mut lines = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let mut has_string = in_string.is_some();
        let mut rest = text;
        while !rest.is_empty() {
            rest = match in_string {
                // Of a raw string, up to the quote with as many hashes; of another, up to a quote without a backslash.
                Some(hashes) => match end_of_string(rest, hashes) {
                    Some(end) => {
                        in_string = None;
                        &rest[end..]
                    }
                    None => "",
                },
                None if rest.starts_with("//") => "",
                None if rest.starts_with("'\"'") => &rest[3..],
                None if rest.starts_with("'\\\"'") => &rest[4..],
                None => match beginning_of_string(rest) {
                    Some((length, hashes)) => {
                        (in_string, has_string) = (Some(hashes), true);
                        &rest[length..]
                    }
                    None => &rest[rest.chars().next().map_or(0, char::len_utf8)..],
                },
            };
        }
        lines.push(Line { number: index + 1, text, has_string });
    }
    lines
}

/// The length of the beginning of a string, and the hashes of a raw one.
fn beginning_of_string(text: &str) -> Option<(usize, Option<usize>)> {
    if text.starts_with('"') {
        return Some((1, None));
    }
    let hashes = text.strip_prefix('r')?.chars().take_while(|&c| c == '#').count();
    text[1 + hashes..].starts_with('"').then_some((2 + hashes, Some(hashes)))
}

/// Where a string that has begun ends in this text.
fn end_of_string(text: &str, hashes: Option<usize>) -> Option<usize> {
    if let Some(hashes) = hashes {
        let end = format!("\"{}", "#".repeat(hashes));
        return text.find(&end).map(|at| at + end.len());
    }
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The text of a comment line: behind `//`, `///` or `//!`.
fn comment<'a>(line: &Line<'a>) -> Option<&'a str> {
    let text = line.text.trim_start().strip_prefix("//").filter(|_| !line.has_string)?;
    Some(text.strip_prefix(['/', '!']).unwrap_or(text).trim_start())
}

/// The text of an item of a list.
fn item(text: &str) -> Option<&str> {
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = (behind.len() < text.len()).then(|| behind.strip_prefix(". ")).flatten();
    number.or_else(|| text.strip_prefix("- ")).or_else(|| text.strip_prefix("* "))
}

/// Fails with everything that was found.
fn none(wrong: &[String], rule: &str) {
    assert!(wrong.is_empty(), "{rule}:\n{}", wrong.join("\n"));
}

#[test]
fn a_doc_comment_names_its_thing() {
    let mut wrong = Vec::new();
    for (name, text) in &files() {
        let mut before = None;
        for line in lines(text) {
            let is_doc = ["///", "//!"].iter().any(|mark| line.text.trim_start().starts_with(mark));
            let text = comment(&line).filter(|_| is_doc);
            let begins = before.is_none_or(|before: &str| before.is_empty() || before.starts_with('#'));
            if let Some(start) = text.and_then(|text| item(text).or(begins.then_some(text))) {
                let first = start.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                if CLAUSES.contains(&first) {
                    wrong.push(format!("{name}:{}: {start}", line.number));
                }
            }
            before = text;
        }
    }
    none(&wrong, "a comment begins with a noun or a verb (STYLE.md), not with a clause");
}

#[test]
fn plain_words_are_used() {
    let mut wrong = Vec::new();
    for (name, text) in &files() {
        for line in lines(text) {
            let lower = line.text.to_lowercase();
            let words = format!(" {} ", lower.split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>().join(" "));
            for (word, instead) in WORDS {
                let is_marked = word.ends_with(|c: char| c.is_ascii_punctuation());
                let is_there = if is_marked { lower.contains(word) } else { words.contains(&format!(" {word} ")) };
                if comment(&line).is_some() && is_there {
                    let text = line.text.trim();
                    wrong.push(format!("{name}:{}: not \"{word}\" but \"{instead}\": {text}", line.number));
                }
            }
        }
    }
    none(&wrong, "there are plainer words (STYLE.md)");
}

/// Lines are as wide as `rustfmt.toml` says, but for those with a string that cannot be cut.
#[test]
fn lines_fit() {
    let mut wrong = Vec::new();
    for (name, text) in files() {
        for line in lines(&text) {
            let width = line.text.chars().count();
            if width > COLUMNS && !line.has_string {
                wrong.push(format!("{name}:{}: {width} columns", line.number));
            }
        }
    }
    none(&wrong, "lines have at most 120 columns");
}

/// The code of each product file: up to its tests.
fn products() -> Vec<(String, String)> {
    let is_product = |name: &str| name.starts_with("crates/") && name.contains("/src/") && !name.contains("tests");
    let files = files().into_iter().filter(|(name, _)| is_product(name));
    files
        .map(|(name, text)| {
            let (before_tests, _) = split_tests(&text);
            (name, before_tests.to_owned())
        })
        .collect()
}

/// The name of what `keyword` introduces in a line, and the indentation.
fn introduced<'a>(line: &'a str, keyword: &str) -> Option<(&'a str, usize)> {
    let trimmed = line.trim_start();
    let (before, after) = trimmed.split_once(&format!("{keyword} "))?;
    let is_plain = before.split_whitespace().all(|word| {
        ["pub", "const", "unsafe", "async", "in"].contains(&word) || word.starts_with("pub(") || word.ends_with(')')
    });
    let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())?;
    is_plain.then_some((name, line.len() - trimmed.len()))
}

/// The line on which the block that begins at `start` is closed: the first brace at its indentation.
fn end_of_block(lines: &[Line<'_>], start: usize, indentation: usize) -> usize {
    let is_end =
        |line: &Line<'_>| line.text.trim_start().starts_with('}') && line.text[..indentation].trim().is_empty();
    let closes = |line: &&Line<'_>| {
        line.text.len() > indentation && line.text.len() - line.text.trim_start().len() == indentation && is_end(line)
    };
    let one_line = lines[start].text.trim_end().ends_with('}');
    let no_body =
        lines[start..].iter().take_while(|line| !line.text.contains('{')).any(|line| line.text.ends_with(';'));
    if one_line || no_body {
        return start;
    }
    lines[start + 1..].iter().find(closes).map_or(start, |line| line.number - 1)
}

/// Compares what exceeds a limit with the list of exceptions: nothing new, and nothing that has been mended.
fn compare(found: &BTreeSet<String>, exceptions: &[&str], what: &str) {
    let expected: BTreeSet<String> = exceptions.iter().map(|&name| name.to_owned()).collect();
    let new: Vec<_> = found.difference(&expected).collect();
    assert!(new.is_empty(), "{what}: {new:?}");
    let mended: Vec<_> = expected.difference(found).collect();
    assert!(mended.is_empty(), "these are within the limit now and leave the list of exceptions: {mended:?}");
}

#[test]
fn functions_fit_a_screen() {
    let mut long = BTreeSet::new();
    for (file, text) in products() {
        let lines = lines(&text);
        for (index, line) in lines.iter().enumerate() {
            let Some((name, indentation)) = introduced(line.text, "fn").filter(|_| comment(line).is_none()) else {
                continue;
            };
            let length = end_of_block(&lines, index, indentation) - index + 1;
            if length > FUNCTION_LINES {
                long.insert(format!("{file} {name}"));
            }
        }
    }
    compare(&long, &LONG_FUNCTIONS, "longer than a screen: a part of it deserves a name of its own");
}

#[test]
fn structs_have_few_fields() {
    let mut wide = BTreeSet::new();
    for (file, text) in products() {
        let lines = lines(&text);
        for (index, line) in lines.iter().enumerate() {
            let Some((name, indentation)) = introduced(line.text, "struct").filter(|_| line.text.ends_with('{')) else {
                continue;
            };
            let end = end_of_block(&lines, index, indentation);
            let is_field = |line: &&Line<'_>| {
                let text = line.text.trim_start();
                let is_own = line.text.len() - text.len() == indentation + 4;
                is_own && comment(line).is_none() && !text.starts_with('#') && text.contains(": ")
            };
            if lines[index..end].iter().filter(is_field).count() > FIELDS {
                wide.insert(format!("{file} {name}"));
            }
        }
    }
    compare(&wide, &WIDE_STRUCTS, "more than 20 fields: some of them belong together");
}
