//! Runs, store and interruption together: each run is done exactly once.

use super::{Empty, folder, invented};
use airbraid_campaign::reproduce::{Library, Reproduction, Runs, WorkSummary};
use airbraid_campaign::store::{Build, Store};
use airbraid_campaign::{Job, Recorded, Settings};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn prepare(dir: &Empty) -> Reproduction {
    let library = Library::with(&dir.path().join("papers")).unwrap();
    Reproduction::prepare(&library, "queues1900", &[], false).unwrap()
}

/// Works with the store of `build` and stops after `most` runs; returns the result and the number of runs.
fn work(dir: &Empty, build: &str, most: usize) -> (WorkSummary, usize, String) {
    let mut reproduction = prepare(dir);
    let (mut store, said) = Store::open(&dir.path().join("store"), Build::named(build)).unwrap();
    assert_eq!(said, None);
    let runs: &mut Runs = &mut reproduction.runs;
    runs.recall(&store).unwrap();
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let settings = Settings { jobs: 2, recorded: Recorded::default(), stop: &stop };
    let runner = |job: &Job<'_>, _: &mut dyn FnMut(f64) -> bool| {
        let before = count.fetch_add(1, Ordering::Relaxed);
        if before + 1 >= most {
            stop.store(true, Ordering::Relaxed);
        }
        if before >= most { Err("interrupted".to_owned()) } else { Ok(invented(job)) }
    };
    let came = runs.work(&settings, Some(&mut store), &runner, &|_, _| {}).unwrap();
    let rows = serde_json::to_string(&reproduction.conclude()).unwrap();
    (came, count.load(Ordering::Relaxed).min(most), rows)
}

#[test]
fn what_was_interrupted_goes_on_where_it_was() {
    let dir = folder("resume");
    let (came, done, _) = work(&dir, "one", 2);
    assert_eq!((came.done, came.failed, done), (2, 0, 2));
    assert_eq!(came.left, 4);
    let (came, done, resumed) = work(&dir, "one", 99);
    assert_eq!((came.done, came.left, done), (4, 0, 4));
    let (came, done, again) = work(&dir, "one", 99);
    assert_eq!((came, done), (WorkSummary::default(), 0));
    let other = folder("resume-other");
    let (.., whole) = work(&other, "one", 99);
    assert_eq!(resumed, whole, "an interruption leaves no trace in the rows");
    assert_eq!(again, whole, "the store gives back the very numbers");
}

#[test]
fn another_build_finds_nothing() {
    let dir = folder("build");
    assert_eq!(work(&dir, "one", 99).1, 6);
    assert_eq!(work(&dir, "two", 99).1, 6);
    assert_eq!(work(&dir, "one", 99).1, 0);
}
