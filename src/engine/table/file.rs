//! One file of the log, as known before it is opened. Not its current path, which can change until then.

use std::sync::Arc;

use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};

use crate::schema::{ColumnType, TableSpec};
use crate::store::FileEntry;

#[derive(Debug)]
pub(super) struct TableFile {
    pub entry: FileEntry,
    /// The values of the partition columns: the recording, then the core where the table is divided by it.
    pub values: Vec<ScalarValue>,
    /// Statistics that are true in any case, for the columns of the file and then the partition columns.
    pub known: Arc<Statistics>,
    /// The same with the range of the file as limits of every instant column: enough to skip files, but not
    /// to answer a query, because the limits need not be values of the column.
    pub limits: Arc<Statistics>,
}

impl TableFile {
    pub fn new(spec: &'static TableSpec, entry: FileEntry) -> Self {
        let texts = [Some(&entry.recording), entry.core.as_ref()];
        let values = spec.partition_columns().zip(texts).map(|(column, text)| match column.ty {
            ColumnType::Integer => ScalarValue::Int64(text.and_then(|t| t.parse().ok())),
            _ => ScalarValue::Utf8View(text.cloned()),
        });
        let values: Vec<_> = values.collect();
        let known = statistics(spec, &entry, &values, false);
        let limits = statistics(spec, &entry, &values, true);
        Self { entry, values, known: Arc::new(known), limits: Arc::new(limits) }
    }
}

/// What the log says about a file, for the columns of a file and then the partition columns.
fn statistics(
    spec: &'static TableSpec,
    entry: &FileEntry,
    values: &[ScalarValue],
    limits: bool,
) -> Statistics {
    let range = entry.begin_at.zip(entry.end_at);
    let instants = spec.file_columns().filter(|c| c.ty == ColumnType::Instant).count();
    let columns = spec.file_columns().map(|column| {
        let mut known = ColumnStatistics::new_unknown();
        if column.null.is_none() {
            known.null_count = Precision::Exact(0);
        }
        if let (Some((first, last)), ColumnType::Instant) = (range, column.ty) {
            // The range covers all instants; it is exact if there is one column of them.
            let exact = limits || instants == 1;
            let wrap = |t| {
                let value = ScalarValue::Int64(Some(t));
                if exact { Precision::Exact(value) } else { Precision::Inexact(value) }
            };
            (known.min_value, known.max_value) = (wrap(first), wrap(last));
        }
        known
    });
    let partitions = values.iter().map(|value| ColumnStatistics {
        null_count: Precision::Exact(0),
        min_value: Precision::Exact(value.clone()),
        max_value: Precision::Exact(value.clone()),
        distinct_count: Precision::Exact(1),
        ..ColumnStatistics::new_unknown()
    });
    Statistics {
        num_rows: usize::try_from(entry.rows).map_or(Precision::Absent, Precision::Exact),
        total_byte_size: Precision::Absent,
        column_statistics: columns.chain(partitions).collect(),
    }
}
