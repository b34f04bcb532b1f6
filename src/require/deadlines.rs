//! The deadlines of a file of requirements, for pictures of recordings. Not whether they are kept.

use super::known::Known;
use super::{Requirements, Verdict};
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::metrics::{MetricFilter, why_absent};
use crate::selection::pattern;

/// Deadlines in ticks, of processes that have instances, and a sentence for each that has none.
#[derive(Debug, Default)]
pub struct Deadlines {
    pub of: Vec<(String, i64)>,
    pub notes: Vec<String>,
}

/// The deadlines for recordings. That of a name that handlers on several cores share is one of each of them.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] with file and line for a name that nothing has;
/// [`crate::error::ErrorKind::Input`] for what is no time; those of a query.
pub fn deadlines(session: &Session, requirements: &Requirements, recordings: &[String]) -> Result<Deadlines> {
    let (known, scale) = (Known::of(session, requirements)?, session.database().time_scale());
    let mut processes = Vec::new();
    for recording in recordings {
        let sql = "SELECT DISTINCT process FROM process_instance WHERE recording = $recording";
        processes.extend(session.names(sql, &[("recording", recording.as_str().into())])?);
    }
    let mut deadlines = Deadlines::default();
    for deadline in &requirements.deadline {
        let name = deadline.entity.get_ref();
        let ticks = requirements.ticks("deadline", &deadline.deadline, 1, scale)?;
        let is_process = processes.contains(name);
        let fits = |process: &&String| {
            if is_process { *process == name } else { pattern::fits_on_core(name, process) }
        };
        let before = deadlines.of.len();
        deadlines.of.extend(processes.iter().filter(fits).map(|process| (process.clone(), ticks)));
        if deadlines.of.len() > before {
            continue;
        }
        deadlines.notes.push(match known.missing(name) {
            Some(missing) if missing.verdict == Verdict::Unknown => {
                return Err(requirements.mistake(&deadline.entity, Error::usage(missing.note.clone())));
            }
            Some(missing) => missing.note.clone(),
            None => {
                let recording = recordings.first().filter(|_| recordings.len() == 1).cloned();
                let filter = MetricFilter { recording, ..MetricFilter::default() };
                why_absent(session, session.queries().metric("ResponseTime")?, name, &filter)?
            }
        });
    }
    if requirements.deadline.is_empty() {
        deadlines
            .notes
            .push("the file of requirements has no [[deadline]], so that none is drawn".to_owned());
    }
    Ok(deadlines)
}
