//! A lab's property, written down before it is made: after a crash, any later process can remove it.
//!
//! The lab holds a lock on its file while it lives; a file without a lock is what a crash left.

use crate::error::LabError;
use crate::namespace;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The directory of the files.
const STATE: &str = "/run/airbraid";

/// A lab's file: the names of its namespaces, a line each. Dropped, it removes them and itself.
#[derive(Debug)]
pub struct State {
    path: PathBuf,
    file: File,
    namespaces: Vec<String>,
}

impl State {
    /// Begins the lab called `name`.
    ///
    /// # Errors
    /// It runs already, or an earlier one of this name was not cleaned up.
    pub fn begin(name: &str) -> Result<Self, LabError> {
        fs::create_dir_all(STATE).map_err(LabError::io(STATE))?;
        let path = Path::new(STATE).join(format!("{name}.lab"));
        let file = File::create_new(&path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => LabError::Input(format!(
                "a lab called {name} runs already, or has left its traces in {}: wait for it, or `airbraid lab --clean`",
                path.display()
            )),
            _ => LabError::Failed(format!("{}: {error}", path.display())),
        })?;
        file.try_lock().map_err(|error| LabError::Failed(format!("{}: {error}", path.display())))?;
        Ok(Self { path, file, namespaces: Vec::new() })
    }

    /// Notes a namespace that is about to be made.
    ///
    /// # Errors
    /// The disk is full.
    pub fn note(&mut self, namespace: &str) -> Result<(), LabError> {
        self.namespaces.push(namespace.to_owned());
        writeln!(self.file, "{namespace}").and_then(|()| self.file.flush()).map_err(LabError::io(self.path.display()))
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if remove_all(&self.namespaces).is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes namespaces with everything in them, and returns errors.
fn remove_all(namespaces: &[String]) -> Vec<String> {
    end_processes(namespaces);
    let mut stay = Vec::new();
    for name in namespaces {
        if let Err(error) = namespace::remove(name) {
            stay.push(format!("{name}: {error}"));
        }
        let _ = fs::remove_dir_all(namespace::files(name));
    }
    // Others may have namespaces of their own there.
    let _ = fs::remove_dir("/etc/netns");
    stay
}

/// Ends every process in the namespaces: kindly, then not.
fn end_processes(namespaces: &[String]) {
    for (signal, patience) in [(Signal::SIGTERM, 20), (Signal::SIGKILL, 20)] {
        for round in 0..=patience {
            let left: Vec<i32> = namespaces.iter().flat_map(|name| namespace::processes(name)).collect();
            if left.is_empty() {
                return;
            }
            for pid in left.iter().filter(|_| round == 0) {
                // It may have ended by itself.
                let _ = kill(Pid::from_raw(*pid), signal);
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }
}

/// Removes the remains of labs that no longer live; returns the removed and the living labs.
///
/// # Errors
/// Something would not go.
pub fn clean() -> Result<Vec<String>, LabError> {
    let mut said = Vec::new();
    let Ok(entries) = fs::read_dir(STATE) else { return Ok(said) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "lab"));
    paths.sort();
    for path in paths {
        let mut file = match File::open(&path) {
            // It has ended in the meantime.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened.map_err(LabError::io(path.display()))?,
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                said.push(format!("{name}: runs, left alone"));
                continue;
            }
            Err(TryLockError::Error(error)) => return Err(LabError::io(path.display())(error)),
            // It was open here when the lab ended and removed it.
            Ok(()) if !path.exists() => continue,
            Ok(()) => {}
        }
        let mut text = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut text)).map_err(LabError::io(path.display()))?;
        let namespaces: Vec<String> = text.lines().map(str::to_owned).collect();
        let stay = remove_all(&namespaces);
        if !stay.is_empty() {
            return Err(LabError::Failed(format!("{name}: {}", stay.join("; "))));
        }
        fs::remove_file(&path).map_err(LabError::io(path.display()))?;
        said.push(format!("{name}: removed {} namespaces", namespaces.len()));
    }
    Ok(said)
}
