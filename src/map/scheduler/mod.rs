//! The events of a scheduler, of an RTOS or of Linux, to system events: tasks and ISRs on CPUs, by the
//! rules K1 to K17 of docs/mapping.md. What the events of a trace mean is data, see
//! `description::SchedulerProfile`.

mod decisions;
mod directory;
mod firsts;
mod gaps;
mod meanings;
mod occurrences;
mod parameters;
mod rules;
mod semaphores;
mod stored;
#[cfg(test)]
mod tests;

use super::{EntityFacts, Finished, Gap, MAP_SOURCE, Mapper, Output, Recording, StoredRows};
use crate::btf::Names;
use crate::description::SchedulerProfile;
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, Result};
use crate::schema::{TableSpec, tables};
use decisions::Decisions;
use directory::Directory;
use firsts::Firsts;
use meanings::Meanings;
pub use occurrences::Occurrence;
use rules::Rules;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

/// How a recording is mapped.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What its events mean: the names of profiles.
    profiles: Vec<String>,
    /// Patterns of tasks that do not terminate.
    endless: Vec<String>,
}

/// Nothing is kept: such recordings are not continued.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {}

/// The mapper of the events of a scheduler.
pub struct SchedulerMapper {
    meanings: Arc<Meanings>,
    rules: Rules,
    /// What the first switch of each CPU says of the time before it.
    firsts: Firsts,
    range: (i64, i64),
    relevant: u64,
}

/// What each pass over the events is for.
mod pass {
    pub const NAMES: usize = 0;
    pub const DECISIONS: usize = 1;
    pub const MAPPING: usize = 2;
}

impl Mapper for SchedulerMapper {
    const NAME: &'static str = "scheduler";
    const STATE_VERSION: u32 = 1;
    const TABLES: &'static [&'static TableSpec] = &[tables::TRACE_EVENT];
    const LOOK_AHEADS: usize = pass::MAPPING;
    const TELLS_ACTIVATIONS: bool = false;

    type Settings = Settings;
    type Event<'a> = Occurrence;
    type NativeRows = ();
    type State = State;

    fn new(settings: Settings, recording: &Recording<'_>) -> Result<Self> {
        let profile = SchedulerProfile::shipped(&settings.profiles)?;
        let directory = Directory::new(&settings.endless, profile.identity);
        Ok(Self {
            meanings: Arc::new(Meanings::new(profile)),
            rules: Rules::new(directory, Decisions::default()),
            firsts: Firsts::default(),
            range: (recording.begin, recording.end),
            relevant: 0,
        })
    }

    fn resume(&mut self, _: State) -> Result<()> {
        Err(Error::input("a recording of a scheduler cannot be continued"))
    }

    fn read<R: StoredRows>(
        &mut self,
        rows: &R,
        _pass: usize,
        mut take: impl FnMut(&mut Self, &Occurrence) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let meanings = Arc::clone(&self.meanings);
        stored::in_order(rows, &meanings, |occurrence| take(self, occurrence))
    }

    fn time_of(occurrence: &Occurrence) -> i64 {
        occurrence.time
    }

    fn look_ahead(&mut self, pass: usize, occurrence: &Occurrence) -> ControlFlow<()> {
        match pass {
            pass::NAMES => {
                self.rules.directory.learn(occurrence);
                self.firsts.learn(occurrence);
            }
            _ => {
                self.rules.occurrence(occurrence);
                self.rules.processes.out.clear();
            }
        }
        ControlFlow::Continue(())
    }

    fn look_ahead_gap(&mut self, pass: usize, gap: &Gap) {
        match pass {
            pass::NAMES => self.firsts.gap(gap),
            pass::DECISIONS => {
                self.rules.gap(gap);
                self.rules.processes.out.clear();
            }
            _ => {}
        }
    }

    fn end_look_ahead(&mut self, pass: usize) {
        let directory = self.rules.directory.unused();
        let decisions = match pass {
            pass::NAMES => Decisions::default(),
            _ => std::mem::take(&mut self.rules.decisions).known(),
        };
        self.rules = Rules::new(directory, decisions);
        // In both passes that are left: what they ask must be the same.
        self.rules.begin(self.firsts.known(), self.range.0);
    }

    fn range(&self) -> (i64, i64) {
        self.range
    }

    fn event(&mut self, occurrence: &Occurrence) {
        self.rules.occurrence(occurrence);
        self.relevant += 1;
    }

    fn gap(&mut self, gap: &Gap) {
        self.rules.gap(gap);
    }

    fn entities(&self) -> Vec<EntityFacts> {
        self.rules.directory.facts()
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
        let mut log = Log::default();
        let counts = &self.rules.counts;
        let of_processes = self.rules.processes.unexpected;
        for (count, severity, code, what) in [
            (
                counts.unread,
                Severity::Warning,
                "missing-parameter",
                "events lack a parameter that their mapping needs",
            ),
            (counts.ends, Severity::Warning, "isr-without-begin", "ISRs end that did not begin"),
            (
                counts.unended,
                Severity::Warning,
                "isr-without-end",
                "ISRs do not end: they are over when the scheduler acts",
            ),
            (
                counts.marks,
                Severity::Info,
                "mark-of-nobody",
                "marks were set where nothing runs that could have set them: they are in trace_event only",
            ),
            (
                counts.semaphores,
                Severity::Info,
                "semaphore-of-nobody",
                "steps of semaphores were taken where nothing runs: they are in trace_event only",
            ),
            (
                counts.steps,
                Severity::Info,
                "semaphore-without-request",
                "steps of semaphores do not follow from the ones before: they are in trace_event only",
            ),
            (
                counts.signals,
                Severity::Info,
                "semaphore-is-signal",
                "times a semaphore was given by who did not have it: it is a signal, and that it is given is in trace_event only",
            ),
            (
                counts.alone,
                Severity::Info,
                "callbacks-without-scheduler",
                "callbacks count as running from begin to end: the trace does not tell when their threads lose the CPU",
            ),
            (
                counts.callbacks,
                Severity::Info,
                "callback-of-nobody",
                "callbacks begin or end in a thread that does not run, or did not begin: such a begin is in trace_event only, such an end is where the thread runs next",
            ),
            (
                of_processes,
                Severity::Warning,
                "lost-events",
                "events do not follow from what was before: others were lost, and nothing is said of their processes in between",
            ),
        ] {
            if count > 0 {
                let (source, text) = (MAP_SOURCE.to_owned(), String::new());
                let message = format!("{count} {what}");
                log.push(Diagnostic { source, line: None, severity, code, message, text });
            }
        }
        let outputs = std::mem::take(&mut self.rules.processes.out);
        Finished { outputs, rows: (), log, relevant: self.relevant, state: State {} }
    }
}
