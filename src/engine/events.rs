//! The system events of a recording as batches, in the order of their file or of time: read in stored order
//! if that is the right one, else sorted by SQL. Not for what an event is (see [`crate::btf`]).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::RecordBatch;

use super::param::Param;
use super::session::Session;
use crate::error::{Error, Result};
use crate::schema::{BtfEventView, columns::btf_event, tables, view};
use crate::store::{FileEntry, Resequenced, read_batches};

/// The columns of the batches of [`events`]: those of a file, in its order.
const EVENT_COLUMNS: &[&str] = BtfEventView::COLUMNS;

view! {
    /// How a recording came to be.
    struct Origins of source { format, backwards }
}

/// Rows of a batch that is read without SQL: few enough to stay in the cache until they are used.
const BATCH_ROWS: usize = 8 * 1024;

pub(crate) type Events = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventOrder {
    File,
    /// Time, then the order of the file.
    Time,
}

/// The events of a recording, names as views or, when read in stored order, as dictionaries. `condition`
/// selects the recording and possibly more; `whole` says that it selects nothing but the recording.
pub(crate) fn events(
    session: &Session,
    recording: &str,
    (condition, params): (&str, &[(&str, Param)]),
    whole: bool,
    order: EventOrder,
) -> Result<Events> {
    let (columns, table) = (EVENT_COLUMNS.join(", "), tables::BTF_EVENT.name);
    let sorted = |by: &str| -> Result<Events> {
        let sql = format!("SELECT {columns} FROM {table} {condition} ORDER BY {by}");
        Ok(Box::new(session.sql(&sql, params)?))
    };
    // The stored order is that of time, which is the order of the file unless its times run backwards.
    let as_they_lie = order == EventOrder::Time || !runs_backwards(session, recording)?;
    match whole && is_one_run(session, recording)? {
        true if as_they_lie => stored(session, recording),
        true => Ok(Box::new(Resequenced::new(stored(session, recording)?))),
        false => sorted(if as_they_lie { "time, seq" } else { btf_event::SEQ }),
    }
}

/// All events of a recording, part after part, without SQL, whose sort would cost more than reading them.
fn stored(session: &Session, recording: &str) -> Result<Events> {
    let (database, interrupt) = (session.database().clone(), Arc::clone(session.interrupt()));
    let files = database.files(tables::BTF_EVENT, Some(recording))?;
    let batches = move |file: FileEntry| -> Events {
        let path = database.place_of(&file);
        match read_batches(&path, tables::BTF_EVENT, Some(EVENT_COLUMNS), BATCH_ROWS) {
            Ok(batches) => Box::new(batches),
            Err(e) => Box::new(std::iter::once(Err(e))),
        }
    };
    let unless_stopped = move |batch| match interrupt.load(Ordering::Relaxed) {
        true => Err(Error::interrupted()),
        false => batch,
    };
    Ok(Box::new(files.into_iter().flat_map(batches).map(unless_stopped)))
}

/// True if the parts of `btf_event` follow each other in time: any disorder is sorted out.
fn is_one_run(session: &Session, recording: &str) -> Result<bool> {
    let files = session.database().files(tables::BTF_EVENT, Some(recording))?;
    Ok(files.is_sorted_by(|a, b| a.end_at.zip(b.begin_at).is_some_and(|(end, begin)| end <= begin)))
}

fn runs_backwards(session: &Session, recording: &str) -> Result<bool> {
    let mut backwards = false;
    for batch in session.scanner().rows(tables::SOURCE, recording, Origins::COLUMNS)? {
        backwards |= Origins::of(&batch)?.backwards.values().iter().any(|count| *count > 0);
    }
    Ok(backwards)
}

/// The format of the BTF file that a recording was imported from; `None` when it was mapped.
pub(crate) fn imported_as(session: &Session, recording: &str) -> Result<Option<String>> {
    for batch in session.scanner().rows(tables::SOURCE, recording, Origins::COLUMNS)? {
        let origins = Origins::of(&batch)?;
        let mut formats = (0..origins.len()).map(|row| origins.format.value(row));
        if let Some(format) = formats.find(|format| format.starts_with("btf")) {
            return Ok(Some(format.to_owned()));
        }
    }
    Ok(None)
}
