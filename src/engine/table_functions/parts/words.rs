//! The words of rows of `response_parts()`, as numbers among the names of a recording. Not the rows (see
//! `rows`).

use super::processes::Processes;
use crate::explain::{Kind, Reason, Source, State};
use crate::names::Interner;

/// The numbers of these words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words {
    pub recording: u32,
    types: [u32; 3],
    kinds: [u32; 6],
    states: [u32; 6],
    reasons: [u32; 6],
}

impl Words {
    pub fn of(recording: &str, names: &mut Interner) -> Self {
        let mut six = |words: [&str; 6]| words.map(|word| names.intern(word));
        let kinds = six(["executes", "behind", "os", "lock", "event", "unknown"]);
        let states = six(["active", "running", "ready", "waiting", "polling", "parking"]);
        let reasons = six([
            "isr",
            "higher_priority",
            "equal_priority",
            "previous_instance",
            "holds",
            "not_preemptable",
        ]);
        let types = ["T", "I", "STI"].map(|word| names.intern(word));
        Self { recording: names.intern(recording), types, kinds, states, reasons }
    }

    pub fn kind(&self, kind: Kind) -> u32 {
        let [executes, behind, os, lock, event, unknown] = self.kinds;
        match kind {
            Kind::Executes => executes,
            Kind::Behind => behind,
            Kind::Os => os,
            Kind::Lock => lock,
            Kind::WaitsFor => event,
            Kind::Unknown => unknown,
        }
    }

    pub fn reason(&self, reason: Reason) -> Option<u32> {
        let [isr, higher, equal, previous, holds, not_preemptable] = self.reasons;
        Some(match reason {
            Reason::Isr => isr,
            Reason::HigherPriority => higher,
            Reason::EqualPriority => equal,
            Reason::PreviousInstance => previous,
            Reason::LowerPriorityHolds(_) => holds,
            Reason::LowerPriorityNotPreemptable => not_preemptable,
            Reason::NotKnown => return None,
        })
    }

    pub fn state(&self, state: Option<State>) -> Option<u32> {
        let [active, running, ready, waiting, polling, parking] = self.states;
        Some(match state? {
            State::Active => active,
            State::Running => running,
            State::Ready => ready,
            State::Waiting => waiting,
            State::Polling => polling,
            State::Parking => parking,
        })
    }

    pub fn type_of(&self, process: u32, processes: &Processes) -> u32 {
        let [task, isr, _] = self.types;
        if processes.is_isr(process) { isr } else { task }
    }

    pub fn type_of_source(&self, source: Source, processes: &Processes) -> Option<u32> {
        let [.., stimulus] = self.types;
        match source {
            Source::Process(actor) => Some(self.type_of(actor.process, processes)),
            // An alarm that is called like a task: which of them it was, the trace does not say.
            Source::Stimulus(name) => (!processes.is_process(name)).then_some(stimulus),
        }
    }
}
