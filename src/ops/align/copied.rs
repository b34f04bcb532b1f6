//! Copies the tables of recordings with aligned times, and the names of entities that are unique among all
//! control units. Not the tables about clocks (see `tables`).

use super::ecu::Ecu;
use super::spent::Spent;
use crate::error::Result;
use crate::ops::control::Control;
use crate::ops::parts::{Parts, ROWS_OUT, locked};
use crate::schema::{TableSpec, tables};
use crate::store::{Transaction, read_batches};
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use std::sync::{Arc, Mutex};

/// System events, and what is derived from them. What a probe or a kernel has recorded stays with the
/// recordings that it is of: its cores and processes have the numbers of one machine.
const COPIED: [&TableSpec; 7] = [
    tables::BTF_EVENT,
    tables::PROCESS_STATE,
    tables::PROCESS_INSTANCE,
    tables::RUNNABLE_STATE,
    tables::RUNNABLE_INSTANCE,
    tables::OS_CALL,
    tables::OS_ERROR,
];

/// The number of rows to copy.
pub(super) fn rows(tx: &Transaction, ecus: &[Ecu<'_>]) -> Result<u64> {
    let mut rows = 0;
    for ecu in ecus {
        for table in COPIED {
            rows += tx.files(table, ecu.recording)?.iter().map(|(file, _)| file.rows).sum::<u64>();
        }
    }
    Ok(rows)
}

/// Copies the tables of all control units, behind `tags`, which are system events. Returns the number of
/// system events.
pub(super) fn copy(
    tx: &mut Transaction,
    ecus: &[Ecu<'_>],
    tags: &RecordBatch,
    into: &str,
    control: &Arc<Control>,
) -> Result<u64> {
    let mut events = 0;
    for table in COPIED {
        let of_ecus = ecus.iter().map(|ecu| Ok((ecu, tx.files(table, ecu.recording)?)));
        let of_ecus = of_ecus.collect::<Result<Vec<_>>>()?;
        let mut spents = ecus.iter().map(|ecu| Spent::of(tx, ecu, table)).collect::<Result<Vec<_>>>()?;
        let shared = Mutex::new(&mut *tx);
        let writer = |table| locked(&shared)?.writer(table, into, None);
        let mut parts = Parts::new(&writer, table);
        let mut seq = 0;
        if table.name == tables::BTF_EVENT.name && tags.num_rows() > 0 {
            parts.write(tags)?;
            parts.end_part()?;
            seq = tags.num_rows() as i64;
        }
        for ((ecu, files), spent) in of_ecus.into_iter().zip(&mut spents) {
            let mut most = None;
            for (_, place) in files {
                for batch in read_batches(&place, table, None, ROWS_OUT)? {
                    control.check()?;
                    let batch = batch?;
                    let aligned = ecu.aligned(table, &batch, seq)?;
                    let aligned = match spent {
                        Some(spent) => spent.instead_of(&batch, &aligned)?,
                        None => aligned,
                    };
                    let last = aligned.column_by_name("seq").and_then(|c| c.as_primitive_opt::<Int64Type>());
                    most = most.max(last.and_then(arrow::compute::max));
                    parts.write(&aligned)?;
                    control.advance(batch.num_rows() as u64, batch.num_rows() as u64);
                }
                // Every file is sorted, and the next one may begin earlier.
                parts.end_part()?;
            }
            seq = most.map_or(seq, |most: i64| most.saturating_add(1));
        }
        let files = parts.finish()?;
        files.into_iter().try_for_each(|file| tx.add(file))?;
        if table.name == tables::BTF_EVENT.name {
            events = tx.files(table, into)?.iter().map(|(file, _)| file.rows).sum();
        }
    }
    Ok(events)
}
