//! The node of a plan that does a task on recordings, whose names are the rows of its input, or on rows that
//! such nodes made: partition by partition, so that a cluster may cut its input as it likes. Not what the
//! task is, which is a text here.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _,
    Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use futures::StreamExt;

use super::failure::to_engine;
use super::framing::{Frames, Taken};
use crate::engine::operators::one_input;

/// Batches that wait for whoever reads them.
const WAITING: usize = 2;

/// Does tasks, in an executor.
pub(crate) trait RunTask: fmt::Debug + Send + Sync {
    /// Does a task, and gives `rows` each batch of the result; it ends when that returns false, and soon
    /// after `stop` becomes true.
    ///
    /// # Errors
    /// Those of the task.
    fn run(
        &self,
        task: &str,
        on: On,
        stop: &Arc<AtomicBool>,
        rows: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> crate::error::Result<()>;
}

/// What a task is on.
#[derive(Debug)]
pub(crate) enum On {
    /// Recordings of these names.
    Recordings(Vec<String>),
    /// Rows that other tasks made.
    Rows(Vec<RecordBatch>),
}

/// What the input of the node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Names of recordings.
    First,
    /// Rows of nodes of the first step, [framed](super::framing::framed), of so many shares.
    Second { shares: u32 },
}

/// See above.
#[derive(Debug)]
pub(super) struct RecordingsExec {
    /// What is to be done.
    pub task: Arc<str>,
    pub step: Step,
    input: Arc<dyn ExecutionPlan>,
    /// Who does it; `None` where the plan is only made and passed on.
    runner: Option<Arc<dyn RunTask>>,
    properties: Arc<PlanProperties>,
}

impl RecordingsExec {
    /// `schema`: the columns of the result, [framed](super::framing::framed).
    pub fn new(
        (task, step): (Arc<str>, Step),
        schema: SchemaRef,
        input: Arc<dyn ExecutionPlan>,
        runner: Option<Arc<dyn RunTask>>,
    ) -> Self {
        let partitions = input.output_partitioning().partition_count();
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { task, step, input, runner, properties }
    }
}

/// The columns of the input: of which share a recording is, and its name.
pub(super) fn names_schema() -> SchemaRef {
    let fields =
        vec![Field::new("share", DataType::UInt32, false), Field::new("recording", DataType::Utf8, false)];
    Arc::new(Schema::new(fields))
}

/// What a partition of the input says: the number of the share, and the names of its recordings.
#[derive(Default)]
struct Share {
    number: Option<u32>,
    recordings: Vec<String>,
}

impl Share {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let numbers = batch.column(0).as_primitive_opt::<UInt32Type>();
        let Some((numbers, names)) = numbers.zip(batch.column(1).as_string_opt::<i32>()) else {
            return internal_err!("a task on recordings got no names");
        };
        for number in numbers.values() {
            if *self.number.get_or_insert(*number) != *number {
                return internal_err!("a task on recordings got two shares");
            }
        }
        self.recordings.extend(names.iter().flatten().map(str::to_owned));
        Ok(())
    }
}

/// Stops a task that nobody waits for any more.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl DisplayAs for RecordingsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecordingsExec")
    }
}

impl ExecutionPlan for RecordingsExec {
    one_input!(RecordingsExec, |this, input| Self::new(
        (Arc::clone(&this.task), this.step),
        this.schema(),
        input,
        this.runner.clone()
    ));

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(runner) = self.runner.clone() else {
            return internal_err!("a task on recordings is run outside of an executor");
        };
        let input = self.input.execute(partition, context)?;
        let (schema, task, step) = (self.schema(), Arc::clone(&self.task), self.step);
        let mut reader = RecordBatchReceiverStream::builder(Arc::clone(&schema), WAITING);
        let to = reader.tx();
        reader.spawn(async move {
            let stop = StopWhenDropped(Arc::default());
            let Some((share, on, taken)) = read(input, step).await? else { return Ok(()) };
            let flag = Arc::clone(&stop.0);
            let work = move || {
                let mut frames = Frames::new(schema, share);
                let (mut wrong, mut wanted) = (Ok(()), true);
                let mut rows = |batch: RecordBatch| {
                    wanted = frames
                        .batch(batch)
                        .map(|batch| to.blocking_send(Ok(batch)).is_ok())
                        .unwrap_or_else(|e| {
                            wrong = Err(e);
                            false
                        });
                    wanted
                };
                runner.run(&task, on, &flag, &mut rows).map_err(|e| to_engine(&e))?;
                wrong?;
                if wanted {
                    // Nobody waits for it if that fails.
                    drop(to.blocking_send(Ok(frames.end(taken)?)));
                }
                Ok(())
            };
            let done = tokio::task::spawn_blocking(work).await;
            drop(stop);
            done.map_err(|e| DataFusionError::Internal(format!("a task on recordings failed: {e}")))?
        });
        Ok(reader.build())
    }
}

/// Reads the input of a task: of which share its rows are, what it is on, and what it took of the rows of
/// others. `None`: there is nothing to do.
async fn read(mut input: SendableRecordBatchStream, step: Step) -> Result<Option<(u32, On, Taken)>> {
    match step {
        Step::First => {
            let mut share = Share::default();
            while let Some(batch) = input.next().await {
                share.add(&batch?)?;
            }
            let on = On::Recordings(share.recordings);
            Ok(share.number.map(|number| (number, on, Taken::default())))
        }
        Step::Second { shares } => {
            let mut taken = Taken::default();
            while let Some(batch) = input.next().await {
                taken.add(batch?)?;
            }
            let rows = std::mem::take(&mut taken.rows);
            Ok(Some((shares, On::Rows(rows), taken)))
        }
    }
}
