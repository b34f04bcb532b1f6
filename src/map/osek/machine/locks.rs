//! Rules for semaphores and for polling them: ORTI resources, and the spinlocks of global resources (S2–S10,
//! P1–P11, H4 to H6; docs/mapping.md).

use super::state::{Actor, Edge, Proc};
use super::{Machine, Severity};
use crate::btf::{Action, EntityType, State as ProcessState};
use crate::description::profile::LockBy;
use crate::map::Output;
use crate::map::osek::model::Service;

impl Machine {
    /// RESOURCE.STATE of a resource of this core may have changed (rules S3, S6).
    pub(super) fn resource_state(&mut self, core: usize, s: usize, write: bool) {
        let model = &self.model.sems[s];
        let Some(value) = self.model.value(&model.state) else { return };
        let unlocked = model.is_unlocked(value);
        self.touched(core, s);
        if self.model.profile.rules.lock_by == LockBy::Locker && self.model.sems[s].locker.is_some() {
            return;
        }
        if std::mem::take(&mut self.sems[s].unknown) {
            // Before a write, the state was the opposite; a lock taken unseen belongs to the process that
            // gives it back (rule L5).
            let given_back = unlocked && write && self.proc(core).is_some();
            self.sems[s].locked = if write { given_back } else { !unlocked };
        }
        if !unlocked && !self.sems[s].locked {
            let p = self.proc(core);
            self.lock(s, p);
        } else if unlocked && self.sems[s].locked {
            self.unlock(core, s);
        }
    }

    /// RESOURCE.LOCKER of a resource may have changed (rules S2, S6).
    pub(super) fn resource_locker(&mut self, core: usize, s: usize, write: bool) {
        let model = &self.model.sems[s];
        let Some(value) = self.model.value(&model.locker) else { return };
        self.touched(core, s);
        if self.model.profile.rules.lock_by != LockBy::Locker
            || self.sems[s].locker.replace(value) == Some(value)
        {
            return;
        }
        let p = self.locker(core, s, value);
        if std::mem::take(&mut self.sems[s].unknown) {
            // Rule L5, as for STATE.
            let given_back = p.is_none() && write && self.proc(core).is_some();
            self.sems[s].locked = if write { given_back } else { p.is_some() };
            if !write {
                return;
            }
        }
        match p {
            None if self.sems[s].locked => self.unlock(core, s),
            Some(p) if !self.sems[s].locked => self.lock(s, p),
            // Locked before the trace began: now the owner is known.
            Some(p) if self.sems[s].owner.is_none() => self.sems[s].owner = p.map(|p| self.actor(p)),
            Some(p) if p.map(|p| self.actor(p)) != self.sems[s].owner => {
                // Passed on without a visible release.
                self.unlock(core, s);
                self.lock(s, p);
            }
            _ => {}
        }
    }

    /// Rule S9: the process that a value of LOCKER stands for, if any. The label of the value names it.
    /// Generators leave ISRs out of the enumeration, and some also the value for "none": then STATE decides
    /// between the two, and the process is the one on the core. A label that names no task of the OS also
    /// means the process on the core.
    fn locker(&self, core: usize, s: usize, value: i64) -> Option<Option<Proc>> {
        let model = &self.model.sems[s];
        let Some(label) = model.lockers.get(&value) else {
            let state = self.model.value(&model.state);
            let locked = state.is_some_and(|v| !model.is_unlocked(v));
            return (locked && !model.no_locker.contains(&value)).then(|| self.proc(core));
        };
        let image = self.model.cores[core].image;
        let named = |t: &usize| self.model.tasks[*t].core == image && self.model.task_name_is(*t, label);
        Some((0..self.tasks.len()).find(named).map(Proc::Task).or_else(|| self.proc(core)))
    }

