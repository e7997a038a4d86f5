//! `airbraid new`: every file that it writes runs, holds what it expects, and its comments name commands that work.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Kinds that are one scenario.
const SCENARIOS: [&str; 5] = ["chain", "hidden", "trunk", "wifi", "tunnel"];

/// The command in a folder.
fn airbraid(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_airbraid"));
    command.current_dir(folder).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The standard output of a command that ends well.
fn fine(folder: &Path, arguments: &[&str]) -> String {
    let done = airbraid(folder, arguments);
    assert_eq!(done.status.code(), Some(0), "{arguments:?}: {}{}", text(&done.stdout), text(&done.stderr));
    text(&done.stdout)
}

fn empty_dir(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("airbraid-new-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// The words of the commands in a file's comments: what stands before two blanks, quotes taken off.
fn commands(file: &str) -> Vec<Vec<String>> {
    let lines = file.lines().filter_map(|line| line.strip_prefix("#   airbraid "));
    let words = |line: &str| {
        let line = line.split("  ").next().unwrap_or_default();
        let parts = line.split('"').enumerate();
        let words = parts.flat_map(|(place, part)| match place % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    };
    lines.map(words).collect()
}

#[test]
fn every_scenario_that_is_written_runs_and_holds() {
    for kind in SCENARIOS {
        let dir = empty_dir(kind);
        let done = airbraid(&dir, &["new", kind]);
        let name = format!("{kind}.toml");
        assert_eq!(text(&done.stderr), format!("written: {name}\nnext:    airbraid run {name}\n"));
        let said = fine(&dir, &["run", &name]);
        assert!(said.contains("holds") && !said.contains("BROKEN"), "{said}");
        assert!(fine(&dir, &["check", &name]).contains("hold\n") || said.contains("1 holds"), "{name}");
        assert!(fine(&dir, &["explain", &name]).contains(&format!("{name}:")), "{name}");
        let file = std::fs::read_to_string(dir.join(&name)).unwrap();
        let commands = commands(&file);
        assert!(commands.len() >= 2, "{name} names few commands: {commands:?}");
        for command in commands {
            fine(&dir, &command.iter().map(String::as_str).collect::<Vec<_>>());
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}

#[test]
fn without_a_kind_all_are_listed() {
    let dir = empty_dir("list");
    let said = fine(&dir, &["new"]);
    for kind in SCENARIOS.into_iter().chain(["daemon"]) {
        assert!(said.contains(&format!("\n  {kind} ")), "{kind} is not in\n{said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    assert_eq!(airbraid(&dir, &["new", "rainbow"]).status.code(), Some(2));
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_file_that_is_there_is_replaced_by_force_alone() {
    let dir = empty_dir("there");
    let file = dir.join("my file.toml");
    std::fs::write(&file, "mine").unwrap();
    let done = airbraid(&dir, &["new", "trunk", "my file.toml"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("my file.toml is there already"), "{}", text(&done.stderr));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    fine(&dir, &["new", "trunk", "my file.toml", "--force"]);
    // Its comments call it by its name, as a shell takes it.
    assert!(std::fs::read_to_string(&file).unwrap().contains("airbraid run 'my file.toml' -v"));
    std::fs::create_dir(dir.join("folder")).unwrap();
    fine(&dir, &["new", "trunk", "folder"]);
    let names = |dir: &Path| std::fs::read_dir(dir).unwrap().count();
    assert_eq!((names(&dir), names(&dir.join("folder"))), (2, 1), "something else was left");
    assert_eq!(airbraid(&dir, &["new", "trunk", "nowhere/x.toml"]).status.code(), Some(1));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_dash_is_standard_output() {
    let dir = empty_dir("dash");
    let said = fine(&dir, &["new", "chain", "-"]);
    assert!(said.starts_with("# A chain") && said.contains("\n[expect]"), "{said}");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn the_daemons_two_files_are_fine_and_know_each_other() {
    let dir = empty_dir("daemon");
    fine(&dir, &["new", "daemon", "site"]);
    let site = dir.join("site");
    let read = |name: &str| std::fs::read_to_string(site.join(name)).unwrap();
    for (end, other) in [("hub", "office"), ("office", "hub")] {
        let file = format!("site/{end}.toml");
        assert!(fine(&dir, &["up", "--check", &file]).contains("fine"), "{file}");
        assert_eq!(std::fs::metadata(site.join(format!("{end}.key"))).unwrap().permissions().mode() & 0o777, 0o600);
        let key = std::fs::File::open(site.join(format!("{other}.key"))).unwrap();
        let mut pubkey = Command::new(env!("CARGO_BIN_EXE_airbraid"));
        let public = text(&pubkey.arg("pubkey").stdin(key).output().unwrap().stdout);
        assert!(read(&format!("{end}.toml")).contains(&format!("public_key = \"{}\"", public.trim())), "{file}");
    }
    let keys = [read("hub.key"), read("office.key")];
    assert_ne!(keys[0], keys[1]);
    assert_eq!(airbraid(&dir, &["new", "daemon", "site"]).status.code(), Some(2));
    fine(&dir, &["new", "daemon", "site", "--force"]);
    assert_eq!(keys, [read("hub.key"), read("office.key")], "keys that were there are kept");
    let done = airbraid(&dir, &["new", "daemon", "-"]);
    assert_eq!(done.status.code(), Some(2), "keys are not printed");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn shells_complete_the_kinds() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_airbraid"));
    command.env("AIRBRAID_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2").args(["--", "airbraid", "new", ""]);
    let words = text(&command.output().unwrap().stdout);
    for kind in SCENARIOS.into_iter().chain(["daemon"]) {
        assert!(words.lines().any(|word| word == kind), "{kind} is not in\n{words}");
    }
}
