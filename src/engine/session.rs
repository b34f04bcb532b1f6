//! An open database that SQL can be asked of: limits, threads, the views of the library. Not for running statements
//! (see `run`), and not for changing anything: a session reads one snapshot.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use datafusion::catalog::SchemaProvider;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, MemoryLimit, MemoryPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::optimizer::OptimizerRule;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::catalog::Catalog;
use super::chains::Chains;
use super::operators::{self, Trust, UseOperators};
use super::optimizer::FindLatest;
use super::relations::{self, Relation};
use super::runtime::Runtime;
use super::table_functions::{ChainsFunction, Planner, TableFunctions};
use super::{failure, functions};
use crate::error::Result;
use crate::library::{Queries, TABLE_FUNCTIONS};
use crate::schema::TableSpec;
use crate::store::{Database, Scanner};

/// Limits of a session.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionOptions {
    /// Number of threads that work on a statement; `None`: one per processor.
    pub threads: Option<usize>,
    /// Bytes that the statements of the session may hold at once before they write to temporary files; `None`: no
    /// limit. The engine counts sorts, groups and joins, not the pages being decoded: leave it some room.
    pub memory_limit: Option<u64>,
}

/// Where tables and views are, in the words of the engine.
const CATALOG: &str = "btfdb";
const SCHEMA: &str = "main";
/// Memory set aside for merging spilled runs, when there is a limit of plenty.
const SPILL_RESERVATION: u64 = 10 << 20;
/// Bytes for the sorts of [`Session::sparing`].
const SPARING: usize = 160 << 20;
/// How many users of memory an error names.
const NAMED_CONSUMERS: usize = 3;

/// A database open for queries.
pub struct Session {
    database: Arc<Database>,
    context: SessionContext,
    runtime: Arc<Runtime>,
    catalog: Arc<Catalog>,
    relations: Vec<Relation>,
    chains: Chains,
    queries: Arc<Queries>,
    interrupt: Arc<AtomicBool>,
}

impl Session {
    /// Opens a session on the snapshot that `database` is.
    ///
    /// # Errors
    /// When threads or a temporary folder cannot be had.
    pub fn open(database: Database, options: SessionOptions) -> Result<Self> {
        Self::open_with(database, options, Queries::shipped())
    }

