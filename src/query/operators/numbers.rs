//! Numbers for names: every distinct row of some string columns gets a small number, so that what groups or follows rows
//! by name compares integers. Not for columns of free text, of which there may be as many as rows.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, StringViewArray, UInt32Array};
use arrow::buffer::Buffer;
use arrow::compute::take;
use datafusion::common::{Result, internal_err};

/// Numbers handed out so far, for any number of threads.
#[derive(Debug, Default)]
pub(in crate::query) struct Numbers {
    tables: Mutex<Tables>,
    /// Memories of threads that are not numbering just now.
    memories: Mutex<Vec<Vec<Memory>>>,
}

/// The names of every column, then the pairs: of the first two columns, of those and the third, and so on.
#[derive(Debug, Default)]
struct Tables {
    names: Vec<Table<Option<Box<str>>>>,
    pairs: Vec<Table<(u32, u32)>>,
}

/// Keys in the order of their numbers.
#[derive(Debug)]
struct Table<K> {
    numbers: HashMap<K, u32>,
    keys: Vec<K>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), keys: Vec::new() }
    }
}

impl<K: std::hash::Hash + Eq + Clone> Table<K> {
    fn number(&mut self, key: K) -> u32 {
        let next = self.keys.len() as u32;
        *self.numbers.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            next
        })
    }
}

/// Slots of a memory: more than the names that a portion of rows usually has.
const SLOTS: usize = 512;
const NOTHING: u32 = u32::MAX;

/// The numbers of the keys seen last, each in the one slot that it can be in.
#[derive(Debug)]
struct Memory {
    keys: Box<[u128; SLOTS]>,
    numbers: Box<[u32; SLOTS]>,
    /// Where the texts of long names lie that the keys point to.
    texts: Vec<Buffer>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { keys: Box::new([0; SLOTS]), numbers: Box::new([NOTHING; SLOTS]), texts: Vec::new() }
    }
}

impl Memory {
    /// A long name is known by its place in the buffers: other buffers, other names.
    fn texts_are(&mut self, texts: &[Buffer]) {
        let same = |(one, other): (&Buffer, &Buffer)| one.ptr_eq(other) && one.len() == other.len();
        if texts.len() != self.texts.len() || !texts.iter().zip(&self.texts).all(same) {
            self.numbers.fill(NOTHING);
            self.texts = texts.to_vec();
        }
    }

    #[inline]
    fn number(&mut self, key: u128, find: impl FnOnce() -> u32) -> u32 {
        let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let slot = (mixed >> 32) as usize % SLOTS;
        if self.keys[slot] != key || self.numbers[slot] == NOTHING {
            (self.keys[slot], self.numbers[slot]) = (key, find());
        }
        self.numbers[slot]
    }
}

impl Numbers {
    /// The number of every row of `columns`, which are string views of the same length: equal rows, equal numbers, from
    /// 0 without holes where there is one column. NULL is a name like others.
    pub fn of(&self, columns: &[ArrayRef]) -> Result<Vec<u32>> {
        let mut memories = lock(&self.memories).pop().unwrap_or_default();
        memories.resize_with(columns.len() * 2, Memory::default);
        let (own, pairs) = memories.split_at_mut(columns.len());
        let mut result: Option<Vec<u32>> = None;
        for (i, (column, memory)) in columns.iter().zip(own).enumerate() {
            let Some(column) = column.as_string_view_opt() else {
                return internal_err!("a name to be numbered is a {}", column.data_type());
            };
            let numbers = self.names(i, column, memory);
            result = Some(match (result, pairs.get_mut(i)) {
                (Some(before), Some(memory)) => self.pairs(i - 1, before, &numbers, memory),
                _ => numbers,
            });
        }
        lock(&self.memories).push(memories);
        Ok(result.unwrap_or_default())
    }

