//! A column of numbers as a chunk of Parquet pages: with a dictionary if values repeat, else as differences.
//! Not for names, which arrive with keys (see `names`).

use std::mem::take;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Int64Type, UInt64Type};
use parquet::basic::Encoding;
use parquet::errors::{ParquetError, Result};

use super::compressor::Compressor;
use super::delta;
use super::pages::{self, Chunk, DictionaryPage, Levels, Pages, Range};
use crate::schema::PAGE_ROWS;

pub(super) struct NumberChunk {
    pages: Pages,
    /// `None` from the first page on for which it does not pay off.
    dictionary: Option<Dictionary>,
    /// The content of the dictionary for the pages that use it.
    closed: Option<Vec<i64>>,
    unsigned: bool,
    levels: Levels,
    /// The numbers of the current page, unsigned ones by their bits.
    numbers: Vec<i64>,
    keys: Vec<u32>,
}

impl NumberChunk {
    /// Empty, with room for `capacity` different numbers.
    pub fn new(pages: Pages, dictionary: bool, unsigned: bool, capacity: usize) -> Self {
        Self {
            pages,
            dictionary: dictionary.then(|| Dictionary::with_capacity(capacity)),
            closed: None,
            unsigned,
            levels: Levels::default(),
            numbers: Vec::with_capacity(PAGE_ROWS),
            keys: Vec::new(),
        }
    }

    /// How many different numbers there are.
    pub fn capacity(&self) -> usize {
        self.dictionary
            .as_ref()
            .map(|dictionary| &dictionary.numbers)
            .or(self.closed.as_ref())
            .map_or(0, Vec::len)
    }

    /// Appends the rows of an `Int64` or `UInt64` array.
    pub fn write(&mut self, array: &ArrayRef, compressor: &mut Compressor) -> Result<()> {
        if let Some(numbers) = array.as_primitive_opt::<Int64Type>() {
            return self.rows(compressor, numbers.values(), numbers.nulls(), |n| *n);
        }
        match array.as_primitive_opt::<UInt64Type>() {
            Some(numbers) => self.rows(compressor, numbers.values(), numbers.nulls(), |n| *n as i64),
            None => Err(ParquetError::General(format!("numbers come as {}", array.data_type()))),
        }
    }

    fn rows<T>(
        &mut self,
        compressor: &mut Compressor,
        mut values: &[T],
        nulls: Option<&NullBuffer>,
        bits: impl Fn(&T) -> i64 + Copy,
    ) -> Result<()> {
        let mut at = 0;
        while !values.is_empty() {
            let (now, later) = values.split_at(values.len().min(PAGE_ROWS - self.levels.rows));
            let nulls = nulls.map(|nulls| nulls.slice(at, now.len()));
            self.levels.extend(now.len(), nulls.as_ref());
            match nulls.filter(|nulls| nulls.null_count() > 0) {
                Some(nulls) => {
                    for (from, to) in nulls.valid_slices() {
                        self.numbers.extend(now.get(from..to).unwrap_or_default().iter().map(bits));
                    }
                }
                None => self.numbers.extend(now.iter().map(bits)),
            }
            if self.levels.rows == PAGE_ROWS {
                self.end_page(compressor)?;
            }
            (at, values) = (at + now.len(), later);
        }
        Ok(())
    }

    /// All rows.
    pub fn close(mut self, compressor: &mut Compressor) -> Result<Chunk> {
        if self.levels.rows > 0 {
            self.end_page(compressor)?;
        }
        let dictionary = self.dictionary.map(|dictionary| dictionary.numbers).or(self.closed);
        let page = |numbers: Vec<i64>| DictionaryPage {
            values: numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
            len: numbers.len() as u32,
        };
        self.pages.close(compressor, dictionary.map(page))
    }

