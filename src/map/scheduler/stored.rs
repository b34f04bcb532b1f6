//! The stored events that have a meaning for the mapping, of all streams in the order of time. Not what they
//! mean (see `meanings`).

use super::meanings::{Meanings, Texts};
use super::occurrences::{Occurrence, What};
use super::parameters::Parameters;
use crate::description::Meaning;
use crate::error::Result;
use crate::map::{StoredRows, merged};
use crate::names::Memo;
use crate::schema::{tables, view};
use arrow::array::RecordBatch;
use std::ops::ControlFlow;
use std::sync::Arc;

view! {
    struct Events of trace_event { cpu, time, name, payload }
}

/// Passes each event with a meaning to `take`, until it breaks. At one instant, those of the stream whose
/// name comes first are first.
pub(super) fn in_order(
    rows: &impl StoredRows,
    meanings: &Arc<Meanings>,
    take: impl FnMut(&Occurrence) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let streams = rows.cores(tables::TRACE_EVENT).into_iter().map(|stream| {
        let (meanings, mut known, mut texts) = (Arc::clone(meanings), Memo::default(), Texts::default());
        let decode = move |batch: RecordBatch| occurrences(&batch, &meanings, &mut known, &mut texts);
        rows.read(tables::TRACE_EVENT, Some(stream), Events::COLUMNS, decode)
    });
    merged::in_order(streams.collect(), |occurrence| occurrence.time, take)
}

/// The events of a batch that have a meaning.
fn occurrences(
    batch: &RecordBatch,
    meanings: &Meanings,
    known: &mut Memo<Option<Meaning>>,
    texts: &mut Texts,
) -> Result<Vec<Occurrence>> {
    let events = Events::of(batch)?;
    known.follow(events.name.dictionary(), |name| meanings.of(name));
    let (mut found, mut parameters) = (Vec::new(), Parameters::default());
    for row in 0..events.len() {
        let key = events.name.keys().get(row).copied().unwrap_or(u32::MAX);
        if let Some(meaning) = known.get(key as usize).and_then(Option::as_ref) {
            let what = meanings.what(meaning, events.payload.value(row), &mut parameters, texts);
            found.push(Occurrence {
                time: events.time.value(row),
                cpu: events.cpu.get(row).unwrap_or(0),
                what: what.unwrap_or(What::Unread),
            });
        }
    }
    Ok(found)
}
