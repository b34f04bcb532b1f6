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
use std::hash::BuildHasher as _;
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
        let mut decoder = Decoder::new(Arc::clone(meanings));
        let decode = move |batch: RecordBatch| decoder.occurrences(&batch);
        rows.read(tables::TRACE_EVENT, Some(stream), Events::COLUMNS, decode)
    });
    merged::in_order(streams.collect(), |occurrence| occurrence.time, take)
}

/// So many events are known by their texts.
const SLOTS: usize = 1 << 12;

/// Decodes the events of a stream.
struct Decoder {
    meanings: Arc<Meanings>,
    texts: Texts,
    /// What the events of each name mean, and a number of the name.
    known: Memo<Option<(u32, Meaning)>>,
    /// The same tasks come again and again, and an event says all of it in the same words: what it says is
    /// looked up by them. A slot has the last event of its hash.
    slots: Vec<Option<Slot>>,
    hasher: foldhash::fast::FixedState,
}

struct Slot {
    name: u32,
    payload: String,
    what: What,
}

impl Decoder {
    fn new(meanings: Arc<Meanings>) -> Self {
        let slots = std::iter::repeat_with(|| None).take(SLOTS).collect();
        let (texts, known, hasher) = Default::default();
        Self { meanings, texts, known, slots, hasher }
    }

    /// The events of a batch that have a meaning.
    fn occurrences(&mut self, batch: &RecordBatch) -> Result<Vec<Occurrence>> {
        let events = Events::of(batch)?;
        let Self { meanings, texts, known, slots, hasher } = self;
        known.follow(events.name.dictionary(), |name| Some((texts.number(name), meanings.of(name)?)));
        let (mut found, mut parameters) = (Vec::new(), Parameters::default());
        for row in 0..events.len() {
            let key = events.name.keys().get(row).copied().unwrap_or(u32::MAX);
            let Some((name, meaning)) = known.get(key as usize).and_then(Option::as_ref) else { continue };
            let payload = events.payload.value(row);
            let place = hasher.hash_one((*name, payload)) as usize % SLOTS;
            let what = match slots.get_mut(place) {
                Some(Some(slot)) if slot.name == *name && slot.payload == payload => slot.what.clone(),
                slot => {
                    let what = meanings.what(meaning, payload, &mut parameters, texts);
                    let what = what.unwrap_or(What::Unread);
                    if let Some(slot) = slot {
                        let mut text = slot.take().map(|old| old.payload).unwrap_or_default();
                        text.clear();
                        text.push_str(payload);
                        *slot = Some(Slot { name: *name, payload: text, what: what.clone() });
                    }
                    what
                }
            };
            let cpu = events.cpu.get(row).unwrap_or(0);
            found.push(Occurrence { time: events.time.value(row), cpu, what });
        }
        Ok(found)
    }
}
