//! Commands to rows of `grasp_event`, in the order of the file. Not the reading of commands.

use super::command::{Command, Status};
use super::reader::Place;
use crate::error::Result;
use crate::schema::{GraspEventRow, GraspEventRows};
use arrow::array::RecordBatch;

/// Rows per batch; disorder within two such batches needs no file of its own.
const BATCH_ROWS: usize = 16 * 1024;

pub(super) struct CommandRows {
    rows: GraspEventRows,
    seq: i64,
    /// Time of the previous command.
    now: Option<i64>,
    /// Number of commands that were understood.
    pub commands: u64,
}

impl CommandRows {
    pub fn new() -> Self {
        Self { rows: GraspEventRows::new(), seq: 0, now: None, commands: 0 }
    }

    pub fn push(&mut self, place: Place<'_>, c: &Command<'_>) {
        if let Some(time) = c.time
            && self.now.replace(time).is_none()
        {
            // Commands before the first time take effect then.
            self.rows.effect_at.fill(time);
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

    /// The rows so far, if they fill a batch.
    pub fn full(&mut self) -> Result<Option<RecordBatch>> {
        if self.rows.len() < BATCH_ROWS { Ok(None) } else { self.rest().map(Some) }
    }

    /// The remaining rows.
    pub fn rest(&mut self) -> Result<RecordBatch> {
        self.rows.take_batch()
    }
}
