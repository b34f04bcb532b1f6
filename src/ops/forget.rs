//! Removes what was mapped of a recording, before it is mapped again. Not the mapping (see `map`), nor why it
//! is mapped again (see `map_again`, `continued`).

use super::parts::ROWS_OUT;
use super::setup::{STATE, STATE_FILE};
use crate::error::{Error, ErrorKind, Result};
use crate::map::MAP_SOURCE;
use crate::schema::{DiagnosticView, TableSpec, tables};
use crate::store::{Transaction, read_batches};
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;

/// The tables that every mapping writes again.
pub(super) const REMADE: [&TableSpec; 7] = [
    tables::BTF_EVENT,
    tables::PROCESS_INSTANCE,
    tables::PROCESS_STATE,
    tables::RUNNABLE_INSTANCE,
    tables::RUNNABLE_STATE,
    tables::ENTITY,
    tables::DIAGNOSTIC,
];

/// Removes what was mapped; returns the findings that do not come from the mapping, but for those whose code
/// is `outdated`.
pub(super) fn forget_mapping(
    tx: &mut Transaction,
    name: &str,
    native_tables: &[&TableSpec],
    outdated: impl Fn(&str) -> bool,
) -> Result<Vec<RecordBatch>> {
    let kept = kept_diagnostics(tx, name, outdated)?;
    for table in REMADE.iter().chain(native_tables) {
        tx.drop_table(table, name)?;
    }
    tx.drop_blob(STATE, name, STATE_FILE)?;
    Ok(kept)
}

/// The findings of the ingest, which mapping again does not change.
fn kept_diagnostics(
    tx: &Transaction,
    name: &str,
    outdated: impl Fn(&str) -> bool,
) -> Result<Vec<RecordBatch>> {
    let mut kept = Vec::new();
    for (_, path) in tx.files(tables::DIAGNOSTIC, name)? {
        for batch in read_batches(&path, tables::DIAGNOSTIC, None, ROWS_OUT)? {
            let batch = batch?;
            let all = DiagnosticView::of(&batch)?;
            let is_kept = |row| all.source.value(row) != MAP_SOURCE && !outdated(all.code.value(row));
            let wanted: BooleanArray = (0..batch.num_rows()).map(|row| Some(is_kept(row))).collect();
            let rows = filter_record_batch(&batch, &wanted);
            kept.push(rows.map_err(|e| Error::new(ErrorKind::Bug, "cannot filter diagnostics").because(e))?);
        }
    }
    Ok(kept)
}