    fn end_page(&mut self, compressor: &mut Compressor) -> Result<()> {
        let (levels, numbers) = (take(&mut self.levels), &self.numbers);
        let range = Range::of(numbers, self.unsigned);
        if let Some(dictionary) = &mut self.dictionary
            && !dictionary.keys(numbers, &mut self.keys)
        {
            self.closed = self.dictionary.take().map(|d| d.numbers).filter(|numbers| !numbers.is_empty());
        }
        match &self.dictionary {
            Some(dictionary) => {
                let len = dictionary.numbers.len() as u32;
                let encode = |out: &mut Vec<u8>| pages::keys(&self.keys, len, out);
                self.pages.push(compressor, &levels, Encoding::RLE_DICTIONARY, range, encode)?;
            }
            None => {
                let encode = |out: &mut Vec<u8>| delta::encode(numbers, out);
                self.pages.push(compressor, &levels, Encoding::DELTA_BINARY_PACKED, range, encode)?;
            }
        }
        self.numbers.clear();
        Ok(())
    }
}

/// Numbers in the order of their first use, found by an open-addressing table.
struct Dictionary {
    numbers: Vec<i64>,
    /// Index into `numbers` plus one; 0 for a free slot. Their number is a power of two. Three in four are
    /// free, and half of them in a full dictionary.
    slots: Vec<u32>,
    /// Numbers that were looked up recently, by their lowest bits, and their keys. They stay in the
    /// first-level cache, and the table does not.
    recent: Box<[(i64, u32); RECENT]>,
}

/// A power of two.
const RECENT: usize = 256;

impl Dictionary {
    fn with_capacity(numbers: usize) -> Self {
        let slots = (4 * numbers).clamp(1024, 2 * Self::MAX).next_power_of_two();
        // A page adds at most this many before the dictionary is given up.
        let page = if numbers > 0 { PAGE_ROWS / 2 + 2 } else { 0 };
        let recent = Box::new([(0, Self::NO_KEY); RECENT]);
        Self { numbers: Vec::with_capacity(numbers + page), slots: vec![0; slots], recent }
    }

    /// A dictionary stops growing at 1 MiB, because a reader has to hold it.
    const MAX: usize = 1 << 17;
    /// Marks a free entry of `recent`.
    const NO_KEY: u32 = u32::MAX;
    /// The odd fraction of the golden ratio, whose products are spread evenly.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The keys of the numbers of a page. False if the dictionary would be full, or if more than every second
    /// number is new: differences are shorter then. The numbers from before stay in the dictionary, but can
    /// no longer be looked up.
    fn keys(&mut self, numbers: &[i64], keys: &mut Vec<u32>) -> bool {
        let known = self.numbers.len();
        let most = Self::MAX.min(known + numbers.len() / 2 + 1);
        keys.resize(numbers.len(), 0);
        for (number, key) in numbers.iter().zip(keys) {
            *key = self.key(*number);
            if self.numbers.len() > most {
                self.numbers.truncate(known);
                return false;
            }
        }
        true
    }

    #[inline(always)]
    fn key(&mut self, number: i64) -> u32 {
        let recent = number as usize % RECENT;
        match self.recent.get(recent) {
            Some((known, key)) if *known == number && *key != Self::NO_KEY => *key,
            _ => {
                let key = self.key_in_table(number);
                if let Some(entry) = self.recent.get_mut(recent) {
                    *entry = (number, key);
                }
                key
            }
        }
    }

    #[inline(always)]
    fn key_in_table(&mut self, number: i64) -> u32 {
        let mut at = self.home(number);
        loop {
            let tag = self.slots.get(at).copied().unwrap_or(0);
            let Some(key) = tag.checked_sub(1) else { return self.add(number, at) };
            if self.numbers.get(key as usize) == Some(&number) {
                return key;
            }
            at = self.next(at, number);
        }
    }

