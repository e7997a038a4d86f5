//! What the crate knows of its own making: the files of `papers/` and `scenarios/` as text in the binary, and which
//! sources results come from. Without git, and outside the repository, it builds all the same.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Whatever a run computes is a function of these sources.
const SOURCES: [&str; 7] = [
    "crates/units/src",
    "crates/engine/src",
    "crates/mac/src",
    "crates/net/src",
    "crates/sim/src",
    "crates/campaign/src/metrics.rs",
    "Cargo.lock",
];

/// What is put into the binary.
const FILES: [&str; 2] = ["papers", "scenarios"];

fn main() {
    let own = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = own.join("../..");
    let mut sources = Sha256::new();
    for name in SOURCES {
        for path in files(&root.join(name)) {
            // The path too: a file that moves is another module.
            sources.update(relative(&root, &path));
            sources.update([0]);
            sources.update(std::fs::read(&path).unwrap_or_default());
        }
    }
    let digest: String = sources.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    println!("cargo::rustc-env=AIRBRAID_SOURCES={digest}");
    println!("cargo::rustc-env=AIRBRAID_COMMIT={}", commit(&root).unwrap_or_else(|| "unknown".to_owned()));
    println!("cargo::rerun-if-changed=build.rs");
    embed(&root);
}

/// Writes a table of path and text of every file of [`FILES`].
fn embed(root: &Path) {
    let mut table = String::from("&[\n");
    for name in FILES {
        for path in files(&root.join(name)) {
            let Ok(absolute) = path.canonicalize() else { continue };
            let _ = writeln!(table, "    ({:?}, include_str!({:?})),", relative(root, &path), absolute.display());
        }
    }
    table.push_str("]\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()).join("library.rs");
    if let Err(e) = std::fs::write(&out, table) {
        panic!("{}: {e}", out.display());
    }
}

/// The files at or below `path` by name, of which cargo is told.
fn files(path: &Path) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={}", path.display());
    let mut found = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if let Ok(entries) = std::fs::read_dir(&path) {
            open.extend(entries.filter_map(|entry| entry.ok().map(|e| e.path())));
        } else if path.is_file() && path.extension().is_some_and(|e| e == "toml" || e == "rs" || e == "lock") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn relative(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap_or(path).components();
    parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
}

/// The commit that is checked out; `+` where files differ from it.
fn commit(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
    };
    let head = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={}", root.join(head).display());
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--", "crates", "Cargo.lock"]).is_some_and(|s| !s.is_empty());
    Some(if changed { commit + "+" } else { commit })
}
