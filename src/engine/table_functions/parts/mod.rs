//! The table function `response_parts()`: the parts of responses as rows, a recording at a time. Not how a
//! response is cut into parts (see [`crate::explain`]).

mod feed;
mod making;
mod one;
mod rows;
mod stored;
mod window;

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::{Expr, Operator, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{StreamExt, stream};

use crate::error::Error;
use crate::store::Database;
use making::Making;
use rows::{PartRows, schema};

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
}

impl Wanted {
    fn of(filters: &[Expr]) -> Self {
        let mut wanted = Self::default();
        for filter in filters {
            let Some((column, value)) = equality(filter) else { continue };
            let text = || value.try_as_str().flatten().map(str::to_owned);
            match column {
                "recording" => wanted.recording = wanted.recording.or_else(text),
                "process" => wanted.process = wanted.process.or_else(text),
                "instance" => {
                    let number = value.cast_to(&arrow::datatypes::DataType::Int64).ok();
                    wanted.instance = match number {
                        Some(ScalarValue::Int64(Some(number))) => Some(number),
                        _ => wanted.instance,
                    };
                }
                _ => {}
            }
        }
        wanted
    }
}

/// The column and the value of a filter `column = value`.
fn equality(filter: &Expr) -> Option<(&str, &ScalarValue)> {
    let Expr::BinaryExpr(binary) = filter else { return None };
    match (binary.op, binary.left.as_ref(), binary.right.as_ref()) {
        (Operator::Eq, Expr::Column(c), Expr::Literal(v, _))
        | (Operator::Eq, Expr::Literal(v, _), Expr::Column(c)) => Some((&c.name, v)),
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
        let mut parts: Vec<Arc<dyn PartitionStream>> = Vec::new();
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let columns = projection.unwrap_or(&all);
        for recording in self.database.recordings().map_err(failed)?.iter() {
            if wanted.recording.as_ref().is_some_and(|name| *name != recording.name) {
                continue;
            }
            let rows = PartRows::new(&recording.name, columns)?;
            parts.push(match (&wanted.process, wanted.instance) {
                (Some(process), Some(instance)) => {
                    let batches =
                        one::parts(state, &self.database, &recording.name, (process, instance), rows);
                    Arc::new(Ready { batches: batches.await?, schema: rows::projected(columns)? })
                }
                _ => {
                    let calls = state.create_logical_plan(&making::calls_of(&recording.name)).await?;
                    let calls = state.create_physical_plan(&calls).await?;
                    Arc::new(Part {
                        database: Arc::clone(&self.database),
                        recording: recording.name.clone(),
                        process: wanted.process.clone(),
                        // One partition without a merge: the rows are sorted.
                        calls: Arc::new(CoalescePartitionsExec::new(calls)),
                        rows,
                        schema: rows::projected(columns)?,
                    })
                }
            });
        }
        let schema = rows::projected(columns)?;
        Ok(Arc::new(StreamingTableExec::try_new(schema, parts, None, Vec::new(), false, None)?))
    }
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

/// The parts of the responses of a recording.
#[derive(Debug)]
struct Part {
    database: Arc<Database>,
    recording: String,
    process: Option<String>,
    calls: Arc<dyn ExecutionPlan>,
    rows: PartRows,
    schema: SchemaRef,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let begun = || -> Result<_> {
            let ahead = context.session_config().target_partitions() > 1;
            let calls = self.calls.execute(0, context)?;
            let (database, process) = (&self.database, self.process.as_deref());
            Making::new((database, &self.recording), process, self.rows.clone(), calls, ahead).map_err(failed)
        };
        let batches = match begun() {
            Ok(making) => {
                let batches = stream::unfold(making, Making::step);
                batches.map(|batches| stream::iter(flat(batches))).flatten().left_stream()
            }
            Err(e) => stream::iter([Err(e)]).right_stream(),
        };
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches))
    }
}

fn flat(batches: Result<Vec<RecordBatch>>) -> Vec<Result<RecordBatch>> {
    match batches {
        Ok(batches) => batches.into_iter().map(Ok).collect(),
        Err(e) => vec![Err(e)],
    }
}
