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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::slots::Watch;
    use crate::schema::{DataEventRow, DataEventRows, FunctionEventRow, FunctionEventRows};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Core 0 watches `x` and `below[…]`; `SIG` is a signal of all cores.
    fn relevance() -> Arc<Relevance> {
        let mut slots = SlotTable::new(Vec::new(), vec![0, 1], &BTreeMap::new(), &["SIG".into()]);
        slots.watch(0, "x", Watch::Nesting);
        slots.watch_below(0, "below", Watch::Nesting);
        Arc::new(Relevance { slots, functions: HashSet::from(["f".into(), "g".into()]) })
    }

    /// Reads batches; names and whether rows follow, for each row that is left.
    fn read(reader: &mut Reader, batches: &[RecordBatch]) -> Vec<(String, Row)> {
        let (mut names, mut found) = (Vec::new(), Vec::new());
        for batch in batches {
            let block = reader.read(batch).unwrap();
            names.extend(block.names);
            found.extend(block.rows.into_iter().map(|row| (names[row.name as usize].clone(), row)));
        }
        found
    }

    #[test]
    fn the_words_of_functions_say_where_they_lead() {
        let mut rows = FunctionEventRows::new();
        for (function, kind) in [
            ("f", "entry"),
            ("h", "entry"),
            ("g", "exit"),
            ("f", "switch"),
            ("g", "isr_entry"),
            ("f", "isr_exit"),
        ] {
            rows.push(FunctionEventRow { time: 7, seq: 0, function: function.into(), kind: kind.into() });
        }
        let mut reader = Reader::new(relevance(), 0, Kind::Functions);
        let found = read(&mut reader, &[rows.take_batch().unwrap()]);
        let found: Vec<_> = found.iter().map(|(name, row)| (name.as_str(), row.forth)).collect();
        assert_eq!(found, [("f", true), ("g", false), ("g", true), ("f", false)]);
    }

    #[test]
    fn ever_new_names_do_not_fill_the_memory() {
        let mut numbers = Numbers::default();
        for n in 0..3 * Numbers::MAX_KNOWN / 100 {
            let names: Vec<String> =
                (0..100).map(|i| format!("{}", n * 100 + i)).chain(["x".into()]).collect();
            let mut new = Vec::new();
            let found = numbers.of(&names.into(), &mut new, |name| name == "x").to_vec();
            assert_eq!((found[0], found[100]), (Numbers::NONE, 0));
            assert_eq!(new.len(), usize::from(n == 0));
            assert!(numbers.known.len() <= Numbers::MAX_KNOWN + 100);
        }
    }

    const VARIABLES: [&str; 6] = ["x", "y", "below[1]", "below", "SIG", "SIGNAL"];

    proptest! {
        #[test]
        fn what_is_left_is_what_matters(
            rows in prop::collection::vec((0i64..9, 0usize..VARIABLES.len(), any::<bool>(), 0u64..3), 0..60),
            size in 1usize..20,
            core in 0usize..2,
            same_keys: bool,
        ) {
            let mut table = DataEventRows::new();
            let batches: Vec<_> = rows.chunks(size).map(|chunk| {
                if !same_keys {
                    table = DataEventRows::new();
                }
                for (time, variable, write, value) in chunk {
                    table.push(DataEventRow {
                        time: *time,
                        seq: 0,
                        record: None,
                        variable: VARIABLES[*variable].into(),
                        access: if *write { "write" } else { "read" }.into(),
                        value: Some(*value),
                    });
                }
                table.take_batch().unwrap()
            }).collect();
            let matters = |n: usize| VARIABLES[n] == "SIG" || core == 0 && ["x", "below[1]"].contains(&VARIABLES[n]);
            let mut passed = false;
            let expected = rows.iter().filter_map(|(time, variable, write, value)| {
                let passed = std::mem::replace(&mut passed, !matters(*variable));
                matters(*variable).then_some((VARIABLES[*variable].to_owned(), *time, *value, *write, !passed))
            });
            let found = read(&mut Reader::new(relevance(), core, Kind::Data), &batches);
            let found = found.into_iter().map(|(n, r)| (n, r.time, r.value, r.forth, r.follows));
            prop_assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}
