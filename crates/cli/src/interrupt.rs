//! Ctrl-C: the first asks for a clean stop, the second ends the process.

use crate::print::{INTERRUPTED, note};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The flag that Ctrl-C (and a polite `kill`) sets.
pub fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    Arc::clone(FLAG.get_or_init(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&stop);
        // Without a handler Ctrl-C ends the process at once, which loses nothing that was kept either.
        let _ = ctrlc::set_handler(move || {
            if heard.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(INTERRUPTED));
            }
            note("stopping; once more ends at once");
        });
        stop
    }))
}
