//! Concatenates partitions, prefetched by several threads. Not for merging partitions that interleave.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::StreamExt;
use futures::stream;

use super::one_input::one_input;

/// Bytes of decoded rows that wait for their turn, per partition that is prefetched.
const PREFETCH_BYTES: usize = 24 << 20;
/// Bytes of a name or number in a decoded row.
const CELL: usize = 16;

/// One partition after the other.
#[derive(Debug)]
pub(in crate::engine) struct InOrderExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl InOrderExec {
    /// `input` must have partitions each of which ends where the next one begins.
    pub fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let properties = PlanProperties::clone(input.properties());
        let properties = Arc::new(properties.with_partitioning(Partitioning::UnknownPartitioning(1)));
        Self { input, properties }
    }
}

impl DisplayAs for InOrderExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InOrderExec: partitions={}", self.input.properties().partitioning.partition_count())
    }
}

impl ExecutionPlan for InOrderExec {
    one_input!(InOrderExec, |_this, input| Self::new(input));

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let config = context.session_config();
        let (threads, rows) = (config.target_partitions(), config.batch_size());
        let schema = self.schema();
        let batches = (PREFETCH_BYTES / (rows * CELL * schema.fields().len().max(1))).max(2);
        let partitions = self.input.properties().partitioning.partition_count();
        let input = Arc::clone(&self.input);
        let mut begun = (0..partitions).map({
            let schema = Arc::clone(&schema);
            move |partition| {
                let mut reader = RecordBatchReceiverStream::builder(Arc::clone(&schema), batches);
                let (to, input, context) = (reader.tx(), Arc::clone(&input), Arc::clone(&context));
                reader.spawn(async move {
                    let mut rows = input.execute(partition, context)?;
                    while let Some(batch) = rows.next().await {
                        if to.send(batch).await.is_err() {
                            break;
                        }
                    }
                    Ok(())
                });
                reader.build()
            }
        });
        let reading: VecDeque<_> = begun.by_ref().take(threads.max(1)).collect();
        let next = |(mut reading, mut begun): (VecDeque<SendableRecordBatchStream>, _)| async move {
            loop {
                if let Some(batch) = reading.front_mut()?.next().await {
                    return Some((batch, (reading, begun)));
                }
                reading.pop_front();
                reading.extend(Iterator::next(&mut begun));
            }
        };
        let rows = stream::unfold((reading, begun), next);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
