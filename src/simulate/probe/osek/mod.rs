//! A simulated system as a generic OSEK operating system of all cores: accesses to the variables that its
//! ORTI file names, made of those of the kernels, and the files that describe it. What such a system has not
//! is left out. Not how accesses are written (see `writer`).
//!
//! A call to another core is one in which the caller itself changes the task: its accesses are in the export
//! of the caller, and the other core only has the interrupt by which it looks for a task to run.
//!
//! Time that an alarm has left is written at each tick. Locks that cores share are resources that are asked
//! for by a loop over `GetResource` (see `locks`).

mod description;
mod locks;
mod numbers;
mod oil;
mod orti;
mod variables;

#[cfg(test)]
mod tests;

use super::form::Form;
use super::service_name;
use super::writer::{KnownNames, Writer};
use crate::simulate::kernel::access::{Function, Service, Variable as Access};
use crate::simulate::kernel::{HandlerKind, Handlers, NONE};
use crate::simulate::model::Model;
use locks::Locks;
use numbers::Numbers;
use std::io::Write;
use variables::{NO_ISR, NO_TASK, Variable};

pub use description::description;

/// A core and an instant in ns.
type At = (usize, i64);

/// The state that accesses of the kernels are translated with.
pub struct Translation<'m> {
    model: &'m Model,
    handlers: &'m Handlers,
    numbers: Numbers,
    cores: Vec<Core>,
    locks: Locks,
    /// The ticks that each alarm has left; 0: it does not run.
    ticks_left: Vec<u32>,
    variables: KnownNames<Variable>,
    functions: KnownNames<(Function, usize)>,
    /// See [`super::Recorded::crossed`].
    crossed: u64,
}

/// What is known of a core.
#[derive(Debug, Clone)]
struct Core {
    running: Option<usize>,
    /// The handler of category 2 that runs.
    isr: u32,
    /// The service that was entered last.
    service: Service,
    /// Whose call it serves.
    caller: Option<usize>,
    /// The error of its own call was written where that was served.
    has_error: bool,
    /// How often its timer has counted.
    ticks: u32,
    /// The event mask that it read last.
    events: u32,
}

impl<'m> Translation<'m> {
    pub fn new(model: &'m Model, handlers: &'m Handlers, form: &'static Form) -> Self {
        let numbers = Numbers::of(model);
        let core = Core {
            running: None,
            isr: NONE,
            service: Service::StartOs,
            caller: None,
            has_error: false,
            ticks: 0,
            events: 0,
        };
        Self {
            model,
            handlers,
            locks: Locks::new(numbers.locks.len(), model.cores.len()),
            cores: vec![core; model.cores.len()],
            ticks_left: vec![0; model.alarms.len()],
            numbers,
            variables: KnownNames::of_variables(form),
            functions: KnownNames::of_functions(form),
            crossed: 0,
        }
    }

    /// See [`super::Recorded::crossed`].
    pub fn crossed(&self) -> u64 {
        self.crossed
    }

