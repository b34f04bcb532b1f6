//! The sizes of the parts of a Parquet file, and their compression. Not encodings (see `store::columns`).

use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;

use super::TableSpec;

pub(crate) const ROW_GROUP_ROWS: usize = 1 << 20;
/// Rows of a page: what a query for one instant has to decode.
pub(crate) const PAGE_ROWS: usize = 20 * 1024;

/// How pages are compressed: zstd, level 1.
pub(crate) fn compression() -> Compression {
    Compression::ZSTD(ZstdLevel::default())
}

impl TableSpec {
    /// The settings of the Parquet writer, the same on all machines: the same rows give the same bytes.
    pub fn writer_properties(&self) -> WriterProperties {
        WriterProperties::builder()
            .set_created_by("btfdb".to_owned())
            .set_compression(compression())
            .set_sorting_columns(self.sorting_columns())
            .build()
    }

    fn sorting_columns(&self) -> Option<Vec<SortingColumn>> {
        let index = |name: &&str| self.file_columns().position(|c| c.name == *name);
        let ascending = |i| SortingColumn { column_idx: i as i32, descending: false, nulls_first: false };
        (!self.sort.is_empty()).then(|| self.sort.iter().filter_map(index).map(ascending).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::tables;

    #[test]
    fn files_say_how_they_are_sorted() {
        let p = tables::DATA_EVENT.writer_properties();
        let sorted: Vec<_> = p.sorting_columns().unwrap().iter().map(|s| s.column_idx).collect();
        assert_eq!(sorted, [0, 1], "time and seq, counted without the partition columns");
        assert!(tables::PROCESS_INSTANCE.writer_properties().sorting_columns().is_none());
    }
}
