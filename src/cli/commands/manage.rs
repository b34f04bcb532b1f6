//! `btfdb info`, `verify` and `remove`: the database itself.

use super::super::args::{Info, Remove, Verify};
use super::super::ui::Ui;
use crate::error::{Error, Result};
use crate::ops::summary;
use crate::store::{self, Database, RealDisk};
use crate::time::format_duration;
use std::io::Write;
use std::sync::Arc;

pub(super) fn info(args: &Info) -> Result<u8> {
    let db = Database::open(&args.database)?;
    let scale = db.time_scale();
    let mut text = format!(
        "database    {}\nwritten by  {}\ntime scale  {}\n",
        args.database.display(),
        db.manifest().creator,
        scale.as_str()
    );
    for recording in summary(&db) {
        text.push_str(&format!("\nrecording   {}\n", recording.name));
        if let Some((begin, end)) = recording.range {
            let length = format_duration(end.saturating_sub(begin), scale);
            text.push_str(&format!("time        {begin} to {end} {} ({length})\n", scale.as_str()));
        }
        text.push_str(&format!("{:<20} {:>12} {:>14} {:>6}\n", "table", "rows", "bytes", "files"));
        for (table, files, rows, bytes) in recording.tables {
            text.push_str(&format!("{table:<20} {rows:>12} {bytes:>14} {files:>6}\n"));
        }
    }
    print(&text)?;
    Ok(0)
}

pub(super) fn verify(args: &Verify, ui: &Ui) -> Result<u8> {
    let report = store::verify(&args.database)?;
    let mut text = String::new();
    for problem in &report.problems {
        text.push_str(&format!("{}: {}\n", problem.path.display(), problem.what));
    }
    print(&text)?;
    if report.problems.is_empty() {
        ui.status(&format!("{} files, {} bytes: all as written", report.files, report.bytes));
        return Ok(0);
    }
    ui.status(&format!("{} problems in {} files", report.problems.len(), report.files));
    Ok(3)
}

pub(super) fn remove(args: &Remove, ui: &Ui) -> Result<u8> {
    let mut tx = Database::begin(Arc::new(RealDisk), &args.database, None)?;
    if !tx.has_recording(&args.recording) {
        let names: Vec<&str> = tx.manifest().recordings.iter().map(|r| r.name.as_str()).collect();
        return Err(Error::usage(format!("the database has no recording '{}'", args.recording))
            .hint(format!("it has: {}", names.join(", "))));
    }
    tx.drop_recording(&args.recording);
    tx.commit()?;
    ui.status(&format!("removed {}", args.recording));
    Ok(0)
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| Error::io("write to", "standard output", e))
}