    /// Opens a session with a library of SQL that holds more than what ships in the binary.
    ///
    /// # Errors
    /// As [`Session::open`]; with file and line when a file of the library does not do what its header says.
    pub fn open_with(database: Database, options: SessionOptions, queries: Arc<Queries>) -> Result<Self> {
        let SessionOptions { threads, memory_limit } = options;
        let threads =
            threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1).max(1);
        let mut config = SessionConfig::new()
            .with_target_partitions(threads)
            .with_default_catalog_and_schema(CATALOG, SCHEMA)
            .with_information_schema(true);
        config.options_mut().sql_parser.collect_spans = true;
        let mut environment = RuntimeEnvBuilder::new().with_disk_manager_builder(
            DiskManagerBuilder::default().with_mode(DiskManagerMode::OsTmpDirectory),
        );
        if let Some(limit) = memory_limit {
            let reservation = SPILL_RESERVATION.min(limit / 16 / threads as u64);
            config =
                config.with_sort_spill_reservation_bytes(usize::try_from(reservation).unwrap_or(usize::MAX));
            environment = environment.with_memory_pool(pool(usize::try_from(limit).unwrap_or(usize::MAX)));
        }
        let engine = |e| failure::from_engine(&e, "", &[]);
        let environment = environment.build_arc().map_err(engine)?;
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(environment)
            .with_default_features()
            .with_query_planner(Arc::new(Planner))
            .build();
        let rules = operators::with(state.physical_optimizers(), UseOperators { trust: Trust::Nothing });
        let first: Arc<dyn OptimizerRule + Send + Sync> = Arc::new(FindLatest);
        let logical = std::iter::once(first).chain(state.optimizers().iter().cloned()).collect();
        let state = SessionStateBuilder::new_from_existing(state)
            .with_optimizer_rules(logical)
            .with_physical_optimizer_rules(rules)
            .build();
        let context = SessionContext::new_with_state(state);
        let database = Arc::new(database);
        let catalog = Arc::new(Catalog::new(&database, &context, &queries));
        if let Some(schemas) = context.catalog(CATALOG) {
            let functions = Arc::new(TableFunctions::new(Arc::clone(&catalog)));
            context.register_relation_planner(functions).map_err(engine)?;
            let schema: Arc<dyn SchemaProvider> = Arc::clone(&catalog) as _;
            schemas.register_schema(SCHEMA, schema).map_err(engine)?;
        }
        functions::functions(&database).into_iter().for_each(|f| context.register_udf(f));
        functions::aggregates().into_iter().for_each(|f| context.register_udaf(f));
        let chains = Chains::default();
        let function = ChainsFunction::new(Arc::clone(&database), Arc::clone(&chains));
        context.register_udtf("chains", Arc::new(function));
        let session = Self {
            database,
            context,
            runtime: Arc::new(Runtime::start(threads)?),
            catalog,
            relations: relations::relations(&queries),
            chains,
            queries,
            interrupt: Arc::new(AtomicBool::new(false)),
        };
        session.validate()?;
        Ok(session)
    }

    /// Statements of this session stop, with [`crate::error::ErrorKind::Interrupted`], soon after `flag` becomes true. The session
    /// never resets it.
    #[must_use]
    pub fn with_interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.interrupt = flag;
        self
    }

    /// From now on, `table` has only the rows for which a condition in SQL over its columns is true.
    ///
    /// # Errors
    /// When it is no condition, or names what is not there.
    pub fn restrict(&self, table: &TableSpec, condition: &str) -> Result<()> {
        let restricted = self.runtime.block_on(self.catalog.restrict(table.name, condition));
        restricted.map_err(|e| failure::from_engine(&e, condition, &self.relation_names()))
    }

    /// The snapshot that is queried.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Tables and views, with their columns: for completion, help and suggestions.
    pub fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// The metrics and views of the session.
    pub fn queries(&self) -> &Arc<Queries> {
        &self.queries
    }

    /// Names of all functions, sorted: of rows, of groups, of windows, and those that give tables.
    pub fn functions(&self) -> Vec<String> {
        let state = self.context.state();
        let mut names: Vec<String> = state.scalar_functions().keys().cloned().collect();
        names.extend(state.aggregate_functions().keys().cloned());
        names.extend(state.window_functions().keys().cloned());
        names.extend(state.table_functions().keys().cloned());
        names.extend(TABLE_FUNCTIONS.iter().map(|f| f.name.to_owned()));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Number of threads that work on a statement.
    pub fn threads(&self) -> usize {
        self.runtime.metrics().num_workers()
    }

    /// Reads tables as they lie, without SQL.
    pub(crate) fn scanner(&self) -> Scanner<'_> {
        Scanner { database: &self.database, threads: self.threads(), interrupt: &self.interrupt }
    }

    pub(super) fn context(&self) -> &SessionContext {
        &self.context
    }

    /// The same context for statements whose rows may be thrown away: it takes the rows of a process to be in the order of
    /// its instances, and fails with [`operators::OutOfOrder`] where they are not.
    pub(super) fn trusting(&self, trust: Trust) -> SessionContext {
        let state = self.context.state();
        let rules = operators::with(state.physical_optimizers(), UseOperators { trust });
        let state =
            SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rules(rules).build();
        SessionContext::new_with_state(state)
    }

    /// The same context with little memory for sorts, if there is a limit: one of all rows of a long recording goes by way of the disk, and
    /// the more memory it is given, the more it takes. There is only one sort at a time: of two, one takes what the other set
    /// aside for its merge, which fails then.
    pub(super) fn sparing(&self) -> SessionContext {
        let state = self.context.state();
        let mut environment = RuntimeEnv::clone(state.runtime_env());
        if let MemoryLimit::Finite(limit) = environment.memory_pool.memory_limit() {
            environment.memory_pool = pool(limit.min(SPARING));
        }
        let config = state.config().clone().with_target_partitions(1);
        let state = SessionStateBuilder::new_from_existing(state)
            .with_config(config)
            .with_runtime_env(Arc::new(environment))
            .build();
        SessionContext::new_with_state(state)
    }

    /// The chains of events that were given.
    pub(super) fn chains(&self) -> &Chains {
        &self.chains
    }

    pub(super) fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    pub(super) fn interrupt(&self) -> &Arc<AtomicBool> {
        &self.interrupt
    }

    pub(super) fn relation_names(&self) -> Vec<String> {
        self.relations.iter().map(|r| r.name.clone()).collect()
    }
}

/// So many bytes for all, whose largest users an error names.
fn pool(limit: usize) -> Arc<dyn MemoryPool> {
    let named = std::num::NonZeroUsize::new(NAMED_CONSUMERS).unwrap_or(std::num::NonZeroUsize::MIN);
    Arc::new(TrackConsumersPool::new(FairSpillPool::new(limit), named))
}
