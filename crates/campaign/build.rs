//! The crate's build information: the files of `papers/` and `scenarios/` as text in the binary, and the digest of the
//! sources that results come from. Without git it builds all the same.

#[path = "src/store/sources.rs"]
mod sources;

use sources::{BOND, SOURCES, digest, files, relative};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Put into the binary.
const FILES: [&str; 2] = ["papers", "scenarios"];

fn main() -> std::io::Result<()> {
    let own = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = own.join("../..");
    for path in SOURCES.iter().chain(&FILES) {
        // A path that is missing would make Cargo run this script at every call; `digest` and `files` refuse it.
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/store/sources.rs");
    println!("cargo::rustc-env=AIRBRAID_SOURCES={}", digest(&root, &SOURCES, None)?);
    println!("cargo::rustc-env=AIRBRAID_SOURCES_WITHOUT_BOND={}", digest(&root, &SOURCES, Some(BOND))?);
    println!("cargo::rustc-env=AIRBRAID_COMMIT={}", commit(&root).unwrap_or_else(|| "unknown".to_owned()));
    embed(&root)
}

/// Writes a table of path and text of every file of [`FILES`].
fn embed(root: &Path) -> std::io::Result<()> {
    let mut table = String::from("&[\n");
    for name in FILES {
        for path in files(&root.join(name))? {
            let absolute = path.canonicalize()?;
            let _ = writeln!(table, "    ({:?}, include_str!({:?})),", relative(root, &path), absolute.display());
        }
    }
    table.push_str("]\n");
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()).join("library.rs"), table)
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
