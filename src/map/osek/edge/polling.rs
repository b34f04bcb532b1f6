//! Whether the process that has a core at an edge may have polled there (rule L8; docs/mapping.md): what it
//! does to locks behind the edge tells. Not for locks that are held at an edge.

use super::{LookAhead, evaluate};
use crate::map::osek::machine::Occupant;
use crate::map::osek::model::{Model, Service};
use crate::map::osek::slots::Role;

impl LookAhead {
    /// L8: a process that is refused a lock, or gets one, before it has shown whether it polls may have begun
    /// to before the edge.
    pub(super) fn may_poll(&mut self, core: usize, model: &Model) {
        if !self.is_occupant(core) || std::mem::replace(&mut self.cores[core].polling_decided, true) {
            return;
        }
        let (edge, process) = (self.at[core], Occupant { core, below: self.cores[core].below });
        // In a call that it entered before the edge it may spin.
        if model.profile.rules.poll_by_error || !self.cores[core].called {
            self.edges[edge].may_poll.push(process);
        } else {
            self.may_try.push((edge, process));
        }
    }

    /// A service is entered or left.
    pub(super) fn service(&mut self, core: usize, service: Option<Service>, model: &Model) {
        self.tries[core] |= service == Some(Service::TryLock);
        if self.is_occupant(core) {
            let asks = matches!(service, Some(Service::TryLock | Service::GetResource));
            let c = &mut self.cores[core];
            c.called = true;
            c.polling_decided |= model.profile.rules.poll_by_error && !asks;
        }
    }

    /// Nobody is in a loop over TryToGetSpinlock on a core that never calls it.
    pub(super) fn close_polling(&mut self) {
        for (edge, process) in std::mem::take(&mut self.may_try) {
            if self.tries[process.core] {
                self.edges[edge].may_poll.push(process);
            }
        }
    }

    /// True while the process that had the core at the edge has it, as far as the OS tells.
    pub(super) fn is_occupant(&self, core: usize) -> bool {
        !self.cores[core].interrupted && !self.cores[core].replaced
    }

    /// RUNNINGISR2 says that an ISR begins, or that the last one has ended, also the one of the edge.
    pub(super) fn isr(&mut self, core: usize, value: i64, model: &Model) {
        let begins = !model.cores[core].no_isr_values.contains(&value);
        if !begins && !self.cores[core].interrupted {
            self.cores[core].isr_of_edge_ends();
        }
        self.cores[core].interrupted = begins;
    }

    /// A resource for which a process can poll, because several cores share it.
    pub(super) fn taken(&mut self, core: usize, s: usize, role: Role, value: i64, model: &mut Model) {
        let image = model.cores[core].image;
        let is_shared = model.cores.iter().filter(|core| core.image == image).count() > 1;
        if model.profile.rules.poll_by_error && is_shared && gives(s, role, value, model) == Some(false) {
            self.may_poll(core, model);
        }
    }

    pub(super) fn error(&mut self, core: usize, value: i64, model: &mut Model) {
        let attribute = model.cores[core].last_error.clone();
        let error = attribute.and_then(|a| evaluate(&a, value, model));
        let is_refused = error.is_some_and(|error| model.cores[core].refused_errors.contains(&error));
        if model.profile.rules.poll_by_error && is_refused {
            self.may_poll(core, model);
        }
    }
}

/// Whether a value of a variable of lock `s` says that it is free; `None` if it does not tell.
pub(super) fn gives(s: usize, role: Role, value: i64, model: &mut Model) -> Option<bool> {
    match role {
        Role::Spin(_) => Some(value == 0),
        Role::SemState(_) => {
            let state = model.sems[s].state.clone()?;
            evaluate(&state, value, model).map(|v| model.sems[s].is_unlocked(v))
        }
        Role::SemLocker(_) => {
            let locker = model.sems[s].locker.clone()?;
            evaluate(&locker, value, model).map(|v| model.sems[s].no_locker.contains(&v))
        }
        _ => None,
    }
}
