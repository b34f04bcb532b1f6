//! The result of a statement, batch by batch; calls block and can be stopped. Not running it (see `run`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use futures::future::AbortHandle;

use crate::error::{Error, ErrorKind, Result};
use crate::threads::Thread;

/// How often a waiting caller looks at the interrupt flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a caller waits for a statement to stop before it gives up.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// What the thread of a statement sends.
pub(super) enum Message {
    Planned {
        schema: SchemaRef,
        times: Vec<bool>,
        /// Names of the parameters of the statement, and of the views that it reads.
        used: Vec<String>,
    },
    Batch(RecordBatch),
    Failed(Error),
    Done,
}

/// The result of a statement: batches as they are made. Dropping it stops the statement.
pub struct ResultStream {
    schema: SchemaRef,
    times: Vec<bool>,
    params: Vec<String>,
    messages: Option<Receiver<Message>>,
    abort: AbortHandle,
    worker: Option<Thread<()>>,
    interrupt: Arc<AtomicBool>,
}

impl std::fmt::Debug for ResultStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResultStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl ResultStream {
    /// Waits until the statement is planned.
    pub(super) fn start(
        messages: Receiver<Message>,
        abort: AbortHandle,
        worker: Thread<()>,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self> {
        let first = Self::wait(&messages, &interrupt);
        let (schema, times, params) = match &first {
            Message::Planned { schema, times, used } => (Arc::clone(schema), times.clone(), used.clone()),
            _ => (Arc::new(Schema::empty()), Vec::new(), Vec::new()),
        };
        // The stream stops the statement when it is dropped, also after an error.
        let (messages, worker) = (Some(messages), Some(worker));
        let stream = Self { schema, times, params, messages, abort, worker, interrupt };
        match first {
            Message::Planned { .. } => Ok(stream),
            Message::Failed(error) => Err(error),
            _ => Err(Error::new(ErrorKind::Bug, "a statement gave rows before it was planned")),
        }
    }

    /// The columns of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// For every column: does it hold times, in ticks? Derived from table columns through expressions.
    pub fn times(&self) -> &[bool] {
        &self.times
    }

    /// The names of the parameters that the statement has, without `$`, also through views.
    pub fn params(&self) -> &[String] {
        &self.params
    }

    /// Waits for the next message; checks the interrupt flag from time to time.
    fn wait(messages: &Receiver<Message>, interrupt: &AtomicBool) -> Message {
        loop {
            if interrupt.load(Ordering::Relaxed) {
                return Message::Failed(Error::interrupted());
            }
            match messages.recv_timeout(POLL_INTERVAL) {
                Ok(message) => return message,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Message::Failed(Error::new(
                        ErrorKind::Bug,
                        "the thread of the statement vanished",
                    ));
                }
            }
        }
    }

    /// Stops the statement and waits until its thread has ended, so that its files are closed. Waits at most
    /// [`STOP_TIMEOUT`]: some operators, e.g. joins without a key, notice a stop only after much work.
    fn stop(&mut self) {
        self.abort.abort();
        self.messages = None;
        let begun = Instant::now();
        if let Some(worker) = self.worker.take() {
            while !worker.has_ended() && begun.elapsed() < STOP_TIMEOUT {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Iterator for ResultStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = match Self::wait(self.messages.as_ref()?, &self.interrupt) {
            Message::Batch(batch) => return Some(Ok(batch)),
            Message::Failed(error) => Some(Err(error)),
            Message::Done => {
                // The thread has sent its last message and catches every panic: there is no error to report.
                self.worker.take().map(Thread::join);
                None
            }
            Message::Planned { .. } => Some(Err(Error::new(ErrorKind::Bug, "a statement was planned twice"))),
        };
        self.stop();
        item
    }
}

impl Drop for ResultStream {
    fn drop(&mut self) {
        self.stop();
    }
}
