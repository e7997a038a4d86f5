//! Reproductions of papers, as `airbraid reproduce` has them.

use crate::error::{Kind, json};
use airbraid_campaign::reproduce::{Library, Reproduction, WorkSummary};
use airbraid_campaign::store::{Build, Store};
use airbraid_campaign::{Failure, Recorded, Settings, output, page, simulate};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Interval at which the interpreter checks for signals and is told of progress while other threads work.
const LOOK_UP: Duration = Duration::from_millis(100);

/// The papers that can be reproduced.
#[pyfunction]
pub fn papers() -> Vec<String> {
    Library::embedded().papers()
}

/// Reproduces a paper. Gives the object of `airbraid reproduce --json`, and a message for the user.
///
/// `progress` is called with runs done and runs to do; `jobs`: threads, 0 as many as cores.
#[pyfunction]
#[pyo3(signature = (paper, only, quick, jobs, store, out, progress))]
#[expect(
    clippy::too_many_arguments,
    reason = "the options of the command, by name; Python's own signature has defaults"
)]
pub fn reproduce(
    py: Python<'_>,
    paper: &str,
    only: Vec<String>,
    quick: bool,
    jobs: usize,
    store: Option<PathBuf>,
    out: Option<PathBuf>,
    progress: Py<PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let prepared = py.detach(|| Reproduction::prepare(&Library::embedded(), paper, &only, quick));
    let mut reproduction = prepared.map_err(|e| Kind::Argument.with(&e))?;
    if let Some(dir) = &out {
        output::check_target(dir).map_err(|e| Kind::Argument.with(&format!("{}: {e}", dir.display())))?;
    }
    let mut notes = Vec::new();
    let mut store = store.map(|dir| open(&dir, &mut notes)).transpose()?;
    if let Some(store) = &store {
        let recalled = reproduction.runs.recall(store).map_err(|e| Kind::Store.with(&e.to_string()))?;
        if recalled.damaged > 0 {
            notes.push(format!("{} results do not fit their checksums; they are computed again", recalled.damaged));
        }
    }
    let came = work(py, &mut reproduction, store.as_mut(), jobs, &progress)?;
    notes.extend(came.unkept.map(|why| format!("results are no longer kept: {why}")));
    let rows = py.detach(|| reproduction.conclude());
    if let Some(dir) = &out {
        let files = page::files(&reproduction, &rows, &Build::this());
        output::write_files(dir, &files).map_err(|e| Kind::Run.with(&format!("{}: {e}", dir.display())))?;
    }
    Ok((json(&rows)?, notes))
}

fn open(dir: &Path, notes: &mut Vec<String>) -> PyResult<Store> {
    let (store, said) = Store::open(dir, Build::this()).map_err(|e| Kind::Store.with(&e.to_string()))?;
    notes.extend(said);
    Ok(store)
}

/// Does what waits on threads of its own, while this one listens to the interpreter.
fn work(
    py: Python<'_>,
    reproduction: &mut Reproduction,
    store: Option<&mut Store>,
    jobs: usize,
    progress: &Py<PyAny>,
) -> PyResult<WorkSummary> {
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let waiting = reproduction.runs.waiting();
    let settings = Settings { jobs, recorded: Recorded::default(), stop: &stop };
    let count = |_, share: f64| {
        if share >= 1.0 {
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    let listen = || {
        Python::attach(|py| {
            py.check_signals()?;
            progress.call1(py, (done.load(Ordering::Relaxed).min(waiting), waiting)).map(|_| ())
        })
    };
    let (came, heard) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let (runs, settings, count) = (&mut reproduction.runs, &settings, &count);
            scope.spawn(move || sender.send(runs.work(settings, store, &simulate, count)));
            let mut heard = Ok(());
            loop {
                match receiver.recv_timeout(LOOK_UP) {
                    Ok(came) => break (came, heard.and_then(|()| listen())),
                    Err(RecvTimeoutError::Disconnected) => {
                        break (Err(Failure::Threads("the thread broke".to_owned())), heard);
                    }
                    Err(RecvTimeoutError::Timeout) if heard.is_ok() => heard = listen(),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if heard.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        })
    });
    heard?;
    came.map_err(|failure| Kind::Run.with(&failure.to_string()))
}
