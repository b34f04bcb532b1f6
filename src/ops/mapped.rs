//! The stages that write what a mapper makes: `btf_event`, derived and native tables. Not the mapping.

use super::parts::{Begin, DerivedTables, Parts, ROWS_OUT};
use crate::btf::{NameId, Names, Note};
use crate::derive::{Derive, Entity, Violations};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::Result;
use crate::map::{MAP_SOURCE, NativeRows, Output};
use crate::schema::{BtfEventRow, BtfEventRows, TableSpec, tables};
use crate::store::StagedFile;
use std::sync::Arc;

/// Output of a mapper, and the dictionary delta that goes with it.
pub(super) struct MappedBatch {
    pub outputs: Vec<Output>,
    pub names: Vec<String>,
    /// New idle tasks, see [`crate::map::Mapper::known_idle_tasks`].
    pub idle_tasks: Vec<NameId>,
}

/// Turns system events into rows of `btf_event`.
pub(super) struct Events<'a> {
    names: Names,
    rows: BtfEventRows,
    /// The number of the next row.
    pub seq: i64,
    pub table: Parts<'a>,
}

impl<'a> Events<'a> {
    pub fn new(writer: Begin<'a>) -> Self {
        let table = Parts::new(writer, tables::BTF_EVENT);
        Self { names: Names::default(), rows: BtfEventRows::new(), seq: 0, table }
    }

    /// Adds the next events; `None` at the end.
    pub fn take(&mut self, batch: Option<Arc<MappedBatch>>) -> Result<()> {
        let Some(batch) = batch else {
            self.write(1)?;
            return self.table.end_part();
        };
        let names = &mut self.names;
        names.learn(&batch.names);
        for output in &batch.outputs {
            let (Output::Event(e) | Output::Closing(e) | Output::Assumed(e)) = output else { continue };
            let number;
            let note = match e.note {
                Note::None => None,
                Note::Name(n) => Some(names.name(n)),
                Note::Value(v) => {
                    number = v.to_string();
                    Some(number.as_str().into())
                }
                Note::Hex(v) => {
                    number = format!("{v:x}");
                    Some(number.as_str().into())
                }
            };
            self.rows.push(BtfEventRow {
                time: e.time,
                seq: self.seq,
                source: names.name(e.source),
                source_instance: Some(e.source_instance),
                target_type: e.target_type.into(),
                target: names.name(e.target),
                target_instance: Some(e.target_instance),
                action: e.action.into(),
                note,
            });
            self.seq += 1;
        }
        self.write(ROWS_OUT)
    }

    fn write(&mut self, at_least: usize) -> Result<()> {
        if self.rows.len() >= at_least {
            self.table.write(&self.rows.take_batch()?)?;
        }
        Ok(())
    }
}

/// Turns system events into rows of the derived tables.
pub(super) struct Instances<'a> {
    names: Names,
    max_names: u64,
    derive: Derive,
    pub tables: DerivedTables<'a>,
    /// The last instant of the recording, in ticks.
    end: i64,
    pub violations: Violations,
    /// What occurs, at the end.
    pub entities: Vec<Entity>,
}

impl<'a> Instances<'a> {
    /// `end`: of the recording. `max_names`: the most bytes that its names may have together.
    pub fn new(writer: Begin<'a>, derive: Derive, end: i64, max_names: u64) -> Self {
        let (tables, violations) = (DerivedTables::new(writer), Violations::default());
        Self { names: Names::default(), max_names, derive, tables, end, violations, entities: Vec::new() }
    }

    /// Adds the next events; `None` at the end.
    pub fn take(&mut self, batch: Option<Arc<MappedBatch>>) -> Result<()> {
        let Some(batch) = batch else {
            self.violations = self.derive.finish(self.end, &self.names);
            self.entities = self.derive.entities(&self.names);
            self.tables.take(&mut self.derive.rows, 1)?;
            return self.tables.end_parts();
        };
        self.names.learn(&batch.names);
        self.names.check_size(self.max_names)?;
        batch.idle_tasks.iter().for_each(|task| self.derive.idle_task(*task));
        for output in &batch.outputs {
            match output {
                Output::Event(e) => self.derive.event(e, &self.names),
                Output::Assumed(e) => self.derive.assumed(e, &self.names),
                Output::Known(known) => self.derive.known(known, &self.names),
                Output::Lost { process, time } => self.derive.lose(*process, *time, &self.names),
                Output::Closing(e) => self.derive.closing(e, &self.names),
                Output::Handler { isr, process } => self.derive.handler(*isr, *process),
                Output::Gap { core, begin, end } => {
                    self.derive.gap(Some(*core), (*begin, *end), &self.names);
                }
            }
        }
        self.tables.take(&mut self.derive.rows, ROWS_OUT)
    }
}

/// Writes the tables that only recordings of one kind have.
pub(super) struct NativeTables<'a>(Vec<Parts<'a>>);

impl<'a> NativeTables<'a> {
    pub fn new(writer: Begin<'a>, tables: &[&'static TableSpec]) -> Self {
        Self(tables.iter().map(|table| Parts::new(writer, table)).collect())
    }

    pub fn take(&mut self, mut rows: impl NativeRows) -> Result<()> {
        for (table, batch) in self.0.iter_mut().zip(rows.take_batches()?) {
            if batch.num_rows() > 0 {
                table.write(&batch)?;
            }
        }
        Ok(())
    }

    pub fn finish(self) -> Result<Vec<StagedFile>> {
        let files = self.0.into_iter().map(Parts::finish).collect::<Result<Vec<_>>>()?;
        Ok(files.into_iter().flatten().collect())
    }
}

/// Reports events that break the state charts: a mapping that makes them is at fault. Instances without an
/// end, and two processes on a core, are what the trace says.
pub(super) fn note_violations(violations: Violations, log: &mut Log) {
    let of_mapping = Violations { occupied: 0, endless: 0, ..violations };
    for (code, message) in of_mapping.doubts() {
        let (source, text) = (MAP_SOURCE.into(), String::new());
        log.push(Diagnostic { source, line: None, severity: Severity::Error, code, message, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mapping_is_at_fault_for_is_an_error() {
        let mut log = Log::default();
        note_violations(Violations { process: 1, runnable: 1, occupied: 1, endless: 1 }, &mut log);
        let codes = ["illegal-transition", "core-occupied", "instance-without-end"];
        assert_eq!(codes.map(|code| log.count_of(code)), [1, 0, 0]);
    }
}
