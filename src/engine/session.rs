//! An open database for SQL. Not for running statements (see `run`) or for the contexts they run in (see
//! `context`), and not for changing anything: a session reads one snapshot.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::catalog::Catalog;
use super::chains::Chains;
#[cfg(feature = "cluster")]
use super::cluster::{Asked, Fragment, RunFragment};
use super::context::{self, Reservation};
use super::files::Folder;
use super::optimizer::AssumedOrder;
use super::own_tables::OwnTables;
use super::param::Param;
use super::register::{register, register_chains};
use super::relations::{Relation, relations};
use super::result_stream::ResultStream;
use super::run::Runner;
use super::runtime::{Runtime, stack_for};
use super::sql::{MAX_DEPTH, ParseOptions, SPELLINGS};
use super::statement::Statement;
use super::table::object_store::{DatabaseFiles, of_database};
use super::table_functions::{MadeCall, MakeRows};
use super::{failure, validate};
use crate::chain::Chain;
use crate::error::{Error, Result};
use crate::library::{Queries, TABLE_FUNCTIONS};
use crate::schema::TableSpec;
use crate::store::{Database, Recording, Scanner};

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

/// How many operations may wait for each other. More do so only if a metric of the user reads itself.
const DEEPEST_OPERATION: usize = 4;

/// What a statement asks of an operation.
#[derive(Debug, Clone)]
pub struct RowsAsked {
    /// The arguments of the call.
    pub arguments: Vec<String>,
    /// The recordings that rows can be about: others need not be read.
    pub recordings: Vec<Arc<Recording>>,
    /// Becomes true when nobody waits for the rows any more.
    pub stop: Arc<AtomicBool>,
}

/// Makes rows, all at once, with statements of a session of its own. It may block.
pub type MakesRows = Arc<dyn Fn(&Session, &RowsAsked) -> Result<Vec<RecordBatch>> + Send + Sync>;

/// The operation behind a table function of [`crate::library::MADE_FUNCTIONS`].
#[derive(Clone)]
pub struct Operation {
    /// The name of the function.
    pub name: &'static str,
    /// Makes its rows, with its columns: recordings in the order of the database.
    pub rows: MakesRows,
}

/// What a session has in common with those that its operations open.
struct Ground {
    database: Arc<Database>,
    queries: Arc<Queries>,
    chains: Chains,
    files: Folder,
    operations: Arc<Mutex<HashMap<&'static str, MakesRows>>>,
    /// Tables that were restricted, and the conditions.
    restricted: Arc<Mutex<Vec<(&'static str, String)>>>,
    runtime: Arc<Runtime>,
    /// How many operations wait for this session.
    depth: usize,
}

/// A database open for queries.
pub struct Session {
    ground: Arc<Ground>,
    runner: Runner,
    catalog: Arc<Catalog>,
    relations: Vec<Relation>,
    chains: Chains,
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
        let (database, queries) = (Database::clone(&self.ground.database), Arc::clone(&self.ground.queries));
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
        let url = of_database().map_err(failure::failed)?;
        let database = Arc::new(database);
        context.register_object_store(url.as_ref(), Arc::new(DatabaseFiles(Arc::clone(&database))));
        let ground = Ground {
            database,
            queries,
            chains: Chains::default(),
            files: Folder::default(),
            operations: Arc::default(),
            restricted: Arc::default(),
            runtime: Arc::new(Runtime::start(threads, stack_for(max_depth))?),
            depth: 0,
        };
        let session = Self::on(ground, context, own)?;
        validate::user_files(&session.runner, session.queries())?;
        Ok(session)
    }

    fn on(ground: Ground, context: SessionContext, own: OwnTables) -> Result<Self> {
        let ground = Arc::new(ground);
        let Ground { database, queries, chains, files, runtime, .. } = &*ground;
        let catalog = Arc::new(Catalog::new(database, &context, queries, own));
        let maker: Arc<dyn MakeRows> = Arc::clone(&ground) as _;
        register(&context, (database, &catalog), (chains, files), &maker)?;
        let relations = relations(database, queries);
        let names = relations.iter().map(|r| r.name.clone()).collect();
        let (runner, chains) = (Runner::new(context, Arc::clone(runtime), names), Arc::clone(chains));
        Ok(Self { ground, runner, catalog, relations, chains })
    }

