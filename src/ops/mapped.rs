//! Mapped events on their way into tables: rows of `btf_event`, and of the tables that are derived from it. Not the mapping.

use super::parts::{Begin, DerivedTables, Parts, ROWS_OUT};
use crate::btf::{Names, Note};
use crate::derive::{Derive, Violations};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::Result;
use crate::map::{MAP_SOURCE, Output};
use crate::schema::{BtfEventRow, BtfEventRows, tables};
use std::sync::Arc;

/// What the machine hands over, and the names that are new with it; `None` at the end.
pub(super) type Handover = Option<Arc<(Vec<Output>, Vec<String>)>>;

/// System events to rows of `btf_event`.
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

    pub fn take(&mut self, mapped: Handover) -> Result<()> {
        let Some(mapped) = mapped else {
            self.write(1)?;
            return self.table.end_part();
        };
        let (outputs, new) = &*mapped;
        let names = &mut self.names;
        names.learn(new);
        for output in outputs {
            let (Output::Event(e) | Output::Closing(e)) = output else { continue };
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

/// System events to rows of the tables that are derived from them.
pub(super) struct Instances<'a> {
    names: Names,
    derive: Derive,
    pub tables: DerivedTables<'a>,
    /// The last instant of the recording, in ticks.
    end: i64,
    pub violations: Violations,
}

impl<'a> Instances<'a> {
    pub fn new(writer: Begin<'a>, (begin, end): (i64, i64)) -> Self {
        let (derive, tables) = (Derive::new(begin), DerivedTables::new(writer));
        Self { names: Names::default(), derive, tables, end, violations: Violations::default() }
    }

    /// The same for a trace that need not tell of activations.
    pub fn of_foreign_trace(writer: Begin<'a>, (begin, end): (i64, i64)) -> Self {
        Self { derive: Derive::of_foreign_trace(begin), ..Self::new(writer, (begin, end)) }
    }

    pub fn take(&mut self, mapped: Handover) -> Result<()> {
        let Some(mapped) = mapped else {
            self.violations = self.derive.finish(self.end, &self.names);
            self.tables.take(&mut self.derive.rows, 1)?;
            return self.tables.end_parts();
        };
        let (outputs, new) = &*mapped;
        self.names.learn(new);
        for output in outputs {
            match output {
                Output::Event(e) => self.derive.event(e, &self.names),
                Output::Closing(_) => {}
                Output::Gap { core, begin, end } => self.derive.gap(*core, *begin, *end, &self.names),
            }
        }
        self.tables.take(&mut self.derive.rows, ROWS_OUT)
    }
}

/// Says how many events broke the state charts.
pub(super) fn note_violations(violations: Violations, log: &mut Log) {
    for (count, what) in [(violations.process, "process"), (violations.runnable, "runnable")] {
        if count > 0 {
            log.push(Diagnostic {
                source: MAP_SOURCE.into(),
                line: None,
                severity: Severity::Error,
                code: "illegal-transition",
                message: format!("{count} {what} events break the BTF state chart"),
                text: String::new(),
            });
        }
    }
}
