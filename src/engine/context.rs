//! The contexts of DataFusion that a session runs statements in: limits of memory, optimizer rules, and
//! variants for statements that may fail or need little memory. Not for which tables exist (see `catalog`).

use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation, TrackConsumersPool,
};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::optimizer::OptimizerRule;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::cast_names::CastNames;
use super::failure::failed;
use super::functions::JsonParts;
use super::optimizer::{self, AssumedOrder, CheckArithmetic, FindAsOfJoins};
use super::sql::ParseOptions;
use super::table_functions::Planner;

/// Where tables and views are, in names of SQL: `btfdb.main.TABLE`.
pub(super) const CATALOG: &str = "btfdb";
/// See [`CATALOG`].
pub(super) const SCHEMA: &str = "main";
/// Memory set aside for merging spilled runs, unless the limit is small.
const SPILL_RESERVATION: u64 = 10 << 20;
/// Memory limit of [`low_memory`], in bytes.
const LOW_MEMORY: usize = 160 << 20;
/// How many users of memory an error names.
const NAMED_CONSUMERS: usize = 3;

/// A context with `threads` threads. For `memory_limit` see [`super::SessionOptions`].
pub(super) fn new(threads: usize, memory_limit: Option<u64>, parse: ParseOptions) -> Result<SessionContext> {
    let mut config = SessionConfig::new()
        .with_target_partitions(threads)
        .with_default_catalog_and_schema(CATALOG, SCHEMA)
        .with_information_schema(true)
        .with_extension(Arc::new(parse));
    config.options_mut().sql_parser.collect_spans = true;
    // `DISTINCT CASE WHEN note LIKE 'T%' THEN note ELSE 'x' END`: the logical plan knows it is never NULL,
    // the physical one does not, and the engine takes the difference for a fault of its own.
    config.options_mut().execution.skip_physical_aggregate_schema_check = true;
    // `max(a || b), min(c)`: the least `c` so far became a condition of the scan, which then left out rows of
    // the greatest `a || b`. Which ones depended on the order in which threads came.
    config.options_mut().optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::OsTmpDirectory);
    let mut environment = RuntimeEnvBuilder::new().with_disk_manager_builder(disk);
    if let Some(limit) = memory_limit {
        let reservation = SPILL_RESERVATION.min(limit / 16 / threads as u64);
        let reservation = usize::try_from(reservation).unwrap_or(usize::MAX);
        config = config.with_sort_spill_reservation_bytes(reservation);
        // Runs that are joined to be sorted at once take more memory than was counted for them.
        let at_once = config.options().execution.sort_in_place_threshold_bytes.min(reservation);
        config = config.with_sort_in_place_threshold_bytes(at_once);
        environment = environment.with_memory_pool(pool(usize::try_from(limit).unwrap_or(usize::MAX)));
    }
    Ok(in_environment(config, environment.build_arc()?))
}

/// A context for statements of an operation, which runs for a statement: with its configuration and memory.
pub(super) fn in_environment(config: SessionConfig, environment: Arc<RuntimeEnv>) -> SessionContext {
    // The configuration of a state that was made from another one says that there is a catalog.
    let config = config.with_create_default_catalog_and_schema(true);
    let state = SessionStateBuilder::new()
        .with_expr_planners(vec![Arc::new(CastNames), Arc::new(JsonParts)])
        .with_config(config)
        .with_runtime_env(environment)
        .with_default_features()
        .with_query_planner(Arc::new(Planner))
        .with_analyzer_rule(Arc::new(CheckArithmetic))
        .build();
    let rules = optimizer::with_ours(state.physical_optimizers(), AssumedOrder::None);
    let first: Arc<dyn OptimizerRule + Send + Sync> = Arc::new(FindAsOfJoins);
    // `GROUP BY t.time, CAST(t.time AS VARCHAR)`: for the rule, both columns have one name, and it fails.
    let others =
        state.optimizers().iter().filter(|rule| rule.name() != "eliminate_group_by_constant").cloned();
    let logical = std::iter::once(first).chain(others).collect();
    let state = SessionStateBuilder::new_from_existing(state)
        .with_optimizer_rules(logical)
        .with_physical_optimizer_rules(rules)
        .build();
    SessionContext::new_with_state(state)
}

/// The same context with an assumption about the order of rows; see [`AssumedOrder`].
pub(super) fn assuming(context: &SessionContext, assumed: AssumedOrder) -> SessionContext {
    let state = context.state();
    let rules = optimizer::with_ours(state.physical_optimizers(), assumed);
    let state = SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rules(rules).build();
    SessionContext::new_with_state(state)
}

/// The same context with little memory for sorts, if there is a limit. A sort of all rows of a long recording
/// is spilled to the disk in any case, and would first take as much memory as it may. One partition, because
/// of two sorts one would take the memory that the other needs for its merge, which then fails.
pub(super) fn low_memory(context: &SessionContext) -> SessionContext {
    let state = context.state();
    let mut environment = RuntimeEnv::clone(state.runtime_env());
    if let MemoryLimit::Finite(limit) = environment.memory_pool.memory_limit() {
        environment.memory_pool = pool(limit.min(LOW_MEMORY));
    }
    let config = state.config().clone().with_target_partitions(1);
    let state = SessionStateBuilder::new_from_existing(state)
        .with_config(config)
        .with_runtime_env(Arc::new(environment))
        .build();
    SessionContext::new_with_state(state)
}

/// A pool of `limit` bytes for all consumers; an error names the largest of them.
fn pool(limit: usize) -> Arc<dyn MemoryPool> {
    let named = NonZeroUsize::new(NAMED_CONSUMERS).unwrap_or(NonZeroUsize::MIN);
    Arc::new(TrackConsumersPool::new(FairSpillPool::new(limit), named))
}

/// Bytes that no operator of the engine holds, but that count against the limit until this is dropped.
pub(crate) struct Reservation(MemoryReservation);

impl Reservation {
    /// 0 bytes, under the name `consumer` in errors.
    pub(super) fn new(context: &SessionContext, consumer: &str) -> Self {
        Self(MemoryConsumer::new(consumer).register(&context.runtime_env().memory_pool))
    }

    /// Reserves more bytes. Fails with `ErrorKind::Limit` if the session does not have as many left.
    pub fn grow(&self, bytes: usize) -> crate::error::Result<()> {
        self.0.try_grow(bytes).map_err(failed)
    }
}
