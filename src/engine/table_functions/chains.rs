//! The table function `chains()`: reads the events of the chains in the order of time, a recording at a time,
//! and returns what follows from what as rows. Not for what follows from what (see `follow`).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, Int64Builder, ListBuilder, RecordBatch, StringViewBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
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

use crate::btf::{Action, EntityType};
use crate::chain::{Cause, Chain, ChainStep, Event, Follower, Link, Links, Occurrence};
use crate::engine::chains::Chains;
use crate::schema::result::{self, Integers, Texts};
use crate::store::Database;

/// A gap, among the events.
const GAP: &str = "gap";

#[derive(Debug)]
pub(in crate::engine) struct ChainsFunction {
    database: Arc<Database>,
    chains: Chains,
}

impl ChainsFunction {
    pub fn new(database: Arc<Database>, chains: Chains) -> Self {
        Self { database, chains }
    }
}

impl TableFunctionImpl for ChainsFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("chains() takes no arguments: the chains are those of --chains");
        }
        Ok(Arc::new(ChainsTable {
            database: Arc::clone(&self.database),
            chains: Arc::clone(&self.chains),
            schema: schema(),
        }))
    }
}

/// The columns of `chains()`, as `queries/chains/chain_instance.sql` describes them, and the entities of the
/// first and the last step of the chain.
fn schema() -> SchemaRef {
    let text = |name| Field::new(name, DataType::Utf8View, false);
    let time = |name, null| Field::new(name, DataType::Int64, null);
    let steps = DataType::new_list(DataType::Int64, true);
    Arc::new(Schema::new(vec![
        text("recording"),
        text("chain"),
        time("begin_at", false),
        time("end_at", true),
        time("age", true),
        time("reaction", true),
        text("outcome"),
        Field::new("step_at", steps, false),
        text("first_entity"),
        text("last_entity"),
    ]))
}

#[derive(Debug)]
pub(in crate::engine) struct ChainsTable {
    database: Arc<Database>,
    chains: Chains,
    schema: SchemaRef,
}

