//! The words of hook variables among the stored accesses of all cores: in the order of time, then of the
//! exports, then of the writes. Not what they mean (see `rules`).

use crate::error::Result;
use crate::map::{StoredRows, merged};
use crate::names::Memo;
use crate::schema::{tables, view};
use arrow::array::RecordBatch;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What the kernel wrote into a hook variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// In ticks.
    pub time: i64,
    /// The export: an index into the names of the exports.
    pub export: usize,
    /// An index into the names of the variables.
    pub variable: usize,
    pub value: u64,
}

view! {
    struct Accesses of data_event { time, variable, access, value }
}

/// Passes each word to `take`, until it breaks.
pub(super) fn in_order(
    rows: &impl StoredRows,
    exports: &[String],
    variables: &Arc<[String]>,
    take: impl FnMut(&Word) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut streams = Vec::new();
    for (export, name) in exports.iter().enumerate() {
        let (variables, mut numbers) = (Arc::clone(variables), Memo::default());
        let decode = move |batch: RecordBatch| words_of(&batch, export, &variables, &mut numbers);
        streams.push(rows.read(tables::DATA_EVENT, Some(name.clone()), Accesses::COLUMNS, decode));
    }
    merged::in_order(streams, |word| word.time, take)
}

/// The words in a batch.
fn words_of(
    batch: &RecordBatch,
    export: usize,
    variables: &[String],
    numbers: &mut Memo<Option<usize>>,
) -> Result<Vec<Word>> {
    let rows = Accesses::of(batch)?;
    numbers.follow(rows.variable.dictionary(), |name| variables.iter().position(|variable| variable == name));
    let writes: Vec<bool> = rows.access.dictionary().iter().map(|word| word == Some("write")).collect();
    let is_write = |key: u32| writes.get(key as usize).copied().unwrap_or_default();
    let mut words = Vec::new();
    for row in 0..rows.len() {
        let key = |keys: &[u32]| keys.get(row).copied().unwrap_or(u32::MAX);
        let variable = numbers.get(key(rows.variable.keys()) as usize).copied().flatten();
        // A write without a value says nothing.
        if let (Some(variable), Some(value)) = (variable, rows.value.get(row))
            && is_write(key(rows.access.keys()))
        {
            words.push(Word { time: rows.time.value(row), export, variable, value });
        }
    }
    Ok(words)
}
