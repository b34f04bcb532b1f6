//! The table functions `chains()` and `chain_latencies()`: read the events of the chains in the order of
//! time, a recording at a time. Not for their rows (see `rows`), nor for which chains there are (see
//! `discovered`).

mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DataFusionError, Result, internal_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::{Expr, Operator, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{StreamExt, stream};

use crate::chain::Chain;
use crate::engine::chains::Chains;
use crate::schema::tables;
use crate::sql_text::{literal, literals};
use crate::store::Database;
use rows::{Rows, schema};

/// A gap, among the events: its core, if it is one of a core only, and its end.
const GAP: &str = "gap";
/// A core that an entity was seen on, before all events.
const HOME: &str = "home";

/// What the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// The ways from first steps.
    Ways,
    /// Latencies, by definitions.
    Latencies,
}

#[derive(Debug)]
pub(in crate::engine) struct ChainsFunction {
    database: Arc<Database>,
    chains: Chains,
    what: What,
}

impl ChainsFunction {
    /// `chains()` and `chain_latencies()`.
    pub fn both(database: &Arc<Database>, chains: &Chains) -> [Self; 2] {
        [What::Ways, What::Latencies].map(|what| Self {
            database: Arc::clone(database),
            chains: Arc::clone(chains),
            what,
        })
    }

    pub fn name(&self) -> &'static str {
        match self.what {
            What::Ways => "chains",
            What::Latencies => "chain_latencies",
        }
    }
}

impl TableFunctionImpl for ChainsFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("{}() takes no arguments: the chains are those of --chains", self.name());
        }
        Ok(Arc::new(ChainsTable {
            database: Arc::clone(&self.database),
            chains: Arc::clone(&self.chains),
            what: self.what,
            schema: schema(self.what),
        }))
    }
}

#[derive(Debug)]
pub(in crate::engine) struct ChainsTable {
    database: Arc<Database>,
    chains: Chains,
    what: What,
    schema: SchemaRef,
}

/// False if a filter is certain to exclude all rows with that name.
pub(super) fn may_be(filter: &Expr, column: &str, value: &str) -> bool {
    let Expr::BinaryExpr(binary) = filter else { return true };
    let literal = match (binary.op, binary.left.as_ref(), binary.right.as_ref()) {
        (Operator::Eq, Expr::Column(c), Expr::Literal(v, _)) if c.name == column => v,
        (Operator::Eq, Expr::Literal(v, _), Expr::Column(c)) if c.name == column => v,
        _ => return true,
    };
    literal.try_as_str().flatten().is_none_or(|v| v == value)
}

#[async_trait]
impl TableProvider for ChainsTable {
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
        let may_match = |column: &str, value: &str| filters.iter().all(|f| may_be(f, column, value));
        let wanted = |chain: &&Chain| !chain.is_silent && may_match("chain", &chain.name);
        let chains: Arc<[Chain]> = self.chains.read().iter().filter(wanted).cloned().collect();
        let mut parts: Vec<Arc<dyn PartitionStream>> = Vec::new();
        let failed = |e| DataFusionError::External(Box::new(e));
        for recording in
            self.database.recordings().map_err(failed)?.iter().filter(|r| may_match("recording", &r.name))
        {
            if chains.is_empty() {
                break;
            }
            let has_gaps = self.database.has(tables::GAP, &*recording.name).map_err(failed)?;
            let plan = state.create_logical_plan(&events_of(&chains, &recording.name, has_gaps)).await?;
            let events = state.create_physical_plan(&plan).await?;
            parts.push(Arc::new(Part {
                recording: recording.name.clone(),
                chains: Arc::clone(&chains),
                what: self.what,
                // One partition without a merge: the rows are sorted.
                events: Arc::new(CoalescePartitionsExec::new(events)),
                schema: Arc::clone(&self.schema),
            }));
        }
        let plan = StreamingTableExec::try_new(
            Arc::clone(&self.schema),
            parts,
            projection,
            Vec::new(),
            false,
            None,
        )?;
        Ok(Arc::new(plan))
    }
}

/// The events of a recording that are steps of a chain, and its gaps, in order; before them, if there are
/// gaps, the cores of who acts in the steps: where that is does not matter otherwise.
fn events_of(chains: &[Chain], recording: &str, has_gaps: bool) -> String {
    let steps = || chains.iter().flat_map(|chain| &chain.steps);
    // One condition for each action, however many chains there are; what is no step in spite of it is not
    // followed.
    let mut entities: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for step in steps() {
        entities.entry(&step.action).or_default().insert(&step.entity);
    }
    let of_action = |(action, entities): (&str, BTreeSet<&str>)| {
        let (action, entities) = (literal(action), literals(entities));
        format!("(is_action(action, {action}) AND target IN ({entities}))")
    };
    let mut conditions: Vec<String> = entities.into_iter().map(of_action).collect();
    let names = steps().flat_map(|s| s.source.as_deref().into_iter().chain([&*s.entity]));
    let names = literals(names.collect::<BTreeSet<_>>());
    if !names.is_empty() {
        // What BTF names as causes between the steps.
        let activation = "is_action(action, 'activate', 'mtalimitexceeded')";
        conditions.push(format!("({activation} AND target IN ({names}))"));
        conditions.push(format!("(is_action(action, 'trigger') AND source IN ({names}))"));
    }
    let (steps, recording) = (conditions.join(" OR "), literal(recording));
    let mut sql = format!(
        "SELECT time, seq, target_type, target, target_instance, action, source, source_instance \
         FROM btf_event WHERE recording = {recording} AND ({steps})"
    );
    if has_gaps {
        // Events at the moment a gap begins are before it.
        let _ = write!(
            sql,
            " UNION ALL SELECT begin_at, {}, '{GAP}', core, end_at, NULL, NULL, NULL FROM gap \
             WHERE recording = {recording}",
            i64::MAX
        );
        for (table, entity) in [("process_state", "process"), ("runnable_state", "runnable")] {
            let _ = write!(
                sql,
                " UNION ALL SELECT DISTINCT {}, 0, '{HOME}', {entity}, NULL, NULL, core, NULL FROM {table} \
                 WHERE recording = {recording} AND core IS NOT NULL AND {entity} IN ({names})",
                i64::MIN
            );
        }
    }
    sql + " ORDER BY time, seq"
}

#[derive(Debug)]
struct Part {
    recording: String,
    chains: Arc<[Chain]>,
    what: What,
    events: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = Mutex::new(Rows::new(&self.recording, &self.chains, self.what));
        let schema = Arc::clone(&self.schema);
        let batches = match self.events.execute(0, context) {
            Ok(events) => {
                let batches = events.map(Some).chain(stream::iter([None]));
                let follow = move |batch: Option<Result<RecordBatch>>| {
                    let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                    match batch {
                        Some(batch) => rows.follow(&batch?),
                        None => rows.end(),
                    }
                };
                batches.map(follow).left_stream()
            }
            Err(e) => stream::iter([Err(e)]).right_stream(),
        };
        Box::pin(RecordBatchStreamAdapter::new(schema, batches))
    }
}
