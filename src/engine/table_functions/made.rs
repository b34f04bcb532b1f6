//! Table functions whose rows an operation makes: their calls as plans, the recordings that conditions leave,
//! and a thread that waits for the operation. Not for the operations (see `engine::session`), nor for the
//! list of these functions (see `library`).

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DFSchema, DataFusionError, Result, internal_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::channel::oneshot;
use futures::{StreamExt, stream};

use crate::engine::failure::{OfOperation, from_panic};
use crate::engine::time_columns::time_column;
use crate::error::Error;
use crate::library::MadeFunction;
use crate::schema::columns::btf_event::RECORDING;
use crate::store::Recording;
use crate::threads::Thread;

/// A call of a function, as it is run.
#[derive(Debug, Clone)]
pub(in crate::engine) struct MadeCall {
    pub function: &'static MadeFunction,
    pub arguments: Vec<String>,
    /// Those that the rows can be about.
    pub recordings: Vec<Arc<Recording>>,
}

/// Runs operations, as the session of the function does.
pub(in crate::engine) trait MakeRows: Send + Sync {
    /// All recordings.
    fn recordings(&self) -> crate::error::Result<Vec<Arc<Recording>>>;

    /// The rows of a call. It blocks, and ends soon after `stop` becomes true.
    fn rows(
        &self,
        call: &MadeCall,
        context: &TaskContext,
        stop: &Arc<AtomicBool>,
    ) -> crate::error::Result<Vec<RecordBatch>>;

    /// Bytes of the stack of a thread that does so.
    fn stack(&self) -> usize;
}

/// One of the functions.
pub(in crate::engine) struct MadeTables {
    function: &'static MadeFunction,
    maker: Arc<dyn MakeRows>,
}

impl MadeTables {
    pub fn new(function: &'static MadeFunction, maker: &Arc<dyn MakeRows>) -> Self {
        Self { function, maker: Arc::clone(maker) }
    }
}

impl fmt::Debug for MadeTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeTables").field("function", &self.function.function.name).finish_non_exhaustive()
    }
}

impl TableFunctionImpl for MadeTables {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let name = self.function.function.name;
        let text = |argument: &Expr| match argument {
            Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
            _ => None,
        };
        let Some(arguments) = args.exprs().iter().map(text).collect::<Option<Vec<_>>>() else {
            return plan_err!("{name} takes texts: {}", self.function.function.example);
        };
        let (least, most) = self.function.arguments;
        if arguments.len() > most && most == 0 {
            return plan_err!("{name}() takes no arguments: a condition chooses the recording");
        }
        if !(least..=most).contains(&arguments.len()) {
            let count = arguments.len();
            return plan_err!(
                "{name} takes {least} to {most} texts, and not {count}: {}",
                self.function.function.example
            );
        }
        let fields: Vec<Field> =
            self.function.columns().iter().map(|column| field(&column.name, &column.ty)).collect();
        Ok(Arc::new(MadeTable {
            function: self.function,
            arguments,
            maker: Arc::clone(&self.maker),
            schema: Arc::new(Schema::new(fields)),
        }))
    }
}

/// A column of a type that documentation names.
fn field(name: &str, ty: &str) -> Field {
    let of = |ty| Field::new(name, ty, true);
    match ty {
        "text" => of(DataType::Utf8View),
        "boolean" => of(DataType::Boolean),
        "integer" => of(DataType::Int64),
        "time" | "duration" => time_column(&of(DataType::Int64)),
        "duration as number" => time_column(&of(DataType::Float64)),
        _ => of(DataType::Float64),
    }
}

struct MadeTable {
    function: &'static MadeFunction,
    arguments: Vec<String>,
    maker: Arc<dyn MakeRows>,
    schema: SchemaRef,
}

impl fmt::Debug for MadeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.function.function.name;
        f.debug_struct("MadeTable").field("function", &name).finish_non_exhaustive()
    }
}

/// A failure of btfdb, for the engine.
fn failed(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(OfOperation(error)))
}

