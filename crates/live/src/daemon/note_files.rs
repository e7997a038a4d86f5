//! The places of the daemon's notes, and whether the daemon of one lives.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Directory of the daemons' notes.
pub const FOLDER: &str = "/run/airbraid";
/// Directory of files that must survive a loss of power.
const LASTING: &str = "/var/lib/airbraid";

/// The file of a daemon.
pub fn file(name: &str, what: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{name}.{what}"))
}

/// The control socket of a daemon.
pub fn socket(name: &str) -> PathBuf {
    file(name, "sock")
}

/// The places of the copy of the system's name servers while the daemon runs: one that survives a loss of power, and,
/// if that cannot be written, one that does not.
pub fn kept(name: &str) -> [PathBuf; 2] {
    [Path::new(LASTING).join(format!("{name}.resolv")), file(name, "resolv")]
}

/// Whether a daemon of this name runs.
pub fn lives(name: &str) -> bool {
    File::open(file(name, "up")).is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// The file that notes a daemon's changes of the host's routing.
pub fn routing(name: &str) -> PathBuf {
    file(name, "routing")
}

/// The file of a daemon's history, which survives a loss of power.
pub fn history(name: &str) -> PathBuf {
    Path::new(LASTING).join(format!("{name}.history"))
}

/// The file that notes a daemon's changes as a gateway.
pub fn gateway(name: &str) -> PathBuf {
    file(name, "gateway")
}

/// The file of the bytes that uplinks have carried in their months, which survives a loss of power.
pub fn months(name: &str) -> PathBuf {
    Path::new(LASTING).join(format!("{name}.months"))
}

/// The network namespace of this thread.
pub fn namespace() -> u64 {
    fs::metadata("/proc/thread-self/ns/net").map_or(0, |namespace| namespace.ino())
}
