//! A column of yes and no as a chunk of Parquet pages: a bit per row. Not for numbers (see `numbers`).

use std::mem::take;

use arrow::array::{Array, ArrayRef, AsArray};
use parquet::basic::Encoding;
use parquet::errors::{ParquetError, Result};

use super::bits;
use super::compressor::Compressor;
use super::pages::{Chunk, Levels, Pages};
use crate::schema::PAGE_ROWS;

pub(super) struct FlagChunk {
    pages: Pages,
    levels: Levels,
    /// 0 or 1 for each row of the current page that has a value.
    flags: Vec<u8>,
}

impl FlagChunk {
    pub fn new(pages: Pages) -> Self {
        Self { pages, levels: Levels::default(), flags: Vec::new() }
    }

    /// Appends the rows of a `Boolean` array.
    pub fn write(&mut self, array: &ArrayRef, compressor: &mut Compressor) -> Result<()> {
        let Some(flags) = array.as_boolean_opt() else {
            return Err(ParquetError::General(format!("flags come as {}", array.data_type())));
        };
        let mut at = 0;
        while at < flags.len() {
            let now = flags.slice(at, (flags.len() - at).min(PAGE_ROWS - self.levels.rows));
            self.levels.extend(now.len(), now.nulls());
            self.flags.extend(now.iter().flatten().map(u8::from));
            if self.levels.rows == PAGE_ROWS {
                self.end_page(compressor)?;
            }
            at += now.len();
        }
        Ok(())
    }

    /// All rows.
    pub fn close(mut self, compressor: &mut Compressor) -> Result<Chunk> {
        if self.levels.rows > 0 {
            self.end_page(compressor)?;
        }
        self.pages.close(compressor, None)
    }

    fn end_page(&mut self, compressor: &mut Compressor) -> Result<()> {
        let levels = take(&mut self.levels);
        self.pages.push(compressor, &levels, Encoding::PLAIN, None, |out| bits::pack(&self.flags, 1, out))?;
        self.flags.clear();
        Ok(())
    }
}