    /// Nothing of `core` is known until `end` (rule H4), including locks that only it uses or may hold.
    pub(super) fn locks_in_gap(&mut self, core: usize, end: i64) {
        let image = self.model.cores[core].image;
        let lost = |machine: &Self, actor: Actor| {
            let is_hidden = |p| match p {
                Proc::Task(t) => machine.model.tasks[t].core == image && machine.is_hidden(t),
                Proc::Isr(..) => false,
            };
            machine.process_of(actor).is_none_or(|p| machine.core_of(p) == core || is_hidden(p))
        };
        for s in 0..self.sems.len() {
            let model = &self.model.sems[s];
            let own = !model.spin && self.model.cores[model.core].image == image;
            let owner_lost = self.sems[s].owner.is_none_or(|o| lost(self, o));
            let waiters = self.sems[s].waiters.iter().filter(|w| !lost(self, **w)).copied().collect();
            let sem = &mut self.sems[s];
            sem.waiters = waiters;
            sem.unseen_until = sem.unseen_until.max(Some(end).filter(|_| model.spin));
            if own || owner_lost {
                sem.overfull = !sem.waiters.is_empty();
                (sem.unknown, sem.locked, sem.owner, sem.locker) = (true, false, None, None);
            }
            if model.spin || own || owner_lost {
                for waiter in self.sems[s].waiters.clone() {
                    self.lose_parked(waiter);
                }
            }
        }
    }

    /// A process that parks may become ready unseen, because a core in a gap can free the lock (rule H6).
    fn lose_parked(&mut self, waiter: Actor) {
        let parked = self.process_of(waiter).filter(|p| self.state(*p) == ProcessState::Parking);
        if let Some(p) = parked {
            self.context(Some(p), 0).may_poll = true;
            self.out.push(Output::Lost { process: waiter, time: self.now });
        }
    }

    /// The same for a process that begins to park while a core is in a gap.
    pub(super) fn parks(&mut self, p: Proc) {
        let waits_for = self.context(Some(p), 0).waits_for;
        if waits_for.is_some_and(|s| self.sems[s].unseen_until.is_some_and(|end| end > self.now)) {
            self.lose_parked(self.actor(p));
        }
    }

    fn touched(&mut self, core: usize, s: usize) {
        let p = self.proc(core);
        self.context(p, core).touched = Some(s);
    }

