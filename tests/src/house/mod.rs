//! Measures of the source tree: what the tests of the house hold, and `cargo run --example house` prints.

pub mod imports;
pub mod lines;

use std::path::{Path, PathBuf};

/// The Rust files below a folder, in order of their paths.
///
/// # Panics
/// If the folder cannot be read.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { panic!("{}: no such folder", folder.display()) };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() && !path.ends_with("target") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The text of a file.
///
/// # Panics
/// If it cannot be read.
pub fn text(path: &Path) -> String {
    match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}
