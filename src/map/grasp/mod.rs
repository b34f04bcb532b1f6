//! Grasp traces to system events: tasks, their jobs as instances, mutexes and semaphores. What BTF cannot
//! express (servers, buffers, messages) stays in `grasp_event`. Not the commands themselves (see
//! `formats::grasp`).
//!
//! The rules are those of the Grasp player, and of the measurement in the paper (§IV-E, figure 6): metrics
//! count only instances with both an arrival and a completion, and what happens to a completed job does not
//! belong to it.

mod clock;
mod directory;
mod emit;
mod faults;
mod jobs;
mod rules;
mod stored;
#[cfg(test)]
mod tests;
mod time_base;

pub use faults::Fault;

use super::{Finished, Gap, Mapper, Output, Recording, StoredRows};
use crate::btf::Names;
use crate::diagnostics::Severity;
use crate::error::Result;
use crate::schema::{TableSpec, tables};
use crate::time::TimeScale;
use clock::Clocks;
use directory::Directory;
use faults::FaultChecker;
use rules::{Rules, State};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;
use time_base::TimeBase;

/// A command of a trace, as far as the mapping needs it; the columns of `grasp_event`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Occurrence<'a> {
    pub effect_at: i64,
    pub line: i64,
    pub command: &'a str,
    pub event: &'a str,
    pub processor: Option<&'a str>,
    pub task: Option<&'a str>,
    pub job: Option<&'a str>,
    pub server: Option<&'a str>,
    pub mutex: Option<&'a str>,
    pub semaphore: Option<&'a str>,
    pub target: Option<&'a str>,
    pub name: Option<&'a str>,
    pub kind: Option<&'a str>,
    pub budget: Option<i64>,
    pub message: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {}

/// The mapper of traces of Grasp.
#[derive(Debug, Default)]
pub struct GraspMapper {
    directory: Directory,
    clocks: Clocks,
    time_base: Arc<TimeBase>,
    rules: Rules,
    range: (i64, i64),
    /// The state of the recording that this one continues.
    resumed: Option<State>,
}

/// What each pass over the commands is for. Declarations may come last, so undeclared objects are known only
/// after a first pass; and the number of jobs that never arrive, which shifts all numbers, is known only
/// after the rules have seen all commands.
mod pass {
    pub const DECLARATIONS: usize = 0;
    pub const USAGES: usize = 1;
    pub const ARRIVALS: usize = 2;
    pub const MAPPING: usize = 3;
}

impl Mapper for GraspMapper {
    const NAME: &'static str = "grasp";
    const STATE_VERSION: u32 = 1;
    const TABLES: &'static [&'static TableSpec] = &[tables::GRASP_EVENT];
    const LOOK_AHEADS: usize = pass::MAPPING;
    const TELLS_ACTIVATIONS: bool = false;

    type Settings = Settings;
    type Event<'a> = Occurrence<'a>;
    type NativeRows = ();
    type State = State;

    fn new(_: Settings, recording: &Recording<'_>) -> Result<Self> {
        Ok(Self { range: (recording.begin, recording.end), ..Self::default() })
    }

    fn resume(&mut self, state: State) -> Result<()> {
        self.directory = state.directory.clone();
        self.resumed = Some(state);
        Ok(())
    }

    fn read<R: StoredRows>(
        &mut self,
        rows: &R,
        pass: usize,
        mut take: impl FnMut(&mut Self, &Occurrence<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let time_base = match pass {
            pass::DECLARATIONS | pass::USAGES => Arc::default(),
            _ => Arc::clone(&self.time_base),
        };
        stored::in_order(rows, &time_base, |o| take(self, o))
    }

    fn time_of(o: &Occurrence<'_>) -> i64 {
        o.effect_at
    }

    fn look_ahead(&mut self, pass: usize, o: &Occurrence<'_>) -> ControlFlow<()> {
        match pass {
            pass::DECLARATIONS => {
                self.directory.declaration(o);
                self.clocks.occurrence(o);
            }
            pass::USAGES => {
                self.directory.usage(o);
                if !self.time_base.is_one_clock() {
                    Arc::make_mut(&mut self.time_base).place(o);
                }
            }
            pass::ARRIVALS => {
                self.rules.occurrence(o);
                self.rules.out.clear();
                // Times on the common clock may be outside of those in the file.
                self.range = (self.range.0.min(o.effect_at), self.range.1.max(o.effect_at));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn end_look_ahead(&mut self, pass: usize) {
        match pass {
            pass::DECLARATIONS => self.time_base = Arc::new(TimeBase::new(self.clocks.fit())),
            pass::USAGES => self.begin_rules(),
            pass::ARRIVALS => {
                // Rule J6.
                self.directory.note_unarrived(self.rules.tasks.iter().map(|task| task.unarrived));
                self.begin_rules();
            }
            _ => {}
        }
    }

    fn range(&self) -> (i64, i64) {
        self.range
    }

    fn event(&mut self, o: &Occurrence<'_>) {
        self.rules.occurrence(o);
    }

    /// Grasp traces have no gaps.
    fn gap(&mut self, _gap: &Gap) {}

    fn names(&self) -> &Names {
        &self.rules.names
    }

    fn names_mut(&mut self) -> &mut Names {
        &mut self.rules.names
    }

    fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        (self.rules.out.len() >= at_least).then(|| std::mem::take(&mut self.rules.out))
    }

    fn finish(&mut self) -> Finished<Self> {
        let state = self.rules.state();
        self.rules.finish(self.range.1);
        for id in self.directory.undeclared() {
            let message = format!("nothing declares task '{id}'; it is named by its id");
            self.rules.find(Severity::Warning, "undeclared-task", message);
        }
        for id in self.time_base.corrected() {
            let message = format!(
                "the clock of processor '{id}' was put onto that of another, by messages between them"
            );
            self.rules.find(Severity::Info, "clock-corrected", message);
        }
        let (outputs, log, relevant) = self.rules.take_rest();
        Finished { outputs, rows: (), log, relevant, state }
    }
}

impl GraspMapper {
    /// Starts the rules, with everything that is known by now.
    fn begin_rules(&mut self) {
        self.rules = match &self.resumed {
            Some(state) => {
                let names = std::mem::take(&mut self.rules.names);
                Rules::resume(self.directory.clone(), names, state)
            }
            None => Rules::new(self.directory.clone(), Names::default()),
        };
    }
}

/// The faults of servers and mutexes, in the order of time, each with its line, or 0 for those at the end.
pub fn faults(rows: &impl StoredRows) -> Result<Vec<(i64, Fault)>> {
    let recording = Recording { begin: 0, end: 0, time_scale: TimeScale::Ns, gaps: &[] };
    let mut mapper = GraspMapper::new(Settings {}, &recording)?;
    for pass in [pass::DECLARATIONS, pass::USAGES] {
        mapper.read(rows, pass, |mapper, o| Ok(mapper.look_ahead(pass, o)))?;
        mapper.end_look_ahead(pass);
    }
    let (mut checker, mut faults, mut end) = (FaultChecker::default(), Vec::new(), i64::MIN);
    mapper.read(rows, pass::MAPPING, |_, o| {
        end = end.max(o.effect_at);
        faults.extend(checker.occurrence(o).into_iter().map(|fault| (o.line, fault)));
        Ok(ControlFlow::Continue(()))
    })?;
    faults.extend(checker.finish(end).into_iter().map(|fault| (0, fault)));
    Ok(faults)
}
