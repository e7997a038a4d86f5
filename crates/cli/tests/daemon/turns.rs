//! Tests run side by side, but for those that load the machine: what these measure would be of the others too.

use std::cell::RefCell;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MACHINE: RwLock<()> = RwLock::new(());

#[expect(dead_code, reason = "held, and not read")]
enum Turn {
    Shared(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

thread_local! {
    /// The turn of this thread's test; it ends with the thread.
    static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

/// Whether daemons can be run here, as [`crate::root::can_run`]; while a test that is alone runs, it waits.
pub fn can_run(test: &str) -> bool {
    take(test, || Turn::Shared(MACHINE.read().unwrap_or_else(PoisonError::into_inner)))
}

/// The same, for a test beside which no other may run.
pub fn can_run_alone(test: &str) -> bool {
    take(test, || Turn::Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner)))
}

fn take(test: &str, turn: impl FnOnce() -> Turn) -> bool {
    let can_run = crate::root::can_run(test);
    TURN.take();
    if can_run {
        TURN.set(Some(turn()));
    }
    can_run
}
