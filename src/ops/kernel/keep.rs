//! Leaving out events of a kernel trace that are not wanted, after everything that needs all of them has been made. Not which
//! ones those are.

use super::super::ingest::{Keep, locked};
use super::super::parts::Parts;
use super::rows::begins;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::columns::kernel_event;
use crate::schema::tables;
use crate::store::{Transaction, read_batches};
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Schema;
use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Rows that are read at once.
const BATCH_ROWS: usize = 16 * 1024;

/// The files of the events of each CPU.
fn files(tx: &Transaction, recording: &str) -> BTreeMap<u8, Vec<PathBuf>> {
    let mut files: BTreeMap<u8, Vec<_>> = BTreeMap::new();
    for (file, path) in tx.files(tables::KERNEL_EVENT, recording) {
        if let Some(cpu) = file.core.as_deref().and_then(|cpu| cpu.parse().ok()) {
            files.entry(cpu).or_default().push(path);
        }
    }
    files
}

/// Writes `kernel_event` again with the rows that are wanted. How many are not.
///
/// # Errors
/// The disk, or a row for which it cannot be told.
pub(super) fn keep(tx: &Mutex<Transaction>, recording: &str, keep: &Keep) -> Result<u64> {
    let all = files(&*locked(tx)?, recording);
    let begins = begins(tx, recording);
    let (mut left_out, mut written) = (0, Vec::new());
    for (cpu, files) in all {
        let begin = begins.cpus.get(usize::from(cpu)).ok_or_else(|| super::rows::no_such_cpu(cpu))?;
        let mut table = Parts::new(&**begin, tables::KERNEL_EVENT);
        for path in files {
            for batch in read_batches(&path, tables::KERNEL_EVENT, None, BATCH_ROWS)? {
                let batch = batch?;
                let wanted = (keep.0)(&with_partitions(&batch, recording, cpu)?)?;
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
    let mut tx = locked(tx)?;
    tx.drop_table(tables::KERNEL_EVENT, recording);
    written.into_iter().for_each(|file| tx.add(file));
    Ok(left_out)
}

/// The batch with the columns that are in the path of its file.
fn with_partitions(batch: &RecordBatch, recording: &str, cpu: u8) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let schema = batch.schema();
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for field in tables::KERNEL_EVENT.full_schema().fields() {
        let of_batch =
            schema.column_with_name(field.name()).and_then(|(n, f)| Some((f, batch.columns().get(n)?)));
        let (field, column): (_, ArrayRef) = match of_batch {
            Some((field, column)) => (field.clone(), Arc::clone(column)),
            None if field.name() == kernel_event::CPU => {
                (field.as_ref().clone(), Arc::new(Int64Array::from_value(i64::from(cpu), rows)))
            }
            None => {
                (field.as_ref().clone(), Arc::new(StringArray::from_iter_values(repeat_n(recording, rows))))
            }
        };
        fields.push(field);
        columns.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|e| {
        Error::new(ErrorKind::Bug, "kernel events do not have the columns of their table").because(e)
    })
}
