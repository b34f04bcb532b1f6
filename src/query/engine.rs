//! The threads that plan and run the statements of a session. Not for what they run.

use std::ops::Deref;

use tokio::runtime::{Builder, Handle, Runtime};

use super::session::STACK;
use crate::error::{Error, ErrorKind, Result};

/// Threads that are not waited for: a statement that was stopped may still be inside a step that looks up only at its end,
/// and nobody who leaves wants to wait for that.
pub(super) struct Engine {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl Engine {
    /// So many threads.
    pub fn start(threads: usize) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("btfdb-engine")
            .thread_stack_size(STACK)
            .build()
            .map_err(|e| {
                Error::new(ErrorKind::Io, "cannot start the threads of the query engine").because(e)
            })?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }
}

impl Deref for Engine {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