    #[cold]
    fn add(&mut self, number: i64, at: usize) -> u32 {
        let key = self.numbers.len() as u32;
        self.numbers.push(number);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = key + 1;
        }
        if self.numbers.len() * 4 > self.slots.len() && self.slots.len() < 2 * Self::MAX {
            self.grow(self.slots.len() * 2);
        }
        key
    }

    fn grow(&mut self, slots: usize) {
        self.slots = vec![0; slots];
        for (tag, number) in (1..).zip(&self.numbers) {
            let mut at = self.home(*number);
            while self.slots.get(at).is_some_and(|taken| *taken != 0) {
                at = self.next(at, *number);
            }
            if let Some(free) = self.slots.get_mut(at) {
                *free = tag;
            }
        }
    }

    /// The first slot of a number. Neighbouring numbers, such as the instances that live at the same time,
    /// have neighbouring slots: within a block as long as the table, no two collide. Each block is permuted
    /// by a hash of all bits of its number, because floating-point numbers differ in the uppermost bits only.
    #[inline(always)]
    fn home(&self, number: i64) -> usize {
        let bits = self.slots.len().ilog2();
        let (block, place) = (number as u64 >> bits, number as u64 & (self.slots.len() as u64 - 1));
        (place ^ (block.wrapping_mul(Self::FACTOR) >> (u64::BITS - bits))) as usize
    }

    /// The next slot to try. Far away: after a slot that is taken, there may be thousands of taken ones.
    #[inline(always)]
    fn next(&self, at: usize, number: i64) -> usize {
        let step = (number as u64).wrapping_mul(Self::FACTOR) >> 32 | 1;
        (at + step as usize) & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_differ_in_few_bits_are_spread() {
        let dictionary = Dictionary::with_capacity(0);
        for shift in [0, 4, 10, 20, 32, 44, 48, 55] {
            let mut homes: Vec<usize> = (0..512).map(|n: i64| dictionary.home(n << shift)).collect();
            assert!(homes.iter().all(|home| *home < dictionary.slots.len()));
            homes.sort_unstable();
            homes.dedup();
            // A random placement has 403 of 1024 (1024 · (1 − e^(−512/1024))).
            assert!(homes.len() >= 380, "{} homes, shifted by {shift}", homes.len());
        }
        assert!((0..1024).map(|n| dictionary.home(n)).eq(0..1024), "neighbours have slots of their own");
    }

    /// Instances of two entities are two ranges of numbers, which may overlap.
    #[test]
    fn numbers_after_a_long_range_are_found_soon() {
        for begin in [1 << 17, 1 << 18, 3 << 18, 1 << 40, -(1 << 18)] {
            let mut dictionary = Dictionary::with_capacity(0);
            let numbers: Vec<i64> = (0..30_000).flat_map(|n| [n, begin + n / 2]).collect();
            assert!(dictionary.keys(&numbers.repeat(2), &mut Vec::new()));
            let looks = numbers.iter().map(|number| {
                let mut at = dictionary.home(*number);
                let mut looks = 1;
                while dictionary.numbers[dictionary.slots[at] as usize - 1] != *number {
                    (at, looks) = (dictionary.next(at, *number), looks + 1);
                }
                looks
            });
            let looks: usize = looks.sum();
            // Linear probing would look at thousands for each.
            assert!(looks < 3 * numbers.len(), "{looks} looks for {} numbers", numbers.len());
        }
    }

    #[test]
    fn what_does_not_pay_is_closed() {
        let mut dictionary = Dictionary::with_capacity(0);
        let (mut keys, all) =
            (Vec::new(), |n: usize| (0..n as i64).map(|n| n * 1_000_003).collect::<Vec<_>>());
        assert!(dictionary.keys(&[7, 7, -7, 7], &mut keys));
        assert_eq!(keys, [0, 0, 1, 0]);
        assert!(!dictionary.keys(&all(100), &mut keys), "all of them are new");
        assert_eq!(dictionary.numbers, [7, -7]);
        let mut large = Dictionary::with_capacity(Dictionary::MAX);
        for page in all(Dictionary::MAX).chunks(PAGE_ROWS / 4) {
            let twice: Vec<i64> = page.iter().chain(page).copied().collect();
            assert!(large.keys(&twice, &mut keys));
        }
        assert_eq!(large.numbers.len(), Dictionary::MAX);
        assert!(large.keys(&[1_000_003], &mut keys) && !large.keys(&[1, 1_000_003], &mut keys), "it is full");
        assert_eq!(large.numbers.len(), Dictionary::MAX);
    }
}