#[async_trait]
impl TableProvider for MadeTable {
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
        let mut recordings = self.maker.recordings().map_err(failed)?;
        for filter in filters {
            if let Some(chosen) = chosen(session, filter, &recordings) {
                let mut chosen = chosen.into_iter();
                recordings.retain(|_| chosen.next().unwrap_or(true));
            }
        }
        let call = MadeCall { function: self.function, arguments: self.arguments.clone(), recordings };
        let part = Part { call, maker: Arc::clone(&self.maker), schema: Arc::clone(&self.schema) };
        let schema = Arc::clone(&self.schema);
        let plan = StreamingTableExec::try_new(schema, vec![Arc::new(part)], projection, [], false, None)?;
        Ok(Arc::new(plan))
    }
}

/// Which recordings a filter leaves, if it is about them alone.
fn chosen(session: &dyn Session, filter: &Expr, recordings: &[Arc<Recording>]) -> Option<Vec<bool>> {
    let columns = filter.column_refs();
    if columns.is_empty() || columns.iter().any(|column| column.name != RECORDING) {
        return None;
    }
    let schema = Arc::new(Schema::new(vec![Field::new(RECORDING, DataType::Utf8View, true)]));
    let names = StringViewArray::from_iter_values(recordings.iter().map(|recording| &recording.name));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(names)]).ok()?;
    // What cannot be evaluated here is evaluated for the rows, and fails there if it has to.
    let filter = unnormalize_col(filter.clone());
    let filter = session.create_physical_expr(filter, &DFSchema::try_from(schema).ok()?).ok()?;
    let mask = filter.evaluate(&batch).ok()?.into_array(recordings.len()).ok()?;
    let mask = mask.as_boolean_opt()?;
    Some(mask.iter().map(|chosen| chosen.unwrap_or(false)).collect())
}

/// All rows of a call.
struct Part {
    call: MadeCall,
    maker: Arc<dyn MakeRows>,
    schema: SchemaRef,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("call", &self.call).finish_non_exhaustive()
    }
}

/// Stops an operation whose rows nobody waits for any more.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (call, maker, schema) = (self.call.clone(), Arc::clone(&self.maker), Arc::clone(&self.schema));
        let name = call.function.function.name;
        let memory = MemoryConsumer::new(name).register(context.memory_pool());
        let rows = async move {
            let stop = StopWhenDropped(Arc::default());
            let batches = made(call, maker, &context, &stop).await?;
            let batches = batches.iter().map(|batch| fitting(batch, &schema));
            let batches = batches.collect::<Result<Vec<_>>>()?;
            memory.try_grow(batches.iter().map(RecordBatch::get_array_memory_size).sum())?;
            // The memory is given back with the last batch.
            Ok::<_, DataFusionError>((batches, memory))
        };
        let rows = stream::once(rows).map(|made: Result<_>| match made {
            Ok((batches, memory)) => {
                let batches = stream::iter(batches).map(move |batch| {
                    let _held = &memory;
                    Ok(batch)
                });
                batches.left_stream()
            }
            Err(e) => stream::iter([Err(e)]).right_stream(),
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows.flatten()))
    }
}

/// Runs an operation on a thread of its own: it blocks, and runs statements of its own, which the threads of
/// the engine work on.
async fn made(
    call: MadeCall,
    maker: Arc<dyn MakeRows>,
    context: &Arc<TaskContext>,
    stop: &StopWhenDropped,
) -> Result<Vec<RecordBatch>> {
    let (sender, receiver) = oneshot::channel();
    let (context, stop, stack) = (Arc::clone(context), Arc::clone(&stop.0), maker.stack());
    let work = move || {
        let rows = catch_unwind(AssertUnwindSafe(|| maker.rows(&call, &context, &stop)));
        // The receiver is gone if the statement was stopped.
        drop(sender.send(rows.unwrap_or_else(|panic| Err(from_panic(panic.as_ref())))));
    };
    let with = Builder::new().name("btfdb-rows".into()).stack_size(stack);
    let _thread = Thread::start(with, work).map_err(DataFusionError::IoError)?;
    match receiver.await {
        Ok(rows) => rows.map_err(failed),
        Err(_) => internal_err!("the thread of an operation vanished"),
    }
}

/// The rows with the columns that the function promises, texts as those of other tables.
fn fitting(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let column = |field: &Arc<Field>| -> Result<ArrayRef> {
        match batch.column_by_name(field.name()) {
            Some(column) => Ok(cast(column, field.data_type())?),
            None => internal_err!("the rows of an operation have no column '{}'", field.name()),
        }
    };
    let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}
