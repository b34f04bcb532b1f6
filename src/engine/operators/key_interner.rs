//! Interned ids of keys: every distinct row of some string columns gets a small integer, so that grouping and
//! following rows by name compares integers. Not for columns of free text, which may have as many values as
//! rows.

use std::hash::{BuildHasher as _, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, StringViewArray, UInt32Array};
use arrow::buffer::Buffer;
use arrow::compute::take;
use arrow::datatypes::UInt32Type;
use datafusion::common::{Result, internal_err};
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::names::Memo;

/// The ids so far, for any number of threads.
#[derive(Debug, Default)]
pub(crate) struct KeyInterner {
    interners: Mutex<Interners>,
    /// Caches that no thread is using now: of the names of each column, and of pairs.
    caches: Mutex<Vec<(Vec<ColumnCache>, Vec<PairCache>)>>,
}

/// The names of every column, then the pairs: of the first two columns, of those and the third, and so on.
#[derive(Debug, Default)]
struct Interners {
    names: Vec<Interner<Option<Box<str>>>>,
    pairs: Vec<Interner<(u32, u32)>>,
}

/// Keys in the order of their ids, which the table finds.
#[derive(Debug)]
struct Interner<K> {
    ids: HashTable<u32>,
    keys: Vec<K>,
    hasher: RandomState,
}

impl<K> Default for Interner<K> {
    fn default() -> Self {
        Self { ids: HashTable::new(), keys: Vec::new(), hasher: RandomState::default() }
    }
}

impl<K: Hash> Interner<K> {
    /// The id of `key`, which is hashed as the `K` that `own` makes of it, and found by `is`.
    fn number(&mut self, key: &impl Hash, is: impl Fn(&K) -> bool, own: impl FnOnce() -> K) -> u32 {
        let Self { ids, keys, hasher } = self;
        let hash = hasher.hash_one(key);
        if let Some(id) = ids.find(hash, |id| keys.get(*id as usize).is_some_and(&is)) {
            return *id;
        }
        let next = keys.len() as u32;
        keys.push(own());
        let hash_of = |id: &u32| keys.get(*id as usize).map_or(0, |key| hasher.hash_one(key));
        ids.insert_unique(hash, next, hash_of);
        next
    }
}

/// Initial slots of a cache of names; at the second number, it is emptied instead of growing further.
const SLOTS: usize = 256;
const MAX_SLOTS: usize = 1 << 14;
/// Cells of pairs that are cached by row and column.
const MAX_CELLS: usize = 1 << 16;
const NO_ID: u32 = u32::MAX;
/// A view that no text has: its length is invalid in Arrow.
const NO_VIEW: u128 = u128::MAX;

/// What a thread caches of the names of a column.
#[derive(Debug, Default)]
struct ColumnCache {
    views: ViewCache,
    /// The ids of the entries of a dictionary, for those that were in a row.
    keys: Memo<u32>,
}

/// The ids of the names so far, by their views: open addressing, mostly empty.
#[derive(Debug)]
struct ViewCache {
    slots: Vec<(u128, u32)>,
    used: usize,
    /// The buffers that the views of long names point to.
    texts: Vec<Buffer>,
}

impl Default for ViewCache {
    fn default() -> Self {
        Self { slots: vec![(NO_VIEW, NO_ID); SLOTS], used: 0, texts: Vec::new() }
    }
}

impl ViewCache {
    /// The view of a long name is its place in the buffers: with other buffers, it stands for another name.
    fn set_buffers(&mut self, texts: &[Buffer]) {
        let same = |(one, other): (&Buffer, &Buffer)| one.ptr_eq(other) && one.len() == other.len();
        if texts.len() != self.texts.len() || !texts.iter().zip(&self.texts).all(same) {
            self.clear();
            self.texts = texts.to_vec();
        }
    }

    fn clear(&mut self) {
        self.slots.fill((NO_VIEW, NO_ID));
        self.used = 0;
    }

    /// The first of `slots` slots (a power of two) to search for a view.
    #[inline(always)]
    fn begin(view: u128, slots: usize) -> usize {
        let mixed = (view as u64 ^ ((view >> 64) as u64).rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 40) as usize & (slots - 1)
    }

    #[inline(always)]
    fn number(&mut self, view: u128, find: impl FnOnce() -> u32) -> u32 {
        match self.slots.get(Self::begin(view, self.slots.len())) {
            Some((known, number)) if *known == view => *number,
            _ => self.search(view, find),
        }
    }

