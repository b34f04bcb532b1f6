//! The threads that plan and run the statements of a session. Not for what they run.

use std::ops::Deref;

use tokio::runtime::{self, Builder, Handle};

use super::sql::MAX_DEPTH;
use crate::error::{Error, ErrorKind, Result};
use crate::threads;

/// Stack of the threads that plan and run statements of [`MAX_DEPTH`] levels: deep expressions recurse.
pub(super) const STACK: usize = 16 << 20;

/// Stack of the threads that plan and run statements of so many levels.
pub(super) fn stack_for(depth: usize) -> usize {
    STACK.max((STACK / MAX_DEPTH).saturating_mul(depth))
}

/// A thread pool that does not wait at its end: an operator notices late that its statement was stopped.
pub(super) struct Runtime {
    handle: Handle,
    /// Of each thread.
    stack: usize,
    runtime: Option<runtime::Runtime>,
}

impl Runtime {
    /// `stack`: of each thread, in bytes.
    pub fn start(threads: usize, stack: usize) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("btfdb-engine")
            .thread_stack_size(stack)
            .build()
            .map_err(|e| {
                Error::new(ErrorKind::Io, "cannot start the threads of the query engine").because(e)
            })?;
        Ok(Self { handle: runtime.handle().clone(), stack, runtime: Some(runtime) })
    }

    /// Bytes of the stack of each thread.
    pub fn stack(&self) -> usize {
        self.stack
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
            threads::end(runtime);
        }
    }
}
