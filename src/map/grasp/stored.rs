//! The stored commands in the order of time. If processors have clocks of their own, each clock is a stream,
//! converted to the clock of the reference. Not what the commands mean.

use super::Occurrence;
use super::time_base::TimeBase;
use crate::error::Result;
use crate::map::StoredRows;
use crate::map::streams::{self, Place, Stream};
use crate::schema::{tables, view};
use arrow::array::RecordBatch;
use std::ops::ControlFlow;

view! {
    struct Commands of grasp_event {
        effect_at, seq, line, status, command, event, processor, task, job, server, mutex, semaphore, target, name, kind,
        budget, message,
    }
}

impl<'a> Commands<'a> {
    fn is_ok(&self, row: usize) -> bool {
        self.status.value(row) == "ok"
    }

    /// A row, if its command is valid.
    fn occurrence(&self, row: usize) -> Option<Occurrence<'a>> {
        if !self.is_ok(row) {
            return None;
        }
        Some(Occurrence {
            effect_at: self.effect_at.value(row),
            line: self.line.value(row),
            command: self.command.value(row),
            event: self.event.value(row),
            processor: self.processor.get(row),
            task: self.task.get(row),
            job: self.job.get(row),
            server: self.server.get(row),
            mutex: self.mutex.get(row),
            semaphore: self.semaphore.get(row),
            target: self.target.get(row),
            name: self.name.get(row),
            kind: self.kind.get(row),
            budget: self.budget.get(row),
            message: self.message.get(row),
        })
    }
}

/// Passes every valid command to `take`, in the order of time after `time_base`, until it breaks.
pub(super) fn in_order(
    rows: &impl StoredRows,
    time_base: &TimeBase,
    mut take: impl FnMut(&Occurrence<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    // A clock may be far behind another one, so that each clock is read separately.
    let clocks = std::iter::once(None).chain(time_base.corrected().map(Some));
    let stream =
        |clock| (OneClock { time_base, clock }, rows.read(tables::GRASP_EVENT, None, Commands::COLUMNS, Ok));
    streams::in_order(clocks.map(stream).collect(), |_, columns, row, (time, _)| {
        match columns.occurrence(row) {
            Some(o) => take(&Occurrence { effect_at: time, ..o }),
            None => Ok(ControlFlow::Continue(())),
        }
    })
}

/// The commands whose times are of one clock.
struct OneClock<'t> {
    time_base: &'t TimeBase,
    clock: Option<&'t str>,
}

impl Stream for OneClock<'_> {
    type Columns<'b> = Commands<'b>;

    fn columns<'b>(&self, batch: &'b RecordBatch) -> Result<Commands<'b>> {
        Commands::of(batch)
    }

    fn place(&self, columns: &Commands<'_>, row: usize) -> Option<Place> {
        let (time, seq) = (columns.effect_at.value(row), columns.seq.value(row));
        if self.time_base.is_one_clock() {
            return columns.is_ok(row).then_some((time, seq));
        }
        let occurrence = columns.occurrence(row)?;
        (self.time_base.clock_of(&occurrence) == self.clock)
            .then(|| (self.time_base.time(self.clock, time), seq))
    }
}
