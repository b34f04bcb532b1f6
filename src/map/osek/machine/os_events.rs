//! Rules for OS events from the kernel's event masks (E1–E6; docs/mapping.md). Not the waiting of tasks.

use super::state::{Actor, Proc};
use super::{Machine, Severity};
use crate::btf::{Action, EntityType, NameId, Note};
use crate::map::osek::model::Service;
use crate::map::osek::slots::Role;

impl Machine {
    /// Rule E1: a task begins to wait. The mask is written before the state, so this comes before rule T9.
    pub(super) fn event_waitmask(&mut self, t: usize, mask: u64) {
        let task = self.actor(Proc::Task(t));
        for event in self.events_of(t, mask) {
            self.emit(task, EntityType::OsEvent, (event, 0), Action::WaitEvent);
        }
    }

    /// Rules E2 and E3: the events that are set for a task are the changed bits (thesis: exclusive or).
    pub(super) fn event_active(&mut self, core: usize, t: usize, mask: u64, before: Option<i64>) {
        let before = before.map(i64::cast_unsigned).or_else(|| self.mask_before(core, t, mask));
        let Some(before) = before else { return };
        let (set, cleared) = (mask & !before, before & !mask);
        let proc = self.proc(core);
        if set != 0 {
            let source = self.setter_on(core, t);
            let task = self.tasks[t].name;
            for event in self.events_of(t, set) {
                self.emit_note(source, EntityType::OsEvent, (event, 0), Action::SetEvent, Note::Name(task));
            }
        }
        if set == 0 {
            // An alarm has set what was set already, or could not set it before this activation.
            self.take_alarm_event(core, t);
        }
        let own = proc == Some(Proc::Task(t));
        let context = self.context(proc, core);
        if cleared != 0 && own && context.inside(Service::ClearEvent) {
            // Any other reset is the activation of the task, which is no event (rule E2).
            let task = self.actor(Proc::Task(t));
            for event in self.events_of(t, cleared) {
                self.emit(task, EntityType::OsEvent, (event, 0), Action::ClearEvent);
            }
        } else if set == 0 && cleared == 0 && context.inside(Service::SetEvent) {
            // Rule E4.
            let name = self.task_name(t);
            let message = format!("an event of task {name} was set again; which one is not visible");
            self.report(Severity::Info, "event-set-again", message);
        }
    }

    /// Rule E3: the mask before a write of it, if that was never seen. A single bit was set by who sets
    /// events, whether it was set before or not. Otherwise, which bits have changed is not known.
    fn mask_before(&mut self, core: usize, t: usize, mask: u64) -> Option<u64> {
        let proc = self.proc(core);
        let cores = match proc.is_some_and(|p| self.is_rpc(p)) {
            true => self.callers_of(core),
            false => vec![core],
        };
        let by_call = match cores == [core] {
            true => self.context(proc, core).inside(Service::SetEvent),
            false => cores.iter().any(|core| self.setter_of_call(*core).is_some()),
        };
        let by_alarm = cores.iter().copied().find(|core| self.alarm_may_set(*core, t));
        let sets = mask.is_power_of_two() && (by_call || by_alarm.is_some());
        if let Some(core) = by_alarm.filter(|_| !sets) {
            self.take_alarm_event(core, t);
        }
        sets.then_some(0)
    }

    /// In a recording that begins with the start of the OS, no event is set before the first access.
    pub(super) fn no_event_is_set(&mut self) {
        let slots = &mut self.model.slots;
        for slot in 0..slots.len() {
            let is_mask = slots.slot(slot).roles.iter().any(|role| matches!(role, Role::EventActive(_)));
            if is_mask && slots.value(slot).is_none() {
                slots.set(slot, Some(0));
            }
        }
    }

    /// Rules E3 and E5. A remote call sets the event on behalf of its caller: a process of another core
    /// inside SetEvent, or the alarm that expired there.
    fn setter_on(&mut self, core: usize, t: usize) -> Actor {
        let proc = self.proc(core);
        if let Some(p) = proc.filter(|p| self.is_rpc(*p)) {
            let callers = self.callers_of(core);
            if let Some(caller) = callers.iter().find_map(|caller| self.setter_of_call(*caller)) {
                return self.actor(caller);
            }
            let alarm = callers.iter().find_map(|c| self.take_alarm_event(*c, t));
            return alarm.unwrap_or_else(|| {
                let message = "a remote SetEvent has no caller in the trace".to_owned();
                self.report(Severity::Warning, "unknown-caller", message);
                self.actor(p)
            });
        }
        if self.context(proc, core).inside(Service::SetEvent) {
            return self.actor_on(core);
        }
        self.take_alarm_event(core, t).unwrap_or_else(|| self.actor_on(core))
    }

    /// The process of a core that is inside SetEvent on its own behalf: while it waits for the other
    /// core, the core may serve a call itself.
    fn setter_of_call(&mut self, core: usize) -> Option<Proc> {
        let isrs = (0..self.cores[core].isrs.len()).rev().map(|n| Proc::Isr(core, n));
        let all: Vec<Proc> = isrs.chain(self.cores[core].running.map(Proc::Task)).collect();
        all.into_iter().find(|p| !self.is_rpc(*p) && self.context(Some(*p), core).inside(Service::SetEvent))
    }

    /// Rule E6: events that share a mask, and of which the description does not say whose they are. `used`
    /// has the bits of every task that the trace shows.
    pub(in crate::map::osek) fn settle_shared_masks(&mut self, used: &[u64]) {
        for finding in self.model.settle_shared_masks(used) {
            self.report(Severity::Warning, "description", finding);
        }
    }

    /// Rule E6: event names of a mask, lowest bit first; a bit without a name is named after its mask.
    fn events_of(&mut self, t: usize, mask: u64) -> Vec<NameId> {
        let mut events = Vec::new();
        for bit in (0..64).map(|n| 1u64 << n).filter(|b| mask & b != 0) {
            let known = self.model.tasks[t].events.get(&bit).copied();
            events.push(known.unwrap_or_else(|| {
                let name = self.model.names.intern(&format!("EVENT_0x{bit:X}"));
                self.model.tasks[t].events.insert(bit, name);
                name
            }));
        }
        events
    }
}
