//! How a table is written as Parquet. The values were chosen by measurement: DELTA on times costs the least and is
//! the smallest; minima and maxima of names are useless and dear; small pages make a time slice cheap to read.

use parquet::basic::{Compression, Encoding as ParquetEncoding, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::{Encoding, TableSpec};

/// Rows of a row group.
pub(crate) const ROW_GROUP_ROWS: usize = 1 << 20;
/// Rows of a page: what a query for one instant has to decode. The Parquet writer looks every 1024 rows.
pub(crate) const PAGE_ROWS: usize = 20 * 1024;

impl TableSpec {
    /// The settings of the Parquet writer; nothing in them depends on the machine or the version of btfdb, so that
    /// the same rows give the same bytes.
    pub fn writer_properties(&self) -> WriterProperties {
        let mut properties = WriterProperties::builder()
            .set_created_by("btfdb".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_data_page_row_count_limit(PAGE_ROWS)
            .set_sorting_columns(self.sorting_columns());
        for column in self.file_columns() {
            // Of names only the compression counts: `store::columns` encodes them, always by dictionary.
            let path = || ColumnPath::from(column.name);
            let number = column.ty.is_number();
            let statistics = if number { EnabledStatistics::Page } else { EnabledStatistics::None };
            let encoding = match column.encoding {
                Encoding::Plain => ParquetEncoding::PLAIN,
                Encoding::Delta => ParquetEncoding::DELTA_BINARY_PACKED,
                Encoding::Dictionary if number => ParquetEncoding::DELTA_BINARY_PACKED,
                Encoding::Dictionary => ParquetEncoding::PLAIN,
            };
            properties = properties
                .set_column_dictionary_enabled(path(), column.encoding == Encoding::Dictionary)
                .set_column_encoding(path(), encoding)
                .set_column_statistics_enabled(path(), statistics);
        }
        properties.build()
    }

    fn sorting_columns(&self) -> Option<Vec<SortingColumn>> {
        let index = |name: &&str| self.file_columns().position(|c| c.name == *name);
        let ascending = |i| SortingColumn { column_idx: i as i32, descending: false, nulls_first: false };
        (!self.sort.is_empty()).then(|| self.sort.iter().filter_map(index).map(ascending).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tables;

    #[test]
    fn times_are_delta_encoded_and_names_have_no_statistics() {
        let p = tables::DATA_EVENT.writer_properties();
        let (time, name, value) = ("time".into(), "variable".into(), "value".into());
        assert!(!p.dictionary_enabled(&time) && p.dictionary_enabled(&value));
        assert_eq!(p.encoding(&time), Some(ParquetEncoding::DELTA_BINARY_PACKED));
        assert_eq!(p.statistics_enabled(&time), EnabledStatistics::Page);
        assert_eq!(p.statistics_enabled(&name), EnabledStatistics::None);
        let sorted: Vec<_> = p.sorting_columns().unwrap().iter().map(|s| s.column_idx).collect();
        assert_eq!(sorted, [0, 1], "time and seq, counted without the partition columns");
        assert!(tables::PROCESS_INSTANCE.writer_properties().sorting_columns().is_none());
    }
}
