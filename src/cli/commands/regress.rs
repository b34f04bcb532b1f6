//! `btfdb regress`.

use super::super::args::{Limits, SqlPath};
use super::super::location;
use super::super::signals;
use super::super::ui::Ui;
use super::{output, picture, query, regression};
use crate::encoding::read_text;
use crate::engine::{Session, queries_with_folders};
use crate::error::{Error, Result};
use crate::ops::findings::doubts;
use crate::ops::regress::{GateFile, RegressOptions, both, chosen, history, picture as draw, regress};
use crate::store::{Database, Location};
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;
use std::sync::Arc;

/// Compare the timing of a new build with that of an earlier one; exit 3 when it changed for sure.
///
/// BASE and NEW are recordings of the database: names, lists, patterns with * and ?, or LABEL=VALUE; all
/// that fit one of several count. Without BASE, all other recordings are those of the build before. What
/// changed by more than chance, corrected for the number of tests, and by enough to matter, fails. For
/// response times and execution times, the first cause is named.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb regress week.db monday --against tuesday
  btfdb regress old.db --against-db new.db --format junit
  btfdb regress week.db tuesday --against 'mon*' --metric ResponseTime --entity 'T_*' --all
  btfdb regress week.db --against tuesday --gate gate.toml
  btfdb regress week.db monday --against tuesday --picture changes.svg

With labels of recordings (btfdb ingest --label): btfdb regress fleet.db build=41 --against build=42. How it is
tested, what it cannot know, and the keys of a gate: docs/insight.md.")]
pub struct RegressArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Recordings of the build before.
    #[arg(value_name = "BASE")]
    pub base: Vec<String>,
    /// Recordings of the new build.
    #[arg(long, value_name = "NEW", num_args = 1.., required_unless_present_any = ["against_db", "history"])]
    pub against: Vec<String>,
    /// Database of the new build, if it has one of its own; without --against, all its recordings.
    #[arg(long, value_name = "DB", value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub against_db: Option<Location>,
    /// Metrics of durations [default: those of the gate, or ResponseTime, StartDelay, NetExecutionTime,
    /// RunnableNetExecutionTime].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub metric: Vec<String>,
    /// Tasks, ISRs and runnables, a list with * and ? for any characters [default: those of the gate, or
    /// all].
    #[arg(long, value_name = "NAMES")]
    pub entity: Option<String>,
    /// TOML file that says what is compared, and which changes matter.
    #[arg(long, value_name = "FILE")]
    pub gate: Option<PathBuf>,
    /// Finds the recordings from which on a metric of an entity is another one, in the order in which the
    /// recordings came into the database.
    #[arg(long, value_name = "METRIC:ENTITY", conflicts_with_all = ["against", "against_db", "metric", "entity", "all"])]
    pub history: Option<String>,
    /// The table shows what is unchanged, too.
    #[arg(long)]
    pub all: bool,
    /// SQL of the user.
    #[command(flatten)]
    pub sql_path: SqlPath,
    /// How to print; junit is for builds.
    #[arg(long, value_enum, default_value = "table")]
    pub format: RegressFormat,
    /// Also draws what changed: the distribution of each metric and entity before and after, with medians.
    /// FILE.svg, .png or .pdf.
    #[arg(long, value_name = "FILE", conflicts_with = "history")]
    pub picture: Option<PathBuf>,
    /// Overwrite the picture if it exists.
    #[arg(long, requires = "picture")]
    pub force: bool,
    /// Resources to use.
    #[command(flatten)]
    pub limits: Limits,
}

/// How the report of `regress` is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum RegressFormat {
    Table,
    Json,
    Junit,
}

/// Exit code of a change that fails the gate.
const CHANGED: u8 = 3;

pub(super) fn run(args: &RegressArgs, ui: &Ui) -> Result<u8> {
    if let Some(file) = &args.picture {
        picture::check(file, args.force)?;
    }
    let database = Database::open(&args.database)?;
    let scale = database.time_scale();
    let mut options = match &args.gate {
        Some(path) => GateFile::parse(&read_text(path)?, path)?.options(scale)?,
        None => RegressOptions::default(),
    };
    if !args.metric.is_empty() {
        options.metrics.clone_from(&args.metric);
    }
    if args.entity.is_some() {
        options.entities.clone_from(&args.entity);
    }
    let control = signals::control();
    let queries = queries_with_folders(&args.sql_path.folders)?;
    let session = |database: Database| -> Result<Session> {
        let given = (&args.limits, Some(&args.sql_path));
        let session =
            query::session(database, given, Arc::clone(&queries), (None, ui), control.flag_shared())?;
        ui.doubts(&doubts(session.database(), None)?);
        Ok(session)
    };
    if let Some(asked) = &args.history {
        let found = history(&session(chosen(&database, &args.base)?)?, asked, &options)?;
        match args.format {
            RegressFormat::Table => output::print(&regression::history(&found, scale))?,
            RegressFormat::Json => output::print_json(&found)?,
            RegressFormat::Junit => {
                return Err(Error::usage("--format junit is for two builds, not for --history"));
            }
        }
        return Ok(0);
    }
    let (before, after) = match &args.against_db {
        Some(other) => (chosen(&database, &args.base)?, chosen(&Database::open(other)?, &args.against)?),
        None => both(&database, &args.base, &args.against)?,
    };
    let (before, after) = (session(before)?, session(after)?);
    let report = regress(&before, &after, &options)?;
    if let Some(file) = &args.picture {
        picture::write(&draw(&before, &after, &report)?, file, args.force, ui)?;
    }
    match args.format {
        RegressFormat::Table => output::print(&regression::table(&report, scale, args.all))?,
        RegressFormat::Json => output::print_json(&report)?,
        RegressFormat::Junit => output::print(&regression::junit(&report, scale))?,
    }
    Ok(if report.fails { CHANGED } else { 0 })
}
