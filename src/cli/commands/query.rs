//! `btfdb query`.

use super::super::args::{ClusterArg, KernelArgs, Limits, Output, Recordings, SqlPath, UnitArg};
use super::super::location;
use super::super::on_cluster;
use super::super::signals;
use super::super::ui::Ui;
use super::{output, parse};
use crate::encoding::read_text;
use crate::engine::{Session, SessionOptions, queries_with_folders, split};
use crate::error::{Error, ErrorKind, Result, did_you_mean};
use crate::library::Queries;
use crate::ops::Choice;
use crate::ops::made::operations;
use crate::ops::made_requirements::operations_of;
use crate::ops::open::OpenOptions;
use crate::render::InUnit;
use crate::require::{Requirements, with_silent};
use crate::schema::tables;
use crate::store::{Database, Location};
use clap::{Args, ValueHint};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Run SQL and print its result.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb query engine.db \"SELECT * FROM recording\"
  btfdb query engine.db \"SELECT * FROM core_peak\" --param window=10ms --param step=1ms
  btfdb query engine.db \"SELECT * FROM process_state WHERE begin_at < 10ms\" --unit ms
  btfdb query kernel.db \"SELECT time, arguments FROM kernel_event\" --event THREAD:RUNNING --pid 1
  btfdb query engine.db -f report.sql -o report.json")]
pub struct QueryArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// SQL text; several statements are separated by `;`.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub sql: Option<String>,
    /// File with SQL text.
    #[arg(short, long)]
    pub file: Option<PathBuf>,
    /// Which recordings the tables have.
    #[command(flatten)]
    pub recordings: Recordings,
    /// Value of `$NAME` in the SQL: a number, a time such as 10ms, null, or text; can be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// TOML file with [[chain]] entries, for chain_instance, chain_latency and the chain metrics; `btfdb
    /// chains` makes one.
    #[arg(long, value_name = "FILE")]
    pub chains: Option<PathBuf>,
    /// TOML file of timing requirements, for requirement_verdict and requirement_violation; as `btfdb check`
    /// has it.
    #[arg(long, value_name = "FILE")]
    pub requirements: Option<PathBuf>,
    /// SQL of the user.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// Which rows table kernel_event has.
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// The unit of times.
    #[command(flatten)]
    pub unit: UnitArg,
    /// How to print.
    #[command(flatten)]
    pub output: Output,
    /// Who does the work.
    #[command(flatten)]
    pub cluster: ClusterArg,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

