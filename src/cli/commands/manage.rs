//! `btfdb info`, `verify` and `remove`: the database itself.

use super::super::ui::Ui;
use super::output;
use crate::diagnostics::Severity;
use crate::error::Result;
use crate::ops;
use crate::ops::findings::findings;
use crate::store::{self, Database, RealDisk};
use crate::time::format_duration;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Show what a database holds.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Database folder.
    pub database: PathBuf,
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
pub struct VerifyArgs {
    /// Database folder.
    pub database: PathBuf,
}

/// Remove a recording from a database.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Database folder.
    pub database: PathBuf,
    /// The recording to remove.
    #[arg(long)]
    pub recording: String,
}

pub(super) fn info(args: &InfoArgs) -> Result<u8> {
    let db = Database::open(&args.database)?;
    let scale = db.time_scale();
    if args.format == InfoFormat::Json {
        let text = serde_json::to_string_pretty(&as_json(&db, args)?).unwrap_or_default() + "\n";
        return output::print(&text).map(|()| 0);
    }
    let mut text = format!(
        "database    {}\nwritten by  {}\ntime scale  {}\n",
        args.database.display(),
        db.manifest().creator,
        scale.as_str()
    );
    for recording in ops::summary(&db)? {
        text.push_str(&format!("\nrecording   {}\n", recording.name));
        if let Some((begin, end)) = recording.range {
            let length = format_duration(end.saturating_sub(begin), scale);
            text.push_str(&format!("time        {begin} to {end} {} ({length})\n", scale.as_str()));
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
        json!({"recording": r.name, "begin_at": begin, "end_at": end, "tables": tables})
    };
    let recordings: Vec<Value> = ops::summary(db)?.into_iter().map(recording).collect();
    Ok(json!({
        "database": args.database.to_string_lossy(),
        "written_by": db.manifest().creator,
        "time_scale": db.time_scale().as_str(),
        "recordings": recordings,
    }))
}

pub(super) fn verify(args: &VerifyArgs, ui: &Ui) -> Result<u8> {
    let report = store::verify(&args.database)?;
    let mut text = String::new();
    for problem in &report.problems {
        text.push_str(&format!("{}: {}\n", problem.path.display(), problem.what));
    }
    output::print(&text)?;
    if report.problems.is_empty() {
        ui.status(&format!("{} files, {} bytes: all as written", report.files, report.bytes));
        return Ok(0);
    }
    ui.status(&format!("{} problems in {} files", report.problems.len(), report.files));
    Ok(3)
}

pub(super) fn remove(args: &RemoveArgs, ui: &Ui) -> Result<u8> {
    ops::remove(Arc::new(RealDisk), &args.database, &args.recording)?;
    ui.status(&format!("removed {}", args.recording));
    Ok(0)
}
