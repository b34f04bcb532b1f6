//! Removes unwanted rows, after everything that needs all of them has been derived. Not which ones those are.

use super::ingest_options::Keep;
use super::parts::{Parts, locked};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSpec;
use crate::store::{Transaction, read_batches};
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Schema};
use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::sync::{Arc, Mutex};

const BATCH_ROWS: usize = 16 * 1024;

/// Writes a table of a recording again with the wanted rows only. Returns the number of the others.
pub(super) fn keep(tx: &Mutex<Transaction>, recording: &str, keep: &Keep) -> Result<u64> {
    let mut by_core: BTreeMap<Option<String>, Vec<_>> = BTreeMap::new();
    for (file, path) in locked(tx)?.files(keep.table, recording)? {
        by_core.entry(file.core).or_default().push(path);
    }
    let (mut left_out, mut written) = (0, Vec::new());
    for (core, paths) in by_core {
        let mut table = Parts::of_core(tx, recording, keep.table, core.as_deref().map(Into::into));
        for path in paths {
            for batch in read_batches(&path, keep.table, None, BATCH_ROWS)? {
                let batch = batch?;
                let partitions = (recording, core.as_deref().unwrap_or_default());
                let wanted = (keep.rows)(&with_partitions(&batch, keep.table, partitions)?)?;
                let bug = |e| Error::new(ErrorKind::Bug, "cannot filter rows").because(e);
                let rows = filter_record_batch(&batch, &wanted).map_err(bug)?;
                left_out += (batch.num_rows() - rows.num_rows()) as u64;
                if rows.num_rows() > 0 {
                    table.write(&rows)?;
                }
            }
            // Every file is sorted, and the next one may begin earlier.
            table.end_part()?;
        }
        written.extend(table.finish()?);
    }
    let mut tx = locked(tx)?;
    tx.drop_table(keep.table, recording)?;
    written.into_iter().try_for_each(|file| tx.add(file))?;
    Ok(left_out)
}

/// The batch with the columns from the path of its file.
fn with_partitions(
    batch: &RecordBatch,
    table: &'static TableSpec,
    (recording, core): (&str, &str),
) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let schema = batch.schema();
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for field in table.full_schema().fields() {
        let of_batch =
            schema.column_with_name(field.name()).and_then(|(n, f)| Some((f, batch.columns().get(n)?)));
        let partition = if field.name() == "recording" { recording } else { core };
        let (field, column): (_, ArrayRef) = match (of_batch, field.data_type()) {
            (Some((field, column)), _) => (field.clone(), Arc::clone(column)),
            (None, DataType::Int64) => {
                let number = partition.parse().unwrap_or_default();
                (field.as_ref().clone(), Arc::new(Int64Array::from_value(number, rows)))
            }
            (None, _) => {
                (field.as_ref().clone(), Arc::new(StringArray::from_iter_values(repeat_n(partition, rows))))
            }
        };
        fields.push(field);
        columns.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .map_err(|e| Error::new(ErrorKind::Bug, "rows do not have the columns of their table").because(e))
}
