//! The table functions `discovered_chains()` and `discovered_links()`: which event chains recordings show,
//! one recording at a time. Not how they are found (see [`crate::chain`]), nor how long they take (see
//! `chains`).

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DataFusionError, Result, internal_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{StreamExt, stream};

use super::chains::may_be;
use crate::chain::{Discovery, Limits};
use crate::engine::discovery::{chain_rows, chain_schema, events_of, link_rows, link_schema, take_in};
use crate::error::Error;
use crate::store::Database;

/// A result has batches of at most so many rows.
const BATCH_ROWS: usize = 8 * 1024;

/// What the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Chains,
    Links,
}

impl What {
    fn schema(self) -> SchemaRef {
        match self {
            Self::Chains => chain_schema(),
            Self::Links => link_schema(),
        }
    }
}

#[derive(Debug)]
pub(in crate::engine) struct DiscoveredFunction {
    database: Arc<Database>,
    what: What,
}

impl DiscoveredFunction {
    /// `discovered_chains()` and `discovered_links()`.
    pub fn both(database: &Arc<Database>) -> [Self; 2] {
        [What::Chains, What::Links].map(|what| Self { database: Arc::clone(database), what })
    }

    pub fn name(&self) -> &'static str {
        match self.what {
            What::Chains => "discovered_chains",
            What::Links => "discovered_links",
        }
    }
}

impl TableFunctionImpl for DiscoveredFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("{}() takes no arguments: a condition chooses the recording", self.name());
        }
        let (database, what) = (Arc::clone(&self.database), self.what);
        Ok(Arc::new(DiscoveredTable { database, what, schema: what.schema() }))
    }
}

#[derive(Debug)]
pub(in crate::engine) struct DiscoveredTable {
    database: Arc<Database>,
    what: What,
    schema: SchemaRef,
}

/// A failure of the database, for the engine.
fn failed(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

#[async_trait]
impl TableProvider for DiscoveredTable {
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
        let mut parts: Vec<Arc<dyn PartitionStream>> = Vec::new();
        for recording in self.database.recordings().map_err(failed)?.iter() {
            if !filters.iter().all(|filter| may_be(filter, "recording", &recording.name)) {
                continue;
            }
            let plan = state.create_logical_plan(&events_of(&recording.name)).await?;
            let events = state.create_physical_plan(&plan).await?;
            parts.push(Arc::new(Part {
                recording: recording.name.clone(),
                what: self.what,
                // One partition without a merge: the rows are sorted.
                events: Arc::new(CoalescePartitionsExec::new(events)),
                schema: Arc::clone(&self.schema),
            }));
        }
        let schema = Arc::clone(&self.schema);
        Ok(Arc::new(StreamingTableExec::try_new(schema, parts, projection, Vec::new(), false, None)?))
    }
}

/// What one recording shows.
#[derive(Debug)]
struct Part {
    recording: String,
    what: What,
    events: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (what, recording) = (self.what, self.recording.clone());
        let discovery = Mutex::new(Discovery::new(Limits::default()));
        let batches = match self.events.execute(0, context) {
            Ok(events) => {
                let discover = move |batch: Option<Result<RecordBatch>>| {
                    let mut discovery = discovery.lock().unwrap_or_else(PoisonError::into_inner);
                    match batch {
                        Some(Ok(batch)) => match take_in(&mut discovery, &batch) {
                            Ok(()) => Vec::new(),
                            Err(e) => vec![Err(failed(e))],
                        },
                        Some(Err(e)) => vec![Err(e)],
                        None => rows(what, &recording, &discovery),
                    }
                };
                let batches = events.map(Some).chain(stream::iter([None])).map(discover);
                batches.map(stream::iter).flatten().left_stream()
            }
            Err(e) => stream::iter([Err(e)]).right_stream(),
        };
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches))
    }
}

fn rows(what: What, recording: &str, discovery: &Discovery) -> Vec<Result<RecordBatch>> {
    let found = discovery.found(1);
    match what {
        What::Chains => found
            .chains
            .chunks(BATCH_ROWS)
            .map(|chains| chain_rows(recording, chains).map_err(failed))
            .collect(),
        What::Links => {
            found.links.chunks(BATCH_ROWS).map(|links| link_rows(recording, links).map_err(failed)).collect()
        }
    }
}
