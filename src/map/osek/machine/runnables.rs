//! Rules for functions and signals (N1, N2, N6, G1; docs/mapping.md). Runnables are suspended and resumed
//! with their process (see `tasks`).

use super::{Machine, Severity};
use crate::btf::{Action, EntityType, NameId, Note};
use crate::map::osek::software::Function;

impl Machine {
    /// A function was entered or left.
    pub(super) fn call(&mut self, core: usize, function: Function, entry: bool) {
        match function {
            Function::Category1(name) => self.category1(core, name, entry),
            Function::Runnable(name) if entry => self.runnable_start(core, name),
            Function::Runnable(name) => self.runnable_end(core, name),
            Function::TaskBody(_) | Function::Handler(_) => {}
        }
    }

    /// Rule N1: the source is the process even for a runnable called by a runnable (BTF 2.1.5, runnable
    /// events), and `SIM` outside of every process (rule N6).
    fn runnable_start(&mut self, core: usize, name: NameId) {
        let p = self.caller_of_function(core);
        let actor = self.actor_or_sim(p);
        let runnable = (name, self.next_instance(name));
        self.emit(actor, EntityType::Runnable, runnable, Action::Start);
        self.context(p, core).runnables.push(runnable);
        self.begins_in_gap(core, p, runnable);
    }

    /// Rule N2. One that began in a gap of the data, of an unknown process, ends as one.
    fn runnable_end(&mut self, core: usize, name: NameId) {
        let own = self.caller_of_function(core);
        let has = own.is_some() && self.context(own, core).runnables.iter().any(|open| open.0 == name);
        let is_of_gap = !has && self.ends_of_gap(core, name);
        let p = own.filter(|_| !is_of_gap);
        let actor = self.actor_or_sim(p);
        let open = &mut self.context(p, core).runnables;
        let Some(n) = open.iter().rposition(|r| r.0 == name) else {
            let message = format!("exit of runnable {} without an entry", self.name(name));
            return self.report(Severity::Info, "unmatched-exit", message);
        };
        let ended = open.split_off(n);
        if ended.len() > 1 {
            let message = format!("runnable {} ended before the ones it called", self.name(name));
            self.report(Severity::Warning, "missing-exit", message);
        }
        for runnable in ended.into_iter().rev() {
            self.emit(actor, EntityType::Runnable, runnable, Action::Terminate);
        }
    }

    /// Rule G1: the note is the raw value, unsigned decimal.
    pub(super) fn signal(&mut self, core: usize, signal: NameId, write: bool, value: u64) {
        let action = if write { Action::Write } else { Action::Read };
        let actor = self.actor_on(core);
        self.emit_note(actor, EntityType::Signal, (signal, 0), action, Note::Value(value));
    }
}
