//! Task events of TRACE32 to system events: each row is the step of a task, an ISR or a runnable, by the
//! rules D1 to D4 of docs/mapping.md. Not function exports, which are mapped with ORTI (see `map::osek`).

mod rules;
mod stored;
#[cfg(test)]
mod tests;

use super::process::Process;
use super::{Finished, Gap, Mapper, Output, Recording, StoredRows};
use crate::btf::Names;
use crate::description::StoredSetup;
use crate::error::{Error, Result};
use crate::schema::{TableSpec, tables};
use rules::Rules;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
pub use stored::TaskEvent;

/// The processes at the end of a recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    processes: Vec<Process>,
}

/// The mapper of task events.
#[derive(Debug)]
pub struct TaskEventMapper {
    rules: Rules,
    range: (i64, i64),
    relevant: u64,
}

impl Mapper for TaskEventMapper {
    const NAME: &'static str = "task-events";
    const STATE_VERSION: u32 = 1;
    const TABLES: &'static [&'static TableSpec] = &[tables::FUNCTION_EVENT];
    const LOOK_AHEADS: usize = 0;
    const TELLS_ACTIVATIONS: bool = false;

    type Settings = StoredSetup;
    type Event<'a> = TaskEvent;
    type NativeRows = ();
    type State = State;

    fn new(_: StoredSetup, recording: &Recording<'_>) -> Result<Self> {
        Ok(Self { rules: Rules::default(), range: (recording.begin, recording.end), relevant: 0 })
    }

    fn resume(&mut self, _: State) -> Result<()> {
        Err(Error::input("task events are mapped from the begin of a recording only"))
    }

    fn read<R: StoredRows>(
        &mut self,
        rows: &R,
        _pass: usize,
        mut take: impl FnMut(&mut Self, &TaskEvent) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let cores = rows.cores(tables::FUNCTION_EVENT);
        self.rules.add_cores(&cores);
        stored::in_order(rows, cores, |event| take(self, event))
    }

    fn time_of(event: &TaskEvent) -> i64 {
        event.time
    }

    fn look_ahead(&mut self, _pass: usize, _event: &TaskEvent) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn end_look_ahead(&mut self, _pass: usize) {}

    fn range(&self) -> (i64, i64) {
        self.range
    }

    fn event(&mut self, event: &TaskEvent) {
        self.relevant += u64::from(self.rules.event(event));
    }

    fn gap(&mut self, gap: &Gap) {
        self.rules.gap(gap);
    }

    fn names(&self) -> &Names {
        &self.rules.processes.names
    }

    fn names_mut(&mut self) -> &mut Names {
        &mut self.rules.processes.names
    }

    fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        self.rules.processes.take(at_least)
    }

    fn finish(&mut self) -> Finished<Self> {
        let log = self.rules.findings();
        let state = State { processes: self.rules.processes.all().to_vec() };
        let outputs = std::mem::take(&mut self.rules.processes.out);
        Finished { outputs, rows: (), log, relevant: self.relevant, state }
    }
}
