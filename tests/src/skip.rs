//! Tests with special requirements: root, a TUN device, a program. Where one is missing the test fails, unless its
//! runner counts what is skipped and says so at its end (`AIRBRAID_SKIPPED` names the list; `make test` has one).
//! Where nothing may be skipped (`AIRBRAID_REQUIRE_ROOT_TESTS=1`, as in CI) it fails all the same.
//!
//! Test binaries of several crates include this file.

use std::io::Write;

/// Reports that a test cannot run here, with the reason.
///
/// # Panics
/// Where no test may be skipped, or nobody would say that it was.
pub fn skip(test: &str, why: &str) {
    let is_required =
        std::env::var_os("AIRBRAID_REQUIRE_ROOT_TESTS").is_some_and(|value| !value.is_empty() && value != "0");
    assert!(!is_required, "{test} cannot be skipped (AIRBRAID_REQUIRE_ROOT_TESTS): {why}");
    let Some(path) = std::env::var_os("AIRBRAID_SKIPPED").filter(|path| !path.is_empty()) else {
        panic!("{test} cannot run here: {why}; AIRBRAID_SKIPPED=FILE lists it there as skipped, as `make test` does");
    };
    // Not by `eprintln!`, which a test runner keeps to itself where a test passes.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
    let file = std::fs::File::options().create(true).append(true).open(&path);
    let noted = file.and_then(|mut file| file.write_all(format!("{test}\t{why}\n").as_bytes()));
    assert!(noted.is_ok(), "{}: {noted:?}", path.display());
}