    /// Rule S4: an access to a word of the spinlock array: 0 free, 1 taken, by compare-and-swap.
    pub(super) fn spinlock(&mut self, core: usize, s: usize, write: bool, value: i64) {
        let p = self.proc(core);
        if !write {
            if self.sems[s].unknown {
                self.sems[s].unknown = false;
                self.sems[s].locked = value != 0;
            }
            if value != 0 && !self.sems[s].locked {
                // Rule H5: taken in a gap, or by a core of which there is no recording.
                let name = self.sems[s].name;
                self.sems[s].locked = true;
                self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Lock);
            }
            if value != 0 {
                self.refused_by_spin(core, s, p);
            } else if self.sems[s].locked {
                // Rule H5: given back in a gap, by an unknown process.
                self.sems[s].owner = None;
                self.freed(s);
            }
            return;
        }
        if self.sems[s].unseen_until.is_some_and(|end| end <= self.now) {
            self.sems[s].unseen_until = None;
        }
        if value != 0 && !self.sems[s].locked {
            self.sems[s].unknown = false;
            self.lock(s, p);
        } else if value == 0 && (self.sems[s].locked || self.sems[s].unknown) {
            // Rule L5: a lock taken before the trace or in a gap belongs to the process that gives it back.
            self.sems[s].unknown = false;
            self.unlock(core, s);
        }
    }

    /// Rules P1 and P3: a refused TryToGetSpinlock is remembered, and a second one is polling; any other
    /// service that reads a taken lock spins, which is polling by definition.
    fn refused_by_spin(&mut self, core: usize, s: usize, p: Option<Proc>) {
        let Some(p) = p else { return };
        if self.sems[s].owner == Some(self.actor(p)) {
            return;
        }
        let context = self.context(Some(p), core);
        if context.inside(Service::TryLock) && !context.refused.contains(&s) {
            context.refused.push(s);
        } else {
            self.poll(p, s);
        }
    }

    /// Rules P1 and P2: the refused resource is the one whose lock the service accessed last (rule P6).
    pub(super) fn refused_by_error(&mut self, p: Proc) {
        let core = self.core_of(p);
        let Some(s) = self.context(Some(p), core).touched.filter(|s| self.sems[*s].locked) else { return };
        if self.sems[s].owner == Some(self.actor(p)) {
            return;
        }
        let context = self.context(Some(p), core);
        if context.refused.contains(&s) {
            self.poll(p, s);
        } else {
            context.refused.push(s);
        }
    }

    /// Rule P4. A registered waiter already polls again, without a new request (rule P5).
    fn poll(&mut self, p: Proc, s: usize) {
        if self.state(p) != ProcessState::Running {
            return;
        }
        self.claim(s);
        let (actor, name) = (self.actor(p), self.sems[s].name);
        let core = self.core_of(p);
        if self.context(Some(p), core).may_poll {
            // Rule L8: when it asked is not known.
            if !std::mem::replace(&mut self.sems[s].overfull, true) {
                self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Overfull);
            }
            self.sems[s].waiters.retain(|waiter| *waiter != actor);
            self.sems[s].waiters.push(actor);
            self.context(Some(p), core).waits_for = Some(s);
            self.set_state(p, ProcessState::Polling);
            return self.settle_polling(p);
        }
        if !self.sems[s].waiters.contains(&actor) {
            self.emit(actor, EntityType::Semaphore, (name, 0), Action::RequestSemaphore);
            self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Overfull);
            self.emit(actor, EntityType::Semaphore, (name, 0), Action::Waiting);
            self.sems[s].overfull = true;
            self.sems[s].waiters.push(actor);
        }
        self.context(Some(p), core).waits_for = Some(s);
        self.process(p, Action::Poll);
        self.set_state(p, ProcessState::Polling);
    }

    /// Rule S8: a resource that generators list for every core belongs to the core that uses it first. If a
    /// second core uses its own lock of that name, its name gets the core as prefix, so that names stay
    /// unique.
    fn claim(&mut self, s: usize) {
        if std::mem::replace(&mut self.sems[s].used, true) {
            return;
        }
        let name = self.sems[s].name;
        if self.sems.iter().enumerate().any(|(n, other)| n != s && other.used && other.name == name) {
            let core = self.cores[self.model.sems[s].core].name;
            let own = format!("{}.{}", self.name(core), self.name(name));
            let own = self.model.names.intern(&own);
            self.sems[s].name = own;
            self.emit((own, 0), EntityType::Semaphore, (own, 0), Action::Ready);
        }
    }

    /// The events of locking a semaphore (rules S2–S4), also by a waiter (rules S5, P8).
    fn lock(&mut self, s: usize, p: Option<Proc>) {
        self.claim(s);
        let name = self.sems[s].name;
        let actor = self.actor_or_sim(p);
        let waited = self.sems[s].waiters.contains(&actor);
        let may_have_asked = p.is_some_and(|p| self.context(Some(p), 0).may_poll);
        if !waited && !may_have_asked {
            self.emit(actor, EntityType::Semaphore, (name, 0), Action::RequestSemaphore);
        }
        self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Lock);
        self.emit(actor, EntityType::Semaphore, (name, 0), Action::Assigned);
        self.sems[s].waiters.retain(|w| *w != actor);
        self.sems[s].locked = true;
        self.sems[s].owner = Some(actor);
        self.sems[s].overfull = !self.sems[s].waiters.is_empty();
        if self.sems[s].overfull {
            self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Overfull);
        }
        let Some(p) = p else { return };
        let core = self.core_of(p);
        let context = self.context(Some(p), core);
        context.refused.clear();
        context.waits_for = None;
        self.run(p);
    }

    /// Rule P8.
    fn run(&mut self, p: Proc) {
        if self.state(p) == ProcessState::Polling {
            self.process(p, Action::Run);
            self.set_state(p, ProcessState::Running);
        }
        self.settle_polling(p);
    }

    /// Rule P8: a GetResource that returned without an error got the resource.
    pub(super) fn polling_ended_by_success(&mut self, p: Proc) {
        if self.model.profile.rules.poll_by_error {
            self.run(p);
        }
    }

    /// Rule P8: a process that calls another service no longer polls.
    pub(super) fn polling_ended_by_other_service(&mut self, p: Option<Proc>) {
        if let Some(p) = p.filter(|_| self.model.profile.rules.poll_by_error) {
            self.run(p);
        }
    }

    /// Rule S6. A semaphore with waiters is OVERFULL, without an `unlock`: it becomes FULL first (rule S7).
    fn unlock(&mut self, core: usize, s: usize) {
        self.claim(s);
        let name = self.sems[s].name;
        let owner = self.sems[s].owner.take();
        let owner = owner.unwrap_or_else(|| self.actor_on(core));
        self.emit(owner, EntityType::Semaphore, (name, 0), Action::Released);
        self.freed(s);
    }

    /// The semaphore is free; parking waiters become ready (rule P11).
    fn freed(&mut self, s: usize) {
        let name = self.sems[s].name;
        if self.sems[s].overfull {
            self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Full);
        }
        self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Unlock);
        self.sems[s].locked = false;
        self.sems[s].overfull = false;
        for waiter in self.sems[s].waiters.clone() {
            match self.process_of(waiter) {
                Some(p) if self.state(p) == ProcessState::Parking => {
                    // Rule H6: it may have been released before, unseen.
                    if !self.context(Some(p), 0).may_poll {
                        self.process(p, Action::ReleaseParking);
                    }
                    self.set_state(p, ProcessState::Ready);
                    self.settle_polling(p);
                }
                Some(_) => {}
                None => {
                    self.report(Severity::Warning, "lost-waiter", "a waiter of a semaphore is gone".into())
                }
            }
        }
    }

    fn process_of(&self, actor: Actor) -> Option<Proc> {
        let tasks = (0..self.tasks.len()).map(Proc::Task);
        let isrs =
            (0..self.cores.len()).flat_map(|c| (0..self.cores[c].isrs.len()).map(move |n| Proc::Isr(c, n)));
        tasks.chain(isrs).find(|p| self.actor(*p) == actor && self.state(*p) != ProcessState::Terminated)
    }

    /// A lock is known at the left edge if its first access is a read, or gives it back (rule L5).
    pub(super) fn lock_at_left_edge(&mut self, s: usize, edge: &Edge) {
        use crate::map::osek::slots::Role;
        let slots = &self.model.slots;
        let spin = (0..slots.len()).find(|i| slots.slot(*i).roles.contains(&Role::Spin(s)));
        let spin = spin.and_then(|i| slots.value(i)).filter(|_| self.model.sems[s].spin);
        let state = self.model.sems[s].state.as_ref().and_then(|a| a.value(slots));
        let state = state.map(|v| !self.model.sems[s].is_unlocked(v));
        let held = edge.held.contains(&s).then_some(true);
        let known = spin.map(|v| v != 0).or(state).or(held);
        self.sems[s].unknown = known.is_none();
        self.sems[s].locked = known.unwrap_or(false);
    }

    /// Locks that are taken when the recording begins.
    pub(super) fn show_locks_at_left_edge(&mut self) {
        for s in 0..self.sems.len() {
            if self.sems[s].locked {
                self.claim(s);
                let name = self.sems[s].name;
                self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Lock);
            }
        }
    }
}
