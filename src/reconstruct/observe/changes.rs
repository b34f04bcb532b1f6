//! The states of processes: who has which core, and what ends.

use super::live::{Frame, Live};
use super::{BEYOND, Key, Observer, Target};
use crate::btf::{Action, EntityType, Event, NameId, State};
use crate::reconstruct::body::{Gap, Item, Run};

impl Observer {
    pub(super) fn change(&mut self, event: &Event, to: State) {
        let (key, at) = ((event.target, event.target_instance), event.time);
        self.kinds.insert(event.target, event.target_type);
        let from_core = !self.live.contains_key(&(event.source, event.source_instance));
        let core = from_core.then_some(event.source);
        self.find_again(key, event);
        if !self.live.contains_key(&key) {
            if to == State::Terminated {
                return self.unused("end of an unknown instance");
            }
            self.live.insert(key, Live::new(event.target_type, at, false));
            // What is not activated is activated when it is seen first.
            if event.target_type == EntityType::Task {
                let release = self.release(at);
                self.releases
                    .entry((event.target, Target::Activate(event.target)))
                    .or_default()
                    .push(release);
                let process = self.processes.entry((event.target, None)).or_default();
                process.activations.push(at);
                process.active += 1;
                process.most = process.most.max(process.active);
            }
        }
        let on_core = |state: State| state.on_core();
        let Some(live) = self.live.get_mut(&key) else { return };
        if live.state == State::Active && event.action != Action::Start {
            // It started unseen. Since when it could have had the core, nobody knows.
            (live.partial, live.since) = (true, i64::MIN);
        }
        let (was, since) = (live.state, live.since);
        if on_core(was) {
            self.leave(key, (was, since), at, on_core(to));
        }
        if on_core(to)
            && !on_core(was)
            && let Some(core) = core
        {
            self.take(key, core, at, event.action == Action::Start);
        }
        if !on_core(to) && on_core(was) {
            for (running, free) in self.cores.values_mut().filter(|(running, _)| *running == Some(key)) {
                (*running, *free) = (None, at);
            }
        }
        self.enter(key, to, at, event.action);
        if to == State::Terminated {
            self.end(key, at);
        }
    }

    /// A process no longer runs.
    pub(super) fn leave(&mut self, key: Key, (was, since): (State, i64), at: i64, stays: bool) {
        let Some(live) = self.live.get_mut(&key) else { return };
        // Only what it computes is its own time; how long it polls is a matter of the lock.
        if was == State::Running {
            live.net += at - since;
        }
        let (process, kind) = (live.process, live.kind);
        let core = self.cores.iter().find(|(_, (running, _))| *running == Some(key)).map(|(core, _)| *core);
        if let (Some(id), Some(core)) = (process, core) {
            *self.processes.entry(id).or_default().cores.entry(core).or_default() += at - since;
            if kind == EntityType::Task && !stays {
                self.contention.leaves(key, core, (since, at), &self.live);
            }
        }
    }

    /// A process gets a core.
    pub(super) fn take(&mut self, key: Key, core: NameId, at: i64, starts: bool) {
        self.give_way(key, core);
        let free = self.cores.get(&core).map(|(_, free)| *free);
        let is_sure = !self.unsure.remove(&core);
        let Some(live) = self.live.get_mut(&key) else { return };
        let of_core = (live.kind == EntityType::Isr).then_some(core);
        let id = (key.0, of_core);
        if live.process.is_none() {
            live.process = Some(id);
        }
        if starts {
            live.started = at;
            live.mark = (live.net, at);
            live.frames = vec![Frame { runnable: None, items: Vec::new(), gaps: Vec::new(), cut: live.cut }];
        }
        if live.frames.is_empty() {
            live.frames.push(Frame { runnable: None, items: Vec::new(), gaps: Vec::new(), cut: live.cut });
        }
        let (kind, activated) = (live.kind, live.activated);
        let process = self.processes.entry(id).or_default();
        process.cores.entry(core).or_default();
        if kind == EntityType::Isr && starts {
            process.activations.push(activated);
            let nested = self
                .live
                .values()
                .filter(|other| other.kind == EntityType::Isr && other.state == State::Ready);
            for (below, _) in nested.filter_map(|other| other.process).filter(|(_, of)| *of == Some(core)) {
                *self.contention.nests.entry((core, key.0, below)).or_default() += 1;
            }
        }
        if kind == EntityType::Task {
            if starts && is_sure {
                self.dispatches.push(at - activated.max(free.unwrap_or(activated)));
            }
            for lock in self.contention.takes(key, core, at, &self.live) {
                self.locks.entry(lock).or_default().preemptors.insert(key.0);
            }
        }
        self.cores.insert(core, (Some(key), at));
    }

