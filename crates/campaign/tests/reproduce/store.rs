//! The store itself: damage of every kind is found, reported and never used; a kill loses no finished result.

use super::Empty;
use airbraid_campaign::store::{Build, Found, Key, Store, StoreError};
use airbraid_sim::facts::{Facts, Series};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn key(seed: u64) -> Key {
    Key { scenario: [seed as u8; 32], seed }
}

fn facts(seed: u64) -> Facts {
    // Numbers that need all their digits.
    let x = seed as f64 / 3.0 + 1e-17 * seed as f64;
    let series = Series { interval_s: 0.1, values: (0..300).map(|i| x * f64::from(i) / 7.0).collect() };
    Facts {
        metrics: BTreeMap::from([("x".to_owned(), x), ("small".to_owned(), 5e-324), ("large".to_owned(), 1.797e308)]),
        series: BTreeMap::from([("x".to_owned(), series)]),
    }
}

fn open(dir: &Empty) -> (Store, Option<String>) {
    Store::open(dir.path(), Build::named("one")).unwrap()
}

fn filled(dir: &Empty, count: u64) {
    let (mut store, _) = open(dir);
    let runs: Vec<(Key, Facts)> = (0..count).map(|seed| (key(seed), facts(seed))).collect();
    store.put(&runs).unwrap();
}

fn file(dir: &Empty) -> std::path::PathBuf {
    dir.path().join("runs.sqlite")
}

#[test]
fn what_was_put_in_comes_out_to_the_last_bit() {
    let dir = Empty::new("roundtrip");
    filled(&dir, 20);
    let (store, said) = open(&dir);
    assert_eq!((said, store.len().unwrap()), (None, 20));
    for seed in 0..20 {
        assert_eq!(store.get(&key(seed)).unwrap(), Found::Facts(facts(seed)));
    }
    assert_eq!(store.get(&key(20)).unwrap(), Found::Nothing);
    assert_eq!(store.get(&Key { scenario: [1; 32], seed: 2 }).unwrap(), Found::Nothing);
    drop(store);
    let (other, _) = Store::open(dir.path(), Build::named("two")).unwrap();
    assert_eq!(other.get(&key(1)).unwrap(), Found::Nothing, "another build finds nothing");
}

#[test]
fn a_row_that_does_not_fit_its_checksum_is_removed() {
    let dir = Empty::new("checksum");
    filled(&dir, 3);
    let changes = [
        "UPDATE runs SET facts = replace(facts, '0.333', '0.334') WHERE seed = 1",
        "UPDATE runs SET scenario = x'0909090909090909090909090909090909090909090909090909090909090909' WHERE seed = 2",
    ];
    let connection = rusqlite::Connection::open(file(&dir)).unwrap();
    for sql in changes {
        assert_eq!(connection.execute(sql, ()).unwrap(), 1);
    }
    drop(connection);
    let (store, said) = open(&dir);
    assert_eq!(said, None);
    assert_eq!(store.get(&key(0)).unwrap(), Found::Facts(facts(0)));
    assert_eq!(store.get(&key(1)).unwrap(), Found::Damaged);
    assert_eq!(store.get(&key(1)).unwrap(), Found::Nothing, "it is computed again");
    assert_eq!(store.get(&Key { scenario: [9; 32], seed: 2 }).unwrap(), Found::Damaged, "a row under another key");
}

/// Bytes of pages overwritten, the file truncated, a header with a wrong length.
#[test]
fn a_damaged_file_is_set_aside_and_said() {
    type Damage = fn(&mut Vec<u8>);
    let kinds: [(&str, Damage); 3] = [
        ("page", |bytes| bytes[4096..8192].fill(0xA5)),
        ("cut", |bytes| bytes.truncate(bytes.len() / 2 + 100)),
        ("root", |bytes| bytes[100] = 99),
    ];
    for (name, damage) in kinds {
        let dir = Empty::new(&format!("damage-{name}"));
        filled(&dir, 200);
        let mut bytes = std::fs::read(file(&dir)).unwrap();
        damage(&mut bytes);
        std::fs::write(file(&dir), &bytes).unwrap();
        let (store, said) = open(&dir);
        let said = said.unwrap_or_else(|| panic!("{name}: nobody was told"));
        assert!(said.contains("is damaged") && said.contains("runs.sqlite.damaged-1"), "{name}: {said}");
        assert_eq!(store.len().unwrap(), 0, "{name}: nothing of it is used");
        assert_eq!(std::fs::read(dir.path().join("runs.sqlite.damaged-1")).unwrap(), bytes, "{name}: and nothing lost");
    }
}