    /// A session for the statements of an operation: on the same threads, with the same memory, and without a
    /// cluster.
    fn within(
        ground: Ground,
        (config, environment): (SessionConfig, Arc<RuntimeEnv>),
        interrupt: &Arc<AtomicBool>,
    ) -> Result<Self> {
        let context = context::in_environment(config, environment);
        let restricted = ground.restricted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let session = Self::on(ground, context, OwnTables::default())?.with_interrupt(Arc::clone(interrupt));
        restricted.iter().try_for_each(|(table, condition)| session.restrict_to(table, condition))?;
        Ok(session)
    }

    /// A session on other recordings of the same database, on the same threads and with the same memory.
    ///
    /// # Errors
    /// Those of opening a session.
    pub(crate) fn narrowed(&self, database: Database) -> Result<Self> {
        let ground = self.ground.with(Arc::new(database), self.ground.depth);
        let state = self.context().state();
        let of_context = (state.config().clone(), Arc::clone(state.runtime_env()));
        Self::within(ground, of_context, self.interrupt())
    }

    /// Sets the operations that make the rows of table functions, in place of others of the same functions.
    #[must_use]
    pub fn with_operations(self, operations: Vec<Operation>) -> Self {
        let mut known = self.ground.operations.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(operations.into_iter().map(|operation| (operation.name, operation.rows)));
        drop(known);
        self
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
        self.ground.files.set(folder);
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

    /// The same with other chains than those that it shares. Before its first statement.
    ///
    /// # Errors
    /// As [`Session::with_chains`].
    pub(crate) fn with_chains_of_its_own(mut self, chains: &[Chain]) -> Result<Self> {
        self.chains = Chains::default();
        register_chains(self.context(), &self.ground.database, &self.chains);
        self.with_chains(chains)
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
        self.restrict_to(table.name, condition)?;
        let mut restricted = self.ground.restricted.lock().unwrap_or_else(PoisonError::into_inner);
        restricted.push((table.name, condition.to_owned()));
        Ok(())
    }

    fn restrict_to(&self, table: &str, condition: &str) -> Result<()> {
        let restricted = self.runner.runtime().block_on(self.catalog.restrict(table, condition));
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
        &self.ground.database
    }

    /// Reads tables in stored order, without SQL.
    pub(crate) fn scanner(&self) -> Scanner<'_> {
        Scanner { database: &self.ground.database, threads: self.threads(), interrupt: self.interrupt() }
    }

    /// Tables and views, with their columns: for completion, help and suggestions. First those that
    /// statements made, then those that this database has rows for.
    pub fn relations(&self) -> Vec<Relation> {
        let own = self.catalog.own().relations();
        own.into_iter().chain(self.relations.iter().cloned()).collect()
    }

    /// The metrics and views of the session.
    pub fn queries(&self) -> &Arc<Queries> {
        &self.ground.queries
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

impl Ground {
    /// The same for another database.
    fn with(&self, database: Arc<Database>, depth: usize) -> Self {
        Self {
            database,
            queries: Arc::clone(&self.queries),
            chains: Arc::clone(&self.chains),
            files: self.files.clone(),
            operations: Arc::clone(&self.operations),
            restricted: Arc::clone(&self.restricted),
            runtime: Arc::clone(&self.runtime),
            depth,
        }
    }
}

impl MakeRows for Ground {
    fn recordings(&self) -> Result<Vec<Arc<Recording>>> {
        Ok(self.database.recordings()?.to_vec())
    }

    fn rows(
        &self,
        call: &MadeCall,
        context: &TaskContext,
        stop: &Arc<AtomicBool>,
    ) -> Result<Vec<RecordBatch>> {
        let name = call.function.function.name;
        let rows = self.operations.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let Some(rows) = rows else {
            return Err(Error::usage(format!("this session has no operation for {name}"))
                .hint("Session::with_operations gives it those of btfdb::operations"));
        };
        if self.depth >= DEEPEST_OPERATION {
            return Err(Error::usage(format!("{name} reads its own rows, by way of a metric or view"))
                .hint("a metric whose rows it reads may not read those of it"));
        }
        let ground = self.with(Arc::clone(&self.database), self.depth + 1);
        let of_context = (context.session_config().clone(), context.runtime_env());
        let session = Session::within(ground, of_context, stop)?;
        let MadeCall { arguments, recordings, .. } = call.clone();
        rows(&session, &RowsAsked { arguments, recordings, stop: Arc::clone(stop) })
    }

    fn stack(&self) -> usize {
        self.runtime.stack()
    }
}
