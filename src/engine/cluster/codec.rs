//! The node of ours as bytes, for the scheduler and the executors. Not the plan around it, which the cluster
//! encodes itself.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::{Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use super::node::{RecordingsExec, RunTask, Step};

/// How the bytes of our node begin. Those of the cluster are messages of fields with low numbers, of which
/// none begins so.
const MAGIC: &[u8] = b"btfdb-recordings\0";

/// Encodes and decodes our node; the others are the cluster's.
#[derive(Debug, Default)]
pub(super) struct Codec {
    others: BallistaPhysicalExtensionCodec,
    /// What decoded nodes do their tasks with, in an executor.
    runner: Option<Arc<dyn RunTask>>,
}

impl Codec {
    pub fn of_executor(runner: Arc<dyn RunTask>) -> Self {
        Self { runner: Some(runner), ..Self::default() }
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(ours) = bytes.strip_prefix(MAGIC) else {
            return self.others.try_decode(bytes, inputs, context, converter);
        };
        let [input] = inputs else { return internal_err!("a task on recordings has one input") };
        let Some((step, (schema, task))) = step_of(ours).and_then(|(step, rest)| Some((step, split(rest)?)))
        else {
            return internal_err!("a task on recordings is cut off");
        };
        let (schema, task) = (schema_of(schema)?, String::from_utf8_lossy(task).into());
        Ok(Arc::new(RecordingsExec::new((task, step), schema, Arc::clone(input), self.runner.clone())))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(ours) = node.downcast_ref::<RecordingsExec>() else {
            return self.others.try_encode(node, bytes, converter);
        };
        let schema = bytes_of(&ours.schema())?;
        let Ok(length) = u32::try_from(schema.len()) else { return internal_err!("a schema of 4 GiB") };
        bytes.extend_from_slice(MAGIC);
        match ours.step {
            Step::First => bytes.push(1),
            Step::Second { shares } => {
                bytes.push(2);
                bytes.extend_from_slice(&shares.to_le_bytes());
            }
        }
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&schema);
        bytes.extend_from_slice(ours.task.as_bytes());
        Ok(())
    }
}

fn step_of(bytes: &[u8]) -> Option<(Step, &[u8])> {
    match bytes.split_first()? {
        (1, rest) => Some((Step::First, rest)),
        (2, rest) => {
            let (shares, rest) = rest.split_first_chunk::<4>()?;
            Some((Step::Second { shares: u32::from_le_bytes(*shares) }, rest))
        }
        _ => None,
    }
}

/// The schema and the task, which follow each other.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

fn bytes_of(schema: &Schema) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    StreamWriter::try_new(&mut bytes, schema)?.finish()?;
    Ok(bytes)
}

fn schema_of(bytes: &[u8]) -> Result<SchemaRef> {
    Ok(StreamReader::try_new(bytes, None)?.schema())
}
