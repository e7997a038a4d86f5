//! Counts over the lines of the tree.

use super::{sources, text};
use std::path::{Path, PathBuf};

/// The width that rustfmt is given.
pub const WIDTH: usize = 120;

/// Lines of a crate by kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines {
    /// Files without tests.
    pub files: usize,
    /// Lines of code.
    pub code: usize,
    /// Lines of documentation and comments.
    pub comments: usize,
    /// Empty lines.
    pub blank: usize,
    /// Lines of tests, of any kind.
    pub tests: usize,
}

/// The part of a file before its tests, and that from there on.
pub fn split_tests(text: &str) -> (&str, &str) {
    text.split_at(text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len()))
}

/// Whether a file has nothing but tests.
pub fn is_of_tests(path: &Path) -> bool {
    path.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
        || path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_tests"))
}

/// Counts the lines of a crate: `folder` has its `src` and, perhaps, `tests`.
pub fn count(folder: &Path) -> Lines {
    let mut lines = Lines::default();
    let tests = folder.join("tests");
    let files = [sources(&folder.join("src")), if tests.is_dir() { sources(&tests) } else { Vec::new() }];
    for path in files.concat() {
        let text = text(&path);
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        if is_of_tests(inside) {
            lines.tests += text.lines().count();
            continue;
        }
        lines.files += 1;
        let (before, tests) = split_tests(&text);
        lines.tests += tests.lines().count();
        for line in before.lines().map(str::trim_start) {
            match line {
                "" => lines.blank += 1,
                _ if line.starts_with("//") => lines.comments += 1,
                _ => lines.code += 1,
            }
        }
    }
    lines
}

/// Lines of a file that a condition holds for, with their numbers.
pub fn matching(path: &Path, holds: impl Fn(&str) -> bool) -> Vec<(usize, String)> {
    let text = text(path);
    let numbered = text.lines().enumerate().filter(|(_, line)| holds(line));
    numbered.map(|(index, line)| (index + 1, line.to_owned())).collect()
}

/// All lines below a folder that a condition holds for.
pub fn all_matching(folder: &Path, holds: impl Fn(&str) -> bool) -> Vec<(PathBuf, usize, String)> {
    let of_file = |path: PathBuf| {
        let found = matching(&path, &holds);
        found.into_iter().map(move |(number, line)| (path.clone(), number, line))
    };
    sources(folder).into_iter().flat_map(of_file).collect()
}

/// Whether a line of documentation begins with a clause where a noun would do.
pub fn begins_with_a_clause(line: &str) -> bool {
    let doc = line.trim_start().strip_prefix("///").or_else(|| line.trim_start().strip_prefix("//!"));
    let Some(doc) = doc.map(str::trim_start) else { return false };
    ["What ", "Who ", "Whose ", "Whom "].iter().any(|word| doc.starts_with(word))
}

/// Whether a line is wider than [`WIDTH`].
pub fn is_too_wide(line: &str) -> bool {
    line.chars().count() > WIDTH
}
