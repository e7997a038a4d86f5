//! The digest of the sources that results are computed from. The build script compiles this file, too.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Whole directories, and the locked dependencies: each number in the store is a function of these.
pub const SOURCES: [&str; 6] =
    ["crates/units/src", "crates/engine/src", "crates/mac/src", "crates/net/src", "crates/sim/src", "Cargo.lock"];

/// The bond's engine: no run without a trunk over links comes to it.
pub const BOND: &str = "crates/engine/src/trunk/bonding/";

/// Returns the digest over names and bytes of all files at or below `sources` within `root`, in hexadecimal, but for
/// files whose names begin with `left_out`.
///
/// # Errors
/// A source is missing or has no file, or the file system fails.
pub fn digest(root: &Path, sources: &[&str], left_out: Option<&str>) -> Result<String> {
    let mut all = Sha256::new();
    for source in sources {
        let found = files(&root.join(source))?;
        if found.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, format!("{source}: there is no file")));
        }
        for path in found {
            let name = relative(root, &path);
            if left_out.is_some_and(|left_out| name.starts_with(left_out)) {
                continue;
            }
            // The path too: a file that moves is another module.
            all.update(name);
            all.update([0]);
            all.update(std::fs::read(&path)?);
        }
    }
    Ok(all.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Returns the files at or below `path` that are code, data or a lock file, by name.
///
/// # Errors
/// `path` does not exist, or the file system fails.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let named = |error: Error| Error::new(error.kind(), format!("{}: {error}", path.display()));
        if std::fs::metadata(&path).map_err(named)?.is_dir() {
            for entry in std::fs::read_dir(&path).map_err(named)? {
                open.push(entry?.path());
            }
        } else if path.extension().is_some_and(|e| e == "toml" || e == "rs" || e == "lock") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns `path` within `root`, with slashes on every system.
pub fn relative(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap_or(path).components();
    parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// The crates of ours that the simulator is built from, itself among them, by its manifests.
    fn crates_of_a_run() -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let mut open = vec!["sim".to_owned()];
        while let Some(name) = open.pop() {
            let manifest = std::fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).unwrap();
            let manifest: toml::Table = manifest.parse().unwrap();
            let dependencies = manifest["dependencies"].as_table().unwrap();
            open.extend(dependencies.keys().filter_map(|key| key.strip_prefix("airbraid-").map(str::to_owned)));
            all.insert(name);
        }
        all
    }

    #[test]
    fn every_crate_that_a_run_is_made_of_is_in_the_digest() {
        let listed = SOURCES.iter().filter_map(|source| source.strip_prefix("crates/")?.strip_suffix("/src"));
        assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), crates_of_a_run());
        assert!(SOURCES.contains(&"Cargo.lock"));
        assert_eq!(digest(&root(), &SOURCES, None).unwrap().len(), 64);
    }

    #[test]
    fn a_listed_source_that_is_missing_fails_the_build() {
        let error = digest(&root(), &["crates/sim/src", "crates/sim/src/gone.rs"], None).unwrap_err();
        assert!(error.to_string().contains("gone.rs"), "{error}");
        assert!(root().join(BOND).is_dir(), "the bond's engine is elsewhere");
        assert!(digest(&root(), &["docs/decisions"], None).is_err(), "a directory without sources is no source");
    }

    #[test]
    fn another_byte_or_another_name_is_another_digest() {
        let folder = std::env::temp_dir().join(format!("airbraid-sources-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("src")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join("src").join(name), text).unwrap();
        let now = || digest(&folder, &["src"], None).unwrap();
        write("facts.rs", "1");
        let first = now();
        write("facts.rs", "2");
        let second = now();
        std::fs::rename(folder.join("src/facts.rs"), folder.join("src/other.rs")).unwrap();
        let third = now();
        write("left_out.rs", "3");
        assert_eq!(digest(&folder, &["src"], Some("src/left")).unwrap(), third);
        let fourth = now();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(BTreeSet::from([first, second, third, fourth]).len(), 4);
    }
}