    fn names(&self, column: usize, names: &StringViewArray, memory: &mut Memory) -> Vec<u32> {
        memory.texts_are(names.data_buffers());
        let find = |name: Option<&str>| {
            let mut tables = lock(&self.tables);
            if tables.names.len() <= column {
                tables.names.resize_with(column + 1, Table::default);
            }
            tables.names.get_mut(column).map_or(0, |t| t.number(name.map(Into::into)))
        };
        if names.null_count() > 0 {
            let mut null = None;
            let mut of = |(i, view): (usize, &u128)| match names.is_valid(i) {
                true => memory.number(*view, || find(Some(names.value(i)))),
                false => *null.get_or_insert_with(|| find(None)),
            };
            return names.views().iter().enumerate().map(&mut of).collect();
        }
        let Some(first) = names.views().first() else { return Vec::new() };
        if names.views().iter().all(|view| view == first) {
            // The columns that are part of the path of a file.
            return vec![find(Some(names.value(0))); names.len()];
        }
        let of = |(i, view): (usize, &u128)| memory.number(*view, || find(Some(names.value(i))));
        names.views().iter().enumerate().map(of).collect()
    }

    fn pairs(&self, table: usize, left: Vec<u32>, right: &[u32], memory: &mut Memory) -> Vec<u32> {
        let mut result = left;
        for (left, right) in result.iter_mut().zip(right) {
            let pair = (*left, *right);
            let key = u128::from(pair.0) << 32 | u128::from(pair.1);
            *left = memory.number(key, || {
                let mut tables = lock(&self.tables);
                if tables.pairs.len() <= table {
                    tables.pairs.resize_with(table + 1, Table::default);
                }
                tables.pairs.get_mut(table).map_or(0, |t| t.number(pair))
            });
        }
        result
    }

    /// How many numbers there are.
    pub fn count(&self) -> usize {
        let tables = lock(&self.tables);
        let names = || tables.names.first().map_or(0, |t| t.keys.len());
        tables.pairs.last().map_or_else(names, |t| t.keys.len())
    }

    /// The names of column `column` of `columns` that stand behind `numbers`.
    pub fn names_of(&self, numbers: &UInt32Array, column: usize, columns: usize) -> Result<ArrayRef> {
        let tables = lock(&self.tables);
        let mut numbers = numbers.clone();
        for step in (column.max(1)..columns).rev() {
            let Some(pairs) = tables.pairs.get(step - 1) else { break };
            let right = step == column;
            let part = |n: u32| pairs.keys.get(n as usize).map_or(0, |p| if right { p.1 } else { p.0 });
            numbers = numbers.unary(part);
            if right {
                break;
            }
        }
        let names = tables.names.get(column).map_or(&[][..], |t| &t.keys);
        let names: StringViewArray = names.iter().map(|n| n.as_deref()).collect();
        Ok(take(&names, &numbers, None)?)
    }
}

/// What a thread that panicked left behind is still right: numbers are only added.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    type Row = (Option<String>, Option<String>, Option<String>);

    fn column(rows: &[Row], get: fn(&Row) -> &Option<String>) -> ArrayRef {
        Arc::new(rows.iter().map(|r| get(r).as_deref()).collect::<StringViewArray>())
    }

    fn name() -> impl Strategy<Value = Option<String>> {
        let long = || Just("a name that is not held in the view itself".to_owned());
        prop::option::weighted(
            0.9,
            prop_oneof!["[ab]{0,2}", "[ab]{2}", long(), "a name of more than 12 bytes [ab]"],
        )
    }

    proptest! {
        #[test]
        fn equal_rows_have_equal_numbers_and_come_back(
            portions in prop::collection::vec(prop::collection::vec((name(), name(), name()), 0..40), 1..5)
        ) {
            let numbers = Numbers::default();
            let (mut seen, mut count) = (HashMap::new(), 0);
            for rows in &portions {
                let columns = [column(rows, |r| &r.0), column(rows, |r| &r.1), column(rows, |r| &r.2)];
                let found = numbers.of(&columns).unwrap();
                prop_assert_eq!(found.len(), rows.len());
                for (row, number) in rows.iter().zip(&found) {
                    let before = *seen.entry(row.clone()).or_insert_with(|| { count += 1; *number });
                    prop_assert_eq!(before, *number);
                }
                let found = UInt32Array::from(found);
                for (i, column) in columns.iter().enumerate() {
                    prop_assert_eq!(&numbers.names_of(&found, i, 3).unwrap(), column);
                }
            }
            prop_assert_eq!(numbers.count(), count);
        }
    }
}
