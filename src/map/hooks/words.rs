//! The words of hook variables among the stored accesses of all cores: in the order of time, then of the
//! exports, then of the writes. Not what they mean (see `rules`).

use crate::error::Result;
use crate::map::StoredRows;
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
    mut take: impl FnMut(&Word) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut streams = Vec::new();
    for (export, name) in exports.iter().enumerate() {
        let (variables, mut numbers) = (Arc::clone(variables), Memo::default());
        let decode = move |batch: RecordBatch| words_of(&batch, export, &variables, &mut numbers);
        let blocks = rows.read(tables::DATA_EVENT, Some(name.clone()), Accesses::COLUMNS, decode);
        streams.push(Stream { blocks, block: Vec::new().into_iter(), next: None });
    }
    for stream in &mut streams {
        stream.advance()?;
    }
    // A word of a later export is not before one of an earlier export at the same time.
    while let Some(first) = streams
        .iter_mut()
        .filter(|stream| stream.next.is_some())
        .min_by_key(|stream| stream.next.map(|word| (word.time, word.export)))
    {
        if let Some(word) = first.next
            && take(&word)?.is_break()
        {
            break;
        }
        first.advance()?;
    }
    Ok(())
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

struct Stream<B> {
    blocks: B,
    block: std::vec::IntoIter<Word>,
    next: Option<Word>,
}

impl<B: Iterator<Item = Result<Vec<Word>>>> Stream<B> {
    fn advance(&mut self) -> Result<()> {
        self.next = self.block.next();
        while self.next.is_none() {
            let Some(block) = self.blocks.next() else { return Ok(()) };
            self.block = block?.into_iter();
            self.next = self.block.next();
        }
        Ok(())
    }
}
