//! The names and times in a row group of a file, from its dictionaries and statistics: reads some hundred
//! bytes instead of all rows. Not which rows have them.

use std::collections::BTreeSet;

use bytes::Bytes;
use parquet::column::page::Page;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;

use super::columns::WHOLE_DICTIONARY;
use super::occurrences::{Occurrence, stated_by};
use super::place::Place;
use super::source::Source;
use super::table_reader::guarded;
use crate::error::Result;

/// For every row group of a file whether a name that is `wanted` can be in its column `column`. Stops looking
/// once several row groups have one: such a name is in most of them, and looking at the others saves nothing.
pub fn row_groups_with(place: &Place, column: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<bool>> {
    /// After this many row groups with such a name, the others are not checked.
    const ENOUGH: usize = 4;
    look_at(place, |reader| {
        let column = column_of(reader, column);
        let mut found = vec![true; reader.num_row_groups()];
        let mut present = 0;
        for (group, found) in found.iter_mut().enumerate() {
            let Some(column) = column.filter(|_| present < ENOUGH) else { break };
            *found = can_have(reader, group, column, wanted)?;
            present += usize::from(*found);
        }
        Ok(found)
    })
}

/// The least value of column `begin` and the greatest of column `end`, by row group; `None` if unknown.
pub fn row_group_spans(place: &Place, begin: &str, end: &str) -> Result<Vec<Option<(i64, i64)>>> {
    look_at(place, |reader| {
        let (begin, end) = (column_of(reader, begin), column_of(reader, end));
        let statistics = |group: usize, column: Option<usize>| match reader
            .metadata()
            .row_group(group)
            .column(column?)
            .statistics()?
        {
            Statistics::Int64(range) => range.min_opt().copied().zip(range.max_opt().copied()),
            _ => None,
        };
        let span = |group| Some((statistics(group, begin)?.0, statistics(group, end)?.1));
        Ok((0..reader.num_row_groups()).map(span).collect())
    })
}

/// The names in a column of some row groups of a file, possibly also names of other row groups that were
/// written with them; `None` if they are too many for a dictionary.
pub fn names_in(place: &Place, column: &str, groups: &[usize]) -> Result<Option<BTreeSet<String>>> {
    look_at(place, |reader| {
        let Some(column) = column_of(reader, column) else { return Ok(None) };
        let mut names = BTreeSet::new();
        for group in groups {
            let group = reader.get_row_group(*group)?;
            let page = match group.metadata().column(column).dictionary_page_offset() {
                Some(_) => group.get_column_page_reader(column)?.get_next_page()?,
                None => None,
            };
            let Some(Page::DictionaryPage { buf, .. }) = page else { return Ok(None) };
            if buf.len() > WHOLE_DICTIONARY {
                return Ok(None);
            }
            names.extend(entries(buf).map(|entry| String::from_utf8_lossy(&entry).into_owned()));
        }
        Ok(Some(names))
    })
}

/// Which names occur together in a file (see [`crate::schema::Occurrences`]); `None` if its footer does not
/// tell.
pub fn occurrences_in(place: &Place) -> Result<Option<Vec<Occurrence>>> {
    look_at(place, |reader| Ok(stated_by(reader.metadata().file_metadata())))
}

/// Opens a file for `look`, without reading its rows.
fn look_at<T>(
    place: &Place,
    look: impl FnOnce(&SerializedFileReader<Source>) -> ParquetResult<T>,
) -> Result<T> {
    let source = Source::open(place)?;
    guarded(place, || look(&SerializedFileReader::new(source)?))
}

/// The place of a column in a file, by its name.
fn column_of(reader: &SerializedFileReader<Source>, column: &str) -> Option<usize> {
    let columns = reader.metadata().file_metadata().schema_descr().columns();
    columns.iter().position(|c| c.name() == column)
}

fn can_have(
    reader: &SerializedFileReader<Source>,
    group: usize,
    column: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> ParquetResult<bool> {
    let group = reader.get_row_group(group)?;
    if group.metadata().column(column).dictionary_page_offset().is_none() {
        return Ok(true);
    }
    let Some(Page::DictionaryPage { buf, .. }) = group.get_column_page_reader(column)?.get_next_page()?
    else {
        return Ok(true);
    };
    // A full dictionary may lack names.
    let wanted = |entry: Bytes| std::str::from_utf8(&entry).map_or(true, wanted);
    Ok(buf.len() > WHOLE_DICTIONARY || entries(buf).any(wanted))
}

/// The texts of a page in the PLAIN encoding.
fn entries(mut page: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let length = u32::from_le_bytes(*page.first_chunk()?) as usize;
        let entry = page.get(4..4 + length).map(|_| page.slice(4..4 + length))?;
        page = page.slice(4 + length..);
        Some(entry)
    })
}
