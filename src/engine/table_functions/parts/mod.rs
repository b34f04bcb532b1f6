//! The table function `response_parts()`: the parts of responses as rows. Not how a response is cut into
//! parts (see [`crate::explain`]).

mod blocks;
mod earlier;
mod feed;
mod handlers;
mod instances;
mod making;
mod names;
mod one;
mod processes;
mod rows;
mod stored;
mod trigger;
mod window;
mod words;

use std::iter;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::{Expr, Operator, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;

use crate::engine::failure::failed as from_engine;
use crate::error::{Error, ErrorKind};
use crate::schema::tables;
use crate::store::{Database, Recording};
use making::Asked;
use rows::schema;

/// So many batches wait for the statement.
const WAITING: usize = 2;

#[derive(Debug)]
pub(in crate::engine) struct PartsFunction {
    database: Arc<Database>,
}

impl PartsFunction {
    pub fn new(database: Arc<Database>) -> Self {
        Self { database }
    }
}

impl TableFunctionImpl for PartsFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!(
                "response_parts() takes no arguments: a condition chooses recording, process and instance"
            );
        }
        Ok(Arc::new(PartsTable { database: Arc::clone(&self.database), schema: schema() }))
    }
}

#[derive(Debug)]
pub(in crate::engine) struct PartsTable {
    database: Arc<Database>,
    schema: SchemaRef,
}

/// What filters leave of a statement: which responses it can be about.
#[derive(Debug, Clone, Default)]
struct Wanted {
    recording: Option<String>,
    process: Option<String>,
    instance: Option<i64>,
    /// They end behind this.
    after: Option<i64>,
    /// They begin before this.
    before: Option<i64>,
}

impl Wanted {
    fn of(filters: &[Expr]) -> Self {
        let mut wanted = Self::default();
        for filter in filters {
            let Some((column, operator, value)) = comparison(filter) else { continue };
            let text = || value.try_as_str().flatten().map(str::to_owned);
            let number = || match value.cast_to(&DataType::Int64) {
                Ok(ScalarValue::Int64(number)) => number,
                _ => None,
            };
            match (column, operator) {
                ("recording", Operator::Eq) => wanted.recording = wanted.recording.or_else(text),
                ("process", Operator::Eq) => wanted.process = wanted.process.or_else(text),
                ("instance", Operator::Eq) => wanted.instance = wanted.instance.or_else(number),
                // A part that begins then, or ends then, has a length.
                ("begin_at", Operator::GtEq) => wanted.after = wanted.after.or_else(number),
                ("end_at", Operator::LtEq) => wanted.before = wanted.before.or_else(number),
                _ => {}
            }
        }
        wanted
    }
}

/// The column, the operator and the value of a filter such as `column = value`.
fn comparison(filter: &Expr) -> Option<(&str, Operator, &ScalarValue)> {
    let Expr::BinaryExpr(binary) = filter else { return None };
    match (binary.left.as_ref(), binary.right.as_ref()) {
        (Expr::Column(c), Expr::Literal(v, _)) => Some((&c.name, binary.op, v)),
        (Expr::Literal(v, _), Expr::Column(c)) => Some((&c.name, binary.op.swap()?, v)),
        _ => None,
    }
}

/// A failure of the database, for the engine.
fn failed(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

#[async_trait]
impl TableProvider for PartsTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(state) = session.as_any().downcast_ref::<SessionState>() else {
            return internal_err!("a session without a state");
        };
        let wanted = Wanted::of(filters);
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let columns = projection.unwrap_or(&all);
        let schema = rows::projected(columns)?;
        let recordings = match &wanted.recording {
            Some(name) => self.database.recording(name).map_err(failed)?.into_iter().collect(),
            None => self.database.recordings().map_err(failed)?.to_vec(),
        };
        let mut parts: Vec<Arc<dyn PartitionStream>> = Vec::new();
        if let (Some(process), Some(instance)) = (&wanted.process, wanted.instance) {
            for recording in &recordings {
                let one = one::One {
                    recording: &recording.name,
                    instance: (process.as_str(), instance),
                    within: (wanted.after, wanted.before),
                };
                let batches = one.parts(state, &self.database, columns).await?;
                parts.push(Arc::new(Ready { batches, schema: Arc::clone(&schema) }));
            }
        } else {
            let partitions = state.config().target_partitions();
            let shares = shared_out(recordings, partitions);
            let threads = (partitions / shares.len()).max(1);
            for some in shares {
                let mut recordings = Vec::with_capacity(some.len());
                for recording in some {
                    recordings.push((recording.name.clone(), calls_of(state, &recording).await?));
                }
                parts.push(Arc::new(Part {
                    database: Arc::clone(&self.database),
                    recordings: Arc::new(recordings),
                    process: wanted.process.clone(),
                    columns: columns.clone(),
                    threads,
                    schema: Arc::clone(&schema),
                }));
            }
        }
        Ok(Arc::new(StreamingTableExec::try_new(schema, parts, None, Vec::new(), false, None)?))
    }
}

