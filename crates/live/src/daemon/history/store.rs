//! The file of the history, written by a thread of its own: a slow disk does not stop the loop.

use super::file::{MAGIC, Record, read};
use airbraid_units::{Duration, Instant};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// Interval of the writes: a crash loses as much, and 48 writes a day wear no flash.
pub const PAUSE: Duration = Duration::from_secs(1_800);
/// Bytes by which a file may outgrow twice its necessary length before it is written again.
pub const SLACK: usize = 64 << 10;
/// Longest file that is read \[byte\]: more than any that was written by this code
/// (`tests::the_file_is_bounded`).
pub const FILE_MAX: u64 = 6 << 20;

#[derive(Debug)]
enum Job {
    Append(Vec<u8>),
    Replace(Vec<u8>),
}

/// The file of a history.
#[derive(Debug)]
pub struct Store {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
    next: Instant,
    /// Length of the file, and of its last complete writing \[byte\].
    length: usize,
    written: usize,
    /// Whether the last write has failed: then the file is written as a whole.
    has_failed: Arc<AtomicBool>,
}

/// Reads a file; returns its intact records, and what is wrong with it.
pub fn load(path: &Path) -> (Vec<Record>, Option<String>) {
    let mut bytes = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes));
    match opened {
        Ok(_) if bytes.len() as u64 > FILE_MAX => {
            (Vec::new(), Some(format!("{} is longer than {FILE_MAX} byte", path.display())))
        }
        Ok(_) => {
            let (records, lost) = read(&bytes);
            let why = || format!("the last {lost} of {} byte of {} cannot be read", bytes.len(), path.display());
            (records, (lost > 0 || bytes.is_empty()).then(why))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => (Vec::new(), None),
        Err(error) => (Vec::new(), Some(format!("{}: {error}", path.display()))),
    }
}

impl Store {
    /// Begins the thread. The first write replaces the file, and so mends a damaged one.
    pub fn start(path: &Path) -> Option<Self> {
        let (jobs, inbox) = channel::<Job>();
        let has_failed = Arc::new(AtomicBool::new(true));
        let (path, failed) = (path.to_path_buf(), Arc::clone(&has_failed));
        let thread = std::thread::Builder::new().name("history".to_owned()).spawn(move || {
            let mut is_told = false;
            for job in inbox {
                let done = carry_out(&path, &job);
                failed.store(done.is_err(), Ordering::Relaxed);
                if let Some(error) = done.as_ref().err().filter(|_| !is_told) {
                    tracing::warn!(path = %path.display(), %error, "the history cannot be written; it is tried again");
                }
                is_told = done.is_err();
            }
        });
        let thread = thread.map_err(|error| tracing::warn!(%error, "the history is not written")).ok()?;
        Some(Self { jobs, thread, next: Instant::ZERO + PAUSE, length: 0, written: 0, has_failed })
    }

    /// Whether it is time to write.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next = now + PAUSE;
        }
        is_due
    }

    /// Whether the file is to be written as a whole rather than `more` bytes appended.
    pub fn is_full(&self, more: usize) -> bool {
        self.has_failed.load(Ordering::Relaxed) || self.length + more > 2 * self.written + SLACK
    }

    /// Appends to the file.
    pub fn append(&mut self, bytes: Vec<u8>) {
        self.length += bytes.len();
        // The thread ends with this sender only.
        let _ = self.jobs.send(Job::Append(bytes));
    }

    /// Writes the file again.
    pub fn replace(&mut self, bytes: Vec<u8>) {
        (self.length, self.written) = (bytes.len(), bytes.len());
        self.has_failed.store(false, Ordering::Relaxed);
        let _ = self.jobs.send(Job::Replace(bytes));
    }

    /// Writes the file for the last time, and waits for it.
    pub fn end(mut self, bytes: Vec<u8>) {
        self.replace(bytes);
        drop(self.jobs);
        let _ = self.thread.join();
    }
}

fn carry_out(path: &Path, job: &Job) -> io::Result<()> {
    match job {
        Job::Append(bytes) => {
            let mut file = OpenOptions::new().append(true).open(path)?;
            // One that another has emptied is no history any more.
            if file.metadata()?.len() < MAGIC.len() as u64 {
                return Err(ErrorKind::InvalidData.into());
            }
            file.write_all(bytes)
        }
        Job::Replace(bytes) => replace(path, bytes),
    }
}

/// Writes a file of root's alone, so that a loss of power leaves either the old or the new.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = path.with_added_extension("new");
    let _ = fs::remove_file(&fresh);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written?;
    // The folder has the name: without this a loss of power may bring the old file back.
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
impl Store {
    /// Waits for what was given to it, and writes nothing more: as after a kill.
    pub fn abandon(self) {
        drop(self.jobs);
        let _ = self.thread.join();
    }
}
