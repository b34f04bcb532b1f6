//! The rows of stored software events that some rule reads: batches in, small rows out, everything else gone. Looks at
//! each name once, not once per row. Knows which names matter, not what they mean (see `merge`), and no files.

use super::slots::SlotTable;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::begins_with;
use crate::schema::columns::{data_event as data, function_event as func};
use arrow::array::{AsArray, DictionaryArray, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{Int64Type, UInt32Type, UInt64Type};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A software event, all of whose rules find its name by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub time: i64,
    /// The value read or written; 0 for functions.
    pub value: u64,
    /// The place of its name among the names of all blocks so far.
    pub name: u32,
    /// The variable was written, the function was entered.
    pub forth: bool,
    /// No row that was left out lies between this one and the one before.
    pub follows: bool,
}

/// The next rows of a table and core that matter.
#[derive(Debug, Default)]
pub struct Block {
    /// Names that had no number before.
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Row>,
}

/// Which names some rule reads. Does not change during a run, so that any thread may ask.
#[derive(Debug)]
pub struct Relevance {
    pub(super) slots: SlotTable,
    pub(super) functions: HashSet<String>,
}

/// The two kinds of software events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rows of `data_event`.
    Data,
    /// Rows of `function_event`.
    Functions,
}

/// Reads the batches of one table and core, in their order.
#[derive(Debug)]
pub struct Reader {
    relevance: Arc<Relevance>,
    core: usize,
    kind: Kind,
    names: Numbers,
    /// The row before was left out.
    passed: bool,
}

impl Reader {
    /// A reader of the software events of one kind of `core`, which is an index into the cores of the setup.
    pub fn new(relevance: Arc<Relevance>, core: usize, kind: Kind) -> Self {
        Self { relevance, core, kind, names: Numbers::default(), passed: false }
    }

    /// The rows of the next batch that matter.
    ///
    /// # Errors
    /// [`ErrorKind::Bug`] when the batch is not of the table.
    pub fn read(&mut self, batch: &RecordBatch) -> Result<Block> {
        let mut block = Block::default();
        let relevance = Arc::clone(&self.relevance);
        match self.kind {
            Kind::Data => {
                let (variable, access) =
                    (Column::of(batch, data::VARIABLE)?, Column::of(batch, data::ACCESS)?);
                let core = self.core;
                let number = |name: &str| relevance.slots.matters(core, name);
                let names = self.names.of(variable.values, &mut block.names, number);
                let forth: Vec<_> = access.values.iter().map(|word| Some(word == Some("write"))).collect();
                let values = numbers(batch, data::VALUE)?;
                let rows = rows_of(batch, data::TIME, &variable, names, &access, &forth)?;
                let rows = rows.zip(values.values()).map(|(row, value)| Row { value: *value, ..row });
                block.rows = relevant(rows, batch.num_rows(), &mut self.passed);
            }
            Kind::Functions => {
                let (function, kind) = (Column::of(batch, func::FUNCTION)?, Column::of(batch, func::KIND)?);
                let number = |name: &str| relevance.functions.contains(name);
                let names = self.names.of(function.values, &mut block.names, number);
                let forth: Vec<_> = kind.values.iter().map(|word| word.and_then(direction)).collect();
                let rows = rows_of(batch, func::TIME, &function, names, &kind, &forth)?;
                block.rows = relevant(rows, batch.num_rows(), &mut self.passed);
            }
        }
        Ok(block)
    }
}

/// True for an entry, false for an exit.
fn direction(kind: &str) -> Option<bool> {
    match kind {
        "entry" | "isr_entry" => Some(true),
        "exit" | "isr_exit" => Some(false),
        _ => None,
    }
}

/// Numbers of names that matter, in the order in which they come.
#[derive(Debug, Default)]
struct Numbers {
    known: HashMap<String, u32>,
    given: u32,
    /// What the keys of the last batch stand for, and their numbers.
    values: Option<StringArray>,
    numbers: Vec<u32>,
}

