//! Runs statements, each on a thread of its own; panics of DataFusion become errors. Not for what a statement
//! says, and not for its result (see `result_stream`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

use arrow::array::{AsArray, RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Schema};
use datafusion::common::{DataFusionError, ParamValues, ScalarValue};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
#[cfg(feature = "cluster")]
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use futures::future::{AbortHandle, Abortable};

use super::catalog::Catalog;
#[cfg(feature = "cluster")]
use super::cluster::{Asked, Fragment, RunFragment, distributed, fragment_plan};
use super::context::{CATALOG, SCHEMA};
use super::definitions;
use super::failure;
use super::param::Param;
use super::plan::{Planned, planned};
use super::result_stream::{Message, ResultStream};
use super::runtime::Runtime;
use super::sql::Names;
use super::statement::{Statement, split};
use super::time_columns::times;
use crate::error::{Error, ErrorKind, Result, did_you_mean};
use crate::threads::Thread;

/// Maximum number of batches that wait for the caller.
const PREFETCHED_BATCHES: usize = 2;

/// Runs statements in one context of DataFusion.
#[derive(Clone)]
pub(super) struct Runner {
    context: SessionContext,
    runtime: Arc<Runtime>,
    /// Names of the tables and views, for suggestions.
    relations: Arc<[String]>,
    /// Statements stop soon after it becomes true.
    pub interrupt: Arc<AtomicBool>,
    /// Who runs fragments of statements, in place of this process.
    #[cfg(feature = "cluster")]
    pub cluster: Option<Arc<dyn RunFragment>>,
}

impl Runner {
    pub fn new(context: SessionContext, runtime: Arc<Runtime>, relations: Arc<[String]>) -> Self {
        Self {
            context,
            runtime,
            relations,
            interrupt: Arc::default(),
            #[cfg(feature = "cluster")]
            cluster: None,
        }
    }

    /// The same runner over another context.
    pub fn with_context(&self, context: SessionContext) -> Self {
        Self { context, ..self.clone() }
    }

    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// An error of DataFusion about `sql`.
    pub fn error(&self, error: &DataFusionError, sql: &str) -> Error {
        failure::from_engine(error, sql, &self.relations)
    }

    /// Runs a text that holds exactly one statement; see [`super::Session::sql`].
    pub fn sql(&self, text: &str, params: &[(&str, Param)]) -> Result<ResultStream> {
        match split(text)?.as_slice() {
            [one] => self.run(one, params, None),
            [] => Err(Error::usage("there is no SQL statement to run")),
            more => Err(Error::usage(format!("expected one SQL statement, found {}", more.len()))),
        }
    }

