//! `btfdb info`, `verify` and `remove`: the database itself.

use super::super::ui::Ui;
use super::output;
use crate::diagnostics::Severity;
use crate::error::Result;
use crate::ops;
use crate::ops::findings::findings;
use crate::store::{self, Database, RealDisk};
use crate::time::format_duration;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;

/// Show what a database holds.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Database folder.
    pub database: PathBuf,
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
    let mut text = format!(
        "database    {}\nwritten by  {}\ntime scale  {}\n",
        args.database.display(),
        db.manifest().creator,
        scale.as_str()
    );
    for recording in ops::summary(&db) {
        text.push_str(&format!("\nrecording   {}\n", recording.name));
        if let Some((begin, end)) = recording.range {
            let length = format_duration(end.saturating_sub(begin), scale);
            text.push_str(&format!("time        {begin} to {end} {} ({length})\n", scale.as_str()));
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
