//! An open database for SQL. Not for running statements (see `run`) or for the contexts they run in (see
//! `context`), and not for changing anything: a session reads one snapshot.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use datafusion::catalog::SchemaProvider;
use datafusion::prelude::SessionContext;

use super::catalog::Catalog;
use super::chains::Chains;
#[cfg(feature = "cluster")]
use super::cluster::{Asked, Fragment, RunFragment};
use super::context::{self, CATALOG, Reservation, SCHEMA};
use super::files::{Folder, ReadFile};
use super::optimizer::AssumedOrder;
use super::own_tables::OwnTables;
use super::param::Param;
use super::relations::{Relation, relations};
use super::result_stream::ResultStream;
use super::run::Runner;
use super::runtime::{Runtime, stack_for};
use super::sql::{MAX_DEPTH, ParseOptions, SPELLINGS};
use super::statement::Statement;
use super::table::object_store::{DatabaseFiles, of_database};
use super::table_functions::{ChainsFunction, DiscoveredFunction, PartsFunction, TableFunctions};
use super::{failure, functions, validate};
use crate::chain::Chain;
use crate::error::Result;
use crate::library::{Queries, TABLE_FUNCTIONS};
use crate::schema::TableSpec;
use crate::store::{Database, Scanner};

/// Files of a bucket that a statement reads at the same time, at least.
const REMOTE_STREAMS: usize = 16;

/// Limits of a session.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionOptions {
    /// Number of threads for a statement; `None`: one per processor.
    pub threads: Option<usize>,
    /// Bytes that the statements of the session may hold at once before they write to temporary files;
    /// `None`: no limit. Sorts, groups and joins are counted, pages that are being decoded are not: leave
    /// some room for those.
    pub memory_limit: Option<u64>,
    /// Levels of nesting of a statement, beyond which it is refused; `None`: 1000. Each level takes 16 KiB of
    /// the stack of each thread, and planning takes time in their square.
    pub max_depth: Option<usize>,
}

impl SessionOptions {
    /// The greatest [`SessionOptions::max_depth`] that was tried.
    pub const DEEPEST: usize = 10_000;
}

/// A database open for queries.
pub struct Session {
    database: Arc<Database>,
    runner: Runner,
    catalog: Arc<Catalog>,
    relations: Vec<Relation>,
    chains: Chains,
    files: Folder,
    queries: Arc<Queries>,
}

impl Session {
    /// Opens a session on the snapshot `database`.
    ///
    /// # Errors
    /// When threads or a temporary folder are not available.
    pub fn open(database: Database, options: SessionOptions) -> Result<Self> {
        Self::open_with(database, options, Queries::shipped())
    }

    /// Opens a session with a library of SQL that may hold more than what ships in the binary.
    ///
    /// # Errors
    /// As [`Session::open`]; with file and line when a file of the library does not do what its header says.
    pub fn open_with(database: Database, options: SessionOptions, queries: Arc<Queries>) -> Result<Self> {
        Self::open_having(database, options, queries, OwnTables::default())
    }

