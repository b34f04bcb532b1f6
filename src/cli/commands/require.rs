//! `btfdb check --requirements`.

use super::super::args::{Check, CheckFormat};
use super::output::Target;
use super::trace;
use crate::engine::queries_with_folders;
use crate::error::{Error, ErrorKind, Result};
use crate::require::{Requirements, Verdict, junit, measure, table};
use std::path::Path;

/// Measures the requirements of a file; whether all are kept.
pub(super) fn run(args: &Check, file: &Path) -> Result<bool> {
    let Some(name) = &args.trace else { return Err(Error::usage("give a database or a trace file")) };
    let text = std::fs::read_to_string(file).map_err(|e| Error::io("read", file, e))?;
    let requirements = Requirements::parse(&text, file)?;
    let control = trace::control();
    let queries = queries_with_folders(&args.sql_path.folders)?;
    let mut trace = trace::open_with(name, None, &args.limits, &queries, &control)?;
    trace.session = trace.session.with_chains(&requirements.chains())?;
    let scale = trace.session.database().time_scale();
    let wanted = args.recording.as_deref();
    trace.session.check_recording(wanted)?;
    let mut outcomes = Vec::new();
    for recording in trace.recordings.iter().filter(|r| wanted.is_none_or(|w| w == *r)) {
        let measured = measure(&trace.session, &requirements, recording);
        // A bound that is no time is a mistake in the file.
        outcomes.extend(measured.map_err(|e| if e.kind() == ErrorKind::Input { e.at(file) } else { e })?);
    }
    if outcomes.is_empty() {
        return Err(Error::usage(format!("'{name}' holds nothing that the requirements are about")));
    }
    let text = match args.format {
        CheckFormat::Table => table(&outcomes, scale),
        CheckFormat::Json => serde_json::to_string_pretty(&outcomes).unwrap_or_default() + "\n",
        CheckFormat::Junit => junit(&outcomes, scale),
    };
    let mut target = Target::open(None, false)?;
    target.out().write_all(text.as_bytes()).map_err(|e| Error::io("write to", "standard output", e))?;
    target.finish()?;
    Ok(outcomes.iter().all(|o| o.verdict == Verdict::Kept))
}
