//! The process that `set_event` names in its note. Not the notes of other events, which are numbers or text.

use std::collections::HashMap;

use super::Checker;
use super::entities::Entities;
use super::report::{Findings, Occurrence, Step, event_line, quoted};
use super::rules::Id;
use crate::btf::spec::EntityTypes;

/// Names of unknown type, with the number of notes that have them, and the first one.
#[derive(Debug, Default)]
pub(super) struct Notes(HashMap<Box<str>, (u64, Occurrence)>);

impl Notes {
    /// Maximum number of names: a file of random words must not fill the memory.
    const LIMIT: usize = 4096;

    /// Checks the names at the end of the trace, when all types are known.
    pub(super) fn finish(self, entities: &Entities, findings: &mut Findings) {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_by_key(|(_, (_, first))| first.place.seq);
        for (name, (count, first)) in all {
            let fault = match entities.kinds_of(&name) {
                // A part of a trace need not have events of every process: this is an info.
                None => Some((Id::NoteUnknown, format!("{} has no event", quoted(&name)))),
                Some(kinds) => no_process(&name, kinds).map(|message| (Id::NoteNotProcess, message)),
            };
            if let Some((rule, message)) = fault {
                findings.add_many(rule, count, || Occurrence { message, ..first });
            }
        }
    }
}

impl Checker {
    /// The note of `step` names a process.
    pub(super) fn note_of_process(&mut self, step: &Step<'_>, note: &str) {
        // In numeric mode it is an id.
        let name = self.header.entities.get(note).map_or(note, String::as_str);
        let kinds = self.entities.kinds_of(name);
        if let Some(message) = kinds.and_then(|kinds| no_process(name, kinds)) {
            return step.fault(&mut self.findings, Id::NoteNotProcess, || message);
        }
        if kinds.is_some_and(|kinds| kinds.within(EntityTypes::PROCESS)) {
            return;
        }
        let notes = &mut self.notes.0;
        let full = notes.len() >= Notes::LIMIT;
        match notes.get_mut(name) {
            Some((count, _)) => *count += 1,
            None if full => {}
            None => {
                let (place, time) = (step.place, Some(step.record.time));
                let first = Occurrence { place, time, message: String::new(), text: event_line(step.record) };
                notes.insert(name.into(), (1, first));
            }
        }
    }
}

/// What is wrong with a name that is not a process.
fn no_process(name: &str, kinds: EntityTypes) -> Option<String> {
    let wrong = kinds.and(EntityTypes::PROCESS).is_empty();
    wrong.then(|| format!("{} is {}", quoted(name), kinds.words()))
}
