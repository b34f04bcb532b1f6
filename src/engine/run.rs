//! Runs one statement on a thread of its own and hands its batches out one by one: blocking, stoppable, and with
//! panics of the engine turned into errors. Not for what the statement says.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{DataFusionError, ParamValues, ScalarValue};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use futures::future::{AbortHandle, Abortable};

use super::failure;
use super::operators::Trust;
use super::plan::plan;
use super::runtime::{Runtime, STACK};
use super::session::Session;
use super::statement::{Statement, split};
use super::time_columns::times;
use crate::error::{Error, ErrorKind, Result};

/// How often a waiting caller looks at the interrupt flag.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long a statement that is stopped may take to end before it is left behind.
const FAREWELL: Duration = Duration::from_millis(500);
/// Batches that may wait for the caller.
const AHEAD: usize = 2;

/// The value of a parameter, written `$NAME` in SQL.
#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    /// An integer; times are ticks.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
    /// NULL, of any type.
    Null,
}

impl From<i64> for Param {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Param {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<Param> for ScalarValue {
    fn from(value: Param) -> Self {
        match value {
            Param::Int(i) => Self::Int64(Some(i)),
            Param::Float(f) => Self::Float64(Some(f)),
            Param::Text(t) => Self::Utf8View(Some(t)),
            Param::Null => Self::Null,
        }
    }
}

/// What the thread of a statement sends.
enum Message {
    Planned { schema: SchemaRef, times: Vec<bool> },
    Batch(RecordBatch),
    Failed(Error),
    Done,
}

/// The result of a statement: batches as they are made. Dropping it stops the statement.
pub struct ResultStream {
    schema: SchemaRef,
    times: Vec<bool>,
    messages: Option<Receiver<Message>>,
    abort: AbortHandle,
    worker: Option<JoinHandle<()>>,
    interrupt: Arc<AtomicBool>,
}

impl std::fmt::Debug for ResultStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResultStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl ResultStream {
    /// The columns of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// For every column: does it hold times, in ticks? Followed from the columns of the tables through expressions.
    pub fn times(&self) -> &[bool] {
        &self.times
    }