/// Shares recordings out, so that each share has about as many bytes. Of a share, one recording is open at a
/// time: the memory does not grow with their number.
fn shared_out(mut recordings: Vec<Arc<Recording>>, shares: usize) -> Vec<Vec<Arc<Recording>>> {
    let mut all: Vec<(u64, Vec<Arc<Recording>>)> = Vec::new();
    all.resize_with(shares.clamp(1, recordings.len().max(1)), Default::default);
    recordings.sort_by_key(|recording| std::cmp::Reverse(recording.bytes()));
    for recording in recordings {
        if let Some((bytes, share)) = all.iter_mut().min_by_key(|(bytes, _)| *bytes) {
            *bytes += recording.bytes();
            share.push(recording);
        }
    }
    all.into_iter().map(|(_, share)| share).collect()
}

/// The calls of the scheduler in a recording, if it has any.
type Calls = Option<Arc<dyn ExecutionPlan>>;

async fn calls_of(state: &SessionState, recording: &Recording) -> Result<Calls> {
    if !recording.has(tables::OS_CALL) {
        return Ok(None);
    }
    let calls = state.create_logical_plan(&making::calls_of(&recording.name)).await?;
    let calls = state.create_physical_plan(&calls).await?;
    // One partition without a merge: the rows are sorted.
    Ok(Some(Arc::new(CoalescePartitionsExec::new(calls))))
}

/// The parts of one response, which are known already.
#[derive(Debug)]
struct Ready {
    batches: Vec<RecordBatch>,
    schema: SchemaRef,
}

impl PartitionStream for Ready {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let batches = stream::iter(self.batches.clone().into_iter().map(Ok));
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches))
    }
}

/// The parts of the responses of some recordings, one recording after the other.
#[derive(Debug, Clone)]
struct Part {
    database: Arc<Database>,
    recordings: Arc<Vec<(String, Calls)>>,
    process: Option<String>,
    columns: Vec<usize>,
    /// On so many threads.
    threads: usize,
    schema: SchemaRef,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), WAITING);
        let (to, part, engine) = (stream.tx(), self.clone(), Handle::current());
        stream.spawn_blocking(move || {
            part.recordings.iter().try_for_each(|(recording, calls)| {
                let asked = Asked {
                    database: &part.database,
                    recording,
                    process: part.process.as_deref(),
                    columns: &part.columns,
                };
                let calls = calls.as_ref().map(|calls| calls.execute(0, Arc::clone(&context))).transpose()?;
                // What the engine makes of the calls, this thread waits for.
                let mut calls = calls.map(|calls| calls.map_err(from_engine));
                let calls = iter::from_fn(|| engine.block_on(calls.as_mut()?.next()));
                let give = |batches: Vec<RecordBatch>| give(&to, batches);
                making::make(&asked, part.threads, calls, give).map_err(failed)
            })
        });
        stream.build()
    }
}

/// Gives rows to the statement. Fails if nobody waits for any more.
fn give(to: &Sender<Result<RecordBatch>>, batches: Vec<RecordBatch>) -> Result<(), Error> {
    let mut is_there = !to.is_closed();
    for batch in batches {
        is_there &= to.blocking_send(Ok(batch)).is_ok();
    }
    if is_there { Ok(()) } else { Err(Error::new(ErrorKind::Interrupted, "nobody waits for the rows")) }
}
