//! Ctrl-C: the first asks for a clean stop, the second ends the process. Neither leaves half a result behind.

use crate::print::{INTERRUPTED, note};
#[cfg(feature = "simulator")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Directories that are being filled.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes a directory that is being filled if the process is ended before it has got its name.
#[cfg(feature = "simulator")]
pub fn remove_at_exit(path: &Path) {
    if let Ok(mut unfinished) = UNFINISHED.lock() {
        unfinished.push(path.to_owned());
    }
}

/// The flag that Ctrl-C (and a polite `kill`) sets.
pub fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    Arc::clone(FLAG.get_or_init(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&stop);
        // Without a handler Ctrl-C ends the process at once, which loses nothing that was kept either.
        let _ = ctrlc::set_handler(move || {
            if heard.swap(true, Ordering::Relaxed) {
                if let Ok(unfinished) = UNFINISHED.lock() {
                    unfinished.iter().for_each(|path| drop(std::fs::remove_dir_all(path)));
                }
                std::process::exit(i32::from(INTERRUPTED));
            }
            note("stopping; once more ends at once");
        });
        stop
    }))
}
