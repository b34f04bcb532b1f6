//! System events → a timing model, with what each value rests on. A pass over the events of any
//! recording, in the order of time. Knows no database and no files: the caller brings the events, and
//! stores the model.
//!
//! [`Reconstruction`] takes the events. [`observe`] follows each process and keeps its executions: the
//! steps and the net times between them ([`body`]). At the end [`assemble`] makes a model of it:
//! [`system`] finds the timers of the operating system, [`sources`] makes alarms and ISRs of the stimuli,
//! [`bodies`] finds the common steps of executions, [`priorities`] the order of the tasks. The model is
//! one that [`Model::check`](crate::simulate::Model::check) accepts; what a model cannot say is left out
//! with a finding.
//!
//! What a trace does not show, no model has: a wait for an event that is already set, an event that is
//! set once more, a branch whose ways do the same. Executions that a gap, or the begin of the recording,
//! cuts are left out; those that its end cuts are used only for tasks that have no other one.

mod arrivals;
mod assemble;
mod bodies;
mod body;
mod evidence;
mod facts;
mod locks;
mod names;
mod observe;
mod priorities;
mod sources;
mod steps;
pub mod stimuli;
mod system;
#[cfg(test)]
mod tests;
mod times;

pub use evidence::{Confidence, Evidence, comments};
pub use facts::{Facts, Hint};

use crate::btf::{Event, NameId, Names};
use crate::diagnostics::Log;
use crate::error::Result;
use crate::simulate::Model;
use observe::Observer;

/// A derived model.
#[derive(Debug)]
pub struct Derived {
    /// A model that keeps all rules.
    pub model: Model,
    /// What its values rest on, in the order of the sections of the model.
    pub evidence: Vec<Evidence>,
    /// What the model cannot say.
    pub findings: Log,
}

/// Takes the events of a recording.
#[derive(Debug)]
pub struct Reconstruction {
    facts: Facts,
    seen: Observer,
}

impl Reconstruction {
    /// Before the first event.
    pub fn new(facts: Facts) -> Self {
        Self { facts, seen: Observer::default() }
    }

    /// The next event, in the order of time; its time is in ticks.
    pub fn event(&mut self, event: &Event) {
        let time = self.facts.ns(event.time);
        self.seen.event(&Event { time, ..*event }, &self.facts);
    }

    /// The next event, which was not recorded, but keeps the rules of BTF where others are missing.
    pub fn unseen(&mut self, event: &Event) {
        let time = self.facts.ns(event.time);
        self.seen.unseen(&Event { time, ..*event });
    }

    /// The recorder lost events of a core, or of all of them, since the last event. `end` is the first
    /// instant behind the gap, in ticks.
    pub fn gap(&mut self, core: Option<NameId>, end: i64) {
        self.seen.gap(core, self.facts.ns(end));
    }

    /// The model. `names` has the names of the events.
    ///
    /// # Errors
    /// When the events give no model that can be simulated: there is no process in them.
    pub fn finish(mut self, names: &Names) -> Result<Derived> {
        self.seen.finish();
        assemble::model(&self.seen, &self.facts, names)
    }
}