/// A byte here or there, or a page: either it is found, or the result is the one that was written.
#[test]
fn no_damage_gives_a_wrong_result() {
    let dir = Empty::new("flips");
    filled(&dir, 30);
    let whole = std::fs::read(file(&dir)).unwrap();
    for step in 0..150 {
        let at = step * whole.len() / 150 + step % 97;
        let Some(byte) = whole.get(at) else { continue };
        let mut bytes = whole.clone();
        bytes[at] = byte ^ 0x15;
        if step % 10 == 9 {
            let page = at / 4096 * 4096;
            bytes[page..page + 4096].fill(0);
        }
        std::fs::write(file(&dir), &bytes).unwrap();
        let Ok((store, _)) = Store::open(dir.path(), Build::named("one")) else {
            let _ = std::fs::remove_file(file(&dir));
            continue;
        };
        for seed in 0..30 {
            if let Ok(Found::Facts(found)) = store.get(&key(seed)) {
                assert_eq!(found, facts(seed), "byte {at}");
            }
        }
        drop(store);
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
}

#[test]
fn foreign_files_are_refused_and_left_alone() {
    let dir = Empty::new("foreign");
    std::fs::write(file(&dir), "a letter, much longer than a head, ".repeat(10)).unwrap();
    let before = std::fs::read(file(&dir)).unwrap();
    let said = Store::open(dir.path(), Build::named("one")).unwrap_err();
    assert!(matches!(said, StoreError::Foreign { .. }) && said.to_string().contains("use another directory"), "{said}");
    assert_eq!(std::fs::read(file(&dir)).unwrap(), before);
    std::fs::remove_file(file(&dir)).unwrap();
    let connection = rusqlite::Connection::open(file(&dir)).unwrap();
    connection.execute_batch("CREATE TABLE letters (text); INSERT INTO letters VALUES ('dear')").unwrap();
    drop(connection);
    let said = Store::open(dir.path(), Build::named("one")).unwrap_err();
    assert!(said.to_string().contains("the database of another program"), "{said}");
    let newer = Empty::new("newer");
    filled(&newer, 1);
    let connection = rusqlite::Connection::open(file(&newer)).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
    drop(connection);
    let said = Store::open(newer.path(), Build::named("one")).unwrap_err();
    assert!(said.to_string().contains("of layout 2"), "{said}");
}

#[test]
fn an_empty_file_and_two_at_a_time_are_fine() {
    let dir = Empty::new("two");
    std::fs::write(file(&dir), "").unwrap();
    let (mut one, _) = open(&dir);
    let (mut two, _) = open(&dir);
    one.put(&[(key(1), facts(1))]).unwrap();
    two.put(&[(key(2), facts(2)), (key(1), facts(1))]).unwrap();
    assert_eq!(one.get(&key(2)).unwrap(), Found::Facts(facts(2)));
    assert_eq!(two.len().unwrap(), 2);
}

#[test]
fn many_may_begin_a_store_at_once() {
    for round in 0..20 {
        let dir = Empty::new(&format!("many-{round}"));
        let open_and_put = |seed: u64| {
            let (mut store, said) = Store::open(dir.path(), Build::named("one")).unwrap();
            assert_eq!(said, None);
            store.put(&[(key(seed), facts(seed))]).unwrap();
        };
        std::thread::scope(|scope| {
            for seed in 0..8 {
                scope.spawn(move || open_and_put(seed));
            }
        });
        assert_eq!(open(&dir).0.len().unwrap(), 8);
    }
}

/// Directory in which the child of [`a_kill_loses_nothing_that_was_kept`] writes.
const CHILD_STORE: &str = "AIRBRAID_TEST_STORE";

/// Puts one result after another and reports each when it is kept, until it is killed.
fn write_until_killed(dir: &std::path::Path) {
    let (mut store, _) = Store::open(dir, Build::named("one")).unwrap();
    for seed in 0.. {
        store.put(&[(key(seed), facts(seed))]).unwrap();
        println!("kept {seed}");
    }
}

/// Runs itself as a process that can be killed.
#[test]
fn a_kill_loses_nothing_that_was_kept() {
    if let Some(dir) = std::env::var_os(CHILD_STORE) {
        return write_until_killed(std::path::Path::new(&dir));
    }
    for round in 0..3 {
        let dir = Empty::new(&format!("kill-{round}"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::a_kill_loses_nothing_that_was_kept", "--nocapture"])
            .env(CHILD_STORE, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut kept = None;
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for line in lines {
            let line = line.unwrap();
            // The harness writes the name of the test before the first line.
            kept = line.rsplit_once("kept ").and_then(|(_, n)| n.parse::<u64>().ok()).or(kept);
            if kept >= Some(20 + round) {
                child.kill().unwrap();
                break;
            }
        }
        child.wait().unwrap();
        let (store, said) = open(&dir);
        assert_eq!(said, None);
        for seed in 0..=kept.unwrap() {
            assert_eq!(store.get(&key(seed)).unwrap(), Found::Facts(facts(seed)), "seed {seed}");
        }
    }
}
