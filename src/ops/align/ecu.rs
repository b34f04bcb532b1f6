//! A control unit of an aligned recording: its clock, the names of its entities there, and its rows. Not
//! which tables it has (see `copied`).

use crate::clocks::Alignment;
use crate::description::ClocksFile;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{ColumnSpec, ColumnType, TableSpec};
use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Int64Type, UInt32Type};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Columns that name entities. A note names the owner of an event.
const ENTITIES: [&str; 8] = ["source", "target", "note", "process", "runnable", "entity", "core", "task"];

/// A control unit whose recording becomes a part of another one.
pub(super) struct Ecu<'a> {
    pub name: &'a str,
    pub recording: &'a str,
    pub clock: Alignment,
    /// The names of entities that it does not have alone.
    shared: &'a BTreeSet<String>,
}

impl<'a> Ecu<'a> {
    pub fn new(
        clocks: &'a ClocksFile,
        number: usize,
        clock: Alignment,
        shared: &'a BTreeSet<String>,
    ) -> Self {
        let recording = clocks.clock.get(number).map_or("", |clock| clock.recording.get_ref().as_str());
        Self { name: clocks.ecu(number), recording, clock, shared }
    }

    /// The name of an entity of it among those of all control units. An ISR that is another process on each
    /// core is called by both names (rule I9 of docs/mapping.md).
    pub fn entity<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.shared.contains(name) {
            return Cow::Owned(format!("{}.{name}", self.name));
        }
        let parts =
            name.match_indices('.').filter_map(|(dot, _)| Some((name.get(..dot)?, name.get(dot + 1..)?)));
        let mut of_core =
            parts.filter(|(core, isr)| self.shared.contains(*core) || self.shared.contains(*isr));
        match of_core.next() {
            Some((core, isr)) => Cow::Owned(format!("{}.{}", self.entity(core), self.entity(isr))),
            None => Cow::Borrowed(name),
        }
    }

    /// A batch of a table with aligned times and other names. `seq` is added to sequence numbers.
    pub fn aligned(&self, table: &TableSpec, batch: &RecordBatch, seq: i64) -> Result<RecordBatch> {
        let column = |(spec, column): (&ColumnSpec, &ArrayRef)| -> Result<ArrayRef> {
            let numbers = |f: &dyn Fn(i64) -> i64| -> Result<ArrayRef> {
                let numbers = column.as_primitive_opt::<Int64Type>().ok_or_else(misfit)?;
                Ok(Arc::new(numbers.unary::<_, Int64Type>(f)))
            };
            match spec.ty {
                ColumnType::Instant => numbers(&|time| self.clock.aligned(time)),
                ColumnType::Name if ENTITIES.contains(&spec.name) => self.renamed(column),
                _ if spec.name == "seq" => numbers(&|number| number.saturating_add(seq)),
                _ => Ok(Arc::clone(column)),
            }
        };
        let columns = table.file_columns().zip(batch.columns()).map(column).collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(batch.schema(), columns).map_err(|e| misfit().because(e))
    }

    fn renamed(&self, names: &ArrayRef) -> Result<ArrayRef> {
        let names = names.as_dictionary_opt::<UInt32Type>().ok_or_else(misfit)?;
        let dictionary = names.values().as_string_opt::<i32>().ok_or_else(misfit)?;
        if self.shared.is_empty() {
            return Ok(Arc::new(names.clone()));
        }
        let renamed: StringArray = dictionary.iter().map(|name| name.map(|name| self.entity(name))).collect();
        let renamed = DictionaryArray::try_new(names.keys().clone(), Arc::new(renamed));
        Ok(Arc::new(renamed.map_err(|e| misfit().because(e))?))
    }
}

fn misfit() -> Error {
    Error::new(ErrorKind::Bug, "a batch is not of its table")
}

/// Puts other numbers in place of columns of a batch.
pub(super) fn with_columns(batch: &RecordBatch, columns: Vec<(&str, Vec<i64>)>) -> Result<RecordBatch> {
    let schema = batch.schema();
    let mut all = batch.columns().to_vec();
    for (name, numbers) in columns {
        let place = schema.index_of(name).ok().and_then(|n| all.get_mut(n)).ok_or_else(misfit)?;
        let nulls = place.nulls().cloned();
        *place = Arc::new(Int64Array::new(numbers.into(), nulls));
    }
    RecordBatch::try_new(schema, all).map_err(|e| misfit().because(e))
}