    #[inline(never)]
    fn search(&mut self, view: u128, find: impl FnOnce() -> u32) -> u32 {
        let (known, number) = self.slots[self.slot(view)];
        if known == view {
            return number;
        }
        if self.used * 8 >= self.slots.len() {
            self.grow();
        }
        let (slot, number) = (self.slot(view), find());
        self.slots[slot] = (view, number);
        self.used += 1;
        number
    }

    /// The slot that holds `view`, or the empty one where it belongs.
    fn slot(&self, view: u128) -> usize {
        let mut slot = Self::begin(view, self.slots.len());
        while self.slots[slot].0 != view && self.slots[slot].0 != NO_VIEW {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    fn grow(&mut self) {
        if self.slots.len() >= MAX_SLOTS {
            return self.clear();
        }
        let larger = vec![(NO_VIEW, NO_ID); self.slots.len() * 2];
        for entry in std::mem::replace(&mut self.slots, larger) {
            if entry.0 != NO_VIEW {
                let slot = self.slot(entry.0);
                self.slots[slot] = entry;
            }
        }
    }
}

/// The ids of the pairs so far, each in the cell of its row and column.
#[derive(Debug, Default)]
struct PairCache {
    cells: Vec<u32>,
    /// Cells of a row: a power of two.
    width: usize,
}

impl PairCache {
    #[inline(always)]
    fn number(&mut self, left: u32, right: u32, find: impl FnOnce() -> u32) -> u32 {
        let (left_, right_) = (left as usize, right as usize);
        match self.cells.get(left_ * self.width + right_) {
            Some(number) if right_ < self.width && *number != NO_ID => *number,
            _ => self.search(left_, right_, find),
        }
    }

    #[inline(never)]
    fn search(&mut self, left: usize, right: usize, find: impl FnOnce() -> u32) -> u32 {
        let number = find();
        if right >= self.width {
            // The rows move, so the content is dropped; it will be found again.
            self.width = (right + 1).next_power_of_two();
            self.cells.clear();
        }
        let cell = left * self.width + right;
        if cell < MAX_CELLS {
            self.cells.resize(self.cells.len().max(cell + 1), NO_ID);
            self.cells[cell] = number;
        }
        number
    }
}

/// The ids of the rows of a column.
enum Column {
    Same(u32),
    Each(Vec<u32>),
}

impl KeyInterner {
    /// The id of every row of `columns`, which are string views or dictionaries of the same length. Equal
    /// rows have equal ids, for one column from 0 without holes. NULL is a name like others.
    pub fn ids(&self, columns: &[ArrayRef]) -> Result<Vec<u32>> {
        let (mut own, mut pairs) = lock(&self.caches).pop().unwrap_or_default();
        own.resize_with(columns.len(), ColumnCache::default);
        pairs.resize_with(columns.len(), PairCache::default);
        let rows = columns.first().map_or(0, |c| c.len());
        let mut result: Option<Column> = None;
        for (i, (column, cache)) in columns.iter().zip(&mut own).enumerate() {
            let numbers = match (column.as_string_view_opt(), column.as_dictionary_opt()) {
                (Some(names), _) => self.names(i, names, &mut cache.views),
                (_, Some(names)) => self.keys(i, names, &mut cache.keys)?,
                _ => return internal_err!("a name to be numbered is a {}", column.data_type()),
            };
            result = Some(match (result, pairs.get_mut(i)) {
                (Some(before), Some(cache)) => self.pairs(i - 1, before, numbers, cache),
                _ => numbers,
            });
        }
        lock(&self.caches).push((own, pairs));
        Ok(match result {
            Some(Column::Same(number)) => vec![number; rows],
            Some(Column::Each(numbers)) => numbers,
            None => Vec::new(),
        })
    }

    /// The id of a name that a thread sees for the first time.
    fn find(&self, column: usize, name: Option<&str>) -> u32 {
        let mut interners = lock(&self.interners);
        if interners.names.len() <= column {
            interners.names.resize_with(column + 1, Interner::default);
        }
        interners
            .names
            .get_mut(column)
            .map_or(0, |t| t.number(&name, |key| key.as_deref() == name, || name.map(Into::into)))
    }

    fn keys(
        &self,
        column: usize,
        names: &DictionaryArray<UInt32Type>,
        cache: &mut Memo<u32>,
    ) -> Result<Column> {
        let Some(entries) = names.values().as_string_opt::<i32>() else {
            return internal_err!("a name to be numbered is a {}", names.data_type());
        };
        cache.follow(entries, |_| NO_ID);
        let mut of = |key: u32| match cache.get_mut(key as usize) {
            Some(number) if *number != NO_ID => *number,
            Some(number) => {
                *number = self.find(column, Some(entries.value(key as usize)));
                *number
            }
            None => self.find(column, None),
        };
        let keys = names.keys();
        let Some(nulls) = keys.nulls().filter(|nulls| nulls.null_count() > 0) else {
            return Ok(Column::Each(keys.values().iter().map(|key| of(*key)).collect()));
        };
        let null = self.find(column, None);
        let rows = keys.values().iter().zip(nulls);
        Ok(Column::Each(rows.map(|(key, valid)| if valid { of(*key) } else { null }).collect()))
    }

    fn names(&self, column: usize, names: &StringViewArray, cache: &mut ViewCache) -> Column {
        cache.set_buffers(names.data_buffers());
        let find = |name: Option<&str>| self.find(column, name);
        if names.null_count() > 0 {
            let mut null = None;
            let mut of = |(i, view): (usize, &u128)| match names.is_valid(i) {
                true => cache.number(*view, || find(Some(names.value(i)))),
                false => *null.get_or_insert_with(|| find(None)),
            };
            return Column::Each(names.views().iter().enumerate().map(&mut of).collect());
        }
        let Some(first) = names.views().first() else { return Column::Each(Vec::new()) };
        if names.views().iter().all(|view| view == first) {
            // Columns from the path of the file.
            return Column::Same(find(Some(names.value(0))));
        }
        let of = |(i, view): (usize, &u128)| cache.number(*view, || find(Some(names.value(i))));
        Column::Each(names.views().iter().enumerate().map(of).collect())
    }

    fn pairs(&self, table: usize, left: Column, right: Column, cache: &mut PairCache) -> Column {
        let mut number = |left: u32, right: u32| {
            cache.number(left, right, || {
                let mut interners = lock(&self.interners);
                if interners.pairs.len() <= table {
                    interners.pairs.resize_with(table + 1, Interner::default);
                }
                let pair = (left, right);
                interners.pairs.get_mut(table).map_or(0, |t| t.number(&pair, |key| *key == pair, || pair))
            })
        };
        match (left, right) {
            (Column::Same(left), Column::Same(right)) => Column::Same(number(left, right)),
            (Column::Same(left), Column::Each(mut each)) => {
                each.iter_mut().for_each(|right| *right = number(left, *right));
                Column::Each(each)
            }
            (Column::Each(mut each), Column::Same(right)) => {
                each.iter_mut().for_each(|left| *left = number(*left, right));
                Column::Each(each)
            }
            (Column::Each(mut each), Column::Each(other)) => {
                each.iter_mut().zip(other).for_each(|(left, right)| *left = number(*left, right));
                Column::Each(each)
            }
        }
    }

    pub fn count(&self) -> usize {
        let interners = lock(&self.interners);
        let names = || interners.names.first().map_or(0, |t| t.keys.len());
        interners.pairs.last().map_or_else(names, |t| t.keys.len())
    }

    /// The names in column `column` of `columns` of the keys with these ids.
    pub fn texts(&self, numbers: &UInt32Array, column: usize, columns: usize) -> Result<ArrayRef> {
        let interners = lock(&self.interners);
        let mut numbers = numbers.clone();
        for step in (column.max(1)..columns).rev() {
            let Some(pairs) = interners.pairs.get(step - 1) else { break };
            let right = step == column;
            let part = |n: u32| pairs.keys.get(n as usize).map_or(0, |p| if right { p.1 } else { p.0 });
            numbers = numbers.unary(part);
            if right {
                break;
            }
        }
        let names = interners.names.get(column).map_or(&[][..], |t| &t.keys);
        let names: StringViewArray = names.iter().map(|n| n.as_deref()).collect();
        Ok(take(&names, &numbers, None)?)
    }
}

/// The tables are consistent even after a panic of another thread: ids are only added.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
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
            let numbers = KeyInterner::default();
            let (mut seen, mut count) = (HashMap::new(), 0);
            for rows in &portions {
                let columns = [column(rows, |r| &r.0), column(rows, |r| &r.1), column(rows, |r| &r.2)];
                let found = numbers.ids(&columns).unwrap();
                prop_assert_eq!(found.len(), rows.len());
                for (row, number) in rows.iter().zip(&found) {
                    let before = *seen.entry(row.clone()).or_insert_with(|| { count += 1; *number });
                    prop_assert_eq!(before, *number);
                }
                let found = UInt32Array::from(found);
                for (i, column) in columns.iter().enumerate() {
                    prop_assert_eq!(&numbers.texts(&found, i, 3).unwrap(), column);
                }
            }
            prop_assert_eq!(numbers.count(), count);
        }
    }
}
