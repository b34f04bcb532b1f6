//! Stored findings about recordings, counted by code, and which of them make results doubtful: `info`,
//! `metrics` and `plot` repeat these. Not how they are found (see `ingest`).

use crate::diagnostics::Severity;
use crate::error::Result;
use crate::pipeline::fan_out;
use crate::schema::{DiagnosticView, SourceView, tables};
use crate::store::{Database, FileEntry, read_batches};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const BATCH_ROWS: usize = 4096;
/// Files of a bucket that are read at the same time.
const REMOTE_READERS: usize = 16;

/// Codes of findings after which results are not to be trusted: times, states or events of the trace are not
/// those of the system.
const DOUBTS: [&str; 12] = [
    "time-backwards",
    "time-jump",
    "time-overflow",
    "doubled-times",
    "core-ends-earlier",
    "core-occupied",
    "illegal-transition",
    "instance-without-end",
    "ring-overflow",
    "file-truncated",
    "task-table-overflow",
    "events-lost",
];

/// The findings of a code in an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The recording.
    pub recording: String,
    /// How bad they are.
    pub severity: Severity,
    /// Their code.
    pub code: String,
    /// The message of the first one.
    pub message: String,
    /// The line of the first one, if it has one.
    pub line: Option<i64>,
    /// How many there are.
    pub count: u64,
}

impl Found {
    /// Whether results are doubtful.
    pub fn is_doubt(&self) -> bool {
        self.severity > Severity::Info && DOUBTS.contains(&self.code.as_str())
    }

    /// For people, without the recording: message, code and number.
    pub fn text(&self) -> String {
        let times = if self.count > 1 { format!(" ({} times)", self.count) } else { String::new() };
        format!("{} [{}]{times}", self.message, self.code)
    }
}

/// The findings of one recording, or of all, in the order in which they were found.
///
/// # Errors
/// Those of reading the table.
pub fn findings(db: &Database, recording: Option<&str>) -> Result<Vec<Found>> {
    found(db, recording, |_| true)
}

/// The errors of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Errors {
    /// Of its inputs: records that were rejected, and headers that were not understood. What the database has
    /// of them is not what they hold.
    pub of_inputs: Vec<Found>,
    /// Of its description and of the mapping.
    pub others: Vec<Found>,
}

/// The findings of a recording that are errors.
///
/// # Errors
/// Those of reading the tables.
pub fn errors(db: &Database, recording: &str) -> Result<Errors> {
    let mut inputs = BTreeSet::new();
    for file in db.files(tables::SOURCE, Some(recording))? {
        for batch in read_batches(&db.place_of(&file), tables::SOURCE, None, BATCH_ROWS)? {
            let batch = batch?;
            let rows = SourceView::of(&batch)?;
            inputs.extend((0..rows.len()).map(|row| rows.source.value(row).to_owned()));
        }
    }
    let of = |of_input: bool| {
        let mut found = found(db, Some(recording), |source| inputs.contains(source) == of_input)?;
        found.retain(|found| found.severity == Severity::Error);
        Ok(found)
    };
    Ok(Errors { of_inputs: of(true)?, others: of(false)? })
}

/// The findings about the sources that are wanted.
fn found(db: &Database, recording: Option<&str>, wanted: impl Fn(&str) -> bool + Sync) -> Result<Vec<Found>> {
    // Behind a network, a reader waits most of the time.
    let readers = if db.location().folder().is_none() { REMOTE_READERS } else { 1 };
    let files = db.files(tables::DIAGNOSTIC, recording)?;
    let of_files = fan_out(readers.min(files.len()), files.iter().enumerate(), |files| {
        files.map(|(place, file)| Ok((place, found_in(db, file, &wanted)?))).collect::<Result<Vec<_>>>()
    })?;
    let mut of_files = of_files.concat();
    of_files.sort_by_key(|(place, _)| *place);
    Ok(of_files.into_iter().flat_map(|(_, found)| found).collect())
}

fn found_in(db: &Database, file: &FileEntry, wanted: &impl Fn(&str) -> bool) -> Result<Vec<Found>> {
    let mut all: Vec<Found> = Vec::new();
    for batch in read_batches(&db.place_of(file), tables::DIAGNOSTIC, None, BATCH_ROWS)? {
        let batch = batch?;
        let rows = DiagnosticView::of(&batch)?;
        for row in (0..rows.len()).filter(|row| wanted(rows.source.value(*row))) {
            let (code, message) = (rows.code.value(row), rows.message.value(row));
            let count = beyond_the_kept(message).unwrap_or(1);
            match all.iter_mut().find(|found| found.code == code) {
                Some(found) => found.count += count,
                None => all.push(Found {
                    recording: file.recording.clone(),
                    severity: Severity::parse(rows.severity.value(row)).unwrap_or(Severity::Error),
                    code: code.to_owned(),
                    message: message.to_owned(),
                    line: rows.line.get(row),
                    count,
                }),
            }
        }
    }
    Ok(all)
}

/// The findings that make results doubtful, see [`findings`].
///
/// # Errors
/// Those of [`findings`].
pub fn doubts(db: &Database, recording: Option<&str>) -> Result<Vec<Found>> {
    Ok(findings(db, recording)?.into_iter().filter(Found::is_doubt).collect())
}

/// The row that counts the findings that were not kept: how many it stands for.
fn beyond_the_kept(message: &str) -> Option<u64> {
    message.strip_prefix("… and ")?.strip_suffix(" more")?.parse().ok()
}
