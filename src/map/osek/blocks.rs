//! Filters the rows of stored software events that some rule needs: batches in, small rows out. Looks at each
//! name once, not once per row. Knows which names matter, not what they mean (see `merge`), and no files.

use super::slots::SlotTable;
use crate::error::Result;
use crate::names::Memo;
use crate::schema::{NameView, NumberView, view};
use arrow::array::{RecordBatch, StringArray};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// A software event that some rule needs; its name is an interned id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub time: i64,
    /// The value read or written; 0 for functions.
    pub value: u64,
    /// The index of its name among the names of all blocks so far.
    pub name: u32,
    /// The variable was written, or the function was entered.
    pub write_or_entry: bool,
    /// No row between this one and the one before was dropped.
    pub follows: bool,
}

/// The next relevant rows of a table and core.
#[derive(Debug, Default)]
pub struct Block {
    /// Names that got their ids in this block.
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Row>,
}

/// Which names some rule needs. It does not change during a run, so that threads can share it.
#[derive(Debug)]
pub struct Relevance {
    pub(super) slots: SlotTable,
    pub(super) functions: HashSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    Data,
    Functions,
}

view! {
    pub(super) struct DataColumns of data_event { time, variable, access, value }
}

view! {
    pub(super) struct FunctionColumns of function_event { time, function, kind }
}

/// Reads the batches of one table and core, in order.
#[derive(Debug)]
pub struct RowFilter {
    relevance: Arc<Relevance>,
    core: usize,
    table: Table,
    names: Numbers,
    /// The row before was dropped.
    passed: bool,
    others: OtherNames,
}

/// The names that no rule needs, collected until the reading ends; at most [`Numbers::MAX_KNOWN`].
pub(super) type OtherNames = Arc<Mutex<BTreeSet<String>>>;

impl RowFilter {
    /// A filter for one table of `core`, which is an index into the cores of the setup.
    pub fn new(relevance: Arc<Relevance>, core: usize, table: Table) -> Self {
        let others = OtherNames::default();
        Self { relevance, core, table, names: Numbers::default(), passed: false, others }
    }

    /// The names that were not relevant, when all batches have been read.
    pub fn others(&self) -> OtherNames {
        Arc::clone(&self.others)
    }

