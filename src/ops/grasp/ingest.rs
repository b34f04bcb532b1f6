//! `ingest` of a Grasp trace: its commands, and what describes them. Not their reading (see the module above).

use super::super::control::Control;
use super::super::describe::{Facts, write_recording_row};
use super::super::ingest::{Options, Report, locked, write_diagnostics, write_sources};
use super::super::map::map_stored;
use super::super::setup::MappingSetup;
use super::GraspFile;
use crate::error::{Error, Result};
use crate::map::Mapper;
use crate::map::grasp::{GraspMapper, Settings};
use crate::schema::SourceRow;
use crate::store::Transaction;
use crate::time::{TimeScale, parse_time_argument};
use std::sync::{Arc, Mutex};

/// `recording.os` and `source.format` of a Grasp trace.
pub(in super::super) const OS: &str = "grasp";
/// What a unit of time is where nobody says: "In our simulations 1 tick corresponds to 1ms" (paper §IV-B).
const TICK: &str = "1ms";

/// Reads `file` into the recording `name`.
///
/// # Errors
/// See [`GraspFile::store`]; a `--tick` that is none.
pub(in super::super) fn ingest(
    tx: &Mutex<Transaction>,
    name: &str,
    file: GraspFile,
    options: &Options,
    scale: TimeScale,
    control: &Arc<Control>,
) -> Result<Report> {
    let tick = tick(options, scale)?;
    control.begin(format!("reading {name}"), file.size().unwrap_or(0));
    let stored = file.store(tx, name, tick, options.threads, control)?;
    let mut log = stored.log;
    let mut tables = locked(tx)?;
    MappingSetup::new(Some(GraspMapper::NAME), &Settings {})?.write(&mut tables, name)?;
    let mapped = match options.map {
        true => map_stored(&mut tables, name, options.threads, control)?,
        false => None,
    };
    let counts = stored.counts;
    let row = SourceRow {
        source: stored.name.as_str().into(),
        path: &stored.path.to_string_lossy(),
        format: OS.into(),
        core: None,
        bytes: stored.digest.bytes as i64,
        sha256: stored.digest.sha256.as_deref().map(Into::into),
        records: counts.lines as i64,
        rows: counts.rows as i64,
        rejected: counts.rejected as i64,
        skipped: counts.skipped as i64,
        gaps: 0,
        inexact_times: counts.inexact_times as i64,
        backwards: stored.backwards as i64,
        first_at: stored.first_at,
        last_at: stored.last_at,
    };
    write_sources(&mut tables, name, [row])?;
    if let Some(mapped) = &mapped {
        log.merge(mapped.log.clone());
    }
    write_diagnostics(&mut tables, name, &[], &log)?;
    write_recording_row(&mut tables, name, Facts { os: Some(OS), tick: Some(tick), ..Facts::default() })?;
    let sources = vec![(stored.name.clone(), counts)];
    Ok(Report {
        name: name.to_owned(),
        sources,
        unit: "lines",
        log,
        mapped,
        imported: None,
        time_scale: scale,
    })
}

/// Ticks of the database per unit of time of the trace.
fn tick(options: &Options, scale: TimeScale) -> Result<i64> {
    let text = options.tick.as_deref().unwrap_or(TICK);
    let bad = |why: String| Error::usage(format!("--tick: {why}")).hint("e.g. --tick 1ms, --tick 10us");
    let tick = parse_time_argument(text, scale).map_err(bad)?;
    if tick > 0 { Ok(tick) } else { Err(bad(format!("'{text}' is no length of time above 0"))) }
}
