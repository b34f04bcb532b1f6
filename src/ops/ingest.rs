//! `ingest`: stores recordings in a database and maps them, in one commit: one after the other, or at the
//! same time. Not what is done with each of them (see `ingest_one`).

use super::control::Control;
use super::ingest_one::one;
pub use super::ingest_one::{NOT_MAPPED, NOT_MAPPED_WHY, Report};
use super::ingest_options::Options;
use super::recognise;
use crate::description::Plan;
use crate::diagnostics::{Diagnostic, Log, Severity, UNKNOWN_NAME};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::TraceFormat;
use crate::pipeline::fan_out;
use crate::store::{Database, Disk, Location, Transaction};
use crate::time::TimeScale;
use std::sync::{Arc, Mutex, PoisonError};

/// Recordings up to this many bytes are small.
const SMALL: u64 = 8 << 20;

/// Ingests `plans` into a database, all or nothing.
///
/// # Errors
/// Input that is missing or not of the given format; a recording of the same name; another writer; the disk.
/// With `strict`, [`ErrorKind::Findings`]. The database is then unchanged.
pub fn ingest(
    disk: Arc<dyn Disk>,
    at: impl Into<Location>,
    plans: &[Plan],
    options: &Options,
    control: &Arc<Control>,
) -> Result<Vec<Report>> {
    if plans.is_empty() {
        return Err(Error::usage("nothing to ingest")
            .hint("give a recording folder, e.g. btfdb ingest my.db recording/"));
    }
    let wanted = options.time_scale.unwrap_or_else(|| finest(plans, options.formats));
    let mut tx = Database::begin(disk, at, options.continues.is_none().then_some(wanted))?;
    let scale = tx.time_scale();
    if options.time_scale.is_some_and(|wanted| wanted != scale) {
        let message = format!("the database counts time in {}, which cannot be changed", scale.as_str());
        return Err(Error::usage(message).hint("leave --time-scale out, or make a new database"));
    }
    let reports = match options.continues {
        Some(_) => pieces(&mut tx, plans, options, scale, control)?,
        None => recordings(&mut tx, plans, options, scale, control)?,
    };
    control.check()?;
    if options.strict {
        let bad = |log: &Log| log.count_at_least(Severity::Error) + log.count_of(UNKNOWN_NAME);
        let bad: u64 = reports.iter().map(|r| bad(&r.log)).sum();
        let is_bad = |d: &&Diagnostic| d.severity == Severity::Error || d.code == UNKNOWN_NAME;
        if let Some(first) = reports.iter().flat_map(|r| r.log.entries()).find(is_bad) {
            let message =
                format!("{bad} findings count as errors, first: {} [{}]", first.message, first.code);
            let mut error = Error::new(ErrorKind::Findings, message).at(&first.source);
            if let Some(line) = first.line {
                error = error.line(line);
            }
            return Err(error.hint("nothing was written; leave --strict out to keep what is good"));
        }
    }
    control.begin("committing", 0);
    tx.commit()?;
    Ok(reports)
}

/// The time scale of a new database: nanoseconds, unless a trace has a finer one.
pub(crate) fn finest(plans: &[Plan], formats: &[&'static dyn TraceFormat]) -> TimeScale {
    let inputs = plans.iter().filter(|plan| plan.format.is_none()).flat_map(|plan| &plan.inputs);
    let units = inputs.filter_map(|input| recognise::unit_of(&input.path, formats));
    units.fold(TimeScale::Ns, |finest, unit| if unit.decimals() > finest.decimals() { unit } else { finest })
}

/// Each plan is a piece of one recording, which is mapped once, after the last of them.
fn pieces(
    tx: &mut Transaction,
    plans: &[Plan],
    options: &Options,
    scale: TimeScale,
    control: &Arc<Control>,
) -> Result<Vec<Report>> {
    let shared = Mutex::new(tx.part());
    let mut reports: Vec<Report> = Vec::new();
    for (n, plan) in plans.iter().enumerate() {
        let map = options.map && n + 1 == plans.len();
        let report = one(&shared, plan, &Options { map, ..options.clone() }, scale, control)?;
        match reports.last_mut() {
            Some(before) => before.continue_with(report),
            None => reports.push(report),
        }
    }
    tx.absorb(whole(shared)?)?;
    Ok(reports)
}

/// Each plan is a recording. Large ones are ingested one after the other, each by all threads; small ones at
/// the same time, each by one thread, because most of its time goes to steps that have nothing to share.
fn recordings(
    tx: &mut Transaction,
    plans: &[Plan],
    options: &Options,
    scale: TimeScale,
    control: &Arc<Control>,
) -> Result<Vec<Report>> {
    let bytes: Vec<u64> = plans.iter().map(bytes_of).collect();
    let is_large = |n: usize| bytes.get(n).is_none_or(|bytes| *bytes > SMALL);
    let (large, small): (Vec<usize>, Vec<usize>) =
        (0..plans.len()).partition(|n| is_large(*n) || plans.len() == 1);
    let made =
        |n: usize, options: &Options, control: &Arc<Control>| -> Result<(usize, Report, Transaction)> {
            let plan = plans.get(n).ok_or_else(|| Error::new(ErrorKind::Bug, "there is no such plan"))?;
            let shared = Mutex::new(tx.part());
            let report = one(&shared, plan, options, scale, control)?;
            Ok((n, report, whole(shared)?))
        };
    let mut all = Vec::with_capacity(plans.len());
    for n in large {
        all.push(made(n, options, control)?);
    }
    if !small.is_empty() {
        let total = small.iter().filter_map(|n| bytes.get(*n)).sum();
        control.begin(format!("ingesting {} recordings", small.len()), total);
        let threads = options.threads.min(small.len());
        let options = Options { threads: 1, ..options.clone() };
        // Of several that fail, the first one counts: all before it have been begun, and end.
        let failed = Mutex::new(None::<(usize, Error)>);
        let of_threads = fan_out(threads, small.into_iter(), |jobs| {
            let mut of_thread = Vec::new();
            for n in jobs {
                let apart = Arc::new(control.apart());
                match made(n, &options, &apart) {
                    Ok(one) => of_thread.push(one),
                    Err(e) => {
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        if failed.as_ref().is_none_or(|(first, _)| n < *first) {
                            *failed = Some((n, e));
                        }
                        break;
                    }
                }
                control.advance(bytes.get(n).copied().unwrap_or(0), apart.progress().rows);
                if failed.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                    break;
                }
            }
            Ok(of_thread)
        })?;
        if let Some((_, e)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(e);
        }
        all.extend(of_threads.into_iter().flatten());
    }
    all.sort_by_key(|(n, ..)| *n);
    let mut reports = Vec::with_capacity(all.len());
    for (_, report, part) in all {
        tx.absorb(part)?;
        reports.push(report);
    }
    Ok(reports)
}

/// The transaction that all threads of a recording have written to.
fn whole(shared: Mutex<Transaction>) -> Result<Transaction> {
    shared.into_inner().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))
}

/// The size of the inputs; that of a pipe is not known, and taken for large.
fn bytes_of(plan: &Plan) -> u64 {
    let bytes = plan.inputs.iter().map(|input| {
        let metadata = std::fs::metadata(&input.path).ok().filter(std::fs::Metadata::is_file);
        metadata.map_or(u64::MAX, |metadata| metadata.len())
    });
    bytes.fold(0, u64::saturating_add)
}