    /// An access of a kernel. Accesses come in the order of time.
    pub fn data<W: Write>(&mut self, out: &mut Writer<W>, at: At, of: Access, write: bool, value: u32) {
        let core = at.0;
        let mut put = |to: &mut Self, at, variable, value| to.put(out, at, variable, write, value);
        match of {
            Access::ServiceTrace => self.service(out, at, value),
            Access::LastError => self.error(out, at, value),
            Access::RunningIsr2 => {
                let Some(state) = self.cores.get_mut(core) else { return };
                state.isr = value;
                let isr = if value == NONE { NO_ISR } else { variables::isr(value as usize) };
                put(self, at, Variable::RunningIsr2(core), isr);
            }
            Access::FirstTask => {
                let running = self.numbers.task(core, value);
                let Some(state) = self.cores.get_mut(core) else { return };
                state.running = running;
                put(self, at, Variable::RunningTask(core), running.map_or(NO_TASK, |task| task as u32));
            }
            Access::Status(id) => {
                let Some(task) = self.numbers.task(core, id) else { return };
                put(self, self.by(at), Variable::TaskState(task), variables::state(value));
            }
            Access::Remaining(id) => {
                let Some(task) = self.numbers.task(core, id) else { return };
                let most = self.model.tasks.get(task).map_or(0, |task| task.activations);
                put(self, self.by(at), Variable::TaskActivations(task), most.wrapping_sub(value));
            }
            Access::EventActive(id) => {
                if let Some(task) = self.extended_task(core, id) {
                    self.count_crossing(at, write, value);
                    put(self, self.by(at), Variable::TaskEvents(task), value);
                }
            }
            Access::EventWaitMask(id) => {
                if let Some(task) = self.extended_task(core, id) {
                    put(self, self.by(at), Variable::TaskWaitMask(task), value);
                }
            }
            Access::CounterUsed(object) => {
                let first = |alarm: usize| self.model.alarms.get(alarm).map(|alarm| alarm.first);
                let alarm = self.numbers.alarm(core, object);
                if let Some((alarm, first)) = alarm.and_then(|alarm| Some((alarm, first(alarm)?))) {
                    self.set_alarm(out, at, alarm, first as u32);
                }
            }
            Access::CounterValue if write => self.tick(out, at, value),
            Access::ActionKind(object) => {
                // The alarm expires.
                if let Some(alarm) = self.numbers.alarm(core, object) {
                    self.set_alarm(out, at, alarm, 0);
                }
            }
            Access::CounterCycle(object) if !write => {
                if let Some(alarm) = self.numbers.alarm(core, object) {
                    self.set_alarm(out, at, alarm, value);
                }
            }
            Access::ResourceLocked(id) => {
                let Some(lock) = self.numbers.resource(core, id) else { return };
                match (write, value) {
                    (false, _) => self.look(out, at, lock),
                    (true, 0) => self.give_back(out, at, lock),
                    (true, _) => self.take(out, at, lock),
                }
            }
            Access::Spinlock(word) => {
                if let Some(lock) = self.numbers.word(word) {
                    self.word(out, at, lock, write, value);
                }
            }
            Access::RemoteProcedure(caller) if !write => {
                if let Some(state) = self.cores.get_mut(core) {
                    state.caller = Some(caller as usize);
                }
            }
            Access::RemoteError(_) => {
                let Some(state) = self.cores.get_mut(core) else { return };
                if write {
                    state.caller = None;
                } else {
                    state.has_error = value != 0;
                }
            }
            Access::Signal(signal) => put(self, at, Variable::Signal(signal as usize), value),
            _ => {}
        }
    }

    /// A function of a kernel is entered or left. Those within services are none of a generic system.
    pub fn function<W: Write>(&mut self, out: &mut Writer<W>, at: At, function: Function, entry: bool) {
        let served = self.cores.get(at.0).is_some_and(|core| core.caller.is_some());
        let function = match function {
            Function::Service(_) if served => return,
            Function::Service(service) => Function::Service(variables::service(service)),
            function => function,
        };
        let (model, handlers) = (self.model, self.handlers);
        let name = self.functions.of((function, at.0), |text| {
            text.extend(function_name(model, handlers, at.0, function).unwrap_or_default().bytes());
            Ok(0)
        });
        if !name.is_empty() {
            out.function(at, name, entry);
        }
    }

    /// Who makes an access: the caller, if it is one of a call that is served.
    fn by(&self, (core, time): At) -> At {
        (self.cores.get(core).and_then(|core| core.caller).unwrap_or(core), time)
    }

    /// Only tasks with events have masks.
    fn extended_task(&self, core: usize, id: u32) -> Option<usize> {
        let task = self.numbers.task(core, id)?;
        self.model.tasks.get(task).filter(|task| !task.events.is_empty()).map(|_| task)
    }

