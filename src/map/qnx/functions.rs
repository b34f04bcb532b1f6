//! Rules for events that programs write: functions that they enter and leave, and events of their own.

use super::counters::Finding;
use super::entities::Named;
use super::mapper::QnxMapper;
use super::state::{Phase, Proc};
use super::wake::Wake;
use super::words;
use crate::btf::{Action, EntityType, NameId, Note};
use crate::qnx::Event;

/// Functions nested deeper are not shown.
const MAX_DEPTH: usize = 256;

/// Maximum number of function events that wait for the end of a kernel call.
const MAX_DEFERRED: usize = 64;

/// Event numbers of class SYSTEM.
mod system {
    pub const FUNC_ENTER: u16 = 0x0a;
    pub const FUNC_EXIT: u16 = 0x0b;
    pub const TIMER: u16 = 0x12;
    pub const IST_ATTACH: u16 = 0x1d;
    pub const IST_DETACH: u16 = 0x1e;
}

impl QnxMapper {
    pub(super) fn system_event(&mut self, cpu: usize, event: &Event<'_>) {
        match event.event {
            system::FUNC_ENTER | system::FUNC_EXIT => {
                let address = words::first(self.settings.flavour, event, true);
                let name = self.named(Named::Function, (0, address), |_| format!("F_{address:x}"));
                self.function(cpu, name, event.event == system::FUNC_ENTER);
            }
            system::TIMER => {
                if let Some(t) = self.threads.find((event.word(0), event.word(1))) {
                    self.threads[t].cause = Some((self.turn, Wake::Timer));
                } else {
                    self.causes.process(event.word(0), self.turn, Wake::Timer);
                }
            }
            system::IST_ATTACH | system::IST_DETACH => {
                let (thread, vector) = ((event.word(0), event.word(1)), event.word(2));
                self.servers.set(vector, thread, event.event == system::IST_ATTACH);
            }
            _ => {}
        }
    }

    /// Rule Q20.
    fn function(&mut self, cpu: usize, name: NameId, entry: bool) {
        let Some(p) = self.executing(cpu) else { return self.count(Finding::Function) };
        if let Proc::Thread(t) = p
            && self.threads[t].call.as_ref().is_some_and(|call| call.runnable.is_some())
        {
            // The event is written from within a kernel call, which does not belong to the function.
            if self.threads[t].deferred.len() >= MAX_DEFERRED {
                return self.count(Finding::Function);
            }
            return self.threads[t].deferred.push((name, entry));
        }
        self.call_function(p, name, entry);
    }

    /// Emits the functions that were entered and left during a kernel call that is over.
    pub(super) fn deferred_functions(&mut self, t: usize) {
        let running = self.threads[t].phase == Phase::Running;
        for (name, entry) in std::mem::take(&mut self.threads[t].deferred) {
            if running {
                self.call_function(Proc::Thread(t), name, entry);
            }
        }
    }

    fn call_function(&mut self, p: Proc, name: NameId, entry: bool) {
        let Some(open) = self.runnables(p) else { return };
        if entry {
            if open.len() < MAX_DEPTH {
                self.start_runnable(p, name);
                return;
            }
            if let Proc::Thread(t) = p {
                self.threads[t].too_deep += 1;
            }
            return self.count(Finding::Function);
        }
        let found = open.iter().rev().find(|(open, _)| *open == name).copied();
        if let Proc::Thread(t) = p
            && self.threads[t].too_deep > 0
        {
            self.threads[t].too_deep -= 1;
            return;
        }
        match found {
            Some(runnable) => self.end_runnable(p, runnable, Note::None),
            None => self.count(Finding::Function),
        }
    }

    /// Rule Q21: an event of a program is a signal of BTF that gets a value.
    pub(super) fn user_event(&mut self, cpu: usize, event: &Event<'_>, text: Option<&str>) {
        let code = event.event;
        let signal = self.named(Named::User, (0, u64::from(code)), |_| format!("USR_{code}"));
        let note = match text {
            Some(text) => {
                let text = Self::clean(text);
                self.note(&text)
            }
            None => Note::Value(u64::from(event.word(0))),
        };
        let source = self.cause_on(cpu);
        self.emit(source, EntityType::Signal, (signal, 0), Action::Write, note);
    }
}
