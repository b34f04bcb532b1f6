//! Rules for service calls, their stimuli, and errors (A1–A3, A9, A10, A12, A14, T6, T8; docs/mapping.md).

use super::state::{Actor, OpenCall, Pending, Proc};
use super::{Machine, Severity};
use crate::description::profile::EntryMark;
use crate::map::osek::model::Service;
use crate::map::osek::slots::Role;

/// No application has more unconsumed stimuli: the oldest are stale.
const MAX_PENDING: usize = 1024;

/// No process has more open calls: the exits of the oldest are missing.
const MAX_CALLS: usize = 64;

impl Machine {
    /// A write to SERVICETRACE; it counts even if the value is unchanged (rule O4).
    pub(super) fn service(&mut self, core: usize) {
        let Some(value) = self.model.value(&self.model.cores[core].service) else { return };
        let (id, entry) = match self.model.entry {
            EntryMark::Bit0 => (value & !1, value & 1 == 1),
            EntryMark::None => (value, true),
        };
        let service = self.model.cores[core].services.get(&id).copied().unwrap_or(Service::Other);
        let p = self.proc(core);
        if let Some(p) = p {
            // Rule I6: a process that calls a service really has the core.
            let name = self.actor(p).0;
            self.out.confirm(name);
        }
        if entry { self.service_entry(core, p, id, service) } else { self.service_exit(core, p, id) }
    }

    fn service_entry(&mut self, core: usize, p: Option<Proc>, id: i64, service: Service) {
        if service != Service::GetResource {
            self.polling_ended_by_other_service(p);
        }
        if self.model.entry == EntryMark::None {
            let caller = self.caller(p);
            let left = std::mem::take(&mut self.context(p, core).services);
            left.iter().for_each(|call| self.write_call(caller, call, None));
        }
        self.bound_calls(core, p);
        let enter_at = self.now;
        let context = self.context(p, core);
        let depth = context.services.len() as i64;
        context.services.push(OpenCall { id, service, core, enter_at, depth, error: None });
        context.failed = false;
        if service == Service::GetResource {
            // Rule P6: the lock that this call accesses, not that of an earlier one.
            context.touched = None;
        }
        if !matches!(service, Service::TryLock | Service::GetResource) {
            context.refused.clear();
        }
        let Some(p) = p else { return };
        // Rules A1, A2 and T6.
        match service {
            Service::Activate if !self.is_rpc(p) => self.inter_process_activation(core, p),
            Service::Chain if matches!(p, Proc::Task(_)) => {
                self.context(Some(p), core).ending = true;
                self.inter_process_activation(core, p);
            }
            Service::Terminate if matches!(p, Proc::Task(_)) => self.context(Some(p), core).ending = true,
            _ => {}
        }
    }

    /// Rule C2: makes room for one more open call of a process.
    fn bound_calls(&mut self, core: usize, p: Option<Proc>) {
        let calls = &mut self.context(p, core).services;
        if calls.len() < MAX_CALLS {
            return;
        }
        let oldest = calls.remove(0);
        self.write_call(self.caller(p), &oldest, None);
        let process = p.map_or("code outside of processes", |p| self.name(self.actor(p).0));
        let message = format!(
            "{process} has {MAX_CALLS} open calls of services, so that the oldest counts as never left: exits are \
             missing, or the OS marks entries otherwise than `entry` of its mapping profile says"
        );
        self.report(Severity::Warning, "calls-without-exit", message);
    }

    /// Rules A1 and A2: a process asks for an activation. The trace does not say of which task.
    fn inter_process_activation(&mut self, core: usize, p: Proc) {
        let by = self.actor(p);
        let stimulus = self.activation_stimulus(by.0);
        let stimulus = self.trigger(by, stimulus);
        self.pend(Pending { stimulus, target: None, core, by: Some(by) });
    }

    /// Remembers a fired stimulus until an activation consumes it (rule A14).
    pub(super) fn pend(&mut self, pending: Pending) {
        if self.pending.len() == MAX_PENDING {
            let old = self.pending.remove(0);
            let message = format!("stimulus {} never activated anything", self.name(old.stimulus.0));
            self.report(Severity::Warning, "stale-stimulus", message);
        }
        self.pending.push(pending);
    }

