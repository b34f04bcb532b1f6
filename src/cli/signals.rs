//! Ctrl-C and other signals that end a program. The first one asks the command to stop, and ends the process
//! when that takes long; the second one ends it at once. Both are safe, because nothing is visible in a
//! database before its commit. In the shell, Ctrl-C stops what is running, and the others end it.

use super::exit;
use crate::ops::Control;
use crate::threads::Thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

/// How long a command may take to stop: it may wait for a lock, a network, or whoever reads its output.
const PATIENCE: Duration = Duration::from_millis(800);

/// The exit code of a command that was interrupted.
pub(super) const INTERRUPTED: u8 = 130;

/// A control that Ctrl-C (or a termination signal) cancels.
pub(super) fn control() -> Arc<Control> {
    let control = Arc::new(Control::default());
    let (pressed, handled) = (AtomicBool::new(false), Arc::clone(&control));
    // A second handler cannot be installed; then Ctrl-C ends the process, which is safe too.
    let _ = ctrlc::set_handler(move || {
        if pressed.swap(true, Ordering::SeqCst) {
            exit::now(INTERRUPTED.into());
        }
        handled.cancel();
        // Without the thread, the next signal ends the process.
        let _ = Thread::start(Builder::new().name("btfdb-signal".into()), || {
            std::thread::sleep(PATIENCE);
            exit::now(INTERRUPTED.into());
        });
    });
    control
}

/// A flag that Ctrl-C or a termination signal sets. The second one ends the process.
pub(super) fn end_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let _ =
            signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&flag));
        // Without a handler the signal ends the process, which is safe too.
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    #[cfg(not(unix))]
    let handled = Arc::clone(&flag);
    #[cfg(not(unix))]
    let _ = ctrlc::set_handler(move || {
        if handled.swap(true, Ordering::SeqCst) {
            exit::now(INTERRUPTED.into());
        }
    });
    flag
}

/// A flag that Ctrl-C sets, and only its owner clears.
pub(super) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    // Without a handler Ctrl-C ends the process, which is safe too.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&flag));
    #[cfg(not(unix))]
    let handled = Arc::clone(&flag);
    #[cfg(not(unix))]
    let _ = ctrlc::set_handler(move || handled.store(true, Ordering::SeqCst));
    flag
}
