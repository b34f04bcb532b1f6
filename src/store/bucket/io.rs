//! The threads that talk to an object store. Callers wait for them, on whatever thread they are. Not for what
//! is said.

use std::sync::mpsc;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::error::{Error, ErrorKind, Result};
use crate::threads;

/// Threads that wait for the network.
const THREADS: usize = 2;

/// A thread pool that does not wait at its end.
#[derive(Debug)]
pub(super) struct Io(Option<Runtime>);

impl Io {
    pub(super) fn start() -> Result<Self> {
        let built = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("btfdb-remote")
            .enable_all()
            .build();
        let failed = |e| Error::new(ErrorKind::Io, "cannot start the threads of the object store").because(e);
        Ok(Self(Some(built.map_err(failed)?)))
    }

    /// Runs `work` there, for a task of another runtime.
    pub(super) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<JoinHandle<T>> {
        self.0.as_ref().map(|runtime| runtime.spawn(work)).ok_or_else(stopped)
    }

    /// Runs `work` there and waits for it. Another runtime may be running this thread: that one does not
    /// help, so that waiting for it here cannot lock up.
    pub(super) fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawn(async move {
            // Nobody waits any more when sending fails.
            let _ = sender.send(work.await);
        })?;
        receiver.recv().map_err(|e| stopped().because(e))
    }
}

fn stopped() -> Error {
    Error::new(ErrorKind::Bug, "a request to the object store was given up")
}

impl Drop for Io {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            threads::end(runtime);
        }
    }
}
