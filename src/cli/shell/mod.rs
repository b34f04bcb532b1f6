//! `btfdb shell`: SQL and dot commands from a terminal, a pipe or files. Its parts: `input` finds complete
//! statements, `commands` is the table of dot commands, `out` chooses where results go, `terminal` and
//! `script` read the input. Not for what statements mean, which is `engine`'s.

mod actions;
mod commands;
mod complete;
mod fit;
mod helper;
mod highlight;
mod input;
mod lexer;
mod listings;
mod out;
mod script;
mod sql_docs;
mod terminal;
mod words;

use super::args::{Format, Limits, SqlPath};
use super::commands::{output, parse, query};
use super::is_broken_pipe;
use super::location;
use super::ui::Ui;
use crate::cli::signals;
use crate::engine::{Session, Statement, queries_with_folders, split};
use crate::error::{Error, ErrorKind, Result};
use crate::library::Queries;
use crate::ops::made::operations;
use crate::render::{self, InUnit, printable};
use crate::store::{Database, Location};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use clap::{Args, ValueHint};
use input::Input;
use out::Out;
use std::io::{BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Ask a database interactively, or run a script from a pipe.
///
/// SQL ends with `;` and may span lines; lines that begin with a dot are commands, which `.help` lists.
/// Nothing that is typed can change the database. From a pipe there is no prompt, and the first error ends
/// the run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  echo .tables | btfdb shell engine.db
  btfdb shell engine.db < report.sql
  btfdb shell engine.db")]
pub struct ShellArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
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
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// Rows of a table on a terminal: a screenful.
const ROWS: usize = 40;
/// Columns of text if the width of the terminal is unknown.
const WIDTH: usize = 100;
/// The name of a pipe in errors.
const PIPE: &str = "standard input";

/// Whether to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Quit,
}

/// The values of `.mode`, `.unit` etc.
struct Settings {
    format: Format,
    /// `None`: ticks.
    unit: Option<TimeScale>,
    /// 0: all.
    rows: usize,
    timer: bool,
    /// `NAME=VALUE`, as typed.
    params: Vec<String>,
    /// A command for the shell of the system.
    pager: Option<String>,
}

struct Shell<'a> {
    session: Session,
    database: Location,
    /// Changes when the names of tables may have: with another database, and with views of the session.
    opened: u64,
    /// Whether the user knows that the database has changed.
    is_outdated: bool,
    limits: Limits,
    sql_path: SqlPath,
    queries: Arc<Queries>,
    chains: Option<PathBuf>,
    requirements: Option<PathBuf>,
    interrupt: Arc<AtomicBool>,
    settings: Settings,
    out: Out,
    /// Number of files that are being read.
    depth: usize,
    /// Columns of text of the terminal, if there is one.
    width: Option<usize>,
    ui: &'a Ui,
}

/// Runs the command. On a terminal there is a prompt; a pipe is read to its end, or to the first error.
pub(super) fn run(args: &ShellArgs, ui: &Ui) -> Result<u8> {
    let interactive = std::io::stdin().is_terminal();
    let interrupt = if interactive { signals::flag() } else { signals::control().flag_shared() };
    let queries = queries_with_folders(&args.sql_path.folders)?;
    let (library, chains) = (Arc::clone(&queries), args.chains.as_deref());
    let session = query::open(
        &args.database,
        (&args.limits, Some(&args.sql_path)),
        library,
        (chains, ui),
        Arc::clone(&interrupt),
    )?;
    let session = query::with_requirements(session, args.requirements.as_deref())?;
    let settings = Settings {
        format: Format::Auto,
        unit: None,
        rows: ROWS,
        timer: false,
        params: Vec::new(),
        pager: None,
    };
    let mut shell = Shell {
        session,
        database: args.database.clone(),
        opened: 1,
        is_outdated: false,
        limits: args.limits.clone(),
        sql_path: args.sql_path.clone(),
        queries,
        chains: args.chains.clone(),
        requirements: args.requirements.clone(),
        interrupt,
        settings,
        out: Out::default(),
        depth: 0,
        width: None,
        ui,
    };
    if interactive {
        terminal::run(&mut shell)?;
        return shell.out.finish().map(|()| 0);
    }
    let mut stdin = BufReader::new(crate::input::stdin(&shell.interrupt)?);
    let done = script::run(&mut shell, Path::new(PIPE), &mut stdin);
    match done.and_then(|_| shell.out.finish()) {
        Ok(()) => Ok(0),
        Err(e) if is_broken_pipe(&e) || e.kind() == ErrorKind::Interrupted => Err(e),
        Err(e) => {
            ui.error(&e);
            Ok(1)
        }
    }
}