impl Numbers {
    /// The number of a name that no rule reads.
    const NONE: u32 = u32::MAX;
    /// When more names are known, those that no rule reads are forgotten.
    const MAX_KNOWN: usize = 1 << 16;

    /// The number of each of `values`; names that get one now are appended to `new`.
    fn of(&mut self, values: &StringArray, new: &mut Vec<String>, matters: impl Fn(&str) -> bool) -> &[u32] {
        if !self.values.as_ref().is_some_and(|before| begins_with(values, before)) {
            self.numbers.clear();
        }
        for text in values.iter().skip(self.numbers.len()).map(Option::unwrap_or_default) {
            let number = self.known.get(text).copied().unwrap_or_else(|| {
                let number = if matters(text) {
                    new.push(text.to_owned());
                    self.given += 1;
                    self.given - 1
                } else {
                    Self::NONE
                };
                self.known.insert(text.to_owned(), number);
                number
            });
            self.numbers.push(number);
        }
        if self.known.len() > Self::MAX_KNOWN {
            self.known.retain(|_, number| *number != Self::NONE);
        }
        self.values = Some(values.clone());
        &self.numbers
    }
}

/// A column of names: a key per row, and what the keys stand for.
struct Column<'a> {
    keys: &'a [u32],
    values: &'a StringArray,
}

impl<'a> Column<'a> {
    fn of(batch: &'a RecordBatch, name: &str) -> Result<Self> {
        let rows: Option<&DictionaryArray<UInt32Type>> =
            batch.column_by_name(name).and_then(|c| c.as_dictionary_opt());
        let parts = rows.and_then(|rows| Some((rows.keys().values(), rows.values().as_string_opt::<i32>()?)));
        let (keys, values) = parts.ok_or_else(|| shape(name))?;
        Ok(Self { keys, values })
    }
}

/// All rows of a batch, without their values; those that do not matter have no number.
fn rows_of<'a>(
    batch: &'a RecordBatch,
    time: &str,
    name: &Column<'a>,
    numbers: &'a [u32],
    word: &Column<'a>,
    forth: &'a [Option<bool>],
) -> Result<impl Iterator<Item = Row> + use<'a>> {
    let times: Option<&Int64Array> =
        batch.column_by_name(time).and_then(|c| c.as_primitive_opt::<Int64Type>());
    let times = times.ok_or_else(|| shape(time))?.values().iter();
    let rows = times.zip(name.keys).zip(word.keys);
    Ok(rows.map(move |((time, name), word)| {
        let forth = forth.get(*word as usize).copied().flatten();
        let number = numbers.get(*name as usize).filter(|_| forth.is_some());
        let name = number.copied().unwrap_or(Numbers::NONE);
        Row { time: *time, value: 0, name, forth: forth.unwrap_or_default(), follows: false }
    }))
}

/// Keeps the rows that have a number. Whether a row has one is hard to foresee for the processor, so nothing branches.
fn relevant(rows: impl Iterator<Item = Row>, at_most: usize, passed: &mut bool) -> Vec<Row> {
    let none = Row { time: 0, value: 0, name: Numbers::NONE, forth: false, follows: false };
    let (mut kept, mut len) = (vec![none; at_most], 0);
    for row in rows {
        if let Some(place) = kept.get_mut(len) {
            *place = Row { follows: !*passed, ..row };
        }
        *passed = row.name == Numbers::NONE;
        len += usize::from(!*passed);
    }
    kept.truncate(len);
    kept
}

fn numbers<'a>(batch: &'a RecordBatch, column: &str) -> Result<&'a UInt64Array> {
    let array = batch.column_by_name(column).and_then(|c| c.as_primitive_opt::<UInt64Type>());
    array.ok_or_else(|| shape(column))
}

fn shape(column: &str) -> Error {
    Error::new(ErrorKind::Bug, format!("a batch of software events has no usable column '{column}'"))
}
