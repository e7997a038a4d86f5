//! Tests with special requirements: root, a TUN device, a program. Where one is missing they are counted and listed, by
//! `make test` at its end, too; where they must not be skipped (`AIRBRAID_REQUIRE_ROOT_TESTS=1`, as in CI) they fail.
//!
//! Test binaries of several crates include this file.

use std::io::Write;

/// Reports that a test cannot run here, with the reason.
///
/// # Panics
/// Where no test may be skipped.
pub fn skip(test: &str, why: &str) {
    let is_required =
        std::env::var_os("AIRBRAID_REQUIRE_ROOT_TESTS").is_some_and(|value| !value.is_empty() && value != "0");
    assert!(!is_required, "{test} cannot be skipped (AIRBRAID_REQUIRE_ROOT_TESTS): {why}");
    // Not by `eprintln!`, which a test runner keeps to itself where a test passes.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
    let Some(path) = std::env::var_os("AIRBRAID_SKIPPED") else { return };
    let file = std::fs::File::options().create(true).append(true).open(&path);
    let noted = file.and_then(|mut file| file.write_all(format!("{test}\t{why}\n").as_bytes()));
    assert!(noted.is_ok(), "{}: {noted:?}", path.display());
}
