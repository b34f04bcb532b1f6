//! Facts about recordings: the row of table `recording`, and the summary for `info`. Counts come from the
//! log of the database, so they always agree with the files.

use super::entities::idle_tasks_of;
use super::labels::Labels;
use crate::error::Result;
use crate::formats::{FORMATS, Header, RowOrder};
use crate::schema::{RecordingRow, RecordingRows, RecordingView, TABLES, TableSpec, tables};
use crate::store::{Database, Recording, Transaction, read_batches};
use std::sync::Arc;

/// The summary of a recording for `info`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingSummary {
    /// Name.
    pub name: String,
    /// First and last instant in ticks, both inclusive; `None` if nothing has a time.
    pub range: Option<(i64, i64)>,
    /// Table, files, rows, bytes; tables without rows are left out.
    pub tables: Vec<(&'static str, u64, u64, u64)>,
    /// The tasks that are no load, by name.
    pub idle_tasks: Vec<String>,
    /// Its labels and their values.
    pub labels: Labels,
}

/// The recordings of a database, in the order in which they came.
///
/// # Errors
/// Table `entity` cannot be read.
pub fn summary(db: &Database) -> Result<Vec<RecordingSummary>> {
    let of = |r: &Arc<Recording>| {
        let table = |t: &'static TableSpec| {
            let files: Vec<_> = r.files_of(t).collect();
            let rows = files.iter().map(|f| f.rows).sum();
            let bytes = files.iter().map(|f| f.bytes).sum();
            (t.name, files.len() as u64, rows, bytes)
        };
        let tables = TABLES.iter().map(table).filter(|t| t.1 > 0).collect();
        let entities = r.files_of(tables::ENTITY).map(|file| (file.clone(), db.place_of(file)));
        let entities: Vec<_> = entities.collect();
        let (range, idle_tasks) = (r.begin_at.zip(r.end_at), idle_tasks_of(entities)?);
        Ok(RecordingSummary { name: r.name.clone(), range, tables, idle_tasks, labels: r.labels.clone() })
    };
    db.recordings()?.iter().map(of).collect()
}

/// The tables of recorded rows, before the mapping.
fn recorded() -> impl Iterator<Item = &'static TableSpec> {
    let of_formats = FORMATS.iter().flat_map(|format| format.info().tables);
    let events = of_formats.filter(|t| t.order != RowOrder::AsGiven).map(|t| t.table);
    events.filter(|table| table.name != tables::BTF_EVENT.name)
}

/// Reads the row of table `recording`.
pub(super) fn stored_header(tx: &Transaction, name: &str) -> Result<Header> {
    let mut header = Header::default();
    for (_, path) in tx.files(tables::RECORDING, name)? {
        for batch in read_batches(&path, tables::RECORDING, None, 1)? {
            let batch = batch?;
            if let Some(row) = RecordingView::of(&batch)?.row(0) {
                header = Header {
                    os: row.os.map(|os| os.text().to_owned()),
                    creator: row.creator.map(str::to_owned),
                    created: row.created.map(str::to_owned),
                    tick: row.tick,
                };
            }
        }
    }
    Ok(header)
}

/// Writes the row of table `recording`, after everything else of the recording.
pub(super) fn write_recording_row(tx: &mut Transaction, name: &str, header: &Header) -> Result<()> {
    tx.drop_table(tables::RECORDING, name)?;
    let (begin_at, end_at) = time_range(tx, name)?;
    let recording = tx.recording(name)?.unwrap_or_default();
    let rows_of = |t: &TableSpec| recording.files_of(t).map(|f| f.rows as i64).sum::<i64>();
    let scale = tx.time_scale().as_str();
    let mut rows = RecordingRows::new();
    rows.push(RecordingRow {
        os: header.os.as_deref().map(Into::into),
        time_scale: scale.into(),
        begin_at,
        end_at,
        creator: header.creator.as_deref(),
        created: header.created.as_deref(),
        tick: header.tick,
        sources: rows_of(tables::SOURCE),
        software_events: recorded().map(rows_of).sum(),
        btf_events: rows_of(tables::BTF_EVENT),
        gaps: rows_of(tables::GAP),
        diagnostics: rows_of(tables::DIAGNOSTIC),
    });
    tx.put_rows(tables::RECORDING, name, &[rows.take_batch()?])?;
    tx.set_recording(name, begin_at, end_at)
}

/// First and last instant, both inclusive: of the recorded rows, or of imported system events.
pub(super) fn time_range(tx: &Transaction, name: &str) -> Result<(Option<i64>, Option<i64>)> {
    let recording = tx.recording(name)?.unwrap_or_default();
    let of_recorded = range_of(&recording, recorded());
    Ok(match of_recorded.0 {
        Some(_) => of_recorded,
        None => range_of(&recording, std::iter::once(tables::BTF_EVENT)),
    })
}

fn range_of(
    recording: &Recording,
    of: impl Iterator<Item = &'static TableSpec>,
) -> (Option<i64>, Option<i64>) {
    let mut range = (None, None);
    for table in of {
        for file in recording.files_of(table) {
            range.0 = [range.0, file.begin_at].into_iter().flatten().min();
            range.1 = [range.1, file.end_at].into_iter().flatten().max();
        }
    }
    range
}
