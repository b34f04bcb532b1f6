//! A column of names, or of texts, as a chunk of Parquet pages. Names arrive with keys, which are renumbered
//! by first use; no name is looked at more than once. Not for other columns (see `numbers`).

use std::mem::take;

use arrow::array::{Array, ArrayRef, AsArray, StringArray, UInt32Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::UInt32Type;
use parquet::basic::Encoding;
use parquet::errors::{ParquetError, Result};

use super::compressor::Compressor;
use super::pages::{self, Chunk, DictionaryPage, Levels, Pages};
use crate::names::{Interner, Memo};
use crate::schema::PAGE_ROWS;

/// A dictionary stops growing at this many bytes, because a reader has to hold it.
pub(super) const MAX_BYTES: usize = 2 << 20;
/// A page of texts is complete at this many bytes, for the same reason.
const MAX_PAGE: usize = 1 << 20;

pub(super) struct NameChunk {
    pages: Pages,
    /// `None` for a column of texts.
    dictionary: Option<Numbered>,
    /// Pages hold names, not keys: it is a column of texts, or the dictionary is full.
    plain: bool,
    levels: Levels,
    /// A key for each row of the current page that has a name.
    keys: Vec<u32>,
    /// Each name as it is, in place of its key.
    texts: Vec<u8>,
}

impl NameChunk {
    /// Empty: for names if there is a `dictionary`, else for texts. With room for `capacity` names.
    pub fn new(pages: Pages, dictionary: bool, capacity: usize) -> Self {
        let numbered = || Numbered { names: Interner::with_capacity(capacity), ..Numbered::default() };
        Self {
            pages,
            dictionary: dictionary.then(numbered),
            plain: !dictionary,
            levels: Levels::default(),
            keys: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// How many names there are.
    pub fn capacity(&self) -> usize {
        self.dictionary.as_ref().map_or(0, |dictionary| dictionary.names.len() as usize)
    }

    /// Appends the rows of a `Dictionary(UInt32, Utf8)` or, without a dictionary, of a `Utf8` array.
    pub fn write(&mut self, array: &ArrayRef, compressor: &mut Compressor) -> Result<()> {
        if let Some(texts) = array.as_string_opt::<i32>() {
            return self.texts(texts, compressor);
        }
        let rows = array.as_dictionary_opt::<UInt32Type>();
        let Some((rows, values)) = rows.and_then(|rows| Some((rows, rows.values().as_string_opt::<i32>()?)))
        else {
            return Err(ParquetError::General(format!("names come as {}", array.data_type())));
        };
        if let Some(dictionary) = &mut self.dictionary {
            dictionary.follow(values);
        }
        let mut at = 0;
        while at < rows.len() {
            at += match self.plain {
                false => self.keys(
                    &rows.keys().slice(at, (rows.len() - at).min(PAGE_ROWS - self.levels.rows)),
                    values,
                    compressor,
                )?,
                true => {
                    match rows.keys().is_valid(at) {
                        true => self.text(values.value(rows.keys().value(at) as usize), compressor)?,
                        false => self.missing(1, compressor)?,
                    }
                    1
                }
            };
        }
        Ok(())
    }

    /// Appends rows by key; returns how many it took before the dictionary was full.
    fn keys(
        &mut self,
        rows: &UInt32Array,
        values: &StringArray,
        compressor: &mut Compressor,
    ) -> Result<usize> {
        let Some(dictionary) = &mut self.dictionary else { return Ok(0) };
        let before = self.keys.len();
        let taken = match rows.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => {
                // All at once: new names are rare, and the loop has no dependency.
                self.keys.extend(rows.values().iter().map(|key| dictionary.number(*key as usize)));
                if self.keys.get(before..).is_some_and(|keys| keys.contains(&Numbered::UNKNOWN)) {
                    self.keys.truncate(before);
                    let keys = rows.values().iter().map_while(|key| dictionary.key(*key as usize, values));
                    self.keys.extend(keys);
                }
                self.keys.len() - before
            }
            Some(nulls) => {
                let mut taken = 0;
                for (key, valid) in rows.values().iter().zip(nulls) {
                    match valid.then(|| dictionary.key(*key as usize, values)) {
                        Some(None) => break,
                        Some(Some(key)) => self.keys.push(key),
                        None => {}
                    }
                    taken += 1;
                }
                taken
            }
        };
        self.levels.extend(taken, rows.slice(0, taken).nulls());
        if taken < rows.len() {
            self.end_page(compressor)?;
            self.plain = true;
        } else if self.levels.rows == PAGE_ROWS {
            self.end_page(compressor)?;
        }
        Ok(taken)
    }

    fn texts(&mut self, texts: &StringArray, compressor: &mut Compressor) -> Result<()> {
        let Some(nulls) = texts.nulls().filter(|nulls| nulls.null_count() > 0) else {
            return (0..texts.len()).try_for_each(|at| self.text(texts.value(at), compressor));
        };
        let mut done = 0;
        for (from, to) in nulls.valid_slices() {
            self.missing(from - done, compressor)?;
            (from..to).try_for_each(|at| self.text(texts.value(at), compressor))?;
            done = to;
        }
        self.missing(texts.len() - done, compressor)
    }

    fn text(&mut self, text: &str, compressor: &mut Compressor) -> Result<()> {
        plain(text, &mut self.texts);
        self.levels.push();
        if self.levels.rows == PAGE_ROWS || self.texts.len() > MAX_PAGE {
            self.end_page(compressor)
        } else {
            Ok(())
        }
    }

    /// Appends rows without a text.
    fn missing(&mut self, mut rows: usize, compressor: &mut Compressor) -> Result<()> {
        while rows > 0 {
            let now = rows.min(PAGE_ROWS - self.levels.rows);
            self.levels.extend(now, Some(&NullBuffer::new_null(now)));
            if self.levels.rows == PAGE_ROWS {
                self.end_page(compressor)?;
            }
            rows -= now;
        }
        Ok(())
    }

    /// All rows.
    pub fn close(mut self, compressor: &mut Compressor) -> Result<Chunk> {
        self.end_page(compressor)?;
        let page = |numbered: Numbered| {
            let mut values = Vec::new();
            numbered.names.iter().for_each(|name| plain(name, &mut values));
            DictionaryPage { values, len: numbered.names.len() }
        };
        self.pages.close(compressor, self.dictionary.map(page))
    }

    fn end_page(&mut self, compressor: &mut Compressor) -> Result<()> {
        let levels = take(&mut self.levels);
        if levels.rows == 0 {
            return Ok(());
        }
        match &self.dictionary {
            Some(dictionary) if !self.plain => {
                let encode = |out: &mut Vec<u8>| pages::keys(&self.keys, dictionary.names.len(), out);
                self.pages.push(compressor, &levels, Encoding::RLE_DICTIONARY, None, encode)?;
            }
            _ => {
                self.pages.push(compressor, &levels, Encoding::PLAIN, None, |out| {
                    out.extend_from_slice(&self.texts)
                })?;
            }
        }
        self.keys.clear();
        self.texts.clear();
        Ok(())
    }
}

/// Names of a row group by number, in the order of their first use.
#[derive(Default)]
struct Numbered {
    /// The number of each entry of the current input dictionary, where it is known already.
    numbers: Memo<u32>,
    names: Interner,
}

impl Numbered {
    const UNKNOWN: u32 = u32::MAX;

    /// Switches to the dictionary `values`. Entries that it shares with the one before stay known.
    fn follow(&mut self, values: &StringArray) {
        self.numbers.follow(values, |_| Self::UNKNOWN);
    }

    /// The number of `values[key]`, if it is known already.
    #[inline(always)]
    fn number(&self, key: usize) -> u32 {
        self.numbers.get(key).copied().unwrap_or(Self::UNKNOWN)
    }

    /// The number of `values[key]`; `None` when it is new and there is no room for it.
    #[inline(always)]
    fn key(&mut self, key: usize, values: &StringArray) -> Option<u32> {
        match self.number(key) {
            Self::UNKNOWN => self.learn(key, values),
            number => Some(number),
        }
    }

    #[cold]
    fn learn(&mut self, key: usize, values: &StringArray) -> Option<u32> {
        let name = values.value(key);
        let number = match self.names.bytes() + 4 * self.names.len() as usize > MAX_BYTES {
            true => self.names.find(name)?,
            false => self.names.intern(name),
        };
        if let Some(slot) = self.numbers.get_mut(key) {
            *slot = number;
        }
        Some(number)
    }
}

/// Appends a name as the format's PLAIN encoding has it.
fn plain(name: &str, out: &mut Vec<u8>) {
    // Arrow's string arrays hold 2 GiB at most, so the length of a name fits.
    out.extend((name.len() as u32).to_le_bytes());
    out.extend(name.as_bytes());
}
