//! Calls to another core: a mailbox per caller, an interrupt, and the loop in which the caller waits. The
//! order of accesses is that of ERIKA's `EE_as_rpc`. Not the services themselves (see `services`).

use super::access::{Function, Recorder, Service, Variable};
use super::effect::{Effect, Observer, Stimulus};
use super::locks::{Free, Spin};
use super::ready::NONE;
use super::{Decision, Kernel, Op};

/// A service for a task of another core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Activate { task: usize, by: Stimulus },
    SetEvent { task: usize, mask: u32, by: Stimulus },
}

impl Call {
    fn task(self) -> usize {
        match self {
            Self::Activate { task, .. } | Self::SetEvent { task, .. } => task,
        }
    }

    fn service(self) -> Service {
        match self {
            Self::Activate { .. } => Service::ActivateTask,
            Self::SetEvent { .. } => Service::SetEvent,
        }
    }
}

/// What a core asks another one for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mailbox {
    /// The core that is to serve it; none: nothing is asked for, or it is served.
    server: Option<usize>,
    call: Option<Call>,
    error: u32,
}

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// `ActivateTask` or `SetEvent` for a task of another core.
    pub(super) fn call(&mut self, core: usize, call: Call) {
        let service = call.service();
        let Some(server) = self.tasks.get(call.task()).map(|task| task.core) else { return };
        self.enter(core, Function::Service(service));
        if let Call::Activate { by, .. } = call {
            self.effect(core, Effect::Trigger(by));
        }
        self.enter_service(core, service);
        let (caller, task) = (core as u32, call.task() as u32);
        let parameter = self.id(call.task());
        self.read(core, Variable::RemoteTaskCore(task), server as u32);
        self.read(core, Variable::RemoteTaskId(task), parameter);
        self.write(core, Variable::RemoteProcedure(caller), procedure(call));
        self.write(core, Variable::RemoteParameter(caller, 1), parameter);
        self.write(core, Variable::RemoteParameter(caller, 2), second_parameter(call));
        self.write(core, Variable::RemoteParameter(caller, 3), NONE);
        if let Some(mailbox) = self.calls.get_mut(core) {
            *mailbox = Mailbox { server: Some(server), call: Some(call), error: 0 };
        }
        let word = self.locks.word_of_core(server, self.cores.len());
        self.op(core, Op::Decide(Decision::Spin(Spin { word, lock: None, asked: false })));
        self.write(core, Variable::RemoteServer(caller), server as u32);
        self.op(core, Op::Decide(Decision::ReadServing { server }));
        self.op(core, Op::Decide(Decision::Free(Free { word, lock: None })));
        self.op(core, Op::Decide(Decision::Call { server }));
        self.op(core, Op::Decide(Decision::Await { server, asked: false }));
        let leaving = self.leaving(service);
        self.append(core, leaving);
    }

    pub(super) fn read_serving(&mut self, core: usize, server: usize) {
        let serves = self.cores.get(server).is_some_and(|core| core.serves);
        self.record(core, Variable::RemoteServing(server as u32), false, u32::from(serves));
    }

    /// The interrupt of the other core is requested.
    pub(super) fn request_call(&mut self, core: usize, server: usize) {
        let at = self.time(core) + self.os().remote_call;
        let handler = self.handlers.remote(server);
        let Some(state) = self.cores.get_mut(server) else { return };
        if !state.pending.iter().any(|(pending, _)| *pending == handler) {
            state.pending.push((handler, at));
        }
        // It may be idle, compute until later, or wait for another core itself.
        let waits = matches!(state.ops.front(), Some(Op::Decide(Decision::Await { .. })));
        if (state.ops.is_empty() || waits) && state.time > at {
            state.time = at.max(state.since);
        }
    }

    /// The core that a core waits for, if its call is not served yet.
    pub(super) fn called(&self, core: usize) -> Option<usize> {
        self.calls.get(core)?.server
    }

    /// The loop of the caller.
    pub(super) fn await_call(&mut self, core: usize, server: usize, asked: bool) {
        let Some(mailbox) = self.calls.get(core).copied() else { return };
        let caller = core as u32;
        if mailbox.server.is_some() {
            if let Some(state) = self.cores.get_mut(core) {
                state.ops.push_front(Op::Decide(Decision::Await { server, asked: true }));
            }
            if !asked {
                self.look_for_standstill(core);
            }
            self.record(core, Variable::RemoteServer(caller), false, server as u32);
            return self.sleep_in_loop(core);
        }
        self.record(core, Variable::RemoteServer(caller), false, NONE);
        self.record(core, Variable::RemoteError(caller), false, mailbox.error);
        if mailbox.error != 0 {
            self.counts.errors += 1;
            self.record(core, Variable::LastError, true, mailbox.error);
        }
    }

    /// The handler looks for a core that waits for it.
    pub(super) fn serve(&mut self, core: usize) {
        let waiting = |mailbox: &Mailbox| mailbox.server == Some(core);
        let caller = self.calls.iter().position(waiting);
        let guard = self.locks.word_of_core(core, self.cores.len());
        let own = core as u32;
        let Some((caller, call)) = caller.and_then(|caller| Some((caller, self.calls.get(caller)?.call?)))
        else {
            if let Some(state) = self.cores.get_mut(core) {
                state.serves = false;
            }
            self.read(core, Variable::RemoteServing(own), 0);
            self.leave(core, Function::RemoteServe);
            return self.leave_handler(core);
        };
        if let Some(state) = self.cores.get_mut(core) {
            state.serves = true;
        }
        let of_caller = caller as u32;
        self.op(core, Op::Decide(Decision::Spin(Spin { word: guard, lock: None, asked: false })));
        self.read(core, Variable::ShutdownAll, 0);
        self.write(core, Variable::RemoteServing(own), 1);
        self.read(core, Variable::RemoteServer(of_caller), own);
        self.op(core, Op::Decide(Decision::Free(Free { word: guard, lock: None })));
        self.read(core, Variable::RemoteProcedure(of_caller), procedure(call));
        self.read(core, Variable::RemoteParameter(of_caller, 1), self.id(call.task()));
        self.read(core, Variable::RemoteParameter(of_caller, 2), second_parameter(call));
        let error = match call {
            Call::Activate { task, by } => {
                self.enter(core, Function::Service(Service::ActivateTask));
                self.write(core, Variable::ServiceTrace, Service::ActivateTask.entry_code());
                self.activate_in_service(core, task, by)
            }
            Call::SetEvent { task, mask, by } => {
                self.enter(core, Function::Service(Service::SetEvent));
                self.write(core, Variable::ServiceTrace, Service::SetEvent.entry_code());
                self.set_event_in_service(core, task, mask, by)
            }
        };
        self.write(core, Variable::RemoteError(of_caller), error as u32);
        self.op(core, Op::Decide(Decision::Spin(Spin { word: guard, lock: None, asked: false })));
        self.op(core, Op::Decide(Decision::Served { caller, error: error as u32 }));
        self.read(core, Variable::ShutdownAll, 0);
        self.write(core, Variable::RemoteServing(own), 0);
        self.op(core, Op::Decide(Decision::Free(Free { word: guard, lock: None })));
        self.op(core, Op::Decide(Decision::Serve));
    }

    /// The caller may go on.
    pub(super) fn served(&mut self, core: usize, caller: usize, error: u32) {
        if let Some(mailbox) = self.calls.get_mut(caller) {
            *mailbox = Mailbox { server: None, call: None, error };
        }
        self.record(core, Variable::RemoteServer(caller as u32), true, NONE);
        let now = self.time(core);
        if let Some(state) = self.cores.get_mut(caller) {
            state.time = state.time.min(now.max(state.since));
        }
    }
}

/// The number of a service in a mailbox.
fn procedure(call: Call) -> u32 {
    match call {
        Call::Activate { .. } => 1,
        Call::SetEvent { .. } => 9,
    }
}

/// What a service is for, apart from its task.
fn second_parameter(call: Call) -> u32 {
    match call {
        Call::Activate { .. } => NONE,
        Call::SetEvent { mask, .. } => mask,
    }
}
