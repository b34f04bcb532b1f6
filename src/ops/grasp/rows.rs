//! Commands of a Grasp trace to rows of `grasp_event`, in the order of time. Not the reading of commands.

use super::super::order::{Ordered, Orderer};
use super::super::parts::{Begin, Parts};
use super::too_many_runs;
use crate::error::Result;
use crate::formats::grasp::{Command, Place, Status};
use crate::schema::columns::grasp_event;
use crate::schema::{GraspEventRow, GraspEventRows, tables};
use crate::store::StagedFile;
use arrow::array::RecordBatch;

/// Rows that are handed over at once; disorder within two such batches needs no run of its own.
const BATCH_ROWS: usize = 16 * 1024;
/// More sorted runs than this are no trace that anybody can look at.
const MAX_RUNS: usize = 4096;

/// Collects rows.
pub(super) struct Builder {
    rows: GraspEventRows,
    seq: i64,
    /// Time of the command before.
    now: Option<i64>,
    /// How many rows with a time come before the one in front of them.
    pub backwards: u64,
    /// How many commands were understood.
    pub commands: u64,
    pub first_at: Option<i64>,
    pub last_at: Option<i64>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            rows: GraspEventRows::new(),
            seq: 0,
            now: None,
            backwards: 0,
            commands: 0,
            first_at: None,
            last_at: None,
        }
    }
}

impl Builder {
    /// How many rows there have been.
    pub fn rows(&self) -> u64 {
        self.seq.unsigned_abs()
    }

    /// Appends a command.
    pub fn push(&mut self, place: Place<'_>, c: &Command<'_>) {
        if let Some(time) = c.time {
            self.backwards += u64::from(self.now.is_some_and(|before| time < before));
            if self.now.replace(time).is_none() {
                // What stands before the first time is there from it on.
                self.rows.effect_at.fill(time);
            }
            self.first_at = Some(self.first_at.map_or(time, |first| first.min(time)));
            self.last_at = self.last_at.max(Some(time));
        }
        self.commands += u64::from(matches!(c.status, Status::Ok | Status::Custom));
        self.rows.push(GraspEventRow {
            time: c.time,
            effect_at: self.now.unwrap_or(0),
            seq: self.seq,
            line: i64::try_from(place.line).unwrap_or(i64::MAX),
            status: c.status.as_str().into(),
            command: Some(c.command).filter(|command| !command.is_empty()).map(Into::into),
            event: c.event.map(Into::into),
            processor: c.processor.map(Into::into),
            task: c.task.map(Into::into),
            job: c.job.map(Into::into),
            server: c.server.map(Into::into),
            mutex: c.mutex.map(Into::into),
            semaphore: c.semaphore.map(Into::into),
            buffer: c.buffer.map(Into::into),
            target: c.target.map(Into::into),
            name: c.name.map(Into::into),
            priority: c.priority,
            kind: c.kind.map(Into::into),
            budget: c.budget,
            capacity: c.capacity,
            amount: c.amount,
            until: c.until,
            message: c.message,
            options: c.options.as_deref(),
            text: place.text,
        });
        self.seq += 1;
    }

    /// The rows so far, when they are enough for a batch.
    ///
    /// # Errors
    /// A batch that cannot be made.
    pub fn full(&mut self) -> Result<Option<RecordBatch>> {
        if self.rows.len() < BATCH_ROWS { Ok(None) } else { self.rest().map(Some) }
    }

    /// The rows that are left.
    ///
    /// # Errors
    /// A batch that cannot be made.
    pub fn rest(&mut self) -> Result<RecordBatch> {
        self.rows.take_batch()
    }
}

/// The table, in as many parts as it has sorted runs.
pub(super) struct Table<'a> {
    orderer: Orderer,
    parts: Parts<'a>,
    out: Vec<Ordered>,
}

impl<'a> Table<'a> {
    pub fn new(begin: Begin<'a>) -> Self {
        let parts = Parts::new(begin, tables::GRASP_EVENT);
        Self { orderer: Orderer::new(grasp_event::EFFECT_AT), parts, out: Vec::new() }
    }

    /// Takes the next rows, in the order of the file.
    pub fn take(&mut self, batch: RecordBatch) -> Result<()> {
        self.orderer.push(batch, &mut self.out)?;
        self.write()
    }

    /// The files of the table.
    pub fn finish(mut self) -> Result<Vec<StagedFile>> {
        self.out.extend(self.orderer.finish().map(Ordered::Rows));
        self.write()?;
        self.parts.finish()
    }

    fn write(&mut self) -> Result<()> {
        for ordered in std::mem::take(&mut self.out) {
            match ordered {
                Ordered::Rows(batch) => self.parts.write(&batch)?,
                Ordered::NewRun if self.parts.ended() > MAX_RUNS => return Err(too_many_runs(MAX_RUNS)),
                Ordered::NewRun => self.parts.end_part()?,
            }
        }
        Ok(())
    }
}
