//! The invariants of ARCHITECTURE.md that a compiler does not hold: allowed dependencies, names banned from the pure
//! engine, and the length of files.

use airbraid_tests::house::{imports, sources};
use airbraid_tests::root;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// For each crate the crates of ours that it may name. `docs/decisions/0001-machine-in-engine.md` argues for the second
/// and third line.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("units", &[]),
    ("engine", &["units"]),
    ("mac", &["units", "engine"]),
    ("net", &["units", "engine"]),
    ("sim", &["units", "engine", "mac", "net"]),
    ("campaign", &["units", "sim"]),
    ("live", &["units", "engine", "sim"]),
    ("cli", &["units", "sim", "campaign", "live"]),
    ("py", &["units", "sim", "campaign"]),
    ("tests", &["units", "mac", "sim", "campaign"]),
    ("fuzz", &["units", "engine", "net", "sim", "live"]),
];

#[test]
fn crates_depend_in_one_direction() {
    let metadata = ["metadata", "--no-deps", "--format-version", "1", "--offline", "--locked"];
    let output = Command::new(env!("CARGO")).args(metadata).current_dir(root()).output().unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut seen = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap().trim_start_matches("airbraid-").to_owned();
        let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
        let Some(allowed) = allowed.get(name.as_str()) else { panic!("{name} is not in the list") };
        for dependency in package["dependencies"].as_array().unwrap() {
            let Some(other) = dependency["name"].as_str().unwrap().strip_prefix("airbraid-") else { continue };
            // Tests of the command speak to daemons as strangers do, by the engine's messages.
            let is_of_tests = name == "cli" && dependency["kind"] == "dev" && other == "engine";
            assert!(allowed.contains(&other) || is_of_tests, "{name} must not depend on {other}");
        }
        seen.insert(name);
    }
    assert_eq!(seen.len(), ALLOWED.len(), "a crate of the list is gone");
}

/// The lines of a file that are code: no comments, nothing after the tests begin.
fn code(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = before_tests.lines().enumerate().map(|(number, line)| (number + 1, line.to_owned()));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//")).collect()
}

#[test]
fn the_engine_is_pure() {
    let banned =
        ["f32", "f64", "std::time", "std::net", "std::fs", "std::thread", "std::env", "HashMap", "HashSet", "tokio"];
    for path in sources(&root().join("crates/engine/src")) {
        for (number, line) in code(&path) {
            for word in banned {
                assert!(!line.contains(word), "{}:{number}: {word} in the pure engine: {line}", path.display());
            }
        }
    }
}

#[test]
fn runs_have_no_global_state() {
    let banned = ["thread_local!", "LazyLock", "std::thread", "SystemTime"];
    for name in ["units", "engine", "mac", "net", "sim"] {
        for path in sources(&root().join("crates").join(name).join("src")) {
            for (number, line) in code(&path) {
                for word in banned {
                    assert!(!line.contains(word), "{}:{number}: {word} in a run: {line}", path.display());
                }
                // A static table that nothing can write to is no state.
                let item = line.trim_start().trim_start_matches("pub ");
                let can_change = ["mut ", "Cell", "Lock", "Mutex", "Atomic"].iter().any(|word| item.contains(word));
                assert!(!item.starts_with("static ") || !can_change, "{}:{number}: global state", path.display());
            }
        }
    }
}

#[test]
fn files_import_each_other_in_one_direction() {
    let crates = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let circles: Vec<Vec<PathBuf>> = crates.flat_map(|folder| imports::circles(&folder.join("src"))).collect();
    assert!(circles.is_empty(), "files that import each other, other than parent and child: {circles:#?}");
}

#[test]
fn a_circle_of_imports_is_found() {
    let folder = std::env::temp_dir().join(format!("airbraid-circle-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("shared")).unwrap();
    let files = [
        ("lib.rs", "mod first; mod second; mod shared; pub use second::Second;"),
        // By way of the re-export, and by a path in a type.
        ("first.rs", "use crate::Second; pub struct First(Second);"),
        ("second.rs", "pub struct Second(Option<Box<super::first::First>>);"),
        // Parent and child may name each other.
        ("shared/mod.rs", "mod child; use child::Child; pub struct Parent(Child);"),
        ("shared/child.rs", "pub struct Child(Option<Box<super::Parent>>);"),
    ];
    files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    let found = imports::circles(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found, [[folder.join("first.rs"), folder.join("second.rs")]]);
}

#[test]
fn files_stay_readable() {
    for path in sources(&root().join("crates")) {
        if path.to_string_lossy().contains("tests") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines().count();
        assert!(lines <= 650, "{} has {lines} lines without tests", path.display());
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("//!"), "{} does not say what it is for", path.display());
    }
}

#[test]
fn scenario_files_stay_short() {
    let mut folders = vec![root().join("scenarios")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.lines().count() <= 60, "{} is longer than 60 lines", path.display());
            assert!(text.contains("question"), "{} has no question", path.display());
            let expects = text.contains("\n[expect]") || text.contains("\nexpect = {");
            assert!(expects, "{} expects nothing that can fail", path.display());
        }
    }
}

/// The words between backquotes in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_tests_that_show_what_is_promised_are_there() {
    let page = std::fs::read_to_string(root().join("docs/security.md")).unwrap();
    let (table, _) = page.split_once("## Fuzzing").unwrap();
    let all: Vec<PathBuf> = ["crates", "fuzz"].into_iter().flat_map(|folder| sources(&root().join(folder))).collect();
    let code: Vec<String> = all.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let is_module = |module: &str| {
        let file = format!("{module}.rs");
        all.iter().any(|path| path.ends_with(&file) || path.ends_with(format!("{module}/mod.rs")))
    };
    let mut named = 0;
    for word in quoted(table) {
        if let Some((module, test)) = word.split_once("::") {
            assert!(is_module(module), "docs/security.md: there is no {module} for `{word}`");
            let is_there =
                matches!(test, "" | "tests" | "*") || code.iter().any(|code| code.contains(&format!("fn {test}(")));
            assert!(is_there, "docs/security.md: there is no test `{word}`");
        } else if let Some((folder, file)) = word.split_once('/').filter(|(_, file)| file.ends_with(".rs")) {
            let path = format!("tests/engine/{folder}/{file}");
            assert!(all.iter().any(|other| other.ends_with(&path)), "docs/security.md: there is no `{word}`");
        } else {
            continue;
        }
        named += 1;
    }
    assert!(named > 40, "only {named} tests are named: is the page read as it is written?");
}
