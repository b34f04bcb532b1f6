//! Ends the process at once, without the files that are not complete: when the user does not want to wait,
//! and when the memory is used up. A database stays as it was before its next commit, or after it. Not the
//! ordinary end (see [`super::run`]).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Results that are being written, and appear under their names when they are complete.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on, this file goes with the process.
pub(super) fn begun(file: &Path) {
    unfinished().push(file.to_owned());
}

/// The file is complete, or gone.
pub(super) fn ended(file: &Path) {
    unfinished().retain(|other| other != file);
}

/// Ends the process.
#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "what is running cannot stop, or not soon enough"
)]
pub(super) fn now(code: i32) -> ! {
    for file in unfinished().drain(..) {
        // It was never promised.
        let _ = std::fs::remove_file(file);
    }
    std::process::exit(code)
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