    /// The new state of a process.
    pub(super) fn enter(&mut self, key: Key, to: State, at: i64, action: Action) {
        let Some(live) = self.live.get_mut(&key) else { return };
        let was = live.state;
        (live.state, live.since) = (to, at);
        match to {
            State::Waiting => {
                let events = std::mem::take(&mut live.awaits);
                live.nameless = events.is_empty();
                let set = self.sets.id(events);
                live.step(at, Item::Wait(set), false);
            }
            State::Ready if was == State::Waiting && live.nameless => {
                if let Some(id) = live.process {
                    self.processes.entry(id).or_default().wakes.push(at);
                }
            }
            // Some traces have no `release`.
            State::Running if was == State::Waiting && live.nameless => {
                if let Some(id) = live.process {
                    self.processes.entry(id).or_default().wakes.push(at);
                }
            }
            State::Polling if action == Action::Poll => {
                if let Some(lock) = live.asks {
                    self.locks.entry(lock).or_default().polled += 1;
                }
            }
            State::Parking => {
                if let Some(lock) = live.asks {
                    self.locks.entry(lock).or_default().parked += 1;
                }
            }
            _ => {}
        }
    }

    /// An instance ends.
    pub(super) fn end(&mut self, key: Key, at: i64) {
        let Some(mut live) = self.live.remove(&key) else { return };
        while live.frames.len() > 1 {
            self.close(&mut live, at);
        }
        for lock in std::mem::take(&mut live.holds).into_iter().filter(|_| !live.cut) {
            self.locks.entry(lock).or_default().broken = Some("it is held at the end of a process");
        }
        // One that never had a core, as far as events show, is active no more either.
        let of_task = (live.kind == EntityType::Task).then_some((key.0, None));
        let Some(id) = live.process.or(of_task) else { return };
        let last = live.frames.last().and_then(|frame| frame.items.last()).copied();
        let is_pending = |task: NameId| {
            let mut instances = self.live.iter().filter(|((name, _), _)| *name == task);
            instances.any(|(_, other)| other.state == State::Active && other.activated >= live.mark.1)
        };
        let pending = match last {
            Some(Item::Activate(task)) => task == key.0 || is_pending(task),
            _ => false,
        };
        let process = self.processes.entry(id).or_default();
        if let Some(Item::Activate(task)) = last {
            *process.chains.entry(task).or_insert(true) &= pending;
        }
        if let Some(again) = live.again.filter(|_| last != Some(Item::Activate(key.0))) {
            process.most = process.most.max(again);
        }
        process.active = process.active.saturating_sub(1);
        process.called += u64::from(live.called);
        process.ended += 1;
        process.busy += live.net;
        process.response += at - live.activated;
        let is_whole = live.kind == EntityType::Isr && !live.cut;
        self.exits.extend(live.acts.map(|acts| at - acts).filter(|_| is_whole));
        live.finish(at);
        if let Some(frame) = live.frames.pop().filter(|frame| !frame.cut && !live.cut) {
            let run = Run { items: frame.items, gaps: frame.gaps };
            if live.partial { process.body.partial.push(run) } else { process.body.push(run) }
        }
    }

    /// The innermost runnable ends.
    pub(super) fn close(&mut self, live: &mut Live, at: i64) {
        live.finish(at);
        let Some(frame) = live.frames.pop() else { return };
        if let Some(name) = frame.runnable.filter(|_| !frame.cut) {
            let run = Run { items: frame.items, gaps: frame.gaps };
            self.runnables.entry(name).or_default().push(run);
        }
    }

    /// The end of the recording: what is still alive is cut.
    pub fn finish(&mut self) {
        let end = self.span.map_or(0, |(_, end)| end);
        for (_, mut live) in std::mem::take(&mut self.live) {
            let Some(id) = live.process.filter(|_| !live.cut && live.left.is_none()) else { continue };
            // The innermost one goes on for some time.
            live.finish(end);
            if let Some(gap) = live.frames.last_mut().and_then(|frame| frame.gaps.last_mut()) {
                gap.net += BEYOND;
            }
            while let Some(frame) = live.frames.pop() {
                let body = match frame.runnable {
                    Some(name) => self.runnables.entry(name).or_default(),
                    None => &mut self.processes.entry(id).or_default().body,
                };
                let run = Run { items: frame.items, gaps: frame.gaps };
                if live.partial && frame.runnable.is_none() {
                    body.partial.push(run)
                } else {
                    body.cut.push(run)
                }
                if let Some(gaps) = live.frames.last_mut().map(|frame| &mut frame.gaps) {
                    gaps.push(Gap { at: end, net: 0, remote: false });
                }
            }
        }
    }
}
