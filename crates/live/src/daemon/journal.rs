//! The daemon's notes: `/run/airbraid` says that it runs, and has its socket; `/var/lib/airbraid` has its changes
//! outside its own interface. After a crash or a loss of power, any later process can restore them.
//!
//! The interface, its addresses and the routes through it need no note: they are gone with the process that holds them
//! open.

use super::note_files::{FOLDER, file, gateway as gateway_note, kept, routing as routing_note, socket};
use super::{dns, gateway, routing};
use crate::error::LabError;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

/// A daemon's note, locked while it lives. Dropped, it undoes the noted changes and is removed.
#[derive(Debug)]
pub struct Journal {
    name: String,
    _lock: File,
}

impl Journal {
    /// Begins a daemon's note; the remains of an earlier one are cleaned.
    ///
    /// # Errors
    /// One of this name runs, or the system refuses.
    pub fn begin(name: &str) -> Result<Self, LabError> {
        fs::create_dir_all(FOLDER).map_err(LabError::io(FOLDER))?;
        let path = file(name, "up");
        let mut lock = File::options().create(true).append(true).open(&path).map_err(LabError::io(path.display()))?;
        match patiently(|| lock.try_lock()) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let how = format!("`airbraid down {name}` ends it, `airbraid status {name}` shows it");
                return Err(LabError::Input(format!("{name} is up already: {how}")));
            }
            Err(TryLockError::Error(error)) => return Err(LabError::io(path.display())(error)),
        }
        undo(name)?;
        lock.set_len(0)
            .and_then(|()| writeln!(lock, "{}", std::process::id()))
            .map_err(LabError::io(path.display()))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).map_err(LabError::io(path.display()))?;
        Ok(Self { name: name.to_owned(), _lock: lock })
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if undo(&self.name).is_ok() {
            let _ = fs::remove_file(file(&self.name, "up"));
        }
    }
}

/// Tries for a lock, and once more a moment later: a process that was killed keeps its own until it is fully gone.
fn patiently(lock: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    lock().or_else(|_| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        lock()
    })
}

/// Undoes the changes of a daemon that no longer lives.
fn undo(name: &str) -> Result<(), LabError> {
    let _ = fs::remove_file(socket(name));
    dns::restore(name)?;
    gateway::undo(&gateway_note(name))?;
    routing::undo(&routing_note(name))
}

/// Whether a daemon that no longer lives has left something; cleans it then.
///
/// # Errors
/// Something would not go.
pub fn clean(name: &str) -> Result<bool, LabError> {
    let path = file(name, "up");
    let Ok(lock) = File::open(&path) else {
        // After a loss of power nothing tells that it ran but what it has kept.
        let is_left = kept(name).iter().any(|kept| kept.exists());
        return if is_left { undo(name).map(|()| true) } else { Ok(false) };
    };
    if patiently(|| lock.try_lock()).is_err() {
        return Ok(false);
    }
    undo(name)?;
    fs::remove_file(&path).map_err(LabError::io(path.display()))?;
    Ok(true)
}

/// The names of all daemons that run, or have left something.
pub fn names() -> Vec<String> {
    let Ok(entries) = fs::read_dir(FOLDER) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let ups = paths.filter(|path| path.extension().is_some_and(|extension| extension == "up"));
    let mut names: Vec<String> = ups.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    names
}
