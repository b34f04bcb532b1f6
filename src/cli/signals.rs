//! Ctrl-C: the first one asks the operation to stop, the second one ends the process at once. Both are safe,
//! because nothing is visible in a database before its commit. In the shell, each one stops what is running.

use crate::ops::Control;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A control that Ctrl-C (or a termination signal) cancels.
pub(super) fn control() -> Arc<Control> {
    let control = Arc::new(Control::default());
    let (pressed, handled) = (AtomicBool::new(false), Arc::clone(&control));
    // A second handler cannot be installed; then Ctrl-C ends the process, which is safe too.
    let _ = ctrlc::set_handler(move || {
        if pressed.swap(true, Ordering::SeqCst) {
            #[expect(clippy::exit, clippy::disallowed_methods, reason = "the user asked twice")]
            std::process::exit(130);
        }
        handled.cancel();
    });
    control
}

/// A flag that Ctrl-C sets, and only its owner clears.
pub(super) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let handled = Arc::clone(&flag);
    // Without a handler Ctrl-C ends the process, which is safe too.
    let _ = ctrlc::set_handler(move || handled.store(true, Ordering::SeqCst));
    flag
}
