//! The services for tasks and events, on the core of their task: what they check, change and access, in
//! the order of ERIKA. Not calls to another core (see `remote`), nor locks (see `locks`).

use super::access::{Function, Recorder, Service, StatusType, Variable};
use super::effect::{Change, Effect, Observer, Process, Stimulus};
use super::locks::Asks;
use super::ready::NONE;
use super::task::Status;
use super::{Decision, Kernel, Op};
use std::collections::VecDeque;

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// The acting process of a core.
    pub(super) fn acting(&self, core: usize) -> Process {
        let frame = self.cores.get(core).and_then(|core| core.frames.last());
        match (frame, self.running(core)) {
            (Some(frame), _) => Process::Handler(frame.handler),
            (None, Some(task)) => Process::Task(task),
            (None, None) => Process::Nobody,
        }
    }

    pub(super) fn enter_service(&mut self, core: usize, service: Service) {
        self.write(core, Variable::ServiceTrace, service.entry_code());
        self.pause(core, self.os().service);
    }

    /// What leaves a service, when the process goes on.
    pub(super) fn leaving(&self, service: Service) -> VecDeque<Op> {
        let mut ops = VecDeque::new();
        if self.os().service > 0 {
            ops.push_back(Op::Pause(self.os().service));
        }
        let value = service.entry_code() - 1;
        ops.push_back(Op::Data { variable: Variable::ServiceTrace, write: true, value });
        ops.push_back(Op::Function(Function::Service(service), false));
        ops
    }

    pub(super) fn fail(&mut self, core: usize, error: StatusType) {
        self.counts.errors += 1;
        self.write(core, Variable::LastError, error as u32);
    }

    /// How many handlers the kernel knows of.
    pub(super) fn nesting(&self, core: usize) -> u32 {
        let known = |core: &super::core::Core| core.frames.iter().filter(|frame| !frame.category1).count();
        self.cores.get(core).map_or(0, |core| known(core) as u32)
    }

    /// `ActivateTask` for a task of this core.
    pub(super) fn activate_task(&mut self, core: usize, task: usize) {
        let by = Stimulus::By(self.acting(core));
        self.enter(core, Function::Service(Service::ActivateTask));
        self.effect(core, Effect::Trigger(by));
        self.enter_service(core, Service::ActivateTask);
        self.activate_in_service(core, task, by);
    }

    /// The rest of `ActivateTask`, also for another core.
    pub(super) fn activate_in_service(&mut self, core: usize, task: usize, by: Stimulus) -> StatusType {
        let leaving = self.leaving(Service::ActivateTask);
        if !self.activate(core, task, by) {
            self.append(core, leaving);
            return StatusType::Limit;
        }
        self.leave_with_schedule(core, leaving);
        StatusType::Ok
    }

    /// The end of a service that may have made a task ready: a task gives the core to it, a handler does
    /// not.
    fn leave_with_schedule(&mut self, core: usize, leaving: VecDeque<Op>) {
        let nesting = self.nesting(core);
        self.read(core, Variable::NestingLevel, nesting);
        if nesting == 0 {
            self.read_running(core);
            self.schedule_in_service(core, leaving);
        } else {
            self.append(core, leaving);
        }
    }

    /// Activates a task, unless it has as many activations as it may have.
    pub(super) fn activate(&mut self, core: usize, task: usize, by: Stimulus) -> bool {
        let Some(state) = self.tasks.get_mut(task) else { return false };
        let (id, remaining) = (state.id, state.remaining);
        self.read(core, Variable::Remaining(id), remaining);
        if remaining == 0 {
            self.effect(core, Effect::Refuse { task, by });
            self.fail(core, StatusType::Limit);
            return false;
        }
        self.count_activation(core, task, by);
        self.become_active(core, task);
        true
    }

    /// Counts an activation that is admitted.
    fn count_activation(&mut self, core: usize, task: usize, by: Stimulus) {
        let Some(state) = self.tasks.get_mut(task) else { return };
        state.remaining = state.remaining.wrapping_sub(1);
        let (id, remaining) = (state.id, state.remaining);
        self.effect(core, Effect::Activate { task, by });
        self.write(core, Variable::Remaining(id), remaining);
    }

    /// Puts an activation into the ready queue.
    fn become_active(&mut self, core: usize, task: usize) {
        let Some(state) = self.tasks.get_mut(task) else { return };
        let (id, status) = (state.id, state.status);
        if status == Status::Suspended {
            state.status = Status::Ready;
            state.active = 0;
        }
        self.read(core, Variable::Status(id), status as u32);
        if status == Status::Suspended {
            self.write(core, Variable::Status(id), Status::Ready as u32);
            self.write(core, Variable::EventActive(id), 0);
        }
        self.insert_ready(core, task);
    }

    /// The checks that services which end or stop a task begin with.
    fn check_task_level(&mut self, core: usize, task: usize) {
        let last_resource = self.last_resource(task);
        let (id, nesting) = (self.id(task), self.nesting(core));
        let last_spinlock = self.last_spinlock(core);
        self.read_running(core);
        self.read(core, Variable::NestingLevel, nesting);
        self.read(core, Variable::LastResource(id), last_resource);
        self.read(core, Variable::LastSpinlock(core as u32), last_spinlock);
    }

    pub(super) fn read_running(&mut self, core: usize) {
        let running = self.running(core).map_or(NONE, |task| self.id(task));
        self.read(core, Variable::FirstTask, running);
    }

    /// `TerminateTask`.
    pub(super) fn terminate_task(&mut self, core: usize) {
        let Some(task) = self.running(core) else { return };
        let id = self.id(task);
        self.enter(core, Function::Service(Service::TerminateTask));
        self.write(core, Variable::ServiceTrace, Service::TerminateTask.entry_code());
        self.pause(core, self.os().service);
        self.check_task_level(core, task);
        self.write(core, Variable::ChainedTask(id), NONE);
        self.pause(core, self.os().service);
        self.write(core, Variable::ServiceTrace, Service::TerminateTask.entry_code() - 1);
        self.end_task(core, task);
    }

    /// A task falls off the end of its body.
    pub(super) fn fall_off(&mut self, core: usize) {
        let Some(task) = self.running(core) else { return };
        self.leave(core, Function::Task(task as u32));
        self.end_task(core, task);
    }

    /// `ChainTask` for a task of this core.
    pub(super) fn chain_task(&mut self, core: usize, next: usize) {
        let Some(task) = self.running(core) else { return };
        let by = Stimulus::By(Process::Task(task));
        let (id, next_id) = (self.id(task), self.id(next));
        self.enter(core, Function::Service(Service::ChainTask));
        self.effect(core, Effect::Trigger(by));
        self.enter_service(core, Service::ChainTask);
        self.check_task_level(core, task);
        let remaining = self.tasks.get(next).map_or(0, |task| task.remaining);
        self.read(core, Variable::Remaining(next_id), remaining);
        if remaining == 0 && next != task {
            self.effect(core, Effect::Refuse { task: next, by });
            self.fail(core, StatusType::Limit);
            let leaving = self.leaving(Service::ChainTask);
            return self.append(core, leaving);
        }
        self.count_activation(core, next, by);
        if let Some(state) = self.tasks.get_mut(task) {
            state.chained = Some(next);
        }
        self.write(core, Variable::ChainedTask(id), next_id);
        self.pause(core, self.os().service);
        self.write(core, Variable::ServiceTrace, Service::ChainTask.entry_code() - 1);
        self.end_task(core, task);
    }

    /// The end of a task, and what runs next.
    fn end_task(&mut self, core: usize, task: usize) {
        let id = self.id(task);
        let Some(state) = self.tasks.get_mut(task) else { return };
        let (before, chained, most) = (state.remaining, state.chained.take(), state.most);
        state.remaining = state.remaining.wrapping_add(1);
        state.begun = false;
        state.asks = Asks::default();
        // A task that chains itself is suspended in between.
        let is_pending = state.remaining < most && chained != Some(task);
        state.status = if is_pending { Status::Ready } else { Status::Suspended };
        let (after, status) = (state.remaining, state.status);
        self.enter(core, Function::ThreadEnd);
        self.read_running(core);
        self.write(core, Variable::InterruptsDisabled, 0);
        self.read(core, Variable::Remaining(id), before);
        self.write(core, Variable::Remaining(id), after);
        let chained_id = chained.map_or(NONE, |task| self.id(task));
        self.read(core, Variable::ChainedTask(id), chained_id);
        self.read(core, Variable::RemainingMax(id), most);
        self.effect(core, Effect::Change(Process::Task(task), Change::Terminate));
        self.write(core, Variable::Status(id), status as u32);
        self.leave_stack(core, task);
        if let Some(next) = chained {
            self.become_active(core, next);
        }
        self.run_next(core, false);
    }

    /// `WaitEvent`.
    pub(super) fn wait_event(&mut self, core: usize, events: &[usize]) {
        let Some(task) = self.running(core) else { return };
        let (id, mask) = (self.id(task), self.mask(events));
        self.enter(core, Function::Service(Service::WaitEvent));
        self.enter_service(core, Service::WaitEvent);
        self.check_task_level(core, task);
        let Some(state) = self.tasks.get_mut(task) else { return };
        let active = state.active;
        let mut leaving = VecDeque::new();
        let waits = active & mask == 0;
        if waits {
            state.wait_mask = mask;
            state.status = Status::Waiting;
            leaving.push_back(Op::Data { variable: Variable::EventWaitMask(id), write: true, value: 0 });
        }
        leaving.extend(self.leaving(Service::WaitEvent));
        self.read(core, Variable::EventActive(id), active);
        if !waits {
            return self.append(core, leaving);
        }
        if let Some(state) = self.tasks.get_mut(task) {
            state.was_waiting = true;
            state.later = leaving;
        }
        for event in self.events_of(mask, task) {
            self.effect(core, Effect::WaitEvent { task, event });
        }
        self.write(core, Variable::EventWaitMask(id), mask);
        self.effect(core, Effect::Change(Process::Task(task), Change::Wait));
        self.write(core, Variable::Status(id), Status::Waiting as u32);
        self.leave_stack_to_wait(core, task);
        self.run_next(core, true);
    }

    fn leave_stack_to_wait(&mut self, core: usize, task: usize) {
        // As `leave_stack`, with the mark that it waited before the stack changes.
        let id = self.id(task);
        let place = self.cores.get(core).map_or(0, |core| core.ops.len());
        self.leave_stack(core, task);
        if let Some(core) = self.cores.get_mut(core) {
            let op = Op::Data { variable: Variable::WasWaiting(id), write: true, value: 1 };
            core.ops.insert((place + 3).min(core.ops.len()), op);
        }
    }

    /// `SetEvent` for a task of this core.
    pub(super) fn set_event(&mut self, core: usize, task: usize, mask: u32) {
        let by = Stimulus::By(self.acting(core));
        self.enter(core, Function::Service(Service::SetEvent));
        self.enter_service(core, Service::SetEvent);
        self.set_event_in_service(core, task, mask, by);
    }

    /// The rest of `SetEvent`, also for another core.
    pub(super) fn set_event_in_service(
        &mut self,
        core: usize,
        task: usize,
        mask: u32,
        by: Stimulus,
    ) -> StatusType {
        let leaving = self.leaving(Service::SetEvent);
        let error = self.raise_events(core, task, mask, by);
        if error != StatusType::Ok {
            self.fail(core, error);
            self.append(core, leaving);
            return error;
        }
        self.leave_with_schedule(core, leaving);
        StatusType::Ok
    }

    /// Sets events, and releases a task that waits for one of them.
    pub(super) fn raise_events(&mut self, core: usize, task: usize, mask: u32, by: Stimulus) -> StatusType {
        let Some(state) = self.tasks.get_mut(task) else { return StatusType::State };
        let (id, status, active, wait_mask) = (state.id, state.status, state.active, state.wait_mask);
        let is_alive = status != Status::Suspended;
        let released = status == Status::Waiting && wait_mask & mask != 0;
        if is_alive {
            state.active |= mask;
        }
        if released {
            state.status = Status::Ready;
        }
        self.read(core, Variable::Status(id), status as u32);
        if !is_alive {
            return StatusType::State;
        }
        self.read(core, Variable::EventActive(id), active);
        for event in self.events_of(mask & !active, task) {
            self.effect(core, Effect::SetEvent { by, task, event });
        }
        self.write(core, Variable::EventActive(id), active | mask);
        self.read(core, Variable::EventWaitMask(id), wait_mask);
        if released {
            let event = self.events_of(mask & wait_mask, task).first().copied();
            let note = self.note_freed(core, task, event, by);
            self.op(core, Op::Effect(Effect::Change(Process::Task(task), Change::Release), note));
            self.write(core, Variable::Status(id), Status::Ready as u32);
            self.insert_ready(core, task);
        }
        StatusType::Ok
    }

    /// `ClearEvent`.
    pub(super) fn clear_event(&mut self, core: usize, events: &[usize]) {
        let Some(task) = self.running(core) else { return };
        let mask = self.mask(events);
        self.enter(core, Function::Service(Service::ClearEvent));
        self.enter_service(core, Service::ClearEvent);
        self.read_running(core);
        let nesting = self.nesting(core);
        self.read(core, Variable::NestingLevel, nesting);
        let Some(state) = self.tasks.get_mut(task) else { return };
        let (id, active) = (state.id, state.active);
        state.active &= !mask;
        self.read(core, Variable::EventActive(id), active);
        for event in self.events_of(mask & active, task) {
            self.effect(core, Effect::ClearEvent { task, event });
        }
        self.write(core, Variable::EventActive(id), active & !mask);
        let leaving = self.leaving(Service::ClearEvent);
        self.append(core, leaving);
    }

    /// `Schedule`: also a task that cannot be preempted gives the core away.
    pub(super) fn schedule_service(&mut self, core: usize) {
        let Some(task) = self.running(core) else { return };
        self.enter(core, Function::Service(Service::Schedule));
        self.enter_service(core, Service::Schedule);
        let ceiling = self.ceiling(core);
        let Some((own, runs_at)) = self.tasks.get(task).map(|task| (task.bit(), task.dispatch_bit())) else {
            return;
        };
        let mut leaving = self.leaving(Service::Schedule);
        if own != runs_at {
            self.set_ceiling(core, ceiling & !runs_at | own);
            leaving.push_front(Op::Decide(Decision::Ceiling(ceiling)));
        }
        self.schedule_in_service(core, leaving);
    }

    /// The bits of events.
    pub(super) fn mask(&self, events: &[usize]) -> u32 {
        events
            .iter()
            .filter_map(|event| self.model.events.get(*event))
            .fold(0, |mask, event| mask | event.mask)
    }

    /// The events of a task in a mask, the lowest bit first.
    fn events_of(&self, mask: u32, task: usize) -> Vec<usize> {
        let bit = |event: &usize| self.model.events.get(*event).map_or(0, |event| event.mask);
        let of_task = self.model.tasks.get(task).map(|task| task.events.as_slice()).unwrap_or_default();
        let mut set: Vec<usize> = of_task.iter().copied().filter(|event| bit(event) & mask != 0).collect();
        set.sort_unstable_by_key(bit);
        set
    }
}
