//! `btfdb info`, `verify`, `remove`, `vacuum` and `publish`: the database itself.

use super::super::args::Recordings;
use super::super::location;
use super::super::signals;
use super::super::ui::Ui;
use super::output;
use crate::diagnostics::Severity;
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::findings::findings;
use crate::store::{self, Database, Disk, Location, RealDisk};
use crate::time::format_duration;
use clap::{Args, ValueEnum, ValueHint};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Show what a database holds.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Which recordings.
    #[command(flatten)]
    pub recordings: Recordings,
    /// How to print.
    #[arg(long, value_enum, default_value = "table")]
    pub format: InfoFormat,
}

/// How the content of a database is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
pub enum InfoFormat {
    Table,
    Json,
}

/// Check every file of a database against its checksum; exit 3 when something is wrong.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb verify engine.db
  btfdb verify engine.db --repair")]
pub struct VerifyArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Make again what is damaged and follows from what is not: recordings with damaged tables of their
    /// mapping are mapped again, and files of the log that say what others say are written again. What is
    /// still wrong is named.
    #[arg(long)]
    pub repair: bool,
}

/// Delete what no reader needs any more: files of recordings that were removed or mapped again, and files of
/// the log that later ones replace.
///
/// They are kept for a time, because a query that began before may still read them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb vacuum engine.db
  btfdb vacuum engine.db --older-than 0s")]
pub struct VacuumArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Delete what was taken out this long ago, e.g. 90s, 30min, 12h, 7d.
    #[arg(long, value_name = "AGE", default_value = "1d", value_parser = age)]
    pub older_than: Duration,
}

/// Remove a recording from a database. Its files are kept for readers until `btfdb vacuum`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// Which recordings to remove.
    #[command(flatten)]
    pub recordings: Recordings,
}

/// Publish a database for other engines.
///
/// Writes a log beside the files of each table, so that Spark, Trino, DuckDB, Polars and Databricks read the
/// tables as they are now, with recording and core as partitions. Nothing is copied. Publish again after a
/// change.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  btfdb publish fleet.db --delta")]
pub struct PublishArgs {
    /// Database: a folder, or a URL such as s3://bucket/fleet.db.
    #[arg(value_parser = location::parser(), value_hint = ValueHint::DirPath)]
    pub database: Location,
    /// As tables of Delta Lake, without the columns of unsigned numbers, which Delta does not have.
    #[arg(long, required = true)]
    pub delta: bool,
}

pub(super) fn info(args: &InfoArgs) -> Result<u8> {
    let _control = signals::control();
    let db = args.recordings.choice().of(Database::open(&args.database)?)?;
    let scale = db.time_scale();
    if args.format == InfoFormat::Json {
        return output::print_json(&as_json(&db, args)?).map(|()| 0);
    }
    let mut text = format!(
        "database    {}\nwritten by  {}\ntime scale  {}\n",
        args.database,
        db.creator(),
        scale.as_str()
    );
    text.push_str(&format!("recordings  {}\n", db.count()));
    for recording in ops::summary(&db)? {
        text.push_str(&format!("\nrecording   {}\n", recording.name));
        if let Some((begin, end)) = recording.range {
            let length = format_duration(end.saturating_sub(begin), scale);
            text.push_str(&format!("time        {begin} to {end} {} ({length})\n", scale.as_str()));
        }
        if !recording.labels.is_empty() {
            let labels = recording.labels.iter().map(|(label, value)| format!("{label}={value}"));
            text.push_str(&format!("labels      {}\n", labels.collect::<Vec<_>>().join(", ")));
        }
        if !recording.idle_tasks.is_empty() {
            text.push_str(&format!("idle tasks  {}\n", recording.idle_tasks.join(", ")));
        }
        for found in findings(&db, Some(&recording.name))?.iter().filter(|f| f.severity > Severity::Info) {
            let doubt = if found.is_doubt() { "; results are doubtful" } else { "" };
            text.push_str(&format!("{:<11} {}{doubt}\n", found.severity.as_str(), found.text()));
        }
        text.push_str(&format!("{:<20} {:>12} {:>14} {:>6}\n", "table", "rows", "bytes", "files"));
        for (table, files, rows, bytes) in recording.tables {
            text.push_str(&format!("{table:<20} {rows:>12} {bytes:>14} {files:>6}\n"));
        }
    }
    output::print(&text)?;
    Ok(0)
}

