//! Rules for ISRs: category 2 by RUNNINGISR2, category 1 by the function trace, one stack for both
//! (I1–I9; docs/mapping.md; the stack is that of the thesis, figure 4.3).

use super::state::{Context, Frame, Proc};
use super::{Machine, OsState, Severity};
use crate::btf::{Action, EntityType, NameId, State as ProcessState};

impl Machine {
    /// RUNNINGISR2 may have changed.
    pub(super) fn running_isr(&mut self, core: usize, write: bool) {
        let Some(value) = self.model.value(&self.model.cores[core].running_isr) else { return };
        let old = self.cores[core].isr_value.replace(value);
        let returns = match self.cores[core].isrs.last() {
            Some(top) => !top.category1 && top.value == value,
            None => self.model.cores[core].no_isr_values.contains(&value),
        };
        if write && returns {
            self.tell_next(core);
        }
        if old == Some(value) || (old.is_none() && !write) {
            return;
        }
        self.cores[core].alarm_event = None;
        if self.model.cores[core].no_isr_values.contains(&value) {
            self.no_isr(core);
            return;
        }
        let frames = &self.cores[core].isrs;
        match frames.iter().rposition(|f| !f.category1 && f.value == value) {
            Some(n) => self.back_to(core, n),
            None => {
                let name = self.isr_name(core, value);
                if let Some(p) = self.proc(core) {
                    self.leave(p);
                }
                self.isr_begins(core, name, false, value);
            }
        }
    }

    /// Rule I7: the handler's symbol, else the label of the enumeration, else its number.
    fn isr_name(&mut self, core: usize, value: i64) -> NameId {
        let model = &self.model.cores[core];
        if let Some(name) = model.isr_names.get(&value) {
            return *name;
        }
        let known = model.handler(value).cloned();
        let name = known.unwrap_or_else(|| {
            let name = format!("ISR_0x{:X}", value as u64);
            let message = format!(
                "RUNNINGISR2 holds {value:#x}, which no symbol and no label names; it is shown as {name}"
            );
            self.report(Severity::Warning, "unknown-isr", message);
            name
        });
        // Reported once per handler.
        let name = self.model.name_in_unit(core, &name);
        let name = self.model.names.intern(&name);
        self.model.cores[core].isr_names.insert(value, name);
        name
    }

    /// Rule I1, after the process has lost the core: stimulus, activation, start are at one time (thesis,
    /// table 4.3).
    fn isr_begins(&mut self, core: usize, name: NameId, category1: bool, value: i64) {
        let stimulus = self.own_stimulus(name);
        let stimulus = self.trigger((self.model.sim, -1), stimulus);
        let (number, process) = self.isr_instance(core, name);
        self.emit(stimulus, EntityType::Isr, (name, number), Action::Activate);
        let (state, context) = (ProcessState::Active, Context::default());
        self.cores[core].isrs.push(Frame { name, number, process, state, category1, value, context });
        let top = Proc::Isr(core, self.cores[core].isrs.len() - 1);
        self.enter(top);
    }

    /// Rule I2: an ISR that is on the stack has the core again; all ISRs above it have ended.
    fn back_to(&mut self, core: usize, n: usize) {
        if n + 1 < self.cores[core].isrs.len() {
            self.pop_to(core, n + 1);
            self.enter(Proc::Isr(core, n));
        }
    }

    /// Rule I3: no category 2 ISR runs. Nothing to do if there was none (rule I4: written at the start).
    fn no_isr(&mut self, core: usize) {
        let Some(n) = self.cores[core].isrs.iter().position(|f| !f.category1) else { return };
        self.pop_to(core, n);
        self.after_isr(core);
    }

    /// Rule I5: entry or exit of a category 1 handler.
    pub(super) fn category1(&mut self, core: usize, function: NameId, entry: bool) {
        if entry {
            self.interrupted(core);
            self.isr_begins(core, function, true, 0);
            return;
        }
        let Some(n) = self.cores[core].isrs.iter().rposition(|f| f.category1 && f.name == function) else {
            let message = format!("exit of {} without an entry", self.name(function));
            return self.report(Severity::Info, "unmatched-exit", message);
        };
        self.pop_to(core, n);
        if !self.goes_on_unseen(core) {
            self.after_isr(core);
        }
    }

    /// Ends the frames from the top down to depth `n`, exclusive.
    fn pop_to(&mut self, core: usize, n: usize) {
        while self.cores[core].isrs.len() > n {
            let top = Proc::Isr(core, self.cores[core].isrs.len() - 1);
            self.ensure_running(top);
            self.end_process(top);
            self.cores[core].isrs.pop();
        }
    }

    /// Rule I8: the core returns to what the ISR interrupted. Deferred events come first (rule T11).
    fn after_isr(&mut self, core: usize) {
        if let Some(n) = self.cores[core].isrs.len().checked_sub(1) {
            self.enter(Proc::Isr(core, n));
            return;
        }
        for (t, old, new) in std::mem::take(&mut self.cores[core].deferred) {
            self.apply_state(t, core, old, new);
        }
        let Some(t) = self.cores[core].running else { return };
        if self.tasks[t].os == Some(OsState::Running) && !self.state(Proc::Task(t)).on_core() {
            let first = self.out.mark();
            self.enter(Proc::Task(t));
            self.out.hold(core, self.tasks[t].name, self.now, first);
        }
    }

    /// Rule L3: an ISR that was active when the trace began; called outermost first.
    pub(super) fn isr_at_left_edge(&mut self, core: usize, handler: &str) {
        let category1 = self.model.category1.contains(handler);
        let name = match category1 {
            true => handler.to_owned(),
            false => self.model.name_in_unit(core, handler),
        };
        let name = self.model.names.intern(&name);
        let now = self.model.value(&self.model.cores[core].running_isr);
        let value = self.model.cores[core].value_of_handler(handler, now);
        match self.proc(core) {
            Some(p @ Proc::Isr(..)) => self.set_state(p, ProcessState::Ready),
            Some(p) if self.state(p) == ProcessState::Running => self.set_state(p, ProcessState::Ready),
            _ => {}
        }
        let (number, process) = self.isr_instance(core, name);
        let (state, context) = (ProcessState::Running, Context::default());
        self.cores[core].isrs.push(Frame { name, number, process, state, category1, value, context });
        if !category1 {
            self.cores[core].isr_value = now.or(Some(value));
        }
    }
}
