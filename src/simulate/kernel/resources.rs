//! The services for OSEK resources. A resource of several cores has the word of a lock as well (see
//! `locks`). Not which cores use it (see `layout`), nor spinlocks.

use super::access::{Function, Recorder, Service, Variable};
use super::effect::{Effect, Lock, Observer, Process};
use super::locks::{Free, Spin};
use super::ready::NONE;
use super::task::Held;
use super::{Decision, Kernel, Op};

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// The resource that a task took last, by its number on its core.
    pub(super) fn last_resource(&self, task: usize) -> u32 {
        let Some(state) = self.tasks.get(task) else { return NONE };
        state.resources.last().map_or(NONE, |held| self.resource_id(state.core, held.resource))
    }

    fn resource_id(&self, core: usize, resource: usize) -> u32 {
        let place = self.locks.layout(resource).and_then(|layout| *layout.cores.get(core)?);
        place.map_or(NONE, |(id, _)| id)
    }

    /// `GetResource`.
    pub(super) fn get_resource(&mut self, core: usize, resource: usize) {
        let Some(task) = self.running(core) else { return };
        let Some(layout) = self.locks.layout(resource).cloned() else { return };
        let Some((id, rank)) = layout.cores.get(core).copied().flatten() else { return };
        let (nesting, below, ceiling) = (self.nesting(core), self.last_resource(task), self.ceiling(core));
        let Some(state) = self.tasks.get_mut(task) else { return };
        let (task_id, priority) = (state.id, state.priority);
        let bit = 1 << rank;
        state.resources.push(Held { resource, ceiling, priority });
        state.priority = priority.max(bit);
        let raised = state.priority;
        self.enter(core, Function::Service(Service::GetResource));
        self.read_running(core);
        self.read(core, Variable::NestingLevel, nesting);
        self.enter_service(core, Service::GetResource);
        self.read(core, Variable::ResourceLocked(id), 0);
        self.read(core, Variable::LastResource(task_id), below);
        self.write(core, Variable::ResourceBelow(id), below);
        self.write(core, Variable::LastResource(task_id), id);
        let lock = Lock::Resource(resource);
        if layout.word.is_none() {
            self.set_owner(lock, Some(Process::Task(task)));
            let by = Process::Task(task);
            let effect = Effect::Lock { by, lock, waited: false, polls: false, others: false };
            self.effect(core, effect);
        }
        self.write(core, Variable::ResourceLocked(id), 1);
        self.write(core, Variable::ResourceLocker(id), task_id);
        self.read(core, Variable::Ceiling, ceiling);
        self.write(core, Variable::ResourceOldCeiling(id), ceiling);
        self.set_ceiling(core, ceiling | bit);
        self.read(core, Variable::Priority(task_id), priority);
        self.write(core, Variable::ResourceOldPriority(id), priority);
        if raised != priority {
            self.write(core, Variable::Priority(task_id), raised);
        }
        if let Some(word) = layout.word {
            self.op(core, Op::Decide(Decision::Spin(Spin { word, lock: Some(lock), asked: false })));
        }
        let leaving = self.leaving(Service::GetResource);
        self.append(core, leaving);
    }

    /// `ReleaseResource`.
    pub(super) fn release_resource(&mut self, core: usize, resource: usize) {
        let Some(task) = self.running(core) else { return };
        let Some(layout) = self.locks.layout(resource).cloned() else { return };
        let Some((id, _)) = layout.cores.get(core).copied().flatten() else { return };
        let (nesting, last) = (self.nesting(core), self.last_resource(task));
        let Some(state) = self.tasks.get_mut(task) else { return };
        let task_id = state.id;
        let Some(held) = state.resources.pop() else { return };
        state.priority = held.priority;
        let below = self.last_resource(task);
        self.enter(core, Function::Service(Service::ReleaseResource));
        self.read_running(core);
        self.read(core, Variable::NestingLevel, nesting);
        self.enter_service(core, Service::ReleaseResource);
        self.read(core, Variable::ResourceLocked(id), 1);
        self.read(core, Variable::LastResource(task_id), last);
        self.read(core, Variable::ResourceBelow(id), below);
        self.write(core, Variable::LastResource(task_id), below);
        let lock = Lock::Resource(resource);
        if layout.word.is_none() {
            self.set_owner(lock, None);
            self.effect(core, Effect::Unlock(Process::Task(task), lock, false));
        }
        self.write(core, Variable::ResourceLocked(id), 0);
        if let Some(word) = layout.word {
            self.op(core, Op::Decide(Decision::Free(Free { word, lock: Some(lock) })));
        }
        self.read(core, Variable::ResourceOldCeiling(id), held.ceiling);
        self.set_ceiling(core, held.ceiling);
        self.read(core, Variable::ResourceOldPriority(id), held.priority);
        self.write(core, Variable::Priority(task_id), held.priority);
        self.read_running(core);
        let leaving = self.leaving(Service::ReleaseResource);
        self.schedule_in_service(core, leaving);
    }
}