/// The same facts for programs; instants are ticks of the time scale.
fn as_json(db: &Database, args: &InfoArgs) -> Result<Value> {
    let table = |(name, files, rows, bytes): &(&str, u64, u64, u64)| json!({"table": name, "rows": rows, "bytes": bytes, "files": files});
    let recording = |r: ops::RecordingSummary| {
        let (begin, end) = r.range.unzip();
        let tables: Vec<Value> = r.tables.iter().map(table).collect();
        json!({"recording": r.name, "labels": r.labels, "begin_at": begin, "end_at": end, "tables": tables})
    };
    let recordings: Vec<Value> = ops::summary(db)?.into_iter().map(recording).collect();
    Ok(json!({
        "database": args.database.to_string(),
        "written_by": db.creator(),
        "time_scale": db.time_scale().as_str(),
        "recordings": recordings,
    }))
}

pub(super) fn verify(args: &VerifyArgs, ui: &Ui) -> Result<u8> {
    let control = signals::control();
    let report = match args.repair {
        false => store::verify(&args.database)?,
        true => {
            let disk: Arc<dyn Disk> = Arc::new(RealDisk);
            let threads = std::thread::available_parallelism().map_or(1, Into::into);
            let repaired = ops::repair::repair(&disk, &args.database, threads, &control)?;
            repaired.repaired.iter().for_each(|what| ui.status(&format!("made again: {what}")));
            for (recording, why) in &repaired.failed {
                ui.warning(&format!("'{recording}' cannot be mapped again: {why}; ingest it again"));
            }
            repaired.after
        }
    };
    let mut text = String::new();
    for problem in &report.problems {
        text.push_str(&format!("{}: {}\n", problem.path.display(), problem.what));
    }
    output::print(&text)?;
    if !report.pending.is_empty() {
        ui.warning("a writer was interrupted; the next one does what it has left to do:");
        report.pending.iter().for_each(|what| ui.status(&format!("  {what}")));
    }
    if report.writers > 0 {
        ui.status(&format!("{} at work", counted(report.writers, "writer")));
    }
    if report.removed_files > 0 {
        let files = counted(report.removed_files, "file");
        ui.status(&format!("{files}, {} bytes wait for btfdb vacuum", report.removed_bytes));
    }
    if report.problems.is_empty() {
        ui.status(&format!("{} files, {} bytes: all as written", report.files, report.bytes));
        return Ok(0);
    }
    ui.status(&format!("{} problems in {} files", report.problems.len(), report.files));
    Ok(3)
}

pub(super) fn remove(args: &RemoveArgs, ui: &Ui) -> Result<u8> {
    let _control = signals::control();
    if args.recordings.recording.is_none() && args.recordings.where_label.is_empty() {
        return Err(Error::usage("nothing says which recordings to remove")
            .hint("name them with --recording, or choose them with --where-label"));
    }
    let chosen = args.recordings.choice().of(Database::open(&args.database)?)?;
    let names: Vec<String> = chosen.recordings()?.iter().map(|r| r.name.clone()).collect();
    ops::remove(Arc::new(RealDisk), &args.database, &names)?;
    names.iter().for_each(|name| ui.status(&format!("removed {name}")));
    Ok(0)
}

pub(super) fn vacuum(args: &VacuumArgs, ui: &Ui) -> Result<u8> {
    let _control = signals::control();
    let report = store::vacuum(Arc::new(RealDisk), &args.database, now(), args.older_than)?;
    ui.status(&format!("deleted {}, {} bytes", counted(report.files, "file"), report.bytes));
    if report.kept > 0 {
        let kept = counted(report.kept, "file");
        ui.status(&format!("kept {kept}, {} bytes, that are younger (--older-than)", report.kept_bytes));
    }
    Ok(0)
}

pub(super) fn publish(args: &PublishArgs, ui: &Ui) -> Result<u8> {
    let _control = signals::control();
    let now = now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let report = store::publish_delta(Arc::new(RealDisk), &args.database, now)?;
    let (tables, added) = (counted(report.tables, "table"), counted(report.added, "file"));
    ui.status(&format!("{tables} published: {added} added, {} removed", report.removed));
    Ok(0)
}

#[expect(clippy::disallowed_methods, reason = "ages and times of publication count from now")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// An age: a number and a unit.
pub(super) fn age(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "s" => 1,
        "min" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err("an age is a number and a unit: 90s, 30min, 12h, 7d".into()),
    };
    let number: u64 = digits.parse().map_err(|e| format!("'{digits}': {e}"))?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(|| "too long".into())
}
