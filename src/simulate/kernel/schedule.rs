//! The scheduler of a core: ready tasks, the stack of running ones, dispatching and preemption. The order
//! of accesses is that of ERIKA's `EE_rq_insert`, `EE_rq_queryfirst` and `EE_rq2stk_exchange`. Not the
//! services that call it (see `services`).

use super::access::{Function, Recorder, Variable};
use super::effect::{Change, Effect, Observer, Process};
use super::ready::NONE;
use super::task::Status;
use super::{Kernel, Op};
use std::collections::VecDeque;

/// What makes a task run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The start of the OS: no task can have waited before.
    Start,
    /// A service of another task.
    Service,
    /// The end of a task or of an interrupt.
    End,
}

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// Adds an activation of a task to the ready queue, behind those of its priority.
    pub(super) fn insert_ready(&mut self, core: usize, task: usize) {
        let Some((id, rank)) = self.tasks.get(task).map(|task| (task.id, task.rank)) else { return };
        let Some(queue) = self.cores.get_mut(core).map(|core| &mut core.ready) else { return };
        let pair = queue.free;
        let Some(after) = queue.next.get(pair as usize).copied() else { return };
        let tail = queue.tails.get(rank as usize).copied().unwrap_or(NONE);
        let ranks = queue.ranks;
        queue.free = after;
        set(&mut queue.tasks, pair, task as u32);
        set(&mut queue.next, pair, NONE);
        set(&mut queue.tails, rank, pair);
        if tail == NONE {
            queue.ranks |= 1 << rank;
            set(&mut queue.heads, rank, pair);
        } else {
            set(&mut queue.next, tail, pair);
        }
        self.enter(core, Function::ReadyInsert);
        self.read(core, Variable::Rank(id), rank);
        self.read(core, Variable::ReadyFree, pair);
        self.read(core, Variable::PairNext(pair), after);
        self.write(core, Variable::ReadyFree, after);
        self.write(core, Variable::PairTask(pair), id);
        self.write(core, Variable::PairNext(pair), NONE);
        self.read(core, Variable::ReadyTail(rank), tail);
        if tail == NONE {
            self.read(core, Variable::ReadyRanks, ranks);
            self.write(core, Variable::ReadyRanks, ranks | 1 << rank);
            self.write(core, Variable::ReadyHead(rank), pair);
        } else {
            self.write(core, Variable::PairNext(tail), pair);
        }
        self.write(core, Variable::ReadyTail(rank), pair);
        self.leave(core, Function::ReadyInsert);
    }

    /// The ready task of the highest priority.
    pub(super) fn first_ready(&mut self, core: usize) -> Option<usize> {
        let queue = &self.cores.get(core)?.ready;
        let (ranks, first) = (queue.ranks, queue.first());
        self.enter(core, Function::ReadyQuery);
        self.read(core, Variable::ReadyRanks, ranks);
        if let Some((rank, pair, task)) = first {
            self.read(core, Variable::ReadyHead(rank), pair);
            self.read(core, Variable::PairTask(pair), self.id(task as usize));
        }
        self.leave(core, Function::ReadyQuery);
        first.map(|(.., task)| task as usize)
    }

    /// Takes the first ready task out of the queue and puts it on the stack.
    fn exchange(&mut self, core: usize) {
        let Some(state) = self.cores.get_mut(core) else { return };
        let queue = &mut state.ready;
        let Some((rank, pair, task)) = queue.first() else { return };
        let (ranks, free) = (queue.ranks, queue.free);
        let after = queue.next.get(pair as usize).copied().unwrap_or(NONE);
        set(&mut queue.heads, rank, after);
        set(&mut queue.next, pair, free);
        queue.free = pair;
        if after == NONE {
            set(&mut queue.tails, rank, NONE);
            queue.ranks &= !(1 << rank);
        }
        let below = state.stack.last().copied();
        state.stack.push(task as usize);
        let (id, below) = (self.id(task as usize), below.map_or(NONE, |task| self.id(task)));
        self.enter(core, Function::ReadyExchange);
        self.read(core, Variable::ReadyRanks, ranks);
        self.read(core, Variable::ReadyHead(rank), pair);
        self.read(core, Variable::PairTask(pair), id);
        self.read(core, Variable::PairNext(pair), after);
        self.write(core, Variable::ReadyHead(rank), after);
        self.read(core, Variable::ReadyFree, free);
        self.write(core, Variable::PairNext(pair), free);
        self.write(core, Variable::ReadyFree, pair);
        if after == NONE {
            self.write(core, Variable::ReadyTail(rank), NONE);
            self.write(core, Variable::ReadyRanks, ranks & !(1 << rank));
        }
        self.read(core, Variable::FirstTask, below);
        self.write(core, Variable::NextTask(id), below);
        self.write(core, Variable::FirstTask, id);
        self.leave(core, Function::ReadyExchange);
    }

    /// Whether a ready task preempts what runs now.
    pub(super) fn preempts(&self, core: usize, task: usize) -> bool {
        let ceiling = self.cores.get(core).map_or(0, |core| core.ceiling);
        self.tasks.get(task).is_some_and(|task| task.bit() > ceiling)
    }

    /// Looks for a task to run, at the end of a service of the running task. `later` is what that task
    /// has left to do in the kernel when it goes on.
    pub(super) fn schedule_in_service(&mut self, core: usize, later: VecDeque<Op>) {
        let first = self.first_ready(core);
        if first.is_some() {
            let ceiling = self.ceiling(core);
            self.read(core, Variable::Ceiling, ceiling);
        }
        match first.filter(|task| self.preempts(core, *task)) {
            Some(task) => {
                self.preempt(core, later);
                self.dispatch(core, task, Occasion::Service);
            }
            None => self.append(core, later),
        }
    }

    /// The running task of a core goes back to ready; `later` is what it has left to do in the kernel.
    pub(super) fn preempt(&mut self, core: usize, later: VecDeque<Op>) {
        let Some(task) = self.running(core) else { return };
        let id = self.id(task);
        let Some(state) = self.tasks.get_mut(task) else { return };
        state.status = Status::Ready;
        let polls = state.asks.polls();
        state.asks.leaves_core();
        for op in later.into_iter().rev() {
            state.later.push_front(op);
        }
        let change = if polls { Change::Park } else { Change::Preempt };
        self.effect(core, Effect::Change(Process::Task(task), change));
        self.write(core, Variable::Status(id), Status::Ready as u32);
    }

    /// Runs the first ready task. What ran before is preempted, ended or waiting. ERIKA sets the
    /// state first at the end of a task or interrupt, and else raises the ceiling first.
    pub(super) fn dispatch(&mut self, core: usize, task: usize, occasion: Occasion) {
        let (id, ceiling) = (self.id(task), self.ceiling(core));
        let Some(state) = self.tasks.get_mut(task) else { return };
        state.status = Status::Running;
        let (bit, starts) = (state.dispatch_bit(), !state.begun);
        state.priority = bit;
        state.begun = true;
        let was_waiting = std::mem::take(&mut state.was_waiting);
        let later = std::mem::take(&mut state.later);
        if let Some(block) = self.code.task(task).filter(|_| starts) {
            state.program.begin(block);
        }
        if was_waiting {
            state.wait_mask = 0;
        }
        self.pause(core, self.os().dispatch);
        if occasion != Occasion::End {
            self.set_ceiling(core, ceiling | bit);
        }
        self.effect(
            core,
            Effect::Change(Process::Task(task), if starts { Change::Start } else { Change::Resume }),
        );
        self.write(core, Variable::Status(id), Status::Running as u32);
        if occasion == Occasion::End {
            self.set_ceiling(core, ceiling | bit);
        }
        self.write(core, Variable::Priority(id), bit);
        self.exchange(core);
        if occasion != Occasion::Start {
            self.read(core, Variable::WasWaiting(id), u32::from(was_waiting));
        }
        if was_waiting {
            self.write(core, Variable::WasWaiting(id), 0);
        }
        if starts {
            self.enter(core, Function::ThreadStub);
            self.read(core, Variable::FirstTask, id);
            self.enter(core, Function::Task(task as u32));
        }
        self.append(core, later);
    }

    /// The running task of a core ends or waits: it is no longer on the stack.
    pub(super) fn leave_stack(&mut self, core: usize, task: usize) {
        let (id, ceiling) = (self.id(task), self.ceiling(core));
        let Some(state) = self.tasks.get_mut(task) else { return };
        let bit = state.dispatch_bit();
        state.priority = 0;
        self.read(core, Variable::Ceiling, ceiling);
        self.set_ceiling(core, ceiling & !bit);
        self.write(core, Variable::Priority(id), 0);
        if let Some(core) = self.cores.get_mut(core) {
            core.stack.pop();
        }
        let below = self.running(core).map_or(NONE, |task| self.id(task));
        self.read(core, Variable::NextTask(id), below);
        self.write(core, Variable::FirstTask, below);
    }

    /// After [`Self::leave_stack`]: runs a ready task, or the one on the stack. The task that left it
    /// `waits`, or has ended.
    pub(super) fn run_next(&mut self, core: usize, waits: bool) {
        let first = self.first_ready(core);
        if first.is_some() {
            let ceiling = self.ceiling(core);
            self.read(core, Variable::Ceiling, ceiling);
        }
        if let Some(task) = first.filter(|task| self.preempts(core, *task)) {
            return self.dispatch(core, task, Occasion::End);
        }
        if first.is_some() || waits {
            self.read_running(core);
        }
        let Some(below) = self.running(core) else {
            let start =
                self.cores.get_mut(core).map(|core| std::mem::take(&mut core.start)).unwrap_or_default();
            return self.append(core, start);
        };
        let id = self.id(below);
        let Some(state) = self.tasks.get_mut(below) else { return };
        state.status = Status::Running;
        let later = std::mem::take(&mut state.later);
        let change = self.change_to_running(below);
        self.effect(core, Effect::Change(Process::Task(below), change));
        self.write(core, Variable::Status(id), Status::Running as u32);
        self.append(core, later);
    }

    /// How a task that was preempted goes on: it may have polled.
    pub(super) fn change_to_running(&mut self, task: usize) -> Change {
        let polls = self.tasks.get_mut(task).is_some_and(|task| task.asks.gets_core());
        if polls { Change::PollParking } else { Change::Resume }
    }

    pub(super) fn running(&self, core: usize) -> Option<usize> {
        self.cores.get(core)?.stack.last().copied()
    }

    /// The number of a task on its core.
    pub(super) fn id(&self, task: usize) -> u32 {
        self.tasks.get(task).map_or(NONE, |task| task.id)
    }

    pub(super) fn ceiling(&self, core: usize) -> u32 {
        self.cores.get(core).map_or(0, |core| core.ceiling)
    }

    pub(super) fn set_ceiling(&mut self, core: usize, ceiling: u32) {
        if let Some(core) = self.cores.get_mut(core) {
            core.ceiling = ceiling;
        }
        self.write(core, Variable::Ceiling, ceiling);
    }

    pub(super) fn append(&mut self, core: usize, ops: VecDeque<Op>) {
        if let Some(core) = self.cores.get_mut(core) {
            core.ops.extend(ops);
        }
    }
}

/// Sets an element of a table of the kernel.
fn set(table: &mut [u32], index: u32, value: u32) {
    if let Some(element) = table.get_mut(index as usize) {
        *element = value;
    }
}
