//! What a long operation shares with its watcher: progress counters, and the request to stop. Draws nothing.

use crate::error::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Shared between the threads of an operation and its watcher.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: Arc<AtomicBool>,
    done: AtomicU64,
    total: AtomicU64,
    rows: AtomicU64,
    stage: Mutex<String>,
}

/// The progress of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The current stage, e.g. `reading engine`.
    pub stage: String,
    /// Work done and to do: bytes while reading, rows while mapping; 0 of 0 if unknown.
    pub done: u64,
    /// See `done`.
    pub total: u64,
    /// Rows so far in this stage.
    pub rows: u64,
}

impl Control {
    /// For one of several operations at once: it stops with this one, and its progress is its own.
    pub(super) fn apart(&self) -> Self {
        Self { cancelled: Arc::clone(&self.cancelled), ..Self::default() }
    }

    /// An operation that stops soon after `flag` becomes true.
    #[cfg(feature = "engine")]
    pub(crate) fn stopped_by(flag: &Arc<AtomicBool>) -> Self {
        Self { cancelled: Arc::clone(flag), ..Self::default() }
    }

    /// Asks the operation to stop at the next chunk; nothing is committed then.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// # Errors
    /// [`ErrorKind::Interrupted`] after [`Control::cancel`].
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted; the database is as it was"));
        }
        Ok(())
    }

    /// The flag itself, for code that does not know this type.
    pub fn flag_shared(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Begins a stage of `total` units of work; 0 if unknown.
    pub fn begin(&self, stage: impl Into<String>, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.rows.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        if let Ok(mut s) = self.stage.lock() {
            *s = stage.into();
        }
    }

    /// Reports work done and rows made since the last call.
    pub fn advance(&self, work: u64, rows: u64) {
        self.done.fetch_add(work, Ordering::Relaxed);
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    /// The progress so far.
    pub fn progress(&self) -> Progress {
        Progress {
            stage: self.stage.lock().map(|s| s.clone()).unwrap_or_default(),
            done: self.done.load(Ordering::Relaxed),
            total: self.total.load(Ordering::Relaxed),
            rows: self.rows.load(Ordering::Relaxed),
        }
    }
}
