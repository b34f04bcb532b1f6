//! `ingest` of a kernel trace: its events, and what describes them. Not their reading (see the module above).

use super::super::control::Control;
use super::super::describe::{Facts, write_recording_row};
use super::super::ingest::{Options, Report, locked, write_diagnostics, write_gaps, write_sources};
use super::super::map::map_stored;
use super::super::setup::MappingSetup;
use super::KernelFile;
use super::keep::keep;
use crate::diagnostics::{Diagnostic, Severity};
use crate::error::Result;
use crate::formats::qnx::Preamble;
use crate::map::Mapper;
use crate::map::qnx::{Irq, QnxMapper, Settings};
use crate::schema::SourceRow;
use crate::store::Transaction;
use crate::time::TimeScale;
use std::sync::{Arc, Mutex};

/// `recording.os` of a kernel trace.
pub(in super::super) const OS: &str = "qnx";
/// `gap.reason` of buffers that the logger could not write.
const LOST_BUFFER: &str = "lost_buffer";

/// Reads `file` into the recording `name`.
///
/// # Errors
/// See [`KernelFile::store`].
pub(in super::super) fn ingest(
    tx: &Mutex<Transaction>,
    name: &str,
    file: KernelFile,
    options: &Options,
    scale: TimeScale,
    control: &Arc<Control>,
) -> Result<Report> {
    control.begin(format!("reading {name}"), file.size().unwrap_or(0));
    let stored = file.store(tx, name, scale, options.threads, control)?;
    let mut log = stored.log;
    if stored.counts.rows == 0 {
        log.push(Diagnostic {
            source: stored.name.clone(),
            line: None,
            severity: Severity::Warning,
            code: "no-events",
            message: "the trace holds no event".into(),
            text: String::new(),
        });
    }
    let mut tables = locked(tx)?;
    let gaps = stored
        .holes
        .iter()
        .map(|h| (h.begin, h.end, h.cpu.map(|cpu| format!("Core_{cpu}")), LOST_BUFFER.to_owned()));
    write_gaps(&mut tables, name, gaps.collect())?;
    let setup = MappingSetup::new(Some(QnxMapper::NAME), &settings(&stored.preamble, options))?;
    MappingSetup { left_out: options.keep.is_some(), ..setup }.write(&mut tables, name)?;
    let mapped = match options.map {
        true => map_stored(&mut tables, name, options.threads, control)?,
        false => None,
    };
    drop(tables);
    let mut counts = stored.counts;
    if let Some(wanted) = &options.keep {
        let left_out = keep(tx, name, wanted)?;
        (counts.rows, counts.skipped) = (counts.rows - left_out, counts.skipped + left_out);
        log.push(Diagnostic {
            source: stored.name.clone(),
            line: None,
            severity: Severity::Info,
            code: "left-out",
            message: format!("{left_out} events were left out, as the filters of the ingest say; what is derived comes from all"),
            text: String::new(),
        });
    }
    let mut tx = locked(tx)?;
    let row = SourceRow {
        source: stored.name.as_str().into(),
        path: &stored.path.to_string_lossy(),
        format: stored.format.into(),
        core: None,
        bytes: stored.digest.bytes as i64,
        sha256: stored.digest.sha256.as_deref().map(Into::into),
        records: counts.lines as i64,
        rows: counts.rows as i64,
        rejected: counts.rejected as i64,
        skipped: counts.skipped as i64,
        gaps: stored.holes.len() as i64,
        inexact_times: 0,
        backwards: log.count_of("time-jump") as i64,
        first_at: stored.first_at,
        last_at: stored.last_at,
    };
    write_sources(&mut tx, name, [row])?;
    if let Some(mapped) = &mapped {
        log.merge(mapped.log.clone());
    }
    write_diagnostics(&mut tx, name, &[], &log)?;
    let attribute = |key: &str| stored.preamble.header.attribute(key);
    let creator = attribute("TRACE_SYS_RELEASE").map(|release| format!("QNX {release}"));
    let facts =
        Facts { os: Some(OS), creator: creator.as_deref(), created: attribute("TRACE_DATE"), tick: None };
    write_recording_row(&mut tx, name, facts)?;
    let (sources, unit) = (vec![(stored.name.clone(), counts)], stored.unit);
    Ok(Report { name: name.to_owned(), sources, unit, log, mapped, imported: None, time_scale: scale })
}

fn settings(preamble: &Preamble, options: &Options) -> Settings {
    Settings {
        flavour: preamble.flavour,
        cpus: preamble.header.cpus.unwrap_or(1),
        jobs: options.kernel.jobs.clone(),
        irq: if options.kernel.overlay_irqs { Irq::Overlay } else { Irq::Preempt },
        idle: options.kernel.idle,
    }
}