    fn service_exit(&mut self, core: usize, p: Option<Proc>, id: i64) {
        let context = self.context(p, core);
        let Some(n) = context.services.iter().rposition(|call| call.id == id) else { return };
        let call = context.services.remove(n);
        let failed = context.failed;
        self.write_call(self.caller(p), &call, Some(self.now));
        match (call.service, p) {
            (Service::Activate | Service::Chain, Some(p)) => {
                // Rule A3: the call failed (E_OS_ID etc.); its trigger stays, but activates nothing.
                let by = Some(self.actor(p));
                self.pending.retain(|s| s.target.is_some() || s.by != by);
            }
            (Service::GetResource, Some(p)) if !failed => self.polling_ended_by_success(p),
            _ => {}
        }
    }

    /// A write to LASTERROR; writes count, not changes: the same error twice is two errors (rule O4).
    pub(super) fn last_error(&mut self, core: usize, previous: Option<(usize, bool)>) {
        let value = self.model.value(&self.model.cores[core].last_error);
        let Some(value) = value.filter(|v| *v != 0) else { return };
        let p = self.proc(core);
        let context = self.context(p, core);
        let repeated = std::mem::replace(&mut context.failed, true);
        if context.inside(Service::Terminate) || context.inside(Service::Chain) {
            // Rule T8.
            context.ending = false;
        }
        let in_call = context.inside(Service::Activate) || context.inside(Service::Chain);
        let refused =
            context.inside(Service::GetResource) && self.model.cores[core].refused_errors.contains(&value);
        let limit = self.model.cores[core].limit_error == Some(value);
        let lost = self.refused_task(previous).filter(|_| limit);
        self.write_error(core, p, value, lost);
        if limit {
            match lost {
                Some(t) => self.activation_lost(t),
                None => self.unknown_lost(core, (in_call, repeated)),
            }
        } else if let (true, true, Some(p)) = (refused, self.model.profile.rules.poll_by_error, p) {
            self.refused_by_error(p);
        }
    }

    /// Rules A12 and A13: E_OS_LIMIT tells which task lost an activation only if the data access right
    /// before it on this core read the count of that task's activations; repeated errors of a remote call
    /// or an error hook do not.
    fn refused_task(&self, previous: Option<(usize, bool)>) -> Option<usize> {
        let Some((slot, true)) = previous else { return None };
        self.model.slot(slot).roles.iter().find_map(|role| match role {
            Role::Remaining(t) | Role::Activations(t) => Some(*t),
            _ => None,
        })
    }

    /// An activation was lost, of a task that the data access before the error does not tell.
    fn unknown_lost(&mut self, core: usize, (in_call, repeated): (bool, bool)) {
        if self.counts_are_read && !self.model.profile.variables.remaining_activations.is_empty() {
            return;
        }
        if !in_call {
            self.alarm_lost(core);
        }
        if !repeated {
            let message = "an activation was lost, but the trace does not say of which task: it is not among \
                           the events and metrics. Trace the reads of CURRENTACTIVATIONS, or name the counter \
                           that the OS reads before the error as remaining_activations in a mapping profile";
            self.report(Severity::Warning, "lost-activation", message.to_owned());
        }
    }

    /// Rule A9: a core that serves a call reads, for whom it is, and says so when it has done it.
    pub(super) fn remote_server(&mut self, core: usize, caller: usize, write: bool, server: i64) {
        let is_own = server == self.model.number_in_unit(core);
        let serves = &mut self.cores[core].serves;
        if is_own && !write {
            *serves = Some(caller);
        } else if !is_own && write && *serves == Some(caller) {
            *serves = None;
        }
    }

    /// The cores that may have made the call that `core` serves (rules A9 and E5).
    pub(super) fn callers_of(&self, core: usize) -> Vec<usize> {
        match self.cores[core].serves {
            Some(caller) => vec![caller],
            None => (0..self.cores.len()).filter(|c| *c != core && self.is_near(core, *c)).collect(),
        }
    }

    /// The stimulus of an activation of `t` (rule A9): the newest that names `t`; else the newest without
    /// a task, raised on another core if a remote call is served here, on this core otherwise.
    pub(super) fn consume(&mut self, t: usize) -> Actor {
        let core = self.at;
        let remote = self.proc(core).is_some_and(|p| self.is_rpc(p));
        let found = self.pending.iter().rposition(|p| p.target == Some(t)).or_else(|| {
            let from = if remote { self.callers_of(core) } else { vec![core] };
            self.pending.iter().rposition(|p| p.target.is_none() && from.contains(&p.core))
        });
        match found {
            Some(n) => self.pending.remove(n).stimulus,
            None => {
                // Rule A10: autostart, or raised before the trace began.
                let stimulus = self.own_stimulus(self.tasks[t].name);
                self.trigger((self.model.sim, -1), stimulus)
            }
        }
    }
}