    /// Counts an event that is set for a core which is in the ISR that serves others.
    fn count_crossing(&mut self, at: At, write: bool, mask: u32) {
        let caller = self.by(at).0;
        let isr = self.cores.get(caller).map_or(NONE, |core| core.isr);
        let serves = isr != NONE && self.handlers.kind(isr as usize) == HandlerKind::Remote;
        let Some(state) = self.cores.get_mut(at.0) else { return };
        if write && caller != at.0 && serves && mask & !state.events != 0 {
            self.crossed += 1;
        }
        state.events = mask;
    }

    fn put<W: Write>(&mut self, out: &mut Writer<W>, at: At, variable: Variable, write: bool, value: u32) {
        let model = self.model;
        let name = self.variables.of(variable, |text| {
            text.extend(variable.name(model).bytes());
            Ok(variable.digits())
        });
        out.data(at, name, write, value);
    }

    /// A service is entered or left. The caller of another core is in the service all the time.
    fn service<W: Write>(&mut self, out: &mut Writer<W>, at: At, code: u32) {
        let is_of = |service: &&Service| service.entry_code() | 1 == code | 1;
        let (Some(service), Some(state)) = (Service::ALL.iter().find(is_of), self.cores.get_mut(at.0)) else {
            return;
        };
        if state.caller.is_none() {
            state.service = *service;
            self.trace_service(out, at, *service, code & 1 == 1);
        }
    }

    fn trace_service<W: Write>(&mut self, out: &mut Writer<W>, at: At, service: Service, entry: bool) {
        let id = variables::service_id(variables::service(service));
        self.put(out, at, Variable::ServiceTrace(at.0), true, id + u32::from(entry));
    }

    /// An error. That of a call is written once, where it is found.
    fn error<W: Write>(&mut self, out: &mut Writer<W>, at: At, error: u32) {
        let Some(state) = self.cores.get_mut(at.0) else { return };
        if std::mem::take(&mut state.has_error) {
            return;
        }
        let by = self.by(at);
        self.put(out, by, Variable::LastError(by.0), true, error);
    }

    /// The timer of a core counts. An alarm that has one tick left expires later in the same handler.
    fn tick<W: Write>(&mut self, out: &mut Writer<W>, at: At, count: u32) {
        // A kernel writes the count twice.
        let Some(state) = self.cores.get_mut(at.0).filter(|state| state.ticks != count) else { return };
        state.ticks = count;
        for n in 0..self.numbers.alarms(at.0).len() {
            let Some(alarm) = self.numbers.alarm(at.0, n as u32) else { continue };
            let left = self.ticks_left.get(alarm).copied().unwrap_or_default();
            if left > 1 {
                self.set_alarm(out, at, alarm, left - 1);
            }
        }
    }

    fn set_alarm<W: Write>(&mut self, out: &mut Writer<W>, at: At, alarm: usize, ticks: u32) {
        if let Some(left) = self.ticks_left.get_mut(alarm) {
            *left = ticks;
        }
        self.put(out, at, Variable::AlarmTime(alarm), true, ticks);
    }
}

/// The name of a function of a core; none if a generic system has no such one.
fn function_name(model: &Model, handlers: &Handlers, core: usize, function: Function) -> Option<String> {
    let name = match function {
        Function::StartOs => service_name(Service::StartOs).to_owned(),
        Function::Service(service) => service_name(service).to_owned(),
        Function::Task(task) => description::body(model, task as usize),
        Function::Isr(isr) => handlers.name(isr as usize).to_owned(),
        Function::Runnable(runnable) => model.runnables.get(runnable as usize)?.name.clone(),
        Function::TimerHandler => handlers.name(handlers.timer(core)).to_owned(),
        Function::RemoteHandler => handlers.name(handlers.remote(core)).to_owned(),
        Function::RemoteServe
        | Function::IncrementHardware
        | Function::Increment
        | Function::CounterInsert
        | Function::ReadyInsert
        | Function::ReadyQuery
        | Function::ReadyExchange
        | Function::ThreadStub
        | Function::ThreadEnd
        | Function::IrqPostStub
        | Function::IrqEnd => return None,
    };
    Some(name)
}