/// False if a filter is certain to exclude all rows with that name.
fn may_be(filter: &Expr, column: &str, value: &str) -> bool {
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
            let plan = state.create_logical_plan(&events_of(&chains, &recording.name)).await?;
            let events = state.create_physical_plan(&plan).await?;
            parts.push(Arc::new(Part {
                recording: recording.name.clone(),
                chains: Arc::clone(&chains),
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

/// The events of a recording that are steps of a chain, and its gaps, in order.
fn events_of(chains: &[Chain], recording: &str) -> String {
    let mut conditions: Vec<String> =
        chains.iter().flat_map(|c| &c.steps).map(ChainStep::condition).collect();
    let steps = chains.iter().flat_map(|c| &c.steps);
    let names: BTreeSet<&str> =
        steps.flat_map(|s| s.source.as_deref().into_iter().chain([&*s.entity])).collect();
    let names: Vec<String> = names.iter().map(|name| format!("'{}'", name.replace('\'', "''"))).collect();
    let names = names.join(", ");
    if !names.is_empty() {
        // What BTF names as causes between the steps.
        let activation = "is_action(action, 'activate', 'mtalimitexceeded')";
        conditions.push(format!("({activation} AND target IN ({names}))"));
        conditions.push(format!("(is_action(action, 'trigger') AND source IN ({names}))"));
    }
    let (steps, recording) = (conditions.join(" OR "), recording.replace('\'', "''"));
    // Events at the moment a gap begins are before it.
    format!(
        "SELECT time, seq, target_type, target, target_instance, action, source, source_instance \
         FROM btf_event WHERE recording = '{recording}' AND ({steps}) \
         UNION ALL SELECT begin_at, 9223372036854775807, '{GAP}', NULL, NULL, NULL, NULL, NULL \
         FROM gap WHERE recording = '{recording}' ORDER BY time, seq"
    )
}

#[derive(Debug)]
struct Part {
    recording: String,
    chains: Arc<[Chain]>,
    events: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = Mutex::new(Rows::new(&self.recording, &self.chains, Arc::clone(&self.schema)));
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

/// Events of a recording → rows.
struct Rows {
    recording: String,
    chains: Arc<[Chain]>,
    followers: Vec<Follower>,
    links: Links,
    schema: SchemaRef,
    found: Vec<(usize, Occurrence)>,
}

struct Columns {
    time: Integers,
    target_type: Texts,
    target: Texts,
    target_instance: Integers,
    action: Texts,
    source: Texts,
    source_instance: Integers,
}

impl Rows {
    fn new(recording: &str, chains: &Arc<[Chain]>, schema: SchemaRef) -> Self {
        let follower = |chain: &Chain| Follower::new(chain.steps.iter().map(|s| s.instance).collect());
        Self {
            recording: recording.to_owned(),
            chains: Arc::clone(chains),
            followers: chains.iter().map(follower).collect(),
            links: Links::default(),
            schema,
            found: Vec::new(),
        }
    }

    fn follow(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = Columns::of(batch)?;
        for row in 0..batch.num_rows() {
            if columns.target_type.value(row) == GAP {
                self.cut();
                continue;
            }
            self.link(&columns, row);
            let (time, event) = (columns.time.value(row), columns.link(row));
            for (i, (chain, follower)) in self.chains.iter().zip(&mut self.followers).enumerate() {
                for (step, wanted) in chain.steps.iter().enumerate().rev() {
                    if !columns.is(row, wanted) {
                        continue;
                    }
                    let before = step.checked_sub(1).and_then(|before| chain.steps.get(before));
                    let cause =
                        before.map_or(Cause::Latest, |before| self.links.cause(before, wanted, event));
                    let next = chain.steps.get(step + 1).filter(|next| wanted.may_be_named_by(next));
                    let instance = event.target.1.filter(|_| next.is_some());
                    let mut found = Vec::new();
                    let (process, overlaps) = (event.process, event.overlaps);
                    follower.push(Event { step, time, process, instance, overlaps, cause }, &mut found);
                    self.found.extend(found.into_iter().map(|o| (i, o)));
                }
            }
        }
        self.batch()
    }

    /// Learns what the event says of the causes of others.
    fn link(&mut self, columns: &Columns, row: usize) {
        let (source, target) = (&columns.source, &columns.target);
        let source = source.get(row).zip(columns.source_instance.get(row));
        let target = target.get(row).zip(columns.target_instance.get(row));
        let (Some(source), Some(target)) = (source, target) else { return };
        match Action::parse_tolerant(columns.action.value(row)) {
            Some(Action::Activate) => self.links.activation(source, target, false),
            Some(Action::Trigger) => self.links.trigger(source, target),
            Some(Action::MtaLimitExceeded) => {
                self.links.activation(source, target, true);
                for (i, (chain, follower)) in self.chains.iter().zip(&mut self.followers).enumerate() {
                    for (step, _) in chain.steps.iter().enumerate().filter(|(_, s)| s.entity == source.0) {
                        let mut found = Vec::new();
                        follower.refuse(step, source.1, &mut found);
                        self.found.extend(found.into_iter().map(|o| (i, o)));
                    }
                }
            }
            _ => {}
        }
    }

    fn end(&mut self) -> Result<RecordBatch> {
        self.cut();
        self.batch()
    }

    fn cut(&mut self) {
        for (i, follower) in self.followers.iter_mut().enumerate() {
            let mut found = Vec::new();
            follower.cut(&mut found);
            self.found.extend(found.into_iter().map(|o| (i, o)));
        }
    }

    /// The rows since the last time.
    fn batch(&mut self) -> Result<RecordBatch> {
        let found = std::mem::take(&mut self.found);
        let (mut recordings, mut chains) = (StringViewBuilder::new(), StringViewBuilder::new());
        let (mut outcomes, mut steps) = (StringViewBuilder::new(), ListBuilder::new(Int64Builder::new()));
        let (mut firsts, mut lasts) = (StringViewBuilder::new(), StringViewBuilder::new());
        let [mut begins, mut ends, mut ages, mut reactions] = [(); 4].map(|()| Int64Builder::new());
        for (i, occurrence) in &found {
            recordings.append_value(&self.recording);
            let chain = self.chains.get(*i);
            chains.append_value(chain.map_or("", |c| &c.name));
            firsts.append_value(chain.and_then(|c| c.steps.first()).map_or("", |step| &step.entity));
            lasts.append_value(chain.and_then(|c| c.steps.last()).map_or("", |step| &step.entity));
            begins.append_value(occurrence.begin);
            let end = occurrence.times.last().filter(|_| occurrence.times.len() > 1);
            ends.append_option(end.copied());
            ages.append_option(end.map(|end| end - occurrence.begin));
            reactions.append_option(occurrence.reaction);
            outcomes.append_value(occurrence.outcome.as_str());
            steps.append_value(occurrence.times.iter().copied().map(Some));
        }
        let columns: Vec<Arc<dyn Array>> = vec![
            Arc::new(recordings.finish()),
            Arc::new(chains.finish()),
            Arc::new(begins.finish()),
            Arc::new(ends.finish()),
            Arc::new(ages.finish()),
            Arc::new(reactions.finish()),
            Arc::new(outcomes.finish()),
            Arc::new(steps.finish()),
            Arc::new(firsts.finish()),
            Arc::new(lasts.finish()),
        ];
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

impl Columns {
    /// The columns of [`events_of`], in its order.
    fn of(batch: &RecordBatch) -> Result<Self> {
        type Row = ([Integers; 2], [Texts; 2], Integers, [Texts; 2], Integers);
        let columns = result::columns::<Row>(batch).map_err(|e| DataFusionError::External(Box::new(e)))?;
        let ([time, _], [target_type, target], target_instance, [action, source], source_instance) = columns;
        Ok(Self { time, target_type, target, target_instance, action, source, source_instance })
    }

    fn is(&self, row: usize, step: &ChainStep) -> bool {
        self.target.value(row) == step.entity
            && Action::same(self.action.value(row), &step.action)
            && step.source.as_deref().is_none_or(|source| self.source.value(row) == source)
    }

    /// Who an event is about, and who causes it.
    fn link(&self, row: usize) -> Link<'_> {
        let kind = EntityType::parse_tolerant(self.target_type.value(row));
        let is_process = kind.is_some_and(EntityType::is_process);
        let (target, source) = (self.target.value(row), self.source.value(row));
        let (of_target, of_source) = (self.target_instance.get(row), self.source_instance.get(row));
        let (name, instance) = if is_process { (target, of_target) } else { (source, of_source) };
        let has_instances = is_process || kind == Some(EntityType::Stimulus);
        Link {
            target: (target, of_target.filter(|_| has_instances)),
            source: (source, of_source),
            overlaps: kind == Some(EntityType::Isr),
            process: instance.map(|instance| (name, instance)),
        }
    }
}
