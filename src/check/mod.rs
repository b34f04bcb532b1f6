//! The conformance checker: does a trace keep the rules of its BTF version? It reads lines in file order,
//! tracks the state of open instances, and reports every violation of [`RULES`] with its count and first
//! lines. It reads no files, prints no reports and repairs nothing.
//!
//! A trace may start anywhere: the first state of an instance is the one that its first event needs, and
//! nothing is reported about an unknown state. After a violation the checker continues from the state that
//! the event leads to, so that one fault is counted once.

mod entities;
mod fields;
mod header;
mod notes;
mod processes;
mod report;
mod rules;
mod runnables;
mod semaphore_counter;
mod semaphores;
mod software;
mod stimuli;
#[cfg(test)]
mod tests;
mod version;
mod words;

pub use report::{Finding, Report};
pub use rules::{RULES, Rule};

use crate::btf::remark::{self, Remark};
use crate::btf::spec::{EntityType, EntityTypes, Number, State, Version};
use crate::btf::{Place, Record};
use entities::{Entities, NO_INSTANCE};
use header::Header;
use notes::Notes;
use report::{Findings, Step};
use rules::Id;
use semaphores::Semaphores;
use software::Software;
use stimuli::Stimuli;
use version::Held;
use words::Words;

/// What to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckOptions {
    /// The version to check against; `None`: that of the header, or 2.2.1 if there is none.
    pub version: Option<Version>,
    /// False for a recording that was mapped: it has no header, and lines other than events are ignored.
    pub header: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { version: None, header: true }
    }
}

/// Checks one trace. Give it every line in the order of the file, then ask for the [`Report`].
#[derive(Debug)]
pub struct Checker {
    options: CheckOptions,
    version: Version,
    /// The number that the trace gives itself, if it is judged by it.
    named: Option<Number>,
    /// `None` once the version is decided.
    held: Option<Held>,
    header: Header,
    words: Words,
    entities: Entities,
    /// Types that were targets of events.
    kinds: EntityTypes,
    software: Software,
    semaphores: Semaphores,
    stimuli: Stimuli,
    notes: Notes,
    findings: Findings,
    events: u64,
    first_time: Option<i64>,
    last_time: Option<i64>,
    largest_step_back: u64,
}

impl Checker {
    /// A checker at the begin of a trace.
    pub fn new(options: CheckOptions) -> Self {
        let version = options.version.unwrap_or(Version::V2_2_1);
        Self {
            options,
            version,
            named: None,
            held: (options.version.is_none() && options.header).then(Held::default),
            header: Header::default(),
            words: Words::new(version, None),
            entities: Entities::default(),
            kinds: EntityTypes::NONE,
            software: Software::default(),
            semaphores: Semaphores::default(),
            stimuli: Stimuli::default(),
            notes: Notes::default(),
            findings: Findings::new(),
            events: 0,
            first_time: None,
            last_time: None,
            largest_step_back: 0,
        }
    }

    /// A line that is not an event, by its 1-based number: parameter, table row, comment, blank, unreadable.
    pub fn other_line(&mut self, line: u64, text: &str) {
        if !self.options.header {
            return;
        }
        let text = header::uncut(text);
        match remark::read(&text) {
            Some(Remark::Gap { core, .. }) => self.gap(core),
            Some(Remark::Part) => self.entities.in_part(),
            Some(Remark::Handlers(_) | Remark::Known(_)) | None => {}
        }
        match &mut self.held {
            Some(held) => {
                if !held.push(line, &text) {
                    self.release();
                }
            }
            None => self.header_line(line, &text),
        }
    }

    /// The next event.
    pub fn event(&mut self, place: Place, record: &Record<'_>) {
        self.release();
        self.header.event();
        self.events += 1;
        self.time(place, record);
        let meaning = self.words.meaning(record.target_type, record.action, &self.header.types);
        self.word_faults(place, record, meaning);
        let source = (self.entities.intern(record.source), record.source_instance.unwrap_or(NO_INSTANCE));
        let target = (self.entities.intern(record.target), record.target_instance.unwrap_or(NO_INSTANCE));
        self.encoding(place, record, [source.0, target.0], meaning);
        // An empty name is a fault already, and has no state.
        let Some(kind) = meaning.kind.filter(|_| !record.target.is_empty()) else { return };
        let target = (self.target(place, record, target.0, kind), target.1);
        self.instances(place, record, source.0, meaning);
        let Some(rule) = meaning.rule else { return };
        let source = (self.entities.cause(source.0, rule.sources), source.1);
        let step = Step { place, record, source, target, kind, rule };
        // An action of another version is reported already. Its effect is clear; its spelling is not checked.
        if meaning.kind_fault.is_none() && meaning.action_fault.is_none() && !record.source.is_empty() {
            self.note(&step);
            self.source(&step);
        }
        self.effect(&step);
    }

    /// An event of a mapped recording that the version cannot express, or not all of it.
    pub fn not_expressible(&mut self, place: Place, record: &Record<'_>) {
        let version = self.version;
        self.findings.event(Id::NotExpressible, place, record, || format!("BTF {version} has no such event"));
    }

    /// The trace of a core has a gap here, or the whole trace if `core` is `None`: what its processes do and
    /// who has a semaphore is unknown until their next events.
    pub fn gap(&mut self, core: Option<&str>) {
        let core = core.map(|name| self.entities.intern(name));
        self.software.forget(core);
        self.entities.forget_occupant(core);
        self.entities.forget_instances();
        self.semaphores.forget();
    }

    /// The report.
    pub fn finish(mut self) -> Report {
        self.release();
        if self.options.header {
            self.header_end();
        }
        self.semaphores.finish(&mut self.findings);
        self.stimuli.finish(self.entities.are_in_part(), &mut self.findings);
        self.notes.finish(&self.entities, &mut self.findings);
        Report {
            version: self.version,
            events: self.events,
            largest_step_back: self.largest_step_back,
            findings: self.findings.into_findings(),
        }
    }

    fn time(&mut self, place: Place, record: &Record<'_>) {
        self.first_time.get_or_insert(record.time);
        if let Some(last) = self.last_time.replace(record.time).filter(|last| record.time < *last) {
            let back = last.abs_diff(record.time);
            self.largest_step_back = self.largest_step_back.max(back);
            self.findings
                .event(Id::TimeDecreases, place, record, || format!("{back} ticks before the line before"));
        }
        // The export of a recording makes all times later.
        if self.options.header && record.time < 0 {
            self.findings.event(Id::NegativeTime, place, record, || "below zero".to_owned());
        }
    }

    /// What the event does to the state of entities.
    fn effect(&mut self, step: &Step<'_>) {
        self.stimulus_causes(step);
        match step.kind {
            EntityType::Task | EntityType::Isr => {
                self.software.process(step, &mut self.entities, &mut self.findings)
            }
            EntityType::Runnable => self.software.runnable(step, &mut self.entities, &mut self.findings),
            EntityType::Semaphore => {
                let known = (&self.entities, &self.software);
                self.semaphores.event(self.version, step, known, &mut self.findings);
            }
            EntityType::Stimulus => self.stimulus_triggered(step),
            _ => {}
        }
    }

    /// The state of the process that causes an event, if it is a process and its state is known.
    fn source_state(&self, step: &Step<'_>) -> Option<State> {
        let kind = self.entities.kind(step.source.0)?;
        kind.is_process().then(|| self.software.process_state(step.source, &self.entities)).flatten()
    }
}
