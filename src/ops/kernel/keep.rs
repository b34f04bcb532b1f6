//! Leaving out events of a kernel trace that are not wanted, after everything that needs all of them has been made. Not which
//! ones those are.

use super::super::ingest::Keep;
use super::super::parts::Parts;
use super::rows::begins;
use super::stored::files;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::tables;
use crate::store::{Transaction, read_batches};
use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::compute::filter_record_batch;
use std::sync::{Arc, Mutex};

/// Rows that are read at once.
const BATCH_ROWS: usize = 16 * 1024;

/// Writes `kernel_event` again with the rows that are wanted. How many are not.
///
/// # Errors
/// The disk, or a row for which it cannot be told.
pub(super) fn keep(tx: &Mutex<Transaction>, recording: &str, keep: &Keep) -> Result<u64> {
    let locked = || tx.lock().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"));
    let all = files(&*locked()?, recording);
    let begins = begins(tx, recording);
    let (mut left_out, mut written) = (0, Vec::new());
    for (cpu, files) in all {
        let begin = begins.cpus.get(usize::from(cpu)).ok_or_else(|| super::rows::no_such_cpu(cpu))?;
        let mut table = Parts::new(&**begin, tables::KERNEL_EVENT);
        for (_, path) in files {
            for batch in read_batches(&path, tables::KERNEL_EVENT, None, BATCH_ROWS)? {
                let batch = batch?;
                let wanted = (keep.0)(&with_cpu(&batch, cpu)?)?;
                let bug = |e| Error::new(ErrorKind::Bug, "cannot filter kernel events").because(e);
                let rows = filter_record_batch(&batch, &wanted).map_err(bug)?;
                left_out += (batch.num_rows() - rows.num_rows()) as u64;
                if rows.num_rows() > 0 {
                    table.write(&rows)?;
                }
            }
            // Every file is sorted, and the next one need not be later.
            table.end_part()?;
        }
        written.extend(table.finish()?);
    }
    let mut tx = locked()?;
    tx.drop_table(tables::KERNEL_EVENT, recording);
    written.into_iter().for_each(|file| tx.add(file));
    Ok(left_out)
}

/// The batch with the columns that are in the path of its file.
fn with_cpu(batch: &RecordBatch, cpu: u8) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let numbers: ArrayRef = Arc::new(Int64Array::from_value(i64::from(cpu), rows));
    let full = tables::KERNEL_EVENT.full_schema();
    let mut columns = Vec::new();
    for field in full.fields() {
        let column = match batch.column_by_name(field.name()) {
            Some(column) => (batch.schema().field_with_name(field.name()).cloned(), Arc::clone(column)),
            None if field.data_type() == numbers.data_type() => {
                (Ok(field.as_ref().clone()), Arc::clone(&numbers))
            }
            // The name of the recording: no condition needs it while there is one.
            None => (
                Ok(field.as_ref().clone().with_nullable(true)),
                arrow::array::new_null_array(field.data_type(), rows),
            ),
        };
        let bug = |e| Error::new(ErrorKind::Bug, "a column of kernel events is missing").because(e);
        columns.push((column.0.map_err(bug)?, column.1));
    }
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(arrow::datatypes::Schema::new(fields)), arrays).map_err(|e| {
        Error::new(ErrorKind::Bug, "kernel events do not have the columns of their table").because(e)
    })
}