    /// A new session with new threads on the same snapshot, with the views and tables that statements made.
    /// Chains have to be set again.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub(crate) fn renewed(&self, options: SessionOptions) -> Result<Self> {
        let (database, queries) = (Database::clone(&self.database), Arc::clone(&self.queries));
        Self::open_having(database, options, queries, self.catalog.own().clone())
    }

    fn open_having(
        database: Database,
        options: SessionOptions,
        queries: Arc<Queries>,
        own: OwnTables,
    ) -> Result<Self> {
        let available = || std::thread::available_parallelism().map_or(1, Into::into);
        let threads = options.threads.unwrap_or_else(available).max(1);
        let max_depth = options.max_depth.unwrap_or(MAX_DEPTH);
        let parse = ParseOptions { scale: Some(database.time_scale()), max_depth };
        // Behind a network, each stream waits most of the time.
        let streams =
            if database.location().folder().is_none() { threads.max(REMOTE_STREAMS) } else { threads };
        let context = context::new(streams, options.memory_limit, parse).map_err(failure::failed)?;
        let database = Arc::new(database);
        let catalog = Arc::new(Catalog::new(&database, &context, &queries, own));
        let url = of_database().map_err(failure::failed)?;
        context.register_object_store(url.as_ref(), Arc::new(DatabaseFiles(Arc::clone(&database))));
        let chains = Chains::default();
        let files = Folder::default();
        register(&context, &database, &catalog, &chains, &files)?;
        let relations = relations(&database, &queries);
        let names = relations.iter().map(|r| r.name.clone()).collect();
        let runner = Runner::new(context, Runtime::start(threads, stack_for(max_depth))?, names);
        validate::user_files(&runner, &queries)?;
        Ok(Self { database, runner, catalog, relations, chains, files, queries })
    }

    /// Statements of this session stop, with [`crate::error::ErrorKind::Interrupted`], soon after `flag`
    /// becomes true. The session never resets it.
    #[must_use]
    pub fn with_interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.runner.interrupt = flag;
        self
    }

    /// From now on, statements may read the files in a folder and its subfolders with `read_csv` and
    /// `read_parquet`. Otherwise they read no files but those of the database. It can be set once.
    #[must_use]
    pub fn with_files(self, folder: &Path) -> Self {
        self.files.set(folder);
        self
    }

    /// Sets the chains of the views `chain_instance` and `chain_latency`, and of the metrics over them. They
    /// can be set once.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when a chain has less than two steps or the name of another one.
    pub fn with_chains(self, chains: &[Chain]) -> Result<Self> {
        self.chains.set(chains)?;
        Ok(self)
    }

    /// From now on, a cluster runs the fragments of statements, and this process only the rest of them.
    #[cfg(feature = "cluster")]
    #[must_use]
    pub(crate) fn with_cluster(mut self, cluster: Arc<dyn RunFragment>) -> Self {
        self.runner.cluster = Some(cluster);
        self
    }

    /// Runs a fragment of a statement on the recordings of this session, as an executor does.
    ///
    /// # Errors
    /// Those of the statement; when its plan is another one here.
    #[cfg(feature = "cluster")]
    pub(crate) fn run_fragment(&self, asked: &Asked, fragment: &Fragment) -> Result<ResultStream> {
        self.runner.run_fragment(asked, fragment)
    }

    /// From now on, `table` has only the rows for which a condition in SQL over its columns is true.
    ///
    /// # Errors
    /// If it is not a condition, or names unknown columns.
    pub fn restrict(&self, table: &TableSpec, condition: &str) -> Result<()> {
        let restricted = self.runner.runtime().block_on(self.catalog.restrict(table.name, condition));
        restricted.map_err(|e| self.runner.error(&e, condition))
    }

    /// True if a statement has read a table, also through a view, since it was [restricted](Self::restrict).
    pub fn has_read_restricted(&self, table: &TableSpec) -> bool {
        self.catalog.has_read_restricted(table.name)
    }

    /// Runs a text that holds exactly one statement. `$NAME` in it stands for the parameter of that name.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when there is no statement or more than one, otherwise as
    /// [`Session::run`].
    pub fn sql(&self, text: &str, params: &[(&str, Param)]) -> Result<ResultStream> {
        self.runner.sql(text, params)
    }

    /// Runs a statement; returns once it is planned, so that errors in the SQL come from here.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Query`] with the place in the SQL when it cannot be planned;
    /// [`crate::error::ErrorKind::Database`] when a file is missing or damaged;
    /// [`crate::error::ErrorKind::Limit`] when memory runs out; [`crate::error::ErrorKind::Interrupted`]. The
    /// stream has the same.
    pub fn run(&self, statement: &Statement, params: &[(&str, Param)]) -> Result<ResultStream> {
        self.runner.run(statement, params, None)
    }

    /// Runs a statement of which only so many rows will be shown, or all for `None`: as with a LIMIT, it ends
    /// early, and a sort keeps no more rows than needed. Returns one row more, if there is one.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run_first(
        &self,
        statement: &Statement,
        params: &[(&str, Param)],
        shown: Option<usize>,
    ) -> Result<ResultStream> {
        self.runner.run(statement, params, shown.map(|rows| rows.saturating_add(1)))
    }

    /// [`Session::sql`] for all rows of a table: a sort is spilled to the disk before it takes much memory,
    /// if the session has a limit. There is one such statement at a time.
    pub(crate) fn sql_low_memory(&self, text: &str, params: &[(&str, Param)]) -> Result<ResultStream> {
        self.runner.with_context(context::low_memory(self.context())).sql(text, params)
    }

    /// [`Session::sql`] for a statement whose rows may be discarded: the rows of a process are assumed to be
    /// in the order of its instances. If they are not, the statement fails with an error
    /// [`is_out_of_order`](failure::is_out_of_order).
    pub(crate) fn sql_assuming(
        &self,
        assumed: AssumedOrder,
        text: &str,
        params: &[(&str, Param)],
    ) -> Result<ResultStream> {
        self.runner.with_context(context::assuming(self.context(), assumed)).sql(text, params)
    }

    /// The first column of a result, as strings, without NULL. Sorted, so that suggestions are always the
    /// same. For names, which are not many.
    pub(crate) fn names(&self, text: &str, params: &[(&str, Param)]) -> Result<Vec<String>> {
        self.runner.names(text, params)
    }

    /// The snapshot that is queried.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Reads tables in stored order, without SQL.
    pub(crate) fn scanner(&self) -> Scanner<'_> {
        Scanner { database: &self.database, threads: self.threads(), interrupt: self.interrupt() }
    }

    /// Tables and views, with their columns: for completion, help and suggestions. First those that
    /// statements made, then those that this database has rows for.
    pub fn relations(&self) -> Vec<Relation> {
        let own = self.catalog.own().relations();
        own.into_iter().chain(self.relations.iter().cloned()).collect()
    }

    /// The metrics and views of the session.
    pub fn queries(&self) -> &Arc<Queries> {
        &self.queries
    }

    /// The chains that were set, if any.
    pub fn given_chains(&self) -> &[Chain] {
        self.chains.all()
    }

    /// True if a statement has read rows of chains, also through a view, and no chains were set: it got none.
    /// False until the next one does.
    pub fn take_missed_chains(&self) -> bool {
        self.chains.take_missed()
    }

    /// Names of all functions, sorted: of rows, of groups, of windows, and those that give tables.
    pub fn functions(&self) -> Vec<String> {
        let state = self.context().state();
        let mut names: Vec<String> = state.scalar_functions().keys().cloned().collect();
        names.extend(state.aggregate_functions().keys().cloned());
        names.extend(state.window_functions().keys().cloned());
        names.extend(state.table_functions().keys().cloned());
        names.extend(TABLE_FUNCTIONS.iter().map(|f| f.name.to_owned()));
        names.extend(SPELLINGS.map(str::to_owned));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Number of threads that work on a statement.
    pub fn threads(&self) -> usize {
        self.runner.runtime().metrics().num_workers()
    }

    /// A reservation of 0 bytes from the limit of the session, under the name `consumer` in errors.
    pub(crate) fn reserve_memory(&self, consumer: &str) -> Reservation {
        Reservation::new(self.context(), consumer)
    }

    pub(super) fn context(&self) -> &SessionContext {
        self.runner.context()
    }

    pub(super) fn interrupt(&self) -> &Arc<AtomicBool> {
        &self.runner.interrupt
    }

    #[cfg(test)]
    pub(super) fn runner(&self) -> &Runner {
        &self.runner
    }
}

/// Registers tables, views and functions with a context.
fn register(
    context: &SessionContext,
    database: &Arc<Database>,
    catalog: &Arc<Catalog>,
    chains: &Chains,
    files: &Folder,
) -> Result<()> {
    if let Some(schemas) = context.catalog(CATALOG) {
        let functions = Arc::new(TableFunctions::new(Arc::clone(catalog)));
        context.register_relation_planner(functions).map_err(failure::failed)?;
        let schema: Arc<dyn SchemaProvider> = Arc::clone(catalog) as _;
        schemas.register_schema(SCHEMA, schema).map_err(failure::failed)?;
    }
    functions::functions(database).into_iter().for_each(|f| context.register_udf(f));
    functions::aggregates().into_iter().for_each(|f| context.register_udaf(f));
    for function in ChainsFunction::both(database, chains) {
        context.register_udtf(function.name(), Arc::new(function));
    }
    for function in DiscoveredFunction::both(database) {
        context.register_udtf(function.name(), Arc::new(function));
    }
    context.register_udtf("response_parts", Arc::new(PartsFunction::new(Arc::clone(database))));
    for function in ReadFile::both(files) {
        context.register_udtf(function.name(), Arc::new(function));
    }
    Ok(())
}