    /// The relevant rows of the next batch.
    pub fn read(&mut self, batch: &RecordBatch) -> Result<Block> {
        let mut block = Block::default();
        let relevance = Arc::clone(&self.relevance);
        match self.table {
            Table::Data => {
                let columns = DataColumns::of(batch)?;
                let matters = |name: &str| relevance.slots.matters(self.core, name);
                let dictionary = columns.variable.dictionary();
                let names = self.names.of(dictionary, &mut block.names, matters, &self.others);
                let is_write: Vec<_> =
                    columns.access.dictionary().iter().map(|word| Some(word == Some("write"))).collect();
                let rows = rows_of(columns.time, columns.variable, names, columns.access, &is_write);
                let rows = rows.zip(columns.value.values()).map(|(row, value)| Row { value: *value, ..row });
                block.rows = relevant(rows, batch.num_rows(), &mut self.passed);
            }
            Table::Functions => {
                let columns = FunctionColumns::of(batch)?;
                let matters = |name: &str| relevance.functions.contains(name);
                let dictionary = columns.function.dictionary();
                let names = self.names.of(dictionary, &mut block.names, matters, &self.others);
                let is_entry: Vec<_> =
                    columns.kind.dictionary().iter().map(|word| word.and_then(direction)).collect();
                let rows = rows_of(columns.time, columns.function, names, columns.kind, &is_entry);
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

/// Interned ids of relevant names, by first use.
#[derive(Debug, Default)]
struct Numbers {
    known: HashMap<String, u32>,
    given: u32,
    /// The id of each entry of the current dictionary.
    numbers: Memo<u32>,
}

impl Numbers {
    const NONE: u32 = u32::MAX;
    /// With more names than this, irrelevant ones are dropped.
    const MAX_KNOWN: usize = 1 << 16;

    /// The id of each of `values`; names that are new are appended to `new` or go to the `others`.
    fn of(
        &mut self,
        values: &StringArray,
        new: &mut Vec<String>,
        matters: impl Fn(&str) -> bool,
        others: &OtherNames,
    ) -> &[u32] {
        let Self { known, given, numbers } = self;
        numbers.follow(values, |text| {
            known.get(text).copied().unwrap_or_else(|| {
                let number = if matters(text) {
                    new.push(text.to_owned());
                    *given += 1;
                    *given - 1
                } else {
                    let mut others = others.lock().unwrap_or_else(PoisonError::into_inner);
                    if others.len() < Self::MAX_KNOWN {
                        others.insert(text.to_owned());
                    }
                    Self::NONE
                };
                known.insert(text.to_owned(), number);
                number
            })
        });
        if known.len() > Self::MAX_KNOWN {
            known.retain(|_, number| *number != Self::NONE);
        }
        numbers.values()
    }
}

/// All rows of a batch, without their values; irrelevant ones have no id.
fn rows_of<'a>(
    times: NumberView<'a, i64>,
    names: NameView<'a>,
    numbers: &'a [u32],
    words: NameView<'a>,
    write_or_entry: &'a [Option<bool>],
) -> impl Iterator<Item = Row> + use<'a> {
    let rows = times.values().iter().zip(names.keys()).zip(words.keys());
    rows.map(move |((time, name), word)| {
        let write_or_entry = write_or_entry.get(*word as usize).copied().flatten();
        let number = numbers.get(*name as usize).filter(|_| write_or_entry.is_some());
        let name = number.copied().unwrap_or(Numbers::NONE);
        Row {
            time: *time,
            value: 0,
            name,
            write_or_entry: write_or_entry.unwrap_or_default(),
            follows: false,
        }
    })
}

/// Keeps the rows with an id. Without branches, because the processor cannot predict which ones have one.
fn relevant(rows: impl Iterator<Item = Row>, at_most: usize, passed: &mut bool) -> Vec<Row> {
    let none = Row { time: 0, value: 0, name: Numbers::NONE, write_or_entry: false, follows: false };
    let (mut relevant_rows, mut len) = (vec![none; at_most], 0);
    for row in rows {
        if let Some(place) = relevant_rows.get_mut(len) {
            *place = Row { follows: !*passed, ..row };
        }
        *passed = row.name == Numbers::NONE;
        len += usize::from(!*passed);
    }
    relevant_rows.truncate(len);
    relevant_rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::osek::slots::{Owners, Role};
    use crate::schema::{DataEventRow, DataEventRows, FunctionEventRow, FunctionEventRows};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Core 0 reads `x` and `below[…]`; `SIG` is a signal of all cores.
    fn relevance() -> Arc<Relevance> {
        let owners = Owners { images: vec![0, 1], units: vec![0, 0] };
        let mut slots = SlotTable::new(Vec::new(), owners, &BTreeMap::new(), &["SIG".into()]);
        slots.add_role(0, "x", Role::Nesting);
        slots.add_role_below(0, "below", Role::Nesting);
        Arc::new(Relevance { slots, functions: HashSet::from(["f".into(), "g".into()]) })
    }

    /// Reads batches; returns names and `follows` of the rows that are left.
    fn read(reader: &mut RowFilter, batches: &[RecordBatch]) -> Vec<(String, Row)> {
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
        let mut reader = RowFilter::new(relevance(), 0, Table::Functions);
        let found = read(&mut reader, &[rows.take_batch().unwrap()]);
        let found: Vec<_> = found.iter().map(|(name, row)| (name.as_str(), row.write_or_entry)).collect();
        assert_eq!(found, [("f", true), ("g", false), ("g", true), ("f", false)]);
    }

    #[test]
    fn ever_new_names_do_not_fill_the_memory() {
        let (mut numbers, others) = (Numbers::default(), OtherNames::default());
        for n in 0..3 * Numbers::MAX_KNOWN / 100 {
            let names: Vec<String> =
                (0..100).map(|i| format!("{}", n * 100 + i)).chain(["x".into()]).collect();
            let mut new = Vec::new();
            let found = numbers.of(&names.into(), &mut new, |name| name == "x", &others).to_vec();
            assert_eq!((found[0], found[100]), (Numbers::NONE, 0));
            assert_eq!(new.len(), usize::from(n == 0));
            assert!(numbers.known.len() <= Numbers::MAX_KNOWN + 100);
            assert!(others.lock().unwrap().len() <= Numbers::MAX_KNOWN);
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
            let found = read(&mut RowFilter::new(relevance(), core, Table::Data), &batches);
            let found = found.into_iter().map(|(n, r)| (n, r.time, r.value, r.write_or_entry, r.follows));
            prop_assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}