pub(super) fn run(args: &QueryArgs, ui: &Ui) -> Result<u8> {
    let script = match (&args.sql, &args.file) {
        (Some(sql), _) => sql.clone(),
        (None, Some(file)) => read_text(file)?,
        (None, None) => return Err(Error::usage("give SQL text or -f FILE")),
    };
    let statements = split(&script)?;
    if statements.is_empty() {
        return Err(Error::usage("there is no statement to run"));
    }
    if statements.iter().filter(|s| s.gives_rows()).count() > 1
        && args.output.output.as_deref().is_some_and(|o| o != Path::new("-"))
    {
        return Err(Error::usage("-o takes the result of one statement, but there are several"));
    }
    if let (Some(output), 0) = (&args.output.output, statements.iter().filter(|s| s.gives_rows()).count()) {
        let what = format!("there is no result for '{}': CREATE and DROP give no rows", output.display());
        return Err(Error::usage(what).hint("add a statement that gives rows: CREATE …; SELECT * FROM …"));
    }
    let control = signals::control();
    let queries = queries_with_folders(&args.sql_path.folders)?;
    let chains = args.chains.as_deref();
    let database = args.recordings.choice().of(Database::open(&args.database)?)?;
    let given = (&args.limits, Some(&args.sql_path));
    let session = session(database, given, queries, (chains, ui), control.flag_shared())?;
    let session = with_requirements(session, args.requirements.as_deref())?;
    let filter = super::kernel::filter(&args.kernel);
    let mut restricted = None;
    if !filter.is_all() {
        super::kernel::check(&session, &filter, ui)?;
        let condition = filter.sql()?;
        session.restrict(tables::KERNEL_EVENT, &condition)?;
        restricted = Some((tables::KERNEL_EVENT.name.to_owned(), condition));
    }
    let session = match args.cluster.cluster.as_deref() {
        Some(address) => on_cluster::statements(session, &(address, control.flag_shared()), restricted)?,
        None => session,
    };
    let scale = session.database().time_scale();
    let params = args.params.iter().map(|text| parse::param(text, scale)).collect::<Result<Vec<_>>>()?;
    let mut used = Vec::new();
    for statement in &statements {
        let mut result = session.run_first(statement, &params, output::cap(&args.output)?)?;
        used.extend_from_slice(result.params());
        let (schema, threads) = (Arc::clone(result.schema()), session.threads());
        match args.unit.unit {
            Some(unit) => {
                if statement.is_summary() {
                    ui.summary_in_ticks(unit, scale);
                }
                let unit = InUnit::new(&schema, result.times(), scale, unit);
                let rows = &mut result.map(|batch| unit.convert(&batch?));
                output::show(unit.schema(), rows, &args.output, threads, ui)?;
            }
            None => output::show(&schema, &mut result, &args.output, threads, ui)?,
        }
        report_missed_chains(&session, ui);
    }
    for (name, _) in params.iter().filter(|(name, _)| !used.iter().any(|other| other == name)) {
        let near = did_you_mean(name, used.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
        ui.warning(&format!("--param {name} has no effect: no statement has the parameter ${name}{near}"));
    }
    if !filter.is_all() && !session.has_read_restricted(tables::KERNEL_EVENT) {
        ui.warning(
            "the filters of kernel events had no effect: they are for table kernel_event, which was not read",
        );
    }
    Ok(0)
}

/// Opens a database for queries; see [`session`].
pub(in crate::cli) fn open(
    database: &Location,
    given: (&Limits, Option<&SqlPath>),
    queries: Arc<Queries>,
    (chains, ui): (Option<&Path>, &Ui),
    interrupt: Arc<AtomicBool>,
) -> Result<Session> {
    session(Database::open(database)?, given, queries, (chains, ui), interrupt)
}

/// The same session; its statements may read the files that the user allows.
pub(in crate::cli) fn with_files(session: Session, sql: Option<&SqlPath>) -> Session {
    match sql.and_then(SqlPath::files) {
        Some(folder) => session.with_files(&folder),
        None => session,
    }
}

/// A session on a database, with the chains of a file, whose statements may read the files that the user
/// allows. `interrupt` stops a query. Without --memory-limit,
/// queries may use half a gibibyte per thread and then spill to temporary files.
pub(in crate::cli) fn session(
    database: Database,
    (limits, sql): (&Limits, Option<&SqlPath>),
    queries: Arc<Queries>,
    (chains, ui): (Option<&Path>, &Ui),
    interrupt: Arc<AtomicBool>,
) -> Result<Session> {
    let session = Session::open_with(database, session_options(limits, sql)?, queries)?;
    let session = session.with_interrupt(interrupt).with_operations(operations());
    with_chains(with_files(session, sql), chains, ui)
}

/// The same session with the chains of a file. Says which of them can have no rows.
pub(in crate::cli) fn with_chains(session: Session, chains: Option<&Path>, ui: &Ui) -> Result<Session> {
    let Some(file) = chains else { return Ok(session) };
    let chains = Requirements::parse_chains(&read_text(file)?, file)?;
    let in_file = |error: Error| if error.kind() == ErrorKind::Usage { error.at(file) } else { error };
    let (chains, silent) = with_silent(&session, chains).map_err(in_file)?;
    silent.iter().for_each(|why| ui.warning(why));
    session.with_chains(&chains)
}

/// The same session with the requirements of a file.
pub(in crate::cli) fn with_requirements(session: Session, file: Option<&Path>) -> Result<Session> {
    let Some(file) = file else { return Ok(session) };
    Ok(session.with_operations(operations_of(Requirements::parse(&read_text(file)?, file)?)))
}

/// Says that rows of chains were read, and that there are none.
pub(in crate::cli) fn report_missed_chains(session: &Session, ui: &Ui) {
    if session.take_missed_chains() {
        ui.warning(
            "there are no event chains: --chains FILE gives them, a file with [[chain]] entries; `btfdb chains` \
             finds some",
        );
    }
}

pub(in crate::cli) fn session_options(limits: &Limits, sql: Option<&SqlPath>) -> Result<SessionOptions> {
    let threads = parse::threads(limits);
    let memory = parse::memory(limits)?.unwrap_or((threads as u64).saturating_mul(512 << 20));
    let max_depth = sql.map(|sql| sql.max_depth.into());
    Ok(SessionOptions { threads: Some(threads), memory_limit: Some(memory), max_depth })
}

/// Options for opening traces.
pub(super) fn open_options(
    limits: &Limits,
    sql: Option<&SqlPath>,
    queries: Arc<Queries>,
) -> Result<OpenOptions> {
    Ok(OpenOptions {
        remote: location::remote(),
        time_scale: None,
        choice: Choice::default(),
        session: session_options(limits, sql)?,
        queries,
    })
}
