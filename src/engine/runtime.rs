//! The threads that plan and run the statements of a session. Not for what they run.

use std::ops::Deref;

use tokio::runtime::{self, Builder, Handle};

use crate::error::{Error, ErrorKind, Result};

/// Stack of the threads that plan and run statements: deep expressions recurse.
pub(super) const STACK: usize = 16 << 20;

/// A thread pool that does not wait at its end: an operator notices late that its statement was stopped.
pub(super) struct Runtime {
    handle: Handle,
    runtime: Option<runtime::Runtime>,
}

impl Runtime {
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

impl Deref for Runtime {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