    /// Waits for the next message, looking at the interrupt flag.
    fn wait(messages: &Receiver<Message>, interrupt: &AtomicBool) -> Message {
        loop {
            if interrupt.load(Ordering::Relaxed) {
                return Message::Failed(Error::interrupted());
            }
            match messages.recv_timeout(PATIENCE) {
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

    /// Stops the statement and waits for it, so that its files are closed before the caller goes on; but not for long:
    /// some steps, joins without a key for example, look up only at the end of much work.
    fn stop(&mut self) {
        self.abort.abort();
        self.messages = None;
        let begun = Instant::now();
        if let Some(worker) = self.worker.take() {
            while !worker.is_finished() && begun.elapsed() < FAREWELL {
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
                // The thread is at its end, and catches every panic: there is no result to look at.
                self.worker.take().map(JoinHandle::join);
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

impl Session {
    /// Runs a text that holds exactly one statement. `$NAME` in it stands for the parameter of that name.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no statement or more than one, otherwise as [`Session::run`].
    pub fn sql(&self, text: &str, params: &[(&str, Param)]) -> Result<ResultStream> {
        self.sql_in(self.context(), text, params)
    }

    /// [`Session::sql`] for all rows of a table: a sort of them goes by way of the disk before it takes much memory, if the
    /// session has a limit. There is one scan at a time.
    pub(crate) fn sql_sparing(&self, text: &str, params: &[(&str, Param)]) -> Result<ResultStream> {
        self.sql_in(&self.sparing(), text, params)
    }

    /// [`Session::sql`] for a statement whose rows may be thrown away: the rows of a process are taken to be in the order of its
    /// instances, and the statement fails with an error [`is_out_of_order`](failure::is_out_of_order) where they are not.
    pub(crate) fn sql_trusting(
        &self,
        trust: Trust,
        text: &str,
        params: &[(&str, Param)],
    ) -> Result<ResultStream> {
        self.sql_in(&self.trusting(trust), text, params)
    }

    /// The first column of a result, as strings, sorted, so that suggestions are always the same; NULL is left out. For names,
    /// of which there are few.
    pub(crate) fn names(&self, text: &str, params: &[(&str, Param)]) -> Result<Vec<String>> {
        let bug = |e| Error::new(ErrorKind::Bug, "a name in a result is not a string").because(e);
        let mut names = Vec::new();
        for batch in self.sql(text, params)? {
            let column = cast(batch?.column(0), &DataType::Utf8View).map_err(bug)?;
            names.extend(column.as_string_view().iter().flatten().map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }

    pub(super) fn sql_in(
        &self,
        context: &SessionContext,
        text: &str,
        params: &[(&str, Param)],
    ) -> Result<ResultStream> {
        match split(text)?.as_slice() {
            [one] => self.run_in(context, one, params, None),
            [] => Err(Error::usage("there is no SQL statement to run")),
            more => Err(Error::usage(format!("expected one SQL statement, found {}", more.len()))),
        }
    }

    /// Runs a statement; returns when it is planned, so that errors in the SQL come from here.
    ///
    /// # Errors
    /// [`ErrorKind::Query`] with the place in the SQL when it cannot be planned; [`ErrorKind::Database`] when a
    /// file is missing or damaged; [`ErrorKind::Limit`] when memory runs out; [`ErrorKind::Interrupted`]. The
    /// stream has the same.
    pub fn run(&self, statement: &Statement, params: &[(&str, Param)]) -> Result<ResultStream> {
        self.run_in(self.context(), statement, params, None)
    }

    /// Runs a statement of which only so many rows will be shown, all of them when it is `None`: as if it ended in a
    /// LIMIT, so that it is done early, and a sort keeps no more than those. Gives one row more, if there is one.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run_first(
        &self,
        statement: &Statement,
        params: &[(&str, Param)],
        shown: Option<usize>,
    ) -> Result<ResultStream> {
        self.run_in(self.context(), statement, params, shown.map(|rows| rows.saturating_add(1)))
    }

    fn run_in(
        &self,
        context: &SessionContext,
        statement: &Statement,
        params: &[(&str, Param)],
        most: Option<usize>,
    ) -> Result<ResultStream> {
        let params: Vec<_> =
            params.iter().map(|(n, v)| ((*n).to_owned(), ScalarValue::from(v.clone()))).collect();
        let (sender, messages) = sync_channel(AHEAD);
        let (abort, registration) = AbortHandle::new_pair();
        let job = Job {
            context: context.clone(),
            runtime: Arc::clone(self.runtime()),
            sql: statement.in_place(),
            params,
            most,
            relations: self.relation_names(),
        };
        let work = move || {
            let runtime = Arc::clone(&job.runtime);
            let send = sender.clone();
            let task = async {
                match job.execute(&sender).await {
                    Ok(()) => Message::Done,
                    Err(e) => Message::Failed(failure::from_engine(&e, &job.sql, &job.relations)),
                }
            };
            let result =
                catch_unwind(AssertUnwindSafe(|| runtime.block_on(Abortable::new(task, registration))));
            let last = match result {
                Ok(Ok(message)) => message,
                Ok(Err(_aborted)) => return,
                Err(panic) => Message::Failed(failure::from_panic(panic.as_ref())),
            };
            // Nobody listens when the stream was dropped.
            drop(send.send(last));
        };
        let worker = std::thread::Builder::new().name("btfdb-query".into()).stack_size(STACK).spawn(work);
        let worker = worker.map_err(|e| Error::new(ErrorKind::Io, "cannot start a thread").because(e))?;
        let mut stream = ResultStream {
            schema: Arc::new(arrow::datatypes::Schema::empty()),
            times: Vec::new(),
            messages: Some(messages),
            abort,
            worker: Some(worker),
            interrupt: Arc::clone(self.interrupt()),
        };
        match stream.messages.as_ref().map(|m| ResultStream::wait(m, &stream.interrupt)) {
            Some(Message::Planned { schema, times }) => {
                (stream.schema, stream.times) = (schema, times);
                Ok(stream)
            }
            Some(Message::Failed(error)) => Err(error),
            _ => Err(Error::new(ErrorKind::Bug, "a statement gave rows before it was planned")),
        }
    }
}

/// Everything the thread of a statement needs.
struct Job {
    context: SessionContext,
    runtime: Arc<Runtime>,
    sql: String,
    params: Vec<(String, ScalarValue)>,
    most: Option<usize>,
    relations: Vec<String>,
}

impl Job {
    async fn execute(&self, sender: &SyncSender<Message>) -> Result<(), DataFusionError> {
        let plan = plan(&self.context.state(), &self.sql).await?;
        let mut frame = self.context.execute_logical_plan(plan).await?;
        if !self.params.is_empty() {
            frame = frame.with_param_values(ParamValues::from(self.params.clone()))?;
        }
        let times = times(frame.logical_plan());
        if let (Some(most), true) = (self.most, has_rows_of_its_own(frame.logical_plan())) {
            frame = frame.limit(0, Some(most))?;
        }
        let mut stream = frame.execute_stream().await?;
        if sender.send(Message::Planned { schema: stream.schema(), times }).is_err() {
            return Ok(());
        }
        while let Some(batch) = stream.next().await {
            if sender.send(Message::Batch(batch?)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// False for statements that speak of a plan or a table: the engine wants them to be the whole statement.
fn has_rows_of_its_own(plan: &LogicalPlan) -> bool {
    !matches!(
        plan,
        LogicalPlan::Explain(_)
            | LogicalPlan::Analyze(_)
            | LogicalPlan::DescribeTable(_)
            | LogicalPlan::Statement(_)
    )
}