impl Shell<'_> {
    /// Runs complete input; an error comes with its line.
    fn run(&mut self, input: &Input) -> Result<Flow, (u64, Error)> {
        match input {
            Input::Command { text, line } => commands::run(self, text).map_err(|e| (*line, e)),
            Input::Statements(text) => {
                // A quote that is not closed: it is open from the first line on.
                let first = || text.lines().take_while(|l| l.is_empty()).count() as u64 + 1;
                for statement in split(text).map_err(|e| (first(), e))? {
                    self.statement(&statement).map_err(|e| (statement.line(), e))?;
                }
                Ok(Flow::Next)
            }
        }
    }

    /// Runs a statement and shows its result.
    fn statement(&mut self, statement: &Statement) -> Result<()> {
        self.timed(|shell| {
            let scale = shell.session.database().time_scale();
            let params = shell.settings.params.iter().map(|text| parse::param(text, scale));
            let mut result =
                shell.session.run_first(statement, &params.collect::<Result<Vec<_>>>()?, shell.cap())?;
            let (schema, times) = (Arc::clone(result.schema()), result.times().to_vec());
            if let (Some(unit), true) = (shell.unit(), statement.is_summary()) {
                shell.ui.summary_in_ticks(unit, scale);
            }
            if !statement.gives_rows() {
                // Completion has to know the new names.
                shell.opened += 1;
            }
            shell.show(&schema, &mut result, &times)?;
            query::report_missed_chains(&shell.session, shell.ui);
            Ok(())
        })
    }

    /// Runs `work`, and shows how long it took if the user wants to know.
    fn timed<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let begun = Instant::now();
        let done = work(self)?;
        if self.settings.timer {
            self.ui.status(&format!("took {:.3} s", begun.elapsed().as_secs_f64()));
        }
        Ok(done)
    }

    fn format(&self) -> render::Format {
        // The names of files were checked when they were given.
        let format = output::format(self.settings.format, self.out.path(), self.out.is_terminal());
        format.unwrap_or(render::Format::Csv)
    }

    /// The maximum number of rows to show of a table; `None`: all.
    fn cap(&self) -> Option<usize> {
        let table = self.format() == render::Format::Table && self.out.is_terminal();
        Some(self.settings.rows).filter(|rows| table && self.settings.pager.is_none() && *rows > 0)
    }

    /// The unit of the times of a result: of tables only.
    fn unit(&self) -> Option<TimeScale> {
        self.settings.unit.filter(|_| self.format() == render::Format::Table)
    }

    /// Shows rows; `times` are the columns that hold times.
    fn show(
        &mut self,
        schema: &SchemaRef,
        rows: &mut (dyn Iterator<Item = Result<RecordBatch>> + Send),
        times: &[bool],
    ) -> Result<()> {
        // A statement that makes a view or table has no result.
        if schema.fields().is_empty() {
            return Ok(());
        }
        match self.unit() {
            Some(unit) => {
                let unit = InUnit::new(schema, times, self.session.database().time_scale(), unit);
                self.show_as_is(unit.schema(), &mut rows.map(|batch| unit.convert(&batch?)))
            }
            None => self.show_as_is(schema, rows),
        }
    }

    fn show_as_is(
        &mut self,
        schema: &SchemaRef,
        rows: &mut (dyn Iterator<Item = Result<RecordBatch>> + Send),
    ) -> Result<()> {
        let (format, cap, threads) = (self.format(), self.cap(), self.session.threads());
        if let (Some(cap), Some(width)) = (cap, self.width) {
            let fitted = fit::fitted(schema, rows, cap, width)?;
            self.print(&fitted.text)?;
            self.ui.footer(&fitted.footer(), fitted.is_cut());
            return Ok(());
        }
        let file = self.out.path().map(Path::to_owned);
        let pager = self.settings.pager.as_deref();
        let rendered =
            self.out.write(pager, |out| render::render(schema, rows, format, out, cap, threads))?;
        match file {
            Some(path) => self.ui.status(&format!("{} to {}", rendered.footer(), path.display())),
            None if format == render::Format::Table => self.ui.footer(&rendered.footer(), rendered.more),
            None => {}
        }
        Ok(())
    }

    /// Shows text that is not the result of a statement.
    fn print(&mut self, text: &str) -> Result<Flow> {
        let failed = |e| Error::io("write to", PathBuf::from("standard output"), e);
        let pager = self.settings.pager.as_deref();
        self.out.write(pager, |out| out.write_all(printable(text).as_bytes()).map_err(failed))?;
        Ok(Flow::Next)
    }

    /// Shows a setting, which does not belong in a file of results.
    fn tell(&mut self, name: &str, value: &str) -> Result<Flow> {
        if self.out.path().is_some() {
            self.ui.status(&format!("{name} {value}"));
            return Ok(Flow::Next);
        }
        self.print(&format!("{name} {value}\n"))
    }

    /// Opens a database; if that fails, the old one stays open.
    fn open(&mut self, location: Location) -> Result<()> {
        (self.session, self.database) = (self.session_on(Database::open(location.clone())?)?, location);
        self.opened += 1;
        self.is_outdated = false;
        self.ui.status(&self.greeting());
        Ok(())
    }

    /// Says, once, that the database has changed since it was opened.
    fn look_for_changes(&mut self) {
        // Whoever cannot see it is told so by the next statement.
        if !self.is_outdated && self.session.database().is_outdated().unwrap_or_default() {
            self.is_outdated = true;
            self.ui.status("the database has changed since it was opened: `.reload` shows it as it is now");
        }
    }

    /// Continues with new threads on the same snapshot: those of a stopped statement may still be busy.
    fn renew(&mut self) -> Result<()> {
        let session = self.session.renewed(query::session_options(&self.limits, Some(&self.sql_path))?)?;
        self.session = self.ready(session)?;
        Ok(())
    }

    fn session_on(&self, database: Database) -> Result<Session> {
        let options = query::session_options(&self.limits, Some(&self.sql_path))?;
        self.ready(Session::open_with(database, options, Arc::clone(&self.queries))?)
    }

    /// A new session with what the command line says.
    fn ready(&self, session: Session) -> Result<Session> {
        let session = session.with_interrupt(Arc::clone(&self.interrupt)).with_operations(operations());
        let session = query::with_files(session, Some(&self.sql_path));
        let session = query::with_requirements(session, self.requirements.as_deref())?;
        query::with_chains(session, self.chains.as_deref(), self.ui)
    }

    /// Names the open database.
    fn greeting(&self) -> String {
        let recordings = self.session.database().count();
        let s = if recordings == 1 { "" } else { "s" };
        format!("{}: {recordings} recording{s}, read-only", self.database)
    }

    fn width(&self) -> usize {
        self.width.unwrap_or(WIDTH)
    }
}

fn pager_of_the_user() -> String {
    #[expect(clippy::disallowed_methods, reason = "cli reads the environment")]
    let pager = std::env::var("PAGER").unwrap_or_default();
    // Quits if everything fits the screen, leaves the screen as it was, cuts long lines.
    if pager.trim().is_empty() { "less -FXS".into() } else { pager }
}

/// The page about the shell, as Markdown.
pub(super) fn docs() -> String {
    format!(
        "# The shell\n\n`btfdb shell DB` asks a database with SQL, typed, piped or read from files. Statements end with `;`, \
         may span lines and\ncannot change the database. Lines that begin with a dot are commands:\n\n{}\n{}\n{}",
        commands::docs(),
        terminal::DOCS,
        sql_docs::DOCS
    )
}