    /// The first column of a result, as strings; see [`super::Session::names`].
    pub fn names(&self, text: &str, params: &[(&str, Param)]) -> Result<Vec<String>> {
        let bug = |e| Error::new(ErrorKind::Bug, "a name in a result is not a string").because(e);
        let mut names = Vec::new();
        for batch in self.sql(text, params)? {
            let column = cast(batch?.column(0), &DataType::Utf8View).map_err(bug)?;
            names.extend(column.as_string_view().iter().flatten().map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Runs a statement, with `LIMIT limit` if there is a limit; returns once it is planned.
    pub fn run(
        &self,
        statement: &Statement,
        params: &[(&str, Param)],
        limit: Option<usize>,
    ) -> Result<ResultStream> {
        self.start(Job {
            context: self.context.clone(),
            runtime: Arc::clone(&self.runtime),
            sql: statement.in_place(),
            params: params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            limit,
            relations: Arc::clone(&self.relations),
            #[cfg(feature = "cluster")]
            on: self.cluster.clone().map_or(On::Process, On::Cluster),
        })
    }

    /// Runs a fragment of a statement on the recordings of the session, as an executor does.
    #[cfg(feature = "cluster")]
    pub fn run_fragment(&self, asked: &Asked, fragment: &Fragment) -> Result<ResultStream> {
        self.start(Job {
            context: self.context.clone(),
            runtime: Arc::clone(&self.runtime),
            sql: asked.sql.clone(),
            params: asked.params.clone(),
            limit: asked.limit,
            relations: Arc::clone(&self.relations),
            on: On::Fragment(Box::new((asked.clone(), fragment.clone()))),
        })
    }

    fn start(&self, job: Job) -> Result<ResultStream> {
        let stack = self.runtime.stack();
        let (sender, messages) = sync_channel(PREFETCHED_BATCHES);
        let (abort, registration) = AbortHandle::new_pair();
        let work = move || {
            let runtime = Arc::clone(&job.runtime);
            let send = sender.clone();
            let task = async {
                match job.execute(&sender).await {
                    Ok(()) => Message::Done,
                    Err(e) => {
                        let error = failure::from_engine(&e, &job.sql, &job.relations);
                        Message::Failed(with_params(error, &job.params))
                    }
                }
            };
            let result =
                catch_unwind(AssertUnwindSafe(|| runtime.block_on(Abortable::new(task, registration))));
            let last = match result {
                Ok(Ok(message)) => message,
                Ok(Err(_aborted)) => return,
                Err(panic) => Message::Failed(failure::from_panic(panic.as_ref())),
            };
            // The receiver is gone if the stream was dropped.
            drop(send.send(last));
        };
        let with = Builder::new().name("btfdb-query".into()).stack_size(stack);
        let worker = Thread::start(with, work);
        let worker = worker.map_err(|e| Error::new(ErrorKind::Io, "cannot start a thread").because(e))?;
        ResultStream::start(messages, abort, worker, Arc::clone(&self.interrupt))
    }
}

/// A statement, for the thread that runs it.
struct Job {
    context: SessionContext,
    runtime: Arc<Runtime>,
    sql: String,
    params: Vec<(String, Param)>,
    limit: Option<usize>,
    relations: Arc<[String]>,
    #[cfg(feature = "cluster")]
    on: On,
}

/// Who runs what of a statement.
#[cfg(feature = "cluster")]
enum On {
    /// This process, all of it.
    Process,
    /// A cluster, its fragments; this process, the rest.
    Cluster(Arc<dyn RunFragment>),
    /// This process, one fragment of it.
    Fragment(Box<(Asked, Fragment)>),
}

impl Job {
    async fn execute(&self, sender: &SyncSender<Message>) -> Result<(), DataFusionError> {
        #[cfg(feature = "cluster")]
        if let On::Fragment(of) = &self.on {
            let plan = fragment_plan(&self.context, &of.0, &of.1).await?;
            let stream = execute_stream(plan, self.context.task_ctx())?;
            return send(sender, stream, (&Names::default(), Vec::new(), Vec::new())).await;
        }
        let Planned { mut plan, names, summarize } = planned(&self.context.state(), &self.sql).await?;
        let used = plan.get_parameter_names()?;
        let used = used.iter().map(|name| name.trim_start_matches('$').to_owned()).collect();
        if !self.params.is_empty() {
            let values =
                self.params.iter().map(|(name, value)| (name.clone(), ScalarValue::from(value.clone())));
            plan = plan.with_param_values(ParamValues::from(values.collect::<Vec<_>>()))?;
        }
        if let LogicalPlan::Ddl(statement) = plan {
            return self.change(statement, used, sender).await;
        }
        #[cfg(feature = "cluster")]
        if let Some(rest) = self.on_cluster(&plan).await? {
            let times = if summarize { Vec::new() } else { times(&plan) };
            let stream = execute_stream(rest, self.context.task_ctx())?;
            return send(sender, stream, (&names, times, used)).await;
        }
        let mut frame = self.context.execute_logical_plan(plan).await?;
        let times = if summarize { Vec::new() } else { times(frame.logical_plan()) };
        if let (Some(limit), true) = (self.limit, gives_rows(frame.logical_plan())) {
            frame = frame.limit(0, Some(limit))?;
        }
        send(sender, frame.execute_stream().await?, (&names, times, used)).await
    }

    /// What is left of a statement for this process, if a cluster runs some of it.
    #[cfg(feature = "cluster")]
    async fn on_cluster(
        &self,
        plan: &LogicalPlan,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>, DataFusionError> {
        let On::Cluster(cluster) = &self.on else { return Ok(None) };
        // What statements of the session made is not in the database.
        let schemas = self.context.catalog(CATALOG).and_then(|catalog| catalog.schema(SCHEMA));
        let catalog = schemas.as_ref().and_then(|schema| schema.downcast_ref::<Catalog>());
        if !gives_rows(plan) || catalog.is_none_or(|catalog| !catalog.own().names().is_empty()) {
            return Ok(None);
        }
        let state = self.context.state();
        let now = Asked::now_of(&state);
        let asked = Asked { sql: self.sql.clone(), params: self.params.clone(), limit: self.limit, now };
        let optimized = asked.optimized(&state, plan.clone())?;
        distributed(&state, optimized, (cluster, &Arc::new(asked))).await
    }

    /// Makes or drops a view or table of the session. The result has no columns.
    async fn change(
        &self,
        statement: DdlStatement,
        used: Vec<String>,
        sender: &SyncSender<Message>,
    ) -> Result<(), DataFusionError> {
        let schemas = self.context.catalog(CATALOG).and_then(|catalog| catalog.schema(SCHEMA));
        let catalog = schemas.as_ref().and_then(|schema| schema.downcast_ref::<Catalog>());
        let closed = || DataFusionError::Internal("the session is closed".to_owned());
        definitions::change(&self.context, catalog.ok_or_else(closed)?, statement).await?;
        // If nobody waits for it, the change is made all the same.
        drop(sender.send(Message::Planned { schema: Arc::new(Schema::empty()), times: Vec::new(), used }));
        Ok(())
    }
}

/// Sends the rows of a statement: `names` of its columns, which of them are times, and the parameters it
/// used.
async fn send(
    sender: &SyncSender<Message>,
    mut stream: SendableRecordBatchStream,
    (names, times, used): (&Names, Vec<bool>, Vec<String>),
) -> Result<(), DataFusionError> {
    let schema = names.rename(&stream.schema());
    if sender.send(Message::Planned { schema: Arc::clone(&schema), times, used }).is_err() {
        return Ok(());
    }
    while let Some(batch) = stream.next().await {
        let (_, columns, rows) = batch?.into_parts();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)?;
        if sender.send(Message::Batch(batch)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// The error, with the parameters that are texts, if it complains about a text, and with one that is nearly
/// the one that has no value.
fn with_params(error: Error, params: &[(String, Param)]) -> Error {
    let text = error.to_string();
    if let Some(missing) = failure::without_value(&text) {
        let near = did_you_mean(missing, params.iter().map(|(name, _)| name.as_str()));
        return match near {
            Some(near) => error.hint(format!("'{near}' has a value: is '{missing}' meant?")),
            None => error,
        };
    }
    if !text.contains("VARCHAR") {
        return error;
    }
    params.iter().fold(error, |error, (name, value)| match value {
        Param::Text(text) => {
            error.hint(format!("${name} is the text '{text}'; a time is a number with a unit, e.g. 10ms"))
        }
        _ => error,
    })
}

/// False for EXPLAIN and the like: DataFusion accepts no LIMIT on top of them.
fn gives_rows(plan: &LogicalPlan) -> bool {
    !matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_) | LogicalPlan::Statement(_))
}
